/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Objects of types that a host adds to an environment (cel_record_type): the fields that
 * an expression gave them, in its order.
 */
#ifndef DRAY_CEL_RECORD_H
#define DRAY_CEL_RECORD_H

#include "cel/value.h"

struct cel_field_value {
    struct str name;
    struct cel_value value; /* CEL_UNSET: left out (?field: optional.none()) */
};

struct cel_record {
    struct cel_object object; /* first */
    const struct cel_field_value *fields;
    uint32_t n;
};

/* Takes the fields; those that are left out are none. */
struct cel_value cel_record_make(struct cel_run *run, const struct cel_type *type,
                                 struct cel_field_value *fields, uint32_t n);
/* NULL: another value. */
const struct cel_record *cel_record_of(struct cel_value v);
/* NULL: it has no such field. */
const struct cel_value *cel_record_get(const struct cel_record *r, struct str field);

#endif
