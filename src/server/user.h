/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who asks, and may they. Administrators (group system:masters) may do everything, and
 * may act as somebody else; everybody may ask for health and version; nobody else may do
 * anything.
 */
#ifndef DRAY_SERVER_USER_H
#define DRAY_SERVER_USER_H

#include "server/inner.h"

struct user_extra {
    struct str key;
    const struct str *values;
    uint32_t nvalues;
};

struct user { /* texts live as long as the request */
    struct str name, uid;
    const struct str *groups;
    const struct user_extra *extra;
    uint32_t ngroups, nextra;
    bool admin;
};

/* false: 401, or 400 for a request that contradicts itself. */
bool user_authenticate(struct request *r, struct user *out);
/* verb as the API names it ("list"). false: 403. */
bool user_authorize(struct request *r, const struct user *u, const char *verb);

#endif
