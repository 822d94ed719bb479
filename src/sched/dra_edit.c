/* SPDX-License-Identifier: Apache-2.0 */
/* What of claims the scheduler changes, in documents. */
#include "sched/dra_inner.h"

static struct doc *finalizers(const struct doc *claim)
{
    const struct doc *list = doc_path(claim, "metadata.finalizers");
    return list && list->type == DOC_LIST ? (struct doc *)list : NULL;
}

bool dra_has_finalizer(const struct doc *claim)
{
    const struct doc *list = finalizers(claim);
    for (uint32_t i = 0; list && i < list->n; i++)
        if (str_eq(doc_str(&list->items[i]), DRA_FINALIZER))
            return true;
    return false;
}

void dra_add_finalizer(struct doc *claim, struct arena *a)
{
    struct doc *list = finalizers(claim);
    if (dra_has_finalizer(claim))
        return;
    if (!list)
        list = doc_set(a, (struct doc *)doc_get(claim, "metadata"), "finalizers",
                       doc_make_list());
    doc_append(a, list, doc_make_string(a, DRA_FINALIZER));
}

void dra_drop_finalizer(struct doc *claim)
{
    struct doc *list = finalizers(claim);
    uint32_t kept = 0;
    for (uint32_t i = 0; list && i < list->n; i++)
        if (!str_eq(doc_str(&list->items[i]), DRA_FINALIZER))
            list->items[kept++] = list->items[i];
    if (kept)
        list->n = kept;
    else
        doc_remove((struct doc *)doc_get(claim, "metadata"), STR("finalizers"));
}

struct doc *dra_status_of(struct doc *claim, struct arena *a)
{
    struct doc *status = (struct doc *)doc_get(claim, "status");
    if (status && status->type == DOC_MAP)
        return status;
    return doc_set(a, claim, "status", doc_make_map());
}

const struct doc *dra_reservation_patch(const struct object *claim, struct str uid,
                                        struct arena *a)
{
    struct doc *body = ARENA_NEW(a, struct doc);
    struct doc meta = doc_make_map(), status = doc_make_map(), list = doc_make_list(),
               entry = doc_make_map();
    *body = doc_make_map();
    doc_set_text(a, &entry, "$patch", STR("delete"));
    doc_set_text(a, &entry, "uid", uid);
    doc_append(a, &list, entry);
    doc_set(a, &status, "reservedFor", list);
    doc_set_text(a, &meta, "uid", claim->uid);
    doc_set(a, body, "metadata", meta);
    doc_set(a, body, "status", status);
    return body;
}

bool dra_only_for(const struct object *claim, struct str uid)
{
    const struct view_claim *v = dra_view(claim);
    return v->nreserved_for == 0 ||
           (v->nreserved_for == 1 && str_eq(v->reserved_for[0].uid, uid));
}
