/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions, macros and libraries as tables. A library is a set of rows; an environment
 * (env.h) takes the rows that its version has. Adding a function is adding a row.
 */
#ifndef DRAY_CEL_FUNC_H
#define DRAY_CEL_FUNC_H

#include <stdbool.h>
#include <stdint.h>

#include "cel/value.h"

struct cel_run;

/*
 * args: receiver first when the overload is a member. Strict functions never see an error
 * value (the interpreter returns the first error instead). The checker may have left
 * several candidates: fn is called only for the row whose argument kinds fit.
 */
typedef struct cel_value cel_fn(struct cel_run *run, const struct cel_value *args,
                                unsigned n);

struct cel_overload {
    const char *id;       /* upstream's: "string_index_of_string" */
    const char *function; /* "indexOf", "_+_" */
    const char
        *type; /* "(string, string) -> int", receiver first; cel_type_parse's notation */
    bool member;
    bool non_strict; /* sees errors among its arguments */
    uint8_t since;   /* minor version of Kubernetes, 0 always */
    uint8_t until;   /* first minor version without it, 0 never */
    cel_fn *fn; /* NULL: the planner makes code of it (logic, ternary, index, @in, ...) */
    /* fn is called whatever the kinds of its arguments are (the first row of the
     * function, when several are left), and refuses them itself. */
    bool unguarded;
};

/*
 * Run-time cost of a call (spec 4.7 "Rows"). Looked up by overload id first, then by
 * function name; without a row a call costs 1. Charged after the call, whatever its
 * result is.
 */
typedef uint64_t cel_cost_fn(const struct cel_value *args, unsigned n,
                             struct cel_value result);

struct cel_cost_row {
    const char *overload; /* one of the two is NULL */
    const char *function;
    cel_cost_fn *cost;
};

/* ceil(size * 0.1) and ceil(size * 0.25) as IEEE doubles compute them (spec 4.7). */
uint64_t cel_cost_string(uint64_t size);
uint64_t cel_cost_regex(uint64_t size);

/*
 * A macro replaces a call by another tree. expand returns NULL to leave the call as it
 * is, or reports through cel_macro_error and returns NULL with *failed set.
 */
struct cel_ast;
struct cel_parser;
typedef struct cel_ast *cel_macro_fn(struct cel_parser *p, struct cel_ast *call,
                                     bool *failed);

struct cel_macro {
    const char *name;
    bool member;
    int8_t nargs;
    const char
        *target; /* receiver must be this identifier ("cel" of cel.bind), or NULL */
    uint8_t since, until;
    cel_macro_fn *expand;
};

/* A type name that is an identifier of the language ("net.IP", "optional_type"). */
struct cel_type_name {
    const char *name;
    const struct cel_type *type;
    uint8_t since;
};

struct cel_lib {
    const char *name;
    const struct cel_overload *overloads;
    uint32_t noverloads;
    const struct cel_macro *macros;
    uint32_t nmacros;
    const struct cel_cost_row *costs;
    uint32_t ncosts;
    const struct cel_type_name *types;
    uint32_t ntypes;
};

/* One file each. */
extern const struct cel_lib
    cel_lib_standard; /* std_*.c: operators, conversions, macros */
extern const struct cel_lib cel_lib_optional; /* optional.c */
extern const struct cel_lib cel_lib_bindings; /* bindings.c: cel.bind */
extern const struct cel_lib cel_lib_two_var;  /* two_var.c: two-variable comprehensions */
extern const struct cel_lib cel_lib_strings;  /* lib_strings.c: v2 as Kubernetes has it */
extern const struct cel_lib cel_lib_lists;    /* lib_lists.c: cel-go's list extension */
extern const struct cel_lib
    cel_lib_k8s_lists; /* lib_k8s_lists.c: sum min max indexOf ... */
extern const struct cel_lib cel_lib_includes; /* lib_k8s_lists.c */
extern const struct cel_lib cel_lib_sets;
extern const struct cel_lib cel_lib_regex;
extern const struct cel_lib cel_lib_url;
extern const struct cel_lib cel_lib_ip;
extern const struct cel_lib cel_lib_cidr;
extern const struct cel_lib cel_lib_format;
extern const struct cel_lib cel_lib_quantity;
extern const struct cel_lib cel_lib_semver;
/* Outside Kubernetes; for the public conformance suite. */
extern const struct cel_lib cel_lib_strings_latest;
extern const struct cel_lib cel_lib_math;
extern const struct cel_lib cel_lib_encoders;
extern const struct cel_lib cel_lib_block;
extern const struct cel_lib cel_lib_network; /* cel-go's own ip and cidr functions */

#endif
