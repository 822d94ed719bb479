/* SPDX-License-Identifier: Apache-2.0 */
#include "sched/resources.h"

#include <stdlib.h>

#include "base/mem.h"

int64_t resource_value(struct str name, const struct quantity *q)
{
    int64_t v;
    if (quantity_scaled(q, str_is(name, "cpu") ? 3 : 0, &v))
        return v;
    return quantity_sign(q) < 0 ? INT64_MIN : INT64_MAX;
}

/* NULL: it is not one of the three. */
static int64_t *basic(struct resources *r, struct str name)
{
    if (str_is(name, "cpu"))
        return &r->cpu;
    if (str_is(name, "memory"))
        return &r->memory;
    return str_is(name, "ephemeral-storage") ? &r->storage : NULL;
}

struct resources resources_of(const struct view_amount *v, uint32_t n, struct arena *a)
{
    struct resources r = {.scalars = ARENA_ARRAY(a, struct scalar, n)};
    for (uint32_t i = 0; i < n; i++) {
        int64_t value = resource_value(v[i].name, &v[i].value),
                *at = basic(&r, v[i].name);
        if (at)
            *at = value;
        else if (!str_is(v[i].name, "pods"))
            r.scalars[r.n++] = (struct scalar){v[i].name, value};
    }
    return r;
}

/* Where the name is, or would be. */
static uint32_t place_of(const struct resources *r, struct str name, bool *found)
{
    uint32_t lo = 0, hi = r->n;
    while (lo < hi) {
        uint32_t mid = (lo + hi) / 2;
        int c = str_cmp(r->scalars[mid].name, name);
        if (c == 0) {
            *found = true;
            return mid;
        }
        if (c < 0)
            lo = mid + 1;
        else
            hi = mid;
    }
    *found = false;
    return lo;
}

int64_t resources_get(const struct resources *r, struct str name)
{
    bool found;
    const int64_t *at = basic((struct resources *)r, name);
    if (at)
        return *at;
    uint32_t i = place_of(r, name, &found);
    return found ? r->scalars[i].value : 0;
}

void usage_fini(struct usage *u)
{
    for (uint32_t i = 0; i < u->sum.n; i++)
        free((char *)u->sum.scalars[i].name.p);
    free(u->sum.scalars);
    *u = (struct usage){0};
}

static int64_t *scalar_of(struct usage *u, struct str name)
{
    bool found;
    struct resources *r = &u->sum;
    uint32_t at = place_of(r, name, &found);
    if (found)
        return &r->scalars[at].value;
    if (r->n == u->cap) {
        u->cap = u->cap ? u->cap * 2 : 4;
        r->scalars = mem_resize(r->scalars, u->cap, sizeof *r->scalars);
    }
    memmove(&r->scalars[at + 1], &r->scalars[at], (r->n - at) * sizeof *r->scalars);
    r->scalars[at] = (struct scalar){{mem_dup(name.p, name.n), name.n}, 0};
    r->n++;
    return &r->scalars[at].value;
}

/* Wraps rather than stopping at the limit, so that taking away gives back what was. */
static void add(int64_t *sum, int64_t v, int sign)
{
    *sum = (int64_t)((uint64_t)*sum + (uint64_t)v * (uint64_t)sign);
}

void usage_add(struct usage *u, const struct resources *r, int sign)
{
    add(&u->sum.cpu, r->cpu, sign);
    add(&u->sum.memory, r->memory, sign);
    add(&u->sum.storage, r->storage, sign);
    for (uint32_t i = 0; i < r->n; i++)
        add(scalar_of(u, r->scalars[i].name), r->scalars[i].value, sign);
}
