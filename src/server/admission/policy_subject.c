/* SPDX-License-Identifier: Apache-2.0 */
/* What expressions see of a request, and what they may ask. */
#include "server/admission/admit.h"
#include "server/admission/policy.h"

/* ---- who may do what ---- */

static const struct user *account_user(const struct api_authz_check *c, struct arena *a)
{
    struct user *u = ARENA_NEW(a, struct user);
    struct str *groups = ARENA_ARRAY(a, struct str, 2);
    groups[0] = STR("system:serviceaccounts");
    groups[1] =
        arena_printf(a, "system:serviceaccounts:%.*s", STR_ARG(c->account_namespace));
    u->name = arena_printf(a, "system:serviceaccount:%.*s:%.*s",
                           STR_ARG(c->account_namespace), STR_ARG(c->account));
    u->groups = groups;
    u->ngroups = 2;
    return u;
}

static bool check(void *ctx, const struct api_authz_check *c, struct arena *a,
                  struct str *reason)
{
    struct policy_asking *q = ctx;
    struct request *r = q->a->r;
    struct selector fields;
    struct str why;
    struct attributes want = {.verb = c->verb,
                              .path = c->path,
                              .group = c->group,
                              .version = STR("*"),
                              .resource = c->resource,
                              .subresource = c->subresource,
                              .namespace = c->namespace,
                              .name = c->name};
    if (c->path.p)
        want.version = STR_NONE;
    if (c->fields.n && selector_parse_fields(c->fields, a, &fields, &why))
        want.fields = &fields;
    return authorize(r->s, c->account.p ? account_user(c, a) : r->user, &want, a, reason);
}

void policy_asking_init(struct policy_asking *q, struct admission *a)
{
    struct request *r = a->r;
    struct api_authz_check own = {.group = str_from(r->res->main->group),
                                  .resource = str_from(r->res->main->resource),
                                  .subresource = str_from(admit_sub(a)),
                                  .namespace = match_namespace(a),
                                  .name = match_name(a)};
    q->a = a;
    q->authorizer = (struct api_authorizer){.check = check, .ctx = q, .request = own};
}

/* ---- the request ---- */

/* Of a namespace's own requests there is none. */
static bool find_namespace(struct policy_view *v, struct admission *a)
{
    struct str name = admit_of(a, "", "namespaces") ? STR("") : match_namespace(a);
    if (!name.n)
        return true;
    v->has_namespace = admit_find(a, "", "namespaces", STR(""), name, &v->namespace);
    if (!v->has_namespace)
        return admit_missing(a, "namespaces", name);
    struct doc *meta = object_meta(&v->namespace);
    if (meta) {
        doc_remove(meta, STR("managedFields"));
        doc_remove(meta, STR("ownerReferences"));
    }
    doc_remove(&v->namespace, STR("kind"));
    doc_remove(&v->namespace, STR("apiVersion"));
    return true;
}

bool policy_view_make(struct policy_view *v, struct admission *a,
                      const struct resource *as)
{
    if (!review_ready(a, as))
        return false;
    *v = (struct policy_view){.as = as, .request = review_request(a, as)};
    v->has_object = review_object(a, as, &v->object);
    v->has_old = review_old(a, as, &v->old);
    return find_namespace(v, a);
}

struct policy_subject policy_subject_of(const struct policy_view *v,
                                        const struct policy_asking *q,
                                        const struct doc *params, bool namespace)
{
    return (struct policy_subject){
        .object = v->has_object ? &v->object : NULL,
        .old = v->has_old ? &v->old : NULL,
        .params = params && params->type != DOC_NULL ? params : NULL,
        .namespace = namespace && v->has_namespace ? &v->namespace : NULL,
        .request = &v->request,
        .authorizer = &q->authorizer};
}

/* ---- conditions ---- */

enum policy_outcome policy_check(struct policy_eval *e, const struct condition *c,
                                 struct arena *a, int64_t *budget, struct cel_value *out,
                                 struct str *why)
{
    if (c->expr)
        return policy_eval(e, c->expr, budget, out, why);
    *why = arena_printf(a, "compilation error: %.*s", STR_ARG(c->why));
    return POLICY_FAILED;
}

static struct str joined(struct arena *a, struct str all, struct str more, uint32_t n)
{
    if (n == 0)
        return more;
    return arena_printf(a, "%.*s, %.*s", STR_ARG(all), STR_ARG(more));
}

/* One that is false counts for more than others that fail. */
enum conditions_answer policy_conditions(struct policy_eval *e,
                                         const struct conditions *c, bool ignore,
                                         struct arena *a, struct str *why)
{
    int64_t budget = API_CEL_BUDGET_CONDITIONS;
    struct cel_value v;
    struct str one, all = STR("");
    uint32_t failed = 0;
    for (uint32_t i = 0; i < c->n; i++) {
        enum policy_outcome end = policy_check(e, &c->v[i], a, &budget, &v, &one);
        if (end == POLICY_VALUE && !(v.kind == CEL_BOOL && v.b))
            return CONDITIONS_UNMET;
        if (end == POLICY_VALUE)
            continue;
        all = joined(a, all, arena_str(a, one), failed++);
        if (end == POLICY_SPENT) {
            all = arena_str(a, one);
            failed = 1;
            break;
        }
    }
    if (!failed)
        return CONDITIONS_MET;
    *why = failed > 1 ? arena_printf(a, "[%.*s]", STR_ARG(all)) : all;
    return ignore ? CONDITIONS_UNMET : CONDITIONS_FAILED;
}
