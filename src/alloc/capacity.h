/* SPDX-License-Identifier: Apache-2.0 */
/* Consumable capacity: what a request takes of a device (spec 3.10). */
#ifndef DRAY_ALLOC_CAPACITY_H
#define DRAY_ALLOC_CAPACITY_H

#include "alloc/alloc.h"

enum capacity_fit { CAPACITY_NO, CAPACITY_FITS, CAPACITY_ERROR };

/* Whether the amounts fit a device of which nothing is consumed (rules 56 to 60).
 * CAPACITY_ERROR is fatal for the pod: an amount cannot be computed. */
enum capacity_fit capacity_check(const struct alloc_features *f,
                                 const struct view_amount *wants, uint32_t nwants,
                                 const struct device_facts *d);
/* The same with the reason in *why, in a. */
enum capacity_fit capacity_explain(const struct alloc_features *f,
                                   const struct view_amount *wants, uint32_t nwants,
                                   const struct device_facts *d, struct str *why,
                                   struct arena *a);
/* The amounts of a device that fits, one per capacity in the device's order. */
void capacity_amounts(const struct alloc_features *f, const struct view_amount *wants,
                      uint32_t nwants, const struct device_facts *d,
                      struct view_amount *out);

#endif
