/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests that have to see what was written before them, by other servers too: they wait
 * until the cache has it. The others, reads that name a version that is here and watches
 * that name any, go on at once; so does everything when nobody shares the store.
 */
#ifndef DRAY_SERVER_REST_CURRENT_H
#define DRAY_SERVER_REST_CURRENT_H

#include "server/inner.h"

/* Calls serve(r), now or later, or answers 504 when the store cannot be asked. */
void current_serve(struct request *r, void (*serve)(struct request *r));

#endif
