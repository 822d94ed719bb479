/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compaction on demand: POST /dray/v1/compact?revision=N (without one: the current)
 * makes the store forget its history up to that revision, and answers {"revision": N}
 * once it has: with what it has forgotten, which may be more. Lists and watches from
 * before are 410 then. It is nothing of Kubernetes'; who may do it is decided as for any
 * other path.
 */
#ifndef DRAY_SERVER_REST_COMPACT_H
#define DRAY_SERVER_REST_COMPACT_H

#include "server/inner.h"

/* False: the request is for another path. */
bool compact_serve(struct request *r);

#endif
