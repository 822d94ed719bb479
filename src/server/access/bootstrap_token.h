/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bootstrap tokens, with which a machine asks for its first certificate: "ID.SECRET", as
 * the Secret bootstrap-token-ID in kube-system says. Who shows one is system:bootstrap:ID
 * in system:bootstrappers and the groups that the Secret adds.
 */
#ifndef DRAY_SERVER_ACCESS_BOOTSTRAP_TOKEN_H
#define DRAY_SERVER_ACCESS_BOOTSTRAP_TOKEN_H

#include "server/access/user.h"

/* false: it is none, or none that may be used now. */
bool bootstrap_token_check(struct server *s, struct str token, struct arena *a,
                           struct user *out);

#endif
