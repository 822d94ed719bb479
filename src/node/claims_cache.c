/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "base/mem.h"
#include "node/claims_inner.h"

static struct str key_of(struct str namespace, struct str name, struct arena *a)
{
    return arena_printf(a, "%.*s/%.*s", STR_ARG(namespace), STR_ARG(name));
}

bool claim_driver_skips(const struct claim_driver *d, const char *operation)
{
    for (uint32_t i = 0; i < d->nskipped; i++)
        if (str_is(d->skipped[i], operation) || str_is(d->skipped[i], "*"))
            return true;
    return false;
}

struct claim_entry *cache_find(const struct node_claims *c, struct str namespace,
                               struct str name)
{
    struct arena a = {0};
    struct strmap_entry *e = strmap_find(&c->entries, key_of(namespace, name, &a));
    arena_fini(&a);
    return e ? e->value.ptr : NULL;
}

/* ---- copies ---- */

static const struct str *copy_texts(const struct str *v, uint32_t n, struct arena *a)
{
    struct str *out = ARENA_ARRAY(a, struct str, n + 1);
    for (uint32_t i = 0; i < n; i++)
        out[i] = arena_str(a, v[i]);
    return out;
}

static void copy_devices(struct claim_driver *d, const struct checkpoint_device *v,
                         uint32_t n)
{
    arena_fini(&d->arena);
    d->devices = ARENA_ARRAY(&d->arena, struct checkpoint_device, n + 1);
    d->ndevices = n;
    for (uint32_t i = 0; i < n; i++) {
        struct checkpoint_device *x = &d->devices[i];
        *x = v[i];
        x->pool = arena_str(&d->arena, v[i].pool);
        x->device = arena_str(&d->arena, v[i].device);
        x->share_id = arena_str(&d->arena, v[i].share_id);
        x->requests = copy_texts(v[i].requests, v[i].nrequests, &d->arena);
        x->cdi_ids = copy_texts(v[i].cdi_ids, v[i].ncdi_ids, &d->arena);
    }
}

static void copy_drivers(struct claim_entry *x, const struct checkpoint_claim *from)
{
    x->ndrivers = from->ndrivers;
    x->drivers = ARENA_ARRAY(&x->arena, struct claim_driver, from->ndrivers + 1);
    for (uint32_t i = 0; i < from->ndrivers; i++) {
        struct claim_driver *d = &x->drivers[i];
        const struct checkpoint_driver *f = &from->drivers[i];
        d->name = arena_str(&x->arena, f->name);
        d->skipped = copy_texts(f->skipped, f->nskipped, &x->arena);
        d->nskipped = f->nskipped;
        copy_devices(d, f->devices, f->ndevices);
    }
}

/* ---- entries ---- */

struct claim_entry *cache_add(struct node_claims *c, const struct checkpoint_claim *claim)
{
    struct claim_entry *x = mem_zalloc(sizeof *x);
    x->uid = arena_str(&x->arena, claim->uid);
    x->namespace = arena_str(&x->arena, claim->namespace);
    x->name = arena_str(&x->arena, claim->name);
    x->key = key_of(x->namespace, x->name, &x->arena);
    copy_drivers(x, claim);
    strmap_put(&c->entries, x->key, NULL)->value.ptr = x;
    c->changes++;
    for (uint32_t i = 0; i < claim->npods; i++)
        cache_add_pod(c, x, claim->pod_uids[i]);
    return x;
}

static void entry_free(struct claim_entry *x)
{
    for (size_t i = 0; i < x->pods.n; i++)
        free((char *)x->pods.v[i].p);
    vec_release(&x->pods);
    for (uint32_t i = 0; i < x->ndrivers; i++)
        arena_fini(&x->drivers[i].arena);
    arena_fini(&x->arena);
    free(x);
}

void cache_delete(struct node_claims *c, struct claim_entry *x)
{
    strmap_remove(&c->entries, x->key);
    c->changes++;
    entry_free(x);
}

void cache_clear(struct node_claims *c)
{
    strmap_each(&c->entries, e) entry_free(e->value.ptr);
    strmap_release(&c->entries);
}

/* ---- pods ---- */

bool cache_has_pod(const struct claim_entry *x, struct str pod_uid)
{
    for (size_t i = 0; i < x->pods.n; i++)
        if (str_eq(x->pods.v[i], pod_uid))
            return true;
    return false;
}

void cache_add_pod(struct node_claims *c, struct claim_entry *x, struct str pod_uid)
{
    if (cache_has_pod(x, pod_uid))
        return;
    vec_push(&x->pods, (struct str){mem_dup(pod_uid.p, pod_uid.n), pod_uid.n});
    c->changes++;
}

void cache_drop_pod(struct node_claims *c, struct claim_entry *x, struct str pod_uid)
{
    for (size_t i = 0; i < x->pods.n; i++) {
        if (!str_eq(x->pods.v[i], pod_uid))
            continue;
        free((char *)x->pods.v[i].p);
        x->pods.v[i] = x->pods.v[--x->pods.n];
        c->changes++;
        return;
    }
}

bool node_claims_has_pod(const struct node_claims *c, struct str pod_uid)
{
    strmap_each(&c->entries, e) if (cache_has_pod(e->value.ptr, pod_uid)) return true;
    return false;
}

void cache_set_devices(struct node_claims *c, struct claim_entry *x, struct str driver,
                       const struct checkpoint_device *devices, uint32_t n)
{
    for (uint32_t i = 0; i < x->ndrivers; i++) {
        if (!str_eq(x->drivers[i].name, driver))
            continue;
        copy_devices(&x->drivers[i], devices, n);
        c->changes++;
    }
}

const struct checkpoint_claim *cache_copy(const struct claim_entry *x, struct arena *a)
{
    struct checkpoint_claim *out = ARENA_NEW(a, struct checkpoint_claim);
    struct checkpoint_driver *v =
        ARENA_ARRAY(a, struct checkpoint_driver, x->ndrivers + 1);
    for (uint32_t i = 0; i < x->ndrivers; i++) {
        const struct claim_driver *d = &x->drivers[i];
        v[i].name = arena_str(a, d->name);
        v[i].skipped = copy_texts(d->skipped, d->nskipped, a);
        v[i].nskipped = d->nskipped;
    }
    *out = (struct checkpoint_claim){.uid = arena_str(a, x->uid),
                                     .namespace = arena_str(a, x->namespace),
                                     .name = arena_str(a, x->name),
                                     .drivers = v,
                                     .ndrivers = x->ndrivers};
    return out;
}

/* ---- as the file has it ---- */

static void print_entry(const struct claim_entry *x, struct arena *a,
                        struct checkpoint_claim *out)
{
    struct checkpoint_driver *drivers =
        ARENA_ARRAY(a, struct checkpoint_driver, x->ndrivers + 1);
    for (uint32_t i = 0; i < x->ndrivers; i++) {
        const struct claim_driver *d = &x->drivers[i];
        drivers[i] = (struct checkpoint_driver){.name = d->name,
                                                .devices = d->devices,
                                                .ndevices = d->ndevices,
                                                .skipped = d->skipped,
                                                .nskipped = d->nskipped};
    }
    *out = (struct checkpoint_claim){.uid = x->uid,
                                     .namespace = x->namespace,
                                     .name = x->name,
                                     .pod_uids = x->pods.v,
                                     .npods = (uint32_t)x->pods.n,
                                     .drivers = drivers,
                                     .ndrivers = x->ndrivers};
}

struct str cache_print(const struct node_claims *c, struct arena *a)
{
    struct checkpoint_claim *list =
        ARENA_ARRAY(a, struct checkpoint_claim, c->entries.live + 1);
    struct checkpoint all = {.claims = list};
    strmap_each(&c->entries, e) print_entry(e->value.ptr, a, &list[all.n++]);
    return checkpoint_print(&all, a);
}
