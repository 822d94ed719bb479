/* SPDX-License-Identifier: Apache-2.0 */
/* Inside of cel: the code of nodes, for the table cel_codes (plan.c). */
#ifndef DRAY_CEL_EVAL_H
#define DRAY_CEL_EVAL_H

#include "cel/plan.h"

enum { CEL_LIST_COST = 10 }; /* of a literal, besides its parts */
enum { CEL_LOCALS_ON_STACK = 8 };

enum { CEL_MEMORY_LIMIT = 64 << 20 };

/* Begins an evaluation: of all nodes but locals. */
static inline void cel_begin(struct cel_frame *f, const void *const *activations,
                             struct cel_parts *parts, struct cel_run *run)
{
    size_t memory = run->memory_limit ? run->memory_limit : CEL_MEMORY_LIMIT;
    f->run = run;
    f->activations = activations;
    f->locals = NULL;
    f->cost = 0;
    f->limit = run->cost_limit ? run->cost_limit : UINT64_MAX;
    f->memory_end = run->arena.size + memory;
    f->ticks = 0;
    f->parts = parts;
    run->interrupted = false;
    run->work = 0;
}
/* An evaluation of the program with another root. */
struct cel_value cel_eval_root(const struct cel_program *p, const struct cel_node *root,
                               const void *const *activations, struct cel_parts *parts,
                               struct cel_run *run);

/* Counts an iteration; false when the caller of cel_eval wants to stop. */
bool cel_poll(struct cel_frame *f);
struct cel_value cel_interrupted(void);

enum cel_lookup {
    CEL_LOOKUP_REQUIRED, /* what is not there is an error */
    CEL_LOOKUP_TEST,     /* *present says whether it is there */
    CEL_LOOKUP_STRICT,   /* the same, but a value without fields is an error */
};

cel_code cel_code_const, cel_code_priced, cel_code_slot, cel_code_path, cel_code_choice,
    cel_code_and, cel_code_or, cel_code_list, cel_code_map, cel_code_struct, cel_code_eq,
    cel_code_ne, cel_code_lt, cel_code_le, cel_code_gt, cel_code_ge, cel_code_add,
    cel_code_sub, cel_code_not, cel_code_not_false, cel_code_in, cel_code_in_set,
    cel_code_text_test, cel_code_or_optional, cel_code_or_value, cel_code_call,
    cel_code_regex, cel_code_fold, cel_code_all, cel_code_bind, cel_code_append,
    cel_code_insert, cel_code_block;

#endif
