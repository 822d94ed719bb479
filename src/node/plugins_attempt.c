/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A socket is there before somebody listens on it; so the connection is tried until it
 * stands, for as long as a kubelet waits for one. Everything else is asked once.
 */
#include "node/plugins_attempt.h"

#include <stdlib.h>

#include "base/mem.h"
#include "grpc/grpc.h"
#include "grpc/registration.pb-c.h"

enum {
    DIAL_MS = 10 * 1000,
    INFO_MS = 1000,
    NOTIFY_MS = 5 * 1000,
    FIRST_PAUSE_MS = 10,
    LONGEST_PAUSE_MS = 1000,
};

struct plugins_attempt {
    struct net_loop *loop;
    const struct plugins_attempt_ops *ops;
    void *ctx;
    char *socket;
    struct net_client *client;
    struct net_timer *pause;
    uint64_t until, pause_ms;
    bool opened, taken;
    struct grpc_ask *ask;
    struct err why; /* it is refused */
};

static void attempt_free(struct plugins_attempt *a)
{
    if (a->ask)
        grpc_ask_cancel(a->ask);
    if (a->client)
        net_client_close(a->client);
    if (a->pause)
        net_timer_stop(a->pause);
    err_release(&a->why);
    free(a->socket);
    free(a);
}

void plugins_attempt_cancel(struct plugins_attempt *a)
{
    attempt_free(a);
}

/* Takes the error. */
static void end(struct plugins_attempt *a, struct err *why)
{
    a->ops->over(a->ctx, why && why->code != ERR_NONE ? why : NULL);
    if (why)
        err_release(why);
    attempt_free(a);
}

/* ---- being told ---- */

static void on_notified(void *ctx, ProtobufCMessage *m, const struct grpc_end *told)
{
    struct plugins_attempt *a = ctx;
    struct err why = a->why;
    a->ask = NULL;
    a->why = (struct err)ERR_INIT;
    if (m)
        protobuf_c_message_free_unpacked(m, NULL);
    else if (a->taken)
        err_set(&why, ERR_IO,
                "RegisterPlugin error -- failed to send registration status at socket "
                "%s, err: %.*s",
                a->socket, STR_ARG(told->message));
    end(a, &why);
}

static void notify(struct plugins_attempt *a)
{
    Registration__RegistrationStatus m = REGISTRATION__REGISTRATION_STATUS__INIT;
    m.plugin_registered = a->taken;
    if (!a->taken)
        m.error = (char *)err_text(&a->why);
    a->ask = grpc_ask(
        a->client,
        &(struct grpc_opts){
            .method = "/pluginregistration.Registration/NotifyRegistrationStatus",
            .timeout_ms = NOTIFY_MS},
        &m.base, &registration__registration_status_response__descriptor, on_notified, a);
    if (!a->ask)
        on_notified(a, NULL,
                    &(struct grpc_end){.message = STR("the connection was closed")});
}

/* ---- being asked ---- */

static void put_prefix(struct plugins_attempt *a)
{
    struct err whole = ERR_INIT;
    err_set(&whole, a->why.code, "RegisterPlugin error -- %s", err_text(&a->why));
    err_release(&a->why);
    a->why = whole;
}

static void decide(struct plugins_attempt *a, const Registration__PluginInfo *m)
{
    struct plugin_info info = {.type = m->type,
                               .name = m->name,
                               .endpoint = *m->endpoint ? m->endpoint : a->socket,
                               .versions = (const char *const *)m->supported_versions,
                               .nversions = m->n_supported_versions};
    if (strcmp(info.type, "DRAPlugin") != 0)
        err_set(&a->why, ERR_UNSUPPORTED,
                "no handler registered for plugin type: %s at socket %s", info.type,
                a->socket);
    else
        a->taken = a->ops->take(a->ctx, &info, &a->why);
    if (!a->taken)
        put_prefix(a);
}

static void on_info(void *ctx, ProtobufCMessage *m, const struct grpc_end *told)
{
    struct plugins_attempt *a = ctx;
    struct err why = ERR_INIT;
    a->ask = NULL;
    if (m) {
        decide(a, (const Registration__PluginInfo *)m);
        protobuf_c_message_free_unpacked(m, NULL);
        notify(a);
        return;
    }
    err_set(&why, ERR_IO,
            "RegisterPlugin error -- failed to get plugin info using RPC GetInfo at "
            "socket %s, err: %.*s",
            a->socket, STR_ARG(told->message));
    end(a, &why);
}

static void on_opened(void *ctx)
{
    struct plugins_attempt *a = ctx;
    Registration__InfoRequest q = REGISTRATION__INFO_REQUEST__INIT;
    a->opened = true;
    a->ask =
        grpc_ask(a->client,
                 &(struct grpc_opts){.method = "/pluginregistration.Registration/GetInfo",
                                     .timeout_ms = INFO_MS},
                 &q.base, &registration__plugin_info__descriptor, on_info, a);
}

/* ---- connecting ---- */

static void connect_to(void *ctx);

static void dial_failed(struct plugins_attempt *a, const char *text)
{
    struct err why = ERR_INIT;
    uint64_t now = net_now_ms(a->loop);
    if (now < a->until) {
        a->pause = net_timer_start(a->loop, a->pause_ms, 0, connect_to, a);
        a->pause_ms = a->pause_ms < LONGEST_PAUSE_MS / 2 ? a->pause_ms * 2
                                                         : (uint64_t)LONGEST_PAUSE_MS;
        return;
    }
    err_set(&why, ERR_TIMEOUT,
            "RegisterPlugin error -- dial failed at socket %s, err: %s", a->socket, text);
    end(a, &why);
}

/* Once the connection stood, whoever was asked last is told by its call. */
static void on_closed(void *ctx, const struct err *why)
{
    struct plugins_attempt *a = ctx;
    struct err ended = ERR_INIT;
    net_client_close(a->client);
    a->client = NULL;
    if (!a->opened) {
        dial_failed(a, err_text(why));
        return;
    }
    err_set(&ended, ERR_IO, "RegisterPlugin error -- socket %s: %s", a->socket,
            err_text(why));
    end(a, &ended);
}

static void connect_to(void *ctx)
{
    static const struct net_client_ops ops = {on_opened, on_closed};
    struct plugins_attempt *a = ctx;
    struct strbuf address = STRBUF_INIT;
    struct err e = ERR_INIT;
    a->pause = NULL;
    strbuf_addf(&address, "unix:%s", a->socket);
    a->client = net_client_new(a->loop,
                               &(struct net_client_opts){.address = strbuf_cstr(&address),
                                                         .connect_ms = DIAL_MS},
                               &ops, a, &e);
    strbuf_release(&address);
    if (a->client)
        return;
    a->until = 0; /* the path is none that can be connected to */
    dial_failed(a, err_text(&e));
    err_release(&e);
}

struct plugins_attempt *plugins_attempt_start(struct net_loop *l, struct str socket,
                                              const struct plugins_attempt_ops *ops,
                                              void *ctx)
{
    struct plugins_attempt *a = mem_zalloc(sizeof *a);
    *a = (struct plugins_attempt){.loop = l,
                                  .ops = ops,
                                  .ctx = ctx,
                                  .socket = mem_dup(socket.p, socket.n),
                                  .until = net_now_ms(l) + DIAL_MS,
                                  .pause_ms = FIRST_PAUSE_MS};
    a->pause = net_timer_start(l, 0, 0, connect_to, a);
    return a;
}
