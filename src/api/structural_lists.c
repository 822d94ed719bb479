/* SPDX-License-Identifier: Apache-2.0 */
/* Lists that are sets or have keys: no item twice. */
#include "api/structural_inner.h"
#include "base/map.h"

/* What an item is known by; of a keyed list its keys, absent ones left out. */
static struct doc key_of(const struct schema *s, const struct doc *item, struct arena *a)
{
    struct doc keys = doc_make_map();
    if (s->list_type == LIST_SET)
        return *item;
    for (uint32_t i = 0; i < s->map_keys->n; i++) {
        struct str name = doc_str(&s->map_keys->items[i]);
        const struct doc *v = doc_get_str(item, name);
        if (v)
            doc_set_str(a, &keys, name, *v);
    }
    return keys;
}

/* Whole numbers and others differ, as in Go: 1 and 1.0; but not within several keys. */
static void spell(const struct schema *s, const struct doc *key, struct strbuf *b)
{
    bool one = s->list_type == LIST_MAP && s->map_keys->n == 1 && key->n == 1;
    const struct doc *d = one ? &key->members[0].value : key;
    strbuf_clear(b);
    if (one)
        strbuf_addc(b, ':');
    if (d->type == DOC_NUMBER && !schema_number_of(d).whole)
        strbuf_addc(b, 'f');
    schema_write_json(d, b);
}

/* Each once, however often it comes. */
static void check_unique(const struct schema *s, const struct doc *d, struct strbuf *at,
                         const struct schema_report *r)
{
    struct strmap seen = STRMAP_INIT;
    struct strbuf b = STRBUF_INIT;
    for (uint32_t i = 0; d->n > 1 && i < d->n; i++) {
        struct doc key = key_of(s, &d->items[i], r->a);
        bool made;
        spell(s, &key, &b);
        struct strmap_entry *e = strmap_find(&seen, strbuf_str(&b));
        if (!e)
            e = strmap_put(&seen, arena_str(r->a, strbuf_str(&b)), &made);
        if (++e->value.u != 2)
            continue;
        size_t here = schema_path_index(at, i);
        schema_fail(r, at, API_ERROR_DUPLICATE, schema_shown(r->a, &key), "%s", "");
        schema_path_back(at, here);
    }
    strmap_release(&seen);
    strbuf_release(&b);
}

static bool are_maps(const struct doc *d, struct strbuf *at,
                     const struct schema_report *r)
{
    for (uint32_t i = 0; i < d->n; i++) {
        if (d->items[i].type == DOC_MAP || d->items[i].type == DOC_NULL)
            continue;
        size_t here = schema_path_index(at, i);
        schema_fail(r, at, API_ERROR_INVALID, schema_shown(r->a, &d->items[i]),
                    "must be an object for an array of list-type map");
        schema_path_back(at, here);
        return false;
    }
    return true;
}

static void check_list(const struct schema *s, const struct doc *d, struct strbuf *at,
                       const struct schema_report *r)
{
    if (s->list_type == LIST_SET ||
        (s->list_type == LIST_MAP && s->map_keys && are_maps(d, at, r)))
        check_unique(s, d, at, r);
    for (uint32_t i = 0; s->items && i < d->n; i++) {
        size_t here = schema_path_index(at, i);
        schema_check_lists(s->items, &d->items[i], at, r);
        schema_path_back(at, here);
    }
}

void schema_check_lists(const struct schema *s, const struct doc *d, struct strbuf *at,
                        const struct schema_report *r)
{
    if (!s->has_list_types)
        return;
    if (d->type == DOC_LIST)
        check_list(s, d, at, r);
    for (uint32_t i = 0; d->type == DOC_MAP && i < d->n; i++) {
        struct str key = doc_key(&d->members[i]);
        const struct schema *p = schema_prop(s, key);
        if (!p && !s->extra)
            continue;
        size_t here = p ? schema_path_child(at, key) : schema_path_key(at, key);
        schema_check_lists(p ? p : s->extra, &d->members[i].value, at, r);
        schema_path_back(at, here);
    }
}
