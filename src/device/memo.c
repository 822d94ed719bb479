/* SPDX-License-Identifier: Apache-2.0 */
/* One expression on many devices: cells for its parts, by the codes of values. */
#include "device/internal.h"

/*
 * Which cell a device has for a part. The cells of a part that reads a column are by
 * code; one that reads what its shape decides (the driver, a name that the shape lacks)
 * has one cell, which is void when the shape changes. Then mask is 0, else all ones.
 */
struct device_part {
    int slot;
    bool single;
    const struct device_column *column; /* NULL: the shape decides */
    struct cel_cell *cells;             /* owned */
    uint32_t n;                         /* of cells */
    uint32_t at, mask;
};

static bool is_named(enum slot_kind kind)
{
    return kind == SLOT_ATTR || kind == SLOT_CAPACITY;
}

/* Else it is a map of many. */
static bool is_one_value(enum slot_kind kind)
{
    return is_named(kind) || kind == SLOT_DRIVER || kind == SLOT_MULTIPLE;
}

void device_memo_init(struct device_memo *m, const struct device_expr *x)
{
    *m = (struct device_memo){.expr = x};
    arena_init(&m->arena);
    m->arena.chunk_size = 1024;
    cel_parts_make(&m->program, x->program, &m->arena);
    uint32_t n = m->program.n;
    m->parts = ARENA_ARRAY(&m->arena, struct device_part, n);
    m->cells = ARENA_ARRAY(&m->arena, struct cel_cell *, n);
    m->complete = true;
    for (uint32_t i = 0; i < n; i++) {
        const struct cel_part *part = &m->program.v[i];
        m->parts[i].slot = part->slot;
        m->parts[i].single = part->single && is_one_value(slot_kind(part->slot));
        m->complete = m->complete && m->parts[i].single;
    }
}

void device_memo_fini(struct device_memo *m)
{
    for (uint32_t i = 0; i < m->program.n; i++)
        free(m->parts[i].cells);
    arena_fini(&m->arena);
}

static void make_room(struct device_part *p, uint32_t n)
{
    if (n <= p->n)
        return;
    p->cells = mem_resize(p->cells, n, sizeof *p->cells);
    memset(p->cells + p->n, 0, (n - p->n) * sizeof *p->cells);
    p->n = n;
}

static void set_up(struct device_part *p, const struct device_shape *s)
{
    uint32_t at = NOWHERE;
    if (is_named(slot_kind(p->slot)))
        at = device_slot_at(s, p->slot);
    p->column = at == NOWHERE ? NULL : s->columns[at];
    p->at = at == NOWHERE ? 0 : at;
    p->mask = at == NOWHERE ? 0 : UINT32_MAX;
    make_room(p, p->column ? p->column->n + 1 : 1);
    p->cells[0] = (struct cel_cell){0};
}

static void turn(struct device_memo *m, const struct device_shape *s)
{
    m->shape = s;
    for (uint32_t i = 0; i < m->program.n; i++)
        set_up(&m->parts[i], s);
}

/* A column may have grown since the cells were made. */
static __attribute__((noinline)) struct cel_cell *cell_beyond(struct device_part *p,
                                                              uint32_t code)
{
    make_room(p, p->column->n + 1);
    return &p->cells[code];
}

static void find_cells(struct device_memo *m, const struct device_facts *d)
{
    for (uint32_t i = 0; i < m->program.n; i++) {
        struct device_part *p = &m->parts[i];
        uint32_t code = d->codes[p->at] & p->mask;
        if (!p->single)
            m->cells[i] = NULL;
        else
            m->cells[i] = code < p->n ? &p->cells[code] : cell_beyond(p, code);
    }
}

enum device_verdict device_memo_match(struct device_memo *m, const struct device_facts *d,
                                      struct cel_run *run, struct str *why)
{
    if (d->bad)
        return device_bad_verdict(d, run, why);
    if (m->shape != d->shape)
        turn(m, d->shape);
    find_cells(m, d);
    const struct device_binding binding = {d, m->expr};
    const void *activations[] = {&binding};
    if (run->cost_limit == 0)
        run->cost_limit = DEVICE_COST_LIMIT;
    struct cel_value v = cel_parts_eval(&m->program, activations, m->cells, run);
    return device_verdict_of(v, run, why);
}
