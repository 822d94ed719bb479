/* SPDX-License-Identifier: Apache-2.0 */
#include "server/access/escalation.h"

#include "base/quote.h"
#include "server/access/auth.h"

static const char GROUP[] = "rbac.authorization.k8s.io";

static bool is_resource(const struct request *r, const char *resource)
{
    return !r->res->sub && strcmp(r->res->main->group, GROUP) == 0 &&
           strcmp(r->res->main->resource, resource) == 0;
}

static struct str scope(const struct request *r)
{
    return r->route.namespace.p ? r->route.namespace : STR("");
}

/* ---- what he does not have ---- */

static struct str groups_text(const struct user *u, struct arena *a)
{
    struct strbuf b = STRBUF_INIT;
    for (uint32_t i = 0; i < u->ngroups; i++) {
        strbuf_adds(&b, i ? " " : "");
        strbuf_add_quoted(&b, u->groups[i]);
    }
    struct str text = arena_str(a, strbuf_str(&b));
    strbuf_release(&b);
    return text;
}

static bool forbid(struct request *r, const struct doc *d, struct str why)
{
    const struct api_kind *k = r->res->main;
    struct str name = meta_text(d, "name");
    struct str what = qualified(r->a, str_from(k->resource), str_from(k->group));
    if (name.n)
        what = arena_printf(r->a, "%.*s \"%.*s\"", STR_ARG(what), STR_ARG(name));
    return fail_object(r, 403, "Forbidden", name, "%.*s is forbidden: %.*s",
                       STR_ARG(what), STR_ARG(why));
}

/* STR_NONE: he holds all of these rules. */
static struct str lacks(struct request *r, struct rules wanted)
{
    struct str unresolved;
    struct rules held =
        rbac_rules(r->s->auth->rbac, r->user, scope(r), r->a, &unresolved);
    struct str missing = rules_missing(held, wanted, r->a);
    if (missing.n == 0)
        return STR_NONE;
    struct strbuf b = STRBUF_INIT;
    strbuf_adds(&b, "user ");
    strbuf_add_quoted(&b, r->user->name);
    strbuf_addf(&b,
                " (groups=[%.*s]) is attempting to grant RBAC permissions not currently "
                "held:\n%.*s",
                STR_ARG(groups_text(r->user, r->a)), STR_ARG(missing));
    if (unresolved.n)
        strbuf_addf(&b, "; resolution errors: [%.*s]", STR_ARG(unresolved));
    struct str text = arena_str(r->a, strbuf_str(&b));
    strbuf_release(&b);
    return text;
}

/* ---- roles ---- */

static bool may(struct request *r, const char *verb, const char *resource,
                struct str name)
{
    struct attributes want = {
        .verb = str_from(verb),
        .group = str_from(GROUP),
        .version = STR("*"),
        .resource = str_from(resource),
        .subresource = STR(""),
        .namespace = scope(r),
        .name = name.p ? name : STR(""),
    };
    return authorize_check(r->s, r->user, &want);
}

static bool aggregates(const struct doc *d)
{
    const struct doc *list =
        d ? doc_path(d, "aggregationRule.clusterRoleSelectors") : NULL;
    return list && list->type == DOC_LIST && list->n > 0;
}

static bool has_everything(struct request *r)
{
    static const struct str STAR[] = {{"*", 1}};
    static const struct names ANY = {STAR, 1};
    const struct rule all[] = {{.verbs = ANY, .groups = ANY, .resources = ANY},
                               {.verbs = ANY, .urls = ANY}};
    return lacks(r, (struct rules){all, 2}).p == NULL;
}

static bool check_role(struct request *r, const struct doc *d, const struct doc *live)
{
    if (may(r, "escalate", r->res->main->resource, r->route.name))
        return true;
    struct str why = lacks(r, rules_read(doc_get(d, "rules"), r->a));
    if (why.p)
        return forbid(r, d, why);
    /* It gathers whatever its selectors find. */
    if ((aggregates(d) || aggregates(live)) && !has_everything(r))
        return forbid(r, d,
                      STR("must have cluster-admin privileges to use the "
                          "aggregationRule"));
    return true;
}

/* ---- bindings ---- */

/* Upstream looks for the role under the name of the resource that is asked for. */
static bool fail_no_role(struct request *r, struct str name)
{
    return fail_object(r, 404, "NotFound", name, "%s.%s \"%.*s\" not found",
                       r->res->main->resource, GROUP, STR_ARG(name));
}

static bool check_binding(struct request *r, const struct doc *d)
{
    const struct doc *ref = doc_get(d, "roleRef");
    struct str kind = doc_get_text(ref, "kind"), name = doc_get_text(ref, "name");
    const char *resource = str_is(kind, "ClusterRole") ? "clusterroles" : "roles";
    struct rules rules;
    if (may(r, "bind", resource, name))
        return true;
    if (!rbac_role(r->s->auth->rbac, kind, scope(r), name, &rules))
        return fail_no_role(r, name);
    struct str why = lacks(r, rules);
    return !why.p || forbid(r, d, why);
}

/* ---- all ---- */

/* Garbage collection takes references and finalizers away, whatever it may do else. */
static bool only_for_garbage(struct arena *a, const struct doc *d, const struct doc *live)
{
    static const char *const FREE[] = {"ownerReferences", "finalizers", "managedFields",
                                       "selfLink"};
    struct doc x = doc_dup(a, d), y = doc_dup(a, live);
    for (size_t i = 0; i < sizeof FREE / sizeof *FREE; i++) {
        write_drop_meta(&x, FREE[i]);
        write_drop_meta(&y, FREE[i]);
    }
    return doc_equal(&x, &y);
}

bool escalation_check(struct request *r, const struct doc *d, const struct doc *live)
{
    bool role = is_resource(r, "clusterroles") || is_resource(r, "roles");
    bool binding =
        is_resource(r, "clusterrolebindings") || is_resource(r, "rolebindings");
    if ((!role && !binding) || r->user->admin ||
        (live && only_for_garbage(r->a, d, live)))
        return true;
    return role ? check_role(r, d, live) : check_binding(r, d);
}

/* ---- the status of claims ---- */

static void forbid_field(struct api_errors *errors, const char *path, struct str detail)
{
    vec_push(&errors->list, (struct api_error){.type = API_ERROR_FORBIDDEN,
                                               .path = str_from(path),
                                               .bad = STR_NONE,
                                               .detail = detail,
                                               .pos = UINT32_MAX});
}

static bool is_nothing(const struct doc *d)
{
    return !d || d->type == DOC_NULL ||
           ((d->type == DOC_LIST || d->type == DOC_MAP) && d->n == 0);
}

static bool same_member(const struct doc *x, const struct doc *y, const char *key)
{
    const struct doc *a = doc_get(x, key), *b = doc_get(y, key);
    return is_nothing(a) ? is_nothing(b) : b && doc_equal(a, b);
}

static void check_bound_part(struct request *r, const struct doc *now,
                             const struct doc *was, struct api_errors *errors)
{
    struct str why;
    if (same_member(now, was, "allocation") && same_member(now, was, "reservedFor"))
        return;
    struct attributes want = authorize_attributes(r);
    want.subresource = STR("binding");
    want.namespace = want.name = STR("");
    if (authorize(r->s, r->user, &want, r->a, &why))
        return;
    forbid_field(errors, "status.allocation",
                 arena_printf(r->a,
                              "changing status.allocation or status.reservedFor requires "
                              "resource=\"resourceclaims/binding\", verb=\"%.*s\" "
                              "permission: %.*s",
                              STR_ARG(want.verb),
                              STR_ARG(forbidden_text(r->user, &want, why, r->a))));
}

/* The node that an allocation is for; STR_NONE: not for one alone. */
static struct str allocated_node(const struct doc *status)
{
    const struct doc *terms =
        doc_path(status, "allocation.nodeSelector.nodeSelectorTerms");
    if (is_nothing(terms) || terms->n != 1)
        return STR_NONE;
    const struct doc *fields = doc_get(&terms->items[0], "matchFields");
    if (!is_nothing(doc_get(&terms->items[0], "matchExpressions")) ||
        is_nothing(fields) || fields->n != 1)
        return STR_NONE;
    const struct doc *f = &fields->items[0], *values = doc_get(f, "values");
    if (!doc_is_string(doc_get(f, "key"), "metadata.name") ||
        !doc_is_string(doc_get(f, "operator"), "In") || is_nothing(values) ||
        values->n != 1)
        return STR_NONE;
    return doc_str(&values->items[0]);
}

/* Is this the account of a pod on the node that the claim is allocated for? */
static bool is_on_node(const struct user *u, const struct doc *status)
{
    struct str namespace, name, node = allocated_node(status);
    return node.n && user_split_account(u->name, &namespace, &name) &&
           str_eq(user_extra_find(u, "authentication.kubernetes.io/node-name"), node);
}

static bool same_device(const struct doc *x, const struct doc *y)
{
    static const char *const KEYS[] = {"driver", "pool", "device", "shareID"};
    for (size_t i = 0; i < sizeof KEYS / sizeof *KEYS; i++)
        if (!str_eq(doc_get_text(x, KEYS[i]), doc_get_text(y, KEYS[i])))
            return false;
    return true;
}

static bool has_device(const struct doc *list, const struct doc *device)
{
    for (uint32_t i = 0; !is_nothing(list) && i < list->n; i++)
        if (same_device(&list->items[i], device))
            return doc_equal(&list->items[i], device);
    return false;
}

typedef VEC(struct str) drivers;

static void add_changed(drivers *d, const struct doc *list, const struct doc *other)
{
    for (uint32_t i = 0; !is_nothing(list) && i < list->n; i++) {
        struct str driver = doc_get_text(&list->items[i], "driver");
        bool known = has_device(other, &list->items[i]);
        for (size_t k = 0; k < d->n && !known; k++)
            known = str_eq(d->v[k], driver);
        if (!known)
            vec_push(d, driver);
    }
}

static int compare(const void *a, const void *b)
{
    return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

static void check_driver(struct request *r, struct str driver, bool near,
                         struct api_errors *errors)
{
    struct attributes want = authorize_attributes(r);
    struct str verb = want.verb, why, first = STR_NONE;
    struct str any = arena_printf(r->a, "arbitrary-node:%.*s", STR_ARG(verb));
    struct str own = arena_printf(r->a, "associated-node:%.*s", STR_ARG(verb));
    want.subresource = STR("driver");
    want.name = driver;
    for (int i = near ? 0 : 1; i < 2; i++) {
        want.verb = i == 0 ? own : any;
        if (authorize(r->s, r->user, &want, r->a, &why))
            return;
        if (!first.p)
            first = forbidden_text(r->user, &want, why, r->a);
    }
    forbid_field(errors, "status.devices",
                 arena_printf(r->a,
                              "changing status.devices requires resource=\""
                              "resourceclaims/driver\", verb=\"[%s%s%.*s]\" permission: "
                              "%.*s",
                              near ? own.p : "", near ? " " : "", STR_ARG(any),
                              STR_ARG(first)));
}

void escalation_check_claim(struct request *r, const struct doc *d,
                            const struct doc *live, struct api_errors *errors)
{
    const struct doc *now = doc_get(d, "status"), *was = doc_get(live, "status");
    const struct api_gates *g = &r->s->gates;
    if (r->user->admin || strcmp(r->res->main->resource, "resourceclaims") != 0 ||
        !api_gate(g, API_GATE_DRAResourceClaimGranularStatusAuthorization))
        return;
    check_bound_part(r, now, was, errors);
    if (is_nothing(doc_get(now, "allocation")))
        return;
    drivers changed = {0};
    const struct doc *devices = doc_get(now, "devices"), *old = doc_get(was, "devices");
    add_changed(&changed, devices, old);
    add_changed(&changed, old, devices);
    if (changed.n)
        qsort(changed.v, changed.n, sizeof *changed.v, compare);
    for (size_t i = 0; i < changed.n; i++)
        check_driver(r, changed.v[i], is_on_node(r->user, now), errors);
    vec_release(&changed);
}
