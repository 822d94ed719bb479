/* SPDX-License-Identifier: Apache-2.0 */
/* dray get: objects of a server, as tables or as they are. */
#include <stdio.h>

#include "base/query.h"
#include "cli/client_cmd.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "cli/rows.h"

static const char USAGE[] =
    "usage: dray get TYPE [NAME...] [OPTION]...\n"
    "       dray get TYPE/NAME... [OPTION]...\n"
    "       dray get -f FILE [OPTION]...\n"
    "\n"
    "Prints objects of a server, as kubectl get does.\n"
    "\n"
    "  dray get nodes,resourceslices\n"
    "  dray get pods -A -o wide -w\n"
    "  dray get resourceclaims -o jsonpath='{.items[*].metadata.name}'\n"
    "\n";

struct get_opts {
    struct session_opts session;
    struct rows_opts rows;
    const char *output, *labels, *fields, *files, *raw, *subresource;
    bool watch, watch_only, ignore_not_found, managed, recursive;
    uint32_t chunk;
};

#define AT(member) offsetof(struct get_opts, member)
static const struct option_row ROWS[] = {
    SESSION_ROWS(struct get_opts),
    SESSION_ALL_ROW(struct get_opts),
    {"selector", "LABELS", OPTION_TEXT, AT(labels), "of objects with such labels", NULL,
     'l'},
    {"field-selector", "FIELDS", OPTION_TEXT, AT(fields), "of objects with such fields"},
    {"output", "FORMAT", OPTION_TEXT, AT(output),
     "wide, name, json, yaml, jsonpath=TEMPLATE, custom-columns=HEADER:PATH,...", NULL,
     'o'},
    {"watch", NULL, OPTION_FLAG, AT(watch), "and then whatever changes", NULL, 'w'},
    {"watch-only", NULL, OPTION_FLAG, AT(watch_only), "what changes, not what there is"},
    {"sort-by", "PATH", OPTION_TEXT, AT(rows.sort_by), "rows in the order of a field"},
    {"label-columns", "KEY,...", OPTION_LIST, AT(rows.label_columns), "labels as columns",
     NULL, 'L'},
    {"show-labels", NULL, OPTION_FLAG, AT(rows.show_labels), "all labels in a column"},
    {"show-kind", NULL, OPTION_FLAG, AT(rows.kinds), "names with their kind"},
    {"show-managed-fields", NULL, OPTION_FLAG, AT(managed),
     "metadata.managedFields too, in json and yaml"},
    {"no-headers", NULL, OPTION_FLAG, AT(rows.no_headers), "rows alone"},
    {"ignore-not-found", NULL, OPTION_FLAG, AT(ignore_not_found),
     "what is not there is no error"},
    {"filename", "FILE,...", OPTION_LIST, AT(files), "objects that files name", NULL,
     'f'},
    {"recursive", NULL, OPTION_FLAG, AT(recursive), "in folders of folders too", NULL,
     'R'},
    {"subresource", "NAME", OPTION_TEXT, AT(subresource), "status or scale of objects"},
    {"chunk-size", "N", OPTION_COUNT, AT(chunk),
     "objects that are asked for at once (500); 0: all of them"},
    {"raw", "PATH", OPTION_TEXT, AT(raw), "what the server answers at a path"},
};
#undef AT

struct getting {
    struct session *s;
    struct discovery d;
    const struct get_opts *opts;
    struct output output;
    struct rows rows;
    struct doc list;
    uint32_t found;
    bool failed;
    struct str version; /* of what was read last */
};

static bool is_table(const struct getting *g)
{
    return g->output.kind == OUTPUT_TABLE || g->output.kind == OUTPUT_WIDE;
}

/* ---- requests ---- */

static void add_query(struct strbuf *b, const char *key, const char *value)
{
    if (!value)
        return;
    strbuf_addf(b, "%c%s=", str_find_byte(strbuf_str(b), '?', 0) == SIZE_MAX ? '?' : '&',
                key);
    query_escape(str_from(value), b);
}

static struct str path_of(const struct getting *g, const struct target *t)
{
    struct strbuf b = STRBUF_INIT;
    struct arena *a = g->s->a;
    const char *sub = t->name.n ? g->opts->subresource : NULL;
    strbuf_addstr(&b, resource_path(t->resource, t->namespace, t->name, sub, a));
    if (!t->name.n) {
        add_query(&b, "labelSelector", g->opts->labels);
        add_query(&b, "fieldSelector", g->opts->fields);
    }
    if (is_table(g) && g->opts->rows.sort_by)
        add_query(&b, "includeObject", "Object");
    struct str path = arena_str(a, strbuf_str(&b));
    strbuf_release(&b);
    return path;
}

/* from: where the part before ended. */
static const struct doc *ask(struct getting *g, const struct target *t, struct str from,
                             struct err *e)
{
    uint32_t limit = t->name.n ? 0 : g->opts->chunk;
    struct str path = session_page(g->s, path_of(g, t), limit, from);
    const struct client_answer *a =
        session_get(g->s, path, is_table(g) ? ROWS_ACCEPT : NULL);
    bool missing = a->status == 404 && g->opts->ignore_not_found && t->name.n;
    return missing ? NULL : session_doc(g->s, a, e);
}

/* ---- once ---- */

static void add(struct getting *g, const struct target *t, const struct doc *d)
{
    g->version = doc_get_text(doc_get(d, "metadata"), "resourceVersion");
    if (is_table(g))
        g->found += rows_add(&g->rows, t->resource, d, g->s->a);
    else
        output_list_add(&g->list, d, g->s->a);
}

/* One that is refused is told, and does not keep the others. */
static void get_one(struct getting *g, const struct target *t)
{
    struct err e = ERR_INIT;
    struct str from = STR_NONE;
    const struct doc *d;
    do {
        d = ask(g, t, from, &e);
        if (d)
            add(g, t, d);
        from = t->name.n ? STR_NONE : doc_get_text(doc_get(d, "metadata"), "continue");
    } while (from.n);
    g->failed |= e.code != ERR_NONE;
    client_cmd_say(&e);
}

static void say_nothing_found(const struct getting *g, const struct targets *t)
{
    bool namespaced = false;
    for (uint32_t i = 0; i < t->n; i++)
        namespaced |= t->v[i].resource->namespaced;
    if (g->opts->ignore_not_found)
        return;
    if (namespaced && !g->s->opts->all_namespaces)
        fprintf(stderr, "No resources found in %.*s namespace.\n",
                STR_ARG(g->s->namespace));
    else
        fputs("No resources found\n", stderr);
}

/* One object that was asked for by name is no list. */
static void print_objects(struct getting *g, const struct targets *t)
{
    const struct doc *items = doc_get(&g->list, "items");
    bool single = t->n == 1 && t->v[0].name.n;
    if (single && items->n == 1)
        output_print(&g->output, &g->d, &items->items[0], g->s->a);
    else if (!single && (items->n || !g->failed))
        output_print(&g->output, &g->d, &g->list, g->s->a);
}

static void get_all(struct getting *g, const struct targets *t)
{
    g->list = output_list(g->s->a);
    for (uint32_t i = 0; i < t->n; i++)
        get_one(g, &t->v[i]);
    if (!is_table(g)) {
        print_objects(g, t);
        return;
    }
    rows_flush(&g->rows);
    if (!g->found && !g->failed && !g->opts->watch)
        say_nothing_found(g, t);
}

/* ---- and then what changes ---- */

struct watching {
    struct getting *g;
    const struct target *target;
    struct arena arena; /* of one event */
    struct err *e;
};

static void print_event(struct watching *w, const struct doc *object)
{
    struct getting *g = w->g;
    if (!is_table(g)) {
        if (g->output.kind == OUTPUT_YAML)
            puts("---");
        output_print(&g->output, &g->d, object, &w->arena);
        return;
    }
    /* Definitions of columns are kept: those tables stay. */
    bool first = doc_get(object, "columnDefinitions");
    rows_add(&g->rows, w->target->resource, object, first ? g->s->a : &w->arena);
    rows_flush(&g->rows);
}

static bool on_event(void *ctx, struct str line)
{
    struct watching *w = ctx;
    struct doc_source src = {.name = "event", .text = line};
    struct doc event;
    struct arena *a = w->g->rows.definitions ? &w->arena : w->g->s->a;
    if (!doc_read_json(&src, a, &event, w->e))
        return false;
    const struct doc *object = doc_get(&event, "object"), *type = doc_get(&event, "type");
    if (doc_is_string(type, "ERROR"))
        return err_set(w->e, ERR_IO, "%.*s", STR_ARG(doc_get_text(object, "message")));
    if (!doc_is_string(type, "BOOKMARK"))
        print_event(w, object);
    arena_reset(&w->arena);
    return true;
}

static int watch(struct getting *g, const struct targets *t, struct err *e)
{
    struct target whole = t->v[0];
    struct strbuf b = STRBUF_INIT;
    struct watching w = {.g = g, .target = &t->v[0], .e = e};
    if (t->n > 1) {
        err_set(e, ERR_INVALID, "you may only specify a single resource type to watch");
        return EXIT_NO;
    }
    whole.name = STR_NONE;
    strbuf_addstr(&b, path_of(g, &whole));
    if (t->v[0].name.n)
        add_query(&b, "fieldSelector",
                  arena_printf(g->s->a, "metadata.name=%.*s", STR_ARG(t->v[0].name)).p);
    add_query(&b, "watch", "true");
    add_query(&b, "resourceVersion", arena_str(g->s->a, g->version).p);
    struct client_request q = {.method = "GET",
                               .path = strbuf_str(&b),
                               .accept = is_table(g) ? ROWS_ACCEPT : NULL};
    enum session_end end = session_follow(g->s, &q, on_event, &w, 0, e);
    strbuf_release(&b);
    arena_fini(&w.arena);
    return end == SESSION_ENDED ? EXIT_OK : EXIT_NO;
}

/* Tables of several kinds name them. */
static void prepare(struct getting *g, struct rows_opts *rows, const struct targets *t)
{
    *rows = g->opts->rows;
    rows->wide = g->output.kind == OUTPUT_WIDE;
    rows->kinds |= t->several_types;
    rows->namespaces = g->s->opts->all_namespaces && t->v[0].resource->namespaced;
    rows_init(&g->rows, rows);
}

static int print_raw(struct session *s, const char *path, struct err *e)
{
    const struct client_answer *a = session_get(s, str_from(path), "*/*");
    if (!a->ok) {
        session_refuse(a, e);
        return EXIT_NO;
    }
    fwrite(a->body.p, 1, a->body.n, stdout);
    return EXIT_OK;
}

static int get_targets(struct getting *g, const struct targets *t, struct err *e)
{
    struct rows_opts rows;
    int code = EXIT_OK;
    prepare(g, &rows, t);
    get_all(g, t);
    if (!g->failed && (g->opts->watch || g->opts->watch_only))
        code = watch(g, t, e);
    rows_fini(&g->rows);
    return g->failed ? EXIT_NO : code;
}

static int run(struct session *s, const struct option_args *args, void *into,
               struct err *e)
{
    const struct get_opts *o = into;
    struct getting g = {.s = s, .opts = o};
    struct targets t;
    if (o->raw)
        return print_raw(s, o->raw, e);
    if (!args->n && !o->files) {
        err_set(e, ERR_INVALID,
                "Required resource not specified: dray get TYPE; "
                "\"dray get --help\" has examples");
        return EXIT_INPUT;
    }
    if (!output_read(o->output, s->a, &g.output, e) || !discovery_read(s, &g.d, e))
        return EXIT_NO;
    g.output.managed = o->managed;
    bool ok = o->files ? targets_of_files(s, &g.d, o->files, o->recursive, &t, e)
                       : targets_of_args(s, &g.d, args, &t, e);
    return ok ? targets_end(&t, get_targets(&g, &t, e)) : EXIT_NO;
}

int cmd_get(int argc, char **argv)
{
    struct get_opts o = {.chunk = SESSION_CHUNK};
    const struct client_cmd c = {
        USAGE, {ROWS, sizeof ROWS / sizeof *ROWS}, &o, &o.session, run};
    return client_cmd_run(&c, argc, argv);
}
