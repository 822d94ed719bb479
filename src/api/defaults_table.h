/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of defaults/ as gen_defaults.py makes them; for defaults*.c alone. */
#ifndef DRAY_API_DEFAULTS_TABLE_H
#define DRAY_API_DEFAULTS_TABLE_H

#include "api/schema.h"
#include "doc/doc.h"

struct defaulting {
    struct arena *a;
    struct str now;
};

/* What no row can say. argument: "" or the text in parentheses. */
typedef void api_default_fn(struct defaulting *c, struct doc *d, const char *argument);
/* Declares, or declares and begins the definition of, the function called name there. */
#define API_DEFAULT(name)                                                                \
    void default_##name(struct defaulting *c, struct doc *d, const char *argument);      \
    void default_##name(struct defaulting *c, struct doc *d, const char *argument)

enum api_default_op {
    API_DEFAULT_SET,   /* when unset */
    API_DEFAULT_PUT,   /* always; nothing to put: the field goes */
    API_DEFAULT_MERGE, /* members that a map lacks */
    API_DEFAULT_CALL,
    API_DEFAULT_NOW,
};

struct api_default_if {
    const char *field;  /* dotted */
    const char *values; /* "A|B"; NULL: set at all */
    bool negated;
    bool where; /* seen from the type's own struct, not from the place */
};

struct api_default_row {
    uint8_t op;
    bool pointer; /* the field: zero is a value */
    bool makes;   /* structs on the way to the field are always there in Go */
    uint8_t nifs;
    const char *place; /* as in edit.h; "": the struct itself */
    const char *field; /* dotted */
    const char *from;  /* a copy of that field; NULL: value */
    const struct doc *value;
    const struct api_default_if *ifs;
    api_default_fn *fn;
    const char *argument;
};

struct api_default_rows {
    const struct api_default_row *rows;
    uint32_t n;
};

struct api_default_rows api_default_rows_of(const struct api_type *t);
/* Whether the type or one inside of it has rows. */
bool api_default_rows_below(const struct api_type *t);

#endif
