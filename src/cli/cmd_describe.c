/* SPDX-License-Identifier: Apache-2.0 */
/* dray describe: all of an object, and what happened to it. */
#include <stdio.h>

#include "base/query.h"
#include "cli/client_cmd.h"
#include "cli/commands.h"
#include "cli/describe.h"
#include "cli/event_rows.h"
#include "cli/output.h"

static const char USAGE[] =
    "usage: dray describe TYPE [NAME...] [OPTION]...\n"
    "       dray describe TYPE/NAME... [OPTION]...\n"
    "\n"
    "Prints all fields of objects and their events, the same way for every kind.\n"
    "\n";

struct describe_opts {
    struct session_opts session;
    const char *labels, *files;
    bool events, recursive;
};

#define AT(member) offsetof(struct describe_opts, member)
static const struct option_row ROWS[] = {
    SESSION_ROWS(struct describe_opts),
    SESSION_ALL_ROW(struct describe_opts),
    {"selector", "LABELS", OPTION_TEXT, AT(labels), "of objects with such labels", NULL,
     'l'},
    {"filename", "FILE,...", OPTION_LIST, AT(files), "objects that files name", NULL,
     'f'},
    {"recursive", NULL, OPTION_FLAG, AT(recursive), "folders of folders too", NULL, 'R'},
    {"show-events", "BOOL", OPTION_FLAG, AT(events), "whether events are shown (true)"},
};
#undef AT

struct describing {
    struct session *s;
    const struct describe_opts *opts;
    struct doc list; /* of all objects that were found */
};

/* Those of the very object, not of another of its name. */
static struct doc *events_of(struct session *s, const struct doc *object)
{
    static const struct client_kind EVENT = {"", "v1", "events", true};
    const struct doc *meta = doc_get(object, "metadata");
    struct strbuf b = STRBUF_INIT;
    struct str place = doc_get_text(meta, "namespace");
    if (!place.n)
        place = STR("default");
    strbuf_addstr(&b, client_path(&EVENT, place, STR_NONE, NULL, s->a));
    strbuf_adds(&b, "?fieldSelector=");
    query_escape(arena_printf(s->a, "involvedObject.name=%.*s,involvedObject.uid=%.*s",
                              STR_ARG(doc_get_text(meta, "name")),
                              STR_ARG(doc_get_text(meta, "uid"))),
                 &b);
    const struct doc *list = session_doc(s, session_get(s, strbuf_str(&b), NULL), NULL);
    strbuf_release(&b);
    const struct doc *items = doc_get(list, "items");
    return items && items->type == DOC_LIST ? (struct doc *)items : NULL;
}

/* Of several the events are left out, as kubectl does. */
static void describe_all(struct describing *d)
{
    const struct doc *items = doc_get(&d->list, "items");
    bool events = d->opts->events && items->n == 1;
    struct strbuf out = STRBUF_INIT;
    for (uint32_t i = 0; i < items->n; i++) {
        const struct doc *object = &items->items[i];
        strbuf_adds(&out, i ? "\n\n" : "");
        describe_object(object, events ? events_of(d->s, object) : NULL, events,
                        event_rows_now(), d->s->a, &out);
    }
    fwrite(strbuf_cstr(&out), 1, out.n, stdout);
    strbuf_release(&out);
}

static struct str path_of(const struct describing *d, const struct target *t)
{
    struct arena *a = d->s->a;
    struct str path = resource_path(t->resource, t->namespace, t->name, NULL, a);
    struct strbuf b = STRBUF_INIT;
    if (t->name.n || !d->opts->labels)
        return path;
    query_escape(str_from(d->opts->labels), &b);
    path = arena_printf(a, "%.*s?labelSelector=%s", STR_ARG(path), strbuf_cstr(&b));
    strbuf_release(&b);
    return path;
}

static bool gather(struct describing *d, const struct target *t, struct err *e)
{
    struct str path = path_of(d, t), from = STR_NONE;
    do {
        struct str part = session_page(d->s, path, t->name.n ? 0 : SESSION_CHUNK, from);
        const struct doc *answer = session_doc(d->s, session_get(d->s, part, NULL), e);
        if (!answer)
            return false;
        output_list_add(&d->list, answer, d->s->a);
        from =
            t->name.n ? STR_NONE : doc_get_text(doc_get(answer, "metadata"), "continue");
    } while (from.n);
    return true;
}

static int run(struct session *s, const struct option_args *args, void *into,
               struct err *e)
{
    struct describing d = {.s = s, .opts = into};
    struct discovery known;
    struct targets t;
    int code = EXIT_OK;
    if (!args->n && !d.opts->files) {
        err_set(e, ERR_INVALID, "You must specify the type of resource to describe.");
        return EXIT_INPUT;
    }
    if (!discovery_read(s, &known, e))
        return EXIT_NO;
    bool ok = d.opts->files
                  ? targets_of_files(s, &known, d.opts->files, d.opts->recursive, &t, e)
                  : targets_of_args(s, &known, args, &t, e);
    if (!ok)
        return EXIT_NO;
    d.list = output_list(s->a);
    for (uint32_t i = 0; i < t.n; i++) {
        struct err own = ERR_INIT;
        if (!gather(&d, &t.v[i], &own))
            code = EXIT_NO;
        client_cmd_say(&own);
    }
    describe_all(&d);
    if (!doc_get(&d.list, "items")->n && code == EXIT_OK)
        fprintf(stderr, "No resources found in %.*s namespace.\n", STR_ARG(s->namespace));
    return targets_end(&t, code);
}

int cmd_describe(int argc, char **argv)
{
    struct describe_opts o = {.events = true};
    const struct client_cmd c = {
        USAGE, {ROWS, sizeof ROWS / sizeof *ROWS}, &o, &o.session, run};
    return client_cmd_run(&c, argc, argv);
}
