/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is done for a set's places, one after another or many at once. A place that is
 * over is not looked at again in the same piece of work.
 */
#include "base/vec.h"
#include "control/fields.h"
#include "control/statefulset_inner.h"

enum { WINDOW_MAX = 500 };

/* Whether the next place has its turn. */
enum turn { NEXT, STOP };

void stateful_tell(const struct stateful *t, const char *type, const char *reason,
                   struct str message)
{
    struct event_about about = {statefulset_kind.api_version, statefulset_kind.name,
                                t->set};
    events_tell(t->all->events, &about, type, reason, message);
}

struct verb {
    const char *name, *good, *bad;
};
static const struct verb CREATE = {"Create", "SuccessfulCreate", "FailedCreate"},
                         UPDATE = {"Update", "SuccessfulUpdate", "FailedUpdate"},
                         DELETE = {"Delete", "SuccessfulDelete", "FailedDelete"};

/* error NULL: it went well. */
static void tell_pod(const struct stateful *t, const struct verb *v,
                     const struct place *p, const char *error)
{
    struct str set = t->s->owner->name;
    if (!error)
        stateful_tell(
            t, "Normal", v->good,
            arena_printf(t->s->a, "%s Pod %.*s-%lld in StatefulSet %.*s successful",
                         v->name, STR_ARG(set), (long long)p->ordinal, STR_ARG(set)));
    else
        stateful_tell(
            t, "Warning", v->bad,
            arena_printf(t->s->a, "%s Pod %.*s-%lld in StatefulSet %.*s failed error: %s",
                         v->name, STR_ARG(set), (long long)p->ordinal, STR_ARG(set),
                         error));
}

static uint64_t now_ms(const struct stateful *t)
{
    return net_now_ms(client_loop(t->s->work->steps.client));
}

/* ---- single pods ---- */

/* What is expected is said before it is asked for: the watch may be faster than the
 * answer. */
static enum progress ask_to_delete(const struct stateful *t, struct place *p,
                                   const struct client_answer **answer)
{
    struct expect *x = &t->all->expect;
    struct str path = client_path(&pods_kind, p->o->namespace, p->o->name, NULL, t->s->a);
    if (!p->asked)
        expect_gone(x, t->s->owner->key, p->o->uid, now_ms(t));
    p->asked = true;
    enum progress done = work_ask(t->s->work, "DELETE", NULL, path, NULL, answer);
    if (done == PROGRESS_DONE && !(*answer)->ok)
        expect_saw_gone(x, t->s->owner->key, p->o->uid);
    return done;
}

static enum progress delete_pod(const struct stateful *t, struct place *p)
{
    const struct client_answer *answer;
    enum progress done = p->deleted ? PROGRESS_DONE : ask_to_delete(t, p, &answer);
    if (p->deleted || done != PROGRESS_DONE)
        return done;
    p->deleted = answer->ok || answer->status == 404;
    tell_pod(t, &DELETE, p, p->deleted ? NULL : answer->message);
    if (p->deleted)
        return PROGRESS_DONE;
    return work_fail(t->s->work, "delete %.*s: %s", STR_ARG(p->o->key), answer->message);
}

static enum progress create_pod(const struct stateful *t, struct place *p)
{
    const struct client_answer *answer;
    const struct doc *made;
    if (p->pod.type != DOC_MAP) {
        p->pod = stateful_make_pod(t, p);
        expect_made(&t->all->expect, t->s->owner->key, 1, now_ms(t));
    }
    enum progress done = sync_post(t->s, &pods_kind, &p->pod, &made, &answer);
    if (done != PROGRESS_DONE || p->made)
        return done;
    p->made = made != NULL;
    if (made)
        return PROGRESS_DONE;
    expect_saw_made(&t->all->expect, t->s->owner->key);
    if (!str_is(str_from(answer->reason), "AlreadyExists"))
        tell_pod(t, &CREATE, p, answer->message);
    return work_fail(t->s->work, "create pod %.*s-%lld: %s", STR_ARG(t->s->owner->name),
                     (long long)p->ordinal, answer->message);
}

/* Told before its claims are given to it, since that may fail. */
static enum progress make_place(const struct stateful *t, struct place *p)
{
    enum progress done = stateful_make_claims(t, p);
    if (done == PROGRESS_FAILED)
        tell_pod(t, &CREATE, p, err_text(&t->s->work->err));
    if (done != PROGRESS_DONE)
        return done;
    bool told = p->made;
    done = create_pod(t, p);
    if (done == PROGRESS_DONE && !told)
        tell_pod(t, &CREATE, p, NULL);
    return done == PROGRESS_DONE ? stateful_own_claims(t, p) : done;
}

static enum progress mend_pod(const struct stateful *t, struct place *p)
{
    const struct client_answer *answer;
    const struct doc *made;
    enum progress done = stateful_own_claims(t, p);
    if (done != PROGRESS_DONE || stateful_pod_is_right(t, p))
        return done;
    done = stateful_make_claims(t, p);
    if (done != PROGRESS_DONE)
        return done;
    struct doc pod = stateful_mend_pod(t, p);
    done = sync_put(t->s, &pods_kind, NULL, &pod, &made, &answer);
    if (done != PROGRESS_DONE)
        return done;
    tell_pod(t, &UPDATE, p, made ? NULL : answer->message);
    return made ? PROGRESS_DONE
                : work_fail(t->s->work, "update %.*s: %s", STR_ARG(p->o->key),
                            answer->message);
}

/* ---- a place in the range ---- */

static bool is_ready(const struct stateful *t, const struct place *p)
{
    const struct doc *pod = p->o->doc;
    return doc_is_string(doc_path(pod, "status.phase"), "Running") &&
           pod_is_available(pod, t->min_ready_s, t->s->now, NULL);
}

static enum progress work_on_empty(const struct stateful *t, struct place *p,
                                   enum turn *turn)
{
    *turn = STOP;
    if (stateful_claim_is_stale(t, p))
        return PROGRESS_DONE;
    return make_place(t, p);
}

static enum progress work_on_ended(const struct stateful *t, struct place *p,
                                   enum turn *turn)
{
    *turn = STOP;
    return field_deleted(p->o->doc) ? PROGRESS_DONE : delete_pod(t, p);
}

static enum progress work_on(const struct stateful *t, struct place *p, enum turn *turn)
{
    enum progress done = PROGRESS_DONE;
    *turn = NEXT;
    if (!p->o)
        return work_on_empty(t, p, turn);
    if (pod_is_finished(p->o->doc))
        return work_on_ended(t, p, turn);
    if (doc_is_string(doc_path(p->o->doc, "status.phase"), "Pending")) {
        done = stateful_make_claims(t, p);
        if (done == PROGRESS_DONE)
            done = stateful_own_claims(t, p);
        if (done != PROGRESS_DONE)
            return done;
    }
    if (!t->burst && (field_deleted(p->o->doc) || !is_ready(t, p))) {
        *turn = STOP;
        return PROGRESS_DONE;
    }
    return mend_pod(t, p);
}

/* ---- a place beyond it ---- */

static enum progress fix_claims(const struct stateful *t, struct place *p,
                                enum turn *turn)
{
    *turn = NEXT;
    return stateful_own_claims(t, p);
}

static const struct stateful_plan *plan_of(const struct stateful *t)
{
    return t->s->plan;
}

static enum progress condemn(const struct stateful *t, struct place *p, enum turn *turn)
{
    *turn = STOP;
    if (field_deleted(p->o->doc) ||
        (!t->burst && !is_ready(t, p) && p != plan_of(t)->first_unavailable))
        return PROGRESS_DONE;
    return delete_pod(t, p);
}

/* An old pod makes room for a new one. */
static enum progress replace(const struct stateful *t, struct place *p, enum turn *turn)
{
    *turn = NEXT;
    return delete_pod(t, p);
}

/* ---- all places ---- */

typedef enum progress place_work(const struct stateful *t, struct place *p,
                                 enum turn *turn);

static enum progress in_order(const struct stateful *t, struct places *all,
                              place_work *work, enum turn *turn)
{
    *turn = NEXT;
    for (uint32_t i = 0; i < all->n && *turn == NEXT; i++) {
        struct place *p = &all->v[i];
        enum progress done = p->over ? PROGRESS_DONE : work(t, p, turn);
        if (done != PROGRESS_DONE)
            return done;
        p->over = *turn == NEXT;
    }
    return PROGRESS_DONE;
}

/* From one place to another; the end of a window waits for all in it. */
static enum progress in_window(const struct stateful *t, struct places *all,
                               uint32_t from, uint32_t to, place_work *work)
{
    bool waits = false, failed = false;
    for (uint32_t i = from; i < to; i++) {
        enum turn turn;
        struct place *p = &all->v[i];
        enum progress done = p->over ? PROGRESS_DONE : work(t, p, &turn);
        waits |= done == PROGRESS_WAIT;
        failed |= done == PROGRESS_FAILED;
        p->over = done != PROGRESS_WAIT;
        p->failed |= done == PROGRESS_FAILED;
        failed |= p->failed;
    }
    if (waits)
        return PROGRESS_WAIT;
    return failed ? PROGRESS_FAILED : PROGRESS_DONE;
}

static enum progress at_once(const struct stateful *t, struct places *all,
                             place_work *work)
{
    for (uint32_t from = 0, window = 1; from < all->n; from += window, window *= 2) {
        window = window < WINDOW_MAX ? window : WINDOW_MAX;
        uint32_t to = all->n - from < window ? all->n : from + window;
        enum progress done = in_window(t, all, from, to, work);
        if (done != PROGRESS_DONE)
            return done;
    }
    return PROGRESS_DONE;
}

static enum progress on_all(const struct stateful *t, struct places *all,
                            place_work *work, enum turn *turn)
{
    *turn = NEXT;
    return t->burst ? at_once(t, all, work) : in_order(t, all, work, turn);
}

/* Each kind of work begins with all places, once the last is done. */
static void begin_again(struct places *all)
{
    for (uint32_t i = 0; i < all->n; i++)
        all->v[i].over = all->v[i].failed = false;
}

static enum progress roll(const struct stateful *t, struct stateful_plan *p)
{
    enum turn turn;
    if (!str_is(field_text(t->set, "spec.updateStrategy.type"), "RollingUpdate"))
        return PROGRESS_DONE;
    if (!p->rolling) {
        p->outdated = stateful_outdated(t, p);
        p->rolling = true;
    }
    enum progress done = in_order(t, &p->outdated, replace, &turn);
    p->replaced = 0;
    for (uint32_t i = 0; i < p->outdated.n; i++)
        p->replaced += p->outdated.v[i].deleted &&
                       str_eq(p->outdated.v[i].revision, t->current.name);
    return done;
}

enum progress stateful_manage(const struct stateful *t, struct stateful_plan *p)
{
    static place_work *const STAGES[] = {work_on, fix_claims, condemn};
    enum { NSTAGES = sizeof STAGES / sizeof *STAGES };
    for (; p->stage < NSTAGES; p->stage++) {
        struct places *all = p->stage ? &p->condemned : &p->replicas;
        enum turn turn;
        enum progress done = on_all(t, all, STAGES[p->stage], &turn);
        if (done != PROGRESS_DONE || turn == STOP)
            return done;
        begin_again(all);
    }
    return roll(t, p);
}
