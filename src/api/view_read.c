/* SPDX-License-Identifier: Apache-2.0 */
#include "api/view_read.h"

#include <stdlib.h>

void view_fail(struct view_reader *r, const char *field, const char *want,
               const struct doc *got)
{
    if (!r->failed)
        err_set(r->e, ERR_INVALID, "%s: expected %s, got %s", field, want,
                doc_type_name(got));
    r->failed = true;
}

/* The member if it is there, not null, and of the type; fails on another type. */
static const struct doc *member(struct view_reader *r, const struct doc *d,
                                const char *field, enum doc_type type, const char *want)
{
    const struct doc *m = doc_get(d, field);
    if (!m || m->type == DOC_NULL)
        return NULL;
    if (m->type == type)
        return m;
    view_fail(r, field, want, m);
    return NULL;
}

struct str view_text(struct view_reader *r, const struct doc *d, const char *field)
{
    const struct doc *m = member(r, d, field, DOC_STRING, "a string");
    return m ? arena_str(r->a, doc_str(m)) : STR_NONE;
}

bool view_bool(struct view_reader *r, const struct doc *d, const char *field,
               bool *present)
{
    const struct doc *m = member(r, d, field, DOC_BOOL, "true or false");
    if (present)
        *present = m != NULL;
    return m && m->b;
}

int64_t view_int(struct view_reader *r, const struct doc *d, const char *field)
{
    const struct doc *m = member(r, d, field, DOC_NUMBER, "an integer");
    int64_t v = 0;
    if (m && !doc_int64(m, &v))
        view_fail(r, field, "a 64-bit integer", m);
    return v;
}

const struct doc *view_list(struct view_reader *r, const struct doc *d, const char *field)
{
    return member(r, d, field, DOC_LIST, "a list");
}

const struct doc *view_map(struct view_reader *r, const struct doc *d, const char *field)
{
    return member(r, d, field, DOC_MAP, "a map");
}

static struct view_strs strs_of(struct view_reader *r, const struct doc *list,
                                const char *field)
{
    uint32_t n;
    struct str *v = VIEW_ITEMS(r, list, struct str, &n);
    for (uint32_t i = 0; i < n; i++) {
        if (list->items[i].type != DOC_STRING)
            view_fail(r, field, "a list of strings", &list->items[i]);
        else
            v[i] = arena_str(r->a, doc_str(&list->items[i]));
    }
    return (struct view_strs){v, n};
}

struct view_strs view_strs(struct view_reader *r, const struct doc *d, const char *field)
{
    return strs_of(r, view_list(r, d, field), field);
}

static bool quantity_of(struct view_reader *r, const struct doc *m, const char *field,
                        struct quantity *out)
{
    if (!m || (m->type != DOC_STRING && m->type != DOC_NUMBER)) {
        view_fail(r, field, "a quantity", m);
        return false;
    }
    if (quantity_parse(doc_str(m), r->a, out, r->failed ? NULL : r->e))
        return true;
    if (!r->failed)
        err_wrap(r->e, "%s: \"%.*s\"", field, STR_ARG(doc_str(m)));
    r->failed = true;
    return false;
}

bool view_quantity(struct view_reader *r, const struct doc *d, const char *field,
                   struct quantity *out)
{
    const struct doc *m = doc_get(d, field);
    return m && m->type != DOC_NULL && quantity_of(r, m, field, out);
}

static int amount_cmp(const void *a, const void *b)
{
    return str_cmp(((const struct view_amount *)a)->name,
                   ((const struct view_amount *)b)->name);
}

const struct view_amount *view_amount_map(struct view_reader *r, const struct doc *map,
                                          const char *value_member, uint32_t *n)
{
    struct view_amount *v = VIEW_ITEMS(r, map, struct view_amount, n);
    for (uint32_t i = 0; i < *n; i++) {
        const struct doc_member *m = &map->members[i];
        v[i].name = arena_str(r->a, doc_key(m));
        quantity_of(r, value_member ? doc_get(&m->value, value_member) : &m->value,
                    m->key, &v[i].value);
    }
    if (*n > 1)
        qsort(v, *n, sizeof *v, amount_cmp);
    return v;
}

static int label_cmp(const void *a, const void *b)
{
    return str_cmp(((const struct view_label *)a)->key,
                   ((const struct view_label *)b)->key);
}

const struct view_label *view_label_map(struct view_reader *r, const struct doc *map,
                                        uint32_t *n)
{
    struct view_label *v = VIEW_ITEMS(r, map, struct view_label, n);
    for (uint32_t i = 0; i < *n; i++) {
        const struct doc_member *m = &map->members[i];
        v[i].key = arena_str(r->a, doc_key(m));
        if (m->value.type == DOC_STRING)
            v[i].value = arena_str(r->a, doc_str(&m->value));
        else if (m->value.type != DOC_NULL)
            view_fail(r, m->key, "a string", &m->value);
    }
    if (*n > 1)
        qsort(v, *n, sizeof *v, label_cmp);
    return v;
}

void view_read_meta(struct view_reader *r, const struct doc *object,
                    struct view_meta *out)
{
    const struct doc *m = view_map(r, object, "metadata");
    out->name = view_text(r, m, "name");
    out->namespace = view_text(r, m, "namespace");
    out->uid = view_text(r, m, "uid");
    out->created = view_text(r, m, "creationTimestamp");
    out->deleting = view_text(r, m, "deletionTimestamp").n != 0;
}

struct view_taint view_read_taint(struct view_reader *r, const struct doc *d)
{
    return (struct view_taint){view_text(r, d, "key"), view_text(r, d, "value"),
                               view_text(r, d, "effect")};
}

const struct view_taint *view_read_taints(struct view_reader *r, const struct doc *list,
                                          uint32_t *n)
{
    struct view_taint *v = VIEW_ITEMS(r, list, struct view_taint, n);
    for (uint32_t i = 0; i < *n; i++)
        v[i] = view_read_taint(r, &list->items[i]);
    return v;
}

const struct view_toleration *view_read_tolerations(struct view_reader *r,
                                                    const struct doc *list, uint32_t *n)
{
    struct view_toleration *v = VIEW_ITEMS(r, list, struct view_toleration, n);
    for (uint32_t i = 0; i < *n; i++) {
        const struct doc *t = &list->items[i];
        v[i].key = view_text(r, t, "key");
        v[i].op = view_text(r, t, "operator");
        v[i].value = view_text(r, t, "value");
        v[i].effect = view_text(r, t, "effect");
        v[i].seconds = view_int(r, t, "tolerationSeconds");
        const struct doc *seconds = doc_get(t, "tolerationSeconds");
        v[i].has_seconds = seconds && seconds->type == DOC_NUMBER;
    }
    return v;
}

bool view_amounts(const struct doc *map, const char *value_member, struct arena *a,
                  const struct view_amount **out, uint32_t *n, struct err *e)
{
    struct view_reader r = {.a = a, .e = e};
    uint32_t count;
    const struct view_amount *v = view_amount_map(
        &r, map && map->type == DOC_MAP ? map : NULL, value_member, &count);
    if (r.failed)
        return false;
    *out = v;
    *n = count;
    return true;
}

void view_meta_read(const struct doc *d, struct view_meta *out, struct arena *a)
{
    struct view_reader r = {.a = a};
    view_read_meta(&r, d, out);
}
