/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables: objects as rows for people (spec 6). Every column of a kind is a row of data in
 * printers.c. Tables are always wide; clients hide columns of priority 1.
 */
#ifndef DRAY_API_PRINTERS_H
#define DRAY_API_PRINTERS_H

#include "api/columns.h"

enum api_include { API_INCLUDE_METADATA, API_INCLUDE_NONE, API_INCLUDE_OBJECT };

struct api_print {
    struct arena *a;
    int64_t now; /* nanoseconds since 1970 */
    enum api_include include;
    bool no_headers;
    const char *version;               /* of meta.k8s.io, in rows; NULL: v1 */
    const struct api_columns *columns; /* of a custom resource; NULL: the kind's own */
};

/*
 * A meta.k8s.io/v1 Table of an object, or of a list's items. The kind is what the object
 * or list says; kinds without columns of their own get a name and a time. Strings of the
 * object are shared. Objects are canonical and defaulted.
 */
struct doc api_table(const struct api_print *p, const struct doc *object);

/* What is an object's metadata wherever it goes alone: the annotation that counts a
 * DaemonSet's templates is a field of it to upstream. */
struct doc api_metadata_of(const struct doc *object, struct arena *a);

#endif
