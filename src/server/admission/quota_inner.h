/* SPDX-License-Identifier: Apache-2.0 */
/* Between the plugin, which says what is to be paid for, and the ledger, which pays. */
#ifndef DRAY_SERVER_ADMISSION_QUOTA_INNER_H
#define DRAY_SERVER_ADMISSION_QUOTA_INNER_H

#include "api/quota.h"
#include "server/admission/admit.h"
#include "server/admission/quota.h"

/* A charge that is kept when its write is made anew. */
struct quota_paid {
    struct quota_paid *next;
    struct str uid; /* of the quota */
    struct amounts amounts;
};

/* Of a request; in its arena. */
struct payment {
    struct payment *next; /* of its round */
    struct admission admission;
    struct quota_world world;
    struct quota_request q;
    struct quota_paid *paid;
    bool due; /* admission has asked for it, and it was not paid yet */
    struct write *w;
    void (*then)(struct write *w, bool ok);
    enum { PAYMENT_OPEN, PAYMENT_MADE, PAYMENT_REFUSED } state;
    struct amounts *charges; /* of each account of the round it is in */
    struct doc *classes;     /* extended resources of DeviceClasses, once looked at */
};

#endif
