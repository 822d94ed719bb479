/* SPDX-License-Identifier: Apache-2.0 */
/* The objects at the start that describe the server itself (spec 8.1.9). */
#ifndef DRAY_SERVER_ACCESS_BOOTSTRAP_SELF_H
#define DRAY_SERVER_ACCESS_BOOTSTRAP_SELF_H

#include "doc/doc.h"
#include "server/service/service_range.h"

struct bootstrap_self {
    struct str ca_pem;
    struct str today;   /* "2026-01-31" */
    struct str address; /* empty: none that others could reach */
    uint16_t port;
    const struct service_ranges *services;
};

struct making;
/* Hands each to bootstrap_object. */
void bootstrap_self_make(const struct bootstrap_self *self, struct arena *a,
                         struct making *m);
/* Makes it, or brings it up to date. */
void bootstrap_object(struct making *m, struct doc *d);

#endif
