/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by warn*.c alone. */
#ifndef DRAY_API_WARN_INNER_H
#define DRAY_API_WARN_INNER_H

#include "api/warn.h"

typedef void warn_fn(const struct api_warn *w, const struct doc *object,
                     const struct doc *old);

void warn_tell(const struct api_warn *w, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* What is said of a label of nodes that nobody should use anymore; NULL: nothing. */
const char *warn_label(struct str label);

/* Of an address that is not written as it should be. */
void warn_address(const struct api_warn *w, const char *path, struct str text);

/* Of files that volumes of a pod put into each other's way (warn_overlap.c). */
void warn_of_overlaps(const struct api_warn *w, const struct doc *volumes);
/* Of what a claim of a volume asks for; at: where its spec is. */
void warn_of_claim_spec(const struct api_warn *w, const struct doc *spec, const char *at);

warn_fn warn_of_pod, warn_of_set, warn_of_workload, warn_of_daemons, warn_of_job,
    warn_of_schedule, warn_of_template;
warn_fn warn_of_volume, warn_of_claim, warn_of_class, warn_of_capacity, warn_of_driver;

#endif
