/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Regular expressions with Go's syntax and Go's error texts, on RE2 (spec 4.6). A
 * compiled expression is immutable and may be shared by threads. Matches are unanchored,
 * leftmost first; texts are UTF-8.
 */
#ifndef DRAY_CEL_REGEX_H
#define DRAY_CEL_REGEX_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

#include "base/err.h"
#include "base/str.h"

struct cel_regex;

/* NULL and ERR_INVALID "error parsing regexp: missing closing ): `(`" on failure. The
 * pattern is copied. */
struct cel_regex *cel_regex_new(struct str pattern, struct err *e);
void cel_regex_free(struct cel_regex *re);

bool cel_regex_match(const struct cel_regex *re, struct str text);
/* The first match at or after byte offset from, which must be at a code point; ^ and \b
 * see the text before it. False if there is none. */
bool cel_regex_find(const struct cel_regex *re, struct str text, size_t from,
                    struct str *match);

/* Goes through the matches as Go's FindAll does: they do not overlap, and an empty one
 * right behind another match is left out. Zero-initialise but for re and text. */
struct cel_regex_iter {
    const struct cel_regex *re;
    struct str text;
    size_t pos;      /* where the search goes on */
    size_t previous; /* end of the last match + 1; 0 before the first */
    bool done;
};
bool cel_regex_next(struct cel_regex_iter *it, struct str *match);

/* Whether the text is a pattern that cel_regex_new takes; the error as there. */
bool cel_regex_check(struct str pattern, struct err *e);

#ifdef __cplusplus
}
#endif

#endif
