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
#include "client/steps.h"
#include "client/workqueue.h"
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
    struct workqueue *queue; /* "pod:NS/NAME", "podgroup:NS/NAME", "claim:NS/NAME" */
    struct claims_work *works;
    struct events *events;
    /* Tests: keys are told and not worked on. */
    void (*hold)(void *ctx, struct str key);
    void *hold_ctx;
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

/* ---- work ---- */

enum progress {
    PROGRESS_DONE,
    PROGRESS_WAIT,   /* an answer is yet to come: the work is done anew then */
    PROGRESS_FAILED, /* w->err says why; tried again later unless w->hopeless */
};

struct claims_work {
    struct claims_work *next, **link;
    struct claims *c;
    struct steps steps;
    struct arena *a; /* of the steps */
    struct str key;
    struct err err;
    bool hopeless;
    struct object *claim; /* of claims_claim.c: as it was first seen */
};

/* Sets the error; PROGRESS_FAILED. */
enum progress claims_fail(struct claims_work *w, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* Asks with a document as body (NULL: none). The answer is there when it is DONE: an
 * answer that refuses is DONE too. */
enum progress claims_ask(struct claims_work *w, const char *method, const char *type,
                         struct str path, const struct doc *body,
                         const struct client_answer **out);
/* The object of an answer, in the work's arena; NULL: it is none. */
const struct doc *claims_answer_doc(struct claims_work *w, const struct client_answer *a);

enum progress claims_sync_pod(struct claims_work *w, struct str key);
enum progress claims_sync_group(struct claims_work *w, struct str key);
enum progress claims_sync_claim(struct claims_work *w, struct str key);

#endif
