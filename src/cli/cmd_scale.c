/* SPDX-License-Identifier: Apache-2.0 */
/* dray scale: how many there are of something. */
#include <stdio.h>

#include "cli/client_cmd.h"
#include "cli/commands.h"
#include "cli/targets.h"

static const char USAGE[] =
    "usage: dray scale TYPE NAME... --replicas=N [OPTION]...\n"
    "       dray scale TYPE/NAME... --replicas=N [OPTION]...\n"
    "\n"
    "Sets how many pods a Deployment, ReplicaSet or StatefulSet has, or whatever else "
    "can\nbe scaled.\n"
    "\n";

enum { NOT_GIVEN = UINT32_MAX };

struct scale_opts {
    struct session_opts session;
    uint32_t replicas, current;
};

#define AT(member) offsetof(struct scale_opts, member)
static const struct option_row ROWS[] = {
    SESSION_ROWS(struct scale_opts),
    {"replicas", "N", OPTION_COUNT, AT(replicas), "how many there shall be"},
    {"current-replicas", "N", OPTION_COUNT, AT(current), "only if there are so many now"},
};
#undef AT

/* The scale of an object, and that it is what the user expects. */
static bool check(struct session *s, struct str path, uint32_t want, struct err *e)
{
    const struct doc *scale = session_doc(s, session_get(s, path, NULL), e);
    int64_t have = 0;
    if (!scale)
        return false;
    doc_get_int64(doc_get(scale, "spec"), "replicas", &have);
    return want == NOT_GIVEN || have == want ||
           err_set(e, ERR_INVALID, "Expected replicas to be %u, was %lld", want,
                   (long long)have);
}

static bool scale_one(struct session *s, const struct target *t,
                      const struct scale_opts *o, struct err *e)
{
    struct str path = resource_path(t->resource, t->namespace, t->name, "scale", s->a);
    if (!check(s, path, o->current, e))
        return false;
    struct client_request q = {
        .method = "PATCH",
        .type = "application/merge-patch+json",
        .path = path,
        .body = arena_printf(s->a, "{\"spec\":{\"replicas\":%u}}", o->replicas)};
    const struct client_answer *a = session_ask(s, &q);
    if (!a->ok)
        return session_refuse(a, e);
    printf("%.*s scaled\n", STR_ARG(target_name(t, s->a)));
    fflush(stdout);
    return true;
}

static int run(struct session *s, const struct option_args *args, void *into,
               struct err *e)
{
    const struct scale_opts *o = into;
    struct discovery d;
    struct targets t;
    int code = EXIT_OK;
    if (o->replicas == NOT_GIVEN || !args->n) {
        err_set(e, ERR_INVALID, "write dray scale TYPE/NAME --replicas=N");
        return EXIT_INPUT;
    }
    if (!discovery_read(s, &d, e) || !targets_of_args(s, &d, args, &t, e))
        return EXIT_NO;
    for (uint32_t i = 0; i < t.n; i++) {
        struct err own = ERR_INIT;
        bool ok = t.v[i].name.n ? scale_one(s, &t.v[i], o, &own)
                                : err_set(&own, ERR_INVALID, "a name is missing");
        code = ok ? code : EXIT_NO;
        client_cmd_say(&own);
    }
    return code;
}

int cmd_scale(int argc, char **argv)
{
    struct scale_opts o = {.replicas = NOT_GIVEN, .current = NOT_GIVEN};
    const struct client_cmd c = {
        USAGE, {ROWS, sizeof ROWS / sizeof *ROWS}, &o, &o.session, run};
    return client_cmd_run(&c, argc, argv);
}
