/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "control/pool_inner.h"
#include "num/quantity.h"

enum { MAX_ERROR = 256, DEFAULT_LIMIT = 100 };

struct summing {
    struct arena *a;
    struct str driver, only; /* only: this pool; empty: all */
    struct strmap by_name;   /* of the driver's pools */
    VEC(struct pool *) pools;
};

static const struct doc *items_of(const struct doc *list, uint32_t *n)
{
    bool any = list && list->type == DOC_LIST;
    *n = any ? list->n : 0;
    return any ? list->items : NULL;
}

static int64_t number(const struct doc *d, const char *key)
{
    int64_t v = 0;
    doc_get_int64(d, key, &v);
    return v;
}

/* ---- taints ---- */

static bool keeps_away(const struct doc *taint)
{
    const struct doc *effect = doc_get(taint, "effect");
    return doc_is_string(effect, "NoSchedule") || doc_is_string(effect, "NoExecute");
}

static bool selects(const struct doc *selector, const char *key, struct str value)
{
    struct str want = doc_get_text(selector, key);
    return !want.p || str_eq(want, value);
}

static bool rule_keeps_away(const struct doc *rule, const struct pool *p,
                            struct str device)
{
    const struct doc *spec = doc_get(rule, "spec"),
                     *selector = doc_get(spec, "deviceSelector");
    return keeps_away(doc_get(spec, "taint")) && selector && selector->type == DOC_MAP &&
           selects(selector, "driver", p->driver) && selects(selector, "pool", p->name) &&
           selects(selector, "device", device);
}

static bool is_unavailable(const struct doc *device, const struct pool *p,
                           const struct pool_status_input *in)
{
    uint32_t n;
    const struct doc *taints = items_of(doc_get(device, "taints"), &n);
    for (uint32_t i = 0; i < n; i++)
        if (keeps_away(&taints[i]))
            return true;
    for (uint32_t i = 0; i < in->nrules; i++)
        if (rule_keeps_away(in->rules[i], p, doc_get_text(device, "name")))
            return true;
    return false;
}

/* ---- slices ---- */

static const struct doc *spec_if_wanted(const struct summing *s, const struct doc *slice,
                                        struct str *pool)
{
    const struct doc *spec = doc_get(slice, "spec");
    *pool = doc_get_text(doc_get(spec, "pool"), "name");
    bool wanted = str_eq(doc_get_text(spec, "driver"), s->driver) &&
                  (!s->only.n || str_eq(*pool, s->only));
    return wanted ? spec : NULL;
}

static struct pool *pool_of(struct summing *s, struct str name)
{
    bool made;
    struct strmap_entry *e = strmap_put(&s->by_name, name, &made);
    if (!made)
        return e->value.ptr;
    struct pool *p = ARENA_NEW(s->a, struct pool);
    p->driver = s->driver;
    p->name = name;
    e->value.ptr = p;
    vec_push(&s->pools, p);
    return p;
}

static void find_generations(struct summing *s, const struct pool_status_input *in)
{
    for (uint32_t i = 0; i < in->nslices; i++) {
        struct str name;
        const struct doc *spec = spec_if_wanted(s, in->slices[i], &name);
        if (!spec)
            continue;
        bool known = strmap_find(&s->by_name, name) != NULL;
        struct pool *p = pool_of(s, name);
        int64_t generation = number(doc_get(spec, "pool"), "generation");
        if (!known || generation > p->generation)
            p->generation = generation;
    }
}

static void add_devices(struct pool *p, const struct doc *spec,
                        const struct pool_status_input *in)
{
    uint32_t n, nsets;
    const struct doc *devices = items_of(doc_get(spec, "devices"), &n),
                     *sets = items_of(doc_get(spec, "sharedCounters"), &nsets);
    struct str grouping = doc_get_text(spec, "partitionTypeAttribute");
    for (uint32_t i = 0; i < n; i++) {
        struct str name = doc_get_text(&devices[i], "name");
        vec_push(&p->devices, (struct pool_device){name, &devices[i], grouping});
        p->unavailable += is_unavailable(&devices[i], p, in);
    }
    for (uint32_t i = 0; i < nsets; i++)
        vec_push(&p->counter_sets, &sets[i]);
}

static void add_slice(struct summing *s, const struct doc *slice,
                      const struct pool_status_input *in)
{
    struct str name;
    const struct doc *spec = spec_if_wanted(s, slice, &name);
    const struct doc *of = doc_get(spec, "pool");
    struct pool *p = spec ? pool_of(s, name) : NULL;
    if (!p || number(of, "generation") < p->generation)
        return;
    struct str node = doc_get_text(spec, "nodeName");
    if (p->slices++ == 0) {
        p->node = node;
        p->wanted = number(of, "resourceSliceCount");
    }
    p->many_nodes |= !str_eq(node, p->node);
    add_devices(p, spec, in);
}

/* ---- claims ---- */

static void add_consumed(struct pool *p, const struct doc *consumed, struct arena *a)
{
    for (uint32_t i = 0; consumed && consumed->type == DOC_MAP && i < consumed->n; i++) {
        struct strmap_entry *e =
            strmap_put(&p->consumed, doc_key(&consumed->members[i]), NULL);
        struct quantity q, *sum = ARENA_NEW(a, struct quantity);
        if (!quantity_parse(doc_str(&consumed->members[i].value), a, &q, NULL))
            continue;
        *sum = e->value.ptr ? quantity_add(e->value.ptr, &q, a) : q;
        e->value.ptr = sum;
    }
}

static void add_claim(struct summing *s, const struct doc *claim)
{
    uint32_t n;
    const struct doc *results =
        items_of(doc_path(claim, "status.allocation.devices.results"), &n);
    for (uint32_t i = 0; i < n; i++) {
        bool admin = false;
        struct strmap_entry *e =
            strmap_find(&s->by_name, doc_get_text(&results[i], "pool"));
        doc_get_bool(&results[i], "adminAccess", &admin);
        if (admin || !e || !str_eq(doc_get_text(&results[i], "driver"), s->driver))
            continue;
        struct pool *p = e->value.ptr;
        strmap_put(&p->used, doc_get_text(&results[i], "device"), NULL);
        add_consumed(p, doc_get(&results[i], "consumedCapacity"), s->a);
    }
}

static void mark_used(struct pool *p)
{
    for (size_t i = 0; i < p->devices.n; i++)
        p->devices.v[i].used = strmap_find(&p->used, p->devices.v[i].name) != NULL;
}

/* ---- partitions ---- */

/* Under its full name, or under the bare one where the domain is the driver's. */
static struct str type_of(const struct pool *p, const struct pool_device *d)
{
    const struct doc *attributes = doc_get(d->doc, "attributes"),
                     *v = doc_get_str(attributes, d->grouping);
    size_t n = p->driver.n;
    if (!v && str_starts(d->grouping, p->driver) && d->grouping.n > n &&
        d->grouping.p[n] == '/')
        v = doc_get_str(attributes, str_sub(d->grouping, n + 1, d->grouping.n));
    return doc_get_text(v, "string");
}

static void find_types(struct pool *p, struct str otherwise)
{
    bool declared = false;
    for (size_t i = 0; i < p->devices.n; i++)
        declared |= p->devices.v[i].grouping.n > 0;
    for (size_t i = 0; i < p->devices.n; i++) {
        struct pool_device *d = &p->devices.v[i];
        if (!d->grouping.n && !declared)
            d->grouping = otherwise;
        if (d->grouping.n)
            d->type = type_of(p, d);
    }
}

/* ---- the status ---- */

static void set_number(struct doc *d, const char *key, int64_t value, struct arena *a)
{
    doc_set(a, d, key, doc_make_int(a, value));
}

static void set_error(struct doc *d, struct str error, struct arena *a)
{
    if (error.n)
        doc_set_text(a, d, "validationError", str_sub(error, 0, MAX_ERROR));
}

static void add_counts(const struct pool *p, struct doc *d, struct arena *a)
{
    int64_t total = (int64_t)p->devices.n, used = p->used.live,
            left = total - used - p->unavailable;
    set_number(d, "resourceSliceCount", p->slices, a);
    set_number(d, "totalDevices", total, a);
    set_number(d, "allocatedDevices", used, a);
    set_number(d, "availableDevices", left > 0 ? left : 0, a);
    set_number(d, "unavailableDevices", p->unavailable, a);
    set_error(d, pool_views_add(p, d, a), a);
}

static struct doc make_pool(const struct pool *p, struct arena *a)
{
    struct doc d = doc_make_map();
    doc_set_text(a, &d, "driver", p->driver);
    doc_set_text(a, &d, "poolName", p->name);
    set_number(&d, "generation", p->generation, a);
    if (p->node.n && !p->many_nodes)
        doc_set_text(a, &d, "nodeName", p->node);
    if (p->slices >= p->wanted) {
        add_counts(p, &d, a);
        return d;
    }
    set_error(&d,
              arena_printf(a,
                           "PoolIncomplete: pool %.*s/%.*s is incomplete: observed "
                           "%lld/%lld slices at generation %lld",
                           STR_ARG(p->driver), STR_ARG(p->name), (long long)p->slices,
                           (long long)p->wanted, (long long)p->generation),
              a);
    return d;
}

static struct doc make_conditions(uint32_t pools, uint32_t flawed, struct str now,
                                  struct arena *a)
{
    struct doc list = doc_make_list(), d = doc_make_map();
    struct str more = flawed ? arena_printf(a, " (%u incomplete)", flawed) : STR("");
    doc_set_text(a, &d, "type", STR("Complete"));
    doc_set_text(a, &d, "status", STR("True"));
    doc_set_text(a, &d, "lastTransitionTime", now);
    doc_set_text(a, &d, "reason", STR("CalculationComplete"));
    doc_set_text(
        a, &d, "message",
        arena_printf(a, "Calculated status for %u pools%.*s", pools, STR_ARG(more)));
    doc_append(a, &list, d);
    return list;
}

static int by_pool(const void *a, const void *b)
{
    const struct pool *const *x = a, *const *y = b;
    return str_cmp((*x)->name, (*y)->name);
}

static struct doc make_status(struct summing *s, const struct doc *spec, struct str now,
                              bool *incomplete)
{
    struct doc status = doc_make_map(), list = doc_make_list();
    const struct doc *given = doc_get(spec, "limit");
    int64_t limit = given ? number(spec, "limit") : DEFAULT_LIMIT;
    uint32_t flawed = 0;
    *incomplete = false;
    for (size_t i = 0; i < s->pools.n && (int64_t)i < limit; i++) {
        const struct doc *d = doc_append(s->a, &list, make_pool(s->pools.v[i], s->a));
        flawed += doc_get(d, "validationError") != NULL;
        *incomplete |= s->pools.v[i]->slices < s->pools.v[i]->wanted;
    }
    set_number(&status, "poolCount", (int64_t)s->pools.n, s->a);
    if (list.n)
        doc_set(s->a, &status, "pools", list);
    doc_set(s->a, &status, "conditions", make_conditions(list.n, flawed, now, s->a));
    return status;
}

static void pool_release(struct pool *p)
{
    vec_release(&p->devices);
    vec_release(&p->counter_sets);
    strmap_release(&p->used);
    strmap_release(&p->consumed);
}

struct doc pool_status_compute(const struct doc *request,
                               const struct pool_status_input *in, struct str now,
                               struct arena *a, bool *incomplete)
{
    const struct doc *spec = doc_get(request, "spec");
    struct summing s = {.a = a,
                        .driver = doc_get_text(spec, "driver"),
                        .only = doc_get_text(spec, "poolName")};
    find_generations(&s, in);
    for (uint32_t i = 0; i < in->nslices; i++)
        add_slice(&s, in->slices[i], in);
    for (uint32_t i = 0; i < in->nclaims; i++)
        add_claim(&s, in->claims[i]);
    for (size_t i = 0; i < s.pools.n; i++) {
        mark_used(s.pools.v[i]);
        find_types(s.pools.v[i], doc_get_text(spec, "defaultPartitionTypeAttribute"));
    }
    if (s.pools.n)
        qsort(s.pools.v, s.pools.n, sizeof *s.pools.v, by_pool);
    struct doc status = make_status(&s, spec, now, incomplete);
    for (size_t i = 0; i < s.pools.n; i++)
        pool_release(s.pools.v[i]);
    vec_release(&s.pools);
    strmap_release(&s.by_name);
    return status;
}
