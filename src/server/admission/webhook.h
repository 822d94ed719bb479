/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside of webhooks: a call of one of them, from the review to what it said.
 */
#ifndef DRAY_SERVER_ADMISSION_WEBHOOK_H
#define DRAY_SERVER_ADMISSION_WEBHOOK_H

#include "server/admission/hooks.h"
#include "server/admission/review.h"
#include "server/admission/webhook_call.h"

enum webhook_end {
    WEBHOOK_WAITS,   /* or the request failed: r->failure says which */
    WEBHOOK_FAILED,  /* the call: why says how */
    WEBHOOK_REFUSED, /* r->failure says so */
    WEBHOOK_ALLOWED,
};

struct webhook_said {
    enum webhook_end end;
    struct str why;
    bool patched;
    struct doc patch;              /* a list of operations */
    unsigned code;                 /* that a failed call counts as; 0: its own */
    struct webhook_answer *answer; /* NULL: it was not asked */
};

/* Asks, or looks at what was answered; round: 0, or 1 when it is called again. */
struct webhook_said webhook_call(struct admission *a, struct webhook *w,
                                 const struct resource *as, unsigned round,
                                 bool mutating);
/* Counts what it said, once; broken: its patch could not be applied. */
void webhook_count(struct admission *a, const struct webhook *w,
                   const struct webhook_said *said, bool mutating, bool broken);
/* Whether it is to be called, and about which version. false: it is not; or the request
 * failed, and *ok is false. */
bool webhook_wanted(struct admission *a, struct webhook *w, bool mutating,
                    const struct resource **as, bool *ok);
/* A call that failed where that counts: 500; false. */
bool webhook_fail(struct admission *a, const struct webhook *w, struct str why);

#endif
