/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What each namespace has from its beginning: the ServiceAccount "default"
 * (pkg/controller/serviceaccount), and the ConfigMap kube-root-ca.crt, by which pods know
 * the API server (pkg/controller/certificates/rootcacertpublisher).
 */
#ifndef DRAY_CONTROL_SERVICE_ACCOUNTS_H
#define DRAY_CONTROL_SERVICE_ACCOUNTS_H

#include "control/reconciler.h"

extern const struct reconciler_def service_accounts, root_ca_publisher;

#endif
