/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "base/mem.h"
#include "control/node_life_inner.h"

/* As upstream: between two nodes of a zone that are tainted, in ms; a zone is in partial
 * disruption when more than SMALL nodes and more than 55 % are not ready; large ones go
 * on slowly then. */
enum { PERIOD_MS = 10000, SLOW_MS = 100000, LATER_MS = 5000, SMALL = 2, LARGE = 50 };

static const char NOT_READY[] = "node.kubernetes.io/not-ready",
                  UNREACHABLE[] = "node.kubernetes.io/unreachable";

static const struct {
    const char *condition, *status, *key;
} TAINTS[] = {
    {"Ready", "False", NOT_READY},
    {"Ready", "Unknown", UNREACHABLE},
    {"MemoryPressure", "True", "node.kubernetes.io/memory-pressure"},
    {"DiskPressure", "True", "node.kubernetes.io/disk-pressure"},
    {"NetworkUnavailable", "True", "node.kubernetes.io/network-unavailable"},
    {"PIDPressure", "True", "node.kubernetes.io/pid-pressure"},
};
enum { NTAINTS = sizeof TAINTS / sizeof *TAINTS };
static const char UNSCHEDULABLE[] = "node.kubernetes.io/unschedulable";

/* ---- zones ---- */

static struct str zone_of(const struct doc *node, struct arena *a)
{
    const struct doc *labels = doc_path(node, "metadata.labels");
    return arena_printf(a, "%.*s/%.*s",
                        STR_ARG(doc_get_text(labels, "topology.kubernetes.io/region")),
                        STR_ARG(doc_get_text(labels, "topology.kubernetes.io/zone")));
}

struct census {
    struct str zone;
    uint32_t nodes, down; /* of the zone */
    bool any_up;          /* of all */
    struct arena a;
};

static void count(void *ctx, const struct object *o)
{
    struct census *c = ctx;
    bool up = str_is(node_ready(o->doc), "True");
    if (doc_get(doc_path(o->doc, "metadata.labels"),
                "node.kubernetes.io/exclude-disruption"))
        return;
    c->any_up |= up;
    if (!str_eq(zone_of(o->doc, &c->a), c->zone))
        return;
    c->nodes++;
    c->down += !up;
}

static struct census take_census(struct work *w, const struct doc *node)
{
    struct census c = {.zone = zone_of(node, w->a)};
    arena_init(&c.a);
    informer_each(reconciler_watched(reconciler_of(w), NODE_LIFE_NODES), count, &c);
    arena_fini(&c.a);
    return c;
}

/* Between two nodes; 0: none is tainted now. */
static uint64_t pace(const struct census *c)
{
    bool partial =
        c->down > SMALL && c->down < c->nodes && c->down * 100 >= c->nodes * 55;
    if (!c->any_up)
        return 0;
    if (!partial)
        return PERIOD_MS;
    return c->nodes > LARGE ? SLOW_MS : 0;
}

static struct zone *find_zone(struct node_life *n, struct str name)
{
    struct strmap_entry *e = strmap_find(&n->zones, name);
    if (e)
        return e->value.ptr;
    struct zone *z = mem_zalloc(sizeof *z);
    z->name = mem_dup(name.p, name.n);
    strmap_put(&n->zones, (struct str){z->name, name.n}, NULL)->value.ptr = z;
    return z;
}

/* Whether it is a node's turn; else when to ask again. */
static bool take_turn(struct work *w, const struct doc *node)
{
    struct census c = take_census(w, node);
    uint64_t now = net_now_ms(client_loop(reconciler_client(reconciler_of(w)))),
             ms = pace(&c);
    struct zone *z = find_zone(node_life_of(w), c.zone);
    if (ms && now >= z->next_ms) {
        z->next_ms = now + ms;
        return true;
    }
    w->again_ms = ms ? z->next_ms - now : LATER_MS;
    return false;
}

/* ---- taints ---- */

static bool is_taint(const struct doc *t, const char *key, const char *effect)
{
    return doc_is_string(doc_get(t, "key"), key) &&
           doc_is_string(doc_get(t, "effect"), effect);
}

static const struct doc *find_taint(const struct doc *node, const char *key,
                                    const char *effect)
{
    const struct doc *list = doc_path(node, "spec.taints");
    for (uint32_t i = 0; list && list->type == DOC_LIST && i < list->n; i++)
        if (is_taint(&list->items[i], key, effect))
            return &list->items[i];
    return NULL;
}

/* Of those that this controller gives and takes. */
static bool is_own(const struct doc *t)
{
    bool own = is_taint(t, NOT_READY, "NoExecute") ||
               is_taint(t, UNREACHABLE, "NoExecute") ||
               is_taint(t, UNSCHEDULABLE, "NoSchedule");
    for (int i = 0; i < NTAINTS && !own; i++)
        own = is_taint(t, TAINTS[i].key, "NoSchedule");
    return own;
}

/* As it is there, or new. */
static void want(struct work *w, struct doc *list, const struct doc *node,
                 const char *key, const char *effect)
{
    const struct doc *had = find_taint(node, key, effect);
    struct doc t = doc_make_map();
    if (had) {
        doc_append(w->a, list, *had);
        return;
    }
    doc_set_text(w->a, &t, "key", str_from(key));
    doc_set_text(w->a, &t, "effect", str_from(effect));
    doc_set_text(w->a, &t, "timeAdded", node_life_now(w));
    doc_append(w->a, list, t);
}

static void want_unscheduled(struct work *w, struct doc *list, const struct doc *node)
{
    bool cordoned = false;
    for (int i = 0; i < NTAINTS; i++) {
        const struct doc *c = node_condition(node, TAINTS[i].condition);
        if (c && doc_is_string(doc_get(c, "status"), TAINTS[i].status))
            want(w, list, node, TAINTS[i].key, "NoSchedule");
    }
    doc_get_bool(doc_get(node, "spec"), "unschedulable", &cordoned);
    if (cordoned)
        want(w, list, node, UNSCHEDULABLE, "NoSchedule");
}

/* One of the two takes the other's place at once; the first waits for its turn, and none
 * is left when every node is down. The turn is taken once for all rounds of the work. */
static void want_evicting(struct work *w, struct doc *list, const struct doc *node)
{
    struct str ready = node_ready(node);
    const char *key = str_is(ready, "False") ? NOT_READY : UNREACHABLE;
    bool had = find_taint(node, NOT_READY, "NoExecute") ||
               find_taint(node, UNREACHABLE, "NoExecute");
    if (!ready.n || str_is(ready, "True") || node_life_of(w)->all_down)
        return;
    if (had || w->steps.asked || take_turn(w, node))
        want(w, list, node, key, "NoExecute");
}

static bool same(const struct doc *node, const struct doc *wanted)
{
    const struct doc *had = doc_path(node, "spec.taints");
    uint32_t n = had && had->type == DOC_LIST ? had->n : 0;
    bool all = n == wanted->n;
    for (uint32_t i = 0; all && i < n; i++) {
        bool found = false;
        for (uint32_t k = 0; k < n && !found; k++)
            found = doc_equal(&had->items[i], &wanted->items[k]);
        all = found;
    }
    return all;
}

static enum progress write_taints(struct work *w, const struct object *node,
                                  const struct doc *list)
{
    static const struct client_kind NODE = {"", "v1", "nodes", false};
    const struct client_answer *a;
    struct doc d = doc_make_map(), meta = doc_make_map(), spec = doc_make_map();
    doc_set_text(w->a, &meta, "resourceVersion", node->version);
    doc_set(w->a, &spec, "taints", *list);
    doc_set(w->a, &d, "metadata", meta);
    doc_set(w->a, &d, "spec", spec);
    enum progress p =
        work_ask(w, "PATCH", "application/merge-patch+json",
                 client_path(&NODE, STR_NONE, node->name, NULL, w->a), &d, &a);
    if (p != PROGRESS_DONE || a->ok || a->status == 404)
        return p;
    return a->status == 409 ? PROGRESS_FAILED : work_fail(w, "%s", a->message);
}

enum progress node_life_taint(struct work *w, const struct object *node)
{
    const struct doc *had = doc_path(node->doc, "spec.taints");
    struct doc list = doc_make_list();
    for (uint32_t i = 0; had && had->type == DOC_LIST && i < had->n; i++)
        if (!is_own(&had->items[i]))
            doc_append(w->a, &list, had->items[i]);
    want_unscheduled(w, &list, node->doc);
    want_evicting(w, &list, node->doc);
    return same(node->doc, &list) ? PROGRESS_DONE : write_taints(w, node, &list);
}
