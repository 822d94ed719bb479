/* SPDX-License-Identifier: Apache-2.0 */
#include "client/index.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/vec.h"

struct index_set {
    char *value;
    VEC(struct str) keys; /* each with memory of its own */
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
    free(set->value);
    free(set);
}

void index_fini(struct index *x)
{
    strmap_each(&x->sets, e) set_free(e->value.ptr);
    strmap_release(&x->sets);
}

static size_t position(const struct index_set *set, struct str key)
{
    size_t i = 0;
    while (i < set->keys.n && !str_eq(set->keys.v[i], key))
        i++;
    return i;
}

static void add(struct index *x, struct str value)
{
    struct strmap_entry *e = strmap_find(&x->sets, value);
    struct index_set *set = e ? e->value.ptr : NULL;
    if (!set) {
        set = mem_zalloc(sizeof *set);
        set->value = mem_dup(value.p, value.n);
        strmap_put(&x->sets, (struct str){set->value, value.n}, NULL)->value.ptr = set;
    }
    if (position(set, x->key) == set->keys.n)
        vec_push(&set->keys, (struct str){mem_dup(x->key.p, x->key.n), x->key.n});
}

static void take_out(struct index *x, struct str value)
{
    struct strmap_entry *e = strmap_find(&x->sets, value);
    struct index_set *set = e ? e->value.ptr : NULL;
    size_t at = set ? position(set, x->key) : 0;
    if (!set || at == set->keys.n)
        return;
    free((char *)set->keys.v[at].p);
    set->keys.v[at] = set->keys.v[--set->keys.n];
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
