/* SPDX-License-Identifier: Apache-2.0 */
#include "client/workqueue.h"

#include <stdlib.h>

#include "base/map.h"
#include "base/mem.h"

struct item {          /* of a key that waits, is worked on, comes later or has failed */
    struct item *next; /* in line */
    struct workqueue *queue;
    struct net_timer *timer; /* NULL: it does not come later */
    uint64_t due_ms;         /* of the timer */
    unsigned failures;
    bool waits, works, again; /* again: added while it was worked on */
    struct str key;           /* behind it */
};

struct workqueue {
    struct net_loop *loop;
    struct workqueue_opts opts;
    workqueue_work *work;
    void *ctx;
    struct strmap items; /* key -> struct item */
    struct item *first, **last;
    unsigned working;
    uint32_t waiting;
    struct net_timer *starting;
};

struct workqueue *workqueue_new(struct net_loop *l, const struct workqueue_opts *opts,
                                workqueue_work *work, void *ctx)
{
    struct workqueue *q = mem_zalloc(sizeof *q);
    *q = (struct workqueue){.loop = l, .opts = *opts, .work = work, .ctx = ctx};
    q->last = &q->first;
    if (!q->opts.workers)
        q->opts.workers = 1;
    if (!q->opts.first_ms)
        q->opts.first_ms = 5;
    if (!q->opts.longest_ms)
        q->opts.longest_ms = 1000000;
    return q;
}

static void item_free(struct item *item)
{
    net_timer_stop(item->timer);
    free(item);
}

void workqueue_free(struct workqueue *q)
{
    if (!q)
        return;
    net_timer_stop(q->starting);
    strmap_each(&q->items, e) item_free(e->value.ptr);
    strmap_release(&q->items);
    free(q);
}

static struct item *item_find(const struct workqueue *q, struct str key)
{
    const struct strmap_entry *e = strmap_find(&q->items, key);
    return e ? e->value.ptr : NULL;
}

static struct item *item_get(struct workqueue *q, struct str key)
{
    struct item *item = item_find(q, key);
    if (item)
        return item;
    item = mem_zalloc(sizeof *item + key.n + 1);
    memcpy(item + 1, key.p, key.n);
    item->queue = q;
    item->key = (struct str){(const char *)(item + 1), key.n};
    strmap_put(&q->items, item->key, NULL)->value.ptr = item;
    return item;
}

/* Nothing is known of it that would be missed. */
static void forget_if_idle(struct item *item)
{
    if (item->waits || item->works || item->timer || item->failures)
        return;
    strmap_remove(&item->queue->items, item->key);
    item_free(item);
}

/* ---- working ---- */

static void start_some(void *ctx)
{
    struct workqueue *q = ctx;
    q->starting = NULL;
    while (q->first && q->working < q->opts.workers) {
        struct item *item = q->first;
        q->first = item->next;
        if (!q->first)
            q->last = &q->first;
        item->waits = false;
        item->works = true;
        q->waiting--;
        q->working++;
        q->work(q->ctx, item->key);
    }
}

static void start_soon(struct workqueue *q)
{
    if (!q->starting && q->first && q->working < q->opts.workers)
        q->starting = net_timer_start(q->loop, 0, 0, start_some, q);
}

static void wait_in_line(struct item *item)
{
    struct workqueue *q = item->queue;
    if (item->waits)
        return;
    item->waits = true;
    item->next = NULL;
    *q->last = item;
    q->last = &item->next;
    q->waiting++;
    start_soon(q);
}

void workqueue_add(struct workqueue *q, struct str key)
{
    struct item *item = item_get(q, key);
    if (item->works)
        item->again = true;
    else
        wait_in_line(item);
}

static void on_due(void *ctx)
{
    struct item *item = ctx;
    item->timer = NULL;
    workqueue_add(item->queue, item->key);
}

void workqueue_add_after(struct workqueue *q, struct str key, uint64_t ms)
{
    struct item *item = item_get(q, key);
    uint64_t due = net_now_ms(q->loop) + ms;
    if (item->timer && item->due_ms <= due)
        return;
    net_timer_stop(item->timer);
    item->due_ms = due;
    item->timer = net_timer_start(q->loop, ms, 0, on_due, item);
}

static uint64_t pause_of(const struct workqueue *q, unsigned failures)
{
    uint64_t ms = q->opts.first_ms;
    while (--failures > 0 && ms < q->opts.longest_ms)
        ms *= 2;
    return ms < q->opts.longest_ms ? ms : q->opts.longest_ms;
}

void workqueue_done(struct workqueue *q, struct str key, bool ok)
{
    struct item *item = item_find(q, key);
    bool again = item->again;
    item->works = item->again = false;
    q->working--;
    item->failures = ok ? 0 : item->failures + 1;
    if (!ok)
        workqueue_add_after(q, item->key, pause_of(q, item->failures));
    if (again)
        wait_in_line(item);
    forget_if_idle(item);
    start_soon(q);
}

uint32_t workqueue_length(const struct workqueue *q)
{
    return q->waiting + q->working;
}

unsigned workqueue_failures(const struct workqueue *q, struct str key)
{
    const struct item *item = item_find(q, key);
    return item ? item->failures : 0;
}
