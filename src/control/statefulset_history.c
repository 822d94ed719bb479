/* SPDX-License-Identifier: Apache-2.0 */
/* Revisions of a set's template: the one that pods have, and the one they are to have. */
#include "api/edit.h"
#include "base/vec.h"
#include "control/fields.h"
#include "control/revisions.h"
#include "control/statefulset_inner.h"
#include "control/template_hash.h"

static const char LABEL[] = "controller.kubernetes.io/hash";

/* Of the patch as Go writes it, and of the count of collisions. */
static struct str hash_of(const struct stateful *t, const struct doc *data)
{
    struct strbuf b = STRBUF_INIT;
    doc_write_json(data, DOC_JSON_SORT | DOC_JSON_HTML, &b);
    strbuf_addf(&b, "%lld", (long long)t->collisions);
    uint32_t hash =
        template_hash_add_plain(FNV_START, strbuf_str(&b).p, strbuf_str(&b).n);
    strbuf_release(&b);
    return template_hash_spell(hash, t->s->a);
}

static struct revision read_revision(const struct stateful *t, const struct doc *r)
{
    const struct doc *template = doc_path(r, "data.spec.template");
    struct doc *own = ARENA_NEW(t->s->a, struct doc);
    *own = template ? doc_dup(t->s->a, template) : doc_make_map();
    doc_remove(own, STR("$patch"));
    return (struct revision){field_meta(r, "name"), own};
}

/* ---- making ---- */

static enum progress look_at_existing(struct stateful *t, const struct doc *want,
                                      const struct doc **found)
{
    const struct client_answer *answer;
    struct str path = client_path(&revisions_kind, t->s->owner->namespace,
                                  field_meta(want, "name"), NULL, t->s->a);
    enum progress p = work_ask(t->s->work, "GET", NULL, path, NULL, &answer);
    *found =
        p == PROGRESS_DONE && answer->ok ? work_answer_doc(t->s->work, answer) : NULL;
    if (p == PROGRESS_DONE && !*found)
        return work_fail(t->s->work, "%s", answer->message);
    return p;
}

/* Where another template has the same hash the next count gives another. */
static enum progress make(struct stateful *t, const struct doc *data, int64_t number)
{
    enum { TRIES = 100 };
    for (int i = 0; i < TRIES; i++) {
        const struct client_answer *answer;
        const struct doc *made, *found;
        struct doc want =
            revision_make(t->s, &statefulset_kind, data, LABEL, hash_of(t, data), number);
        enum progress p = sync_post(t->s, &revisions_kind, &want, &made, &answer);
        if (p == PROGRESS_DONE && made)
            t->update = read_revision(t, made);
        if (p != PROGRESS_DONE || made)
            return p;
        if (!str_is(str_from(answer->reason), "AlreadyExists"))
            return work_fail(t->s->work, "revision of %.*s: %s",
                             STR_ARG(t->s->owner->key), answer->message);
        p = look_at_existing(t, &want, &found);
        if (p != PROGRESS_DONE)
            return p;
        if (doc_equal(doc_get(found, "data"), data)) {
            t->update = read_revision(t, found);
            return PROGRESS_DONE;
        }
        t->collisions++;
    }
    return work_fail(t->s->work, "too many revisions of %.*s have the same hash",
                     STR_ARG(t->s->owner->key));
}

/* ---- the whole ---- */

static const struct object *find_equal(const struct objects *all, const struct doc *data)
{
    for (uint32_t i = all->n; i-- > 0;) {
        const struct doc *known = doc_get(all->v[i]->doc, "data");
        if (known && doc_equal(known, data))
            return all->v[i];
    }
    return NULL;
}

static enum progress find_update(struct stateful *t, const struct objects *all)
{
    struct doc data = revision_data(t->set, t->s->a);
    const struct object *equal = find_equal(all, &data),
                        *last = all->n ? all->v[all->n - 1] : NULL;
    const struct doc *made = NULL;
    int64_t next = last ? revision_number(last) + 1 : 1;
    if (!equal)
        return make(t, &data, next);
    if (equal == last) {
        t->update = read_revision(t, equal->doc);
        return PROGRESS_DONE;
    }
    enum progress p = revision_renumber(t->s, equal, next, &made);
    if (p == PROGRESS_DONE)
        t->update = read_revision(t, made);
    return p;
}

enum progress stateful_history(struct stateful *t, struct objects *all)
{
    struct adopt how = {.owners = &statefulset_kind,
                        .dependents = &revisions_kind,
                        .selector = doc_path(t->set, "spec.selector")};
    struct str known = field_text(t->set, "status.currentRevision");
    enum progress p = adopt_claim(t->s, &how, STATEFUL_REVISIONS, all);
    if (p != PROGRESS_DONE)
        return p;
    revisions_sort(all);
    p = find_update(t, all);
    if (p != PROGRESS_DONE)
        return p;
    t->current = t->update;
    for (uint32_t i = 0; i < all->n; i++)
        if (str_eq(all->v[i]->name, known))
            t->current = read_revision(t, all->v[i]->doc);
    return PROGRESS_DONE;
}

static bool is_used(const struct stateful *t, struct str name)
{
    for (uint32_t i = 0; i < t->pods.n; i++)
        if (str_eq(field_label(t->pods.v[i]->doc, STATEFUL_REVISION), name))
            return true;
    return str_eq(name, t->current.name) || str_eq(name, t->update.name);
}

enum progress stateful_forget_history(const struct stateful *t, const struct objects *all)
{
    int64_t keep = field_int(t->set, "spec.revisionHistoryLimit", 10), spare = -keep;
    enum progress p = PROGRESS_DONE;
    for (uint32_t i = 0; i < all->n; i++)
        spare += !is_used(t, all->v[i]->name);
    for (uint32_t i = 0; i < all->n && spare > 0 && p == PROGRESS_DONE; i++) {
        if (is_used(t, all->v[i]->name))
            continue;
        p = sync_delete(t->s, &revisions_kind, all->v[i]->doc);
        spare--;
    }
    return p;
}
