/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One claim goes: begun, in the journal; devices and files; done, in the journal. A batch
 * waits for the disk once, at its end, before anybody is told. So after the death of the
 * process what was begun is known and taken back; after that of the machine devices are
 * as new, and what was not on the disk was not answered for.
 */
#include <stdlib.h>
#include <time.h>

#include "base/mem.h"
#include "driver/prepare_inner.h"

enum { MAX_TROUBLE = 512 }; /* bytes */

/* ---- remembering ---- */

void prepare_remember(struct driver_prepare *p, const struct prepare_entry *x,
                      struct arena *a)
{
    journal_put(p->journal, x->uid, prepare_entry_print(x, a));
    prepare_holds_set(&p->holds, x);
}

static void forget(struct driver_prepare *p, struct str uid)
{
    prepare_holds_remove(&p->holds, uid);
    journal_del(p->journal, uid);
}

/* What the journal says of a claim that cannot be given back, for who asks why. */
static void note_trouble(struct driver_prepare *p, struct prepare_entry *x,
                         struct arena *a, const struct err *why)
{
    struct str text = str_sub(str_from(err_text(why)), 0, MAX_TROUBLE);
    if (str_eq(text, x->trouble))
        return;
    x->trouble = arena_str(a, text);
    if (x->undo_s == 0)
        x->undo_s = (int64_t)time(NULL);
    prepare_remember(p, x, a);
}

/* From here on it is no longer whole, whoever asks. */
static bool begin_undo(struct driver_prepare *p, struct prepare_entry *x, struct arena *a,
                       struct err *e)
{
    if (x->hold != DRIVER_PREPARED)
        return true;
    x->hold = DRIVER_UNPREPARING;
    x->undo_s = (int64_t)time(NULL);
    prepare_remember(p, x, a);
    return journal_write(p->journal, e);
}

bool prepare_undo(struct driver_prepare *p, struct prepare_entry *x, struct arena *a,
                  struct err *e)
{
    struct err why = ERR_INIT;
    if (!begin_undo(p, x, a, e))
        return false;
    bool ok = prepare_unmake(p, x, &why);
    if (ok) {
        forget(p, x->uid);
    } else {
        note_trouble(p, x, a, &why);
        err_set(e, why.code, "%s", err_text(&why));
    }
    err_release(&why);
    return ok;
}

/* After a failure that is told; what cannot be taken back stays known, and is taken back
 * before the claim is prepared again, or by its unprepare. */
static void roll_back(struct driver_prepare *p, struct prepare_entry *x, struct arena *a)
{
    struct err e = ERR_INIT;
    if (!prepare_undo(p, x, a, &e))
        prepare_complain(p, "claim %.*s/%.*s could not be rolled back: %s",
                         STR_ARG(x->namespace), STR_ARG(x->name), err_text(&e));
    err_release(&e);
}

/* The claim's entry; false: there is none, or none that can be read. */
static bool recall(struct driver_prepare *p, struct str uid, struct arena *a,
                   struct prepare_entry *out)
{
    struct str text = journal_get(p->journal, uid);
    if (!text.p)
        return false;
    struct err e = ERR_INIT;
    /* The journal's text ends with its next change. */
    bool ok = prepare_entry_read(arena_str(a, text), a, out, &e);
    if (!ok)
        prepare_complain(p, "claim %.*s: %s", STR_ARG(uid), err_text(&e));
    err_release(&e);
    return ok;
}

/* ---- preparing ---- */

struct job {
    struct prepare_entry x;
    bool ok;
    bool fresh; /* of this batch: it is taken back if the disk says no */
};

/* Whatever was lost since, the same answer; false leaves the claim as it is. */
static bool prepare_again(struct driver_prepare *p, struct job *job, struct arena *a,
                          struct err *e)
{
    struct prepare_entry *x = &job->x;
    if (!prepare_find_devices(p, x, e) || !prepare_make(p, x, a, e))
        return false;
    struct str text = prepare_entry_print(x, a);
    if (!str_eq(text, journal_get(p->journal, x->uid)))
        prepare_remember(p, x, a);
    prepare_mark(p, x->uid, x);
    return true;
}

static bool prepare_fresh(struct driver_prepare *p, struct job *job, struct arena *a,
                          struct err *e)
{
    struct prepare_entry *x = &job->x;
    if (!prepare_find_devices(p, x, e) || !prepare_holds_allow(&p->holds, x, e) ||
        !prepare_counters_allow(p, x, e) || !prepare_check_configs(p, x, e))
        return false;
    if (prepare_entry_print(x, a).n > JOURNAL_VALUE_MAX)
        return err_set(e, ERR_LIMIT, "claim %.*s/%.*s has too much configuration",
                       STR_ARG(x->namespace), STR_ARG(x->name));
    x->since_s = (int64_t)time(NULL);
    x->metadata = p->place.nversions > 0;
    job->fresh = true;
    prepare_remember(p, x, a);
    if (!journal_write(p->journal, e)) {
        forget(p, x->uid);
        return false;
    }
    if (!prepare_make(p, x, a, e)) {
        roll_back(p, x, a);
        return false;
    }
    x->hold = DRIVER_PREPARED;
    prepare_remember(p, x, a);
    prepare_mark(p, x->uid, x);
    return true;
}

/* What is known of the claim, if it is prepared for the same question; else that is taken
 * back first. */
static bool prepare_job(struct driver_prepare *p, struct job *job, struct arena *a,
                        struct err *e)
{
    struct prepare_entry known;
    if (recall(p, job->x.uid, a, &known)) {
        if (known.hold == DRIVER_PREPARED && prepare_same(&known, &job->x)) {
            job->x = known;
            return prepare_again(p, job, a, e);
        }
        if (!prepare_undo(p, &known, a, e))
            return err_wrap(e, "taking back what was prepared before");
    }
    return job->x.n == 0 || prepare_fresh(p, job, a, e);
}

/* Once for all of them. */
static bool settle(struct driver_prepare *p, struct err *e)
{
    return !journal_dirty(p->journal) || journal_sync(p->journal, e);
}

static void take_back(struct driver_prepare *p, struct job *jobs, uint32_t n,
                      struct arena *a, const struct err *why, struct err *errs)
{
    for (uint32_t i = 0; i < n; i++) {
        if (!jobs[i].ok)
            continue;
        if (jobs[i].fresh)
            roll_back(p, &jobs[i].x, a);
        jobs[i].ok = err_set(&errs[i], why->code, "%s", err_text(why));
    }
}

void driver_prepare_claims(struct driver_prepare *p, const struct doc *const *claims,
                           uint32_t n, struct arena *a, struct driver_prepared *out,
                           struct err *errs)
{
    struct job *jobs = ARENA_ARRAY(a, struct job, n);
    struct err e = ERR_INIT;
    bool followed = journal_follow(p->journal, &e);
    for (uint32_t i = 0; followed && i < n; i++)
        jobs[i].ok = prepare_plan(&p->o, claims[i], a, &jobs[i].x, &errs[i]) &&
                     prepare_job(p, &jobs[i], a, &errs[i]);
    if (followed && !settle(p, &e))
        take_back(p, jobs, n, a, &e, errs);
    for (uint32_t i = 0; i < n; i++) {
        if (!followed)
            err_set(&errs[i], e.code, "%s", err_text(&e));
        if (jobs[i].ok)
            prepare_answer(p, &jobs[i].x, a, &out[i]);
    }
    err_release(&e);
}

bool driver_prepare_claim(struct driver_prepare *p, const struct doc *claim,
                          struct arena *a, struct driver_prepared *out, struct err *e)
{
    struct err own = ERR_INIT;
    driver_prepare_claims(p, &claim, 1, a, out, &own);
    bool ok = own.code == ERR_NONE;
    if (!ok)
        err_set(e, own.code, "%s", err_text(&own));
    err_release(&own);
    return ok;
}

/* ---- unpreparing ---- */

/* Yes to what is not known, but no files of it are left. */
static bool unprepare_one(struct driver_prepare *p, struct str uid, struct err *e)
{
    struct arena a = {0};
    struct prepare_entry x;
    bool ok = true;
    if (recall(p, uid, &a, &x)) {
        ok = prepare_undo(p, &x, &a, e);
    } else if (prepare_uid_valid(uid)) {
        forget(p, uid);
        ok = prepare_cdi_remove(p, uid, e);
    }
    arena_fini(&a);
    return ok;
}

void driver_unprepare_claims(struct driver_prepare *p, const struct str *uids, uint32_t n,
                             struct err *errs)
{
    struct err e = ERR_INIT;
    bool ok = journal_follow(p->journal, &e);
    for (uint32_t i = 0; ok && i < n; i++)
        unprepare_one(p, uids[i], &errs[i]);
    ok = ok && settle(p, &e);
    for (uint32_t i = 0; !ok && i < n; i++) {
        if (errs[i].code == ERR_NONE)
            err_set(&errs[i], e.code, "%s", err_text(&e));
    }
    err_release(&e);
}

bool driver_unprepare_claim(struct driver_prepare *p, struct str uid, struct err *e)
{
    struct err own = ERR_INIT;
    driver_unprepare_claims(p, &uid, 1, &own);
    bool ok = own.code == ERR_NONE;
    if (!ok)
        err_set(e, own.code, "%s", err_text(&own));
    err_release(&own);
    return ok;
}
