/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A Job's status: what has ended is written down by its uid before its finalizer goes,
 * and counted when that is gone. Pure.
 */
#include <stdlib.h>

#include "api/edit.h"
#include "api/timestamp.h"
#include "base/vec.h"
#include "control/fields.h"
#include "control/job_inner.h"

static const char GOOD[] = "succeeded", BAD[] = "failed";

/* ---- conditions ---- */

static struct str now_text(const struct job_look *l)
{
    return timestamp_print(l->now_ms / 1000, 0, false, l->a);
}

static struct doc make_condition(const struct job_look *l, const struct job_condition *c,
                                 bool holds)
{
    struct doc d = doc_make_map();
    doc_set_text(l->a, &d, "type", str_from(c->type));
    doc_set_text(l->a, &d, "status", holds ? STR("True") : STR("False"));
    doc_set_text(l->a, &d, "lastProbeTime", now_text(l));
    doc_set_text(l->a, &d, "lastTransitionTime", now_text(l));
    doc_set_text(l->a, &d, "reason", str_from(c->reason));
    doc_set_text(l->a, &d, "message", c->message);
    return d;
}

static bool is_as(const struct doc *d, const struct job_condition *c, bool holds)
{
    return doc_is_string(doc_get(d, "status"), holds ? "True" : "False") &&
           doc_is_string(doc_get(d, "reason"), c->reason) &&
           str_eq(doc_get_text(d, "message"), c->message);
}

/* Whether it was not so before. What was never true need not be told to be false. */
static bool ensure(const struct job_look *l, struct doc *status,
                   const struct job_condition *c, bool holds)
{
    struct doc *list = api_edit_get(status, "conditions");
    for (uint32_t i = 0; list && i < list->n; i++) {
        if (!doc_is_string(doc_get(&list->items[i], "type"), c->type))
            continue;
        if (is_as(&list->items[i], c, holds))
            return false;
        list->items[i] = make_condition(l, c, holds);
        return true;
    }
    if (!holds)
        return false;
    list = list ? list : doc_set(l->a, status, "conditions", doc_make_list());
    doc_append(l->a, list, make_condition(l, c, true));
    return true;
}

/* ---- uids that are yet to be counted ---- */

static struct doc *uncounted(const struct job_look *l, struct doc *status,
                             const char *which)
{
    struct doc *all = field_make(l->a, status, "uncountedTerminatedPods"),
               *list = api_edit_get(all, which);
    return list ? list : doc_set(l->a, all, which, doc_make_list());
}

static bool lists(const struct doc *list, struct str uid)
{
    for (uint32_t i = 0; i < list->n; i++)
        if (str_eq(doc_str(&list->items[i]), uid))
            return true;
    return false;
}

static void list_uid(const struct job_look *l, struct doc *status, const char *which,
                     struct str uid)
{
    doc_append(l->a, uncounted(l, status, which), doc_make_string(l->a, uid));
}

/* Uids whose finalizers are gone turn into numbers. */
static bool count_one(const struct job_look *l, struct doc *status, const char *which,
                      const struct strmap *tracked)
{
    struct doc *list = uncounted(l, status, which);
    uint32_t left = 0, n = list->n;
    for (uint32_t i = 0; i < n; i++)
        if (strmap_find(tracked, doc_str(&list->items[i])))
            list->items[left++] = list->items[i];
    list->n = left;
    if (left < n)
        field_set_int(l->a, status, which, field_int(status, which, 0) + n - left);
    return left < n;
}

static bool count_gone(const struct job_look *l, struct doc *status,
                       const struct strmap *tracked)
{
    bool good = count_one(l, status, GOOD, tracked),
         bad = count_one(l, status, BAD, tracked);
    return good || bad;
}

/* Empty lists are not written; the map that holds them is. */
static void tidy(struct doc *status)
{
    struct doc *all = api_edit_get(status, "uncountedTerminatedPods");
    const char *const NAMES[] = {GOOD, BAD};
    for (int i = 0; i < 2; i++)
        if (!field_count(all, NAMES[i]))
            doc_remove(all, str_from(NAMES[i]));
}

static uint32_t count_uids(const struct doc *status)
{
    const struct doc *all = doc_get(status, "uncountedTerminatedPods");
    return field_count(all, GOOD) + field_count(all, BAD);
}

/* ---- numbers ---- */

static bool differs(const struct doc *status, const char *name, int64_t value)
{
    return field_int(status, name, -1) != value;
}

static void set_numbers(const struct job_look *l, const struct job_plan *p,
                        const struct job_done *d, struct job_state *st)
{
    int64_t active = p->active - d->deleted + p->nmake - d->unmade,
            ready = p->ready - d->deleted_ready;
    st->terminating = p->terminating + d->deleted;
    st->flush |= active != field_int(&st->status, "active", 0) ||
                 differs(&st->status, "ready", ready) ||
                 differs(&st->status, "terminating", st->terminating);
    field_set_int(l->a, &st->status, "active", active);
    doc_set(l->a, &st->status, "ready", doc_make_int(l->a, ready));
    doc_set(l->a, &st->status, "terminating", doc_make_int(l->a, st->terminating));
}

static bool set_text(const struct job_look *l, struct doc *status, const char *name,
                     struct str text, bool empty_too)
{
    const struct doc *old = doc_get(status, name);
    bool same = old ? str_eq(doc_get_text(status, name), text) : !text.n && !empty_too;
    if (text.n || empty_too)
        doc_set_text(l->a, status, name, text);
    else
        doc_remove(status, str_from(name));
    return !same;
}

static void set_indexes(const struct job_look *l, const struct job_plan *p,
                        struct job_state *st)
{
    if (!l->v.indexed)
        return;
    field_set_int(l->a, &st->status, "succeeded", job_spans_total(&p->done));
    st->flush |= set_text(l, &st->status, "completedIndexes",
                          job_spans_print(&p->done, l->a), false);
    if (l->v.per_index)
        st->flush |= set_text(l, &st->status, "failedIndexes",
                              job_spans_print(&p->lost, l->a), true);
    else if (doc_remove(&st->status, STR("failedIndexes")))
        st->flush = true;
}

/* ---- suspension, and the end ---- */

static void set_suspended(const struct job_look *l, struct job_state *st)
{
    static const struct job_condition ON = {"Suspended", "JobSuspended",
                                            STR("Job suspended")},
                                      OFF = {"Suspended", "JobResumed",
                                             STR("Job resumed")};
    st->suspended = ensure(l, &st->status, l->v.suspended ? &ON : &OFF, l->v.suspended);
    st->flush |= st->suspended;
    if (st->suspended && l->v.suspended)
        doc_remove(&st->status, STR("startTime"));
    else if (st->suspended)
        doc_set_text(l->a, &st->status, "startTime", now_text(l));
}

static bool is_complete(const struct job_look *l, const struct job_plan *p,
                        const struct job_done *d)
{
    int64_t active = p->active - d->deleted + p->nmake - d->unmade;
    if (active)
        return false;
    return l->v.completions < 0 ? p->succeeded > 0 : p->succeeded >= l->v.completions;
}

/* Not over before all of its pods are known and told to end. */
static void find_end(const struct job_look *l, const struct job_plan *p,
                     const struct job_done *d, struct job_state *st)
{
    if (p->finished.type) {
        if (d->deleted == p->active && l->settled)
            st->finished = p->finished;
    } else if (is_complete(l, p, d)) {
        st->finished =
            (struct job_condition){"SuccessCriteriaMet", "CompletionsReached",
                                   STR("Reached expected number of succeeded pods")};
    } else if (p->manages) {
        set_suspended(l, st);
    }
}

static bool is_success(const struct job_condition *c)
{
    return c->type &&
           (!strcmp(c->type, "SuccessCriteriaMet") || !strcmp(c->type, "Complete"));
}

/* The end is told twice: as its reason comes up, and when nothing is left to count. */
static void announce_end(const struct job_look *l, struct job_state *st)
{
    struct job_condition *c = &st->finished;
    if (!c->type)
        return;
    if (strcmp(c->type, "Failed") != 0 && ensure(l, &st->status, c, true))
        st->flush = true;
    c->type = is_success(c) ? "Complete" : "Failed";
}

/* ---- counting ---- */

static void collect_tracked(const struct job_look *l, struct strmap *tracked)
{
    strmap_init(tracked);
    for (uint32_t i = 0; i < l->npods; i++)
        if (l->pods[i].tracked)
            strmap_put(tracked, l->pods[i].o->uid, NULL);
}

static bool may_release(const struct job_look *l, const struct job_state *st,
                        const struct job_pod *p)
{
    if (l->v.deleted || st->finished.type || p->succeeded)
        return true;
    return p->failed && !p->awaited;
}

/* *nindexes: succeeded indexes that are new, which need no uids. */
static void note_end(const struct job_look *l, const struct job_plan *p,
                     struct job_state *st, const struct job_pod *pod, uint32_t *nindexes)
{
    struct str uid = pod->o->uid;
    bool counted = lists(uncounted(l, &st->status, BAD), uid);
    if (pod->succeeded && !counted) {
        if (l->v.indexed && pod->fits && !job_spans_have(&p->before, pod->index)) {
            ++*nindexes;
            st->flush = true;
        } else if (!l->v.indexed && !lists(uncounted(l, &st->status, GOOD), uid)) {
            list_uid(l, &st->status, GOOD, uid);
            st->flush = true;
        }
        return;
    }
    bool failed = pod->failed || (st->finished.type && !is_success(&st->finished));
    if (!failed || counted || !pod->fits || pod->action == JOB_IGNORE)
        return;
    list_uid(l, &st->status, BAD, uid);
    st->flush = true;
}

static void note_ends(const struct job_look *l, const struct job_plan *p,
                      struct job_state *st)
{
    uint32_t nindexes = 0;
    for (uint32_t i = 0; i < l->npods && !st->more; i++) {
        const struct job_pod *pod = &l->pods[i];
        if (!pod->tracked || !may_release(l, st, pod))
            continue;
        vec_push_in(l->a, &st->release, pod);
        note_end(l, p, st, pod, &nindexes);
        st->more = nindexes + count_uids(&st->status) >= JOB_UNCOUNTED_MAX;
    }
}

/* In the order of their indexes, so that those come to an end in order. */
static int by_index(const void *a, const void *b)
{
    const struct job_pod *x = a, *y = b;
    return x->index < y->index ? -1 : x->index > y->index;
}

void job_track(const struct job_look *l, const struct job_plan *p,
               const struct job_done *d, struct job_state *st)
{
    struct strmap tracked;
    *st = (struct job_state){.status = l->v.status ? doc_dup(l->a, l->v.status)
                                                   : doc_make_map()};
    if (!l->v.started_s && !l->v.suspended)
        doc_set_text(l->a, &st->status, "startTime", now_text(l));
    find_end(l, p, d, st);
    set_numbers(l, p, d, st);
    collect_tracked(l, &tracked);
    st->flush |= count_gone(l, &st->status, &tracked);
    strmap_release(&tracked);
    if (l->v.indexed && l->npods)
        qsort(l->pods, l->npods, sizeof *l->pods, by_index);
    note_ends(l, p, st);
    set_indexes(l, p, st);
    announce_end(l, st);
    tidy(&st->status);
}

bool job_settle(const struct job_look *l, const struct job_state *st,
                const bool *released, struct doc *status, bool *ends)
{
    struct strmap tracked;
    const struct job_condition *c = &st->finished;
    collect_tracked(l, &tracked);
    for (uint32_t i = 0; i < st->release.n; i++)
        if (released[i])
            strmap_remove(&tracked, st->release.v[i]->o->uid);
    bool changed = count_gone(l, status, &tracked);
    strmap_release(&tracked);
    *ends = c->type && !st->more && !count_uids(status) && !st->terminating;
    if (*ends && ensure(l, status, c, true))
        changed = true;
    if (*ends && is_success(c))
        doc_set_text(l->a, status, "completionTime", now_text(l));
    tidy(status);
    return changed || *ends;
}
