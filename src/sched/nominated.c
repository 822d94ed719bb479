/* SPDX-License-Identifier: Apache-2.0 */
#include "sched/nominated.h"

static struct nomination *find(const struct nominated *n, struct str id)
{
    for (size_t i = 0; i < n->all.n; i++)
        if (str_eq(pod_id(n->all.v[i].pod), id))
            return &n->all.v[i];
    return NULL;
}

static void release(struct nomination *x)
{
    object_unref(x->pod);
    free(x->node);
}

void nominated_remove(struct nominated *n, struct str id)
{
    struct nomination *x = find(n, id);
    if (!x)
        return;
    release(x);
    *x = vec_pop(&n->all);
}

void nominated_set(struct nominated *n, struct object *pod, struct str node)
{
    struct object *kept = object_ref(pod);
    struct str own = {mem_dup(node.p, node.n), node.n};
    nominated_remove(n, pod_id(pod));
    if (own.n)
        vec_push(&n->all, (struct nomination){kept, (char *)own.p});
    else {
        object_unref(kept);
        free((char *)own.p);
    }
}

struct str nominated_node(const struct nominated *n, struct str id)
{
    const struct nomination *x = find(n, id);
    return x ? str_from(x->node) : STR_NONE;
}

void nominated_fini(struct nominated *n)
{
    for (size_t i = 0; i < n->all.n; i++)
        release(&n->all.v[i]);
    vec_release(&n->all);
}
