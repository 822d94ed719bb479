/* SPDX-License-Identifier: Apache-2.0 */
#include "sched/groups.h"

#include <stdlib.h>

#include "api/view_read.h"
#include "base/mem.h"

const void *group_info_new(const struct doc *d, struct arena *a, struct err *e)
{
    struct view_reader r = {.a = a, .e = e};
    struct group_info *out = ARENA_NEW(a, struct group_info);
    const struct doc *spec = view_map(&r, d, "spec"),
                     *policy = view_map(&r, spec, "schedulingPolicy"),
                     *gang = view_map(&r, policy, "gang"),
                     *mode = view_map(&r, spec, "disruptionMode");
    *out = (struct group_info){.gang = gang != NULL,
                               .min_count = gang ? view_int(&r, gang, "minCount") : 1,
                               .priority = view_int(&r, spec, "priority"),
                               .whole = view_map(&r, mode, "all") != NULL};
    return r.failed ? NULL : out;
}

/* ---- life ---- */

static struct pod_group *get(struct groups *g, struct str key)
{
    struct pod_group *x = groups_find(g, key);
    if (x)
        return x;
    x = mem_zalloc(sizeof *x);
    x->key = (struct str){mem_dup(key.p, key.n), key.n};
    strmap_put(&g->by_key, x->key, NULL)->value.ptr = x;
    return x;
}

static void release(struct pod_group *x)
{
    strmap_each(&x->pods, e) object_unref(e->value.ptr);
    strmap_release(&x->pods);
    object_unref(x->object);
    free((char *)x->key.p);
    free(x);
}

void groups_trim(struct groups *g, struct pod_group *x)
{
    if (x->object || x->pods.live || x->busy)
        return;
    strmap_remove(&g->by_key, x->key);
    release(x);
}

void groups_fini(struct groups *g)
{
    strmap_each(&g->by_key, e) release(e->value.ptr);
    strmap_release(&g->by_key);
}

struct pod_group *groups_find(const struct groups *g, struct str key)
{
    const struct strmap_entry *e = strmap_find(&g->by_key, key);
    return e ? e->value.ptr : NULL;
}

/* ---- groups ---- */

void groups_set_object(struct groups *g, const struct object *old,
                       const struct object *now)
{
    struct pod_group *x = get(g, now ? now->key : old->key);
    object_unref(x->object);
    x->object = now ? object_ref((struct object *)now) : NULL;
    groups_trim(g, x);
}

/* ---- pods ---- */

static struct str key_of(const struct object *pod, struct arena *a)
{
    return arena_printf(a, "%.*s/%.*s", STR_ARG(pod->namespace),
                        STR_ARG(pod_info_of(pod)->group));
}

struct pod_group *groups_of(const struct groups *g, const struct object *pod)
{
    struct arena a;
    if (!pod_info_of(pod)->group.n)
        return NULL;
    arena_init(&a);
    struct pod_group *x = groups_find(g, key_of(pod, &a));
    arena_fini(&a);
    return x;
}

static void forget(struct pod_group *x, struct str id)
{
    struct strmap_entry *e = strmap_find(&x->pods, id);
    struct object *before = e ? e->value.ptr : NULL;
    if (before)
        strmap_remove(&x->pods, id);
    object_unref(before);
}

void groups_set_pod(struct groups *g, struct object *pod)
{
    struct arena a;
    if (!pod_info_of(pod)->group.n)
        return;
    arena_init(&a);
    struct pod_group *x = get(g, key_of(pod, &a));
    struct object *kept = object_ref(pod); /* it may be the old one */
    forget(x, pod_id(pod));
    strmap_put(&x->pods, pod_id(kept), NULL)->value.ptr = kept;
    arena_fini(&a);
}

void groups_remove_pod(struct groups *g, const struct object *pod)
{
    struct pod_group *x = groups_of(g, pod);
    if (!x)
        return;
    forget(x, pod_id(pod));
    groups_trim(g, x);
}

/* ---- the gate ---- */

struct str group_gate(const struct pod_group *g, struct str name, struct arena *a)
{
    if (!g || !g->object)
        return arena_printf(a,
                            "waiting for pods's pod group \"%.*s\" to appear in "
                            "scheduling queue",
                            STR_ARG(name));
    if (g->pods.live < group_info_of(g->object)->min_count)
        return STR("waiting for minCount pods from a gang to appear in scheduling queue");
    if (g->busy)
        return STR("waiting for the pod group's attempt to end");
    return STR_NONE;
}
