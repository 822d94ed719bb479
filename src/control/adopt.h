/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which dependents are an owner's: those it controls, as long as its selector fits them;
 * orphans that the selector fits become its own, and what it does not fit anymore is let
 * go. Before the first adoption the server is asked whether the owner is still there,
 * since garbage collection may be under way.
 */
#ifndef DRAY_CONTROL_ADOPT_H
#define DRAY_CONTROL_ADOPT_H

#include "control/shared.h"
#include "control/sync.h"

struct owner_kind {
    struct client_kind kind;
    const char *api_version, *name; /* "apps/v1", "ReplicaSet" */
};

struct adopt {
    const struct owner_kind *owners;
    const struct client_kind *dependents;
    const struct doc *selector;
    const char *finalizer; /* given with adoption and taken with release; NULL: none */
    bool (*fits)(const struct sync *s, const struct object *o); /* beside it; or NULL */
};

struct objects { /* borrowed; in the work's arena */
    const struct object **v;
    uint32_t n, cap;
};

/* In the first round: the owner's dependents and its namespace's orphans go to a list.
 * fits NULL: all of them. */
void adopt_gather(struct sync *s, const struct shared_kind *dependents, uint32_t list,
                  bool (*fits)(const struct object *o));
/* *mine: those of the list that are the owner's. */
enum progress adopt_claim(struct sync *s, const struct adopt *how, uint32_t list,
                          struct objects *mine);
/* An entry of ownerReferences: the owner as controller that waits for its dependents. */
struct doc adopt_reference(struct arena *a, const struct owner_kind *kind,
                           const struct object *owner);
/* Whether this object's controller is the owner. */
bool adopt_is_controlled(const struct object *o, const struct object *owner);

#endif
