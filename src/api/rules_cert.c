/* SPDX-License-Identifier: Apache-2.0 */
/* Requests for certificates, and bundles of them. */
#include "api/rules_text.h"
#include "base/map.h"

static uint32_t count(const struct doc *list)
{
    return list && list->type == DOC_LIST ? list->n : 0;
}

static const struct doc *stored(const struct api_walk *w)
{
    return w->opts->op == API_CREATE ? NULL : w->opts->old;
}

static bool is_part(const struct api_at *at, const char *part)
{
    return at->w->opts->part && strcmp(at->w->opts->part, part) == 0;
}

/* ---- what is asked for ---- */

static const char USAGES[] =
    "any|cert sign|client auth|code signing|content commitment|crl sign|data "
    "encipherment|decipher only|digital signature|email protection|encipher only|ipsec "
    "end system|ipsec tunnel|ipsec user|key agreement|key encipherment|microsoft "
    "sgc|netscape sgc|ocsp signing|s/mime|server auth|signing|timestamping";

static bool has_unknown(const struct doc *usages)
{
    for (uint32_t i = 0; i < count(usages); i++)
        if (!rules_among(api_text(&usages->items[i]), USAGES))
            return true;
    return false;
}

static bool repeats(const struct doc *list, uint32_t i)
{
    for (uint32_t k = 0; k < i; k++)
        if (doc_equal(&list->items[k], &list->items[i]))
            return true;
    return false;
}

static bool has_repeats(const struct doc *list)
{
    for (uint32_t i = 0; i < count(list); i++)
        if (repeats(list, i))
            return true;
    return false;
}

/* Faults that a stored request has may stay. */
API_RULE(known_usages)
{
    const struct doc *old = doc_path(stored(at->w), "spec.usages");
    bool unknown = !has_unknown(old), twice = !has_repeats(old);
    for (uint32_t i = 0; i < count(at->value); i++)
        if (unknown && !rules_among(api_text(&at->value->items[i]), USAGES))
            rules_not_supported(at, rules_index(at, i), &at->value->items[i], USAGES);
    for (uint32_t i = 0; i < count(at->value); i++)
        if (twice && repeats(at->value, i))
            api_report_at(at, rules_index(at, i), &at->value->items[i],
                          API_ERROR_DUPLICATE, "%s", "");
    return true;
}

API_RULE(request_signer)
{
    static const char LEGACY[] = "kubernetes.io/legacy-unknown";
    const struct doc *old = doc_path(stored(at->w), "spec.signerName");
    if (!doc_is_string(at->value, LEGACY) || doc_is_string(old, LEGACY))
        return rule_signer_name(at, arg);
    return api_fail(at, API_ERROR_INVALID,
                    "the legacy signerName is not allowed via this API version");
}

API_RULE(request_lifetime)
{
    enum { LEAST = 600 };
    if (rules_int(at->value, 0) < LEAST)
        api_fail(at, API_ERROR_INVALID,
                 "may not specify a duration less than 600 seconds (10 minutes)");
    return true;
}

/* ---- what became of it ---- */

static unsigned count_type(const struct doc *list, const char *type)
{
    unsigned n = 0;
    for (uint32_t i = 0; i < count(list); i++)
        n += doc_is_string(doc_get(&list->items[i], "type"), type);
    return n;
}

static bool has_type_twice(const struct doc *list)
{
    for (uint32_t i = 0; i < count(list); i++)
        if (count_type(list, api_text(doc_get(&list->items[i], "type")).p) > 1)
            return true;
    return false;
}

static void check_condition(struct api_at *at, const struct doc *list, uint32_t i,
                            bool may_lack_type)
{
    static const char VERDICTS[] = "Approved|Denied|Failed";
    const struct doc *type = api_member(&list->items[i], "type"),
                     *status = api_member(&list->items[i], "status");
    const char *path = arena_printf(at->w->a, ".conditions[%u].status", i).p;
    const char *choices =
        rules_among(api_text(type), VERDICTS) ? "True" : "False|True|Unknown";
    if (api_empty(type) && !may_lack_type)
        api_report_at(at, arena_printf(at->w->a, ".conditions[%u].type", i).p, type,
                      API_ERROR_REQUIRED, "%s", "");
    if (api_empty(status))
        api_report_at(at, path, status, API_ERROR_REQUIRED, "%s", "");
    else if (!rules_among(api_text(status), choices))
        rules_not_supported(at, path, status, choices);
}

static void check_types(struct api_at *at, const struct doc *list)
{
    struct strmap seen = STRMAP_INIT;
    for (uint32_t i = 0; i < count(list); i++) {
        const struct doc *type = api_member(&list->items[i], "type");
        bool made;
        strmap_put(&seen, api_text(type), &made);
        if (!made)
            api_report_at(at, arena_printf(at->w->a, ".conditions[%u].type", i).p, type,
                          API_ERROR_DUPLICATE, "%s", "");
    }
    strmap_release(&seen);
}

static void refuse(struct api_at *at, const char *what, const char *type)
{
    api_report_at(at, ".conditions", NULL, API_ERROR_FORBIDDEN,
                  "updates may not %s a condition of type \"%s\"", what, type);
}

/* Verdicts stay, and only who approves may add one. */
static void check_verdicts(struct api_at *at, const struct doc *list,
                           const struct doc *old)
{
    static const char *const TYPES[] = {"Approved", "Denied", "Failed"};
    for (size_t i = 0; i < 3; i++) {
        unsigned n = count_type(list, TYPES[i]), before = count_type(old, TYPES[i]);
        if (n < before)
            refuse(at, "remove", TYPES[i]);
        if (n > before && i < 2 && !is_part(at, "approval"))
            refuse(at, "add", TYPES[i]);
    }
}

/* As upstream's declarative stage words it. */
static void report_both(struct api_at *at)
{
    static const char ONE[] = "conditions[{\"type\": \"Approved\"}]",
                      OTHER[] = "conditions[{\"type\": \"Denied\"}]";
    struct str both = arena_printf(at->w->a, "{%s, %s}", ONE, OTHER);
    api_report_shown(at, ".conditions", api_shown_text(at->w->a, both), API_ERROR_INVALID,
                     "must specify at most one of: `%s`, `%s`", ONE, OTHER);
}

API_RULE(request_conditions)
{
    const struct doc *list = api_member(at->value, "conditions"),
                     *old = doc_path(stored(at->w), "status.conditions");
    bool lacks = false;
    for (uint32_t i = 0; i < count(old); i++)
        lacks = lacks || !doc_get_text(&old->items[i], "type").n;
    for (uint32_t i = 0; i < count(list); i++)
        check_condition(at, list, i, lacks);
    if (count_type(list, "Approved") && count_type(list, "Denied") &&
        !(count_type(old, "Approved") && count_type(old, "Denied")))
        report_both(at);
    if (!has_type_twice(old))
        check_types(at, list);
    if (at->w->opts->op != API_CREATE)
        check_verdicts(at, list, old);
    return true;
}

API_RULE(request_certificate)
{
    struct str now = doc_get_text(at->value, "certificate"),
               was = doc_get_text(doc_get(stored(at->w), "status"), "certificate");
    if (at->w->opts->op == API_CREATE || str_eq(now, was))
        return true;
    if (!is_part(at, "status"))
        api_report_at(at, ".certificate", NULL, API_ERROR_FORBIDDEN,
                      "updates may not set certificate content");
    else if (was.n)
        api_report_at(at, ".certificate", NULL, API_ERROR_FORBIDDEN,
                      "updates may not modify existing certificate content");
    return true;
}

/* ---- bundles ---- */

static void refuse_name(struct api_at *at, const struct doc *name, const char *text)
{
    api_report_at(at, ".metadata.name", name, API_ERROR_INVALID, "%s", text);
}

/* "example.com:signer:NAME" of who attests it, or a name of nobody's. */
API_RULE(bundle_name)
{
    struct arena *a = at->w->a;
    struct str signer = doc_get_text(doc_get(at->value, "spec"), "signerName"), prefix;
    const struct doc *name = doc_path(at->value, "metadata.name");
    struct str rest = api_text(name), problems[NAME_MAX_PROBLEMS];
    prefix = signer.n ? arena_printf(a, "%.*s:", STR_ARG(signer)) : STR("");
    for (size_t i = 0; i < prefix.n; i++)
        if (prefix.p[i] == '/')
            ((char *)prefix.p)[i] = ':';
    if (!signer.n && str_find_byte(rest, ':', 0) != SIZE_MAX) {
        refuse_name(at, name,
                    "ClusterTrustBundle without signer name must not have \":\" in its "
                    "name");
        return true;
    }
    if (!str_starts(rest, prefix)) {
        refuse_name(at, name,
                    arena_printf(a,
                                 "ClusterTrustBundle for signerName %.*s must be named "
                                 "with prefix %.*s",
                                 STR_ARG(signer), STR_ARG(prefix))
                        .p);
        return true;
    }
    unsigned n = name_check(NAME_DNS1123_SUBDOMAIN, str_sub(rest, prefix.n, SIZE_MAX), a,
                            problems);
    for (unsigned i = 0; i < n; i++)
        refuse_name(at, name, problems[i].p);
    return true;
}
