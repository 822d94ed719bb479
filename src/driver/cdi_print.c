/* SPDX-License-Identifier: Apache-2.0 */
#include "driver/cdi_shape.h"

static struct doc print_shape(const struct cdi_shape *s, struct arena *a, const void *in);

static struct doc print_item(const struct cdi_field *f, struct arena *a, const void *in)
{
    if (f->kind == CDI_TEXTS)
        return doc_make_string(a, *(const struct str *)in);
    return f->kind == CDI_WORDS ? doc_make_int(a, *(const uint32_t *)in)
                                : print_shape(f->shape, a, in);
}

static struct doc print_items(const struct cdi_field *f, struct arena *a, void *in)
{
    struct doc list = doc_make_list();
    const char *items = *cdi_array_at(f, in);
    uint32_t n = *cdi_count_at(f, in), size = cdi_item_size(f);
    for (uint32_t i = 0; i < n; i++)
        doc_append(a, &list, print_item(f, a, items + (size_t)i * size));
    return list;
}

static struct doc print_pairs(const struct cdi_field *f, struct arena *a, void *in)
{
    struct doc map = doc_make_map();
    const struct cdi_pair *pairs = *cdi_array_at(f, in);
    for (uint32_t i = 0; i < *cdi_count_at(f, in); i++)
        doc_set_str(a, &map, pairs[i].key, doc_make_string(a, pairs[i].value));
    return map;
}

/* Whether there is something to write. */
static bool is_there(const struct cdi_field *f, void *in)
{
    switch (f->kind) {
    case CDI_TEXT:
        return cdi_text_at(f, in)->n > 0;
    case CDI_NUMBER:
        return *cdi_number_at(f, in) != 0;
    case CDI_TIMED:
    case CDI_WORD:
        return *cdi_flag_at(f, in);
    case CDI_FLAG:
        return *(bool *)((char *)in + f->at);
    case CDI_PART:
        return f->beside == CDI_NOTHING || *cdi_flag_at(f, in);
    default:
        return *cdi_count_at(f, in) > 0;
    }
}

static struct doc print_field(const struct cdi_field *f, struct arena *a, void *in)
{
    switch (f->kind) {
    case CDI_TEXT:
        return doc_make_string(a, *cdi_text_at(f, in));
    case CDI_NUMBER:
    case CDI_TIMED:
        return doc_make_int(a, *cdi_number_at(f, in));
    case CDI_WORD:
        return doc_make_int(a, *cdi_word_at(f, in));
    case CDI_FLAG:
        return doc_make_bool(true);
    case CDI_PAIRS:
        return print_pairs(f, a, in);
    case CDI_PART:
        return print_shape(f->shape, a, (char *)in + f->at);
    default:
        return print_items(f, a, in);
    }
}

static struct doc print_shape(const struct cdi_shape *s, struct arena *a, const void *in)
{
    struct doc map = doc_make_map();
    for (uint32_t i = 0; i < s->n; i++) {
        const struct cdi_field *f = &s->fields[i];
        if (f->always || is_there(f, (void *)in))
            doc_add_str(a, &map, str_from(f->name), print_field(f, a, (void *)in));
    }
    return map;
}

struct str cdi_spec_print(const struct cdi_spec *s, struct arena *a)
{
    struct cdi_spec whole = *s;
    if (whole.version.n == 0)
        whole.version = str_from(cdi_spec_version(s));
    struct doc d = print_shape(&cdi_spec_shape, a, &whole);
    struct strbuf b = STRBUF_INIT;
    doc_write_json(&d, DOC_JSON_INDENT | DOC_JSON_NARROW, &b);
    struct str text = arena_str(a, strbuf_str(&b));
    strbuf_release(&b);
    return text;
}
