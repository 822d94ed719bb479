/* SPDX-License-Identifier: Apache-2.0 */
/* What informers tell, as changes of the world and as events for the queue. */
#include "sched/inner.h"
#include "sched/topology.h"

/* ---- pods ---- */

static bool waits_here(const struct scheduler *s, const struct object *pod)
{
    return view_pod_pending(pod_info_of(pod)->pod) && sched_profile_of(s, pod);
}

static bool has_place(const struct object *pod)
{
    const struct view_pod *p = pod_info_of(pod)->pod;
    return p->node_name.n && !view_pod_finished(p);
}

/* What is known here stands until the server has said it once. */
static void set_nomination(struct scheduler *s, const struct object *old,
                           struct object *now)
{
    struct str node = pod_info_of(now)->nominated;
    if (!node.n && !(old && pod_info_of(old)->nominated.n))
        node = nominated_node(&s->world.nominated, pod_id(now));
    nominated_set(&s->world.nominated, now, node);
}

static void set_waiting(struct scheduler *s, const struct object *old,
                        const struct object *now)
{
    bool before = old && waits_here(s, old), after = now && waits_here(s, now);
    if (before || after)
        index_change(&s->pods_by_claim, before ? old : NULL, after ? now : NULL);
    if (after) {
        struct object *pod = (struct object *)now;
        set_nomination(s, before ? old : NULL, pod);
        queue_set(&s->queue, pod, sched_now(s));
        if (!before && pod_info_of(now)->group.n)
            sched_tell(s, EVENT_POD_WAITS, NULL, now);
    } else if (before) {
        nominated_remove(&s->world.nominated, pod_id(old));
        queue_remove(&s->queue, pod_id(old));
    }
}

static bool same_labels(const struct labels *a, const struct labels *b)
{
    bool same = a->n == b->n;
    for (uint32_t i = 0; same && i < a->n; i++)
        same = str_eq(a->v[i].key, b->v[i].key) && str_eq(a->v[i].value, b->v[i].value);
    return same;
}

static bool needs_less(const struct resources *old, const struct resources *now)
{
    return now->cpu < old->cpu || now->memory < old->memory ||
           now->storage < old->storage;
}

static void tell_updated(struct scheduler *s, const struct object *old,
                         const struct object *now)
{
    const struct pod_info *a = pod_info_of(old), *b = pod_info_of(now);
    if (needs_less(&a->need, &b->need))
        sched_tell(s, EVENT_POD_SCALED, old, now);
    if (!same_labels(&a->labels, &b->labels) ||
        a->pod->meta.deleting != b->pod->meta.deleting)
        sched_tell(s, EVENT_POD_LABELS, old, now);
}

static void set_placed(struct scheduler *s, const struct object *old,
                       const struct object *now)
{
    bool before = old && has_place(old), after = now && has_place(now);
    struct cache *c = &s->world.cache;
    if (after) {
        cache_set_pod(c, (struct object *)now);
        if (before)
            tell_updated(s, old, now);
        else
            sched_tell(s, EVENT_POD_PLACED, old, now);
        return;
    }
    /* One that was assumed has had no node when it was last seen. */
    if (now && view_pod_pending(pod_info_of(now)->pod))
        return;
    if (old && cache_remove_pod(c, pod_id(old)))
        sched_tell(s, EVENT_POD_REMOVED, old, NULL);
}

/* Pods count in their group as long as they wait or have a place. */
static void set_group(struct scheduler *s, const struct object *old,
                      const struct object *now)
{
    if (now && (view_pod_pending(pod_info_of(now)->pod) || has_place(now)))
        groups_set_pod(&s->world.groups, (struct object *)now);
    else if (old)
        groups_remove_pod(&s->world.groups, old);
}

/* An object of the same name that is another one: the old one is gone. */
static void on_pod(void *ctx, const struct object *old, const struct object *now)
{
    struct scheduler *s = ctx;
    if (old && now && !str_eq(old->uid, now->uid)) {
        on_pod(ctx, old, NULL);
        old = NULL;
    }
    set_group(s, old, now);
    set_waiting(s, old, now);
    set_placed(s, old, now);
    sched_kick(s);
}

/* ---- nodes ---- */

static bool same_amounts(const struct view_node *a, const struct view_node *b)
{
    bool same = a->nallocatable == b->nallocatable;
    for (uint32_t i = 0; same && i < a->nallocatable; i++)
        same = str_eq(a->allocatable[i].name, b->allocatable[i].name) &&
               quantity_cmp(&a->allocatable[i].value, &b->allocatable[i].value) == 0;
    return same;
}

static bool same_taints(const struct view_node *a, const struct view_node *b)
{
    bool same = a->ntaints == b->ntaints && a->unschedulable == b->unschedulable;
    for (uint32_t i = 0; same && i < a->ntaints; i++)
        same = str_eq(a->taints[i].key, b->taints[i].key) &&
               str_eq(a->taints[i].value, b->taints[i].value) &&
               str_eq(a->taints[i].effect, b->taints[i].effect);
    return same;
}

static bool same_features(const struct view_node *a, const struct view_node *b)
{
    const struct view_strs *x = &a->declared_features, *y = &b->declared_features;
    bool same = x->n == y->n;
    for (uint32_t i = 0; same && i < x->n; i++)
        same = str_eq(x->v[i], y->v[i]);
    return same;
}

static void tell_node(struct scheduler *s, const struct object *old,
                      const struct object *now)
{
    const struct node_info *a = node_info_of(old), *b = node_info_of(now);
    if (!same_amounts(a->node, b->node))
        sched_tell(s, EVENT_NODE_ALLOCATABLE, old, now);
    if (!same_labels(&a->labels, &b->labels))
        sched_tell(s, EVENT_NODE_LABELS, old, now);
    if (!same_taints(a->node, b->node))
        sched_tell(s, EVENT_NODE_TAINTS, old, now);
    if (!same_features(a->node, b->node))
        sched_tell(s, EVENT_NODE_FEATURES, old, now);
}

static void on_node(void *ctx, const struct object *old, const struct object *now)
{
    struct scheduler *s = ctx;
    if (s->world.dra && old)
        dra_forget_node(s->world.dra, old->name);
    if (!now && !old)
        return;
    if (!now) {
        cache_remove_node(&s->world.cache, old->name);
        sched_tell(s, EVENT_NODE_REMOVED, old, NULL);
        return;
    }
    cache_set_node(&s->world.cache, (struct object *)now);
    if (old)
        tell_node(s, old, now);
    else
        sched_tell(s, EVENT_NODE_ADDED, NULL, now);
}

/* ---- groups ---- */

const struct client_kind sched_group_kind = {"scheduling.k8s.io", "v1beta1", "podgroups",
                                             true};

static void on_group(void *ctx, const struct object *old, const struct object *now)
{
    struct scheduler *s = ctx;
    groups_set_object(&s->world.groups, old, now);
    if (now)
        sched_tell(s, EVENT_GROUP, old, now);
}

/* ---- all informers ---- */

static void on_trouble(void *ctx, const char *what)
{
    sched_log(ctx, what);
}

static const struct object *lister_get(const void *from, struct str key)
{
    return informer_get(from, key);
}

static void lister_each(const void *from, void (*each)(void *ctx, const struct object *o),
                        void *ctx)
{
    informer_each(from, each, ctx);
}

/* Objects of other kinds: what becomes of them may help whom (0: nobody waits for it). */
static const struct other {
    struct client_kind kind;
    enum sched_event_kind event;
} OTHERS[WORLD_KINDS] = {
    [WORLD_NAMESPACES] = {{"", "v1", "namespaces", false}, EVENT_NAMESPACE_LABELS},
    [WORLD_SERVICES] = {{"", "v1", "services", true}, EVENT_KINDS},
    [WORLD_REPLICATION_CONTROLLERS] = {{"", "v1", "replicationcontrollers", true},
                                       EVENT_KINDS},
    [WORLD_REPLICA_SETS] = {{"apps", "v1", "replicasets", true}, EVENT_KINDS},
    [WORLD_STATEFUL_SETS] = {{"apps", "v1", "statefulsets", true}, EVENT_KINDS},
    [WORLD_VOLUME_CLAIMS] = {{"", "v1", "persistentvolumeclaims", true}, EVENT_VOLUME},
    [WORLD_VOLUMES] = {{"", "v1", "persistentvolumes", false}, EVENT_VOLUME},
    [WORLD_STORAGE_CLASSES] = {{"storage.k8s.io", "v1", "storageclasses", false},
                               EVENT_VOLUME},
    [WORLD_CSI_NODES] = {{"storage.k8s.io", "v1", "csinodes", false}, EVENT_VOLUME},
    [WORLD_BUDGETS] = {{"policy", "v1", "poddisruptionbudgets", true}, EVENT_KINDS},
};

static void on_namespace(void *ctx, const struct object *old, const struct object *now)
{
    sched_tell(ctx, EVENT_NAMESPACE_LABELS, old, now);
}

static void on_volume(void *ctx, const struct object *old, const struct object *now)
{
    if (now)
        sched_tell(ctx, EVENT_VOLUME, old, now);
}

static void on_nothing(void *ctx, const struct object *old, const struct object *now)
{
    (void)ctx, (void)old, (void)now;
}

static void watch_other(struct scheduler *s, int kind)
{
    static const struct informer_ops NAMESPACE = {on_namespace, NULL, on_trouble},
                                     VOLUME = {on_volume, NULL, on_trouble},
                                     NOTHING = {on_nothing, NULL, on_trouble};
    const struct other *o = &OTHERS[kind];
    const struct informer_ops *ops = o->event == EVENT_VOLUME             ? &VOLUME
                                     : o->event == EVENT_NAMESPACE_LABELS ? &NAMESPACE
                                                                          : &NOTHING;
    struct informer_opts opts = {.kind = o->kind};
    if (kind == WORLD_NAMESPACES)
        opts.objects = (struct object_opts){.view = labels_view_new, .drop_doc = true};
    s->lists[kind] = informer_new(s->client, &opts, ops, s);
    s->world.lists[kind] = (struct lister){lister_get, lister_each, s->lists[kind]};
}

void watch_start(struct scheduler *s)
{
    static const struct informer_ops POD = {on_pod, NULL, on_trouble},
                                     NODE = {on_node, NULL, on_trouble},
                                     GROUP = {on_group, NULL, on_trouble};
    struct informer_opts pods = {
        .kind = {"", "v1", "pods", true},
        .fields = "status.phase!=Succeeded,status.phase!=Failed",
        .objects = {.view = pod_info_new},
    };
    struct informer_opts nodes = {
        .kind = {"", "v1", "nodes", false},
        .objects = {.view = node_info_new, .drop_doc = true},
    };
    struct informer_opts groups = {
        .kind = sched_group_kind,
        .objects = {.view = group_info_new},
    };
    cache_init(&s->world.cache);
    for (int i = 0; i < WORLD_KINDS; i++)
        watch_other(s, i);
    if (api_gate(&s->opts.gates, API_GATE_GenericWorkload))
        s->groups = informer_new(s->client, &groups, &GROUP, s);
    s->nodes = informer_new(s->client, &nodes, &NODE, s);
    s->pods = informer_new(s->client, &pods, &POD, s);
}

bool watch_synced(const struct scheduler *s)
{
    for (int i = 0; i < WORLD_KINDS; i++)
        if (!informer_synced(s->lists[i]))
            return false;
    if (s->groups && !informer_synced(s->groups))
        return false;
    return informer_synced(s->nodes) && informer_synced(s->pods);
}

void watch_stop(struct scheduler *s)
{
    informer_free(s->pods);
    informer_free(s->nodes);
    if (s->groups)
        informer_free(s->groups);
    for (int i = 0; i < WORLD_KINDS; i++)
        informer_free(s->lists[i]);
}
