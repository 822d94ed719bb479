/* SPDX-License-Identifier: Apache-2.0 */
/* View of Node. */
#include "api/view_read.h"

struct view_node *view_node_new(const struct doc *d, struct arena *a, struct err *e)
{
    struct view_reader r = {.a = a, .e = e};
    struct view_node *out = ARENA_NEW(a, struct view_node);
    const struct doc *spec = view_map(&r, d, "spec"), *status = view_map(&r, d, "status");
    view_read_meta(&r, d, &out->meta);
    out->labels =
        view_label_map(&r, view_map(&r, doc_get(d, "metadata"), "labels"), &out->nlabels);
    out->declared_features = view_strs(&r, status, "declaredFeatures");
    out->taints = view_read_taints(&r, view_list(&r, spec, "taints"), &out->ntaints);
    out->unschedulable = view_bool(&r, spec, "unschedulable", NULL);
    out->allocatable = view_amount_map(&r, view_map(&r, status, "allocatable"), NULL,
                                       &out->nallocatable);
    if (!r.failed)
        return out;
    err_wrap(e, "Node \"%.*s\"", STR_ARG(out->meta.name));
    return NULL;
}
