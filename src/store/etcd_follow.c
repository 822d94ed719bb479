/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The changes, without a gap: one watch, that begins again after the last revision that
 * was handed over whenever it ends. When etcd has forgotten what comes next, the keys are
 * read, and what has changed is made of the difference: then versions in between are
 * missing, as they would be to whoever had looked only now.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "store/etcd.h"

enum { PAGE = 500 };

struct etcd_resync {
    struct etcd *s;
    uint64_t revision; /* of the snapshot; 0: the first page tells */
    char *from;        /* key of the next page */
    size_t from_size;
    int64_t limit;
    struct etcd_changes changes;
};

static void watch_now(struct etcd *s);
static void read_page(struct etcd_resync *y);

/* ---- a gap ---- */

static void resync_free(struct etcd_resync *y)
{
    y->s->resync = NULL;
    etcd_changes_release(&y->changes);
    free(y->from);
    free(y);
}

static void resync_done(struct etcd_resync *y)
{
    struct etcd *s = y->s;
    struct etcd_changes all;
    uint64_t revision = y->revision;
    etcd_known_end(s, revision, &y->changes);
    etcd_changes_init(&all);
    etcd_changes_join(&all, &y->changes);
    etcd_changes_sort(&all);
    resync_free(y);
    etcd_deliver(s, &all, revision);
    etcd_changes_release(&all);
    watch_now(s);
}

/* past: from the next key there can be. */
static void set_from(struct etcd_resync *y, struct str key, bool past)
{
    free(y->from);
    y->from = mem_dup(key.p, key.n); /* and a NUL */
    y->from_size = key.n + past;
}

/* True: there are more. */
static bool take_page(struct etcd_resync *y, const Etcd__RangeResponse *r)
{
    if (y->revision == 0)
        y->revision = (uint64_t)r->header->revision;
    for (size_t i = 0; i < r->n_kvs; i++)
        etcd_known_compare(y->s, r->kvs[i], &y->changes);
    if (!r->more || r->n_kvs == 0)
        return false;
    struct str last = etcd_str(r->kvs[r->n_kvs - 1]->key);
    set_from(y, last, true);
    return true;
}

static void on_page(void *ctx, ProtobufCMessage *answer, const struct grpc_end *end)
{
    struct etcd_resync *y = ctx;
    struct etcd *s = y->s;
    const Etcd__RangeResponse *r = (const Etcd__RangeResponse *)answer;
    if (end->status == GRPC_RESOURCE_EXHAUSTED && y->limit > 1 && !s->stopped) {
        y->limit /= 2;
        read_page(y);
    } else if (end->status != GRPC_OK || s->stopped) { /* from the beginning, later */
        resync_free(y);
        etcd_tick(s);
    } else if (take_page(y, r)) {
        read_page(y);
    } else {
        resync_done(y);
    }
    if (answer)
        protobuf_c_message_free_unpacked(answer, NULL);
}

static void read_page(struct etcd_resync *y)
{
    struct etcd *s = y->s;
    Etcd__RangeRequest range = ETCD__RANGE_REQUEST__INIT;
    etcd_page(s, &range, (struct str){y->from, y->from_size}, y->revision, y->limit);
    if (!etcd_ask(s, "Range", &range.base, &etcd__range_response__descriptor,
                  ETCD_READ_MS, on_page, y))
        resync_free(y);
}

static void resync(struct etcd *s)
{
    struct etcd_resync *y = s->resync = mem_zalloc(sizeof *y);
    y->s = s;
    y->limit = PAGE;
    etcd_changes_init(&y->changes);
    etcd_known_begin(&s->known);
    set_from(y, s->target.first, false);
    read_page(y);
}

/* ---- the watch ---- */

static void on_changes(void *ctx, struct etcd_changes *l, uint64_t reached)
{
    struct etcd *s = ctx;
    for (struct etcd_change *c = l->first; c; c = c->next)
        etcd_known_note(s, c);
    etcd_deliver(s, l, reached);
}

static void on_ended(void *ctx, uint64_t compacted, const char *why)
{
    struct etcd *s = ctx;
    s->watch = NULL;
    if (s->stopped)
        return;
    etcd_note_compacted(s, compacted);
    if (compacted > s->reached)
        resync(s);
    else
        etcd_link_leave(s->link, why); /* another member may be better off */
}

static void watch_now(struct etcd *s)
{
    static const struct etcd_watch_ops ops = {on_changes, on_ended};
    struct net_client *c = etcd_link_client(s->link);
    if (s->following && c && !s->watch && !s->resync)
        s->watch = etcd_watch_new(c, &s->target, s->reached, &ops, s);
}

void etcd_follow(struct etcd *s, uint64_t after)
{
    s->following = true;
    s->reached = after;
    watch_now(s);
}

void etcd_follow_up(struct etcd *s)
{
    watch_now(s);
}

void etcd_follow_release(struct etcd *s)
{
    etcd_watch_free(s->watch);
    s->watch = NULL;
    s->following = false;
}
