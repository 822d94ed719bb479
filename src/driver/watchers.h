/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The health service (spec 5.4): kubelets watch, and are told of every device at once, on
 * each change, and so often that nothing they know grows stale.
 */
#ifndef DRAY_DRIVER_WATCHERS_H
#define DRAY_DRIVER_WATCHERS_H

#include "driver/device.h"
#include "grpc/serve.h"

struct driver_watchers;

struct driver_watchers *driver_watchers_new(struct net_loop *l, struct str pool);
void driver_watchers_free(struct driver_watchers *w); /* ends the streams */

/* NodeWatchResources, of both versions. */
void driver_watchers_watch(struct driver_watchers *w, struct grpc_request *r);
/* Copied. Whoever watches is told if anything differs. */
void driver_watchers_set(struct driver_watchers *w, const struct driver_inventory *v);

#endif
