/* SPDX-License-Identifier: Apache-2.0 */
#include "node/health.h"

#include <stdlib.h>
#include <time.h>

#include "base/mem.h"
#include "grpc/grpc.h"
#include "grpc/health.pb-c.h"
#include "grpc/message.h"
#include "node/health_inner.h"
#include "node/state_file.h"

enum {
    RETRY_MS = 5000,
    SAVE_MS = 200, /* a driver that reports all the time is not written each time */
};

struct health_stream {
    struct health_stream *next, **link;
    struct health *health;
    struct plugin *plugin;
    struct grpc_call *call;
    struct net_timer *again;
};

struct health_now health_now(const struct health *h)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (struct health_now){net_now_ms(h->opts.loop), (int64_t)t.tv_sec,
                               (int32_t)t.tv_nsec};
}

static void say(const struct health *h, const char *text)
{
    if (h->opts.log)
        h->opts.log(h->opts.ctx, text);
}

/* ---- the file ---- */

static void write_file(struct health *h)
{
    struct arena a = {0};
    struct err e = ERR_INIT;
    struct checkpoint_reports all = health_table_list(h->table, &a);
    if (!state_file_write(h->path, checkpoint_health_print(&all, &a), false, &e))
        say(h, err_text(&e));
    err_release(&e);
    arena_fini(&a);
}

static void on_save(void *ctx)
{
    struct health *h = ctx;
    h->save = NULL;
    write_file(h);
}

static void save_soon(struct health *h)
{
    if (!h->save)
        h->save = net_timer_start(h->opts.loop, SAVE_MS, 0, on_save, h);
}

static void read_file(struct health *h)
{
    struct arena a = {0};
    struct err e = ERR_INIT;
    struct str text;
    struct checkpoint_reports all;
    struct health_now now = health_now(h);
    bool read = state_file_read(h->path, &a, &text, &e);
    if (read && checkpoint_health_read(text, &a, &all, &e))
        health_table_take(h->table, &all, &now);
    else if (read || e.code != ERR_NOT_FOUND)
        say(h, err_text(&e));
    err_release(&e);
    arena_fini(&a);
}

/* ---- reports ---- */

static void tell_users(void *ctx, struct str driver, const struct checkpoint_device *d,
                       const struct str *pods, uint32_t npods)
{
    struct health_stream *s = ctx;
    struct health *h = s->health;
    if (!str_eq(driver, plugin_driver(s->plugin)) ||
        !health_table_has_changed(h->table, driver, d->pool, d->device))
        return;
    for (uint32_t i = 0; i < npods; i++)
        h->opts.changed(h->opts.ctx, pods[i]);
}

static enum checkpoint_health health_of(Health__HealthStatus s)
{
    switch (s) {
    case HEALTH__HEALTH_STATUS__HEALTHY:
        return CHECKPOINT_HEALTHY;
    case HEALTH__HEALTH_STATUS__UNHEALTHY:
        return CHECKPOINT_UNHEALTHY;
    default:
        return CHECKPOINT_UNKNOWN;
    }
}

static struct health_said read_device(const Health__DeviceHealth *m)
{
    const Health__DeviceIdentifier *id = m->device;
    return (struct health_said){.pool = str_from(id ? id->pool_name : ""),
                                .device = str_from(id ? id->device_name : ""),
                                .message = str_from(m->message),
                                .health = health_of(m->health),
                                .timeout_s = m->health_check_timeout_seconds};
}

static void take_report(struct health_stream *s,
                        const Health__NodeWatchResourcesResponse *m)
{
    struct health *h = s->health;
    struct arena a = {0};
    struct health_now now = health_now(h);
    struct health_said *v = ARENA_ARRAY(&a, struct health_said, m->n_devices + 1);
    for (size_t i = 0; i < m->n_devices; i++)
        v[i] = read_device(m->devices[i]);
    if (health_table_report(h->table, plugin_driver(s->plugin), v, (uint32_t)m->n_devices,
                            &now)) {
        save_soon(h);
        if (h->claims)
            node_claims_each_device(h->claims, STR_NONE, STR_NONE, tell_users, s);
    }
    arena_fini(&a);
}

/* ---- streams ---- */

static void start_stream(void *ctx);

/* Of two endpoints of a driver each speaks for all of its devices, so the end of one
 * clears what the other has said, until that speaks again. */
static void lose_stream(struct health_stream *s)
{
    health_table_drop(s->health->table, plugin_driver(s->plugin));
    save_soon(s->health);
}

static void try_again(struct health_stream *s)
{
    uint64_t ms = s->health->opts.retry_ms;
    s->again = net_timer_start(s->health->opts.loop, ms ? ms : (uint64_t)RETRY_MS, 0,
                               start_stream, s);
}

static void on_message(void *ctx, struct str bytes)
{
    struct health_stream *s = ctx;
    struct err e = ERR_INIT;
    ProtobufCMessage *m =
        grpc_message_read(&health__node_watch_resources_response__descriptor, bytes, &e);
    if (m) {
        take_report(s, (const Health__NodeWatchResourcesResponse *)m);
        protobuf_c_message_free_unpacked(m, NULL);
        return;
    }
    say(s->health, err_text(&e));
    err_release(&e);
    grpc_cancel(s->call);
    s->call = NULL;
    lose_stream(s);
    try_again(s);
}

/* Who has no such service is not asked again until he registers anew. */
static void on_done(void *ctx, const struct grpc_end *end)
{
    struct health_stream *s = ctx;
    s->call = NULL;
    lose_stream(s);
    if (end->status != GRPC_UNIMPLEMENTED)
        try_again(s);
}

static void start_stream(void *ctx)
{
    static const struct grpc_ops ops = {on_message, on_done};
    struct health_stream *s = ctx;
    struct net_client *client = plugin_connection(s->plugin);
    Health__NodeWatchResourcesRequest q = HEALTH__NODE_WATCH_RESOURCES_REQUEST__INIT;
    struct grpc_opts opts = {.method = plugin_health(s->plugin) == PLUGIN_HEALTH_V1
                                           ? "/v1.DRAResourceHealth/NodeWatchResources"
                                           : "/v1alpha1.DRAResourceHealth/"
                                             "NodeWatchResources"};
    s->again = NULL;
    s->call = client ? grpc_start(client, &opts, &ops, s) : NULL;
    if (!s->call) {
        try_again(s);
        return;
    }
    grpc_send(s->call, &q.base);
    grpc_finish(s->call);
}

void health_added(struct health *h, struct plugin *p)
{
    plugin_set_user(p, NULL);
    if (plugin_health(p) == PLUGIN_HEALTH_NONE)
        return;
    struct health_stream *s = mem_zalloc(sizeof *s);
    *s = (struct health_stream){.health = h, .plugin = p};
    s->next = h->streams;
    s->link = &h->streams;
    if (s->next)
        s->next->link = &s->next;
    h->streams = s;
    plugin_set_user(p, s);
    start_stream(s);
}

static void stream_free(struct health_stream *s)
{
    *s->link = s->next;
    if (s->next)
        s->next->link = s->link;
    if (s->call)
        grpc_cancel(s->call);
    if (s->again)
        net_timer_stop(s->again);
    plugin_set_user(s->plugin, NULL);
    free(s);
}

void health_removed(struct health *h, struct plugin *p)
{
    struct health_stream *s = plugin_user(p);
    if (!s || s->health != h)
        return;
    lose_stream(s);
    stream_free(s);
}

/* ---- beginning and end ---- */

struct health *health_new(const struct health_opts *o)
{
    struct health *h = mem_zalloc(sizeof *h);
    h->opts = *o;
    h->table = health_table_new();
    h->path = arena_printf(&h->arena, "%s/dra_health_state", o->dir).p;
    read_file(h);
    return h;
}

void health_use_claims(struct health *h, const struct node_claims *c)
{
    h->claims = c;
}

/* What was said stays in the file for the next process. */
void health_free(struct health *h)
{
    if (!h)
        return;
    for (struct health_stream *s = h->streams, *next; s; s = next) {
        next = s->next;
        stream_free(s);
    }
    if (h->save) {
        net_timer_stop(h->save);
        write_file(h);
    }
    health_table_free(h->table);
    arena_fini(&h->arena);
    free(h);
}
