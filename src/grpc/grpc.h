/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gRPC calls over an HTTP/2 client: messages with their length in front, a deadline that
 * the server is told, and a status at the end of every call, whatever went wrong. Without
 * compression. Callbacks come as those of net/client.h.
 *
 * Source: the gRPC project's PROTOCOL-HTTP2 and its mapping of HTTP statuses.
 */
#ifndef DRAY_GRPC_GRPC_H
#define DRAY_GRPC_GRPC_H

#include <protobuf-c/protobuf-c.h>

#include "net/client.h"

enum grpc_status {
    GRPC_OK,
    GRPC_CANCELLED,
    GRPC_UNKNOWN,
    GRPC_INVALID_ARGUMENT,
    GRPC_DEADLINE_EXCEEDED,
    GRPC_NOT_FOUND,
    GRPC_ALREADY_EXISTS,
    GRPC_PERMISSION_DENIED,
    GRPC_RESOURCE_EXHAUSTED,
    GRPC_FAILED_PRECONDITION,
    GRPC_ABORTED,
    GRPC_OUT_OF_RANGE,
    GRPC_UNIMPLEMENTED,
    GRPC_INTERNAL,
    GRPC_UNAVAILABLE,
    GRPC_DATA_LOSS,
    GRPC_UNAUTHENTICATED,
    GRPC_NSTATUSES
};
const char *grpc_status_name(enum grpc_status s); /* "UNAVAILABLE" */

struct grpc_end {
    enum grpc_status status;
    struct str message; /* the server's, or ours about what went wrong */
    bool told;          /* by the server; else it is what became of the connection */
    bool untouched;     /* the server has not acted on the call, and never will */
};

struct grpc_opts {
    const char *method; /* "/package.Service/Method" */
    const struct net_header *metadata;
    uint32_t nmetadata;
    uint64_t timeout_ms; /* 0: none */
    size_t max_message;  /* received; 0: 4 MiB */
};

/* ---- calls with streams of messages ---- */

struct grpc_call;
struct grpc_ops {
    void (*message)(void *ctx, struct str bytes); /* whole, undecoded */
    void (*done)(void *ctx, const struct grpc_end *end);
};

/* NULL: the client takes no more calls. */
struct grpc_call *grpc_start(struct net_client *c, const struct grpc_opts *opts,
                             const struct grpc_ops *ops, void *ctx);
void grpc_send(struct grpc_call *call, const ProtobufCMessage *m); /* copies */
void grpc_finish(struct grpc_call *call);                          /* sends no more */
size_t grpc_unsent(const struct grpc_call *call);
void grpc_pause(struct grpc_call *call, bool paused); /* as net_call_pause */
/* No callback follows; the call is gone. */
void grpc_cancel(struct grpc_call *call);

/* ---- one message, one answer ---- */

/* answer: NULL unless the status is OK; the callback's, to be freed with
 * protobuf_c_message_free_unpacked(answer, NULL). */
typedef void grpc_answered(void *ctx, ProtobufCMessage *answer,
                           const struct grpc_end *end);
struct grpc_ask;
/* The ask is gone once answered. NULL: the client takes no more calls. */
struct grpc_ask *grpc_ask(struct net_client *c, const struct grpc_opts *opts,
                          const ProtobufCMessage *m,
                          const ProtobufCMessageDescriptor *answer,
                          grpc_answered *answered, void *ctx);
void grpc_ask_cancel(struct grpc_ask *ask);

#endif
