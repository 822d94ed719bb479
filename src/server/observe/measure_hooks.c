/* SPDX-License-Identifier: Apache-2.0 */
/* What webhooks and policies decide, as metrics. */
#include "server/observe/measure.h"

enum { CODE_MAX = 600 }; /* larger ones are not told apart */

struct str measure_operation(const struct admission *a)
{
    return a->verb == ADMIT_CREATE   ? STR("CREATE")
           : a->verb == ADMIT_UPDATE ? STR("UPDATE")
           : a->verb == ADMIT_DELETE ? STR("DELETE")
                                     : STR("CONNECT");
}

static struct str yes_or_no(bool yes)
{
    return yes ? STR("true") : STR("false");
}

static struct str type_of(bool mutating)
{
    return mutating ? STR("admit") : STR("validating");
}

void measure_webhook(const struct admission *a, const struct measured_webhook *w)
{
    struct metrics *m = a->r->s->metrics;
    struct str operation = measure_operation(a), type = type_of(w->mutating),
               rejected = yes_or_no(w->refused && !w->ignored),
               code =
                   arena_printf(a->r->a, "%u", w->code > CODE_MAX ? CODE_MAX : w->code),
               error = w->broken   ? STR("apiserver_internal_error")
                       : w->failed ? STR("calling_webhook_error")
                                   : STR("no_error");
    struct str called[] = {code, w->name, operation, rejected, type};
    metrics_add(m, METRIC_WEBHOOKS, called, 1);
    metrics_observe(m, METRIC_WEBHOOK_SECONDS, called + 1, w->seconds);
    if (w->ignored)
        metrics_add(m, METRIC_WEBHOOK_OPEN, (struct str[]){w->name, type}, 1);
    else if (w->refused)
        metrics_add(m, METRIC_WEBHOOK_REFUSALS,
                    (struct str[]){error, w->name, operation, code, type}, 1);
}

void measure_exclusion(const struct admission *a, struct str webhook, bool mutating)
{
    struct str labels[] = {STR("webhook"), webhook, measure_operation(a),
                           mutating ? STR("admit") : STR("validate")};
    metrics_add(a->r->s->metrics, METRIC_MATCH_EXCLUSIONS, labels, 1);
}

void measure_validation(struct metrics *m, struct str policy, struct str binding,
                        const char *action, const char *error, double seconds)
{
    struct str labels[] = {str_from(action), str_from(error), policy, binding};
    metrics_add(m, METRIC_VALIDATIONS, labels, 1);
    metrics_observe(m, METRIC_VALIDATION_SECONDS, labels, seconds);
}

void measure_mutation(struct metrics *m, struct str policy, struct str binding,
                      const char *error, double seconds)
{
    struct str labels[] = {str_from(error), policy, binding};
    metrics_add(m, METRIC_MUTATIONS, labels, 1);
    metrics_observe(m, METRIC_MUTATION_SECONDS, labels, seconds);
}

void measure_conversion(struct metrics *m, const char *failure, double seconds)
{
    struct str labels[] = {str_from(failure), *failure ? STR("failure") : STR("success")};
    metrics_add(m, METRIC_CONVERSIONS, labels, 1);
    metrics_observe(m, METRIC_CONVERSION_SECONDS, labels, seconds);
}
