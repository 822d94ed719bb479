/* SPDX-License-Identifier: Apache-2.0 */
#include "server/access/node_authorizer.h"

#include "server/access/auth.h"

struct ask {
    struct server *s;
    struct str node;
    const struct attributes *want;
    struct arena *a;
    struct str why;
};

static bool no(struct ask *q, const char *why)
{
    q->why = str_from(why);
    return false;
}

static bool is_among(struct str s, const char *const *list)
{
    for (; *list; list++)
        if (str_is(s, *list))
            return true;
    return false;
}

static bool no_relation(struct ask *q)
{
    q->why =
        arena_printf(q->a, "no relationship found between node '%.*s' and this object",
                     STR_ARG(q->node));
    return false;
}

/* ---- relations ---- */

/* prefix: of the resource's keys. */
static struct cache_object *find(struct ask *q, const char *prefix, struct str namespace,
                                 struct str name)
{
    const struct resource *res = kinds_of_key(q->s, str_from(prefix));
    return res ? cache_get(q->s->cache, object_key(res, namespace, name, q->a)) : NULL;
}

static const char PODS[] = "/registry/core/pods/",
                  VOLUMES[] = "/registry/core/persistentvolumes/",
                  VOLUME_CLAIMS[] = "/registry/core/persistentvolumeclaims/",
                  SLICES[] = "/registry/resource.k8s.io/resourceslices/",
                  ATTACHMENTS[] = "/registry/storage.k8s.io/volumeattachments/",
                  CERTIFICATES[] =
                      "/registry/certificates.k8s.io/podcertificaterequests/";

/* What spec.nodeName of the object says. */
static struct str node_of(struct ask *q, struct cache_object *o)
{
    struct str field = cache_pair_find(o->fields, o->nfields, STR("spec.nodeName"));
    if (field.p)
        return field;
    struct doc d = object_doc(o, q->a);
    return doc_get_text(doc_get(&d, "spec"), "nodeName");
}

static bool is_here(struct ask *q, const char *prefix)
{
    struct cache_object *o = find(q, prefix, q->want->namespace, q->want->name);
    return o && str_eq(node_of(q, o), q->node);
}

static bool refers(struct ask *q, enum ref_kind kind)
{
    return pod_index_refers(q->s->auth->pods, q->node, kind, q->want->namespace,
                            q->want->name);
}

/* Is this volume that of a claim which a pod here uses? */
static bool has_volume(struct ask *q, const struct doc *volume)
{
    const struct doc *claim = doc_path(volume, "spec.claimRef");
    return claim && pod_index_refers(q->s->auth->pods, q->node, REF_VOLUME_CLAIM,
                                     doc_get_text(claim, "namespace"),
                                     doc_get_text(claim, "name"));
}

static bool uses_volume(struct ask *q)
{
    struct cache_object *o = find(q, VOLUMES, STR(""), q->want->name);
    if (!o)
        return false;
    struct doc d = object_doc(o, q->a);
    return has_volume(q, &d);
}

struct secret_search {
    struct ask *q;
    bool found;
};

static void look_at_secret(void *ctx, struct str namespace, struct str name)
{
    struct secret_search *s = ctx;
    s->found = s->found || (str_eq(namespace, s->q->want->namespace) &&
                            str_eq(name, s->q->want->name));
}

/* The volume of a claim that a pod here uses. */
static bool look_at_claim(void *ctx, struct str namespace, struct str name)
{
    struct secret_search *s = ctx;
    struct cache_object *claim = find(s->q, VOLUME_CLAIMS, namespace, name);
    if (!claim)
        return true;
    struct doc d = object_doc(claim, s->q->a);
    struct str volume = doc_get_text(doc_get(&d, "spec"), "volumeName");
    struct cache_object *o = volume.n ? find(s->q, VOLUMES, STR(""), volume) : NULL;
    if (!o)
        return true;
    d = object_doc(o, s->q->a);
    const struct doc *ref = doc_path(&d, "spec.claimRef");
    if (str_eq(doc_get_text(ref, "namespace"), namespace) &&
        str_eq(doc_get_text(ref, "name"), name))
        volume_secrets_each(&d, look_at_secret, s);
    return !s->found;
}

static bool uses_secret(struct ask *q)
{
    struct secret_search s = {q, refers(q, REF_SECRET)};
    if (!s.found)
        pod_index_each(q->s->auth->pods, q->node, REF_VOLUME_CLAIM, look_at_claim, &s);
    return s.found;
}

/* ---- by resource ---- */

static bool related(struct ask *q, bool is)
{
    if (q->want->name.n == 0)
        return no(q, "No Object name found");
    return is || no_relation(q);
}

static bool may_get(struct ask *q)
{
    if (!str_is(q->want->verb, "get"))
        return no(q, "can only get individual resources of this type");
    return q->want->subresource.n == 0 || no(q, "cannot get subresource");
}

static bool may_read(struct ask *q)
{
    static const char *const VERBS[] = {"get", "list", "watch", NULL};
    if (!is_among(q->want->verb, VERBS))
        return no(q, "can only read resources of this type");
    if (q->want->subresource.n)
        return no(q, "cannot read subresource");
    return q->want->namespace.n || no(q, "can only read namespaced object of this type");
}

static bool ask_secret(struct ask *q)
{
    return may_read(q) && related(q, uses_secret(q));
}

static bool ask_configmap(struct ask *q)
{
    return may_read(q) && related(q, refers(q, REF_CONFIGMAP));
}

static bool ask_volume_claim(struct ask *q)
{
    static const char *const VERBS[] = {"update", "patch", NULL};
    bool status = str_is(q->want->subresource, "status");
    if (status && !is_among(q->want->verb, VERBS))
        return no(q, "can only get/update/patch this type");
    return (status || may_get(q)) && related(q, refers(q, REF_VOLUME_CLAIM));
}

static bool ask_volume(struct ask *q)
{
    return may_get(q) && related(q, uses_volume(q));
}

static bool ask_claim(struct ask *q)
{
    return may_get(q) && related(q, refers(q, REF_CLAIM));
}

static bool ask_attachment(struct ask *q)
{
    return may_get(q) && related(q, is_here(q, ATTACHMENTS));
}

static bool ask_account(struct ask *q)
{
    if (str_is(q->want->verb, "get") && q->want->subresource.n == 0)
        return may_read(q) && related(q, refers(q, REF_ACCOUNT));
    if (!str_is(q->want->verb, "create") || q->want->name.n == 0)
        return no(q, "can only create tokens for individual service accounts");
    if (!str_is(q->want->subresource, "token"))
        return no(q, "can only create token subresource of serviceaccount");
    return refers(q, REF_ACCOUNT) || no_relation(q);
}

static const char *const OBJECT_VERBS[] = {"get",   "create", "update",
                                           "patch", "delete", NULL};

/* The name of what is created is looked at by admission. */
static bool own_name(struct ask *q)
{
    return str_is(q->want->verb, "create") || str_eq(q->want->name, q->node);
}

static bool ask_lease(struct ask *q)
{
    if (!is_among(q->want->verb, OBJECT_VERBS))
        return no(q, "can only get, create, update, patch, or delete a node lease");
    if (!str_is(q->want->namespace, "kube-node-lease"))
        return no(q,
                  "can only access leases in the \"kube-node-lease\" system namespace");
    return own_name(q) ||
           no(q, "can only access node lease with the same name as the requesting node");
}

static bool ask_csi_node(struct ask *q)
{
    if (str_is(q->want->subresource, "status"))
        return no(q, "CSINode status access requires CSIVolumeHealth feature");
    if (q->want->subresource.n)
        return no(q, "cannot authorize CSINode subresources");
    if (!is_among(q->want->verb, OBJECT_VERBS))
        return no(q, "can only get, create, update, patch, or delete a CSINode");
    return own_name(q) ||
           no(q, "can only access CSINode with the same name as the requesting node");
}

/* Does the field selector ask for this node alone? */
static bool selects_node(struct ask *q)
{
    const struct selector *s = q->want->fields;
    for (uint32_t i = 0; s && i < s->n; i++)
        if (str_is(s->all[i].key, "spec.nodeName") && s->all[i].op == SELECT_IN &&
            s->all[i].nvalues == 1 && str_eq(s->all[i].values[0], q->node))
            return true;
    return false;
}

static bool ask_slice(struct ask *q)
{
    static const char *const ONE[] = {"get", "update", "patch", "delete", NULL};
    static const char *const MANY[] = {"watch", "list", "deletecollection", NULL};
    if (q->want->subresource.n)
        return no(q, "cannot authorize ResourceSlice subresources");
    if (str_is(q->want->verb, "create"))
        return true;
    if (is_among(q->want->verb, ONE))
        return related(q, is_here(q, SLICES));
    if (is_among(q->want->verb, MANY))
        return selects_node(q) ||
               no(q, "can only list/watch/deletecollection resourceslices with nodeName "
                     "field selector");
    return no(q, "only the following verbs are allowed for a ResourceSlice: get, watch, "
                 "list, create, update, patch, delete, deletecollection");
}

static bool ask_certificate(struct ask *q)
{
    if (q->want->subresource.n)
        return no(q, "nodes may not access the status subresource of "
                     "PodCertificateRequests");
    if (str_is(q->want->verb, "create"))
        return true;
    if (str_is(q->want->verb, "get"))
        return related(q, is_here(q, CERTIFICATES));
    if (str_is(q->want->verb, "list") || str_is(q->want->verb, "watch"))
        return selects_node(q) ||
               no(q, "can only list/watch podcertificaterequests with nodeName field "
                     "selector");
    q->why = arena_printf(q->a, "nodes may not %.*s podcertificaterequests",
                          STR_ARG(q->want->verb));
    return false;
}

static bool read_node(struct ask *q)
{
    if (str_eq(q->want->name, q->node))
        return true;
    if (q->want->name.n == 0)
        q->why = arena_printf(q->a,
                              "node '%.*s' cannot read all nodes, only its own Node "
                              "object",
                              STR_ARG(q->node));
    else
        q->why =
            arena_printf(q->a, "node '%.*s' cannot read '%.*s', only its own Node object",
                         STR_ARG(q->node), STR_ARG(q->want->name));
    return false;
}

/* Which node is written, and what, is looked at by admission. */
static bool ask_node(struct ask *q)
{
    static const char *const WRITES[] = {"create", "update", "patch", NULL};
    static const char *const READS[] = {"get", "list", "watch", NULL};
    struct str verb = q->want->verb;
    if (str_is(q->want->subresource, "status"))
        return is_among(verb, WRITES + 1);
    if (q->want->subresource.n)
        return false;
    return is_among(verb, WRITES) || (is_among(verb, READS) && read_node(q));
}

static bool read_pods(struct ask *q)
{
    if (selects_node(q))
        return true;
    if (q->want->name.n)
        return related(q, is_here(q, PODS));
    return no(q, "can only list/watch pods with spec.nodeName field selector");
}

static bool ask_pod(struct ask *q)
{
    static const char *const STATUS[] = {"update", "patch", NULL};
    struct str verb = q->want->verb, sub = q->want->subresource;
    if (str_is(sub, "status"))
        return is_among(verb, STATUS);
    if (str_is(sub, "eviction"))
        return str_is(verb, "create");
    if (sub.n)
        return false;
    if (str_is(verb, "get"))
        return related(q, is_here(q, PODS));
    if (str_is(verb, "list") || str_is(verb, "watch"))
        return read_pods(q);
    return str_is(verb, "create") || str_is(verb, "delete");
}

static const struct ask_resource {
    const char *group, *resource;
    bool (*ask)(struct ask *q);
} RESOURCES[] = {
    {"", "secrets", ask_secret},
    {"", "configmaps", ask_configmap},
    {"", "persistentvolumeclaims", ask_volume_claim},
    {"", "persistentvolumes", ask_volume},
    {"", "serviceaccounts", ask_account},
    {"", "nodes", ask_node},
    {"", "pods", ask_pod},
    {"resource.k8s.io", "resourceclaims", ask_claim},
    {"resource.k8s.io", "resourceslices", ask_slice},
    {"storage.k8s.io", "volumeattachments", ask_attachment},
    {"storage.k8s.io", "csinodes", ask_csi_node},
    {"coordination.k8s.io", "leases", ask_lease},
    {"certificates.k8s.io", "podcertificaterequests", ask_certificate},
};

static bool ask_resource(struct ask *q)
{
    const struct attributes *want = q->want;
    for (size_t i = 0; !want->path.p && i < sizeof RESOURCES / sizeof *RESOURCES; i++)
        if (str_is(want->group, RESOURCES[i].group) &&
            str_is(want->resource, RESOURCES[i].resource))
            return RESOURCES[i].ask(q);
    const struct rules *rules = &q->s->auth->node_rules;
    for (uint32_t i = 0; i < rules->n; i++)
        if (rule_allows(&rules->v[i], want))
            return true;
    return false;
}

struct str node_of_user(const struct user *u)
{
    static const struct str PREFIX = {"system:node:", 12};
    if (!str_starts(u->name, PREFIX) || !user_in_group(u, "system:nodes"))
        return STR_NONE;
    return str_sub(u->name, PREFIX.n, SIZE_MAX);
}

bool node_authorize(struct server *s, const struct user *u, const struct attributes *want,
                    struct arena *a, struct str *why)
{
    struct ask q = {s, node_of_user(u), want, a, STR("")};
    bool ok = q.node.p && q.node.n && ask_resource(&q);
    if (q.node.p && q.node.n == 0)
        q.why = arena_printf(a, "unknown node for user \"%.*s\"", STR_ARG(u->name));
    *why = q.why;
    return ok;
}
