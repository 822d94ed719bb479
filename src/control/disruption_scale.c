/* SPDX-License-Identifier: Apache-2.0 */
#include "control/disruption_inner.h"

struct owner {
    struct str version, kind, name, uid;
};

static enum progress ask(struct work *w, const struct resources *known,
                         const struct owner *o, struct str namespace, const char *sub,
                         const struct doc **out)
{
    const struct resource *r = resources_find(known, o->version, o->kind);
    const struct client_answer *a;
    if (!r)
        return work_fail(w, "found no controller of kind %.*s %.*s", STR_ARG(o->version),
                         STR_ARG(o->kind));
    struct str path = client_path(&r->kind, namespace, o->name, sub, w->a);
    enum progress p = work_ask(w, "GET", NULL, path, NULL, &a);
    if (p != PROGRESS_DONE)
        return p;
    *out = a->ok ? work_answer_doc(w, a) : NULL;
    return *out ? p : work_fail(w, "%.*s: %s", STR_ARG(path), a->message);
}

static const struct doc *controller_of(const struct doc *d)
{
    const struct doc *list = doc_path(d, "metadata.ownerReferences");
    bool is = false;
    for (uint32_t i = 0; list && list->type == DOC_LIST && i < list->n; i++)
        if (doc_get_bool(&list->items[i], "controller", &is) && is)
            return &list->items[i];
    return NULL;
}

/* The owner of a pod, or of its ReplicaSet the Deployment. */
static enum progress find_owner(struct work *w, const struct resources *known,
                                const struct object *pod, struct owner *out)
{
    const struct guarded *g = guarded(pod);
    const struct doc *d = NULL;
    *out = (struct owner){g->owner_version, g->owner_kind, g->owner_name, g->owner_uid};
    if (!str_is(out->kind, "ReplicaSet"))
        return PROGRESS_DONE;
    enum progress p = ask(w, known, out, pod->namespace, NULL, &d);
    const struct doc *above = p == PROGRESS_DONE ? controller_of(d) : NULL;
    if (above && doc_is_string(doc_get(above, "kind"), "Deployment"))
        *out =
            (struct owner){doc_get_text(above, "apiVersion"), doc_get_text(above, "kind"),
                           doc_get_text(above, "name"), doc_get_text(above, "uid")};
    return p;
}

enum progress disruption_scale(struct work *w, const struct resources *known,
                               const struct pods *pods, int64_t *out)
{
    VEC(struct str) seen = {0};
    enum progress all = PROGRESS_DONE;
    *out = 0;
    for (size_t i = 0; i < pods->n && all == PROGRESS_DONE; i++) {
        const struct doc *d = NULL;
        struct owner owner;
        int64_t replicas = 0;
        bool known_already = false;
        if (!guarded(pods->v[i])->owner_uid.n)
            continue;
        all = find_owner(w, known, pods->v[i], &owner);
        for (size_t k = 0; all == PROGRESS_DONE && k < seen.n; k++)
            known_already |= str_eq(seen.v[k], owner.uid);
        if (all != PROGRESS_DONE || known_already)
            continue;
        vec_push_in(w->a, &seen, owner.uid);
        all = ask(w, known, &owner, pods->v[i]->namespace, "scale", &d);
        if (all == PROGRESS_DONE)
            doc_get_int64(doc_get(d, "spec"), "replicas", &replicas);
        *out += replicas;
    }
    return all;
}
