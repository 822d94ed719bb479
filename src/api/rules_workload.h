/* SPDX-License-Identifier: Apache-2.0 */
/* Label selectors of workloads. */
#ifndef DRAY_API_RULES_WORKLOAD_H
#define DRAY_API_RULES_WORKLOAD_H

#include "api/rules_text.h"

/* NULL selects nothing, an empty selector everything. */
bool rules_selects(const struct doc *selector, const struct doc *labels);
/* Is it well-formed? */
bool rules_selector_usable(const struct doc *selector);

#endif
