/* SPDX-License-Identifier: Apache-2.0 */
/* Making the cache's objects. */
#ifndef DRAY_STORE_OBJECT_H
#define DRAY_STORE_OBJECT_H

#include "store/cache.h"

/* One reference, the caller's; NULL: decode refused. */
struct cache_object *object_new(const struct cache_opts *opts, struct str key,
                                struct str value, uint64_t revision);

#endif
