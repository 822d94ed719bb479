/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The garbage collector: deletes objects whose owners (ownerReferences) are all gone, and
 * sees to owners that are deleted with their dependents first ("Foreground") or without
 * them ("Orphan"). It watches the metadata of all kinds that can be deleted, custom ones
 * too, and asks the server before it deletes anything. As upstream's
 * (pkg/controller/garbagecollector), with a compare of the whole every minute.
 */
#ifndef DRAY_CONTROL_GARBAGE_H
#define DRAY_CONTROL_GARBAGE_H

#include "client/client.h"

struct garbage;

struct garbage_opts {
    unsigned workers; /* 0: 20, as upstream */
    void (*log)(void *ctx, const char *text);
    void *log_ctx;
};

/* Works from here on, until garbage_free. */
struct garbage *garbage_new(struct client *c, const struct garbage_opts *opts);
void garbage_free(struct garbage *g); /* NULL is fine */
/* Everything there was at the beginning is known. */
bool garbage_ready(const struct garbage *g);

#endif
