/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside of alloc: the inventory as columns.
 *
 *   pool      the slices of one (driver, pool name); devices of its newest generation are
 *             numbered in search order (spec 3.4), and everything known of them is a
 *             bitset or an array over these numbers
 *   view      which of a pool's devices one node sees, and whether the pool may be used;
 *             nodes that see the same share it
 *   host      a node: its views in search order
 *   profile   selectors, capacity and tolerations of a request, interned: equal requests
 *             of any claim share their columns
 *
 * Everything here is derived from the slices and the ledger, and made anew when a version
 * number says so; nothing is invalidated by hand.
 */
#ifndef DRAY_ALLOC_INNER_H
#define DRAY_ALLOC_INNER_H

#include "alloc/alloc.h"
#include "alloc/amount.h"
#include "base/bitset.h"
#include "base/intern.h"
#include "base/map.h"
#include "base/vec.h"

#define NONE UINT32_MAX

/* ---- expressions ---- */

/* A value of an attribute as constraints see it: a sorted set of interned values. */
struct value_set {
    const uint32_t *ids;
    uint32_t n;
    uint8_t state; /* enum value_state */
    uint32_t one;  /* ids[0] if n is 1 */
};
enum value_state {
    VALUE_ABSENT,
    VALUE_SET,  /* n >= 1 */
    VALUE_ODD,  /* there, but of a type that cannot be compared (spec rules 40 - 42) */
    VALUE_ERROR /* of a derived attribute */
};

/* Devices of one kind share the outcome of an expression. */
struct outcome {
    uint64_t key;
    const struct device_facts *facts; /* of the first device of the kind; NULL: free */
    uint8_t verdict;                  /* enum device_verdict; of selectors */
    struct value_set value;           /* of derived attributes */
};

struct expression {
    struct str text;
    struct device_expr *x; /* NULL: does not compile, error says why */
    struct str error;
    struct device_memo memo; /* of a selector; unset until the first question */
    /* Of what the memo does not remember in full, and of derived attributes. */
    struct arena values;      /* of the outcomes */
    struct outcome *outcomes; /* open addressing, mask + 1 slots */
    uint32_t mask, n;
    uint64_t epoch; /* of the inventory's facts the outcomes point into */
};

/* ---- profiles ---- */

struct profile_test {
    uint32_t expr, selector; /* number among those of the class, then of the request */
};

struct profile {
    uint32_t id;
    const struct profile_test *tests; /* each expression once: the first decides */
    uint32_t ntests, nclass;          /* nclass: selectors of the class */
    const struct view_amount *capacity;
    uint32_t ncapacity;
    const struct view_toleration *tolerations;
    uint32_t ntolerations;
};

/* What a profile says of a pool's devices, state apart. */
struct profile_column {
    const uint64_t *match;  /* selectors hold */
    const uint64_t *fit;    /* and the capacity is there when nothing is consumed */
    const uint64_t *ok;     /* and taints are tolerated, needed features on */
    const uint64_t *err;    /* a selector fails on it */
    const uint64_t *caperr; /* its capacity cannot be computed (rule 59) */
    const struct consumed **consumed; /* per shareable device, made when first needed */
    bool errs;                        /* err or caperr has a member */
};

/* The amounts a share takes, one per capacity of the device. */
struct consumed {
    const struct view_amount *amounts; /* as recorded in the result */
    const amount *n;
};

/* ---- ledger ---- */

struct held_amount {
    struct str name;
    amount n;
};
struct held_counter {
    struct str set, name;
    amount n;
};

/* What is allocated of one device, published or not. */
struct held {
    struct str device;
    uint32_t exclusive, shares; /* holders */
    uint32_t records;           /* of consumption without a holder */
    VEC(struct held_amount) consumed;
    VEC(struct held_counter) counters; /* recorded by alloc_commit */
    uint32_t commits;
    struct str holder; /* "namespace/name" of the latest, for reasons */
};

/* ---- pools ---- */

struct host;
struct pool;

struct pool_slice {
    const struct view_slice *v;
    uint64_t seq; /* order of first additions */
};

/* A slice of the newest generation. */
struct part {
    const struct view_slice *v;
    uint32_t first, n; /* devices, in the pool's numbers */
    bool ignored;      /* for a feature that is off (rules 7, 12a): never relevant */
    bool uncounted;    /* and not counted for completeness either */
    bool holds_sets;   /* counter sets, no devices */
    bool local;        /* nodeName is set */
};

struct pool_device {
    const struct view_device *v;
    uint32_t part;
};

struct use { /* of a counter */
    uint32_t counter;
    amount n;
};
struct set_use { /* of a counter set */
    uint32_t set;
    const struct view_strs *groups;
};

/* Compatibility groups of the devices on one counter set (rule 55): the groups of the
 * first device, and which of them the others share. */
struct group_state {
    const struct view_strs *groups; /* NULL: no device yet */
    uint64_t live; /* bit i: groups->v[i]; 0 with groups->n 0: no groups */
};

/* Counter sets of a pool as found in some of its slices. */
struct counters {
    struct counters *next;
    const uint64_t *parts; /* the slices taken into account */
    struct str invalid;    /* why the pool is unusable; empty: it is fine */
    uint32_t nsets, n;
    const struct view_counter_set **sets;
    struct str *names;         /* of counters */
    uint32_t *set_of;          /* counter -> set */
    uint32_t *set_first;       /* set -> its first counter */
    amount *total, *left;      /* left: less what is allocated */
    uint32_t *use_at, *set_at; /* device -> first entry in uses, set_uses; ndevices + 1 */
    struct use *uses;
    struct set_use *set_uses;
    struct group_state *groups; /* per set, of what is allocated */
    uint64_t *odd;              /* devices whose consumption cannot be computed with */
    uint64_t version;           /* of the pool's charges that left and groups are for */
};

enum pool_state { POOL_USABLE, POOL_INCOMPLETE, POOL_INVALID };

struct pool_view {
    struct pool_view *next;
    struct pool *pool;
    const uint64_t *parts; /* relevant slices */
    const uint64_t *rel;   /* devices of relevant slices */
    const uint64_t *alive; /* of these, available on the node */
    const uint64_t *bad;   /* of these, with a node selector that cannot be parsed */
    bool has_bad;
    enum pool_state state;
    struct str invalid;
    bool last;                 /* sorted after the pools without binding conditions */
    struct counters *counters; /* NULL: no device consumes any */
};

/* Values of one attribute, or of one derived attribute, over a pool. */
struct value_column {
    struct value_set *of; /* per device */
};

struct pool {
    struct str driver, name; /* in the pool's key */
    VEC(struct pool_slice) slices;
    VEC(struct host *) hosts; /* that have slices of their own here, with repeats */
    uint32_t nshared;         /* slices without nodeName */
    struct strmap held;       /* device name -> struct held */
    uint64_t charges;         /* version of held */

    bool stale;       /* the rest is out of date */
    uint64_t version; /* of the rest */
    struct arena mem;
    int64_t generation;
    bool contradicts; /* slices disagree on resourceSliceCount */
    struct part *parts;
    uint32_t nparts;
    struct pool_device *devices;
    uint32_t n, words;
    struct strmap by_name; /* device name -> first number + 1 */
    uint32_t *same_name;   /* the next device of the same name, or NONE */
    uint64_t *used;        /* held, so that no normal request may have it */
    uint64_t *shared;      /* shareable and has shares */
    uint64_t *multi;       /* may be shared */
    uint64_t *consumes, *binding, *skips;
    bool any_multi, any_consumes, any_skips, any_capacity, any_binding;
    uint64_t charged; /* charges that used and shared are for */
    struct pool_view *views;
    struct counters *counters;
    VEC(struct profile_column *) profiles; /* by profile, NULL: not made yet */
    VEC(struct value_column *) attributes; /* by attribute name, then by derived one */
    VEC(struct value_column *) derived;
    const struct view_taint ***rule_taints; /* per device; NULL: there are no rules */
    uint32_t *nrule_taints;
};

/* ---- hosts ---- */

struct seat { /* a pool in a host's numbering */
    struct pool *pool;
    struct pool_view *view; /* unusable pools have no words */
    uint32_t base;          /* first word */
    uint64_t version;
};

struct host {
    struct str name;
    uint32_t index;           /* in host_list, until a sweep */
    uint64_t version;         /* of slices and charges of its own pools */
    VEC(struct pool *) pools; /* with slices for this node alone, with repeats */
    const struct view_node *node;
    const struct view_label *labels; /* of node, to notice another view in its place */
    uint32_t nlabels;

    bool built;
    uint64_t own_slices;              /* version of its own pools' slices */
    uint64_t built_own, built_shared; /* versions that the seats were made from */
    VEC(struct seat) seats;
    uint32_t words;
    bool any_bad;
    char *bad_selector; /* the node is refused: a selector cannot be parsed (U5) */
};

/* ---- the inventory ---- */

struct solver;

struct ledger_entry {
    struct pool *pool;
    struct held *held;
    bool share, committed;
    VEC(struct held_amount) consumed; /* names belong to held */
    VEC(struct held_counter) counters;
};
struct ledger_claim {
    struct str uid;
    VEC(struct ledger_entry) entries;
};

struct alloc_inventory {
    struct alloc_features features;
    struct device_names *names;
    struct device_env *env;
    struct arena profile_mem; /* of profiles, expressions, attribute names */

    struct strmap pools; /* "driver\npool" -> struct pool */
    VEC(struct pool *) pool_list;
    VEC(struct pool *) shared; /* with slices that are not one node's */
    struct strmap slices;      /* object name -> struct pool */
    struct strmap hosts;       /* node name -> struct host */
    VEC(struct host *) host_list;
    size_t swept;          /* pools and hosts that the last sweep left */
    struct strmap classes; /* name -> const struct view_class */
    VEC(const struct view_taint_rule *) rules;
    struct strmap claims; /* uid -> struct ledger_claim */

    uint64_t seq;
    uint64_t facts_epoch;    /* grows when facts may be gone */
    uint64_t slices_version; /* of slices that are not one node's, and of rules */
    uint64_t shared_version; /* the same and charges on them */
    uint64_t classes_version;
    uint64_t profiles_epoch; /* profiles of another epoch are gone */

    struct strmap selectors, deriveds; /* text -> index */
    VEC(struct expression *) exprs, derived_exprs;
    struct strmap profile_ids;
    VEC(struct profile *) profiles;
    struct intern values;     /* of attributes, with their type */
    struct strmap attributes; /* constraint attribute -> index */
    VEC(struct str) attribute_names;

    struct strmap shapes;                 /* of plans, to struct shape */
    uint64_t shapes_epoch;                /* shapes of another epoch are gone */
    const struct view_node *const *asked; /* by alloc_find, and their hosts */
    VEC(struct host *) asked_hosts;

    struct cel_run run;
    struct solver *solver;
    struct alloc_plan *spare; /* of alloc_solve */
    struct strbuf key;        /* scratch of interning */
};

/* pools.c: brings the compiled part up to date. */
void pool_refresh(struct alloc_inventory *inv, struct pool *p);
void pool_free(struct pool *p);
/* After a change of what is held of a device. */
void pool_held_changed(struct pool *p, const struct held *h);
static inline void pool_current(struct alloc_inventory *inv, struct pool *p)
{
    if (p->stale || p->charged != p->charges)
        pool_refresh(inv, p);
}
/* The first device called so, or NONE; others follow by same_name. */
uint32_t pool_find(const struct pool *p, struct str device);

/* views.c */
/* Slices of the newest generation that count for completeness. */
uint32_t pool_counted(const struct pool *p);
/* The node sees slices of an older generation than the newest. */
bool pool_obsolete_on(const struct pool *p, const struct view_node *node);
/* NULL: the node sees nothing of the pool, or a selector is bad (e is set then). */
struct pool_view *pool_view_for(struct alloc_inventory *inv, struct pool *p,
                                const struct view_node *node, struct err *e);

/* counters.c */
struct counters *pool_counters(struct alloc_inventory *inv, struct pool *p,
                               const uint64_t *parts);
/* Brings left and groups up to date. */
void counters_refresh(struct pool *p, struct counters *c);
bool groups_admit(const struct group_state *s, const struct view_strs *groups);
struct group_state groups_add(const struct group_state *s,
                              const struct view_strs *groups);

/* hosts.c */
struct host *host_get(struct alloc_inventory *inv, struct str name);
/* Brings the host of the node up to date. */
void host_current(struct alloc_inventory *inv, struct host *h,
                  const struct view_node *node);
/* The node's host with its seats up to date. */
struct host *host_of(struct alloc_inventory *inv, const struct view_node *node);
void host_free(struct host *h);
/* Changes whenever an answer for the host may change. */
static inline uint64_t host_stamp(const struct alloc_inventory *inv, const struct host *h)
{
    return h->version + inv->shared_version;
}

/* match.c: columns */
uint32_t selector_id(struct alloc_inventory *inv, struct str text);
uint32_t derived_id(struct alloc_inventory *inv, struct str text);
enum device_verdict expression_match(struct alloc_inventory *inv, struct expression *x,
                                     const struct device_facts *facts);
/* The run-time error text of a device that expression_match called DEVICE_ERROR. */
struct str expression_why(struct alloc_inventory *inv, struct expression *x,
                          const struct device_facts *facts, struct arena *a);
struct profile_column *pool_profile_make(struct alloc_inventory *inv, struct pool *p,
                                         const struct profile *profile);
static inline struct profile_column *
pool_profile(struct alloc_inventory *inv, struct pool *p, const struct profile *profile)
{
    if (profile->id < p->profiles.n && p->profiles.v[profile->id])
        return p->profiles.v[profile->id];
    return pool_profile_make(inv, p, profile);
}
/* The first taint that prevents allocation and is not tolerated, or NULL. */
const struct view_taint *device_taint(const struct pool *p, uint32_t device,
                                      const struct profile *profile);
/* The outcome of the device's kind; *made: it is new and to be filled in. */
struct outcome *expression_outcome(struct alloc_inventory *inv, struct expression *x,
                                   const struct device_facts *facts, bool *made);
/* All selectors in turn; *which is the one that decided. */
enum device_verdict profile_match(struct alloc_inventory *inv,
                                  const struct profile *profile,
                                  const struct device_facts *facts, uint32_t *which);
/* The one that profile_match named. */
struct expression *profile_expression(struct alloc_inventory *inv,
                                      const struct profile *profile, uint32_t which);

/* values.c */
uint32_t attribute_id(struct alloc_inventory *inv, struct str name);
const struct value_column *pool_values(struct alloc_inventory *inv, struct pool *p,
                                       uint32_t attribute);
const struct value_column *pool_derived(struct alloc_inventory *inv, struct pool *p,
                                        uint32_t derived);
struct str derived_why(struct alloc_inventory *inv, uint32_t derived, struct str name,
                       const struct pool *p, uint32_t device, struct arena *a);
struct str value_text(const struct alloc_inventory *inv, uint32_t value, struct arena *a);

/* profiles.c: profiles, expressions and attribute names come from claims, so they are
 * bounded: beyond a limit all go, and are made again as they are asked for. Not to be
 * called while a plan is being made. */
void profiles_trim(struct alloc_inventory *inv);
void profiles_drop(struct alloc_inventory *inv);
void expressions_free(struct alloc_inventory *inv);
const struct profile *profile_get(struct alloc_inventory *inv,
                                  const struct view_class *class,
                                  const struct view_alternative *alt);

/* inventory.c */
struct pool *pool_get(struct alloc_inventory *inv, struct str driver, struct str name);
void pool_charged(struct alloc_inventory *inv, struct pool *p, const struct held *h);
const struct view_class *class_find(const struct alloc_inventory *inv, struct str name);
/* Every pool is to be compiled anew. */
void inventory_stale(struct alloc_inventory *inv);

/* charge.c */
const struct held *held_find(const struct pool *p, struct str device); /* or NULL */
bool held_any(const struct held *h);
void held_free(struct held *h);
/* Releases the devices that nobody holds anymore. */
void held_trim(struct pool *p);
void ledger_free(struct alloc_inventory *inv);

/* search.c */
void solver_free(struct solver *s);

/* "driver/pool/device" */
struct str device_path(const struct pool *p, uint32_t device, struct arena *a);
/* "namespace/name", or the name alone */
struct str claim_path(const struct view_claim *c, struct arena *a);

#endif
