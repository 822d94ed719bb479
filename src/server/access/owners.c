/* SPDX-License-Identifier: Apache-2.0 */
#include "server/access/owners.h"

static bool is_there(const struct doc *list, const struct doc *owner)
{
    for (uint32_t i = 0; i < list->n; i++)
        if (doc_equal(&list->items[i], owner))
            return true;
    return false;
}

void owners_once(struct request *r, struct doc *d, bool admitted)
{
    struct doc *meta = object_meta(d), kept = doc_make_list();
    const struct doc *owners = meta ? doc_get(meta, "ownerReferences") : NULL;
    struct str twice = STR("");
    for (uint32_t i = 0; owners && owners->type == DOC_LIST && i < owners->n; i++) {
        const struct doc *owner = &owners->items[i];
        if (!is_there(&kept, owner))
            doc_append(r->a, &kept, *owner);
        else
            twice = arena_printf(r->a, "%.*s%s%.*s", STR_ARG(twice), twice.n ? ", " : "",
                                 STR_ARG(doc_get_text(owner, "uid")));
    }
    if (!owners || owners->type != DOC_LIST || kept.n == owners->n)
        return;
    doc_set(r->a, meta, "ownerReferences", kept);
    request_warn(r,
                 arena_printf(r->a,
                              ".metadata.ownerReferences contains duplicate entries%s; "
                              "API server dedups owner references in 1.20+, and may "
                              "reject such requests as early as 1.24; please fix your "
                              "requests; duplicate UID(s) observed: %.*s",
                              admitted ? " after mutating admission happens" : "",
                              STR_ARG(twice)));
}
