/* SPDX-License-Identifier: Apache-2.0 */
/* ReplicaSets of a deployment: found, made, annotated and scaled. */
#include <stdlib.h>

#include "api/edit.h"
#include "base/vec.h"
#include "control/deployment_inner.h"
#include "control/fields.h"
#include "control/podwork.h"
#include "control/template_hash.h"

static const char HASH[] = "pod-template-hash",
                  HISTORY[] = "deployment.kubernetes.io/revision-history",
                  DESIRED[] = "deployment.kubernetes.io/desired-replicas",
                  MAXIMUM[] = "deployment.kubernetes.io/max-replicas";

enum { HISTORY_MAX = 2000, NAME_MAX_LENGTH = 253 };

/* ---- reading ---- */

static struct replica_set read_set(const struct doc *d)
{
    return (struct replica_set){
        .doc = d,
        .name = field_meta(d, "name"),
        .uid = field_meta(d, "uid"),
        .replicas = field_int(d, "spec.replicas", 1),
        .actual = field_int(d, "status.replicas", 0),
        .ready = field_int(d, "status.readyReplicas", 0),
        .available = field_int(d, "status.availableReplicas", 0),
        .created = field_created(d),
    };
}

int by_creation(const struct replica_set *a, const struct replica_set *b)
{
    if (a->created != b->created)
        return a->created < b->created ? -1 : 1;
    return str_cmp(a->name, b->name);
}

static int compare_creation(const void *a, const void *b)
{
    return by_creation(a, b);
}

static struct doc without_hash(const struct doc *template, struct arena *a)
{
    struct doc d = doc_dup(a, template);
    struct doc *meta = api_edit_get(&d, "metadata"),
               *labels = meta ? api_edit_get(meta, "labels") : NULL;
    if (labels)
        doc_remove(labels, str_from(HASH));
    if (labels && !labels->n)
        doc_remove(meta, STR("labels"));
    return d;
}

bool template_is_same(const struct doc *x, const struct doc *y, struct arena *a)
{
    struct doc dx = without_hash(x, a), dy = without_hash(y, a);
    return doc_equal(&dx, &dy);
}

void rollout_read_sets(struct rollout *r, const struct objects *sets)
{
    struct arena *a = r->s->a;
    const struct doc *template = doc_path(&r->d, "spec.template");
    r->sets = ARENA_ARRAY(a, struct replica_set, sets->n);
    r->old = ARENA_ARRAY(a, struct replica_set *, sets->n);
    r->nsets = sets->n;
    for (uint32_t i = 0; i < sets->n; i++)
        r->sets[i] = read_set(sets->v[i]->doc);
    qsort(r->sets, r->nsets, sizeof *r->sets, compare_creation);
    for (uint32_t i = 0; i < r->nsets; i++)
        if (!r->newest &&
            template_is_same(doc_path(r->sets[i].doc, "spec.template"), template, a))
            r->newest = &r->sets[i];
        else
            r->old[r->nold++] = &r->sets[i];
}

/* ---- annotations ---- */

static int64_t number(struct str text)
{
    return text.n ? strtoll(text.p, NULL, 10) : 0;
}

int64_t replica_set_revision(const struct doc *set)
{
    return number(field_note(set, DEPLOYMENT_REVISION));
}

bool replica_set_wanted_note(const struct replica_set *set, const char *key, int64_t *out)
{
    struct str text = field_note(set->doc, key);
    if (!text.n || text.n > 10 || strspn(text.p, "0123456789") != text.n)
        return false;
    *out = number(text);
    return *out <= INT32_MAX;
}

static bool is_skipped(struct str key)
{
    static const char *const NAMES[] = {
        "kubectl.kubernetes.io/last-applied-configuration",
        DEPLOYMENT_REVISION,
        HISTORY,
        DESIRED,
        MAXIMUM,
        "deprecated.deployment.rollback.rollbackTo",
    };
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++)
        if (str_is(key, NAMES[i]))
            return true;
    return false;
}

static bool set_note(struct rollout *r, struct doc *set, const char *key,
                     struct str value)
{
    struct str old = field_note(set, key);
    if (old.p && str_eq(old, value))
        return false;
    field_set_meta(r->s->a, set, "annotations", key, value);
    return true;
}

static bool copy_notes(struct rollout *r, struct doc *set)
{
    const struct doc *notes = doc_path(&r->d, "metadata.annotations");
    bool changed = false;
    for (uint32_t i = 0; notes && notes->type == DOC_MAP && i < notes->n; i++)
        if (!is_skipped(doc_key(&notes->members[i])))
            changed |= set_note(r, set, notes->members[i].key,
                                doc_str(&notes->members[i].value));
    return changed;
}

/* "1,3,7": what does not fit anymore goes at the front. */
static void add_history(struct rollout *r, struct doc *set, struct str revision)
{
    struct str history = field_note(set, HISTORY);
    while (history.n && history.n + revision.n + 1 > HISTORY_MAX) {
        size_t comma = str_find_byte(history, ',', 0);
        history = comma == SIZE_MAX ? STR_NONE : str_sub(history, comma + 1, history.n);
    }
    set_note(r, set, HISTORY,
             history.n
                 ? arena_printf(r->s->a, "%.*s,%.*s", STR_ARG(history), STR_ARG(revision))
                 : revision);
}

static bool set_sizes(struct rollout *r, struct doc *set)
{
    struct arena *a = r->s->a;
    int64_t wanted = rollout_wanted(r), max = wanted + rollout_max_surge(r);
    bool desired = set_note(r, set, DESIRED, arena_printf(a, "%lld", (long long)wanted));
    return set_note(r, set, MAXIMUM, arena_printf(a, "%lld", (long long)max)) || desired;
}

/* A set that gets a higher revision than it had was gone back to. */
static bool set_revision(struct rollout *r, struct doc *set, int64_t revision)
{
    struct arena *a = r->s->a;
    struct str old = field_note(set, DEPLOYMENT_REVISION);
    if (number(old) >= revision)
        return false;
    if (old.n)
        add_history(r, set, arena_str(a, old));
    return set_note(r, set, DEPLOYMENT_REVISION,
                    arena_printf(a, "%lld", (long long)revision));
}

static int64_t next_revision(const struct rollout *r)
{
    int64_t max = 0;
    for (uint32_t i = 0; i < r->nold; i++) {
        int64_t n = replica_set_revision(r->old[i]->doc);
        max = n > max ? n : max;
    }
    return max + 1;
}

/* ---- the newest set is there ---- */

static enum progress put_set(struct rollout *r, struct replica_set *set,
                             const struct doc *d)
{
    const struct client_answer *answer;
    const struct doc *made;
    enum progress p = sync_put(r->s, &deployment_set_kind, NULL, d, &made, &answer);
    if (p == PROGRESS_DONE && !made)
        return work_fail(r->s->work, "ReplicaSet %.*s: %s", STR_ARG(set->name),
                         answer->message);
    if (p == PROGRESS_DONE)
        *set = read_set(made);
    return p;
}

/* Its revision is the deployment's; and what its first sight means for progress. */
static enum progress take_newest(struct rollout *r, struct str revision,
                                 const char *reason, const char *words)
{
    struct doc *status = field_make(r->s->a, &r->d, "status");
    bool changed = set_note(r, &r->d, DEPLOYMENT_REVISION, revision);
    if (reason && rollout_has_deadline(r)) {
        rollout_set_condition(r, status, "Progressing", "True", reason,
                              arena_printf(r->s->a, "%s new replica set \"%.*s\"", words,
                                           STR_ARG(r->newest->name)));
        changed = true;
    }
    return changed ? rollout_put_status(r) : PROGRESS_DONE;
}

static enum progress refresh(struct rollout *r)
{
    struct doc set = doc_dup(r->s->a, r->newest->doc);
    int64_t min_ready = field_int(&r->d, "spec.minReadySeconds", 0);
    bool copied = copy_notes(r, &set), changed = set_revision(r, &set, next_revision(r));
    const struct doc *status = doc_get(&r->d, "status");
    if (copied || changed || field_int(&set, "spec.minReadySeconds", 0) != min_ready) {
        field_set_int(r->s->a, field_make(r->s->a, &set, "spec"), "minReadySeconds",
                      min_ready);
        return put_set(r, r->newest, &set);
    }
    bool first = !rollout_condition(status, "Progressing");
    return take_newest(r, field_note(&set, DEPLOYMENT_REVISION),
                       first ? "FoundNewReplicaSet" : NULL, "Found");
}

/* ---- the newest set is to be made ---- */

static struct str make_name(struct rollout *r, struct str hash)
{
    struct str name = r->s->owner->name;
    if (name.n > NAME_MAX_LENGTH - 1 - hash.n)
        name.n = NAME_MAX_LENGTH - 1 - hash.n;
    return arena_printf(r->s->a, "%.*s-%.*s", STR_ARG(name), STR_ARG(hash));
}

static struct doc make_spec(struct rollout *r, struct str hash)
{
    struct arena *a = r->s->a;
    struct doc spec = doc_make_map(),
               template = doc_dup(a, doc_path(&r->d, "spec.template")),
               selector = doc_dup(a, doc_path(&r->d, "spec.selector"));
    field_set_meta(a, &template, "labels", HASH, hash);
    doc_set_text(a, field_make(a, &selector, "matchLabels"), HASH, hash);
    doc_set(a, &spec, "replicas", doc_make_int(a, rollout_newest_size(r, 0)));
    field_set_int(a, &spec, "minReadySeconds",
                  field_int(&r->d, "spec.minReadySeconds", 0));
    doc_set(a, &spec, "selector", selector);
    doc_set(a, &spec, "template", template);
    return spec;
}

static struct doc make_set(struct rollout *r, struct str hash)
{
    struct arena *a = r->s->a;
    struct doc d = doc_make_map(), meta = doc_make_map(), refs = doc_make_list(),
               spec = make_spec(r, hash);
    doc_append(a, &refs, adopt_reference(a, &deployment_kind, r->s->owner));
    doc_set_text(a, &meta, "name", make_name(r, hash));
    doc_set_text(a, &meta, "namespace", r->s->owner->namespace);
    doc_set(a, &meta, "ownerReferences", refs);
    doc_set(a, &meta, "labels", doc_dup(a, doc_path(&spec, "template.metadata.labels")));
    doc_set_text(a, &d, "apiVersion", STR("apps/v1"));
    doc_set_text(a, &d, "kind", STR("ReplicaSet"));
    doc_set(a, &d, "metadata", meta);
    doc_set(a, &d, "spec", spec);
    copy_notes(r, &d);
    set_revision(r, &d, next_revision(r));
    set_sizes(r, &d);
    return d;
}

/* The name is another set's: the same template's, made a moment ago, or another one's
 * with the same hash. Then the hash has to change. */
static enum progress collide(struct rollout *r, const struct doc *want,
                             const struct client_answer *refusal)
{
    struct arena *a = r->s->a;
    const struct client_answer *answer;
    struct str name = field_meta(want, "name");
    struct str path =
        client_path(&deployment_set_kind, r->s->owner->namespace, name, NULL, a);
    enum progress p = work_ask(r->s->work, "GET", NULL, path, NULL, &answer);
    if (p != PROGRESS_DONE)
        return p;
    const struct doc *set = answer->ok ? work_answer_doc(r->s->work, answer) : NULL;
    if (!set)
        return work_fail(r->s->work, "%s", answer->message);
    struct object as = {.doc = set};
    if (adopt_is_controlled(&as, r->s->owner) &&
        template_is_same(doc_path(set, "spec.template"), doc_path(&r->d, "spec.template"),
                         a)) {
        r->newest = ARENA_NEW(a, struct replica_set);
        *r->newest = read_set(set);
        return take_newest(r, field_note(want, DEPLOYMENT_REVISION), NULL, NULL);
    }
    struct doc *status = field_make(a, &r->d, "status");
    doc_set(a, status, "collisionCount",
            doc_make_int(a, field_int(status, "collisionCount", 0) + 1));
    p = rollout_put_status(r);
    return p == PROGRESS_DONE ? work_fail(r->s->work, "%s", refusal->message) : p;
}

static enum progress refuse(struct rollout *r, const struct doc *want,
                            const struct client_answer *answer)
{
    struct str why =
        arena_printf(r->s->a, "Failed to create new replica set \"%.*s\": %s",
                     STR_ARG(field_meta(want, "name")), answer->message);
    enum progress p = PROGRESS_DONE;
    if (podwork_is_terminating(answer))
        return work_fail(r->s->work, "%s", answer->message);
    rollout_tell(r, "Warning", "ReplicaSetCreateError", why);
    if (rollout_has_deadline(r)) {
        rollout_set_condition(r, field_make(r->s->a, &r->d, "status"), "Progressing",
                              "False", "ReplicaSetCreateError", why);
        p = rollout_put_status(r);
    }
    return p == PROGRESS_WAIT ? p : work_fail(r->s->work, "%.*s", STR_ARG(why));
}

static enum progress create(struct rollout *r)
{
    struct arena *a = r->s->a;
    const struct client_answer *answer;
    const struct doc *made;
    struct str hash = template_hash(doc_path(&r->d, "spec.template"),
                                    field_int(&r->d, "status.collisionCount", -1), a);
    struct doc want = make_set(r, hash);
    enum progress p = sync_post(r->s, &deployment_set_kind, &want, &made, &answer);
    if (p != PROGRESS_DONE)
        return p;
    if (!made && str_is(str_from(answer->reason), "AlreadyExists"))
        return collide(r, &want, answer);
    if (!made)
        return refuse(r, &want, answer);
    r->newest = ARENA_NEW(a, struct replica_set);
    *r->newest = read_set(made);
    if (r->newest->replicas > 0)
        rollout_tell(r, "Normal", "ScalingReplicaSet",
                     arena_printf(a, "Scaled up replica set %.*s from 0 to %lld",
                                  STR_ARG(r->newest->name),
                                  (long long)r->newest->replicas));
    return take_newest(r, field_note(&want, DEPLOYMENT_REVISION), "NewReplicaSetCreated",
                       "Created");
}

enum progress rollout_sync_newest(struct rollout *r, bool make)
{
    if (r->newest)
        return refresh(r);
    return make ? create(r) : PROGRESS_DONE;
}

/* ---- scaling ---- */

enum progress rollout_scale(struct rollout *r, struct replica_set *set, int64_t replicas,
                            bool forced, bool *scaled)
{
    struct arena *a = r->s->a;
    int64_t old = set->replicas;
    *scaled = false;
    if (old == replicas && !forced)
        return PROGRESS_DONE;
    struct doc d = doc_dup(a, set->doc);
    doc_set(a, field_make(a, &d, "spec"), "replicas", doc_make_int(a, replicas));
    if (!set_sizes(r, &d) && old == replicas)
        return PROGRESS_DONE;
    enum progress p = put_set(r, set, &d);
    if (p != PROGRESS_DONE || old == replicas)
        return p;
    *scaled = true;
    rollout_tell(r, "Normal", "ScalingReplicaSet",
                 arena_printf(a, "Scaled %s replica set %.*s from %lld to %lld",
                              old < replicas ? "up" : "down", STR_ARG(set->name),
                              (long long)old, (long long)replicas));
    return p;
}
