/* SPDX-License-Identifier: Apache-2.0 */
#include "store/etcd_link.h"

#include <stdlib.h>

#include "base/mem.h"

enum { CONNECT_MS = 3000, PING_MS = 5000, FIRST_DELAY_MS = 50, LAST_DELAY_MS = 2000 };

struct etcd_link {
    struct net_loop *loop;
    const struct etcd_target *target;
    const struct net_tls_client_opts *tls;
    const struct etcd_link_ops *ops;
    void *ctx;
    struct net_client *client; /* connected or about to be */
    struct net_timer *retry;
    size_t member;   /* of the target's endpoints */
    size_t failures; /* since the last success */
    uint64_t delay_ms;
    bool up;
    struct err trouble;
};

static void on_up(void *ctx)
{
    struct etcd_link *k = ctx;
    k->up = true;
    k->failures = 0;
    k->delay_ms = FIRST_DELAY_MS;
    k->ops->up(k->ctx);
}

static void connect_now(void *ctx);

/* Every member is tried before there is a pause. */
static void try_another(struct etcd_link *k)
{
    k->member = (k->member + 1) % k->target->endpoints.n;
    bool all = ++k->failures % k->target->endpoints.n == 0;
    uint64_t delay = all ? k->delay_ms : 0;
    if (all && k->delay_ms < LAST_DELAY_MS)
        k->delay_ms *= 2;
    k->retry = net_timer_start(k->loop, delay, 0, connect_now, k);
}

static void on_closed(void *ctx, const struct err *why)
{
    struct etcd_link *k = ctx;
    bool was_up = k->up;
    err_set(&k->trouble, ERR_IO, "%s: %s", k->target->endpoints.v[k->member],
            err_text(why));
    net_client_close(k->client);
    k->client = NULL;
    k->up = false;
    try_another(k);
    if (was_up)
        k->ops->down(k->ctx);
}

static bool connect_to(struct etcd_link *k, struct err *e)
{
    static const struct net_client_ops ops = {on_up, on_closed};
    struct net_client_opts opts = {.address = k->target->endpoints.v[k->member],
                                   .tls = k->tls,
                                   .connect_ms = CONNECT_MS,
                                   .ping_ms = PING_MS};
    k->client = net_client_new(k->loop, &opts, &ops, k, e);
    return k->client != NULL;
}

/* That the addresses and certificates are usable was seen at the first time. */
static void connect_now(void *ctx)
{
    struct etcd_link *k = ctx;
    k->retry = NULL;
    if (!connect_to(k, &k->trouble))
        try_another(k);
}

struct etcd_link *etcd_link_new(struct net_loop *l, const struct etcd_target *target,
                                const struct net_tls_client_opts *tls,
                                const struct etcd_link_ops *ops, void *ctx, struct err *e)
{
    struct etcd_link *k = mem_zalloc(sizeof *k);
    k->loop = l;
    k->target = target;
    k->tls = tls;
    k->ops = ops;
    k->ctx = ctx;
    k->delay_ms = FIRST_DELAY_MS;
    err_set(&k->trouble, ERR_IO, "%s: no connection yet", target->endpoints.v[0]);
    if (connect_to(k, e))
        return k;
    etcd_link_free(k);
    return NULL;
}

void etcd_link_free(struct etcd_link *k)
{
    if (!k)
        return;
    net_timer_stop(k->retry);
    net_client_close(k->client);
    err_release(&k->trouble);
    free(k);
}

struct net_client *etcd_link_client(const struct etcd_link *k)
{
    return k->up ? k->client : NULL;
}

void etcd_link_leave(struct etcd_link *k, const char *why)
{
    if (k->up)
        net_client_abort(k->client, why);
}

const char *etcd_link_trouble(const struct etcd_link *k)
{
    return err_text(&k->trouble);
}
