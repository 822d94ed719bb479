/* SPDX-License-Identifier: Apache-2.0 */
/*
 * HTTPS for tests and benchmarks: HTTP/2 connections with many requests under way on
 * each, as client-go has them, driven by one thread. It shares no code with src/net,
 * whose server it talks to.
 */
#ifndef DRAY_TESTS_SERVER_HTTPS_H
#define DRAY_TESTS_SERVER_HTTPS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

struct https;      /* the connections of a thread */
struct https_conn; /* one of them */
struct https_call; /* a request under way */

struct https_opts {
    const char *ca, *cert, *key; /* files */
};
/* NULL: they cannot be used. */
struct https *https_new(const struct https_opts *opts);
/* Disconnects all. */
void https_free(struct https *h);

/* To 127.0.0.1; waits until it stands. NULL: nobody listens, or does not let us in. */
struct https_conn *https_connect(struct https *h, uint16_t port);
/* Calls under way are done with status 0. Not from a callback. */
void https_disconnect(struct https_conn *c);
/* A connection that the other side has ended stays, with all calls done. */
bool https_is_lost(const struct https_conn *c);

struct https_request {
    const char *method;
    struct str path;           /* with its query; copied, as the body is */
    const char *accept, *type; /* NULL: application/json */
    struct str body;
    /* Parts of the answer as they come. NULL: they are collected for done. */
    void (*data)(void *ctx, struct https_call *call, struct str bytes);
    /* Once, and the last: status 0 when the connection was lost before the end, or the
     * call cancelled. May send the next request, on a connection that is not lost. */
    void (*done)(void *ctx, unsigned status, struct str body);
    void *ctx;
};
/* Valid until done is called, which is never from within. */
struct https_call *https_send(struct https_conn *c, const struct https_request *r);
unsigned https_status(const struct https_call *call); /* 0: not known yet */
/* done follows, with status 0. */
void https_cancel(struct https_call *call);

/* Sends and receives what can be; waits at most ms for something to happen. */
void https_run(struct https *h, int ms);
/* Bytes received by all connections, decrypted: frames and their heads. */
uint64_t https_received(const struct https *h);

/* One request and its answer, waited for at most ms; the body is the caller's. 0: no
 * answer. */
unsigned https_ask(struct https *h, struct https_conn *c, const struct https_request *r,
                   int ms, struct strbuf *body);

#endif
