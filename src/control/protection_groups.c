/* SPDX-License-Identifier: Apache-2.0 */
/* Groups of pods are kept while a pod of them is yet to end. */
#include "client/index.h"
#include "control/fields.h"
#include "control/protection.h"

enum { GROUPS, PODS };

static const char FINALIZER[] = "scheduling.k8s.io/podgroup-protection";

struct member {       /* the view of a pod */
    struct str group; /* "NAMESPACE/NAME"; empty: none */
    bool ended;
};

static const void *member_view(const struct doc *d, struct arena *a, struct err *e)
{
    struct member *m = ARENA_NEW(a, struct member);
    struct str group = field_text(d, "spec.schedulingGroup.podGroupName"),
               phase = field_text(d, "status.phase");
    (void)e;
    if (group.n)
        m->group = arena_printf(a, "%.*s/%.*s", STR_ARG(field_meta(d, "namespace")),
                                STR_ARG(group));
    m->ended = str_is(phase, "Succeeded") || str_is(phase, "Failed");
    return m;
}

static void by_group(struct index *x, const struct object *o)
{
    const struct member *m = o->view;
    if (m->group.n && !m->ended)
        index_emit(x, m->group);
}

static enum progress sync(struct work *w)
{
    static const struct client_kind GROUP = {"scheduling.k8s.io", "v1beta1", "podgroups",
                                             true};
    struct reconciler *r = reconciler_of(w);
    const struct object *o = informer_get(reconciler_watched(r, GROUPS), w->key);
    uint32_t n;
    if (!o || !protection_holds(o->doc, FINALIZER))
        return PROGRESS_DONE;
    index_find(reconciler_state(r), w->key, &n);
    return n ? PROGRESS_DONE : protection_remove(w, &GROUP, o, FINALIZER);
}

static void look_at_group(struct reconciler *r, const struct object *pod)
{
    const struct member *m = pod->view;
    if (m->group.n)
        reconciler_add(r, m->group);
}

static void on_pod(struct reconciler *r, const struct object *old,
                   const struct object *now)
{
    index_change(reconciler_state(r), old, now);
    if (old && (!now || !str_eq(old->uid, now->uid)))
        look_at_group(r, old);
    if (now && ((const struct member *)now->view)->ended)
        look_at_group(r, now);
}

static void init(struct reconciler *r)
{
    index_init(reconciler_state(r), by_group);
}

static void fini(struct reconciler *r)
{
    index_fini(reconciler_state(r));
}

const struct reconciler_def pod_group_protection = {
    .work = sync,
    .state = sizeof(struct index),
    .init = init,
    .fini = fini,
    .watches =
        {
            {.kind = {"scheduling.k8s.io", "v1beta1", "podgroups", true}},
            {.kind = {"", "v1", "pods", true},
             .changed = on_pod,
             .objects = {.view = member_view, .drop_doc = true}},
        },
};
