/* SPDX-License-Identifier: Apache-2.0 */
/* Tables that a server has made, as kubectl prints them. */
#ifndef DRAY_CLI_ROWS_H
#define DRAY_CLI_ROWS_H

#include "cli/columns.h"
#include "cli/discovery.h"

struct rows_opts {
    bool wide, no_headers, show_labels, namespaces, kinds;
    const char *label_columns; /* "KEY,KEY"; NULL: none */
    const char *sort_by;       /* a path into objects; NULL: as they come */
};

struct rows {
    const struct rows_opts *opts;
    struct columns columns;
    const struct resource *resource; /* of the table that is printed; NULL: none yet */
    const struct doc *definitions;   /* of its columns: a watch tells them once */
};

extern const char ROWS_ACCEPT[]; /* what a request for a table accepts */

void rows_init(struct rows *r, const struct rows_opts *opts);
void rows_fini(struct rows *r);
/* A table of one kind; another kind than before begins another table. The number of its
 * rows. */
uint32_t rows_add(struct rows *r, const struct resource *of, const struct doc *table,
                  struct arena *a);
void rows_flush(struct rows *r);

#endif
