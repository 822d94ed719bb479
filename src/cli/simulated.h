/* SPDX-License-Identifier: Apache-2.0 */
/* Simulated nodes as a command line asks for them: so many, of which shapes. */
#ifndef DRAY_CLI_SIMULATED_H
#define DRAY_CLI_SIMULATED_H

#include "node/sim.h"

struct simulated {
    struct sim_group *groups;
    uint32_t n;
};

enum { SIMULATED_DEFAULT = UINT32_MAX }; /* one node of each shape */

/* shapes: "h100x8", "h100x8=10,cpu=3", or files; those without a number share nodes
 * evenly. Nodes are named after their shape's name, or the file's. Texts live in a.
 * Errors: shapes that are not there or wrong; nodes that no shape is left for,
 * or fewer than the shapes say. */
bool simulated_read(const char *shapes, uint32_t nodes, struct arena *a,
                    struct simulated *out, struct err *e);
void simulated_release(struct simulated *s);
uint32_t simulated_count(const struct simulated *s);

#endif
