/* SPDX-License-Identifier: Apache-2.0 */
#include "control/pod_garbage.h"

#include <stdlib.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/vec.h"
#include "control/pod_brief.h"
#include "control/pod_end.h"

/* As upstream: how often all is looked at, and for how long a node that is not known is
 * believed to come; pods that are kept. */
enum { PERIOD_MS = 20000, QUARANTINE_MS = 40000, KEPT_PODS = 12500 };
enum { PODS, NODES };

struct state {
    struct strmap missing; /* nodes with pods that are not there -> since, in ms */
};

static struct state *state_of(const struct work *w)
{
    return reconciler_state(reconciler_of(w));
}

static const struct doc *find_node(struct reconciler *r, struct str name)
{
    const struct object *o = informer_get(reconciler_watched(r, NODES), name);
    return o ? o->doc : NULL;
}

/* ---- why a pod is ended ---- */

static bool is_ready(const struct doc *node)
{
    const struct doc *list = doc_path(node, "status.conditions");
    for (uint32_t i = 0; list && list->type == DOC_LIST && i < list->n; i++)
        if (doc_is_string(doc_get(&list->items[i], "type"), "Ready"))
            return doc_is_string(doc_get(&list->items[i], "status"), "True");
    return false;
}

static bool is_out_of_service(const struct doc *node)
{
    const struct doc *list = doc_path(node, "spec.taints");
    for (uint32_t i = 0; list && list->type == DOC_LIST && i < list->n; i++)
        if (doc_is_string(doc_get(&list->items[i], "key"),
                          "node.kubernetes.io/out-of-service"))
            return node && !is_ready(node);
    return false;
}

static bool is_lost(const struct state *s, struct str node, uint64_t now)
{
    const struct strmap_entry *e = strmap_find(&s->missing, node);
    return e && now - e->value.u >= QUARANTINE_MS;
}

/* ---- work: "NS/NAME", and "old:NS/NAME" of one too many ---- */

/* A node that is lost is asked for: it may just not be known. */
static enum progress end_lost(struct work *w, const struct object *o)
{
    static const struct client_kind NODE = {"", "v1", "nodes", false};
    static const struct pod_end HOW = {"DeletionByPodGC", "PodGC: node no longer exists",
                                       true, true};
    const struct client_answer *a;
    struct str path = client_path(&NODE, STR_NONE, pod_brief(o)->node, NULL, w->a);
    enum progress p = work_ask_metadata(w, path, false, &a);
    if (p != PROGRESS_DONE || a->ok)
        return p;
    if (a->status != 404)
        return work_fail(w, "%s", a->message);
    return pod_end(w, o->namespace, o->name, o->uid, &HOW);
}

static enum progress sync(struct work *w)
{
    static const struct pod_end HOW = {.fail = true, .now = true};
    struct reconciler *r = reconciler_of(w);
    bool old = str_starts(w->key, STR("old:"));
    const struct object *o =
        informer_get(reconciler_watched(r, PODS), str_sub(w->key, old ? 4 : 0, w->key.n));
    if (!o)
        return PROGRESS_DONE;
    const struct pod_brief *p = pod_brief(o);
    const struct doc *node = find_node(r, p->node);
    bool unplaced = p->deleted && !p->node.n;
    if (unplaced || (old && p->ended) || (p->deleted && node && is_out_of_service(node)))
        return pod_end(w, o->namespace, o->name, o->uid, &HOW);
    if (p->node.n && !node &&
        is_lost(state_of(w), p->node, net_now_ms(client_loop(reconciler_client(r)))))
        return end_lost(w, o);
    return PROGRESS_DONE;
}

/* ---- looking at all ---- */

struct look {
    struct reconciler *r;
    VEC(const struct object *) ended;
};

static void note_missing(struct reconciler *r, struct str node)
{
    struct state *s = reconciler_state(r);
    if (find_node(r, node) || strmap_find(&s->missing, node))
        return;
    struct str own = {mem_dup(node.p, node.n), node.n};
    strmap_put(&s->missing, own, NULL)->value.u =
        net_now_ms(client_loop(reconciler_client(r)));
}

static void look_at(void *ctx, const struct object *o)
{
    struct look *l = ctx;
    const struct pod_brief *p = pod_brief(o);
    if (p->ended)
        vec_push(&l->ended, o);
    if (p->node.n)
        note_missing(l->r, p->node);
    if (p->deleted || (p->node.n && !find_node(l->r, p->node)))
        reconciler_add(l->r, o->key);
}

/* Those that kubelets evicted go first, since others were made for them; then the oldest.
 */
static int by_age(const void *a, const void *b)
{
    const struct object *x = *(const struct object *const *)a,
                        *y = *(const struct object *const *)b;
    const struct pod_brief *p = pod_brief(x), *q = pod_brief(y);
    if (p->evicted != q->evicted)
        return p->evicted ? -1 : 1;
    int c = str_cmp(p->created, q->created);
    return c ? c : str_cmp(x->name, y->name);
}

static void drop_old(struct look *l)
{
    int64_t kept = reconciler_settings(l->r)->terminated_pods;
    struct arena a;
    kept = kept ? kept : KEPT_PODS;
    if (kept < 0 || (int64_t)l->ended.n <= kept)
        return;
    arena_init(&a);
    qsort(l->ended.v, l->ended.n, sizeof *l->ended.v, by_age);
    for (size_t i = 0; i < l->ended.n - (size_t)kept; i++)
        reconciler_add(l->r, arena_printf(&a, "old:%.*s", STR_ARG(l->ended.v[i]->key)));
    arena_fini(&a);
}

static void look_at_all(struct reconciler *r)
{
    struct look l = {.r = r};
    informer_each(reconciler_watched(r, PODS), look_at, &l);
    drop_old(&l);
    vec_release(&l.ended);
}

static void on_pod(struct reconciler *r, const struct object *old,
                   const struct object *now)
{
    (void)old;
    if (now && pod_brief(now)->deleted)
        reconciler_add(r, now->key);
}

/* One that comes is missed no longer. */
static void on_node(struct reconciler *r, const struct object *old,
                    const struct object *now)
{
    struct state *s = reconciler_state(r);
    struct strmap_entry *e = strmap_find(&s->missing, (now ? now : old)->name);
    if (!e)
        return;
    char *own = (char *)e->key.p;
    strmap_remove(&s->missing, e->key);
    free(own);
}

static void forget_all(struct reconciler *r)
{
    struct state *s = reconciler_state(r);
    strmap_each(&s->missing, e) free((char *)e->key.p);
    strmap_release(&s->missing);
}

const struct reconciler_def pod_garbage = {
    .work = sync,
    .workers = 10,
    .all_ms = PERIOD_MS,
    .all = look_at_all,
    .state = sizeof(struct state),
    .fini = forget_all,
    .watches =
        {
            {.kind = {"", "v1", "pods", true},
             .changed = on_pod,
             .objects = {.view = pod_brief_view, .drop_doc = true}},
            {.kind = {"", "v1", "nodes", false}, .changed = on_node},
        },
};
