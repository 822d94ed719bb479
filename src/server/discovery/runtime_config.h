/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which versions are served: those that are stable, and what --runtime-config says, as
 * kube-apiserver reads it: "api/all=true,resource.k8s.io/v1beta1=false", a resource too
 * ("apps/v1/deployments=false"). What is more special wins. Kinds that depend on a gate
 * need it as well. Pure.
 */
#ifndef DRAY_SERVER_DISCOVERY_RUNTIME_CONFIG_H
#define DRAY_SERVER_DISCOVERY_RUNTIME_CONFIG_H

#include "api/gates.h"
#include "api/schema.h"

/* list NULL: nothing is said. Errors: no such group, version or resource; a value that is
 * neither true nor false. */
bool runtime_config_check(const char *list, struct err *e);
/* k: a resource, no subresource. */
bool runtime_config_serves(const char *list, const struct api_gates *gates,
                           const struct api_kind *k);

#endif
