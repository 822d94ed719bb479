/* SPDX-License-Identifier: Apache-2.0 */
/* Rules of ResourceSlice and DeviceTaintRule (spec 2.5, 2.6). */
#include <stdlib.h>

#include "api/rules.h"
#include "api/rules_util.h"
#include "base/map.h"
#include "num/quantity.h"

static bool is_true(const struct doc *d)
{
    return d && d->type == DOC_BOOL && d->b;
}

static const struct doc *spec_of(struct api_at *at)
{
    return api_member(at->w->object, "spec");
}

/* ---- the slice ---- */

API_RULE(slice_node_name)
{
    if (!at->value)
        return true;
    if (api_empty(at->value))
        return api_report(at, API_ERROR_INVALID,
                          "must be either unset or set to a non-empty string");
    return rules_name(at, NAME_DNS1123_SUBDOMAIN);
}

API_RULE(one_term)
{
    const struct doc *terms = api_member(at->value, "nodeSelectorTerms");
    if (!terms || terms->n != 1)
        api_report_at(at, ".nodeSelectorTerms", terms, API_ERROR_INVALID,
                      "must have exactly one node selector term");
    return true;
}

API_RULE(one_node_choice)
{
    static const char text[] = "exactly one of `nodeName`, `nodeSelector`, `allNodes`, "
                               "`perDeviceNodeSelection` is required";
    const struct choice choices[] = {
        {"`nodeName`", !api_empty(api_member(at->value, "nodeName"))},
        {"`nodeSelector`", api_member(at->value, "nodeSelector") != NULL},
        {"`allNodes`", is_true(api_member(at->value, "allNodes"))},
        {"`perDeviceNodeSelection`",
         is_true(api_member(at->value, "perDeviceNodeSelection"))},
    };
    struct str shown;
    unsigned set = rules_chosen(at->w->a, choices, 4, &shown);
    if (set == 0)
        api_fail(at, API_ERROR_REQUIRED, text);
    else if (set > 1)
        api_report_shown(at, "", shown, API_ERROR_INVALID,
                         "%s, but multiple fields are set", text);
    return true;
}

API_RULE(devices_or_counters)
{
    if (api_member(at->value, "sharedCounters") && api_member(at->value, "devices"))
        api_report_shown(at, "", STR("\"\""), API_ERROR_INVALID,
                         "only one of `sharedCounters` or `devices` is allowed");
    return true;
}

static const char *const LISTS[] = {"bools", "ints", "strings", "versions"};

static bool has_list_attribute(const struct doc *device)
{
    const struct doc *attributes = api_member(device, "attributes");
    for (uint32_t i = 0; attributes && i < attributes->n; i++)
        for (size_t k = 0; k < sizeof LISTS / sizeof *LISTS; k++)
            if (api_member(&attributes->members[i].value, LISTS[k]))
                return true;
    return false;
}

/* Taints, counters and lists make devices large: fewer of them fit (spec 3.11). */
API_RULE(max_devices)
{
    for (uint32_t i = 0; at->value && i < at->value->n; i++) {
        const struct doc *d = &at->value->items[i];
        if (!api_empty(api_member(d, "taints")) ||
            !api_empty(api_member(d, "consumesCounters")) || has_list_attribute(d))
            return rule_max(at, "64");
    }
    return rule_max(at, "128");
}

static bool consumes_counters(const struct doc *device)
{
    return !api_empty(api_member(device, "consumesCounters"));
}

static const struct doc *partition_attribute(const struct doc *device, struct str name,
                                             struct str driver)
{
    const struct doc *attributes = api_member(device, "attributes");
    const struct doc *found = doc_get_str(attributes, name);
    if (!found && str_starts(name, driver) && name.n > driver.n &&
        name.p[driver.n] == '/')
        found = doc_get_str(attributes, str_sub(name, driver.n + 1, SIZE_MAX));
    return found;
}

API_RULE(partition_type)
{
    const struct doc *devices = api_member(at->parent, "devices");
    struct str name = api_text(at->value), driver = doc_get_text(at->parent, "driver");
    bool any = false;
    for (uint32_t i = 0; devices && i < devices->n; i++)
        any = any || consumes_counters(&devices->items[i]);
    if (!any)
        return api_report(
            at, API_ERROR_INVALID,
            "may only be set on a slice which declares devices that consume counters");
    if (!rules_full_name_valid(at->w, name))
        return true;
    for (uint32_t i = 0; any && i < devices->n; i++) {
        const struct doc *d = &devices->items[i];
        if (!consumes_counters(d))
            continue;
        const struct doc *attribute = partition_attribute(d, name, driver);
        struct str path =
            arena_printf(at->w->a, "spec.devices[%u].attributes[%.*s]", i, STR_ARG(name));
        if (!attribute)
            api_report_path(
                at->w, path, NULL, API_ERROR_REQUIRED,
                "device consumes counters and `partitionTypeAttribute` names this "
                "attribute, so it must be set");
        else if (!api_member(attribute, "string"))
            api_report_path(
                at->w, path, attribute, API_ERROR_INVALID,
                "must be a string value because `partitionTypeAttribute` names "
                "this attribute");
    }
    return true;
}

/* ---- the device ---- */

API_RULE(device_context)
{
    at->w->device = at->value;
    return true;
}

static uint32_t attribute_values(const struct doc *attribute)
{
    uint32_t n = 0;
    for (size_t k = 0; k < sizeof LISTS / sizeof *LISTS; k++) {
        const struct doc *list = api_member(attribute, LISTS[k]);
        n += list ? list->n : 0;
    }
    return n ? n : 1;
}

API_RULE(attribute_counts)
{
    enum { ENTRIES_MAX = 32, VALUES_MAX = 48 };
    const struct doc *attributes = api_member(at->value, "attributes");
    const struct doc *capacity = api_member(at->value, "capacity");
    uint32_t entries = (attributes ? attributes->n : 0) + (capacity ? capacity->n : 0);
    uint32_t values = 0;
    for (uint32_t i = 0; attributes && i < attributes->n; i++)
        values += attribute_values(&attributes->members[i].value);
    struct arena *a = at->w->a;
    if (entries > ENTRIES_MAX)
        api_report_shown(at, "", arena_printf(a, "%u", entries), API_ERROR_INVALID,
                         "the total number of attributes and capacities must not exceed "
                         "%d",
                         ENTRIES_MAX);
    if (values > VALUES_MAX)
        api_report_shown(at, "", arena_printf(a, "%u", values), API_ERROR_INVALID,
                         "the total number of attribute values must not exceed %d",
                         VALUES_MAX);
    return true;
}

/* A list or map that the stored device of the same name has alike is not checked again.
 */
API_RULE(kept_of_device)
{
    const struct doc *old = api_member(api_member(at->w->opts->old, "spec"), "devices");
    struct str name = doc_get_text(at->parent, "name");
    for (uint32_t i = 0; at->w->opts->op == API_UPDATE && old && i < old->n; i++) {
        if (!str_eq(doc_get_text(&old->items[i], "name"), name))
            continue;
        const struct doc *before = api_member(&old->items[i], at->field->name);
        bool same = api_empty(before) ? api_empty(at->value)
                                      : at->value && doc_equal(before, at->value);
        return !same;
    }
    return true;
}

API_RULE(per_device_only)
{
    return is_true(api_member(spec_of(at), "perDeviceNodeSelection"));
}

static unsigned device_choices(struct api_at *at, struct str *shown)
{
    const struct doc *name = api_member(at->value, "nodeName");
    const struct doc *all = api_member(at->value, "allNodes");
    struct str problems[NAME_MAX_PROBLEMS];
    if (name && name->n == 0)
        api_report_at(at, ".nodeName", name, API_ERROR_INVALID, "must not be empty");
    else if (name &&
             name_check(NAME_DNS1123_SUBDOMAIN, api_text(name), at->w->a, problems))
        api_report_at(at, ".nodeName", name, API_ERROR_INVALID, "%.*s",
                      STR_ARG(problems[0]));
    if (all && !is_true(all))
        api_report_at(at, ".allNodes", all, API_ERROR_INVALID,
                      "must be either unset or set to true");
    const struct choice choices[] = {
        {"`nodeName`", !api_empty(name)},
        {"`nodeSelector`", api_member(at->value, "nodeSelector") != NULL},
        {"`allNodes`", is_true(all)},
    };
    return rules_chosen(at->w->a, choices, 3, shown);
}

API_RULE(device_node_choice)
{
    static const char text[] =
        "exactly one of `nodeName`, `nodeSelector`, or `allNodes` is "
        "required when `perDeviceNodeSelection` is set to true in the "
        "ResourceSlice spec";
    if (is_true(api_member(spec_of(at), "perDeviceNodeSelection"))) {
        struct str shown;
        unsigned set = device_choices(at, &shown);
        if (set != 1)
            api_report_shown(at, "", shown, set ? API_ERROR_INVALID : API_ERROR_REQUIRED,
                             "%s", text);
    } else if (api_member(at->value, "nodeName") ||
               api_member(at->value, "nodeSelector") ||
               api_member(at->value, "allNodes")) {
        api_report_shown(at, "", STR("null"), API_ERROR_INVALID,
                         "`nodeName`, `nodeSelector` and `allNodes` can only be set if "
                         "`perDeviceNodeSelection` is set to true in the ResourceSlice "
                         "spec");
    }
    return true;
}

/* One member must be set; to the declarative stage an empty list is none. */
API_RULE(attribute_union)
{
    static const char *const MEMBERS[] = {"int",  "bool",  "string",  "version",
                                          "ints", "bools", "strings", "versions"};
    enum { N = sizeof MEMBERS / sizeof *MEMBERS };
    struct choice choices[N];
    unsigned there = 0;
    for (size_t k = 0; k < N; k++) {
        const struct doc *m = api_member(at->value, MEMBERS[k]);
        there += m != NULL;
        choices[k] =
            (struct choice){MEMBERS[k], m && !(m->type == DOC_LIST && m->n == 0)};
    }
    struct str shown;
    unsigned set = rules_chosen(at->w->a, choices, N, &shown);
    if (at->w->declared && set != 1)
        api_report_shown(at, "", shown, API_ERROR_INVALID,
                         "must specify %sone of: `int`, `bool`, `string`, `version`, "
                         "`ints`, `bools`, `strings`, `versions`",
                         set > 1 ? "exactly " : "");
    else if (there == 0)
        api_report_shown(at, "", shown, API_ERROR_INVALID,
                         "exactly one value must be specified");
    else if (there > 1)
        api_fail(at, API_ERROR_INVALID, "exactly one value must be specified");
    return true;
}

static bool check_effect(struct api_at *at, const char *arg)
{
    const struct doc *effect = api_member(at->value, "effect");
    struct str text = api_text(effect);
    if (text.n == 0)
        return api_report_at(at, ".effect", effect, API_ERROR_REQUIRED, "%s", "");
    if (str_is(text, "NoSchedule") || str_is(text, "NoExecute") || str_is(text, "None"))
        return true;
    return rules_not_supported(at, ".effect", effect, "NoExecute|NoSchedule|None");
}

/* The effects of a device's taints: checked whenever anything about the slice's devices
 * changed, as upstream's declarative stage has it (a list without keys has no old items).
 */
API_RULE(taint_effects)
{
    const struct doc *old = api_member(api_member(at->w->opts->old, "spec"), "devices");
    const struct doc *devices = api_member(spec_of(at), "devices");
    bool same = at->w->opts->op == API_UPDATE && old && doc_equal(old, devices);
    if (!same)
        api_each(at, check_effect, arg);
    return true;
}

/* The effect of a rule's taint: one that is stored may stay, even an unknown one. */
API_RULE(rule_effect)
{
    const struct doc *old = api_member(at->old, "effect");
    if (!at->old_parent ||
        !str_eq(api_text(api_member(at->value, "effect")), api_text(old)))
        check_effect(at, arg);
    return true;
}

/* ---- request policies (spec 2.5 "Range arithmetic") ---- */

struct policy {
    struct api_at *at;
    const struct doc *doc;   /* requestPolicy */
    const struct doc *range; /* validRange */
    struct quantity capacity, def, min, max, step;
    bool has_max, has_step;
};

static const char *print(struct policy *p, const struct quantity *q)
{
    struct str s = quantity_print(q, p->at->w->a);
    return arena_str(p->at->w->a, s).p;
}

static const struct doc *bound(struct policy *p, const char *name)
{
    return strcmp(name, "default") == 0 ? api_member(p->doc, name)
                                        : api_member(p->range, name);
}

static void range_error(struct policy *p, const char *name, const struct doc *value,
                        const char *fmt, const struct quantity *other)
{
    const char *path = arena_printf(p->at->w->a, ".validRange.%s", name).p;
    struct strbuf text = STRBUF_INIT;
    strbuf_adds(&text, fmt);
    if (other)
        strbuf_addf(&text, ": %s", print(p, other));
    api_report_at(p->at, path, value, API_ERROR_INVALID, "%s", strbuf_cstr(&text));
    strbuf_release(&text);
}

static void check_valid_values(struct policy *p, const struct doc *values)
{
    enum { VALUES_MAX = 10 };
    struct api_at *at = p->at;
    struct arena *a = at->w->a;
    bool fractional = api_gate(at->w->opts->gates, API_GATE_DRAFractionalCapacityRange);
    bool has_default = false;
    struct strmap seen = STRMAP_INIT;
    struct quantity previous = QUANTITY_ZERO;
    for (uint32_t i = 0; i < values->n; i++) {
        struct quantity q = QUANTITY_ZERO;
        const struct doc *v = &values->items[i];
        const char *path = arena_printf(a, ".validValues[%u]", i).p;
        quantity_parse(doc_str(v), a, &q, NULL);
        if (i > 0 && quantity_cmp(&previous, &q) > 0)
            api_report_at(at, path, v, API_ERROR_INVALID,
                          "values must be sorted in ascending order");
        previous = q;
        if (values->n > VALUES_MAX)
            continue;
        int64_t whole = 0;
        bool made;
        struct str key = quantity_exact(&q, a);
        if (!fractional && quantity_scaled(&q, 0, &whole))
            key = arena_printf(a, "%lld", (long long)whole);
        if (quantity_cmp(&q, &p->capacity) > 0)
            api_report_at(at, path, v, API_ERROR_INVALID,
                          "option is larger than capacity value: %s",
                          print(p, &p->capacity));
        strmap_put(&seen, key, &made);
        if (!made)
            api_report_shown(at, path, api_shown_text(a, key), API_ERROR_DUPLICATE, "%s",
                             "");
        has_default = has_default || quantity_cmp(&q, &p->def) == 0;
    }
    if (values->n > VALUES_MAX)
        api_report_at(at, ".validValues", values, API_ERROR_TOO_MANY,
                      "%u: must have at most %d items", values->n, VALUES_MAX);
    if (!has_default)
        api_report_at(at, ".validValues", bound(p, "default"), API_ERROR_INVALID,
                      "default value is not valid according to the requestPolicy");
    strmap_release(&seen);
}

static void check_bounds(struct policy *p)
{
    if (quantity_cmp(&p->min, &p->capacity) > 0)
        range_error(p, "min", bound(p, "min"), "min is larger than capacity value",
                    &p->capacity);
    if (quantity_cmp(&p->def, &p->min) < 0)
        range_error(p, "default", bound(p, "default"), "default is less than min",
                    &p->min);
    if (!p->has_max)
        return;
    if (quantity_cmp(&p->min, &p->max) > 0)
        range_error(p, "max", bound(p, "min"), "min is larger than max", &p->max);
    if (quantity_cmp(&p->max, &p->capacity) > 0)
        range_error(p, "max", bound(p, "max"), "max is larger than capacity value",
                    &p->capacity);
    if (quantity_cmp(&p->def, &p->max) > 0)
        range_error(p, "default", bound(p, "default"), "default is more than max",
                    &p->max);
}

struct named_quantity {
    const char *name;
    const struct quantity *q; /* NULL: not set */
};

static void named_bounds(struct policy *p, struct named_quantity out[4])
{
    out[0] = (struct named_quantity){"default", &p->def};
    out[1] = (struct named_quantity){"min", &p->min};
    out[2] = (struct named_quantity){"max", p->has_max ? &p->max : NULL};
    out[3] = (struct named_quantity){"step", p->has_step ? &p->step : NULL};
}

static bool is_fractional(const struct quantity *q)
{
    int64_t v;
    struct arena scratch;
    arena_init(&scratch);
    bool whole = quantity_scaled_exact(q, 0, &v) ||
                 str_find_byte(quantity_exact(q, &scratch), '.', 0) == SIZE_MAX;
    arena_fini(&scratch);
    return !whole;
}

static bool uses_milli(struct policy *p)
{
    struct named_quantity n[4];
    if (!api_gate(p->at->w->opts->gates, API_GATE_DRAFractionalCapacityRange))
        return false;
    named_bounds(p, n);
    for (int i = 0; i < 4; i++)
        if (n[i].q && is_fractional(n[i].q))
            return true;
    return false;
}

/* All bounds as exact milli values; false when one has no such form. */
static bool milli_safe(struct policy *p)
{
    struct named_quantity n[4];
    int64_t v;
    bool safe = true;
    named_bounds(p, n);
    for (int i = 0; i < 4; i++) {
        if (!n[i].q || quantity_scaled_exact(n[i].q, 3, &v))
            continue;
        range_error(p, n[i].name, bound(p, n[i].name),
                    "value cannot be represented as a milli value", NULL);
        safe = false;
    }
    return safe;
}

/* All bounds in [0, 2^63-1], where integer steps can be counted. */
static bool whole_safe(struct policy *p)
{
    struct named_quantity n[4];
    struct quantity most = quantity_from_int64(INT64_MAX, QUANTITY_DECIMAL_SI);
    bool safe = true;
    named_bounds(p, n);
    for (int i = 0; i < 4; i++) {
        const char *text = NULL;
        if (n[i].q && quantity_sign(n[i].q) < 0)
            text = "must be greater than or equal to 0";
        else if (n[i].q && quantity_cmp(n[i].q, &most) > 0)
            text = "must not be larger than 9223372036854775807";
        if (!text)
            continue;
        range_error(p, n[i].name, bound(p, n[i].name), text, NULL);
        safe = false;
    }
    return safe;
}

static void check_multiple(struct policy *p, const char *name, const struct quantity *q,
                           bool milli)
{
    int64_t step = 0, min = 0, value = 0;
    int digits = milli ? 3 : 0;
    quantity_scaled(&p->step, digits, &step);
    quantity_scaled(&p->min, digits, &min);
    quantity_scaled(q, digits, &value);
    __int128 distance = (__int128)value - min;
    if (step > 0 && distance % step != 0)
        api_report_at(p->at, ".validRange.step", bound(p, name), API_ERROR_INVALID,
                      "value is not a multiple of a given step (%s) from (%s)",
                      print(p, &p->step), print(p, &p->min));
}

static void check_step(struct policy *p, bool milli)
{
    if (quantity_sign(&p->step) <= 0) {
        range_error(p, "step", bound(p, "step"), "must be greater than zero", NULL);
        return;
    }
    struct quantity added = quantity_add(&p->min, &p->step, p->at->w->a);
    if (quantity_cmp(&added, &p->capacity) > 0)
        api_report_at(p->at, ".validRange.step", bound(p, "step"), API_ERROR_INVALID,
                      "one step %s is larger than capacity value: %s", print(p, &added),
                      print(p, &p->capacity));
    if (!milli && !whole_safe(p))
        return;
    check_multiple(p, "default", &p->def, milli);
    if (p->has_max)
        check_multiple(p, "max", &p->max, milli);
}

static void check_range(struct policy *p)
{
    struct api_at *at = p->at;
    if (!rules_quantity(at, p->range, "min", &p->min)) {
        api_report_at(at, ".validRange.min", NULL, API_ERROR_REQUIRED,
                      "required when validRange is defined");
        return;
    }
    p->has_max = rules_quantity(at, p->range, "max", &p->max);
    p->has_step = rules_quantity(at, p->range, "step", &p->step);
    check_bounds(p);
    bool milli = uses_milli(p);
    if (milli && !milli_safe(p))
        return;
    if (p->has_step)
        check_step(p, milli);
}

API_RULE(request_policy)
{
    struct policy p = {.at = at, .doc = at->value};
    const struct doc *values = api_member(at->value, "validValues");
    p.range = api_member(at->value, "validRange");
    if (!is_true(api_member(at->w->device, "allowMultipleAllocations")))
        return api_report(at, API_ERROR_FORBIDDEN,
                          "allowMultipleAllocations must be true");
    if (!api_empty(values) && p.range)
        return api_report(
            at, API_ERROR_FORBIDDEN,
            "exactly one policy can be specified, cannot specify \"validValues\" "
            "and \"validRange\" at the same time");
    if (api_empty(values) && !p.range)
        return true;
    rules_quantity(at, at->parent, "value", &p.capacity);
    if (!rules_quantity(at, at->value, "default", &p.def))
        return api_report_at(at, ".default", NULL, API_ERROR_REQUIRED,
                             "required when %s is defined",
                             p.range ? "validRange" : "validValues");
    if (p.range)
        check_range(&p);
    else
        check_valid_values(&p, values);
    return true;
}

/* ---- node allocatable resources ---- */

static bool allocatable_name(struct str s)
{
    return str_is(s, "cpu") || str_is(s, "memory") || str_starts(s, STR("hugepages-"));
}

static void check_positive(struct api_at *at, struct str base, const struct doc *parent,
                           const char *name, bool zero_allowed)
{
    struct quantity q;
    if (!rules_quantity(at, parent, name, &q))
        return;
    int sign = quantity_sign(&q);
    if (sign < 0 || (sign == 0 && !zero_allowed))
        api_report_at(at, arena_printf(at->w->a, "%.*s.%s", STR_ARG(base), name).p,
                      api_member(parent, name), API_ERROR_INVALID, "must be %s",
                      zero_allowed ? "non-negative" : "positive");
}

static void check_mapping(struct api_at *at, struct str key, const struct doc *m)
{
    struct arena *a = at->w->a;
    const struct doc *capacity_key = api_member(m, "capacityKey");
    const struct doc *multiplier = api_member(m, "capacityMultiplier");
    struct str base = arena_printf(a, "%.*s.mapping", STR_ARG(key));
    const char *key_path = arena_printf(a, "%.*s.capacityKey", STR_ARG(base)).p;
    if (capacity_key && capacity_key->n == 0)
        api_report_at(at, key_path, capacity_key, API_ERROR_INVALID,
                      "capacityKey must not be an empty string");
    else if (capacity_key &&
             !doc_get_str(api_member(at->parent, "capacity"), api_text(capacity_key)))
        api_report_at(at, key_path, capacity_key, API_ERROR_NOT_FOUND, "%s", "");
    if (capacity_key && !multiplier)
        api_report_at(at, arena_printf(a, "%.*s.capacityMultiplier", STR_ARG(base)).p,
                      NULL, API_ERROR_REQUIRED,
                      "capacityMultiplier is required when capacityKey is set");
    if (multiplier && !capacity_key)
        api_report_at(at, key_path, NULL, API_ERROR_REQUIRED,
                      "capacityKey is required when capacityMultiplier is set");
    if (capacity_key)
        check_positive(at, base, m, "capacityMultiplier", false);
    check_positive(at, base, m, "deviceMultiplier", false);
}

static void check_overhead(struct api_at *at, struct str key, const struct doc *overhead)
{
    struct str base = arena_printf(at->w->a, "%.*s.overhead", STR_ARG(key));
    if (!api_member(overhead, "perPod") && !api_member(overhead, "perContainer"))
        api_report_shown(at, base.p, STR("\"\""), API_ERROR_INVALID,
                         "at least one of perPod or perContainer must be set");
    check_positive(at, base, overhead, "perPod", true);
    check_positive(at, base, overhead, "perContainer", true);
}

API_RULE(mapping_union)
{
    for (uint32_t i = 0; i < at->value->n; i++) {
        const struct doc_member *m = &at->value->members[i];
        const struct doc *mapping = api_member(&m->value, "mapping");
        bool key = api_member(mapping, "capacityKey") != NULL;
        bool multiplier = api_member(mapping, "deviceMultiplier") != NULL;
        if (mapping && key == multiplier)
            api_report_shown(
                at, arena_printf(at->w->a, "[%.*s].mapping", STR_ARG(doc_key(m))).p,
                key ? STR("\"{capacityKey, deviceMultiplier}\"") : STR("\"\""),
                API_ERROR_INVALID,
                "must specify %sone of: `capacityKey`, `deviceMultiplier`",
                key ? "exactly " : "");
    }
    return true;
}

API_RULE(node_allocatable)
{
    for (uint32_t i = 0; i < at->value->n; i++) {
        const struct doc_member *m = &at->value->members[i];
        struct str key = arena_printf(at->w->a, "[%.*s]", STR_ARG(doc_key(m)));
        const struct doc *mapping = api_member(&m->value, "mapping");
        const struct doc *overhead = api_member(&m->value, "overhead");
        if (!allocatable_name(doc_key(m)))
            api_report_shown(at, key.p, api_shown_text(at->w->a, doc_key(m)),
                             API_ERROR_INVALID,
                             "must be a node allocatable resource name");
        if (!mapping && !overhead)
            api_report_at(at, key.p, &m->value, API_ERROR_REQUIRED,
                          "at least one of mapping or overhead must be set");
        if (mapping)
            check_mapping(at, key, mapping);
        if (overhead)
            check_overhead(at, key, overhead);
    }
    return true;
}
