/* SPDX-License-Identifier: Apache-2.0 */
/* Where pods may go: node selectors (spec 2.1 "Node selector"), affinity, tolerations,
 * spreading. */
#include "api/rules_pod.h"

static bool is_one(struct str s, const char *a, const char *b)
{
    return str_is(s, a) || str_is(s, b);
}

/* numbers: Gt and Lt are operators too. */
static void check_operator(struct api_at *at, bool numbers)
{
    const struct doc *op = api_member(at->value, "operator");
    const struct doc *values = api_member(at->value, "values");
    struct str text = api_text(op);
    if (is_one(text, "In", "NotIn")) {
        if (api_empty(values))
            api_report_at(at, ".values", values, API_ERROR_REQUIRED,
                          "must be specified when `operator` is 'In' or 'NotIn'");
    } else if (is_one(text, "Exists", "DoesNotExist")) {
        if (!api_empty(values))
            api_report_at(at, ".values", values, API_ERROR_FORBIDDEN,
                          "may not be specified when `operator` is 'Exists' or "
                          "'DoesNotExist'");
    } else if (numbers && is_one(text, "Gt", "Lt")) {
        if (!values || values->n != 1)
            api_report_at(
                at, ".values", values, API_ERROR_REQUIRED,
                "must be specified single value when `operator` is 'Lt' or 'Gt'");
    } else {
        api_report_at(at, ".operator", op, API_ERROR_INVALID,
                      "not a valid selector operator");
    }
}

/* Values of what is only preferred are not looked at. */
static bool check_expression(struct api_at *at, const char *arg)
{
    const struct doc *values = api_member(at->value, "values");
    const struct doc *key = api_member(at->value, "key");
    check_operator(at, true);
    rules_name_at(at, ".key", key, NAME_LABEL_KEY);
    bool loose = strcmp(at->w->role, "preferred") == 0;
    for (uint32_t i = 0; values && i < values->n && !loose; i++)
        rules_name_at(at, arena_printf(at->w->a, ".values[%u]", i).p, &values->items[i],
                      NAME_LABEL_VALUE);
    return true;
}

static bool check_field(struct api_at *at, const char *arg)
{
    const struct doc *op = api_member(at->value, "operator");
    const struct doc *values = api_member(at->value, "values");
    const struct doc *key = api_member(at->value, "key");
    if (!is_one(api_text(op), "In", "NotIn"))
        api_report_at(at, ".operator", op, API_ERROR_INVALID,
                      "not a valid selector operator");
    else if (!values || values->n != 1)
        api_report_at(
            at, ".values", values, API_ERROR_REQUIRED,
            "must be only one value when `operator` is 'In' or 'NotIn' for node "
            "field selector");
    if (!doc_is_string(key, "metadata.name")) {
        api_report_at(at, ".key", key, API_ERROR_INVALID,
                      "not a valid field selector key");
        return true;
    }
    for (uint32_t i = 0; values && i < values->n; i++)
        rules_name_at(at, arena_printf(at->w->a, ".values[%u]", i).p, &values->items[i],
                      NAME_DNS1123_SUBDOMAIN);
    return true;
}

API_RULE(node_expressions)
{
    api_each(at, check_expression, arg);
    return false;
}

API_RULE(node_fields)
{
    api_each(at, check_field, arg);
    return false;
}

/* ---- label selectors ---- */

API_RULE(label_requirement)
{
    const struct doc *values = api_member(at->value, "values");
    check_operator(at, false);
    rules_name_at(at, ".key", api_member(at->value, "key"), NAME_LABEL_KEY);
    for (uint32_t i = 0; values && i < values->n; i++)
        rules_name_at(at, arena_printf(at->w->a, ".values[%u]", i).p, &values->items[i],
                      NAME_LABEL_VALUE);
    return true;
}

/* ---- pods near other pods ---- */

/* Reported under a name of its own. */
API_RULE(affinity_namespaces)
{
    const struct doc *list = api_member(at->value, "namespaces");
    for (uint32_t i = 0; list && i < list->n; i++)
        rules_name_at(at, ".namespace", &list->items[i], NAME_DNS1123_LABEL);
    return true;
}

/* Also says what a name that is not there cannot be. */
API_RULE(topology_key)
{
    if (api_empty(at->value))
        api_fail(at, API_ERROR_REQUIRED, "can not be empty");
    rules_name(at, NAME_LABEL_KEY);
    return true;
}

static void check_label_keys(struct api_at *at, const char *key)
{
    const struct doc *keys = api_member(at->value, key);
    struct arena *a = at->w->a;
    if (api_empty(keys))
        return;
    if (!api_member(at->value, "labelSelector")) {
        api_report_at(at, arena_printf(a, ".%s", key).p, keys, API_ERROR_FORBIDDEN,
                      "must not be specified when labelSelector is not set");
        return;
    }
    for (uint32_t i = 0; i < keys->n; i++)
        rules_name_at(at, arena_printf(a, ".%s[%u]", key, i).p, &keys->items[i],
                      NAME_LABEL_KEY);
}

static uint32_t place_of(const struct doc *list, struct str s)
{
    uint32_t found = UINT32_MAX;
    for (uint32_t i = 0; list && i < list->n; i++)
        if (str_eq(api_text(&list->items[i]), s))
            found = i;
    return found;
}

static bool selector_names(const struct doc *selector, struct str key, uint32_t before)
{
    const struct doc *expressions = api_member(selector, "matchExpressions");
    if (doc_get_str(api_member(selector, "matchLabels"), key))
        return true;
    for (uint32_t i = 0; expressions && i < expressions->n && i < before; i++)
        if (str_eq(doc_get_text(&expressions->items[i], "key"), key))
            return true;
    return false;
}

/* A key that the server adds to the selector must not be in it already. */
API_RULE(match_label_keys)
{
    const struct doc *match = api_member(at->value, "matchLabelKeys");
    const struct doc *mismatch = api_member(at->value, "mismatchLabelKeys");
    const struct doc *selector = api_member(at->value, "labelSelector");
    const struct doc *expressions = api_member(selector, "matchExpressions");
    check_label_keys(at, "matchLabelKeys");
    check_label_keys(at, "mismatchLabelKeys");
    for (uint32_t i = 0; expressions && i < expressions->n; i++) {
        const struct doc *key = api_member(&expressions->items[i], "key");
        uint32_t place = place_of(match, api_text(key));
        if (place != UINT32_MAX && selector_names(selector, api_text(key), i))
            api_report_at(at, rules_index(at, place), key, API_ERROR_INVALID,
                          "exists in both matchLabelKeys and labelSelector");
    }
    for (uint32_t i = 0; match && i < match->n; i++)
        if (place_of(mismatch, api_text(&match->items[i])) != UINT32_MAX)
            api_report_at(at, arena_printf(at->w->a, ".matchLabelKeys[%u]", i).p,
                          &match->items[i], API_ERROR_INVALID,
                          "exists in both matchLabelKeys and mismatchLabelKeys");
    return true;
}

/* ---- spreading ---- */

API_RULE(min_domains)
{
    const struct doc *action = api_member(at->parent, "whenUnsatisfiable");
    if (!doc_is_string(action, "DoNotSchedule"))
        api_report(at, API_ERROR_INVALID,
                   "can only use minDomains if whenUnsatisfiable=DoNotSchedule, not %.*s",
                   STR_ARG(api_text(action)));
    return true;
}

/* The pair of key and action is what a constraint is known by. */
API_RULE(spread_pairs)
{
    for (uint32_t i = 0; at->value && i < at->value->n; i++)
        for (uint32_t k = i + 1; k < at->value->n; k++) {
            const struct doc *c = &at->value->items[i], *d = &at->value->items[k];
            struct str key = doc_get_text(c, "topologyKey");
            struct str action = doc_get_text(c, "whenUnsatisfiable");
            if (!str_eq(key, doc_get_text(d, "topologyKey")) ||
                !str_eq(action, doc_get_text(d, "whenUnsatisfiable")))
                continue;
            struct str pair =
                arena_printf(at->w->a, "{%.*s, %.*s}", STR_ARG(key), STR_ARG(action));
            api_report_shown(
                at, arena_printf(at->w->a, "[%u].{topologyKey, whenUnsatisfiable}", i).p,
                api_shown_text(at->w->a, pair), API_ERROR_DUPLICATE, "%s", "");
            break;
        }
    return true;
}

/* ---- tolerations and taints of nodes ---- */

static void check_toleration_value(struct api_at *at, const struct doc *op)
{
    const struct doc *value = api_member(at->value, "value");
    struct str text = api_text(op);
    struct strbuf b = STRBUF_INIT;
    if (text.n == 0 || str_is(text, "Equal")) {
        struct str problems[NAME_MAX_PROBLEMS];
        unsigned n = name_check(NAME_LABEL_VALUE, api_text(value), at->w->a, problems);
        for (unsigned i = 0; i < n; i++)
            strbuf_addf(&b, "%s%.*s", i ? ";" : "", STR_ARG(problems[i]));
        if (n)
            api_report_at(at, ".operator", value, API_ERROR_INVALID, "%s",
                          strbuf_cstr(&b));
    } else if (str_is(text, "Exists")) {
        if (!api_empty(value))
            api_report_at(at, ".operator", value, API_ERROR_INVALID,
                          "value must be empty when `operator` is 'Exists'");
    } else {
        bool compares = str_is(text, "Lt") || str_is(text, "Gt");
        rules_not_supported(at, ".operator", op,
                            compares ? "Equal|Exists|Lt|Gt" : "Equal|Exists");
    }
    strbuf_release(&b);
}

API_RULE(pod_toleration)
{
    const struct doc *effect = api_member(at->value, "effect");
    const struct doc *op = api_member(at->value, "operator");
    if (api_empty(api_member(at->value, "key")) && !doc_is_string(op, "Exists"))
        api_report_at(at, ".operator", op, API_ERROR_INVALID,
                      "operator must be Exists when `key` is empty, which means \"match "
                      "all values and all keys\"");
    if (api_member(at->value, "tolerationSeconds") && !doc_is_string(effect, "NoExecute"))
        api_report_at(at, ".effect", effect, API_ERROR_INVALID,
                      "effect must be 'NoExecute' when `tolerationSeconds` is set");
    check_toleration_value(at, op);
    return true;
}
