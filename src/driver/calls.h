/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A kubelet's calls to prepare and unprepare claims, in both versions of the service
 * (spec 5.3). Claims are read from the server, then everything that waits goes to the
 * worker together, so that many pods that start at once wait for the disk once.
 */
#ifndef DRAY_DRIVER_CALLS_H
#define DRAY_DRIVER_CALLS_H

#include "client/client.h"
#include "driver/prepare.h"
#include "driver/worker.h"
#include "grpc/serve.h"

struct driver_calls;

struct driver_calls_opts {
    struct client *client;
    struct driver_worker *worker;
    struct driver_prepare *prepare;
    struct str lock_dir; /* of the lock that instances of the driver share (lock.h) */
    void (*log)(void *ctx, const char *text);
    void *log_ctx;
};

struct driver_calls *driver_calls_new(const struct driver_calls_opts *o);
/* Nothing more goes to the worker; calls that wait are answered UNAVAILABLE. */
void driver_calls_close(struct driver_calls *c);
/* After driver_calls_close and the worker's end. */
void driver_calls_free(struct driver_calls *c);

/* As methods of a grpc_server whose ctx is a struct driver_calls. */
void driver_calls_prepare(void *ctx, struct grpc_request *r, const ProtobufCMessage *m);
void driver_calls_prepare_v1beta1(void *ctx, struct grpc_request *r,
                                  const ProtobufCMessage *m);
void driver_calls_unprepare(void *ctx, struct grpc_request *r, const ProtobufCMessage *m);

struct driver_calls_count {                                          /* since the start */
    uint64_t prepared, prepare_failed, unprepared, unprepare_failed; /* claims */
};
struct driver_calls_count driver_calls_count(const struct driver_calls *c);

#endif
