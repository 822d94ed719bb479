/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keys that wait for work, each once however often it was added, and never worked on
 * twice at a time: what is added meanwhile comes again afterwards. Work that fails comes
 * again after a pause that doubles, up to a limit.
 */
#ifndef DRAY_CLIENT_WORKQUEUE_H
#define DRAY_CLIENT_WORKQUEUE_H

#include "net/http.h"

struct workqueue;

/* Begins work on a key; workqueue_done follows, now or later, exactly once. The key lives
 * until then. */
typedef void workqueue_work(void *ctx, struct str key);

struct workqueue_opts {
    unsigned workers;    /* keys that are worked on at once; 0: 1 */
    uint64_t first_ms;   /* pause after the first failure; 0: 5 */
    uint64_t longest_ms; /* 0: 1,000,000, as client-go */
};

struct workqueue *workqueue_new(struct net_loop *l, const struct workqueue_opts *opts,
                                workqueue_work *work, void *ctx);
/* Not from within work. Work that has begun is not told of: whoever does it stops it
 * before. */
void workqueue_free(struct workqueue *q);
/* The work begins from the loop, never from within. */
void workqueue_add(struct workqueue *q, struct str key);
/* Not before so many milliseconds; of several the earliest counts. */
void workqueue_add_after(struct workqueue *q, struct str key, uint64_t ms);
void workqueue_done(struct workqueue *q, struct str key, bool ok);
/* Keys that wait or are worked on, not those that come later. */
uint32_t workqueue_length(const struct workqueue *q);
/* How often the work of a key has failed since it last went well. */
unsigned workqueue_failures(const struct workqueue *q, struct str key);

#endif
