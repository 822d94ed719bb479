/* SPDX-License-Identifier: Apache-2.0 */
/* Claims of volumes are kept while a pod that has a node uses them. */
#include "client/index.h"
#include "control/fields.h"
#include "control/protection.h"

enum { CLAIMS, PODS };

static const struct client_kind CLAIM = {"", "v1", "persistentvolumeclaims", true},
                                POD = {"", "v1", "pods", true};
static const char FINALIZER[] = "kubernetes.io/pvc-protection";

/* ---- what a pod uses ---- */

struct use {
    struct str claim; /* "NAMESPACE/NAME" */
    bool ephemeral;   /* it is only the pod's if the pod is its controller */
};

struct user { /* the view of a pod */
    bool placed;
    bool over; /* it has ended, or is about to */
    /* Deleted with no grace period left: the kubelet is done with it, or was not asked.
     */
    bool shut;
    const struct use *uses;
    uint32_t nuses;
};

static bool read_use(const struct doc *volume, const struct doc *pod, struct arena *a,
                     struct use *out)
{
    struct str namespace = field_meta(pod, "namespace"), name = field_meta(pod, "name"),
               claim = field_text(volume, "persistentVolumeClaim.claimName");
    out->ephemeral = doc_get(volume, "ephemeral") != NULL;
    out->claim = out->ephemeral
                     ? arena_printf(a, "%.*s/%.*s-%.*s", STR_ARG(namespace),
                                    STR_ARG(name), STR_ARG(doc_get_text(volume, "name")))
                     : arena_printf(a, "%.*s/%.*s", STR_ARG(namespace), STR_ARG(claim));
    return out->ephemeral || claim.n;
}

static const void *user_view(const struct doc *d, struct arena *a, struct err *e)
{
    const struct doc *volumes = field_list(d, "spec.volumes");
    struct user *u = ARENA_NEW(a, struct user);
    struct use *uses = ARENA_ARRAY(a, struct use, volumes->n);
    struct str phase = field_text(d, "status.phase");
    (void)e;
    for (uint32_t i = 0; i < volumes->n; i++)
        u->nuses += read_use(&volumes->items[i], d, a, &uses[u->nuses]);
    u->uses = uses;
    u->placed = field_text(d, "spec.nodeName").n > 0;
    u->over = field_deleted(d) || str_is(phase, "Succeeded") || str_is(phase, "Failed");
    u->shut =
        field_deleted(d) && field_int(d, "metadata.deletionGracePeriodSeconds", -1) == 0;
    return u;
}

static void by_claims(struct index *x, const struct object *o)
{
    const struct user *u = o->view;
    for (uint32_t i = 0; i < u->nuses; i++)
        index_emit(x, u->uses[i].claim);
}

/* ---- whether a claim is used ---- */

static bool is_controlled_by(const struct doc *claim, struct str uid)
{
    const struct doc *owners = field_list(claim, "metadata.ownerReferences");
    for (uint32_t i = 0; i < owners->n; i++)
        if (field_bool(&owners->items[i], "controller"))
            return str_eq(doc_get_text(&owners->items[i], "uid"), uid);
    return false;
}

static bool is_used_by(const struct object *claim, const struct user *u, struct str uid)
{
    for (uint32_t i = 0; u->placed && i < u->nuses; i++) {
        const struct use *use = &u->uses[i];
        bool counts = !use->ephemeral || (!u->shut && is_controlled_by(claim->doc, uid));
        if (counts && str_eq(use->claim, claim->key))
            return true;
    }
    return false;
}

static bool is_known_used(struct reconciler *r, const struct object *claim)
{
    const struct index *users = reconciler_state(r);
    uint32_t n;
    const struct str *keys = index_find(users, claim->key, &n);
    for (uint32_t i = 0; i < n; i++) {
        const struct object *pod = informer_get(reconciler_watched(r, PODS), keys[i]);
        if (pod && is_used_by(claim, pod->view, pod->uid))
            return true;
    }
    return false;
}

/* A pod may have come that is not known yet: the server is asked before a claim goes. */
static enum progress ask_used(struct work *w, const struct object *claim, bool *used)
{
    const struct client_answer *a;
    struct err e = ERR_INIT;
    struct str path =
        arena_printf(w->a, "%.*s?fieldSelector=spec.nodeName%%21%%3D",
                     STR_ARG(client_path(&POD, claim->namespace, STR_NONE, NULL, w->a)));
    enum progress p = work_ask(w, "GET", NULL, path, NULL, &a);
    if (p != PROGRESS_DONE)
        return p;
    const struct doc *list = a->ok ? work_answer_doc(w, a) : NULL,
                     *pods = field_list(list, "items");
    if (!list)
        return work_fail(w, "%.*s: %s", STR_ARG(w->key), a->message);
    *used = false;
    for (uint32_t i = 0; i < pods->n && !*used; i++)
        *used = is_used_by(claim, user_view(&pods->items[i], w->a, &e),
                           field_meta(&pods->items[i], "uid"));
    return p;
}

static enum progress release(struct work *w, const struct object *claim)
{
    bool used = is_known_used(reconciler_of(w), claim);
    enum progress p = used ? PROGRESS_DONE : ask_used(w, claim, &used);
    return p != PROGRESS_DONE || used ? p
                                      : protection_remove(w, &CLAIM, claim, FINALIZER);
}

static enum progress sync(struct work *w)
{
    const struct object *o =
        informer_get(reconciler_watched(reconciler_of(w), CLAIMS), w->key);
    if (o && protection_holds(o->doc, FINALIZER))
        return release(w, o);
    if (o && protection_lacks(o->doc, FINALIZER))
        return protection_add(w, &CLAIM, o, FINALIZER);
    return PROGRESS_DONE;
}

/* ---- events ---- */

static void look_at_claims(struct reconciler *r, const struct object *pod)
{
    const struct user *u = pod->view;
    for (uint32_t i = 0; i < u->nuses; i++)
        reconciler_add(r, u->uses[i].claim);
}

/* Only of interest where it may let go of a claim. Another pod of the same name may have
 * come in place of one that went. */
static void on_pod(struct reconciler *r, const struct object *old,
                   const struct object *now)
{
    index_change(reconciler_state(r), old, now);
    if (old && (!now || !str_eq(old->uid, now->uid)))
        look_at_claims(r, old);
    const struct user *u = now ? now->view : NULL;
    if (u && (u->over || !u->placed))
        look_at_claims(r, now);
}

static void init(struct reconciler *r)
{
    index_init(reconciler_state(r), by_claims);
}

static void fini(struct reconciler *r)
{
    index_fini(reconciler_state(r));
}

const struct reconciler_def volume_claim_protection = {
    .work = sync,
    .workers = 10,
    .state = sizeof(struct index),
    .init = init,
    .fini = fini,
    .watches =
        {
            {.kind = {"", "v1", "persistentvolumeclaims", true}},
            {.kind = {"", "v1", "pods", true},
             .changed = on_pod,
             .objects = {.view = user_view, .drop_doc = true}},
        },
};
