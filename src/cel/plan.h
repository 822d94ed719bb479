/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside of cel: the form of a program. A program is a tree of nodes, each with a pointer
 * to the code that computes it ("closures"); a value travels in two registers. Unlike a
 * bytecode machine this has no operand stack to move 16-byte values through,
 * short-circuit operators are plain C control flow, and a special case (a field against a
 * constant, a loop of known shape) is just another code pointer. On the benchmark
 * selectors a switch over the same nodes takes 15 to 30 % longer.
 *
 * Costs (spec 4.7 "Run time") are charged where upstream's observer charges them, in the
 * same order, so that the sum is right at any point where an evaluation may stop. When
 * the budget is exceeded an error with CEL_ERROR_FATAL is returned, which every code
 * hands on untouched.
 */
#ifndef DRAY_CEL_PLAN_H
#define DRAY_CEL_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "cel/cel.h"
#include "cel/func.h"

struct cel_node;
struct cel_regex;

struct cel_frame {
    struct cel_run *run;
    const void *const *activations;
    struct cel_value *locals; /* variables of comprehensions, by number */
    uint64_t cost, limit;
    size_t memory_end;       /* the arena may not grow beyond */
    uint32_t ticks;          /* iterations since the last poll for cancellation */
    struct cel_parts *parts; /* of cel_parts_eval */
};

typedef struct cel_value cel_code(const struct cel_node *n, struct cel_frame *f);

/* Kind of a local that has no value yet. */
enum { CEL_UNSET = 0xff };

/* One step below the base of a path: .key, [key], their optional forms, or the last step
 * of has(). */
struct cel_path_step {
    struct cel_value key;        /* constant, unless node is set */
    const struct cel_node *node; /* computes the key */
    bool index;                  /* written with brackets */
    bool optional, test;
};

enum cel_path_root {
    CEL_PATH_NODE, /* any expression */
    CEL_PATH_VARIABLE,
    CEL_PATH_SLOT,
    CEL_PATH_LOCAL,
};

/* Upstream's "attribute". The base is charged 1 when the path is evaluated for its own
 * sake, nothing where it is the branch of a ternary, an index, or under has(); every step
 * that is taken is charged 1. */
struct cel_path {
    uint8_t root;          /* enum cel_path_root */
    bool charged;          /* the base costs 1 */
    bool strict;           /* CEL_ENV_STRICT_PRESENCE */
    bool covered_optional; /* the last step that the slot covers is optional */
    bool covered_test;     /* ... is the test of has(), which load() sees as optional */
    uint16_t covered;      /* steps that the slot stands for */
    uint16_t nsteps;       /* further ones */
    uint32_t var;          /* number of a variable of the environment, or of a local */
    int slot;              /* for load() */
    const struct cel_var_ops *ops;
    const struct cel_node *base; /* the expression; the lazy initial value of a local */
    struct cel_path_step *steps;
};

/* Which values a guarded function takes: a kind, or a type to look at more closely. */
struct cel_guard {
    uint8_t kind;                /* enum cel_kind, or CEL_KINDS: any */
    const struct cel_type *deep; /* NULL: the kind decides */
};

/* One overload that may be meant. */
struct cel_target {
    cel_fn *fn;
    const struct cel_guard *guards; /* NULL: unguarded */
    bool non_strict;
};

struct cel_call {
    const struct cel_node *const *args;
    uint32_t nargs;
    uint32_t ntargets;
    const struct cel_target *targets; /* NULL: the environment has no such function */
    cel_cost_fn *cost;                /* NULL: 1 */
    const char *function;
    bool stops; /* at the first argument that is an error, and is then free */
    const struct cel_regex *regex;
};

struct cel_fold {
    const struct cel_node *range, *init, *condition, *step, *result;
    uint32_t accu, iter, iter2; /* numbers of locals */
    bool two;
};

struct cel_message;

struct cel_node {
    cel_code *code;
    uint32_t id; /* of the syntax tree */
    uint16_t op; /* enum cel_op, for the planner */
    bool flag;   /* see enum cel_op */
    union {
        struct cel_value value;
        struct cel_path path;
        struct cel_call call;
        struct cel_fold fold;
        struct { /* unary and binary operators with code of their own */
            const struct cel_node *a, *b;
            cel_cost_fn *cost; /* NULL: 1 */
            cel_fn *fn;        /* for operands that the code has no short way for */
        } op2;
        struct {
            const struct cel_node *cond, *yes, *no;
        } choice;
        struct { /* && || list; map: keys and values in turn; struct: values */
            const struct cel_node **items;
            const bool *optional; /* per item or entry, NULL: none */
            uint32_t n;
            const struct str *fields; /* of a struct */
            const struct cel_message *message;
            const struct cel_type *record; /* of an object that the host knows */
            struct str type_name;          /* if it is none of these */
        } many;
        struct {
            struct cel_value value;
            uint64_t cost;
        } priced;
        struct {
            const struct cel_node *arg;
            const struct cel_map *set;
        } set;
        struct {
            const struct cel_node *a;
            uint32_t local;
        } local;
        struct {
            const struct cel_node **slots, *result;
            uint32_t first, n; /* locals that hold the slots */
        } block;
        struct cel_part *part;
    };
};

enum cel_op {
    CEL_OP_CONST,
    CEL_OP_PRICED, /* a call of constants, made when planning, still charged */
    CEL_OP_SLOT,   /* a path that is one load and nothing else */
    CEL_OP_PATH,
    CEL_OP_CHOICE, /* ?: */
    CEL_OP_AND,
    CEL_OP_OR,
    CEL_OP_LIST,
    CEL_OP_MAP, /* flag: strict keys */
    CEL_OP_STRUCT,
    CEL_OP_EQ,
    CEL_OP_NE,
    CEL_OP_LT,
    CEL_OP_LE,
    CEL_OP_GT,
    CEL_OP_GE,
    CEL_OP_ADD,
    CEL_OP_SUB,
    CEL_OP_NOT,
    CEL_OP_NOT_FALSE,
    CEL_OP_IN,
    CEL_OP_IN_SET,
    CEL_OP_TEXT_TEST, /* contains, startsWith, endsWith */
    CEL_OP_OR_OPTIONAL,
    CEL_OP_OR_VALUE,
    CEL_OP_CALL,
    CEL_OP_REGEX,
    CEL_OP_FOLD,
    CEL_OP_ALL,    /* flag: exists */
    CEL_OP_BIND,   /* a comprehension over an empty list */
    CEL_OP_APPEND, /* accumulator + [...], in place; flag: b is the literal's only item */
    CEL_OP_INSERT, /* cel.@mapInsert(accumulator, ...), in place; flag: with a whole map
                    */
    CEL_OP_BLOCK,
    CEL_OP_PART, /* of cel_parts, in place of its body */
    CEL_OPS
};

extern cel_code *const cel_codes[CEL_OPS];

/* The code of a path of the given shape. */
cel_code *cel_path_code(const struct cel_path *p);
/* The code of a call with these targets. */
cel_code *cel_call_code(const struct cel_call *c);

struct cel_program_var {
    int *slots;
    uint32_t nslots, cap;
    bool whole;
};

struct cel_program {
    struct arena arena; /* holds the program too; unused if the caller has given one */
    const struct cel_node *root;
    uint32_t nlocals;
    bool track_cost;
    uint32_t nvars;
    struct cel_program_var *vars;
    const struct cel_regex **regexes; /* owned */
    uint32_t nregexes;
};

/* What an evaluation that ran out of budget or was cancelled returns. */
struct cel_value cel_over_budget(struct cel_frame *f);
struct cel_value cel_over_memory(void);

static inline bool cel_is_fatal(struct cel_value v)
{
    return v.kind == CEL_ERROR && (v.aux & CEL_ERROR_FATAL);
}

static inline struct cel_value cel_exec(const struct cel_node *n, struct cel_frame *f)
{
    return n->code(n, f);
}

/* v, after a step that cost so much. */
static inline struct cel_value cel_charge(struct cel_frame *f, uint64_t cost,
                                          struct cel_value v)
{
    f->cost += cost;
    return __builtin_expect(f->cost <= f->limit, 1) ? v : cel_over_budget(f);
}

/* As cel_charge, after a step that may have made a large value. */
static inline struct cel_value cel_charge_made(struct cel_frame *f, uint64_t cost,
                                               struct cel_value v)
{
    if (__builtin_expect(f->run->arena.size > f->memory_end, 0))
        return cel_over_memory();
    return cel_charge(f, cost, v);
}

#endif
