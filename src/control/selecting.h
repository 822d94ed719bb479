/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Services and the pods that they select, each found from the other: by namespace, since
 * selectors reach no further.
 */
#ifndef DRAY_CONTROL_SELECTING_H
#define DRAY_CONTROL_SELECTING_H

#include "client/index.h"
#include "control/adopt.h"

extern const struct client_kind services_kind;

struct selecting {
    const struct shared_kind *services, *pods;
    struct index services_by_namespace, pods_by_namespace;
};

void selecting_init(struct selecting *s); /* the kinds are set by whoever watches */
void selecting_fini(struct selecting *s);
/* As informers tell. */
void selecting_service(struct selecting *s, const struct object *old,
                       const struct object *now);
/* Calls wake with each service that the change of a pod is news for. */
void selecting_pod(struct selecting *s, const struct object *old,
                   const struct object *now,
                   void (*wake)(void *ctx, const struct object *service), void *ctx);
/* In the first round of a sync whose owner is a service: its pods go to a list. */
void selecting_gather(const struct selecting *s, struct sync *sync, uint32_t list);

/* ---- services and pods ---- */

/* It has a selector, and its pods are its endpoints. */
bool service_selects(const struct doc *service);
bool service_has_no_address(const struct doc *service);
/* Whether a pod has a place behind a service at all: it has an address and goes on. */
bool service_takes_pod(const struct doc *pod, bool leaving_too);
/* The pod's name is one of the service's domain. */
bool service_names_pod(const struct doc *service, const struct doc *pod);
/* The number of a pod's port that a service's port leads to; false: it has none. */
bool service_find_port(const struct doc *port, const struct doc *pod, int64_t *number);
static inline bool service_is_ipv6(struct str address)
{
    return str_find_byte(address, ':', 0) != SIZE_MAX;
}
/* "IPv4" or "IPv6" is among its families, or it follows from its address. */
bool service_has_family(const struct doc *service, const char *family);
/* Where an endpoint is: a reference to the pod. */
struct doc service_pod_ref(const struct doc *pod, struct arena *a);

#endif
