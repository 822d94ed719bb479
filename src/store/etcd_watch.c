/* SPDX-License-Identifier: Apache-2.0 */
#include "store/etcd_watch.h"

#include <stdlib.h>

#include "base/mem.h"
#include "grpc/grpc.h"
#include "store/etcd.h"

struct etcd_watch {
    const struct etcd_target *target;
    const struct etcd_watch_ops *ops;
    void *ctx;
    struct grpc_call *call;
    uint64_t reached;
    struct etcd_changes partial; /* of an answer whose other fragments are to come */
    uint64_t partial_reached;
    bool busy, freed;
};

static void watch_free(struct etcd_watch *w)
{
    etcd_changes_release(&w->partial);
    free(w);
}

void etcd_watch_free(struct etcd_watch *w)
{
    if (!w)
        return;
    grpc_cancel(w->call);
    w->freed = true;
    if (!w->busy)
        watch_free(w);
}

/* Ends it for our own reasons. */
static void end(struct etcd_watch *w, uint64_t compacted, const char *why)
{
    grpc_cancel(w->call);
    w->ops->ended(w->ctx, compacted, why);
    watch_free(w);
}

static void on_canceled(struct etcd_watch *w, const Etcd__WatchResponse *r)
{
    end(w, r->compact_revision > 0 ? (uint64_t)r->compact_revision : 0,
        r->cancel_reason && r->cancel_reason[0] ? r->cancel_reason
                                                : "etcd has cancelled the watch");
}

/* Events of one answer are whole revisions, unless it comes in fragments. An answer
 * without any tells how far etcd is. */
static void on_events(struct etcd_watch *w, const Etcd__WatchResponse *r)
{
    for (size_t i = 0; i < r->n_events; i++) {
        struct etcd_change *c = etcd_change_of(w->target, r->events[i]);
        if (r->events[i]->kv)
            w->partial_reached = (uint64_t)r->events[i]->kv->mod_revision;
        if (c)
            etcd_changes_push(&w->partial, c);
    }
    if (r->n_events == 0 && !r->created && r->header)
        w->partial_reached = (uint64_t)r->header->revision;
    if (r->fragment || w->partial_reached <= w->reached)
        return;
    struct etcd_changes all;
    etcd_changes_init(&all);
    etcd_changes_join(&all, &w->partial);
    w->reached = w->partial_reached;
    w->busy = true;
    w->ops->changes(w->ctx, &all, w->reached);
    w->busy = false;
    etcd_changes_release(&all);
    if (w->freed)
        watch_free(w);
}

static void on_message(void *ctx, struct str bytes)
{
    struct etcd_watch *w = ctx;
    Etcd__WatchResponse *r =
        etcd__watch_response__unpack(NULL, bytes.n, (const uint8_t *)bytes.p);
    if (!r)
        end(w, 0, "a change that cannot be decoded");
    else if (r->canceled)
        on_canceled(w, r);
    else
        on_events(w, r);
    if (r)
        etcd__watch_response__free_unpacked(r, NULL);
}

static void on_done(void *ctx, const struct grpc_end *e)
{
    struct etcd_watch *w = ctx;
    struct strbuf why = STRBUF_INIT;
    strbuf_addstr(&why, e->status == GRPC_OK ? STR("etcd has ended it") : e->message);
    w->ops->ended(w->ctx, 0, strbuf_cstr(&why));
    strbuf_release(&why);
    watch_free(w);
}

static void ask_for(struct etcd_watch *w, uint64_t after)
{
    Etcd__WatchCreateRequest create = ETCD__WATCH_CREATE_REQUEST__INIT;
    Etcd__WatchRequest request = ETCD__WATCH_REQUEST__INIT;
    create.key = etcd_bytes(w->target->first);
    create.range_end = etcd_bytes(w->target->past);
    create.start_revision = (int64_t)after + 1;
    create.progress_notify = true;
    create.prev_kv = true;
    create.fragment = true;
    request.request_union_case = ETCD__WATCH_REQUEST__REQUEST_UNION_CREATE;
    request.create = &create;
    grpc_send(w->call, &request.base);
}

struct etcd_watch *etcd_watch_new(struct net_client *c, const struct etcd_target *t,
                                  uint64_t after, const struct etcd_watch_ops *ops,
                                  void *ctx)
{
    static const struct grpc_ops grpc_ops = {on_message, on_done};
    /* A member that has lost its leader would be silent: it shall say so. */
    static const struct net_header leader = {STR("hasleader"), STR("true")};
    struct grpc_opts opts = {.method = "/etcdserverpb.Watch/Watch",
                             .metadata = &leader,
                             .nmetadata = 1,
                             .max_message = ETCD_MAX_MESSAGE};
    struct etcd_watch *w = mem_zalloc(sizeof *w);
    w->target = t;
    w->ops = ops;
    w->ctx = ctx;
    w->reached = w->partial_reached = after;
    etcd_changes_init(&w->partial);
    w->call = grpc_start(c, &opts, &grpc_ops, w);
    if (!w->call) {
        free(w);
        return NULL;
    }
    ask_for(w, after);
    return w;
}
