/* SPDX-License-Identifier: Apache-2.0 */
/* LimitRanger. */
#include "server/admission/admit.h"

#include "api/limits.h"

/* Pods when they are made or resized, volume claims whenever they are written. */
static bool is_limited(const struct admission *a)
{
    const char *sub = admit_sub(a);
    bool update = a->verb == ADMIT_UPDATE;
    if (!a->r->route.namespace.n || (a->old && meta_text(a->old, "deletionTimestamp").n))
        return false;
    if (admit_of(a, "", "pods"))
        return update ? strcmp(sub, "resize") == 0 : !*sub;
    return admit_on(a, "", "persistentvolumeclaims");
}

struct ranges {
    struct admission *a;
    struct doc *v;
    uint32_t n, cap;
};

static bool note_range(void *ctx, struct cache_object *o)
{
    struct ranges *all = ctx;
    struct arena *a = all->a->r->a;
    if (all->n == all->cap) {
        uint32_t cap = all->cap ? all->cap * 2 : 4;
        struct doc *more = ARENA_ARRAY(a, struct doc, cap);
        if (all->n)
            memcpy(more, all->v, all->n * sizeof *more);
        all->v = more;
        all->cap = cap;
    }
    all->v[all->n++] = object_doc(o, a);
    return true;
}

static struct ranges ranges_of(struct admission *a)
{
    struct ranges all = {.a = a};
    admit_each_in(a, "", "limitranges", a->r->route.namespace, note_range, &all);
    return all;
}

bool admit_limits(struct admission *a)
{
    if (!is_limited(a) || !admit_of(a, "", "pods"))
        return true;
    struct ranges all = ranges_of(a);
    for (uint32_t i = 0; i < all.n; i++)
        limits_default(&all.v[i], a->object, a->r->a);
    return true;
}

bool check_limits(struct admission *a)
{
    if (!is_limited(a))
        return true;
    struct ranges all = ranges_of(a);
    for (uint32_t i = 0; i < all.n; i++) {
        struct str why =
            limits_check(&all.v[i], a->r->res->main->resource, a->object, a->r->a);
        if (why.p)
            return admit_forbid(a, "%.*s", STR_ARG(why));
    }
    return true;
}
