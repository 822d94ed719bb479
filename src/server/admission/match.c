/* SPDX-License-Identifier: Apache-2.0 */
#include "server/admission/match.h"

#include "server/admission/admit.h"

/* ---- reading ---- */

static struct match_rule read_rule(const struct doc *d, struct arena *a)
{
    return (struct match_rule){.operations = names_read(doc_get(d, "operations"), a),
                               .groups = names_read(doc_get(d, "apiGroups"), a),
                               .versions = names_read(doc_get(d, "apiVersions"), a),
                               .resources = names_read(doc_get(d, "resources"), a),
                               .objects = names_read(doc_get(d, "resourceNames"), a),
                               .scope = doc_get_text(d, "scope")};
}

static struct match_rules read_rules(const struct doc *list, struct arena *a)
{
    uint32_t n = list && list->type == DOC_LIST ? list->n : 0;
    struct match_rule *v = ARENA_ARRAY(a, struct match_rule, n);
    for (uint32_t i = 0; i < n; i++)
        v[i] = read_rule(&list->items[i], a);
    return (struct match_rules){v, n};
}

static bool read_selector(const struct doc *d, struct arena *a, struct selector *out)
{
    *out = (struct selector){0};
    return !d || d->type == DOC_NULL || selector_of_doc(d, a, out);
}

void match_read(const struct doc *d, const char *rules, const char *excluded,
                struct arena *a, struct match *out)
{
    *out = (struct match){.rules = read_rules(doc_get(d, rules), a)};
    if (excluded[0])
        out->excluded = read_rules(doc_get(d, excluded), a);
    out->all = out->rules.n == 0;
    out->equivalent = str_is(doc_get_text(d, "matchPolicy"), "Equivalent");
    out->valid = read_selector(doc_get(d, "namespaceSelector"), a, &out->namespaces);
    out->valid &= read_selector(doc_get(d, "objectSelector"), a, &out->objects);
}

/* ---- rules ---- */

const char *match_operation(const struct admission *a)
{
    switch (a->verb) {
    case ADMIT_CREATE:
        return "CREATE";
    case ADMIT_UPDATE:
        return "UPDATE";
    case ADMIT_DELETE:
        return "DELETE";
    default:
        return "CONNECT";
    }
}

static bool has(const struct names *names, const char *want)
{
    for (uint32_t i = 0; i < names->n; i++)
        if (str_is(names->v[i], "*") || str_is(names->v[i], want))
            return true;
    return false;
}

struct str match_namespace(const struct admission *a)
{
    struct request *r = a->r;
    if (admit_of(a, "", "namespaces"))
        return r->route.name.n ? r->route.name
               : a->object     ? meta_text(a->object, "name")
                               : STR("");
    return r->route.namespace.p ? r->route.namespace : STR("");
}

static bool scope_fits(const struct match_rule *rule, const struct admission *a)
{
    bool cluster = !a->r->res->main->namespaced;
    if (str_is(rule->scope, "Namespaced"))
        return !cluster;
    return !str_is(rule->scope, "Cluster") || cluster;
}

/* "pods", "pods/status", "pods/", "*", a star on either side of the slash. */
static bool names_resource(const struct match_rule *rule, const struct resource *res)
{
    for (uint32_t i = 0; i < rule->resources.n; i++) {
        struct str want = rule->resources.v[i];
        size_t slash = str_find_byte(want, '/', 0);
        struct str name = str_sub(want, 0, slash);
        struct str sub = slash == SIZE_MAX ? STR("") : str_sub(want, slash + 1, SIZE_MAX);
        if ((str_is(name, "*") || str_is(name, res->main->resource)) &&
            (str_is(sub, "*") || str_is(sub, res->sub ? res->sub : "")))
            return true;
    }
    return false;
}

static bool names_version(const struct match_rule *rule, const struct resource *res)
{
    return has(&rule->groups, res->main->group) &&
           has(&rule->versions, res->main->version);
}

struct str match_name(const struct admission *a)
{
    struct str name = a->r->route.name;
    if (!name.n && a->object)
        name = meta_text(a->object, "name");
    return name.n && !a->swept ? name : STR("");
}

static bool names_object(const struct match_rule *rule, const struct admission *a)
{
    return rule->objects.n == 0 || names_have(&rule->objects, match_name(a));
}

/* The same resource in another version, or under another group: of the same name. */
static bool is_equivalent(const struct resource *x, const struct resource *y)
{
    return x != y && x->hub == y->hub && (x->sub == NULL) == (y->sub == NULL) &&
           (!x->sub || strcmp(x->sub, y->sub) == 0);
}

static const struct resource *find_equivalent(const struct match_rule *rule,
                                              const struct admission *a)
{
    const struct resource *res;
    for (uint32_t i = 0; (res = kinds_listed(a->r->s, i)); i++) {
        if (is_equivalent(res, a->r->res) && names_version(rule, res))
            return res;
    }
    return NULL;
}

static bool applies(const struct match_rule *rule, const struct admission *a)
{
    return has(&rule->operations, match_operation(a)) && scope_fits(rule, a) &&
           names_object(rule, a);
}

/* NULL: none of them is about the request. */
static const struct resource *rules_find(const struct match_rules *rules, bool equivalent,
                                         const struct admission *a)
{
    const struct resource *res = a->r->res;
    for (uint32_t i = 0; i < rules->n; i++)
        if (names_resource(&rules->v[i], res) && names_version(&rules->v[i], res) &&
            applies(&rules->v[i], a))
            return res;
    for (uint32_t i = 0; equivalent && i < rules->n; i++) {
        bool may = names_resource(&rules->v[i], res) && applies(&rules->v[i], a);
        const struct resource *other = may ? find_equivalent(&rules->v[i], a) : NULL;
        if (other)
            return other;
    }
    return NULL;
}

/* ---- selectors ---- */

bool match_labels(const struct selector *s, const struct doc *object)
{
    const struct doc *labels = doc_path(object, "metadata.labels");
    for (uint32_t i = 0; i < s->n; i++) {
        const struct doc *v = doc_get_str(labels, s->all[i].key);
        struct str value = v && v->type == DOC_STRING ? doc_str(v) : STR_NONE;
        if (!requirement_holds(&s->all[i], value))
            return false;
    }
    return true;
}

static bool object_fits(const struct match *m, const struct admission *a)
{
    return m->objects.n == 0 || (a->object && match_labels(&m->objects, a->object)) ||
           (a->old && match_labels(&m->objects, a->old));
}

/* Of a namespace that is written, its own labels as they will be. */
static enum match_answer namespace_fits(const struct match *m, struct admission *a)
{
    bool itself = admit_of(a, "", "namespaces");
    struct str name = match_namespace(a);
    if (m->namespaces.n == 0 || (name.n == 0 && !itself))
        return MATCH_YES;
    if (itself && !a->r->res->sub && a->object)
        return match_labels(&m->namespaces, a->object) ? MATCH_YES : MATCH_NO;
    const struct resource *res = kinds_stored(a->r->s, "", "namespaces");
    struct cache_object *o =
        cache_get(a->r->s->cache, object_key(res, STR(""), name, a->r->a));
    if (o)
        return selector_matches_labels(&m->namespaces, o) ? MATCH_YES : MATCH_NO;
    admit_missing(a, "namespaces", name);
    return MATCH_FAILED;
}

bool match_is_policy(const struct admission *a)
{
    static const char *const POLICIES[] = {
        "mutatingadmissionpolicies", "mutatingadmissionpolicybindings",
        "validatingadmissionpolicies", "validatingadmissionpolicybindings"};
    for (size_t i = 0; i < sizeof POLICIES / sizeof *POLICIES; i++)
        if (admit_of(a, "admissionregistration.k8s.io", POLICIES[i]))
            return true;
    return false;
}

/* ---- asking ---- */

enum match_answer match_ask(const struct match *m, struct admission *a,
                            const struct resource **as)
{
    const struct resource *found =
        m->all ? a->r->res : rules_find(&m->rules, m->equivalent, a);
    if (!found || rules_find(&m->excluded, m->equivalent, a))
        return MATCH_NO;
    if (!m->valid) {
        fail(a->r, 500, "InternalError", "Internal error occurred: invalid selector");
        return MATCH_FAILED;
    }
    if (!object_fits(m, a))
        return MATCH_NO;
    *as = found;
    return namespace_fits(m, a);
}
