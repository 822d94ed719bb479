/* SPDX-License-Identifier: Apache-2.0 */
/* Finalizers as such, and those of volumes, which say themselves whether they are used.
 */
#include "control/protection.h"

#include "control/fields.h"

static bool has_finalizer(const struct doc *object, const char *finalizer)
{
    const struct doc *list = field_list(object, "metadata.finalizers");
    for (uint32_t i = 0; i < list->n; i++)
        if (doc_is_string(&list->items[i], finalizer))
            return true;
    return false;
}

bool protection_holds(const struct doc *object, const char *finalizer)
{
    return field_deleted(object) && has_finalizer(object, finalizer);
}

bool protection_lacks(const struct doc *object, const char *finalizer)
{
    return !field_deleted(object) && !has_finalizer(object, finalizer);
}

/* Its finalizers but for one. */
static struct doc others(struct work *w, const struct doc *object, const char *finalizer)
{
    const struct doc *list = field_list(object, "metadata.finalizers");
    struct doc d = doc_make_list();
    for (uint32_t i = 0; i < list->n; i++)
        if (!doc_is_string(&list->items[i], finalizer))
            doc_append(w->a, &d, list->items[i]);
    return d;
}

static enum progress put(struct work *w, const struct client_kind *kind,
                         const struct object *o, struct doc finalizers)
{
    const struct client_answer *a;
    struct doc d = doc_dup(w->a, o->doc);
    doc_set(w->a, field_make(w->a, &d, "metadata"), "finalizers", finalizers);
    struct str path = client_path(kind, o->namespace, o->name, NULL, w->a);
    enum progress p = work_ask(w, "PUT", NULL, path, &d, &a);
    if (p != PROGRESS_DONE || a->ok || a->status == 404)
        return p;
    return a->status == 409 ? PROGRESS_FAILED : work_fail(w, "%s", a->message);
}

enum progress protection_add(struct work *w, const struct client_kind *kind,
                             const struct object *o, const char *finalizer)
{
    struct doc d = others(w, o->doc, finalizer);
    doc_append(w->a, &d, doc_make_string(w->a, str_from(finalizer)));
    return put(w, kind, o, d);
}

enum progress protection_remove(struct work *w, const struct client_kind *kind,
                                const struct object *o, const char *finalizer)
{
    return put(w, kind, o, others(w, o->doc, finalizer));
}

/* ---- volumes ---- */

static enum progress sync_volume(struct work *w)
{
    static const struct client_kind VOLUME = {"", "v1", "persistentvolumes", false};
    static const char FINALIZER[] = "kubernetes.io/pv-protection";
    const struct object *o =
        informer_get(reconciler_watched(reconciler_of(w), 0), w->key);
    if (o && protection_holds(o->doc, FINALIZER) &&
        !str_is(field_text(o->doc, "status.phase"), "Bound"))
        return protection_remove(w, &VOLUME, o, FINALIZER);
    if (o && protection_lacks(o->doc, FINALIZER))
        return protection_add(w, &VOLUME, o, FINALIZER);
    return PROGRESS_DONE;
}

const struct reconciler_def volume_protection = {
    .work = sync_volume,
    .watches = {{.kind = {"", "v1", "persistentvolumes", false}}},
};
