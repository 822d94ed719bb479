/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writers: each has objects of its own, of which it knows what they are, and all fight
 * for some shared ones. What was answered is noted down, to be held against the store's
 * history when the server is dead.
 */
#ifndef DRAY_TESTS_SERVER_LOAD_H
#define DRAY_TESTS_SERVER_LOAD_H

#include "base/rng.h"
#include "server/daemon.h"
#include "server/https.h"
#include "server/world.h"

enum { CONNECTIONS = 8 };

struct load;

struct known { /* what a writer knows of an object */
    enum { UNKNOWN, ABSENT, THERE } state;
    uint64_t revision;
    struct content content;
};

struct writer {
    struct load *load;
    uint32_t id;
    struct rng rng;
    struct known own[OWN];
    const struct op *op; /* under way; NULL: none */
    uint32_t object;
    struct content content; /* that is being written */
    struct known shared;    /* of the shared object that was read last */
};

/* An answer, or what one saw. */
struct ack {
    uint32_t object;
    bool deleted;      /* then revision is that of what was deleted */
    uint64_t revision; /* that the object has */
    uint64_t n;
};

struct load {
    struct daemon daemon;
    const char *program;
    char dir[64];
    struct https *https;
    struct https_conn *conns[CONNECTIONS];
    struct writer writers[WRITERS];
    VEC(struct ack) acks;
    uint64_t next_n, newest; /* the largest revision that was answered */
    uint64_t answers, lost;
    uint32_t busy; /* writers that wait for an answer */
    bool stop;     /* start nothing more */
};

void load_init(struct load *l, const char *program, uint64_t seed);
void load_fini(struct load *l);
/* The server, and connections to it. Fails the test when it does not start. */
void load_up(struct load *l);
/* kill -9, or SIGTERM; calls under way end. */
void load_down(struct load *l, bool kill);
/* Lets the writers work for some time. */
void load_run(struct load *l, uint64_t us);
/* Waits for all answers. */
void load_settle(struct load *l);
/* All acks are in the history, as they were. Forgets them. */
void load_check(struct load *l, const struct history *h);

#endif
