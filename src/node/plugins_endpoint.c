/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "base/mem.h"
#include "node/plugins_inner.h"

enum { FIRST_PAUSE_MS = 100, LONGEST_PAUSE_MS = 5000 };

struct plugin {
    struct net_loop *loop;
    struct plugin_opts opts;
    struct arena arena;
    const char *address;
    struct net_client *client; /* NULL: a pause */
    struct net_timer *pause;
    uint64_t pause_ms;
    void *user;
};

static void on_opened(void *ctx)
{
    struct plugin *p = ctx;
    p->pause_ms = FIRST_PAUSE_MS;
    p->opts.changed(p->opts.ctx, p);
}

static void start_connection(struct plugin *p);

static void on_pause_over(void *ctx)
{
    struct plugin *p = ctx;
    p->pause = NULL;
    start_connection(p);
}

static void pause_connection(struct plugin *p)
{
    p->pause = net_timer_start(p->loop, p->pause_ms, 0, on_pause_over, p);
    p->pause_ms =
        p->pause_ms < LONGEST_PAUSE_MS / 2 ? p->pause_ms * 2 : (uint64_t)LONGEST_PAUSE_MS;
}

static void on_closed(void *ctx, const struct err *why)
{
    (void)why;
    struct plugin *p = ctx;
    net_client_close(p->client);
    p->client = NULL;
    pause_connection(p);
    p->opts.changed(p->opts.ctx, p);
}

static void start_connection(struct plugin *p)
{
    static const struct net_client_ops ops = {on_opened, on_closed};
    p->client = net_client_new(p->loop, &(struct net_client_opts){.address = p->address},
                               &ops, p, NULL);
    if (!p->client)
        pause_connection(p);
}

struct net_client *plugin_connection(struct plugin *p)
{
    if (p->client)
        return p->client;
    if (p->pause)
        net_timer_stop(p->pause);
    p->pause = NULL;
    start_connection(p);
    return p->client;
}

struct plugin *plugin_new(struct net_loop *l, const struct plugin_opts *o)
{
    struct plugin *p = mem_zalloc(sizeof *p);
    *p = (struct plugin){.loop = l, .opts = *o, .pause_ms = FIRST_PAUSE_MS};
    p->opts.driver = arena_str(&p->arena, o->driver);
    p->opts.endpoint = arena_str(&p->arena, o->endpoint);
    p->address = arena_printf(&p->arena, "unix:%.*s", STR_ARG(o->endpoint)).p;
    start_connection(p);
    return p;
}

void plugin_free(struct plugin *p)
{
    if (p->client)
        net_client_close(p->client);
    if (p->pause)
        net_timer_stop(p->pause);
    arena_fini(&p->arena);
    free(p);
}

struct str plugin_driver(const struct plugin *p)
{
    return p->opts.driver;
}

struct str plugin_endpoint(const struct plugin *p)
{
    return p->opts.endpoint;
}

enum plugin_dra plugin_dra(const struct plugin *p)
{
    return p->opts.dra;
}

enum plugin_health plugin_health(const struct plugin *p)
{
    return p->opts.health;
}

bool plugin_connected(const struct plugin *p)
{
    return p->client && net_client_is_open(p->client);
}

void plugin_set_user(struct plugin *p, void *user)
{
    p->user = user;
}

void *plugin_user(const struct plugin *p)
{
    return p->user;
}
