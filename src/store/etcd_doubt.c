/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A write expected a revision, its answer was lost, and when it was sent again the key
 * was at another. Either the first was done, or somebody else has changed the key. The
 * version that came right after the expected one tells: its bytes are the write's or not.
 * It is found by reading back from the current one.
 *
 * A refusal for want of room is such an answer too, though a quick one: no time has
 * passed in which what was written could have been deleted.
 *
 * Two writers who put the same bytes over the same revision are both told that theirs is
 * there, which is so. What cannot be told anymore (the key was deleted meanwhile, history
 * is forgotten) is failed as not known.
 */
#include "store/etcd.h"

enum { MOST_STEPS = 32 };

static void read_back(struct etcd_write *w, uint64_t at);

static void give_up(struct etcd_write *w)
{
    etcd_write_fail(w, "etcd: the connection broke, and others have changed the key "
                       "since");
}

static bool is_ours(const struct etcd_write *w, const Etcd__KeyValue *kv)
{
    const struct store_write *sw = &w->request->write;
    return sw->value.p && str_eq(etcd_str(kv->value), sw->value);
}

/* seen is the first version after the expected one. */
static void judge(struct etcd_write *w, uint64_t current)
{
    const struct store_write *sw = &w->request->write;
    if (w->seen_ours)
        etcd_write_settle(w, STORE_OK, w->seen);
    else if (sw->value.p && sw->expect == 0 && !w->compare_only)
        give_up(w); /* it may have been there, and deleted, before */
    else
        etcd_write_settle(w, request_check(sw, current), current);
}

/* The key was never at the expected revision, as far as can be seen. */
static void missed(struct etcd_write *w)
{
    w->seen_ours = false;
    if (w->compare_only)
        judge(w, w->request->revision);
    else
        give_up(w);
}

static void look_at(struct etcd_write *w, const Etcd__RangeResponse *r)
{
    uint64_t expect = w->request->write.expect;
    const Etcd__KeyValue *kv = r->n_kvs > 0 ? r->kvs[0] : NULL;
    uint64_t at = kv ? (uint64_t)kv->mod_revision : 0;
    if (at == expect) {
        judge(w, w->request->revision);
        return;
    }
    if (!kv || (expect > 0 && (uint64_t)kv->create_revision > expect)) {
        missed(w); /* it was deleted in between */
        return;
    }
    w->seen = at;
    w->seen_ours = is_ours(w, kv);
    read_back(w, at - 1);
}

static void on_answered(void *ctx, ProtobufCMessage *answer, const struct grpc_end *end)
{
    struct etcd_write *w = ctx;
    struct etcd *s = w->s;
    if (end->status == GRPC_OK)
        look_at(w, (const Etcd__RangeResponse *)answer);
    else if (etcd_is_definite(end))
        give_up(w); /* that version is forgotten */
    else
        etcd_write_again(w);
    if (answer)
        protobuf_c_message_free_unpacked(answer, NULL);
    etcd_writes_pump(s);
    etcd_deliver(s, NULL, s->reached);
}

static void read_back(struct etcd_write *w, uint64_t at)
{
    struct strbuf key = STRBUF_INIT;
    Etcd__RangeRequest range = ETCD__RANGE_REQUEST__INIT;
    strbuf_addstr(&key, w->s->target.prefix);
    strbuf_addstr(&key, w->request->write.key);
    range.key = etcd_bytes(strbuf_str(&key));
    range.revision = (int64_t)at;
    if (++w->steps > MOST_STEPS)
        give_up(w);
    else if (!etcd_ask(w->s, "Range", &range.base, &etcd__range_response__descriptor,
                       ETCD_TRY_MS, on_answered, w))
        etcd_write_again(w);
    strbuf_release(&key);
}

void etcd_doubt_resolve(struct etcd_write *w)
{
    w->steps = 0;
    w->request->revision = w->seen;
    w->seen_ours = false;
    if (w->seen == 0)
        missed(w); /* whoever has deleted it */
    else
        read_back(w, w->seen);
}
