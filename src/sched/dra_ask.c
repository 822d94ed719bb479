/* SPDX-License-Identifier: Apache-2.0 */
/* Work of a cycle that asks the server: done anew with every answer (client/steps.h). */
#include "sched/dra_inner.h"

static void run(void *ctx);

static void begin_steps(struct dra_cycle *c)
{
    steps_init(&c->steps, c->d->client, run, c);
    c->asking = true;
}

static void end_steps(struct dra_cycle *c)
{
    if (c->asking)
        steps_fini(&c->steps);
    c->asking = false;
}

void dra_restart(struct dra_cycle *c)
{
    end_steps(c);
    begin_steps(c);
}

/* ---- waiting for something else than an answer ---- */

static void stop_waiting(struct dra_cycle *c)
{
    if (c->timer)
        net_timer_stop(c->timer);
    c->timer = NULL;
    for (struct dra_cycle **at = &c->d->waiting; c->in_waiting && *at;
         at = &(*at)->next_waiting)
        if (*at == c) {
            *at = c->next_waiting;
            c->in_waiting = false;
            return;
        }
}

static void on_timer(void *ctx)
{
    struct dra_cycle *c = ctx;
    c->timer = NULL;
    run(c);
}

void dra_wait(struct dra_cycle *c, uint64_t ms)
{
    c->timer = net_timer_start(client_loop(c->d->client), ms, 0, on_timer, c);
    c->next_waiting = c->d->waiting;
    c->d->waiting = c;
    c->in_waiting = true;
}

void dra_wake_waiting(struct dra *d)
{
    for (struct dra_cycle *c = d->waiting; c; c = c->next_waiting)
        dra_again(c);
}

/* ---- running ---- */

static void finish(struct dra_cycle *c, const struct sched_status *s)
{
    dra_done *done = c->done;
    end_steps(c);
    c->work = NULL;
    done(c->done_ctx, s); /* the cycle may be gone then */
}

static void run(void *ctx)
{
    struct dra_cycle *c = ctx;
    struct sched_status s = dra_ok();
    c->posted = false;
    stop_waiting(c);
    if (c->then) { /* what was asked has been answered: the work is given up for another
                    */
        c->work = c->then;
        c->then = NULL;
        dra_restart(c);
    }
    if (c->work(c, &s) != PROGRESS_WAIT)
        finish(c, &s);
}

void dra_again(struct dra_cycle *c)
{
    if (c->posted)
        return;
    c->posted = true;
    net_post(client_loop(c->d->client), run, c);
}

void dra_start(struct dra_cycle *c,
               enum progress (*work)(struct dra_cycle *c, struct sched_status *out),
               dra_done *done, void *ctx)
{
    c->work = work;
    c->done = done;
    c->done_ctx = ctx;
    begin_steps(c);
    dra_again(c);
}

void dra_stop(struct dra_cycle *c)
{
    if (c->posted)
        net_unpost(client_loop(c->d->client), c);
    c->posted = false;
    stop_waiting(c);
    end_steps(c);
    c->work = c->then = NULL;
}

/* ---- asking ---- */

enum progress dra_ask(struct dra_cycle *c, const char *method, const char *type,
                      struct str path, const struct doc *body,
                      const struct client_answer **out)
{
    struct strbuf json = STRBUF_INIT;
    if (body)
        doc_write_json(body, DOC_JSON_COMPACT, &json);
    struct client_request q = {
        .method = method, .type = type, .path = path, .body = strbuf_str(&json)};
    *out = steps_ask(&c->steps, &q);
    strbuf_release(&json);
    return *out ? PROGRESS_DONE : PROGRESS_WAIT;
}

struct object *dra_answer_claim(const struct client_answer *a)
{
    return a->ok ? object_of_json(a->body, &dra_claim_opts, NULL) : NULL;
}

struct str dra_claim_path(const struct object *claim, const char *sub, struct arena *a)
{
    return client_path(&dra_claim_kind, claim->namespace, claim->name, sub, a);
}
