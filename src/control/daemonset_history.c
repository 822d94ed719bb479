/* SPDX-License-Identifier: Apache-2.0 */
/* Revisions of a daemon set's template, as kubectl rollout undo reads them. */
#include "base/vec.h"
#include "control/daemonset_inner.h"
#include "control/fields.h"
#include "control/revisions.h"
#include "control/template_hash.h"

static const char LABEL[] = "controller-revision-hash";

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
    struct str path = client_path(&revisions_kind, d->s->owner->namespace,
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
    struct doc want = revision_make(d->s, &daemonset_kind, data, LABEL, d->hash, number);
    enum progress p = sync_post(d->s, &revisions_kind, &want, &made, &answer);
    if (p != PROGRESS_DONE || made)
        return p;
    if (str_is(str_from(answer->reason), "AlreadyExists"))
        return take_existing(d, &want, answer);
    return work_fail(d->s->work, "revision of %.*s: %s", STR_ARG(d->s->owner->key),
                     answer->message);
}

enum progress daemon_sync_history(struct daemon *d, uint32_t list, struct objects *old)
{
    struct adopt how = {.owners = &daemonset_kind,
                        .dependents = &revisions_kind,
                        .selector = doc_path(d->s->owner->doc, "spec.selector")};
    struct objects all;
    struct doc data = revision_data(d->s->owner->doc, d->s->a);
    const struct doc *made;
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
    return field_int(current->doc, "revision", 0) < next
               ? revision_renumber(d->s, current, next, &made)
               : PROGRESS_DONE;
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
    revisions_sort(&sorted);
    for (uint32_t i = 0; i < sorted.n && spare > 0 && p == PROGRESS_DONE; i++) {
        if (is_used(d, field_label(sorted.v[i]->doc, LABEL)))
            continue;
        p = sync_delete(d->s, &revisions_kind, sorted.v[i]->doc);
        spare--;
    }
    return p;
}
