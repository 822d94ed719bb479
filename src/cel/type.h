/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CEL types. Immutable; simple ones are process-wide constants, composed ones live in the
 * arena they were made in. Compare with cel_type_equal, never by pointer.
 */
#ifndef DRAY_CEL_TYPE_H
#define DRAY_CEL_TYPE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/str.h"

enum cel_type_kind {
    CEL_T_ERROR, /* a type error was reported below; fits everywhere */
    CEL_T_DYN,
    CEL_T_ANY, /* google.protobuf.Any: as dyn, but no range of a comprehension */
    CEL_T_NULL,
    CEL_T_BOOL,
    CEL_T_INT,
    CEL_T_UINT,
    CEL_T_DOUBLE,
    CEL_T_STRING,
    CEL_T_BYTES,
    CEL_T_DURATION,
    CEL_T_TIMESTAMP,
    CEL_T_LIST,   /* params: element */
    CEL_T_MAP,    /* params: key, value */
    CEL_T_TYPE,   /* params: the type it names, or none */
    CEL_T_PARAM,  /* type variable <A>; name "A" */
    CEL_T_OPAQUE, /* named, with parameters: optional_type(T), kubernetes.Quantity, net.IP
                   */
    CEL_T_OBJECT, /* named, with fields: kubernetes.DRADevice */
    CEL_T_WRAPPER, /* nullable scalar of protobuf wrappers; params: the scalar */
};

struct cel_object_type;

struct cel_type {
    uint8_t kind;
    uint8_t nparams;
    const char *name; /* of PARAM, OPAQUE, OBJECT; NULL otherwise */
    const struct cel_type *const *params;
    const struct cel_object_type *object; /* CEL_T_OBJECT */
};

struct cel_field {
    const char *name;
    const struct cel_type *type;
};

struct cel_object_type {
    const char *name;
    const struct cel_field *fields;
    uint32_t nfields;
};

extern const struct cel_type cel_type_error, cel_type_dyn, cel_type_any, cel_type_null,
    cel_type_bool, cel_type_int, cel_type_uint, cel_type_double, cel_type_string,
    cel_type_bytes, cel_type_duration, cel_type_timestamp;
extern const struct cel_type cel_type_list_dyn, cel_type_map_dyn, cel_type_type;

const struct cel_type *cel_type_list(struct arena *a, const struct cel_type *elem);
const struct cel_type *cel_type_map(struct arena *a, const struct cel_type *key,
                                    const struct cel_type *value);
const struct cel_type *cel_type_of(struct arena *a,
                                   const struct cel_type *t); /* type(t) */
const struct cel_type *cel_type_opaque(struct arena *a, const char *name,
                                       const struct cel_type *const *params, unsigned n);
const struct cel_type *cel_type_optional(struct arena *a, const struct cel_type *t);
bool cel_type_is_optional(const struct cel_type *t);
bool cel_type_equal(const struct cel_type *a, const struct cel_type *b);
/* As users and error texts write it: "list(string)", "kubernetes.Quantity", "<A>". */
void cel_type_print(const struct cel_type *t, struct strbuf *out);
/* Reads the notation of cel_type_print (and of golden/cel/overloads.jsonl). NULL: bad
 * text. */
const struct cel_type *cel_type_parse(struct arena *a, struct str text);

#endif
