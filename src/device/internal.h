/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside of device: how the variable "device" is bound to a device.
 *
 * A selector's paths become slots when it is compiled: a kind and the id of a name in one
 * number. A device's shape has its names' ids, so that a load is a search among a few
 * numbers. Maps are only built for paths that need them, in the run's arena.
 */
#ifndef DRAY_DEVICE_INTERNAL_H
#define DRAY_DEVICE_INTERNAL_H

#include <stdlib.h>

#include "base/mem.h"
#include "device/device.h"

struct device_name {
    struct str domain, id;
};
/* At the first "/"; without one the driver is the domain. */
struct device_name device_name_split(struct str driver, struct str name);
uint32_t device_name_join(struct device_names *n, struct device_name name);

enum slot_kind {
    SLOT_DRIVER,
    SLOT_MULTIPLE,
    SLOT_ATTRS,       /* device.attributes */
    SLOT_ATTR_DOMAIN, /* device.attributes["d"]; the number is the domain's */
    SLOT_ATTR,        /* device.attributes["d"].id */
    SLOT_CAPACITIES,  /* the same below device.capacity */
    SLOT_CAPACITY_DOMAIN,
    SLOT_CAPACITY,
};

/* From the lowest bit: the kind, whether the last step is optional, the id of a name. */
enum { SLOT_KIND_MASK = 7, SLOT_OPTIONAL = 8, SLOT_ID_SHIFT = 4 };
enum { SLOT_ID_MAX = (1 << 27) - 1 };

static inline enum slot_kind slot_kind(int slot)
{
    return (enum slot_kind)(slot & SLOT_KIND_MASK);
}
static inline uint32_t slot_id(int slot)
{
    return (uint32_t)slot >> SLOT_ID_SHIFT;
}

/* A slot of a compiled expression with its texts, for maps and for error texts. */
struct device_slot {
    int slot;
    struct str domain; /* of SLOT_*_DOMAIN */
    struct str id;     /* of SLOT_ATTR and SLOT_CAPACITY */
};

enum size_bound {
    BOUND_DRIVER = 63,
    BOUND_DOMAIN = 63,
    BOUND_ID = 32,
    BOUND_ENTRIES = 32,
    BOUND_ATTR = 64,
    BOUND_FLAG = 1,
};

struct device_env {
    struct arena arena;
    struct cel_env *cel;
    struct device_names *names;
    const struct cel_type *attr_type; /* V of spec 4.1: any or dyn */
    bool allow_multiple;              /* the variable has this field */
    bool lists;                       /* derived attributes may be lists */
};

struct device_expr {
    const struct device_env *env;
    struct arena own;  /* unless it is made among others */
    struct arena *mem; /* where it is, tree and program too */
    const struct cel_expr *expr;
    struct cel_program *program;
    enum device_expr_mode mode;
    struct device_slot *slots;
    uint32_t nslots;
    bool whole; /* also uses "device" as a value */
};

/* The activation of the variable. */
struct device_binding {
    const struct device_facts *facts;
    const struct device_expr *expr;
    const struct cel_parts *parts; /* of a memo; NULL: none */
};

/* The verdict on a device with facts->bad, and that of a result. */
enum device_verdict device_bad_verdict(const struct device_facts *d, struct cel_run *run,
                                       struct str *why);
enum device_verdict device_verdict_of(struct cel_value v, struct cel_run *run,
                                      struct str *why);

extern const struct cel_var_ops device_var_ops;
bool device_var_size(void *decl, const struct cel_step *steps, unsigned n, uint64_t *max);

struct device_column *device_column(struct device_names *n, uint32_t id, bool capacity);
/* The code of a value, which is added if it is new. */
uint32_t device_column_attr(struct device_names *n, struct device_column *c,
                            const struct device_attr_value *v);
uint32_t device_column_amount(struct device_names *n, struct device_column *c,
                              const struct quantity *q);

/* Index of an id among ascending ones, n if it is not there. */
static inline uint32_t device_id_find(const uint32_t *ids, uint32_t n, uint32_t id)
{
    const uint32_t *at = ids;
    if (n == 0)
        return 0;
    for (uint32_t rest = n; rest > 1;) {
        uint32_t half = rest / 2;
        at += at[half] <= id ? half : 0;
        rest -= half;
    }
    return *at == id ? (uint32_t)(at - ids) : n;
}

enum { NOWHERE = UINT32_MAX };

/* Where a shape has the value of SLOT_ATTR or SLOT_CAPACITY; NOWHERE. */
static inline uint32_t device_slot_at(const struct device_shape *s, int slot)
{
    bool capacity = slot_kind(slot) == SLOT_CAPACITY;
    uint32_t first = capacity ? s->nattrs : 0;
    uint32_t n = capacity ? s->ncapacities : s->nattrs;
    uint32_t i = device_id_find(s->ids + first, n, slot_id(slot));
    return i < n ? first + i : NOWHERE;
}

static inline struct cel_value device_cel(const struct device_facts *d, uint32_t at)
{
    return device_value_at(d->shape->columns[at], d->codes[at])->cel;
}

#endif
