/* SPDX-License-Identifier: Apache-2.0 */
/*
 * OwnerReferencesPermissionEnforcement: who gives an object an owner must be allowed to
 * delete the object, and who lets it hold up the owner's deletion, to finalize the owner.
 */
#include "server/admission/admit.h"

#include "server/access/user.h"

static const struct doc *owners_of(const struct doc *d)
{
    static const struct doc none;
    const struct doc *all = d ? doc_path(d, "metadata.ownerReferences") : NULL;
    return all && all->type == DOC_LIST ? all : &none;
}

static bool same_owners(const struct doc *x, const struct doc *y)
{
    bool same = x->n == y->n;
    for (uint32_t i = 0; same && i < x->n; i++)
        same = doc_equal(&x->items[i], &y->items[i]);
    return same;
}

static bool blocks(const struct doc *owner)
{
    bool on = false;
    doc_get_bool(owner, "blockOwnerDeletion", &on);
    return on;
}

static bool blocked_before(const struct doc *old, struct str uid)
{
    bool on = false;
    for (uint32_t i = 0; i < old->n; i++)
        if (str_eq(doc_get_text(&old->items[i], "uid"), uid))
            on = blocks(&old->items[i]);
    return on;
}

static bool may_delete(struct admission *a)
{
    const struct resource *res = a->r->res;
    struct attributes wants = {.verb = STR("delete"),
                               .group = str_from(res->main->group),
                               .version = str_from(res->main->version),
                               .resource = str_from(res->main->resource),
                               .subresource = str_from(admit_sub(a)),
                               .namespace = a->r->route.namespace,
                               .name = a->name};
    return authorize_check(a->r->s, a->r->user, &wants);
}

static bool may_finalize_all(struct admission *a)
{
    struct attributes wants = {.verb = STR("update"),
                               .group = STR("*"),
                               .version = STR("*"),
                               .resource = STR("*"),
                               .subresource = STR("finalizers"),
                               .name = STR("*")};
    return authorize_check(a->r->s, a->r->user, &wants);
}

/* The kind of an owner; NULL: there is none. */
static const struct api_kind *kind_of(const struct server *s, const struct doc *owner)
{
    struct str version = doc_get_text(owner, "apiVersion"),
               kind = doc_get_text(owner, "kind");
    const struct api_kind *k = api_kind_find(version, kind);
    const struct resource *res;
    if (k)
        return strchr(k->resource, '/') ? NULL : k;
    for (uint32_t i = s->nresources; (res = kinds_listed(s, i)); i++)
        if (!res->sub && str_eq(res->api_version, version) &&
            str_is(kind, res->kind->name))
            return res->kind;
    return NULL;
}

static bool check_blocking(struct admission *a, const struct doc *owner)
{
    struct str version = doc_get_text(owner, "apiVersion"),
               kind = doc_get_text(owner, "kind");
    const struct api_kind *k = kind_of(a->r->s, owner);
    if (!k)
        return admit_forbid(a,
                            "cannot set blockOwnerDeletion in this case because cannot "
                            "find RESTMapping for APIVersion %.*s Kind %.*s: no matches "
                            "for kind \"%.*s\" in version \"%.*s\"",
                            STR_ARG(version), STR_ARG(kind), STR_ARG(kind),
                            STR_ARG(version));
    struct attributes wants = {.verb = STR("update"),
                               .group = str_from(k->group),
                               .version = str_from(k->version),
                               .resource = str_from(k->resource),
                               .subresource = STR("finalizers"),
                               .namespace =
                                   k->namespaced ? a->r->route.namespace : STR(""),
                               .name = doc_get_text(owner, "name")};
    return authorize_check(a->r->s, a->r->user, &wants) ||
           admit_forbid(a, "cannot set blockOwnerDeletion if an ownerReference refers to "
                           "a resource you can't set finalizers on: , <nil>");
}

bool check_owners(struct admission *a)
{
    const struct doc *now = owners_of(a->object), *old = owners_of(a->old);
    bool status = admit_of(a, "", "pods") && strcmp(admit_sub(a), "status") == 0;
    if (status || same_owners(now, old))
        return true;
    if (a->verb == ADMIT_UPDATE && !may_delete(a))
        return admit_forbid(
            a, "cannot set an ownerRef on a resource you can't delete: , <nil>");
    for (uint32_t i = 0; i < now->n; i++) {
        const struct doc *owner = &now->items[i];
        if (blocks(owner) && !blocked_before(old, doc_get_text(owner, "uid")) &&
            !may_finalize_all(a) && !check_blocking(a, owner))
            return false;
    }
    return true;
}
