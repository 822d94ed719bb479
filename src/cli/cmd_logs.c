/* SPDX-License-Identifier: Apache-2.0 */
/* dray logs: what a pod's container has said. */
#include <stdio.h>

#include "base/query.h"
#include "cli/client_cmd.h"
#include "cli/commands.h"

static const char USAGE[] =
    "usage: dray logs POD [-c CONTAINER] [OPTION]...\n"
    "\n"
    "Prints what a container has written to its standard output, as its node tells it.\n"
    "\n";

struct logs_opts {
    struct session_opts session;
    const char *container, *tail, *since;
    bool follow, previous, timestamps;
};

#define AT(member) offsetof(struct logs_opts, member)
static const struct option_row ROWS[] = {
    SESSION_ROWS(struct logs_opts),
    {"container", "NAME", OPTION_TEXT, AT(container), "which of them (the first)", NULL,
     'c'},
    {"follow", NULL, OPTION_FLAG, AT(follow), "and whatever comes", NULL, 'f'},
    {"previous", NULL, OPTION_FLAG, AT(previous), "of the one before it started again",
     NULL, 'p'},
    {"tail", "N", OPTION_TEXT, AT(tail), "the last lines alone"},
    {"since-time", "TIME", OPTION_TEXT, AT(since), "from then on (RFC 3339)"},
    {"timestamps", NULL, OPTION_FLAG, AT(timestamps), "with the time of each line"},
};
#undef AT

static void add(struct strbuf *b, const char *key, const char *value)
{
    if (!value)
        return;
    strbuf_addf(b, "&%s=", key);
    query_escape(str_from(value), b);
}

/* "pod/NAME" too. */
static bool read_pod(const char *arg, struct str *name, struct err *e)
{
    struct str s = str_from(arg);
    size_t slash = str_find_byte(s, '/', 0);
    struct str type = slash == SIZE_MAX ? STR("pod") : str_sub(s, 0, slash);
    *name = slash == SIZE_MAX ? s : str_sub(s, slash + 1, s.n);
    return str_is(type, "pod") || str_is(type, "pods") || str_is(type, "po") ||
           err_set(e, ERR_INVALID, "%s: pods have logs; dray get pods lists them", arg);
}

/* Without one, what its author says comes first, else the first. */
static const char *container_of(struct session *s, const struct doc *pod,
                                const struct logs_opts *o)
{
    const struct doc *list = doc_path(pod, "spec.containers");
    struct str said = doc_get_text(doc_path(pod, "metadata.annotations"),
                                   "kubectl.kubernetes.io/default-container");
    if (o->container)
        return o->container;
    if (said.n)
        return arena_str(s->a, said).p;
    if (!list || list->type != DOC_LIST || !list->n)
        return "";
    struct str first = doc_get_text(&list->items[0], "name");
    if (list->n > 1)
        fprintf(stderr, "Defaulted container \"%.*s\" of %u\n", STR_ARG(first), list->n);
    return arena_str(s->a, first).p;
}

static bool on_line(void *ctx, struct str line)
{
    (void)ctx;
    fwrite(line.p, 1, line.n, stdout);
    putchar('\n');
    return fflush(stdout) == 0;
}

static int run(struct session *s, const struct option_args *args, void *into,
               struct err *e)
{
    static const struct client_kind POD = {"", "v1", "pods", true};
    const struct logs_opts *o = into;
    struct strbuf b = STRBUF_INIT;
    if (args->n != 1) {
        err_set(e, ERR_INVALID, "expected 'logs POD'");
        return EXIT_INPUT;
    }
    struct str name;
    if (!read_pod(args->v[0], &name, e))
        return EXIT_NO;
    const struct doc *pod = session_doc(
        s, session_get(s, client_path(&POD, s->namespace, name, NULL, s->a), NULL), e);
    if (!pod)
        return EXIT_NO;
    strbuf_addstr(&b, client_path(&POD, s->namespace, name, "log", s->a));
    strbuf_adds(&b, "?container=");
    query_escape(str_from(container_of(s, pod, o)), &b);
    add(&b, "follow", o->follow ? "true" : NULL);
    add(&b, "previous", o->previous ? "true" : NULL);
    add(&b, "timestamps", o->timestamps ? "true" : NULL);
    add(&b, "tailLines", o->tail);
    add(&b, "sinceTime", o->since);
    struct client_request q = {.method = "GET", .path = strbuf_str(&b), .accept = "*/*"};
    enum session_end end = session_follow(s, &q, on_line, NULL, 0, e);
    strbuf_release(&b);
    return end == SESSION_ENDED ? EXIT_OK : EXIT_NO;
}

int cmd_logs(int argc, char **argv)
{
    struct logs_opts o = {0};
    const struct client_cmd c = {
        USAGE, {ROWS, sizeof ROWS / sizeof *ROWS}, &o, &o.session, run};
    return client_cmd_run(&c, argc, argv);
}
