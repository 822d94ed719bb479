/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Before anything is written down: the claims as the server has them now, and whether the
 * pod may use them. A pod that fails here has left no trace and can be deleted freely.
 * All are read at once; the first claim that is at fault, in the order of the pod, is
 * told of.
 */
#include "node/claims_inner.h"

static const struct client_kind KIND = {"resource.k8s.io", "v1", "resourceclaims", true};

static struct str meta(const struct doc *d, const char *key)
{
    return doc_get_text(doc_get(d, "metadata"), key);
}

/* ---- names ---- */

enum claim_known check_name(const struct doc *pod, const struct doc *entry,
                            struct str *name, struct err *e)
{
    enum claim_known known = claim_ref_name(pod, entry, name);
    struct str ns = meta(pod, "namespace"), pod_name = meta(pod, "name");
    if (known == CLAIM_NOT_MADE)
        err_set(e, ERR_NOT_FOUND, "pod \"%.*s/%.*s\": ResourceClaim not created yet",
                STR_ARG(ns), STR_ARG(pod_name));
    if (known == CLAIM_UNKNOWN)
        err_set(e, ERR_UNSUPPORTED,
                "pod \"%.*s/%.*s\", spec.resourceClaim \"%.*s\": none of the supported "
                "fields are set",
                STR_ARG(ns), STR_ARG(pod_name), STR_ARG(doc_get_text(entry, "name")));
    return known;
}

static void name_part(struct node_claims_task *t, const struct doc *entry,
                      struct claim_part *part)
{
    enum claim_known known = check_name(t->pod, entry, &part->name, &part->fault);
    part->generated = known == CLAIM_GENERATED;
    part->none = known == CLAIM_NOT_NEEDED;
}

static void name_parts(struct node_claims_task *t)
{
    const struct doc *list = doc_path(t->pod, "spec.resourceClaims");
    struct str extended = doc_get_text(
        doc_path(t->pod, "status.extendedResourceClaimStatus"), "resourceClaimName");
    uint32_t n = list && list->type == DOC_LIST ? list->n : 0;
    t->parts = ARENA_ARRAY(&t->arena, struct claim_part, n + 1);
    for (uint32_t i = 0; i < n; i++) {
        t->parts[i].task = t;
        name_part(t, &list->items[i], &t->parts[i]);
    }
    t->nparts = n;
    if (extended.n > 0)
        t->parts[t->nparts++] = (struct claim_part){.task = t, .name = extended};
}

/* ---- rules ---- */

static bool may_use(struct node_claims_task *t, struct claim_part *p)
{
    bool groups = t->claims->opts.groups;
    if (p->generated && !claim_ref_is_for(p->claim, t->pod, groups)) {
        struct str why = claim_ref_not_for(p->claim, t->pod, groups, &t->arena);
        return err_set(&t->why, ERR_INVALID, "%.*s", STR_ARG(why));
    }
    if (claim_ref_is_reserved(p->claim, t->pod, groups))
        return true;
    return err_set(&t->why, ERR_INVALID,
                   "pod %.*s (%.*s) is not allowed to use ResourceClaim %.*s (%.*s)",
                   STR_ARG(meta(t->pod, "name")), STR_ARG(t->pod_uid), STR_ARG(p->name),
                   STR_ARG(meta(p->claim, "uid")));
}

static bool is_allocated(struct node_claims_task *t, struct claim_part *p)
{
    struct err why = ERR_INIT;
    const struct doc *allocation = doc_path(p->claim, "status.allocation");
    if (!allocation || allocation->type != DOC_MAP)
        return err_set(&t->why, ERR_INVALID, "ResourceClaim %.*s: not allocated",
                       STR_ARG(p->name));
    p->state = (struct checkpoint_claim){
        .uid = meta(p->claim, "uid"), .namespace = t->namespace, .name = p->name};
    if (drivers_of_claim(p->claim, t->claims->opts.optional_operations, &t->arena,
                         &p->state, &why))
        return true;
    err_set(&t->why, ERR_UNSUPPORTED, "ResourceClaim %.*s: %s", STR_ARG(p->name),
            err_text(&why));
    err_release(&why);
    return false;
}

/* Also for a claim that is prepared: something is wrong with the node then. */
static bool has_drivers(struct node_claims_task *t, const struct claim_part *p)
{
    for (uint32_t i = 0; i < p->state.ndrivers; i++) {
        const struct checkpoint_driver *d = &p->state.drivers[i];
        struct claim_driver skips = {.skipped = d->skipped, .nskipped = d->nskipped};
        if (!claim_driver_skips(&skips, "NodePrepareResources") &&
            !plugins_find(t->claims->opts.plugins, d->name))
            return err_set(&t->why, ERR_NOT_FOUND, "DRA driver %.*s is not registered",
                           STR_ARG(d->name));
    }
    return true;
}

static bool check_part(struct node_claims_task *t, struct claim_part *p)
{
    if (p->none)
        return true;
    if (p->fault.code != ERR_NONE)
        return err_set(&t->why, p->fault.code, "%s", err_text(&p->fault));
    return may_use(t, p) && is_allocated(t, p) && has_drivers(t, p);
}

static void check_all(void *ctx)
{
    struct node_claims_task *t = ctx;
    t->soon = NULL;
    for (uint32_t i = 0; i < t->nparts; i++)
        if (!check_part(t, &t->parts[i]))
            break;
    prepare_checked(t);
}

/* ---- reading ---- */

static void read_claim(struct claim_part *p, struct str body)
{
    struct arena *a = &p->task->arena;
    struct doc_source src = {.name = "answer", .text = arena_str(a, body)};
    struct doc *d = ARENA_NEW(a, struct doc);
    struct err e = ERR_INIT;
    if (doc_read_json(&src, a, d, &e))
        p->claim = d;
    else
        err_set(&p->fault, ERR_INVALID, "fetch ResourceClaim %.*s: %s", STR_ARG(p->name),
                err_text(&e));
    err_release(&e);
}

static void on_answer(void *ctx, const struct client_answer *answer)
{
    struct claim_part *p = ctx;
    struct node_claims_task *t = p->task;
    p->call = NULL;
    if (answer->ok)
        read_claim(p, answer->body);
    else
        err_set(&p->fault, ERR_IO, "fetch ResourceClaim %.*s: %s", STR_ARG(p->name),
                answer->message);
    if (--t->waiting == 0)
        check_all(t);
}

void check_start(struct node_claims_task *t)
{
    name_parts(t);
    for (uint32_t i = 0; i < t->nparts; i++) {
        struct claim_part *p = &t->parts[i];
        if (p->none || p->fault.code != ERR_NONE)
            continue;
        struct client_request q = {
            .method = "GET",
            .path = client_path(&KIND, t->namespace, p->name, NULL, &t->arena)};
        p->call = client_start(t->claims->opts.client, &q, on_answer, p);
        t->waiting++;
    }
    if (t->waiting == 0)
        t->soon = net_timer_start(t->claims->loop, 0, 0, check_all, t);
}

void check_cancel(struct node_claims_task *t)
{
    for (uint32_t i = 0; i < t->nparts; i++) {
        if (t->parts[i].call)
            client_cancel(t->parts[i].call);
        err_release(&t->parts[i].fault);
    }
}
