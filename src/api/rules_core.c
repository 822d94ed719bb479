/* SPDX-License-Identifier: Apache-2.0 */
/* Node selectors (spec 2.1 "Node selector"). */
#include "api/rules.h"
#include "api/rules_util.h"

static bool is_one(struct str s, const char *a, const char *b)
{
    return str_is(s, a) || str_is(s, b);
}

static bool check_expression(struct api_at *at, const char *arg)
{
    const struct doc *op = api_member(at->value, "operator");
    const struct doc *values = api_member(at->value, "values");
    const struct doc *key = api_member(at->value, "key");
    struct str problems[NAME_MAX_PROBLEMS], text = api_text(op);
    if (is_one(text, "In", "NotIn")) {
        if (api_empty(values))
            api_report_at(at, ".values", values, API_ERROR_REQUIRED,
                          "must be specified when `operator` is 'In' or 'NotIn'");
    } else if (is_one(text, "Exists", "DoesNotExist")) {
        if (!api_empty(values))
            api_report_at(at, ".values", values, API_ERROR_FORBIDDEN,
                          "may not be specified when `operator` is 'Exists' or "
                          "'DoesNotExist'");
    } else if (is_one(text, "Gt", "Lt")) {
        if (!values || values->n != 1)
            api_report_at(
                at, ".values", values, API_ERROR_REQUIRED,
                "must be specified single value when `operator` is 'Lt' or 'Gt'");
    } else {
        api_report_at(at, ".operator", op, API_ERROR_INVALID,
                      "not a valid selector operator");
    }
    unsigned n = name_check(NAME_LABEL_KEY, api_text(key), at->w->a, problems);
    for (unsigned i = 0; i < n; i++)
        api_report_at(at, ".key", key, API_ERROR_INVALID, "%.*s", STR_ARG(problems[i]));
    for (uint32_t i = 0; values && i < values->n; i++)
        if (name_check(NAME_LABEL_VALUE, api_text(&values->items[i]), at->w->a, problems))
            api_report_at(at, arena_printf(at->w->a, ".values[%u]", i).p,
                          &values->items[i], API_ERROR_INVALID, "%.*s",
                          STR_ARG(problems[0]));
    return true;
}

static bool check_field(struct api_at *at, const char *arg)
{
    const struct doc *op = api_member(at->value, "operator");
    const struct doc *values = api_member(at->value, "values");
    const struct doc *key = api_member(at->value, "key");
    struct str problems[NAME_MAX_PROBLEMS];
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
        if (name_check(NAME_DNS1123_SUBDOMAIN, api_text(&values->items[i]), at->w->a,
                       problems))
            api_report_at(at, arena_printf(at->w->a, ".values[%u]", i).p,
                          &values->items[i], API_ERROR_INVALID, "%.*s",
                          STR_ARG(problems[0]));
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
