/* SPDX-License-Identifier: Apache-2.0 */
/* What changes of pods, claims, slices and rules mean for who has to go (spec 6.2.5-7).
 */
#include "control/taints.h"

#include <stdlib.h>

#include "api/claim_refs.h"
#include "base/mem.h"

void taints_init(struct taints *t, const struct taints_ops *ops, void *ctx)
{
    *t = (struct taints){.ops = ops, .ctx = ctx};
}

/* ---- keys ---- */

static struct str pod_key(const struct object *pod, struct arena *a)
{
    return arena_printf(a, "pod:%.*s:%.*s", STR_ARG(pod->key), STR_ARG(pod->uid));
}

static void look_at_rule(struct taints *t, const struct object *rule, uint64_t ms)
{
    struct arena a;
    arena_init(&a);
    t->ops->add(
        t->ctx,
        arena_printf(&a, "rule:%.*s:%.*s", STR_ARG(rule->name), STR_ARG(rule->uid)), ms);
    arena_fini(&a);
}

/* ---- objects by key, each with a reference ---- */

void objects_keep(struct strmap *m, const struct object *o)
{
    struct strmap_entry *e = strmap_find(m, o->key);
    struct object *old = e ? e->value.ptr : NULL;
    if (e)
        strmap_remove(m, o->key); /* its key is the old one's */
    strmap_put(m, o->key, NULL)->value.ptr = object_ref((struct object *)o);
    object_unref(old);
}

void objects_drop(struct strmap *m, struct str key)
{
    struct strmap_entry *e = strmap_find(m, key);
    struct object *old = e ? e->value.ptr : NULL;
    strmap_remove(m, key);
    object_unref(old);
}

void objects_release(struct strmap *m)
{
    strmap_each(m, e) object_unref(e->value.ptr);
    strmap_release(m);
}

/* ---- who has to go ---- */

const struct pending *taints_pending(const struct taints *t, struct str key)
{
    const struct strmap_entry *e = strmap_find(&t->delete_at, key);
    return e ? e->value.ptr : NULL;
}

static void pending_free(struct pending *p)
{
    object_unref(p->pod);
    due_free(p->due);
    free(p->key);
    free(p);
}

static bool forget_pending(struct taints *t, struct str key)
{
    struct strmap_entry *e = strmap_find(&t->delete_at, key);
    struct pending *p = e ? e->value.ptr : NULL;
    if (!p)
        return false;
    strmap_remove(&t->delete_at, key);
    pending_free(p);
    return true;
}

/* Takes due. */
static void set_pending(struct taints *t, const struct object *pod, struct str key,
                        struct due *due)
{
    struct pending *p = mem_zalloc(sizeof *p);
    forget_pending(t, key);
    p->key = mem_dup(key.p, key.n);
    p->pod = object_ref((struct object *)pod);
    p->due = due;
    strmap_put(&t->delete_at, str_from(p->key), NULL)->value.ptr = p;
}

static void look_at_pod(struct taints *t, const struct object *pod)
{
    struct due *due = taints_due_of_pod(t, pod);
    struct arena a;
    arena_init(&a);
    struct str key = pod_key(pod, &a);
    if (!due) {
        if (forget_pending(t, key))
            t->ops->tell(t->ctx, pod, "Cancelling deletion");
        arena_fini(&a);
        return;
    }
    int64_t ms = due->when * 1000 - t->ops->now_ms(t->ctx);
    set_pending(t, pod, key, due);
    t->ops->add(t->ctx, key, ms > 0 ? (uint64_t)ms : 0);
    for (size_t i = 0; i < due->reasons.n; i++)
        if (due->reasons.v[i].rule)
            look_at_rule(t, due->reasons.v[i].rule, TAINTS_STATUS_MS);
    arena_fini(&a);
}

static void look_at_group(struct taints *t, struct str namespace, struct str group)
{
    strmap_each(&t->pods, e)
    {
        const struct object *pod = e->value.ptr;
        if (str_eq(pod->namespace, namespace) && str_eq(claim_ref_group(pod->doc), group))
            look_at_pod(t, pod);
    }
}

static void look_at_consumer(struct taints *t, const struct object *claim,
                             const struct doc *reserved)
{
    struct str group = doc_get_text(reserved, "apiGroup"),
               resource = doc_get_text(reserved, "resource"),
               name = doc_get_text(reserved, "name");
    struct arena a;
    if (t->group_claims && str_is(group, "scheduling.k8s.io") &&
        str_is(resource, "podgroups"))
        look_at_group(t, claim->namespace, name);
    if (group.n || !str_is(resource, "pods"))
        return;
    arena_init(&a);
    const struct strmap_entry *e =
        strmap_find(&t->pods, arena_printf(&a, "%.*s/%.*s", STR_ARG(claim->namespace),
                                           STR_ARG(name)));
    arena_fini(&a);
    const struct object *pod = e ? e->value.ptr : NULL;
    if (pod && str_eq(pod->uid, doc_get_text(reserved, "uid")))
        look_at_pod(t, pod);
}

static void look_at_consumers(struct taints *t, const struct object *claim)
{
    const struct doc *list = doc_path(claim->doc, "status.reservedFor");
    for (uint32_t i = 0; list && list->type == DOC_LIST && i < list->n; i++)
        look_at_consumer(t, claim, &list->items[i]);
}

/* ---- pods ---- */

static bool same_doc(const struct object *a, const struct object *b, const char *path)
{
    static const struct doc NONE = {.type = DOC_NULL};
    const struct doc *x = doc_path(a->doc, path), *y = doc_path(b->doc, path);
    return doc_equal(x ? x : &NONE, y ? y : &NONE);
}

void taints_on_pod(struct taints *t, const struct object *old, const struct object *now)
{
    struct arena a;
    if (now) {
        objects_keep(&t->pods, now);
        if (!old || !same_doc(old, now, "spec.nodeName") ||
            !same_doc(old, now, "status.resourceClaimStatuses") ||
            !same_doc(old, now, "status.extendedResourceClaimStatus"))
            look_at_pod(t, now);
        return;
    }
    arena_init(&a);
    forget_pending(t, pod_key(old, &a));
    objects_drop(&t->pods, old->key);
    arena_fini(&a);
}

/* ---- claims ---- */

static bool is_allocated(const struct object *claim)
{
    const struct doc *d = claim ? doc_path(claim->doc, "status.allocation") : NULL;
    return d && d->type == DOC_MAP;
}

static void drop_claim(struct taints *t, struct str key)
{
    struct strmap_entry *e = strmap_find(&t->claims, key);
    struct tainted_claim *c = e ? e->value.ptr : NULL;
    if (!c)
        return;
    strmap_remove(&t->claims, key);
    due_free(c->due);
    object_unref(c->claim);
    free(c);
}

/* Takes due. */
static void set_claim(struct taints *t, const struct object *claim, struct due *due)
{
    struct tainted_claim *c = mem_zalloc(sizeof *c);
    drop_claim(t, claim->key);
    c->claim = object_ref((struct object *)claim);
    c->due = due;
    strmap_put(&t->claims, claim->key, NULL)->value.ptr = c;
}

/* An allocation does not change, so neither does the due. */
static void replace_claim(struct taints *t, const struct object *now)
{
    struct strmap_entry *e = strmap_find(&t->claims, now->key);
    struct due *due = NULL;
    if (e) {
        due = ((struct tainted_claim *)e->value.ptr)->due;
        ((struct tainted_claim *)e->value.ptr)->due = NULL;
    }
    set_claim(t, now, due);
}

void taints_on_claim(struct taints *t, const struct object *old, const struct object *now)
{
    const struct object *claim = now ? now : old;
    if (!claim)
        return;
    if (old && now && !str_eq(old->uid, now->uid)) {
        taints_on_claim(t, old, NULL);
        taints_on_claim(t, NULL, now);
        return;
    }
    if (!is_allocated(now))
        drop_claim(t, claim->key);
    else if (is_allocated(old))
        replace_claim(t, now);
    else
        set_claim(t, now, taints_due_of_claim(t, now));
    if (!is_allocated(old) && !is_allocated(now))
        return;
    if (old && (!now || !same_doc(old, now, "status.reservedFor")))
        look_at_consumers(t, old);
    if (now)
        look_at_consumers(t, now);
}

/* ---- all claims anew ---- */

static void renew_claim(struct taints *t, struct tainted_claim *c)
{
    struct due *due = taints_due_of_claim(t, c->claim), *old = c->due;
    bool same = due_equal(due, old);
    c->due = due;
    if (!same)
        look_at_consumers(t, c->claim);
    due_free(old);
}

/* ---- slices ---- */

static int64_t generation_of(const struct object *slice)
{
    int64_t n = 0;
    doc_get_int64(doc_path(slice->doc, "spec.pool"), "generation", &n);
    return n;
}

void taints_each_device(const struct tainted_pool *p,
                        bool (*each)(void *ctx, struct object *slice,
                                     const struct doc *device),
                        void *ctx)
{
    for (size_t i = 0; i < p->slices.n; i++) {
        struct object *s = p->slices.v[i];
        const struct doc *list = doc_path(s->doc, "spec.devices");
        bool present = generation_of(s) == p->generation;
        for (uint32_t k = 0; present && list && list->type == DOC_LIST && k < list->n;
             k++)
            if (!each(ctx, s, &list->items[k]))
                return;
    }
}

static struct str pool_key(const struct object *slice, struct arena *a)
{
    const struct doc *spec = doc_get(slice->doc, "spec");
    struct str driver = doc_get_text(spec, "driver"),
               pool = doc_get_text(doc_get(spec, "pool"), "name");
    return arena_printf(a, "%.*s/%.*s", STR_ARG(driver), STR_ARG(pool));
}

static struct tainted_pool *pool_get(struct taints *t, struct str key)
{
    struct strmap_entry *e = strmap_find(&t->pools, key);
    if (e)
        return e->value.ptr;
    struct tainted_pool *p = mem_zalloc(sizeof *p);
    p->key = mem_dup(key.p, key.n);
    strmap_put(&t->pools, str_from(p->key), NULL)->value.ptr = p;
    return p;
}

static void pool_remove(struct tainted_pool *p, const struct object *slice)
{
    for (size_t i = 0; i < p->slices.n; i++)
        if (str_eq(p->slices.v[i]->name, slice->name)) {
            object_unref(p->slices.v[i]);
            p->slices.v[i] = p->slices.v[--p->slices.n];
            return;
        }
}

static void pool_free(struct taints *t, struct tainted_pool *p)
{
    strmap_remove(&t->pools, str_from(p->key));
    vec_release(&p->slices);
    free(p->key);
    free(p);
}

static void pool_change(struct tainted_pool *p, const struct object *old,
                        const struct object *now)
{
    if (old)
        pool_remove(p, old);
    if (now) {
        pool_remove(p, now);
        vec_push(&p->slices, object_ref((struct object *)now));
    }
    p->generation = INT64_MIN;
    for (size_t i = 0; i < p->slices.n; i++)
        if (generation_of(p->slices.v[i]) > p->generation)
            p->generation = generation_of(p->slices.v[i]);
}

/* The NoExecute taints of a device as one document: a list. */
struct device_taints {
    struct arena *a;
    struct doc all; /* map: device -> list */
};

static bool collect(void *ctx, struct object *slice, const struct doc *device)
{
    struct device_taints *d = ctx;
    const struct doc *taints = doc_get(device, "taints");
    struct doc list = doc_make_list();
    (void)slice;
    for (uint32_t i = 0; taints && taints->type == DOC_LIST && i < taints->n; i++)
        if (doc_is_string(doc_get(&taints->items[i], "effect"), "NoExecute"))
            doc_append(d->a, &list, doc_dup(d->a, &taints->items[i]));
    if (list.n)
        doc_set_str(d->a, &d->all, doc_get_text(device, "name"), list);
    return true;
}

static struct doc taints_of_pool(const struct tainted_pool *p, struct arena *a)
{
    struct device_taints d = {a, doc_make_map()};
    taints_each_device(p, collect, &d);
    return d.all;
}

static bool is_changed(const struct doc *before, const struct doc *after,
                       struct str device)
{
    const struct doc *x = doc_get_str(before, device), *y = doc_get_str(after, device);
    return !x != !y || (x && !doc_equal(x, y));
}

static bool uses_changed(const struct object *claim, struct str pool,
                         const struct doc *before, const struct doc *after)
{
    const struct doc *list = doc_path(claim->doc, "status.allocation.devices.results");
    struct arena a;
    bool uses = false;
    arena_init(&a);
    for (uint32_t i = 0; list && list->type == DOC_LIST && i < list->n && !uses; i++) {
        const struct doc *r = &list->items[i];
        struct str driver = doc_get_text(r, "driver"), name = doc_get_text(r, "pool");
        uses =
            str_eq(arena_printf(&a, "%.*s/%.*s", STR_ARG(driver), STR_ARG(name)), pool) &&
            is_changed(before, after, doc_get_text(r, "device"));
    }
    arena_fini(&a);
    return uses;
}

void taints_on_slice(struct taints *t, const struct object *old, const struct object *now)
{
    struct arena a;
    arena_init(&a);
    struct str key = pool_key(now ? now : old, &a);
    struct tainted_pool *p = pool_get(t, key);
    struct doc before = taints_of_pool(p, &a);
    pool_change(p, old, now);
    struct doc after = taints_of_pool(p, &a);
    strmap_each(&t->claims, e)
    {
        struct tainted_claim *c = e->value.ptr;
        if (uses_changed(c->claim, key, &before, &after))
            renew_claim(t, c);
    }
    if (!p->slices.n)
        pool_free(t, p);
    arena_fini(&a);
}

/* ---- rules ---- */

static bool evicts(const struct object *rule)
{
    return rule && doc_is_string(doc_path(rule->doc, "spec.taint.effect"), "NoExecute");
}

static void forget_evicted_by(struct taints *t, struct str uid)
{
    struct strmap_entry *e = strmap_find(&t->evicted_by, uid);
    char *key = e ? (char *)e->key.p : NULL;
    strmap_remove(&t->evicted_by, uid);
    free(key);
}

void taints_on_rule(struct taints *t, const struct object *old, const struct object *now)
{
    bool same = old && now && str_eq(old->uid, now->uid);
    if (same && same_doc(old, now, "spec"))
        return;
    if (now && (!old || same))
        look_at_rule(t, now, 0);
    if (old && !now)
        forget_evicted_by(t, old->uid);
    if (old)
        objects_drop(&t->rules, old->name);
    if (evicts(now))
        objects_keep(&t->rules, now);
    strmap_each(&t->claims, e) renew_claim(t, e->value.ptr);
}

/* ---- what was done ---- */

bool taints_was_evicted(const struct taints *t, struct str uid)
{
    for (int i = 0; i < TAINTS_EVICTED; i++)
        if (t->evicted[i] && str_is(uid, t->evicted[i]))
            return true;
    return false;
}

static void count_for_rules(struct taints *t, const struct due *due)
{
    for (size_t i = 0; i < due->reasons.n; i++) {
        const struct object *rule = due->reasons.v[i].rule;
        bool made;
        if (!rule)
            continue;
        struct strmap_entry *e = strmap_find(&t->evicted_by, rule->uid);
        if (!e) { /* the key stays as long as the state */
            e = strmap_put(&t->evicted_by,
                           (struct str){mem_dup(rule->uid.p, rule->uid.n), rule->uid.n},
                           &made);
        }
        e->value.u++;
        look_at_rule(t, rule, TAINTS_STATUS_MS);
    }
}

void taints_note_evicted(struct taints *t, const struct object *pod,
                         const struct due *due, bool counts)
{
    struct arena a;
    char **place = &t->evicted[t->nevicted++ % TAINTS_EVICTED];
    free(*place);
    *place = mem_dup(pod->uid.p, pod->uid.n);
    if (counts)
        count_for_rules(t, due);
    arena_init(&a);
    forget_pending(t, pod_key(pod, &a));
    arena_fini(&a);
}

void taints_fini(struct taints *t)
{
    strmap_each(&t->delete_at, e) pending_free(e->value.ptr);
    strmap_release(&t->delete_at);
    strmap_each(&t->claims, e)
    {
        struct tainted_claim *c = e->value.ptr;
        due_free(c->due);
        object_unref(c->claim);
        free(c);
    }
    strmap_release(&t->claims);
    strmap_each(&t->pools, e)
    {
        struct tainted_pool *p = e->value.ptr;
        for (size_t i = 0; i < p->slices.n; i++)
            object_unref(p->slices.v[i]);
        vec_release(&p->slices);
        free(p->key);
        free(p);
    }
    strmap_release(&t->pools);
    objects_release(&t->pods);
    objects_release(&t->rules);
    strmap_each(&t->evicted_by, e) free((char *)e->key.p);
    strmap_release(&t->evicted_by);
    for (int i = 0; i < TAINTS_EVICTED; i++)
        free(t->evicted[i]);
}
