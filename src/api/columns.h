/* SPDX-License-Identifier: Apache-2.0 */
/* The columns of custom resources' tables: additionalPrinterColumns. */
#ifndef DRAY_API_COLUMNS_H
#define DRAY_API_COLUMNS_H

#include "api/jsonpath.h"

struct api_column {
    const char *name, *type, *format, *description;
    int64_t priority;
    struct jsonpath path;
};

struct api_columns { /* behind the name */
    const struct api_column *v;
    uint32_t n;
    const char *list_kind; /* how a list of them is told; the caller's */
};

/* definition is the list, absent or empty: the age alone. What follows a path that cannot
 * be read is left out. Everything lives in the arena. */
struct api_columns api_columns_read(const struct doc *definition, struct arena *a);
struct doc api_columns_definitions(const struct api_columns *c, struct arena *a);
/* now: nanoseconds since 1970 */
struct doc api_columns_cells(const struct api_columns *c, const struct doc *object,
                             int64_t now, struct arena *a);

#endif
