/* SPDX-License-Identifier: Apache-2.0 */
#include "net/h1_pool.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/mem.h"
#include "net/loop.h"
#include "net/tunnel.h"

enum { MAX_KEPT = 64, KEEP_MS = 90000 };

struct kept {
    struct kept *next; /* the longer kept */
    struct net_h1_pool *pool;
    struct net_tunnel *tunnel;
    struct net_timer *timer;
    struct arena arena;
    struct str peer;
};

struct net_h1_pool {
    struct net_loop *loop;
    struct kept *first;
    uint32_t n;
};

struct net_h1_pool *net_h1_pool_new(struct net_loop *l)
{
    struct net_h1_pool *p = mem_zalloc(sizeof *p);
    p->loop = l;
    return p;
}

/* Leaves the tunnel. */
static struct net_tunnel *kept_free(struct kept *k)
{
    struct net_tunnel *t = k->tunnel;
    net_timer_stop(k->timer);
    arena_fini(&k->arena);
    free(k);
    return t;
}

static struct net_tunnel *unlink_kept(struct kept *k)
{
    struct kept **at = &k->pool->first;
    while (*at != k)
        at = &(*at)->next;
    *at = k->next;
    k->pool->n--;
    return kept_free(k);
}

static void drop(struct kept *k)
{
    net_tunnel_close(unlink_kept(k));
}

/* Whatever a peer says that nobody has asked: it ends, or is not in step. */
static void on_data(void *ctx, struct str bytes)
{
    (void)bytes;
    drop(ctx);
}

static void on_late(void *ctx)
{
    struct kept *k = ctx;
    k->timer = NULL; /* it has freed itself */
    drop(k);
}

struct net_tunnel *h1_pool_take(struct net_h1_pool *p, struct str peer)
{
    for (struct kept *k = p->first; k; k = k->next)
        if (str_eq(k->peer, peer))
            return unlink_kept(k);
    return NULL;
}

static void drop_oldest(struct net_h1_pool *p)
{
    struct kept *k = p->first;
    while (k && k->next)
        k = k->next;
    if (k)
        drop(k);
}

void h1_pool_put(struct net_h1_pool *p, struct str peer, struct net_tunnel *t)
{
    struct kept *k = mem_zalloc(sizeof *k);
    if (p->n == MAX_KEPT)
        drop_oldest(p);
    k->pool = p;
    k->tunnel = t;
    k->peer = arena_str(&k->arena, peer);
    k->next = p->first;
    p->first = k;
    p->n++;
    k->timer = net_timer_start(p->loop, KEEP_MS, 0, on_late, k);
    net_tunnel_rebind(t, on_data, k);
}

void net_h1_pool_free(struct net_h1_pool *p)
{
    struct kept *next;
    for (struct kept *k = p ? p->first : NULL; k; k = next) {
        next = k->next;
        net_tunnel_close(kept_free(k));
    }
    free(p);
}
