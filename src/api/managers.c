/* SPDX-License-Identifier: Apache-2.0 */
#include "api/managers.h"

#include <stdlib.h>

#include "api/timestamp.h"
#include "base/quote.h"

bool manager_same(const struct manager *x, const struct manager *y)
{
    return x->applied == y->applied && str_eq(x->name, y->name) &&
           str_eq(x->subresource, y->subresource) &&
           (x->applied || str_eq(x->version, y->version));
}

struct manager *managers_find(struct managers *m, const struct manager *who)
{
    for (size_t i = 0; i < m->n; i++)
        if (manager_same(&m->v[i], who))
            return &m->v[i];
    return NULL;
}

struct manager *managers_add(struct managers *m, struct manager who, struct arena *a)
{
    if (m->n == m->cap) {
        size_t cap = m->cap ? 2 * m->cap : 8;
        struct manager *v = ARENA_ARRAY(a, struct manager, cap);
        if (m->n)
            memcpy(v, m->v, m->n * sizeof *v);
        m->v = v;
        m->cap = cap;
    }
    m->v[m->n] = who;
    return &m->v[m->n++];
}

void managers_drop_empty(struct managers *m)
{
    size_t n = 0;
    for (size_t i = 0; i < m->n; i++)
        if (!fields_empty(&m->v[i].fields))
            m->v[n++] = m->v[i];
    m->n = n;
}

/* ---- Entries ---- */

static bool decode_entry(const struct doc *d, uint32_t i, struct arena *a,
                         struct manager *m, struct str *why)
{
    struct str operation = doc_get_text(d, "operation");
    struct str type = doc_get_text(d, "fieldsType");
    const struct doc *fields = doc_get(d, "fieldsV1");
    *m = (struct manager){.name = doc_get_text(d, "manager"),
                          .version = doc_get_text(d, "apiVersion"),
                          .subresource = doc_get_text(d, "subresource"),
                          .time = doc_get_text(d, "time"),
                          .applied = str_is(operation, "Apply")};
    if (!m->applied && !str_is(operation, "Update"))
        *why = STR("operation must be `Apply` or `Update`");
    else if (m->version.n == 0)
        *why = STR("apiVersion must not be empty");
    else if (type.n == 0)
        *why = arena_printf(a, "missing fieldsType in managed fields entry %u", i);
    else if (!str_is(type, "FieldsV1"))
        *why = arena_printf(a, "invalid fieldsType \"%.*s\" in managed fields entry %u",
                            STR_ARG(type), i);
    else
        return !fields || fields_decode(fields, a, &m->fields, why);
    return false;
}

bool managers_decode(const struct doc *entries, struct arena *a, struct managers *out,
                     struct str *why)
{
    struct managers m = {0};
    for (uint32_t i = 0; entries && entries->type == DOC_LIST && i < entries->n; i++) {
        struct manager one;
        if (!decode_entry(&entries->items[i], i, a, &one, why))
            return false;
        struct manager *old = managers_find(&m, &one);
        if (old)
            *old = one;
        else
            managers_add(&m, one, a);
    }
    *out = m;
    return true;
}

static int64_t seconds_of(const struct manager *m)
{
    int64_t seconds = 0;
    int32_t nanos;
    if (m->time.n && !timestamp_parse(m->time, &seconds, &nanos))
        seconds = 0;
    return seconds;
}

static int by_age(const struct manager *x, const struct manager *y)
{
    int64_t s = seconds_of(x), t = seconds_of(y);
    int c = s != t ? (s < t ? -1 : 1) : str_cmp(x->name, y->name);
    c = c ? c : str_cmp(x->version, y->version);
    return c ? c : str_cmp(x->subresource, y->subresource);
}

static int by_operation(const void *a, const void *b)
{
    const struct manager *x = a, *y = b;
    return x->applied != y->applied ? y->applied - x->applied : by_age(x, y);
}

static void set_text(struct doc *d, const char *key, struct str text, struct arena *a)
{
    if (text.n)
        doc_set(a, d, key, doc_make_string(a, text));
}

static struct doc encode_entry(const struct manager *m, struct arena *a)
{
    struct doc d = doc_make_map();
    set_text(&d, "manager", m->name, a);
    set_text(&d, "operation", m->applied ? STR("Apply") : STR("Update"), a);
    set_text(&d, "apiVersion", m->version, a);
    set_text(&d, "time", m->time, a);
    set_text(&d, "fieldsType", STR("FieldsV1"), a);
    doc_set(a, &d, "fieldsV1", fields_encode(&m->fields, a));
    set_text(&d, "subresource", m->subresource, a);
    return d;
}

struct doc managers_encode(const struct managers *m, struct arena *a)
{
    struct doc list = doc_make_list();
    struct manager *v = ARENA_ARRAY(a, struct manager, m->n);
    if (m->n)
        memcpy(v, m->v, m->n * sizeof *v);
    qsort(v, m->n, sizeof *v, by_operation);
    for (size_t i = 0; i < m->n; i++)
        doc_append(a, &list, encode_entry(&v[i], a));
    return list;
}

struct str manager_describe(const struct manager *m, struct arena *a)
{
    struct strbuf b = STRBUF_INIT;
    strbuf_add_quoted(&b, m->name);
    if (m->subresource.n) {
        strbuf_adds(&b, " with subresource ");
        strbuf_add_quoted(&b, m->subresource);
    }
    if (!m->applied)
        strbuf_addf(&b, " using %.*s", STR_ARG(m->version));
    struct str s = arena_str(a, strbuf_str(&b));
    strbuf_release(&b);
    return s;
}

/* ---- The cap ---- */

static int by_age_of(const void *a, const void *b)
{
    return by_age(*(struct manager *const *)a, *(struct manager *const *)b);
}

static size_t list_updaters(struct managers *m, struct manager **v)
{
    size_t n = 0;
    for (size_t i = 0; i < m->n; i++)
        if (!m->v[i].applied)
            v[n++] = &m->v[i];
    qsort(v, n, sizeof *v, by_age_of);
    return n;
}

/* The oldest of the same version that is still there, if it is not v[i] itself. */
static struct manager *oldest(struct manager **v, size_t i)
{
    for (size_t j = 0; j < i; j++)
        if (str_eq(v[j]->version, v[i]->version) && !fields_empty(&v[j]->fields))
            return v[j];
    return NULL;
}

void managers_cap(struct managers *m, struct arena *a)
{
    struct manager **v = ARENA_ARRAY(a, struct manager *, m->n);
    size_t n = list_updaters(m, v), left = n;
    for (size_t i = 0; i < n && left > MANAGERS_MAX_UPDATERS; i++) {
        struct manager bucket = {.name = STR("ancient-changes"),
                                 .version = v[i]->version};
        struct manager *into = managers_find(m, &bucket), *first = oldest(v, i);
        if (!first || into == v[i])
            continue;
        into = into ? into : first;
        bucket.time = v[i]->time;
        bucket.fields = fields_union(&into->fields, &v[i]->fields, a);
        *into = bucket;
        v[i]->fields = (struct fields){0};
        left--;
    }
    managers_drop_empty(m);
}
