/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Golden cases: recorded answers of the real Kubernetes, one folder a subject, and a
 * runner for each folder that asks dray the same and compares.
 *
 * A runner is one file, tests/golden/<folder>.c ('-' in the folder's name becomes '_'),
 * that defines
 *
 *     static void run_case(struct golden *g, struct golden_case *c)
 *     {
 *         struct str s = doc_get_text(c->doc, "s");
 *         ...
 *         golden_check_str(c, "canonical", doc_get_text(c->doc, "canonical"), got);
 *     }
 *     const struct golden_runner golden_num = {.folder = "num", .run_case = run_case};
 *
 * and a row in the table of tests/golden/meson.build. The frame then reads every line of
 * every *.jsonl file of the folder and calls run_case with it. A case fails when at least
 * one check fails, and counts once whatever the number of its checks.
 *
 * Where dray answers otherwise on purpose, a line in tests/golden/differences gives the
 * value wanted: every golden_check_* looks there first, so a runner need not know. A case
 * that dray does not pass yet stands in tests/golden/known-failures, a list that may only
 * shrink. Both formats are explained at the top of those files.
 */
#ifndef DRAY_TESTS_GOLDEN_H
#define DRAY_TESTS_GOLDEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/str.h"
#include "doc/doc.h"

struct golden_check;
struct golden_frame;

struct golden {
    const char *folder;  /* "num" */
    const char *path;    /* of the folder */
    struct arena *arena; /* lives as long as the folder's run: support data */
    void *data;          /* the runner's own */
    struct golden_frame *frame;
};

struct golden_case {
    const char *id;        /* field "id" of the line; without one, its number as text */
    const char *file;      /* base name: "cases.jsonl" */
    unsigned line;         /* from 1; 0 when unknown */
    const struct doc *doc; /* the line; NULL in announced cases */
    struct arena *arena;   /* reset after the case */

    /* The frame's own from here. */
    struct golden *g;
    const char *name; /* "cases:id": file without suffix, colon, id */
    const char *skip; /* why; NULL: not skipped */
    struct golden_check *checks;
    struct golden_check **last_check;
    unsigned failures;
};

struct golden_runner {
    const char *folder;
    /* Before the first case; false: the folder cannot run (golden_broken said why). */
    bool (*begin)(struct golden *g);
    /* For each line of each *.jsonl that is not named in support. */
    void (*run_case)(struct golden *g, struct golden_case *c);
    /* Instead of or after the lines: takes whole files and announces cases itself. */
    void (*run_folder)(struct golden *g);
    void (*end)(struct golden *g);
    /* "devices.jsonl other.jsonl": files whose lines are no cases. */
    const char *support;
};

/* ---- Checks: each compares one field of the answer. `want` is upstream's value. A check
 * whose field has an entry in differences compares with that entry's value instead.
 * They return whether the values agree. ---- */

bool golden_check_str(struct golden_case *c, const char *field, struct str want,
                      struct str got);
bool golden_check_int(struct golden_case *c, const char *field, int64_t want,
                      int64_t got);
bool golden_check_bool(struct golden_case *c, const char *field, bool want, bool got);
/* Semantic equality (doc_equal); NULL is null. */
bool golden_check_doc(struct golden_case *c, const char *field, const struct doc *want,
                      const struct doc *got);
/* A document without what means nothing in most folders: nulls, empty maps and lists. */
struct doc golden_lean(const struct doc *d, struct arena *a);
/* A failure that is no comparison of two values. */
void golden_fail(struct golden_case *c, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* The case does not apply; it counts as skipped unless a check failed. */
void golden_skip(struct golden_case *c, const char *why);

/* The value to compare with, for runners that compare in a way of their own: the entry of
 * differences for this case and field if there is one, else upstream. Field "*" is by
 * custom the whole answer. */
const struct doc *golden_want(struct golden_case *c, const char *field,
                              const struct doc *upstream);

/* ---- Files of the folder ---- */

/* Base names ending in suffix, sorted; in the folder's arena. */
size_t golden_files(struct golden *g, const char *suffix, const char ***names);
/* The bytes of a file, NUL-terminated, in a. False: golden_broken was called. */
bool golden_read(struct golden *g, const char *file, struct arena *a, struct str *text);
/* The lines of a support file as documents, in the folder's arena. */
bool golden_read_lines(struct golden *g, const char *file, struct doc_list *out);

/* ---- Announced cases (run_folder) ---- */

/* Starts a case; NULL when it was not asked for. Every one is ended before the next. */
struct golden_case *golden_begin(struct golden *g, const char *file, unsigned line,
                                 const char *id);
void golden_end(struct golden_case *c);
/* Something is wrong with the folder itself; counts as one failed case. */
void golden_broken(struct golden *g, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

#endif
