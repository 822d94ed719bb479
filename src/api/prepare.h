/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a kind's registry makes of an object before it is validated and stored: a status
 * is not for those who write the spec and the other way round, generations count changes,
 * a few kinds fill fields in. Rules of one object alone, kind by kind; what looks at
 * other objects (choosing addresses, priorities) is the server's, what policy adds is
 * in api/admit.h, fields of gates are dropped by api_drop_disabled.
 *
 * Objects are canonical and defaulted, in a version of the kind, and mutable; they are so
 * again afterwards.
 */
#ifndef DRAY_API_PREPARE_H
#define DRAY_API_PREPARE_H

#include "api/schema.h"
#include "doc/doc.h"

struct api_prepare {
    struct arena *a;
    struct str now; /* RFC 3339, whole seconds */
    /* Of the addresses of services, the preferred one first: "IPv4", "IPv6,IPv4". NULL:
     * services get none. */
    const char *families;
    /* Who writes, as username, uid, groups, extra; NULL: nobody knows. */
    const struct doc *user;
    /* A new object's labels are those of its template, which it did not have of its own:
     * to upstream they are one map. */
    bool shares_labels;
};

/* What upstream's own form of an object makes of it, before anything else is looked at;
 * object is in its kind's version. */
void api_prepare_sent(const struct api_prepare *p, const struct api_kind *kind,
                      struct doc *object);
/* metadata.name and uid are set already. */
void api_prepare_create(const struct api_prepare *p, const struct api_kind *kind,
                        struct doc *object);
/* kind may be a subresource: status, namespaces/finalize, pods/ephemeralcontainers,
 * pods/resize, certificatesigningrequests/approval. old is what is stored, in the
 * same version. */
void api_prepare_update(const struct api_prepare *p, const struct api_kind *kind,
                        struct doc *object, const struct doc *old);

/* What a pod's containers ask for makes of it: "BestEffort", "Burstable" or
 * "Guaranteed". */
const char *api_pod_qos(const struct doc *spec, struct arena *a);

#endif
