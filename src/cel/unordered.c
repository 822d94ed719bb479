/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lists of the host that are sets or have keys (x-kubernetes-list-type): == does not look
 * at the order, and + keeps each item once.
 */
#include "cel/unordered.h"
#include "cel/cel.h"

/* As a key of a map, all of which are found quickly: what is no scalar as its text. */
static struct cel_value as_key(struct cel_run *run, struct cel_value v)
{
    if (v.kind >= CEL_BOOL && v.kind <= CEL_STRING)
        return v;
    struct strbuf b = STRBUF_INIT;
    cel_print(v, &b);
    struct str text = arena_str(&run->arena, strbuf_str(&b));
    strbuf_release(&b);
    return cel_string(text);
}

/* What an item is known by. */
static struct cel_value key_of(struct cel_run *run, struct cel_value list,
                               struct cel_value item)
{
    if (list.aux2 != CEL_LIST_KEYED || item.kind != CEL_MAP)
        return as_key(run, item);
    struct cel_value names = list.items[-1];
    struct cel_value *keys = ARENA_ARRAY(&run->arena, struct cel_value, names.len);
    for (uint32_t i = 0; i < names.len; i++) {
        const struct cel_value *v = cel_map_find(item.map, names.items[i]);
        keys[i] = v ? *v : cel_null();
    }
    return as_key(run, names.len == 1 ? keys[0] : cel_list(keys, names.len));
}

static void index_items(struct cel_run *run, struct cel_value list,
                        struct cel_map_builder *index)
{
    for (uint32_t i = 0; i < list.len; i++)
        cel_map_put(run, index, key_of(run, list, list.items[i]), cel_int(i));
}

struct cel_value cel_equal_unordered(struct cel_run *run, struct cel_value a,
                                     struct cel_value b)
{
    struct cel_map_builder index = {0}, seen = {0};
    if (a.len != b.len)
        return cel_bool(false);
    index_items(run, a, &index);
    for (uint32_t i = 0; i < b.len; i++) {
        struct cel_value key = key_of(run, a, b.items[i]);
        const struct cel_value *at = cel_map_has(&index, key);
        if (!at)
            return cel_bool(false);
        struct cel_value same = cel_equal(run, a.items[at->i], b.items[i]);
        if (same.kind != CEL_BOOL || !same.b)
            return same;
        cel_map_put(run, &seen, key, cel_null());
    }
    return cel_bool(seen.map.n == index.map.n);
}

struct cel_value cel_add_unordered(struct cel_run *run, struct cel_value a,
                                   struct cel_value b)
{
    struct cel_map_builder index = {0};
    struct cel_list_builder out = {0};
    index_items(run, a, &index);
    for (uint32_t i = 0; i < a.len; i++)
        cel_list_push(run, &out, a.items[i]);
    for (uint32_t i = 0; i < b.len; i++) {
        struct cel_value key = key_of(run, a, b.items[i]);
        const struct cel_value *at = cel_map_has(&index, key);
        if (at && out.items) {
            out.items[at->i] = b.items[i];
            continue;
        }
        cel_map_put(run, &index, key, cel_int(out.n));
        cel_list_push(run, &out, b.items[i]);
    }
    return cel_list_done(&out);
}
