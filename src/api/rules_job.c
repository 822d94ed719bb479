/* SPDX-License-Identifier: Apache-2.0 */
/* Rules of jobs. */
#include "api/rules_job.h"
#include "api/edit.h"
#include "api/timestamp.h"
#include "base/map.h"

#define NOTHING STR("") /* shown as a bad value */

/* ---- selector and labels ---- */

static void want_label(struct api_at *at, const struct doc *labels, const char *key,
                       struct str value)
{
    struct str path = arena_printf(at->w->a, "spec.template.metadata.labels[%s]", key);
    const struct doc *have = doc_get(labels, key);
    if (!have)
        api_report_path(at->w, path, NULL, API_ERROR_REQUIRED, "must be '%.*s'",
                        STR_ARG(value));
    else if (!str_eq(api_text(have), value))
        api_report_path(at->w, path, labels, API_ERROR_INVALID, "must be '%.*s'",
                        STR_ARG(value));
}

static bool is_made_later(const struct api_walk *w)
{
    return strcmp(w->type->name, "CronJob") == 0;
}

/* The server makes the selector unless the job says that it brings its own. */
API_RULE(generated_selector)
{
    static const char *const UIDS[] = {"controller-uid",
                                       "batch.kubernetes.io/controller-uid"};
    static const char *const NAMES[] = {"job-name", "batch.kubernetes.io/job-name"};
    const struct doc *meta = api_member(at->value, "metadata");
    const struct doc *spec = api_member(at->value, "spec");
    const struct doc *selector = api_member(spec, "selector");
    const struct doc *labels = doc_path(spec, "template.metadata.labels");
    struct str uid = doc_get_text(meta, "uid"), name = doc_get_text(meta, "name");
    struct doc expected = doc_make_map();
    if (at->w->opts->op != API_CREATE || rules_is_true(spec, "manualSelector") ||
        !selector)
        return true;
    if (uid.n == 0)
        api_report_at(at, ".metadata.uid", NULL, API_ERROR_REQUIRED, "%s", "");
    for (int i = 0; i < 2; i++) {
        want_label(at, labels, UIDS[i], uid);
        want_label(at, labels, NAMES[i], name);
        doc_set(at->w->a, &expected, UIDS[i], doc_make_string(at->w->a, uid));
        doc_set(at->w->a, &expected, NAMES[i], doc_make_string(at->w->a, name));
    }
    if (rules_selector_usable(selector) && !rules_selects(selector, &expected))
        api_report_at(at, ".spec.selector", selector, API_ERROR_INVALID,
                      "`selector` not auto-generated");
    return true;
}

/* A job that nobody stores has none yet. */
API_RULE(job_selector)
{
    const struct doc *labels = doc_path(at->parent, "template.metadata.labels");
    if (is_made_later(at->w))
        return false; /* which says enough (no-selector-yet) */
    if (!at->value && doc_get_text(api_member(at->w->object, "metadata"), "uid").n == 0)
        return true;
    if (!at->value)
        api_fail(at, API_ERROR_REQUIRED, "");
    if ((!at->value || rules_selector_usable(at->value)) &&
        !rules_selects(at->value, labels))
        api_report_path(at->w, STR("spec.template.metadata.labels"), labels,
                        API_ERROR_INVALID, "`selector` does not match template `labels`");
    return true;
}

/* Pods of an indexed job have the index in their host's name. */
API_RULE(indexed_names)
{
    const struct doc *spec = api_member(at->value, "spec");
    const struct doc *name = api_member(api_member(at->value, "metadata"), "name");
    int64_t n = rules_int(api_member(spec, "completions"), 0);
    struct str host =
        arena_printf(at->w->a, "%.*s-%lld", STR_ARG(api_text(name)), (long long)n - 1);
    if (at->w->opts->op != API_UPDATE_STATUS && job_is_indexed(spec) && n > 0 &&
        !name_valid(NAME_DNS1123_LABEL, host))
        api_report_at(at, ".metadata.name", name, API_ERROR_INVALID,
                      "will not able to create pod with invalid DNS label: %.*s",
                      STR_ARG(host));
    return true;
}

/* ---- numbers ---- */

enum { SOFT = 100000, PARALLEL = 100000, PARALLEL_HIGH = 10000, FAILED_HIGH = 10000 };

static void check_many(struct api_at *at, const struct doc *parallelism,
                       const struct doc *failed)
{
    if (!failed)
        api_report_at(at, ".maxFailedIndexes", failed, API_ERROR_REQUIRED,
                      "must be specified when completions is above %d", SOFT);
    if (rules_int(parallelism, 0) > PARALLEL_HIGH)
        api_report_at(
            at, ".parallelism", parallelism, API_ERROR_INVALID,
            "must be less than or equal to %d when completions are above %d and "
            "used with backoff limit per index",
            PARALLEL_HIGH, SOFT);
    if (rules_int(failed, 0) > FAILED_HIGH)
        api_report_at(
            at, ".maxFailedIndexes", failed, API_ERROR_INVALID,
            "must be less than or equal to %d when completions are above %d and "
            "used with backoff limit per index",
            FAILED_HIGH, SOFT);
}

static void check_indexed(struct api_at *at)
{
    const struct doc *completions = api_member(at->value, "completions");
    const struct doc *parallelism = api_member(at->value, "parallelism");
    const struct doc *failed = api_member(at->value, "maxFailedIndexes");
    if (!completions)
        api_report_at(at, ".completions", completions, API_ERROR_REQUIRED,
                      "when completion mode is Indexed");
    if (rules_int(parallelism, 0) > PARALLEL)
        api_report_at(at, ".parallelism", parallelism, API_ERROR_INVALID,
                      "must be less than or equal to %d when completion mode is Indexed",
                      PARALLEL);
    if (completions && rules_int(failed, 0) > rules_int(completions, 0))
        api_report_at(at, ".maxFailedIndexes", failed, API_ERROR_INVALID,
                      "must be less than or equal to completions");
    if (rules_int(failed, 0) > PARALLEL)
        api_report_at(at, ".maxFailedIndexes", failed, API_ERROR_INVALID,
                      "must be less than or equal to %d", PARALLEL);
    if (rules_int(completions, 0) > SOFT && api_member(at->value, "backoffLimitPerIndex"))
        check_many(at, parallelism, failed);
}

API_RULE(completion_mode)
{
    static const char *const INDEXED[] = {"backoffLimitPerIndex", "maxFailedIndexes"};
    const struct doc *mode = api_member(at->value, "completionMode");
    if (api_member(at->value, "maxFailedIndexes") &&
        !api_member(at->value, "backoffLimitPerIndex"))
        api_report_at(at, ".backoffLimitPerIndex", NULL, API_ERROR_REQUIRED,
                      "when maxFailedIndexes is specified");
    if (job_is_indexed(at->value))
        check_indexed(at);
    for (int i = 0; i < 2 && (!mode || doc_is_string(mode, "NonIndexed")); i++) {
        const struct doc *d = api_member(at->value, INDEXED[i]);
        if (d)
            api_report_at(at, arena_printf(at->w->a, ".%s", INDEXED[i]).p, d,
                          API_ERROR_INVALID, "requires indexed completion mode");
    }
    return true;
}

static bool is_path_char(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c && strchr("/-._~%!$&'()*+,;=:", c));
}

API_RULE(domain_path)
{
    struct str s = api_text(at->value), problems[NAME_MAX_PROBLEMS];
    size_t slash = str_find_byte(s, '/', 0);
    if (s.n == 0)
        return api_fail(at, API_ERROR_REQUIRED, "");
    if (slash == SIZE_MAX || slash == 0 || slash + 1 == s.n)
        return api_fail(at, API_ERROR_INVALID,
                        "must be a domain-prefixed path (such as \"acme.io/foo\")");
    struct str host = str_sub(s, 0, slash), path = str_sub(s, slash + 1, SIZE_MAX);
    unsigned n = name_check(NAME_DNS1123_SUBDOMAIN, host, at->w->a, problems);
    for (unsigned i = 0; i < n; i++)
        api_report_shown(at, "", api_shown_text(at->w->a, host), API_ERROR_INVALID,
                         "%.*s", STR_ARG(problems[i]));
    bool ok = true;
    for (size_t i = 0; i < path.n; i++)
        ok = ok && is_path_char(path.p[i]);
    if (!ok)
        api_report_shown(at, "", api_shown_text(at->w->a, path), API_ERROR_INVALID, "%s",
                         "Invalid path (regex used for validation is "
                         "'[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+')");
    return true;
}

/* ---- indexes "1,3-5" ---- */

static bool read_index(struct api_walk *w, struct str s, int64_t completions,
                       int64_t *out, struct str *why)
{
    struct str shown = api_shown_text(w->a, s);
    int64_t v = 0;
    bool ok = s.n > 0 && s.n < 19;
    for (size_t i = 0; ok && i < s.n; i++) {
        ok = s.p[i] >= '0' && s.p[i] <= '9';
        v = v * 10 + (s.p[i] - '0');
    }
    *out = v;
    if (!ok)
        *why = arena_printf(w->a, "cannot convert string to integer for index: %.*s",
                            STR_ARG(shown));
    else if (v >= completions)
        *why = arena_printf(w->a, "too large index: %.*s", STR_ARG(shown));
    return ok && v < completions;
}

static bool read_interval(struct api_walk *w, struct str s, int64_t completions,
                          int64_t *from, int64_t *to, struct str *why)
{
    size_t dash = str_find_byte(s, '-', 0);
    if (dash != SIZE_MAX && str_find_byte(s, '-', dash + 1) != SIZE_MAX) {
        *why = arena_printf(w->a,
                            "the fragment %.*s violates the requirement that an index "
                            "interval can have at most two parts separated by '-'",
                            STR_ARG(api_shown_text(w->a, s)));
        return false;
    }
    if (!read_index(w, str_sub(s, 0, dash), completions, from, why))
        return false;
    *to = *from;
    if (dash == SIZE_MAX)
        return true;
    if (!read_index(w, str_sub(s, dash + 1, SIZE_MAX), completions, to, why))
        return false;
    if (*from < *to)
        return true;
    *why = arena_printf(w->a, "non-increasing order, previous: %lld, current: %lld",
                        (long long)*from, (long long)*to);
    return false;
}

/* How many there are, or -1 and what is wrong. */
static int64_t count_indexes(struct api_walk *w, struct str s, int64_t completions,
                             struct str *why)
{
    int64_t total = 0, last = -1, from, to;
    for (size_t at = 0; s.n;) {
        size_t comma = str_find_byte(s, ',', at);
        if (!read_interval(w, str_sub(s, at, comma), completions, &from, &to, why))
            return -1;
        if (last >= from) {
            *why =
                arena_printf(w->a, "non-increasing order, previous: %lld, current: %lld",
                             (long long)last, (long long)from);
            return -1;
        }
        total += to - from + 1;
        last = to;
        if (comma == SIZE_MAX)
            break;
        at = comma + 1;
    }
    return total;
}

API_RULE(success_rule)
{
    const struct doc *count = api_member(at->value, "succeededCount");
    const struct doc *indexes = api_member(at->value, "succeededIndexes");
    int64_t n = rules_int(api_member(job_spec_at_hand(at->w), "completions"), 0),
            total = 0;
    struct str why;
    if (!count && !indexes)
        api_fail(at, API_ERROR_REQUIRED,
                 "at least one of succeededCount or succeededIndexes must be specified");
    if (indexes)
        total = count_indexes(at->w, api_text(indexes), n, &why);
    if (total < 0)
        api_report_at(at, ".succeededIndexes", indexes, API_ERROR_INVALID,
                      "error parsing succeededIndexes: %.*s", STR_ARG(why));
    total = total < 0 ? 0 : total;
    if (rules_int(count, 0) < 0)
        api_report_at(at, ".succeededCount", count, API_ERROR_INVALID,
                      "must be greater than or equal to 0");
    if (rules_int(count, 0) > n)
        api_report_at(at, ".succeededCount", count, API_ERROR_INVALID,
                      "must be less than or equal to %lld (the number of specified "
                      "completions)",
                      (long long)n);
    if (indexes && rules_int(count, 0) > total)
        api_report_at(at, ".succeededCount", count, API_ERROR_INVALID,
                      "must be less than or equal to %lld (the number of indexes in the "
                      "specified succeededIndexes field)",
                      (long long)total);
    return true;
}

/* ---- updates ---- */

/* May change along with parallelism in an indexed job. */
API_RULE(completions_update)
{
    const struct doc *now = api_member(at->value, "completions");
    const struct doc *was = api_member(at->old, "completions");
    bool same = now && was ? doc_equal(now, was) : now == was;
    int64_t parallel = rules_int(api_member(at->value, "parallelism"), 0);
    if (at->w->opts->op != API_UPDATE || same || is_made_later(at->w))
        return true;
    if (!job_is_indexed(at->value))
        api_report_at(at, ".completions", now, API_ERROR_INVALID, "field is immutable");
    else if (now && rules_int(now, 0) != parallel)
        api_report_at(at, ".completions", now, API_ERROR_INVALID,
                      "can only be modified in tandem with spec.parallelism");
    return true;
}

static bool has_condition(const struct doc *job, const char *type)
{
    const struct doc *list = doc_path(job, "status.conditions");
    for (uint32_t i = 0; list && i < list->n; i++)
        if (str_is(doc_get_text(&list->items[i], "type"), type) &&
            str_is(doc_get_text(&list->items[i], "status"), "True"))
            return true;
    return false;
}

static void take_over(struct api_walk *w, struct doc *to, const struct doc *from,
                      const char *key)
{
    const struct doc *value = doc_get(from, key);
    if (!to)
        return;
    doc_remove(to, str_from(key));
    if (value)
        doc_set(w->a, to, key, doc_dup(w->a, value));
}

/* Where the pods of a job that waits may go is still open. */
static void open_placing(struct api_walk *w, struct doc *template, const struct doc *now)
{
    static const char *const SPEC[] = {"nodeSelector", "tolerations", "schedulingGates"};
    struct doc *spec = api_edit_get(template, "spec");
    const struct doc *new = api_member(now, "spec");
    struct doc *meta = api_edit_get(template, "metadata");
    for (size_t i = 0; i < sizeof SPEC / sizeof *SPEC; i++)
        take_over(w, spec, new, SPEC[i]);
    take_over(w, meta, api_member(now, "metadata"), "labels");
    take_over(w, meta, api_member(now, "metadata"), "annotations");
    struct doc *affinity = api_edit_get(spec, "affinity");
    const struct doc *wanted = api_member(new, "affinity");
    if (affinity)
        take_over(w, affinity, wanted, "nodeAffinity");
    if (affinity && affinity->n == 0 && !wanted)
        doc_remove(spec, STR("affinity"));
    if (!affinity && wanted) {
        struct doc made = doc_make_map();
        take_over(w, &made, wanted, "nodeAffinity");
        doc_set(w->a, spec, "affinity", made);
    }
}

static void open_resources(struct api_walk *w, struct doc *template,
                           const struct doc *now)
{
    struct doc *spec = api_edit_get(template, "spec");
    for (int k = 0; k < 2; k++) {
        struct doc *list = api_edit_get(spec, rules_container_lists[k]);
        const struct doc *new =
            api_member(api_member(now, "spec"), rules_container_lists[k]);
        for (uint32_t i = 0; list && new && list->n == new->n &&i < list->n; i++)
            if (str_eq(doc_get_text(&list->items[i], "name"),
                       doc_get_text(&new->items[i], "name")))
                take_over(w, &list->items[i], &new->items[i], "resources");
    }
}

static bool is_waiting(const struct doc *job)
{
    return rules_is_true(api_member(job, "spec"), "suspend") &&
           !rules_int(doc_path(job, "status.active"), 0) &&
           (!doc_path(job, "status.startTime") || has_condition(job, "Suspended"));
}

API_RULE(template_update)
{
    const struct doc *old = at->w->opts->old;
    if (at->w->opts->op != API_UPDATE || !at->value || !at->old)
        return true;
    bool waits = is_waiting(old);
    bool suspended = rules_is_true(api_member(old, "spec"), "suspend");
    struct doc was = doc_dup(at->w->a, at->old);
    if (waits)
        open_placing(at->w, &was, at->value);
    if (waits && suspended)
        open_resources(at->w, &was, at->value);
    const struct doc *spec = api_member(at->value, "spec");
    bool same = waits && suspended ? spec && doc_equal(spec, api_member(&was, "spec"))
                                   : api_same(at->w, at->field, at->value, &was);
    if (same)
        return true;
    if (waits && suspended)
        api_report_at(at, ".spec", spec, API_ERROR_INVALID, "field is immutable");
    else
        api_fail(at, API_ERROR_INVALID, "field is immutable");
    return true;
}

/* ---- status ---- */

static void omit(struct api_at *at, bool wrong, const char *text)
{
    if (wrong)
        api_report_shown(at, ".conditions", NOTHING, API_ERROR_INVALID, "%s", text);
}

static void invalid(struct api_at *at, bool wrong, const char *key, const char *text)
{
    if (wrong)
        api_report_at(at, arena_printf(at->w->a, ".%s", key).p,
                      api_member(at->value, key), API_ERROR_INVALID, "%s", text);
}

static void require(struct api_at *at, bool wrong, const char *key, const char *text)
{
    if (wrong)
        api_report_at(at, arena_printf(at->w->a, ".%s", key).p, NULL, API_ERROR_REQUIRED,
                      "%s", text);
}

struct job_state {
    bool complete, failed, failure_target, success, finished;
};

static struct job_state state_of(const struct doc *job)
{
    struct job_state s = {.complete = has_condition(job, "Complete"),
                          .failed = has_condition(job, "Failed"),
                          .failure_target = has_condition(job, "FailureTarget"),
                          .success = has_condition(job, "SuccessCriteriaMet")};
    s.finished = s.complete || s.failed;
    return s;
}

static void check_conditions(struct api_at *at, const struct job_state *s)
{
    omit(at, s->complete && s->failed,
         "cannot set Complete=True and Failed=true conditions");
    omit(at, s->complete && s->failure_target,
         "cannot set Complete=True and FailureTarget=true conditions");
    omit(at, s->failed && !s->failure_target,
         "cannot set Failed=True condition without the FailureTarget=true condition");
    omit(at, s->complete && !s->success,
         "cannot set Complete=True condition without the SuccessCriteriaMet=true "
         "condition");
    omit(at, s->success && s->failed,
         "cannot set SuccessCriteriaMet=True and Failed=true conditions");
    omit(at, s->success && s->failure_target,
         "cannot set SuccessCriteriaMet=True and FailureTarget=true conditions");
    omit(at,
         s->complete && !s->success &&
             api_member(api_member(at->w->object, "spec"), "successPolicy"),
         "cannot set Complete=True for Job with SuccessPolicy unless "
         "SuccessCriteriaMet=True");
}

static int64_t when(const struct doc *d)
{
    int64_t seconds = 0;
    int32_t nanos;
    if (d && d->type == DOC_STRING)
        timestamp_parse(doc_str(d), &seconds, &nanos);
    return seconds;
}

static void check_times(struct api_at *at, const struct job_state *s)
{
    const struct doc *start = api_member(at->value, "startTime");
    const struct doc *end = api_member(at->value, "completionTime");
    const struct doc *old_start = api_member(at->old, "startTime");
    const struct doc *old_end = api_member(at->old, "completionTime");
    bool suspended = rules_is_true(api_member(at->w->object, "spec"), "suspend");
    invalid(at, end && !s->complete, "completionTime",
            "cannot set completionTime when there is no Complete=True condition");
    require(at, !end && s->complete, "completionTime",
            "completionTime is required for Complete jobs");
    invalid(at, start && end && when(end) < when(start), "completionTime",
            "must be equal to or after `startTime`");
    require(at, !start && s->finished, "startTime",
            "startTime is required for finished job");
    invalid(at, end && old_end && !doc_equal(end, old_end), "completionTime",
            "field is immutable");
    invalid(at, old_start && !suspended && !(start && doc_equal(start, old_start)),
            "startTime", "field is immutable for unsuspended job once set");
}

static int64_t of(const struct doc *d, const char *key)
{
    return rules_int(api_member(d, key), 0);
}

static void check_counts(struct api_at *at, const struct job_state *s)
{
    const struct doc *uncounted = api_member(at->value, "uncountedTerminatedPods");
    invalid(at, of(at->value, "active") > 0 && s->finished, "active",
            "active>0 is invalid for finished job");
    invalid(at, of(at->value, "terminating") > 0 && s->finished, "terminating",
            "terminating>0 is invalid for finished job");
    invalid(at, of(at->value, "ready") > of(at->value, "active"), "ready",
            "cannot set more ready pods than active");
    invalid(at,
            s->finished && (!api_empty(api_member(uncounted, "failed")) ||
                            !api_empty(api_member(uncounted, "succeeded"))),
            "uncountedTerminatedPods", "must be empty for finished job");
    invalid(at, of(at->value, "failed") < of(at->old, "failed"), "failed",
            "cannot decrease the failed counter");
    invalid(at, of(at->value, "succeeded") < of(at->old, "succeeded"), "succeeded",
            "cannot decrease the succeeded counter");
}

static void check_indexes(struct api_at *at)
{
    const struct doc *spec = api_member(at->w->object, "spec");
    const struct doc *completions = api_member(spec, "completions");
    const struct doc *limit = api_member(spec, "backoffLimitPerIndex");
    const struct doc *done = api_member(at->value, "completedIndexes");
    const struct doc *failed = api_member(at->value, "failedIndexes");
    struct str why;
    if (completions &&
        count_indexes(at->w, api_text(done), rules_int(completions, 0), &why) < 0)
        api_report_at(at, ".completedIndexes", done, API_ERROR_INVALID,
                      "error parsing completedIndexes: %.*s", STR_ARG(why));
    if (completions && limit && failed &&
        count_indexes(at->w, api_text(failed), rules_int(completions, 0), &why) < 0)
        api_report_at(at, ".failedIndexes", failed, API_ERROR_INVALID,
                      "error parsing failedIndexes: %.*s", STR_ARG(why));
    invalid(at, !api_empty(done) && !job_is_indexed(spec), "completedIndexes",
            "cannot set non-empty completedIndexes when non-indexed completion mode");
    invalid(at, failed && !limit, "failedIndexes",
            "cannot set non-null failedIndexes when backoffLimitPerIndex is null");
}

static void check_kept(struct api_at *at, const struct job_state *s,
                       const struct job_state *old)
{
    omit(at, old->failed && !s->failed,
         "cannot disable the terminal Failed=True condition");
    omit(at, old->complete && !s->complete,
         "cannot disable the terminal Complete=True condition");
    omit(at, old->failure_target && !s->failure_target,
         "cannot disable the terminal FailureTarget=True condition");
    omit(at, old->success && !s->success,
         "cannot disable the SuccessCriteriaMet=True condition");
    omit(at, old->complete && !old->success && s->success,
         "cannot set SuccessCriteriaMet=True for Job already has Complete=true "
         "conditions");
}

API_RULE(job_status)
{
    struct job_state s = state_of(at->w->object), old = state_of(at->w->opts->old);
    if (at->w->opts->op != API_UPDATE_STATUS)
        return true;
    check_conditions(at, &s);
    check_times(at, &s);
    check_counts(at, &s);
    check_indexes(at);
    check_kept(at, &s, &old);
    return true;
}

static void check_uids(struct api_at *at, struct strmap *seen, const char *key)
{
    const struct doc *list = api_member(at->value, key);
    for (uint32_t i = 0; list && i < list->n; i++) {
        const char *path = arena_printf(at->w->a, ".%s[%u]", key, i).p;
        bool made;
        if (api_empty(&list->items[i])) {
            api_report_at(at, path, &list->items[i], API_ERROR_INVALID,
                          "must not be empty");
            continue;
        }
        strmap_put(seen, api_text(&list->items[i]), &made);
        if (!made)
            api_report_at(at, path, &list->items[i], API_ERROR_DUPLICATE, "%s", "");
    }
}

API_RULE(uncounted_pods)
{
    struct strmap seen = STRMAP_INIT;
    check_uids(at, &seen, "succeeded");
    check_uids(at, &seen, "failed");
    strmap_release(&seen);
    return true;
}
