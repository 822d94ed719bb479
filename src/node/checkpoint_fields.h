/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside of checkpoint: fields as encoding/json finds them. Names match without regard to
 * case, the last of equal ones counts, null is absent, another type is an error.
 */
#ifndef DRAY_NODE_CHECKPOINT_FIELDS_H
#define DRAY_NODE_CHECKPOINT_FIELDS_H

#include "doc/doc.h"

/* NULL: absent or null. */
const struct doc *go_field_find(const struct doc *map, const char *name);
/* *out is NULL when it is absent. */
bool go_field_of_type(const struct doc *map, const char *name, enum doc_type type,
                      const struct doc **out, struct err *e);
bool go_field_text(const struct doc *map, const char *name, struct str *out,
                   struct err *e);
bool go_field_texts(const struct doc *map, const char *name, struct arena *a,
                    const struct str **out, uint32_t *n, struct err *e);
bool go_field_int64(const struct doc *map, const char *name, int64_t *out, struct err *e);
/* d must be of that type; null is none. */
bool go_field_is(const struct doc *d, enum doc_type type, struct err *e);
/* One value, which may be null, and nothing behind it. */
bool go_field_parse(struct str text, const char *what, struct arena *a, struct doc *out,
                    struct err *e);

/* As Go writes: no blanks, <, > and & escaped. */
struct str go_field_print(const struct doc *d, struct arena *a);
struct doc go_field_list(const struct str *v, uint32_t n, struct arena *a);

#endif
