/* SPDX-License-Identifier: Apache-2.0 */
/* dray delete: objects go, and it waits until they are gone. */
#include <stdio.h>

#include "base/query.h"
#include "base/vec.h"
#include "cli/client_cmd.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "cli/until.h"

static const char USAGE[] = "usage: dray delete TYPE NAME... [OPTION]...\n"
                            "       dray delete TYPE/NAME... [OPTION]...\n"
                            "       dray delete TYPE (--all | -l LABELS) [OPTION]...\n"
                            "       dray delete -f FILE [OPTION]...\n"
                            "\n"
                            "Deletes objects, and waits until they are gone.\n"
                            "\n";

struct delete_opts {
    struct session_opts session;
    const char *files, *labels, *fields, *output, *grace, *cascade;
    bool recursive, all, force, now, wait, ignore_not_found;
    uint64_t timeout_ms;
};

#define AT(member) offsetof(struct delete_opts, member)
static const struct option_row ROWS[] = {
    SESSION_ROWS(struct delete_opts),
    SESSION_ALL_ROW(struct delete_opts),
    {"filename", "FILE,...", OPTION_LIST, AT(files), "objects that files name", NULL,
     'f'},
    {"recursive", NULL, OPTION_FLAG, AT(recursive), "folders of folders too", NULL, 'R'},
    {"selector", "LABELS", OPTION_TEXT, AT(labels), "those with such labels", NULL, 'l'},
    {"field-selector", "FIELDS", OPTION_TEXT, AT(fields), "those with such fields"},
    {"all", NULL, OPTION_FLAG, AT(all), "all of the type"},
    {"grace-period", "SECONDS", OPTION_TEXT, AT(grace),
     "for pods to end (what each says)"},
    {"now", NULL, OPTION_FLAG, AT(now), "in a second"},
    {"force", NULL, OPTION_FLAG, AT(force), "at once, without hearing of their node"},
    {"cascade", "HOW", OPTION_TEXT, AT(cascade),
     "of what they own: background, foreground or orphan (background)"},
    {"wait", "BOOL", OPTION_FLAG, AT(wait), "until they are gone (true)"},
    {"timeout", "TIME", OPTION_DURATION, AT(timeout_ms), "how long at most (any time)"},
    {"ignore-not-found", NULL, OPTION_FLAG, AT(ignore_not_found),
     "what is not there is no error"},
    {"output", "name", OPTION_TEXT, AT(output), "say names alone", NULL, 'o'},
};
#undef AT

struct deleting {
    struct session *s;
    const struct delete_opts *opts;
    struct str body; /* DeleteOptions */
    VEC(struct target) list;
    VEC(struct str) uids; /* of those that go, as deep in list; empty: it was refused */
    bool failed;
};

/* ---- which ---- */

/* Objects of a collection, one by one, so that each can be told of and waited for. */
static bool expand(struct deleting *d, const struct target *t, struct err *e)
{
    struct strbuf b = STRBUF_INIT;
    struct arena *a = d->s->a;
    strbuf_addstr(&b, resource_path(t->resource, t->namespace, STR_NONE, NULL, a));
    strbuf_adds(&b, "?labelSelector=");
    query_escape(str_from(d->opts->labels ? d->opts->labels : ""), &b);
    strbuf_adds(&b, "&fieldSelector=");
    query_escape(str_from(d->opts->fields ? d->opts->fields : ""), &b);
    const struct doc *list =
        session_doc(d->s, session_get(d->s, strbuf_str(&b), NULL), e);
    const struct doc *items = doc_get(list, "items");
    strbuf_release(&b);
    for (uint32_t i = 0; items && items->type == DOC_LIST && i < items->n; i++) {
        const struct doc *meta = doc_get(&items->items[i], "metadata");
        struct target one = {.resource = t->resource,
                             .namespace = doc_get_text(meta, "namespace"),
                             .name = doc_get_text(meta, "name")};
        vec_push_in(a, &d->list, one);
    }
    return list;
}

static bool gather(struct deleting *d, const struct targets *t, struct err *e)
{
    bool some = d->opts->all || d->opts->labels || d->opts->fields;
    for (uint32_t i = 0; i < t->n; i++) {
        if (t->v[i].name.n) {
            vec_push_in(d->s->a, &d->list, t->v[i]);
            continue;
        }
        if (!some)
            return err_set(e, ERR_INVALID,
                           "resource(s) were provided, but no name was specified");
        if (!expand(d, &t->v[i], e))
            return false;
    }
    return true;
}

/* ---- asking ---- */

static bool make_body(struct deleting *d, struct err *e)
{
    static const char *const HOW[][2] = {
        {"background", "Background"}, {"foreground", "Foreground"}, {"orphan", "Orphan"}};
    const char *grace = d->opts->grace, *policy = NULL;
    if (d->opts->force && !grace)
        grace = "0";
    if (d->opts->now)
        grace = "1";
    for (size_t i = 0; i < sizeof HOW / sizeof *HOW; i++)
        if (str_is(str_from(d->opts->cascade), HOW[i][0]))
            policy = HOW[i][1];
    if (!policy)
        return err_set(e, ERR_INVALID,
                       "--cascade %s: it is background, foreground or "
                       "orphan",
                       d->opts->cascade);
    if (grace && strspn(grace, "0123456789") != strlen(grace))
        return err_set(e, ERR_INVALID, "--grace-period %s: write a number", grace);
    d->body = arena_printf(d->s->a, "{\"propagationPolicy\":\"%s\"%s%s}", policy,
                           grace ? ",\"gracePeriodSeconds\":" : "", grace ? grace : "");
    return true;
}

static void say(const struct deleting *d, const struct target *t)
{
    struct arena *a = d->s->a;
    bool all = d->opts->output != NULL;
    if (all) {
        printf("%.*s\n", STR_ARG(target_name(t, a)));
        return;
    }
    printf("%.*s \"%.*s\" %sdeleted", STR_ARG(resource_kind_name(t->resource, a)),
           STR_ARG(t->name), d->opts->force ? "force " : "");
    if (t->namespace.n)
        printf(" from %.*s namespace", STR_ARG(t->namespace));
    putchar('\n');
}

/* The uid of what is going; of what is gone, of the Status that says so. */
static struct str uid_of(const struct doc *answer)
{
    struct str uid = doc_get_text(doc_get(answer, "metadata"), "uid");
    return uid.n ? uid : doc_get_text(doc_get(answer, "details"), "uid");
}

static void delete_one(struct deleting *d, const struct target *t)
{
    struct err e = ERR_INIT;
    struct client_request q = {
        .method = "DELETE",
        .path = resource_path(t->resource, t->namespace, t->name, NULL, d->s->a),
        .body = d->body};
    const struct client_answer *a = session_ask(d->s, &q);
    struct str uid = STR("");
    if (a->ok) {
        say(d, t);
        fflush(stdout);
        uid = uid_of(session_doc(d->s, a, &e));
    } else if (a->status != 404 || !d->opts->ignore_not_found) {
        d->failed = true;
        session_refuse(a, &e);
    }
    vec_push_in(d->s->a, &d->uids, uid);
    client_cmd_say(&e);
}

/* ---- waiting ---- */

static bool is_gone(void *ctx, const struct doc *object)
{
    const struct str *uid = ctx;
    return !object || !str_eq(doc_get_text(doc_get(object, "metadata"), "uid"), *uid);
}

static bool wait_for_all(struct deleting *d, struct err *e)
{
    uint64_t ms = d->opts->timeout_ms ? d->opts->timeout_ms : UINT64_MAX;
    for (size_t i = 0; i < d->list.n; i++) {
        const struct target *t = &d->list.v[i];
        if (!d->uids.v[i].n)
            continue;
        enum until_end end = until_wait(d->s, t, is_gone, &d->uids.v[i], ms, e);
        if (end == UNTIL_LATE)
            err_set(e, ERR_TIMEOUT, "timed out waiting for the condition on %.*s/%.*s",
                    STR_ARG(t->resource->resource), STR_ARG(t->name));
        if (end != UNTIL_MET)
            return false;
    }
    return true;
}

static int delete_all(struct deleting *d, struct err *e)
{
    if (d->opts->force)
        fputs("Warning: Immediate deletion does not wait for confirmation that the "
              "running resource has been terminated. The resource may continue to run on "
              "the cluster indefinitely.\n",
              stderr);
    for (size_t i = 0; i < d->list.n; i++)
        delete_one(d, &d->list.v[i]);
    if (!d->list.n)
        puts("No resources found");
    if (d->opts->wait && !wait_for_all(d, e))
        return EXIT_NO;
    return d->failed ? EXIT_NO : EXIT_OK;
}

static int run(struct session *s, const struct option_args *args, void *into,
               struct err *e)
{
    struct deleting d = {.s = s, .opts = into};
    struct discovery known;
    struct targets t;
    if (!args->n && !d.opts->files) {
        err_set(e, ERR_INVALID,
                "You must provide one or more resources by argument or "
                "filename.");
        return EXIT_INPUT;
    }
    if (!make_body(&d, e))
        return EXIT_INPUT;
    if (!discovery_read(s, &known, e))
        return EXIT_NO;
    bool ok = d.opts->files
                  ? targets_of_files(s, &known, d.opts->files, d.opts->recursive, &t, e)
                  : targets_of_args(s, &known, args, &t, e);
    return ok && gather(&d, &t, e) ? targets_end(&t, delete_all(&d, e)) : EXIT_NO;
}

int cmd_delete(int argc, char **argv)
{
    struct delete_opts o = {.wait = true, .cascade = "background"};
    const struct client_cmd c = {
        USAGE, {ROWS, sizeof ROWS / sizeof *ROWS}, &o, &o.session, run};
    return client_cmd_run(&c, argc, argv);
}
