/* SPDX-License-Identifier: Apache-2.0 */
/* What plugins of admission share, and those that are a line or two. */
#include "server/admission/admit.h"

#include "api/admit.h"
#include "api/edit.h"
#include "server/access/user.h"

/* ---- what is asked ---- */

bool admit_of(const struct admission *a, const char *group, const char *resource)
{
    const struct api_kind *k = a->r->res->main;
    return strcmp(k->group, group) == 0 && strcmp(k->resource, resource) == 0;
}

const char *admit_sub(const struct admission *a)
{
    return a->r->res->sub ? a->r->res->sub : "";
}

bool admit_on(const struct admission *a, const char *group, const char *resource)
{
    return !a->r->res->sub && admit_of(a, group, resource);
}

/* ---- refusing ---- */

bool admit_forbid(struct admission *a, const char *fmt, ...)
{
    struct request *r = a->r;
    const struct api_kind *k = r->res->main;
    va_list ap;
    va_start(ap, fmt);
    struct str why = arena_vprintf(r->a, fmt, ap);
    va_end(ap);
    struct str resource = qualified(r->a, str_from(k->resource), str_from(k->group));
    struct str name = a->name.n ? a->name : STR("Unknown");
    return fail_object(r, 403, "Forbidden", name, "%.*s \"%.*s\" is forbidden: %.*s",
                       STR_ARG(resource), STR_ARG(name), STR_ARG(why));
}

bool admit_missing(struct admission *a, const char *resource, struct str name)
{
    struct request *r = a->r;
    fail(r, 404, "NotFound", "%s \"%.*s\" not found", resource, STR_ARG(name));
    r->failure.has_details = true;
    r->failure.name = name;
    r->failure.kind = str_from(resource);
    return false;
}

/* ---- other objects ---- */

bool admit_find(struct admission *a, const char *group, const char *resource,
                struct str namespace, struct str name, struct doc *out)
{
    struct request *r = a->r;
    const struct resource *res = kinds_stored(r->s, group, resource);
    struct cache_object *o =
        res && name.n ? cache_get(r->s->cache, object_key(res, namespace, name, r->a))
                      : NULL;
    if (o)
        *out = object_doc(o, r->a);
    return o != NULL;
}

void admit_each(struct admission *a, const char *group, const char *resource,
                admit_each_fn *each, void *ctx)
{
    const struct resource *res = kinds_stored(a->r->s, group, resource);
    if (res)
        cache_each(a->r->s->cache, res->prefix, STR_NONE, each, ctx);
}

void admit_each_in(struct admission *a, const char *group, const char *resource,
                   struct str namespace, admit_each_fn *each, void *ctx)
{
    const struct resource *res = kinds_stored(a->r->s, group, resource);
    if (res)
        cache_each(
            a->r->s->cache,
            arena_printf(a->r->a, "%.*s%.*s/", STR_ARG(res->prefix), STR_ARG(namespace)),
            STR_NONE, each, ctx);
}

/* ---- documents ---- */

struct doc *admit_made(struct admission *a, struct doc *d, const char *key,
                       struct doc fresh)
{
    struct doc *have = api_edit_get(d, key);
    return have ? have : doc_set(a->r->a, d, key, fresh);
}

void admit_set_text(struct admission *a, struct doc *d, const char *key, struct str text)
{
    doc_set(a->r->a, d, key, doc_make_string(a->r->a, text));
}

uint32_t admit_count(const struct doc *d, const char *path)
{
    const struct doc *list = doc_path(d, path);
    return list && list->type == DOC_LIST ? list->n : 0;
}

void admit_rows(struct admission *a, const char *plugin)
{
    const struct server_opts *o = &a->r->s->opts;
    int64_t seconds[] = {o->not_ready_seconds, o->unreachable_seconds};
    struct api_admit p = {.a = a->r->a, .outage_seconds = seconds};
    if (!a->r->res->sub)
        api_admit(&p, plugin, a->r->res->hub, a->object);
}

/* ---- plugins ---- */

bool admit_deny_all(struct admission *a)
{
    return admit_forbid(a, "admission control is denying all modifications");
}

bool admit_taint_node(struct admission *a)
{
    admit_rows(a, "TaintNodesByCondition");
    return true;
}

bool admit_protect_storage(struct admission *a)
{
    admit_rows(a, "StorageObjectInUseProtection");
    return true;
}

bool admit_protect_group(struct admission *a)
{
    if (api_gate(&a->r->s->gates, API_GATE_GenericWorkload))
        admit_rows(a, "PodGroupProtection");
    return true;
}

static bool has_text(const struct doc *list, const struct doc *text)
{
    for (uint32_t i = 0; list && list->type == DOC_LIST && i < list->n; i++)
        if (doc_equal(&list->items[i], text))
            return true;
    return false;
}

bool check_external_ips(struct admission *a)
{
    const struct doc *now = doc_path(a->object, "spec.externalIPs");
    const struct doc *before = a->old ? doc_path(a->old, "spec.externalIPs") : NULL;
    if (!admit_on(a, "", "services"))
        return true;
    for (uint32_t i = 0; now && now->type == DOC_LIST && i < now->n; i++)
        if (!has_text(before, &now->items[i]))
            return admit_forbid(a, "Use of external IPs is denied by admission control");
    return true;
}
