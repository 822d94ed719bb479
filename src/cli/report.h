/* SPDX-License-Identifier: Apache-2.0 */
/* What a run of placing pods tells people: a table of what was placed, and why the rest
 * was not. */
#ifndef DRAY_CLI_REPORT_H
#define DRAY_CLI_REPORT_H

#include <stdio.h>

#include "cli/place.h"

struct report_opts {
    bool wide;          /* also share IDs */
    bool explain;       /* every reason, not the first few */
    uint64_t max_steps; /* that searches were given */
};

/* pod, node, claim, request -> device. */
void report_table(const struct placement *p, const struct report_opts *opts, FILE *out);
/* One block for each kind of unplaced pod, with the first thing to change. */
void report_unplaced(struct cluster *c, const struct placement *p,
                     const struct report_opts *opts, FILE *out);

#endif
