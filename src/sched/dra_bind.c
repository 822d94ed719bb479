/* SPDX-License-Identifier: Apache-2.0 */
/* Writing what was decided: claim by claim the finalizer, the allocation and the
 * reservation, then waiting for what devices need first (spec 7.8). */
#include "api/claim_refs.h"
#include "api/timestamp.h"
#include "sched/dra_inner.h"

enum {
    TRIES = 5,        /* of a write that meets another one */
    POLL_MS = 5000,   /* between looks at conditions; changes of claims come at once */
    KNOWN_MS = 120000 /* until the informer knows a claim that was made */
};

static bool fail(struct sched_status *out, struct sched_status s)
{
    *out = s;
    return false;
}

/* ---- the claim to be written ---- */

static const struct object *base_of(const struct dra_cycle *c, const struct dra_need *n)
{
    return c->fresh ? c->fresh : n->claim;
}

static void set_fresh(struct dra_cycle *c, struct object *o)
{
    object_unref(c->fresh);
    c->fresh = o;
}

static struct doc consumer(const struct dra_cycle *c, const struct dra_need *n,
                           struct arena *a)
{
    const struct object *group = n->of_group ? dra_group_of(c->d, c->pod->doc) : NULL;
    struct doc d = doc_make_map();
    if (group)
        doc_set_text(a, &d, "apiGroup", STR("scheduling.k8s.io"));
    doc_set_text(a, &d, "resource", group ? STR("podgroups") : STR("pods"));
    doc_set_text(a, &d, "name", group ? group->name : c->pod->name);
    doc_set_text(a, &d, "uid", group ? group->uid : c->pod->uid);
    return d;
}

static bool same_allocation(const struct object *a, const struct object *b)
{
    struct arena arena;
    arena_init(&arena);
    struct doc x = doc_dup(&arena, doc_path(a->doc, "status.allocation")),
               y = doc_dup(&arena, doc_path(b->doc, "status.allocation"));
    doc_remove(&x, STR("allocationTimestamp"));
    doc_remove(&y, STR("allocationTimestamp"));
    bool same = doc_equal(&x, &y);
    arena_fini(&arena);
    return same;
}

/* What others have done to it meanwhile. That another pod of the group has written the
 * same allocation is fine. */
static bool check_base(struct dra_cycle *c, const struct dra_need *n,
                       struct sched_status *out)
{
    const struct object *base = base_of(c, n);
    if (claim_ref_is_deleted(base->doc) || !str_eq(base->uid, n->claim->uid))
        return fail(out,
                    DRA_STATUS(c, SCHED_ERROR, "claim %.*s got deleted in the meantime",
                               STR_ARG(base->key)));
    if (n->pending && dra_is_allocated(base) && !same_allocation(base, n->pending))
        return fail(out, DRA_STATUS(c, SCHED_ERROR,
                                    "claim %.*s got allocated elsewhere in the meantime",
                                    STR_ARG(base->key)));
    if (!n->pending && !dra_is_allocated(base) && dra_binds(c->d))
        return fail(out,
                    DRA_STATUS(c, SCHED_ERROR,
                               "claim %.*s got deallocated elsewhere in the meantime",
                               STR_ARG(base->key)));
    return true;
}

static struct doc with_reservation(struct dra_cycle *c, const struct dra_need *n)
{
    struct arena *a = &c->steps.arena;
    const struct object *base = base_of(c, n);
    struct doc d = doc_dup(a, base->doc);
    struct doc *status = dra_status_of(&d, a);
    if (n->pending && !dra_is_allocated(base))
        doc_set(a, status, "allocation",
                doc_dup(a, doc_path(n->pending->doc, "status.allocation")));
    struct doc *allocation = (struct doc *)doc_get(status, "allocation");
    if (dra_binds(c->d) && allocation &&
        !doc_get_text(allocation, "allocationTimestamp").n)
        doc_set_text(a, allocation, "allocationTimestamp", c->stamp);
    struct doc *list = (struct doc *)doc_get(status, "reservedFor");
    if (!list || list->type != DOC_LIST)
        list = doc_set(a, status, "reservedFor", doc_make_list());
    doc_append(a, list, consumer(c, n, a));
    return d;
}

/* ---- its writing ---- */

/* A write has met another: everything from a fresh claim on. */
static enum progress try_again(struct dra_cycle *c, const struct client_answer *a,
                               const char *what, struct sched_status *out)
{
    if (!dra_is_conflict(a) || ++c->tries >= TRIES) {
        *out = DRA_STATUS(c, SCHED_ERROR, "%s claim %.*s: %s", what,
                          STR_ARG(c->needs[c->at].claim->key), a->message);
        return PROGRESS_FAILED;
    }
    set_fresh(c, NULL);
    dra_restart(c);
    dra_again(c);
    return PROGRESS_WAIT;
}

static enum progress refresh(struct dra_cycle *c, const struct dra_need *n,
                             struct sched_status *out)
{
    const struct client_answer *a;
    if (!c->tries || c->fresh)
        return PROGRESS_DONE;
    if (dra_ask(c, "GET", NULL, dra_claim_path(n->claim, NULL, &c->steps.arena), NULL,
                &a))
        return PROGRESS_WAIT;
    set_fresh(c, dra_answer_claim(a));
    if (c->fresh)
        return PROGRESS_DONE;
    *out = DRA_STATUS(c, SCHED_ERROR, "get updated claim %.*s after conflict: %s",
                      STR_ARG(n->claim->key), a->message);
    return PROGRESS_FAILED;
}

static enum progress add_finalizer(struct dra_cycle *c, const struct dra_need *n,
                                   struct sched_status *out)
{
    const struct client_answer *a;
    struct arena *mem = &c->steps.arena;
    if (!n->pending || dra_has_finalizer(base_of(c, n)->doc))
        return PROGRESS_DONE;
    struct doc d = doc_dup(mem, base_of(c, n)->doc);
    dra_add_finalizer(&d, mem);
    if (dra_ask(c, "PUT", NULL, dra_claim_path(n->claim, NULL, mem), &d, &a))
        return PROGRESS_WAIT;
    struct object *o = dra_answer_claim(a);
    if (!o)
        return try_again(c, a, "add finalizer to", out);
    dra_claim_wrote(c->d, o);
    set_fresh(c, o);
    return PROGRESS_DONE;
}

static enum progress write_status(struct dra_cycle *c, struct dra_need *n,
                                  struct sched_status *out)
{
    const struct client_answer *a;
    struct doc d = with_reservation(c, n);
    n->unclear = n->pending != NULL;
    if (dra_ask(c, "PUT", NULL, dra_claim_path(n->claim, "status", &c->steps.arena), &d,
                &a))
        return PROGRESS_WAIT;
    n->unclear = n->pending && dra_is_unclear(a);
    struct object *o = dra_answer_claim(a);
    if (!o)
        return try_again(
            c, a, n->pending ? "add allocation and reservation to" : "add reservation to",
            out);
    dra_claim_wrote(c->d, o);
    object_unref(n->claim);
    n->claim = o;
    set_fresh(c, NULL);
    n->written = true;
    return PROGRESS_DONE;
}

static enum progress write_claim(struct dra_cycle *c, struct dra_need *n,
                                 struct sched_status *out)
{
    enum progress p = n->written ? PROGRESS_DONE : refresh(c, n, out);
    if (p != PROGRESS_DONE || n->written)
        return p;
    if (!check_base(c, n, out))
        return PROGRESS_FAILED;
    p = add_finalizer(c, n, out);
    return p == PROGRESS_DONE ? write_status(c, n, out) : p;
}

/* ---- the claim of extended resources (spec 7.9.4) ---- */

static enum progress create(struct dra_cycle *c, struct dra_need *n,
                            struct sched_status *out)
{
    const struct client_answer *a;
    struct arena *mem = &c->steps.arena;
    struct doc d = doc_dup(mem, &c->offer->variant->claim);
    struct doc *meta = (struct doc *)doc_get(&d, "metadata");
    if (!dra_is_special(n->claim))
        return PROGRESS_DONE;
    doc_remove(meta, STR("name"));
    doc_remove(meta, STR("uid"));
    if (dra_ask(c, "POST", NULL,
                client_path(&dra_claim_kind, c->pod->namespace, STR_NONE, NULL, mem), &d,
                &a))
        return PROGRESS_WAIT;
    struct object *o = dra_answer_claim(a);
    if (!o) {
        *out = DRA_STATUS(c, SCHED_ERROR, "create claim for extended resources %.*s/: %s",
                          STR_ARG(c->pod->namespace), a->message);
        return PROGRESS_FAILED;
    }
    object_unref(n->claim);
    n->claim = o;
    return PROGRESS_DONE;
}

static enum progress tell_pod(struct dra_cycle *c, const struct dra_need *n,
                              struct sched_status *out)
{
    const struct client_answer *a;
    struct arena *mem = &c->steps.arena;
    struct doc body = doc_make_map(), status = doc_make_map(), extended = doc_make_map();
    doc_set(mem, &extended, "requestMappings", c->offer->variant->mappings);
    doc_set_text(mem, &extended, "resourceClaimName", n->claim->name);
    doc_set(mem, &status, "extendedResourceClaimStatus", extended);
    doc_set(mem, &body, "status", status);
    if (dra_ask(
            c, "PATCH", "application/strategic-merge-patch+json",
            client_path(&dra_pod_kind, c->pod->namespace, c->pod->name, "status", mem),
            &body, &a))
        return PROGRESS_WAIT;
    if (a->ok)
        return PROGRESS_DONE;
    *out = DRA_STATUS(c, SCHED_ERROR, "update pod %.*s ExtendedResourceClaimStatus: %s",
                      STR_ARG(c->pod->key), a->message);
    return PROGRESS_FAILED;
}

/* The flight goes on until the claim itself is known to hold the devices. */
static enum progress wait_known(struct dra_cycle *c, struct dra_need *n)
{
    uint64_t now = net_now_ms(client_loop(c->d->client));
    if (dra_claim_wrote(c->d, n->claim))
        return PROGRESS_DONE;
    if (!c->since_ms)
        c->since_ms = now;
    if (now - c->since_ms < KNOWN_MS) {
        dra_wait(c, KNOWN_MS - (now - c->since_ms));
        return PROGRESS_WAIT;
    }
    dra_log(c->d, "claim %.*s was made but is not seen", STR_ARG(n->claim->key));
    return PROGRESS_DONE;
}

static enum progress bind_extended(struct dra_cycle *c, struct dra_need *n,
                                   struct sched_status *out)
{
    if (!n->pending)
        return PROGRESS_DONE; /* nothing of it comes from devices here */
    enum progress p = create(c, n, out);
    if (p == PROGRESS_DONE)
        p = write_claim(c, n, out);
    if (p == PROGRESS_DONE)
        p = tell_pod(c, n, out);
    return p == PROGRESS_DONE ? wait_known(c, n) : p;
}

/* ---- conditions ---- */

static bool any_conditions(const struct dra_cycle *c)
{
    bool any = false;
    for (uint32_t i = 0; i < c->n; i++)
        any |= dra_has_conditions(c->needs[i].claim);
    return any && dra_binds(c->d);
}

/* As it is by now. */
static bool reread(struct dra_cycle *c, struct dra_need *n, struct sched_status *out)
{
    struct object *o = dra_known(c->d, n->claim->namespace, n->claim->name);
    if (!o)
        return fail(out,
                    DRA_STATUS(c, SCHED_ERROR, "could not find ResourceClaim \"%.*s\"",
                               STR_ARG(n->claim->key)));
    object_ref(o);
    object_unref(n->claim);
    n->claim = o;
    return true;
}

static enum progress look(struct dra_cycle *c, struct dra_need *n,
                          struct sched_status *out)
{
    struct str why;
    if (!reread(c, n, out))
        return PROGRESS_FAILED;
    enum dra_ready ready = dra_claim_ready(n->claim, &c->arena, &why);
    if (ready == DRA_READY)
        return PROGRESS_DONE;
    if (ready == DRA_NOT_YET && !dra_claim_late(c->d, n->claim, c->args.binding_ms))
        return PROGRESS_WAIT;
    *out = ready == DRA_FAILED
               ? dra_status(SCHED_ERROR, why, &c->arena)
               : DRA_STATUS(c, SCHED_ERROR, "device binding timeout: claim=%.*s",
                            STR_ARG(n->claim->name));
    return PROGRESS_FAILED;
}

static void tell_waiting(struct dra_cycle *c, uint64_t now)
{
    c->since_ms = now;
    c->told_waiting = true;
    if (c->d->opts.tell)
        c->d->opts.tell(
            c->d->opts.ctx, c->pod, "BindingConditionsPending",
            arena_printf(&c->arena,
                         "waiting for binding conditions for device on node %.*s",
                         STR_ARG(c->node)));
}

static enum progress await_conditions(struct dra_cycle *c, struct sched_status *out)
{
    uint64_t now = net_now_ms(client_loop(c->d->client));
    if (!c->told_waiting && !any_conditions(c))
        return PROGRESS_DONE;
    if (!c->told_waiting)
        tell_waiting(c, now);
    uint64_t waited = now - c->since_ms;
    if (waited >= c->args.binding_ms) {
        *out = dra_status(SCHED_ERROR,
                          STR("device binding timeout: context deadline exceeded"),
                          &c->arena);
        return PROGRESS_FAILED;
    }
    enum progress p = PROGRESS_DONE;
    for (uint32_t i = 0; i < c->n && p == PROGRESS_DONE; i++)
        p = look(c, &c->needs[i], out);
    uint64_t left = c->args.binding_ms - waited;
    if (p == PROGRESS_WAIT)
        dra_wait(c, left < POLL_MS ? left : POLL_MS);
    return p;
}

/* ---- all of it ---- */

static enum progress bind_claims(struct dra_cycle *c, struct sched_status *out)
{
    for (; c->at < c->n; c->at++) {
        struct dra_need *n = &c->needs[c->at];
        bool extended = c->at == c->nusers;
        if (!n->written && dra_is_reserved(c, n->claim))
            continue;
        enum progress p = extended ? bind_extended(c, n, out) : write_claim(c, n, out);
        if (p != PROGRESS_DONE)
            return p;
        set_fresh(c, NULL);
        c->tries = 0;
        c->since_ms = 0;
        dra_restart(c);
    }
    return PROGRESS_DONE;
}

/* Only now: until then the pod may yet have to give everything back. */
static void land_all(struct dra_cycle *c)
{
    for (uint32_t i = 0; i < c->n; i++) {
        struct dra_need *n = &c->needs[i];
        if (!n->in_flight)
            continue;
        n->in_flight = false;
        if (dra_land(c->d, n->flight_uid, true) && c->group)
            dra_group_forget(c->group, n->flight_uid);
    }
}

static enum progress bind(struct dra_cycle *c, struct sched_status *out)
{
    enum progress p = bind_claims(c, out);
    if (p == PROGRESS_DONE)
        p = dra_mapped_write(c, out);
    if (p == PROGRESS_DONE)
        p = await_conditions(c, out);
    if (p == PROGRESS_DONE)
        land_all(c);
    return p;
}

bool dra_pre_bind_needed(const struct dra_cycle *c)
{
    return c->n > 0;
}

void dra_pre_bind(struct dra_cycle *c, dra_done *done, void *ctx)
{
    c->stamp = timestamp_print(dra_now(c->d), 0, false, &c->arena);
    c->at = c->tries = 0;
    dra_start(c, bind, done, ctx);
}
