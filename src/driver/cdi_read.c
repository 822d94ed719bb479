/* SPDX-License-Identifier: Apache-2.0 */
/* Reading. A field that no table has makes a file unusable, as it does for runtimes. */
#include "driver/cdi_inner.h"
#include "driver/cdi_shape.h"

static bool read_shape(const struct cdi_shape *s, const struct doc *d, struct arena *a,
                       void *out, struct err *e);

static bool wrong(const struct doc *d, const char *want, struct err *e)
{
    return err_set(e, ERR_INVALID, "is a %s, must be a %s", doc_type_name(d), want);
}

/* A plain number or boolean of YAML is also its text. */
static bool read_text(const struct doc *d, struct str *out, struct err *e)
{
    if (d->type == DOC_STRING || d->type == DOC_NUMBER)
        *out = doc_str(d);
    else if (d->type == DOC_BOOL)
        *out = d->b ? STR("true") : STR("false");
    else
        return wrong(d, "string", e);
    return true;
}

static bool read_number(const struct doc *d, int64_t *out, struct err *e)
{
    return doc_int64(d, out) || wrong(d, "whole number", e);
}

static bool read_word(const struct doc *d, uint32_t *out, struct err *e)
{
    int64_t v;
    if (!read_number(d, &v, e))
        return false;
    if (v < 0 || v > UINT32_MAX)
        return err_set(e, ERR_INVALID, "%lld is not between 0 and 4294967295",
                       (long long)v);
    *out = (uint32_t)v;
    return true;
}

static bool read_item(const struct cdi_field *f, const struct doc *d, struct arena *a,
                      void *out, struct err *e)
{
    if (f->kind == CDI_TEXTS)
        return read_text(d, out, e);
    return f->kind == CDI_WORDS ? read_word(d, out, e)
                                : read_shape(f->shape, d, a, out, e);
}

static bool read_items(const struct cdi_field *f, const struct doc *d, struct arena *a,
                       void *out, struct err *e)
{
    if (d->type != DOC_LIST)
        return wrong(d, "list", e);
    uint32_t size = cdi_item_size(f);
    char *items = arena_array_zalloc(a, d->n, size);
    for (uint32_t i = 0; i < d->n; i++) {
        if (!read_item(f, &d->items[i], a, items + (size_t)i * size, e))
            return err_wrap(e, "[%u]", i);
    }
    *cdi_array_at(f, out) = items;
    *cdi_count_at(f, out) = d->n;
    return true;
}

static bool read_pairs(const struct cdi_field *f, const struct doc *d, struct arena *a,
                       void *out, struct err *e)
{
    if (d->type != DOC_MAP)
        return wrong(d, "map", e);
    struct cdi_pair *pairs = ARENA_ARRAY(a, struct cdi_pair, d->n);
    for (uint32_t i = 0; i < d->n; i++) {
        pairs[i].key = doc_key(&d->members[i]);
        if (!read_text(&d->members[i].value, &pairs[i].value, e))
            return err_wrap(e, "%s", d->members[i].key);
    }
    *cdi_array_at(f, out) = pairs;
    *cdi_count_at(f, out) = d->n;
    return true;
}

static bool read_part(const struct cdi_field *f, const struct doc *d, struct arena *a,
                      void *out, struct err *e)
{
    if (!read_shape(f->shape, d, a, (char *)out + f->at, e))
        return false;
    if (f->beside != CDI_NOTHING)
        *cdi_flag_at(f, out) = true;
    return true;
}

static bool read_scalar(const struct cdi_field *f, const struct doc *d, void *out,
                        struct err *e)
{
    switch (f->kind) {
    case CDI_TEXT:
        return read_text(d, cdi_text_at(f, out), e);
    case CDI_NUMBER:
        return read_number(d, cdi_number_at(f, out), e);
    case CDI_TIMED:
        return *cdi_flag_at(f, out) = true, read_number(d, cdi_number_at(f, out), e);
    case CDI_WORD:
        return *cdi_flag_at(f, out) = true, read_word(d, cdi_word_at(f, out), e);
    default:
        if (d->type != DOC_BOOL)
            return wrong(d, "boolean", e);
        *(bool *)((char *)out + f->at) = d->b;
        return true;
    }
}

static bool read_field(const struct cdi_field *f, const struct doc *d, struct arena *a,
                       void *out, struct err *e)
{
    switch (f->kind) {
    case CDI_TEXTS:
    case CDI_WORDS:
    case CDI_PARTS:
        return read_items(f, d, a, out, e);
    case CDI_PAIRS:
        return read_pairs(f, d, a, out, e);
    case CDI_PART:
        return read_part(f, d, a, out, e);
    default:
        return read_scalar(f, d, out, e);
    }
}

static const struct cdi_field *find_field(const struct cdi_shape *s, struct str name)
{
    for (uint32_t i = 0; i < s->n; i++) {
        if (str_is(name, s->fields[i].name))
            return &s->fields[i];
    }
    return NULL;
}

static bool read_shape(const struct cdi_shape *s, const struct doc *d, struct arena *a,
                       void *out, struct err *e)
{
    if (d->type == DOC_NULL)
        return true;
    if (d->type != DOC_MAP)
        return wrong(d, "map", e);
    for (uint32_t i = 0; i < d->n; i++) {
        const struct doc_member *m = &d->members[i];
        const struct cdi_field *f = find_field(s, doc_key(m));
        if (!f)
            return err_set(e, ERR_INVALID, "%s: there is no such field", m->key);
        if (m->value.type != DOC_NULL && !read_field(f, &m->value, a, out, e))
            return err_wrap(e, "%s", m->key);
    }
    return true;
}

/* schemata counts from 1.1.0 on even when it is empty. */
static void mark_schemata(struct cdi_edits *x)
{
    x->rdt.has_schemata = x->rdt.schemata != NULL;
}

bool cdi_spec_read(struct str text, struct arena *a, struct cdi_spec *out, struct err *e)
{
    struct doc_source src = {.name = "CDI spec", .text = text};
    struct doc_list list;
    if (!doc_read_yaml(&src, a, &list, e))
        return false;
    if (list.n == 0)
        return err_set(e, ERR_INVALID, "the file is empty");
    if (src.ndups > 0)
        return err_set(e, ERR_INVALID, "%s is there twice", src.dups[0].path);
    struct cdi_spec s = {0};
    if (!read_shape(&cdi_spec_shape, &list.v[0], a, &s, e))
        return false;
    mark_schemata(&s.edits);
    for (uint32_t i = 0; i < s.ndevices; i++)
        mark_schemata(&s.devices[i].edits);
    if (!cdi_spec_check_as(&s, CDI_AS_READ, e))
        return false;
    *out = s;
    return true;
}
