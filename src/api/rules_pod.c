/* SPDX-License-Identifier: Apache-2.0 */
/* Rules of pods and of what makes them (spec 2.8). */
#include "api/rules.h"
#include "api/rules_util.h"

API_RULE(pod_context)
{
    at->w->pod_spec = at->value;
    return true;
}

API_RULE(one_claim_source)
{
    bool claim = api_member(at->value, "resourceClaimName") != NULL;
    bool template = api_member(at->value, "resourceClaimTemplateName") != NULL;
    if (claim == template)
        api_report(at, API_ERROR_INVALID,
                   "must specify exactly one of: `resourceClaimName`, "
                   "`resourceClaimTemplateName`");
    return true;
}

API_RULE(label_map)
{
    struct str problems[NAME_MAX_PROBLEMS];
    for (uint32_t i = 0; at->value && i < at->value->n; i++) {
        const struct doc_member *m = &at->value->members[i];
        if (name_check(NAME_LABEL_KEY, doc_key(m), at->w->a, problems))
            rules_bad_key(at, m, API_ERROR_INVALID, problems[0]);
        if (name_check(NAME_LABEL_VALUE, api_text(&m->value), at->w->a, problems))
            api_report_at(at, arena_printf(at->w->a, "[%.*s]", STR_ARG(doc_key(m))).p,
                          &m->value, API_ERROR_INVALID, "%.*s", STR_ARG(problems[0]));
    }
    return true;
}

/* ---- amounts of resources ---- */

static bool is_extended(struct str name)
{
    return str_find_byte(name, '/', 0) != SIZE_MAX &&
           str_find(name, STR("kubernetes.io/")) == SIZE_MAX;
}

API_RULE(amounts)
{
    struct str problems[NAME_MAX_PROBLEMS];
    for (uint32_t i = 0; at->value && i < at->value->n; i++) {
        const struct doc_member *m = &at->value->members[i];
        const char *path = arena_printf(at->w->a, "[%.*s]", STR_ARG(doc_key(m))).p;
        struct quantity q;
        int64_t whole;
        if (name_check(NAME_LABEL_KEY, doc_key(m), at->w->a, problems))
            api_report_at(at, path, &m->value, API_ERROR_INVALID, "%.*s",
                          STR_ARG(problems[0]));
        if (!rules_quantity(at, at->value, m->key, &q))
            continue;
        if (quantity_sign(&q) < 0)
            api_report_at(at, path, &m->value, API_ERROR_INVALID,
                          "must be greater than or equal to 0");
        if (is_extended(doc_key(m)) && !quantity_scaled_exact(&q, 0, &whole))
            api_report_at(at, path, &m->value, API_ERROR_INVALID, "must be an integer");
    }
    return true;
}

/* A request may not be above its limit; an extended resource's must equal it. Errors
 * stand at the maps, as upstream's do. */
API_RULE(within_limits)
{
    const struct doc *limits = api_member(at->parent, "limits");
    struct str here = strbuf_str(&at->w->path);
    for (uint32_t i = 0; at->value && i < at->value->n; i++) {
        const struct doc_member *m = &at->value->members[i];
        struct quantity request, limit;
        bool extended = is_extended(doc_key(m));
        if (!rules_quantity(at, at->value, m->key, &request))
            continue;
        if (!rules_quantity(at, limits, m->key, &limit)) {
            if (extended)
                api_report_path(
                    at->w,
                    arena_printf(at->w->a, "%.*slimits",
                                 STR_ARG(str_sub(here, 0, here.n - strlen("requests")))),
                    NULL, API_ERROR_REQUIRED,
                    "Limit must be set for non overcommitable resources");
            continue;
        }
        int c = quantity_cmp(&request, &limit);
        if (c > 0 || (extended && c != 0))
            api_report_at(at, "", &m->value, API_ERROR_INVALID,
                          "must be %s %.*s limit of %.*s",
                          extended ? "equal to" : "less than or equal to",
                          STR_ARG(doc_key(m)), STR_ARG(quantity_print(&limit, at->w->a)));
    }
    return true;
}

/* ---- claims of containers ---- */

static bool pod_has_claim(struct api_walk *w, struct str name)
{
    const struct doc *claims = api_member(w->pod_spec, "resourceClaims");
    for (uint32_t i = 0; claims && i < claims->n; i++)
        if (str_eq(doc_get_text(&claims->items[i], "name"), name))
            return true;
    return false;
}

/* The same claim and request again, or a whole claim beside one of its requests. */
static bool overlaps(const struct doc *a, const struct doc *b)
{
    struct str x = doc_get_text(a, "request"), y = doc_get_text(b, "request");
    return str_eq(doc_get_text(a, "name"), doc_get_text(b, "name")) &&
           (x.n == 0 || y.n == 0 || str_eq(x, y));
}

static bool repeats(const struct doc *list, uint32_t i)
{
    for (uint32_t k = 0; k < i; k++)
        if (overlaps(&list->items[k], &list->items[i]))
            return true;
    return false;
}

API_RULE(container_claims)
{
    struct str problems[NAME_MAX_PROBLEMS];
    if (!at->w->pod_spec)
        return true; /* a container's status says again what its spec does */
    for (uint32_t i = 0; at->value && i < at->value->n; i++) {
        const struct doc *item = &at->value->items[i],
                         *request = api_member(item, "request");
        const char *path = rules_index(at, i);
        struct str name = doc_get_text(item, "name");
        if (name.n == 0) {
            api_report_at(at, path, item, API_ERROR_REQUIRED, "%s", "");
            continue;
        }
        if (repeats(at->value, i))
            api_report_at(at, path, item, API_ERROR_DUPLICATE, "%s", "");
        if (request &&
            name_check(NAME_DNS1123_LABEL, api_text(request), at->w->a, problems))
            api_report_at(at, arena_printf(at->w->a, "%s.request", path).p, request,
                          API_ERROR_INVALID, "%.*s", STR_ARG(problems[0]));
        if (!pod_has_claim(at->w, name))
            api_report_at(at, path, item, API_ERROR_NOT_FOUND,
                          "spec.resourceClaims of the pod has no entry of this name");
    }
    return true;
}

/* ---- tolerations of node taints ---- */

static void check_toleration_value(struct api_at *at, struct str op,
                                   const struct doc *value)
{
    const struct doc *operator_doc = api_member(at->value, "operator");
    struct str problems[NAME_MAX_PROBLEMS];
    if (op.n == 0 || str_is(op, "Equal")) {
        if (name_check(NAME_LABEL_VALUE, api_text(value), at->w->a, problems))
            api_report_at(at, ".operator", value, API_ERROR_INVALID, "%.*s",
                          STR_ARG(problems[0]));
    } else if (str_is(op, "Exists")) {
        if (!api_empty(value))
            api_report_at(at, ".operator", operator_doc, API_ERROR_INVALID,
                          "value must be empty when `operator` is 'Exists'");
    } else {
        rules_not_supported(at, ".operator", operator_doc, "Equal|Exists");
    }
}

API_RULE(pod_toleration)
{
    const struct doc *effect = api_member(at->value, "effect");
    struct str op = api_text(api_member(at->value, "operator")), text = api_text(effect);
    if (api_empty(api_member(at->value, "key")) && !str_is(op, "Exists"))
        api_report_at(
            at, ".operator", api_member(at->value, "operator"), API_ERROR_INVALID,
            "operator must be Exists when `key` is empty, which means \"match all "
            "values and all keys\"");
    if (api_member(at->value, "tolerationSeconds") && !str_is(text, "NoExecute"))
        api_report_at(at, ".effect", effect, API_ERROR_INVALID,
                      "effect must be 'NoExecute' when `tolerationSeconds` is set");
    check_toleration_value(at, op, api_member(at->value, "value"));
    if (text.n && !str_is(text, "NoSchedule") && !str_is(text, "PreferNoSchedule") &&
        !str_is(text, "NoExecute"))
        rules_not_supported(at, ".effect", effect,
                            "NoSchedule|PreferNoSchedule|NoExecute");
    return true;
}

/* ---- workloads ---- */

static bool expression_matches(const struct doc *e, const struct doc *labels)
{
    struct str op = doc_get_text(e, "operator");
    const struct doc *label = doc_get_str(labels, doc_get_text(e, "key"));
    const struct doc *values = api_member(e, "values");
    bool in = false;
    for (uint32_t i = 0; label && values && i < values->n; i++)
        in = in || str_eq(api_text(&values->items[i]), api_text(label));
    if (str_is(op, "In"))
        return in;
    if (str_is(op, "NotIn"))
        return !in;
    return str_is(op, "Exists") == (label != NULL);
}

/* The pods that a workload makes must be its own. */
API_RULE(selects_template)
{
    const struct doc *labels = doc_path(at->parent, "template.metadata.labels");
    const struct doc *wanted = api_member(at->value, "matchLabels");
    const struct doc *expressions = api_member(at->value, "matchExpressions");
    bool ok = true;
    for (uint32_t i = 0; wanted && i < wanted->n; i++)
        ok = ok && str_eq(api_text(doc_get_str(labels, doc_key(&wanted->members[i]))),
                          api_text(&wanted->members[i].value));
    for (uint32_t i = 0; expressions && i < expressions->n; i++)
        ok = ok && expression_matches(&expressions->items[i], labels);
    if (api_empty(wanted) && api_empty(expressions))
        api_report(at, API_ERROR_INVALID, "empty selector is invalid for a workload");
    else if (!ok)
        api_report_path(at->w, STR("spec.template.metadata.labels"), labels,
                        API_ERROR_INVALID, "`selector` does not match template `labels`");
    return true;
}
