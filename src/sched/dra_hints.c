/* SPDX-License-Identifier: Apache-2.0 */
/* Which events may help which pods (spec 7.1). */
#include "api/claim_refs.h"
#include "sched/dra_inner.h"

struct search {
    struct str uid;
    bool found;
};

static void compare(void *ctx, const struct doc *entry, struct object *o)
{
    struct search *s = ctx;
    (void)entry;
    s->found |= str_eq(o->uid, s->uid);
}

/* false: a claim of the pod is not there, or not its own. */
static bool uses(struct dra *d, const struct object *pod, struct str uid, bool *found)
{
    struct search s = {.uid = uid};
    struct str why;
    struct arena a;
    arena_init(&a);
    bool ok = dra_each_claim(d, pod->doc, compare, &s, &a, &why);
    arena_fini(&a);
    *found = s.found;
    return ok;
}

static bool same_status(const struct object *a, const struct object *b)
{
    const struct doc *x = doc_get(a->doc, "status"), *y = doc_get(b->doc, "status");
    return x && y ? doc_equal(x, y) : !(x && x->n) && !(y && y->n);
}

static bool helps(struct dra *d, const struct object *pod, const struct object *old,
                  const struct object *now)
{
    bool used;
    if (!now)
        return !old || dra_is_allocated(old);
    if (!uses(d, pod, now->uid, &used))
        return false;
    if (old && dra_is_allocated(old) && !dra_is_allocated(now))
        return true;
    return used && (!old || !same_status(old, now));
}

enum dra_hint dra_hint(struct dra *d, const struct object *pod, const struct dra_event *e)
{
    bool queue = e->kind != DRA_CLAIM || helps(d, pod, e->old, e->now);
    return queue ? DRA_HINT_QUEUE : DRA_HINT_SKIP;
}

enum dra_hint dra_hint_pod(struct dra *d, const struct object *pod)
{
    bool used;
    return uses(d, pod, STR_NONE, &used) ? DRA_HINT_QUEUE : DRA_HINT_SKIP;
}

void dra_pod_claims(struct index *x, const struct object *pod)
{
    const struct doc *list = doc_path(pod->doc, "spec.resourceClaims");
    struct str name;
    struct arena a;
    arena_init(&a);
    for (uint32_t i = 0; list && list->type == DOC_LIST && i < list->n; i++)
        if (claim_ref_name(pod->doc, &list->items[i], &name) <= CLAIM_GENERATED)
            index_emit(
                x, arena_printf(&a, "%.*s/%.*s", STR_ARG(pod->namespace), STR_ARG(name)));
    arena_fini(&a);
}
