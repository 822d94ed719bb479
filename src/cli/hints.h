/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What to write instead, as api/hints.h, where it takes a look at the cluster: advice on
 * expressions. Texts live in a.
 */
#ifndef DRAY_CLI_HINTS_H
#define DRAY_CLI_HINTS_H

#include "api/hints.h"
#include "cel/cel.h"
#include "cli/cluster.h"

/* A CEL expression that is refused: by the compiler, or for its cost. Knows the devices
 * of the cluster. */
struct str hint_for_cel(struct cluster *c, struct str expression, struct str message,
                        struct arena *a);
/* An expression that compiles and hardly means what it says. */
struct str hint_for_accepted(struct cluster *c, struct str expression, struct arena *a);
/* An error of a selector on a device ("no such key: model"); of the n expressions it is
 * one that reads that key. */
struct str hint_for_runtime(struct str error, const struct str *expressions, uint32_t n,
                            struct arena *a);

#endif
