/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster.h"

#include "server/server.h"
#include "unit/unit.h"

enum { PATIENCE_MS = 60000 };

static struct client *client_of(struct cluster *c)
{
    static const struct str MASTERS[] = {STR_INIT("system:masters")};
    const struct net_inner_opts who = {STR("test"), MASTERS, 1};
    return client_new_inner(c->loop, server_inner(c->server, &who));
}

void cluster_open(struct cluster *c, const char *runtime_config,
                  const struct api_gates *gates)
{
    struct server_opts o = SERVER_OPTS_INIT;
    struct err e = ERR_INIT;
    *c = (struct cluster){.loop = net_loop_new(NULL)};
    tree_open(&c->t);
    o.dir = arena_printf(&c->a, "%s/server", c->t.root).p;
    o.listen = "127.0.0.1:0";
    o.store = "memory:";
    o.runtime_config = runtime_config;
    if (gates)
        o.gates = *gates;
    c->server = server_new(c->loop, &o, &e);
    if (!c->server)
        fail_msg("%s", err_text(&e));
    c->client = client_of(c);
    c->other = client_of(c);
}

static void on_tick(void *ctx)
{
    (void)ctx;
}

void cluster_await(struct cluster *c, bool (*so)(void *ctx), void *ctx, const char *what)
{
    uint64_t until = net_now_ms(c->loop) + PATIENCE_MS;
    struct net_timer *tick = net_timer_start(c->loop, 20, 20, on_tick, NULL);
    while (!so(ctx)) {
        if (net_now_ms(c->loop) > until)
            fail_msg("waited in vain: %s", what);
        net_loop_run_once(c->loop, true);
    }
    net_timer_stop(tick);
}

struct reply {
    struct cluster *c;
    bool done;
    unsigned status;
    struct str body;
};

static void on_done(void *ctx, const struct client_answer *a)
{
    struct reply *r = ctx;
    r->done = true;
    r->status = a->status;
    r->body = arena_str(&r->c->a, a->body);
}

static bool is_done(void *ctx)
{
    return ((struct reply *)ctx)->done;
}

struct doc cluster_ask(struct cluster *c, const char *method, const char *path,
                       const char *type, const char *body, unsigned *status)
{
    struct reply r = {.c = c};
    struct client_request q = {
        .method = method, .path = str_from(path), .type = type, .body = str_from(body)};
    struct doc d = doc_make_null();
    client_start(c->other, &q, on_done, &r);
    cluster_await(c, is_done, &r, path);
    if (!status && r.status / 100 != 2)
        fail_msg("%s %s: %u %.*s", method, path, r.status, STR_ARG(r.body));
    if (status)
        *status = r.status;
    struct doc_source src = {.name = "answer", .text = r.body};
    doc_read_json(&src, &c->a, &d, NULL);
    return d;
}

static void on_stopped(void *ctx)
{
    *(bool *)ctx = true;
}

static bool is_set(void *ctx)
{
    return *(bool *)ctx;
}

void cluster_close(struct cluster *c)
{
    bool stopped = false;
    client_free(c->client);
    client_free(c->other);
    server_stop(c->server, on_stopped, &stopped);
    cluster_await(c, is_set, &stopped, "the server stops");
    server_free(c->server);
    net_loop_free(c->loop);
    tree_close(&c->t);
    arena_fini(&c->a);
}
