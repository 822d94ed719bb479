/* SPDX-License-Identifier: Apache-2.0 */
/* Parameters of policies: objects that bindings name or select. */
#include "server/admission/policy.h"

static const struct resource *param_resource(const struct policy *p,
                                             const struct server *s)
{
    const struct resource *res;
    for (uint32_t i = 0; (res = kinds_listed(s, i)); i++) {
        if (!res->sub && str_eq(res->api_version, p->param_version) &&
            str_is(p->param_kind, res->main->name) && !res->serve)
            return res;
    }
    return NULL;
}

bool policy_param_known(const struct policy *p, struct admission *a, struct str *why)
{
    bool core = str_find_byte(p->param_version, '/', 0) == SIZE_MAX;
    if (!p->param_kind.n || param_resource(p, a->r->s))
        return true;
    *why =
        arena_printf(a->r->a,
                     "failed to find resource referenced by paramKind: '%s%.*s, "
                     "Kind=%.*s'",
                     core ? "/" : "", STR_ARG(p->param_version), STR_ARG(p->param_kind));
    return false;
}

struct finding {
    struct request *r;
    const struct resource *res;
    struct selector selector;
    VEC(struct doc) found;
    bool failed; /* one cannot be had in the version that is meant: f->r says why */
};

static void take_param(struct finding *f, struct cache_object *o)
{
    struct doc d = object_doc(o, f->r->a);
    if (object_convert(f->r, f->res, &d, f->r->a))
        vec_push(&f->found, d);
    else
        f->failed = true;
}

static bool select_one(void *ctx, struct cache_object *o)
{
    struct finding *f = ctx;
    if (selector_matches_labels(&f->selector, o))
        take_param(f, o);
    return true;
}

/* Where they are; false: nowhere. */
static bool param_namespace(const struct resource *res, struct str given,
                            struct admission *a, struct str *out, struct str *why)
{
    struct str own = match_namespace(a);
    *out = STR("");
    if (!res->main->namespaced && given.n)
        *why = STR("paramRef.namespace must not be provided for a cluster-scoped "
                   "`paramKind`");
    else if (res->main->namespaced && !given.n && !own.n)
        *why = STR("cannot use namespaced paramRef in policy binding that matches "
                   "cluster-scoped resources");
    else if (res->main->namespaced)
        *out = given.n ? given : own;
    return why->n == 0;
}

static void find_named(struct finding *f, struct str namespace, struct str name)
{
    struct cache_object *o =
        cache_get(f->r->s->cache, object_key(f->res, namespace, name, f->r->a));
    if (o)
        take_param(f, o);
}

static bool find_selected(struct finding *f, const struct doc *selector,
                          struct str namespace, struct str *why)
{
    struct str prefix = f->res->prefix;
    if (!selector_of_doc(selector, f->r->a, &f->selector)) {
        *why = STR("one of name or selector must be provided");
        return false;
    }
    if (f->res->main->namespaced)
        prefix = arena_printf(f->r->a, "%.*s%.*s/", STR_ARG(prefix), STR_ARG(namespace));
    cache_each(f->r->s->cache, prefix, STR_NONE, select_one, f);
    return true;
}

static void keep(struct finding *f, struct policy_params *out)
{
    *out = (struct policy_params){ARENA_ARRAY(f->r->a, struct doc, f->found.n + 1),
                                  (uint32_t)f->found.n};
    if (f->found.n)
        memcpy(out->v, f->found.v, f->found.n * sizeof *out->v);
    vec_release(&f->found);
}

/* Why the request would have failed, unless it waits. */
static struct str taken(struct request *r)
{
    struct str why = r->failure.message;
    if (!r->failure.waits)
        r->failure = (struct failure){0};
    return why;
}

bool policy_params_find(const struct policy *p, const struct policy_binding *b,
                        struct admission *a, struct policy_params *out, struct str *why)
{
    struct finding f = {.r = a->r, .res = param_resource(p, a->r->s)};
    struct str namespace, name = doc_get_text(&b->param, "name");
    *why = STR("");
    if (!p->param_kind.n || b->param.type != DOC_MAP) {
        vec_push(&f.found, doc_make_null());
        keep(&f, out);
        return true;
    }
    if (!f.res)
        return policy_param_known(p, a, why);
    if (!param_namespace(f.res, doc_get_text(&b->param, "namespace"), a, &namespace, why))
        return false;
    if (name.n)
        find_named(&f, namespace, name);
    else if (!find_selected(&f, doc_get(&b->param, "selector"), namespace, why))
        return false;
    bool deny = str_is(doc_get_text(&b->param, "parameterNotFoundAction"), "Deny");
    if (f.failed)
        *why = taken(a->r);
    else if (f.found.n == 0 && deny)
        *why = STR("no params found for policy binding with `Deny` "
                   "parameterNotFoundAction");
    keep(&f, out);
    return !f.failed && why->n == 0;
}
