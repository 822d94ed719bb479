/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The state of one question: a plan on a host. Devices of all usable pools are numbered
 * in search order, every pool starting at a word of its own, so that a set of devices is
 * a plain bitset and a pool's columns can be copied into it.
 *
 * The solver belongs to the inventory and keeps its buffers between questions. Every
 * change of state during the search goes through the trail.
 */
#ifndef DRAY_ALLOC_SEARCH_H
#define DRAY_ALLOC_SEARCH_H

#include "alloc/plan.h"

enum verdict {
    FOUND,
    NOTHING,    /* no solution below here */
    HARDEN,     /* start again with all proofs */
    OVERFLOWED, /* none, whatever devices are picked: too many for the claim (rule 24) */
    ENDED,      /* the search is over: status and error are set */
};

struct alt_state {
    uint64_t *ok;   /* may be picked, as far as others' picks allow */
    uint64_t *trap; /* reaching it is an error; disjoint from ok. NULL: none */
    uint64_t *all;  /* the devices of an All request */
    uint32_t count;
    uint32_t low; /* words before have no candidate */
};

struct pick {
    uint32_t device, alt;
    uint32_t trail, ids; /* marks to go back to */
};

/* A match constraint: the values that all devices so far have. */
struct match_state {
    uint32_t devices;
    uint32_t at, n; /* in solver.ids */
    bool odd;       /* the first device's value compares with nothing */
};

struct share_state {
    amount *used; /* per capacity of the device */
    bool charged; /* its counters and groups are accounted for */
};

struct seat_state { /* made when first touched */
    amount *left;
    struct group_state *groups;
};

enum { TRAIL_BYTES = 32 };
struct trail_entry {
    void *where;
    uint32_t size;
    unsigned char old[TRAIL_BYTES];
};

struct solver {
    /* the question */
    const struct alloc_plan *plan;
    struct host *host;
    struct arena *out; /* of the answer */
    const struct alloc_options *options;
    uint64_t max_steps;

    /* the numbering */
    uint32_t words;
    const struct seat *seats;
    uint32_t nseats;
    VEC(uint32_t) seat_of; /* word -> seat */
    VEC(uint64_t) bits;    /* all bitsets below */
    uint64_t *multi, *consumes;
    bool any_multi, any_consumes;
    VEC(struct alt_state) alts;
    VEC(const struct value_set *) values; /* [(alt * plan->uses + use) * nseats + seat] */

    /* the state */
    uint64_t *taken; /* not for normal requests */
    uint64_t *own;   /* per claim: its own picks; NULL: no admin request */
    VEC(struct pick) picks;
    VEC(uint32_t) claim_picks; /* number of picks before each claim */
    VEC(struct trail_entry) trail;
    VEC(uint32_t) ids;
    VEC(struct match_state) matches; /* per constraint */
    VEC(uint32_t) chosen;            /* per request: the alternative */
    VEC(uint32_t) first_picks;       /* per request: picks before it */
    struct arena scratch;            /* of seats and shares, for one question */
    VEC(struct seat_state) seat_states;
    struct share_state **shares; /* per device; NULL: none touched */
    uint64_t steps;

    /* the end of it */
    enum alloc_status status;
    struct str error;
    bool exhausted;   /* its budget, that is */
    uint32_t horizon; /* requests from this one on may end in an error */
    struct prover *prover;
    bool hard;       /* the prover is at work */
    uint32_t effort; /* of picks that failed */

    bool partial; /* devices are kept out: the end of it says nothing about the host */

    /* Trying a later claim by itself, to see whether it still has any way. */
    bool probing;
    uint32_t stop;        /* the claim at which the search is done */
    uint64_t probe_steps; /* of all probes; limit: of the one that is on */
    uint64_t probe_limit;
    uint32_t probes, probe_hits; /* states looked at, and refused */
};

/* Puts the question; false: it is answered already (status, error). */
bool solver_begin(struct solver *s, const struct alloc_plan *plan, struct host *host,
                  const struct alloc_options *options, struct arena *out);
enum verdict solver_search(struct solver *s);
/* Ends the search; false and ENDED, for callers to return. */
bool solver_fail(struct solver *s, enum alloc_status status, struct str error);
enum verdict solver_trap(struct solver *s, uint32_t alt, uint32_t device);
enum verdict solver_constraint_error(struct solver *s, uint32_t alt, uint32_t device);

/* ---- State, state.c ---- */

static inline const struct seat *seat_at(const struct solver *s, uint32_t device)
{
    return &s->seats[s->seat_of.v[device / 64]];
}
static inline uint32_t local(const struct seat *seat, uint32_t device)
{
    return device - seat->base * 64;
}
static inline const struct view_device *device_of(const struct solver *s, uint32_t device)
{
    const struct seat *seat = seat_at(s, device);
    return seat->pool->devices[local(seat, device)].v;
}
static inline const struct value_set *value_of(const struct solver *s, uint32_t alt,
                                               uint32_t use, uint32_t device)
{
    uint32_t seat = s->seat_of.v[device / 64];
    return &s->values.v[(alt * s->plan->uses + use) * s->nseats + seat]
                       [local(&s->seats[seat], device)];
}

enum take {
    TAKEN,
    REFUSED_CAPACITY,
    REFUSED_GROUPS,
    REFUSED_COUNTERS,
    REFUSED_CONSTRAINT,
    FAILED
};
/* Picks the device for the alternative, or says what forbids it (rules 32 - 37); FAILED:
 * the search has ended. *constraint is the use that refused. */
enum take state_take(struct solver *s, uint32_t alt, uint32_t device, uint32_t *which);
void state_undo(struct solver *s); /* of the last pick */
const struct consumed *consumed_of(struct solver *s, uint32_t alt, uint32_t device);
/* The index of the use of a constraint, or NONE. */
uint32_t use_of(const struct plan_alt *alt, uint32_t constraint);
amount *seat_left(struct solver *s, uint32_t seat);
/* What shares take of the device's capacities in this state. */
const amount *share_used(struct solver *s, uint32_t device);

/* Candidates of an alternative in one word. */
static inline uint64_t free_word(const struct solver *s, uint32_t alt, uint32_t word)
{
    const struct plan_alt *pa = &s->plan->alts[alt];
    uint64_t busy = pa->admin ? 0 : s->taken[word];
    if (s->own)
        busy |= s->own[s->plan->requests[pa->request].claim * s->words + word];
    return ~busy;
}

/* ---- Proofs, prove.c ---- */

/* The rest of the search below the last pick cannot succeed: k devices of alt are
 * picked, the next is at or after start. */
bool prove_hopeless(struct solver *s, uint32_t alt, uint32_t k, uint32_t start);
/* The same before the first pick. */
bool prove_none(struct solver *s);
/* Notes that a pick failed, or a candidate was refused; true: the search is no longer
 * easy, begin it anew. */
bool prove_failed(struct solver *s, bool picked);
void prover_free(struct prover *p);

#endif
