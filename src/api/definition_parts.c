/* SPDX-License-Identifier: Apache-2.0 */
#include "api/definition_inner.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_SELECTABLE = 8 };

/* ---- columns and paths ---- */

/* ".spec.replicas" */
static bool check_path(struct definition_check *c, struct str path, struct str value)
{
    if (value.p[0] == '.')
        return true;
    definition_invalid_text(c, path, value,
                            STR("must be a simple json path starting with ."));
    return false;
}

static bool is_among(struct str s, const char *const *list)
{
    for (; *list; list++)
        if (str_is(s, *list))
            return true;
    return false;
}

static void check_column(struct definition_check *c, const struct doc *d, struct str path)
{
    static const char *const TYPES[] = {"boolean", "date",   "integer",
                                        "number",  "string", NULL};
    static const char *const FORMATS[] = {"byte",   "date",     "date-time",
                                          "double", "float",    "int32",
                                          "int64",  "password", NULL};
    static const char ONE_TYPE[] = "must be one of boolean,date,integer,number,string";
    struct str type = definition_text(d, "type"), format = definition_text(d, "format"),
               json = definition_text(d, "jsonPath"),
               json_path = definition_at(c, "%.*s.JSONPath", STR_ARG(path));
    if (!definition_text(d, "name").n)
        definition_required(c, definition_at(c, "%.*s.name", STR_ARG(path)), "");
    if (!type.n)
        definition_required(c, definition_at(c, "%.*s.type", STR_ARG(path)), ONE_TYPE);
    else if (!is_among(type, TYPES))
        definition_invalid_text(c, definition_at(c, "%.*s.type", STR_ARG(path)), type,
                                STR(ONE_TYPE));
    if (format.n && !is_among(format, FORMATS))
        definition_invalid_text(
            c, definition_at(c, "%.*s.format", STR_ARG(path)), format,
            STR("must be one of byte,date,date-time,double,float,int32,int64,"
                "password"));
    if (!json.n)
        definition_required(c, json_path, "");
    else
        check_path(c, json_path, json);
}

static void check_scale_path(struct definition_check *c, struct str path,
                             struct str value, const char *above, const char *more,
                             const char *detail)
{
    if (check_path(c, path, value) && !str_starts(value, str_from(above)) &&
        !(more && str_starts(value, str_from(more))))
        definition_invalid_text(c, path, value, str_from(detail));
}

void definition_check_subresources(struct definition_check *c, const struct doc *version,
                                   struct str path)
{
    const struct doc *scale =
        definition_member(definition_member(version, "subresources"), "scale");
    static const struct {
        const char *key, *above, *more, *detail;
        bool required;
    } PATHS[] = {
        {"specReplicasPath", ".spec.", NULL, "should be a json path under .spec", true},
        {"statusReplicasPath", ".status.", NULL, "should be a json path under .status",
         true},
        {"labelSelectorPath", ".spec.", ".status.",
         "should be a json path under either .spec or .status", false},
    };
    for (size_t i = 0; scale && i < sizeof PATHS / sizeof *PATHS; i++) {
        struct str value = definition_text(scale, PATHS[i].key),
                   where = definition_at(c, "%.*s.scale.%s", STR_ARG(path), PATHS[i].key);
        if (value.n)
            check_scale_path(c, where, value, PATHS[i].above, PATHS[i].more,
                             PATHS[i].detail);
        else if (PATHS[i].required)
            definition_required(c, where, "");
    }
}

static bool may_be_many(struct definition_check *c, const struct doc *version)
{
    const struct doc *old =
        definition_version(c->old_spec, definition_text(version, "name"));
    const struct doc *had = definition_items(old, "selectableFields");
    return had->n > MAX_SELECTABLE &&
           doc_equal(had, definition_items(version, "selectableFields"));
}

static void check_selectable(struct definition_check *c, const struct doc *version,
                             struct str path)
{
    const struct doc *list = definition_items(version, "selectableFields"),
                     *schema = definition_member(definition_member(version, "schema"),
                                                 "openAPIV3Schema");
    struct str *seen = ARENA_ARRAY(c->a, struct str, list->n + 1);
    uint32_t n = 0;
    for (uint32_t i = 0; i < list->n; i++) {
        struct str value = definition_text(&list->items[i], "jsonPath"), clean, why;
        struct str where = definition_at(c, "%.*s[%u].jsonPath", STR_ARG(path), i);
        if (!value.n) {
            definition_required(c, where, "");
            continue;
        }
        if (!structural_selectable(schema, value, c->a, &clean, &why)) {
            definition_invalid_text(c, where, value, why);
            continue;
        }
        uint32_t k = 0;
        while (k < n && !str_eq(seen[k], clean))
            k++;
        if (k < n)
            definition_report(
                c, API_ERROR_DUPLICATE, where,
                definition_shown(c, definition_member(&list->items[i], "jsonPath")),
                STR(""));
        else
            seen[n++] = clean;
    }
    if (n > MAX_SELECTABLE && !may_be_many(c, version))
        definition_report(c, API_ERROR_TOO_MANY, path, definition_at(c, "%u", n),
                          definition_at(c, "must have at most %d items", MAX_SELECTABLE));
}

void definition_check_columns(struct definition_check *c, const struct doc *version,
                              struct str path)
{
    const struct doc *list = definition_items(version, "additionalPrinterColumns");
    for (uint32_t i = 0; i < list->n; i++)
        check_column(c, &list->items[i], definition_at(c, "%.*s[%u]", STR_ARG(path), i));
}

void definition_check_selectable(struct definition_check *c, const struct doc *version,
                                 struct str path, const char *without)
{
    if (definition_items(version, "selectableFields")->n == 0)
        return;
    if (definition_member(definition_member(version, "schema"), "openAPIV3Schema"))
        check_selectable(c, version, path);
    else
        definition_invalid_text(c, path, STR(""), str_from(without));
}

/* ---- conversion ---- */

static bool recognized(const struct doc *list)
{
    for (uint32_t i = 0; i < list->n; i++)
        if (doc_is_string(&list->items[i], "v1") ||
            doc_is_string(&list->items[i], "v1beta1"))
            return true;
    return false;
}

static void check_review_versions(struct definition_check *c, const struct doc *webhook)
{
    const struct doc *list = definition_items(webhook, "conversionReviewVersions");
    const struct doc *had = definition_items(
        definition_member(definition_member(c->old_spec, "conversion"), "webhook"),
        "conversionReviewVersions");
    struct str path = STR("spec.conversion.conversionReviewVersions");
    if (list->n == 0) {
        definition_required(c, path, "");
        return;
    }
    for (uint32_t i = 0; i < list->n; i++) {
        struct str v = doc_str(&list->items[i]),
                   where = definition_at(c, "%.*s[%u]", STR_ARG(path), i);
        uint32_t k = 0;
        while (!doc_equal(&list->items[k], &list->items[i]))
            k++;
        struct str wrong = definition_problems(c, NAME_DNS1035_LABEL, v);
        if (k < i)
            definition_invalid_text(c, where, v, STR("duplicate version"));
        else if (wrong.n)
            definition_invalid_text(c, where, v, wrong);
    }
    bool was_so = had->n && !recognized(had);
    if (!recognized(list) && !was_so)
        definition_invalid(c, path, list,
                           STR("must include at least one of v1, v1beta1"));
}

/* What upstream's library of URLs finds in one, as far as it is refused here. */
static void check_url(struct definition_check *c, struct str url)
{
    static const char FORM[] = "; desired format: https://host[/path]";
    struct str path = STR("spec.conversion.webhookClientConfig.url");
    size_t colon = str_find(url, STR("://")), host = colon == SIZE_MAX ? 0 : colon + 3;
    struct str scheme = colon == SIZE_MAX ? STR("") : str_sub(url, 0, colon);
    struct str rest = str_sub(url, host, SIZE_MAX);
    size_t query = str_find_byte(rest, '?', 0), mark = str_find_byte(rest, '#', 0);
    struct str server = str_sub(rest, 0, str_find_byte(rest, '/', 0));
    size_t user = str_find_byte(server, '@', 0);
    if (!str_is(scheme, "https"))
        definition_invalid_text(
            c, path, scheme,
            definition_at(c, "'https' is the only allowed URL scheme%s", FORM));
    if (colon == SIZE_MAX || server.n == 0)
        definition_invalid_text(c, path, STR(""),
                                definition_at(c, "host must be specified%s", FORM));
    if (user != SIZE_MAX)
        definition_invalid_text(c, path, str_sub(server, 0, user),
                                STR("user information is not permitted in the URL"));
    if (mark != SIZE_MAX)
        definition_invalid_text(c, path, str_sub(rest, mark + 1, SIZE_MAX),
                                STR("fragments are not permitted in the URL"));
    if (query != SIZE_MAX)
        definition_invalid_text(c, path, str_sub(rest, query + 1, mark),
                                STR("query parameters are not permitted in the URL"));
}

static void check_segments(struct definition_check *c, struct str where, struct str path)
{
    struct str rest = str_sub(path, 1, SIZE_MAX);
    if (str_ends(rest, STR("/")))
        rest = str_sub(rest, 0, rest.n - 1);
    for (unsigned i = 0;; i++) {
        size_t end = str_find_byte(rest, '/', 0);
        struct str one = str_sub(rest, 0, end);
        struct str wrong = definition_problems(c, NAME_DNS1123_SUBDOMAIN, one);
        if (one.n == 0)
            definition_invalid_text(c, where, path,
                                    definition_at(c, "segment[%u] may not be empty", i));
        else if (wrong.n)
            definition_invalid_text(
                c, where, path, definition_at(c, "segment[%u]: %.*s", i, STR_ARG(wrong)));
        if (end == SIZE_MAX)
            return;
        rest = str_sub(rest, end + 1, SIZE_MAX);
    }
}

static void check_service(struct definition_check *c, const struct doc *d)
{
    static const char ABOVE[] = "spec.conversion.webhookClientConfig.service";
    static const char *const NAMES[] = {"name", "namespace"};
    struct str path = definition_text(d, "path");
    int64_t port;
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++)
        if (definition_text(d, NAMES[i]).n == 0)
            definition_required(c, definition_at(c, "%s.%s", ABOVE, NAMES[i]), "");
    if (doc_get_int64(d, "port", &port) && (port < 1 || port > 65535))
        definition_invalid(c, definition_at(c, "%s.port", ABOVE),
                           definition_member(d, "port"),
                           STR("port is not valid: must be between 1 and 65535, "
                               "inclusive"));
    struct str where = definition_at(c, "%s.path", ABOVE);
    if (path.n && path.p[0] != '/')
        definition_invalid_text(c, where, path, STR("must start with a '/'"));
    if (path.n && !str_is(path, "/"))
        check_segments(c, where, path);
}

static void check_webhook(struct definition_check *c, const struct doc *webhook)
{
    struct str above = STR("spec.conversion.webhookClientConfig");
    const struct doc *client = definition_member(webhook, "clientConfig");
    const struct doc *url = definition_member(client, "url"),
                     *service = definition_member(client, "service");
    if (!client)
        definition_required(c, above, "required when strategy is set to Webhook");
    else if (!url == !service)
        definition_required(c, above, "exactly one of url or service is required");
    else if (url)
        check_url(c, doc_str(url));
    else
        check_service(c, service);
    check_review_versions(c, webhook);
}

void definition_check_conversion(struct definition_check *c)
{
    const struct doc *d = definition_member(c->spec, "conversion"),
                     *webhook = definition_member(d, "webhook");
    struct str strategy = definition_text(d, "strategy");
    if (!d)
        return;
    if (strategy.n == 0)
        definition_required(c, STR("spec.conversion.strategy"), "");
    else if (!str_is(strategy, "None") && !str_is(strategy, "Webhook"))
        definition_report(c, API_ERROR_NOT_SUPPORTED, STR("spec.conversion.strategy"),
                          definition_shown(c, definition_member(d, "strategy")),
                          STR("supported values: \"None\", \"Webhook\""));
    if (str_is(strategy, "Webhook")) {
        check_webhook(c, webhook);
        return;
    }
    if (definition_member(webhook, "clientConfig"))
        definition_report(c, API_ERROR_FORBIDDEN,
                          STR("spec.conversion.webhookClientConfig"), STR_NONE,
                          STR("should not be set when strategy is not set to Webhook"));
    if (definition_items(webhook, "conversionReviewVersions")->n)
        definition_report(c, API_ERROR_FORBIDDEN,
                          STR("spec.conversion.conversionReviewVersions"), STR_NONE,
                          STR("should not be set when strategy is not set to Webhook"));
}
