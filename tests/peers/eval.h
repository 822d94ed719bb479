/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dray-eval: dray as a program that takes the oracle's questions (README.md) and answers
 * in the oracle's form. One table row a mode; a mode of a layer that is not built is not
 * there.
 */
#ifndef DRAY_TESTS_PEERS_EVAL_H
#define DRAY_TESTS_PEERS_EVAL_H

#include <stdbool.h>

#include "base/arena.h"
#include "doc/doc.h"

struct eval {
    struct arena *arena;     /* reset after each answer */
    struct arena *keep;      /* lives as long as the program */
    int repeat;              /* timed batches; 0: no times in the answers */
    struct doc_list devices; /* of --devices */
    void *state;             /* the mode's own, zero at first */
};

struct eval_mode {
    const char *name;
    /* Adds fields to *answer, an empty map; "id" is set already. */
    void (*answer)(struct eval *ev, const struct doc *question, struct doc *answer);
    void (*end)(struct eval *ev); /* may be NULL */
};

/* Fields of the answer. A NULL string is left out. */
void eval_set(struct eval *ev, struct doc *map, const char *key, struct doc value);
void eval_set_str(struct eval *ev, struct doc *map, const char *key, struct str s);
void eval_set_int(struct eval *ev, struct doc *map, const char *key, int64_t v);
void eval_set_bool(struct eval *ev, struct doc *map, const char *key, bool v);
/* The shortest digits that read back, as Go's %g prints them. */
void eval_set_double(struct eval *ev, struct doc *map, const char *key, double v);

/* Median time of one call of f in ns, over n batches that are long against the clock. */
double eval_median(int n, void (*f)(void *ctx), void *ctx);

#endif
