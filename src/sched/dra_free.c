/* SPDX-License-Identifier: Apache-2.0 */
/* A pod that fits nowhere: a claim of its own that is in the way is freed (spec 7.5). */
#include "sched/dra_inner.h"

enum { TRIES = 5 };

/* ---- deallocating ---- */

enum progress dra_deallocate(struct dra_cycle *c, struct dra_need *n,
                             struct sched_status *out)
{
    static const char *const GONE[] = {"reservedFor", "allocation", "devices"};
    const struct client_answer *a;
    struct arena *mem = &c->steps.arena;
    struct doc d = doc_dup(mem, n->claim->doc);
    for (int i = 0; i < 3; i++)
        doc_remove(dra_status_of(&d, mem), str_from(GONE[i]));
    if (dra_ask(c, "PUT", NULL, dra_claim_path(n->claim, "status", mem), &d, &a))
        return PROGRESS_WAIT;
    struct object *o = dra_answer_claim(a);
    if (!o) {
        *out = DRA_STATUS(c, SCHED_ERROR, "%s", a->message);
        return PROGRESS_FAILED;
    }
    dra_claim_wrote(c->d, o);
    object_unref(o);
    return PROGRESS_DONE;
}

/* ---- deleting a claim of extended resources ---- */

static enum progress refresh(struct dra_cycle *c, struct dra_need *n,
                             struct sched_status *out)
{
    const struct client_answer *a;
    if (!c->tries || c->fresh)
        return PROGRESS_DONE;
    if (dra_ask(c, "GET", NULL, dra_claim_path(n->claim, NULL, &c->steps.arena), NULL,
                &a))
        return PROGRESS_WAIT;
    c->fresh = dra_answer_claim(a);
    if (c->fresh)
        return PROGRESS_DONE;
    *out = DRA_STATUS(c, SCHED_ERROR, "get resourceclaim %.*s: %s",
                      STR_ARG(n->claim->key), a->message);
    return PROGRESS_FAILED;
}

static enum progress release(struct dra_cycle *c, struct dra_need *n,
                             struct sched_status *out)
{
    const struct client_answer *a;
    struct arena *mem = &c->steps.arena;
    struct doc d = doc_dup(mem, (c->fresh ? c->fresh : n->claim)->doc);
    dra_drop_finalizer(&d);
    if (dra_ask(c, "PUT", NULL, dra_claim_path(n->claim, NULL, mem), &d, &a))
        return PROGRESS_WAIT;
    if (a->ok)
        return PROGRESS_DONE;
    if (dra_is_conflict(a) && ++c->tries < TRIES) {
        object_unref(c->fresh);
        c->fresh = NULL;
        dra_restart(c);
        dra_again(c);
        return PROGRESS_WAIT;
    }
    *out = DRA_STATUS(c, SCHED_ERROR, "update resourceclaim %.*s: %s",
                      STR_ARG(n->claim->key), a->message);
    return PROGRESS_FAILED;
}

enum progress dra_delete_claim(struct dra_cycle *c, struct dra_need *n,
                               struct sched_status *out)
{
    const struct client_answer *a;
    enum progress p = refresh(c, n, out);
    if (p == PROGRESS_DONE)
        p = release(c, n, out);
    if (p != PROGRESS_DONE)
        return p;
    if (dra_ask(c, "DELETE", NULL, dra_claim_path(n->claim, NULL, &c->steps.arena), NULL,
                &a))
        return PROGRESS_WAIT;
    if (a->ok || a->status == 404)
        return PROGRESS_DONE;
    *out = DRA_STATUS(c, SCHED_ERROR, "%s", a->message);
    return PROGRESS_FAILED;
}

/* ---- what is in the way ---- */

static struct dra_need *find_idle(struct dra_cycle *c)
{
    for (uint32_t i = 0; i < c->nusers; i++) {
        struct dra_need *n = &c->needs[i];
        if (n->unavailable && dra_is_allocated(n->claim) &&
            dra_only_for(n->claim, c->pod->uid))
            return n;
    }
    return NULL;
}

enum progress dra_free_one(struct dra_cycle *c, bool *found, struct sched_status *out)
{
    struct dra_need *idle = find_idle(c), *extended = dra_extended_need(c);
    bool stale = extended && !dra_is_special(extended->claim);
    enum progress p = PROGRESS_DONE;
    *found = idle || stale;
    *out = (struct sched_status){.code = SCHED_UNSCHEDULABLE};
    if (idle)
        p = dra_deallocate(c, idle, out);
    else if (stale)
        p = dra_delete_claim(c, extended, out);
    if (*found && p == PROGRESS_DONE)
        *out = dra_status(SCHED_UNSCHEDULABLE,
                          idle ? STR("deallocation of ResourceClaim completed")
                               : STR("deletion of ResourceClaim completed"),
                          &c->arena);
    return p;
}

static enum progress free_one(struct dra_cycle *c, struct sched_status *out)
{
    bool found;
    return dra_free_one(c, &found, out);
}

void dra_post_filter(struct dra_cycle *c, dra_done *done, void *ctx)
{
    c->tries = 0;
    dra_start(c, free_one, done, ctx);
}
