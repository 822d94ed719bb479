/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Serving gRPC on a Unix socket or an address: calls of one message that are answered
 * with one message, or with a stream of them. Answers are given now or later, from the
 * loop's thread; the one who asked may be gone by then, which is no concern of who
 * answers.
 *
 * Source: the gRPC project's PROTOCOL-HTTP2; spec 5.12.
 */
#ifndef DRAY_GRPC_SERVE_H
#define DRAY_GRPC_SERVE_H

#include "grpc/grpc.h"
#include "net/http.h"

struct grpc_request;

struct grpc_method {
    const char *name; /* "/package.Service/Method" */
    const ProtobufCMessageDescriptor *input;
    /* m lives until the request is answered. */
    void (*call)(void *ctx, struct grpc_request *r, const ProtobufCMessage *m);
};

struct grpc_server;
/* address: as in net_server_opts; a socket that nobody listens on anymore is replaced.
 * The methods outlive the server. Whoever calls another one is told UNIMPLEMENTED. */
struct grpc_server *grpc_server_new(struct net_loop *l, const char *address,
                                    const struct grpc_method *methods, uint32_t nmethods,
                                    void *ctx, struct err *e);
/* No new calls; running ones may end for ms, then done(ctx). */
void grpc_server_stop(struct grpc_server *s, uint64_t ms, void (*done)(void *ctx),
                      void *ctx);
/* Requests that are not answered yet stay valid until they are. */
void grpc_server_free(struct grpc_server *s);

/* ---- answering: each of these but grpc_request_write ends the request ---- */

void grpc_request_answer(struct grpc_request *r, const ProtobufCMessage *m);
/* status is not GRPC_OK. */
void grpc_request_fail(struct grpc_request *r, enum grpc_status status, struct str why);
/* One of a stream. False: the caller is gone, or too slow; the stream should be ended. */
bool grpc_request_write(struct grpc_request *r, const ProtobufCMessage *m);
void grpc_request_end(struct grpc_request *r);

/* fn(ctx) once, when the caller is gone; the request must still be ended. */
void grpc_request_on_gone(struct grpc_request *r, void (*fn)(void *ctx), void *ctx);
/* Milliseconds from now until the caller waits no longer; UINT64_MAX: he said nothing. */
uint64_t grpc_request_patience(const struct grpc_request *r);
void grpc_request_set_user(struct grpc_request *r, void *user);
void *grpc_request_user(const struct grpc_request *r);

#endif
