/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Devices as CEL sees them (spec 4.1 - 4.4, 4.9): the variable "device", the environments
 * of new and stored expressions, compiled selectors and derived attributes. Shared by
 * validation (compiles, estimates) and the allocator (evaluates).
 *
 * Columns, not objects. Devices are many and mostly alike; what they share is kept once,
 * in struct device_names:
 *
 *   name    "domain/id" as a number: a selector's path and a device's attribute meet as
 *           equal numbers
 *   column  the values that devices have under one name, each once. A value is known by
 *           its code, its number in the column: equal codes are equal values, of
 *           whichever devices
 *   shape   what devices of one sort have in common: driver, names and their order. What
 *           was found for one device, its place in the array of codes for example, holds
 *           for all of its shape
 *   facts   a device: its shape and one code for each name
 *
 * So texts are compared and versions parsed when a device is read, and once; two devices
 * are alike where their codes are; and what a selector says of a value is found out once
 * per value (struct device_memo), however many devices have it.
 *
 * Names, columns and shapes only grow, with all that was ever seen. Whoever runs for long
 * moves the devices that are left to names of their own from time to time, and starts
 * anew with these (alloc_inventory_sweep).
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

struct device_column;
struct device_shape;

struct device_names {
    struct intern texts;               /* "domain/id", fully qualified */
    struct arena arena;                /* of columns, their values, shapes */
    struct device_column *all;         /* the columns, by next */
    struct device_column **columns[2]; /* by name: of attributes, of capacities */
    uint32_t ncolumns[2];
    struct strmap shapes;
    uint32_t nvalues; /* of all columns */
    uint32_t nmoved;  /* values and names at the last device_names_replace */
    const struct device_shape *last; /* the shape last met: most often the next one */
    struct strbuf key;               /* scratch */
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
    bool bad;     /* of a column: a version that is no semantic version */
    uint32_t n;   /* of a list */
    union {
        int64_t i;
        bool b;
        struct str s; /* string; also a version's text */
        const int64_t *ints;
        const bool *bools;
        const struct str *strings; /* also versions, as published */
    };
    /* Parsed, of what a column or device_expr_derive gives: one for VERSION, n for
     * VERSIONS; NULL if bad. */
    const struct semver *versions;
};

struct device_attr {
    struct str name; /* as published */
    struct device_attr_value value;
};

struct device_capacity_policy; /* api/view.h */

struct device_capacity {
    struct str name; /* as published */
    struct quantity value;
    const struct device_capacity_policy *policy; /* NULL: none */
};

/* A value in a column: as published, and ready for CEL. It stays where it is. */
struct device_value {
    struct cel_value cel;
    union {
        struct device_attr_value attr;
        struct quantity quantity; /* of a capacity */
    };
};

/* Values in blocks, each twice as long as the one before, the first of 4. */
enum { DEVICE_BLOCKS = 30 };
struct device_column {
    struct device_column *next;
    uint32_t id;   /* of the name */
    uint32_t n;    /* codes are 1 ... n */
    bool capacity; /* else of attributes */
    struct device_value *blocks[DEVICE_BLOCKS];
    struct device_code *slots; /* private: of codes by hash, mask + 1; NULL while few */
    uint32_t mask, last;
};

static inline const struct device_value *device_value_at(const struct device_column *c,
                                                         uint32_t code)
{
    uint32_t at = code + 3, block = (uint32_t)__builtin_clz(at) ^ 31;
    return &c->blocks[block - 2][at - (UINT32_C(1) << block)];
}

struct device_shape {
    struct str driver;
    struct cel_value driver_value;
    bool allow_multiple;
    uint32_t nattrs, ncapacities;
    /* Attributes, then capacities, both by ascending ids. */
    const uint32_t *ids;
    const struct str *names; /* as published */
    struct device_column *const *columns;
    const struct device_source *source; /* private: the order it was read in */
};

struct device_facts {
    const struct device_shape *shape;
    const uint32_t *codes; /* in the shape's order; always one at least is readable */
    const struct device_capacity_policy *const *policies; /* per capacity; NULL: none */
    /* NULL unless an attribute has no value or a version that is none: the text that
     * every expression on the device fails with (spec 4.1). */
    const struct str *bad;
};

/*
 * Looks up or adds the shape and the values. Of an attribute or capacity that is there in
 * both spellings ("model" and "<driver>/model") the one with the domain counts, the other
 * is dropped; upstream takes either. Nothing is borrowed but the policies; the codes are
 * in the arena, the rest goes with the names. Interns: see device_env.
 */
void device_facts_make(struct device_facts *out, struct device_names *names,
                       struct str driver, const struct device_attr *attrs,
                       uint32_t nattrs, const struct device_capacity *capacities,
                       uint32_t ncapacities, bool allow_multiple, struct arena *a);

/*
 * Starting anew: each device that is left is moved to fresh names, where it says the
 * same, and then these take the place of the old. Codes and policies are written where
 * they are, so that no two devices may share them. What was compiled with the old names
 * is void, memos too; environments are not.
 */
void device_facts_move(struct device_facts *d, struct device_names *fresh,
                       struct arena *scratch);
void device_names_replace(struct device_names *n, struct device_names *fresh);
/* Whether most of what is there came since that was last done. */
bool device_names_swollen(const struct device_names *n);

static inline struct str device_attr_name(const struct device_facts *d, uint32_t i)
{
    return d->shape->names[i];
}
static inline const struct device_attr_value *device_attr(const struct device_facts *d,
                                                          uint32_t i)
{
    return &device_value_at(d->shape->columns[i], d->codes[i])->attr;
}
static inline struct str device_capacity_name(const struct device_facts *d, uint32_t i)
{
    return d->shape->names[d->shape->nattrs + i];
}
static inline const struct quantity *device_amount(const struct device_facts *d,
                                                   uint32_t i)
{
    i += d->shape->nattrs;
    return &device_value_at(d->shape->columns[i], d->codes[i])->quantity;
}
static inline struct device_capacity device_capacity(const struct device_facts *d,
                                                     uint32_t i)
{
    return (struct device_capacity){device_capacity_name(d, i), *device_amount(d, i),
                                    d->policies ? d->policies[i] : NULL};
}

enum device_env_kind { DEVICE_ENV_NEW, DEVICE_ENV_STORED };

struct device_env_opts {
    enum device_env_kind kind;
    bool consumable_capacity; /* gates; spec 4.4 says what a stored environment forces on
                               */
    bool list_attributes;
    unsigned version; /* minor version of Kubernetes; 0: 37 */
};

/*
 * Making an environment, compiling an expression and making facts intern; whoever shares
 * the names between threads does these three under one lock. Evaluation reads what never
 * moves, and writes to its own arguments alone.
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
/* The same, with all its memory in an arena, for many that go together; each is freed
 * before that is. */
struct device_expr *device_expr_new_in(struct arena *mem, const struct device_env *env,
                                       struct str text, enum device_expr_mode mode,
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
/* A derived attribute's value, in run's arena or the device's; false with *why on error.
 */
bool device_expr_derive(const struct device_expr *x, const struct device_facts *d,
                        struct cel_run *run, struct device_attr_value *out,
                        struct str *why);
/* Any result; errors are values. */
struct cel_value device_expr_value(const struct device_expr *x,
                                   const struct device_facts *d, struct cel_run *run);

/*
 * An expression on many devices. What its parts that read one value said is remembered by
 * the value's code and serves all devices that have it; verdicts, costs and error texts
 * are those of device_expr_match. A memo belongs to one expression, is made by whoever
 * visits the devices and can be kept as long as the names. It asks how long columns are,
 * so no facts may be made meanwhile.
 */
struct device_memo {
    const struct device_expr *expr;
    struct cel_parts program;
    const struct device_shape *shape; /* that the parts are set up for */
    bool complete; /* every part looks at one value: all are remembered */
};
/* Its parts are in the arena, its cells are not. */
void device_memo_init(struct device_memo *m, const struct device_expr *x,
                      struct arena *a);
void device_memo_fini(struct device_memo *m);
enum device_verdict device_memo_match(struct device_memo *m, const struct device_facts *d,
                                      struct cel_run *run, struct str *why);

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
