/* SPDX-License-Identifier: Apache-2.0 */
#include "store/etcd_change.h"

#include <stdlib.h>

#include "base/mem.h"

/* ---- lists ---- */

void etcd_changes_init(struct etcd_changes *l)
{
    *l = (struct etcd_changes){.last = &l->first};
}

void etcd_changes_push(struct etcd_changes *l, struct etcd_change *c)
{
    c->next = NULL;
    *l->last = c;
    l->last = &c->next;
}

struct etcd_change *etcd_changes_pop(struct etcd_changes *l)
{
    struct etcd_change *c = l->first;
    if (c && !(l->first = c->next))
        l->last = &l->first;
    return c;
}

void etcd_changes_join(struct etcd_changes *l, struct etcd_changes *from)
{
    if (!from->first)
        return;
    *l->last = from->first;
    l->last = from->last;
    etcd_changes_init(from);
}

void etcd_changes_release(struct etcd_changes *l)
{
    for (struct etcd_change *c; (c = etcd_changes_pop(l));)
        free(c);
}

struct ranked {
    struct etcd_change *change;
    size_t rank;
};

static int compare(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    uint64_t rx = x->change->change.revision, ry = y->change->change.revision;
    if (rx != ry)
        return rx < ry ? -1 : 1;
    return x->rank < y->rank ? -1 : x->rank > y->rank;
}

void etcd_changes_sort(struct etcd_changes *l)
{
    VEC(struct ranked) all = {0};
    size_t rank = 0;
    for (struct etcd_change *c; (c = etcd_changes_pop(l));)
        vec_push(&all, (struct ranked){c, rank++});
    if (all.n)
        qsort(all.v, all.n, sizeof *all.v, compare);
    for (size_t i = 0; i < all.n; i++)
        etcd_changes_push(l, all.v[i].change);
    vec_release(&all);
}

/* ---- changes ---- */

static struct str copy_to(char **at, struct str s)
{
    if (!s.p)
        return STR_NONE;
    struct str copy = {*at, s.n};
    if (s.n)
        memcpy(*at, s.p, s.n);
    *at += s.n;
    return copy;
}

struct etcd_change *etcd_change_new(const struct store_change *c)
{
    bool same = c->value.p == c->previous.p; /* of a deletion */
    size_t size = c->key.n + c->value.n + (same ? 0 : c->previous.n);
    struct etcd_change *copy = mem_alloc(sizeof *copy + size + 1);
    char *at = (char *)(copy + 1);
    *copy = (struct etcd_change){.change = *c};
    copy->change.key = copy_to(&at, c->key);
    copy->change.value = copy_to(&at, c->value);
    copy->change.previous = same ? copy->change.value : copy_to(&at, c->previous);
    return copy;
}

struct str etcd_key(const struct etcd_target *t, ProtobufCBinaryData key)
{
    struct str s = etcd_str(key);
    if (!str_starts(s, t->first) || str_eq(s, t->mark))
        return STR_NONE;
    return str_sub(s, t->prefix.n, SIZE_MAX);
}

struct etcd_change *etcd_change_of(const struct etcd_target *t, const Etcd__Event *event)
{
    const Etcd__KeyValue *now = event->kv, *was = event->prev_kv;
    struct str key = now ? etcd_key(t, now->key) : STR_NONE;
    if (!key.p)
        return NULL;
    bool put = event->type == ETCD__EVENT__TYPE__PUT;
    struct store_change c = {
        .kind = put ? STORE_PUT : STORE_DELETE,
        .revision = (uint64_t)now->mod_revision,
        .key = key,
        .created = put && now->create_revision == now->mod_revision,
    };
    if (was && !c.created) {
        c.previous = etcd_str(was->value);
        c.previous_revision = (uint64_t)was->mod_revision;
    }
    c.value = put ? etcd_str(now->value) : c.previous;
    return etcd_change_new(&c);
}
