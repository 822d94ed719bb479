/* SPDX-License-Identifier: Apache-2.0 */
/* The inventory as a whole: what is in it, and which versions grow when it changes. */
#include "alloc/shape.h"

#include <stdlib.h>

struct alloc_inventory *alloc_inventory_new(const struct alloc_features *f,
                                            struct device_names *names)
{
    struct alloc_inventory *inv = mem_zalloc(sizeof *inv);
    struct device_env_opts opts = {.kind = DEVICE_ENV_STORED,
                                   .consumable_capacity = f->consumable_capacity,
                                   .list_attributes = f->list_type_attributes};
    inv->features = *f;
    inv->names = names;
    inv->env = device_env_new(&opts, names);
    arena_init(&inv->profile_mem);
    intern_init(&inv->values);
    cel_run_init(&inv->run);
    inv->run.cost_limit = DEVICE_COST_LIMIT;
    return inv;
}

static void free_exprs(struct alloc_inventory *inv)
{
    expressions_free(inv);
    vec_release(&inv->exprs);
    vec_release(&inv->derived_exprs);
    vec_release(&inv->attribute_names);
    strmap_release(&inv->selectors);
    strmap_release(&inv->deriveds);
    strmap_release(&inv->attributes);
    vec_release(&inv->profiles);
    strmap_release(&inv->profile_ids);
}

static void free_pools(struct alloc_inventory *inv)
{
    strmap_each(&inv->pools, e) free((char *)e->key.p);
    for (size_t i = 0; i < inv->pool_list.n; i++)
        pool_free(inv->pool_list.v[i]);
    for (size_t i = 0; i < inv->host_list.n; i++)
        host_free(inv->host_list.v[i]);
    vec_release(&inv->pool_list);
    vec_release(&inv->host_list);
    vec_release(&inv->shared);
    strmap_release(&inv->pools);
    strmap_release(&inv->hosts);
    strmap_release(&inv->slices);
}

void alloc_inventory_free(struct alloc_inventory *inv)
{
    if (!inv)
        return;
    alloc_plan_free(inv->spare);
    solver_free(inv->solver);
    ledger_free(inv);
    free_exprs(inv);
    free_pools(inv);
    shapes_drop(inv);
    strmap_release(&inv->shapes);
    vec_release(&inv->asked_hosts);
    strmap_release(&inv->classes);
    vec_release(&inv->rules);
    strbuf_release(&inv->key);
    intern_fini(&inv->values);
    cel_run_fini(&inv->run);
    device_env_free(inv->env);
    arena_fini(&inv->profile_mem);
    free(inv);
}

/* ---- Pools ---- */

static struct pool *pool_new(struct alloc_inventory *inv, struct str key,
                             struct str driver, struct str name)
{
    struct pool *p = mem_zalloc(sizeof *p);
    arena_init(&p->mem);
    p->mem.chunk_size = 1024; /* most are small, and there is one a node */
    p->stale = true;
    p->driver = str_sub(key, 0, driver.n);
    p->name = str_sub(key, driver.n + 1, driver.n + 1 + name.n);
    vec_push(&inv->pool_list, p);
    return p;
}

struct pool *pool_get(struct alloc_inventory *inv, struct str driver, struct str name)
{
    strbuf_clear(&inv->key);
    strbuf_addstr(&inv->key, driver);
    strbuf_addc(&inv->key, '\n');
    strbuf_addstr(&inv->key, name);
    struct str key = strbuf_str(&inv->key);
    struct strmap_entry *e = strmap_find(&inv->pools, key);
    if (!e) {
        key.p = mem_dup(key.p, key.n);
        e = strmap_put(&inv->pools, key, NULL);
        e->value.ptr = pool_new(inv, key, driver, name);
    }
    return e->value.ptr;
}

/* Every host that may have a seat for the pool builds its seats anew. */
static void slices_changed(struct alloc_inventory *inv, struct pool *p)
{
    p->stale = true;
    for (size_t i = 0; i < p->hosts.n; i++) {
        p->hosts.v[i]->own_slices++;
        p->hosts.v[i]->version++;
    }
    if (p->nshared) {
        inv->slices_version++;
        inv->shared_version++;
    }
}

void pool_charged(struct alloc_inventory *inv, struct pool *p, const struct held *h)
{
    pool_held_changed(p, h);
    for (size_t i = 0; i < p->hosts.n; i++)
        p->hosts.v[i]->version++;
    if (p->nshared)
        inv->shared_version++;
}

void inventory_stale(struct alloc_inventory *inv)
{
    for (size_t i = 0; i < inv->pool_list.n; i++)
        inv->pool_list.v[i]->stale = true;
    inv->slices_version++;
    inv->shared_version++;
}

/* ---- Slices ---- */

static void drop_pool(struct host *h, const struct pool *p)
{
    for (size_t i = 0; i < h->pools.n; i++)
        if (h->pools.v[i] == p) {
            h->pools.v[i] = vec_pop(&h->pools);
            return;
        }
}

static void drop_host(struct pool *p, const struct host *h)
{
    for (size_t i = 0; i < p->hosts.n; i++)
        if (p->hosts.v[i] == h) {
            p->hosts.v[i] = vec_pop(&p->hosts);
            return;
        }
}

static void drop_shared(struct alloc_inventory *inv, const struct pool *p)
{
    for (size_t i = 0; i < inv->shared.n; i++)
        if (inv->shared.v[i] == p) {
            inv->shared.v[i] = vec_pop(&inv->shared);
            return;
        }
}

static void link_slice(struct alloc_inventory *inv, struct pool *p,
                       const struct view_slice *s)
{
    if (s->node_name.n) {
        struct host *h = host_get(inv, s->node_name);
        vec_push(&h->pools, p);
        vec_push(&p->hosts, h);
    } else if (p->nshared++ == 0) {
        vec_push(&inv->shared, p);
    }
    slices_changed(inv, p);
}

static void unlink_slice(struct alloc_inventory *inv, struct pool *p,
                         const struct view_slice *s)
{
    slices_changed(inv, p);
    inv->facts_epoch++;
    if (s->node_name.n) {
        struct host *h = host_get(inv, s->node_name);
        drop_pool(h, p);
        drop_host(p, h);
    } else if (--p->nshared == 0) {
        drop_shared(inv, p);
    }
}

static bool take_slice(struct alloc_inventory *inv, struct str name, uint64_t *seq)
{
    struct strmap_entry *e = strmap_find(&inv->slices, name);
    if (!e)
        return false;
    struct pool *p = e->value.ptr;
    for (size_t i = 0; i < p->slices.n; i++) {
        struct pool_slice s = p->slices.v[i];
        if (!str_eq(s.v->meta.name, name))
            continue;
        *seq = s.seq;
        p->slices.v[i] = vec_pop(&p->slices);
        unlink_slice(inv, p, s.v);
        break;
    }
    strmap_remove(&inv->slices, name);
    return true;
}

void alloc_inventory_put_slice(struct alloc_inventory *inv, const struct view_slice *s)
{
    uint64_t seq;
    if (!take_slice(inv, s->meta.name, &seq))
        seq = ++inv->seq;
    struct pool *p = pool_get(inv, s->driver, s->pool);
    vec_push(&p->slices, (struct pool_slice){s, seq});
    strmap_put(&inv->slices, s->meta.name, NULL)->value.ptr = p;
    link_slice(inv, p, s);
}

bool alloc_inventory_remove_slice(struct alloc_inventory *inv, struct str name)
{
    uint64_t seq;
    return take_slice(inv, name, &seq);
}

/* ---- Classes and taint rules ---- */

void alloc_inventory_put_class(struct alloc_inventory *inv, const struct view_class *c)
{
    strmap_remove(&inv->classes, c->meta.name);
    strmap_put(&inv->classes, c->meta.name, NULL)->value.ptr = (void *)c;
    inv->classes_version++;
}

bool alloc_inventory_remove_class(struct alloc_inventory *inv, struct str name)
{
    inv->classes_version++;
    return strmap_remove(&inv->classes, name);
}

const struct view_class *class_find(const struct alloc_inventory *inv, struct str name)
{
    const struct strmap_entry *e = strmap_find(&inv->classes, name);
    return e ? e->value.ptr : NULL;
}

static bool take_rule(struct alloc_inventory *inv, struct str name)
{
    for (size_t i = 0; i < inv->rules.n; i++)
        if (str_eq(inv->rules.v[i]->meta.name, name)) {
            memmove(&inv->rules.v[i], &inv->rules.v[i + 1],
                    (--inv->rules.n - i) * sizeof *inv->rules.v);
            return true;
        }
    return false;
}

void alloc_inventory_put_taint_rule(struct alloc_inventory *inv,
                                    const struct view_taint_rule *r)
{
    take_rule(inv, r->meta.name);
    vec_push(&inv->rules, r);
    inventory_stale(inv);
}

bool alloc_inventory_remove_taint_rule(struct alloc_inventory *inv, struct str name)
{
    bool found = take_rule(inv, name);
    if (found)
        inventory_stale(inv);
    return found;
}
