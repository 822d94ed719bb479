/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Marked -> drivers asked -> forgotten -> written down. Which claims a pod has is what
 * was written down when it began; its own fields may have been wiped. A claim that is
 * marked stays so until its drivers have let go of it.
 */
#include "node/claims_inner.h"

static void begin(struct node_claims_task *t, struct claim_entry *x)
{
    if (!cache_has_pod(x, t->pod_uid))
        return;
    if (x->pods.n > 1) {
        cache_drop_pod(t->claims, x, t->pod_uid);
        return;
    }
    x->unpreparing = true;
    vec_push_in(&t->arena, &t->begun, cache_copy(x, &t->arena));
}

static void on_forgotten(void *ctx, const struct err *why)
{
    struct node_claims_task *t = ctx;
    if (why)
        err_set(&t->why, why->code, "checkpoint ResourceClaim state: %s", err_text(why));
    task_end(t);
}

void unprepare_answered(struct node_claims_task *t)
{
    if (t->why.code != ERR_NONE) {
        task_end(t);
        return;
    }
    for (size_t i = 0; i < t->begun.n; i++) {
        const struct checkpoint_claim *claim = t->begun.v[i];
        struct claim_entry *x = cache_find(t->claims, claim->namespace, claim->name);
        if (x && str_eq(x->uid, claim->uid) && x->unpreparing)
            cache_delete(t->claims, x);
    }
    t->wait = (struct file_wait){.saved = on_forgotten, .ctx = t};
    node_claims_file_save(t->claims, &t->wait);
}

static void on_soon(void *ctx)
{
    struct node_claims_task *t = ctx;
    t->soon = NULL;
    strmap_each(&t->claims->entries, e) begin(t, e->value.ptr);
    if (t->begun.n > 0)
        calls_start(t);
    else
        unprepare_answered(t);
}

void unprepare_start(struct node_claims_task *t)
{
    t->soon = net_timer_start(t->claims->loop, 0, 0, on_soon, t);
}
