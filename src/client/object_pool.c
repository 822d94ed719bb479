/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Texts are told apart by their SHA-256: nobody can write two objects that are taken for
 * one another.
 */
#include "client/object_pool.h"

#include <openssl/evp.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/map.h"
#include "base/mem.h"

enum { DIGEST = 32 };

struct object_pool {
    pthread_mutex_t lock;
    struct strmap by_digest; /* digest, in the object's arena -> struct object */
    uint32_t refs;           /* of users, and one for each object */
    EVP_MD *sha256;
};

struct object_pool *object_pool_new(void)
{
    struct object_pool *p = mem_zalloc(sizeof *p);
    pthread_mutex_init(&p->lock, NULL);
    p->sha256 = EVP_MD_fetch(NULL, "SHA256", NULL);
    p->refs = 1;
    return p;
}

struct object_pool *object_pool_ref(struct object_pool *p)
{
    __atomic_add_fetch(&p->refs, 1, __ATOMIC_RELAXED);
    return p;
}

void object_pool_free(struct object_pool *p)
{
    if (!p || __atomic_sub_fetch(&p->refs, 1, __ATOMIC_ACQ_REL) > 0)
        return;
    strmap_release(&p->by_digest);
    EVP_MD_free(p->sha256);
    pthread_mutex_destroy(&p->lock);
    free(p);
}

uint32_t object_pool_count(const struct object_pool *p)
{
    return p->by_digest.live;
}

static struct object *find(struct object_pool *p, struct str digest)
{
    pthread_mutex_lock(&p->lock);
    struct strmap_entry *found = strmap_find(&p->by_digest, digest);
    struct object *o = found ? object_ref(found->value.ptr) : NULL;
    pthread_mutex_unlock(&p->lock);
    return o;
}

static void add(struct object_pool *p, struct object *o, struct str digest)
{
    o->pool = object_pool_ref(p);
    o->pooled_as = arena_str(&o->arena, digest);
    pthread_mutex_lock(&p->lock);
    strmap_put(&p->by_digest, o->pooled_as, NULL)->value.ptr = o;
    pthread_mutex_unlock(&p->lock);
}

/* Under the lock, so that nobody finds it on its way out. */
void object_pool_unref(struct object_pool *p, struct object *o)
{
    pthread_mutex_lock(&p->lock);
    bool last = __atomic_sub_fetch(&o->refs, 1, __ATOMIC_ACQ_REL) == 0;
    if (last)
        strmap_remove(&p->by_digest, o->pooled_as);
    pthread_mutex_unlock(&p->lock);
    if (!last)
        return;
    object_free(o);
    object_pool_free(p);
}

/* The plain object of the text. */
static struct object *read_once(struct object_pool *p, struct str json, struct err *e)
{
    static const struct object_opts PLAIN = {0};
    unsigned char md[DIGEST];
    if (!p->sha256 || EVP_Digest(json.p, json.n, md, NULL, p->sha256, NULL) != 1)
        return object_of_json(json, &PLAIN, e);
    struct str digest = {(const char *)md, sizeof md};
    struct object *o = find(p, digest);
    if (!o && (o = object_of_json(json, &PLAIN, e)))
        add(p, o, digest);
    return o;
}

struct object *object_pool_read(struct object_pool *p, struct str json,
                                const struct object_opts *opts, struct err *e)
{
    struct object *plain = read_once(p, json, e);
    if (!plain || !(opts->view || opts->view_with || opts->drop_doc))
        return plain;
    struct object *o = object_of_plain(plain, opts, e);
    object_unref(plain);
    return o;
}
