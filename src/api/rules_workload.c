/* SPDX-License-Identifier: Apache-2.0 */
/* Rules of what makes pods: deployments, sets of them, daemons. */
#include "api/rules_workload.h"
#include "api/rules_pod.h"

/* ---- selectors and templates ---- */

static bool expression_matches(const struct doc *e, const struct doc *labels)
{
    struct str op = doc_get_text(e, "operator");
    const struct doc *label = doc_get_str(labels, doc_get_text(e, "key"));
    const struct doc *values = api_member(e, "values");
    bool in = false;
    for (uint32_t i = 0; label && values && i < values->n; i++)
        in = in || str_eq(api_text(&values->items[i]), api_text(label));
    if (str_is(op, "In"))
        return in;
    if (str_is(op, "NotIn"))
        return !in;
    return str_is(op, "Exists") == (label != NULL);
}

bool rules_selects(const struct doc *selector, const struct doc *labels)
{
    const struct doc *wanted = api_member(selector, "matchLabels");
    const struct doc *expressions = api_member(selector, "matchExpressions");
    bool ok = selector != NULL;
    for (uint32_t i = 0; wanted && i < wanted->n; i++) {
        const struct doc *have = doc_get_str(labels, doc_key(&wanted->members[i]));
        ok = ok && have && str_eq(api_text(have), api_text(&wanted->members[i].value));
    }
    for (uint32_t i = 0; expressions && i < expressions->n; i++)
        ok = ok && expression_matches(&expressions->items[i], labels);
    return ok;
}

/* Whether upstream can make something of it that matches. */
bool rules_selector_usable(const struct doc *selector)
{
    const struct doc *wanted = api_member(selector, "matchLabels");
    const struct doc *list = api_member(selector, "matchExpressions");
    for (uint32_t i = 0; wanted && i < wanted->n; i++)
        if (!name_valid(NAME_LABEL_KEY, doc_key(&wanted->members[i])) ||
            !name_valid(NAME_LABEL_VALUE, api_text(&wanted->members[i].value)))
            return false;
    for (uint32_t i = 0; list && i < list->n; i++) {
        const struct doc *values = api_member(&list->items[i], "values");
        struct str op = doc_get_text(&list->items[i], "operator");
        bool set = str_is(op, "In") || str_is(op, "NotIn");
        bool there = str_is(op, "Exists") || str_is(op, "DoesNotExist");
        if (!name_valid(NAME_LABEL_KEY, doc_get_text(&list->items[i], "key")) ||
            (!set && !there) || set == api_empty(values))
            return false;
        for (uint32_t k = 0; values && k < values->n; k++)
            if (!name_valid(NAME_LABEL_VALUE, api_text(&values->items[k])))
                return false;
    }
    return true;
}

static bool selects_all(const struct doc *selector)
{
    return api_empty(api_member(selector, "matchLabels")) &&
           api_empty(api_member(selector, "matchExpressions"));
}

/* The pods that a workload makes must be its own. arg is the kind's name in the error,
 * and after a bar what is said of a selector of which upstream can make nothing. */
API_RULE(selects_template)
{
    const struct doc *labels = doc_path(at->parent, "template.metadata.labels");
    struct str kind = str_sub(str_from(arg), 0, str_find_byte(str_from(arg), '|', 0));
    if (at->value && selects_all(at->value))
        api_report(at, API_ERROR_INVALID, "empty selector is invalid for %.*s",
                   STR_ARG(kind));
    if (at->value && !rules_selector_usable(at->value)) {
        if (kind.n + 1 < strlen(arg) || arg[kind.n] == '|')
            api_fail(at, API_ERROR_INVALID, arg + kind.n + 1);
        return true;
    }
    if (at->value ? !selects_all(at->value) && !rules_selects(at->value, labels) : true)
        api_report_path(at->w, STR("spec.template.metadata.labels"), labels,
                        API_ERROR_INVALID, "`selector` does not match template `labels`");
    return true;
}

/* A selector of old, which is labels alone. */
API_RULE(labels_selected)
{
    const struct doc *selector = api_member(at->parent, "selector");
    const struct doc *meta = api_member(at->value, "metadata");
    const struct doc *labels = api_member(meta, "labels");
    bool all = true;
    for (uint32_t i = 0; selector && i < selector->n; i++) {
        const struct doc *have = doc_get_str(labels, doc_key(&selector->members[i]));
        all = all && have && doc_equal(have, &selector->members[i].value);
    }
    if (!all)
        api_report_at(at, ".metadata.labels", labels, API_ERROR_INVALID,
                      "`selector` does not match template `labels`");
    return true;
}

/* A pod of a workload is started again whenever it ends. arg: the kind. */
static void check_template_meta(struct api_at *at)
{
    const struct doc *meta = api_member(at->value, "metadata");
    rules_labels(at, ".labels", api_member(meta, "labels"));
    rules_annotations(at, ".annotations", api_member(meta, "annotations"));
    rule_pod_annotations(at, "annotations");
}

API_RULE(lasting_pods)
{
    const struct doc *spec = api_member(at->value, "spec");
    const struct doc *policy = api_member(spec, "restartPolicy");
    const struct doc *deadline = api_member(spec, "activeDeadlineSeconds");
    /* A template that its selector says nothing about is not looked into. */
    const struct doc *selector = api_member(at->parent, "selector");
    bool unusable = selector && !rules_selector_usable(selector);
    if (strcmp(arg, "ReplicaSet") == 0 && unusable)
        return false;
    if (!doc_is_string(policy, "Always"))
        rules_not_supported(at, ".spec.restartPolicy", policy, "Always");
    if (deadline)
        api_report_at(at, ".spec.activeDeadlineSeconds", deadline, API_ERROR_FORBIDDEN,
                      "activeDeadlineSeconds in %s is not Supported", arg);
    if (strcmp(arg, "StatefulSet") == 0 && unusable)
        return false;
    if (strcmp(arg, "StatefulSet") != 0 || !at->old || !at->value ||
        !doc_equal(at->value, at->old))
        return true;
    /* The pods of a template that stays are not looked at again. */
    check_template_meta(at);
    return false;
}

static void check_claim_volume(struct api_at *at, const struct doc *claim, uint32_t i)
{
    const struct doc *name = api_member(api_member(claim, "metadata"), "name");
    struct arena *a = at->w->a;
    struct str path = arena_printf(a, "spec.template.spec.volumes[%u].name", i);
    struct str problems[NAME_MAX_PROBLEMS];
    if (api_empty(name)) {
        api_report_path(at->w, path, name, API_ERROR_REQUIRED, "%s", "");
        path = arena_printf(
            a, "spec.template.spec.volumes[%u].persistentVolumeClaim.claimName", i);
        api_report_path(at->w, path, name, API_ERROR_REQUIRED, "%s", "");
        return;
    }
    unsigned n = name_check(NAME_DNS1123_LABEL, api_text(name), a, problems);
    for (unsigned k = 0; k < n; k++)
        api_report_path(at->w, path, name, API_ERROR_INVALID, "%.*s",
                        STR_ARG(problems[k]));
}

static uint32_t claims_alone(struct api_at *at, const struct doc *claims,
                             const struct doc *volumes)
{
    uint32_t n = 0;
    for (uint32_t i = 0; claims && i < claims->n; i++) {
        struct str name = doc_get_text(api_member(&claims->items[i], "metadata"), "name");
        uint32_t k = 0;
        while (volumes && k < volumes->n &&
               !str_eq(doc_get_text(&volumes->items[k], "name"), name))
            k++;
        if (!volumes || k == volumes->n)
            check_claim_volume(at, &claims->items[i], n++);
    }
    return n;
}

/* Upstream puts a volume for each claim template before those of the template's pods. */
API_RULE(volumes_before)
{
    static const char prefix[] = "spec.template.spec.volumes[";
    struct api_errors *errors = at->w->errors;
    size_t known = errors->list.n;
    uint32_t shift = claims_alone(
        at, at->value,
        api_member(api_member(api_member(at->parent, "template"), "spec"), "volumes"));
    for (size_t i = 0; shift && i < known; i++) {
        struct str *path = &errors->list.v[i].path;
        size_t close = str_find_byte(*path, ']', 0);
        unsigned n = 0;
        if (!str_starts(*path, STR(prefix)) || close == SIZE_MAX)
            continue;
        for (size_t k = strlen(prefix); k < close; k++)
            n = n * 10 + (unsigned)(path->p[k] - '0');
        struct str rest = str_sub(*path, close, SIZE_MAX);
        *path = arena_printf(at->w->a, "%s%u%.*s", prefix, n + shift, STR_ARG(rest));
    }
    return true;
}

/* ---- strategies ---- */

API_RULE(deployment_strategy)
{
    const struct doc *type = api_member(at->value, "type");
    const struct doc *rolling = api_member(at->value, "rollingUpdate");
    if (doc_is_string(type, "Recreate")) {
        if (rolling)
            api_report_at(at, ".rollingUpdate", rolling, API_ERROR_FORBIDDEN,
                          "may not be specified when strategy `type` is 'Recreate'");
        return false;
    }
    if (!doc_is_string(type, "RollingUpdate"))
        return rules_not_supported(at, "", at->value, "Recreate|RollingUpdate");
    if (!rolling)
        api_report_at(at, ".rollingUpdate", rolling, API_ERROR_REQUIRED,
                      "this should be defaulted and never be nil");
    return true;
}

API_RULE(some_may_change)
{
    const struct doc *away = api_member(at->value, "maxUnavailable");
    if (rules_share(away) == 0 && rules_share(api_member(at->value, "maxSurge")) == 0)
        api_report_at(at, ".maxUnavailable", away, API_ERROR_INVALID,
                      "may not be 0 when `maxSurge` is 0");
    return true;
}

API_RULE(progress_deadline)
{
    int64_t ready = rules_int(api_member(at->parent, "minReadySeconds"), 0);
    if (rules_int(at->value, 0) <= ready)
        api_fail(at, API_ERROR_INVALID, "must be greater than minReadySeconds");
    return true;
}

API_RULE(daemon_strategy)
{
    const struct doc *type = api_member(at->value, "type");
    const struct doc *rolling = api_member(at->value, "rollingUpdate");
    if (doc_is_string(type, "OnDelete"))
        return false;
    if (!doc_is_string(type, "RollingUpdate"))
        return rules_not_supported(at, "", at->value, "RollingUpdate|OnDelete");
    if (!rolling)
        api_report_at(at, ".rollingUpdate", rolling, API_ERROR_REQUIRED, "%s", "");
    return true;
}

API_RULE(surge_or_unavailable)
{
    const struct doc *away = api_member(at->value, "maxUnavailable");
    const struct doc *surge = api_member(at->value, "maxSurge");
    bool has_away = rules_share(away) != 0, has_surge = rules_share(surge) != 0;
    if (has_away && has_surge)
        api_report_at(at, ".maxSurge", surge, API_ERROR_INVALID,
                      "may not be set when maxUnavailable is non-zero");
    if (!has_away && !has_surge)
        api_report_at(at, ".maxUnavailable", away, API_ERROR_REQUIRED,
                      "cannot be 0 when maxSurge is 0");
    return true;
}

API_RULE(set_strategy)
{
    const struct doc *type = api_member(at->value, "type");
    const struct doc *rolling = api_member(at->value, "rollingUpdate");
    if (api_empty(type))
        return api_fail(at, API_ERROR_REQUIRED, "");
    if (doc_is_string(type, "RollingUpdate"))
        return true;
    if (!doc_is_string(type, "OnDelete"))
        return api_fail(at, API_ERROR_INVALID, "must be 'RollingUpdate' or 'OnDelete'");
    if (rolling)
        api_report_at(at, ".rollingUpdate", rolling, API_ERROR_INVALID,
                      "only allowed for updateStrategy 'RollingUpdate'");
    return false;
}

API_RULE(share_not_zero)
{
    if (rules_share(at->value) == 0)
        api_fail(at, API_ERROR_INVALID, "cannot be 0");
    return true;
}

API_RULE(pod_management)
{
    if (api_empty(at->value))
        return api_fail(at, API_ERROR_REQUIRED, "");
    if (!doc_is_string(at->value, "OrderedReady") &&
        !doc_is_string(at->value, "Parallel"))
        api_fail(at, API_ERROR_INVALID, "must be 'OrderedReady' or 'Parallel'");
    return true;
}

/* Reported with the path of one field. */
API_RULE(first_ordinal)
{
    const struct doc *start = api_member(at->value, "start");
    if (rules_int(start, 0) < 0)
        api_report_at(at, ".start", start, API_ERROR_INVALID,
                      "must be greater than or equal to 0");
    return true;
}

/* ---- status ---- */

static int64_t number(const struct doc *d, const char *key)
{
    return rules_int(api_member(d, key), 0);
}

/* arg "FIELD|text": not above another field. */
API_RULE(not_above)
{
    struct str a = str_from(arg);
    size_t bar = str_find_byte(a, '|', 0);
    const char *key = arena_str(at->w->a, str_sub(a, 0, bar)).p;
    if (rules_int(at->value, 0) > number(at->parent, key))
        api_fail(at, API_ERROR_INVALID, arg + bar + 1);
    return true;
}

API_RULE(not_decremented)
{
    if (at->old && (!at->value || rules_int(at->value, 0) < rules_int(at->old, 0)))
        api_report_shown(
            at, "", arena_printf(at->w->a, "%lld", (long long)rules_int(at->value, 0)),
            API_ERROR_INVALID, "cannot be decremented");
    return true;
}

/* ---- revisions ---- */

/* To upstream the data that a patch leaves as they are are others. */
API_RULE(revision_data)
{
    if (at->w->opts->op != API_CREATE)
        return at->w->opts->patch && at->value
                   ? api_fail(at, API_ERROR_INVALID, "field is immutable")
                   : rule_immutable(at, NULL);
    if (!at->value)
        api_fail(at, API_ERROR_REQUIRED, "data is mandatory");
    else if (at->value->type != DOC_MAP)
        api_fail(at, API_ERROR_REQUIRED, "data must be a valid JSON object");
    return true;
}
