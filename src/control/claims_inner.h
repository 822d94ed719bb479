/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside of the claim controller: claims.c has its caches and turns events into keys of
 * work, claims_owner.c works on pods and groups, claims_claim.c on claims.
 */
#ifndef DRAY_CONTROL_CLAIMS_INNER_H
#define DRAY_CONTROL_CLAIMS_INNER_H

#include "client/events.h"
#include "client/index.h"
#include "client/informer.h"
#include "client/worker.h"
#include "control/claims.h"

enum { CLAIMS_DELETED = 500, CLAIMS_MADE = 1000, CLAIMS_MADE_MS = 3600000 };

struct claims_made { /* a claim that was made and that the informer has not told of yet */
    struct claims_made *next; /* made later */
    struct object *object;
    uint64_t made_ms;
};

struct claims {
    struct client *client;
    struct claims_opts opts;
    struct informer *pods, *groups, *claims, *templates; /* groups: or NULL */
    struct index pods_by_claim, pods_by_template, pods_by_group;
    struct index groups_by_claim, groups_by_template, claims_by_owner;
    struct claims_made *made; /* oldest first */
    uint32_t nmade;
    char *deleted[CLAIMS_DELETED]; /* uids of pods and groups that went, a ring */
    uint32_t ndeleted;
    struct worker *worker; /* "pod:NS/NAME", "podgroup:NS/NAME", "claim:NS/NAME" */
    struct events *events;
    struct net_timer *compare; /* until everything is looked at again */
};

extern const struct client_kind claims_kind_claim, claims_kind_pod, claims_kind_group,
    claims_kind_template;

/* ---- caches (claims.c) ---- */

/* Among those of the informer and those just made; NULL: not known. */
const struct object *claims_find(const struct claims *c, struct str namespace,
                                 struct str name);
/* The claim that was made for an entry of an owner; NULL: none. */
const struct object *claims_find_made(const struct claims *c, const struct doc *owner,
                                      struct str entry);
/* Takes the reference. */
void claims_remember(struct claims *c, struct object *made);
bool claims_was_deleted(const struct claims *c, struct str uid);

/* ---- work; key without what it begins with ---- */

static inline struct claims *claims_of(const struct work *w)
{
    return w->ctx;
}
enum progress claims_sync_pod(struct work *w, struct str key);
enum progress claims_sync_group(struct work *w, struct str key);
enum progress claims_sync_claim(struct work *w, struct str key);

#endif
