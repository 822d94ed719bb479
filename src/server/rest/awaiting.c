/* SPDX-License-Identifier: Apache-2.0 */
#include "server/rest/awaiting.h"

enum { MAX_MS = 34000 }; /* of a write, as upstream */

struct awaiting {
    struct awaiting *next, **link; /* of the server's, while it waits */
    struct request *r;
    struct question *all;
    uint32_t open;
    uint64_t ends_ms; /* of the loop's clock */
    struct net_timer *timer;
    bool waits, over;
    void (*again)(void *ctx);
    void *ctx;
};

static struct awaiting *of_request(struct request *r)
{
    uint64_t most = r->s->opts.request_ms;
    if (r->awaiting)
        return r->awaiting;
    r->awaiting = ARENA_NEW(r->a, struct awaiting);
    r->awaiting->r = r;
    r->awaiting->over = r->s->ending;
    r->awaiting->ends_ms =
        net_now_ms(r->s->loop) + (most && most < MAX_MS ? most : MAX_MS);
    return r->awaiting;
}

bool awaiting_fail(struct request *r)
{
    return fail(r, 504, "Timeout",
                "Timeout: request did not complete within requested timeout - context %s",
                r->s->ending ? "canceled" : "deadline exceeded");
}

/* ---- going on ---- */

static void stop(struct awaiting *w)
{
    w->waits = false;
    *w->link = w->next;
    if (w->next)
        w->next->link = w->link;
    net_on_gone(w->r->x, NULL, NULL);
    if (w->timer)
        net_timer_stop(w->timer);
    w->timer = NULL;
}

static void go_on(struct awaiting *w)
{
    stop(w);
    w->again(w->ctx);
}

static void cancel_all(struct awaiting *w)
{
    for (struct question *q = w->all; q; q = q->next)
        if (q->open) {
            q->open = false;
            q->cancel(q);
        }
    w->open = 0;
}

static void give_up(struct awaiting *w)
{
    w->over = true;
    cancel_all(w);
    go_on(w);
}

static void on_gone(void *ctx)
{
    give_up(ctx);
}

static void on_late(void *ctx)
{
    struct awaiting *w = ctx;
    w->timer = NULL;
    give_up(w);
}

void awaiting_end_all(struct server *s)
{
    s->ending = true;
    while (s->awaiting)
        give_up(s->awaiting);
}

/* ---- questions ---- */

struct question *awaiting_find(struct request *r, struct str text)
{
    struct question *q = r->awaiting ? r->awaiting->all : NULL;
    while (q && !str_eq(q->text, text))
        q = q->next;
    return q;
}

bool awaiting_ask(struct request *r, struct question *q, struct str text,
                  void (*cancel)(struct question *q))
{
    struct awaiting *w = of_request(r);
    if (w->over || awaiting_left(r) == 0)
        return awaiting_fail(r);
    *q = (struct question){
        .next = w->all, .of = w, .text = text, .open = true, .cancel = cancel};
    w->all = q;
    w->open++;
    return true;
}

void awaiting_answered(struct question *q)
{
    struct awaiting *w = q->of;
    q->open = false;
    if (--w->open == 0 && w->waits)
        go_on(w);
}

uint64_t awaiting_left(struct request *r)
{
    uint64_t now = net_now_ms(r->s->loop), ends = of_request(r)->ends_ms;
    return ends > now ? ends - now : 0;
}

bool awaiting_begin(struct request *r, void (*again)(void *ctx), void *ctx)
{
    struct awaiting *w = r->awaiting;
    if (!r->failure.waits) {
        if (w)
            cancel_all(w); /* a request that ends takes its questions along */
        return false;
    }
    r->failure = (struct failure){0};
    w->again = again;
    w->ctx = ctx;
    w->waits = true;
    w->next = r->s->awaiting;
    w->link = &r->s->awaiting;
    if (w->next)
        w->next->link = &w->next;
    r->s->awaiting = w;
    w->timer = net_timer_start(r->s->loop, awaiting_left(r), 0, on_late, w);
    net_on_gone(r->x, on_gone, w);
    return true;
}
