/* SPDX-License-Identifier: Apache-2.0 */
/* What spread.c and spread_score.c share: rules of one attempt, and their counts. */
#ifndef DRAY_SCHED_SPREAD_H
#define DRAY_SCHED_SPREAD_H

#include "sched/plugins.h"
#include "sched/topology.h"

struct spread_count { /* one rule */
    const struct spread_rule *rule;
    struct selector pods;  /* whom it counts */
    struct strmap domains; /* value of the label -> pods counted */
    bool self;             /* it counts the pod itself */
    bool host;             /* its domains are single nodes: not counted ahead */
    double weight;         /* of scores: more for more domains */
};
typedef VEC(struct spread_count) spread_counts;

struct spread {
    spread_counts hard, soft;
    bool all_keys; /* soft: only nodes with all labels count */
};

struct spread *spread_of(struct cycle *c);
void spread_free(struct spread *s);
/* The rules that hold for the pod, its own or the profile's. */
void spread_collect(struct cycle *c, bool hard, spread_counts *out);
/* Pods on the node that the rule counts. */
int64_t spread_count_pods(const struct cycle *c, const struct spread_count *r,
                          const struct node *n);
/* The node has every label that the rules ask about. */
bool spread_has_keys(const spread_counts *rules, const struct node *n);
/* The rule counts pods of this node (node inclusion policies). */
bool spread_includes(const struct cycle *c, const struct spread_rule *r,
                     const struct node *n);

/* spread_default.c: pods like this one, as services and what owns it select them; empty:
 * nothing does. */
struct selector spread_default_selector(const struct cycle *c);

#endif
