/* SPDX-License-Identifier: Apache-2.0 */
/* What happens in the server, as metrics. */
#ifndef DRAY_SERVER_OBSERVE_MEASURE_H
#define DRAY_SERVER_OBSERVE_MEASURE_H

#include "server/admission/admission.h"
#include "server/observe/metrics.h"
#include "server/rest/write.h"

/* Nanoseconds of the clock that durations are taken from. */
uint64_t measure_now(void);

/* Who asks was found, or not; and whether he may. Since when: of measure_now. */
void measure_authentication(struct request *r, bool ok, uint64_t since);
void measure_authorization(struct request *r, bool ok, uint64_t since);
/* A handler takes the request, which is counted once it is over. */
void measure_begun(struct request *r);
/* The answer of one that lasts has begun. */
void measure_open(struct request *r);
void measure_over(struct request *r, unsigned status);
/* The server ended it to protect itself. */
void measure_terminated(struct request *r, unsigned status);
void measure_deprecated(struct request *r);
void measure_event(const struct request *watch, size_t bytes);
/* One plugin (name), or all (NULL). Returns measure_now. */
uint64_t measure_admission(const struct admission *a, const char *name, const char *type,
                           bool ok, uint64_t since);

/* ---- what others decide (measure_hooks.c) ---- */

/* "CREATE", ... */
struct str measure_operation(const struct admission *a);

struct measured_webhook {
    struct str name;
    bool mutating;
    bool failed, ignored; /* the call, and whether that mattered */
    bool broken;          /* what it wanted could not be done */
    bool refused;         /* the request, or failed it */
    unsigned code;        /* of the answer's HTTP status, or of the refusal's */
    double seconds;
};
void measure_webhook(const struct admission *a, const struct measured_webhook *w);
/* A condition of the webhook left the request out. */
void measure_exclusion(const struct admission *a, struct str webhook, bool mutating);
/* action: "allow", "deny", "audit", "warn"; error: upstream's error_type. */
void measure_validation(struct metrics *m, struct str policy, struct str binding,
                        const char *action, const char *error, double seconds);
void measure_mutation(struct metrics *m, struct str policy, struct str binding,
                      const char *error, double seconds);
/* failure: upstream's failure_type; "": none. */
void measure_conversion(struct metrics *m, const char *failure, double seconds);

void measure_store(const struct request *r, const char *operation, bool ok,
                   uint64_t since);

/* GET /metrics. */
void measure_serve(struct request *r);
/* What the system says of this process. */
void measure_process(struct strbuf *out);

#endif
