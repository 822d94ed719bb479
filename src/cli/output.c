/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/output.h"

#include <stdio.h>

#include "base/vec.h"
#include "cli/columns.h"

/* ---- reading ---- */

static bool read_columns(struct str spec, struct arena *a, struct output *out,
                         struct err *e)
{
    VEC(struct output_column) found = {0};
    for (struct str rest = spec, part; str_split_next(&rest, ',', &part);) {
        size_t colon = str_find_byte(part, ':', 0);
        struct output_column c = {.header = str_sub(part, 0, colon)};
        if (colon == SIZE_MAX || found.n == COLUMNS_MAX)
            return err_set(e, ERR_INVALID,
                           "unexpected custom-columns spec: %.*s, expected "
                           "<header>:<json-path-expr>",
                           STR_ARG(part));
        if (!template_path(str_sub(part, colon + 1, part.n), a, &c.path, e))
            return false;
        vec_push_in(a, &found, c);
    }
    out->kind = OUTPUT_COLUMNS;
    out->columns = found.v;
    out->ncolumns = (uint32_t)found.n;
    return out->ncolumns > 0 ||
           err_set(e, ERR_INVALID,
                   "custom-columns format specified but no custom columns given");
}

static bool read_jsonpath(struct str text, struct arena *a, struct output *out,
                          struct err *e)
{
    if (!text.n)
        return err_set(e, ERR_INVALID, "template format specified but no template given");
    out->kind = OUTPUT_JSONPATH;
    out->template = template_parse(text, a, e);
    return out->template;
}

bool output_read(const char *text, struct arena *a, struct output *out, struct err *e)
{
    static const struct {
        const char *name;
        enum output_kind kind;
    } PLAIN[] = {{"", OUTPUT_TABLE},
                 {"wide", OUTPUT_WIDE},
                 {"name", OUTPUT_NAME},
                 {"json", OUTPUT_JSON},
                 {"yaml", OUTPUT_YAML}};
    struct str all = str_from(text ? text : "");
    size_t equals = str_find_byte(all, '=', 0);
    struct str name = str_sub(all, 0, equals),
               rest = equals == SIZE_MAX ? STR("") : str_sub(all, equals + 1, all.n);
    *out = (struct output){0};
    for (size_t i = 0; i < sizeof PLAIN / sizeof *PLAIN; i++)
        if (str_is(all, PLAIN[i].name)) {
            out->kind = PLAIN[i].kind;
            return true;
        }
    if (str_is(name, "jsonpath"))
        return read_jsonpath(rest, a, out, e);
    if (str_is(name, "custom-columns"))
        return read_columns(rest, a, out, e);
    return err_set(e, ERR_INVALID,
                   "unable to match a printer suitable for the output format \"%.*s\", "
                   "allowed formats are: custom-columns,json,jsonpath,name,wide,yaml",
                   STR_ARG(all));
}

/* ---- printing ---- */

static const struct doc *items_of(const struct doc *object)
{
    const struct doc *items = doc_get(object, "items");
    bool list = items && items->type == DOC_LIST &&
                str_ends(doc_get_text(object, "kind"), STR("List"));
    return list ? items : NULL;
}

/* Each object of a list, or the one. */
typedef void each_fn(const struct output *o, const struct discovery *d,
                     const struct doc *object, struct arena *a, void *ctx);

static void for_each(const struct output *o, const struct discovery *d,
                     const struct doc *object, struct arena *a, each_fn *each, void *ctx)
{
    const struct doc *items = items_of(object);
    if (!items)
        each(o, d, object, a, ctx);
    for (uint32_t i = 0; items && i < items->n; i++)
        each(o, d, &items->items[i], a, ctx);
}

static void print_name(const struct output *o, const struct discovery *d,
                       const struct doc *object, struct arena *a, void *ctx)
{
    const struct resource *r = discovery_of(d, object);
    struct str kind = r ? resource_kind_name(r, a) : doc_get_text(object, "kind");
    struct str name = doc_get_text(doc_get(object, "metadata"), "name");
    (void)o;
    (void)ctx;
    printf("%.*s/%.*s\n", STR_ARG(kind), STR_ARG(name));
}

static struct str cell(const struct output_column *c, const struct doc *object,
                       struct arena *a)
{
    struct strbuf b = STRBUF_INIT;
    uint32_t n;
    const struct doc *const *found = jsonpath_find(&c->path, object, a, &n);
    for (uint32_t i = 0; i < n; i++) {
        if (i)
            strbuf_addc(&b, ',');
        if (found[i]->type == DOC_NULL)
            strbuf_adds(&b, "<none>");
        template_value(found[i], &b);
    }
    struct str out = n ? arena_str(a, strbuf_str(&b)) : STR("<none>");
    strbuf_release(&b);
    return out;
}

static void add_row(const struct output *o, const struct discovery *d,
                    const struct doc *object, struct arena *a, void *ctx)
{
    struct str cells[COLUMNS_MAX];
    (void)d;
    for (uint32_t i = 0; i < o->ncolumns; i++)
        cells[i] = cell(&o->columns[i], object, a);
    columns_add(ctx, cells, o->ncolumns);
}

static void print_columns(const struct output *o, const struct discovery *d,
                          const struct doc *object, struct arena *a)
{
    struct columns c;
    struct str headers[COLUMNS_MAX];
    columns_init(&c);
    for (uint32_t i = 0; i < o->ncolumns; i++)
        headers[i] = o->columns[i].header;
    columns_add(&c, headers, o->ncolumns);
    for_each(o, d, object, a, add_row, &c);
    columns_flush(&c, stdout);
    columns_fini(&c);
}

static void drop_managers(const struct doc *object)
{
    struct doc *meta = (struct doc *)doc_get(object, "metadata");
    if (meta)
        doc_remove(meta, STR("managedFields"));
}

static struct doc without_managers(const struct doc *object, struct arena *a)
{
    struct doc out = doc_dup(a, object);
    const struct doc *items = items_of(&out);
    drop_managers(&out);
    for (uint32_t i = 0; items && i < items->n; i++)
        drop_managers(&items->items[i]);
    return out;
}

static void print_text(const struct output *o, const struct doc *object, struct arena *a)
{
    struct strbuf out = STRBUF_INIT;
    struct doc shown = o->managed ? *object : without_managers(object, a);
    if (o->kind == OUTPUT_JSONPATH) {
        template_print(o->template, &shown, a, &out);
    } else if (o->kind == OUTPUT_YAML) {
        doc_write_yaml(&shown, &out);
    } else {
        doc_write_json(&shown, DOC_JSON_INDENT | DOC_JSON_SORT | DOC_JSON_HTML, &out);
        strbuf_addc(&out, '\n');
    }
    fwrite(strbuf_cstr(&out), 1, out.n, stdout);
    strbuf_release(&out);
}

void output_print(const struct output *o, const struct discovery *d,
                  const struct doc *object, struct arena *a)
{
    if (o->kind == OUTPUT_NAME)
        for_each(o, d, object, a, print_name, NULL);
    else if (o->kind == OUTPUT_COLUMNS)
        print_columns(o, d, object, a);
    else
        print_text(o, object, a);
    fflush(stdout);
}

/* ---- lists ---- */

struct doc output_list(struct arena *a)
{
    struct doc list = doc_make_map(), meta = doc_make_map();
    doc_set_text(a, &meta, "resourceVersion", STR(""));
    doc_set_text(a, &list, "apiVersion", STR("v1"));
    doc_set(a, &list, "items", doc_make_list());
    doc_set_text(a, &list, "kind", STR("List"));
    doc_set(a, &list, "metadata", meta);
    return list;
}

/* Items of a list say neither kind nor version: its own, without "List". */
static struct doc complete(const struct doc *item, const struct doc *list,
                           struct arena *a)
{
    struct doc out = doc_make_map();
    struct str kind = doc_get_text(list, "kind");
    if (doc_get(item, "kind"))
        return *item;
    doc_set_text(a, &out, "apiVersion", doc_get_text(list, "apiVersion"));
    doc_set_text(a, &out, "kind", str_sub(kind, 0, kind.n - 4));
    for (uint32_t i = 0; i < item->n; i++)
        doc_set_str(a, &out, doc_key(&item->members[i]), item->members[i].value);
    return out;
}

void output_list_add(struct doc *list, const struct doc *answer, struct arena *a)
{
    struct doc *into = (struct doc *)doc_get(list, "items");
    const struct doc *items = items_of(answer);
    if (!items)
        doc_append(a, into, *answer);
    for (uint32_t i = 0; items && i < items->n; i++)
        doc_append(a, into, complete(&items->items[i], answer, a));
}
