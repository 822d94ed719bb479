/* SPDX-License-Identifier: Apache-2.0 */
/* Classes, drivers and attachments of storage. */
#include "api/rules_text.h"
#include "base/map.h"
#include "num/quantity.h"

enum { PARAMETERS_MAX = 512, PARAMETERS_BYTES = 256 << 10 };

static uint32_t count(const struct doc *list)
{
    return list && list->type == DOC_LIST ? list->n : 0;
}

/* ---- classes ---- */

/* As a label's key, whatever its case. */
API_RULE(driver_path)
{
    struct doc *d = ARENA_NEW(at->w->a, struct doc);
    *d = doc_make_string(at->w->a, rules_lowered(at->w->a, api_text(at->value)));
    if (d->n)
        rules_name_at(at, "", d, NAME_LABEL_KEY);
    return true;
}

static size_t bytes_of(const struct doc *map)
{
    size_t n = 0;
    for (uint32_t i = 0; map && i < map->n; i++)
        n += map->members[i].key_len + api_text(&map->members[i].value).n;
    return n;
}

static bool too_long(struct api_at *at, int most)
{
    return api_report(at, API_ERROR_TOO_LONG, "may not be more than %d bytes", most);
}

API_RULE(driver_parameters)
{
    static const struct doc nothing = {.type = DOC_STRING, .s = ""};
    if (at->value && at->value->n > PARAMETERS_MAX) {
        too_long(at, PARAMETERS_MAX);
        return true;
    }
    for (uint32_t i = 0; at->value && i < at->value->n; i++)
        if (at->value->members[i].key_len == 0)
            api_report_at(at, "", &nothing, API_ERROR_INVALID, "field can not be empty.");
    if (bytes_of(at->value) > PARAMETERS_BYTES)
        too_long(at, PARAMETERS_BYTES);
    return true;
}

API_RULE(some_parameters)
{
    if (api_empty(at->value))
        api_fail(at, API_ERROR_REQUIRED, "must contain at least one key/value pair");
    return true;
}

API_RULE(never_updated)
{
    if (at->old_parent && !api_same(at->w, at->field, at->value, at->old))
        api_fail(at, API_ERROR_FORBIDDEN, arg);
    return true;
}

static void check_values(struct api_at *at, const char *path, const struct doc *values)
{
    if (!count(values))
        api_report_at(at, path, values, API_ERROR_REQUIRED, "%s", "");
    for (uint32_t i = 0; i < count(values); i++)
        for (uint32_t k = 0; k < i; k++)
            if (doc_equal(&values->items[i], &values->items[k])) {
                api_report_at(at, arena_printf(at->w->a, "%s[%u]", path, i).p,
                              &values->items[i], API_ERROR_DUPLICATE, "%s", "");
                break;
            }
}

static void check_term(struct api_at *at, const char *path, const struct doc *terms)
{
    struct strmap seen = STRMAP_INIT;
    for (uint32_t i = 0; i < count(terms); i++) {
        const struct doc *key = api_member(&terms->items[i], "key");
        const char *at_key = arena_printf(at->w->a, "%s[%u].key", path, i).p;
        bool made;
        check_values(at, arena_printf(at->w->a, "%s[%u].values", path, i).p,
                     api_member(&terms->items[i], "values"));
        rules_name_at(at, at_key, key, NAME_LABEL_KEY);
        strmap_put(&seen, api_text(key), &made);
        if (!made)
            api_report_at(at, at_key, key, API_ERROR_DUPLICATE, "%s", "");
    }
    strmap_release(&seen);
}

API_RULE(allowed_topologies)
{
    static const char KEY[] = "matchLabelExpressions";
    for (uint32_t i = 0; i < count(at->value); i++) {
        const struct doc *terms = api_member(&at->value->items[i], KEY);
        const char *path = arena_printf(at->w->a, "[%u].%s", i, KEY).p;
        check_term(at, path, terms);
        if (api_empty(terms)) /* which upstream takes for what is there already */
            api_report_shown(at, path, STR("\"\""), API_ERROR_DUPLICATE, "%s", "");
        for (uint32_t k = 0; k < i; k++) {
            const struct doc *other = api_member(&at->value->items[k], KEY);
            bool same = terms && other ? doc_equal(terms, other)
                                       : api_empty(terms) && api_empty(other);
            if (same)
                api_report_shown(at, path, STR("\"\""), API_ERROR_DUPLICATE, "%s", "");
        }
    }
    return true;
}

/* ---- drivers ---- */

API_RULE(token_requests)
{
    enum { LEAST = 600 };
    struct strmap seen = STRMAP_INIT;
    for (uint32_t i = 0; i < count(at->value); i++) {
        const struct doc *audience = api_member(&at->value->items[i], "audience"),
                         *seconds = api_member(&at->value->items[i], "expirationSeconds");
        const char *path = arena_printf(at->w->a, "[%u].expirationSeconds", i).p;
        bool made;
        strmap_put(&seen, api_text(audience), &made);
        if (!made)
            api_report_at(at, arena_printf(at->w->a, "[%u].audience", i).p, audience,
                          API_ERROR_DUPLICATE, "%s", "");
        else if (seconds && rules_int(seconds, 0) < LEAST)
            api_report_at(at, path, seconds, API_ERROR_INVALID,
                          "may not specify a duration less than 10 minutes");
        else if (seconds && rules_int(seconds, 0) > INT64_C(1) << 32)
            api_report_at(at, path, seconds, API_ERROR_INVALID,
                          "may not specify a duration larger than 2^32 seconds");
    }
    strmap_release(&seen);
    return true;
}

API_RULE(lifecycle_modes)
{
    for (uint32_t i = 0; i < count(at->value); i++)
        if (!rules_among(api_text(&at->value->items[i]), "Persistent|Ephemeral"))
            rules_not_supported(at, "", &at->value->items[i], "Persistent|Ephemeral");
    return true;
}

API_RULE(with_token_requests)
{
    if (!count(api_member(at->parent, "tokenRequests")))
        api_fail(
            at, API_ERROR_INVALID,
            "serviceAccountTokenInSecrets is set but no tokenRequests are specified");
    return true;
}

API_RULE(node_id)
{
    enum { ID_MAX = 256 };
    if (api_text(at->value).n > ID_MAX)
        api_report(at, API_ERROR_INVALID, "must be %d characters or less", ID_MAX);
    return true;
}

static void check_topology_keys(struct api_at *at, uint32_t i)
{
    const struct doc *keys = api_member(&at->value->items[i], "topologyKeys");
    for (uint32_t k = 0; k < count(keys); k++) {
        const struct doc *key = &keys->items[k];
        bool twice = false;
        if (api_empty(key))
            api_report_at(at, rules_index(at, i), key, API_ERROR_REQUIRED, "%s", "");
        for (uint32_t n = 0; n < k; n++)
            twice = twice || doc_equal(key, &keys->items[n]);
        if (twice)
            api_report_at(at, rules_index(at, i), key, API_ERROR_DUPLICATE, "%s", "");
        rules_name_at(at, rules_index(at, i), key, NAME_LABEL_KEY);
    }
}

/* What stays of a driver that stays: all but how much it can take. */
static bool same_driver(const struct doc *a, const struct doc *b)
{
    static const char *const KEYS[] = {"nodeID", "topologyKeys"};
    for (size_t i = 0; i < 2; i++) {
        const struct doc *x = api_member(a, KEYS[i]), *y = api_member(b, KEYS[i]);
        if (api_empty(x) && api_empty(y))
            continue;
        if (!x || !y || !doc_equal(x, y))
            return false;
    }
    return true;
}

static void check_kept(struct api_at *at, const struct doc *driver)
{
    for (uint32_t k = 0; k < count(at->old); k++) {
        const struct doc *old = &at->old->items[k];
        if (str_eq(doc_get_text(driver, "name"), doc_get_text(old, "name")) &&
            !same_driver(driver, old)) {
            struct doc shown = doc_dup(at->w->a, driver);
            doc_remove(&shown, STR("allocatable"));
            api_report_shown(at, "", api_shown(at->w, STR("spec.drivers[0]"), &shown),
                             API_ERROR_INVALID, "field is immutable");
        }
    }
}

API_RULE(node_drivers)
{
    struct strmap seen = STRMAP_INIT;
    for (uint32_t i = 0; i < count(at->value); i++) {
        const struct doc *name = api_member(&at->value->items[i], "name");
        bool made;
        strmap_put(&seen, api_text(name), &made);
        if (!made)
            api_report_at(at, arena_printf(at->w->a, "[%u].name", i).p, name,
                          API_ERROR_DUPLICATE, "%s", "");
        check_topology_keys(at, i);
        check_kept(at, &at->value->items[i]);
    }
    strmap_release(&seen);
    return true;
}

/* ---- attachments ---- */

API_RULE(attachment_source)
{
    static const char ONE[] = "must specify exactly one of inlineVolumeSpec and "
                              "persistentVolumeName";
    const struct doc *inside = api_member(at->value, "inlineVolumeSpec"),
                     *name = api_member(at->value, "persistentVolumeName");
    struct str problems[NAME_MAX_PROBLEMS];
    unsigned n = 0;
    if (!inside && !name)
        api_fail(at, API_ERROR_REQUIRED, ONE);
    else if (inside && name)
        api_fail(at, API_ERROR_FORBIDDEN, ONE);
    else if (name && api_empty(name))
        api_report_at(at, ".persistentVolumeName", name, API_ERROR_REQUIRED,
                      "must specify non empty persistentVolumeName");
    if (name)
        n = name_check(NAME_DNS1123_SUBDOMAIN, api_text(name), at->w->a, problems);
    for (unsigned i = 0; i < n; i++)
        api_report_path(at->w, STR("spec.source.persistentVolumeName"), name,
                        API_ERROR_INVALID, "%.*s", STR_ARG(problems[i]));
    return true;
}

API_RULE(attachment_metadata)
{
    if (bytes_of(at->value) > PARAMETERS_BYTES)
        too_long(at, PARAMETERS_BYTES);
    return true;
}
