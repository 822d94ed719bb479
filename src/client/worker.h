/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The middle of a controller: keys wait in a queue (workqueue.h), and a function turns
 * one after another into what must be asked of the server (steps.h). What fails is told
 * and tried again.
 */
#ifndef DRAY_CLIENT_WORKER_H
#define DRAY_CLIENT_WORKER_H

#include "client/steps.h"
#include "client/workqueue.h"
#include "doc/doc.h"

struct worker;

enum progress {
    PROGRESS_DONE,
    PROGRESS_WAIT, /* an answer is yet to come: the work is done anew then */
    /* w->err says why (nothing: nobody is told); tried again later unless w->hopeless */
    PROGRESS_FAILED,
};

struct work {
    struct work *next, **link;
    struct worker *worker;
    void *ctx; /* the worker's */
    struct steps steps;
    struct arena *a; /* of the steps: what the work makes */
    struct str key;
    struct err err;
    bool hopeless;
    uint64_t again_ms; /* of a key that is done: it comes again then; 0: it does not */
    /* What the work keeps from one round to the next. */
    void *kept;
    void (*release)(void *kept);
};

typedef enum progress work_fn(struct work *w);

struct worker_opts {
    struct workqueue_opts queue;
    void (*log)(void *ctx, const char *text); /* or NULL */
    void *log_ctx;
};

struct worker *worker_new(struct client *c, const struct worker_opts *opts, work_fn *fn,
                          void *ctx);
/* Work that waits is dropped. */
void worker_free(struct worker *w);
void worker_add(struct worker *w, struct str key);
void worker_add_after(struct worker *w, struct str key, uint64_t ms);
/* How often the work of a key has failed since it last went well. */
unsigned worker_failures(const struct worker *w, struct str key);
/* Keys that wait or are worked on. */
uint32_t worker_length(const struct worker *w);
/* For tests: keys are told and not worked on; NULL: they are again. */
void worker_hold(struct worker *w, void (*told)(void *ctx, struct str key), void *ctx);

/* ---- for work ---- */

/* Sets the error; PROGRESS_FAILED. */
enum progress work_fail(struct work *w, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* Asks with a document as body (NULL: none). The answer is there when it is DONE: one
 * that refuses is DONE too. */
enum progress work_ask(struct work *w, const char *method, const char *type,
                       struct str path, const struct doc *body,
                       const struct client_answer **out);
/* Asks for an object, or (list) for all of a collection, of which only the metadata is
 * of interest. */
enum progress work_ask_metadata(struct work *w, struct str path, bool list,
                                const struct client_answer **out);
/* The object of an answer, in the work's arena; NULL: it is none. */
const struct doc *work_answer_doc(struct work *w, const struct client_answer *a);

#endif
