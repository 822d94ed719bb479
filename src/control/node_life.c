/* SPDX-License-Identifier: Apache-2.0 */
#include "control/node_life.h"

#include <stdlib.h>
#include <time.h>

#include "api/timestamp.h"
#include "base/mem.h"
#include "control/node_life_inner.h"
#include "control/pod_brief.h"

/* For how long a node may be silent, and one that has never said anything. */
enum { GRACE_MS = 50000, STARTUP_MS = 60000 };

static uint64_t now_ms(const struct reconciler *r)
{
    return net_now_ms(client_loop(reconciler_client(r)));
}

/* ---- reading nodes ---- */

const struct doc *node_condition(const struct doc *node, const char *type)
{
    const struct doc *list = doc_path(node, "status.conditions");
    for (uint32_t i = 0; list && list->type == DOC_LIST && i < list->n; i++)
        if (doc_is_string(doc_get(&list->items[i], "type"), type))
            return &list->items[i];
    return NULL;
}

struct str node_ready(const struct doc *node)
{
    return doc_get_text(node_condition(node, "Ready"), "status");
}

struct kept {            /* of work, in its arena */
    struct object *node; /* as it was when the work began */
    int64_t now_s;
};

static struct kept *kept_of(struct work *w)
{
    struct kept *k = w->kept;
    if (!k) {
        w->kept = k = ARENA_NEW(w->a, struct kept);
        k->now_s = time(NULL);
    }
    return k;
}

static void release_kept(void *kept)
{
    struct kept *k = kept;
    object_unref(k->node);
}

struct str node_life_now(struct work *w)
{
    return timestamp_print(kept_of(w)->now_s, 0, false, w->a);
}

/* ---- signs of life ---- */

static struct node_health *find_health(const struct node_life *n, struct str node)
{
    const struct strmap_entry *e = strmap_find(&n->health, node);
    return e ? e->value.ptr : NULL;
}

static struct node_health *make_health(struct reconciler *r, struct str node)
{
    struct node_life *n = reconciler_state(r);
    struct node_health *h = find_health(n, node);
    if (h)
        return h;
    h = mem_zalloc(sizeof *h);
    h->name = mem_dup(node.p, node.n);
    h->seen_ms = now_ms(r);
    strmap_put(&n->health, (struct str){h->name, node.n}, NULL)->value.ptr = h;
    return h;
}

static void health_free(struct node_health *h)
{
    free(h->name);
    free(h->heartbeat);
    free(h);
}

static void drop_health(struct reconciler *r, struct str node)
{
    struct node_life *n = reconciler_state(r);
    struct node_health *h = find_health(n, node);
    if (!h)
        return;
    strmap_remove(&n->health, node);
    health_free(h);
}

/* A heartbeat that changes is one, whatever time it says: clocks differ. */
static void note_heartbeat(struct reconciler *r, const struct object *node)
{
    struct node_health *h = make_health(r, node->name);
    struct str beat =
        doc_get_text(node_condition(node->doc, "Ready"), "lastHeartbeatTime");
    if (h->heartbeat && str_is(beat, h->heartbeat))
        return;
    free(h->heartbeat);
    h->heartbeat = mem_dup(beat.p, beat.n);
    h->seen_ms = now_ms(r);
}

static uint64_t grace_of(const struct reconciler *r, const struct doc *node)
{
    const struct control_settings *s = reconciler_settings(r);
    if (node_ready(node).n)
        return s->grace_ms ? s->grace_ms : GRACE_MS;
    return s->startup_ms ? s->startup_ms : STARTUP_MS;
}

/* ---- all of them ---- */

static void note_up(void *ctx, const struct object *o)
{
    bool *up = ctx;
    *up |= str_is(node_ready(o->doc), "True");
}

static void add_one(void *ctx, const struct object *o)
{
    reconciler_add(ctx, o->key);
}

/* When nobody was heard of, it was us: each node has its time again. */
static void look_who_is_up(struct reconciler *r)
{
    struct node_life *n = reconciler_state(r);
    bool up = false, was_down = n->all_down;
    informer_each(reconciler_watched(r, NODE_LIFE_NODES), note_up, &up);
    n->all_down = !up;
    if (was_down == n->all_down)
        return;
    strmap_each(&n->health, e)
    {
        struct node_health *h = e->value.ptr;
        h->seen_ms = was_down ? now_ms(r) : h->seen_ms;
    }
    informer_each(reconciler_watched(r, NODE_LIFE_NODES), add_one, r);
}

static void look_at_all(struct reconciler *r)
{
    look_who_is_up(r);
    informer_each(reconciler_watched(r, NODE_LIFE_NODES), add_one, r);
}

/* ---- work: "NODE", "pod:NS/NAME" ---- */

static enum progress sync_node(struct work *w, const struct object *node)
{
    struct reconciler *r = reconciler_of(w);
    const struct node_health *h = make_health(r, node->name);
    uint64_t now = now_ms(r), end = h->seen_ms + grace_of(r, node->doc);
    bool unknown = str_is(node_ready(node->doc), "Unknown");
    if (now >= end && !unknown)
        return node_life_lose(w, node); /* what follows from it comes with its change */
    enum progress p = node_life_taint(w, node);
    if (p == PROGRESS_DONE && !unknown && (!w->again_ms || end - now < w->again_ms))
        w->again_ms = end - now;
    return p;
}

static enum progress sync(struct work *w)
{
    struct reconciler *r = reconciler_of(w);
    struct kept *k = kept_of(w);
    if (str_starts(w->key, STR("pod:"))) {
        const struct object *pod = informer_get(reconciler_watched(r, NODE_LIFE_PODS),
                                                str_sub(w->key, 4, w->key.n));
        return pod ? node_life_mark_pod(w, pod) : PROGRESS_DONE;
    }
    const struct object *node =
        informer_get(reconciler_watched(r, NODE_LIFE_NODES), w->key);
    if (!k->node && node) {
        k->node = object_ref((struct object *)node);
        w->release = release_kept;
    }
    return k->node ? sync_node(w, k->node) : PROGRESS_DONE;
}

/* ---- events ---- */

static void tell(struct reconciler *r, const struct object *node, const char *reason,
                 struct str message)
{
    struct event_about about = {"v1", "Node", node->doc};
    if (reconciler_synced(r))
        events_tell(reconciler_events(r), &about, "Normal", reason, message);
}

static void tell_came(struct reconciler *r, const struct object *node, bool came)
{
    struct arena a;
    arena_init(&a);
    tell(r, node, came ? "RegisteredNode" : "RemovingNode",
         arena_printf(&a, "Node %.*s event: %s Node %.*s %s Controller",
                      STR_ARG(node->name), came ? "Registered" : "Removing",
                      STR_ARG(node->name), came ? "in" : "from"));
    arena_fini(&a);
}

static void mark_pods(struct reconciler *r, const struct object *node)
{
    const struct node_life *n = reconciler_state(r);
    struct arena a;
    uint32_t count;
    const struct str *keys = index_find(&n->pods_by_node, node->name, &count);
    arena_init(&a);
    tell(r, node, "NodeNotReady",
         arena_printf(&a, "Node %.*s status is now: NodeNotReady", STR_ARG(node->name)));
    for (uint32_t i = 0; i < count; i++)
        reconciler_add(r, arena_printf(&a, "pod:%.*s", STR_ARG(keys[i])));
    arena_fini(&a);
}

static void on_node(struct reconciler *r, const struct object *old,
                    const struct object *now)
{
    if (!now)
        drop_health(r, old->name);
    else
        note_heartbeat(r, now);
    if (!old || !now)
        tell_came(r, now ? now : old, now != NULL);
    struct str was = old ? node_ready(old->doc) : STR_NONE,
               is = now ? node_ready(now->doc) : STR_NONE;
    if (now && str_is(was, "True") && !str_is(is, "True"))
        mark_pods(r, now);
    if (reconciler_synced(r) && !str_eq(was, is))
        look_who_is_up(r);
    if (now)
        reconciler_add(r, now->key);
}

static const void *view_lease(const struct doc *d, struct arena *a, struct err *e)
{
    struct str *renewed = ARENA_NEW(a, struct str);
    (void)e;
    *renewed = arena_str(a, doc_get_text(doc_get(d, "spec"), "renewTime"));
    return renewed;
}

/* The lease of a node has its name. */
static void on_lease(struct reconciler *r, const struct object *old,
                     const struct object *now)
{
    if (!now ||
        (old && str_eq(*(const struct str *)old->view, *(const struct str *)now->view)))
        return;
    struct node_health *h = find_health(reconciler_state(r), now->name);
    if (h)
        h->seen_ms = now_ms(r);
}

static void on_pod(struct reconciler *r, const struct object *old,
                   const struct object *now)
{
    struct node_life *n = reconciler_state(r);
    index_change(&n->pods_by_node, old, now);
}

/* ---- life ---- */

static void init(struct reconciler *r)
{
    struct node_life *n = reconciler_state(r);
    index_init(&n->pods_by_node, pod_brief_by_node);
}

static void fini(struct reconciler *r)
{
    struct node_life *n = reconciler_state(r);
    index_fini(&n->pods_by_node);
    strmap_each(&n->health, e) health_free(e->value.ptr);
    strmap_release(&n->health);
    strmap_each(&n->zones, e)
    {
        struct zone *z = e->value.ptr;
        free(z->name);
        free(z);
    }
    strmap_release(&n->zones);
}

const struct reconciler_def node_life = {
    .component = "node-controller",
    .work = sync,
    .workers = 8,
    .all_ms = 60000,
    .all = look_at_all,
    .state = sizeof(struct node_life),
    .init = init,
    .fini = fini,
    .watches =
        {
            {.kind = {"", "v1", "nodes", false}, .changed = on_node},
            {.kind = {"coordination.k8s.io", "v1", "leases", true},
             .changed = on_lease,
             .namespace = "kube-node-lease",
             .objects = {.view = view_lease, .drop_doc = true}},
            {.kind = {"", "v1", "pods", true},
             .changed = on_pod,
             .objects = {.view = pod_brief_view, .drop_doc = true}},
        },
};
