/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the server knows to tell who asks and what they may: roles and bindings, the pods
 * of nodes, keys and tokens. It follows the cache.
 */
#ifndef DRAY_SERVER_ACCESS_AUTH_H
#define DRAY_SERVER_ACCESS_AUTH_H

#include "server/access/rbac.h"
#include "server/access/token.h"
#include "server/rest/pod_refs.h"

/* How a protocol that carries a token begins. It goes no further than here. */
#define AUTH_PROTOCOL "base64url.bearer.authorization.k8s.io."

enum { AUTH_WATCHES = RBAC_KINDS + 1 };

struct auth {
    struct rbac *rbac;
    struct pod_index *pods;
    struct rules node_rules; /* of the role system:node, as it was made */
    struct tokens *tokens;
    bool anonymous;
    struct cache_watch *watches[AUTH_WATCHES];
    struct auth_follow {
        struct rbac *rbac;
        enum rbac_kind kind;
    } follows[RBAC_KINDS];
    struct arena arena;
};

/* Reads keys and tokens. Errors: a file that cannot be used. */
struct auth *auth_new(struct server *s, const struct server_opts *o, struct err *e);
/* Once the cache is loaded. */
void auth_follow(struct server *s);
/* Before the cache goes. */
void auth_free(struct auth *a);

/* Keys of tokens, for others (openid.c); false: of another path. */
bool openid_serve(struct request *r);

#endif
