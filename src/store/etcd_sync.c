/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whoever reads what is here wants to know whether it is all there is. etcd is asked for
 * its revision, once for all who wait, and they wait until changes have come that far.
 *
 * The revision may be of a key that is not ours: then no change comes. So when none has
 * come after a little while, our own mark is written, and comes. (etcd can be asked to
 * tell how far a watch is, but only newer versions tell the truth.)
 */
#include <stdlib.h>

#include "base/mem.h"
#include "store/etcd.h"

enum { PATIENCE_MS = 20 };

struct etcd_wait {
    struct etcd_wait *next;
    void (*done)(void *ctx, bool current);
    void *ctx;
    uint64_t until; /* the revision */
    uint64_t deadline_ms;
    bool current;
};

static void push(struct etcd_wait **l, struct etcd_wait *w)
{
    w->next = *l;
    *l = w;
}

/* Those of a list that are late, or reached, are over. */
static void settle(struct etcd *s, struct etcd_wait **l, bool known)
{
    uint64_t now = net_now_ms(s->loop);
    for (struct etcd_wait **at = l, *w; (w = *at);) {
        w->current = known && w->until <= s->reached;
        if (!w->current && now < w->deadline_ms) {
            at = &w->next;
            continue;
        }
        *at = w->next;
        push(&s->syncs.over, w);
    }
}

static void on_marked(void *ctx, ProtobufCMessage *answer, const struct grpc_end *end)
{
    struct etcd *s = ctx;
    s->syncs.marking = false;
    if (answer)
        protobuf_c_message_free_unpacked(answer, NULL);
    else
        etcd_tick(s);
}

static void put_mark(struct etcd *s)
{
    Etcd__PutRequest put = ETCD__PUT_REQUEST__INIT;
    put.key = etcd_bytes(s->target.mark);
    s->syncs.marking = etcd_ask(s, "Put", &put.base, &etcd__put_response__descriptor,
                                ETCD_TRY_MS, on_marked, s);
}

static void on_slow(void *ctx)
{
    struct etcd *s = ctx;
    s->syncs.timer = NULL;
    if (s->syncs.pending && !s->syncs.marking && !s->stopped)
        put_mark(s);
}

static void watch_slow(struct etcd *s)
{
    if (s->syncs.pending && !s->syncs.timer && !s->stopped)
        s->syncs.timer = net_timer_start(s->loop, PATIENCE_MS, 0, on_slow, s);
}

static void on_asked(void *ctx, ProtobufCMessage *answer, const struct grpc_end *end)
{
    struct etcd *s = ctx;
    struct etcd_wait *all = s->syncs.asked;
    const Etcd__RangeResponse *r = (const Etcd__RangeResponse *)answer;
    s->syncs.asked = NULL;
    s->syncs.asking = false;
    for (struct etcd_wait *next; all; all = next) {
        next = all->next;
        all->until = r ? (uint64_t)r->header->revision : 0;
        push(r ? &s->syncs.pending : &s->syncs.fresh, all);
    }
    if (answer)
        protobuf_c_message_free_unpacked(answer, NULL);
    if (s->stopped)
        return;
    etcd_tick(s);
    etcd_deliver(s, NULL, s->reached);
    watch_slow(s);
    if (r)
        etcd_syncs_pump(s);
}

void etcd_syncs_pump(struct etcd *s)
{
    Etcd__RangeRequest range = ETCD__RANGE_REQUEST__INIT;
    struct etcd_syncs *y = &s->syncs;
    if (!y->fresh || y->asking)
        return;
    range.key = etcd_bytes(s->target.mark);
    range.keys_only = true;
    y->asking = etcd_ask(s, "Range", &range.base, &etcd__range_response__descriptor,
                         ETCD_SYNC_MS, on_asked, s);
    if (y->asking) {
        y->asked = y->fresh;
        y->fresh = NULL;
    }
}

static void take(void *etcd)
{
    struct etcd *s = etcd;
    pthread_mutex_lock(&s->lock);
    struct etcd_wait *l = s->waits;
    s->waits = NULL;
    pthread_mutex_unlock(&s->lock);
    for (struct etcd_wait *next; l; l = next) {
        next = l->next;
        l->deadline_ms = net_now_ms(s->loop) + ETCD_SYNC_MS;
        push(&s->syncs.fresh, l);
    }
    etcd_syncs_pump(s);
    etcd_tick(s);
}

void etcd_sync(struct store *store, void (*done)(void *ctx, bool current), void *ctx)
{
    struct etcd *s = etcd_of(store);
    struct etcd_wait *w = mem_zalloc(sizeof *w);
    w->done = done;
    w->ctx = ctx;
    pthread_mutex_lock(&s->lock);
    if (!s->waits)
        net_post(s->loop, take, s);
    push(&s->waits, w);
    pthread_mutex_unlock(&s->lock);
}

struct etcd_wait *etcd_syncs_over(struct etcd *s)
{
    settle(s, &s->syncs.pending, true);
    struct etcd_wait *w = s->syncs.over;
    if (w)
        s->syncs.over = w->next;
    return w;
}

void etcd_wait_deliver(struct etcd_wait *w)
{
    w->done(w->ctx, w->current);
    free(w);
}

bool etcd_syncs_sweep(struct etcd *s)
{
    settle(s, &s->syncs.fresh, false);
    etcd_syncs_pump(s);
    watch_slow(s);
    return s->syncs.fresh || s->syncs.asked || s->syncs.pending;
}

static void give_up(struct etcd *s, struct etcd_wait **l)
{
    while (*l) {
        struct etcd_wait *w = *l;
        *l = w->next;
        w->current = false;
        push(&s->syncs.over, w);
    }
}

void etcd_syncs_stop(struct etcd *s)
{
    take(s); /* those that come too late */
    give_up(s, &s->syncs.fresh);
    give_up(s, &s->syncs.asked);
    give_up(s, &s->syncs.pending);
    net_timer_stop(s->syncs.timer);
    s->syncs.timer = NULL;
}
