/* SPDX-License-Identifier: Apache-2.0 */
/* Events as lines for people, the oldest first. */
#ifndef DRAY_CLI_EVENT_ROWS_H
#define DRAY_CLI_EVENT_ROWS_H

#include "cli/columns.h"
#include "doc/doc.h"

/* Of core/v1 or events.k8s.io objects, the same list in the order of their times. */
void event_rows_sort(struct doc *items);
/* "5m (x3 over 10m)"; now: nanoseconds since 1970. */
struct str event_age(const struct doc *event, int64_t now, struct arena *a);
int64_t event_rows_now(void);

#endif
