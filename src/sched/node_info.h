/* SPDX-License-Identifier: Apache-2.0 */
/* A Node as the scheduler sees it: the view of its object, made once a version. */
#ifndef DRAY_SCHED_NODE_INFO_H
#define DRAY_SCHED_NODE_INFO_H

#include "api/view.h"
#include "client/object.h"
#include "sched/resources.h"
#include "sched/selector.h"

struct node_image {
    struct str name;
    int64_t size; /* bytes */
};

struct node_info {
    const struct view_node *node;
    struct labels labels;
    struct resources allocatable;
    int64_t max_pods;
    const struct node_image *images; /* each name of each image, sorted */
    uint32_t nimages;
};

/* An object_view_fn. */
const void *node_info_new(const struct doc *node, struct arena *a, struct err *e);
static inline const struct node_info *node_info_of(const struct object *node)
{
    return node->view;
}
/* NULL: the node has no such label. */
static inline const struct str *node_label(const struct node_info *n, struct str key)
{
    return view_label_find(n->labels.v, n->labels.n, key);
}

#endif
