/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes: the pools they see, in search order (rule 16). */
#include "alloc/inner.h"

#include <stdlib.h>

struct host *host_get(struct alloc_inventory *inv, struct str name)
{
    struct strmap_entry *e = strmap_find(&inv->hosts, name);
    if (e)
        return e->value.ptr;
    struct host *h = mem_zalloc(sizeof *h);
    h->name.p = mem_dup(name.p, name.n);
    h->name.n = name.n;
    h->index = (uint32_t)inv->host_list.n;
    vec_push(&inv->host_list, h);
    strmap_put(&inv->hosts, h->name, NULL)->value.ptr = h;
    return h;
}

void host_free(struct host *h)
{
    vec_release(&h->pools);
    vec_release(&h->seats);
    free(h->bad_selector);
    free((char *)h->name.p);
    free(h);
}

static int by_order(const void *a, const void *b)
{
    const struct seat *x = a, *y = b;
    if (x->view->last != y->view->last)
        return x->view->last ? 1 : -1;
    int c = str_cmp(x->pool->driver, y->pool->driver);
    return c ? c : str_cmp(x->pool->name, y->pool->name);
}

static bool refuse(struct host *h, struct err *e)
{
    if (e->code == ERR_NONE)
        return true;
    free(h->bad_selector);
    h->bad_selector = e->msg;
    e->msg = NULL;
    *e = (struct err)ERR_INIT;
    return false;
}

static bool has_seat(const struct host *h, const struct pool *p)
{
    for (size_t i = 0; i < h->seats.n; i++)
        if (h->seats.v[i].pool == p)
            return true;
    return false;
}

static bool add_seat(struct alloc_inventory *inv, struct host *h, struct pool *p)
{
    struct err e = ERR_INIT;
    if (has_seat(h, p))
        return true;
    pool_current(inv, p);
    struct pool_view *v = pool_view_for(inv, p, h->node, &e);
    if (v)
        vec_push(&h->seats, (struct seat){.pool = p, .view = v, .version = p->version});
    return refuse(h, &e);
}

static bool add_seats(struct alloc_inventory *inv, struct host *h)
{
    for (size_t i = 0; i < h->pools.n; i++)
        if (!add_seat(inv, h, h->pools.v[i]))
            return false;
    for (size_t i = 0; i < inv->shared.n; i++)
        if (!add_seat(inv, h, inv->shared.v[i]))
            return false;
    return true;
}

static void lay_out(struct host *h)
{
    if (h->seats.n > 1)
        qsort(h->seats.v, h->seats.n, sizeof *h->seats.v, by_order);
    h->words = 0;
    h->any_bad = false;
    for (size_t i = 0; i < h->seats.n; i++) {
        struct seat *s = &h->seats.v[i];
        s->base = h->words;
        h->words += s->view->state == POOL_USABLE ? s->pool->words : 0;
        h->any_bad |= s->view->has_bad;
    }
}

static void build(struct alloc_inventory *inv, struct host *h)
{
    vec_clear(&h->seats);
    free(h->bad_selector);
    h->bad_selector = NULL;
    add_seats(inv, h);
    lay_out(h);
    h->built_own = h->own_slices;
    h->built_shared = inv->slices_version;
    h->built = true;
}

static bool same_node(const struct host *h, const struct view_node *node)
{
    return h->node == node && h->labels == node->labels && h->nlabels == node->nlabels;
}

static void learn_node(struct host *h, const struct view_node *node)
{
    h->node = node;
    h->labels = node->labels;
    h->nlabels = node->nlabels;
    h->built = false;
    h->version++;
}

void host_current(struct alloc_inventory *inv, struct host *h,
                  const struct view_node *node)
{
    if (!same_node(h, node))
        learn_node(h, node);
    if (!h->built || h->built_own != h->own_slices ||
        h->built_shared != inv->slices_version)
        build(inv, h);
    for (size_t i = 0; i < h->seats.n; i++)
        pool_current(inv, h->seats.v[i].pool);
}

struct host *host_of(struct alloc_inventory *inv, const struct view_node *node)
{
    struct host *h = host_get(inv, node->meta.name);
    host_current(inv, h, node);
    return h;
}

void alloc_forget_node(struct alloc_inventory *inv, struct str name)
{
    struct strmap_entry *e = strmap_find(&inv->hosts, name);
    struct host *h = e ? e->value.ptr : NULL;
    if (!h)
        return;
    h->node = NULL;
    h->labels = NULL;
    h->nlabels = 0;
    h->built = false;
}
