/* SPDX-License-Identifier: Apache-2.0 */
/* What kinds a server serves, by all the names that people call them. */
#ifndef DRAY_CLI_DISCOVERY_H
#define DRAY_CLI_DISCOVERY_H

#include "cli/session.h"

struct resource {
    struct str group, version, resource, singular, kind;
    bool namespaced;
    bool preferred;                                /* its version is its group's first */
    const struct doc *shorts, *categories, *verbs; /* lists, or NULL */
};

struct discovery {
    const struct resource *v;
    uint32_t n;
};

bool discovery_read(struct session *s, struct discovery *out, struct err *e);
/* By plural, singular, kind or short name, with ".GROUP" or ".VERSION.GROUP" behind it or
 * not. NULL: "the server doesn't have a resource type ...". */
const struct resource *discovery_find(const struct discovery *d, struct str name,
                                      struct err *e);
/* Of an object: its apiVersion and kind. NULL: there is none. */
const struct resource *discovery_of(const struct discovery *d, const struct doc *object);
bool resource_has_verb(const struct resource *r, const char *verb);
/* "/api/v1/namespaces/NS/pods/NAME"; namespace is left out where there is none. */
struct str resource_path(const struct resource *r, struct str namespace, struct str name,
                         const char *sub, struct arena *a);
/* "deployment.apps", "pod": as kubectl calls one of them; plural: "deployments.apps". */
struct str resource_kind_name(const struct resource *r, struct arena *a);
struct str resource_plural_name(const struct resource *r, struct arena *a);

#endif
