/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One question to a webhook, and its answer (hook_post.h). Each is asked once for a
 * request (awaiting.h), in the time that the webhook and the request have.
 */
#ifndef DRAY_SERVER_ADMISSION_WEBHOOK_CALL_H
#define DRAY_SERVER_ADMISSION_WEBHOOK_CALL_H

#include "server/admission/hook_post.h"
#include "server/admission/hooks.h"

struct webhook_answer {
    bool there; /* false: it is yet to come, or never will */
    struct hook_answer said;
    struct str uid;    /* that it should have */
    uint64_t asked_ns; /* measure_now */
    double seconds;    /* until it was there */
    bool counted;      /* as a metric: it is looked at each time the write is made anew */
};

/* What was asked: the webhook, the review without its uid, and which time it is. NULL: it
 * was not asked yet. */
struct webhook_answer *webhook_asked(struct request *r, const struct webhook *w,
                                     struct str review, unsigned round);
/* Whether it is yet to come. */
bool webhook_is_open(const struct webhook_answer *answer);
/* Asks. body is the review with the uid. false: the request has failed. */
bool webhook_ask(struct request *r, const struct webhook *w, struct str review,
                 unsigned round, struct str uid, struct str body);

#endif
