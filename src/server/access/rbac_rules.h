/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rules of roles: what they allow, and whether some of them cover others. Pure; what
 * is read or made lives in the arena that is handed in.
 */
#ifndef DRAY_SERVER_ACCESS_RBAC_RULES_H
#define DRAY_SERVER_ACCESS_RBAC_RULES_H

#include "server/access/user.h"

struct rule {
    struct names verbs;
    struct names groups, resources, resource_names; /* "*" and "*" "/sub" mean many */
    struct names urls;                              /* paths; "/x" "*" is a prefix */
};
struct rules {
    const struct rule *v;
    uint32_t n;
};

/* Of a role's member "rules". */
struct rules rules_read(const struct doc *list, struct arena *a);
struct doc rule_doc(const struct rule *r, struct arena *a);
bool rule_allows(const struct rule *r, const struct attributes *want);
/* What of the wanted rules the held ones do not cover: of each object and path a rule. */
struct rules rules_uncovered(struct rules held, struct rules wanted, struct arena *a);
/* The same as errors say it, one line each, sorted; empty: all is covered. */
struct str rules_missing(struct rules held, struct rules wanted, struct arena *a);
/* A rule as errors print it. */
void rule_print(const struct rule *r, struct strbuf *out);

#endif
