/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CEL, the whole library in five calls: parse, check, estimate, plan, eval.
 *
 *   struct cel_issues is = {0};
 *   struct cel_expr *x = cel_compile(env, text, &arena, &is);      // parse + check
 *   struct cel_program *p = cel_program_new(env, x, &opts, &e);    // plan
 *   struct cel_value v = cel_eval(p, activations, &run);           // run.cost, errors as
 * values
 *
 * Nothing here knows Kubernetes objects. A program is immutable and may be shared by
 * threads; a run belongs to one evaluation at a time.
 */
#ifndef DRAY_CEL_CEL_H
#define DRAY_CEL_CEL_H

#include "base/arena.h"
#include "base/err.h"
#include "cel/ast.h"
#include "cel/env.h"
#include "cel/value.h"

struct cel_issue {
    int32_t line;   /* from 1; -1 for recursion errors */
    int32_t column; /* from 1 as printed, in code points */
    uint32_t pos;   /* byte offset in the text */
    struct str msg;
};

struct cel_issues {
    struct cel_issue *v; /* in the order of the source; in the arena of the call */
    uint32_t n;          /* at most 100 */
    uint32_t total;      /* with those that were not kept */
};

/* NULL with issues set on failure. The text must outlive the expression. */
struct cel_expr *cel_parse(const struct cel_env *env, struct str text, struct arena *a,
                           struct cel_issues *issues);
/* Types, then the rules of the environment's flags. Once per expression: it changes the
 * tree (ast.h). */
bool cel_check(const struct cel_env *env, struct cel_expr *x, struct arena *a,
               struct cel_issues *issues);
struct cel_expr *cel_compile(const struct cel_env *env, struct str text, struct arena *a,
                             struct cel_issues *issues);
/* "ERROR: <input>:1:5: undeclared reference ...\n | a + b\n | ....^", joined by newlines.
 */
void cel_issues_print(const struct cel_issues *issues, struct str text,
                      struct strbuf *out);

/* Cost estimate of a checked expression (spec 4.7). Saturates at UINT64_MAX. */
struct cel_range {
    uint64_t min, max;
};
struct cel_range cel_estimate(const struct cel_env *env, const struct cel_expr *x);

struct cel_program_opts {
    bool track_cost;
    /* NULL: memory of its own. Else the program is made there, and is to be freed before
     * the arena is. */
    struct arena *arena;
};

struct cel_program;
/* Takes what it needs from x: x, its text and its arena may go; env must stay. NULL and
 * an error of upstream's text ("program instantiation failed: ...") when planning fails.
 * Unchecked expressions are planned with run-time dispatch by function name. */
struct cel_program *cel_program_new(const struct cel_env *env, const struct cel_expr *x,
                                    const struct cel_program_opts *opts, struct err *e);
void cel_program_free(struct cel_program *p);

/*
 * State of an evaluation. Init once, use for many evaluations; results point into its
 * arena, which the caller resets when the results are no longer needed (cel_run_reset).
 */
struct cel_run {
    struct arena arena;
    uint64_t cost;       /* of the last evaluation */
    uint64_t cost_limit; /* 0: none */
    /* Costs do not bound everything: joining lists is cheap however long they are, and so
     * is comparing lists of lists that share their items. More than so many bytes or
     * comparisons end an evaluation as too much cost does. 0: 64 MiB, 16 million. */
    size_t memory_limit;
    uint64_t work_limit;
    uint64_t work; /* comparisons so far */
    /* Polled every 100 iterations of comprehensions; true interrupts. May be NULL. */
    bool (*cancelled)(void *ctx);
    void *cancel_ctx;
    bool interrupted;
};
void cel_run_init(struct cel_run *run);
void cel_run_fini(struct cel_run *run);
void cel_run_reset(struct cel_run *run);

/* activations[i] belongs to the i-th variable of the environment. */
struct cel_value cel_eval(const struct cel_program *p, const void *const *activations,
                          struct cel_run *run);

/*
 * A program in parts: the operands of its && || !. What a part says that loads one slot
 * and looks at nothing else depends on that value alone. Whoever evaluates a program for
 * many inputs, and knows equal values by equal numbers, gives such a part a cell for each
 * number: where the cell is known nothing is evaluated, and outcome and cost are the
 * same.
 */
enum { CEL_CELL_COST_MAX = (1 << 30) - 1 };
struct cel_cell { /* zero: nothing is known */
    uint32_t known : 1, value : 1, cost : 30;
};
struct cel_node;
struct cel_part {
    const struct cel_node *body;
    uint32_t var;
    int slot;
    bool single; /* else it looks at more than this slot, and has no cells */
    /* The caller's: of an input it is cells[codes[at] & mask], if that is below n. */
    uint32_t n, at, mask;
    struct cel_cell *cells;
};
struct cel_parts {
    const struct cel_program *program;
    const struct cel_node *root;
    struct cel_part **v;
    uint32_t n, nflat;            /* nflat: n if it is one part, or && of parts; else 0 */
    const struct cel_part *asked; /* the part that is evaluated; NULL: none */
    const uint32_t *codes;        /* of the input at hand */
    bool missed; /* set by an evaluation when a part had too few cells; left so */
};
/* In the arena; the program must stay. */
void cel_parts_make(struct cel_parts *out, const struct cel_program *p, struct arena *a);
/* The cell for an input with these codes, or NULL. */
static inline struct cel_cell *cel_part_cell(const struct cel_part *p,
                                             const uint32_t *codes)
{
    uint32_t code = codes[p->at] & p->mask;
    return __builtin_expect(code < p->n, 1) ? &p->cells[code] : NULL;
}
/* Where an evaluation begins: so many parts are known, all true, and what they cost. */
struct cel_parts_start {
    uint32_t known;
    uint64_t cost;
};
/* The outcome and the cost if cells know them, without an evaluation. False: ask
 * cel_parts_eval, which goes on from *start. */
static inline bool cel_parts_known(const struct cel_parts *p, const uint32_t *codes,
                                   struct cel_run *run, bool *value,
                                   struct cel_parts_start *start)
{
    const uint64_t limit = run->cost_limit ? run->cost_limit : UINT64_MAX;
    uint64_t cost = 0;
    *start = (struct cel_parts_start){0, 0};
    for (uint32_t i = 0; i < p->nflat; i++) {
        const struct cel_cell *cell = cel_part_cell(p->v[i], codes);
        if (!cell || !cell->known || cost + cell->cost > limit) {
            *start = (struct cel_parts_start){i, cost};
            return false;
        }
        cost += cell->cost;
        *value = cell->value;
        if (!cell->value)
            break;
    }
    run->cost = cost;
    return p->nflat > 0;
}
/* As cel_eval. */
struct cel_value cel_parts_eval(struct cel_parts *p, struct cel_parts_start start,
                                const void *const *activations, struct cel_run *run);

/* The slots the program loads of each variable, so that a caller can group equal inputs.
 * *whole is set if the variable is also used in other ways. */
uint32_t cel_program_slots(const struct cel_program *p, uint32_t var, int *out,
                           uint32_t max, bool *whole);

#endif
