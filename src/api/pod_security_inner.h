/* SPDX-License-Identifier: Apache-2.0 */
/* Inside of pod_security.h: a pod that is looked at, and the checks. */
#ifndef DRAY_API_POD_SECURITY_INNER_H
#define DRAY_API_POD_SECURITY_INNER_H

#include "api/pod_security.h"
#include "base/vec.h"

struct words { /* released by whoever filled them */
    VEC(struct str) v;
};

struct look { /* of one check at a pod */
    struct arena *a;
    const struct doc *meta, *spec, *context; /* spec.securityContext */
    const struct doc *const *containers;     /* of all kinds */
    uint32_t ncontainers;
    const void *data;      /* of the row */
    const char *reason;    /* NULL: it is allowed */
    struct strbuf *detail; /* cleared */
    /* Scratch, cleared. */
    struct words bad, values, more;
};

struct pod_check {
    enum pod_level level;
    int from, until; /* minor versions; until: 0, or the one that has another check */
    /* A check of the restricted level takes the place of this one since then; 0: none,
     * -1: in all versions. */
    int overridden;
    void (*look)(struct look *l);
    const void *data;
};

extern const struct pod_check pod_checks[];
extern const uint32_t npod_checks;

#endif
