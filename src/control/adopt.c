/* SPDX-License-Identifier: Apache-2.0 */
#include "control/adopt.h"

#include "api/claim_refs.h"
#include "base/vec.h"
#include "control/fields.h"
#include "control/labels.h"

static const char PATCH[] = "application/strategic-merge-patch+json";

static void gather(struct sync *s, const struct informer *in, const struct str *keys,
                   uint32_t n, uint32_t list, bool (*fits)(const struct object *o))
{
    for (uint32_t i = 0; i < n; i++) {
        const struct object *o = informer_get(in, keys[i]);
        if (o && str_eq(o->namespace, s->owner->namespace) && (!fits || fits(o)))
            sync_hold(s, list, o);
    }
}

void adopt_gather(struct sync *s, const struct shared_kind *dependents, uint32_t list,
                  bool (*fits)(const struct object *o))
{
    const struct informer *in = shared_informer(dependents);
    uint32_t n;
    const struct str *keys;
    if (!s->fresh)
        return;
    keys = shared_owned(dependents, s->owner->uid, &n);
    gather(s, in, keys, n, list, fits);
    keys = shared_orphans(dependents, s->owner->namespace, &n);
    gather(s, in, keys, n, list, fits);
}

bool adopt_is_controlled(const struct object *o, const struct object *owner)
{
    const struct doc *controller = claim_ref_controller(o->doc);
    return controller && str_eq(doc_get_text(controller, "uid"), owner->uid);
}

struct doc adopt_reference(struct arena *a, const struct owner_kind *kind,
                           const struct object *owner)
{
    struct doc ref = doc_make_map();
    doc_set_text(a, &ref, "apiVersion", str_from(kind->api_version));
    doc_set_text(a, &ref, "kind", str_from(kind->name));
    doc_set_text(a, &ref, "name", owner->name);
    doc_set_text(a, &ref, "uid", owner->uid);
    doc_set(a, &ref, "controller", doc_make_bool(true));
    doc_set(a, &ref, "blockOwnerDeletion", doc_make_bool(true));
    return ref;
}

/* ---- patches; with the uid in them they hit no other object of the same name ---- */

static struct doc make_patch(struct sync *s, const struct adopt *how,
                             const struct object *o, struct doc ref,
                             const char *finalizers)
{
    struct doc d = doc_make_map(), meta = doc_make_map(), refs = doc_make_list(),
               names = doc_make_list();
    doc_append(s->a, &refs, ref);
    doc_set_text(s->a, &meta, "uid", o->uid);
    doc_set(s->a, &meta, "ownerReferences", refs);
    if (how->finalizer) {
        doc_append(s->a, &names, doc_make_string(s->a, str_from(how->finalizer)));
        doc_set(s->a, &meta, finalizers, names);
    }
    doc_set(s->a, &d, "metadata", meta);
    return d;
}

static enum progress patch(struct sync *s, const struct adopt *how,
                           const struct object *o, const struct doc *d,
                           const struct client_answer **answer)
{
    return work_ask(s->work, "PATCH", PATCH,
                    client_path(how->dependents, o->namespace, o->name, NULL, s->a), d,
                    answer);
}

static enum progress adopt_one(struct sync *s, const struct adopt *how,
                               const struct object *o, bool *mine)
{
    const struct client_answer *answer;
    struct doc d =
        make_patch(s, how, o, adopt_reference(s->a, how->owners, s->owner), "finalizers");
    enum progress p = patch(s, how, o, &d, &answer);
    if (p == PROGRESS_DONE && !answer->ok && answer->status != 404)
        return work_fail(s->work, "adopt %.*s: %s", STR_ARG(o->key), answer->message);
    *mine = p == PROGRESS_DONE && answer->ok;
    return p;
}

/* 422: it is not the owner's anymore, or another object by now. */
static enum progress release_one(struct sync *s, const struct adopt *how,
                                 const struct object *o)
{
    const struct client_answer *answer;
    struct doc ref = doc_make_map();
    doc_set_text(s->a, &ref, "$patch", STR("delete"));
    doc_set_text(s->a, &ref, "uid", s->owner->uid);
    struct doc d = make_patch(s, how, o, ref, "$deleteFromPrimitiveList/finalizers");
    enum progress p = patch(s, how, o, &d, &answer);
    if (p == PROGRESS_DONE && !answer->ok && answer->status != 404 &&
        answer->status != 422)
        return work_fail(s->work, "release %.*s: %s", STR_ARG(o->key), answer->message);
    return p;
}

/* ---- the whole ---- */

static enum progress check_owner(struct sync *s, const struct adopt *how)
{
    const struct client_answer *answer;
    struct str path =
        client_path(&how->owners->kind, s->owner->namespace, s->owner->name, NULL, s->a);
    enum progress p = work_ask(s->work, "GET", NULL, path, NULL, &answer);
    if (p != PROGRESS_DONE)
        return p;
    const struct doc *d = answer->ok ? work_answer_doc(s->work, answer) : NULL;
    if (!d)
        return work_fail(s->work, "%.*s: %s", STR_ARG(s->owner->key), answer->message);
    if (!str_eq(field_meta(d, "uid"), s->owner->uid) || field_deleted(d))
        return work_fail(s->work, "original %s %.*s is gone", how->owners->name,
                         STR_ARG(s->owner->key));
    return PROGRESS_DONE;
}

static enum progress look_at(struct sync *s, const struct adopt *how,
                             const struct object *o, bool *mine)
{
    bool fits = labels_match_object(how->selector, o->doc) &&
                (!how->fits || how->fits(s, o)),
         leaving = field_deleted(s->owner->doc);
    *mine = false;
    if (claim_ref_controller(o->doc)) {
        *mine = fits && adopt_is_controlled(o, s->owner);
        return fits || leaving || !adopt_is_controlled(o, s->owner)
                   ? PROGRESS_DONE
                   : release_one(s, how, o);
    }
    if (leaving || !fits || field_deleted(o->doc))
        return PROGRESS_DONE;
    enum progress p = check_owner(s, how);
    return p == PROGRESS_DONE ? adopt_one(s, how, o, mine) : p;
}

enum progress adopt_claim(struct sync *s, const struct adopt *how, uint32_t list,
                          struct objects *mine)
{
    *mine = (struct objects){0};
    for (uint32_t i = 0; i < s->lists[list].n; i++) {
        const struct object *o = s->lists[list].v[i];
        bool own;
        enum progress p = look_at(s, how, o, &own);
        if (p != PROGRESS_DONE)
            return p;
        if (own)
            vec_push_in(s->a, mine, o);
    }
    return PROGRESS_DONE;
}
