/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Paying for a write: the quotas of its namespace are charged, durably, before it is
 * stored, so that what they say is used is never less than what is there, whatever
 * crashes. A write that comes to nothing after all stays charged until the controller
 * counts again, as upstream has it; what can be known to fail is not charged.
 *
 * The writes of a namespace are charged together: while one round of updates is on its
 * way to the store, the next gathers. Other writers of a quota's status, such as the
 * controller, are found out by its revision, and what they left is looked at anew.
 */
#ifndef DRAY_SERVER_ADMISSION_QUOTA_H
#define DRAY_SERVER_ADMISSION_QUOTA_H

#include "server/rest/write.h"

struct quota_ledger;
struct quota_ledger *quota_ledger_new(struct server *s);
/* Once the store is closed. */
void quota_ledger_free(struct quota_ledger *l);

/* true: then was called, or will be, with the write charged or its request failed. false:
 * there is nothing to pay. */
bool quota_pay(struct write *w, void (*then)(struct write *w, bool ok));

#endif
