/* SPDX-License-Identifier: Apache-2.0 */
#include "control/pod_brief.h"

#include "api/view_read.h"

static bool is_ready(const struct doc *status)
{
    const struct doc *list = doc_get(status, "conditions");
    for (uint32_t i = 0; list && list->type == DOC_LIST && i < list->n; i++)
        if (doc_is_string(doc_get(&list->items[i], "type"), "Ready"))
            return doc_is_string(doc_get(&list->items[i], "status"), "True");
    return false;
}

const void *pod_brief_view(const struct doc *d, struct arena *a, struct err *e)
{
    struct pod_brief *p = ARENA_NEW(a, struct pod_brief);
    const struct doc *meta = doc_get(d, "metadata"), *spec = doc_get(d, "spec"),
                     *status = doc_get(d, "status"), *phase = doc_get(status, "phase");
    struct view_reader r = {.a = a, .e = e};
    p->node = arena_str(a, doc_get_text(spec, "nodeName"));
    p->created = arena_str(a, doc_get_text(meta, "creationTimestamp"));
    p->deleted = doc_get_text(meta, "deletionTimestamp").n > 0;
    p->evicted = doc_is_string(phase, "Failed") &&
                 doc_is_string(doc_get(status, "reason"), "Evicted");
    p->ended = doc_is_string(phase, "Failed") || doc_is_string(phase, "Succeeded");
    p->ready = is_ready(status);
    p->tolerations =
        view_read_tolerations(&r, view_list(&r, spec, "tolerations"), &p->ntolerations);
    return r.failed ? NULL : p;
}

void pod_brief_by_node(struct index *x, const struct object *o)
{
    if (pod_brief(o)->node.n)
        index_emit(x, pod_brief(o)->node);
}
