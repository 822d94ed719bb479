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

/* Evaluates it; a result that depends on nothing else is remembered. */
static inline struct cel_value find_out(const struct cel_part *p, struct cel_frame *f,
                                        struct cel_cell *cell)
{
    uint64_t before = f->cost, work = f->run->work;
    f->parts->asked = p;
    struct cel_value v = cel_exec(p->body, f);
    f->parts->asked = NULL;
    uint64_t cost = f->cost - before;
    if (!cell)
        f->parts->missed |= p->single;
    else if (v.kind == CEL_BOOL && work == f->run->work && cost <= CEL_CELL_COST_MAX)
        *cell = (struct cel_cell){.known = true, .value = v.b, .cost = (uint32_t)cost};
    return v;
}

static inline struct cel_value ask(const struct cel_part *p, struct cel_frame *f)
{
    struct cel_cell *cell = cel_part_cell(p, f->parts->codes);
    if (!cell || !cell->known || f->cost + cell->cost > f->limit)
        return find_out(p, f, cell);
    f->cost += cell->cost;
    return cel_bool(cell->value);
}

static struct cel_value code_part(const struct cel_node *n, struct cel_frame *f)
{
    return ask(n->part, f);
}

/* A part that says no decides, wherever it stands; an error only if none does. */
struct cel_value cel_parts_eval(struct cel_parts *p, struct cel_parts_start start,
                                const void *const *activations, struct cel_run *run)
{
    if (p->nflat == 0)
        return cel_eval_root(p->program, p->root, activations, p, run);
    struct cel_frame f;
    struct cel_value locals[CEL_LOCALS_ON_STACK], v = cel_bool(true);
    cel_begin(&f, activations, p, run);
    f.locals = locals;
    f.cost = start.cost;
    for (uint32_t i = start.known; v.b && i < p->nflat; i++) {
        v = ask(p->v[i], &f);
        if (v.kind != CEL_BOOL || run->work) /* what comes after may still count */
            return cel_eval_root(p->program, p->root, activations, p, run);
    }
    run->cost = f.cost;
    return v;
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

static struct cel_part *add_part(struct making *m, const struct cel_node *n,
                                 const struct look *l)
{
    struct cel_parts *p = m->out;
    if (p->n == m->cap) {
        uint32_t cap = m->cap ? 2 * m->cap : 4;
        struct cel_part **v = ARENA_ARRAY(m->a, struct cel_part *, cap);
        if (p->n)
            memcpy(v, p->v, p->n * sizeof *v);
        p->v = v;
        m->cap = cap;
    }
    struct cel_part *made = p->v[p->n++] = ARENA_NEW(m->a, struct cel_part);
    *made =
        (struct cel_part){.body = n, .var = l->var, .slot = l->slot, .single = !l->other};
    return made;
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
    c->part = add_part(m, n, &l);
    return c;
}

static bool all_parts(const struct cel_node *const *v, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (v[i]->op != CEL_OP_PART)
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
    bool many = out->root->op == CEL_OP_AND;
    bool flat = all_parts(many ? out->root->many.items : &out->root,
                          many ? out->root->many.n : 1);
    out->nflat = flat && p->nlocals <= CEL_LOCALS_ON_STACK ? out->n : 0;
}
