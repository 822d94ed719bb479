/* SPDX-License-Identifier: Apache-2.0 */
/* How far a deployment is, in its status. */
#include "api/edit.h"
#include "control/deployment_inner.h"
#include "control/fields.h"

/* ---- conditions ---- */

const struct doc *rollout_condition(const struct doc *status, const char *type)
{
    const struct doc *list = field_list(status, "conditions");
    for (uint32_t i = 0; i < list->n; i++)
        if (doc_is_string(doc_get(&list->items[i], "type"), type))
            return &list->items[i];
    return NULL;
}

static void remove_condition(struct rollout *r, struct doc *status, const char *type)
{
    const struct doc *old = field_list(status, "conditions");
    struct doc list = doc_make_list();
    for (uint32_t i = 0; i < old->n; i++)
        if (!doc_is_string(doc_get(&old->items[i], "type"), type))
            doc_append(r->s->a, &list, old->items[i]);
    doc_remove(status, STR("conditions"));
    if (list.n)
        doc_set(r->s->a, status, "conditions", list);
}

static void add_condition(struct rollout *r, struct doc *status, struct doc c)
{
    struct doc *list = api_edit_get(status, "conditions");
    if (!list)
        list = doc_set(r->s->a, status, "conditions", doc_make_list());
    doc_append(r->s->a, list, c);
}

static struct doc make_condition(struct rollout *r, const char *type, const char *value,
                                 const char *reason, struct str message,
                                 struct str updated, struct str since)
{
    struct arena *a = r->s->a;
    struct doc c = doc_make_map();
    doc_set_text(a, &c, "type", str_from(type));
    doc_set_text(a, &c, "status", str_from(value));
    doc_set_text(a, &c, "lastUpdateTime", updated);
    doc_set_text(a, &c, "lastTransitionTime", since);
    doc_set_text(a, &c, "reason", str_from(reason));
    doc_set_text(a, &c, "message", message);
    return c;
}

/* One with the same value and reason stays as it is. */
void rollout_set_condition(struct rollout *r, struct doc *status, const char *type,
                           const char *value, const char *reason, struct str message)
{
    const struct doc *old = rollout_condition(status, type);
    struct str now = sync_now_text(r->s), since = now;
    if (doc_is_string(doc_get(old, "status"), value)) {
        if (doc_is_string(doc_get(old, "reason"), reason))
            return;
        since = doc_get_text(old, "lastTransitionTime");
    }
    struct doc c = make_condition(r, type, value, reason, message, now, since);
    remove_condition(r, status, type);
    add_condition(r, status, c);
}

/* ---- numbers ---- */

static int64_t sum(const struct rollout *r, int64_t (*of)(const struct replica_set *set))
{
    int64_t n = r->newest ? of(r->newest) : 0;
    for (uint32_t i = 0; i < r->nold; i++)
        n += of(r->old[i]);
    return n;
}

static int64_t wanted(const struct replica_set *set)
{
    return set->replicas;
}

static int64_t actual(const struct replica_set *set)
{
    return set->actual;
}

static int64_t ready(const struct replica_set *set)
{
    return set->ready;
}

static int64_t available(const struct replica_set *set)
{
    return set->available;
}

/* Of sets that were seen by their controller; false: one of these does not say. */
static bool count_leaving(const struct rollout *r, int64_t *n)
{
    *n = 0;
    for (uint32_t i = 0; i <= r->nold; i++) {
        const struct replica_set *set = i < r->nold ? r->old[i] : r->newest;
        int64_t one = set ? field_int(set->doc, "status.terminatingReplicas", -1) : 0;
        if (one < 0 && field_int(set->doc, "status.observedGeneration", 0))
            return false;
        *n += one > 0 ? one : 0;
    }
    return true;
}

static void set_availability(struct rollout *r, struct doc *status)
{
    bool enough = sum(r, available) >= rollout_wanted(r) - rollout_max_unavailable(r);
    if (enough)
        rollout_set_condition(r, status, "Available", "True", "MinimumReplicasAvailable",
                              STR("Deployment has minimum availability."));
    else
        rollout_set_condition(r, status, "Available", "False",
                              "MinimumReplicasUnavailable",
                              STR("Deployment does not have minimum availability."));
}

static struct doc make_status(struct rollout *r)
{
    struct arena *a = r->s->a;
    const struct doc *old = doc_get(&r->d, "status"),
                     *collisions = doc_get(old, "collisionCount"),
                     *conditions = doc_get(old, "conditions");
    struct doc d = doc_make_map();
    int64_t missing = sum(r, wanted) - sum(r, available), leaving;
    field_set_int(a, &d, "observedGeneration",
                  field_int(&r->d, "metadata.generation", 0));
    field_set_int(a, &d, "replicas", sum(r, actual));
    field_set_int(a, &d, "updatedReplicas", r->newest ? r->newest->actual : 0);
    field_set_int(a, &d, "readyReplicas", sum(r, ready));
    field_set_int(a, &d, "availableReplicas", sum(r, available));
    field_set_int(a, &d, "unavailableReplicas", missing > 0 ? missing : 0);
    if (count_leaving(r, &leaving))
        doc_set(a, &d, "terminatingReplicas", doc_make_int(a, leaving));
    if (collisions)
        doc_set(a, &d, "collisionCount", *collisions);
    if (conditions)
        doc_set(a, &d, "conditions", doc_dup(a, conditions));
    set_availability(r, &d);
    return d;
}

/* ---- progress ---- */

bool rollout_is_complete(const struct rollout *r, const struct doc *status)
{
    int64_t n = rollout_wanted(r);
    return field_int(status, "updatedReplicas", 0) == n &&
           field_int(status, "replicas", 0) == n &&
           field_int(status, "availableReplicas", 0) == n &&
           field_int(status, "observedGeneration", 0) >=
               field_int(&r->d, "metadata.generation", 0);
}

static int64_t of_old(const struct doc *status)
{
    return field_int(status, "replicas", 0) - field_int(status, "updatedReplicas", 0);
}

static bool has_moved(const struct doc *old, const struct doc *status)
{
    return field_int(status, "updatedReplicas", 0) >
               field_int(old, "updatedReplicas", 0) ||
           of_old(status) < of_old(old) ||
           field_int(status, "readyReplicas", 0) > field_int(old, "readyReplicas", 0) ||
           field_int(status, "availableReplicas", 0) >
               field_int(old, "availableReplicas", 0);
}

/* Nanoseconds until the deadline of what was last heard of progress. */
static int64_t time_left(const struct rollout *r, const struct doc *condition)
{
    int64_t since = 0;
    field_time(condition, "lastUpdateTime", &since);
    return (since + field_int(&r->d, "spec.progressDeadlineSeconds", 0)) * 1000000000 -
           r->s->now_ns;
}

static bool has_timed_out(const struct rollout *r, const struct doc *status)
{
    const struct doc *c = rollout_condition(status, "Progressing"),
                     *reason = doc_get(c, "reason");
    if (!c || doc_is_string(reason, "NewReplicaSetAvailable"))
        return false;
    return doc_is_string(reason, "ProgressDeadlineExceeded") || time_left(r, c) < 0;
}

static struct str about(struct rollout *r, const char *what)
{
    return r->newest ? arena_printf(r->s->a, "ReplicaSet \"%.*s\" %s",
                                    STR_ARG(r->newest->name), what)
                     : arena_printf(r->s->a, "Deployment \"%.*s\" %s",
                                    STR_ARG(r->s->owner->name), what);
}

/* Told anew, so that the deadline begins anew, also when it says the same. */
static void note_move(struct rollout *r, struct doc *status)
{
    const struct doc *old = rollout_condition(doc_get(&r->d, "status"), "Progressing");
    struct str now = sync_now_text(r->s), since = now;
    if (doc_is_string(doc_get(old, "status"), "True"))
        since = doc_get_text(old, "lastTransitionTime");
    struct doc c = make_condition(r, "Progressing", "True", "ReplicaSetUpdated",
                                  about(r, "is progressing."), now, since);
    remove_condition(r, status, "Progressing");
    add_condition(r, status, c);
}

static void set_progress(struct rollout *r, struct doc *status)
{
    const struct doc *old = doc_get(&r->d, "status"),
                     *c = rollout_condition(old, "Progressing");
    bool rolled_out = of_old(status) == 0 && c &&
                      doc_is_string(doc_get(c, "reason"), "NewReplicaSetAvailable");
    if (!rollout_has_deadline(r)) {
        remove_condition(r, status, "Progressing");
        return;
    }
    if (rolled_out)
        return;
    if (rollout_is_complete(r, status))
        rollout_set_condition(r, status, "Progressing", "True", "NewReplicaSetAvailable",
                              about(r, "has successfully progressed."));
    else if (has_moved(old, status))
        note_move(r, status);
    else if (has_timed_out(r, status))
        rollout_set_condition(r, status, "Progressing", "False",
                              "ProgressDeadlineExceeded",
                              about(r, "has timed out progressing."));
}

/* ---- failures of its sets ---- */

static const struct doc *find_failure(const struct rollout *r)
{
    const struct doc *found =
        r->newest ? rollout_condition(doc_get(r->newest->doc, "status"), "ReplicaFailure")
                  : NULL;
    for (uint32_t i = 0; i < r->nold && !found; i++)
        found = rollout_condition(doc_get(r->old[i]->doc, "status"), "ReplicaFailure");
    return found;
}

static void set_failure(struct rollout *r, struct doc *status)
{
    const struct doc *failure = find_failure(r),
                     *old = rollout_condition(status, "ReplicaFailure");
    if (failure && old && doc_equal(doc_get(failure, "status"), doc_get(old, "status")) &&
        str_eq(doc_get_text(failure, "reason"), doc_get_text(old, "reason")))
        return;
    struct doc c = failure ? doc_dup(r->s->a, failure) : doc_make_map();
    doc_set_text(r->s->a, &c, "lastUpdateTime", doc_get_text(&c, "lastTransitionTime"));
    if (old && failure && doc_equal(doc_get(failure, "status"), doc_get(old, "status")))
        doc_set_text(r->s->a, &c, "lastTransitionTime",
                     doc_get_text(old, "lastTransitionTime"));
    remove_condition(r, status, "ReplicaFailure");
    if (failure)
        add_condition(r, status, c);
}

/* ---- writing ---- */

/* The deployment goes on with the version that the server gave it. */
enum progress rollout_put_status(struct rollout *r)
{
    const struct client_answer *answer;
    const struct doc *made;
    enum progress p =
        sync_put(r->s, &deployment_kind.kind, "status", &r->d, &made, &answer);
    if (p == PROGRESS_DONE && !made)
        return work_fail(r->s->work, "status of Deployment %.*s: %s",
                         STR_ARG(r->s->owner->key), answer->message);
    if (p == PROGRESS_DONE)
        doc_set_text(r->s->a, field_make(r->s->a, &r->d, "metadata"), "resourceVersion",
                     field_meta(made, "resourceVersion"));
    return p;
}

/* Nothing tells when a deadline is over: it is looked at again then. */
static void look_again(struct rollout *r, const struct doc *status)
{
    const struct doc *c = rollout_condition(doc_get(&r->d, "status"), "Progressing");
    if (!rollout_has_deadline(r) || !c || rollout_is_complete(r, status) ||
        doc_is_string(doc_get(c, "reason"), "ProgressDeadlineExceeded"))
        return;
    int64_t left = time_left(r, c) / 1000000;
    r->s->work->again_ms = left < 1000 ? 1000 : (uint64_t)left + 1000;
}

enum progress rollout_sync_status(struct rollout *r, bool progress)
{
    const struct doc *old = doc_get(&r->d, "status");
    struct doc status = make_status(r);
    if (progress) {
        set_progress(r, &status);
        set_failure(r, &status);
    }
    if (old && doc_equal(old, &status)) {
        if (progress)
            look_again(r, &status);
        return PROGRESS_DONE;
    }
    doc_set(r->s->a, &r->d, "status", status);
    return rollout_put_status(r);
}
