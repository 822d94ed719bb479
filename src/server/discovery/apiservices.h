/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An APIService for each version that is served, as a cluster's aggregator keeps them:
 * all of them Local. Those of built-in versions are made at the start, those of
 * definitions come and go with what these serve (apiservices_custom.c). What a client
 * writes of another server is stored, warned of (unenforced.h), and has no effect.
 */
#ifndef DRAY_SERVER_DISCOVERY_APISERVICES_H
#define DRAY_SERVER_DISCOVERY_APISERVICES_H

#include "server/inner.h"

/* "onstart" or, of definitions, "true". */
#define APISERVICE_LABEL "kube-aggregator.kubernetes.io/automanaged"

/* Makes what is missing and removes what is not served anymore; waits until it is done.
 */
bool apiservices_make(struct server *s, struct str now, struct err *e);

struct apiservice {
    struct str group, version, now;
    const char *managed;
    int group_priority, version_priority;
};
/* As it is stored. */
struct str apiservice_bytes(const struct apiservice *v, struct arena *a);

/* Versions of custom resources may have come or gone: their APIServices follow soon. */
void apiservices_follow(struct server *s);
/* Not anymore. */
void apiservices_end(struct server *s);

#endif
