/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Devices as CEL sees them (spec 4.1 - 4.4, 4.9): the variable "device", the environments
 * of new and stored expressions, compiled selectors and derived attributes. Shared by
 * validation (compiles, estimates) and the allocator (evaluates).
 *
 * Names are interned once per process or inventory in struct device_names: a selector's
 * path and a device's attribute meet as equal numbers, no text is compared per device.
 */
#ifndef DRAY_DEVICE_DEVICE_H
#define DRAY_DEVICE_DEVICE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/intern.h"
#include "base/str.h"
#include "cel/cel.h"
#include "num/quantity.h"
#include "num/semver.h"

struct device_names {
    struct intern texts; /* "domain/id", fully qualified */
};
void device_names_init(struct device_names *n);
void device_names_fini(struct device_names *n);
/* Id of an attribute or capacity name: a name without "/" gets the driver as its domain;
 * split at the first "/" (spec 4.2). */
uint32_t device_name_id(struct device_names *n, struct str driver, struct str name);

enum device_attr_kind {
    DEVICE_ATTR_NONE, /* no value set: every expression on the device fails (spec 4.1) */
    DEVICE_ATTR_INT,
    DEVICE_ATTR_BOOL,
    DEVICE_ATTR_STRING,
    DEVICE_ATTR_VERSION,
    DEVICE_ATTR_INTS,
    DEVICE_ATTR_BOOLS,
    DEVICE_ATTR_STRINGS,
    DEVICE_ATTR_VERSIONS,
};

struct device_attr_value {
    uint8_t kind; /* enum device_attr_kind */
    bool bad;     /* a version that is no semantic version */
    uint32_t n;   /* of a list */
    union {
        int64_t i;
        bool b;
        struct str s; /* string; also a version's text */
        const int64_t *ints;
        const bool *bools;
        const struct str *strings; /* also versions, as published */
    };
    /* Parsed: one for VERSION, n for VERSIONS; NULL if bad. device_facts_make parses what
     * is not parsed yet. */
    const struct semver *versions;
};

struct device_attr {
    uint32_t id;     /* device_name_id */
    struct str name; /* as published */
    struct device_attr_value value;
};

struct device_capacity_policy; /* api/view.h */

struct device_capacity {
    uint32_t id;
    struct str name;
    struct quantity value;
    const struct device_capacity_policy *policy; /* NULL: none */
};

/*
 * What selectors can see of a device, laid out for them: the ids stand together, the
 * values are ready for CEL. Made by device_facts_make, immutable afterwards.
 */
struct device_facts {
    struct str driver;
    struct cel_value driver_value;
    const uint32_t *attr_ids; /* ascending */
    const struct cel_value *attr_values;
    const uint32_t *capacity_ids;    /* ascending; value i is capacities[i].value */
    const struct device_attr *attrs; /* in the order of the ids */
    const struct device_capacity *capacities;
    uint32_t nattrs, ncapacities;
    bool allow_multiple;
    /* Set if an attribute has no value or a version that is none: the text that every
     * expression on the device fails with (spec 4.1). */
    struct str bad;
};

/*
 * Fills in the ids, parses versions, sorts both arrays in place. Of an attribute or
 * capacity that is there in both spellings ("model" and "<driver>/model") the one with
 * the domain counts, the other is dropped; upstream takes either. The arrays and their
 * texts are borrowed, the rest is in the arena. Interns names: see device_env.
 */
void device_facts_make(struct device_facts *out, struct device_names *names,
                       struct str driver, struct device_attr *attrs, uint32_t nattrs,
                       struct device_capacity *capacities, uint32_t ncapacities,
                       bool allow_multiple, struct arena *a);

enum device_env_kind { DEVICE_ENV_NEW, DEVICE_ENV_STORED };

struct device_env_opts {
    enum device_env_kind kind;
    bool consumable_capacity; /* gates; spec 4.4 says what a stored environment forces on
                               */
    bool list_attributes;
    unsigned version; /* minor version of Kubernetes; 0: 37 */
};

/*
 * Making an environment, compiling an expression and making facts intern names; whoever
 * shares the names between threads does these three under one lock. Evaluation only reads
 * what its own arguments hold.
 */
struct device_env;
struct device_env *device_env_new(const struct device_env_opts *opts,
                                  struct device_names *names);
void device_env_free(struct device_env *env);

enum device_expr_mode {
    DEVICE_SELECTOR, /* bool, or the unknown type V */
    DEVICE_DERIVED,  /* scalar or list of scalars */
    DEVICE_VALUE,    /* anything (tests, tools) */
};

enum { DEVICE_COST_LIMIT = 1000000, DEVICE_EXPR_MAX = 10 * 1024 };

enum device_fault { DEVICE_FAULT_INVALID, DEVICE_FAULT_INTERNAL };

struct device_expr_error {
    enum device_fault fault;
    struct str text; /* upstream's: "compilation failed: ERROR: <input>:1:8: ..." */
    struct cel_issues issues; /* positions, empty for program errors */
};

struct device_expr;
/* NULL on failure; the text and the texts of an error are copied into a, which serves for
 * nothing else. */
struct device_expr *device_expr_new(const struct device_env *env, struct str text,
                                    enum device_expr_mode mode, struct arena *a,
                                    struct device_expr_error *error);
void device_expr_free(struct device_expr *x);
/* Computed at every call: the apiserver asks once, consumers of stored objects never. */
struct cel_range device_expr_estimate(const struct device_expr *x);
const struct cel_type *device_expr_type(const struct device_expr *x);

enum device_verdict { DEVICE_NO, DEVICE_YES, DEVICE_ERROR };

/* The selector on one device. On DEVICE_ERROR *why is upstream's run-time text, with the
 * optional-chaining hint where upstream adds it, in run's arena. run->cost is the cost;
 * without a run->cost_limit it is limited to DEVICE_COST_LIMIT. */
enum device_verdict device_expr_match(const struct device_expr *x,
                                      const struct device_facts *d, struct cel_run *run,
                                      struct str *why);
/* Fetches what the expression will look at into the cache. Whoever visits many devices
 * calls it for one some places ahead: the time goes to memory, not to evaluation. */
void device_expr_ahead(const struct device_expr *x, const struct device_facts *d);
/* A derived attribute's value, in run's arena or the device's; false with *why on error.
 */
bool device_expr_derive(const struct device_expr *x, const struct device_facts *d,
                        struct cel_run *run, struct device_attr_value *out,
                        struct str *why);
/* Any result; errors are values. */
struct cel_value device_expr_value(const struct device_expr *x,
                                   const struct device_facts *d, struct cel_run *run);

/*
 * Grouping: devices with equal keys get equal verdicts and costs. The key covers the
 * driver (where it matters), the attributes and capacities that the expression reads, and
 * whether the device has an attribute that fails everything. device_expr_same compares
 * for certain.
 */
uint64_t device_expr_key(const struct device_expr *x, const struct device_facts *d);
bool device_expr_same(const struct device_expr *x, const struct device_facts *a,
                      const struct device_facts *b);

#endif
