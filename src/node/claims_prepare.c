/* SPDX-License-Identifier: Apache-2.0 */
/* checked -> written down -> drivers asked -> prepared -> written down again. */
#include "node/claims_inner.h"

/* Other users than this claim's under its name, or its end has begun. */
static bool is_free(struct node_claims_task *t, const struct claim_part *p,
                    const struct claim_entry *x)
{
    if (!str_eq(x->uid, p->state.uid))
        return err_set(&t->why, ERR_INVALID,
                       "old ResourceClaim with same name %.*s and different UID %.*s "
                       "still exists (previous pod force-deleted?!)",
                       STR_ARG(x->name), STR_ARG(x->uid));
    return !x->unpreparing ||
           err_set(&t->why, ERR_INVALID, "ResourceClaim %.*s is being unprepared",
                   STR_ARG(x->name));
}

static bool is_begun(const struct node_claims_task *t,
                     const struct checkpoint_claim *claim)
{
    for (size_t i = 0; i < t->begun.n; i++)
        if (str_eq(t->begun.v[i]->uid, claim->uid))
            return true;
    return false;
}

static bool enter_claim(struct node_claims_task *t, const struct claim_part *p)
{
    struct claim_entry *x = cache_find(t->claims, p->state.namespace, p->state.name);
    if (x && !is_free(t, p, x))
        return false;
    if (!x)
        x = cache_add(t->claims, &p->state);
    cache_add_pod(t->claims, x, t->pod_uid);
    if (!x->prepared && !is_begun(t, &p->state))
        vec_push_in(&t->arena, &t->begun, cache_copy(x, &t->arena));
    return true;
}

static void on_entered(void *ctx, const struct err *why)
{
    struct node_claims_task *t = ctx;
    if (why && t->why.code == ERR_NONE)
        err_set(&t->why, why->code, "checkpoint ResourceClaim cache: %s", err_text(why));
    if (t->why.code != ERR_NONE || t->begun.n == 0)
        task_end(t);
    else
        calls_start(t);
}

/* Claims before one that is at fault stay entered, and so they are written too. */
void prepare_checked(struct node_claims_task *t)
{
    bool ok = t->why.code == ERR_NONE;
    if (!ok) {
        task_end(t);
        return;
    }
    for (uint32_t i = 0; ok && i < t->nparts; i++)
        ok = t->parts[i].none || enter_claim(t, &t->parts[i]);
    t->wait = (struct file_wait){.saved = on_entered, .ctx = t};
    node_claims_file_save(t->claims, &t->wait);
}

static void on_prepared(void *ctx, const struct err *why)
{
    struct node_claims_task *t = ctx;
    if (why)
        err_set(&t->why, why->code, "checkpoint ResourceClaim state: %s", err_text(why));
    task_end(t);
}

void prepare_answered(struct node_claims_task *t)
{
    for (size_t i = 0; t->why.code == ERR_NONE && i < t->begun.n; i++) {
        const struct checkpoint_claim *claim = t->begun.v[i];
        struct claim_entry *x = cache_find(t->claims, claim->namespace, claim->name);
        if (x && str_eq(x->uid, claim->uid))
            x->prepared = true;
        else
            err_set(&t->why, ERR_INTERNAL,
                    "internal error: unable to get claim info for ResourceClaim %.*s in "
                    "namespace %.*s",
                    STR_ARG(claim->name), STR_ARG(claim->namespace));
    }
    if (t->why.code != ERR_NONE) {
        task_end(t);
        return;
    }
    t->wait = (struct file_wait){.saved = on_prepared, .ctx = t};
    node_claims_file_save(t->claims, &t->wait);
}
