/* SPDX-License-Identifier: Apache-2.0 */
/* Certificates of a cluster: its own CA (P-256), certificates it signs. */
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

/* Whom a certificate request (PKCS #10, PEM) is for; texts live in a. */
struct pki_request {
    struct str name;          /* CN */
    const struct str *groups; /* O */
    uint32_t ngroups;
    uint32_t dns_names, addresses, emails, uris; /* so many alternative names */
};
/* false: it is none, or not signed by its own key. */
bool pki_read_request(struct str pem, struct arena *a, struct pki_request *out);

/* Whether it begins with such a block, whatever is in it. */
bool pki_is_request(struct str pem);
/* One certificate or more and nothing else; false: *e says what is wrong, as Go's library
 * does where that can be told. */
bool pki_check_certificates(struct str pem, struct err *e);

/* Until when, in seconds since 1970. */
bool pki_expiry(struct str cert_pem, int64_t *not_after, struct err *e);

struct str pki_random_hex(uint32_t bytes, struct arena *a);
void pki_random(void *out, size_t n);
struct str pki_random_uuid(struct arena *a); /* version 4 */
/* In a time that does not tell where they differ. */
bool pki_equal(struct str a, struct str b);
struct str pki_sha256_hex(struct str s, struct arena *a);

#endif
