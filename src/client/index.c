/* SPDX-License-Identifier: Apache-2.0 */
#include "client/index.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/vec.h"

enum { MANY = 16 }; /* keys, from which on their places are looked up */

struct index_set {
    char *value;
    VEC(struct str) keys; /* each with memory of its own */
    struct strmap places; /* key -> its place, once there are many */
};

void index_init(struct index *x, index_values *values)
{
    *x = (struct index){.values = values};
}

static void set_free(struct index_set *set)
{
    for (size_t i = 0; i < set->keys.n; i++)
        free((char *)set->keys.v[i].p);
    vec_release(&set->keys);
    strmap_release(&set->places);
    free(set->value);
    free(set);
}

void index_fini(struct index *x)
{
    strmap_each(&x->sets, e) set_free(e->value.ptr);
    strmap_release(&x->sets);
}

/* keys.n: it is not there. */
static size_t position(const struct index_set *set, struct str key)
{
    size_t i = 0;
    if (set->places.live) {
        const struct strmap_entry *e = strmap_find(&set->places, key);
        return e ? e->value.u : set->keys.n;
    }
    while (i < set->keys.n && !str_eq(set->keys.v[i], key))
        i++;
    return i;
}

static void note_place(struct index_set *set, size_t i)
{
    strmap_put(&set->places, set->keys.v[i], NULL)->value.u = i;
}

static void push(struct index_set *set, struct str key)
{
    vec_push(&set->keys, (struct str){mem_dup(key.p, key.n), key.n});
    if (set->places.live)
        note_place(set, set->keys.n - 1);
    else if (set->keys.n >= MANY)
        for (size_t i = 0; i < set->keys.n; i++)
            note_place(set, i);
}

/* The last one takes its place. */
static void drop(struct index_set *set, size_t at)
{
    char *memory = (char *)set->keys.v[at].p;
    bool noted = set->places.live > 0;
    if (noted)
        strmap_remove(&set->places, set->keys.v[at]);
    set->keys.v[at] = set->keys.v[--set->keys.n];
    if (noted && at < set->keys.n)
        note_place(set, at);
    free(memory);
}

static void add(struct index *x, struct str value)
{
    struct strmap_entry *e = strmap_find(&x->sets, value);
    struct index_set *set = e ? e->value.ptr : NULL;
    if (!set) {
        set = mem_zalloc(sizeof *set);
        set->value = mem_dup(value.p, value.n);
        strmap_init(&set->places);
        strmap_put(&x->sets, (struct str){set->value, value.n}, NULL)->value.ptr = set;
    }
    if (position(set, x->key) == set->keys.n)
        push(set, x->key);
}

static void take_out(struct index *x, struct str value)
{
    struct strmap_entry *e = strmap_find(&x->sets, value);
    struct index_set *set = e ? e->value.ptr : NULL;
    size_t at = set ? position(set, x->key) : 0;
    if (!set || at == set->keys.n)
        return;
    drop(set, at);
    if (set->keys.n > 0)
        return;
    strmap_remove(&x->sets, value);
    set_free(set);
}

void index_emit(struct index *x, struct str value)
{
    if (x->removing)
        take_out(x, value);
    else
        add(x, value);
}

void index_change(struct index *x, const struct object *old, const struct object *now)
{
    if (old) {
        x->key = old->key;
        x->removing = true;
        x->values(x, old);
    }
    if (now) {
        x->key = now->key;
        x->removing = false;
        x->values(x, now);
    }
}

const struct str *index_find(const struct index *x, struct str value, uint32_t *n)
{
    const struct strmap_entry *e = strmap_find(&x->sets, value);
    const struct index_set *set = e ? e->value.ptr : NULL;
    *n = set ? (uint32_t)set->keys.n : 0;
    return set ? set->keys.v : NULL;
}

void index_each(const struct index *x, void (*each)(void *ctx, struct str value),
                void *ctx)
{
    strmap_each(&x->sets, e) each(ctx, e->key);
}
