/* SPDX-License-Identifier: Apache-2.0 */
/* Rules of roles and their bindings, of leases, priorities and groups of pods. */
#include "api/rules_pod.h"

/* ---- roles ---- */

#define RBAC "rbac.authorization.k8s.io"

API_RULE(path_segment)
{
    rules_segment(at, "", api_text(at->value), false);
    return true;
}

API_RULE(policy_rule)
{
    static const char *const REGULAR[] = {"apiGroups", "resources", "resourceNames"};
    const struct doc *urls = api_member(at->value, "nonResourceURLs");
    bool regular = false;
    for (int i = 0; i < 3; i++)
        regular = regular || !api_empty(api_member(at->value, REGULAR[i]));
    if (!api_empty(urls)) {
        if (strcmp(at->w->type->name, "Role") == 0)
            api_report_at(at, ".nonResourceURLs", urls, API_ERROR_INVALID,
                          "namespaced rules cannot apply to non-resource URLs");
        if (regular)
            api_report_at(at, ".nonResourceURLs", urls, API_ERROR_INVALID,
                          "rules cannot apply to both regular resources and non-resource "
                          "URLs");
        return true;
    }
    if (api_empty(api_member(at->value, "apiGroups")))
        api_report_at(at, ".apiGroups", NULL, API_ERROR_REQUIRED,
                      "resource rules must supply at least one api group");
    if (api_empty(api_member(at->value, "resources")))
        api_report_at(at, ".resources", NULL, API_ERROR_REQUIRED,
                      "resource rules must supply at least one resource");
    return true;
}

/* The kinds that the binding at hand may name. */
API_RULE(role_kind)
{
    rule_one_of(at, at->w->role);
    return true;
}

static void check_account(struct api_at *at)
{
    const struct doc *name = api_member(at->value, "name");
    const struct doc *group = api_member(at->value, "apiGroup");
    const struct doc *namespace = api_member(at->value, "namespace");
    if (!api_empty(name))
        rules_name_at(at, ".name", name, NAME_DNS1123_SUBDOMAIN);
    if (!api_empty(group))
        rules_not_supported(at, ".apiGroup", group, "");
    if (strcmp(at->w->type->name, "ClusterRoleBinding") == 0 && api_empty(namespace))
        api_report_at(at, ".namespace", namespace, API_ERROR_REQUIRED, "%s", "");
}

API_RULE(subject)
{
    const struct doc *kind = api_member(at->value, "kind");
    const struct doc *group = api_member(at->value, "apiGroup");
    if (doc_is_string(kind, "ServiceAccount"))
        check_account(at);
    else if (!doc_is_string(kind, "User") && !doc_is_string(kind, "Group"))
        rules_not_supported(at, ".kind", kind, "ServiceAccount|User|Group");
    else if (!doc_is_string(group, RBAC))
        rules_not_supported(at, ".apiGroup", group, RBAC);
    return true;
}

/* Of a selector that is none upstream shows nothing. */
API_RULE(selectors_work)
{
    const struct doc *list = api_member(at->value, "clusterRoleSelectors");
    size_t known = at->w->errors->list.n;
    for (uint32_t i = 0; list && i < list->n; i++) {
        const char *suffix = arena_printf(at->w->a, ".clusterRoleSelectors[%u]", i).p;
        struct str here = rules_below(at->w, strbuf_str(&at->w->path), suffix);
        bool bad = false;
        for (size_t k = 0; k < known && !bad; k++)
            bad = str_starts(at->w->errors->list.v[k].path, here);
        if (bad)
            api_report_shown(at, suffix, STR("null"), API_ERROR_INVALID,
                             "invalid label selector.");
    }
    return true;
}

/* ---- leases ---- */

API_RULE(lease_strategy)
{
    if (str_find_byte(api_text(at->value), '/', 0) == SIZE_MAX)
        rule_one_of(at, "OldestEmulationVersion");
    else
        rules_name(at, NAME_LABEL_KEY);
    return true;
}

API_RULE(with_strategy)
{
    if (api_empty(api_member(at->parent, "strategy")))
        api_fail(at, API_ERROR_FORBIDDEN,
                 "may only be specified if `strategy` is defined");
    return true;
}

/* ---- priorities ---- */

enum { USER_PRIORITY_MAX = 1000000000 };

static const struct {
    const char *name;
    int64_t value;
} SYSTEM[] = {{"system-node-critical", 2000001000},
              {"system-cluster-critical", 2000000000}};

static void check_system_class(struct api_at *at, struct str name, int64_t value)
{
    static const char text[] =
        "priority class names with 'system-' prefix are reserved for system use only. "
        "error: ";
    struct str why = arena_printf(at->w->a, "%.*s is not a known system priority class",
                                  STR_ARG(name));
    for (size_t i = 0; i < sizeof SYSTEM / sizeof *SYSTEM; i++) {
        if (!str_is(name, SYSTEM[i].name))
            continue;
        if (value == SYSTEM[i].value && !rules_is_true(at->value, "globalDefault"))
            return;
        why = value != SYSTEM[i].value
                  ? arena_printf(at->w->a, "value of %.*s PriorityClass must be %lld",
                                 STR_ARG(name), (long long)SYSTEM[i].value)
                  : arena_printf(at->w->a,
                                 "globalDefault of %.*s PriorityClass must be false",
                                 STR_ARG(name));
    }
    api_report_at(at, ".metadata.name", NULL, API_ERROR_FORBIDDEN, "%s%.*s", text,
                  STR_ARG(why));
}

API_RULE(priority_value)
{
    const struct doc *number = api_member(at->value, "value");
    struct str name = doc_get_text(api_member(at->value, "metadata"), "name");
    int64_t value = rules_int(number, 0);
    if (at->w->opts->op != API_CREATE) {
        if (value != rules_int(api_member(at->old, "value"), 0))
            api_report_at(at, ".value", number, API_ERROR_FORBIDDEN,
                          "may not be changed in an update.");
        return true;
    }
    if (str_starts(name, STR("system-")))
        check_system_class(at, name, value);
    else if (value > USER_PRIORITY_MAX)
        api_report_at(at, ".value", number, API_ERROR_FORBIDDEN,
                      "maximum allowed value of a user defined priority is %d",
                      USER_PRIORITY_MAX);
    return true;
}

/* ---- groups of pods ---- */

/* arg "a|b": one of them has to be set. */
API_RULE(union_of)
{
    enum { MOST = 4 };
    struct choice choices[MOST];
    struct strbuf names = STRBUF_INIT;
    size_t n = 0;
    struct str left = str_from(arg), shown;
    while (left.n && n < MOST) {
        size_t bar = str_find_byte(left, '|', 0);
        struct str name = arena_str(at->w->a, str_sub(left, 0, bar));
        const struct doc *d = api_member(at->value, name.p);
        choices[n] = (struct choice){name.p, d && !(d->type == DOC_LIST && d->n == 0)};
        strbuf_addf(&names, "%s`%s`", n++ ? ", " : "", name.p);
        left = bar == SIZE_MAX ? STR_NONE : str_sub(left, bar + 1, SIZE_MAX);
    }
    unsigned set = rules_chosen(at->w->a, choices, n, &shown);
    if (set != 1)
        api_report_shown(at, "", shown, API_ERROR_INVALID, "must specify %sone of: %s",
                         set ? "exactly " : "", strbuf_cstr(&names));
    strbuf_release(&names);
    return true;
}

/* What an update may neither set nor clear. */
API_RULE(set_at_creation)
{
    if (at->old_parent && !at->value != !at->old)
        return api_report_shown(at, "", STR("null"), API_ERROR_INVALID, "%s",
                                at->value ? "field cannot be set once created"
                                          : "field cannot be cleared once set");
    return true;
}

API_RULE(claim_of_group)
{
    const struct doc *claims = doc_path(at->w->object, "spec.resourceClaims");
    for (uint32_t i = 0; claims && i < claims->n; i++)
        if (str_eq(doc_get_text(&claims->items[i], "name"), api_text(at->value)))
            return true;
    api_fail(at, API_ERROR_INVALID,
             "must match the name of an entry in `spec.resourceClaims`");
    return true;
}
