/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Of watches whose objects a webhook converts (conversion.h): events in their order, each
 * told once the webhook has said what its objects are. Whatever waits is asked about in
 * one review, so that a burst of changes is a few calls.
 *
 * Limits: a watch that lags 10,000 events behind its webhook fails.
 */
#ifndef DRAY_SERVER_REST_WATCH_QUEUE_H
#define DRAY_SERVER_REST_WATCH_QUEUE_H

#include "server/inner.h"

enum { WATCH_QUEUE_MAX = 10000 };

struct watch_queue;
struct watch_queue_ops {
    /* In the version of the request all that it shows is known by now. */
    void (*event)(void *ctx, const struct cache_event *e);
    /* Later than a push, some were told. The queue may be freed within. */
    void (*told)(void *ctx);
    /* Nothing more can be told. The queue may be freed within. */
    void (*failed)(void *ctx, struct str why);
};

/* NULL: no webhook is asked about objects of the request's kind. before: events show what
 * was there before as well. */
struct watch_queue *watch_queue_new(struct request *r, bool before,
                                    const struct watch_queue_ops *ops, void *ctx);
void watch_queue_free(struct watch_queue *q);
/* Takes references; tells at once what it can. false: it lags too far behind. */
bool watch_queue_push(struct watch_queue *q, const struct cache_event *e);
/* Whether all of the objects, CONVERSION_AT_ONCE at most, can be shown. false: then(ctx)
 * follows, which asks again, or failed. */
bool watch_queue_ready(struct watch_queue *q, struct cache_object *const *objects,
                       size_t n, void (*then)(void *ctx));

#endif
