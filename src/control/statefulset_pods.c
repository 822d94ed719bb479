/* SPDX-License-Identifier: Apache-2.0 */
/* A set's pods: their names, and the volumes that are their own. */
#include "base/vec.h"
#include "control/fields.h"
#include "control/statefulset_inner.h"

static struct str claim_name(const struct stateful *t, struct str template,
                             int64_t ordinal)
{
    return arena_printf(t->s->a, "%.*s-%.*s-%lld", STR_ARG(template),
                        STR_ARG(t->s->owner->name), (long long)ordinal);
}

static const struct doc *claim_templates(const struct stateful *t)
{
    return field_list(t->set, "spec.volumeClaimTemplates");
}

static bool is_claimed(const struct stateful *t, struct str volume)
{
    const struct doc *list = claim_templates(t);
    for (uint32_t i = 0; i < list->n; i++)
        if (str_eq(field_meta(&list->items[i], "name"), volume))
            return true;
    return false;
}

static struct doc make_volume(const struct stateful *t, struct str name, int64_t ordinal)
{
    struct arena *a = t->s->a;
    struct doc volume = doc_make_map(), claim = doc_make_map();
    doc_set_text(a, &claim, "claimName", claim_name(t, name, ordinal));
    doc_set_text(a, &volume, "name", name);
    doc_set(a, &volume, "persistentVolumeClaim", claim);
    return volume;
}

/* Those of the set's claims take the places of others of their names. */
static void set_volumes(const struct stateful *t, struct doc *pod, int64_t ordinal)
{
    struct arena *a = t->s->a;
    const struct doc *claims = claim_templates(t), *old = field_list(pod, "spec.volumes");
    struct doc volumes = doc_make_list();
    for (uint32_t i = 0; i < claims->n; i++)
        doc_append(a, &volumes,
                   make_volume(t, field_meta(&claims->items[i], "name"), ordinal));
    for (uint32_t i = 0; i < old->n; i++)
        if (!is_claimed(t, doc_get_text(&old->items[i], "name")))
            doc_append(a, &volumes, old->items[i]);
    if (volumes.n)
        doc_set(a, field_make(a, pod, "spec"), "volumes", volumes);
}

static void set_identity(const struct stateful *t, struct doc *pod, int64_t ordinal)
{
    struct arena *a = t->s->a;
    struct str name =
        arena_printf(a, "%.*s-%lld", STR_ARG(t->s->owner->name), (long long)ordinal);
    doc_set_text(a, field_make(a, pod, "metadata"), "name", name);
    doc_set_text(a, field_make(a, pod, "metadata"), "namespace", t->s->owner->namespace);
    field_set_meta(a, pod, "labels", STATEFUL_POD_NAME, name);
    field_set_meta(a, pod, "labels", STATEFUL_POD_INDEX,
                   arena_printf(a, "%lld", (long long)ordinal));
}

static const struct revision *revision_of(const struct stateful *t, struct str name)
{
    return str_eq(name, t->update.name) ? &t->update : &t->current;
}

struct doc stateful_make_pod(const struct stateful *t, const struct place *p)
{
    struct arena *a = t->s->a;
    const struct revision *r = revision_of(t, p->revision);
    struct doc pod = pod_make(r->template, &statefulset_kind, t->s->owner, a);
    struct doc *spec = field_make(a, &pod, "spec");
    struct str service = field_text(t->set, "spec.serviceName");
    set_identity(t, &pod, p->ordinal);
    doc_set_text(a, spec, "hostname", field_meta(&pod, "name"));
    doc_remove(spec, STR("subdomain"));
    if (service.n)
        doc_set_text(a, spec, "subdomain", service);
    set_volumes(t, &pod, p->ordinal);
    field_set_meta(a, &pod, "labels", STATEFUL_REVISION, r->name);
    return pod;
}

/* ---- pods that were found ---- */

static bool has_volume(const struct stateful *t, const struct place *p, struct str name)
{
    const struct doc *list = field_list(p->o->doc, "spec.volumes");
    for (uint32_t i = 0; i < list->n; i++)
        if (str_eq(doc_get_text(&list->items[i], "name"), name))
            return str_eq(field_text(&list->items[i], "persistentVolumeClaim.claimName"),
                          claim_name(t, name, p->ordinal));
    return false;
}

bool stateful_pod_is_right(const struct stateful *t, const struct place *p)
{
    const struct doc *claims = claim_templates(t);
    for (uint32_t i = 0; i < claims->n; i++)
        if (!has_volume(t, p, field_meta(&claims->items[i], "name")))
            return false;
    return str_eq(field_label(p->o->doc, STATEFUL_POD_NAME), p->o->name);
}

struct doc stateful_mend_pod(const struct stateful *t, const struct place *p)
{
    struct doc pod = doc_dup(t->s->a, p->o->doc);
    set_identity(t, &pod, p->ordinal);
    set_volumes(t, &pod, p->ordinal);
    return pod;
}
