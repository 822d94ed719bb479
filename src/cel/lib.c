/* SPDX-License-Identifier: Apache-2.0 */
#include "cel/lib.h"

#include <math.h>

#include "base/err.h"

struct cel_value cel_lib_text(struct cel_run *run, struct strbuf *b)
{
    struct cel_value v;
    if (b->n > CEL_TEXT_MAX)
        v = cel_errorf(run, "string of %zu bytes is too long", b->n);
    else
        v = cel_string(arena_str(&run->arena, strbuf_str(b)));
    strbuf_release(b);
    return v;
}

struct cel_value cel_lib_cstr(const char *s)
{
    return cel_string(str_from(s));
}

struct cel_value cel_lib_failed(struct cel_run *run, const char *prefix, struct err *e)
{
    struct cel_value v = cel_errorf(run, "%s%s", prefix, err_text(e));
    err_release(e);
    return v;
}

bool cel_lib_equal(struct cel_run *run, struct cel_value a, struct cel_value b)
{
    struct cel_value eq = cel_equal(run, a, b);
    return eq.kind == CEL_BOOL && eq.b;
}

bool cel_lib_is_ordered(struct cel_value v)
{
    const unsigned kinds = 1u << CEL_BOOL | 1u << CEL_INT | 1u << CEL_UINT |
                           1u << CEL_DOUBLE | 1u << CEL_STRING | 1u << CEL_BYTES |
                           1u << CEL_DURATION | 1u << CEL_TIMESTAMP;
    return kinds >> v.kind & 1;
}

static uint64_t ceil_scaled(uint64_t size, double factor)
{
    double c = ceil((double)size * factor);
    return c >= 0x1p64 ? UINT64_MAX : (uint64_t)c;
}

uint64_t cel_cost_string(uint64_t size)
{
    return ceil_scaled(size, 0.1);
}

uint64_t cel_cost_regex(uint64_t size)
{
    return ceil_scaled(size, 0.25);
}

uint64_t cel_cost_one(const struct cel_value *args, unsigned n, struct cel_value result)
{
    return 1;
}

uint64_t cel_cost_scan(const struct cel_value *args, unsigned n, struct cel_value result)
{
    return n > 0 ? cel_cost_string(cel_cost_size(args[0])) : 1;
}

uint64_t cel_cost_scan_twice(const struct cel_value *args, unsigned n,
                             struct cel_value result)
{
    return n > 0 ? cel_cost_string(2 * cel_cost_size(args[0])) : 1;
}

enum { TRAVERSAL_MAX = 16 << 20 };

/* left: containers that may still be entered; lists may share their items many times
 * over, and a walk that long costs too much in any case. */
static uint64_t traversal(struct cel_value v, uint32_t *left)
{
    uint64_t sum = 0;
    switch (v.kind) {
    case CEL_STRING:
    case CEL_BYTES:
        return (uint64_t)(v.len * 0.1);
    case CEL_LIST:
        if (*left == 0)
            return TRAVERSAL_MAX;
        --*left;
        for (uint32_t i = 0; i < v.len && sum < TRAVERSAL_MAX; i++)
            sum += traversal(v.items[i], left);
        return sum;
    case CEL_MAP:
        if (*left == 0)
            return TRAVERSAL_MAX;
        --*left;
        for (uint32_t i = 0; i < v.map->n && sum < TRAVERSAL_MAX; i++)
            sum += traversal(v.map->entries[i].key, left) +
                   traversal(v.map->entries[i].value, left);
        return sum;
    default:
        return 1;
    }
}

uint64_t cel_cost_traverse(const struct cel_value *args, unsigned n,
                           struct cel_value result)
{
    uint32_t left = TRAVERSAL_MAX;
    return n > 0 ? traversal(args[0], &left) : 0;
}

uint64_t cel_cost_match(const struct cel_value *args, unsigned n, struct cel_value result)
{
    if (n < 2)
        return 1;
    return cel_cost_string(1 + cel_cost_size(args[0])) *
           cel_cost_regex(cel_cost_size(args[1]));
}
