/* SPDX-License-Identifier: Apache-2.0 */
/* Rules of webhooks and of what they and policies match. */
#include "api/rules_util.h"

/* ---- operations and resources ---- */

static bool has_text(const struct doc *list, const char *text)
{
    for (uint32_t i = 0; list && i < list->n; i++)
        if (str_is(api_text(&list->items[i]), text))
            return true;
    return false;
}

/* A star goes with nothing else. */
API_RULE(alone)
{
    if (at->value->n > 1 && has_text(at->value, "*"))
        api_report(at, API_ERROR_INVALID, "if '*' is present, must not specify other %s",
                   arg);
    return true;
}

API_RULE(each_not_empty)
{
    for (uint32_t i = 0; i < at->value->n; i++)
        if (!api_text(&at->value->items[i]).n)
            api_report_at(at, rules_index(at, i), &at->value->items[i],
                          API_ERROR_REQUIRED, "%s", "");
    return true;
}

static bool is_among(struct str s, const char *const *all)
{
    while (*all && !str_is(s, *all))
        all++;
    return *all != NULL;
}

API_RULE(rule_operations)
{
    static const char *const ALL[] = {"*", "CONNECT", "CREATE", "DELETE", "UPDATE", NULL};
    rule_alone(at, "operations");
    for (uint32_t i = 0; i < at->value->n; i++)
        if (!is_among(api_text(&at->value->items[i]), ALL))
            rules_not_supported(at, rules_index(at, i), &at->value->items[i],
                                "*|CONNECT|CREATE|DELETE|UPDATE");
    return true;
}

struct resource_parts {
    struct str name, sub;
    bool slash;
};

static struct resource_parts split(const struct doc *d)
{
    struct str s = api_text(d);
    size_t slash = str_find_byte(s, '/', 0);
    return (struct resource_parts){
        str_sub(s, 0, slash),
        slash == SIZE_MAX ? STR("") : str_sub(s, slash + 1, SIZE_MAX), slash != SIZE_MAX};
}

/* "x/y" behind "x/ *", or behind "* /y" (without the spaces). */
static void check_covered(struct api_at *at, uint32_t i)
{
    const struct doc *d = &at->value->items[i];
    struct resource_parts p = split(d);
    bool by_name = false, by_sub = false;
    for (uint32_t k = 0; k < i; k++) {
        struct resource_parts q = split(&at->value->items[k]);
        by_name = by_name || (q.slash && str_is(q.sub, "*") && str_eq(q.name, p.name));
        by_sub = by_sub || (q.slash && str_is(q.name, "*") && str_eq(q.sub, p.sub));
    }
    if (by_name)
        api_report_at(at, rules_index(at, i), d, API_ERROR_INVALID,
                      "if '%.*s/*' is present, must not specify %.*s", STR_ARG(p.name),
                      STR_ARG(api_text(d)));
    if (by_sub)
        api_report_at(at, rules_index(at, i), d, API_ERROR_INVALID,
                      "if '*/%.*s' is present, must not specify %.*s", STR_ARG(p.sub),
                      STR_ARG(api_text(d)));
}

API_RULE(rule_resources)
{
    bool plain = false;
    for (uint32_t i = 0; i < at->value->n; i++) {
        const struct doc *d = &at->value->items[i];
        struct resource_parts p = split(d);
        if (!api_text(d).n) {
            api_report_at(at, rules_index(at, i), d, API_ERROR_REQUIRED, "%s", "");
        } else if (p.slash) {
            check_covered(at, i);
        } else {
            plain = !str_is(p.name, "*");
        }
    }
    if (at->value->n > 1 && has_text(at->value, "*/*"))
        api_report(at, API_ERROR_INVALID,
                   "if '*/*' is present, must not specify other resources");
    if (plain && has_text(at->value, "*"))
        api_report(at, API_ERROR_INVALID,
                   "if '*' is present, must not specify other resources without "
                   "subresources");
    return true;
}

API_RULE(rule_names)
{
    for (uint32_t i = 0; at->value && i < at->value->n; i++) {
        const struct doc *d = &at->value->items[i];
        rules_segment(at, rules_index(at, i), api_text(d), false);
        for (uint32_t k = 0; k < i; k++)
            if (doc_equal(d, &at->value->items[k])) {
                api_report_at(at, rules_index(at, i), d, API_ERROR_DUPLICATE, "%s", "");
                break;
            }
    }
    return true;
}

API_RULE(some_rules)
{
    const struct doc *match = api_member(at->value, "matchConstraints");
    const struct doc *rules = api_member(match, "resourceRules");
    if (match && api_empty(rules))
        api_report_at(at, ".matchConstraints.resourceRules", rules, API_ERROR_REQUIRED,
                      "%s", "");
    return true;
}

/* What is deleted cannot be changed. */
API_RULE(mutating_operations)
{
    static const char *const ALL[] = {"*", "CONNECT", "CREATE", "UPDATE", NULL};
    const struct doc *rules = api_member(api_member(at->value, arg), "resourceRules");
    const char *suffix = arena_printf(at->w->a, ".%s.resourceRules.operations", arg).p;
    for (uint32_t i = 0; rules && i < rules->n; i++) {
        const struct doc *list = api_member(&rules->items[i], "operations");
        for (uint32_t k = 0; list && k < list->n; k++)
            if (!is_among(api_text(&list->items[k]), ALL))
                rules_not_supported(at, suffix, &list->items[k],
                                    "*|CONNECT|CREATE|UPDATE");
    }
    return true;
}

/* ---- webhooks ---- */

API_RULE(webhook_name)
{
    struct str name = api_text(at->value);
    uint32_t dots = 0;
    if (!name.n)
        return api_report(at, API_ERROR_REQUIRED, "%s", "");
    for (size_t i = 0; i < name.n; i++)
        dots += name.p[i] == '.';
    if (rules_name(at, NAME_DNS1123_SUBDOMAIN) && dots < 2)
        api_report(at, API_ERROR_INVALID,
                   "should be a domain with at least three segments separated by dots");
    return true;
}

/* All webhooks that are stored have one of these; then new ones must too. */
static bool stored_have(struct api_at *at, const char *key, const char *const *all)
{
    const struct doc *old = at->w->opts->op == API_CREATE ? NULL : at->w->opts->old;
    const struct doc *hooks = api_member(old, "webhooks");
    for (uint32_t i = 0; hooks && i < hooks->n; i++)
        if (!is_among(doc_get_text(&hooks->items[i], key), all))
            return false;
    return true;
}

API_RULE(side_effects)
{
    static const char *const NONE[] = {"None", "NoneOnDryRun", NULL};
    bool strict = stored_have(at, "sideEffects", NONE);
    if (!at->value)
        return api_report(at, API_ERROR_REQUIRED, "must specify one of %s",
                          strict ? "None, NoneOnDryRun"
                                 : "None, NoneOnDryRun, Some, Unknown");
    return rule_one_of(at,
                       strict ? "None|NoneOnDryRun" : "None|NoneOnDryRun|Some|Unknown");
}

API_RULE(webhook_timeout)
{
    int64_t seconds;
    if (doc_int64(at->value, &seconds) && (seconds < 1 || seconds > 30))
        api_report(at, API_ERROR_INVALID,
                   "the timeout value must be between 1 and 30 seconds");
    return true;
}

API_RULE(webhook_client)
{
    bool url = api_member(at->value, "url"), service = api_member(at->value, "service");
    return url != service ||
           api_fail(at, API_ERROR_REQUIRED, "exactly one of url or service is required");
}

static void bad_url(struct api_at *at, struct str shown, const char *text, bool form)
{
    api_report_shown(at, "", api_shown_text(at->w->a, shown), API_ERROR_INVALID, "%s%s",
                     text, form ? "; desired format: https://host[/path]" : "");
}

API_RULE(webhook_url)
{
    struct str url = api_text(at->value);
    size_t colon = str_find(url, STR("://"));
    struct str scheme = colon == SIZE_MAX ? STR("") : str_sub(url, 0, colon);
    struct str rest = colon == SIZE_MAX ? url : str_sub(url, colon + 3, SIZE_MAX);
    size_t hash = str_find_byte(rest, '#', 0);
    struct str main = str_sub(rest, 0, hash);
    size_t mark = str_find_byte(main, '?', 0);
    struct str place = str_sub(main, 0, mark);
    struct str host = str_sub(place, 0, str_find_byte(place, '/', 0));
    size_t user = str_rfind_byte(host, '@');
    if (!str_is(scheme, "https"))
        bad_url(at, scheme, "'https' is the only allowed URL scheme", true);
    if (!str_sub(host, user == SIZE_MAX ? 0 : user + 1, SIZE_MAX).n || !scheme.n)
        bad_url(at, STR(""), "host must be specified", true);
    if (user != SIZE_MAX)
        bad_url(at, str_sub(host, 0, user),
                "user information is not permitted in the URL", false);
    if (hash != SIZE_MAX && hash + 1 < rest.n)
        bad_url(at, str_sub(rest, hash + 1, SIZE_MAX),
                "fragments are not permitted in the URL", false);
    if (mark != SIZE_MAX && mark + 1 < main.n)
        bad_url(at, str_sub(main, mark + 1, SIZE_MAX),
                "query parameters are not permitted in the URL", false);
    return true;
}

static void check_step(struct api_at *at, struct str path, struct str step, unsigned i)
{
    struct str problems[NAME_MAX_PROBLEMS];
    struct str shown = api_shown_text(at->w->a, path);
    if (!step.n) {
        api_report_shown(at, ".path", shown, API_ERROR_INVALID,
                         "segment[%u] may not be empty", i);
        return;
    }
    unsigned n = rules_problems(at->w, NAME_DNS1123_SUBDOMAIN, step, problems);
    for (unsigned k = 0; k < n; k++)
        api_report_shown(at, ".path", shown, API_ERROR_INVALID, "segment[%u]: %.*s", i,
                         STR_ARG(problems[k]));
}

static void check_path(struct api_at *at, struct str path)
{
    struct str shown = api_shown_text(at->w->a, path);
    if (str_is(path, "/") || !path.n)
        return;
    if (str_is(path, "//")) {
        api_report_shown(at, ".path", shown, API_ERROR_INVALID,
                         "segment[0] may not be empty");
        return;
    }
    if (path.p[0] != '/')
        api_report_shown(at, ".path", shown, API_ERROR_INVALID, "must start with a '/'");
    struct str rest = str_sub(path, 1, SIZE_MAX);
    if (rest.n && rest.p[rest.n - 1] == '/')
        rest = str_sub(rest, 0, rest.n - 1);
    for (unsigned i = 0;; i++) {
        size_t slash = str_find_byte(rest, '/', 0);
        check_step(at, path, str_sub(rest, 0, slash), i);
        if (slash == SIZE_MAX)
            return;
        rest = str_sub(rest, slash + 1, SIZE_MAX);
    }
}

API_RULE(webhook_service)
{
    const struct doc *name = api_member(at->value, "name"),
                     *namespace = api_member(at->value, "namespace"),
                     *port = api_member(at->value, "port"),
                     *path = api_member(at->value, "path");
    int64_t number = 443;
    if (api_empty(name))
        api_report_at(at, ".name", name, API_ERROR_REQUIRED, "%s", "");
    if (api_empty(namespace))
        api_report_at(at, ".namespace", namespace, API_ERROR_REQUIRED, "%s", "");
    if (port && doc_int64(port, &number) && (number < 1 || number > 65535))
        api_report_at(at, ".port", port, API_ERROR_INVALID,
                      "port is not valid: must be between 1 and 65535, inclusive");
    if (path)
        check_path(at, api_text(path));
    return true;
}

static bool stored_reviews_known(struct api_at *at)
{
    const struct doc *old = at->w->opts->op == API_CREATE ? NULL : at->w->opts->old;
    const struct doc *hooks = api_member(old, "webhooks");
    for (uint32_t i = 0; hooks && i < hooks->n; i++) {
        const struct doc *list = api_member(&hooks->items[i], "admissionReviewVersions");
        if (!api_empty(list) && !has_text(list, "v1") && !has_text(list, "v1beta1"))
            return false;
    }
    return true;
}

static bool seen_before(const struct doc *list, uint32_t i)
{
    for (uint32_t k = 0; k < i; k++)
        if (doc_equal(&list->items[i], &list->items[k]))
            return true;
    return false;
}

API_RULE(review_versions)
{
    const struct doc *list = at->value;
    if (api_empty(list))
        return api_report(at, API_ERROR_REQUIRED, "must specify one of v1, v1beta1");
    for (uint32_t i = 0; i < list->n; i++) {
        if (seen_before(list, i))
            api_report_at(at, rules_index(at, i), &list->items[i], API_ERROR_INVALID,
                          "duplicate version");
        else
            rules_name_at(at, rules_index(at, i), &list->items[i], NAME_DNS1035_LABEL);
    }
    if (!has_text(list, "v1") && !has_text(list, "v1beta1") && stored_reviews_known(at))
        api_report(at, API_ERROR_INVALID, "must include at least one of v1, v1beta1");
    return true;
}

static bool names_repeat(const struct doc *hooks, const struct doc *until)
{
    for (uint32_t i = 0; hooks && i < hooks->n && &hooks->items[i] != until; i++)
        for (uint32_t k = 0; k < i; k++)
            if (str_eq(doc_get_text(&hooks->items[i], "name"),
                       doc_get_text(&hooks->items[k], "name")))
                return true;
    return false;
}

API_RULE(webhook_twice)
{
    const struct doc *hooks = api_member(at->w->object, "webhooks");
    const struct doc *old = at->w->opts->op == API_CREATE ? NULL : at->w->opts->old;
    const struct doc *name = api_member(at->value, "name");
    if (api_empty(name) || names_repeat(api_member(old, "webhooks"), NULL))
        return true;
    for (uint32_t i = 0; hooks && i < hooks->n && &hooks->items[i] != at->value; i++)
        if (str_eq(doc_get_text(&hooks->items[i], "name"), api_text(name)))
            return api_report_at(at, ".name", name, API_ERROR_DUPLICATE, "%s", "");
    return true;
}
