/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of the event loop, for the files of net/ alone. */
#ifndef DRAY_NET_LOOP_H
#define DRAY_NET_LOOP_H

#include <pthread.h>
#include <stdbool.h>
#include <uv.h>

#include "base/vec.h"
#include "net/http.h"

struct stream;

enum { LOOP_READ_SIZE = 64 * 1024, LOOP_PLAIN_SIZE = 16 * 1024 + 64 };

struct loop_post {
    void (*fn)(void *ctx);
    void *ctx;
};

struct net_loop {
    uv_loop_t uv;
    uv_async_t posted;
    uv_prepare_t flush; /* before the loop sleeps: streams that have something to send */
    uv_signal_t signals[2];
    bool has_signals;
    void (*on_signal)(void *ctx);
    void *signal_ctx;
    pthread_mutex_t lock; /* of posts */
    VEC(struct loop_post) posts;
    VEC(struct loop_post) due; /* those that are being run */
    struct stream *dirty;      /* streams to flush, in no order */
    /* What one read fills, and what is decrypted from it; nobody keeps a pointer. */
    char read[LOOP_READ_SIZE];
    char plain[LOOP_PLAIN_SIZE];
    /* Buffers that no stream has at the moment. */
    struct strbuf spare[4];
    uint32_t nspare;
    char date[32]; /* of the header of this name */
    uint64_t date_ms;
};

/* Milliseconds of the loop's own clock. */
uint64_t loop_now(struct net_loop *l);
/* "Sun, 06 Nov 1994 08:49:37 GMT", valid until the next call. */
struct str loop_date(struct net_loop *l);
/* Memory for what is being sent, reused by all streams: lend gives some to a buffer that
 * has none, give_back empties a buffer and takes its memory. */
void loop_lend(struct net_loop *l, struct strbuf *b);
void loop_give_back(struct net_loop *l, struct strbuf *b);
void loop_free_handle(uv_handle_t *h); /* a uv_close callback: frees the handle's data */

#endif
