/* SPDX-License-Identifier: Apache-2.0 */
/* Sweeping: what is gone from the cluster goes from the inventory. */
#include "alloc/inner.h"

#include <stdlib.h>

enum { ROOM = 1024 }; /* pools and hosts that are not worth a sweep */

/* ---- Pools and hosts ---- */

static bool pool_gone(struct pool *p)
{
    held_trim(p);
    return p->slices.n == 0 && p->held.live == 0;
}

static void drop_pool(struct alloc_inventory *inv, struct pool *p)
{
    strbuf_clear(&inv->key);
    strbuf_addstr(&inv->key, p->driver);
    strbuf_addc(&inv->key, '\n');
    strbuf_addstr(&inv->key, p->name);
    strmap_remove(&inv->pools, strbuf_str(&inv->key));
    free((char *)p->driver.p); /* the key */
    pool_free(p);
}

static void sweep_pools(struct alloc_inventory *inv)
{
    size_t n = 0;
    for (size_t i = 0; i < inv->pool_list.n; i++) {
        struct pool *p = inv->pool_list.v[i];
        if (pool_gone(p))
            drop_pool(inv, p);
        else
            inv->pool_list.v[n++] = p;
    }
    inv->pool_list.n = n;
}

static void drop_host(struct alloc_inventory *inv, struct host *h)
{
    strmap_remove(&inv->hosts, h->name);
    host_free(h);
}

/* Seats may be in pools that are gone: they are made anew when next asked for. */
static void keep_host(struct alloc_inventory *inv, struct host *h, size_t at)
{
    vec_clear(&h->seats);
    h->built = false;
    h->index = (uint32_t)at;
    inv->host_list.v[at] = h;
}

/* Shapes know hosts by their index: they must be gone. */
static void sweep_hosts(struct alloc_inventory *inv)
{
    size_t n = 0;
    for (size_t i = 0; i < inv->host_list.n; i++) {
        struct host *h = inv->host_list.v[i];
        if (!h->node && h->pools.n == 0)
            drop_host(inv, h);
        else
            keep_host(inv, h, n++);
    }
    inv->host_list.n = n;
    inv->asked = NULL;
    vec_clear(&inv->asked_hosts);
}

/* ---- Devices ---- */

static void move_devices(const struct pool *p, struct device_names *fresh,
                         struct arena *scratch)
{
    for (size_t i = 0; i < p->slices.n; i++) {
        const struct view_slice *s = p->slices.v[i].v;
        for (uint32_t k = 0; k < s->ndevices; k++) {
            device_facts_move((struct device_facts *)&s->devices[k].facts, fresh,
                              scratch);
            arena_reset(scratch);
        }
    }
}

static void sweep_names(struct alloc_inventory *inv)
{
    struct device_names fresh;
    struct arena scratch;
    device_names_init(&fresh);
    arena_init(&scratch);
    for (size_t i = 0; i < inv->pool_list.n; i++)
        move_devices(inv->pool_list.v[i], &fresh, &scratch);
    arena_fini(&scratch);
    device_names_replace(inv->names, &fresh);
    intern_fini(&inv->values);
    intern_init(&inv->values);
}

void alloc_inventory_sweep(struct alloc_inventory *inv)
{
    profiles_drop(inv);
    sweep_pools(inv);
    sweep_hosts(inv);
    sweep_names(inv);
    inv->facts_epoch++;
    inv->swept = inv->pool_list.n + inv->host_list.n;
}

bool alloc_inventory_swollen(const struct alloc_inventory *inv)
{
    return device_names_swollen(inv->names) ||
           inv->pool_list.n + inv->host_list.n > 2 * inv->swept + ROOM;
}
