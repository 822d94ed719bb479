/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What Go's encoding/json says of a text that is no JSON. Its words reach the clients of
 * an API server, who know them; the reader (doc.h) says more, and where.
 */
#ifndef DRAY_DOC_JSON_SYNTAX_H
#define DRAY_DOC_JSON_SYNTAX_H

#include "base/arena.h"
#include "base/str.h"

/* As deep as Go goes. */
enum { JSON_SYNTAX_DEPTH = 10000 };

/* Whether text is one JSON value with white space around; false: why is set, in a. Bytes
 * that are no UTF-8 and halves of surrogate pairs are allowed, as there. */
bool json_syntax_check(struct str text, struct arena *a, struct str *why);

#endif
