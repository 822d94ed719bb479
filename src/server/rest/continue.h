/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tokens with which a list goes on: the revision of its first page, and where the last
 * page ended. Clients must not look inside; ours are base64url of a small JSON object.
 */
#ifndef DRAY_SERVER_REST_CONTINUE_H
#define DRAY_SERVER_REST_CONTINUE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"

struct continue_token {
    uint64_t revision; /* 0: of whatever is there now */
    struct str after;  /* the last key that was listed, without the resource's prefix */
};

struct str continue_print(const struct continue_token *t, struct arena *a);
bool continue_parse(struct str text, struct arena *a, struct continue_token *out);

#endif
