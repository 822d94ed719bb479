/* SPDX-License-Identifier: Apache-2.0 */
/* What a Job's policies make of failures and successes. */
#include "control/fields.h"
#include "control/job_inner.h"

/* ---- failures ---- */

static bool has_code(const struct doc *values, int64_t code)
{
    for (uint32_t i = 0; i < values->n; i++) {
        int64_t value;
        if (doc_int64(&values->items[i], &value) && value == code)
            return true;
    }
    return false;
}

static bool is_code_met(const struct doc *want, int64_t code)
{
    const struct doc *operator= doc_get(want, "operator");
    bool there = has_code(field_list(want, "values"), code);
    if (doc_is_string(operator, "In"))
        return there;
    return doc_is_string(operator, "NotIn") && !there;
}

/* A container that has ended badly, with a code that is wanted. */
static const struct doc *find_container(const struct doc *list, const struct doc *want)
{
    struct str name = doc_get_text(want, "containerName");
    for (uint32_t i = 0; i < list->n; i++) {
        const struct doc *c = &list->items[i], *over = doc_path(c, "state.terminated");
        int64_t code = field_int(over, "exitCode", 0);
        bool named = !name.p || str_eq(doc_get_text(c, "name"), name);
        if (over && over->type == DOC_MAP && named && code && is_code_met(want, code))
            return c;
    }
    return NULL;
}

static const struct doc *find_exit(const struct doc *pod, const struct doc *want)
{
    const struct doc *c =
        find_container(field_list(pod, "status.containerStatuses"), want);
    return c ? c : find_container(field_list(pod, "status.initContainerStatuses"), want);
}

static bool is_pattern_met(const struct doc *pattern, const struct doc *condition)
{
    return str_eq(doc_get_text(pattern, "type"), doc_get_text(condition, "type")) &&
           str_eq(doc_get_text(pattern, "status"), doc_get_text(condition, "status"));
}

static const struct doc *find_condition(const struct doc *pod, const struct doc *patterns)
{
    const struct doc *list = field_list(pod, "status.conditions");
    for (uint32_t i = 0; i < list->n; i++)
        for (uint32_t k = 0; k < patterns->n; k++)
            if (is_pattern_met(&patterns->items[k], &list->items[i]))
                return &list->items[i];
    return NULL;
}

static const struct {
    const char *name;
    enum job_action action;
} ACTIONS[] = {
    {"Ignore", JOB_IGNORE},
    {"Count", JOB_COUNT},
    {"FailIndex", JOB_FAIL_INDEX},
    {"FailJob", JOB_FAIL_JOB},
};

static enum job_action action_of(const struct doc *rule)
{
    for (size_t i = 0; i < sizeof ACTIONS / sizeof *ACTIONS; i++)
        if (doc_is_string(doc_get(rule, "action"), ACTIONS[i].name))
            return ACTIONS[i].action;
    return JOB_NO_ACTION;
}

static struct str tell_exit(const struct doc *pod, const struct doc *c, uint32_t rule,
                            struct arena *a)
{
    return arena_printf(a,
                        "Container %.*s for pod %.*s/%.*s failed with exit code %lld "
                        "matching FailJob rule at index %u",
                        STR_ARG(doc_get_text(c, "name")),
                        STR_ARG(field_meta(pod, "namespace")),
                        STR_ARG(field_meta(pod, "name")),
                        (long long)field_int(c, "state.terminated.exitCode", 0), rule);
}

static struct str tell_condition(const struct doc *pod, const struct doc *c,
                                 uint32_t rule, struct arena *a)
{
    return arena_printf(
        a, "Pod %.*s/%.*s has condition %.*s matching FailJob rule at index %u",
        STR_ARG(field_meta(pod, "namespace")), STR_ARG(field_meta(pod, "name")),
        STR_ARG(doc_get_text(c, "type")), rule);
}

static bool is_rule_met(const struct doc *rule, uint32_t index, const struct doc *pod,
                        struct str *message, struct arena *a)
{
    const struct doc *codes = doc_get(rule, "onExitCodes"), *found;
    if (codes && codes->type == DOC_MAP) {
        found = find_exit(pod, codes);
        *message = found ? tell_exit(pod, found, index, a) : STR_NONE;
    } else {
        found = find_condition(pod, field_list(rule, "onPodConditions"));
        *message = found ? tell_condition(pod, found, index, a) : STR_NONE;
    }
    return found != NULL;
}

enum job_action job_policy_match(const struct doc *policy, const struct doc *pod,
                                 struct str *message, struct arena *a)
{
    const struct doc *rules = field_list(policy, "rules");
    for (uint32_t i = 0; i < rules->n; i++) {
        enum job_action action = action_of(&rules->items[i]);
        if (action && is_rule_met(&rules->items[i], i, pod, message, a))
            return action;
    }
    *message = STR_NONE;
    return JOB_NO_ACTION;
}

/* ---- successes ---- */

static bool is_enough(const struct job_view *v, const struct doc *rule,
                      const struct job_spans *done, struct arena *a)
{
    struct str text = doc_get_text(rule, "succeededIndexes");
    int64_t count = field_int(rule, "succeededCount", -1);
    if (!text.p)
        return count >= 0 && job_spans_total(done) >= count;
    struct job_spans want = job_spans_parse(text, v->completions, a);
    int64_t have = job_spans_common(&want, done);
    return want.n && (have == job_spans_total(&want) || (count >= 0 && have >= count));
}

bool job_policy_succeeds(const struct job_view *v, const struct job_spans *done,
                         struct str *message, struct arena *a)
{
    const struct doc *rules = field_list(v->doc, "spec.successPolicy.rules");
    for (uint32_t i = 0; done->n && i < rules->n; i++)
        if (is_enough(v, &rules->items[i], done, a)) {
            *message = arena_printf(a, "Matched rules at index %u", i);
            return true;
        }
    return false;
}
