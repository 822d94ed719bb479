/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Preparing claims: what an allocation asks for is made true on the devices, written into
 * one CDI file per claim, and remembered in a journal before anybody is told. Preparing
 * again gives the same answer; a claim that was half prepared when the process died is
 * made whole or rolled back; unprepare says yes to what it does not know.
 *
 * Exclusive devices have one holder: another claim is refused, naming him. Administrators
 * (adminAccess) and shares of a shared device come beside.
 *
 * Blocks (device, disk): called by one thread at a time, not the loop's. Two processes
 * may share the directories while one replaces the other, each call under one lock of
 * theirs (spec 5.1 rule 4); what the other did is seen.
 *
 * Source: spec 5.5, 5.7, 5.9, 5.10, 5.13; cases.md C8, C11.
 */
#ifndef DRAY_DRIVER_PREPARE_H
#define DRAY_DRIVER_PREPARE_H

#include "driver/device.h"

struct driver_prepare;

struct driver_prepare_opts { /* texts outlive it */
    struct str driver, node;
    struct str pool;     /* of the results that are prepared; empty: the node's name */
    struct str data_dir; /* of the driver: the journal, metadata; made if need be */
    struct str cdi_dir;  /* "/var/run/cdi"; made if need be */
    struct str root;     /* below which the host's files are seen; empty: as they are */
    const struct str *metadata_versions; /* newest first; none: no metadata files */
    uint32_t nmetadata_versions;
};

struct driver_prepared_device {
    struct str pool, device;
    struct str share_id; /* "" none */
    struct str *requests, *cdi_ids;
    uint32_t nrequests, ncdi_ids;
};
struct driver_prepared {
    struct driver_prepared_device *devices;
    uint32_t n;
};

/* Reads the journal; entries that are damaged are set aside in a file of their own and
 * reported by driver_prepare_complaints. NULL: the directories cannot be used, or the
 * journal was written by a newer version than this reads. */
struct driver_prepare *driver_prepare_new(const struct driver_prepare_opts *o,
                                          struct driver_backend *b, struct err *e);
void driver_prepare_free(struct driver_prepare *p);

/* v stays valid until the next call, or the end. Claims keep their devices by identity:
 * whose device is found under another name or number has its CDI file rewritten; whose
 * device is gone keeps its entry, and driver_prepare_holders says so. */
void driver_prepare_inventory(struct driver_prepare *p, const struct driver_inventory *v);
/* Once, after the first inventory: CDI files as the journal has them, whoever emptied the
 * directory; half-done work rolled back; files of claims that are unknown removed. */
bool driver_prepare_recover(struct driver_prepare *p, struct err *e);

/* claim: a ResourceClaim (resource.k8s.io/v1) that is allocated. out: in a, one for each
 * result of this driver. All of the claim or nothing. */
bool driver_prepare_claim(struct driver_prepare *p, const struct doc *claim,
                          struct arena *a, struct driver_prepared *out, struct err *e);
bool driver_unprepare_claim(struct driver_prepare *p, struct str uid, struct err *e);
/* Several claims at once, each with its own outcome, and one wait for the disk for all:
 * errs[i] is set where claim i failed. */
void driver_prepare_claims(struct driver_prepare *p, const struct doc *const *claims,
                           uint32_t n, struct arena *a, struct driver_prepared *out,
                           struct err *errs);
void driver_unprepare_claims(struct driver_prepare *p, const struct str *uids, uint32_t n,
                             struct err *errs);

enum driver_hold {
    DRIVER_PREPARING, /* or a preparation was cut short */
    DRIVER_PREPARED,
    DRIVER_UNPREPARING,
};
struct driver_holder {
    struct str device, identity, pool; /* device "": it is gone */
    struct str claim_uid, claim_namespace, claim_name;
    struct str share_id;
    bool admin;
    enum driver_hold hold;
    int64_t since_s, undo_since_s; /* Unix time; the latter: it is being given back, or
                                    * was found not to be able to; or 0 */
    struct str trouble;            /* why it could not be unprepared; "" */
};
/* For `dray doctor` and tests; in a. */
uint32_t driver_prepare_holders(const struct driver_prepare *p, struct arena *a,
                                struct driver_holder **out);
/* The same out of the journal in data_dir, beside the process that writes it and whatever
 * it is doing: nothing is changed, devices have the names that they were prepared by. No
 * journal: none. */
bool driver_prepare_peek(struct str data_dir, struct arena *a, struct driver_holder **out,
                         uint32_t *n, struct err *e);
/* Lines for people about what was set aside, or could not be done and failed nobody's
 * call: the latest of them, each once; n, until the next call. */
uint32_t driver_prepare_complaints(const struct driver_prepare *p,
                                   const char *const **out);
/* The next that this has not told yet, until the next call; NULL: there is none. */
const char *driver_prepare_complaint(struct driver_prepare *p);

#endif
