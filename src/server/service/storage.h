/* SPDX-License-Identifier: Apache-2.0 */
/* Where the objects are kept, as the server's options say. */
#ifndef DRAY_SERVER_SERVICE_STORAGE_H
#define DRAY_SERVER_SERVICE_STORAGE_H

#include "base/arena.h"
#include "server/server.h"
#include "store/store.h"

/* The store: the folder's own, or opts->store. how: callbacks. */
struct store *storage_open(const struct server_opts *opts, struct store_opts how,
                           struct arena *a, struct err *e);

#endif
