/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Work on a claim (spec 6.1.13-17): reservations of consumers that are gone are taken
 * back; with the last one the allocation goes too, and the finalizer; and a claim made
 * for a pod that will not run is deleted.
 */
#include "api/claim_refs.h"
#include "api/edit.h"
#include "control/claims_inner.h"

static const char FINALIZER[] = "resource.kubernetes.io/delete-protection";

/* As it was first seen (take_claim). */
static const struct object *claim_of(const struct work *w)
{
    return w->kept;
}

/* ---- consumers ---- */

/* *keep: the consumer may still want it. One that no cache knows is asked for: it may be
 * new. */
static enum progress check_live(struct work *w, const struct client_kind *kind,
                                struct str name, struct str uid, bool *keep)
{
    const struct client_answer *a;
    struct str path = client_path(kind, claim_of(w)->namespace, name, NULL, w->a);
    enum progress p = work_ask(w, "GET", NULL, path, NULL, &a);
    if (p != PROGRESS_DONE)
        return p;
    const struct doc *d = a->ok ? work_answer_doc(w, a) : NULL;
    if (!d && a->status != 404)
        return work_fail(w, "%s", a->message);
    *keep = d && str_eq(doc_get_text(doc_get(d, "metadata"), "uid"), uid);
    return PROGRESS_DONE;
}

static enum progress check_consumer(struct work *w, const struct doc *reserved,
                                    bool *keep)
{
    const struct claims *c = claims_of(w);
    struct str group = doc_get_text(reserved, "apiGroup"),
               resource = doc_get_text(reserved, "resource"),
               name = doc_get_text(reserved, "name"), uid = doc_get_text(reserved, "uid");
    bool pod = !group.n && str_is(resource, "pods"),
         pod_group = c->opts.group_claims && c->groups &&
                     str_is(group, "scheduling.k8s.io") && str_is(resource, "podgroups");
    *keep = true;
    if (!pod && !pod_group)
        return PROGRESS_DONE; /* nobody knows what that is: it stays */
    if (claims_was_deleted(c, uid)) {
        *keep = false;
        return PROGRESS_DONE;
    }
    const struct object *o =
        informer_find(pod ? c->pods : c->groups, claim_of(w)->namespace, name);
    if (!o)
        return check_live(w, pod ? &claims_kind_pod : &claims_kind_group, name, uid,
                          keep);
    *keep = str_eq(o->uid, uid) && !(pod && claim_ref_pod_is_done(o->doc));
    return PROGRESS_DONE;
}

static enum progress find_remaining(struct work *w, struct doc *remaining, uint32_t *had)
{
    const struct doc *list = doc_path(claim_of(w)->doc, "status.reservedFor");
    *remaining = doc_make_list();
    *had = list && list->type == DOC_LIST ? list->n : 0;
    for (uint32_t i = 0; i < *had; i++) {
        bool keep;
        enum progress p = check_consumer(w, &list->items[i], &keep);
        if (p != PROGRESS_DONE)
            return p;
        if (keep)
            doc_append(w->a, remaining, list->items[i]);
    }
    return PROGRESS_DONE;
}

/* ---- writing ---- */

static bool has_finalizer(const struct doc *claim)
{
    const struct doc *list = doc_path(claim, "metadata.finalizers");
    for (uint32_t i = 0; list && list->type == DOC_LIST && i < list->n; i++)
        if (doc_is_string(&list->items[i], FINALIZER))
            return true;
    return false;
}

static bool is_allocated(const struct doc *claim)
{
    const struct doc *allocation = doc_path(claim, "status.allocation");
    return allocation && allocation->type == DOC_MAP;
}

/* *claim becomes what the server made of it. */
static enum progress update(struct work *w, const char *sub, const struct doc **claim,
                            const struct doc *want)
{
    const struct client_answer *a;
    struct str path = client_path(&claims_kind_claim, claim_of(w)->namespace,
                                  claim_of(w)->name, sub, w->a);
    enum progress p = work_ask(w, "PUT", NULL, path, want, &a);
    if (p != PROGRESS_DONE)
        return p;
    const struct doc *d = a->ok ? work_answer_doc(w, a) : NULL;
    if (!d)
        return work_fail(w, "%s", a->message);
    *claim = d;
    return PROGRESS_DONE;
}

static enum progress write_status(struct work *w, const struct doc **claim,
                                  const struct doc *remaining, bool deallocate)
{
    struct doc d = doc_dup(w->a, *claim);
    struct doc *status = api_edit_get(&d, "status");
    doc_remove(status, STR("reservedFor"));
    if (remaining->n > 0)
        doc_set(w->a, status, "reservedFor", *remaining);
    if (deallocate)
        doc_remove(status, STR("allocation"));
    return update(w, "status", claim, &d);
}

static enum progress drop_finalizer(struct work *w, const struct doc **claim)
{
    struct doc d = doc_dup(w->a, *claim), left = doc_make_list();
    struct doc *meta = api_edit_get(&d, "metadata");
    const struct doc *list = doc_get(meta, "finalizers");
    for (uint32_t i = 0; i < list->n; i++)
        if (!doc_is_string(&list->items[i], FINALIZER))
            doc_append(w->a, &left, list->items[i]);
    doc_remove(meta, STR("finalizers"));
    if (left.n > 0)
        doc_set(w->a, meta, "finalizers", left);
    return update(w, NULL, claim, &d);
}

/* ---- the whole ---- */

/* Some consumers are gone. */
static enum progress release(struct work *w, const struct doc *remaining)
{
    const struct doc *claim = claim_of(w)->doc;
    bool deallocate = remaining->n == 0 && has_finalizer(claim);
    enum progress p = write_status(w, &claim, remaining, deallocate);
    if (p == PROGRESS_DONE && has_finalizer(claim) && !is_allocated(claim))
        p = drop_finalizer(w, &claim);
    return p;
}

/* A claim that is deleted, and that nobody uses. */
static enum progress let_go(struct work *w, const struct doc *remaining)
{
    const struct doc *claim = claim_of(w)->doc;
    enum progress p = PROGRESS_DONE;
    if (is_allocated(claim))
        p = write_status(w, &claim, remaining, true);
    return p == PROGRESS_DONE ? drop_finalizer(w, &claim) : p;
}

/* A claim made for a pod that will not need it; of a pod that is not known, garbage
 * collection decides. */
static enum progress delete_unused(struct work *w)
{
    const struct doc *owner = claim_ref_controller(claim_of(w)->doc);
    const struct client_answer *a;
    if (!owner || !doc_is_string(doc_get(owner, "apiVersion"), "v1") ||
        !doc_is_string(doc_get(owner, "kind"), "Pod"))
        return PROGRESS_DONE;
    const struct object *pod = informer_find(claims_of(w)->pods, claim_of(w)->namespace,
                                             doc_get_text(owner, "name"));
    if (!pod || (str_eq(pod->uid, doc_get_text(owner, "uid")) &&
                 !claim_ref_pod_is_done(pod->doc)))
        return PROGRESS_DONE;
    struct str path = client_path(&claims_kind_claim, claim_of(w)->namespace,
                                  claim_of(w)->name, NULL, w->a);
    enum progress p = work_ask(w, "DELETE", NULL, path, NULL, &a);
    if (p == PROGRESS_DONE && !a->ok && a->status != 404)
        return work_fail(w, "delete unused generated claim %.*s: %s",
                         STR_ARG(claim_of(w)->key), a->message);
    return p;
}

static void release_claim(void *kept)
{
    object_unref(kept);
}

/* All of it starts from the claim as it was first seen: what the controller itself has
 * changed meanwhile is not to lead elsewhere. */
static bool take_claim(struct work *w, struct str key)
{
    const struct object *o = w->kept ? NULL : informer_get(claims_of(w)->claims, key);
    if (o) {
        w->kept = object_ref((struct object *)o);
        w->release = release_claim;
    }
    return w->kept != NULL;
}

enum progress claims_sync_claim(struct work *w, struct str key)
{
    struct doc remaining;
    uint32_t had;
    if (!take_claim(w, key))
        return PROGRESS_DONE;
    const struct doc *claim = claim_of(w)->doc;
    enum progress p = find_remaining(w, &remaining, &had);
    if (p != PROGRESS_DONE)
        return p;
    if (remaining.n < had)
        p = release(w, &remaining);
    else if (remaining.n == 0 && has_finalizer(claim) && claim_ref_is_deleted(claim))
        p = let_go(w, &remaining);
    return p == PROGRESS_DONE && remaining.n == 0 ? delete_unused(w) : p;
}
