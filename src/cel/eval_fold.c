/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Comprehensions. The accumulator's initial value is computed when it is first read, as
 * upstream does; that is what makes cel.bind lazy.
 */
#include "cel/eval.h"
#include "cel/std.h"

/* A list, or a map seen as its keys (one variable) or entries (two). */
static bool is_range(struct cel_value v)
{
    return v.kind == CEL_LIST || v.kind == CEL_MAP;
}

static struct cel_value not_iterable(const struct cel_fold *x, struct cel_frame *f,
                                     struct cel_value v)
{
    if (x->two)
        return cel_errorf(f->run, "unsupported comprehension range type: %s",
                          cel_kind_go_name(v));
    return cel_errorf(f->run, "got '%s', expected iterable type", cel_kind_go_name(v));
}

static uint32_t range_length(struct cel_value range)
{
    return range.kind == CEL_MAP ? range.map->n : range.len;
}

static inline void set_element(const struct cel_fold *x, struct cel_frame *f,
                               struct cel_value range, uint32_t i)
{
    if (range.kind == CEL_MAP) {
        f->locals[x->iter] = range.map->entries[i].key;
        if (x->two)
            f->locals[x->iter2] = range.map->entries[i].value;
    } else if (x->two) {
        f->locals[x->iter] = cel_int(i);
        f->locals[x->iter2] = range.items[i];
    } else {
        f->locals[x->iter] = range.items[i];
    }
}

/* One iteration. False when the loop is over; *end is then set if the result is known. */
static bool iterate(const struct cel_fold *x, struct cel_frame *f, struct cel_value *end)
{
    if (x->condition != NULL) {
        struct cel_value c = cel_exec(x->condition, f);
        if (c.kind == CEL_BOOL && !c.b)
            return false;
        if (cel_is_fatal(c)) {
            *end = c;
            return false;
        }
    }
    struct cel_value v = cel_exec(x->step, f);
    if (!cel_is_fatal(v) && !cel_poll(f))
        v = cel_interrupted();
    if (cel_is_fatal(v)) {
        *end = v;
        return false;
    }
    f->locals[x->accu] = v;
    return true;
}

struct cel_value cel_code_fold(const struct cel_node *n, struct cel_frame *f)
{
    const struct cel_fold *x = &n->fold;
    struct cel_value range = cel_exec(x->range, f);
    if (range.kind == CEL_ERROR)
        return range;
    if (!is_range(range))
        return not_iterable(x, f, range);
    f->locals[x->accu].kind = CEL_UNSET;
    struct cel_value end = {.kind = CEL_UNSET};
    uint32_t len = range_length(range);
    for (uint32_t i = 0; i < len; i++) {
        set_element(x, f, range, i);
        if (!iterate(x, f, &end))
            break;
    }
    return end.kind == CEL_UNSET ? cel_exec(x->result, f) : end;
}

/*
 * all and exists, written out: what the loop does step by step is
 *   all:    while @not_strictly_false(accu)  accu = accu && predicate
 *   exists: while @not_strictly_false(!accu) accu = accu || predicate
 * and costs 2 or 3 for the condition, 1 for reading accu in the step, 1 for the result.
 */
struct cel_value cel_code_all(const struct cel_node *n, struct cel_frame *f)
{
    const struct cel_fold *x = &n->fold;
    struct cel_value range = cel_exec(x->range, f);
    if (range.kind == CEL_ERROR)
        return range;
    if (!is_range(range))
        return not_iterable(x, f, range);
    const bool decisive = n->flag; /* the value that ends the loop */
    const uint64_t condition = decisive ? 3 : 2;
    struct cel_value accu = cel_bool(!decisive);
    uint32_t len = range_length(range);
    for (uint32_t i = 0; i < len; i++) {
        bool decided = accu.kind == CEL_BOOL && accu.b == decisive;
        f->cost += condition + !decided;
        if (f->cost > f->limit) {
            f->cost = f->limit + 1; /* all of it in steps of 1 */
            return cel_over_budget(f);
        }
        if (decided)
            break;
        set_element(x, f, range, i);
        struct cel_value v = cel_exec(x->step, f);
        if (cel_is_fatal(v))
            return v;
        if (v.kind == CEL_BOOL && v.b == decisive)
            accu = v;
        else if (v.kind != CEL_BOOL && accu.kind == CEL_BOOL)
            accu = v.kind == CEL_ERROR ? v : cel_no_overload(f->run);
        if (!cel_poll(f))
            return cel_interrupted();
    }
    return cel_charge(f, 1, accu);
}

/* cel.bind and its like: no iteration, only a name for a value. */
struct cel_value cel_code_bind(const struct cel_node *n, struct cel_frame *f)
{
    const struct cel_fold *x = &n->fold;
    struct cel_value range = cel_exec(x->range, f); /* the empty list has a cost */
    if (range.kind == CEL_ERROR)
        return range;
    f->locals[x->accu].kind = CEL_UNSET;
    return cel_exec(x->result, f);
}

/* ---- Accumulators that grow in place ---- */

/* A list with room for 1 << (aux - 1) items; only cel_code_append makes one, and only its
 * own accumulator comes back to it. */
static struct cel_value roomy(const struct cel_value *items, uint32_t n, unsigned aux)
{
    return (struct cel_value){
        .kind = CEL_LIST, .aux = (uint8_t)aux, .len = n, .items = items};
}

static __attribute__((noinline)) struct cel_value grow(struct cel_frame *f,
                                                       struct cel_value list)
{
    unsigned aux = list.aux ? list.aux + 1u : 3;
    while (UINT32_C(1) << (aux - 1) <= list.len)
        aux++;
    struct cel_value *items = arena_alloc(&f->run->arena, (sizeof *items) << (aux - 1));
    if (list.len != 0)
        memcpy(items, list.items, list.len * sizeof *items);
    return roomy(items, list.len, aux);
}

static inline struct cel_value push(struct cel_frame *f, struct cel_value list,
                                    struct cel_value item)
{
    if (list.aux == 0 || list.len >= UINT32_C(1) << (list.aux - 1))
        list = grow(f, list);
    ((struct cel_value *)list.items)[list.len] = item;
    return roomy(list.items, list.len + 1, list.aux);
}

static struct cel_value push_all(struct cel_frame *f, struct cel_value accu,
                                 struct cel_value more)
{
    for (uint32_t i = 0; i < more.len; i++)
        accu = push(f, accu, more.items[i]);
    return accu;
}

/* accu + [item], where the item is all there is of the literal. */
static struct cel_value append_item(const struct cel_node *n, struct cel_frame *f,
                                    struct cel_value accu)
{
    struct cel_value item = cel_exec(n->op2.b, f);
    if (cel_is_fatal(item))
        return item;
    item = cel_charge(f, CEL_LIST_COST, item);
    if (accu.kind == CEL_ERROR || item.kind == CEL_ERROR)
        return cel_is_fatal(item)
                   ? item
                   : cel_charge(f, 1, accu.kind == CEL_ERROR ? accu : item);
    return cel_charge(f, 1, push(f, accu, item));
}

/* accu + [...]: 1 for accu, the literal's own cost, 1 for the sum. */
struct cel_value cel_code_append(const struct cel_node *n, struct cel_frame *f)
{
    struct cel_value accu = cel_exec(n->op2.a, f);
    if (cel_is_fatal(accu))
        return accu;
    if (n->flag)
        return append_item(n, f, accu);
    struct cel_value more = cel_exec(n->op2.b, f);
    if (cel_is_fatal(more))
        return more;
    if (accu.kind != CEL_ERROR)
        accu = more.kind == CEL_ERROR ? more : push_all(f, accu, more);
    return cel_charge(f, 1, accu);
}

/* A map under construction is the first member of its builder. */
static struct cel_map_builder *builder_of(struct cel_value map)
{
    return (struct cel_map_builder *)(void *)map.map;
}

static struct cel_value insert(struct cel_frame *f, struct cel_value accu,
                               struct cel_value key, struct cel_value value)
{
    if (accu.aux == 0) { /* the initial, empty map */
        struct cel_map_builder *fresh = ARENA_NEW(&f->run->arena, struct cel_map_builder);
        accu = cel_map_value(&fresh->map);
        accu.aux = 1;
    }
    struct cel_map_builder *b = builder_of(accu);
    if (cel_map_has(b, key) != NULL)
        return cel_insert_failed(f->run, key);
    cel_map_put(f->run, b, key, value);
    accu.len = b->map.n;
    return accu;
}

static struct cel_value insert_all(struct cel_frame *f, struct cel_value accu,
                                   const struct cel_map *m)
{
    for (uint32_t i = 0; i < m->n && accu.kind == CEL_MAP; i++)
        accu = insert(f, accu, m->entries[i].key, m->entries[i].value);
    return accu;
}

/* cel.@mapInsert(accu, map): both are evaluated. */
static struct cel_value insert_map(const struct cel_node *n, struct cel_frame *f)
{
    struct cel_value accu = cel_exec(n->call.args[0], f);
    if (cel_is_fatal(accu))
        return accu;
    struct cel_value m = cel_exec(n->call.args[1], f);
    if (cel_is_fatal(m))
        return m;
    if (accu.kind == CEL_MAP && m.kind == CEL_MAP)
        accu = insert_all(f, accu, m.map);
    else if (accu.kind != CEL_ERROR)
        accu = m.kind == CEL_ERROR ? m : cel_no_overload(f->run);
    return cel_charge(f, 1, accu);
}

/* cel.@mapInsert(accu, key, value): stops, free of charge, at the first error unless all
 * three are evaluated by then. */
struct cel_value cel_code_insert(const struct cel_node *n, struct cel_frame *f)
{
    if (n->flag)
        return insert_map(n, f);
    struct cel_value v[3];
    for (int i = 0; i < 3; i++) {
        v[i] = cel_exec(n->call.args[i], f);
        if (cel_is_fatal(v[i]) || (i < 2 && v[i].kind == CEL_ERROR))
            return v[i];
    }
    if (v[2].kind == CEL_ERROR)
        return cel_charge(f, 1, v[2]);
    if (v[0].kind != CEL_MAP)
        return cel_charge(f, 1, cel_no_overload(f->run));
    return cel_charge(f, 1, insert(f, v[0], v[1], v[2]));
}
