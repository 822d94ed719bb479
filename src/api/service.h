/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What upstream's registry makes of a Service ahead of everything else: values that were
 * chosen for it stay when a writer leaves them out, clusterIP and clusterIPs agree, and
 * the families of its addresses follow from what it says and what the cluster has.
 */
#ifndef DRAY_API_SERVICE_H
#define DRAY_API_SERVICE_H

#include "api/prepare.h"
#include "api/validate.h"

/* p->families says what the cluster has, and is not NULL. old: what is stored, NULL for a
 * new one. false: errors (may be NULL) says why. */
bool api_service_complete(const struct api_prepare *p, struct doc *object,
                          const struct doc *old, struct api_errors *errors);

/* What the rules of the spec's addresses say alone; the path of spec is at hand. */
struct api_at;
void rules_service_addresses(struct api_at *spec);

/* Questions of several files; spec is a Service's, NULL is of none. */
bool service_is(const struct doc *spec, const char *type);
bool service_is_headless(const struct doc *spec); /* by clusterIPs */
bool service_has_ports(const struct doc *spec);   /* of nodes */
bool service_needs_health(const struct doc *spec);
bool service_is_external(const struct doc *spec); /* reached from outside */

#endif
