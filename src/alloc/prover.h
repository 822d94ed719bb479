/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the proofs know of a question. Made once, for the state before the first pick,
 * when a search turns out not to be easy; then every state is tried against all proofs
 * before it is searched.
 *
 * All proofs are relaxations: they drop some of the rules and show that even so nothing
 * fits. What they cut away holds no solution, so the first solution stays the first. They
 * reason only about requests before the solver's horizon: what comes after may end in an
 * error, and an error must be reached as upstream reaches it.
 */
#ifndef DRAY_ALLOC_PROVER_H
#define DRAY_ALLOC_PROVER_H

#include "alloc/flow.h"
#include "alloc/search.h"

/* Where the search stands: k devices of alt are picked, the next is at or after start.
 * alt NONE: before the first request. */
struct standing {
    uint32_t alt, k, start;
};

/* The values of one attribute over the candidates. */
struct value_index {
    uint32_t attribute, derived;
    bool known; /* else there are too many, or some that cannot be compared */
    uint32_t n;
    uint32_t *ids;
    uint64_t *bits;  /* [value * words]: the candidates that have it */
    uint32_t *count; /* how many those are */
};

/* Counters as whole numbers, and sums of counters that must hold as well. */
struct bounds {
    uint32_t n;    /* counters first, then sums */
    int64_t *left; /* changes with the picks */
    uint32_t *at;  /* device -> first of its takes; devices + 1 */
    struct bound_take {
        uint32_t bound;
        int64_t n;
    } * takes;
    uint32_t *active, nactive; /* bounds that some request must draw on */
    int64_t *rest;       /* [request * nactive + active]: the least that this request and
                            those after it draw */
    struct bound_table { /* of an alternative */
        uint32_t most;   /* devices */
        int64_t *least;  /* [active * (most + 1) + k]: of k devices */
        int64_t *later;  /* [(device * nactive + active) * (most + 1) + k]: of k at or
                            after device; NULL: not made */
    } * tables;
};

struct prover {
    struct arena mem;
    uint64_t *taken; /* before the first pick */
    bool deep;       /* all there is was made at once */

    /* twins.c: devices that are the same choice */
    bool exchangeable;  /* else none of this is there */
    uint32_t *class_of; /* per device */
    uint32_t *block_of; /* NONE: of no block */
    uint32_t *orbit_of; /* its place in blocks of its kind; NONE: of no block */
    uint32_t nclasses, norbits;
    bool *fresh;     /* [alt * uses + use]: the first use of its attribute */
    uint64_t *skips; /* a row per depth */
    uint32_t skip_words;

    /* memo.c: states that failed */
    bool remembers;
    uint64_t search; /* number of the search */
    struct memo_key {
        uint64_t a, b;
    } * memo;

    uint64_t looks[2]; /* all that the search can see of the host; 0: not known */

    /* hall.c: enough different devices for all */
    uint32_t ngroups;
    uint64_t *group_bits; /* [group * words] */
    uint64_t *group_asks; /* bit r: the request takes devices of the group */
    uint32_t ntracked;    /* requests that take part */
    struct flow flow;
    uint32_t flow_left; /* the most it has room for */

    struct blocks *blocks; /* blocks.c; NULL: not made, or too many */

    /* prove_values.c */
    struct value_index *indexes;
    uint32_t nindexes;
    uint32_t *index_of; /* [alt * uses + use] */
    uint64_t *blocked;  /* scratch of words */

    /* bounds.c */
    struct bounds *bounds; /* NULL: no counters */
};

/* Turns proofs on; the state is the one before the first pick. */
void prover_start(struct solver *s);

/* The devices in the word that the alternative may have, start included. */
static inline uint64_t open_word(const struct solver *s, uint32_t alt, uint32_t word,
                                 uint32_t start)
{
    uint64_t w = s->alts.v[alt].ok[word] & free_word(s, alt, word);
    if (start / 64 < word)
        return w;
    return start / 64 > word ? 0 : w & ~(uint64_t)0 << start % 64;
}

/* Requests that are still to be met: the current one and those after it. */
static inline uint32_t standing_request(const struct solver *s, const struct standing *t)
{
    return t->alt == NONE ? 0 : s->plan->alts[t->alt].request;
}

/* ---- The proofs: true, nothing fits ---- */

bool hall_refuses(struct solver *s, const struct standing *t);
bool values_refuse(struct solver *s, const struct standing *t);
bool bounds_refuse(struct solver *s, const struct standing *t);

bool blocks_refuse(struct solver *s, const struct standing *t);

/* Whether the request needs devices of its own, how many at the least, and how many
 * shares it may have besides. */
bool hall_tracks(const struct solver *s, uint32_t request);
uint32_t hall_least(const struct solver *s, uint32_t request);
uint32_t hall_shares(const struct solver *s, uint32_t request);

void blocks_build(struct solver *s);
void twins_build(struct solver *s);
void hall_build(struct solver *s);
void values_build(struct solver *s);
/* The most values that a matching is tried with. */
uint32_t values_matched(const struct solver *s);
void bounds_build(struct solver *s);
/* More tables, for a search that goes on. */
void bounds_deepen(struct solver *s);

/* ---- Failed states ---- */

void memo_start(struct solver *s);
struct memo_key memo_key(const struct solver *s, uint32_t claim, uint32_t request);
bool memo_has(const struct solver *s, const struct memo_key *k);
void memo_add(struct solver *s, const struct memo_key *k);

/* ---- Kept with every pick ---- */

void bounds_take(struct bounds *b, uint32_t device);
void bounds_undo(struct bounds *b, uint32_t device);

/* The classes passed over at this depth: none yet. */
uint64_t *twins_row(struct solver *s);
bool twins_skipped(const struct solver *s, const uint64_t *row, uint32_t device);
/* After the device failed. */
void twins_failed(const struct solver *s, uint64_t *row, uint32_t device);

#endif
