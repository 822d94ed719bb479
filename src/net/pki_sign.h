/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Certificates for requests, as kube-controller-manager's signers give them: subject and
 * alternative names are the request's, nothing else of it is.
 *
 * Source: k8s.io/kubernetes pkg/controller/certificates/authority.
 */
#ifndef DRAY_NET_PKI_SIGN_H
#define DRAY_NET_PKI_SIGN_H

#include "net/pki.h"

struct pki_terms {
    const struct str *usages; /* as the API names them: "client auth" */
    uint32_t nusages;
    /* For so long it is valid, but no longer than the authority is. It begins five
     * minutes earlier; one for eight hours or more ends as much earlier. */
    int64_t seconds;
};

/* False: the request is none, a usage is unknown, the authority's time is over, ... */
bool pki_sign(const struct pki_pair *ca, struct str request_pem,
              const struct pki_terms *terms, struct arena *a, struct str *cert_pem,
              struct err *e);

#endif
