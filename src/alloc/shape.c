/* SPDX-License-Identifier: Apache-2.0 */
#include "alloc/shape.h"

#include <stdlib.h>

enum { MAX_SHAPES = 1024 };

/* ---- What a plan asks, as bytes ---- */

static void add(struct strbuf *b, uint32_t n)
{
    strbuf_add(b, &n, sizeof n);
}

static void add_alt(const struct alloc_plan *p, const struct plan_alt *alt)
{
    struct strbuf *b = &p->inv->key;
    add(b, alt->profile ? alt->profile->id : NONE);
    add(b, alt->count);
    add(b, (uint32_t)alt->all | (uint32_t)alt->admin << 1);
    add(b, alt->nuses);
    for (uint32_t i = 0; i < alt->nuses; i++) {
        add(b, alt->uses[i].constraint);
        add(b, alt->uses[i].derived);
    }
}

static void add_request(const struct alloc_plan *p, const struct plan_request *r)
{
    add(&p->inv->key, (uint32_t)r->v->first_available);
    add(&p->inv->key, r->nalts);
    for (uint32_t i = 0; i < r->nalts; i++)
        add_alt(p, &p->alts[r->alt + i]);
}

static void add_claim(const struct alloc_plan *p, const struct plan_claim *c)
{
    add(&p->inv->key, c->nrequests);
    add(&p->inv->key, c->nconstraints);
    for (uint32_t i = 0; i < c->nconstraints; i++) {
        const struct plan_constraint *k = &p->constraints[c->constraint + i];
        add(&p->inv->key, k->match);
        add(&p->inv->key, attribute_id(p->inv, k->name));
    }
    for (uint32_t i = 0; i < c->nrequests; i++)
        add_request(p, &p->requests[c->request + i]);
}

/* ---- Shapes ---- */

static void shape_free(struct shape *s)
{
    for (size_t i = 0; i < ENDINGS; i++)
        free(s->endings[i].picks);
    vec_release(&s->refused);
    free(s);
}

void shapes_drop(struct alloc_inventory *inv)
{
    strmap_each(&inv->shapes, e)
    {
        shape_free(e->value.ptr);
        free((char *)e->key.p);
    }
    strmap_clear(&inv->shapes);
}

static struct shape *shape_make(struct alloc_plan *p)
{
    struct alloc_inventory *inv = p->inv;
    strbuf_clear(&inv->key);
    for (uint32_t i = 0; i < p->nclaims; i++)
        add_claim(p, &p->claims[i]);
    struct str key = strbuf_str(&inv->key);
    struct strmap_entry *e = strmap_find(&inv->shapes, key);
    if (e)
        return e->value.ptr;
    if (inv->shapes.live >= MAX_SHAPES) {
        shapes_drop(inv);
        inv->shapes_epoch++;
    }
    key.p = mem_dup(key.p, key.n);
    struct shape *s = mem_zalloc(sizeof *s);
    strmap_put(&inv->shapes, key, NULL)->value.ptr = s;
    return s;
}

struct shape *shape_of(struct alloc_plan *p)
{
    if (!p->shape || p->shapes_epoch != p->inv->shapes_epoch) {
        p->shape = shape_make(p);
        p->shapes_epoch = p->inv->shapes_epoch;
    }
    return p->shape;
}

void shape_refuse(struct shape *s, const struct host *h, uint64_t stamp)
{
    size_t n = s->refused.n;
    if (h->index >= n) {
        vec_reserve(&s->refused, h->index + 1);
        memset(s->refused.v + n, 0, (s->refused.cap - n) * sizeof *s->refused.v);
        s->refused.n = s->refused.cap;
    }
    s->refused.v[h->index] = stamp + 1;
}

/* ---- Ends of searches ---- */

static struct ending *ending_at(struct solver *s, uint64_t a)
{
    return &shape_of((struct alloc_plan *)s->plan)->endings[a % ENDINGS];
}

static bool replay(struct solver *s, const struct ending *e)
{
    uint32_t which, claim = 0;
    for (uint32_t i = 0; i < e->npicks; i++) {
        uint32_t request = s->plan->alts[e->picks[i].alt].request;
        while (claim < s->plan->requests[request].claim)
            s->claim_picks.v[++claim] = (uint32_t)s->picks.n;
        s->chosen.v[request] = e->picks[i].alt;
        if (state_take(s, e->picks[i].alt, e->picks[i].device, &which) != TAKEN)
            return false;
    }
    while (claim < s->plan->nclaims)
        s->claim_picks.v[++claim] = (uint32_t)s->picks.n;
    return true;
}

bool shape_recall(struct solver *s, const uint64_t *looks, enum verdict *v)
{
    const struct ending *e = ending_at(s, looks[0]);
    if (e->a != looks[0] || e->b != looks[1])
        return false;
    if (e->status == ALLOC_BUDGET && s->max_steps <= e->max_steps) {
        solver_fail(s, ALLOC_BUDGET, STR("gave up on a node that looks the same"));
        *v = ENDED;
        return true;
    }
    *v = e->status == ALLOC_OK ? FOUND : NOTHING;
    if (e->status == ALLOC_NONE || (e->status == ALLOC_OK && replay(s, e)))
        return true;
    while (s->picks.n)
        state_undo(s);
    return false;
}

static bool worth_learning(const struct solver *s, enum verdict v)
{
    return v == FOUND || v == NOTHING || (v == ENDED && s->exhausted);
}

void shape_learn(struct solver *s, const uint64_t *looks, enum verdict v)
{
    struct ending *e = ending_at(s, looks[0]);
    if (!worth_learning(s, v))
        return;
    free(e->picks);
    *e = (struct ending){.a = looks[0], .b = looks[1], .max_steps = s->max_steps};
    e->status = v == FOUND ? ALLOC_OK : v == NOTHING ? ALLOC_NONE : ALLOC_BUDGET;
    if (v == FOUND) {
        e->npicks = (uint32_t)s->picks.n;
        e->picks = (void *)mem_dup(s->picks.v, s->picks.n * sizeof *e->picks);
    }
}
