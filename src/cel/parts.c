/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of a program, so that what one said of a value need not be found out again. */
#include "cel/eval.h"

/* A part that is not small is none: names of values can make it grow without limit. */
enum { MOST_NODES = 1024 };

/* What a part looks at. */
struct look {
    uint32_t loads, nodes;
    uint32_t var; /* of the first load */
    int slot;
    bool other; /* also at a second value, or at a whole variable */
};

static void look(struct look *l, const struct cel_node *n);

static void look_all(struct look *l, const struct cel_node *const *v, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        look(l, v[i]);
}

static void look_path(struct look *l, const struct cel_path *p)
{
    if (p->root == CEL_PATH_SLOT) {
        l->other |= l->loads && (l->var != p->var || l->slot != p->slot);
        l->var = p->var;
        l->slot = p->slot;
        l->loads++;
    }
    l->other |= p->root == CEL_PATH_VARIABLE;
    if (p->root == CEL_PATH_LOCAL || p->root == CEL_PATH_NODE)
        look(l, p->base);
    for (uint32_t i = 0; i < p->nsteps; i++)
        look(l, p->steps[i].node);
}

static void look_fold(struct look *l, const struct cel_fold *x)
{
    const struct cel_node *v[] = {x->range, x->init, x->condition, x->step, x->result};
    look_all(l, v, sizeof v / sizeof *v);
}

static void look(struct look *l, const struct cel_node *n)
{
    if (!n || l->other)
        return;
    l->other = ++l->nodes > MOST_NODES;
    switch ((enum cel_op)n->op) {
    case CEL_OP_CONST:
    case CEL_OP_PRICED:
    case CEL_OPS:
        break;
    case CEL_OP_SLOT:
    case CEL_OP_PATH:
        look_path(l, &n->path);
        break;
    case CEL_OP_CHOICE:
        look(l, n->choice.cond);
        look(l, n->choice.yes);
        look(l, n->choice.no);
        break;
    case CEL_OP_AND:
    case CEL_OP_OR:
    case CEL_OP_LIST:
    case CEL_OP_STRUCT:
        look_all(l, n->many.items, n->many.n);
        break;
    case CEL_OP_MAP:
        look_all(l, n->many.items, 2 * n->many.n);
        break;
    case CEL_OP_IN_SET:
        look(l, n->set.arg);
        break;
    case CEL_OP_CALL:
    case CEL_OP_REGEX:
    case CEL_OP_INSERT:
        look_all(l, n->call.args, n->call.nargs);
        break;
    case CEL_OP_FOLD:
    case CEL_OP_ALL:
    case CEL_OP_BIND:
        look_fold(l, &n->fold);
        break;
    case CEL_OP_BLOCK:
        look_all(l, n->block.slots, n->block.n);
        look(l, n->block.result);
        break;
    default: /* one or two operands */
        look(l, n->op2.a);
        look(l, n->op2.b);
        break;
    }
}

/* ---- A program in parts ---- */

/* The cell for the input at hand, or NULL. */
static inline struct cel_cell *cell_of(const struct cel_node *n, struct cel_frame *f)
{
    const struct cel_part *p = &f->parts->v[n->part.number];
    uint32_t code = f->parts->codes[p->at] & p->mask;
    return __builtin_expect(code < p->n, 1) ? &p->cells[code] : NULL;
}

static inline bool is_known(const struct cel_cell *cell, const struct cel_frame *f)
{
    return cell && cell->known && f->cost + cell->cost <= f->limit;
}

/* Evaluates it; a result that depends on nothing else is remembered. */
static __attribute__((noinline)) struct cel_value
find_out(const struct cel_node *n, struct cel_frame *f, struct cel_cell *cell)
{
    uint64_t cost = f->cost, work = f->run->work;
    struct cel_value v = cel_exec(n->part.body, f);
    cost = f->cost - cost;
    if (!cell)
        f->parts->missed |= f->parts->v[n->part.number].single;
    else if (v.kind == CEL_BOOL && work == f->run->work && cost <= CEL_CELL_COST_MAX)
        *cell = (struct cel_cell){.known = true, .value = v.b, .cost = (uint32_t)cost};
    return v;
}

static struct cel_value code_part(const struct cel_node *n, struct cel_frame *f)
{
    struct cel_cell *cell = cell_of(n, f);
    if (!is_known(cell, f))
        return find_out(n, f, cell);
    f->cost += cell->cost;
    return cel_bool(cell->value);
}

/* && of parts: as long as their cells are known there is nothing to call. */
static struct cel_value code_and_parts(const struct cel_node *n, struct cel_frame *f)
{
    const uint64_t cost = f->cost, work = f->run->work;
    for (uint32_t i = 0; i < n->many.n; i++) {
        const struct cel_node *item = n->many.items[i];
        struct cel_cell *cell = cell_of(item, f);
        if (!is_known(cell, f)) {
            struct cel_value v = find_out(item, f, cell);
            if (v.kind != CEL_BOOL) { /* once more: an error may still not count */
                f->cost = cost;
                f->run->work = work;
                return cel_code_and(n, f);
            }
            if (!v.b)
                return v;
            continue;
        }
        f->cost += cell->cost;
        if (!cell->value)
            return cel_bool(false);
    }
    return cel_bool(true);
}

struct making {
    struct arena *a;
    struct cel_parts *out;
    uint32_t cap;
};

static struct cel_node *copy(struct making *m, const struct cel_node *n)
{
    struct cel_node *c = arena_alloc(m->a, sizeof *c);
    *c = *n;
    return c;
}

static void add_part(struct making *m, struct cel_part part)
{
    struct cel_parts *p = m->out;
    if (p->n == m->cap) {
        uint32_t cap = m->cap ? 2 * m->cap : 4;
        struct cel_part *v = ARENA_ARRAY(m->a, struct cel_part, cap);
        if (p->n)
            memcpy(v, p->v, p->n * sizeof *v);
        p->v = v;
        m->cap = cap;
    }
    p->v[p->n++] = part;
}

static const struct cel_node *part(struct making *m, const struct cel_node *n)
{
    struct look l = {0};
    look(&l, n);
    if (l.loads == 0 && !l.other)
        return n; /* always the same */
    struct cel_node *c = copy(m, n);
    c->code = code_part;
    c->op = CEL_OP_PART;
    c->part.body = n;
    c->part.number = m->out->n;
    add_part(m, (struct cel_part){.var = l.var, .slot = l.slot, .single = !l.other});
    return c;
}

static bool all_parts(const struct cel_node *n)
{
    for (uint32_t i = 0; i < n->many.n; i++)
        if (n->many.items[i]->op != CEL_OP_PART)
            return false;
    return true;
}

/* The nodes of logic anew, with parts where their operands were. */
static const struct cel_node *divide(struct making *m, const struct cel_node *n)
{
    struct cel_node *c;
    switch ((enum cel_op)n->op) {
    case CEL_OP_AND:
    case CEL_OP_OR:
        c = copy(m, n);
        c->many.items = arena_alloc(m->a, n->many.n * sizeof *c->many.items);
        for (uint32_t i = 0; i < n->many.n; i++)
            c->many.items[i] = divide(m, n->many.items[i]);
        if (n->op == CEL_OP_AND && all_parts(c))
            c->code = code_and_parts;
        return c;
    case CEL_OP_NOT:
        c = copy(m, n);
        c->op2.a = divide(m, n->op2.a);
        return c;
    default:
        return part(m, n);
    }
}

void cel_parts_make(struct cel_parts *out, const struct cel_program *p, struct arena *a)
{
    struct making m = {a, out, 0};
    *out = (struct cel_parts){.program = p};
    out->root = divide(&m, p->root);
}
