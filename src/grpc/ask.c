/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of one message and one answer. */
#include <stdlib.h>

#include "base/mem.h"
#include "grpc/grpc.h"
#include "grpc/message.h"

struct grpc_ask {
    struct grpc_call *call;
    const ProtobufCMessageDescriptor *type;
    grpc_answered *answered;
    void *ctx;
    ProtobufCMessage *answer;
    const char *wrong; /* with the answer */
};

static void on_message(void *ctx, struct str bytes)
{
    struct grpc_ask *ask = ctx;
    if (ask->answer || ask->wrong) {
        ask->wrong = "more than one answer";
        return;
    }
    ask->answer = grpc_message_read(ask->type, bytes, NULL);
    if (!ask->answer)
        ask->wrong = "an answer that cannot be decoded";
}

static void drop_answer(struct grpc_ask *ask)
{
    if (ask->answer)
        protobuf_c_message_free_unpacked(ask->answer, NULL);
    ask->answer = NULL;
}

static void on_done(void *ctx, const struct grpc_end *end)
{
    struct grpc_ask *ask = ctx;
    struct grpc_end wrong = {.status = GRPC_INTERNAL};
    if (end->status == GRPC_OK && !ask->answer && !ask->wrong)
        ask->wrong = "no answer";
    if (end->status == GRPC_OK && ask->wrong) {
        wrong.message = str_from(ask->wrong);
        end = &wrong;
    }
    if (end->status != GRPC_OK)
        drop_answer(ask);
    ask->answered(ask->ctx, ask->answer, end);
    free(ask);
}

struct grpc_ask *grpc_ask(struct net_client *c, const struct grpc_opts *opts,
                          const ProtobufCMessage *m,
                          const ProtobufCMessageDescriptor *answer,
                          grpc_answered *answered, void *ctx)
{
    static const struct grpc_ops ops = {on_message, on_done};
    struct grpc_ask *ask = mem_zalloc(sizeof *ask);
    ask->type = answer;
    ask->answered = answered;
    ask->ctx = ctx;
    ask->call = grpc_start(c, opts, &ops, ask);
    if (!ask->call) {
        free(ask);
        return NULL;
    }
    grpc_send(ask->call, m);
    grpc_finish(ask->call);
    return ask;
}

void grpc_ask_cancel(struct grpc_ask *ask)
{
    grpc_cancel(ask->call);
    drop_answer(ask);
    free(ask);
}
