/* SPDX-License-Identifier: Apache-2.0 */
/* Classes of volume attributes are kept while a volume or a claim names them. */
#include "control/fields.h"
#include "control/protection.h"

enum { CLASSES, CLAIMS, VOLUMES };

static const char FINALIZER[] = "kubernetes.io/vac-protection";

/* Where claims and volumes name a class. */
static const char *const PLACES[] = {
    "spec.volumeAttributesClassName",
    "status.currentVolumeAttributesClassName",
    "status.modifyVolumeStatus.targetVolumeAttributesClassName",
};
enum { NPLACES = sizeof PLACES / sizeof *PLACES };

struct search {
    struct str class;
    bool found;
};

static void look(void *ctx, const struct object *o)
{
    struct search *s = ctx;
    for (int i = 0; i < NPLACES; i++)
        s->found |= str_eq(field_text(o->doc, PLACES[i]), s->class);
}

static bool is_used(struct reconciler *r, struct str class)
{
    struct search s = {.class = class};
    informer_each(reconciler_watched(r, CLAIMS), look, &s);
    informer_each(reconciler_watched(r, VOLUMES), look, &s);
    return s.found;
}

static enum progress sync(struct work *w)
{
    static const struct client_kind CLASS = {"storage.k8s.io", "v1",
                                             "volumeattributesclasses", false};
    struct reconciler *r = reconciler_of(w);
    const struct object *o = informer_get(reconciler_watched(r, CLASSES), w->key);
    if (o && protection_holds(o->doc, FINALIZER) && !is_used(r, o->name))
        return protection_remove(w, &CLASS, o, FINALIZER);
    if (o && protection_lacks(o->doc, FINALIZER))
        return protection_add(w, &CLASS, o, FINALIZER);
    return PROGRESS_DONE;
}

/* What it named before, it may name no longer. */
static void on_user(struct reconciler *r, const struct object *old,
                    const struct object *now)
{
    (void)now;
    for (int i = 0; old && i < NPLACES; i++) {
        struct str class = field_text(old->doc, PLACES[i]);
        if (class.n)
            reconciler_add(r, class);
    }
}

const struct reconciler_def volume_class_protection = {
    .work = sync,
    .watches =
        {
            {.kind = {"storage.k8s.io", "v1", "volumeattributesclasses", false}},
            {.kind = {"", "v1", "persistentvolumeclaims", true}, .changed = on_user},
            {.kind = {"", "v1", "persistentvolumes", false}, .changed = on_user},
        },
};
