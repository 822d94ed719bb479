/* SPDX-License-Identifier: Apache-2.0 */
/* What there is: claims, classes, slices and rules, watched. */
#include <stdlib.h>
#include <time.h>

#include "base/mem.h"
#include "sched/dra_inner.h"

const struct client_kind dra_claim_kind = {"resource.k8s.io", "v1", "resourceclaims",
                                           true},
                         dra_pod_kind = {"", "v1", "pods", true};
static const struct client_kind CLASS_KIND = {"resource.k8s.io", "v1", "deviceclasses",
                                              false},
                                SLICE_KIND = {"resource.k8s.io", "v1", "resourceslices",
                                              false},
                                RULE_KIND = {"resource.k8s.io", "v1", "devicetaintrules",
                                             false},
                                GROUP_KIND = {"scheduling.k8s.io", "v1beta1", "podgroups",
                                              true};
#define IMPLICIT STR("deviceclass.resource.kubernetes.io/")

/* ---- small things ---- */

bool dra_binds(const struct dra *d)
{
    return dra_gate(d, API_GATE_DRADeviceBindingConditions) &&
           dra_gate(d, API_GATE_DRAResourceClaimDeviceStatus);
}

int64_t dra_now(const struct dra *d)
{
    return d->opts.now ? d->opts.now(d->opts.ctx) : (int64_t)time(NULL);
}

void dra_log(struct dra *d, const char *fmt, ...)
{
    struct arena a;
    va_list ap;
    if (!d->opts.log)
        return;
    arena_init(&a);
    va_start(ap, fmt);
    d->opts.log(d->opts.ctx, arena_vprintf(&a, fmt, ap).p);
    va_end(ap);
    arena_fini(&a);
}

static void on_trouble(void *ctx, const char *what)
{
    dra_log(ctx, "%s", what);
}

static void tell(struct dra *d, enum dra_kind kind, const struct object *old,
                 const struct object *now)
{
    struct dra_event e = {kind, old, now, .all_pods = true};
    if (d->opts.changed)
        d->opts.changed(d->opts.ctx, &e);
}

/* Keeps the object that the inventory looks at: an informer may replace one by its like
 * without a word. Returns the one before, to be let go once nobody looks at it. */
static struct object *keep(struct strmap *m, const struct object *old,
                           const struct object *now)
{
    const struct object *any = now ? now : old;
    struct strmap_entry *e = strmap_find(m, any->key);
    struct object *before = e ? e->value.ptr : NULL;
    if (before)
        strmap_remove(m, any->key);
    if (now) {
        struct object *kept = object_ref((struct object *)now);
        strmap_put(m, kept->key, NULL)->value.ptr = kept;
    }
    return before;
}

static void let_go_all(struct strmap *m)
{
    strmap_each(m, e) object_unref(e->value.ptr);
    strmap_release(m);
}

/* ---- classes ---- */

const struct view_class *dra_class(const struct dra *d, struct str name)
{
    const struct strmap_entry *e = strmap_find(&d->class_objects, name);
    return e ? ((const struct object *)e->value.ptr)->view : NULL;
}

/* Newer wins, then the first by name. */
static bool serves_before(const struct view_class *a, const struct view_class *b)
{
    int c = str_cmp(a->meta.created, b->meta.created);
    return c > 0 || (c == 0 && str_cmp(a->meta.name, b->meta.name) < 0);
}

/* Classes are few and change rarely. */
static void find_serving(struct dra *d)
{
    strmap_clear(&d->serving);
    strmap_each(&d->class_objects, e)
    {
        const struct view_class *k = ((const struct object *)e->value.ptr)->view;
        bool made;
        if (!k->extended_resource.n)
            continue;
        struct strmap_entry *s = strmap_put(&d->serving, k->extended_resource, &made);
        if (!made && !serves_before(k, s->value.ptr))
            continue;
        s->key = k->extended_resource;
        s->value.ptr = (void *)k;
    }
}

const struct view_class *dra_serving_class(const struct dra *d, struct str resource)
{
    if (!dra_gate(d, API_GATE_DRAExtendedResource))
        return NULL;
    if (str_starts(resource, IMPLICIT))
        return dra_class(d, str_sub(resource, IMPLICIT.n, SIZE_MAX));
    const struct strmap_entry *e = strmap_find(&d->serving, resource);
    return e ? e->value.ptr : NULL;
}

static void on_class(void *ctx, const struct object *old, const struct object *now)
{
    struct dra *d = ctx;
    if (now)
        alloc_inventory_put_class(d->inv, now->view);
    else
        alloc_inventory_remove_class(d->inv, old->name);
    struct object *before = keep(&d->class_objects, old, now);
    find_serving(d);
    object_unref(before);
    if (now)
        tell(d, DRA_CLASS, old, now);
}

static const void *view_class(const struct doc *doc, struct arena *a, struct err *e)
{
    return view_class_new(doc, a, e);
}

/* ---- slices ---- */

static void on_slice(void *ctx, const struct object *old, const struct object *now)
{
    struct dra *d = ctx;
    if (now)
        alloc_inventory_put_slice(d->inv, now->view);
    else
        alloc_inventory_remove_slice(d->inv, old->name);
    object_unref(keep(&d->slice_objects, old, now));
    if (now)
        tell(d, DRA_SLICE, old, now);
}

static const void *view_slice(void *with, const struct doc *doc, struct arena *a,
                              struct err *e)
{
    struct dra *d = with;
    return view_slice_new(doc, &d->names, a, e);
}

bool dra_slice_is_for(const struct view_slice *s, const struct view_node *n)
{
    if (s->node_name.n)
        return str_eq(s->node_name, n->meta.name);
    if (s->all_nodes)
        return true;
    if (s->node_selector)
        return view_node_selector_match(s->node_selector, n, NULL) == VIEW_MATCH_YES;
    return s->per_device;
}

static bool device_is_for(const struct view_device *v, const struct view_node *n)
{
    return str_eq(v->node_name, n->meta.name) || v->all_nodes ||
           (v->node_selector &&
            view_node_selector_match(v->node_selector, n, NULL) == VIEW_MATCH_YES);
}

static const struct view_device *find_in(const struct view_slice *s, struct str name)
{
    for (uint32_t i = 0; i < s->ndevices; i++)
        if (str_eq(s->devices[i].name, name))
            return &s->devices[i];
    return NULL;
}

const struct view_device *dra_find_device(const struct dra *d, const struct view_node *n,
                                          const struct view_result *r)
{
    strmap_each(&d->slice_objects, e)
    {
        const struct view_slice *s = ((const struct object *)e->value.ptr)->view;
        if (!str_eq(s->driver, r->driver) || !str_eq(s->pool, r->pool) ||
            (n && !dra_slice_is_for(s, n)))
            continue;
        const struct view_device *v = find_in(s, r->device);
        if (v)
            return s->per_device && n && !device_is_for(v, n) ? NULL : v;
    }
    return NULL;
}

/* ---- taint rules: as if each slice they match had changed ---- */

static void on_rule(void *ctx, const struct object *old, const struct object *now)
{
    struct dra *d = ctx;
    if (now)
        alloc_inventory_put_taint_rule(d->inv, now->view);
    else
        alloc_inventory_remove_taint_rule(d->inv, old->name);
    object_unref(keep(&d->rule_objects, old, now));
    tell(d, DRA_SLICE, old, now);
}

static const void *view_rule(const struct doc *doc, struct arena *a, struct err *e)
{
    return view_taint_rule_new(doc, a, e);
}

static void on_claim(void *ctx, const struct object *old, const struct object *now)
{
    dra_claim_told(ctx, old, now);
}

static void on_group(void *ctx, const struct object *old, const struct object *now)
{
    (void)ctx;
    (void)old;
    (void)now;
}

/* ---- all of it ---- */

static const struct informer_ops CLAIM_OPS = {.changed = on_claim, .trouble = on_trouble},
                                 CLASS_OPS = {.changed = on_class, .trouble = on_trouble},
                                 SLICE_OPS = {.changed = on_slice, .trouble = on_trouble},
                                 RULE_OPS = {.changed = on_rule, .trouble = on_trouble},
                                 GROUP_OPS = {.changed = on_group, .trouble = on_trouble};

static struct informer *watch(struct dra *d, const struct client_kind *kind,
                              struct object_opts objects, const struct informer_ops *ops)
{
    struct informer_opts opts = {.kind = *kind, .objects = objects};
    return informer_new(d->client, &opts, ops, d);
}

/* Slices first: what claims hold is charged to pools that are known then, most often. */
static void watch_all(struct dra *d)
{
    d->slices =
        watch(d, &SLICE_KIND,
              (struct object_opts){.view_with = view_slice, .with = d, .drop_doc = true},
              &SLICE_OPS);
    d->classes =
        watch(d, &CLASS_KIND, (struct object_opts){.view = view_class, .drop_doc = true},
              &CLASS_OPS);
    if (dra_gate(d, API_GATE_DRADeviceTaints) &&
        dra_gate(d, API_GATE_DRADeviceTaintRules))
        d->rules =
            watch(d, &RULE_KIND,
                  (struct object_opts){.view = view_rule, .drop_doc = true}, &RULE_OPS);
    if (dra_gate(d, API_GATE_DRAWorkloadResourceClaims))
        d->groups = watch(d, &GROUP_KIND, (struct object_opts){0}, &GROUP_OPS);
    d->claims = watch(d, &dra_claim_kind, dra_claim_opts, &CLAIM_OPS);
}

struct dra *dra_new(struct client *c, const struct dra_opts *opts)
{
    struct dra *d = mem_zalloc(sizeof *d);
    d->client = c;
    d->opts = *opts;
    d->features = alloc_features_of(&opts->gates);
    device_names_init(&d->names);
    d->inv = alloc_inventory_new(&d->features, &d->names);
    index_init(&d->special, dra_special_owner);
    watch_all(d);
    return d;
}

void dra_free(struct dra *d)
{
    if (!d)
        return;
    struct informer *all[] = {d->claims, d->classes, d->slices, d->rules, d->groups};
    alloc_inventory_free(d->inv);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i])
            informer_free(all[i]);
    dra_ledger_free(d);
    strmap_release(&d->serving);
    let_go_all(&d->slice_objects);
    let_go_all(&d->class_objects);
    let_go_all(&d->rule_objects);
    device_names_fini(&d->names);
    free(d);
}

bool dra_synced(const struct dra *d)
{
    const struct informer *all[] = {d->claims, d->classes, d->slices, d->rules,
                                    d->groups};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i] && !informer_synced(all[i]))
            return false;
    return true;
}

void dra_forget_node(struct dra *d, struct str name)
{
    alloc_forget_node(d->inv, name);
}

const struct object *dra_group_of(const struct dra *d, const struct doc *pod)
{
    struct str group =
        doc_get_text(doc_path(pod, "spec.schedulingGroup"), "podGroupName");
    if (!d->groups || !group.n)
        return NULL;
    return informer_find(d->groups, doc_get_text(doc_get(pod, "metadata"), "namespace"),
                         group);
}
