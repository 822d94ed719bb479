/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/cluster_parts.h"

#include <stdlib.h>

#include "base/mem.h"
#include "cli/identity.h"
#include "client/leader.h"
#include "sched/scheduler.h"

enum { RENEWALS = 5 }; /* of a lease, before its node is taken for lost */

struct cluster_parts {
    struct net_loop *loop;
    struct server *server;
    struct cluster_parts_opts opts;
    /* Each asks under a name of its own, as the log of the server shows. */
    struct client *leading, *controlling, *scheduling, *simulating;
    struct object_pool *pool; /* of what all of them watch */
    struct leader *leader;    /* NULL: there is nobody to agree with */
    struct controllers *controllers;
    struct scheduler *scheduler;
    struct sim *sim;
    struct net_timer *again; /* after the lease was lost */
    char identity[IDENTITY_SIZE];
    bool told;
    void (*done)(void *ctx);
    void *done_ctx;
};

static void say(void *ctx, const char *text)
{
    const struct cluster_parts *p = ctx;
    if (p->opts.log)
        p->opts.log(p->opts.ctx, text);
}

static void tell_ready(void *ctx)
{
    struct cluster_parts *p = ctx;
    if (!p->told && p->opts.ready)
        p->opts.ready(p->opts.ctx);
    p->told = true;
}

/* ---- working ---- */

static void start_controllers(struct cluster_parts *p)
{
    struct controllers_opts opts = {.only = p->opts.controllers,
                                    .gates = p->opts.gates,
                                    .settings = {.root_ca = p->opts.root_ca,
                                                 .authority = p->opts.authority,
                                                 .grace_ms = p->opts.grace_ms},
                                    .log = say,
                                    .log_ctx = p};
    p->controllers = controllers_new(p->controlling, &opts);
}

static void start_scheduler(struct cluster_parts *p)
{
    struct scheduler_opts opts = {.gates = *p->opts.gates, .log = say, .log_ctx = p};
    p->scheduler = scheduler_new(p->scheduling, &opts);
}

static void print_metrics(void *ctx, struct strbuf *out)
{
    const struct cluster_parts *p = ctx;
    if (p->scheduler)
        scheduler_print_metrics(p->scheduler, out);
}

static void start_nodes(struct cluster_parts *p)
{
    struct err e = ERR_INIT;
    struct sim_opts opts = {.groups = p->opts.nodes->groups,
                            .ngroups = p->opts.nodes->n,
                            .renew_ms = p->opts.grace_ms / RENEWALS,
                            .silent_drivers = p->opts.silent_drivers,
                            .ready = tell_ready,
                            .log = say,
                            .ctx = p};
    if (simulated_count(p->opts.nodes) == 0) {
        tell_ready(p);
        return;
    }
    p->sim = sim_new(p->simulating, &opts, &e);
    if (!p->sim)
        say(p, err_text(&e));
    err_release(&e);
}

static void work(void *ctx)
{
    struct cluster_parts *p = ctx;
    start_controllers(p);
    start_scheduler(p);
    start_nodes(p);
}

static void rest(struct cluster_parts *p)
{
    controllers_free(p->controllers);
    scheduler_free(p->scheduler);
    sim_free(p->sim);
    p->controllers = NULL;
    p->scheduler = NULL;
    p->sim = NULL;
}

/* ---- one of several ---- */

static void elect(struct cluster_parts *p);

static void elect_again(void *ctx)
{
    struct cluster_parts *p = ctx;
    p->again = NULL;
    leader_free(p->leader);
    elect(p);
}

static void on_lost(void *ctx)
{
    struct cluster_parts *p = ctx;
    say(p, "the lease is lost; another one works, or this one again soon");
    rest(p);
    p->again = net_timer_start(p->loop, 0, 0, elect_again, p);
}

static void elect(struct cluster_parts *p)
{
    static const struct leader_ops ops = {work, on_lost, say};
    const struct cluster_lease *l = &p->opts.lease;
    struct leader_opts opts = {.namespace = "kube-system",
                               .name = "dray-up",
                               .identity = p->identity,
                               .lease_ms = l->lease_ms,
                               .renew_ms = l->renew_ms,
                               .retry_ms = l->retry_ms};
    p->leader = leader_new(p->leading, &opts, &ops, p);
}

/* ---- life ---- */

static struct client *client_as(struct cluster_parts *p, struct server *s,
                                const char *name)
{
    const struct str masters = STR("system:masters");
    struct net_inner_opts who = {
        .name = str_from(name), .groups = &masters, .ngroups = 1};
    struct client *c = client_new_inner(p->loop, server_inner(s, &who));
    client_use_pool(c, p->pool);
    return c;
}

struct cluster_parts *cluster_parts_new(struct net_loop *l, struct server *s,
                                        const struct cluster_parts_opts *opts)
{
    struct cluster_parts *p = mem_zalloc(sizeof *p);
    *p = (struct cluster_parts){
        .loop = l, .server = s, .opts = *opts, .pool = object_pool_new()};
    identity_make(p->identity);
    server_add_metrics(s, print_metrics, p);
    p->leading = client_as(p, s, "dray:up");
    p->controlling = client_as(p, s, "system:kube-controller-manager");
    p->scheduling = client_as(p, s, "system:kube-scheduler");
    p->simulating = client_as(p, s, "dray:simulated-nodes");
    if (!opts->elect) {
        work(p);
        return p;
    }
    elect(p);
    tell_ready(p); /* nodes may be another's to simulate */
    return p;
}

static void on_resigned(void *ctx)
{
    struct cluster_parts *p = ctx;
    p->done(p->done_ctx);
}

void cluster_parts_stop(struct cluster_parts *p, void (*done)(void *ctx), void *ctx)
{
    rest(p);
    p->done = done;
    p->done_ctx = ctx;
    if (p->leader && !p->again)
        leader_resign(p->leader, on_resigned);
    else
        done(ctx);
}

void cluster_parts_free(struct cluster_parts *p)
{
    if (!p)
        return;
    rest(p);
    server_add_metrics(p->server, NULL, NULL);
    net_timer_stop(p->again);
    leader_free(p->leader);
    client_free(p->leading);
    client_free(p->controlling);
    client_free(p->scheduling);
    client_free(p->simulating);
    object_pool_free(p->pool);
    free(p);
}
