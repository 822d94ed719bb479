/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Endpoints in EndpointSlices of limited size, so that few slices change when endpoints
 * do: what is there stays where it is, what is new fills slices that change anyhow, then
 * the one that it fits into best, then new ones. Pure.
 */
#ifndef DRAY_CONTROL_SLICE_PLAN_H
#define DRAY_CONTROL_SLICE_PLAN_H

#include "control/adopt.h"

#define SLICE_SERVICE "kubernetes.io/service-name"
#define SLICE_MANAGER "endpointslice.kubernetes.io/managed-by"
#define SLICE_HEADLESS "service.kubernetes.io/headless"

extern const struct client_kind slices_kind;

struct slice_endpoint {
    struct str key; /* of two that are the same endpoint */
    struct doc doc;
    bool placed;
};

struct slice_group { /* endpoints with the same ports */
    struct str key;
    struct doc ports;
    struct slice_endpoint *v;
    uint32_t n, cap;
};

struct slice_order { /* what there is to be, of one type of addresses */
    struct arena *a;
    const char *address_type; /* "IPv4" */
    struct slice_group *groups;
    uint32_t ngroups, groups_cap;
    struct str namespace, prefix; /* prefix: of names that are generated */
    struct doc labels;            /* that slices have */
    struct doc annotations;       /* a map; members of none: they stay as they are */
    struct doc owner;             /* an entry of ownerReferences */
    struct str owner_uid;
    uint32_t most;    /* endpoints of one slice */
    bool placeholder; /* an empty slice where there are no endpoints */
};

struct slice_docs {
    struct doc *v;
    uint32_t n, cap;
};

struct slice_plan {
    struct slice_docs create, update;
    struct objects delete;
};

/* The group of ports, made if it is not there. */
struct slice_group *slice_group(struct slice_order *o, const struct doc *ports);
void slice_add(struct slice_order *o, struct slice_group *g, const struct doc *endpoint);
/* existing: slices of this type of addresses; the plan is added to. */
void slice_plan(struct slice_order *o, const struct objects *existing,
                struct slice_plan *plan);

#endif
