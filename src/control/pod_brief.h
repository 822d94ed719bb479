/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What controllers of nodes want to know of each pod: a view that is kept instead of the
 * document, so that a hundred thousand pods take little.
 */
#ifndef DRAY_CONTROL_POD_BRIEF_H
#define DRAY_CONTROL_POD_BRIEF_H

#include "api/view.h"
#include "client/index.h"
#include "client/object.h"

struct pod_brief {
    struct str node; /* empty: none */
    struct str created;
    bool ended, evicted; /* phase Succeeded or Failed; by a kubelet */
    bool deleted;
    bool ready; /* condition Ready */
    const struct view_toleration *tolerations;
    uint32_t ntolerations;
};
object_view_fn pod_brief_view;

static inline const struct pod_brief *pod_brief(const struct object *o)
{
    return o->view;
}
/* For an index of pods by their nodes. */
void pod_brief_by_node(struct index *x, const struct object *o);

#endif
