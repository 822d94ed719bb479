/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Admission that waits for somebody's answer. Nothing blocks: a plugin that lacks an
 * answer asks for it, sets r->failure.waits and returns false, as if it refused. Whoever
 * handles the request calls awaiting_begin in place of failing, and does all of it again
 * once the answers are there. So a write is made anew from what is stored by then, as
 * after a lost race; where it asks what it has asked before, the answer is at hand.
 *
 * A wait ends with its last answer, or without: when the client has gone, the request has
 * taken too long, or the server stops. Then nothing is waited for anymore, and the
 * request fails by awaiting_fail.
 */
#ifndef DRAY_SERVER_REST_AWAITING_H
#define DRAY_SERVER_REST_AWAITING_H

#include "server/inner.h"

/* A question, as long as the request. Whoever asks has it as the head of what he knows of
 * the answer. */
struct question {
    struct question *next;
    struct awaiting *of;
    struct str text; /* what is asked, all of it: equal texts are asked once */
    bool open;       /* the answer is yet to come */
    void (*cancel)(struct question *q); /* it is not wanted anymore */
};

/* NULL: it was not asked yet. */
struct question *awaiting_find(struct request *r, struct str text);
/* It is asked from now on. text lives as long as the request. false: this request waits
 * for nothing anymore, and has failed. */
bool awaiting_ask(struct request *r, struct question *q, struct str text,
                  void (*cancel)(struct question *q));
/* From the loop, never from within awaiting_ask. The last of them goes on with the
 * request, so q may be gone afterwards. */
void awaiting_answered(struct question *q);
/* Fails the request as one that has waited in vain: of a question that is neither open
 * nor answered. Returns false. */
bool awaiting_fail(struct request *r);
/* Milliseconds that are left to the request. */
uint64_t awaiting_left(struct request *r);

/* What a handler calls when admission returned false: true if it is called once more,
 * again(ctx), from the loop; false: the request was refused. */
bool awaiting_begin(struct request *r, void (*again)(void *ctx), void *ctx);
/* Ends all waits; none begins anymore once the server stops. */
void awaiting_end_all(struct server *s);

#endif
