/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A task is in one of four waits at a time: for the server (parts), for the loop (soon),
 * for drivers (batches), for the file (wait). Ending it ends whichever it is.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "node/claims_inner.h"

enum { SWEEP_MS = 60 * 1000 };

/* ---- tasks ---- */

static struct node_claims_task *task_of(struct node_claims *c, node_claims_done *done,
                                        void *ctx)
{
    struct node_claims_task *t = mem_zalloc(sizeof *t);
    *t = (struct node_claims_task){.claims = c, .done = done, .ctx = ctx};
    t->next = c->tasks;
    t->link = &c->tasks;
    if (t->next)
        t->next->link = &t->next;
    c->tasks = t;
    return t;
}

void node_claims_task_cancel(struct node_claims_task *t)
{
    *t->link = t->next;
    if (t->next)
        t->next->link = t->link;
    check_cancel(t);
    calls_cancel(t);
    if (t->soon)
        net_timer_stop(t->soon);
    node_claims_file_forget(&t->wait);
    err_release(&t->why);
    arena_fini(&t->arena);
    free(t);
}

void task_end(struct node_claims_task *t)
{
    struct err why = ERR_INIT;
    node_claims_done *done = t->done;
    void *ctx = t->ctx;
    if (t->why.code != ERR_NONE)
        err_set(&why, t->why.code, "%s dynamic resources: %s",
                t->unprepare ? "unprepare" : "prepare", err_text(&t->why));
    node_claims_task_cancel(t);
    done(ctx, why.code == ERR_NONE ? NULL : &why);
    err_release(&why);
}

void calls_over(struct node_claims_task *t)
{
    if (t->unprepare)
        unprepare_answered(t);
    else
        prepare_answered(t);
}

struct node_claims_task *node_claims_prepare(struct node_claims *c, const struct doc *pod,
                                             node_claims_done *done, void *ctx)
{
    struct node_claims_task *t = task_of(c, done, ctx);
    struct doc *copy = ARENA_NEW(&t->arena, struct doc);
    *copy = doc_dup(&t->arena, pod);
    t->pod = copy;
    t->pod_uid = doc_get_text(doc_get(copy, "metadata"), "uid");
    t->namespace = doc_get_text(doc_get(copy, "metadata"), "namespace");
    check_start(t);
    return t;
}

struct node_claims_task *node_claims_unprepare(struct node_claims *c, struct str pod_uid,
                                               node_claims_done *done, void *ctx)
{
    struct node_claims_task *t = task_of(c, done, ctx);
    t->unprepare = true;
    t->pod_uid = arena_str(&t->arena, pod_uid);
    unprepare_start(t);
    return t;
}

/* ---- pods that are gone ---- */

static bool is_worked_on(const struct node_claims *c, struct str pod_uid)
{
    for (const struct node_claims_task *t = c->tasks; t; t = t->next)
        if (str_eq(t->pod_uid, pod_uid))
            return true;
    return false;
}

static void on_swept(void *ctx, const struct err *why)
{
    struct node_claims *c = ctx;
    if (why && c->opts.log)
        c->opts.log(c->opts.ctx, err_text(why));
}

static void sweep_pod(struct node_claims *c, struct str pod_uid)
{
    if (!is_worked_on(c, pod_uid) && !c->opts.is_active(c->opts.ctx, pod_uid))
        node_claims_unprepare(c, pod_uid, on_swept, c);
}

static void on_sweep(void *ctx)
{
    struct node_claims *c = ctx;
    strmap_each(&c->entries, e)
    {
        const struct claim_entry *x = e->value.ptr;
        for (size_t i = 0; i < x->pods.n; i++)
            sweep_pod(c, x->pods.v[i]);
    }
}

void node_claims_sweep(struct node_claims *c)
{
    uint64_t every = c->opts.sweep_ms ? c->opts.sweep_ms : (uint64_t)SWEEP_MS;
    if (!c->sweep)
        c->sweep = net_timer_start(c->loop, 0, every, on_sweep, c);
}

/* ---- beginning and end ---- */

struct node_claims *node_claims_new(const struct node_claims_opts *o, struct err *e)
{
    struct node_claims *c = mem_zalloc(sizeof *c);
    c->opts = *o;
    c->loop = client_loop(o->client);
    if (node_claims_file_open(c, e))
        return c;
    node_claims_free(c);
    return NULL;
}

void node_claims_free(struct node_claims *c)
{
    if (!c)
        return;
    if (c->sweep)
        net_timer_stop(c->sweep);
    for (struct node_claims_task *t = c->tasks, *next; t; t = next) {
        next = t->next;
        node_claims_task_cancel(t);
    }
    node_claims_file_close(c);
    cache_clear(c);
    free(c);
}
