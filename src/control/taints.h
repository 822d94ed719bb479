/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which pod has to go because of which taint, and when: the state behind eviction.c. It
 * is told of changes, holds references to what it needs, and says what is to be looked at
 * and when by keys of work: "pod:NS/NAME:UID", "rule:NAME:UID". It asks nobody anything.
 */
#ifndef DRAY_CONTROL_TAINTS_H
#define DRAY_CONTROL_TAINTS_H

#include "base/map.h"
#include "base/vec.h"
#include "client/object.h"

enum { TAINTS_STATUS_MS = 10000, TAINTS_EVICTED = 500 };

struct taint_ref {        /* a taint of a rule, or of a device in a slice */
    struct object *rule;  /* NULL: of a slice */
    struct object *slice; /* references, both */
    struct str device;    /* in the slice */
    uint32_t index;       /* of its taints */
};

/* Sorted: rules by name, then slices by driver, pool, device and index; none twice. */
struct due {
    int64_t when; /* seconds since 1970 */
    VEC(struct taint_ref) reasons;
};

struct taints_ops {
    /* A key is to be worked on, now or in so many milliseconds. */
    void (*add)(void *ctx, struct str key, uint64_t ms);
    /* What a pod's users are told. */
    void (*tell)(void *ctx, const struct object *pod, const char *text);
    int64_t (*now_ms)(void *ctx); /* since 1970 */
};

struct taints {
    const struct taints_ops *ops;
    void *ctx;
    bool group_claims;
    struct strmap pods;       /* key -> struct object */
    struct strmap claims;     /* key -> struct tainted_claim; those that are allocated */
    struct strmap pools;      /* "DRIVER/POOL" -> struct tainted_pool */
    struct strmap rules;      /* name -> struct object; those that evict */
    struct strmap delete_at;  /* "pod:..." -> struct pending */
    struct strmap evicted_by; /* rule's uid -> how many pods it has evicted */
    char *evicted[TAINTS_EVICTED]; /* uids, a ring */
    uint32_t nevicted;
};

struct tainted_claim {
    struct object *claim;
    struct due *due; /* NULL: nobody has to go */
};

struct tainted_pool {
    char *key;
    int64_t generation; /* the highest */
    VEC(struct object *) slices;
};

struct pending { /* a pod that has to go */
    char *key;
    struct object *pod;
    struct due *due;
};

void taints_init(struct taints *t, const struct taints_ops *ops, void *ctx);
void taints_fini(struct taints *t);

/* NULLs as informers tell. */
void taints_on_pod(struct taints *t, const struct object *old, const struct object *now);
void taints_on_claim(struct taints *t, const struct object *old,
                     const struct object *now);
void taints_on_slice(struct taints *t, const struct object *old,
                     const struct object *now);
void taints_on_rule(struct taints *t, const struct object *old, const struct object *now);

/* NULL: it need not go, or is gone. */
const struct pending *taints_pending(const struct taints *t, struct str key);
bool taints_was_evicted(const struct taints *t, struct str uid);
/* A pod is gone, or as good as; counts: for the rules that made it go. */
void taints_note_evicted(struct taints *t, const struct object *pod,
                         const struct due *due, bool counts);
/* The condition of a rule as it should be now, without lastTransitionTime. */
struct doc taints_condition(const struct taints *t, const struct object *rule,
                            struct arena *a);

/* "DeviceTaintRule /NAME:UID", "ResourceSlice /NAME DRIVER/POOL/DEVICE taint #0". */
struct str taint_ref_text(const struct taint_ref *r, struct arena *a);

/* Objects by key, each with a reference. */
void objects_keep(struct strmap *m, const struct object *o);
void objects_drop(struct strmap *m, struct str key);
void objects_release(struct strmap *m);

/* ---- inside (taints.c, taints_due.c, taints_rule.c) ---- */

struct due *taints_due_of_claim(const struct taints *t, const struct object *claim);
/* Of all its claims together; NULL: it may stay. */
struct due *taints_due_of_pod(const struct taints *t, const struct object *pod);
struct due *due_dup(const struct due *d);
void due_free(struct due *d);
/* As upstream compares: two that are nothing differ. */
bool due_equal(const struct due *a, const struct due *b);
bool taints_rule_selects(const struct object *rule, struct str driver, struct str pool,
                         struct str device);
/* The devices of a pool's present slices. */
void taints_each_device(const struct tainted_pool *p,
                        bool (*each)(void *ctx, struct object *slice,
                                     const struct doc *device),
                        void *ctx);

#endif
