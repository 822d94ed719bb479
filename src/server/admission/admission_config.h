/* SPDX-License-Identifier: Apache-2.0 */
/* What plugins of admission are told by --admission-control-config-file. */
#ifndef DRAY_SERVER_ADMISSION_ADMISSION_CONFIG_H
#define DRAY_SERVER_ADMISSION_ADMISSION_CONFIG_H

#include "api/pod_security.h"
#include "base/err.h"

struct event_buckets;
struct admission_config {
    /* ResourceQuota: what must be covered by a quota; NULL: nothing. */
    const struct doc *limited;
    /* PodSecurity: what holds where labels do not say, and who is not looked at. */
    struct pod_policy pod_defaults;
    const struct doc *exempt; /* usernames, namespaces, runtimeClasses; NULL: nobody */
    const struct doc *event_limits;   /* EventRateLimit; NULL: none */
    struct event_buckets *buckets;    /* admit_events.c; NULL: none yet */
    const struct doc *node_selectors; /* PodNodeSelector: by namespace; NULL: none */
    const struct doc *tolerations;    /* PodTolerationRestriction; NULL: none */
};

/* Without a file (NULL): upstream's defaults. Errors name the file and the place. */
bool admission_config_read(struct admission_config *c, const char *path, struct arena *a,
                           struct err *e);

#endif
