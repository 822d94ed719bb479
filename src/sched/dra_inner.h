/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside of the plugin for devices.
 *
 *   known    a claim as the scheduler knows it: the newest of what its informer told and
 *            of what the server answered to the scheduler's own writes
 *   flight   an allocation that was decided and is not yet known to be written
 *   ledger   what alloc's inventory is charged with: for each claim what it is known to
 *            hold, else what is in flight for it (dra_ledger.c alone touches it)
 *
 * dra.c has the informers, dra_ledger.c known claims and flights, dra_cycle.c an attempt
 * up to the filter, dra_filter.c nodes, dra_reserve.c, dra_bind.c and dra_free.c what
 * follows; dra_extended.c, dra_mapped.c, dra_group.c what only some pods have.
 */
#ifndef DRAY_SCHED_DRA_INNER_H
#define DRAY_SCHED_DRA_INNER_H

#include "alloc/alloc.h"
#include "api/amounts.h"
#include "base/map.h"
#include "base/vec.h"
#include "client/index.h"
#include "client/informer.h"
#include "client/steps.h"
#include "client/worker.h"
#include "sched/dra.h"

#define DRA_FINALIZER STR("resource.kubernetes.io/delete-protection")
#define DRA_SPECIAL_NAME STR("<extended-resources>") /* no claim can be called that */
#define DRA_EXTENDED_NOTE "resource.kubernetes.io/extended-resource-claim"

struct dra_known {
    struct str key;              /* of the object below */
    struct object *told, *wrote; /* by the informer; by us, and newer. One is there */
    bool held;                   /* its allocation is charged */
};

struct dra_flight {
    struct str uid;
    struct object *claim; /* with its allocation */
    uint32_t sharers;     /* pods of a group that rely on it */
};

struct dra {
    struct client *client;
    struct dra_opts opts;
    struct alloc_features features;
    struct device_names names;
    struct alloc_inventory *inv;
    struct informer *claims, *classes, *slices, *rules,
        *groups;                                              /* the last two or NULL */
    struct strmap slice_objects, class_objects, rule_objects; /* name -> object */
    struct index special;      /* claims of extended resources, by their pod's UID */
    struct strmap serving;     /* extended resource -> const struct view_class */
    struct strmap known;       /* "NAMESPACE/NAME" -> struct dra_known */
    struct strmap flights;     /* uid -> struct dra_flight */
    struct dra_cycle *waiting; /* for changes of claims */
};

extern const struct client_kind dra_claim_kind, dra_pod_kind;

static inline bool dra_gate(const struct dra *d, enum api_gate gate)
{
    return api_gate(&d->opts.gates, gate);
}
/* Binding conditions count. */
bool dra_binds(const struct dra *d);
int64_t dra_now(const struct dra *d);
void dra_log(struct dra *d, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* ---- what there is (dra.c) ---- */

const struct view_class *dra_class(const struct dra *d, struct str name);
/* That serves an extended resource, named or implicit; NULL: none (spec 7.9.1). */
const struct view_class *dra_serving_class(const struct dra *d, struct str resource);
/* The device that a result names among the slices that a node sees (NULL: among all);
 * NULL: it is not there. */
const struct view_device *dra_find_device(const struct dra *d, const struct view_node *n,
                                          const struct view_result *r);
bool dra_slice_is_for(const struct view_slice *s, const struct view_node *n);

/* ---- claims and flights (dra_ledger.c) ---- */

extern const struct object_opts dra_claim_opts;
static inline const struct view_claim *dra_view(const struct object *claim)
{
    return claim->view;
}
void dra_ledger_free(struct dra *d);
/* NULL: there is none. Borrowed. */
struct object *dra_known(const struct dra *d, struct str namespace, struct str name);
void dra_claim_told(struct dra *d, const struct object *old, const struct object *now);
/* What the server made of a claim. false: its informer knows none of that name. */
bool dra_claim_wrote(struct dra *d, struct object *claim);
const struct dra_flight *dra_flight(const struct dra *d, struct str uid);
/* An allocation is decided. result NULL: it is in flight already, for another pod. Takes
 * the reference. */
void dra_take_off(struct dra *d, struct object *claim, const struct alloc_result *result);
/* One pod less relies on it (all: none does). true: it is over. */
bool dra_land(struct dra *d, struct str uid, bool all);
/* For tests: {devices, shared, capacity} that claims and flights hold, as upstream's
 * allocated state (spec 3.13). */
struct doc dra_allocated(const struct dra *d, struct arena *a);

/* ---- an attempt ---- */

/* A claim of the pod. */
struct dra_need {
    struct object *claim; /* a reference; replaced as it is written */
    struct str entry;     /* of spec.resourceClaims; empty: of extended resources */
    bool of_group;        /* to be reserved for the pod's group */
    bool stuck;           /* allocated, and its binding has failed or takes too long */
    bool unavailable;     /* on some node that was asked */
    bool unclear;         /* whether a write has reached the server is not known */
    bool mapped;          /* it has a device that maps to resources of the node */
    bool in_flight;       /* this cycle relies on a flight */
    bool written;         /* allocation and reservation are the server's */
    /* Decided and not written: of the flight that this cycle relies on. */
    struct object *pending;
    struct str flight_uid;
};

/* What a node would give. */
struct dra_offer {
    struct alloc_outcome outcome;
    const struct dra_variant *variant;
    const struct doc *mapped; /* nodeAllocatableResourceClaimStatuses, or NULL */
};

/* The claims to be allocated where a node leaves these extended resources to devices. */
struct dra_variant {
    uint64_t mask; /* of the cycle's extended resources */
    struct view_strs names;
    struct doc claim;    /* of extended resources: whole */
    struct doc mappings; /* of containers to its requests */
    bool extended;       /* there is such a claim */
    const struct view_claim **views;
    uint32_t n;
    struct alloc_plan *plan; /* NULL: nothing is to be allocated */
};

enum { DRA_EXTENDED_MAX = 64 }; /* resources of a pod that classes may serve */

struct dra_cycle {
    struct dra *d;
    struct dra_args args;
    struct object *pod;
    const struct view_pod *view;
    struct dra_group *group;
    struct arena arena;
    struct dra_need *needs; /* of users, in the pod's order; then of extended resources */
    uint32_t n, nusers;
    bool ready;     /* the pre-filter went well: there is something to do */
    bool allocates; /* some claim has no allocation */
    enum alloc_policy policy;
    struct amounts wants; /* extended resources of the pod, if any is served */
    VEC(struct dra_variant *) variants;
    struct strmap offers; /* node -> struct dra_offer */
    struct str node;      /* reserved */
    bool reserved;
    const struct dra_offer *offer; /* of node */
    /* What asks the server. */
    struct steps steps;
    bool asking, posted;
    enum progress (*work)(struct dra_cycle *c, struct sched_status *out);
    /* Takes its place once what was asked has been answered. */
    enum progress (*then)(struct dra_cycle *c, struct sched_status *out);
    dra_done *done;
    void *done_ctx;
    uint32_t at, tries;   /* the need that is worked on */
    struct object *fresh; /* of it: as last read */
    struct str stamp;     /* time of allocation */
    bool mapped_written;  /* resources of the node, into the pod's status */
    bool told_waiting;
    uint64_t since_ms; /* that it waits */
    struct net_timer *timer;
    struct dra_cycle *next_waiting;
    bool in_waiting;
};

#define DRA_STATUS(c, code, ...)                                                         \
    dra_status((code), arena_printf(&(c)->arena, __VA_ARGS__), &(c)->arena)
struct sched_status dra_status(enum sched_code code, struct str reason, struct arena *a);
static inline struct sched_status dra_ok(void)
{
    return (struct sched_status){.code = SCHED_SUCCESS};
}

/* The need of extended resources, or NULL. */
static inline struct dra_need *dra_extended_need(const struct dra_cycle *c)
{
    return c->n > c->nusers ? &c->needs[c->nusers] : NULL;
}
/* Of a claim that is only thought of so far. */
static inline bool dra_is_special(const struct object *claim)
{
    return str_eq(claim->name, DRA_SPECIAL_NAME);
}
static inline bool dra_is_allocated(const struct object *claim)
{
    return dra_view(claim)->allocation != NULL;
}
bool dra_is_reserved(const struct dra_cycle *c, const struct object *claim);
/* What of a pod's claims is wrong; each is told of those that are not. */
bool dra_each_claim(struct dra *d, const struct doc *pod,
                    void (*each)(void *ctx, const struct doc *entry, struct object *o),
                    void *ctx, struct arena *a, struct str *why);

/* ---- extended resources (dra_extended.c) ---- */

bool dra_is_extended_name(struct str resource);
/* The pod's, if a class serves one of them; else none. */
struct amounts dra_extended_wants(struct dra *d, const struct view_pod *pod,
                                  struct arena *a);
/* The claim there is for them, or a special one. One reference. */
struct object *dra_extended_claim(struct dra *d, const struct object *pod,
                                  struct arena *a);
/* DeviceRequests for those of the resources that are named, and which container uses
 * which (spec 7.9.3). */
void dra_extended_requests(struct dra *d, const struct view_pod *pod,
                           const struct view_strs *names, struct arena *a,
                           struct doc *requests, struct doc *mappings);
/* Values of dra.special. */
void dra_special_owner(struct index *x, const struct object *claim);
/* For a node; NULL: *why says why it cannot take the pod. */
struct dra_variant *dra_variant_for(struct dra_cycle *c, const struct view_node *node,
                                    struct sched_status *why);

/* ---- resources of nodes that devices stand for (dra_mapped.c, spec 7.11) ---- */

bool dra_result_is_mapped(const struct dra *d, const struct view_allocation *al);
struct sched_status dra_mapped_sharing(const struct dra_cycle *c,
                                       const struct dra_need *need);
/* *out: statuses of the pod on this node, or NULL. */
struct sched_status dra_mapped_check(struct dra_cycle *c, const struct sched_node *node,
                                     struct dra_offer *offer);

/* Into the pod's status, and out of it. */
enum progress dra_mapped_write(struct dra_cycle *c, struct sched_status *out);
enum progress dra_mapped_clear(struct dra_cycle *c);

/* ---- editing claims (dra_edit.c) ---- */

bool dra_has_finalizer(const struct doc *claim);
void dra_add_finalizer(struct doc *claim, struct arena *a);
void dra_drop_finalizer(struct doc *claim);
/* Made if there is none. */
struct doc *dra_status_of(struct doc *claim, struct arena *a);
/* Takes a consumer's reservation back, whatever version the claim has by now. */
const struct doc *dra_reservation_patch(const struct object *claim, struct str uid,
                                        struct arena *a);
/* Reserved for nobody, or for this one alone. */
bool dra_only_for(const struct object *claim, struct str uid);

/* ---- conditions (dra_ready.c, spec 7.8.4) ---- */

enum dra_ready { DRA_READY, DRA_NOT_YET, DRA_FAILED };
enum dra_ready dra_claim_ready(const struct object *claim, struct arena *a,
                               struct str *why);
bool dra_claim_late(const struct dra *d, const struct object *claim, uint64_t limit_ms);
bool dra_has_conditions(const struct object *claim);

/* ---- asking (dra_ask.c) ---- */

/* Runs the work from the loop until it is done; its status goes to done. */
void dra_start(struct dra_cycle *c,
               enum progress (*work)(struct dra_cycle *c, struct sched_status *out),
               dra_done *done, void *ctx);
/* The work runs again. */
void dra_again(struct dra_cycle *c);
/* Forgets what was asked so that it may be asked anew. */
void dra_restart(struct dra_cycle *c);
void dra_stop(struct dra_cycle *c);
/* As client/worker.h. */
enum progress dra_ask(struct dra_cycle *c, const char *method, const char *type,
                      struct str path, const struct doc *body,
                      const struct client_answer **out);
/* The claim of an answer: one reference; NULL: it is none. */
struct object *dra_answer_claim(const struct client_answer *a);
struct str dra_claim_path(const struct object *claim, const char *sub, struct arena *a);
/* May have happened all the same. */
static inline bool dra_is_unclear(const struct client_answer *a)
{
    return a->status == 0 || a->status >= 500;
}
static inline bool dra_is_conflict(const struct client_answer *a)
{
    return a->status == 409 && str_is(str_from(a->reason), "Conflict");
}
/* The work waits for a change of a claim, or for the timer. */
void dra_wait(struct dra_cycle *c, uint64_t ms);
void dra_wake_waiting(struct dra *d);
/* Removes the finalizer and deletes. */
enum progress dra_delete_claim(struct dra_cycle *c, struct dra_need *need,
                               struct sched_status *out);

/* What one claim adds to a node's score (dra_score.c, spec 7.6). */
int64_t dra_score_claim(const struct view_claim *claim, const struct view_allocation *al);

/* ---- groups (dra_group.c) ---- */

void dra_group_join(struct dra_group *g, struct dra_cycle *c);
void dra_group_leave(struct dra_group *g, struct dra_cycle *c);
/* Whether a pod of the group has decided on the claim in this attempt. */
bool dra_group_decided(const struct dra_group *g, struct str uid);
bool dra_group_decided_other(const struct dra_group *g, struct str uid, struct str pod);
void dra_group_decide(struct dra_group *g, struct str uid, struct str pod);
void dra_group_forget(struct dra_group *g, struct str uid);
/* The group that the pod belongs to; NULL: none that is known. */
const struct object *dra_group_of(const struct dra *d, const struct doc *pod);

/* ---- freeing (dra_free.c) ---- */

enum progress dra_deallocate(struct dra_cycle *c, struct dra_need *n,
                             struct sched_status *out);
/* Frees a claim of the cycle that is in the way. *found: there was one. */
enum progress dra_free_one(struct dra_cycle *c, bool *found, struct sched_status *out);

#endif
