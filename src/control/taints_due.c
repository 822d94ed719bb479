/* SPDX-License-Identifier: Apache-2.0 */
/* When a claim's pods have to go, and why (spec 6.2.1-4). */
#include <stdlib.h>

#include "api/claim_refs.h"
#include "api/timestamp.h"
#include "base/mem.h"
#include "control/taints.h"

/* ---- reasons ---- */

static const struct doc *device_spec(const struct object *slice)
{
    return doc_get(slice->doc, "spec");
}

static struct str pool_name(const struct object *slice)
{
    return doc_get_text(doc_get(device_spec(slice), "pool"), "name");
}

static int compare_slices(const struct taint_ref *a, const struct taint_ref *b)
{
    int c = str_cmp(doc_get_text(device_spec(a->slice), "driver"),
                    doc_get_text(device_spec(b->slice), "driver"));
    c = c ? c : str_cmp(pool_name(a->slice), pool_name(b->slice));
    c = c ? c : str_cmp(a->device, b->device);
    return c ? c : (int)a->index - (int)b->index;
}

static int compare(const struct taint_ref *a, const struct taint_ref *b)
{
    if (a->rule && b->rule)
        return str_cmp(a->rule->name, b->rule->name);
    if (a->rule || b->rule)
        return a->rule ? -1 : 1;
    return compare_slices(a, b);
}

struct str taint_ref_text(const struct taint_ref *r, struct arena *a)
{
    const struct object *o = r->rule ? r->rule : r->slice;
    struct str uid = o->uid.n ? arena_printf(a, ":%.*s", STR_ARG(o->uid)) : STR("");
    if (r->rule)
        return arena_printf(a, "DeviceTaintRule /%.*s%.*s", STR_ARG(o->name),
                            STR_ARG(uid));
    struct str driver = doc_get_text(device_spec(o), "driver"), pool = pool_name(o);
    return arena_printf(a, "ResourceSlice /%.*s%.*s %.*s/%.*s/%.*s taint #%u",
                        STR_ARG(o->name), STR_ARG(uid), STR_ARG(driver), STR_ARG(pool),
                        STR_ARG(r->device), r->index);
}

static void add_reason(struct due *d, const struct taint_ref *r)
{
    size_t at = 0;
    int c = 1;
    while (at < d->reasons.n && (c = compare(&d->reasons.v[at], r)) < 0)
        at++;
    if (at < d->reasons.n && c == 0)
        return;
    vec_push(&d->reasons, *r);
    memmove(d->reasons.v + at + 1, d->reasons.v + at,
            (d->reasons.n - 1 - at) * sizeof *d->reasons.v);
    d->reasons.v[at] = *r;
    object_ref(r->rule ? r->rule : r->slice);
}

void due_free(struct due *d)
{
    if (!d)
        return;
    for (size_t i = 0; i < d->reasons.n; i++) {
        object_unref(d->reasons.v[i].rule);
        object_unref(d->reasons.v[i].slice);
    }
    vec_release(&d->reasons);
    free(d);
}

struct due *due_dup(const struct due *d)
{
    struct due *copy = mem_zalloc(sizeof *copy);
    copy->when = d->when;
    for (size_t i = 0; i < d->reasons.n; i++)
        add_reason(copy, &d->reasons.v[i]);
    return copy;
}

bool due_equal(const struct due *a, const struct due *b)
{
    if (!a || !b || a->when != b->when || a->reasons.n != b->reasons.n)
        return false;
    for (size_t i = 0; i < a->reasons.n; i++)
        if (a->reasons.v[i].rule != b->reasons.v[i].rule ||
            a->reasons.v[i].slice != b->reasons.v[i].slice ||
            compare(&a->reasons.v[i], &b->reasons.v[i]) != 0)
            return false;
    return true;
}

/* ---- taints and tolerations ---- */

/* (spec 3.8) but for the effect, which must be NoExecute in so many letters. */
static bool tolerates(const struct doc *toleration, const struct doc *taint)
{
    struct str key = doc_get_text(toleration, "key"),
               op = doc_get_text(toleration, "operator");
    if (!doc_is_string(doc_get(toleration, "effect"), "NoExecute") ||
        (key.n && !str_eq(key, doc_get_text(taint, "key"))))
        return false;
    if (!op.n || str_is(op, "Equal"))
        return str_eq(doc_get_text(toleration, "value"), doc_get_text(taint, "value"));
    return str_is(op, "Exists");
}

/* Seconds that a device's user tolerates a taint; -1: for ever. */
static int64_t tolerated_for(const struct doc *result, const struct doc *taint)
{
    const struct doc *list = doc_get(result, "tolerations");
    int64_t least = INT64_MAX, seconds;
    for (uint32_t i = 0; list && list->type == DOC_LIST && i < list->n; i++) {
        if (!tolerates(&list->items[i], taint))
            continue;
        if (!doc_get_int64(&list->items[i], "tolerationSeconds", &seconds))
            return -1;
        if (seconds < least)
            least = seconds > 0 ? seconds : 0;
    }
    return least == INT64_MAX ? 0 : least;
}

struct dueing { /* what a claim's due is made from */
    const struct taints *t;
    const struct doc *result;
    struct str driver, pool, device;
    struct due *due;
    bool found;
};

static void take_taint(struct dueing *g, const struct doc *taint,
                       const struct taint_ref *ref)
{
    int64_t added = 0, more = tolerated_for(g->result, taint);
    int32_t nanos;
    if (more < 0)
        return;
    timestamp_parse(doc_get_text(taint, "timeAdded"), &added, &nanos);
    if (!g->due) {
        g->due = mem_zalloc(sizeof *g->due);
        g->due->when = added + more;
    }
    if (added + more < g->due->when)
        g->due->when = added + more;
    add_reason(g->due, ref);
}

static bool take_device(void *ctx, struct object *slice, const struct doc *device)
{
    struct dueing *g = ctx;
    const struct doc *taints = doc_get(device, "taints");
    struct str name = doc_get_text(device, "name");
    if (!str_eq(name, g->device))
        return true;
    for (uint32_t i = 0; taints && taints->type == DOC_LIST && i < taints->n; i++) {
        struct taint_ref ref = {.slice = slice, .device = name, .index = i};
        if (doc_is_string(doc_get(&taints->items[i], "effect"), "NoExecute"))
            take_taint(g, &taints->items[i], &ref);
    }
    return false; /* the first of that name counts */
}

bool taints_rule_selects(const struct object *rule, struct str driver, struct str pool,
                         struct str device)
{
    const struct doc *s = doc_path(rule->doc, "spec.deviceSelector");
    const struct str want[] = {doc_get_text(s, "driver"), doc_get_text(s, "pool"),
                               doc_get_text(s, "device")},
                     have[] = {driver, pool, device};
    if (!s || s->type != DOC_MAP)
        return false;
    for (int i = 0; i < 3; i++)
        if (want[i].p && !str_eq(want[i], have[i]))
            return false;
    return true;
}

static void take_rules(struct dueing *g)
{
    strmap_each(&g->t->rules, e)
    {
        struct taint_ref ref = {.rule = e->value.ptr};
        if (taints_rule_selects(ref.rule, g->driver, g->pool, g->device))
            take_taint(g, doc_path(ref.rule->doc, "spec.taint"), &ref);
    }
}

static void take_result(struct dueing *g)
{
    struct arena a;
    arena_init(&a);
    g->driver = doc_get_text(g->result, "driver");
    g->pool = doc_get_text(g->result, "pool");
    g->device = doc_get_text(g->result, "device");
    const struct strmap_entry *e =
        strmap_find(&g->t->pools,
                    arena_printf(&a, "%.*s/%.*s", STR_ARG(g->driver), STR_ARG(g->pool)));
    if (e)
        taints_each_device(e->value.ptr, take_device, g);
    take_rules(g);
    arena_fini(&a);
}

struct due *taints_due_of_claim(const struct taints *t, const struct object *claim)
{
    const struct doc *list = doc_path(claim->doc, "status.allocation.devices.results");
    struct dueing g = {.t = t};
    for (uint32_t i = 0; list && list->type == DOC_LIST && i < list->n; i++) {
        g.result = &list->items[i];
        take_result(&g);
    }
    return g.due;
}

/* ---- pods ---- */

/* The due of one of a pod's claims, if it is the pod's and reserved for it. */
static const struct due *due_by_name(const struct taints *t, const struct object *pod,
                                     struct str name, bool owned)
{
    struct arena a;
    arena_init(&a);
    const struct strmap_entry *e =
        strmap_find(&t->claims, arena_printf(&a, "%.*s/%.*s", STR_ARG(pod->namespace),
                                             STR_ARG(name)));
    const struct tainted_claim *c = e ? e->value.ptr : NULL;
    arena_fini(&a);
    if (!c || !c->due ||
        (owned && !claim_ref_is_for(c->claim->doc, pod->doc, t->group_claims)) ||
        !claim_ref_is_reserved(c->claim->doc, pod->doc, t->group_claims))
        return NULL;
    return c->due;
}

static void join(struct due **sum, const struct due *d)
{
    if (!d)
        return;
    if (!*sum) {
        *sum = mem_zalloc(sizeof **sum);
        (*sum)->when = d->when;
    }
    if (d->when < (*sum)->when)
        (*sum)->when = d->when;
    for (size_t i = 0; i < d->reasons.n; i++)
        add_reason(*sum, &d->reasons.v[i]);
}

struct due *taints_due_of_pod(const struct taints *t, const struct object *pod)
{
    const struct doc *list = doc_path(pod->doc, "spec.resourceClaims");
    struct due *sum = NULL;
    struct str name;
    if (!doc_get_text(doc_get(pod->doc, "spec"), "nodeName").n)
        return NULL;
    for (uint32_t i = 0; list && list->type == DOC_LIST && i < list->n; i++) {
        enum claim_known known = claim_ref_name(pod->doc, &list->items[i], &name);
        if (known <= CLAIM_GENERATED)
            join(&sum, due_by_name(t, pod, name, known == CLAIM_GENERATED));
    }
    name = doc_get_text(doc_path(pod->doc, "status.extendedResourceClaimStatus"),
                        "resourceClaimName");
    if (name.n)
        join(&sum, due_by_name(t, pod, name, true));
    return sum;
}
