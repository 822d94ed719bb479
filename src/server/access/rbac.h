/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Roles and bindings, compiled once per version of the object and found by subject: an
 * answer costs a look-up for the user's name and each of its groups, and the rules of the
 * bindings found. It knows nothing of requests: objects are put in and taken out.
 *
 * A ClusterRole that aggregates others and has no rules of its own yet (a controller
 * writes them, if one runs) stands for the rules of those that it selects.
 */
#ifndef DRAY_SERVER_ACCESS_RBAC_H
#define DRAY_SERVER_ACCESS_RBAC_H

#include "server/access/rbac_rules.h"

enum rbac_kind { RBAC_CLUSTER_ROLE, RBAC_CLUSTER_BINDING, RBAC_ROLE, RBAC_BINDING };
enum { RBAC_KINDS = 4 };

struct rbac;
struct rbac *rbac_new(void);
void rbac_free(struct rbac *b);
/* Takes the place of one of that name. The document is copied. */
void rbac_put(struct rbac *b, enum rbac_kind kind, struct str namespace, struct str name,
              const struct doc *d);
void rbac_remove(struct rbac *b, enum rbac_kind kind, struct str namespace,
                 struct str name);

/* What a rule comes from. */
struct rbac_subject {
    struct str kind, namespace, name;
};
struct rbac_source {
    struct str namespace, name; /* of the binding; no namespace: a ClusterRoleBinding */
    struct str role_kind, role;
    const struct rbac_subject *subject;
};

/* every rule of the user in a namespace (empty: of the cluster alone), those of the
 * cluster first; each false: no more. Roles that are not there are named in *missing (may
 * be NULL; STR_NONE: all are there). */
typedef bool rbac_each(void *ctx, const struct rbac_source *from, const struct rule *r);
void rbac_visit(struct rbac *b, const struct user *u, struct str namespace,
                struct arena *a, rbac_each *each, void *ctx, struct str *missing);
/* *why: what allows it, or which roles are not there; may be NULL. */
bool rbac_allows(struct rbac *b, const struct user *u, const struct attributes *want,
                 struct arena *a, struct str *why);
/* All rules of the user, valid until the next put or remove. */
struct rules rbac_rules(struct rbac *b, const struct user *u, struct str namespace,
                        struct arena *a, struct str *missing);
/* The rules of a role, as rbac_rules; false: it is not there. */
bool rbac_role(struct rbac *b, struct str kind, struct str namespace, struct str name,
               struct rules *out);

#endif
