/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a command has to say about its input: errors and notes with their place, gathered
 * so that all mistakes of all files are told in one run, in the order of files and lines.
 */
#ifndef DRAY_CLI_DIAG_H
#define DRAY_CLI_DIAG_H

#include <stdio.h>

#include "base/arena.h"
#include "base/vec.h"
#include "doc/doc.h"

enum diag_level { DIAG_ERROR, DIAG_NOTE };

struct diag {
    enum diag_level level;
    const char *file;       /* NULL: about no file */
    struct doc_place place; /* line 0: about the file as a whole */
    struct str object;      /* ResourceClaim "ns/name", or empty */
    struct str text;
    struct str advice;     /* what to write instead, or empty */
    struct str expression; /* of CEL: advice comes when all devices are known */
};

struct diags {
    struct arena arena;
    VEC(struct diag) list;
    unsigned errors, notes;
};

void diags_init(struct diags *d);
void diags_fini(struct diags *d);
/* Texts are copied. Returns the entry, valid until the next one. */
struct diag *diags_add(struct diags *d, enum diag_level level, const struct diag *what);
/* Puts those from index on, which are of one file, into the order of its lines; those of
 * the file as a whole come last. */
void diags_sort(struct diags *d, size_t from);
/* Counts one that is not told. */
void diags_skip(struct diags *d, enum diag_level level);
/* "FILE:LINE:COLUMN: OBJECT: TEXT" and an indented line of advice; equal ones once. */
void diags_print(const struct diags *d, FILE *out, bool notes);

#endif
