/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who asks, and may they. Administrators (group system:masters) may do everything, and
 * may act as somebody else; everybody may ask for health and version; nobody else may do
 * anything.
 */
#ifndef DRAY_SERVER_USER_H
#define DRAY_SERVER_USER_H

#include "server/inner.h"

struct user {
    struct str name;
    bool admin;
};

/* false: 401, or 400 for a request that contradicts itself. */
bool user_authenticate(struct request *r, struct user *out);
/* verb as the API names it ("list"). false: 403. */
bool user_authorize(struct request *r, const struct user *u, const char *verb);

#endif
