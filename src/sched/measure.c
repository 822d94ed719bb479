/* SPDX-License-Identifier: Apache-2.0 */
#include "sched/measure.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/quote.h"

/* Each bound is twice the one before. */
static const struct bounds {
    double first;
    uint32_t n;
} SECONDS = {0.001, SCHED_BUCKETS}, TRIES = {1, 5};

static const char *const RESULTS[SCHED_RESULTS] = {"scheduled", "unschedulable", "error"};

void sched_measure_init(struct sched_measure *m, const struct sched_config *config)
{
    *m = (struct sched_measure){.config = config};
    m->attempts = mem_zalloc(config->n * sizeof *m->attempts);
}

void sched_measure_fini(struct sched_measure *m)
{
    free(m->attempts);
}

static double bound_at(const struct bounds *b, uint32_t i)
{
    return b->first * (double)(1u << i);
}

static void observe(struct sched_histogram *h, const struct bounds *b, double v)
{
    uint32_t i = 0;
    while (i < b->n && v > bound_at(b, i))
        i++;
    h->counts[i]++;
    h->n++;
    h->sum += v;
}

void sched_measure_attempt(struct sched_measure *m, const struct profile *p,
                           enum sched_result result, double seconds)
{
    observe(&m->attempts[p - m->config->profiles][result], &SECONDS, seconds);
}

void sched_measure_pod(struct sched_measure *m, uint32_t tries)
{
    observe(&m->tries, &TRIES, tries);
}

/* ---- printing ---- */

void sched_print_head(struct strbuf *out, const char *name, const char *type,
                      const char *help)
{
    strbuf_addf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

/* labels: "", or each with a comma behind it. */
static void print_name(struct strbuf *out, const char *name, const char *suffix,
                       const char *labels)
{
    size_t n = strlen(labels);
    strbuf_addf(out, "%s%s", name, suffix);
    if (n)
        strbuf_addf(out, "{%.*s}", (int)(n - 1), labels);
    strbuf_addc(out, ' ');
}

static void print_histogram(struct strbuf *out, const char *name, const char *labels,
                            const struct sched_histogram *h, const struct bounds *b)
{
    uint64_t below = 0;
    for (uint32_t i = 0; i < b->n; i++) {
        below += h->counts[i];
        strbuf_addf(out, "%s_bucket{%sle=\"%.6g\"} %llu\n", name, labels, bound_at(b, i),
                    (unsigned long long)below);
    }
    strbuf_addf(out, "%s_bucket{%sle=\"+Inf\"} %llu\n", name, labels,
                (unsigned long long)h->n);
    print_name(out, name, "_sum", labels);
    strbuf_addf(out, "%.9g\n", h->sum);
    print_name(out, name, "_count", labels);
    strbuf_addf(out, "%llu\n", (unsigned long long)h->n);
}

typedef void print_fn(struct strbuf *out, const char *labels,
                      const struct sched_histogram *h);

static void print_count(struct strbuf *out, const char *labels,
                        const struct sched_histogram *h)
{
    print_name(out, "scheduler_schedule_attempts_total", "", labels);
    strbuf_addf(out, "%llu\n", (unsigned long long)h->n);
}

static void print_seconds(struct strbuf *out, const char *labels,
                          const struct sched_histogram *h)
{
    print_histogram(out, "scheduler_scheduling_attempt_duration_seconds", labels, h,
                    &SECONDS);
}

static void each_result(const struct sched_measure *m, struct strbuf *out,
                        print_fn *print)
{
    for (uint32_t i = 0; i < m->config->n; i++)
        for (int k = 0; k < SCHED_RESULTS; k++) {
            struct strbuf labels = STRBUF_INIT;
            strbuf_adds(&labels, "profile=");
            strbuf_add_quoted(&labels, m->config->profiles[i].name);
            strbuf_addf(&labels, ",result=\"%s\",", RESULTS[k]);
            if (m->attempts[i][k].n)
                print(out, strbuf_cstr(&labels), &m->attempts[i][k]);
            strbuf_release(&labels);
        }
}

void sched_measure_print(const struct sched_measure *m, struct strbuf *out)
{
    sched_print_head(out, "scheduler_schedule_attempts_total", "counter",
                     "Attempts to find a node for a pod, by their result.");
    each_result(m, out, print_count);
    sched_print_head(out, "scheduler_scheduling_attempt_duration_seconds", "histogram",
                     "How long an attempt took, with the binding.");
    each_result(m, out, print_seconds);
    sched_print_head(out, "scheduler_pod_scheduling_attempts", "histogram",
                     "How many attempts it took until a pod had its node.");
    print_histogram(out, "scheduler_pod_scheduling_attempts", "", &m->tries, &TRIES);
}
