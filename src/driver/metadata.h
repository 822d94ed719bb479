/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Metadata files (KEP-5304): what a container is told about the devices that it was
 * given. One file a request, beside the driver; a CDI spec of its own mounts it. Writing
 * again replaces; containers that run keep what they were started with.
 *
 * Source: spec 5.10.
 */
#ifndef DRAY_DRIVER_METADATA_H
#define DRAY_DRIVER_METADATA_H

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"
#include "doc/doc.h"

struct metadata_device {
    struct str driver, pool, name;
    const struct doc *attributes; /* name -> {"string": ...}, as the API; NULL none */
    const struct doc *network;    /* networkData; NULL none */
};
struct metadata_request {
    struct str name; /* "req" or "req/sub" */
    const struct metadata_device *devices;
    uint32_t n;
};
struct metadata {
    struct str namespace, name, uid; /* of the claim */
    /* From the claim's annotation resource.kubernetes.io/pod-claim-name; it may be there
     * and empty. */
    bool has_pod_claim;
    struct str pod_claim;
    int64_t generation;
    const struct metadata_request *requests;
    uint32_t n;
};

struct metadata_place {
    struct str driver, data_dir, cdi_dir;
    const struct str *versions; /* "metadata.resource.k8s.io/v1beta1", newest first */
    uint32_t nversions;
};

/* All are known, and the newest is among them. */
bool metadata_versions_check(const struct str *versions, uint32_t n, struct err *e);

/* The file and the CDI spec of one request, m->requests[0]. *cdi_id, in a: what the
 * request's first device is to carry beside its own. */
bool metadata_write(const struct metadata_place *p, const struct metadata *m,
                    struct arena *a, struct str *cdi_id, struct err *e);
/* Other devices for a request that was written: m's claim and request count, generation
 * and pod claim are taken from what is there. */
bool metadata_update(const struct metadata_place *p, const struct metadata *m,
                     struct err *e);
/* All files of a claim; yes when there are none. */
bool metadata_remove(const struct metadata_place *p, struct str namespace,
                     struct str name, struct str uid, struct err *e);

/* The first object of a stream whose version is known, as a container reads it; in a. */
bool metadata_read(struct str stream, struct arena *a, struct metadata *out,
                   struct err *e);

#endif
