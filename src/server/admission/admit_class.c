/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Classes that an object gets when it names none (DefaultStorageClass,
 * DefaultIngressClass), and what a class must allow (PersistentVolumeClaimResize).
 */
#include "server/admission/admit.h"

#include "num/quantity.h"

/* ---- the newest class that is marked as the default ---- */

struct finding {
    struct arena *a;
    const char *const *marks; /* annotations, ends with NULL; one is enough */
    struct doc best;
    bool found;
};

static bool is_marked(const struct finding *f, const struct doc *class)
{
    const struct doc *annotations = doc_path(class, "metadata.annotations");
    for (const char *const *m = f->marks; *m; m++)
        if (doc_is_string(doc_get(annotations, *m), "true"))
            return true;
    return false;
}

/* Of two that are as old as each other the first by name; they come in that order. */
static bool note_default(void *ctx, struct cache_object *o)
{
    struct finding *f = ctx;
    struct doc d = object_doc(o, f->a);
    bool newer = !f->found || str_cmp(meta_text(&d, "creationTimestamp"),
                                      meta_text(&f->best, "creationTimestamp")) > 0;
    if (is_marked(f, &d) && newer) {
        f->best = d;
        f->found = true;
    }
    return true;
}

/* STR_NONE: there is none. */
static struct str default_class(struct admission *a, const char *group,
                                const char *resource, const char *const *marks)
{
    struct finding f = {.a = a->r->a, .marks = marks};
    admit_each(a, group, resource, note_default, &f);
    return f.found ? meta_text(&f.best, "name") : STR_NONE;
}

static bool has_annotation(const struct doc *d, const char *name)
{
    return doc_get(doc_path(d, "metadata.annotations"), name) != NULL;
}

static void set_class(struct admission *a, const char *member, struct str class)
{
    if (class.p)
        admit_set_text(a, admit_made(a, a->object, "spec", doc_make_map()), member,
                       class);
}

static bool names_class(const struct doc *d, const char *member)
{
    const struct doc *v = doc_get(doc_get(d, "spec"), member);
    return v && v->type == DOC_STRING;
}

bool admit_storage_class(struct admission *a)
{
    static const char *const MARKS[] = {
        "storageclass.kubernetes.io/is-default-class",
        "storageclass.beta.kubernetes.io/is-default-class", NULL};
    if (admit_on(a, "", "persistentvolumeclaims") &&
        !names_class(a->object, "storageClassName") &&
        !has_annotation(a->object, "volume.beta.kubernetes.io/storage-class"))
        set_class(a, "storageClassName",
                  default_class(a, "storage.k8s.io", "storageclasses", MARKS));
    return true;
}

bool admit_ingress_class(struct admission *a)
{
    static const char *const MARKS[] = {"ingressclass.kubernetes.io/is-default-class",
                                        NULL};
    if (admit_on(a, "networking.k8s.io", "ingresses") &&
        !names_class(a->object, "ingressClassName") &&
        !has_annotation(a->object, "kubernetes.io/ingress.class"))
        set_class(a, "ingressClassName",
                  default_class(a, "networking.k8s.io", "ingressclasses", MARKS));
    return true;
}

/* ---- growing a claim ---- */

static bool is_larger(struct admission *a, const struct doc *now, const struct doc *old)
{
    static const char PATH[] = "spec.resources.requests";
    struct quantity n = QUANTITY_ZERO, o = QUANTITY_ZERO;
    struct str now_text = doc_get_text(doc_path(now, PATH), "storage"),
               old_text = doc_get_text(doc_path(old, PATH), "storage");
    bool known = now_text.n && quantity_parse(now_text, a->r->a, &n, NULL) &&
                 (!old_text.n || quantity_parse(old_text, a->r->a, &o, NULL));
    return known && quantity_cmp(&n, &o) > 0;
}

static struct str storage_class_of(const struct doc *claim)
{
    struct str old = doc_get_text(doc_path(claim, "metadata.annotations"),
                                  "volume.beta.kubernetes.io/storage-class");
    return old.p ? old : doc_get_text(doc_get(claim, "spec"), "storageClassName");
}

static bool may_grow(struct admission *a)
{
    struct str now = storage_class_of(a->object), old = storage_class_of(a->old);
    struct doc class;
    bool allowed = false;
    if (now.n && str_eq(now, old) &&
        admit_find(a, "storage.k8s.io", "storageclasses", STR(""), now, &class))
        doc_get_bool(&class, "allowVolumeExpansion", &allowed);
    return allowed;
}

bool check_resize(struct admission *a)
{
    if (!admit_on(a, "", "persistentvolumeclaims") || !is_larger(a, a->object, a->old))
        return true;
    if (!doc_is_string(doc_path(a->old, "status.phase"), "Bound"))
        return admit_forbid(a, "Only bound persistent volume claims can be expanded");
    return may_grow(a) ||
           admit_forbid(a, "only dynamically provisioned pvc can be resized and the "
                           "storageclass that provisions the pvc must support resize");
}
