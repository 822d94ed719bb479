/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is counted and measured, under the names that kube-apiserver has for it, and
 * GET /metrics, which prints it for Prometheus. Counting takes a look into a hash map,
 * and memory only for values of labels that were not seen before; there is an end to
 * those, beyond which nothing new is counted.
 */
#ifndef DRAY_SERVER_OBSERVE_METRICS_H
#define DRAY_SERVER_OBSERVE_METRICS_H

#include "base/str.h"

#include <stdint.h>

enum metric {
    METRIC_ADMISSION_CONTROLLER,
    METRIC_ADMISSION_STEP,
    METRIC_AUDIT_EVENTS,
    METRIC_AUTHENTICATION,
    METRIC_AUTHENTICATION_SECONDS,
    METRIC_AUTHORIZATION,
    METRIC_AUTHORIZATION_SECONDS,
    METRIC_CONVERSION_SECONDS,
    METRIC_CONVERSIONS,
    METRIC_DEPRECATED,
    METRIC_LASTING,
    METRIC_MATCH_EXCLUSIONS,
    METRIC_MUTATIONS,
    METRIC_MUTATION_SECONDS,
    METRIC_POD_SECURITY,
    METRIC_POD_SECURITY_EXEMPT,
    METRIC_REQUESTS,
    METRIC_REQUEST_SECONDS,
    METRIC_REQUEST_SLI_SECONDS,
    METRIC_RESPONSE_BYTES,
    METRIC_STORE_ERRORS,
    METRIC_STORE_REQUESTS,
    METRIC_STORE_SECONDS,
    METRIC_TERMINATIONS,
    METRIC_USERS,
    METRIC_VALIDATIONS,
    METRIC_VALIDATION_SECONDS,
    METRIC_WATCH_BYTES,
    METRIC_WATCH_EVENTS,
    METRIC_WEBHOOK_OPEN,
    METRIC_WEBHOOK_REFUSALS,
    METRIC_WEBHOOK_SECONDS,
    METRIC_WEBHOOKS,
    METRIC_COUNT
};

enum { METRIC_MAX_LABELS = 9, METRIC_MAX_SERIES = 20000 };

struct metrics;
struct metrics *metrics_new(void);
void metrics_free(struct metrics *m);

/* values: one for each label of the metric, in its order (metrics.c); borrowed. */
void metrics_add(struct metrics *m, enum metric which, const struct str *values,
                 double v);
void metrics_set(struct metrics *m, enum metric which, const struct str *values,
                 double v);
/* Of a histogram: seconds, bytes. */
void metrics_observe(struct metrics *m, enum metric which, const struct str *values,
                     double v);
/* All of them, as text. */
void metrics_print(const struct metrics *m, struct strbuf *out);

/* "# HELP ..." and "# TYPE ..." of a metric that is not counted but looked up. */
void metrics_print_head(struct strbuf *out, const char *name, const char *type,
                        const char *help);
/* A number as Prometheus reads it. */
void metrics_print_number(struct strbuf *out, double v);
/* NAME="VALUE", escaped. */
void metrics_print_label(struct strbuf *out, const char *name, struct str value);

#endif
