/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A back end by script, with hardware that outlives the process that uses it (shared
 * memory), and the claims and folders that tests of prepare need. One world a test.
 */
#ifndef DRAY_TESTS_DRIVER_SCRIPTED_H
#define DRAY_TESTS_DRIVER_SCRIPTED_H

#include "driver/prepare.h"

enum { WORLD_DEVICES = 6, WORLD_CLAIMS = 8 };

/* Device i is "dev-<i>", identity "id-<i>"; the last one is shared. */
struct world {
    struct driver_backend backend; /* first */
    char dir[64];
    struct arena a;
    struct driver_inventory inventory;
    struct driver_prepare_opts opts;
    struct driver_prepare *p;

    /* Claim c has device d on the hardware; in shared memory. */
    bool (*hardware)[WORLD_CLAIMS];
    int fail_prepare, fail_unprepare; /* device, or -1 */
    bool refuse_configs;
    char seen[256]; /* configs of the last prepare: their "v", with commas */
};

void world_make(struct world *w);
void world_end(struct world *w);
/* A new process: the journal is read, nothing else is known. recover: all went well. */
void world_start(struct world *w);
void world_stop(struct world *w);
/* Devices below are there, device i with the node /dev/null or /dev/zero. */
void world_discover(struct world *w, uint32_t there, const char *node);

/* Claim number c (namespace "ns", name "claim-<c>"), a result for each number in devices
 * ("03": dev-0 for request r0, dev-3 for r1). flags: "a" admin, "s": share IDs. */
const struct doc *world_claim(struct world *w, uint32_t c, const char *devices,
                              const char *flags);
struct str world_uid(struct world *w, uint32_t c);
/* More JSON for status.allocation.devices.config. */
const struct doc *world_claim_with(struct world *w, uint32_t c, const char *devices,
                                   const char *flags, const char *config);

/* Text of the claim's CDI file; p NULL: there is none. */
struct str world_cdi(struct world *w, uint32_t c);
/* Names in the CDI folder and below the metadata folder. */
uint32_t world_files(struct world *w);
bool world_has(const struct world *w, uint32_t device, uint32_t c);
uint32_t world_busy(const struct world *w); /* uses of the hardware */

#endif
