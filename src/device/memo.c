/* SPDX-License-Identifier: Apache-2.0 */
/* One expression on many devices: cells for its parts, by the codes of values. */
#include "device/internal.h"

static bool is_named(enum slot_kind kind)
{
    return kind == SLOT_ATTR || kind == SLOT_CAPACITY;
}

/* Else it is a map of many. */
static bool is_one_value(enum slot_kind kind)
{
    return is_named(kind) || kind == SLOT_DRIVER || kind == SLOT_MULTIPLE;
}

void device_memo_init(struct device_memo *m, const struct device_expr *x, struct arena *a)
{
    *m = (struct device_memo){.expr = x, .complete = true};
    cel_parts_make(&m->program, x->program, a);
    for (uint32_t i = 0; i < m->program.n; i++) {
        struct cel_part *p = m->program.v[i];
        p->single = p->single && is_one_value(slot_kind(p->slot));
        m->complete = m->complete && p->single;
    }
}

void device_memo_fini(struct device_memo *m)
{
    for (uint32_t i = 0; i < m->program.n; i++)
        free(m->program.v[i]->cells);
}

static void make_room(struct cel_part *p, uint32_t n)
{
    if (n <= p->n)
        return;
    p->cells = mem_resize(p->cells, n, sizeof *p->cells);
    memset(p->cells + p->n, 0, (n - p->n) * sizeof *p->cells);
    p->n = n;
}

/*
 * The cells of a part that reads a column are by code; what reads what the shape decides
 * (the driver, a name that it lacks) has one cell, which is void when the shape changes.
 */
static void set_up(struct cel_part *p, const struct device_shape *s)
{
    uint32_t at = NOWHERE;
    if (!p->single)
        return;
    if (is_named(slot_kind(p->slot)))
        at = device_slot_at(s, p->slot);
    p->at = at == NOWHERE ? 0 : at;
    p->mask = at == NOWHERE ? 0 : UINT32_MAX;
    make_room(p, at == NOWHERE ? 1 : s->columns[at]->n + 1);
    p->cells[0] = (struct cel_cell){0};
}

/* Also when columns have grown since. */
static __attribute__((noinline)) void turn(struct device_memo *m,
                                           const struct device_shape *s)
{
    m->shape = s;
    m->program.missed = false;
    for (uint32_t i = 0; i < m->program.n; i++)
        set_up(m->program.v[i], s);
}

static __attribute__((noinline)) enum device_verdict
evaluate(struct device_memo *m, struct cel_parts_start start,
         const struct device_facts *d, struct cel_run *run, struct str *why)
{
    const struct device_binding binding = {d, m->expr, &m->program};
    const void *activations[] = {&binding};
    m->program.codes = d->codes;
    return device_verdict_of(cel_parts_eval(&m->program, start, activations, run), run,
                             why);
}

enum device_verdict device_memo_match(struct device_memo *m, const struct device_facts *d,
                                      struct cel_run *run, struct str *why)
{
    if (d->bad)
        return device_bad_verdict(d, run, why);
    if (m->shape != d->shape || m->program.missed)
        turn(m, d->shape);
    if (run->cost_limit == 0)
        run->cost_limit = DEVICE_COST_LIMIT;
    struct cel_parts_start start;
    bool yes = false;
    if (cel_parts_known(&m->program, d->codes, run, &yes, &start))
        return yes ? DEVICE_YES : DEVICE_NO;
    return evaluate(m, start, d, run, why);
}
