/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One look at an owner and its dependents, and what follows from it. Work that waits for
 * an answer is done anew from its beginning (client/steps.h); so that it comes to the
 * same requests again, it looks at the objects as they were when it began, at the time
 * that it was then, and tells the world only once of what it did.
 */
#ifndef DRAY_CONTROL_SYNC_H
#define DRAY_CONTROL_SYNC_H

#include "client/events.h"
#include "client/informer.h"
#include "client/worker.h"
#include "control/batch.h"
#include "control/expect.h"

struct object_list { /* each with a reference of its own; in the work's arena */
    struct object **v;
    uint32_t n, cap;
};

enum { SYNC_LISTS = 4, SYNC_BATCHES = 4 };

struct sync {
    struct work *work;
    struct arena *a; /* the work's */
    struct object *owner;
    struct object_list lists[SYNC_LISTS]; /* whatever the controller looks at */
    bool fresh;                           /* the first round: lists are to be filled */
    bool settled; /* whether what was expected had come by then (expect.h) */
    int64_t now;  /* seconds since 1970 */
    int64_t now_ns;
    uint32_t told, tell; /* so many once-things were done; the number of the next one */
    struct batch *batches[SYNC_BATCHES];
    void *plan;  /* what the controller has decided once, in the arena */
    bool *begun; /* of the plan's requests, which have been asked */
};

/* Of the object that the work's key names; NULL: there is none. Each round begins with
 * it, and it ends with the work. */
struct sync *sync_begin(struct work *w, const struct informer *owners);
void sync_hold(struct sync *s, uint32_t list, const struct object *o);
/* Whether a thing that must happen once happens now; every round asks for all of them in
 * the same order. */
bool sync_once(struct sync *s);
/* The current time as the API writes it. */
struct str sync_now_text(const struct sync *s);

/* ---- requests; the answer is there when it is DONE ---- */

/* Puts an object as it should be. *out: what the server made of it, NULL when it was
 * refused: *answer says why. */
enum progress sync_put(struct sync *s, const struct client_kind *kind, const char *sub,
                       const struct doc *object, const struct doc **out,
                       const struct client_answer **answer);
enum progress sync_post(struct sync *s, const struct client_kind *kind,
                        const struct doc *object, const struct doc **out,
                        const struct client_answer **answer);
/* Not to be found is fine; a refusal is a failure. */
enum progress sync_delete(struct sync *s, const struct client_kind *kind,
                          const struct doc *object);
/* Refusals are failures of the work. */
enum progress sync_put_status(struct sync *s, const struct client_kind *kind,
                              const struct doc *object);

#endif
