/* SPDX-License-Identifier: Apache-2.0 */
#include "server/observe/metrics.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"

/* ---- what there is ---- */

enum type { COUNTER, GAUGE, HISTOGRAM };

static const double REQUEST_SECONDS[] = {0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8,
                                         1,     1.25,  1.5,  2,   3,   4,   5,   6,
                                         8,     10,    15,   20,  30,  45,  60,  0};
static const double SLI_SECONDS[] = {0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1,  1.25, 1.5, 2,  3,
                                     4,    5,   6,   8,   10,  15,  20, 30,   45,  60, 0};
static const double BYTES[] = {1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 0};
static const double EVENT_BYTES[] = {1024,  2048,  4096,   8192, 16384,
                                     32768, 65536, 131072, 0};
static const double ADMISSION_SECONDS[] = {0.005, 0.025, 0.1, 0.5, 1, 2.5, 0};
static const double STORE_SECONDS[] = {0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8,
                                       1,     1.25,  1.5,  2,   3,   4,   5,   6,
                                       8,     10,    15,   20,  30,  45,  60,  0};
static const double WHO_SECONDS[] = {0.001, 0.002, 0.004,  0.008, 0.016, 0.032,
                                     0.064, 0.128, 0.256,  0.512, 1.024, 2.048,
                                     4.096, 8.192, 16.384, 0};

static const double WEBHOOK_SECONDS[] = {0.005, 0.025, 0.1, 0.5, 1, 2.5, 10, 25, 0};
static const double POLICY_SECONDS[] = {0.0000005, 0.001, 0.01, 0.1, 1, 0};
static const double CONVERSION_SECONDS[] = {0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1,
                                            2,     5,    10,   20,   30,  45,  60,  0};

#define OF_REQUEST                                                                       \
    "component", "group", "resource", "scope", "subresource", "verb", "version"

static const struct family {
    const char *name;
    enum type type;
    const double *bounds; /* of a histogram; ends with 0 */
    const char *labels[METRIC_MAX_LABELS + 1];
    const char *help;
} FAMILIES[METRIC_COUNT] = {
    [METRIC_ADMISSION_CONTROLLER] =
        {"apiserver_admission_controller_admission_duration_seconds",
         HISTOGRAM,
         ADMISSION_SECONDS,
         {"name", "operation", "rejected", "type"},
         "Time that one plugin of admission took, by its name and what was asked."},
    [METRIC_ADMISSION_STEP] =
        {"apiserver_admission_step_admission_duration_seconds",
         HISTOGRAM,
         ADMISSION_SECONDS,
         {"operation", "rejected", "type"},
         "Time that all plugins together took to change or to judge one object."},
    [METRIC_AUDIT_EVENTS] = {"apiserver_audit_event_total",
                             COUNTER,
                             NULL,
                             {NULL},
                             "Events that were written to the audit log."},
    [METRIC_AUTHENTICATION] = {"authentication_attempts",
                               COUNTER,
                               NULL,
                               {"result"},
                               "Requests whose user was looked for, by what was found."},
    [METRIC_AUTHENTICATION_SECONDS] = {"authentication_duration_seconds",
                                       HISTOGRAM,
                                       WHO_SECONDS,
                                       {"result"},
                                       "Time it took to find out who asks."},
    [METRIC_AUTHORIZATION] = {"authorization_attempts_total",
                              COUNTER,
                              NULL,
                              {"result"},
                              "Decisions on whether a user may do what he asks for."},
    [METRIC_AUTHORIZATION_SECONDS] = {"authorization_duration_seconds",
                                      HISTOGRAM,
                                      WHO_SECONDS,
                                      {"result"},
                                      "Time it took to decide that."},
    [METRIC_CONVERSION_SECONDS] = {"apiserver_conversion_webhook_duration_seconds",
                                   HISTOGRAM,
                                   CONVERSION_SECONDS,
                                   {"failure_type", "result"},
                                   "Time that webhooks took to convert custom objects."},
    [METRIC_CONVERSIONS] = {"apiserver_conversion_webhook_request_total",
                            COUNTER,
                            NULL,
                            {"failure_type", "result"},
                            "Calls of webhooks that convert custom objects."},
    [METRIC_DEPRECATED] = {"apiserver_requested_deprecated_apis",
                           GAUGE,
                           NULL,
                           {"group", "removed_release", "resource", "subresource",
                            "version"},
                           "Versions on their way out that somebody has asked for."},
    [METRIC_LASTING] = {"apiserver_longrunning_requests",
                        GAUGE,
                        NULL,
                        {OF_REQUEST},
                        "Watches and streams that are open."},
    [METRIC_MATCH_EXCLUSIONS] = {"apiserver_admission_match_condition_exclusions_total",
                                 COUNTER,
                                 NULL,
                                 {"kind", "name", "operation", "type"},
                                 "Requests that a webhook's matchConditions left out."},
    [METRIC_MUTATIONS] = {"apiserver_mutating_admission_policy_check_total",
                          COUNTER,
                          NULL,
                          {"error_type", "policy", "policy_binding"},
                          "Mutations of policies, those that were made anew included."},
    [METRIC_MUTATION_SECONDS] =
        {"apiserver_mutating_admission_policy_check_duration_seconds",
         HISTOGRAM,
         POLICY_SECONDS,
         {"error_type", "policy", "policy_binding"},
         "Time that a mutation took."},
    [METRIC_POD_SECURITY] = {"pod_security_evaluations_total",
                             COUNTER,
                             NULL,
                             {"decision", "mode", "policy_level", "policy_version",
                              "request_operation", "resource", "subresource"},
                             "Pods and templates that were held against a policy."},
    [METRIC_POD_SECURITY_EXEMPT] = {"pod_security_exemptions_total",
                                    COUNTER,
                                    NULL,
                                    {"request_operation", "resource", "subresource"},
                                    "Pods and templates that no policy is for."},
    [METRIC_REQUESTS] = {"apiserver_request_total",
                         COUNTER,
                         NULL,
                         {"code", "component", "dry_run", "group", "resource", "scope",
                          "subresource", "verb", "version"},
                         "Requests that were answered, by what they asked for and the "
                         "status of the answer."},
    [METRIC_REQUEST_SECONDS] = {"apiserver_request_duration_seconds",
                                HISTOGRAM,
                                REQUEST_SECONDS,
                                {"component", "dry_run", "group", "resource", "scope",
                                 "subresource", "verb", "version"},
                                "Time from a request to the end of its answer."},
    [METRIC_REQUEST_SLI_SECONDS] = {"apiserver_request_sli_duration_seconds",
                                    HISTOGRAM,
                                    SLI_SECONDS,
                                    {OF_REQUEST},
                                    "The same without what others took, and without dry "
                                    "runs."},
    [METRIC_RESPONSE_BYTES] = {"apiserver_response_sizes",
                               HISTOGRAM,
                               BYTES,
                               {OF_REQUEST},
                               "Sizes of the answers to requests that read."},
    [METRIC_STORE_ERRORS] = {"etcd_request_errors_total",
                             COUNTER,
                             NULL,
                             {"group", "operation", "resource"},
                             "Writes that the store refused or failed."},
    [METRIC_STORE_REQUESTS] = {"etcd_requests_total",
                               COUNTER,
                               NULL,
                               {"group", "operation", "resource"},
                               "Writes that went to the store, whichever it is."},
    [METRIC_STORE_SECONDS] = {"etcd_request_duration_seconds",
                              HISTOGRAM,
                              STORE_SECONDS,
                              {"group", "operation", "resource"},
                              "Time until the store had kept a write, or refused to."},
    [METRIC_TERMINATIONS] = {"apiserver_request_terminations_total",
                             COUNTER,
                             NULL,
                             {"code", "component", "group", "resource", "scope",
                              "subresource", "verb", "version"},
                             "Requests that the server ended to protect itself."},
    [METRIC_USERS] = {"authenticated_user_requests",
                      COUNTER,
                      NULL,
                      {"username"},
                      "Requests of known users."},
    [METRIC_VALIDATIONS] = {"apiserver_validating_admission_policy_check_total",
                            COUNTER,
                            NULL,
                            {"enforcement_action", "error_type", "policy",
                             "policy_binding"},
                            "What was done as a policy's validation failed."},
    [METRIC_VALIDATION_SECONDS] =
        {"apiserver_validating_admission_policy_check_duration_seconds",
         HISTOGRAM,
         POLICY_SECONDS,
         {"enforcement_action", "error_type", "policy", "policy_binding"},
         "Time that such a validation took."},
    [METRIC_WATCH_BYTES] = {"apiserver_watch_events_sizes",
                            HISTOGRAM,
                            EVENT_BYTES,
                            {"group", "resource", "version"},
                            "Sizes of the events that watches were sent."},
    [METRIC_WATCH_EVENTS] = {"apiserver_watch_events_total",
                             COUNTER,
                             NULL,
                             {"group", "resource", "version"},
                             "Events that watches were sent."},
    [METRIC_WEBHOOK_OPEN] = {"apiserver_admission_webhook_fail_open_count",
                             COUNTER,
                             NULL,
                             {"name", "type"},
                             "Calls of webhooks that failed, which was ignored."},
    [METRIC_WEBHOOK_REFUSALS] = {"apiserver_admission_webhook_rejection_count",
                                 COUNTER,
                                 NULL,
                                 {"error_type", "name", "operation", "rejection_code",
                                  "type"},
                                 "Requests that a webhook refused, or failed."},
    [METRIC_WEBHOOK_SECONDS] = {"apiserver_admission_webhook_admission_duration_seconds",
                                HISTOGRAM,
                                WEBHOOK_SECONDS,
                                {"name", "operation", "rejected", "type"},
                                "Time that a webhook of admission took."},
    [METRIC_WEBHOOKS] = {"apiserver_admission_webhook_request_total",
                         COUNTER,
                         NULL,
                         {"code", "name", "operation", "rejected", "type"},
                         "Calls of webhooks of admission."},
};

/* ---- series ---- */

struct series {
    struct series *next; /* of the metric, in the order in which they came */
    uint64_t hash;
    enum metric which;
    struct str values[METRIC_MAX_LABELS]; /* behind the counts */
    double sum;                           /* of counters and gauges: the value */
    uint64_t count;
    uint64_t counts[]; /* of a histogram: up to each bound, then beyond all */
};

struct metrics {
    struct series **slots;
    uint32_t mask, n;
    struct series *first[METRIC_COUNT], **last[METRIC_COUNT];
    uint64_t left_out;
};

struct metrics *metrics_new(void)
{
    struct metrics *m = mem_zalloc(sizeof *m);
    m->mask = 255;
    m->slots = mem_zalloc((m->mask + 1) * sizeof *m->slots);
    for (int i = 0; i < METRIC_COUNT; i++)
        m->last[i] = &m->first[i];
    return m;
}

void metrics_free(struct metrics *m)
{
    if (!m)
        return;
    for (int i = 0; i < METRIC_COUNT; i++)
        for (struct series *s = m->first[i], *next; s; s = next) {
            next = s->next;
            free(s);
        }
    free(m->slots);
    free(m);
}

static uint32_t count_labels(enum metric which)
{
    uint32_t n = 0;
    while (FAMILIES[which].labels[n])
        n++;
    return n;
}

/* The last place is for what is beyond all bounds. */
static uint32_t count_buckets(enum metric which)
{
    uint32_t n = 0;
    while (FAMILIES[which].bounds && FAMILIES[which].bounds[n] > 0)
        n++;
    return FAMILIES[which].bounds ? n + 1 : 0;
}

static uint64_t hash_of(enum metric which, const struct str *values, uint32_t n)
{
    uint64_t h = UINT64_C(14695981039346656037) ^ (uint64_t)which;
    for (uint32_t i = 0; i < n; i++) {
        for (size_t k = 0; k < values[i].n; k++)
            h = (h ^ (unsigned char)values[i].p[k]) * UINT64_C(1099511628211);
        h = (h ^ 0xff) * UINT64_C(1099511628211);
    }
    return h ^ h >> 29;
}

static bool is_of(const struct series *s, enum metric which, const struct str *values,
                  uint32_t n)
{
    bool same = s->which == which;
    for (uint32_t i = 0; same && i < n; i++)
        same = str_eq(s->values[i], values[i]);
    return same;
}

static void grow(struct metrics *m)
{
    uint32_t mask = m->mask * 2 + 1;
    struct series **slots = mem_zalloc((mask + 1) * sizeof *slots);
    for (uint32_t i = 0; i <= m->mask; i++) {
        if (!m->slots[i])
            continue;
        uint32_t at = m->slots[i]->hash & mask;
        while (slots[at])
            at = (at + 1) & mask;
        slots[at] = m->slots[i];
    }
    free(m->slots);
    m->slots = slots;
    m->mask = mask;
}

static struct series *make(enum metric which, const struct str *values, uint32_t n)
{
    size_t head = sizeof(struct series) + count_buckets(which) * sizeof(uint64_t);
    size_t bytes = 0;
    for (uint32_t i = 0; i < n; i++)
        bytes += values[i].n;
    struct series *s = mem_zalloc(head + bytes + 1);
    char *at = (char *)s + head;
    s->which = which;
    for (uint32_t i = 0; i < n; i++) {
        if (values[i].n)
            memcpy(at, values[i].p, values[i].n);
        s->values[i] = (struct str){at, values[i].n};
        at += values[i].n;
    }
    return s;
}

/* NULL: it is one too many. */
static struct series *find(struct metrics *m, enum metric which, const struct str *values)
{
    uint32_t n = count_labels(which);
    uint64_t hash = hash_of(which, values, n);
    uint32_t at = hash & m->mask;
    for (; m->slots[at]; at = (at + 1) & m->mask)
        if (m->slots[at]->hash == hash && is_of(m->slots[at], which, values, n))
            return m->slots[at];
    if (m->n == METRIC_MAX_SERIES) {
        m->left_out++;
        return NULL;
    }
    struct series *s = make(which, values, n);
    s->hash = hash;
    *m->last[which] = s;
    m->last[which] = &s->next;
    m->slots[at] = s;
    if (++m->n * 2 > m->mask)
        grow(m);
    return s;
}

void metrics_add(struct metrics *m, enum metric which, const struct str *values, double v)
{
    struct series *s = find(m, which, values);
    if (s)
        s->sum += v;
}

void metrics_set(struct metrics *m, enum metric which, const struct str *values, double v)
{
    struct series *s = find(m, which, values);
    if (s)
        s->sum = v;
}

void metrics_observe(struct metrics *m, enum metric which, const struct str *values,
                     double v)
{
    const double *bounds = FAMILIES[which].bounds;
    struct series *s = find(m, which, values);
    uint32_t i = 0;
    if (!s)
        return;
    while (bounds[i] > 0 && v > bounds[i])
        i++;
    s->counts[i]++;
    s->count++;
    s->sum += v;
}

/* ---- as text ---- */

void metrics_print_head(struct strbuf *out, const char *name, const char *type,
                        const char *help)
{
    strbuf_addf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

void metrics_print_number(struct strbuf *out, double v)
{
    if (v == floor(v) && fabs(v) < 1e15)
        strbuf_addf(out, "%.0f", v);
    else
        strbuf_addf(out, "%.9g", v);
}

void metrics_print_label(struct strbuf *out, const char *name, struct str value)
{
    strbuf_addf(out, "%s=\"", name);
    for (size_t i = 0; i < value.n; i++) {
        char c = value.p[i];
        if (c == '\n')
            strbuf_adds(out, "\\n");
        else if (c == '"' || c == '\\')
            strbuf_addf(out, "\\%c", c);
        else
            strbuf_addc(out, c);
    }
    strbuf_addc(out, '"');
}

/* bound NULL: none. */
static void print_name(struct strbuf *out, const struct series *s, const char *suffix,
                       const char *bound)
{
    const struct family *f = &FAMILIES[s->which];
    bool any = false;
    strbuf_addf(out, "%s%s", f->name, suffix);
    for (uint32_t i = 0; f->labels[i]; i++) {
        strbuf_addc(out, any ? ',' : '{');
        metrics_print_label(out, f->labels[i], s->values[i]);
        any = true;
    }
    if (bound)
        strbuf_addf(out, "%sle=\"%s\"", any ? "," : "{", bound);
    strbuf_adds(out, any || bound ? "} " : " ");
}

static void print_buckets(struct strbuf *out, const struct series *s)
{
    const double *bounds = FAMILIES[s->which].bounds;
    uint64_t below = 0;
    for (uint32_t i = 0;; i++) {
        char bound[32] = "+Inf";
        if (bounds[i] > 0)
            snprintf(bound, sizeof bound, "%.6g", bounds[i]);
        below += s->counts[i];
        print_name(out, s, "_bucket", bound);
        strbuf_addf(out, "%llu\n", (unsigned long long)below);
        if (bounds[i] <= 0)
            break;
    }
    print_name(out, s, "_sum", NULL);
    metrics_print_number(out, s->sum);
    strbuf_addc(out, '\n');
    print_name(out, s, "_count", NULL);
    strbuf_addf(out, "%llu\n", (unsigned long long)s->count);
}

void metrics_print(const struct metrics *m, struct strbuf *out)
{
    static const char *const TYPES[] = {"counter", "gauge", "histogram"};
    for (int i = 0; i < METRIC_COUNT; i++) {
        if (m->first[i])
            metrics_print_head(out, FAMILIES[i].name, TYPES[FAMILIES[i].type],
                               FAMILIES[i].help);
        for (const struct series *s = m->first[i]; s; s = s->next) {
            if (FAMILIES[i].type == HISTOGRAM) {
                print_buckets(out, s);
                continue;
            }
            print_name(out, s, "", NULL);
            metrics_print_number(out, s->sum);
            strbuf_addc(out, '\n');
        }
    }
    if (m->left_out)
        strbuf_addf(out, "# %llu observations of new labels were left out\n",
                    (unsigned long long)m->left_out);
}
