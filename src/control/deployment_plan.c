/* SPDX-License-Identifier: Apache-2.0 */
/* How many pods each ReplicaSet of a deployment may have. */
#include <math.h>
#include <stdlib.h>

#include "api/edit.h"
#include "control/deployment_inner.h"
#include "control/fields.h"
#include "control/pods.h"

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t total_wanted(const struct rollout *r)
{
    int64_t n = r->newest ? r->newest->replicas : 0;
    for (uint32_t i = 0; i < r->nold; i++)
        n += r->old[i]->replicas;
    return n;
}

static int64_t old_wanted(const struct rollout *r)
{
    return total_wanted(r) - (r->newest ? r->newest->replicas : 0);
}

/* A set that was made smaller just now still tells of pods that are about to go; they
 * count no more, or as many would be taken away again. (Upstream counts them.) */
static int64_t lasting(const struct replica_set *set)
{
    return least(set->available, set->replicas);
}

static int64_t total_available(const struct rollout *r)
{
    int64_t n = r->newest ? lasting(r->newest) : 0;
    for (uint32_t i = 0; i < r->nold; i++)
        n += lasting(r->old[i]);
    return n;
}

/* ---- a rolling update ---- */

/* What the newest set may have when it has so many now: surge is on top of what all are
 * meant to have. */
int64_t rollout_newest_size(const struct rollout *r, int64_t newest)
{
    int64_t wanted = rollout_wanted(r);
    if (!rollout_is_rolling(r))
        return wanted;
    int64_t surge = field_scaled(doc_path(&r->d, "spec.strategy.rollingUpdate.maxSurge"),
                                 wanted, true),
            room = wanted + surge - total_wanted(r);
    return room <= 0 ? newest : newest + least(room, wanted - newest);
}

static enum progress grow_newest(struct rollout *r, bool *scaled)
{
    int64_t wanted = rollout_wanted(r), now = r->newest->replicas;
    *scaled = false;
    if (now == wanted)
        return PROGRESS_DONE;
    return rollout_scale(
        r, r->newest, now > wanted ? wanted : rollout_newest_size(r, now), false, scaled);
}

/* Pods that do not work first: they make nothing worse. */
static enum progress drop_broken(struct rollout *r, int64_t max, int64_t *dropped)
{
    *dropped = 0;
    for (uint32_t i = 0; i < r->nold && *dropped < max; i++) {
        struct replica_set *set = r->old[i];
        int64_t n = least(max - *dropped, set->replicas - set->available);
        bool scaled;
        if (set->replicas == 0 || n <= 0)
            continue;
        enum progress p = rollout_scale(r, set, set->replicas - n, false, &scaled);
        if (p != PROGRESS_DONE)
            return p;
        *dropped += n;
    }
    return PROGRESS_DONE;
}

static enum progress drop_working(struct rollout *r, int64_t *dropped)
{
    int64_t spare = total_available(r) - (rollout_wanted(r) - rollout_max_unavailable(r));
    *dropped = 0;
    for (uint32_t i = 0; i < r->nold && *dropped < spare; i++) {
        struct replica_set *set = r->old[i];
        int64_t n = least(set->replicas, spare - *dropped);
        bool scaled;
        if (n <= 0)
            continue;
        enum progress p = rollout_scale(r, set, set->replicas - n, false, &scaled);
        if (p != PROGRESS_DONE)
            return p;
        *dropped += n;
    }
    return PROGRESS_DONE;
}

static enum progress shrink_old(struct rollout *r, bool *scaled)
{
    int64_t min = rollout_wanted(r) - rollout_max_unavailable(r),
            unavailable = r->newest->replicas - r->newest->available,
            room = total_wanted(r) - min - unavailable, broken, working;
    *scaled = false;
    if (old_wanted(r) == 0 || room <= 0)
        return PROGRESS_DONE;
    enum progress p = drop_broken(r, room, &broken);
    if (p == PROGRESS_DONE)
        p = drop_working(r, &working);
    if (p == PROGRESS_DONE)
        *scaled = broken + working > 0;
    return p;
}

static enum progress finish(struct rollout *r)
{
    enum progress p = rollout_is_complete(r, doc_get(&r->d, "status"))
                          ? rollout_clean_up(r)
                          : PROGRESS_DONE;
    return p == PROGRESS_DONE ? rollout_sync_status(r, true) : p;
}

enum progress rollout_rolling(struct rollout *r)
{
    bool scaled = false;
    enum progress p = rollout_sync_newest(r, true);
    if (p == PROGRESS_DONE)
        p = grow_newest(r, &scaled);
    if (p == PROGRESS_DONE && !scaled)
        p = shrink_old(r, &scaled);
    if (p != PROGRESS_DONE)
        return p;
    return scaled ? rollout_sync_status(r, true) : finish(r);
}

/* ---- all at once ---- */

static bool has_running(const struct rollout *r, struct str uid)
{
    uint32_t n;
    const struct str *keys = shared_owned(r->all->pods, uid, &n);
    for (uint32_t i = 0; i < n; i++) {
        const struct object *pod = informer_get(shared_informer(r->all->pods), keys[i]);
        if (pod && !pod_is_finished(pod->doc))
            return true;
    }
    return false;
}

/* Looked at once: what goes meanwhile is for the next time. */
static bool old_pods_run(struct rollout *r)
{
    if (r->s->fresh) {
        r->s->settled = true;
        for (uint32_t i = 0; i < r->nold; i++)
            if (r->old[i]->actual > 0 || has_running(r, r->old[i]->uid))
                r->s->settled = false;
    }
    return !r->s->settled;
}

static enum progress stop_old(struct rollout *r, bool *scaled)
{
    enum progress p = PROGRESS_DONE;
    *scaled = false;
    for (uint32_t i = 0; i < r->nold && p == PROGRESS_DONE; i++) {
        bool one = false;
        if (r->old[i]->replicas > 0)
            p = rollout_scale(r, r->old[i], 0, false, &one);
        *scaled |= one;
    }
    return p;
}

enum progress rollout_recreate(struct rollout *r)
{
    bool running = old_pods_run(r), scaled;
    enum progress p = stop_old(r, &scaled);
    if (p != PROGRESS_DONE)
        return p;
    if (scaled || running)
        return rollout_sync_status(r, true);
    if (!r->newest)
        p = rollout_sync_newest(r, true);
    if (p == PROGRESS_DONE)
        p = rollout_scale(r, r->newest, rollout_wanted(r), false, &scaled);
    return p == PROGRESS_DONE ? finish(r) : p;
}

/* ---- shares ---- */

/* The only set that has pods, or the newest if none has; NULL: several have. */
static struct replica_set *find_only(const struct rollout *r)
{
    struct replica_set *found = NULL;
    uint32_t active = 0;
    for (uint32_t i = 0; i <= r->nold; i++) {
        struct replica_set *set = i < r->nold ? r->old[i] : r->newest;
        if (set && set->replicas > 0)
            active++, found = set;
    }
    if (active == 0)
        found = r->newest ? r->newest : r->nold ? r->old[r->nold - 1] : NULL;
    return active < 2 ? found : NULL;
}

static bool is_saturated(const struct rollout *r)
{
    int64_t wanted = rollout_wanted(r), desired;
    return r->newest && r->newest->replicas == wanted && r->newest->available == wanted &&
           replica_set_wanted_note(r->newest, "deployment.kubernetes.io/desired-replicas",
                                   &desired) &&
           desired == wanted;
}

/* How much a set would grow or shrink if all did alike. */
static int64_t fraction(const struct rollout *r, const struct replica_set *set)
{
    int64_t wanted = rollout_wanted(r), max = wanted + rollout_max_surge(r), before;
    if (wanted == 0)
        return -set->replicas;
    if (!replica_set_wanted_note(set, "deployment.kubernetes.io/max-replicas", &before) ||
        !before)
        before = field_int(&r->d, "status.replicas", 0);
    if (!before)
        return 0;
    double size = (double)(set->replicas * max) / (double)before;
    return (int64_t)(size < 0 ? size - 0.5 : size + 0.5) - set->replicas;
}

static int64_t proportion(const struct rollout *r, const struct replica_set *set,
                          int64_t add, int64_t added)
{
    int64_t share = fraction(r, set), left = add - added;
    if (set->replicas == 0 || add == 0 || left == 0)
        return 0;
    return add > 0 ? least(share, left) : share > left ? share : left;
}

/* The larger one first; of two alike the newer one. */
static int larger_newer(const void *a, const void *b)
{
    const struct replica_set *const *x = a, *const *y = b;
    if ((*x)->replicas != (*y)->replicas)
        return (*x)->replicas > (*y)->replicas ? -1 : 1;
    return by_creation(*y, *x);
}

static int larger_older(const void *a, const void *b)
{
    const struct replica_set *const *x = a, *const *y = b;
    if ((*x)->replicas != (*y)->replicas)
        return (*x)->replicas > (*y)->replicas ? -1 : 1;
    return by_creation(*x, *y);
}

static uint32_t find_active(const struct rollout *r, struct replica_set **out)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i <= r->nold; i++) {
        struct replica_set *set = i < r->nold ? r->old[i] : r->newest;
        if (set && set->replicas > 0)
            out[n++] = set;
    }
    return n;
}

static enum progress share(struct rollout *r)
{
    struct arena *a = r->s->a;
    struct replica_set **sets = ARENA_ARRAY(a, struct replica_set *, r->nold + 1);
    int64_t *sizes = ARENA_ARRAY(a, int64_t, r->nold + 1), added = 0,
            wanted = rollout_wanted(r),
            add = (wanted > 0 ? wanted + rollout_max_surge(r) : 0) - total_wanted(r);
    uint32_t n = find_active(r, sets);
    enum progress p = PROGRESS_DONE;
    bool scaled;
    if (add)
        qsort(sets, n, sizeof *sets, add > 0 ? larger_newer : larger_older);
    for (uint32_t i = 0; i < n; i++) {
        int64_t part = proportion(r, sets[i], add, added);
        sizes[i] = sets[i]->replicas + part;
        added += part;
    }
    if (n && add) /* what rounding left over is the largest one's */
        sizes[0] = sizes[0] + add - added > 0 ? sizes[0] + add - added : 0;
    for (uint32_t i = 0; i < n && p == PROGRESS_DONE; i++)
        p = rollout_scale(r, sets[i], sizes[i], true, &scaled);
    return p;
}

enum progress rollout_scale_all(struct rollout *r)
{
    struct replica_set *only = find_only(r);
    bool scaled;
    if (only)
        return rollout_scale(r, only, rollout_wanted(r), false, &scaled);
    if (is_saturated(r))
        return stop_old(r, &scaled);
    return rollout_is_rolling(r) ? share(r) : PROGRESS_DONE;
}

/* ---- the past ---- */

static int by_revision(const void *a, const void *b)
{
    const struct replica_set *const *x = a, *const *y = b;
    int64_t rx = replica_set_revision((*x)->doc), ry = replica_set_revision((*y)->doc);
    return rx != ry ? (rx < ry ? -1 : 1) : by_creation(*x, *y);
}

static bool is_idle(const struct replica_set *set)
{
    return set->actual == 0 && set->replicas == 0 &&
           field_int(set->doc, "metadata.generation", 0) <=
               field_int(set->doc, "status.observedGeneration", 0);
}

enum progress rollout_clean_up(struct rollout *r)
{
    int64_t limit = field_int(&r->d, "spec.revisionHistoryLimit", INT32_MAX);
    struct replica_set **sets = ARENA_ARRAY(r->s->a, struct replica_set *, r->nold + 1);
    uint32_t n = 0;
    enum progress p = PROGRESS_DONE;
    for (uint32_t i = 0; i < r->nold; i++)
        if (!field_deleted(r->old[i]->doc))
            sets[n++] = r->old[i];
    if (limit == INT32_MAX || n <= limit)
        return PROGRESS_DONE;
    qsort(sets, n, sizeof *sets, by_revision);
    for (uint32_t i = 0; i < n - limit && p == PROGRESS_DONE; i++)
        if (is_idle(sets[i]))
            p = sync_delete(r->s, &deployment_set_kind, sets[i]->doc);
    return p;
}

/* The second highest revision; 0: there is none. */
static int64_t last_revision(const struct rollout *r)
{
    int64_t max = 0, second = 0;
    for (uint32_t i = 0; i <= r->nold; i++) {
        const struct replica_set *set = i < r->nold ? r->old[i] : r->newest;
        int64_t n = set ? replica_set_revision(set->doc) : 0;
        if (n >= max)
            second = max, max = n;
        else if (n > second)
            second = n;
    }
    return second;
}

static struct replica_set *find_revision(const struct rollout *r, int64_t revision)
{
    for (uint32_t i = 0; i <= r->nold; i++) {
        struct replica_set *set = i < r->nold ? r->old[i] : r->newest;
        if (set && replica_set_revision(set->doc) == revision)
            return set;
    }
    return NULL;
}

static bool is_deployments_own(struct str key)
{
    static const struct str OWN = {"deployment.kubernetes.io/", 25};
    return str_starts(key, OWN) ||
           str_is(key, "kubectl.kubernetes.io/last-applied-configuration") ||
           str_is(key, "deprecated.deployment.rollback.rollbackTo");
}

/* The template of then, and the annotations that came with it. */
static void take_back(struct rollout *r, const struct replica_set *set)
{
    struct arena *a = r->s->a;
    struct doc template = doc_dup(a, doc_path(set->doc, "spec.template")),
               notes = doc_make_map();
    struct doc *labels = api_edit_get(field_make(a, &template, "metadata"), "labels");
    const struct doc *mine = doc_path(&r->d, "metadata.annotations"),
                     *theirs = doc_path(set->doc, "metadata.annotations");
    if (labels)
        doc_remove(labels, STR("pod-template-hash"));
    doc_set(a, field_make(a, &r->d, "spec"), "template", template);
    for (uint32_t i = 0; mine && i < mine->n; i++)
        if (is_deployments_own(doc_key(&mine->members[i])))
            doc_set_str(a, &notes, doc_key(&mine->members[i]), mine->members[i].value);
    for (uint32_t i = 0; theirs && i < theirs->n; i++)
        if (!is_deployments_own(doc_key(&theirs->members[i])))
            doc_set_str(a, &notes, doc_key(&theirs->members[i]),
                        theirs->members[i].value);
    doc_set(a, field_make(a, &r->d, "metadata"), "annotations", notes);
}

static enum progress put_back(struct rollout *r)
{
    const struct client_answer *answer;
    const struct doc *made;
    struct doc *notes = api_edit_get(api_edit_get(&r->d, "metadata"), "annotations");
    doc_remove(notes, STR("deprecated.deployment.rollback.rollbackTo"));
    enum progress p = sync_put(r->s, &deployment_kind.kind, NULL, &r->d, &made, &answer);
    if (p == PROGRESS_DONE && !made)
        return work_fail(r->s->work, "roll back: %s", answer->message);
    return p;
}

static enum progress give_up(struct rollout *r, const char *reason, struct str why)
{
    rollout_tell(r, "Warning", reason, why);
    return put_back(r);
}

enum progress rollout_back(struct rollout *r)
{
    struct arena *a = r->s->a;
    int64_t to = strtoll(field_note(&r->d, "deprecated.deployment.rollback.rollbackTo").p,
                         NULL, 10);
    enum progress p = rollout_sync_newest(r, true);
    if (p != PROGRESS_DONE)
        return p;
    if (to == 0 && (to = last_revision(r)) == 0)
        return give_up(r, "DeploymentRollbackRevisionNotFound",
                       STR("Unable to find last revision."));
    const struct replica_set *set = find_revision(r, to);
    if (!set)
        return give_up(r, "DeploymentRollbackRevisionNotFound",
                       STR("Unable to find the revision to rollback to."));
    if (template_is_same(doc_path(set->doc, "spec.template"),
                         doc_path(&r->d, "spec.template"), a))
        return give_up(r, "DeploymentRollbackTemplateUnchanged",
                       arena_printf(a,
                                    "The rollback revision contains the same template as "
                                    "current deployment \"%.*s\"",
                                    STR_ARG(r->s->owner->name)));
    take_back(r, set);
    p = put_back(r);
    if (p == PROGRESS_DONE)
        rollout_tell(r, "Normal", "DeploymentRollback",
                     arena_printf(a, "Rolled back deployment \"%.*s\" to revision %lld",
                                  STR_ARG(r->s->owner->name), (long long)to));
    return p;
}
