/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who owns whom among all objects of a cluster, by their ownerReferences: a graph of
 * objects by uid that is kept up to date by what informers tell, and that says which of
 * them must be looked at. Pure state; asking and deleting is the garbage collector's
 * (garbage.h).
 *
 * An owner that is referred to and that no informer has told of is a node too, a virtual
 * one: it goes by what the reference says of it until it is seen, or known to be absent.
 * References with the same uid may disagree about the rest; then at most one is right.
 */
#ifndef DRAY_CONTROL_GARBAGE_GRAPH_H
#define DRAY_CONTROL_GARBAGE_GRAPH_H

#include "base/map.h"
#include "base/vec.h"
#include "client/object.h"

/* Where an object is, and which it is. namespace empty: it has none. */
struct garbage_identity {
    struct str api_version, kind, namespace, name, uid;
};

struct garbage_owner { /* an entry of ownerReferences */
    struct str api_version, kind, name, uid;
    bool blocks; /* blockOwnerDeletion */
};

/* The view of an object's metadata (object_opts), with texts in its arena. */
struct garbage_meta {
    const struct garbage_owner *owners;
    uint32_t nowners;
    bool deleted;             /* deletionTimestamp */
    bool orphans, foreground; /* finalizers "orphan" and "foregroundDeletion" */
};
object_view_fn garbage_meta_view;

struct garbage_node;

struct garbage_edge {                  /* from a dependent to one of its owners */
    struct garbage_edge *next, **link; /* of the owner's dependents */
    struct garbage_node *owner;        /* NULL: it is gone */
    struct garbage_node *dependent;
};

struct garbage_node {
    struct garbage_identity id;
    bool virtual;
    struct object *object;      /* as last told, its view a garbage_meta; NULL: virtual */
    char *texts;                /* of a virtual node's identity */
    struct garbage_edge *edges; /* one for each owner of the object, in their order */
    struct garbage_edge *dependents; /* those of others that lead here */
};

enum garbage_task {
    GARBAGE_CHECK, /* whether it must be deleted, or waits for dependents that are gone */
    GARBAGE_RELEASE, /* it is not to depend any longer on owners that orphan */
    GARBAGE_LET_GO,  /* it has orphaned its dependents */
};

struct garbage_graph_ops {
    void (*task)(void *ctx, enum garbage_task what, const struct garbage_node *n);
    /* A reference across namespaces. */
    void (*misplaced)(void *ctx, const struct garbage_node *dependent,
                      const struct garbage_owner *owner);
};

enum { GARBAGE_ABSENT = 500 };

struct garbage_graph {
    const struct garbage_graph_ops *ops;
    void *ctx;
    struct strmap nodes;  /* uid -> node */
    struct strmap absent; /* identity as text -> nothing: owners known not to exist */
    char *ring[GARBAGE_ABSENT]; /* the texts, oldest at next */
    uint32_t next;
};

void garbage_graph_init(struct garbage_graph *g, const struct garbage_graph_ops *ops,
                        void *ctx);
void garbage_graph_fini(struct garbage_graph *g);

/* Of a kind's informer: what it tells. */
void garbage_graph_change(struct garbage_graph *g, struct str api_version,
                          struct str kind, const struct object *old,
                          const struct object *now);
/* Nobody tells of the object any longer, which says nothing of whether it is there. */
void garbage_graph_lose(struct garbage_graph *g, const struct object *o);
/* The server has said that there is no such object. */
void garbage_graph_absent(struct garbage_graph *g, const struct garbage_identity *id);
/* Tasks of all nodes that have any, whether or not they were given before. */
void garbage_graph_compare(struct garbage_graph *g);

struct garbage_node *garbage_graph_find(const struct garbage_graph *g, struct str uid);
/* Whether an owner was found absent lately, where a dependent with that namespace looks
 * for it. */
bool garbage_graph_is_absent(const struct garbage_graph *g,
                             const struct garbage_owner *owner, struct str namespace);

void garbage_graph_note_absent(struct garbage_graph *g, const struct garbage_owner *owner,
                               struct str namespace);

static inline const struct garbage_meta *garbage_meta(const struct garbage_node *n)
{
    return n->object ? n->object->view : NULL;
}
/* It is being deleted, and waits for its dependents. */
bool garbage_is_waiting(const struct garbage_node *n);
/* It is being deleted, and its dependents are to stay. */
bool garbage_is_orphaning(const struct garbage_node *n);
/* Whether a reference means that object, but for its namespace. */
bool garbage_owner_is(const struct garbage_owner *o, const struct garbage_identity *id);
/* Whether a reference of a node is right about a node of that uid. */
bool garbage_is_sound(const struct garbage_node *n, const struct garbage_owner *o,
                      const struct garbage_node *owner);

#endif
