/* SPDX-License-Identifier: Apache-2.0 */
/* Rules of DeviceClass, ResourceClaim and ResourceClaimTemplate (spec 2.2 - 2.4). */
#include "api/rules.h"
#include "api/rules_util.h"

/* ---- context ---- */

API_RULE(claim_context)
{
    const struct doc *spec = api_member(at->value, "spec");
    const struct doc *devices = api_member(spec ? spec : at->value, "devices");
    if (devices) {
        at->w->devices_spec = devices;
        at->w->derived_cost = 0;
    }
    return true;
}

API_RULE(request_context)
{
    at->w->request = at->value;
    at->w->alternative = NULL;
    return true;
}

API_RULE(alternative_context)
{
    at->w->alternative = at->value;
    return true;
}

/* ---- requests ---- */

API_RULE(one_request_form)
{
    bool exactly = api_member(at->value, "exactly") != NULL;
    bool first = !api_empty(api_member(at->value, "firstAvailable"));
    if (exactly && first)
        return api_report_shown(at, "", STR("null"), API_ERROR_INVALID,
                                "exactly one of `exactly` or `firstAvailable` is "
                                "required, but multiple fields are set");
    if (!exactly && !first)
        return api_report(at, API_ERROR_REQUIRED,
                          "exactly one of `exactly` or `firstAvailable` is required");
    return true;
}

API_RULE(allocation_mode)
{
    const struct doc *mode = api_member(at->value, "allocationMode");
    const struct doc *count = api_member(at->value, "count");
    struct str text = api_text(mode);
    int64_t n = 0;
    if (count)
        doc_int64(count, &n);
    if (str_is(text, "ExactCount")) {
        if (n <= 0)
            api_report_at(at, ".count", count, API_ERROR_INVALID,
                          "must be greater than zero");
    } else if (str_is(text, "All")) {
        if (n != 0)
            api_report_at(at, ".count", count, API_ERROR_INVALID,
                          "must not be specified when allocationMode is 'All'");
    } else if (text.n == 0) {
        rules_not_supported(at, ".allocationMode", mode, "All|ExactCount");
    }
    return true;
}

/* Only for creation, only the first such request, at a path without "exactly" (spec 2.3),
 * which templates share (spec 2.4). */
API_RULE(admin_requests)
{
    const struct doc *requests = api_member(at->value, "requests");
    if (at->w->opts->op != API_CREATE || at->w->opts->admin_namespace)
        return true;
    for (uint32_t i = 0; requests && i < requests->n; i++) {
        const struct doc *access =
            api_member(api_member(&requests->items[i], "exactly"), "adminAccess");
        if (!access || !access->b)
            continue;
        api_report_path(
            at->w, arena_printf(at->w->a, "spec.devices.requests[%u].adminAccess", i),
            access, API_ERROR_FORBIDDEN,
            "admin access to devices requires the "
            "`resource.kubernetes.io/admin-access: true` label on the "
            "containing namespace");
        return true;
    }
    return true;
}

API_RULE(admin_result)
{
    const struct doc *old =
        api_member(api_member(at->w->opts->old, "status"), "allocation");
    if (!at->value->b || at->w->opts->admin_namespace || old)
        return true;
    return api_report(
        at, API_ERROR_FORBIDDEN,
        "admin access to devices requires the "
        "`resource.kubernetes.io/admin-access: true` label on the containing "
        "namespace");
}

/* ---- CEL ---- */

static struct device_env *new_expressions(struct api_walk *w)
{
    const struct device_env_opts opts = {
        .kind = DEVICE_ENV_NEW,
        .consumable_capacity = api_gate(w->opts->gates, API_GATE_DRAConsumableCapacity),
        .list_attributes = api_gate(w->opts->gates, API_GATE_DRAListTypeAttributes),
    };
    if (!w->env)
        w->env = device_env_new(&opts, &w->names);
    return w->env;
}

static void report_cel(struct api_at *at, const struct device_expr_error *error)
{
    struct api_walk *w = at->w;
    bool internal = error->fault == DEVICE_FAULT_INTERNAL;
    api_report(at, internal ? API_ERROR_INTERNAL : API_ERROR_INVALID, "%.*s",
               STR_ARG(error->text));
    struct cel_issues *issues = ARENA_NEW(w->a, struct cel_issues);
    *issues = error->issues;
    w->errors->list.v[w->errors->list.n - 1].issues = issues;
}

/* Compiles an expression; false when it is too long or does not compile. */
static bool check_expression(struct api_at *at, enum device_expr_mode mode,
                             uint64_t *cost)
{
    struct str text = api_text(at->value);
    struct device_expr_error error;
    if (text.n > DEVICE_EXPR_MAX)
        return api_report(at, API_ERROR_TOO_LONG, "may not be more than %d bytes",
                          DEVICE_EXPR_MAX);
    struct device_expr *x =
        device_expr_new(new_expressions(at->w), text, mode, at->w->a, &error);
    if (!x) {
        report_cel(at, &error);
        return false;
    }
    *cost = device_expr_estimate(x).max;
    device_expr_free(x);
    if (*cost > DEVICE_COST_LIMIT)
        api_report(at, API_ERROR_FORBIDDEN, "too complex, exceeds cost limit");
    return true;
}

API_RULE(selector_expression)
{
    uint64_t cost = 0;
    return at->w->stored || check_expression(at, DEVICE_SELECTOR, &cost);
}

API_RULE(derived_expression)
{
    uint64_t cost = 0;
    if (!api_empty(at->value) && check_expression(at, DEVICE_DERIVED, &cost))
        at->w->derived_cost += cost; /* wraps as upstream's sum does (spec 4.9) */
    return true;
}

API_RULE(derived_cost)
{
    if (at->w->derived_cost > DEVICE_COST_LIMIT)
        api_report(
            at, API_ERROR_FORBIDDEN,
            "too complex, total cost of derived attribute CEL expressions in the claim "
            "exceeds cost limit");
    return true;
}

static bool lists(const struct doc *list, struct str s)
{
    for (uint32_t i = 0; list && i < list->n; i++)
        if (str_eq(api_text(&list->items[i]), s))
            return true;
    return false;
}

/* Does the constraint look at this attribute of the request (or of its alternative)? */
static bool constraint_uses(struct api_walk *w, const struct doc *constraint,
                            struct str name)
{
    const struct doc *attribute = api_member(constraint, "matchAttribute");
    if (!attribute)
        attribute = api_member(constraint, "distinctAttribute");
    const struct doc *requests = api_member(constraint, "requests");
    if (!str_eq(api_text(attribute), name))
        return false;
    struct str request = doc_get_text(w->request, "name");
    if (api_empty(requests) || lists(requests, request))
        return true;
    if (!w->alternative)
        return false;
    return lists(requests, arena_printf(w->a, "%.*s/%.*s", STR_ARG(request),
                                        STR_ARG(doc_get_text(w->alternative, "name"))));
}

/* Nobody can tell of a claim with more constraints than are allowed, which has its own
 * error. */
API_RULE(used_by_constraint)
{
    enum { CONSTRAINTS_MAX = 32 };
    const struct doc *constraints = api_member(at->w->devices_spec, "constraints");
    if (api_empty(at->value) || (constraints && constraints->n > CONSTRAINTS_MAX))
        return true;
    for (uint32_t i = 0; constraints && i < constraints->n; i++)
        if (constraint_uses(at->w, &constraints->items[i], api_text(at->value)))
            return true;
    return api_report(
        at, API_ERROR_INVALID,
        "must be referenced by at least one matchAttribute or distinctAttribute "
        "constraint targeting this request");
}

/* ---- tolerations ---- */

API_RULE(toleration)
{
    const struct doc *op = api_member(at->value, "operator");
    const struct doc *value = api_member(at->value, "value");
    if (str_is(api_text(op), "Exists") && !api_empty(value))
        api_report_at(at, ".value", value, API_ERROR_INVALID,
                      "must be empty for operator `Exists`");
    if (str_is(api_text(op), "Equal"))
        rules_name_at(at, ".value", value, NAME_LABEL_VALUE);
    return true;
}

/* ---- constraints and references to requests ---- */

API_RULE(one_constraint)
{
    if (api_member(at->value, "matchAttribute") ||
        api_member(at->value, "distinctAttribute"))
        return true;
    if (api_gate(at->w->opts->gates, API_GATE_DRAConsumableCapacity))
        api_report(
            at, API_ERROR_REQUIRED,
            "exactly one of \"matchAttribute\" or \"distinctAttribute\" is required, but "
            "multiple fields are set");
    else
        api_report_at(at, ".matchAttribute", NULL, API_ERROR_REQUIRED, "%s", "");
    return true;
}

static const struct doc *named(const struct doc *list, struct str name)
{
    for (uint32_t i = 0; list && i < list->n; i++)
        if (str_eq(doc_get_text(&list->items[i], "name"), name))
            return &list->items[i];
    return NULL;
}

static bool request_exists(struct api_walk *w, struct str request, struct str alternative)
{
    const struct doc *r = named(api_member(w->devices_spec, "requests"), request);
    return r && (!alternative.p || named(api_member(r, "firstAvailable"), alternative));
}

static void check_part(struct api_at *at, struct str part)
{
    struct str problems[NAME_MAX_PROBLEMS];
    unsigned n = name_check(NAME_DNS1123_LABEL, part, at->w->a, problems);
    for (unsigned i = 0; i < n; i++)
        api_report_shown(at, "", api_shown_text(at->w->a, part), API_ERROR_INVALID,
                         "%.*s", STR_ARG(problems[i]));
}

API_RULE(request_ref)
{
    static const char text[] =
        "must be the name of a request in the claim or the name of a "
        "request and a subrequest separated by '/'";
    struct str name = api_text(at->value), alternative = STR_NONE;
    size_t slash = str_find_byte(name, '/', 0);
    struct str request = str_sub(name, 0, slash);
    if (slash != SIZE_MAX) {
        alternative = str_sub(name, slash + 1, SIZE_MAX);
        if (str_find_byte(alternative, '/', 0) != SIZE_MAX)
            return api_report(at, API_ERROR_INVALID, "%s", text);
    }
    check_part(at, request);
    if (slash != SIZE_MAX)
        check_part(at, alternative);
    if (!request_exists(at->w, request, alternative))
        api_report(at, API_ERROR_INVALID, "%s", text);
    return true;
}

API_RULE(request_refs)
{
    api_each(at, rule_request_ref, arg);
    return true;
}

/* ---- status ---- */

static bool is_new_entry(const struct doc *old, const struct doc *entry)
{
    for (uint32_t i = 0; old && i < old->n; i++)
        if (doc_equal(&old->items[i], entry))
            return false;
    return true;
}

API_RULE(reservations)
{
    if (api_empty(at->value))
        return true;
    if (!api_member(at->parent, "allocation"))
        api_report(at, API_ERROR_FORBIDDEN,
                   "may not be specified when `allocated` is not set");
    else if (api_member(api_member(at->w->object, "metadata"), "deletionTimestamp")) {
        for (uint32_t i = 0; i < at->value->n; i++)
            if (is_new_entry(at->old, &at->value->items[i])) {
                api_report(
                    at, API_ERROR_FORBIDDEN,
                    "new entries may not be added while `deallocationRequested` or "
                    "`deletionTimestamp` are set");
                break;
            }
    }
    return true;
}

static bool same_text(const struct doc *a, const struct doc *b, const char *key)
{
    return str_eq(doc_get_text(a, key), doc_get_text(b, key));
}

API_RULE(allocated_device)
{
    const struct doc *results =
        doc_path(at->w->object, "status.allocation.devices.results");
    for (uint32_t i = 0; results && results->type == DOC_LIST && i < results->n; i++) {
        const struct doc *r = &results->items[i];
        if (same_text(r, at->value, "driver") && same_text(r, at->value, "pool") &&
            same_text(r, at->value, "device") && same_text(r, at->value, "shareID"))
            return true;
    }
    api_report(at, API_ERROR_INVALID, "must be an allocated device in the claim");
    return true;
}

/* ---- shared with slices ---- */

static void check_binding_list(struct api_at *at, const struct doc *list, const char *key,
                               const struct doc *other)
{
    enum { BINDING_MAX = 4 };
    for (uint32_t i = 0; list && i < list->n; i++) {
        const struct doc *item = &list->items[i];
        const char *path = arena_printf(at->w->a, ".%s[%u]", key, i).p;
        if (list->n <= BINDING_MAX)
            rules_name_at(at, path, item, NAME_LABEL_KEY);
        struct doc before = *list;
        before.n = i;
        if (lists(&before, api_text(item)))
            api_report_at(at, path, item, API_ERROR_DUPLICATE, "%s", "");
        if (lists(other, api_text(item)))
            api_report_at(
                at, path, item, API_ERROR_INVALID,
                "bindingFailureConditions must not overlap with bindingConditions");
    }
}

API_RULE(binding_parameters)
{
    const struct doc *conditions = api_member(at->value, "bindingConditions");
    const struct doc *failures = api_member(at->value, "bindingFailureConditions");
    check_binding_list(at, conditions, "bindingConditions", NULL);
    check_binding_list(at, failures, "bindingFailureConditions", conditions);
    if (api_empty(conditions) && !api_empty(failures))
        api_report_at(at, ".bindingConditions", conditions, API_ERROR_INVALID,
                      "bindingConditions are required to use bindingFailureConditions");
    if (!api_empty(conditions) && api_empty(failures))
        api_report_at(at, ".bindingFailureConditions", failures, API_ERROR_INVALID,
                      "bindingFailureConditions are required to use bindingConditions");
    return true;
}

API_RULE(skip_operations)
{
    static const char choices[] = "*|NodePrepareResources|NodeUnprepareResources";
    const struct doc *list = at->value;
    bool same = list && at->old && doc_equal(list, at->old);
    for (uint32_t i = 0; list && !same && i < list->n; i++) {
        struct str op = api_text(&list->items[i]);
        if (!str_is(op, "*") && !str_is(op, "NodePrepareResources") &&
            !str_is(op, "NodeUnprepareResources"))
            rules_not_supported(at, rules_index(at, i), &list->items[i], choices);
    }
    if (!same)
        rule_unique(at, "");
    if (!at->w->declared_only && lists(list, STR("NodePrepareResources")) &&
        !lists(list, STR("NodeUnprepareResources")) && !lists(list, STR("*")))
        api_report(
            at, API_ERROR_INVALID,
            "NodePrepareResources cannot be skipped unless NodeUnprepareResources is "
            "also skipped");
    return true;
}
