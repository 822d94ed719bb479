/* SPDX-License-Identifier: Apache-2.0 */
/* What eviction.c does with a key of taints.h: deletes a pod, or writes a rule's status.
 */
#ifndef DRAY_CONTROL_EVICTION_WORK_H
#define DRAY_CONTROL_EVICTION_WORK_H

#include "client/worker.h"
#include "control/taints.h"

struct eviction_work { /* first in the context of the worker */
    struct taints taints;
    struct strmap rules; /* name -> struct object: all of them */
};

void eviction_work_init(struct eviction_work *e, const struct taints_ops *ops, void *ctx);
void eviction_work_fini(struct eviction_work *e);
/* Before taints_on_rule. */
void eviction_keep_rule(struct eviction_work *e, const struct object *old,
                        const struct object *now);

enum progress eviction_sync(struct work *w);

#endif
