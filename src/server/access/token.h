/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bearer tokens: those of service accounts, signed by the server's key or one of those
 * that it was told to trust, and those of a file. What was found valid is believed for
 * ten seconds, as upstream does: so long a deleted account's token may live on.
 */
#ifndef DRAY_SERVER_ACCESS_TOKEN_H
#define DRAY_SERVER_ACCESS_TOKEN_H

#include "net/jwt.h"
#include "server/access/user.h"

struct tokens;
/* Errors: a file that cannot be read or holds no key, a key that cannot sign. */
struct tokens *tokens_new(struct server *s, const struct server_opts *o, struct err *e);
void tokens_free(struct tokens *t);

/* Those that the server itself is meant by. */
const struct names *tokens_audiences(const struct tokens *t);

/* Whose token it is, without the group system:authenticated. audiences: who must be
 * meant by it, one of them; *meant: those of them that are. false: *why says what is
 * wrong with it, or is empty. */
bool tokens_check(struct server *s, struct str token, const struct names *audiences,
                  struct arena *a, struct user *out, struct names *meant,
                  struct str *why);

struct token_object { /* name and uid of an object; name.n 0: none */
    struct str name, uid;
};
struct token_claims { /* of a new token */
    struct str namespace;
    struct token_object account, pod, secret, node;
    struct names audiences;
    int64_t now, seconds; /* how long it is valid */
    int64_t warn_after;   /* seconds; 0: no such claim */
};
bool tokens_issue(struct tokens *t, const struct token_claims *c, struct arena *a,
                  struct str *token, struct err *e);

/* /openid/v1/jwks and /.well-known/openid-configuration; live as long as it. url: of the
 * server. */
struct str tokens_jwks(const struct tokens *t);
struct str tokens_discovery(struct tokens *t, const char *url);

#endif
