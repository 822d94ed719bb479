/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside of cel: the cost estimate (spec 4.7 "Estimate"), which bounds what an evaluation
 * may cost before any input is known. The walk over the tree is estimate.c; what a call
 * costs is a row of estimate_rows.c, found once per overload when an environment is made.
 */
#ifndef DRAY_CEL_ESTIMATE_H
#define DRAY_CEL_ESTIMATE_H

#include <stdbool.h>
#include <stdint.h>

#include "cel/cel.h"

/* Arithmetic on ranges; everything saturates at UINT64_MAX. */
uint64_t cel_sat_add(uint64_t a, uint64_t b);
uint64_t cel_sat_mul(uint64_t a, uint64_t b);
uint64_t cel_sat_scale(uint64_t a, double factor); /* ceil(a * factor) in IEEE doubles */
struct cel_range cel_range_add(struct cel_range a, struct cel_range b);
struct cel_range cel_range_mul(struct cel_range a, struct cel_range b);
struct cel_range cel_range_scale(struct cel_range a, double factor);
struct cel_range cel_range_union(struct cel_range a, struct cel_range b);

static inline struct cel_range cel_range_fixed(uint64_t v)
{
    return (struct cel_range){v, v};
}

#define CEL_RANGE_UNKNOWN ((struct cel_range){0, UINT64_MAX})

struct estimate_path;
struct estimator;

/* A receiver or an argument as the rows see it. */
struct cel_operand {
    const struct cel_ast *ast;
    const struct cel_type *type;
    struct cel_range size; /* CEL_RANGE_UNKNOWN unless sized */
    bool sized;
    struct cel_range cost;
    struct estimate_path *path; /* from a variable to here, or NULL */
};

/* A call, seen as one of the overloads that the checker left possible. */
struct cel_estimate_call {
    struct estimator *est;
    const struct cel_ast *ast;
    const struct cel_operand *target; /* NULL: a global call */
    const struct cel_operand *args;   /* without the receiver */
    uint32_t nargs;
    /* Set by a row that bounds the size of the result. */
    struct cel_range size;
    bool sized;
    bool entry; /* the size replaces what earlier overloads said */
};

/* False: this is not the shape of call that the row is about; then it costs 1. */
typedef bool cel_estimate_fn(struct cel_estimate_call *c, struct cel_range *cost);

struct cel_estimate_row {
    const char *name; /* of an overload or of a function */
    cel_estimate_fn *fn;
    bool whole; /* its cost includes what the arguments cost */
};

/* By overload, else by function; NULL: a call costs 1. */
const struct cel_estimate_row *cel_estimate_find(const struct cel_overload *o);

/* ---- What rows may ask of the walk ---- */

/* Type of the elements of a list operand and a bound on their size; false if its static
 * type says nothing about elements. */
bool cel_estimate_element(struct cel_estimate_call *c, const struct cel_operand *list,
                          const struct cel_type **type, struct cel_range *size);
/* The result's entries are those of either operand, where both have known sizes. */
void cel_estimate_join(struct cel_estimate_call *c, const struct cel_operand *a,
                       const struct cel_operand *b);
/* The result is an entry of the operand: a list's item or a map's value. */
void cel_estimate_entry(struct cel_estimate_call *c, const struct cel_operand *of,
                        const char *step);

#endif
