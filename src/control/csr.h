/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CertificateSigningRequests of kubelets are approved, approved ones are signed with the
 * cluster's authority, and old ones are deleted: so a node joins with a bootstrap token,
 * and renews its certificates.
 *
 * Source: k8s.io/kubernetes pkg/controller/certificates/{approver,signer,cleaner}, and
 * pkg/apis/certificates/helpers.go for what a kubelet's request is.
 */
#ifndef DRAY_CONTROL_CSR_H
#define DRAY_CONTROL_CSR_H

#include "control/reconciler.h"

extern const struct reconciler_def csr_approving, csr_signing, csr_cleaning;

#define CSR_CLIENT "kubernetes.io/kube-apiserver-client"
#define CSR_KUBELET_CLIENT "kubernetes.io/kube-apiserver-client-kubelet"
#define CSR_KUBELET_SERVING "kubernetes.io/kubelet-serving"
#define CSR_LEGACY "kubernetes.io/legacy-unknown"

struct csr { /* a request as its object has it; borrowed, or in the arena */
    struct str signer, username;
    struct str pem;
    struct pki_request request; /* whom it is for; only if readable */
    const struct str *usages;
    uint32_t nusages;
    bool readable; /* it is a request */
    bool approved, denied, failed, issued;
};
struct csr csr_read(const struct doc *object, struct arena *a);
/* NULL: its signer signs it; else why not, as upstream words it, and "" for a signer
 * whose requests are signed by others. In the arena. */
const char *csr_fault(const struct csr *c, struct arena *a);
/* A copy of the object with one condition more. */
struct doc csr_with_condition(const struct doc *object, const char *type,
                              const char *reason, const char *message, struct arena *a);

#endif
