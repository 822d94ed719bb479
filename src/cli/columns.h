/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Text in columns as kubectl aligns it: three spaces behind the widest cell, six
 * characters at least, nothing behind the last one.
 */
#ifndef DRAY_CLI_COLUMNS_H
#define DRAY_CLI_COLUMNS_H

#include <stdio.h>

#include "base/arena.h"

enum { COLUMNS_MAX = 64 };

struct columns {
    struct arena arena; /* of lines that wait */
    struct str *lines;  /* COLUMNS_MAX cells each */
    uint32_t n, cap;
    uint32_t ncells;
    size_t widths[COLUMNS_MAX]; /* remembered from flush to flush */
};

void columns_init(struct columns *c);
void columns_fini(struct columns *c);
/* A line of cells, copied; all lines have as many. Cells above COLUMNS_MAX are left out,
 * control characters are shown as kubectl shows them. */
void columns_add(struct columns *c, const struct str *cells, uint32_t n);
void columns_flush(struct columns *c, FILE *out);

#endif
