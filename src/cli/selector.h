/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Why a selector picks no device at all: which of its parts joined by && no device
 * satisfies, and what the devices have in that place instead.
 */
#ifndef DRAY_CLI_SELECTOR_H
#define DRAY_CLI_SELECTOR_H

#include "cli/cluster.h"

/* "no device has ... ; productName is \"NVIDIA L4\" on 2 devices, ..."; empty: each part
 * has devices that satisfy it, or none can be told. Only the devices that satisfy every
 * expression of others (n of them) count, where there are any. */
struct str selector_advice(struct cluster *c, struct str expression,
                           const struct str *others, uint32_t nothers, struct arena *a);

#endif
