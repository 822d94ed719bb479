/* SPDX-License-Identifier: Apache-2.0 */
/* Inside of claims: what is known of them, the file, and the parts of a task. */
#ifndef DRAY_NODE_CLAIMS_INNER_H
#define DRAY_NODE_CLAIMS_INNER_H

#include "api/claim_refs.h"
#include "base/map.h"
#include "base/vec.h"
#include "node/checkpoint.h"
#include "node/claims.h"

/* ---- what is known (claims_cache.c) ---- */

struct claim_driver {
    struct str name;
    const struct str *skipped; /* operations, sorted */
    uint32_t nskipped;
    struct arena arena; /* of the devices, which come anew with every answer */
    struct checkpoint_device *devices;
    uint32_t ndevices;
};

struct claim_entry {
    struct arena arena;
    struct str key; /* "NAMESPACE/NAME" */
    struct str uid, namespace, name;
    VEC(struct str) pods; /* UIDs, each in memory of its own */
    struct claim_driver *drivers;
    uint32_t ndrivers;
    bool prepared;    /* by this process */
    bool unpreparing; /* has begun: nobody else may use it */
};

bool claim_driver_skips(const struct claim_driver *d, const char *operation);
struct claim_entry *cache_find(const struct node_claims *c, struct str namespace,
                               struct str name);
/* Of a claim as the drivers' states were read from it; copies. */
struct claim_entry *cache_add(struct node_claims *c,
                              const struct checkpoint_claim *claim);
void cache_delete(struct node_claims *c, struct claim_entry *x);
void cache_clear(struct node_claims *c);
bool cache_has_pod(const struct claim_entry *x, struct str pod_uid);
void cache_add_pod(struct node_claims *c, struct claim_entry *x, struct str pod_uid);
void cache_drop_pod(struct node_claims *c, struct claim_entry *x, struct str pod_uid);
/* Replaces those of the driver; copies. */
void cache_set_devices(struct node_claims *c, struct claim_entry *x, struct str driver,
                       const struct checkpoint_device *devices, uint32_t n);
/* Who it is and what its drivers need not be asked, for as long as the entry may be gone:
 * without pods and devices. */
const struct checkpoint_claim *cache_copy(const struct claim_entry *x, struct arena *a);
struct str cache_print(const struct node_claims *c, struct arena *a);

/* ---- the file (claims_file.c) ---- */

struct node_claims_file;
struct file_wait {
    struct file_wait *next, **link; /* link NULL: it does not wait */
    uint64_t change;
    void (*saved)(void *ctx, const struct err *why);
    void *ctx;
};

/* Reads what is there into the cache. */
bool node_claims_file_open(struct node_claims *c, struct err *e);
/* A write that has begun is waited for: another process may have the file afterwards. */
void node_claims_file_close(struct node_claims *c);
/* saved(ctx, why) from the loop, once all that has changed is on the disk or failed to
 * be. Whoever waits at the same time shares a write. */
void node_claims_file_save(struct node_claims *c, struct file_wait *w);
void node_claims_file_forget(struct file_wait *w);

/* ---- tasks ---- */

struct node_claims {
    struct node_claims_opts opts;
    struct net_loop *loop;
    struct strmap entries; /* key -> struct claim_entry */
    uint64_t changes;      /* of what is to be in the file */
    struct node_claims_file *file;
    struct node_claims_task *tasks;
    struct net_timer *sweep;
};

struct claim_part { /* a claim that a pod refers to */
    struct node_claims_task *task;
    struct str name;
    bool none, generated; /* there is no claim; it was made from a template */
    struct err fault;     /* no name is to be had */
    struct client_call *call;
    const struct doc *claim;
    struct checkpoint_claim state; /* what is to be known of it */
};

struct claim_batch { /* what a driver is asked */
    struct node_claims_task *task;
    struct str driver;
    VEC(const struct checkpoint_claim *) claims;
    struct grpc_ask *ask;
    enum plugin_dra dra;
    struct err why; /* it went wrong */
};

struct node_claims_task {
    struct node_claims *claims;
    struct node_claims_task *next, **link;
    struct arena arena;
    node_claims_done *done;
    void *ctx;
    bool unprepare;
    const struct doc *pod; /* and the next, of prepare alone */
    struct str namespace;
    struct str pod_uid;
    struct claim_part *parts;
    uint32_t nparts;
    VEC(const struct checkpoint_claim *) begun; /* that the drivers are asked for */
    struct claim_batch *batches;
    uint32_t nbatches, waiting; /* for so many answers */
    struct net_timer *soon;
    struct file_wait wait;
    struct err why;
};

/* Tells, with "prepare dynamic resources: " before t->why if there is one. */
void task_end(struct node_claims_task *t);

/* Reads the claims and checks that the pod may have them; then prepare_checked(t), with
 * t->why or with the parts' states (claims_check.c). */
void check_start(struct node_claims_task *t);
void check_cancel(struct node_claims_task *t);
/* As claim_ref_name; where no name is to be had, e says why. */
enum claim_known check_name(const struct doc *pod, const struct doc *entry,
                            struct str *name, struct err *e);

/* Drivers of an allocation, and what they need not be asked (claims_drivers.c). False:
 * the feature is off. */
bool drivers_of_claim(const struct doc *claim, bool optional_operations, struct arena *a,
                      struct checkpoint_claim *out, struct err *e);

/* t->begun goes to the drivers that know of them; once all have answered calls_over(t),
 * with t->why when one of them failed (claims_calls.c). */
void calls_start(struct node_claims_task *t);
void calls_cancel(struct node_claims_task *t);
void calls_over(struct node_claims_task *t);

void prepare_checked(struct node_claims_task *t);
void prepare_answered(struct node_claims_task *t);
void unprepare_start(struct node_claims_task *t);
void unprepare_answered(struct node_claims_task *t);

#endif
