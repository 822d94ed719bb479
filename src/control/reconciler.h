/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A controller as a table: which kinds it watches, what each change makes it look at, and
 * how it works on a key. Nothing is worked on before all of its kinds are known; then,
 * and again every few minutes, everything is looked at, so that what was missed is missed
 * for minutes at most.
 */
#ifndef DRAY_CONTROL_RECONCILER_H
#define DRAY_CONTROL_RECONCILER_H

#include "api/gates.h"
#include "client/events.h"
#include "client/informer.h"
#include "client/worker.h"
#include "net/pki.h"

struct reconciler;

/* What some controllers want to know; texts outlive them. Zero: as upstream. */
struct control_settings {
    const struct api_gates *gates;
    struct str root_ca;      /* PEM, for kube-root-ca.crt; empty: none is published */
    int64_t terminated_pods; /* that are kept; below zero: all; 0: 12,500 */
    /* For how long a node may be silent, and one that never said anything: 50,000 and
     * 60,000. */
    uint64_t grace_ms, startup_ms;
    struct pki_pair authority; /* that certificates are signed with; empty: none are */
    uint64_t signing_ms;       /* their longest life; 0: a year */
};

struct reconciler_opts {
    const struct control_settings *settings; /* outlive the reconciler */
    void (*log)(void *ctx, const char *text);
    void *log_ctx;
};

struct reconciler_watch {
    struct client_kind kind;
    /* NULL: the object's key is looked at. Called for what is there at the beginning too.
     */
    void (*changed)(struct reconciler *r, const struct object *old,
                    const struct object *now);
    struct object_opts objects;
    const char *namespace, *labels, *fields; /* as informer_opts */
    bool metadata;
    bool optional; /* a server may not have it */
};

enum { RECONCILER_WATCHES = 8 };

struct reconciler_def {
    const char *component; /* that tells events */
    work_fn *work;         /* ctx: the reconciler */
    unsigned workers;      /* 0: 1 */
    uint64_t all_ms;       /* between looks at everything; 0: 300,000 */
    /* Looks at everything; NULL: at all objects of the first kind. */
    void (*all)(struct reconciler *r);
    size_t state; /* bytes of its own, zero at first */
    void (*init)(struct reconciler *r);
    void (*fini)(struct reconciler *r);
    struct reconciler_watch watches[RECONCILER_WATCHES]; /* up to the first without one */
};

/* def outlives it. Works from here on, until reconciler_free. */
struct reconciler *reconciler_new(struct client *c, const struct reconciler_def *def,
                                  const struct reconciler_opts *opts);
void reconciler_free(struct reconciler *r); /* NULL is fine */
bool reconciler_synced(const struct reconciler *r);

/* ---- for its own functions ---- */

static inline struct reconciler *reconciler_of(const struct work *w)
{
    return w->ctx;
}
void *reconciler_state(struct reconciler *r);
struct client *reconciler_client(const struct reconciler *r);
struct events *reconciler_events(const struct reconciler *r);
const struct control_settings *reconciler_settings(const struct reconciler *r);
struct informer *reconciler_watched(const struct reconciler *r, int watch);
/* Until all is known these do nothing. */
void reconciler_add(struct reconciler *r, struct str key);
void reconciler_add_after(struct reconciler *r, struct str key, uint64_t ms);

#endif
