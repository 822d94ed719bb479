/* SPDX-License-Identifier: Apache-2.0 */
/* Selectors: evaluated once per kind of device, kept as columns (spec 3.6). */
#include "alloc/capacity.h"
#include "alloc/inner.h"

#include <stdlib.h>

/* ---- Expressions ---- */

static struct expression *expression_new(struct alloc_inventory *inv, struct str text,
                                         enum device_expr_mode mode)
{
    struct expression *x = ARENA_NEW(&inv->profile_mem, struct expression);
    struct device_expr_error why = {0};
    x->text = text;
    arena_init(&x->values);
    x->x = device_expr_new_in(&inv->profile_mem, inv->env, text, mode, &why);
    if (!x->x)
        x->error = arena_str(&inv->profile_mem, why.text);
    return x;
}

static void expression_free(struct expression *x)
{
    if (x->memo.expr)
        device_memo_fini(&x->memo);
    if (x->x)
        device_expr_free(x->x);
    free(x->outcomes);
    arena_fini(&x->values);
}

void expressions_free(struct alloc_inventory *inv)
{
    for (size_t i = 0; i < inv->exprs.n; i++)
        expression_free(inv->exprs.v[i]);
    for (size_t i = 0; i < inv->derived_exprs.n; i++)
        expression_free(inv->derived_exprs.v[i]);
    vec_clear(&inv->exprs);
    vec_clear(&inv->derived_exprs);
    strmap_clear(&inv->selectors);
    strmap_clear(&inv->deriveds);
}

static struct strmap_entry *text_entry(struct alloc_inventory *inv, struct strmap *m,
                                       struct str text, bool *made)
{
    struct strmap_entry *e = strmap_put(m, text, made);
    if (*made)
        e->key = arena_str(&inv->profile_mem, text);
    return e;
}

uint32_t selector_id(struct alloc_inventory *inv, struct str text)
{
    bool made;
    struct strmap_entry *e = text_entry(inv, &inv->selectors, text, &made);
    if (made) {
        e->value.u = inv->exprs.n;
        vec_push(&inv->exprs, expression_new(inv, e->key, DEVICE_SELECTOR));
    }
    return (uint32_t)e->value.u;
}

uint32_t derived_id(struct alloc_inventory *inv, struct str text)
{
    bool made;
    struct strmap_entry *e = text_entry(inv, &inv->deriveds, text, &made);
    if (made) {
        e->value.u = inv->derived_exprs.n;
        vec_push(&inv->derived_exprs, expression_new(inv, e->key, DEVICE_DERIVED));
    }
    return (uint32_t)e->value.u;
}

/* ---- Kinds of devices ---- */

static struct outcome *probe(const struct expression *x, uint64_t key,
                             const struct device_facts *facts)
{
    for (uint32_t i = (uint32_t)key & x->mask;; i = (i + 1) & x->mask) {
        struct outcome *o = &x->outcomes[i];
        if (!o->facts || (o->key == key && device_expr_same(x->x, o->facts, facts)))
            return o;
    }
}

static void place(struct expression *x, const struct outcome *o)
{
    uint32_t i = (uint32_t)o->key & x->mask;
    while (x->outcomes[i].facts)
        i = (i + 1) & x->mask;
    x->outcomes[i] = *o;
}

static void grow(struct expression *x)
{
    struct outcome *old = x->outcomes;
    uint32_t n = old ? x->mask + 1 : 0;
    x->mask = n ? n * 2 - 1 : 15;
    x->outcomes = mem_zalloc((x->mask + 1) * sizeof *x->outcomes);
    for (uint32_t i = 0; i < n; i++)
        if (old[i].facts)
            place(x, &old[i]);
    free(old);
}

/* The outcomes point into facts of slices; when one has gone, all are dropped. */
static void forget_old(const struct alloc_inventory *inv, struct expression *x)
{
    if (x->epoch == inv->facts_epoch)
        return;
    x->epoch = inv->facts_epoch;
    x->n = 0;
    arena_reset(&x->values);
    if (x->outcomes)
        memset(x->outcomes, 0, (x->mask + 1) * sizeof *x->outcomes);
}

struct outcome *expression_outcome(struct alloc_inventory *inv, struct expression *x,
                                   const struct device_facts *facts, bool *made)
{
    forget_old(inv, x);
    if ((uint64_t)x->n * 2 >= x->mask)
        grow(x);
    uint64_t key = device_expr_key(x->x, facts);
    struct outcome *o = probe(x, key, facts);
    *made = !o->facts;
    if (*made) {
        *o = (struct outcome){.key = key, .facts = facts};
        x->n++;
    }
    return o;
}

enum device_verdict expression_match(struct alloc_inventory *inv, struct expression *x,
                                     const struct device_facts *facts)
{
    struct str why;
    bool made;
    if (!x->x)
        return DEVICE_ERROR;
    if (!x->memo.expr)
        device_memo_init(&x->memo, x->x, &inv->profile_mem);
    if (x->memo.complete) {
        enum device_verdict v = device_memo_match(&x->memo, facts, &inv->run, &why);
        cel_run_reset(&inv->run);
        return v;
    }
    struct outcome *o = expression_outcome(inv, x, facts, &made);
    if (made) {
        o->verdict = (uint8_t)device_memo_match(&x->memo, facts, &inv->run, &why);
        cel_run_reset(&inv->run);
    }
    return (enum device_verdict)o->verdict;
}

struct str expression_why(struct alloc_inventory *inv, struct expression *x,
                          const struct device_facts *facts, struct arena *a)
{
    struct str why = STR_NONE;
    device_expr_match(x->x, facts, &inv->run, &why);
    why = arena_str(a, why);
    cel_run_reset(&inv->run);
    return why;
}

/* ---- Columns ---- */

struct column_draft {
    uint64_t *match, *fit, *ok, *err, *caperr;
};

enum device_verdict profile_match(struct alloc_inventory *inv,
                                  const struct profile *profile,
                                  const struct device_facts *facts, uint32_t *which)
{
    for (uint32_t i = 0; i < profile->ntests; i++) {
        const struct profile_test *t = &profile->tests[i];
        enum device_verdict v = expression_match(inv, inv->exprs.v[t->expr], facts);
        *which = t->selector;
        if (v != DEVICE_YES)
            return v;
    }
    return DEVICE_YES;
}

struct expression *profile_expression(struct alloc_inventory *inv,
                                      const struct profile *profile, uint32_t which)
{
    const struct profile_test *t = profile->tests;
    while (t->selector != which)
        t++;
    return inv->exprs.v[t->expr];
}

static bool prevents(const struct view_taint *t)
{
    return str_is(t->effect, "NoSchedule") || str_is(t->effect, "NoExecute");
}

static bool tolerated(const struct view_taint *t, const struct profile *profile)
{
    for (uint32_t i = 0; i < profile->ntolerations; i++)
        if (view_tolerates(&profile->tolerations[i], t))
            return true;
    return false;
}

const struct view_taint *device_taint(const struct pool *p, uint32_t device,
                                      const struct profile *profile)
{
    const struct view_device *d = p->devices[device].v;
    for (uint32_t i = 0; i < d->ntaints; i++)
        if (prevents(&d->taints[i]) && !tolerated(&d->taints[i], profile))
            return &d->taints[i];
    for (uint32_t i = 0; p->rule_taints && i < p->nrule_taints[device]; i++)
        if (prevents(p->rule_taints[device][i]) &&
            !tolerated(p->rule_taints[device][i], profile))
            return p->rule_taints[device][i];
    return NULL;
}

/* Rules 32a, 33, 35: what does not depend on the node or on what is allocated. */
static bool allowed(const struct alloc_features *f, const struct pool *p, uint32_t i,
                    const struct profile *profile)
{
    if (!f->optional_node_operations && bit_test(p->skips, i))
        return false;
    if (!f->partitionable_devices && bit_test(p->consumes, i))
        return false;
    return !f->device_taints || !device_taint(p, i, profile);
}

static void judge_capacity(struct alloc_inventory *inv, struct pool *p,
                           const struct profile *profile, struct column_draft *c,
                           uint32_t i)
{
    enum capacity_fit fit = CAPACITY_FITS;
    if (inv->features.consumable_capacity)
        fit = capacity_check(&inv->features, profile->capacity, profile->ncapacity,
                             &p->devices[i].v->facts);
    if (fit == CAPACITY_ERROR)
        bit_set(c->caperr, i);
    if (fit != CAPACITY_FITS)
        return;
    bit_set(c->fit, i);
    if (allowed(&inv->features, p, i, profile))
        bit_set(c->ok, i);
}

static void judge_device(struct alloc_inventory *inv, struct pool *p,
                         const struct profile *profile, struct column_draft *c,
                         uint32_t i)
{
    uint32_t which;
    if (!inv->features.device_binding_and_status && bit_test(p->binding, i))
        return;
    switch (profile_match(inv, profile, &p->devices[i].v->facts, &which)) {
    case DEVICE_YES:
        bit_set(c->match, i);
        judge_capacity(inv, p, profile, c, i);
        break;
    case DEVICE_ERROR:
        bit_set(c->err, i);
        break;
    case DEVICE_NO:
        break;
    }
}

static void reserve_column(struct pool *p, uint32_t id)
{
    size_t n = p->profiles.n;
    if (id < n)
        return;
    vec_reserve(&p->profiles, id + 1);
    memset(p->profiles.v + n, 0, (id + 1 - n) * sizeof *p->profiles.v);
    p->profiles.n = id + 1;
}

struct profile_column *pool_profile_make(struct alloc_inventory *inv, struct pool *p,
                                         const struct profile *profile)
{
    uint64_t *bits = ARENA_ARRAY(&p->mem, uint64_t, 5 * (size_t)p->words + 1);
    struct profile_column *col = ARENA_NEW(&p->mem, struct profile_column);
    struct column_draft c = {bits, bits + p->words, bits + 2 * p->words,
                             bits + 3 * p->words, bits + 4 * p->words};
    for (uint32_t i = 0; i < p->n; i++)
        judge_device(inv, p, profile, &c, i);
    *col = (struct profile_column){
        .match = c.match, .fit = c.fit, .ok = c.ok, .err = c.err, .caperr = c.caperr};
    col->errs = bitset_any(c.err, p->n) || bitset_any(c.caperr, p->n);
    reserve_column(p, profile->id);
    p->profiles.v[profile->id] = col;
    return col;
}
