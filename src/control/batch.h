/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Many requests of the same sort, a few at first and twice as many with each round that
 * went well, so that what the server refuses every time is not asked hundreds of times.
 * After a round with a failure no further one begins.
 */
#ifndef DRAY_CONTROL_BATCH_H
#define DRAY_CONTROL_BATCH_H

#include "client/client.h"
#include "doc/doc.h"

struct batch;

struct batch_request {
    const char *method;
    struct str path;
    const char *type;       /* of the body; NULL: JSON */
    const struct doc *body; /* or NULL */
    void *ctx;              /* of the request, for the one who is told */
};

struct batch_ops {
    /* The answer to one. */
    void (*answered)(void *ctx, const struct batch_request *q,
                     const struct client_answer *answer);
    /* It was never asked. */
    void (*skipped)(void *ctx, const struct batch_request *q);
    bool (*is_fine)(const struct client_answer *answer); /* NULL: it is when it is ok */
    /* All of it is over; from the loop. */
    void (*done)(void *ctx);
};

/* The requests outlive the batch. first: how many the first round has; 0: all at once. */
struct batch *batch_new(struct client *c, const struct batch_request *requests,
                        uint32_t n, uint32_t first, const struct batch_ops *ops,
                        void *ctx);
/* Answers that are yet to come are not waited for. NULL is fine. */
void batch_free(struct batch *b);
bool batch_is_done(const struct batch *b);
/* What the first failure said; NULL: all went well. */
const char *batch_failure(const struct batch *b);

#endif
