/* SPDX-License-Identifier: Apache-2.0 */
#include "control/taint_eviction.h"

#include <stdlib.h>

#include "api/view_read.h"
#include "base/map.h"
#include "base/mem.h"
#include "control/pod_brief.h"
#include "control/pod_end.h"

enum { PODS, NODES };
enum { MAX_SECONDS = 1 << 30 };

struct due { /* a pod that is to go */
    char *key;
    uint64_t since_ms;
};

struct state {
    struct strmap due;    /* key of a pod -> struct due */
    struct index by_node; /* pods */
};

/* ---- nodes: their NoExecute taints are all that is kept ---- */

struct node_taints {
    const struct view_taint *v;
    uint32_t n;
};

static const void *view_node(const struct doc *d, struct arena *a, struct err *e)
{
    struct node_taints *t = ARENA_NEW(a, struct node_taints);
    struct view_reader r = {.a = a, .e = e};
    uint32_t all;
    const struct view_taint *v =
        view_read_taints(&r, view_list(&r, doc_get(d, "spec"), "taints"), &all);
    struct view_taint *kept = ARENA_ARRAY(a, struct view_taint, all);
    for (uint32_t i = 0; v && i < all; i++)
        if (str_is(v[i].effect, "NoExecute"))
            kept[t->n++] = v[i];
    t->v = kept;
    return r.failed ? NULL : t;
}

static const struct node_taints *taints_of(struct reconciler *r, struct str node)
{
    static const struct node_taints NONE;
    const struct object *o = informer_get(reconciler_watched(r, NODES), node);
    return o ? o->view : &NONE;
}

/* ---- when ---- */

/* The first toleration that fits a taint counts; NULL: none does. */
static const struct view_toleration *find_toleration(const struct pod_brief *p,
                                                     const struct view_taint *t)
{
    for (uint32_t i = 0; i < p->ntolerations; i++)
        if (view_tolerates(&p->tolerations[i], t))
            return &p->tolerations[i];
    return NULL;
}

/* For how many seconds a pod stays; below zero: as long as it likes. */
static int64_t tolerated_s(const struct pod_brief *p, const struct node_taints *taints)
{
    int64_t least = -1;
    for (uint32_t i = 0; i < taints->n; i++) {
        const struct view_toleration *t = find_toleration(p, &taints->v[i]);
        if (!t)
            return 0;
        if (!t->has_seconds)
            continue;
        int64_t s = t->seconds < 0 ? 0 : t->seconds;
        s = s > MAX_SECONDS ? MAX_SECONDS : s;
        least = least < 0 || s < least ? s : least;
    }
    return least;
}

static struct due *find_due(struct reconciler *r, struct str key)
{
    struct state *s = reconciler_state(r);
    const struct strmap_entry *e = strmap_find(&s->due, key);
    return e ? e->value.ptr : NULL;
}

static struct due *note_due(struct reconciler *r, struct str key)
{
    struct state *s = reconciler_state(r);
    struct due *d = find_due(r, key);
    if (d)
        return d;
    d = mem_zalloc(sizeof *d);
    d->key = mem_dup(key.p, key.n);
    d->since_ms = net_now_ms(client_loop(reconciler_client(r)));
    strmap_put(&s->due, (struct str){d->key, key.n}, NULL)->value.ptr = d;
    return d;
}

static void forget(struct reconciler *r, struct str key)
{
    struct state *s = reconciler_state(r);
    struct due *d = find_due(r, key);
    if (!d)
        return;
    strmap_remove(&s->due, key);
    free(d->key);
    free(d);
}

/* ---- work: a pod ---- */

/* Of the pod that the key names, which may be gone. */
static void tell(struct work *w, const char *what)
{
    struct doc d = doc_make_map(), meta = doc_make_map();
    struct event_about about = {"v1", "Pod", &d};
    size_t slash = str_find_byte(w->key, '/', 0);
    doc_set_text(w->a, &meta, "namespace", str_sub(w->key, 0, slash));
    doc_set_text(w->a, &meta, "name", str_sub(w->key, slash + 1, w->key.n));
    doc_set(w->a, &d, "metadata", meta);
    events_tell(reconciler_events(reconciler_of(w)), &about, "Normal",
                "TaintManagerEviction",
                arena_printf(w->a, "%s Pod %.*s", what, STR_ARG(w->key)));
}

/* Told when the first request goes out. */
static enum progress evict(struct work *w, const struct object *o)
{
    static const struct pod_end HOW = {.reason = "DeletionByTaintManager",
                                       .message =
                                           "Taint manager: deleting due to NoExecute "
                                           "taint"};
    if (!w->steps.asked)
        tell(w, "Marking for deletion");
    return pod_end(w, o->namespace, o->name, o->uid, &HOW);
}

/* It need not go, or goes already. */
static enum progress stay(struct work *w, const struct object *o)
{
    struct reconciler *r = reconciler_of(w);
    if (find_due(r, w->key) && !(o && pod_brief(o)->deleted))
        tell(w, "Cancelling deletion of");
    forget(r, w->key);
    return PROGRESS_DONE;
}

static enum progress sync(struct work *w)
{
    struct reconciler *r = reconciler_of(w);
    const struct object *o = informer_get(reconciler_watched(r, PODS), w->key);
    const struct pod_brief *p = o ? pod_brief(o) : NULL;
    if (!p || p->deleted || !p->node.n)
        return stay(w, o);
    int64_t seconds = tolerated_s(p, taints_of(r, p->node));
    if (seconds < 0)
        return stay(w, o);
    if (seconds == 0)
        return evict(w, o);
    uint64_t now = net_now_ms(client_loop(reconciler_client(r))),
             at = note_due(r, w->key)->since_ms + (uint64_t)seconds * 1000;
    if (at > now) {
        w->again_ms = at - now;
        return PROGRESS_DONE;
    }
    return evict(w, o);
}

/* ---- events ---- */

static void on_pod(struct reconciler *r, const struct object *old,
                   const struct object *now)
{
    struct state *s = reconciler_state(r);
    index_change(&s->by_node, old, now);
    const struct object *o = now ? now : old;
    if (find_due(r, o->key) || (now && taints_of(r, pod_brief(now)->node)->n))
        reconciler_add(r, o->key);
}

static void add_pods_of(struct reconciler *r, struct str node)
{
    const struct state *s = reconciler_state(r);
    uint32_t n;
    const struct str *keys = index_find(&s->by_node, node, &n);
    for (uint32_t i = 0; i < n; i++)
        reconciler_add(r, keys[i]);
}

static bool has_taints(const struct object *o)
{
    return o && ((const struct node_taints *)o->view)->n > 0;
}

static void on_node(struct reconciler *r, const struct object *old,
                    const struct object *now)
{
    if (has_taints(old) || has_taints(now))
        add_pods_of(r, (now ? now : old)->name);
}

static void add_tainted(void *ctx, const struct object *o)
{
    if (has_taints(o))
        add_pods_of(ctx, o->name);
}

static void look_at_all(struct reconciler *r)
{
    informer_each(reconciler_watched(r, NODES), add_tainted, r);
}

static void init(struct reconciler *r)
{
    struct state *s = reconciler_state(r);
    index_init(&s->by_node, pod_brief_by_node);
}

static void fini(struct reconciler *r)
{
    struct state *s = reconciler_state(r);
    index_fini(&s->by_node);
    strmap_each(&s->due, e)
    {
        struct due *d = e->value.ptr;
        free(d->key);
        free(d);
    }
    strmap_release(&s->due);
}

const struct reconciler_def taint_eviction = {
    .component = "taint-eviction-controller",
    .work = sync,
    .workers = 8,
    .all = look_at_all,
    .state = sizeof(struct state),
    .init = init,
    .fini = fini,
    .watches =
        {
            {.kind = {"", "v1", "pods", true},
             .changed = on_pod,
             .objects = {.view = pod_brief_view, .drop_doc = true}},
            {.kind = {"", "v1", "nodes", false},
             .changed = on_node,
             .objects = {.view = view_node, .drop_doc = true}},
        },
};
