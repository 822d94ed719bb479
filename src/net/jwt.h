/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Signed tokens (RFC 7515, 7518, 7519): RS256 with RSA keys, ES256, ES384 and ES512 with
 * those of the curves P-256, P-384 and P-521. What a token says is the caller's to read
 * and to check.
 */
#ifndef DRAY_NET_JWT_H
#define DRAY_NET_JWT_H

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

struct jwt_key; /* a public key, with or without its private half */

/* A new key (P-256) as PEM. */
bool jwt_new_key(struct arena *a, struct str *pem, struct err *e);
/* Calls each for every key of a PEM text: private keys, public keys, those of
 * certificates. The key is the callee's, until jwt_key_free. Errors: none there, or one
 * of another kind than above. */
bool jwt_keys_read(struct str pem, void (*each)(void *ctx, struct jwt_key *k), void *ctx,
                   struct err *e);
void jwt_key_free(struct jwt_key *k);
bool jwt_key_signs(const struct jwt_key *k); /* the private half is there */
/* SHA-256 of the public key, as kube-apiserver names keys. */
struct str jwt_key_id(const struct jwt_key *k);
const char *jwt_key_algorithm(const struct jwt_key *k);
/* The public key as a JWK (RFC 7517). */
struct str jwt_key_jwk(const struct jwt_key *k, struct arena *a);

bool jwt_sign(const struct jwt_key *k, struct str payload_json, struct arena *a,
              struct str *token, struct err *e);

struct jwt { /* the parts of a token, decoded; nothing is verified yet */
    struct str header, payload, signature; /* two JSON texts, and bytes */
    struct str text;                       /* what is signed */
};
/* False: no such token, or more than 64 KiB. */
bool jwt_parse(struct str token, struct arena *a, struct jwt *out);
/* algorithm: what the header says; false too if the key is for another. */
bool jwt_verify(const struct jwt_key *k, const struct jwt *t, struct str algorithm);

#endif
