/* SPDX-License-Identifier: Apache-2.0 */
#include "sched/cache.h"

#include <stdlib.h>

#include "base/mem.h"

void cache_init(struct cache *c)
{
    *c = (struct cache){0};
}

/* ---- nodes ---- */

static struct node *node_for(struct cache *c, struct str name)
{
    struct strmap_entry *found = strmap_find(&c->by_name, name);
    if (found)
        return found->value.ptr;
    struct node *n = mem_zalloc(sizeof *n);
    n->name = (struct str){mem_dup(name.p, name.n), name.n};
    strmap_put(&c->by_name, n->name, NULL)->value.ptr = n;
    return n;
}

static void free_node(struct node *n)
{
    object_unref(n->object);
    usage_fini(&n->used);
    vec_release(&n->pods);
    free((char *)n->name.p);
    free(n);
}

/* A node that nothing is known of and that has no pods. */
static void drop_if_empty(struct cache *c, struct node *n)
{
    if (n->object || n->pods.n)
        return;
    strmap_remove(&c->by_name, n->name);
    free_node(n);
}

static void touch(struct cache *c, struct node *n)
{
    n->generation = ++c->generation;
}

static void count_image(struct cache *c, struct str name, int sign)
{
    bool made;
    struct strmap_entry *e = strmap_find(&c->image_nodes, name);
    if (!e) {
        struct str own = {mem_dup(name.p, name.n), name.n};
        e = strmap_put(&c->image_nodes, own, &made);
    }
    e->value.i += sign;
    if (e->value.i == 0) {
        char *own = (char *)e->key.p;
        strmap_remove(&c->image_nodes, name);
        free(own);
    }
}

static void count_images(struct cache *c, const struct node_info *info, int sign)
{
    for (uint32_t i = 0; i < info->nimages; i++)
        if (i == 0 || !str_eq(info->images[i - 1].name, info->images[i].name))
            count_image(c, info->images[i].name, sign);
}

void cache_set_node(struct cache *c, struct object *object)
{
    struct node *n = node_for(c, object->name);
    struct object *old = n->object;
    if (!old) {
        n->index = (uint32_t)c->nodes.n;
        vec_push(&c->nodes, n);
    } else {
        count_images(c, n->info, -1);
    }
    n->object = object_ref(object);
    n->info = node_info_of(object);
    n->base.view = n->info->node;
    count_images(c, n->info, 1);
    touch(c, n);
    object_unref(old);
}

void cache_remove_node(struct cache *c, struct str name)
{
    struct node *n = cache_find_node(c, name);
    if (!n)
        return;
    struct node *last = vec_pop(&c->nodes);
    if (last != n) {
        c->nodes.v[n->index] = last;
        last->index = n->index;
    }
    count_images(c, n->info, -1);
    object_unref(n->object);
    n->object = NULL;
    n->info = NULL;
    n->base.view = NULL;
    touch(c, n);
    drop_if_empty(c, n);
}

struct node *cache_find_node(const struct cache *c, struct str name)
{
    struct strmap_entry *found = strmap_find(&c->by_name, name);
    struct node *n = found ? found->value.ptr : NULL;
    return n && n->object ? n : NULL;
}

/* ---- pods ---- */

static void count_pod(struct cache *c, struct node *n, const struct pod_info *p, int sign)
{
    uint32_t one = (uint32_t)sign, affine = pod_info_has_affinity(p) ? one : 0,
             anti = p->anti_affinity.n ? one : 0;
    usage_add(&n->used, &p->need, sign);
    n->score_cpu += sign * p->score_cpu;
    n->score_memory += sign * p->score_memory;
    n->nports += p->nports ? one : 0;
    n->naffine += affine;
    n->nanti += anti;
    c->naffine += affine;
    c->nanti += anti;
    n->base.npods += one;
}

void cache_attach(struct cache *c, struct node_pod *p)
{
    struct node *n = p->node;
    p->at = (uint32_t)n->pods.n;
    vec_push(&n->pods, p);
    count_pod(c, n, p->info, 1);
}

void cache_detach(struct cache *c, struct node_pod *p)
{
    struct node *n = p->node;
    struct node_pod *last = vec_pop(&n->pods);
    if (last != p) {
        n->pods.v[p->at] = last;
        last->at = p->at;
    }
    count_pod(c, n, p->info, -1);
}

struct node_pod *cache_find_pod(const struct cache *c, struct str uid)
{
    struct strmap_entry *found = strmap_find(&c->pods, uid);
    return found ? found->value.ptr : NULL;
}

static struct node_pod *put_pod(struct cache *c, struct object *pod, struct node *n)
{
    struct node_pod *p = mem_zalloc(sizeof *p);
    *p =
        (struct node_pod){.object = object_ref(pod), .info = pod_info_of(pod), .node = n};
    strmap_put(&c->pods, pod_id(pod), NULL)->value.ptr = p;
    cache_attach(c, p);
    touch(c, n);
    return p;
}

static void drop_pod(struct cache *c, struct node_pod *p)
{
    struct node *n = p->node;
    cache_detach(c, p);
    strmap_remove(&c->pods, pod_id(p->object));
    object_unref(p->object);
    free(p);
    touch(c, n);
    drop_if_empty(c, n);
}

void cache_set_pod(struct cache *c, struct object *pod)
{
    struct node_pod *old = cache_find_pod(c, pod_id(pod));
    struct object *kept = object_ref(pod); /* it may be the old one */
    if (old)
        drop_pod(c, old);
    put_pod(c, pod, node_for(c, pod_info_of(pod)->pod->node_name));
    object_unref(kept);
}

bool cache_remove_pod(struct cache *c, struct str uid)
{
    struct node_pod *p = cache_find_pod(c, uid);
    if (p)
        drop_pod(c, p);
    return p != NULL;
}

void cache_assume(struct cache *c, struct object *pod, struct node *n)
{
    put_pod(c, pod, n)->assumed = true;
}

/* ---- the end ---- */

void cache_fini(struct cache *c)
{
    strmap_each(&c->pods, e)
    {
        struct node_pod *p = e->value.ptr;
        object_unref(p->object);
        free(p);
    }
    strmap_each(&c->by_name, e) free_node(e->value.ptr);
    strmap_each(&c->image_nodes, e) free((char *)e->key.p);
    strmap_release(&c->pods);
    strmap_release(&c->by_name);
    strmap_release(&c->image_nodes);
    vec_release(&c->nodes);
}
