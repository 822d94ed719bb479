/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The device allocator. Given a node, the claims of a pod, an inventory of devices and
 * what is already allocated: the first solution in the documented order (spec 3.4), or a
 * proof that there is none with its reasons. Pure: no I/O, no clock, no threads, no
 * globals.
 *
 * An inventory is a snapshot updated by deltas; it keeps the views it was given by
 * reference (their arenas must outlive them in it). Devices are numbered inside it.
 */
#ifndef DRAY_ALLOC_ALLOC_H
#define DRAY_ALLOC_ALLOC_H

#include <stdbool.h>
#include <stdint.h>

#include "api/gates.h"
#include "api/view.h"
#include "base/arena.h"
#include "base/err.h"
#include "device/device.h"

/* Upstream's feature names; each is the gate of that name (spec 3.0). */
struct alloc_features {
    bool admin_access, prioritized_list, partitionable_devices, device_taints;
    bool device_binding_and_status, consumable_capacity, fractional_capacity_range;
    bool list_type_attributes, optional_node_operations, derived_attributes,
        compatibility_groups;
};
extern const struct alloc_features alloc_features_default; /* gates of 1.37 */
extern const struct alloc_features alloc_features_all;
/* Those that the gates switch on (spec 3.0). */
struct alloc_features alloc_features_of(const struct api_gates *g);
/* Sets the feature called name ("AdminAccess"); false: unknown. */
bool alloc_features_set(struct alloc_features *f, struct str name, bool on);

/* ---- inventory: slices as columns ---- */

struct alloc_inventory;
struct alloc_inventory *alloc_inventory_new(const struct alloc_features *f,
                                            struct device_names *names);
void alloc_inventory_free(struct alloc_inventory *inv);
/* Adds, or replaces the slice of the same object name. Pools and slices have an order of
 * their own (spec 3.4), so that of additions does not matter. */
void alloc_inventory_put_slice(struct alloc_inventory *inv, const struct view_slice *s);
bool alloc_inventory_remove_slice(struct alloc_inventory *inv, struct str name);
/*
 * Releases what no slice of the inventory has anymore: values of devices, names, columns
 * and shapes, with all that was compiled; pools without slices and holders; nodes without
 * slices that were forgotten (alloc_forget_node). For what runs for long, between two
 * questions, when alloc_inventory_swollen says so; it costs as much as reading the
 * devices did. The inventory must be the only one with its names: the devices of its
 * slices are moved, and others that were made with the names are void. Plans stay.
 */
void alloc_inventory_sweep(struct alloc_inventory *inv);
/* Device names, pools or nodes are many more than the last sweep left. */
bool alloc_inventory_swollen(const struct alloc_inventory *inv);
void alloc_inventory_put_class(struct alloc_inventory *inv, const struct view_class *c);
bool alloc_inventory_remove_class(struct alloc_inventory *inv, struct str name);
void alloc_inventory_put_taint_rule(struct alloc_inventory *inv,
                                    const struct view_taint_rule *r);
bool alloc_inventory_remove_taint_rule(struct alloc_inventory *inv, struct str name);

/* ---- what is allocated (spec 3.13) ---- */

/* Charges and releases the results of one claim's allocation, keyed by uid (or
 * namespace/name if it has none). Charging an uid again replaces what it held. Capacity
 * is taken from the result where it is recorded, counters from the published device (rule
 * 51): of a device that is published no more they are not known, and free. What is
 * charged by alloc_commit, below, stays charged whatever is published (U2). */
void alloc_charge(struct alloc_inventory *inv, const struct view_claim *claim);
void alloc_release(struct alloc_inventory *inv, struct str uid);
/* Raw state for tests and foreign ledgers. */
void alloc_mark_device(struct alloc_inventory *inv, struct str driver, struct str pool,
                       struct str device);
void alloc_mark_share(struct alloc_inventory *inv, struct str driver, struct str pool,
                      struct str device, struct str share_id);
void alloc_mark_consumed(struct alloc_inventory *inv, struct str driver, struct str pool,
                         struct str device, const struct view_amount *amounts,
                         uint32_t n);

/* ---- asking ---- */

enum alloc_status {
    ALLOC_OK,         /* results hold one allocation per claim */
    ALLOC_NONE,       /* does not fit this node; reasons say why */
    ALLOC_NODE_ERROR, /* this node is refused with an error, others may do (rules 3, U5)
                       */
    ALLOC_ERROR,      /* the pod cannot be allocated anywhere (rule 2) */
    ALLOC_BUDGET,     /* gave up after the step budget: retry with back-off */
};

struct alloc_pick {
    struct str request; /* "name" or "parent/sub" */
    const struct view_device *device;
    const struct view_slice *slice;
    bool admin;
    uint32_t share; /* 0: exclusive; else the n-th share made by this call, from 1 */
    const struct view_toleration *tolerations;
    uint32_t ntolerations;
    const struct view_amount *consumed; /* consumedCapacity, n 0 if none is recorded */
    uint32_t nconsumed;
    bool with_binding; /* binding conditions are copied (feature on) */
    bool with_skip;    /* skipNodeOperations is copied */
};
struct alloc_result { /* of one claim */
    const struct alloc_pick *picks;
    uint32_t npicks;
    const struct view_alloc_config *configs;
    uint32_t nconfigs;
    const struct view_node_selector *node_selector; /* NULL: any node */
};

/* Why devices were not taken: one row per rule, claim and request (spec 3.6 order). */
enum alloc_rule {
    ALLOC_RULE_IN_USE,
    ALLOC_RULE_BINDING_OFF,
    ALLOC_RULE_CLASS_SELECTOR,
    ALLOC_RULE_SELECTOR,
    ALLOC_RULE_NODE,
    ALLOC_RULE_CAPACITY,
    ALLOC_RULE_NODE_OPERATIONS,
    ALLOC_RULE_COUNTERS_OFF,
    ALLOC_RULE_GROUPS,
    ALLOC_RULE_COUNTERS,
    ALLOC_RULE_TAINT,
    ALLOC_RULE_CONSTRAINT,
    ALLOC_RULE_TAKEN, /* by another request of the same pod */
    ALLOC_RULE_POOL_INCOMPLETE,
    ALLOC_RULE_POOL_INVALID,
    ALLOC_RULE_POOL_OBSOLETE,
    ALLOC_RULE_UNKNOWN_CONSUMPTION,
    ALLOC_RULES
};
const char *alloc_rule_name(enum alloc_rule r);

struct alloc_reason {
    uint32_t claim, request,
        alternative; /* indexes; alternative of firstAvailable, else 0 */
    enum alloc_rule rule;
    uint32_t selector;                 /* index, for the selector rules */
    uint32_t constraint;               /* index, for ALLOC_RULE_CONSTRAINT */
    uint32_t devices;                  /* refused by this rule first */
    const struct view_device *example; /* one of them, NULL for pool rules */
    const struct view_slice *example_slice;
    struct str
        detail; /* "memory: wants 80Gi, has 24Gi", taint, holder's claim, ... or empty */
};
struct alloc_need { /* per request (or alternative): how many wanted and how many would do
                     */
    uint32_t claim, request, alternative;
    int64_t wanted;    /* -1: All */
    uint32_t matching; /* selectors and node match, whatever their state */
    uint32_t free;     /* of those, selectable now */
};

/*
 * Which of several solutions is taken. first-fit: the first in the documented order, as
 * upstream, device for device. The others take one that they like better, from among a
 * bounded number; each finds an allocation exactly if first-fit does, and refuses as it
 * does. best-fit: what is whole stays whole (a GPU that can be partitioned, the devices
 * on one PCIe root or NUMA node or with one value of an attribute that constraints of the
 * claims name), then the least is left over. spread: all of these are equally full.
 */
enum alloc_policy { ALLOC_FIRST_FIT, ALLOC_BEST_FIT, ALLOC_SPREAD, ALLOC_POLICIES };
/* "first-fit", "best-fit", "spread" */
const char *alloc_policy_name(enum alloc_policy p);
/* false: there is none of that name. */
bool alloc_policy_find(struct str name, enum alloc_policy *out);

/* What the answer makes of its node; of policies but first-fit. */
struct alloc_fit {
    uint32_t broken;     /* wholes that it leaves in pieces */
    uint32_t closed;     /* partitions that their GPU has no room for anymore */
    uint32_t left, size; /* of all devices of the node, in thousandths of one */
};

struct alloc_options {
    enum alloc_policy policy;
    uint64_t max_steps; /* 0: 1,000,000 */
    bool explain;       /* fill reasons and needs when the answer is not OK */
    bool prove_first;   /* all proofs from the first step on, not only when the search
                           turns out hard; the answer is the same */
    bool (*cancelled)(void *ctx);
    void *cancel_ctx;
};

struct alloc_outcome {
    enum alloc_status status;
    const struct alloc_result *results; /* one per claim, ALLOC_OK */
    uint32_t nresults;
    struct str
        error; /* ALLOC_ERROR, ALLOC_NODE_ERROR: upstream's text where it has one */
    struct str summary; /* one line for people: which claim and request fails and why */
    const struct alloc_reason *reasons;
    uint32_t nreasons;
    const struct alloc_need *needs;
    uint32_t nneeds;
    struct alloc_fit fit;
    uint64_t steps; /* candidates examined by the search, comparable with upstream's */
};

/* Everything in *out lives in a, or in the inventory's views and the claims. The
 * inventory changes only in its caches. Nodes are learned as they are asked about: a
 * node's view is kept by reference until another view of its name is asked about, or it
 * is forgotten. */
void alloc_forget_node(struct alloc_inventory *inv, struct str name);
void alloc_solve(struct alloc_inventory *inv, const struct view_node *node,
                 const struct view_claim *const *claims, uint32_t nclaims,
                 const struct alloc_options *options, struct arena *a,
                 struct alloc_outcome *out);

/* ---- asking many nodes: prepare once, then ask ---- */

/* Claims, resolved; they must outlive the plan, the array need not. Changes of the
 * inventory are seen by the next question. */
struct alloc_plan;
struct alloc_plan *alloc_plan_new(struct alloc_inventory *inv,
                                  const struct view_claim *const *claims,
                                  uint32_t nclaims);
void alloc_plan_free(struct alloc_plan *p);
/* alloc_solve of the plan's claims. */
void alloc_ask(struct alloc_plan *p, const struct view_node *node,
               const struct alloc_options *options, struct arena *a,
               struct alloc_outcome *out);
/* Asks nodes[from], nodes[from + 1], ... up to the first that fits, or that gives an
 * answer for all nodes (ALLOC_ERROR), or that exhausts the budget; returns its index. n:
 * none does, *out is the last node's answer. Nodes known to refuse the same claims since
 * nothing changed there are passed over in a few nanoseconds. */
uint32_t alloc_find(struct alloc_plan *p, const struct view_node *const *nodes,
                    uint32_t n, uint32_t from, const struct alloc_options *options,
                    struct arena *a, struct alloc_outcome *out);
/* Charges what the plan's answer gave to one of its claims; kept, counters included,
 * until the claim is released, whatever is published meanwhile. */
void alloc_commit(struct alloc_inventory *inv, const struct view_claim *claim,
                  const struct alloc_result *result);

/* The AllocationResult as a document (spec 3.12). share_id names the n-th share of the
 * call (upstream: a random UUID). */
typedef struct str alloc_share_id_fn(void *ctx, uint32_t share, struct arena *a);
struct doc alloc_result_doc(const struct alloc_result *r, alloc_share_id_fn *share_id,
                            void *ctx, struct arena *a);

#endif
