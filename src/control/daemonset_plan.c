/* SPDX-License-Identifier: Apache-2.0 */
/* Which pods of a daemon set are to be deleted, and which nodes get one. */
#include <stdlib.h>

#include "base/mem.h"
#include "base/vec.h"
#include "control/daemonset_inner.h"
#include "control/fields.h"

enum { FIRST_MS = 1000, LONGEST_MS = 900000 };

struct daemon_failure {
    uint64_t since_ms, wait_ms;
};

static int64_t scaled(const struct daemon *d, const char *field, int64_t n)
{
    struct arena *a = d->s->a;
    const struct doc *set = d->s->owner->doc;
    bool rolling = str_is(field_text(set, "spec.updateStrategy.type"), "RollingUpdate");
    struct str path = arena_printf(a, "spec.updateStrategy.rollingUpdate.%s", field);
    return rolling ? field_scaled(doc_path(set, path.p), n, true) : 0;
}

static bool is_available(const struct daemon *d, const struct object *pod)
{
    int64_t min_ready = field_int(d->s->owner->doc, "spec.minReadySeconds", 0);
    return pod_is_available(pod->doc, min_ready, d->s->now, NULL);
}

static struct daemon_plan *new_plan(struct daemon *d)
{
    struct daemon_plan *p = ARENA_NEW(d->s->a, struct daemon_plan);
    p->bare = ARENA_ARRAY(d->s->a, const struct daemon_node *, d->nnodes);
    return p;
}

static void doom(struct daemon *d, struct daemon_plan *p, const struct object *pod)
{
    vec_push_in(d->s->a, &p->doomed, pod);
}

static void fill(struct daemon_plan *p, const struct daemon_node *n)
{
    p->bare[p->nbare++] = n;
}

/* ---- pods that ended ---- */

/* A pod that its node refuses again and again is not made anew all the time. */
static uint64_t wait_for_failed(struct daemon *d, const struct daemon_node *n)
{
    struct daemonsets *all = d->all;
    uint64_t now = net_now_ms(client_loop(shared_client(all->shared)));
    struct str key =
        arena_printf(d->s->a, "%.*s/%.*s", STR_ARG(d->s->owner->key), STR_ARG(n->name));
    struct strmap_entry *e = strmap_find(&all->failures, key);
    if (!e) {
        key.p = mem_dup(key.p, key.n);
        e = strmap_put(&all->failures, key, NULL);
        e->value.ptr = mem_zalloc(sizeof(struct daemon_failure));
    }
    struct daemon_failure *f = e->value.ptr;
    if (f->wait_ms && now - f->since_ms < f->wait_ms)
        return f->wait_ms - (now - f->since_ms);
    bool forgotten = !f->wait_ms || now - f->since_ms > 2 * LONGEST_MS;
    f->wait_ms = forgotten ? FIRST_MS : f->wait_ms * 2;
    f->wait_ms = f->wait_ms > LONGEST_MS ? LONGEST_MS : f->wait_ms;
    f->since_ms = now;
    return 0;
}

static void drop_failed(struct daemon *d, struct daemon_plan *p,
                        const struct daemon_node *n, const struct object *pod)
{
    uint64_t wait = wait_for_failed(d, n);
    if (wait) {
        p->again_ms = p->again_ms && p->again_ms < wait ? p->again_ms : wait;
        return;
    }
    daemon_tell(
        d, "Warning", "FailedDaemonPod",
        arena_printf(d->s->a,
                     "Found failed daemon pod %.*s on node %.*s, will try to kill "
                     "it",
                     STR_ARG(pod->key), STR_ARG(n->name)));
    doom(d, p, pod);
}

static void drop_succeeded(struct daemon *d, struct daemon_plan *p,
                           const struct daemon_node *n, const struct object *pod)
{
    daemon_tell(d, "Normal", "SucceededDaemonPod",
                arena_printf(d->s->a,
                             "Found succeeded daemon pod %.*s on node %.*s, will try to "
                             "delete it",
                             STR_ARG(pod->key), STR_ARG(n->name)));
    doom(d, p, pod);
}

/* ---- nodes ---- */

static void find_running(struct daemon *d, struct daemon_plan *p,
                         const struct daemon_node *n, struct objects *running)
{
    for (uint32_t i = 0; i < n->pods.n; i++) {
        const struct object *pod = n->pods.v[i];
        const struct doc *phase = doc_path(pod->doc, "status.phase");
        if (field_deleted(pod->doc))
            continue;
        if (doc_is_string(phase, "Failed"))
            drop_failed(d, p, n, pod);
        else if (doc_is_string(phase, "Succeeded"))
            drop_succeeded(d, p, n, pod);
        else
            vec_push_in(d->s->a, running, pod);
    }
}

/* Two may run beside each other while the new one is not available and the old one is
 * ready. */
static void prune_surge(struct daemon *d, struct daemon_plan *p,
                        const struct objects *running)
{
    const struct object *fresh = NULL, *old = NULL;
    for (uint32_t i = 0; i < running->n; i++) {
        const struct object *pod = running->v[i];
        bool now = str_eq(field_label(pod->doc, "controller-revision-hash"), d->hash);
        if (now && !fresh)
            fresh = pod;
        else if (!now && !old)
            old = pod;
        else
            doom(d, p, pod);
    }
    if (fresh && old && (!pod_is_ready(old->doc, NULL) || is_available(d, fresh)))
        doom(d, p, old);
}

static void prune(struct daemon *d, struct daemon_plan *p, const struct daemon_node *n)
{
    struct objects running = {0};
    bool surge = scaled(d, "maxSurge", 1) > 0;
    find_running(d, p, n, &running);
    if (surge && running.n == 0 && n->should)
        fill(p, n);
    else if (surge && running.n > 1)
        prune_surge(d, p, &running);
    for (uint32_t i = 1; !surge && i < running.n; i++)
        doom(d, p, running.v[i]);
}

static void empty(struct daemon *d, struct daemon_plan *p, const struct daemon_node *n)
{
    for (uint32_t i = 0; i < n->pods.n; i++)
        if (!field_deleted(n->pods.v[i]->doc))
            doom(d, p, n->pods.v[i]);
}

/* Of a node that is not there: pods on it are pod garbage collection's. */
static void forsake(struct daemon *d, struct daemon_plan *p, const struct daemon_node *n)
{
    for (uint32_t i = 0; i < n->pods.n; i++)
        if (!field_text(n->pods.v[i]->doc, "spec.nodeName").n)
            doom(d, p, n->pods.v[i]);
}

struct daemon_plan *daemon_plan_nodes(struct daemon *d)
{
    struct daemon_plan *p = new_plan(d);
    for (uint32_t i = 0; i < d->nnodes; i++) {
        const struct daemon_node *n = &d->nodes[i];
        if (!n->exists)
            forsake(d, p, n);
        else if (n->should && !n->pods.n)
            fill(p, n);
        else if (n->may_stay)
            prune(d, p, n);
        else
            empty(d, p, n);
    }
    return p;
}

/* ---- updates ---- */

struct pair { /* of a node */
    const struct object *fresh, *old;
};

/* false: it has several of one sort. */
static bool find_pair(const struct daemon *d, const struct daemon_node *n,
                      struct pair *out)
{
    *out = (struct pair){NULL, NULL};
    for (uint32_t i = 0; i < n->pods.n; i++) {
        const struct object *pod = n->pods.v[i], **place;
        if (field_deleted(pod->doc))
            continue;
        place = daemon_pod_is_updated(d, pod) ? &out->fresh : &out->old;
        if (*place)
            return false;
        *place = pod;
    }
    return true;
}

static bool counts(const struct daemon_node *n)
{
    return n->should || n->pods.n;
}

/* Old pods go, as long as few enough nodes are without an available one. */
static void replace(struct daemon *d, struct daemon_plan *p, int64_t max)
{
    struct objects candidates = {0};
    int64_t missing = 0;
    for (uint32_t i = 0; i < d->nnodes; i++) {
        const struct daemon_node *n = &d->nodes[i];
        struct pair pair;
        if (!counts(n))
            continue;
        if (!find_pair(d, n, &pair) || !pair.fresh == !pair.old) {
            missing++;
        } else if (pair.fresh) {
            missing += !is_available(d, pair.fresh);
        } else if (!is_available(d, pair.old)) {
            doom(d, p, pair.old);
            missing++;
        } else {
            vec_push_in(d->s->a, &candidates, pair.old);
        }
    }
    for (uint32_t i = 0; i < candidates.n && missing < max; i++, missing++)
        doom(d, p, candidates.v[i]);
}

struct surge {
    const struct daemon_node **nodes; /* whose old pod is available */
    uint32_t nnodes;
    struct objects leaving; /* on nodes that should have none */
    int64_t running, available;
};

static void look_for_surge(struct daemon *d, struct daemon_plan *p, struct surge *g,
                           const struct daemon_node *n)
{
    struct pair pair;
    if (!find_pair(d, n, &pair)) {
        g->running++;
        return;
    }
    const struct object *first = pair.old ? pair.old : pair.fresh;
    bool available = first && is_available(d, first);
    g->available += available;
    if (!pair.old)
        return;
    if (pair.fresh && is_available(d, pair.fresh))
        doom(d, p, pair.old);
    else if (pair.fresh)
        g->running++;
    else if (!available && !n->should)
        doom(d, p, pair.old);
    else if (!available)
        fill(p, n);
    else if (!n->should)
        vec_push_in(d->s->a, &g->leaving, pair.old);
    else
        g->nodes[g->nnodes++] = n;
}

/* New pods come beside old ones that are available, so many at a time. */
static void surge(struct daemon *d, struct daemon_plan *p, int64_t max, int64_t wanted)
{
    struct surge g = {.nodes =
                          ARENA_ARRAY(d->s->a, const struct daemon_node *, d->nnodes)};
    for (uint32_t i = 0; i < d->nnodes; i++)
        if (counts(&d->nodes[i]))
            look_for_surge(d, p, &g, &d->nodes[i]);
    for (uint32_t i = 0; i < g.leaving.n && i < g.available - wanted; i++)
        doom(d, p, g.leaving.v[i]);
    for (uint32_t i = 0; i < g.nnodes && g.running < max; i++, g.running++)
        fill(p, g.nodes[i]);
}

struct daemon_plan *daemon_plan_update(struct daemon *d)
{
    struct daemon_plan *p = new_plan(d);
    int64_t wanted = 0, max_surge, max_missing;
    for (uint32_t i = 0; i < d->nnodes; i++)
        wanted += d->nodes[i].should;
    max_surge = scaled(d, "maxSurge", wanted);
    max_missing = scaled(d, "maxUnavailable", wanted);
    if (max_surge)
        surge(d, p, max_surge, wanted);
    else
        replace(d, p, max_missing ? max_missing : wanted > 0);
    return p;
}
