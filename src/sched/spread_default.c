/* SPDX-License-Identifier: Apache-2.0 */
/* Which pods are like this one when it has no rules of its own: those that its services
 * and its owner select (upstream's DefaultSelector). */
#include "sched/spread.h"

struct collecting {
    const struct cycle *c;
    struct str namespace;
    struct selector all;
    struct arena *a;
};

static bool has_all(const struct labels *l, const struct doc *map)
{
    for (uint32_t i = 0; i < map->n; i++) {
        const struct doc_member *m = &map->members[i];
        const struct str *have = view_label_find(l->v, l->n, doc_key(m));
        if (!have || m->value.type != DOC_STRING || !str_eq(*have, doc_str(&m->value)))
            return false;
    }
    return true;
}

static void add_map(struct collecting *x, const struct doc *map)
{
    struct view_reader r = {.a = x->a};
    struct labels l;
    l.v = view_label_map(&r, map, &l.n);
    struct selector s = selector_of_labels(&l, x->a);
    if (!r.failed)
        x->all = selector_and(&x->all, &s, x->a);
}

static void add_service(void *ctx, const struct object *o)
{
    struct collecting *x = ctx;
    const struct doc *map = doc_path(o->doc, "spec.selector");
    if (str_eq(o->namespace, x->namespace) && map && map->type == DOC_MAP && map->n &&
        has_all(&x->c->info->labels, map))
        add_map(x, map);
}

static const struct doc *owner_selector(const struct collecting *x, enum world_kind kind)
{
    const struct view_pod *p = x->c->info->pod;
    const struct object *o =
        world_find_in(x->c->world, kind, x->namespace, p->owner_name, x->a);
    return o ? doc_path(o->doc, "spec.selector") : NULL;
}

static void add_owner(struct collecting *x)
{
    struct view_reader r = {.a = x->a};
    struct str kind = x->c->info->pod->owner_kind;
    const struct doc *d = NULL;
    if (str_is(kind, "ReplicationController")) {
        d = owner_selector(x, WORLD_REPLICATION_CONTROLLERS);
        if (d)
            add_map(x, d);
        return;
    }
    if (str_is(kind, "ReplicaSet"))
        d = owner_selector(x, WORLD_REPLICA_SETS);
    else if (str_is(kind, "StatefulSet"))
        d = owner_selector(x, WORLD_STATEFUL_SETS);
    if (!d)
        return;
    struct selector s = selector_read(&r, d);
    if (!r.failed && !s.nothing)
        x->all = selector_and(&x->all, &s, x->a);
}

struct selector spread_default_selector(const struct cycle *c)
{
    struct collecting x = {.c = c, .namespace = c->info->pod->meta.namespace, .a = c->a};
    world_each(c->world, WORLD_SERVICES, add_service, &x);
    add_owner(&x);
    return x.all;
}
