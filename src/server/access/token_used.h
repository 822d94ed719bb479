/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When a token that a Secret holds was last used: the day is a label of the Secret, by
 * which a controller finds those that nobody needs anymore (it waits for a year since
 * what the ConfigMap kube-apiserver-legacy-service-account-token-tracking says).
 */
#ifndef DRAY_SERVER_ACCESS_TOKEN_USED_H
#define DRAY_SERVER_ACCESS_TOKEN_USED_H

#include "server/inner.h"

/* Today. Nobody waits for it: a write that fails, or that another was faster than, is
 * tried again with the next use. */
void token_used(struct server *s, struct str namespace, struct str secret);

#endif
