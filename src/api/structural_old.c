/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which stored value a new one is compared with (apiserver pkg/cel/common): members of
 * one name, and items of keyed lists with the same keys.
 */
#include "api/structural_inner.h"
#include "base/quote.h"

/* ---- Members ---- */

enum { FEW = 16 };

static void index_members(struct schema_lookup *l, struct arena *a)
{
    l->mask = 1;
    while (l->mask < 2 * (uint64_t)l->map->n)
        l->mask = 2 * l->mask + 1;
    l->slots = ARENA_ARRAY(a, const struct doc_member *, (size_t)l->mask + 1);
    for (uint32_t i = l->map->n; i-- > 0;) { /* of equal ones the last is found first */
        const struct doc_member *m = &l->map->members[i];
        uint32_t at = (uint32_t)str_hash(doc_key(m)) & l->mask;
        while (l->slots[at])
            at = (at + 1) & l->mask;
        l->slots[at] = m;
    }
}

const struct doc *schema_lookup(struct schema_lookup *l, struct str key, struct arena *a)
{
    if (!l->map || l->map->type != DOC_MAP || l->map->n <= FEW)
        return doc_get_str(l->map, key);
    if (!l->slots)
        index_members(l, a);
    uint32_t at = (uint32_t)str_hash(key) & l->mask;
    while (l->slots[at] && !str_eq(doc_key(l->slots[at]), key))
        at = (at + 1) & l->mask;
    return l->slots[at] ? &l->slots[at]->value : NULL;
}

/* ---- Keyed lists ---- */

struct schema_index {
    const struct schema *s;
    struct slot {
        struct str key; /* p is NULL: free */
        const struct doc *item;
    } * slots;
    uint32_t mask;
};

static bool add_key(const struct doc *v, struct strbuf *b)
{
    if (!v || v->type == DOC_NULL || v->type >= DOC_LIST)
        return false;
    strbuf_addc(b, '\0');
    if (v->type == DOC_STRING) {
        strbuf_add_quoted(b, doc_str(v));
    } else if (v->type == DOC_BOOL) {
        strbuf_adds(b, v->b ? "true" : "false");
    } else {
        struct schema_number n = schema_number_of(v);
        if (n.whole)
            strbuf_addf(b, "%lld", (long long)n.i);
        else
            strbuf_addf(b, "%.17gf", n.d);
    }
    return true;
}

/* All keys have to be there. */
static bool key_of(const struct schema *s, const struct doc *item, struct strbuf *b)
{
    strbuf_clear(b);
    for (uint32_t i = 0; i < s->map_keys->n; i++)
        if (s->map_keys->items[i].type != DOC_STRING ||
            !add_key(doc_get_str(item, doc_str(&s->map_keys->items[i])), b))
            return false;
    return true;
}

static struct slot *slot_of(const struct schema_index *x, struct str key)
{
    uint32_t at = (uint32_t)str_hash(key) & x->mask;
    while (x->slots[at].key.p && !str_eq(x->slots[at].key, key))
        at = (at + 1) & x->mask;
    return &x->slots[at];
}

struct schema_index *schema_index_new(const struct schema *s, const struct doc *list,
                                      struct arena *a)
{
    if (s->type != SCHEMA_ARRAY || s->list_type != LIST_MAP || !s->map_keys || !list ||
        list->type != DOC_LIST || list->n == 0)
        return NULL;
    struct schema_index *x = ARENA_NEW(a, struct schema_index);
    struct strbuf b = STRBUF_INIT;
    *x = (struct schema_index){.s = s, .mask = 1};
    while (x->mask < 2 * (uint64_t)list->n)
        x->mask = 2 * x->mask + 1;
    x->slots = ARENA_ARRAY(a, struct slot, (size_t)x->mask + 1);
    for (uint32_t i = 0; i < list->n; i++) {
        if (list->items[i].type != DOC_MAP || !key_of(s, &list->items[i], &b))
            continue;
        struct slot *slot = slot_of(x, strbuf_str(&b));
        if (!slot->key.p)
            *slot = (struct slot){arena_str(a, strbuf_str(&b)), &list->items[i]};
    }
    strbuf_release(&b);
    return x;
}

const struct doc *schema_index_find(const struct schema_index *x, const struct doc *item,
                                    struct arena *a)
{
    struct strbuf b = STRBUF_INIT;
    const struct doc *found = NULL;
    if (x && item->type == DOC_MAP && key_of(x->s, item, &b))
        found = slot_of(x, strbuf_str(&b))->item;
    strbuf_release(&b);
    return found;
}

/* ---- Pairs ---- */

bool schema_pair_key(struct schema_pair *p, struct str key, const struct doc *now,
                     struct arena *a, struct schema_pair *out)
{
    if (!p || !p->old)
        return false;
    const struct schema *s = schema_prop(p->s, key);
    p->members.map = p->old;
    *out = (struct schema_pair){
        .s = s ? s : p->s->extra, .now = now, .old = schema_lookup(&p->members, key, a)};
    return out->s && out->now && out->old;
}

static struct schema_index *index_of(struct schema_pair *p, struct arena *a)
{
    if (!p->index)
        p->index = schema_index_new(p->s, p->old, a);
    return p->index;
}

bool schema_pair_item(struct schema_pair *p, uint32_t i, struct arena *a,
                      struct schema_pair *out)
{
    if (!p || !p->now || p->now->type != DOC_LIST || !p->s->items)
        return false;
    *out = (struct schema_pair){.s = p->s->items, .now = &p->now->items[i]};
    out->old = schema_index_find(index_of(p, a), out->now, a);
    return out->old;
}

static bool same_items(struct schema_pair *p, struct arena *a)
{
    struct schema_pair item;
    if (p->now->n != p->old->n)
        return false;
    if (!p->s->items || !index_of(p, a))
        return schema_same(p->now, p->old);
    for (uint32_t i = 0; i < p->now->n; i++)
        if (!schema_pair_item(p, i, a, &item) || !schema_pair_same(&item, a))
            return false;
    return true;
}

static bool same_members(struct schema_pair *p, struct arena *a)
{
    struct schema_pair member;
    if (p->now->n != p->old->n)
        return false;
    for (uint32_t i = 0; i < p->now->n; i++)
        if (!schema_pair_key(p, doc_key(&p->now->members[i]), &p->now->members[i].value,
                             a, &member) ||
            !schema_pair_same(&member, a))
            return false;
    return true;
}

bool schema_pair_same(struct schema_pair *p, struct arena *a)
{
    if (!p || !p->now || !p->old || p->now->type != p->old->type)
        return false;
    if (p->now->type == DOC_LIST)
        return same_items(p, a);
    return p->now->type == DOC_MAP ? same_members(p, a) : schema_same(p->now, p->old);
}
