/* SPDX-License-Identifier: Apache-2.0 */
/* Inside of structural*.c: numbers against their bounds, with Go's conversions. */
#ifndef DRAY_API_STRUCTURAL_NUMBERS_H
#define DRAY_API_STRUCTURAL_NUMBERS_H

#include "api/structural_inner.h"

/* Whole, or as good as whole, and exact as a double. */
bool schema_is_integer(double d);
/* int64(d) as amd64 does it. */
int64_t schema_truncate(double d);

/* How a text goes together with the path of the value. */
enum number_text {
    NUMBER_AT,        /* "PATH in body TEXT" */
    NUMBER_AT_DOUBLE, /* the same, with the value shown as a double */
    NUMBER_WHOLE,     /* the path is in it; it ends in the number that is wrong */
    NUMBER_PLAIN,     /* the same, and the error has no path */
};

struct schema_number_check {
    const struct schema *s;
    struct schema_number n;
    unsigned type;     /* SCHEMA_INTEGER, SCHEMA_NUMBER, or 0 for neither or both */
    struct str format; /* of that type */
    struct str path;
    void (*add)(void *ctx, enum number_text how, struct str text);
    void *ctx;
};
void schema_check_number(const struct schema_number_check *c, struct arena *a);

#endif
