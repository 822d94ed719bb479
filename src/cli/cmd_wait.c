/* SPDX-License-Identifier: Apache-2.0 */
/* dray wait: until objects are as one wants them. */
#include <stdio.h>
#include <strings.h>

#include "base/query.h"
#include "base/vec.h"
#include "cli/client_cmd.h"
#include "cli/commands.h"
#include "cli/template.h"
#include "cli/until.h"

static const char USAGE[] =
    "usage: dray wait TYPE NAME... --for=CONDITION [OPTION]...\n"
    "       dray wait TYPE/NAME... --for=CONDITION [OPTION]...\n"
    "       dray wait TYPE (--all | -l LABELS) --for=CONDITION [OPTION]...\n"
    "\n"
    "Waits for each: for condition=TYPE[=VALUE], jsonpath={PATH}[=VALUE], create or "
    "delete.\n"
    "\n"
    "  dray wait pods --all --for=condition=Ready --timeout=2m\n"
    "  dray wait resourceclaim/vllm-gpu --for=jsonpath='{.status.allocation}'\n"
    "\n";

struct wait_opts {
    struct session_opts session;
    const char *what, *labels, *files;
    bool all, recursive;
    uint64_t timeout_ms;
};

#define AT(member) offsetof(struct wait_opts, member)
static const struct option_row ROWS[] = {
    SESSION_ROWS(struct wait_opts),
    SESSION_ALL_ROW(struct wait_opts),
    {"for", "CONDITION", OPTION_TEXT, AT(what), "what is waited for"},
    {"timeout", "TIME", OPTION_DURATION, AT(timeout_ms), "how long (30s); 0: looks once"},
    {"selector", "LABELS", OPTION_TEXT, AT(labels), "those with such labels", NULL, 'l'},
    {"all", NULL, OPTION_FLAG, AT(all), "all of the type that there are now"},
    {"filename", "FILE,...", OPTION_LIST, AT(files), "objects that files name", NULL,
     'f'},
    {"recursive", NULL, OPTION_FLAG, AT(recursive), "folders of folders too", NULL, 'R'},
};
#undef AT

struct wanted {
    until_fn *met;
    struct str condition, value; /* value STR_NONE: any */
    struct jsonpath path;
    struct arena arena; /* of one look */
};

/* ---- what is wanted ---- */

static bool is_deleted(void *ctx, const struct doc *object)
{
    (void)ctx;
    return !object;
}

static bool is_created(void *ctx, const struct doc *object)
{
    (void)ctx;
    return object;
}

static bool same_text(struct str a, struct str b)
{
    return a.n == b.n && strncasecmp(a.p ? a.p : "", b.p ? b.p : "", a.n) == 0;
}

static bool has_condition(void *ctx, const struct doc *object)
{
    const struct wanted *w = ctx;
    const struct doc *list = doc_path(object, "status.conditions");
    for (uint32_t i = 0; list && list->type == DOC_LIST && i < list->n; i++)
        if (same_text(doc_get_text(&list->items[i], "type"), w->condition))
            return same_text(doc_get_text(&list->items[i], "status"), w->value);
    return false;
}

static bool has_value(void *ctx, const struct doc *object)
{
    struct wanted *w = ctx;
    struct strbuf text = STRBUF_INIT;
    uint32_t n = 0;
    const struct doc *const *found =
        object ? jsonpath_find(&w->path, object, &w->arena, &n) : NULL;
    if (n == 1)
        template_value(found[0], &text);
    bool met = n == 1 && (!w->value.p || str_eq(strbuf_str(&text), w->value));
    strbuf_release(&text);
    arena_reset(&w->arena);
    return met;
}

static bool read_condition(struct str rest, struct wanted *w)
{
    size_t equals = str_find_byte(rest, '=', 0);
    w->met = has_condition;
    w->condition = str_sub(rest, 0, equals);
    w->value = equals == SIZE_MAX ? STR("true") : str_sub(rest, equals + 1, rest.n);
    return w->condition.n;
}

/* The path ends with its brace; a value may follow. */
static bool read_path(struct str rest, struct arena *a, struct wanted *w, struct err *e)
{
    size_t brace = str_rfind_byte(rest, '}');
    size_t equals = str_find_byte(rest, '=', brace == SIZE_MAX ? 0 : brace);
    w->met = has_value;
    w->value = equals == SIZE_MAX ? STR_NONE : str_sub(rest, equals + 1, rest.n);
    return template_path(str_sub(rest, 0, equals), a, &w->path, e);
}

static bool read_wanted(const char *what, struct arena *a, struct wanted *w,
                        struct err *e)
{
    struct str all = str_from(what ? what : "");
    if (same_text(all, STR("delete")))
        w->met = is_deleted;
    else if (same_text(all, STR("create")))
        w->met = is_created;
    else if (str_starts(all, STR("condition=")) &&
             read_condition(str_sub(all, 10, all.n), w))
        return true;
    else if (str_starts(all, STR("jsonpath=")))
        return read_path(str_sub(all, 9, all.n), a, w, e);
    return w->met || err_set(e, ERR_INVALID,
                             "--for \"%s\": write condition=TYPE, "
                             "jsonpath={PATH}, create or delete",
                             all.n ? what : "");
}

/* ---- waiting ---- */

typedef VEC(struct target) target_list;

static bool expand(struct session *s, const struct wait_opts *o, const struct target *t,
                   target_list *out, struct err *e)
{
    struct strbuf b = STRBUF_INIT;
    strbuf_addstr(&b, resource_path(t->resource, t->namespace, STR_NONE, NULL, s->a));
    strbuf_adds(&b, "?labelSelector=");
    query_escape(str_from(o->labels ? o->labels : ""), &b);
    const struct doc *list = session_doc(s, session_get(s, strbuf_str(&b), NULL), e);
    const struct doc *items = doc_get(list, "items");
    strbuf_release(&b);
    for (uint32_t i = 0; items && items->type == DOC_LIST && i < items->n; i++) {
        const struct doc *meta = doc_get(&items->items[i], "metadata");
        struct target one = {.resource = t->resource,
                             .namespace = doc_get_text(meta, "namespace"),
                             .name = doc_get_text(meta, "name")};
        vec_push_in(s->a, out, one);
    }
    return list;
}

/* What is not there cannot become so: but for create and delete it is told at once. */
static bool exists(struct session *s, const struct target *t, struct err *e)
{
    const struct client_answer *a = session_get(
        s, resource_path(t->resource, t->namespace, t->name, NULL, s->a), NULL);
    return a->ok || session_refuse(a, e);
}

static int wait_one(struct session *s, const struct target *t, struct wanted *w,
                    uint64_t ms)
{
    struct err e = ERR_INIT;
    bool any = w->met == is_deleted || w->met == is_created;
    enum until_end end =
        any || exists(s, t, &e) ? until_wait(s, t, w->met, w, ms, &e) : UNTIL_FAILED;
    if (end == UNTIL_MET)
        printf("%.*s %s\n", STR_ARG(target_name(t, s->a)),
               w->met == is_deleted ? "deleted" : "condition met");
    if (end == UNTIL_LATE)
        err_set(&e, ERR_TIMEOUT, "timed out waiting for the condition on %.*s/%.*s",
                STR_ARG(t->resource->resource), STR_ARG(t->name));
    fflush(stdout);
    client_cmd_say(&e);
    return end == UNTIL_MET ? EXIT_OK : EXIT_NO;
}

static bool gather(struct session *s, const struct wait_opts *o, const struct targets *t,
                   target_list *out, struct err *e)
{
    for (uint32_t i = 0; i < t->n; i++) {
        if (t->v[i].name.n)
            vec_push_in(s->a, out, t->v[i]);
        else if (!o->all && !o->labels)
            return err_set(e, ERR_INVALID,
                           "resource(s) were provided, but no name was specified");
        else if (!expand(s, o, &t->v[i], out, e))
            return false;
    }
    return out->n || err_set(e, ERR_NOT_FOUND, "no matching resources found");
}

static int run(struct session *s, const struct option_args *args, void *into,
               struct err *e)
{
    const struct wait_opts *o = into;
    struct wanted w = {0};
    struct discovery d;
    struct targets t;
    target_list list = {0};
    int code = EXIT_OK;
    if (!read_wanted(o->what, s->a, &w, e))
        return EXIT_INPUT;
    if (!args->n && !o->files) {
        err_set(e, ERR_INVALID, "what is waited for is missing: dray wait TYPE/NAME");
        return EXIT_INPUT;
    }
    if (!discovery_read(s, &d, e))
        return EXIT_NO;
    bool ok = o->files ? targets_of_files(s, &d, o->files, o->recursive, &t, e)
                       : targets_of_args(s, &d, args, &t, e);
    if (!ok || !gather(s, o, &t, &list, e))
        return EXIT_NO;
    for (size_t i = 0; i < list.n; i++)
        if (wait_one(s, &list.v[i], &w, o->timeout_ms) != EXIT_OK)
            code = EXIT_NO;
    arena_fini(&w.arena);
    return targets_end(&t, code);
}

int cmd_wait(int argc, char **argv)
{
    struct wait_opts o = {.timeout_ms = 30000};
    const struct client_cmd c = {
        USAGE, {ROWS, sizeof ROWS / sizeof *ROWS}, &o, &o.session, run};
    return client_cmd_run(&c, argc, argv);
}
