/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What attempts look at: the cache of nodes and pods, nominated pods, and objects of
 * other kinds, which come from informers or, in tests, from anywhere.
 */
#ifndef DRAY_SCHED_WORLD_H
#define DRAY_SCHED_WORLD_H

#include "sched/cache.h"
#include "sched/dra.h"
#include "sched/groups.h"
#include "sched/nominated.h"

enum world_kind {
    WORLD_NAMESPACES,
    WORLD_SERVICES,
    WORLD_REPLICATION_CONTROLLERS,
    WORLD_REPLICA_SETS,
    WORLD_STATEFUL_SETS,
    WORLD_VOLUME_CLAIMS, /* PersistentVolumeClaims */
    WORLD_VOLUMES,       /* PersistentVolumes */
    WORLD_STORAGE_CLASSES,
    WORLD_CSI_NODES,
    WORLD_BUDGETS, /* PodDisruptionBudgets */
    WORLD_KINDS
};

struct lister {
    const struct object *(*get)(const void *from, struct str key);
    void (*each)(const void *from, void (*each)(void *ctx, const struct object *o),
                 void *ctx);
    const void *from;
};

struct world {
    struct cache cache;
    struct nominated nominated;
    struct groups groups;             /* empty where PodGroups do not count */
    struct lister lists[WORLD_KINDS]; /* get NULL: there are none */
    struct dra *dra;                  /* NULL: without devices */
    uint32_t next_start;              /* the node that the next attempt begins with */
};

/* NULL: there is none. */
static inline const struct object *world_find(const struct world *w, enum world_kind kind,
                                              struct str key)
{
    const struct lister *l = &w->lists[kind];
    return l->get ? l->get(l->from, key) : NULL;
}
static inline void world_each(const struct world *w, enum world_kind kind,
                              void (*each)(void *ctx, const struct object *o), void *ctx)
{
    const struct lister *l = &w->lists[kind];
    if (l->each)
        l->each(l->from, each, ctx);
}
/* "NAMESPACE/NAME" */
static inline const struct object *world_find_in(const struct world *w,
                                                 enum world_kind kind,
                                                 struct str namespace, struct str name,
                                                 struct arena *a)
{
    return world_find(w, kind,
                      arena_printf(a, "%.*s/%.*s", STR_ARG(namespace), STR_ARG(name)));
}

#endif
