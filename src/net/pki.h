/* SPDX-License-Identifier: Apache-2.0 */
/* Keys and certificates of a cluster: its own CA (P-256), certificates it signs. */
#ifndef DRAY_NET_PKI_H
#define DRAY_NET_PKI_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

struct pki_pair {
    struct str cert_pem, key_pem;
};

/* A new CA, valid for ten years. */
bool pki_new_ca(const char *name, struct arena *a, struct pki_pair *out, struct err *e);

struct pki_subject {
    const char *name;          /* CN */
    const char *const *groups; /* O */
    uint32_t ngroups;
    const char *const *hosts; /* DNS names and addresses of a server certificate */
    uint32_t nhosts;
    bool server, client; /* extended key usages; neither: client */
    uint32_t days;
};
/* A key and a certificate signed by the CA. */
bool pki_issue(const struct pki_pair *ca, const struct pki_subject *subject,
               struct arena *a, struct pki_pair *out, struct err *e);

/* Until when, in seconds since 1970. */
bool pki_expiry(struct str cert_pem, int64_t *not_after, struct err *e);

/* JWTs of service accounts: ES256 over "header.payload" (RFC 7515, RFC 7518). */
bool pki_new_key(struct arena *a, struct str *key_pem, struct err *e);
bool pki_jwt_sign(struct str key_pem, struct str payload_json, struct arena *a,
                  struct str *token, struct err *e);
/* False: no such token (64 KiB at most), or not signed by the key with pki_jwt_sign.
 * payload is the JSON text; its times and names are the caller's to check. */
bool pki_jwt_verify(struct str key_pem, struct str token, struct arena *a,
                    struct str *payload);
/* Id of the key, as a JWK thumbprint (RFC 7638); empty: no such key. */
struct str pki_key_id(struct str key_pem, struct arena *a);
/* The public key as a JWK, for /openid/v1/jwks. */
bool pki_jwk(struct str key_pem, struct arena *a, struct str *json, struct err *e);

struct str pki_random_hex(uint32_t bytes, struct arena *a);
void pki_random(void *out, size_t n);
struct str pki_sha256_hex(struct str s, struct arena *a);

#endif
