/* SPDX-License-Identifier: Apache-2.0 */
/* Between the files of pki.h. What is returned is the caller's; NULL: OpenSSL says why.
 */
#ifndef DRAY_NET_PKI_INNER_H
#define DRAY_NET_PKI_INNER_H

#include <openssl/x509v3.h>

#include "net/pki.h"

/* The newest OpenSSL error. Returns false. */
bool pki_fail(struct err *e, const char *what);
X509 *pki_parse_cert(struct str pem);
EVP_PKEY *pki_parse_key(struct str pem);
struct str pki_print_cert(X509 *cert, struct arena *a);
bool pki_set_serial(X509 *cert); /* 128 random bits, positive */
bool pki_add_extension(X509 *cert, X509V3_CTX *ctx, int nid, const char *value);
/* The alternative names that a request asks for; NULL: none. */
GENERAL_NAMES *pki_names_of(const X509_REQ *request);

#endif
