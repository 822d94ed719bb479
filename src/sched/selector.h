/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Label selectors (metav1.LabelSelector), compiled: what rules between pods select pods
 * and namespaces with. Immutable, in the arena of their maker; texts are copied.
 */
#ifndef DRAY_SCHED_SELECTOR_H
#define DRAY_SCHED_SELECTOR_H

#include "api/view_read.h"

struct selector {
    const struct view_requirement *all; /* none: everything matches */
    uint32_t n;
    bool nothing; /* there was no selector at all, or one that cannot be: no match */
};

/* Labels, sorted by key. */
struct labels {
    const struct view_label *v;
    uint32_t n;
};

/* d: the selector, NULL or null: nothing matches. */
struct selector selector_read(struct view_reader *r, const struct doc *d);
/* All of these labels, as a Service's selector says it. */
struct selector selector_of_labels(const struct labels *l, struct arena *a);
/* Both must match. */
struct selector selector_and(const struct selector *x, const struct selector *y,
                             struct arena *a);
bool selector_matches(const struct selector *s, const struct labels *l);
/* Nothing is asked: it matches everything. */
static inline bool selector_empty(const struct selector *s)
{
    return !s->nothing && s->n == 0;
}

#endif
