/* SPDX-License-Identifier: Apache-2.0 */
/* Policies of jobs: what of pods that fail, and when a job has succeeded. */
#include "api/rules_job.h"

#define NOTHING STR("") /* shown as a bad value */

API_RULE(replacement_policy)
{
    rule_one_of(at, api_member(at->parent, "podFailurePolicy")
                        ? "Failed"
                        : "Failed|TerminatingOrFailed");
    return true;
}

API_RULE(ending_pods)
{
    const struct doc *policy = doc_path(at->value, "spec.restartPolicy");
    if (api_empty(policy) || doc_is_string(policy, "Always"))
        api_report_at(at, ".spec.restartPolicy", policy, API_ERROR_REQUIRED,
                      "valid values: \"OnFailure\", \"Never\"");
    else if (!doc_is_string(policy, "OnFailure") && !doc_is_string(policy, "Never"))
        rules_not_supported(at, ".spec.restartPolicy", policy, "OnFailure|Never");
    else if (api_member(at->parent, "podFailurePolicy") &&
             !doc_is_string(policy, "Never"))
        api_report_at(at, ".spec.restartPolicy", policy, API_ERROR_INVALID,
                      "only \"Never\" is supported when podFailurePolicy is specified");
    return true;
}

/* "a|b" as Go prints a list of texts. */
static void require_choice(struct api_at *at, const char *suffix, const struct doc *value,
                           const char *choices)
{
    struct strbuf b = STRBUF_INIT;
    for (const char *p = choices; *p; p++)
        if (*p == '|')
            strbuf_adds(&b, "\" \"");
        else
            strbuf_addc(&b, *p);
    if (api_empty(value))
        api_report_at(at, suffix, value, API_ERROR_REQUIRED, "valid values: [\"%s\"]",
                      strbuf_cstr(&b));
    else if (!rules_among(api_text(value), choices))
        rules_not_supported(at, suffix, value, choices);
    strbuf_release(&b);
}

API_RULE(choice)
{
    require_choice(at, "", at->value, arg);
    return true;
}

API_RULE(failure_action)
{
    const struct doc *spec = job_spec_at_hand(at->w);
    if (!doc_is_string(at->value, "FailIndex"))
        require_choice(at, "", at->value, "Count|FailIndex|FailJob|Ignore");
    else if (!api_member(spec, "backoffLimitPerIndex"))
        api_fail(at, API_ERROR_INVALID, "requires the backoffLimitPerIndex to be set");
    return true;
}

API_RULE(failure_rule)
{
    bool codes = api_member(at->value, "onExitCodes") != NULL;
    bool conditions = !api_empty(api_member(at->value, "onPodConditions"));
    if (codes == conditions)
        api_report_shown(at, "", NOTHING, API_ERROR_INVALID, "%s",
                         codes ? "specifying both OnExitCodes and OnPodConditions is not "
                                 "supported"
                               : "specifying one of OnExitCodes and OnPodConditions is "
                                 "required");
    return true;
}

API_RULE(container_of_job)
{
    const struct doc *spec = doc_path(job_spec_at_hand(at->w), "template.spec");
    bool found = false;
    for (int k = 0; k < 2; k++) {
        const struct doc *list = api_member(spec, rules_container_lists[k]);
        for (uint32_t i = 0; list && i < list->n; i++)
            found = found ||
                    str_eq(doc_get_text(&list->items[i], "name"), api_text(at->value));
    }
    if (!found)
        api_fail(
            at, API_ERROR_INVALID,
            "must be one of the container or initContainer names in the pod template");
    return true;
}

API_RULE(exit_codes)
{
    bool in = doc_is_string(api_member(at->parent, "operator"), "In"), ordered = true;
    if (api_empty(at->value))
        return api_fail(at, API_ERROR_INVALID, "at least one value is required");
    if (at->value->n > 255)
        api_report(at, API_ERROR_TOO_MANY, "%u: must have at most 255 items",
                   at->value->n);
    for (uint32_t i = 0; i < at->value->n; i++) {
        const struct doc *code = &at->value->items[i];
        int64_t v = rules_int(code, 0);
        if (in && v == 0)
            api_report_at(at, rules_index(at, i), code, API_ERROR_INVALID,
                          "must not be 0 for the In operator");
        for (uint32_t k = 0; k < i; k++)
            if (rules_int(&at->value->items[k], 0) == v) {
                api_report_at(at, rules_index(at, i), code, API_ERROR_DUPLICATE, "%s",
                              "");
                break;
            }
        ordered = ordered && (i == 0 || rules_int(&at->value->items[i - 1], 0) <= v);
    }
    if (!ordered)
        api_fail(at, API_ERROR_INVALID, "must be ordered");
    return true;
}

API_RULE(success_policy)
{
    const struct doc *rules = api_member(at->value, "rules");
    if (!job_is_indexed(at->parent))
        return api_fail(at, API_ERROR_INVALID, "requires indexed completion mode");
    if (api_empty(rules))
        api_report_at(at, ".rules", rules, API_ERROR_REQUIRED,
                      "at least one rules must be specified when the successPolicy is "
                      "specified");
    return true;
}
