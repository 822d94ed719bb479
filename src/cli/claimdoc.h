/* SPDX-License-Identifier: Apache-2.0 */
/* ResourceClaims as they would stand in the API after a run, ready for kubectl. */
#ifndef DRAY_CLI_CLAIMDOC_H
#define DRAY_CLI_CLAIMDOC_H

#include "cli/podclaims.h"
#include "doc/doc.h"

/* A v1 List of every claim this run allocated or reserved. */
struct doc claim_list_doc(const struct work_claims *w, struct str now, struct arena *a);
/* Stands for the UID of a pod that is not created yet: a UUID made of its name. */
struct str claim_pod_uid(struct str namespace, struct str name, struct arena *a);
/* The share ID of the n-th share of a claim's result: a UUID made of claim and number, so
 * that equal runs write equal files. */
struct str claim_share_id(const struct work_claim *c, uint32_t share, struct arena *a);

#endif
