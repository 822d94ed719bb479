/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What happened to an object, told to its users: core/v1 Events, as kubectl describe
 * shows them. The same thing told again within ten minutes counts up the event there is.
 */
#ifndef DRAY_CLIENT_EVENTS_H
#define DRAY_CLIENT_EVENTS_H

#include "client/client.h"
#include "doc/doc.h"

struct events;

/* component: who tells ("resource_claim"). */
struct events *events_new(struct client *c, const char *component);
void events_free(struct events *e);

struct event_about {
    const char *api_version, *kind;
    const struct doc *object;
};
/* type: "Normal" or "Warning". Nobody waits for it, and what cannot be written is lost.
 */
void events_tell(struct events *e, const struct event_about *about, const char *type,
                 const char *reason, struct str message);

#endif
