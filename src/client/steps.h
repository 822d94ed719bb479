/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Work that asks a server as it goes, written as if answers were at hand: steps_ask gives
 * the answer to a request, or NULL when it was asked just now. Then the work returns, and
 * is done from its beginning once the answer is there; what it has asked before is
 * answered as it was. So work looks at its caches anew each time, and keeps nothing but
 * the answers.
 */
#ifndef DRAY_CLIENT_STEPS_H
#define DRAY_CLIENT_STEPS_H

#include "base/arena.h"
#include "client/client.h"

struct steps {
    struct client *client;
    struct arena arena;       /* of answers, and of whatever the work makes */
    struct step *asked;       /* all of them */
    void (*again)(void *ctx); /* once the answer is there */
    void *ctx;
};

void steps_init(struct steps *s, struct client *c, void (*again)(void *ctx), void *ctx);
/* Answers that are yet to come are not waited for. */
void steps_fini(struct steps *s);
/* Requests are the same when method, path and body are. The answer lives as long as the
 * steps. */
const struct client_answer *steps_ask(struct steps *s, const struct client_request *q);

#endif
