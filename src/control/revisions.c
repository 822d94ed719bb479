/* SPDX-License-Identifier: Apache-2.0 */
#include "control/revisions.h"

#include <stdlib.h>

#include "control/fields.h"

const struct client_kind revisions_kind = {"apps", "v1", "controllerrevisions", true};

struct doc revision_data(const struct doc *owner, struct arena *a)
{
    struct doc data = doc_make_map(), spec = doc_make_map(),
               template = doc_dup(a, doc_path(owner, "spec.template"));
    doc_set_text(a, &template, "$patch", STR("replace"));
    doc_set(a, &spec, "template", template);
    doc_set(a, &data, "spec", spec);
    return data;
}

/* Names have room for a hash behind 223 bytes. */
static struct str name_of(struct str owner, struct str hash, struct arena *a)
{
    enum { PREFIX_MAX = 223 };
    return arena_printf(a, "%.*s-%.*s",
                        (int)(owner.n < PREFIX_MAX ? owner.n : PREFIX_MAX), owner.p,
                        STR_ARG(hash));
}

struct doc revision_make(struct sync *s, const struct owner_kind *kind,
                         const struct doc *data, const char *label, struct str hash,
                         int64_t number)
{
    struct arena *a = s->a;
    const struct doc *owner = s->owner->doc,
                     *notes = doc_path(owner, "metadata.annotations"),
                     *labels = doc_path(owner, "spec.template.metadata.labels");
    struct doc r = doc_make_map(), meta = doc_make_map(), refs = doc_make_list();
    doc_append(a, &refs, adopt_reference(a, kind, s->owner));
    doc_set_text(a, &meta, "name", name_of(s->owner->name, hash, a));
    doc_set_text(a, &meta, "namespace", s->owner->namespace);
    doc_set(a, &meta, "labels", labels ? doc_dup(a, labels) : doc_make_map());
    if (notes)
        doc_set(a, &meta, "annotations", doc_dup(a, notes));
    doc_set(a, &meta, "ownerReferences", refs);
    doc_set_text(a, &r, "apiVersion", STR("apps/v1"));
    doc_set_text(a, &r, "kind", STR("ControllerRevision"));
    doc_set(a, &r, "metadata", meta);
    field_set_meta(a, &r, "labels", label, hash);
    doc_set(a, &r, "data", doc_dup(a, data));
    doc_set(a, &r, "revision", doc_make_int(a, number));
    return r;
}

int64_t revision_number(const struct object *o)
{
    return field_int(o->doc, "revision", 0);
}

enum progress revision_renumber(struct sync *s, const struct object *o, int64_t number,
                                const struct doc **made)
{
    const struct client_answer *answer;
    struct doc r = doc_dup(s->a, o->doc);
    doc_set(s->a, &r, "revision", doc_make_int(s->a, number));
    enum progress p = sync_put(s, &revisions_kind, NULL, &r, made, &answer);
    if (p == PROGRESS_DONE && !*made)
        return work_fail(s->work, "revision %.*s: %s", STR_ARG(o->key), answer->message);
    return p;
}

static int by_number(const void *a, const void *b)
{
    const struct object *const *x = a, *const *y = b;
    int64_t nx = revision_number(*x), ny = revision_number(*y);
    if (nx != ny)
        return nx < ny ? -1 : 1;
    nx = field_created((*x)->doc);
    ny = field_created((*y)->doc);
    return nx != ny ? (nx < ny ? -1 : 1) : str_cmp((*x)->name, (*y)->name);
}

void revisions_sort(struct objects *all)
{
    if (all->n)
        qsort(all->v, all->n, sizeof *all->v, by_number);
}
