/* SPDX-License-Identifier: Apache-2.0 */
/* How many partitions of each type fit, and what is left of devices that are shared. */
#include <stdlib.h>

#include "control/pool_inner.h"
#include "num/quantity.h"

enum { MAX_ITEMS = 32 };

static bool read_quantity(const struct doc *d, struct arena *a, struct quantity *out)
{
    const struct doc *v = doc_get(d, "value");
    return v && (v->type == DOC_STRING || v->type == DOC_NUMBER) &&
           quantity_parse(doc_str(v), a, out, NULL);
}

/* ---- counters ---- */

struct counter {
    struct str set, name;
    struct quantity left;
};

struct counters {
    VEC(struct counter) list;
};

static struct counter *counter_find(const struct counters *c, struct str set,
                                    struct str name)
{
    for (size_t i = 0; i < c->list.n; i++)
        if (str_eq(c->list.v[i].name, name) && str_eq(c->list.v[i].set, set))
            return &c->list.v[i];
    return NULL;
}

/* Calls each for every counter that a list of sets or consumptions names; false: it did.
 */
static bool each_counter(const struct doc *sets, uint32_t n, const char *key,
                         struct arena *a,
                         bool (*each)(void *ctx, struct str set, struct str name,
                                      const struct quantity *q),
                         void *ctx)
{
    for (uint32_t i = 0; i < n; i++) {
        const struct doc *all = doc_get(&sets[i], "counters");
        for (uint32_t k = 0; all && all->type == DOC_MAP && k < all->n; k++) {
            struct quantity q;
            if (read_quantity(&all->members[k].value, a, &q) &&
                !each(ctx, doc_get_text(&sets[i], key), doc_key(&all->members[k]), &q))
                return false;
        }
    }
    return true;
}

struct taking {
    struct counters *from;
    struct arena *a;
};

static bool publish(void *ctx, struct str set, struct str name, const struct quantity *q)
{
    struct counters *c = ctx;
    struct counter *old = counter_find(c, set, name);
    if (old)
        old->left = *q;
    else
        vec_push(&c->list, (struct counter){set, name, *q});
    return true;
}

static bool has_left(void *ctx, struct str set, struct str name, const struct quantity *q)
{
    const struct counter *c = counter_find(((struct taking *)ctx)->from, set, name);
    return c && quantity_cmp(&c->left, q) >= 0;
}

static bool take(void *ctx, struct str set, struct str name, const struct quantity *q)
{
    struct taking *t = ctx;
    struct counter *c = counter_find(t->from, set, name);
    if (c)
        c->left = quantity_sub(&c->left, q, t->a);
    return true;
}

static bool each_consumed(const struct pool_device *d, struct taking *t,
                          bool (*each)(void *ctx, struct str set, struct str name,
                                       const struct quantity *q))
{
    const struct doc *list = doc_get(d->doc, "consumesCounters");
    uint32_t n = list && list->type == DOC_LIST ? list->n : 0;
    return each_counter(n ? list->items : NULL, n, "counterSet", t->a, each, t);
}

/* What the devices in use leave. */
static void counters_init(struct counters *c, const struct pool *p, struct arena *a)
{
    struct taking t = {c, a};
    for (size_t i = 0; i < p->counter_sets.n; i++)
        each_counter(p->counter_sets.v[i], 1, "name", a, publish, c);
    for (size_t i = 0; i < p->devices.n; i++)
        if (p->devices.v[i].used)
            each_consumed(&p->devices.v[i], &t, take);
}

static void counters_dup(struct counters *to, const struct counters *from)
{
    for (size_t i = 0; i < from->list.n; i++)
        vec_push(&to->list, from->list.v[i]);
}

/* ---- partitions ---- */

struct group {
    struct str attribute, type, cost;
    uint32_t total;
    VEC(const struct pool_device *) fresh;
};

struct groups {
    VEC(struct group) list;
};

static int by_text(const void *a, const void *b)
{
    return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

struct costing {
    struct arena *a;
    VEC(struct str) parts;
};

static bool add_cost(void *ctx, struct str set, struct str name, const struct quantity *q)
{
    struct costing *c = ctx;
    vec_push(&c->parts, arena_printf(c->a, "%.*s/%.*s=%.*s,", STR_ARG(set), STR_ARG(name),
                                     STR_ARG(quantity_print(q, c->a))));
    return true;
}

/* A text that is equal where costs are. */
static struct str cost_of(const struct pool_device *d, struct arena *a)
{
    struct costing c = {.a = a};
    struct strbuf b = STRBUF_INIT;
    const struct doc *list = doc_get(d->doc, "consumesCounters");
    each_counter(list->items, list->n, "counterSet", a, add_cost, &c);
    if (c.parts.n)
        qsort(c.parts.v, c.parts.n, sizeof *c.parts.v, by_text);
    for (size_t i = 0; i < c.parts.n; i++)
        strbuf_addstr(&b, c.parts.v[i]);
    struct str cost = arena_str(a, strbuf_str(&b));
    strbuf_release(&b);
    vec_release(&c.parts);
    return cost;
}

static struct group *group_of(struct groups *all, const struct pool_device *d)
{
    for (size_t i = 0; i < all->list.n; i++)
        if (str_eq(all->list.v[i].attribute, d->grouping) &&
            str_eq(all->list.v[i].type, d->type))
            return &all->list.v[i];
    vec_push(&all->list, (struct group){.attribute = d->grouping, .type = d->type});
    return &all->list.v[all->list.n - 1];
}

/* What is wrong with the device, or STR_NONE. */
static struct str add_partition(struct groups *all, const struct pool *p,
                                const struct pool_device *d, struct arena *a)
{
    if (!d->type.p)
        return arena_printf(
            a,
            "PartitionTypeMissing: device \"%.*s\" in pool %.*s/%.*s does "
            "not carry partition type attribute \"%.*s\"",
            STR_ARG(d->name), STR_ARG(p->driver), STR_ARG(p->name), STR_ARG(d->grouping));
    struct group *g = group_of(all, d);
    struct str cost = cost_of(d, a);
    if (g->total++ == 0)
        g->cost = cost;
    if (!str_eq(cost, g->cost))
        return arena_printf(
            a,
            "PartitionCostMismatch: devices of partition type \"%.*s\" in "
            "pool %.*s/%.*s consume different counters",
            STR_ARG(d->type), STR_ARG(p->driver), STR_ARG(p->name));
    if (!d->used)
        vec_push(&g->fresh, d);
    return STR_NONE;
}

static bool is_partition(const struct pool_device *d)
{
    const struct doc *list = doc_get(d->doc, "consumesCounters");
    return d->grouping.n && list && list->type == DOC_LIST && list->n > 0;
}

static struct str find_groups(struct groups *all, const struct pool *p, struct arena *a)
{
    struct str error = STR_NONE;
    for (size_t i = 0; i < p->devices.n && !error.n; i++)
        if (is_partition(&p->devices.v[i]))
            error = add_partition(all, p, &p->devices.v[i], a);
    return error;
}

/* How many of a group fit one after another, if nothing else is taken. */
static uint32_t count_fitting(const struct group *g, const struct counters *have,
                              struct arena *a)
{
    struct counters left = {0};
    struct taking t = {&left, a};
    uint32_t n = 0;
    counters_dup(&left, have);
    for (size_t i = 0; i < g->fresh.n; i++)
        if (each_consumed(g->fresh.v[i], &t, has_left)) {
            each_consumed(g->fresh.v[i], &t, take);
            n++;
        }
    vec_release(&left.list);
    return n;
}

static int by_group(const void *a, const void *b)
{
    const struct group *x = a, *y = b;
    int c = str_cmp(x->attribute, y->attribute);
    return c ? c : str_cmp(x->type, y->type);
}

static struct doc make_summary(struct groups *all, const struct pool *p, struct arena *a)
{
    struct doc list = doc_make_list();
    struct counters have = {0};
    counters_init(&have, p, a);
    if (all->list.n)
        qsort(all->list.v, all->list.n, sizeof *all->list.v, by_group);
    for (size_t i = 0; i < all->list.n; i++) {
        const struct group *g = &all->list.v[i];
        struct doc d = doc_make_map();
        doc_set_text(a, &d, "attribute", g->attribute);
        doc_set_text(a, &d, "type", g->type);
        doc_set(a, &d, "total", doc_make_int(a, g->total));
        doc_set(a, &d, "allocatable", doc_make_int(a, count_fitting(g, &have, a)));
        doc_append(a, &list, d);
    }
    vec_release(&have.list);
    return list;
}

static struct str add_partitions(const struct pool *p, struct doc *status,
                                 struct arena *a)
{
    struct groups all = {0};
    struct str error = find_groups(&all, p, a);
    if (!error.n && all.list.n > MAX_ITEMS)
        error = arena_printf(a,
                             "PartitionSummaryOverCap: pool %.*s/%.*s has %zu partition "
                             "types, exceeding the maximum of %d",
                             STR_ARG(p->driver), STR_ARG(p->name), all.list.n, MAX_ITEMS);
    struct doc list = error.n ? doc_make_list() : make_summary(&all, p, a);
    if (list.n)
        doc_set(a, status, "partitionSummary", list);
    for (size_t i = 0; i < all.list.n; i++)
        vec_release(&all.list.v[i].fresh);
    vec_release(&all.list);
    return error;
}

/* ---- what is shared ---- */

struct amount {
    struct str name;
    struct quantity total;
};

struct sharing {
    int64_t whole, part; /* devices that nobody uses, and that somebody does */
    VEC(struct amount) totals;
};

static bool is_shared(const struct pool_device *d)
{
    bool shared = false;
    return doc_get_bool(d->doc, "allowMultipleAllocations", &shared) && shared;
}

static void add_total(struct sharing *s, struct str name, const struct quantity *q,
                      struct arena *a)
{
    for (size_t i = 0; i < s->totals.n; i++)
        if (str_eq(s->totals.v[i].name, name)) {
            s->totals.v[i].total = quantity_add(&s->totals.v[i].total, q, a);
            return;
        }
    vec_push(&s->totals, (struct amount){name, *q});
}

static void add_shared(struct sharing *s, const struct pool_device *d, struct arena *a)
{
    const struct doc *capacity = doc_get(d->doc, "capacity");
    *(d->used ? &s->part : &s->whole) += 1;
    for (uint32_t i = 0; capacity && capacity->type == DOC_MAP && i < capacity->n; i++) {
        struct quantity q;
        if (read_quantity(&capacity->members[i].value, a, &q))
            add_total(s, doc_key(&capacity->members[i]), &q, a);
    }
}

static struct doc make_amount(const struct pool *p, const struct amount *m,
                              struct arena *a)
{
    const struct strmap_entry *e = strmap_find(&p->consumed, m->name);
    struct quantity consumed =
        e && e->value.ptr ? *(const struct quantity *)e->value.ptr : QUANTITY_ZERO;
    struct quantity left = quantity_sub(&m->total, &consumed, a);
    struct doc d = doc_make_map();
    if (quantity_sign(&left) < 0)
        left = quantity_from_int64(0, m->total.format);
    doc_set_text(a, &d, "name", m->name);
    doc_set_text(a, &d, "total", quantity_print(&m->total, a));
    doc_set_text(a, &d, "consumed", quantity_print(&consumed, a));
    doc_set_text(a, &d, "available", quantity_print(&left, a));
    return d;
}

static int by_name(const void *a, const void *b)
{
    return str_cmp(((const struct amount *)a)->name, ((const struct amount *)b)->name);
}

static void set_sharing(struct sharing *s, const struct pool *p, struct doc *status,
                        struct arena *a)
{
    struct doc d = doc_make_map(), list = doc_make_list();
    if (s->totals.n)
        qsort(s->totals.v, s->totals.n, sizeof *s->totals.v, by_name);
    for (size_t i = 0; i < s->totals.n; i++)
        doc_append(a, &list, make_amount(p, &s->totals.v[i], a));
    doc_set(a, &d, "fullyAvailableDevices", doc_make_int(a, s->whole));
    doc_set(a, &d, "partiallyAvailableDevices", doc_make_int(a, s->part));
    if (list.n)
        doc_set(a, &d, "capacity", list);
    doc_set(a, status, "shareableSummary", d);
}

static struct str add_sharing(const struct pool *p, struct doc *status, struct arena *a)
{
    struct sharing s = {0};
    struct str error = STR_NONE;
    for (size_t i = 0; i < p->devices.n; i++)
        if (is_shared(&p->devices.v[i]))
            add_shared(&s, &p->devices.v[i], a);
    if (s.totals.n > MAX_ITEMS)
        error = arena_printf(a,
                             "ShareableSummaryOverCap: pool %.*s/%.*s has %zu shareable "
                             "capacity keys, exceeding the maximum of %d",
                             STR_ARG(p->driver), STR_ARG(p->name), s.totals.n, MAX_ITEMS);
    else if (s.whole + s.part > 0)
        set_sharing(&s, p, status, a);
    vec_release(&s.totals);
    return error;
}

/* ---- both ---- */

static bool is_grouped(const struct pool *p)
{
    for (size_t i = 0; i < p->devices.n; i++)
        if (p->devices.v[i].grouping.n)
            return true;
    return false;
}

struct str pool_views_add(const struct pool *p, struct doc *status, struct arena *a)
{
    struct str error = STR_NONE;
    if (is_grouped(p) && !p->counter_sets.n)
        error = arena_printf(a,
                             "PartitionTypeMissing: pool %.*s/%.*s declares "
                             "partitionTypeAttribute but publishes no sharedCounters",
                             STR_ARG(p->driver), STR_ARG(p->name));
    else if (is_grouped(p))
        error = add_partitions(p, status, a);
    struct str other = add_sharing(p, status, a);
    if (!error.n)
        error = other;
    if (error.n)
        doc_remove(status, STR("partitionSummary"));
    return error;
}
