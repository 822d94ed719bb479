/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One pass over a JSON text that builds nothing: whether it is JSON, and where a few
 * values of it are. Some twenty times faster than reading it.
 */
#ifndef DRAY_DOC_JSON_SCAN_H
#define DRAY_DOC_JSON_SCAN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/str.h"

struct json_want {
    struct str path; /* names of members, with dots between: "spec.nodeName" */
    struct str raw;  /* the first value there, as it is written; STR_NONE: none */
};

enum { JSON_WANTS = 64 }; /* at most */

/*
 * Whether text is one JSON value with white space around; raw is set then. False also for
 * what is JSON but unusual: nested deeper than DOC_MAX_DEPTH, halves of surrogate pairs,
 * bytes that are no UTF-8. doc_read_json says what that is, and doc_write_json writes it
 * so that it can be scanned. Names that are written with escapes are no names of a path.
 */
bool json_scan(struct str text, struct json_want *wants, uint32_t n);

/* Of a value that json_scan found. What a string says, in a where it has escapes; false
 * for other values. */
bool json_raw_string(struct str raw, struct arena *a, struct str *out);
/* The next member of a map; *at is its text at first, what is left of it then. */
bool json_raw_member(struct str *at, struct str *key, struct str *value);

#endif
