/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Webhooks and policies as the cluster has them: read once per version of their objects,
 * in the order of names, following the cache. Expressions are compiled when a request
 * first needs them. What is found here may go with the next event: nobody keeps it
 * while a request waits.
 */
#ifndef DRAY_SERVER_ADMISSION_HOOKS_H
#define DRAY_SERVER_ADMISSION_HOOKS_H

#include "api/cel_policy.h"
#include "server/admission/hook_post.h"
#include "server/admission/match.h"

struct condition {
    struct str name, text;
    struct policy_expr *expr; /* NULL: it is none, */
    struct str why;           /* which is why */
};
struct conditions {
    struct condition *v;
    uint32_t n;
};

/* ---- webhooks ---- */

enum review_version { REVIEW_NONE, REVIEW_V1, REVIEW_V1BETA1 };

struct webhook {
    struct str configuration, name;
    struct str uid; /* of all webhooks: "CONFIGURATION/NAME/N" where names are the same */
    struct match match;
    struct conditions conditions;
    struct policy_exprs *exprs; /* of the conditions; NULL: not compiled, or none */
    bool ignore;                /* failures of the call */
    bool again;                 /* reinvocationPolicy IfNeeded */
    bool dry_run;               /* it has no side effects then */
    uint32_t timeout_ms;
    enum review_version version;
    struct hook_peer peer;
};

/* ---- policies ---- */

struct validation {
    struct condition check, message_check; /* message_check without a text: none */
    struct str message, reason;
};
struct mutation {
    bool apply; /* ApplyConfiguration, else JSONPatch */
    struct condition patch;
};

struct policy_binding {
    struct str name;
    struct match match;
    bool matches_all; /* no matchResources */
    struct doc param; /* paramRef; null: none */
    struct names actions;
};

struct policy {
    struct str name;
    struct match match;
    bool ignore;                          /* failures */
    bool again;                           /* reinvocationPolicy IfNeeded */
    struct str param_version, param_kind; /* empty: no params */
    struct policy_exprs *exprs;           /* NULL: not compiled yet */
    struct conditions conditions, audits; /* of audits the name is the key */
    struct validation *validations;
    struct mutation *mutations;
    struct doc variables;
    uint32_t nvalidations, nmutations;
};

enum hook_kind {
    HOOK_MUTATING_WEBHOOKS,
    HOOK_VALIDATING_WEBHOOKS,
    HOOK_MUTATING_POLICIES,
    HOOK_VALIDATING_POLICIES,
    HOOK_MUTATING_BINDINGS,
    HOOK_VALIDATING_BINDINGS,
    HOOK_KINDS
};

/* An object of one of these kinds. */
struct hook {
    struct hook *next; /* by name */
    struct str name;
    struct arena arena;
    struct webhook *webhooks;
    uint32_t nwebhooks;
    struct policy policy;
    struct policy_binding binding;
    struct str policy_name; /* of a binding */
};

struct hooks;
struct hooks *hooks_new(void);
void hooks_free(struct hooks *h);
/* Once the cache is loaded. */
void hooks_follow(struct server *s);
/* All of a kind. */
struct hook *hooks_of(const struct server *s, enum hook_kind kind);
/* Compiles what is not yet. */
void hooks_ready_webhook(struct server *s, struct webhook *w);
void hooks_ready_policy(struct server *s, struct policy *p);

#endif
