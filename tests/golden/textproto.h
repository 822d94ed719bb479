/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Protobuf's text format without a schema: messages of named fields, in source order.
 * Enough for test data; extensions and Any names in brackets are names like others.
 */
#ifndef DRAY_TESTS_GOLDEN_TEXTPROTO_H
#define DRAY_TESTS_GOLDEN_TEXTPROTO_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

struct tp_field {
    struct str name;
    const struct tp_message *message; /* NULL: a scalar */
    struct str text;                  /* a scalar as written; of a string, its bytes */
    bool quoted;
    unsigned line; /* from 1 */
    const struct tp_field *next;
};

struct tp_message {
    const struct tp_field *first;
};

/* Everything lives in the arena; the text must outlive it. */
const struct tp_message *tp_parse(struct str text, struct arena *a, struct err *e);

/* First field of a name, or the next one after it; NULL: none. m may be NULL. */
const struct tp_field *tp_field(const struct tp_message *m, const char *name);
const struct tp_field *tp_next(const struct tp_field *f);
/* Of the first field of a name: the message, NULL if none; the text, empty if none. */
const struct tp_message *tp_message(const struct tp_message *m, const char *name);
struct str tp_text(const struct tp_message *m, const char *name);
bool tp_flag(const struct tp_message *m, const char *name);

#define tp_each(m, field_name, f)                                                        \
    for (const struct tp_field *f = tp_field((m), (field_name)); f; f = tp_next(f))

#endif
