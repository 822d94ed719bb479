/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compiled views: the fields of an object that code works with all day, as C structs,
 * made once per version of the object from its document (v1 shape; convert first). A view
 * is immutable; it and all it points to live in the arena given to its maker, which
 * copies what it needs from the document.
 *
 * Makers do not validate and apply no defaults: they take what is there (allocator cases
 * hold objects that validation would refuse). They fail only where a value cannot be read
 * at all (a quantity that is none, a string where a list must be).
 */
#ifndef DRAY_API_VIEW_H
#define DRAY_API_VIEW_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"
#include "device/device.h"
#include "doc/doc.h"
#include "num/quantity.h"

struct view_strs {
    const struct str *v;
    uint32_t n;
};

struct view_meta {
    struct str name, namespace, uid;
    struct str created; /* creationTimestamp text; RFC 3339 in UTC sorts as text */
    bool deleting;
};

/* ---- node selectors (core/v1) ---- */

enum view_op {
    VIEW_IN,
    VIEW_NOT_IN,
    VIEW_EXISTS,
    VIEW_NOT_EXISTS,
    VIEW_GT,
    VIEW_LT,
    VIEW_OP_BAD
};

struct view_requirement {
    struct str key;
    enum view_op op;
    struct str op_text;
    struct view_strs values;
};
struct view_term {
    const struct view_requirement *expressions, *fields;
    uint32_t nexpressions, nfields;
};
struct view_node_selector {
    const struct view_term *terms;
    uint32_t nterms;
};

struct view_label {
    struct str key, value;
};
struct view_taint {
    struct str key, value, effect;
};
struct view_toleration {
    struct str key, op, value, effect;
    bool has_seconds;
    int64_t seconds;
};
struct view_amount { /* a named quantity */
    struct str name;
    struct quantity value;
};

struct view_node {
    struct view_meta meta;
    const struct view_label *labels; /* sorted by key */
    uint32_t nlabels;
    struct view_strs declared_features;
    const struct view_taint *taints;
    uint32_t ntaints;
    bool unschedulable;
    const struct view_amount *allocatable;
    uint32_t nallocatable;
};

/* ---- ResourceSlice ---- */

/* requestPolicy of a capacity: how a requested amount is rounded (spec 3.10). */
struct device_capacity_policy {
    const struct quantity *def; /* default, NULL: none */
    const struct quantity *valid_values;
    uint32_t nvalid_values;
    bool has_range;
    const struct quantity *min, *max, *step; /* of validRange, each may be NULL */
};

struct view_counter_set {
    struct str name;
    const struct view_amount *counters;
    uint32_t ncounters;
};
struct view_consumption {
    struct str counter_set;
    const struct view_amount *counters;
    uint32_t ncounters;
    struct view_strs groups; /* compatibilityGroups */
};

struct view_device {
    struct str name;
    struct device_facts
        facts; /* driver, attributes, capacities, allowMultipleAllocations */
    const struct view_consumption *consumes;
    uint32_t nconsumes;
    struct str node_name;
    const struct view_node_selector *node_selector;
    bool all_nodes;
    const struct view_taint *taints;
    uint32_t ntaints;
    bool binds_to_node;
    bool has_binding_conditions; /* the list is there, even if empty */
    struct view_strs binding_conditions, binding_failure_conditions;
    const struct doc *node_allocatable; /* nodeAllocatableResources, NULL: none */
};

struct view_slice {
    struct view_meta meta;
    struct str driver, pool;
    int64_t generation, slice_count;
    struct str node_name; /* empty: not set */
    const struct view_node_selector *node_selector;
    bool all_nodes, per_device, has_per_device; /* has_: the field is there, even false */
    const struct view_device *devices;
    uint32_t ndevices;
    const struct view_counter_set *counter_sets;
    uint32_t ncounter_sets;
    struct view_strs skip_node_operations;
};

/* ---- DeviceClass, ResourceClaim ---- */

struct view_selector {
    bool has_cel;
    struct str expression;
    uint32_t pos; /* of the expression in its source, UINT32_MAX unknown */
};
struct view_config {
    struct view_strs requests;
    const struct doc *opaque; /* the whole opaque object, in the arena */
};
struct view_class {
    struct view_meta meta;
    const struct view_selector *selectors;
    uint32_t nselectors;
    const struct view_config *configs; /* requests empty */
    uint32_t nconfigs;
    struct str extended_resource; /* empty: none */
    struct str policy;            /* annotation dray.dev/allocation-policy, or empty */
};

struct view_derived {
    struct str name, expression;
};

/* One way to satisfy a request: "exactly", or one of firstAvailable. */
struct view_alternative {
    struct str name; /* of the subrequest; empty for exactly */
    struct str class_name;
    const struct view_selector *selectors;
    uint32_t nselectors;
    struct str mode; /* "ExactCount", "All", "" */
    int64_t count;
    bool has_admin, admin; /* adminAccess set at all; its value */
    const struct view_toleration *tolerations;
    uint32_t ntolerations;
    const struct view_amount *capacity; /* capacity.requests */
    uint32_t ncapacity;
    bool has_capacity;
    const struct view_derived *derived;
    uint32_t nderived;
};
struct view_request {
    struct str name;
    bool first_available;
    const struct view_alternative *alternatives; /* 1 for exactly; 0: neither is set */
    uint32_t nalternatives;
};
struct view_constraint {
    struct view_strs requests;  /* empty: all */
    struct str match, distinct; /* empty: not set */
};

struct view_result {
    struct str request, driver, pool, device, share_id;
    bool has_admin, admin;
    const struct view_toleration *tolerations;
    uint32_t ntolerations;
    struct view_strs binding_conditions, binding_failure_conditions, skip_node_operations;
    const struct view_amount *consumed;
    uint32_t nconsumed;
};
struct view_alloc_config {
    struct str source; /* FromClass, FromClaim */
    struct view_config config;
};
struct view_allocation {
    const struct view_result *results;
    uint32_t nresults;
    const struct view_alloc_config *configs;
    uint32_t nconfigs;
    const struct view_node_selector *node_selector;
};
struct view_consumer {
    struct str api_group, resource, name, uid;
};
struct view_claim {
    struct view_meta meta;
    const struct view_request *requests;
    uint32_t nrequests;
    const struct view_constraint *constraints;
    uint32_t nconstraints;
    const struct view_config *configs;
    uint32_t nconfigs;
    const struct view_allocation *allocation; /* NULL: not allocated */
    const struct view_consumer *reserved_for;
    uint32_t nreserved_for;
    struct str owner_uid; /* controller's */
};

/* ---- DeviceTaintRule ---- */

struct view_taint_rule {
    struct view_meta meta;
    bool has_selector;               /* absent: matches nothing (spec 3.8) */
    struct str driver, pool, device; /* empty: any */
    struct view_taint taint;
};

/* ---- makers ---- */

struct view_slice *view_slice_new(const struct doc *d, struct device_names *names,
                                  struct arena *a, struct err *e);
struct view_class *view_class_new(const struct doc *d, struct arena *a, struct err *e);
struct view_claim *view_claim_new(const struct doc *d, struct arena *a, struct err *e);
/* From the spec of a claim or of a template (spec.spec): fills requests, constraints,
 * configs. */
bool view_claim_spec(const struct doc *spec, struct view_claim *out, struct arena *a,
                     struct err *e);
struct view_node *view_node_new(const struct doc *d, struct arena *a, struct err *e);
struct view_taint_rule *view_taint_rule_new(const struct doc *d, struct arena *a,
                                            struct err *e);
/* Shared parts. d NULL or null: empty. */
bool view_amounts(const struct doc *map, const char *member, struct arena *a,
                  const struct view_amount **out, uint32_t *n, struct err *e);
void view_meta_read(const struct doc *d, struct view_meta *out, struct arena *a);

/* ---- matching (spec 2.1 "Node selector") ---- */

enum view_match { VIEW_MATCH_NO, VIEW_MATCH_YES, VIEW_MATCH_BAD };
/* BAD only if no term matches and one cannot be parsed; *e says why. */
enum view_match view_node_selector_match(const struct view_node_selector *s,
                                         const struct view_node *node, struct err *e);
bool view_term_match(const struct view_term *t, const struct view_node *node, bool *bad,
                     struct err *e);
const struct str *view_label_find(const struct view_label *labels, uint32_t n,
                                  struct str key);
/* Device toleration of a device taint (spec 3.8, rule 48). */
bool view_tolerates(const struct view_toleration *t, const struct view_taint *taint);

#endif
