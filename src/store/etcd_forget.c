/* SPDX-License-Identifier: Apache-2.0 */
/*
 * History is bounded in time and size by compacting etcd up to a revision that was
 * current long enough, or changes enough, ago. Servers that share an etcd agree by a key:
 * who replaces the version that all have seen compacts, the others look at theirs.
 */
#include <stdio.h>
#include <stdlib.h>

#include "store/etcd.h"

enum {
    OVERHEAD = 128, /* of a change, beside its bytes */
    STEPS = 16,     /* into which each bound is cut */
    LEAST_MS = 100,
    MOST_MS = 30000,
};

static void attempt(struct etcd *s);

/* ---- what may go ---- */

static void push_mark(struct etcd *s)
{
    struct etcd_forget *f = &s->forget;
    struct etcd_mark m = {net_now_ms(s->loop), s->reached, f->bytes};
    if (f->marks.n == 0 || f->marks.v[f->marks.n - 1].revision < m.revision)
        vec_push(&f->marks, m);
}

static bool outlived(const struct etcd *s, const struct etcd_mark *m)
{
    uint64_t age = net_now_ms(s->loop) - m->ms, bytes = s->forget.bytes - m->bytes;
    return age > s->opts.history_seconds * UINT64_C(1000) ||
           bytes > s->opts.history_bytes;
}

/* The last mark that history need not reach back to; 0: there is none. */
static uint64_t choose(struct etcd *s)
{
    struct etcd_forget *f = &s->forget;
    size_t n = 0;
    while (n < f->marks.n && outlived(s, &f->marks.v[n]))
        n++;
    if (n == 0)
        return 0;
    uint64_t revision = f->marks.v[n - 1].revision;
    f->marks.n -= n;
    memmove(f->marks.v, f->marks.v + n, f->marks.n * sizeof *f->marks.v);
    return revision;
}

void etcd_forget_note(struct etcd *s, const struct etcd_change *c)
{
    struct etcd_forget *f = &s->forget;
    f->bytes += OVERHEAD + c->change.key.n + c->change.previous.n;
    uint64_t last = f->marks.n ? f->marks.v[f->marks.n - 1].bytes : 0;
    if (f->bytes - last > s->opts.history_bytes / STEPS) {
        push_mark(s);
        attempt(s);
    }
}

/* ---- compacting ---- */

static void done(struct etcd *s)
{
    s->forget.target = 0;
    if (!s->stopped)
        attempt(s);
}

static void on_compacted(void *ctx, ProtobufCMessage *answer, const struct grpc_end *end)
{
    struct etcd *s = ctx;
    bool already = end->told && end->status == GRPC_OUT_OF_RANGE;
    if (answer)
        protobuf_c_message_free_unpacked(answer, NULL);
    if (end->status == GRPC_OK || already)
        etcd_note_compacted(s, s->forget.target);
    if (end->status == GRPC_OK || already)
        done(s);
    else
        s->forget.target = 0; /* the timer tries again */
}

static void compact(struct etcd *s)
{
    Etcd__CompactionRequest request = ETCD__COMPACTION_REQUEST__INIT;
    request.revision = (int64_t)s->forget.target;
    if (!etcd_ask(s, "Compact", &request.base, &etcd__compaction_response__descriptor,
                  ETCD_TRY_MS, on_compacted, s))
        s->forget.target = 0;
}

/* What another server has chosen. */
static void learn(struct etcd *s, const Etcd__TxnResponse *t)
{
    if (t->n_responses == 0 ||
        t->responses[0]->response_case != ETCD__RESPONSE_OP__RESPONSE_RANGE ||
        t->responses[0]->range->n_kvs == 0)
        return;
    const Etcd__KeyValue *kv = t->responses[0]->range->kvs[0];
    char text[24] = "";
    memcpy(text, kv->value.data, kv->value.len < 23 ? kv->value.len : 23);
    s->forget.agreed = (uint64_t)kv->mod_revision;
    etcd_note_compacted(s, strtoull(text, NULL, 10));
}

static void on_agreed(void *ctx, ProtobufCMessage *answer, const struct grpc_end *end)
{
    struct etcd *s = ctx;
    const Etcd__TxnResponse *t = (const Etcd__TxnResponse *)answer;
    bool ours = t && t->succeeded;
    if (ours)
        s->forget.agreed = (uint64_t)t->header->revision;
    else if (t)
        learn(s, t);
    if (answer)
        protobuf_c_message_free_unpacked(answer, NULL);
    if (ours && !s->stopped)
        compact(s);
    else
        s->forget.target = 0;
}

static void agree(struct etcd *s)
{
    char text[24];
    Etcd__Compare same = ETCD__COMPARE__INIT;
    Etcd__PutRequest put = ETCD__PUT_REQUEST__INIT;
    Etcd__RangeRequest range = ETCD__RANGE_REQUEST__INIT;
    Etcd__RequestOp change = ETCD__REQUEST_OP__INIT, look = ETCD__REQUEST_OP__INIT;
    Etcd__TxnRequest txn = ETCD__TXN_REQUEST__INIT;
    snprintf(text, sizeof text, "%llu", (unsigned long long)s->forget.target);
    same.key = put.key = range.key = etcd_bytes(s->target.compacted);
    same.target = ETCD__COMPARE__TARGET__MOD;
    same.target_union_case = ETCD__COMPARE__TARGET_UNION_MOD_REVISION;
    same.mod_revision = (int64_t)s->forget.agreed;
    put.value = etcd_bytes(str_from(text));
    change.request_case = ETCD__REQUEST_OP__REQUEST_PUT;
    change.put = &put;
    look.request_case = ETCD__REQUEST_OP__REQUEST_RANGE;
    look.range = &range;
    txn.compare = (Etcd__Compare *[]){&same};
    txn.success = (Etcd__RequestOp *[]){&change};
    txn.failure = (Etcd__RequestOp *[]){&look};
    txn.n_compare = txn.n_success = txn.n_failure = 1;
    if (!etcd_ask(s, "Txn", &txn.base, &etcd__txn_response__descriptor, ETCD_TRY_MS,
                  on_agreed, s))
        s->forget.target = 0;
}

/* What was asked for is done at once; what is merely due, by agreement. */
static void attempt(struct etcd *s)
{
    if (s->forget.target || s->stopping)
        return;
    pthread_mutex_lock(&s->lock);
    uint64_t asked = s->compact_to, compacted = s->compacted;
    pthread_mutex_unlock(&s->lock);
    uint64_t due = choose(s);
    if (asked > compacted && asked >= due) {
        s->forget.target = asked;
        compact(s);
    } else if (due > compacted) {
        s->forget.target = due;
        agree(s);
    }
}

void etcd_forget_asked(void *etcd)
{
    attempt(etcd);
}

static void on_timer(void *ctx)
{
    struct etcd *s = ctx;
    push_mark(s);
    attempt(s);
}

void etcd_forget_start(struct etcd *s)
{
    uint64_t ms = s->opts.history_seconds * UINT64_C(1000) / STEPS;
    ms = ms < LEAST_MS ? LEAST_MS : ms > MOST_MS ? MOST_MS : ms;
    s->forget.timer = net_timer_start(s->loop, 0, ms, on_timer, s);
}

void etcd_forget_release(struct etcd *s)
{
    net_timer_stop(s->forget.timer);
    s->forget.timer = NULL;
    vec_release(&s->forget.marks);
}
