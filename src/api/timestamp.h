/* SPDX-License-Identifier: Apache-2.0 */
/* RFC 3339 times as metav1.Time and MicroTime write them, in UTC. */
#ifndef DRAY_API_TIMESTAMP_H
#define DRAY_API_TIMESTAMP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/str.h"

/* Any RFC 3339 text; fractions beyond nanoseconds are cut. */
bool timestamp_parse(struct str text, int64_t *seconds, int32_t *nanos);
/* "2026-01-31T12:00:00Z", or with ".000000" before the Z. Years 1 to 9999. */
struct str timestamp_print(int64_t seconds, int32_t nanos, bool micro, struct arena *a);

#endif
