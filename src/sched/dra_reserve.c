/* SPDX-License-Identifier: Apache-2.0 */
/* Deciding on a node, and taking that back (spec 7.7). */
#include "api/claim_refs.h"
#include "net/pki.h"
#include "sched/dra_inner.h"

/* ---- reserve ---- */

static struct str share_id(void *ctx, uint32_t share, struct arena *a)
{
    (void)ctx;
    (void)share;
    return pki_random_uuid(a);
}

/* The claim as it will be. */
static struct object *allocated(const struct doc *claim, const struct alloc_result *r)
{
    struct arena a;
    object_arena_init(&a);
    struct doc d = doc_dup(&a, claim);
    dra_add_finalizer(&d, &a);
    doc_set(&a, dra_status_of(&d, &a), "allocation",
            alloc_result_doc(r, share_id, NULL, &a));
    struct object *o = object_take(&a, &d, &dra_claim_opts, NULL);
    arena_fini(&a);
    return o;
}

static void decide(struct dra_cycle *c, struct dra_need *need, const struct doc *claim,
                   const struct alloc_result *r)
{
    if (!need->pending)
        need->pending = allocated(claim, r);
    need->in_flight = true;
    need->flight_uid = arena_str(&c->arena, need->pending->uid);
    dra_take_off(c->d, object_ref(need->pending), r);
    if (c->group)
        dra_group_decide(c->group, need->flight_uid, c->pod->uid);
}

static struct sched_status decide_all(struct dra_cycle *c, const struct dra_offer *offer)
{
    uint32_t at = 0;
    if (offer->outcome.nresults != offer->variant->n)
        return DRA_STATUS(c, SCHED_ERROR,
                          "internal error, have %u allocations, want %u claims",
                          offer->outcome.nresults, offer->variant->n);
    for (uint32_t i = 0; i < c->nusers; i++) {
        struct dra_need *n = &c->needs[i];
        if (n->pending)
            decide(c, n, NULL, NULL);
        else if (!dra_is_allocated(n->claim))
            decide(c, n, n->claim->doc, &offer->outcome.results[at++]);
    }
    if (offer->variant->extended)
        decide(c, dra_extended_need(c), &offer->variant->claim,
               &offer->outcome.results[at]);
    return dra_ok();
}

struct sched_status dra_reserve(struct dra_cycle *c, struct str node)
{
    const struct strmap_entry *e = strmap_find(&c->offers, node);
    c->node = arena_str(&c->arena, node);
    c->offer = e ? e->value.ptr : NULL;
    if (!c->ready || !c->allocates || (!c->offer && c->nusers == 0))
        return dra_ok(); /* the node's own plugins have what is wanted */
    if (!c->offer)
        return dra_status(SCHED_ERROR, STR("claim allocation not found for node"),
                          &c->arena);
    return decide_all(c, c->offer);
}

/* ---- unreserve ---- */

/* What is not known to have been refused may have been written: the devices stay taken
 * until the server has said which. */
static void land(struct dra_cycle *c, struct dra_need *n)
{
    if (!n->in_flight || n->unclear)
        return;
    n->in_flight = false;
    if (dra_land(c->d, n->flight_uid, false) && c->group)
        dra_group_forget(c->group, n->flight_uid);
}

void dra_forget(struct dra_cycle *c)
{
    for (uint32_t i = 0; i < c->n; i++)
        land(c, &c->needs[i]);
}

enum { CLEAR_UP_MS = 1000 };

/* Not before a second has passed: a write that was under way is over then. */
static enum progress clear_up(struct dra_cycle *c, struct dra_need *n)
{
    const struct client_answer *a;
    if (!c->tries++) {
        dra_wait(c, CLEAR_UP_MS);
        return PROGRESS_WAIT;
    }
    if (dra_ask(c, "GET", NULL, dra_claim_path(n->claim, NULL, &c->arena), NULL, &a))
        return PROGRESS_WAIT;
    struct object *o = dra_answer_claim(a);
    if (!o && a->status != 404) {
        dra_restart(c);
        dra_wait(c, CLEAR_UP_MS);
        return PROGRESS_WAIT;
    }
    if (o && str_eq(o->uid, n->claim->uid)) {
        dra_claim_wrote(c->d, o);
        object_unref(n->claim);
        n->claim = o;
    } else {
        object_unref(o);
    }
    n->unclear = false;
    c->tries = 0;
    land(c, n);
    return PROGRESS_DONE;
}

static enum progress take_back(struct dra_cycle *c, const struct object *claim)
{
    struct arena *a = &c->steps.arena;
    const struct client_answer *answer;
    if (dra_ask(c, "PATCH", "application/strategic-merge-patch+json",
                dra_claim_path(claim, "status", a),
                dra_reservation_patch(claim, c->pod->uid, a), &answer))
        return PROGRESS_WAIT;
    if (!answer->ok)
        dra_log(c->d, "unreserve %.*s: %s", STR_ARG(claim->key), answer->message);
    struct object *o = dra_answer_claim(answer);
    if (o)
        dra_claim_wrote(c->d, o);
    object_unref(o);
    return PROGRESS_DONE;
}

static enum progress undo_user(struct dra_cycle *c, struct dra_need *n)
{
    enum progress p = n->unclear ? clear_up(c, n) : PROGRESS_DONE;
    if (p != PROGRESS_DONE || !dra_is_allocated(n->claim) ||
        !claim_ref_is_reserved(n->claim->doc, c->pod->doc, false))
        return p;
    return take_back(c, n->claim);
}

/* A claim for extended resources is the scheduler's own. */
static enum progress undo_extended(struct dra_cycle *c, struct dra_need *n)
{
    struct sched_status s = dra_ok();
    enum progress p = n->unclear ? clear_up(c, n) : PROGRESS_DONE;
    if (p != PROGRESS_DONE || dra_is_special(n->claim))
        return p;
    p = dra_delete_claim(c, n, &s);
    if (p == PROGRESS_DONE && !sched_ok(&s))
        dra_log(c->d, "delete %.*s: %.*s", STR_ARG(n->claim->key),
                STR_ARG(s.reasons.v[0]));
    return p;
}

static enum progress undo_all(struct dra_cycle *c, struct sched_status *out)
{
    for (; c->at < c->n; c->at++) {
        struct dra_need *n = &c->needs[c->at];
        bool extended = c->at == c->nusers;
        enum progress p = extended ? undo_extended(c, n) : undo_user(c, n);
        if (p != PROGRESS_DONE)
            return p;
        c->tries = 0;
        dra_restart(c);
    }
    if (dra_mapped_clear(c) != PROGRESS_DONE)
        return PROGRESS_WAIT;
    *out = dra_ok();
    return PROGRESS_DONE;
}

static enum progress undo(struct dra_cycle *c, struct sched_status *out)
{
    for (uint32_t i = 0; i < c->n; i++)
        land(c, &c->needs[i]);
    c->at = c->tries = 0;
    object_unref(c->fresh);
    c->fresh = NULL;
    c->work = undo_all;
    return undo_all(c, out);
}

void dra_unreserve(struct dra_cycle *c, dra_done *done, void *ctx)
{
    if (c->work && !c->posted && !c->in_waiting) { /* an answer is yet to come */
        c->then = undo;
        c->done = done;
        c->done_ctx = ctx;
        return;
    }
    dra_stop(c);
    for (uint32_t i = 0; i < c->n; i++)
        land(c, &c->needs[i]);
    dra_start(c, undo, done, ctx);
}
