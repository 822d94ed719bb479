/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who asks, and may they. A user is found once a request (authentication, impersonation)
 * and asked about before its verb runs; whoever writes for a user may ask for more.
 * system:masters may do everything; then the node authorizer is asked, then roles.
 */
#ifndef DRAY_SERVER_ACCESS_USER_H
#define DRAY_SERVER_ACCESS_USER_H

#include "server/inner.h"

struct names { /* several texts */
    const struct str *v;
    uint32_t n;
};
bool names_have(const struct names *names, struct str name);
/* Of a list of strings, copied; anything else: none. */
struct names names_read(const struct doc *list, struct arena *a);
struct doc names_doc(struct names names, struct arena *a);

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
    bool admin;         /* in the group system:masters, which may do everything */
    struct str warning; /* about the credentials; empty: none */
};

bool user_in_group(const struct user *u, const char *group);
bool user_is_in(const struct user *u, struct str group);
/* The only value of a key; STR_NONE: there is none, or more than one. */
struct str user_extra_find(const struct user *u, const char *key);
/* Adds a group unless the user is in it. */
void user_add_group(struct user *u, struct str group, struct arena *a);
/* As the reviews print a user: username, uid, groups, extra. */
struct doc user_doc(const struct user *u, struct arena *a);
/* "system:serviceaccount:NAMESPACE:NAME"; false: it is no such name. */
bool user_split_account(struct str username, struct str *namespace, struct str *name);

/* ---- who (authn.c, impersonate.c) ---- */

/* By the connection or its headers. false: 401. */
bool user_authenticate(struct request *r, struct user *out);
/* As whom the request acts: *u is changed when its headers name somebody whom the user
 * may act for. false: 400 or 403. */
bool user_impersonate(struct request *r, struct user *u);

/* ---- may they (authorize.c) ---- */

/* What somebody wants to do: a verb on a resource, or on a path where path.p is set. An
 * empty text says that there is none; group is empty for the core group. */
struct attributes {
    struct str verb, path;
    struct str group, version, resource, subresource, namespace, name;
    const struct selector *fields; /* of a list, watch or collection; NULL: none */
};
/* Any verb: "use", "escalate" and what else upstream has made up too. */
bool authorize_check(struct server *s, const struct user *u, const struct attributes *a);
/* The same; *why: what allows or refuses it, in upstream's words; may be empty. */
bool authorize(struct server *s, const struct user *u, const struct attributes *want,
               struct arena *a, struct str *why);
/* What the request wants, with the verb as the API names it ("list"). */
struct attributes authorize_attributes(struct request *r);
/* RESOURCE "NAME" is forbidden: User "..." cannot ... */
struct str forbidden_text(const struct user *u, const struct attributes *want,
                          struct str why, struct arena *a);
/* 403 with that; false. */
bool fail_forbidden(struct request *r, const struct user *u,
                    const struct attributes *want, struct str why);
/* false: 403. */
bool user_authorize(struct request *r, const struct user *u);

#endif
