/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside of cel: "...".format([...]). Two dialects: the one Kubernetes froze (numbers in
 * English notation, "1,234.500000", "1.234568×10⁰⁴", "∞"; texts in lists quoted) and the
 * public specification's. The walk over a format text is shared by the functions and by
 * the check at compile time.
 */
#ifndef DRAY_CEL_LIB_STRINGS_FORMAT_H
#define DRAY_CEL_LIB_STRINGS_FORMAT_H

#include "cel/lib.h"

struct cel_value cel_format_frozen(struct cel_run *run, const struct cel_value *args,
                                   unsigned n);
struct cel_value cel_format_latest(struct cel_run *run, const struct cel_value *args,
                                   unsigned n);

enum { FORMAT_NO_PRECISION = -1 };

struct format_clause {
    char letter;
    int64_t precision;
};

/* What a clause takes: bits 1 << kind, of values and of static types. */
struct format_verb {
    char letter;
    uint32_t values, types;
    const char *refused; /* "..., was given " */
};

struct format_dialect {
    const struct format_verb *verbs;
    unsigned nverbs;
    int64_t max_precision; /* 0: none */
};

extern const struct format_dialect format_frozen, format_latest;

/* Who reads a format text. */
struct format_reader {
    const struct format_dialect *dialect;
    uint64_t nargs;
    bool text_first; /* a clause cut short is reported before a missing argument */
    /* One clause for argument index; false with the reason in error. */
    bool (*clause)(void *ctx, const struct format_verb *verb,
                   const struct format_clause *c, uint64_t index, struct strbuf *error);
    void (*plain)(void *ctx, struct str text); /* what stands between; may be NULL */
    void *ctx;
};

/* *used: arguments asked for. */
bool format_read(struct str text, const struct format_reader *r, uint64_t *used,
                 struct strbuf *error);

#endif
