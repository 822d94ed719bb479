/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes on their way through a back end: submitted, applied, answered. A request owns
 * copies of its key and value in its own allocation. Lists are not locked; who shares
 * one, locks it.
 */
#ifndef DRAY_STORE_QUEUE_H
#define DRAY_STORE_QUEUE_H

#include "store/store.h"

struct request {
    struct request *next;
    struct store_write write; /* key and value are the request's */
    enum store_answer answer;
    uint64_t revision; /* for the answer */
    /* What the key was before, of a write that succeeded; revision 0: not there. */
    char *previous; /* owned */
    size_t previous_size;
    uint64_t previous_revision;
    struct err err; /* of STORE_FAILED */
};

struct request_list {
    struct request *first, **last;
    size_t n;
};

void request_list_init(struct request_list *l);
void request_list_push(struct request_list *l, struct request *r);
struct request *request_list_pop(struct request_list *l); /* or NULL */
/* Moves all of from to the end of l. */
void request_list_join(struct request_list *l, struct request_list *from);

struct request *request_new(const struct store_write *w);
void request_free(struct request *r);
/* What compare-and-swap says to a write, given the revision its key has (0: none). */
enum store_answer request_check(const struct store_write *w, uint64_t current);
/* Forgets how it went and fails it. */
void request_fail(struct request *r, const char *why);
/* Reports the change (when it is one), then the answer, and frees the request. */
void request_deliver(struct request *r, const struct store_opts *opts);

#endif
