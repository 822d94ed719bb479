/* SPDX-License-Identifier: Apache-2.0 */
#include "api/strategic.h"

#include <stdlib.h>

#include "base/map.h"

#define DIRECTIVE "$patch"
#define RETAIN_KEYS "$retainKeys"
#define SET_ORDER "$setElementOrder"
#define DELETE_PRIMITIVES "$deleteFromPrimitiveList"

struct merging {
    struct arena *a;
    struct patch_error *e;
};

/* What the tables say about a member. */
struct lookup {
    const struct api_type *type; /* of the value or of its items; NULL: none of ours */
    const char *key;             /* merge key of a list; NULL: none */
    bool merge, replace;
};

static bool merge_map(struct merging *m, const struct api_type *type, struct doc *old,
                      const struct doc *patch, struct doc *out);

static bool bad(struct merging *m, const char *text)
{
    return patch_refuse(m->e, PATCH_BAD, m->a, "%s", text);
}

static bool bad_order(struct merging *m)
{
    return bad(m, "invalid patch format of setElementOrder list");
}

static bool bad_retain_keys(struct merging *m)
{
    return bad(m, "invalid patch format of retainKeys");
}

static bool wrong_type(struct merging *m, const char *want, const struct doc *d)
{
    return patch_refuse(m->e, PATCH_NO_FIT, m->a, "expected a %s, but received a %s",
                        want, doc_type_name(d));
}

static bool no_merge_key(struct merging *m, const char *key)
{
    return patch_refuse(m->e, PATCH_NO_FIT, m->a,
                        "an item of a list does not contain the declared merge key: %s",
                        key);
}

static bool look_up(struct merging *m, const struct api_type *type, struct str name,
                    struct lookup *out)
{
    if (!type || type->form != API_STRUCT)
        return patch_refuse(m->e, PATCH_NO_FIT, m->a,
                            "cannot merge \"%.*s\" inside of a free-form value",
                            STR_ARG(name));
    const struct api_field *f = api_field_find(type, name);
    if (!f)
        return patch_refuse(
            m->e, PATCH_NO_FIT, m->a,
            "unable to find api field in struct %s for the json field \"%.*s\"",
            type->name, STR_ARG(name));
    *out = (struct lookup){
        .type = f->container <= API_LIST && f->form == API_STRUCT ? f->type : NULL,
        .key = f->patch_key,
        .merge = f->flags & API_PATCH_MERGE,
        .replace = f->flags & API_PATCH_REPLACE,
    };
    return true;
}

/* ---- Taking over what the object lacks ---- */

static bool has_directive(const struct doc *d)
{
    return doc_get(d, DIRECTIVE) != NULL;
}

static bool take(struct arena *a, const struct doc *d, bool drop_nulls, struct doc *out);

static struct doc take_members(struct arena *a, const struct doc *d, bool drop_nulls)
{
    struct doc out = doc_make_map();
    for (uint32_t i = 0; i < d->n; i++) {
        struct doc_member *m = &d->members[i];
        struct doc value;
        bool null = drop_nulls && m->value.type == DOC_NULL;
        if (!null && take(a, &m->value, drop_nulls, &value))
            doc_add_str(a, &out, doc_key(m), value);
    }
    return out;
}

/* A value of the patch without what a $patch marks, and without nulls if so wished.
 * false: it is marked itself, and nothing is left. */
static bool take(struct arena *a, const struct doc *d, bool drop_nulls, struct doc *out)
{
    if (has_directive(d))
        return false;
    *out = *d;
    if (d->type == DOC_MAP)
        *out = take_members(a, d, drop_nulls);
    if (d->type == DOC_LIST) {
        struct doc item;
        *out = doc_make_list();
        for (uint32_t i = 0; i < d->n; i++)
            if (take(a, &d->items[i], drop_nulls, &item))
                doc_append(a, out, item);
    }
    return true;
}

/* ---- Lists: their items by position in another list ---- */

/* The first position of every item of a list, by merge key or by value. */
struct places {
    struct strmap at;
    struct arena *a;
    const char *key; /* NULL: scalars */
};

static void places_init(struct places *p, struct arena *a, const char *key)
{
    strmap_init(&p->at);
    p->a = a;
    p->key = key;
}

/* 1 and "1" are not the same. STR_NONE: the item has no key, or no scalar there. */
static struct str name_of(const struct places *p, const struct doc *item)
{
    const struct doc *d = p->key ? doc_get(item, p->key) : item;
    if (!d)
        return STR_NONE;
    switch ((enum doc_type)d->type) {
    case DOC_NULL:
        return STR("null");
    case DOC_STRING:
        return arena_printf(p->a, "s%.*s", STR_ARG(doc_str(d)));
    case DOC_NUMBER:
        return arena_printf(p->a, "n%.*s", STR_ARG(doc_str(d)));
    case DOC_BOOL:
        return d->b ? STR("true") : STR("false");
    default:
        return STR_NONE;
    }
}

/* false: an equal one was there. */
static bool places_add(struct places *p, const struct doc *item, uint32_t at)
{
    bool made = false;
    struct str name = name_of(p, item);
    if (!name.p)
        return true;
    struct strmap_entry *entry = strmap_put(&p->at, name, &made);
    if (made)
        entry->value.u = at;
    return made;
}

static void places_fill(struct places *p, const struct doc *list)
{
    for (uint32_t i = 0; i < list->n; i++)
        places_add(p, &list->items[i], i);
}

static int64_t places_find(const struct places *p, const struct doc *item)
{
    struct str name = name_of(p, item);
    const struct strmap_entry *entry = name.p ? strmap_find(&p->at, name) : NULL;
    return entry ? (int64_t)entry->value.u : -1;
}

static void places_fini(struct places *p)
{
    strmap_release(&p->at);
}

/* ---- Lists: order of what comes out ---- */

struct ranked {
    struct doc item;
    int64_t rank; /* -1: not in the list that gives the order */
    uint32_t seq;
};

static int by_rank(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    return (x->seq > y->seq) - (x->seq < y->seq);
}

/* An item without a rank passes all before it, as upstream's comparison has it; in lists
 * above 20 items upstream's order of such items is its sort's, ours is the end's. */
static void insertion_sort(struct ranked *v, uint32_t n)
{
    for (uint32_t i = 1; i < n; i++)
        for (uint32_t j = i; j > 0; j--) {
            bool ranks = v[j].rank >= 0 && v[j - 1].rank >= 0;
            if (ranks && v[j].rank >= v[j - 1].rank)
                break;
            struct ranked swap = v[j];
            v[j] = v[j - 1];
            v[j - 1] = swap;
        }
}

static void rank_sort(struct ranked *v, uint32_t n)
{
    enum { SMALL = 20 };
    if (n <= SMALL)
        insertion_sort(v, n);
    else
        qsort(v, n, sizeof *v, by_rank);
}

/* The items that are in ask (or are not), ordered as order has them. */
static uint32_t pick(struct merging *m, const struct doc *list, const struct places *ask,
                     bool in, const struct places *order, struct ranked **out)
{
    uint32_t n = 0;
    struct ranked *v = ARENA_ARRAY(m->a, struct ranked, list->n);
    for (uint32_t i = 0; i < list->n; i++)
        if ((places_find(ask, &list->items[i]) >= 0) == in)
            v[n++] = (struct ranked){list->items[i], 0, i};
    for (uint32_t i = 0; i < n; i++)
        v[i].rank = places_find(order, &v[i].item);
    rank_sort(v, n);
    *out = v;
    return n;
}

/* Items of the patch in its order, those of the server alone in the server's; where the
 * server knew both of a pair, its order stands, else the patch's item comes first. */
static struct doc arrange(struct merging *m, const struct doc *merged,
                          const struct places *wanted, const struct places *server)
{
    struct ranked *ours, *theirs;
    struct doc out = doc_make_list();
    uint32_t nours = pick(m, merged, wanted, true, wanted, &ours);
    uint32_t ntheirs = pick(m, merged, wanted, false, server, &theirs);
    for (uint32_t i = 0, j = 0; i < ntheirs || j < nours;) {
        int64_t place = j < nours ? places_find(server, &ours[j].item) : 0;
        bool first = j == nours || (i < ntheirs && theirs[i].rank >= 0 && place >= 0 &&
                                    theirs[i].rank < place);
        doc_append(m->a, &out, first ? theirs[i++].item : ours[j++].item);
    }
    return out;
}

/* ---- Lists: merging ---- */

/* One type in both lists; *maps says whether it is maps. */
static bool one_type(struct merging *m, const struct doc *a, const struct doc *b,
                     bool *maps)
{
    const struct doc *first = a->n ? a->items : b->n ? b->items : NULL;
    if (!first)
        return patch_refuse(m->e, PATCH_NO_FIT, m->a,
                            "no elements in any of the given slices");
    if (first->type == DOC_LIST)
        return patch_refuse(m->e, PATCH_NO_FIT, m->a, "lists of lists are not supported");
    for (uint32_t i = 0; i < a->n + b->n; i++) {
        const struct doc *item = i < a->n ? &a->items[i] : &b->items[i - a->n];
        if (item->type != first->type || item->type == DOC_NULL)
            return patch_refuse(m->e, PATCH_NO_FIT, m->a,
                                "list element types are not identical");
    }
    *maps = first->type == DOC_MAP;
    return true;
}

/* Items of list that are (or are not) in ask, in place: the room that gets free at the
 * end keeps what was there, as with upstream's slices. */
static void drop_items(struct doc *list, const struct places *ask)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < list->n; i++)
        if (places_find(ask, &list->items[i]) < 0)
            list->items[kept++] = list->items[i];
    list->n = kept;
}

/* Takes the items with directives out of the patch. Those that delete have done so. */
static bool obey_directives(struct merging *m, const char *key, struct doc *old,
                            struct doc *patch)
{
    bool replace = false, ok = true;
    struct doc plain = doc_make_list();
    struct places gone;
    places_init(&gone, m->a, key);
    for (uint32_t i = 0; ok && i < patch->n; i++) {
        const struct doc *item = &patch->items[i], *word = doc_get(item, DIRECTIVE);
        if (!word)
            doc_append(m->a, &plain, *item);
        else if (doc_is_string(word, "replace"))
            replace = true;
        else if (!doc_is_string(word, "delete"))
            ok = patch_refuse(m->e, PATCH_NO_FIT, m->a, "unknown patch type in a list");
        else if (!doc_get(item, key))
            ok = no_merge_key(m, key);
        else
            places_add(&gone, item, i);
    }
    if (ok && gone.at.live)
        drop_items(old, &gone);
    places_fini(&gone);
    *patch = replace ? doc_make_list() : plain;
    if (replace)
        *old = plain;
    return ok;
}

static bool merge_items(struct merging *m, const struct lookup *l, struct doc *old,
                        const struct doc *patch)
{
    bool ok = true;
    struct places at;
    places_init(&at, m->a, l->key);
    places_fill(&at, old);
    for (uint32_t i = 0; ok && i < patch->n; i++) {
        const struct doc *item = &patch->items[i];
        int64_t place = places_find(&at, item);
        if (!doc_get(item, l->key))
            ok = no_merge_key(m, l->key);
        else if (place >= 0)
            ok = merge_map(m, l->type, &old->items[place], item, &old->items[place]);
        else {
            /* A copy: another item of the patch may be merged into it. */
            places_add(&at, item, old->n);
            doc_append(m->a, old, doc_dup(m->a, item));
        }
    }
    places_fini(&at);
    return ok;
}

static struct doc arrange_by(struct merging *m, const struct doc *merged,
                             const struct doc *wanted, const struct doc *server,
                             const char *key)
{
    struct places x, y;
    places_init(&x, m->a, key);
    places_init(&y, m->a, key);
    places_fill(&x, wanted);
    places_fill(&y, server);
    struct doc out = arrange(m, merged, &x, &y);
    places_fini(&x);
    places_fini(&y);
    return out;
}

static struct doc merge_scalars(struct merging *m, const struct doc *old,
                                const struct doc *patch)
{
    struct places seen;
    struct doc both = doc_make_list();
    places_init(&seen, m->a, NULL);
    for (uint32_t i = 0; i < old->n + patch->n; i++) {
        const struct doc *item = i < old->n ? &old->items[i] : &patch->items[i - old->n];
        if (places_add(&seen, item, i))
            doc_append(m->a, &both, *item);
    }
    places_fini(&seen);
    return arrange_by(m, &both, patch, old, NULL);
}

static bool delete_scalars(struct merging *m, const struct doc *old,
                           const struct doc *patch, struct doc *out)
{
    struct places gone;
    places_init(&gone, m->a, NULL);
    places_fill(&gone, patch);
    *out = doc_dup(m->a, old);
    drop_items(out, &gone);
    places_fini(&gone);
    return true;
}

/* Every item has a key to be ordered by. */
static bool check_keys(struct merging *m, const struct doc *list, const char *key)
{
    for (uint32_t i = 0; key && i < list->n; i++) {
        if (list->items[i].type != DOC_MAP)
            return wrong_type(m, "map", &list->items[i]);
        if (!doc_get(&list->items[i], key))
            return no_merge_key(m, key);
    }
    return true;
}

static bool merge_maps(struct merging *m, const struct lookup *l, struct doc *old,
                       const struct doc *patch, struct doc *out)
{
    struct doc rest = *patch, merged, server;
    if (!l->key)
        return patch_refuse(m->e, PATCH_NO_FIT, m->a,
                            "cannot merge lists without merge key");
    old->cap = old->n > old->cap ? old->n : old->cap;
    if (!obey_directives(m, l->key, old, &rest))
        return false;
    server = merged = *old;
    if (!merge_items(m, l, &merged, &rest) || !check_keys(m, &merged, l->key))
        return false;
    *out = arrange_by(m, &merged, &rest, &server, l->key);
    return true;
}

/* out may be old. */
static bool merge_list(struct merging *m, const struct lookup *l, struct doc *old,
                       const struct doc *patch, bool deletes, struct doc *out)
{
    bool maps = false;
    bool plain = !l->merge && !deletes;
    if (plain || old->n + patch->n == 0) {
        *out = plain ? *patch : *old;
        return true;
    }
    if (!one_type(m, old, patch, &maps))
        return false;
    if (maps)
        return merge_maps(m, l, old, patch, out);
    if (deletes)
        return delete_scalars(m, old, patch, out);
    *out = merge_scalars(m, old, patch);
    return true;
}

/* ---- $setElementOrder ---- */

/* The field behind the slash of a directive. */
static bool field_of(struct str key, const char *directive, struct str *field)
{
    size_t n = strlen(directive);
    *field = str_sub(key, n + 1, SIZE_MAX);
    return key.n > n && key.p[n] == '/';
}

/* The items of the patch must come in the order that is asked for, but for those that
 * delete. As upstream has it, other directives fit in only before the order's end. */
static bool check_order(struct merging *m, const struct doc *patch,
                        const struct doc *order, const char *key)
{
    uint32_t at = 0, left = 0;
    struct places p;
    bool ok = true;
    if (!patch || !patch->n || !order->n)
        return true;
    places_init(&p, m->a, key);
    for (uint32_t i = 0; ok && i < patch->n; i++) {
        const struct doc *item = &patch->items[i], *word = doc_get(item, DIRECTIVE);
        if (key && doc_is_string(word, "delete"))
            continue;
        struct str name = word ? STR_NONE : name_of(&p, item);
        while (!word && at < order->n && !str_eq(name, name_of(&p, &order->items[at])))
            at++;
        left += at == order->n;
        at += !word && at < order->n;
        ok = word || !key || name.p || no_merge_key(m, key);
    }
    places_fini(&p);
    return ok && (!left || patch_refuse(m->e, PATCH_NO_FIT, m->a,
                                        "The order in patch list doesn't match %s list",
                                        SET_ORDER));
}

static bool merge_for_order(struct merging *m, const struct lookup *l, struct doc *old,
                            const struct doc *patch, struct doc *merged)
{
    if (!patch)
        *merged = *old;
    else if (!old)
        take(m->a, patch, false, merged);
    else
        return merge_list(m, l, old, patch, false, merged);
    return true;
}

static bool order_field(struct merging *m, const struct api_type *type, struct doc *old,
                        const struct doc *patch, const struct doc_member *directive,
                        struct str *field)
{
    struct lookup l = {0};
    bool maps = false;
    const struct doc *order = &directive->value, none = doc_make_list();
    if (order->type != DOC_LIST)
        return wrong_type(m, "list", order);
    if (!field_of(doc_key(directive), SET_ORDER, field))
        return bad_order(m);
    struct doc *had = (struct doc *)doc_get_str(old, *field), merged = none;
    const struct doc *fresh = doc_get_str(patch, *field);
    if (had && had->type != DOC_LIST)
        return wrong_type(m, "list", had);
    if (fresh && fresh->type != DOC_LIST)
        return wrong_type(m, "list", fresh);
    if (!look_up(m, type, *field, &l) || !check_order(m, fresh, order, l.key))
        return false;
    if (!had && !fresh)
        return true;
    /* Grown in place, the list still shows its first items to this view of it. */
    struct doc server = had ? *had : none;
    if (!merge_for_order(m, &l, had, fresh, &merged) || !check_keys(m, &merged, l.key) ||
        !check_keys(m, order, l.key) ||
        !one_type(m, &server, fresh ? fresh : &none, &maps))
        return false;
    doc_set_str(m->a, old, *field, arrange_by(m, &merged, order, &server, l.key));
    return true;
}

/* Fields that were ordered are done; they are noted in done, a map. */
static bool order_fields(struct merging *m, const struct api_type *type, struct doc *old,
                         const struct doc *patch, struct doc *done)
{
    for (uint32_t i = 0; i < patch->n; i++) {
        struct str field = STR_NONE;
        if (!str_starts(doc_key(&patch->members[i]), STR(SET_ORDER)))
            continue;
        if (!order_field(m, type, old, patch, &patch->members[i], &field))
            return false;
        if (doc_get_str(patch, field))
            doc_set_str(m->a, done, field, doc_make_bool(true));
    }
    return true;
}

/* ---- $retainKeys ---- */

static bool is_directive(struct str key)
{
    return str_starts(key, STR(DELETE_PRIMITIVES)) || str_starts(key, STR(SET_ORDER));
}

static bool retain_keys(struct merging *m, struct doc *old, const struct doc *patch)
{
    const struct doc *keys = doc_get(patch, RETAIN_KEYS);
    if (!keys)
        return true;
    if (keys->type != DOC_LIST)
        return bad_retain_keys(m);
    struct places kept;
    bool ok = true;
    places_init(&kept, m->a, NULL);
    places_fill(&kept, keys);
    for (uint32_t i = 0; ok && i < patch->n; i++) {
        struct doc name = doc_make_string(m->a, doc_key(&patch->members[i]));
        bool exempt = patch->members[i].value.type == DOC_NULL ||
                      is_directive(doc_str(&name)) || doc_is_string(&name, RETAIN_KEYS);
        ok = exempt || places_find(&kept, &name) >= 0 || bad_retain_keys(m);
    }
    uint32_t n = 0;
    for (uint32_t i = 0; ok && i < old->n; i++) {
        struct doc name = doc_make_string(m->a, doc_key(&old->members[i]));
        if (places_find(&kept, &name) >= 0)
            old->members[n++] = old->members[i];
    }
    if (ok)
        old->n = n;
    places_fini(&kept);
    return ok;
}

/* ---- Maps ---- */

/* A map that changes under many keys: large ones get an index, and what is removed is
 * marked until the end. */
struct members {
    struct doc *map;
    struct strmap at;
    bool indexed;
};

enum { GONE = 1 }; /* in doc.spare */

static void members_init(struct members *s, struct doc *map, uint32_t changes)
{
    enum { LINEAR = 4096 };
    *s = (struct members){.map = map};
    strmap_init(&s->at);
    s->indexed = (uint64_t)map->n * changes + (uint64_t)changes * changes > LINEAR;
    for (uint32_t i = 0; s->indexed && i < map->n; i++)
        strmap_put(&s->at, doc_key(&map->members[i]), NULL)->value.u = i;
}

/* NULL: never there; or a member marked as gone. */
static struct doc *members_find(const struct members *s, struct str key)
{
    if (!s->indexed)
        return (struct doc *)doc_get_str(s->map, key);
    const struct strmap_entry *entry = strmap_find(&s->at, key);
    return entry ? &s->map->members[entry->value.u].value : NULL;
}

static void members_set(struct members *s, struct arena *a, struct str key,
                        struct doc *had, struct doc value)
{
    if (had) {
        *had = value;
        return;
    }
    if (s->indexed)
        strmap_put(&s->at, key, NULL)->value.u = s->map->n;
    doc_add_str(a, s->map, key, value);
}

static void members_remove(struct doc *member)
{
    if (!member)
        return;
    *member = doc_make_null();
    member->spare = GONE;
}

static void members_fini(struct members *s)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->map->n; i++)
        if (s->map->members[i].value.spare != GONE)
            s->map->members[n++] = s->map->members[i];
    s->map->n = n;
    strmap_release(&s->at);
}

static bool merge_value(struct merging *m, const struct api_type *type, struct str key,
                        struct doc *old, const struct doc *patch, bool deletes)
{
    struct lookup l = {0};
    if (!look_up(m, type, key, &l))
        return false;
    if (old->type == DOC_LIST)
        return merge_list(m, &l, old, patch, deletes, old);
    if (!l.replace)
        return merge_map(m, l.type, old, patch, old);
    *old = *patch;
    return true;
}

static bool merge_member(struct merging *m, const struct api_type *type,
                         struct members *old, const struct doc_member *patch)
{
    struct str key = doc_key(patch);
    bool deletes = str_starts(key, STR(DELETE_PRIMITIVES));
    if (deletes && !field_of(key, DELETE_PRIMITIVES, &key))
        return bad(m, "invalid patch format of primitive list");
    struct doc *had = members_find(old, key), value;
    if (patch->value.type == DOC_NULL)
        members_remove(had);
    else if (had && had->type == patch->value.type && had->type >= DOC_LIST)
        return merge_value(m, type, key, had, &patch->value, deletes);
    else if (!deletes && take(m->a, &patch->value, true, &value))
        members_set(old, m->a, key, had, value);
    else if (!deletes)
        members_remove(had);
    return true;
}

/* $patch in a map: its other members instead of, or nothing instead of the old ones. */
static bool obey_directive(struct merging *m, const struct doc *word,
                           const struct doc *patch, struct doc *out)
{
    if (doc_is_string(word, "delete"))
        *out = doc_make_map();
    else if (doc_is_string(word, "replace")) {
        *out = doc_dup(m->a, patch);
        doc_remove(out, STR(DIRECTIVE));
    } else
        return patch_refuse(m->e, PATCH_NO_FIT, m->a, "unknown patch type: %.*s in map",
                            STR_ARG(word->type == DOC_STRING ? doc_str(word) : STR_NONE));
    return true;
}

/* old is changed in place; out may be old. */
static bool merge_map(struct merging *m, const struct api_type *type, struct doc *old,
                      const struct doc *patch, struct doc *out)
{
    const struct doc *word = doc_get(patch, DIRECTIVE);
    struct doc done = doc_make_map();
    if (word)
        return obey_directive(m, word, patch, out);
    if (!retain_keys(m, old, patch) || !order_fields(m, type, old, patch, &done))
        return false;
    struct members members;
    bool ok = true;
    members_init(&members, old, patch->n);
    for (uint32_t i = 0; ok && i < patch->n; i++) {
        const struct doc_member *member = &patch->members[i];
        struct str key = doc_key(member);
        bool skip = str_is(key, RETAIN_KEYS) || str_starts(key, STR(SET_ORDER)) ||
                    doc_get_str(&done, key);
        ok = skip || merge_member(m, type, &members, member);
    }
    members_fini(&members);
    *out = *old;
    return ok;
}

bool strategic_patch(const struct api_type *type, const struct doc *object,
                     const struct doc *patch, struct arena *a, struct doc *out,
                     struct patch_error *e)
{
    struct merging m = {a, e};
    if (patch->type != DOC_MAP && patch->type != DOC_NULL)
        return patch_refuse(e, PATCH_BAD, a, "error decoding patch: not a map");
    struct doc work = doc_dup(a, object), result;
    if (patch->type == DOC_MAP && !merge_map(&m, type, &work, patch, &result))
        return false;
    *out = patch->type == DOC_MAP ? result : work;
    return true;
}
