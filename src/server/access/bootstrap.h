/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What every cluster holds from the start: namespaces, default roles and bindings, flow
 * schemas, priority classes (bootstrap/, spec 6-rbac, 8.1.9), and what describes the
 * server itself. Missing ones are made; of those that say "autoupdate" what is missing
 * in them is added at each start, and what somebody has added stays.
 */
#ifndef DRAY_SERVER_ACCESS_BOOTSTRAP_H
#define DRAY_SERVER_ACCESS_BOOTSTRAP_H

#include "server/inner.h"

struct bootstrap_row {
    const char *kind, *namespace, *name;
    const char
        *json; /* a member "if" of it, or of a rule, names the gate that it needs */
};
extern const struct bootstrap_row bootstrap_rows[];
extern const uint32_t bootstrap_nrows;

/* The document of a row, as far as its gates are on; false: there is none of that name.
 */
bool bootstrap_find(const struct api_gates *g, struct str kind, struct str namespace,
                    struct str name, struct arena *a, struct doc *out);
/* Fills in what a new object of that kind has when the server itself makes it. */
void bootstrap_complete(const struct resource *res, struct doc *d, struct str now,
                        struct arena *a);
/* All in one transaction; waits until it is on disk. address: of the server, for those
 * in the cluster; empty: it has none that others could reach. */
bool bootstrap_make(struct server *s, struct str now, struct str address, uint16_t port,
                    struct err *e);

#endif
