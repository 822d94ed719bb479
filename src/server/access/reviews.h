/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Questions about users that are asked like objects are created: who is this token, who
 * am I, may somebody do this, what may I do.
 */
#ifndef DRAY_SERVER_ACCESS_REVIEWS_H
#define DRAY_SERVER_ACCESS_REVIEWS_H

#include "server/inner.h"

void review_token(struct request *r);
void review_self(struct request *r);
void review_access(struct request *r);       /* SubjectAccessReview */
void review_local_access(struct request *r); /* the same within a namespace */
void review_self_access(struct request *r);
void review_self_rules(struct request *r);
void token_request_create(struct request *r); /* serviceaccounts/NAME/token */

#endif
