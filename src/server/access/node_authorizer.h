/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a kubelet (user system:node:NAME of the group system:nodes) may do beside its
 * roles: with objects that belong to its node or that a pod bound to it refers to; the
 * rest by the rules of the role system:node, which is bound to nobody (spec 6-rbac).
 */
#ifndef DRAY_SERVER_ACCESS_NODE_AUTHORIZER_H
#define DRAY_SERVER_ACCESS_NODE_AUTHORIZER_H

#include "server/access/user.h"

/* *why: a refusal's text, empty where there is none; other users: false and empty. */
bool node_authorize(struct server *s, const struct user *u, const struct attributes *want,
                    struct arena *a, struct str *why);
/* The node that the user is; STR_NONE: it is none. Empty: a node without a name. */
struct str node_of_user(const struct user *u);

#endif
