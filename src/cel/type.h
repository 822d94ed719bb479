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

enum { CEL_TYPE_PARAMS = 8 }; /* no type has more */

/*
 * Make types with the functions below, or as static constants of the simple kinds: they
 * keep weight and var right.
 */
struct cel_type {
    uint8_t kind;
    uint8_t nparams;
    uint16_t weight;  /* nodes of the type written out, saturating; 0 means 1 */
    uint32_t var;     /* of PARAM: its number, from 1; of others: not 0 if a parameter
                         occurs in it */
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
    bool open; /* any other name is a field too, of type dyn */
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
/* A parameter of the given number (from 1); name may be NULL: printed as "_var<n - 1>".
 */
const struct cel_type *cel_type_param(struct arena *a, const char *name, uint32_t var);
const struct cel_type *cel_type_object(struct arena *a, const struct cel_object_type *o);
const struct cel_type *cel_type_wrapper(struct arena *a, const struct cel_type *scalar);
/* As upstream names a result type: "list(string)", "google.protobuf.Any", "null_type",
 * "google.protobuf.Duration", "<A>". */
void cel_type_print(const struct cel_type *t, struct strbuf *out);
/* As upstream's error texts write it: "any", "null", "duration", "timestamp", "A". */
void cel_type_print_short(const struct cel_type *t, struct strbuf *out);
/* The name of the outermost type as a value of CEL prints it: "list", "int",
 * "kubernetes.Quantity", "null_type". Equal names are equal types at run time. */
const char *cel_type_name(const struct cel_type *t);
/* Reads both notations of above (parameters as "<A>" only) and that of
 * golden/cel/overloads.jsonl. Any other name is an opaque type. NULL: bad text. */
const struct cel_type *cel_type_parse(struct arena *a, struct str text);

/* "(list(<A>), <A>) -> int". Parameters are numbered by first occurrence. */
struct cel_signature {
    const struct cel_type *const *args;
    const struct cel_type *result;
    uint32_t nargs;
    uint32_t nparams; /* different type parameters */
};
bool cel_signature_parse(struct arena *a, struct str text, struct cel_signature *out);

#endif
