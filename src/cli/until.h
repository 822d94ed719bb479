/* SPDX-License-Identifier: Apache-2.0 */
/* Waiting until an object is as somebody wants it, by a watch of it alone. */
#ifndef DRAY_CLI_UNTIL_H
#define DRAY_CLI_UNTIL_H

#include "cli/targets.h"

/* object NULL: there is none. Lives during the call. */
typedef bool until_fn(void *ctx, const struct doc *object);

enum until_end { UNTIL_MET, UNTIL_LATE, UNTIL_FAILED };

/* ms: 0: looked at once; UINT64_MAX: for ever. UNTIL_FAILED: *e says why. */
enum until_end until_wait(struct session *s, const struct target *t, until_fn *met,
                          void *ctx, uint64_t ms, struct err *e);

#endif
