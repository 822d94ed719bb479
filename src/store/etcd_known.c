/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which keys there are and the revision of each, as far as the owner has been told: by a
 * snapshot or by changes. Used for nothing but to say what a gap has changed.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "store/etcd.h"

struct known_key {
    uint64_t revision;
    uint32_t round; /* of the comparison that has seen it */
    uint32_t size;
    char key[];
};

static struct known_key *find(const struct etcd_known *k, struct str key)
{
    struct strmap_entry *e = strmap_find(&k->keys, key);
    return e ? e->value.ptr : NULL;
}

static struct known_key *add(struct etcd_known *k, struct str key)
{
    struct known_key *known = mem_zalloc(sizeof *known + key.n);
    known->size = (uint32_t)key.n;
    known->round = k->round;
    memcpy(known->key, key.p, key.n);
    strmap_put(&k->keys, (struct str){known->key, key.n}, NULL)->value.ptr = known;
    return known;
}

void etcd_known_put(struct etcd_known *k, struct str key, uint64_t revision)
{
    struct known_key *known = find(k, key);
    if (!known)
        known = add(k, key);
    if (known->revision < revision)
        known->revision = revision;
}

static void forget(struct etcd_known *k, struct known_key *known)
{
    strmap_remove(&k->keys, (struct str){known->key, known->size});
    free(known);
}

void etcd_known_note(struct etcd *s, const struct etcd_change *c)
{
    const struct store_change *change = &c->change;
    struct known_key *known = find(&s->known, change->key);
    if (change->kind == STORE_PUT)
        etcd_known_put(&s->known, change->key, change->revision);
    else if (known && known->revision < change->revision)
        forget(&s->known, known);
}

void etcd_known_release(struct etcd_known *k)
{
    strmap_each(&k->keys, e) free(e->value.ptr);
    strmap_release(&k->keys);
}

/* ---- comparing ---- */

void etcd_known_begin(struct etcd_known *k)
{
    k->round++;
}

static void push_removal(const struct known_key *known, uint64_t revision,
                         struct etcd_changes *l)
{
    struct store_change c = {.kind = STORE_DELETE,
                             .revision = revision,
                             .key = {known->key, known->size},
                             .previous_revision = known->revision};
    etcd_changes_push(l, etcd_change_new(&c));
}

/* A key that was deleted and made again is told as both. */
void etcd_known_compare(struct etcd *s, const Etcd__KeyValue *kv, struct etcd_changes *l)
{
    struct str key = etcd_key(&s->target, kv->key);
    if (!key.p)
        return;
    uint64_t revision = (uint64_t)kv->mod_revision, made = (uint64_t)kv->create_revision;
    struct known_key *known = find(&s->known, key);
    bool there = known != NULL;
    if (!known)
        known = add(&s->known, key);
    known->round = s->known.round;
    if (revision <= s->reached || revision <= known->revision)
        return;
    bool again = there && made > known->revision;
    if (again)
        push_removal(known, made - 1, l);
    struct store_change c = {.kind = STORE_PUT,
                             .revision = revision,
                             .key = key,
                             .value = etcd_str(kv->value),
                             .created = !there || again,
                             .previous_revision = again ? 0 : known->revision};
    etcd_changes_push(l, etcd_change_new(&c));
    known->revision = revision;
}

void etcd_known_end(struct etcd *s, uint64_t revision, struct etcd_changes *l)
{
    strmap_each(&s->known.keys, e)
    {
        struct known_key *known = e->value.ptr;
        if (known->round == s->known.round)
            continue;
        push_removal(known, revision, l);
        forget(&s->known, known);
    }
}
