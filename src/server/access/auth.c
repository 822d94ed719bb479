/* SPDX-License-Identifier: Apache-2.0 */
#include "server/access/auth.h"

#include "server/access/bootstrap.h"

static const char *const PREFIXES[RBAC_KINDS] = {
    [RBAC_CLUSTER_ROLE] = "/registry/rbac.authorization.k8s.io/clusterroles/",
    [RBAC_CLUSTER_BINDING] = "/registry/rbac.authorization.k8s.io/clusterrolebindings/",
    [RBAC_ROLE] = "/registry/rbac.authorization.k8s.io/roles/",
    [RBAC_BINDING] = "/registry/rbac.authorization.k8s.io/rolebindings/",
};
static const char PODS[] = "/registry/core/pods/";

static void put_role(struct auth_follow *f, const struct cache_object *o)
{
    struct arena a = {0};
    struct doc_source src = {.name = "store", .text = o->json};
    struct doc d;
    if (doc_read_json(&src, &a, &d, NULL))
        rbac_put(f->rbac, f->kind, o->namespace, o->name, &d);
    arena_fini(&a);
}

static void role_event(void *ctx, const struct cache_event *e)
{
    struct auth_follow *f = ctx;
    if (e->kind == CACHE_DELETED)
        rbac_remove(f->rbac, f->kind, e->object->namespace, e->object->name);
    else if (e->object)
        put_role(f, e->object);
}

static bool role_there(void *ctx, struct cache_object *o)
{
    put_role(ctx, o);
    return true;
}

static bool pod_there(void *ctx, struct cache_object *o)
{
    struct cache_event e = {.kind = CACHE_ADDED, .object = o};
    pod_index_event(ctx, &e);
    return true;
}

void auth_follow(struct server *s)
{
    struct auth *a = s->auth;
    uint64_t now = cache_revision(s->cache);
    struct str pods = str_from(PODS);
    for (int i = 0; i < RBAC_KINDS; i++) {
        struct str prefix = str_from(PREFIXES[i]);
        a->follows[i] = (struct auth_follow){a->rbac, (enum rbac_kind)i};
        cache_each(s->cache, prefix, STR_NONE, role_there, &a->follows[i]);
        a->watches[i] = cache_watch(s->cache, prefix, now, role_event, &a->follows[i]);
    }
    cache_each(s->cache, pods, STR_NONE, pod_there, a->pods);
    a->watches[RBAC_KINDS] = cache_watch(s->cache, pods, now, pod_index_event, a->pods);
}

static void read_node_rules(struct auth *a, const struct api_gates *g)
{
    struct doc d;
    if (bootstrap_find(g, STR("ClusterRole"), STR(""), STR("system:node"), &a->arena, &d))
        a->node_rules = rules_read(doc_get(&d, "rules"), &a->arena);
}

struct auth *auth_new(struct server *s, const struct server_opts *o, struct err *e)
{
    struct auth *a = mem_zalloc(sizeof *a);
    a->rbac = rbac_new();
    a->pods = pod_index_new();
    a->anonymous = o->anonymous;
    read_node_rules(a, &o->gates);
    a->tokens = tokens_new(s, o, e);
    if (a->tokens)
        return a;
    auth_free(a);
    return NULL;
}

void auth_free(struct auth *a)
{
    if (!a)
        return;
    for (int i = 0; i < AUTH_WATCHES; i++)
        if (a->watches[i])
            cache_unwatch(a->watches[i]);
    tokens_free(a->tokens);
    pod_index_free(a->pods);
    rbac_free(a->rbac);
    arena_fini(&a->arena);
    free(a);
}
