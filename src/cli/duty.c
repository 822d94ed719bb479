/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/duty.h"

#include <stdlib.h>

#include "cli/commands.h"
#include "cli/identity.h"

static const char IN_POD[] = "/var/run/secrets/kubernetes.io/serviceaccount";

struct running {
    const struct duty *duty;
    struct net_loop *loop;
    struct client *client;
    struct leader *leader; /* NULL: everybody works */
    void *work;            /* NULL: not now */
    char identity[IDENTITY_SIZE];
    int code;
};

void duty_say(void *ctx, const char *text)
{
    fprintf(stderr, "dray %s: %s\n", (const char *)ctx, text);
}

static void say(void *ctx, const char *text)
{
    const struct running *r = ctx;
    duty_say((void *)r->duty->name, text);
}

static void stop_loop(void *ctx)
{
    net_loop_stop(ctx);
}

static void work(void *ctx)
{
    struct running *r = ctx;
    r->work = r->duty->start(r->duty->ctx, r->client);
    if (!r->work) {
        r->code = EXIT_INPUT;
        net_post(r->loop, stop_loop, r->loop);
        return;
    }
    printf("dray %s: working\n", r->duty->name);
    fflush(stdout);
}

static void rest(struct running *r)
{
    if (r->work)
        r->duty->stop(r->work);
    r->work = NULL;
}

static void on_lost(void *ctx)
{
    struct running *r = ctx;
    say(r, "the lease is lost; whoever started this starts it again");
    r->code = EXIT_NO;
    net_loop_stop(r->loop);
}

static void on_resigned(void *ctx)
{
    struct running *r = ctx;
    net_loop_stop(r->loop);
}

static void on_signal(void *ctx)
{
    struct running *r = ctx;
    rest(r);
    if (r->leader)
        leader_resign(r->leader, on_resigned);
    else
        net_loop_stop(r->loop);
}

static void elect(struct running *r)
{
    static const struct leader_ops ops = {work, on_lost, say};
    const struct duty_lease *l = r->duty->lease;
    struct leader_opts opts = {.namespace = l->namespace,
                               .name = l->name,
                               .identity = r->identity,
                               .lease_ms = l->lease_ms,
                               .renew_ms = l->renew_ms,
                               .retry_ms = l->retry_ms};
    identity_make(r->identity);
    r->leader = leader_new(r->client, &opts, &ops, r);
}

int duty_run(const struct duty *d, const struct kubeconfig *k, struct err *e)
{
    struct running r = {.duty = d, .loop = net_loop_new(e)};
    if (!r.loop)
        return EXIT_INPUT;
    r.client = client_new_remote(r.loop, k);
    net_on_stop_signal(r.loop, on_signal, &r);
    if (d->lease->elect)
        elect(&r);
    else
        work(&r);
    net_loop_run(r.loop);
    rest(&r);
    leader_free(r.leader);
    client_free(r.client);
    net_loop_free(r.loop);
    return r.code;
}

bool duty_server(const char *name, const char *file, struct arena *a,
                 struct kubeconfig *out, struct err *e)
{
    const char *host = getenv("KUBERNETES_SERVICE_HOST"),
               *port = getenv("KUBERNETES_SERVICE_PORT");
    bool ok;
    if (file)
        ok = kubeconfig_read(file, a, out, e);
    else if (host && port)
        ok = kubeconfig_in_pod(host, port, IN_POD, a, out, e);
    else
        ok = err_set(e, ERR_INVALID,
                     "--kubeconfig FILE is missing; \"dray %s --help\" has all options",
                     name);
    out->user_agent = arena_printf(a, "dray-%s", name);
    return ok;
}

int duty_command(const char *name, duty_body *body, int argc, char **argv)
{
    struct arena a = {0};
    struct err e = ERR_INIT;
    int code = body(argc, argv, &a, &e);
    if (e.code != ERR_NONE)
        duty_say((void *)name, err_text(&e));
    err_release(&e);
    arena_fini(&a);
    return code;
}
