/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A store under test: a directory of its own, a log of what it reported, and calls that
 * wait for their answer.
 */
#ifndef DRAY_TESTS_STORE_FIXTURE_H
#define DRAY_TESTS_STORE_FIXTURE_H

#include <pthread.h>

#include "base/arena.h"
#include "base/vec.h"
#include "store/etcd_server.h"
#include "store/store.h"
#include "unit/unit.h"

struct answer {
    enum store_answer answer;
    uint64_t revision;
    struct err err;
    bool done;
};

struct fixture {
    struct store *store;
    struct store_opts opts;
    char dir[64]; /* for the back ends that want one */
    char url[96];
    struct etcd_server server;        /* of "etcd:" */
    struct arena arena;               /* of the log */
    VEC(struct store_change) changes; /* reported, in order */
    pthread_mutex_t lock;
    pthread_cond_t woken;
    bool wake;
};

/* backend: "memory:", "sqlite:", or "etcd:" and the path of the program, which is
 * started. Opens nothing yet. */
void fixture_init(struct fixture *f, const char *backend);
void fixture_fini(struct fixture *f); /* closes, and removes the directory */
bool fixture_open(struct fixture *f, struct err *e);
void fixture_close(struct fixture *f);
/* Waits for the store's call and polls. */
void fixture_wait(struct fixture *f);

/* One write and its answer. value NULL: delete. */
struct answer fixture_write(struct fixture *f, const char *key, const char *value,
                            uint64_t expect);
void fixture_answered(void *answer, enum store_answer got, uint64_t revision,
                      const struct err *e);
/* Waits for n answers. */
void fixture_await(struct fixture *f, struct answer *answers, size_t n);
void answers_release(struct answer *answers, size_t n);

/* "key=value@revision key=value@revision" sorted, of a snapshot taken now. */
char *fixture_print(struct fixture *f, uint64_t *revision);
bool change_eq(const struct store_change *a, const struct store_change *b);
struct store_change change_copy(struct arena *a, const struct store_change *c);
/* The history after a revision is the end of the log. */
void fixture_check_history(struct fixture *f, uint64_t after);

#endif
