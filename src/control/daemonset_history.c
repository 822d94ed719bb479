/* SPDX-License-Identifier: Apache-2.0 */
/* Revisions of a daemon set's template, as kubectl rollout undo reads them. */
#include <stdlib.h>

#include "base/vec.h"
#include "control/daemonset_inner.h"
#include "control/fields.h"
#include "control/template_hash.h"

static const struct client_kind REVISIONS = {"apps", "v1", "controllerrevisions", true};
static const char LABEL[] = "controller-revision-hash";

/* The patch that brings the template back. */
static struct doc make_data(struct daemon *d)
{
    struct arena *a = d->s->a;
    struct doc data = doc_make_map(), spec = doc_make_map(),
               template = doc_dup(a, doc_path(d->s->owner->doc, "spec.template"));
    doc_set_text(a, &template, "$patch", STR("replace"));
    doc_set(a, &spec, "template", template);
    doc_set(a, &data, "spec", spec);
    return data;
}

static struct doc make_revision(struct daemon *d, const struct doc *data, struct str hash,
                                int64_t number)
{
    struct arena *a = d->s->a;
    const struct doc *set = d->s->owner->doc,
                     *notes = doc_path(set, "metadata.annotations"),
                     *labels = doc_path(set, "spec.template.metadata.labels");
    struct doc r = doc_make_map(), meta = doc_make_map(), refs = doc_make_list();
    doc_append(a, &refs, adopt_reference(a, &daemonset_kind, d->s->owner));
    doc_set_text(a, &meta, "name",
                 arena_printf(a, "%.*s-%.*s", STR_ARG(d->s->owner->name), STR_ARG(hash)));
    doc_set_text(a, &meta, "namespace", d->s->owner->namespace);
    doc_set(a, &meta, "labels", labels ? doc_dup(a, labels) : doc_make_map());
    if (notes)
        doc_set(a, &meta, "annotations", doc_dup(a, notes));
    doc_set(a, &meta, "ownerReferences", refs);
    doc_set_text(a, &r, "apiVersion", STR("apps/v1"));
    doc_set_text(a, &r, "kind", STR("ControllerRevision"));
    doc_set(a, &r, "metadata", meta);
    field_set_meta(a, &r, "labels", LABEL, hash);
    doc_set(a, &r, "data", *data);
    doc_set(a, &r, "revision", doc_make_int(a, number));
    return r;
}

/* Another template has the same hash: the next one gets another. */
static enum progress bump(struct daemon *d, const struct client_answer *refusal)
{
    struct arena *a = d->s->a;
    struct doc set = doc_dup(a, d->s->owner->doc);
    struct doc *status = field_make(a, &set, "status");
    doc_set(a, status, "collisionCount",
            doc_make_int(a, field_int(status, "collisionCount", 0) + 1));
    enum progress p = sync_put_status(d->s, &daemonset_kind.kind, &set);
    return p == PROGRESS_DONE ? work_fail(d->s->work, "%s", refusal->message) : p;
}

static enum progress take_existing(struct daemon *d, const struct doc *want,
                                   const struct client_answer *refusal)
{
    const struct client_answer *answer;
    struct str path = client_path(&REVISIONS, d->s->owner->namespace,
                                  field_meta(want, "name"), NULL, d->s->a);
    enum progress p = work_ask(d->s->work, "GET", NULL, path, NULL, &answer);
    if (p != PROGRESS_DONE)
        return p;
    const struct doc *found = answer->ok ? work_answer_doc(d->s->work, answer) : NULL,
                     *data = found ? doc_get(found, "data") : NULL;
    if (!found)
        return work_fail(d->s->work, "%s", answer->message);
    return data && doc_equal(data, doc_get(want, "data")) ? PROGRESS_DONE
                                                          : bump(d, refusal);
}

static enum progress make(struct daemon *d, const struct doc *data, int64_t number)
{
    const struct client_answer *answer;
    const struct doc *made, *set = d->s->owner->doc;
    d->hash = template_hash(doc_path(set, "spec.template"),
                            field_int(set, "status.collisionCount", -1), d->s->a);
    struct doc want = make_revision(d, data, d->hash, number);
    enum progress p = sync_post(d->s, &REVISIONS, &want, &made, &answer);
    if (p != PROGRESS_DONE || made)
        return p;
    if (str_is(str_from(answer->reason), "AlreadyExists"))
        return take_existing(d, &want, answer);
    return work_fail(d->s->work, "revision of %.*s: %s", STR_ARG(d->s->owner->key),
                     answer->message);
}

static enum progress renumber(struct daemon *d, const struct object *o, int64_t number)
{
    const struct client_answer *answer;
    const struct doc *made;
    struct doc r = doc_dup(d->s->a, o->doc);
    doc_set(d->s->a, &r, "revision", doc_make_int(d->s->a, number));
    enum progress p = sync_put(d->s, &REVISIONS, NULL, &r, &made, &answer);
    if (p == PROGRESS_DONE && !made)
        return work_fail(d->s->work, "revision %.*s: %s", STR_ARG(o->key),
                         answer->message);
    return p;
}

enum progress daemon_sync_history(struct daemon *d, uint32_t list, struct objects *old)
{
    struct adopt how = {.owners = &daemonset_kind,
                        .dependents = &REVISIONS,
                        .selector = doc_path(d->s->owner->doc, "spec.selector")};
    struct objects all;
    struct doc data = make_data(d);
    const struct object *current = NULL;
    int64_t next = 1, number;
    enum progress p = adopt_claim(d->s, &how, list, &all);
    if (p != PROGRESS_DONE)
        return p;
    *old = (struct objects){0};
    for (uint32_t i = 0; i < all.n; i++) {
        const struct doc *known = doc_get(all.v[i]->doc, "data");
        number = field_int(all.v[i]->doc, "revision", 0);
        if (known && doc_equal(known, &data)) {
            if (!current || field_int(current->doc, "revision", 0) <= number)
                current = all.v[i];
            continue;
        }
        vec_push_in(d->s->a, old, all.v[i]);
        next = number >= next ? number + 1 : next;
    }
    if (!current)
        return make(d, &data, next);
    d->hash = field_label(current->doc, LABEL);
    return field_int(current->doc, "revision", 0) < next ? renumber(d, current, next)
                                                         : PROGRESS_DONE;
}

static int by_number(const void *a, const void *b)
{
    const struct object *const *x = a, *const *y = b;
    int64_t nx = field_int((*x)->doc, "revision", 0),
            ny = field_int((*y)->doc, "revision", 0);
    return nx < ny ? -1 : nx > ny;
}

static bool is_used(const struct daemon *d, struct str hash)
{
    for (uint32_t i = 0; hash.n && i < d->pods.n; i++)
        if (str_eq(field_label(d->pods.v[i]->doc, LABEL), hash))
            return true;
    return false;
}

enum progress daemon_clean_history(struct daemon *d, const struct objects *old)
{
    int64_t keep = field_int(d->s->owner->doc, "spec.revisionHistoryLimit", 10),
            spare = (int64_t)old->n - keep;
    struct objects sorted = *old;
    enum progress p = PROGRESS_DONE;
    if (spare <= 0)
        return p;
    qsort(sorted.v, sorted.n, sizeof *sorted.v, by_number);
    for (uint32_t i = 0; i < sorted.n && spare > 0 && p == PROGRESS_DONE; i++) {
        if (is_used(d, field_label(sorted.v[i]->doc, LABEL)))
            continue;
        p = sync_delete(d->s, &REVISIONS, sorted.v[i]->doc);
        spare--;
    }
    return p;
}
