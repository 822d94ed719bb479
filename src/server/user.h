/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who asks, and may they. A user is found once a request (authentication, impersonation)
 * and asked about before its verb runs; whoever writes for a user may ask for more.
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
    bool admin; /* in the group system:masters, which may do everything */
};

bool user_in_group(const struct user *u, const char *group);

/* What somebody wants to do: a verb on a resource, or on a path where path.p is set. An
 * empty text says that there is none; group is empty for the core group. */
struct attributes {
    struct str verb, path;
    struct str group, version, resource, subresource, namespace, name;
    const struct selector *fields; /* of a list, watch or collection; NULL: none */
};
/* Any verb: "use", "escalate" and what else upstream has made up too. */
bool authorize_check(struct server *s, const struct user *u, const struct attributes *a);

/* false: 401, or 400 for a request that contradicts itself. */
bool user_authenticate(struct request *r, struct user *out);
/* verb as the API names it ("list"). false: 403. */
bool user_authorize(struct request *r, const struct user *u, const char *verb);

#endif
