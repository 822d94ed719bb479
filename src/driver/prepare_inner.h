/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside of prepare. A claim is known three times: as a line of the journal, as an entry
 * (that line read, in an arena, while the claim is worked on), and in short for as long
 * as it is prepared, to answer who holds a device.
 */
#ifndef DRAY_DRIVER_PREPARE_INNER_H
#define DRAY_DRIVER_PREPARE_INNER_H

#include "base/map.h"
#include "base/vec.h"
#include "driver/journal.h"
#include "driver/metadata.h"
#include "driver/prepare.h"

#define PREPARE_JOURNAL "claims.journal" /* in the data directory */

/* ---- entries (prepare_entry.c) ---- */

struct prepare_use { /* a result of the allocation */
    struct str request, pool, device, identity, share_id;
    struct str state;    /* the back end's */
    struct str cdi_name; /* of the device in the claim's CDI file; "" it needs none */
    bool admin, shared;
    const struct doc **configs;
    struct driver_counter *consumed;
    uint32_t nconfigs, nconsumed;
    const struct doc *raw; /* as it was read, with what a later version added */

    /* While it is worked on. */
    const struct driver_device *found;
    struct str metadata_id; /* of the request whose first device this is, or "" */
};
struct prepare_entry {
    struct str uid, namespace, name;
    bool has_pod_claim; /* metadata.h */
    struct str pod_claim;
    enum driver_hold hold;
    bool metadata;      /* files of it may be there */
    int64_t since_s;    /* Unix time */
    int64_t undo_s;     /* since when it is unprepared; 0 */
    struct str trouble; /* why that failed */
    struct prepare_use *uses;
    uint32_t n;
    const struct doc *raw;
};

/* One line of JSON. Texts are not copied from text, but live in a. */
bool prepare_entry_read(struct str text, struct arena *a, struct prepare_entry *out,
                        struct err *e);
struct str prepare_entry_print(const struct prepare_entry *x, struct arena *a);

/* ---- what an allocation asks for (prepare_plan.c) ---- */

/* An entry for the claim, without identities. */
bool prepare_plan(const struct driver_prepare_opts *o, const struct doc *claim,
                  struct arena *a, struct prepare_entry *out, struct err *e);
/* They ask for the same. */
bool prepare_same(const struct prepare_entry *x, const struct prepare_entry *y);
/* Good for names of files and CDI devices. */
bool prepare_uid_valid(struct str uid);

/* ---- who holds what (prepare_holds.c) ---- */

struct prepare_hold {
    struct str identity, device, pool, share_id;
    uint64_t look; /* of the device when it was last written down; 0: not yet, or gone */
    bool admin, shared;
};
struct prepare_claim { /* one block of memory */
    struct str uid, namespace, name, trouble;
    enum driver_hold hold;
    int64_t since_s, undo_s;
    uint32_t n;
    struct prepare_hold holds[];
};
struct prepare_holds {
    struct strmap claims; /* UID -> struct prepare_claim */
};

void prepare_holds_fini(struct prepare_holds *h);
struct prepare_claim *prepare_holds_find(const struct prepare_holds *h, struct str uid);
/* As the entry says from now on. */
void prepare_holds_set(struct prepare_holds *h, const struct prepare_entry *x);
void prepare_holds_remove(struct prepare_holds *h, struct str uid);
/* Every use may be beside those of other claims. */
bool prepare_holds_allow(const struct prepare_holds *h, const struct prepare_entry *x,
                         struct err *e);
/* Of this identity no other claim has a use that counts. */
bool prepare_holds_last(const struct prepare_holds *h, struct str uid,
                        struct str identity);

/* ---- the whole ---- */

struct driver_prepare {
    struct driver_prepare_opts o;
    struct metadata_place place;
    struct driver_backend *backend;
    struct journal *journal;
    struct prepare_holds holds;
    const struct driver_inventory *inventory; /* NULL: none yet */
    struct strmap by_name, by_identity;       /* its devices; ptr */
    uint64_t *looks;                          /* of its devices; 0: not asked for yet */
    bool recovered;
    char *cdi_dir;
    struct str kind; /* "k8s.DRIVER/claim" */
    VEC(char *) complaints;
    size_t told; /* of them, from the front */
};

void prepare_complain(struct driver_prepare *p, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* A device that has none is known by its name. */
struct str prepare_identity(const struct driver_device *d);
const struct driver_device *prepare_device(const struct driver_prepare *p,
                                           struct str identity);
/* The claim's files are those of its devices as they are found now; NULL: it has none. */
void prepare_mark(struct driver_prepare *p, struct str uid,
                  const struct prepare_entry *x);

/* ---- making it true (prepare_make.c) ---- */

/* By name for a use that has no identity, else by identity; sets both. */
bool prepare_find_devices(struct driver_prepare *p, struct prepare_entry *x,
                          struct err *e);
/* The configuration is one that the back end takes. */
bool prepare_check_configs(struct driver_prepare *p, const struct prepare_entry *x,
                           struct err *e);
/* Devices, CDI file, metadata; fills states and CDI names. Whoever fails here undoes. */
bool prepare_make(struct driver_prepare *p, struct prepare_entry *x, struct arena *a,
                  struct err *e);
/* What the kubelet is told, after prepare_make. */
void prepare_answer(const struct driver_prepare *p, const struct prepare_entry *x,
                    struct arena *a, struct driver_prepared *out);
/* Files first, so that no container is started with a device that is taken back. */
bool prepare_unmake(struct driver_prepare *p, const struct prepare_entry *x,
                    struct err *e);

/* ---- parts of one device (prepare_counters.c) ---- */

/* Of each counter that its devices consume there is enough beside what other claims use;
 * after prepare_find_devices. */
bool prepare_counters_allow(const struct driver_prepare *p, const struct prepare_entry *x,
                            struct err *e);

/* ---- files (prepare_files.c) ---- */

bool prepare_cdi_write(struct driver_prepare *p, struct str uid,
                       const struct cdi_spec *spec, struct arena *a, struct err *e);
bool prepare_cdi_remove(struct driver_prepare *p, struct str uid, struct err *e);
/* A host's path, where it is seen from here, is a device of this type. */
bool prepare_check_nodes(const struct driver_prepare *p, const struct cdi_edits *x,
                         struct err *e);
/* Files of claims that nobody knows. */
bool prepare_sweep(struct driver_prepare *p, struct err *e);

/* What the journal has of a claim (struct journal_user; ctx: struct driver_prepare). */
void prepare_found(void *ctx, struct str key, struct str value);

/* ---- one claim (prepare.c) ---- */

/* Takes back what the entry says, whatever it holds, and forgets it. */
bool prepare_undo(struct driver_prepare *p, struct prepare_entry *x, struct arena *a,
                  struct err *e);
/* Remembers; the journal is written by the caller. */
void prepare_remember(struct driver_prepare *p, const struct prepare_entry *x,
                      struct arena *a);

#endif
