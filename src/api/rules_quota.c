/* SPDX-License-Identifier: Apache-2.0 */
/* Scopes of quotas: which pods and claims they count. */
#include "api/rules_pod.h"

static const struct {
    const char *name;
    bool exists; /* selectors may only ask whether it is there */
    const char *counts;
} SCOPES[] = {
    {"Terminating", true,
     "pods cpu memory limits.cpu limits.memory requests.cpu "
     "requests.memory"},
    {"NotTerminating", true,
     "pods cpu memory limits.cpu limits.memory requests.cpu "
     "requests.memory"},
    {"BestEffort", true, "pods"},
    {"NotBestEffort", true,
     "pods cpu memory limits.cpu limits.memory requests.cpu "
     "requests.memory"},
    {"PriorityClass", false,
     "pods cpu memory limits.cpu limits.memory requests.cpu "
     "requests.memory"},
    {"CrossNamespacePodAffinity", true,
     "pods cpu memory limits.cpu limits.memory "
     "requests.cpu requests.memory"},
    {"VolumeAttributesClass", false, "persistentvolumeclaims requests.storage"},
};

enum { NSCOPES = sizeof SCOPES / sizeof *SCOPES };

/* NSCOPES: none of them. */
static unsigned find_scope(struct str name)
{
    unsigned i = 0;
    while (i < NSCOPES && !str_is(name, SCOPES[i].name))
        i++;
    return i;
}

static bool has_word(const char *words, struct str word)
{
    struct str all = str_from(words);
    size_t at = str_find(all, word);
    while (at != SIZE_MAX) {
        size_t end = at + word.n;
        if ((at == 0 || all.p[at - 1] == ' ') && (end == all.n || all.p[end] == ' '))
            return true;
        size_t next = str_find(str_sub(all, at + 1, SIZE_MAX), word);
        at = next == SIZE_MAX ? next : at + 1 + next;
    }
    return false;
}

/* shown: what upstream shows of it. */
static void check_scope(struct api_at *at, const char *suffix, const struct doc *shown,
                        unsigned scope, const struct doc *hard)
{
    for (uint32_t i = 0; scope < NSCOPES && hard && i < hard->n; i++) {
        struct str name = doc_key(&hard->members[i]);
        if (rules_quota_resource(name) && !has_word(SCOPES[scope].counts, name))
            api_report_at(at, suffix, shown, API_ERROR_INVALID,
                          "unsupported scope applied to resource");
    }
}

static void check_conflicts(struct api_at *at, const char *suffix,
                            const struct doc *shown, unsigned seen)
{
    enum { TERMINATING = 1 | 2, BEST_EFFORT = 4 | 8 };
    if ((seen & TERMINATING) == TERMINATING || (seen & BEST_EFFORT) == BEST_EFFORT)
        api_report_at(at, suffix, shown, API_ERROR_INVALID, "conflicting scopes");
}

static unsigned scopes_of(const struct doc *list)
{
    unsigned seen = 0;
    for (uint32_t i = 0; list && i < list->n; i++)
        seen |= 1U << find_scope(doc_str(&list->items[i]));
    return seen;
}

API_RULE(quota_scopes)
{
    const struct doc *hard = api_member(at->parent, "hard");
    unsigned seen = scopes_of(at->value);
    if (at->old_parent && seen != scopes_of(at->old))
        api_fail(at, API_ERROR_INVALID, "field is immutable");
    if (seen & 1U << NSCOPES)
        api_fail(at, API_ERROR_INVALID, "unsupported scope");
    for (unsigned i = 0; i < NSCOPES; i++)
        if (seen & 1U << i)
            check_scope(at, "", at->value, i, hard);
    check_conflicts(at, "", at->value, seen);
    return true;
}

static void check_operator(struct api_at *at, const struct doc *term, unsigned scope)
{
    const struct doc *op = api_member(term, "operator");
    const struct doc *values = api_member(term, "values");
    bool listed = doc_is_string(op, "In") || doc_is_string(op, "NotIn");
    bool asked = doc_is_string(op, "Exists") || doc_is_string(op, "DoesNotExist");
    if (scope < NSCOPES && SCOPES[scope].exists && !doc_is_string(op, "Exists"))
        api_report_at(at, ".matchExpressions.operator", op, API_ERROR_INVALID,
                      "must be 'Exists' when scope is any of "
                      "ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, "
                      "ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or "
                      "ResourceQuotaScopeCrossNamespacePodAffinity");
    if (listed && api_empty(values))
        api_report_at(at, ".matchExpressions.values", values, API_ERROR_REQUIRED,
                      "must be at least one value when `operator` is 'In' or 'NotIn' for "
                      "scope selector");
    else if (asked && !api_empty(values))
        api_report_at(at, ".matchExpressions.values", values, API_ERROR_INVALID,
                      "must be no value when `operator` is 'Exist' or 'DoesNotExist' for "
                      "scope selector");
    else if (!listed && !asked)
        api_report_at(at, ".matchExpressions.operator", op, API_ERROR_INVALID,
                      "not a valid selector operator");
}

API_RULE(scope_selector)
{
    const struct doc *terms = api_member(at->value, "matchExpressions");
    const struct doc *hard = api_member(at->parent, "hard");
    unsigned seen = 0;
    for (uint32_t i = 0; terms && i < terms->n; i++) {
        const struct doc *name = api_member(&terms->items[i], "scopeName");
        unsigned scope = find_scope(api_text(name));
        seen |= 1U << scope;
        if (scope == NSCOPES)
            api_report_at(at, ".matchExpressions.scopeName", name, API_ERROR_INVALID,
                          "unsupported scope");
        check_scope(at, ".matchExpressions", at->value, scope, hard);
        check_operator(at, &terms->items[i], scope);
    }
    check_conflicts(at, ".matchExpressions", api_member(at->parent, "scopes"), seen);
    return true;
}
