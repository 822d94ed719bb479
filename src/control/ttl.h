/* SPDX-License-Identifier: Apache-2.0 */
/* Deletes Jobs spec.ttlSecondsAfterFinished after they have ended, pods first. */
#ifndef DRAY_CONTROL_TTL_H
#define DRAY_CONTROL_TTL_H

#include "control/workload.h"

struct ttl;

/* Works from here on, until ttl_free; the informers are the shared ones. */
struct ttl *ttl_new(struct shared *shared, const struct workload_opts *opts);
void ttl_free(struct ttl *t);

#endif
