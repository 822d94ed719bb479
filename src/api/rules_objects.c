/* SPDX-License-Identifier: Apache-2.0 */
/* Rules of nodes, namespaces, events, and of what pods read. */
#include "api/rules_ip.h"
#include "api/rules_pod.h"
#include "api/timestamp.h"
#include "base/base64.h"
#include "base/map.h"
#include "doc/json_syntax.h"

enum { CONTENT_MAX = 1 << 20 };

/* ---- config maps and secrets ---- */

static bool was_immutable(const struct api_at *at)
{
    return at->old_parent && rules_is_true(at->old_parent, "immutable");
}

API_RULE(kept_when_immutable)
{
    bool same = at->value && at->old ? doc_equal(at->value, at->old)
                                     : api_empty(at->value) && api_empty(at->old);
    if (was_immutable(at) && !same)
        api_fail(at, API_ERROR_FORBIDDEN, "field is immutable when `immutable` is set");
    return true;
}

API_RULE(stays_immutable)
{
    if (was_immutable(at) && !rules_is_true(at->parent, "immutable"))
        api_fail(at, API_ERROR_FORBIDDEN, "field is immutable when `immutable` is set");
    return true;
}

API_RULE(config_keys)
{
    for (uint32_t i = 0; at->value && i < at->value->n; i++) {
        struct str key = doc_key(&at->value->members[i]);
        struct doc text = doc_make_string(at->w->a, key);
        const char *path = arena_printf(at->w->a, "[%.*s]", STR_ARG(key)).p;
        rules_config_key(at, path, &text);
        if (strcmp(at->field->name, "data") == 0 &&
            doc_get_str(api_member(at->parent, "binaryData"), key))
            api_report_at(at, path, &text, API_ERROR_INVALID,
                          "duplicate of key present in binaryData");
    }
    return true;
}

static struct str decoded(struct api_walk *w, const struct doc *d)
{
    struct str bytes = STR("");
    base64_decode(api_text(d), w->a, &bytes);
    return bytes;
}

static size_t total_bytes(struct api_walk *w, const struct doc *map, bool base64)
{
    size_t n = 0;
    for (uint32_t i = 0; map && i < map->n; i++)
        n += base64 ? decoded(w, &map->members[i].value).n
                    : api_text(&map->members[i].value).n;
    return n;
}

/* Reported at the whole object. */
API_RULE(config_size)
{
    if (total_bytes(at->w, api_member(at->value, "data"), false) +
            total_bytes(at->w, api_member(at->value, "binaryData"), true) >
        CONTENT_MAX)
        api_report_path(at->w, STR("[]"), NULL, API_ERROR_TOO_LONG,
                        "may not be more than %d bytes", CONTENT_MAX);
    return true;
}

API_RULE(secret_size)
{
    if (total_bytes(at->w, at->value, true) > CONTENT_MAX)
        api_report(at, API_ERROR_TOO_LONG, "may not be more than %d bytes", CONTENT_MAX);
    return true;
}

/* Whether it is there. */
static bool require_key(struct api_at *at, const char *key)
{
    bool there = doc_get(api_member(at->value, "data"), key) != NULL;
    if (!there)
        api_report_at(at, arena_printf(at->w->a, ".data[%s]", key).p, NULL,
                      API_ERROR_REQUIRED, "%s", "");
    return there;
}

/* What Go says of a JSON text that is to be a map; STR_NONE: nothing. */
static struct str not_a_map(struct api_walk *w, struct str text)
{
    static const struct {
        const char *first, *name;
    } TYPES[] = {
        {"[", "array"}, {"\"", "string"}, {"tf", "bool"}, {"-0123456789", "number"}};
    struct str why;
    if (!json_syntax_check(text, w->a, &why))
        return why;
    char c = str_trim(text).p[0];
    for (size_t i = 0; i < sizeof TYPES / sizeof *TYPES; i++)
        if (strchr(TYPES[i].first, c))
            return arena_printf(w->a,
                                "json: cannot unmarshal %s into Go value of type "
                                "map[string]interface {}",
                                TYPES[i].name);
    return STR_NONE;
}

/* The accounts of registries. */
static void check_registries(struct api_at *at, const char *key)
{
    struct api_walk *w = at->w;
    if (!require_key(at, key))
        return;
    struct doc hidden = doc_make_string(w->a, STR("<secret contents redacted>"));
    struct str why =
        not_a_map(w, decoded(w, doc_get(api_member(at->value, "data"), key)));
    if (why.p)
        api_report_at(at, arena_printf(w->a, ".data[%s]", key).p, &hidden,
                      API_ERROR_INVALID, "%.*s", STR_ARG(why));
}

/* What a secret of a well-known type has to hold. */
API_RULE(secret_type)
{
    static const struct {
        const char *type, *keys[2];
    } TYPES[] = {
        {"kubernetes.io/tls", {"tls.crt", "tls.key"}},
    };
    static const char account[] = "kubernetes.io/service-account.name";
    struct str type = doc_get_text(at->value, "type");
    const struct doc *data = api_member(at->value, "data");
    for (size_t i = 0; i < sizeof TYPES / sizeof *TYPES; i++)
        for (int k = 0; k < 2 && TYPES[i].keys[k] && str_is(type, TYPES[i].type); k++)
            require_key(at, TYPES[i].keys[k]);
    if (str_is(type, "kubernetes.io/dockercfg"))
        check_registries(at, ".dockercfg");
    if (str_is(type, "kubernetes.io/dockerconfigjson"))
        check_registries(at, ".dockerconfigjson");
    if (str_is(type, "kubernetes.io/basic-auth") && !doc_get(data, "username") &&
        !doc_get(data, "password")) {
        require_key(at, "username");
        require_key(at, "password");
    }
    if (str_is(type, "kubernetes.io/ssh-auth") &&
        doc_get_text(data, "ssh-privatekey").n == 0)
        api_report_at(at, ".data[ssh-privatekey]", NULL, API_ERROR_REQUIRED, "%s", "");
    const struct doc *annotations =
        api_member(api_member(at->value, "metadata"), "annotations");
    if (str_is(type, "kubernetes.io/service-account-token") &&
        doc_get_text(annotations, account).n == 0)
        api_report_at(at, arena_printf(at->w->a, ".metadata.annotations[%s]", account).p,
                      NULL, API_ERROR_REQUIRED, "%s", "");
    return true;
}

/* ---- namespaces ---- */

API_RULE(namespace_finalizers)
{
    const struct doc *list = api_member(at->value, "finalizers");
    const char *part = at->w->opts->part;
    bool finalize = part && strcmp(part, "finalize") == 0;
    struct str problems[NAME_MAX_PROBLEMS];
    if (at->w->opts->op != API_CREATE && !finalize)
        return true;
    for (uint32_t i = 0; list && i < list->n; i++) {
        const char *path = ".finalizers";
        if (finalize)
            path = arena_printf(at->w->a, ".finalizers[%u]", i).p;
        struct str name = api_text(&list->items[i]);
        unsigned n = name_check(NAME_LABEL_KEY, name, at->w->a, problems);
        for (unsigned k = 0; k < n; k++)
            api_report_at(at, path, &list->items[i], API_ERROR_INVALID, "%.*s",
                          STR_ARG(problems[k]));
        rules_finalizer(at, path, name);
    }
    return true;
}

/* Reported under the name of its Go field. */
API_RULE(namespace_phase)
{
    const struct doc *meta = api_member(at->w->object, "metadata");
    bool ending = api_member(meta, "deletionTimestamp") != NULL;
    const struct doc *phase = api_member(at->value, "phase");
    if (at->w->opts->op != API_UPDATE_STATUS)
        return true;
    if (!ending && !doc_is_string(phase, "Active"))
        api_report_at(at, ".Phase", phase, API_ERROR_INVALID,
                      "may only be 'Active' if `deletionTimestamp` is empty");
    if (ending && !doc_is_string(phase, "Terminating"))
        api_report_at(at, ".Phase", phase, API_ERROR_INVALID,
                      "may only be 'Terminating' if `deletionTimestamp` is not empty");
    return true;
}

/* ---- nodes ---- */

static void check_taint(struct api_at *at, const struct doc *taint, uint32_t i)
{
    struct strbuf path = at->w->path;
    at->w->path = (struct strbuf)STRBUF_INIT;
    strbuf_addf(&at->w->path, "metadata.taints[%u]", i);
    struct api_at value = *at, effect = *at;
    value.value = api_member(taint, "value");
    effect.value = api_member(taint, "effect");
    rules_name_at(at, ".key", api_member(taint, "key"), NAME_LABEL_KEY);
    strbuf_adds(&at->w->path, ".value");
    rule_label_value_joined(&value, "");
    at->w->path.n -= strlen(".value");
    strbuf_adds(&at->w->path, ".effect");
    if (rule_required(&effect, ""))
        rule_one_of(&effect, "NoSchedule|PreferNoSchedule|NoExecute");
    strbuf_release(&at->w->path);
    at->w->path = path;
}

/* Reported below the metadata. */
API_RULE(node_taints)
{
    for (uint32_t i = 0; at->value && i < at->value->n; i++) {
        const struct doc *taint = &at->value->items[i];
        check_taint(at, taint, i);
        for (uint32_t k = 0; k < i; k++) {
            const struct doc *other = &at->value->items[k];
            if (!str_eq(doc_get_text(taint, "key"), doc_get_text(other, "key")) ||
                !str_eq(doc_get_text(taint, "effect"), doc_get_text(other, "effect")))
                continue;
            api_report_path(at->w, arena_printf(at->w->a, "metadata.taints[%u]", i),
                            taint, API_ERROR_DUPLICATE,
                            "taints must be unique by key and effect pair");
            break;
        }
    }
    return false;
}

static bool is_feature(struct str s)
{
    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        bool start = i == 0 || s.p[i - 1] == '/';
        bool fits = start ? letter : letter || (c >= '0' && c <= '9') || c == '/';
        if (!fits)
            return false;
    }
    return s.n && s.p[0] >= 'A' && s.p[0] <= 'Z' && s.p[s.n - 1] != '/';
}

static void check_feature(struct api_at *at, const struct doc *item, uint32_t i)
{
    struct str s = api_text(item), shown = api_shown_text(at->w->a, s);
    if (s.n > 253)
        api_report_at(at, rules_index(at, i), item, API_ERROR_INVALID,
                      "invalid feature name %.*s: must be no more than 253 characters",
                      STR_ARG(shown));
    else if (!is_feature(s))
        api_report_at(
            at, rules_index(at, i), item, API_ERROR_INVALID,
            "invalid feature name %.*s: must start with an UpperCamelCase "
            "segment, with subsequent segments separated by '/' (e.g., MyFeature "
            "or MyFeature/mySubFeature), and contain only alphanumeric "
            "characters and slashes",
            STR_ARG(shown));
}

API_RULE(declared_features)
{
    for (uint32_t i = 0; at->value && i < at->value->n; i++) {
        check_feature(at, &at->value->items[i], i);
        if (i == 0)
            continue;
        int c =
            str_cmp(api_text(&at->value->items[i - 1]), api_text(&at->value->items[i]));
        if (c == 0)
            api_report_at(at, rules_index(at, i), &at->value->items[i],
                          API_ERROR_DUPLICATE, "%s", "");
        else if (c > 0)
            api_report_at(at, rules_index(at, i), &at->value->items[i], API_ERROR_INVALID,
                          "list must be sorted alphabetically");
    }
    return true;
}

/* Ranges are given to a node once. */
API_RULE(node_cidrs)
{
    uint32_t n = at->value ? at->value->n : 0, bad = n;
    unsigned families = 0;
    if (at->w->opts->op != API_CREATE && !api_empty(at->old) &&
        !(at->value && doc_equal(at->value, at->old)))
        api_fail(at, API_ERROR_FORBIDDEN,
                 "node updates may not change podCIDR except from \"\" to valid");
    for (uint32_t i = 0; i < n; i++) {
        unsigned family = rules_cidr(at, rules_index(at, i), &at->value->items[i]);
        families |= family;
        bad = bad == n && !family ? i : bad;
    }
    if (n > 1 && bad < n)
        api_report(at, API_ERROR_INTERNAL,
                   "invalid PodCIDRs. failed to check with dual stack with error:invalid "
                   "CIDR[%u]: <nil> (invalid CIDR address: %.*s)",
                   bad, STR_ARG(doc_str(&at->value->items[bad])));
    if (n > 1 && (n > 2 || families != 3))
        api_fail(at, API_ERROR_INVALID,
                 "may specify no more than one CIDR for each IP family");
    return true;
}

API_RULE(not_updated)
{
    if (at->old_parent && !str_eq(api_text(at->value), api_text(at->old)))
        api_fail(at, API_ERROR_FORBIDDEN, "may not be updated");
    return true;
}

API_RULE(node_swap)
{
    const struct doc *swap = api_member(api_member(at->value, "nodeInfo"), "swap");
    const struct doc *capacity = api_member(swap, "capacity");
    if (at->w->opts->op == API_CREATE && capacity && rules_int(capacity, 0) <= 0)
        api_report_path(at->w, STR("metadata.nodeSwapStatus.capacity"), capacity,
                        API_ERROR_INVALID, "must be greater than zero");
    return true;
}

API_RULE(set_once_text)
{
    const char *text = "field cannot be modified once set";
    if (api_empty(at->old) || (at->value && doc_equal(at->value, at->old)))
        return true;
    if (api_empty(at->value))
        text = "field cannot be cleared once set";
    return api_report_shown(at, "", STR("null"), API_ERROR_INVALID, "%s", text);
}

API_RULE(node_addresses)
{
    for (uint32_t i = 0; at->old_parent && at->value && i < at->value->n; i++)
        for (uint32_t k = 0; k < i; k++)
            if (doc_equal(&at->value->items[i], &at->value->items[k])) {
                api_report_at(at, rules_index(at, i), &at->value->items[i],
                              API_ERROR_DUPLICATE, "%s", "");
                break;
            }
    return true;
}

/* ---- events ---- */

static bool is_time(const struct doc *d)
{
    static const int64_t YEAR_1 = -62135596800;
    int64_t seconds;
    int32_t nanos;
    return d && d->type == DOC_STRING && timestamp_parse(doc_str(d), &seconds, &nanos) &&
           seconds != YEAR_1;
}

static bool is_new_version(const struct api_walk *w)
{
    const char *group = w->opts->requested_group;
    return group && strcmp(group, "events.k8s.io") == 0;
}

static void check_length(struct api_at *at, const char *key, const char *shown,
                         size_t max, bool required)
{
    const struct doc *d = api_member(at->value, key);
    if (required && api_empty(d))
        api_report_at(at, shown, d, API_ERROR_REQUIRED, "%s", "");
    if (api_text(d).n > max)
        api_report_shown(at, shown, STR("\"\""), API_ERROR_INVALID,
                         "can have at most %zu characters", max);
}

static void check_controller(struct api_at *at)
{
    const char *shown =
        is_new_version(at->w) ? ".reportingController" : ".reportingComponent";
    const struct doc *d = api_member(at->value, "reportingComponent");
    if (api_empty(d))
        api_report_at(at, shown, d, API_ERROR_REQUIRED, "%s", "");
    rules_name_at(at, shown, d, NAME_LABEL_KEY);
    check_length(at, "reportingInstance", ".reportingInstance", 128, true);
    check_length(at, "action", ".action", 128, true);
    check_length(at, "reason", ".reason", 128, true);
    check_length(at, "message", ".message", 1024, false);
}

/* An event is kept beside what it is about, or in the default namespace. */
static void check_about(struct api_at *at, bool timed)
{
    struct str own = doc_get_text(api_member(at->value, "metadata"), "namespace");
    const struct doc *about = api_member(at->value, "involvedObject");
    struct str other = doc_get_text(about, "namespace");
    bool ok = str_eq(own, other);
    if (other.n == 0)
        ok =
            own.n == 0 || str_is(own, "default") || (timed && str_is(own, "kube-system"));
    else if (timed)
        ok = true;
    if (!ok)
        api_report_at(at, ".involvedObject.namespace", api_member(about, "namespace"),
                      API_ERROR_INVALID, "does not match event.namespace");
}

static void check_series(struct api_at *at, const struct doc *series)
{
    if (!series)
        return;
    if (rules_int(api_member(series, "count"), 0) < 2)
        api_report_shown(at, ".series.count", STR("\"\""), API_ERROR_INVALID,
                         "should be at least 2");
    if (!is_time(api_member(series, "lastObservedTime")))
        api_report_at(at, ".series.lastObservedTime", NULL, API_ERROR_REQUIRED, "%s", "");
}

static void check_new_event(struct api_at *at)
{
    static const char *const UNSET[] = {"firstTimestamp", "lastTimestamp"};
    struct str type = doc_get_text(at->value, "type");
    const struct doc *source = api_member(at->value, "source");
    check_series(at, api_member(at->value, "series"));
    if (!is_time(api_member(at->value, "eventTime")))
        api_report_at(at, ".eventTime", NULL, API_ERROR_REQUIRED, "%s", "");
    if (!str_is(type, "Normal") && !str_is(type, "Warning"))
        api_report_shown(at, ".type", STR("\"\""), API_ERROR_INVALID,
                         "has invalid value: %.*s", STR_ARG(type));
    for (int i = 0; i < 2; i++)
        if (is_time(api_member(at->value, UNSET[i])))
            api_report_shown(at, arena_printf(at->w->a, ".%s", UNSET[i]).p, STR("\"\""),
                             API_ERROR_INVALID, "needs to be unset");
    if (rules_int(api_member(at->value, "count"), 0) != 0)
        api_report_shown(at, ".count", STR("\"\""), API_ERROR_INVALID,
                         "needs to be unset");
    if (doc_get_text(source, "component").n || doc_get_text(source, "host").n)
        api_report_shown(at, ".source", STR("\"\""), API_ERROR_INVALID,
                         "needs to be unset");
}

static void check_changed_event(struct api_at *at)
{
    static const char *const FROZEN[] = {
        "involvedObject", "reason",        "message", "source",
        "firstTimestamp", "lastTimestamp", "count",   "type",
        "eventTime",      "action",        "related", "reportingInstance"};
    const struct doc *series = api_member(at->value, "series");
    const struct doc *old = api_member(at->old, "series");
    if (series && !(old && doc_equal(series, old)))
        check_series(at, series);
    for (size_t i = 0; i < sizeof FROZEN / sizeof *FROZEN; i++) {
        const struct api_field *f = api_field_find(at->w->type, str_from(FROZEN[i]));
        const struct doc *v = api_member(at->value, FROZEN[i]);
        if (!api_same(at->w, f, v, api_member(at->old, FROZEN[i])))
            api_report_at(at, arena_printf(at->w->a, ".%s", FROZEN[i]).p, v,
                          API_ERROR_INVALID, "field is immutable");
    }
    const struct doc *controller = api_member(at->value, "reportingComponent");
    if (!str_eq(api_text(controller),
                api_text(api_member(at->old, "reportingComponent"))))
        api_report_at(at, ".reportingController", controller, API_ERROR_INVALID,
                      "field is immutable");
}

API_RULE(event)
{
    bool timed = is_time(api_member(at->value, "eventTime"));
    check_about(at, timed);
    if (timed)
        check_controller(at);
    if (!is_new_version(at->w))
        return true;
    if (at->w->opts->op == API_CREATE)
        check_new_event(at);
    else
        check_changed_event(at);
    return true;
}
