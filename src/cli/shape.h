/* SPDX-License-Identifier: Apache-2.0 */
/* Pods that are alike: a text that is equal for pods with equal needs and equal claims.
 */
#ifndef DRAY_CLI_SHAPE_H
#define DRAY_CLI_SHAPE_H

#include "cli/podclaims.h"

struct str shape_text(const struct waiting_pod *pod, struct work_claim *const *claims,
                      uint32_t nclaims, struct arena *a);

#endif
