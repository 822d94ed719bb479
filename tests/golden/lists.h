/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The two checked-in lists beside the golden cases: known-failures and differences. Their
 * formats are explained at the top of the files themselves.
 */
#ifndef DRAY_TESTS_GOLDEN_LISTS_H
#define DRAY_TESTS_GOLDEN_LISTS_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/vec.h"
#include "doc/doc.h"

struct known_failure {
    const char *folder, *name, *reason;
    unsigned line; /* 0: not in the file yet */
    bool seen;     /* a case of this name ran */
    bool drop;     /* it passed */
};

struct difference {
    const char *folder, *pattern, *field;
    struct doc want;
    unsigned line;
    bool matched;  /* a case of this name ran */
    bool asked;    /* and its field was compared */
    bool differed; /* and upstream's value was another */
};

struct golden_lists {
    struct arena arena;
    VEC(struct known_failure) known;
    VEC(struct difference) differences;
};

/* A missing file is an empty list. */
bool golden_lists_load(struct golden_lists *l, const char *known_path,
                       const char *differences_path, struct err *e);
void golden_lists_fini(struct golden_lists *l);
/* The entry for a case by its name or id, or NULL. */
struct known_failure *golden_known_find(struct golden_lists *l, const char *folder,
                                        const char *name, const char *id);
void golden_known_add(struct golden_lists *l, const char *folder, const char *name);
/* Writes the file anew: its comments and entries in their order without the dropped ones,
 * then the added ones. */
bool golden_known_save(const struct golden_lists *l, const char *path, struct err *e);

/* The whole file, NUL-terminated, in a. */
bool golden_slurp(const char *path, struct arena *a, struct str *text, struct err *e);
/* Cuts the next line off the front of *rest; false at the end. */
bool golden_next_line(struct str *rest, struct str *line);

#endif
