/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/rows.h"

#include <ctype.h>
#include <stdlib.h>

#include "cli/template.h"
#include "num/quantity.h"

const char ROWS_ACCEPT[] =
    "application/json;as=Table;v=v1;g=meta.k8s.io,application/json";

void rows_init(struct rows *r, const struct rows_opts *opts)
{
    *r = (struct rows){.opts = opts};
    columns_init(&r->columns);
}

void rows_fini(struct rows *r)
{
    columns_fini(&r->columns);
}

void rows_flush(struct rows *r)
{
    columns_flush(&r->columns, stdout);
}

static uint32_t length(const struct doc *list)
{
    return list && list->type == DOC_LIST ? list->n : 0;
}

static struct str upper(struct str s, struct arena *a)
{
    char *p = (char *)arena_str(a, s).p;
    for (size_t i = 0; i < s.n; i++)
        p[i] = (char)toupper((unsigned char)p[i]);
    return (struct str){p, s.n};
}

/* ---- cells ---- */

struct line {
    struct str cells[COLUMNS_MAX];
    uint32_t n;
    struct arena *a;
};

static void add_cell(struct line *l, struct str text)
{
    if (l->n < COLUMNS_MAX)
        l->cells[l->n++] = text;
}

static bool is_shown(const struct rows *r, const struct doc *definition)
{
    int64_t priority = 0;
    doc_get_int64(definition, "priority", &priority);
    return priority == 0 || r->opts->wide;
}

static struct str cell_text(const struct doc *d, struct arena *a)
{
    struct strbuf b = STRBUF_INIT;
    if (d->type == DOC_NULL)
        return STR("<none>");
    template_value(d, &b);
    struct str out = arena_str(a, strbuf_str(&b));
    strbuf_release(&b);
    return out;
}

/* "a=b,c=d", by key. */
static int compare_members(const void *x, const void *y)
{
    const struct doc_member *a = x, *b = y;
    return str_cmp(doc_key(a), doc_key(b));
}

static struct str labels_text(const struct doc *labels, struct arena *a)
{
    struct strbuf b = STRBUF_INIT;
    if (!labels || labels->type != DOC_MAP || !labels->n)
        return STR("<none>");
    struct doc sorted = doc_dup(a, labels);
    qsort(sorted.members, sorted.n, sizeof *sorted.members, compare_members);
    for (uint32_t i = 0; i < sorted.n; i++)
        strbuf_addf(&b, "%s%.*s=%.*s", i ? "," : "", STR_ARG(doc_key(&sorted.members[i])),
                    STR_ARG(doc_str(&sorted.members[i].value)));
    struct str out = arena_str(a, strbuf_str(&b));
    strbuf_release(&b);
    return out;
}

/* ---- headers ---- */

static void add_label_headers(const struct rows *r, struct line *l)
{
    struct str keys = str_from(r->opts->label_columns ? r->opts->label_columns : "");
    for (struct str rest = keys, key; str_split_next(&rest, ',', &key);) {
        size_t slash = str_rfind_byte(key, '/');
        add_cell(l,
                 upper(slash == SIZE_MAX ? key : str_sub(key, slash + 1, key.n), l->a));
    }
    if (r->opts->show_labels)
        add_cell(l, STR("LABELS"));
}

static void add_headers(struct rows *r, struct arena *a)
{
    const struct doc *definitions = r->definitions;
    struct line l = {.a = a};
    if (r->opts->no_headers || !length(definitions))
        return;
    if (r->opts->namespaces)
        add_cell(&l, STR("NAMESPACE"));
    for (uint32_t i = 0; i < definitions->n; i++)
        if (is_shown(r, &definitions->items[i]))
            add_cell(&l, upper(doc_get_text(&definitions->items[i], "name"), a));
    add_label_headers(r, &l);
    columns_add(&r->columns, l.cells, l.n);
}

/* ---- rows ---- */

static void add_labels(const struct rows *r, const struct doc *meta, struct line *l)
{
    const struct doc *labels = doc_get(meta, "labels");
    struct str keys = str_from(r->opts->label_columns ? r->opts->label_columns : "");
    for (struct str rest = keys, key; str_split_next(&rest, ',', &key);) {
        const struct doc *value = doc_get_str(labels, key);
        add_cell(l, value ? doc_str(value) : STR(""));
    }
    if (r->opts->show_labels)
        add_cell(l, labels_text(labels, l->a));
}

static bool is_name_column(const struct doc *definition)
{
    return doc_is_string(doc_get(definition, "format"), "name");
}

static void add_row(struct rows *r, const struct doc *row, struct arena *a)
{
    const struct doc *cells = doc_get(row, "cells"), *definitions = r->definitions,
                     *meta = doc_path(row, "object.metadata");
    struct line l = {.a = a};
    if (r->opts->namespaces)
        add_cell(&l, doc_get_text(meta, "namespace"));
    for (uint32_t i = 0; i < length(cells) && i < length(definitions); i++) {
        if (!is_shown(r, &definitions->items[i]))
            continue;
        struct str text = cell_text(&cells->items[i], a);
        if (r->opts->kinds && is_name_column(&definitions->items[i]))
            text =
                arena_printf(a, "%.*s/%.*s", STR_ARG(resource_kind_name(r->resource, a)),
                             STR_ARG(text));
        add_cell(&l, text);
    }
    add_labels(r, meta, &l);
    columns_add(&r->columns, l.cells, l.n);
}

/* ---- order ---- */

struct sortable {
    const struct doc *row, *value; /* value NULL: the path leads nowhere */
    struct quantity amount;
    bool has_amount; /* a text that is one: "8", "32Gi" */
    uint32_t at;
};

static int in_place(const struct sortable *a, const struct sortable *b)
{
    return (int)(a->at > b->at) - (int)(a->at < b->at);
}

/* Numbers and quantities by value, what there is none of first, all else as text. */
static int compare(const void *x, const void *y)
{
    const struct sortable *a = x, *b = y;
    double p, q;
    if (!a->value || !b->value)
        return a->value || b->value ? (a->value ? 1 : -1) : in_place(a, b);
    int c = 0;
    if (doc_double(a->value, &p) && doc_double(b->value, &q))
        c = (p > q) - (p < q);
    else if (a->has_amount && b->has_amount)
        c = quantity_cmp(&a->amount, &b->amount);
    else if (a->value->type == DOC_STRING && b->value->type == DOC_STRING)
        c = str_cmp(doc_str(a->value), doc_str(b->value));
    return c ? c : in_place(a, b);
}

static struct sortable make_sortable(const struct doc *row, const struct doc *value,
                                     uint32_t at, struct arena *a)
{
    struct sortable s = {.row = row, .value = value, .at = at};
    s.has_amount = value && value->type == DOC_STRING &&
                   quantity_parse(doc_str(value), a, &s.amount, NULL);
    return s;
}

static const struct sortable *in_order(const struct rows *r, const struct doc *list,
                                       struct arena *a)
{
    struct jsonpath path;
    bool sort =
        r->opts->sort_by && template_path(str_from(r->opts->sort_by), a, &path, NULL);
    struct sortable *v = ARENA_ARRAY(a, struct sortable, list->n);
    for (uint32_t i = 0; i < list->n; i++) {
        const struct doc *object = doc_get(&list->items[i], "object");
        uint32_t n = 0;
        const struct doc *const *found =
            sort && object ? jsonpath_find(&path, object, a, &n) : NULL;
        v[i] = make_sortable(&list->items[i], n ? found[0] : NULL, i, a);
    }
    if (sort)
        qsort(v, list->n, sizeof *v, compare);
    return v;
}

/* Between two tables is an empty line; each has columns of its own width. */
static void begin(struct rows *r, const struct resource *of)
{
    if (r->resource) {
        rows_flush(r);
        columns_fini(&r->columns);
        columns_init(&r->columns);
        if (!r->opts->no_headers)
            putchar('\n');
    }
    r->resource = of;
}

uint32_t rows_add(struct rows *r, const struct resource *of, const struct doc *table,
                  struct arena *a)
{
    const struct doc *list = doc_get(table, "rows"),
                     *definitions = doc_get(table, "columnDefinitions");
    if (!length(list))
        return 0;
    if (r->resource != of)
        r->definitions = NULL;
    if (length(definitions))
        r->definitions = definitions;
    if (r->resource != of) {
        begin(r, of);
        add_headers(r, a);
    }
    const struct sortable *v = in_order(r, list, a);
    for (uint32_t i = 0; i < list->n; i++)
        add_row(r, v[i].row, a);
    return list->n;
}
