/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An environment: which functions, macros, types and variables an expression may use, and
 * the dialect's switches. Immutable once made, shared by threads, made rarely.
 */
#ifndef DRAY_CEL_ENV_H
#define DRAY_CEL_ENV_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "cel/func.h"
#include "cel/type.h"

struct cel_run;
struct cel_estimate_row;

/* One constant step below a variable: .name, ["name"], and their optional forms. */
struct cel_step {
    struct str key;
    bool index;    /* ["key"] rather than .key */
    bool optional; /* .?key or [?"key"] */
};

/*
 * How a variable gets its value at run time. "activation" is what cel_eval is given for
 * it.
 *
 * slot() is asked at plan time for a path of constant steps below the variable: it
 * answers with a number that load() understands, and in *used how many of the steps it
 * covers, or -1 for a path it has no short way for (then value() and ordinary steps are
 * used). A load that fails must fail with the error value that the plain steps would
 * give; its len says how many of the covered steps come after the one that fails. Of the
 * covered steps only the last may be optional; then load()
 * gives an optional, none where the plain step would fail.
 */
struct cel_var_ops {
    int (*slot)(void *decl, const struct cel_step *steps, unsigned n, unsigned *used);
    struct cel_value (*load)(const void *activation, int slot, struct cel_run *run);
    struct cel_value (*value)(const void *activation, struct cel_run *run);
};

struct cel_var {
    const char *name; /* may be qualified: "a.b" */
    const struct cel_type *type;
    const struct cel_var_ops
        *ops;   /* NULL: the activation is a const struct cel_value * */
    void *decl; /* for slot() */
    /* Bound on the size of a path for the cost estimate. A step with index set is one of
     * "@items", "@values", "@keys", "@indices", another one the name of a field or key.
     */
    bool (*size)(void *decl, const struct cel_step *steps, unsigned n, uint64_t *max);
    /* Paths that begin with no variable (a type's name, an item of a literal) are asked
     * of this one too, without what they begin with: so upstream estimates the rules of
     * custom resources. */
    bool stray;
};

enum cel_env_flags {
    CEL_ENV_HOMOGENEOUS = 1 << 0, /* list and map literals of one type (validator) */
    CEL_ENV_VALIDATE = 1 << 1,    /* literal durations, timestamps, regular expressions */
    CEL_ENV_CROSS_NUMERIC = 1 << 2, /* int < double and so on compile */
    CEL_ENV_OPTIONAL_SYNTAX = 1 << 3,
    CEL_ENV_FOLD = 1 << 4,       /* fold constants when planning, as the apiserver does */
    CEL_ENV_BACKQUOTES = 1 << 5, /* a.`b/c` */
    /* Map literals: keys bool, int, uint or string, none twice (the language's
     * definition). Without it any key goes and the last of two equal ones wins, as
     * upstream has it. */
    CEL_ENV_STRICT_KEYS = 1 << 6,
    /* An optional step, or has(), below a value that can have no fields is an error and
     * not absent. */
    CEL_ENV_STRICT_PRESENCE = 1 << 7,
};

/* A constant: a value of an enumeration, by its qualified name. */
struct cel_const {
    const char *name;
    const struct cel_type *type;
    struct cel_value value; /* a scalar */
};

/* A type that a host adds: name{field: value} is an object of it (record.h). */
struct cel_record_type {
    struct cel_object_type type;
    bool below; /* and so is every name below it: "Object.spec" */
};

struct cel_env_lib {
    const struct cel_lib *lib;
    uint8_t since, until; /* of the library as a whole, besides its rows */
};

struct cel_env_opts {
    unsigned version; /* minor version; rows with since <= version < until are taken;
                       * 0: all rows, but none with an until (stored expressions) */
    const struct cel_env_lib *libs;
    uint32_t nlibs;
    const struct cel_var *vars;
    uint32_t nvars;
    const struct cel_const *consts;
    uint32_t nconsts;
    const struct cel_record_type *records;
    uint32_t nrecords;
    const struct cel_overload *functions; /* extra declarations (conformance tests) */
    uint32_t nfunctions;
    const char *container; /* name resolution prefix, or NULL */
    unsigned flags;
    uint32_t max_text;  /* code points; 0: 100,000 */
    uint32_t max_depth; /* 0: 250 */
};

struct cel_env;

/* The libraries, the rows of functions and the types must outlive the environment; the
 * rest is copied. Contradictions in the tables abort. */
struct cel_env *cel_env_new(const struct cel_env_opts *opts);
/* The base, which must outlive it, with other variables in place of its own: cheap, since
 * functions, macros and types are the base's. The objects that the variables' types lead
 * to are no names. */
struct cel_env *cel_env_extend(const struct cel_env *base, const struct cel_var *vars,
                               uint32_t nvars);
void cel_env_free(struct cel_env *env);

/* What the checker, planner and estimator look up. NULL: not there. */
const struct cel_var *cel_env_var(const struct cel_env *env, struct str name);
/* All of them, in the order of cel_eval's activations. */
const struct cel_var *cel_env_vars(const struct cel_env *env, uint32_t *n);
const struct cel_type *cel_env_type(const struct cel_env *env, struct str name);

/* NULL: a name of none. */
const struct cel_record_type *cel_env_record(const struct cel_env *env, struct str name);

/* What a name stands for: a variable, a type, or a constant. */
struct cel_ident {
    struct str name;
    const struct cel_type *type;  /* of the name as an expression: type(int) of "int" */
    const struct cel_var *var;    /* NULL: none */
    const struct cel_type *names; /* the type it names, or NULL */
    const struct cel_object_type *message; /* what name{field: value} may set, or NULL */
    const struct cel_const *constant;
};
const struct cel_ident *cel_env_ident(const struct cel_env *env, struct str name);
/* Whether some qualified name ("a.b") of an ident or of a function begins with "first.".
 */
bool cel_env_qualifies(const struct cel_env *env, struct str first);

/* An overload with its parsed signature. */
struct cel_decl {
    const struct cel_overload *row;
    struct str function; /* its name */
    uint32_t noverloads; /* of the function; set in its first */
    uint8_t special;     /* how it is planned: cel_plan_special (planner.h) */
    const struct cel_type *const *args;
    uint32_t nargs;
    const struct cel_type *result;
    uint32_t nparams;  /* type parameters that occur */
    bool generic;      /* mentions a type parameter */
    bool alike;        /* (A, A) -> a type without A: what fits is what fits each other */
    bool dynamic_only; /* the checker passes it over: it serves values whose types are
                          known only at run time */
    cel_cost_fn *cost; /* by overload, else by function; NULL: 1 */
    const struct cel_estimate_row *estimate; /* cel_estimate_find (estimate.h) */
    uint32_t index;                          /* dense in this environment */
};
/* All overloads of a function in declaration order (members and globals together). */
const struct cel_decl *cel_env_function(const struct cel_env *env, struct str name,
                                        uint32_t *n);
/* Run-time cost of calls of a function whose overload is not known before the call: rows
 * by function name only. NULL: 1. */
cel_cost_fn *cel_env_cost(const struct cel_env *env, struct str function);
const struct cel_macro *cel_env_macro(const struct cel_env *env, struct str name,
                                      bool member, unsigned nargs);
/* As given to cel_env_new; the arrays in it may be gone. */
const struct cel_env_opts *cel_env_opts(const struct cel_env *env);
unsigned cel_env_flags(const struct cel_env *env);
const char *cel_env_container(const struct cel_env *env);

#endif
