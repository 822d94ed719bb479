/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether needs can be met from supplies: a small transport problem, solved by
 * augmenting paths. need[i] units are wanted by i, room[j] are there of j, and i may take
 * at most cap[i * nright + j] of j.
 */
#ifndef DRAY_ALLOC_FLOW_H
#define DRAY_ALLOC_FLOW_H

#include <stdbool.h>
#include <stdint.h>

struct flow {
    uint32_t nleft, nright;
    uint32_t *need, *room; /* spent by flow_saturates */
    uint32_t *cap;
    uint32_t *x;                  /* scratch, like cap */
    uint32_t *from, *via, *queue; /* scratch of nleft */
};

bool flow_saturates(struct flow *f);

#endif
