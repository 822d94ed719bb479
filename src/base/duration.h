/* SPDX-License-Identifier: Apache-2.0 */
/* Durations as Go writes them: "1m30s", "500ms", "0". */
#ifndef DRAY_BASE_DURATION_H
#define DRAY_BASE_DURATION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

/* Milliseconds, rounded down. false: no duration, or below zero, or above 2^40 s. */
bool duration_parse(struct str text, uint64_t *ms);

#endif
