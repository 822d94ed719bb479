/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes as etcd's transactions: if the key's revision is the expected one, put or
 * delete, else tell the revision. Writes of one key go one after another; of others so
 * many at once, since etcd orders and syncs them together.
 *
 * A write whose answer is lost may have been done, and may even be done later. One that
 * expects a revision is simply sent again: at most one of both can find that revision.
 * etcd_doubt.c looks at those that find another.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "store/etcd.h"

enum { MOST_IN_FLIGHT = 256 };

/* ---- lists ---- */

static void list_init(struct etcd_list *l)
{
    *l = (struct etcd_list){.last = &l->first};
}

static void list_push(struct etcd_list *l, struct etcd_write *w)
{
    w->next = NULL;
    *l->last = w;
    l->last = &w->next;
}

static void list_push_first(struct etcd_list *l, struct etcd_write *w)
{
    if (!l->first)
        l->last = &w->next;
    w->next = l->first;
    l->first = w;
}

static struct etcd_write *list_pop(struct etcd_list *l)
{
    struct etcd_write *w = l->first;
    if (w && !(l->first = w->next))
        l->last = &l->first;
    return w;
}

void etcd_writes_init(struct etcd *s)
{
    list_init(&s->writes.ready);
    list_init(&s->writes.parked);
}

/* ---- answers ---- */

/* Behind all that wait for no more. */
static void queue_answer(struct etcd *s, struct etcd_write *w)
{
    vec_push(&s->writes.answers, w);
    struct etcd_write **v = s->writes.answers.v;
    size_t at = s->writes.answers.n - 1;
    for (; at > 0 && v[at - 1]->wait_for > w->wait_for; at--)
        v[at] = v[at - 1];
    v[at] = w;
}

static struct request *take_answer(struct etcd *s, size_t at)
{
    struct etcd_write **v = s->writes.answers.v;
    struct etcd_write *w = v[at];
    struct request *r = w->request;
    memmove(v + at, v + at + 1, (--s->writes.answers.n - at) * sizeof *v);
    free(w);
    return r;
}

struct request *etcd_writes_answered(struct etcd *s, uint64_t reached)
{
    struct etcd_writes *all = &s->writes;
    bool is = all->answers.n > 0 && all->answers.v[0]->wait_for <= reached;
    return is ? take_answer(s, 0) : NULL;
}

/* The key's next write may go. */
static void let_follow(struct etcd_write *w)
{
    struct etcd *s = w->s;
    struct etcd_write *f = w->follower;
    if (!f) {
        strmap_remove(&s->writes.busy, w->request->write.key);
        return;
    }
    if (f->wait_for < w->wait_for)
        f->wait_for = w->wait_for;
    w->follower = NULL;
    list_push(&s->writes.ready, f);
}

static void settled(struct etcd_write *w)
{
    let_follow(w);
    queue_answer(w->s, w);
    etcd_tick(w->s);
}

void etcd_write_settle(struct etcd_write *w, enum store_answer answer, uint64_t revision)
{
    w->request->answer = answer;
    w->request->revision = revision;
    if (w->wait_for < revision)
        w->wait_for = revision;
    settled(w);
}

void etcd_write_fail(struct etcd_write *w, const char *why)
{
    if (w->doubtful) {
        struct strbuf b = STRBUF_INIT;
        strbuf_addf(&b, "whether it was written is not known: %s", why);
        request_fail(w->request, strbuf_cstr(&b));
        strbuf_release(&b);
    } else {
        request_fail(w->request, why);
    }
    settled(w);
}

void etcd_write_again(struct etcd_write *w)
{
    list_push(&w->s->writes.parked, w);
    etcd_tick(w->s);
}

/* ---- transactions ---- */

static bool expects_revision(const struct store_write *w)
{
    return w->expect != STORE_ANY;
}

/* A delete of what must not be there. */
static bool is_no_write(const struct store_write *w)
{
    return w->expect == 0 && !w->value.p;
}

/* What the key must be for the write to be done: at the revision; or there, for a delete
 * of anything. False: whatever it is. */
static bool compare(const struct store_write *w, Etcd__Compare *c)
{
    bool any = !expects_revision(w);
    if (any && w->value.p)
        return false;
    c->target = ETCD__COMPARE__TARGET__MOD;
    c->result = any ? ETCD__COMPARE__RESULT__GREATER : ETCD__COMPARE__RESULT__EQUAL;
    c->target_union_case = ETCD__COMPARE__TARGET_UNION_MOD_REVISION;
    c->mod_revision = any ? 0 : (int64_t)w->expect;
    return true;
}

static void on_answered(void *ctx, ProtobufCMessage *answer, const struct grpc_end *end);

/* Milliseconds that the write has left, 0: none. */
static uint64_t time_left(const struct etcd_write *w)
{
    const struct etcd *s = w->s;
    uint64_t now = net_now_ms(s->loop), end = w->deadline_ms;
    if (s->stopping && end > s->stop_ms)
        end = s->stop_ms;
    return end > now ? end - now : 0;
}

/* False: there is no connection. */
static bool send(struct etcd_write *w)
{
    const struct store_write *sw = &w->request->write;
    struct strbuf key = STRBUF_INIT;
    Etcd__Compare compare_it = ETCD__COMPARE__INIT;
    Etcd__PutRequest put = ETCD__PUT_REQUEST__INIT;
    Etcd__DeleteRangeRequest del = ETCD__DELETE_RANGE_REQUEST__INIT;
    Etcd__RangeRequest range = ETCD__RANGE_REQUEST__INIT;
    Etcd__RequestOp change = ETCD__REQUEST_OP__INIT, look = ETCD__REQUEST_OP__INIT;
    Etcd__TxnRequest txn = ETCD__TXN_REQUEST__INIT;
    strbuf_addstr(&key, w->s->target.prefix);
    strbuf_addstr(&key, sw->key);
    compare_it.key = put.key = del.key = range.key = etcd_bytes(strbuf_str(&key));
    put.value = etcd_bytes(sw->value);
    range.keys_only = true;
    change.request_case = sw->value.p ? ETCD__REQUEST_OP__REQUEST_PUT
                                      : ETCD__REQUEST_OP__REQUEST_DELETE_RANGE;
    if (sw->value.p)
        change.put = &put;
    else
        change.delete_range = &del;
    look.request_case = ETCD__REQUEST_OP__REQUEST_RANGE;
    look.range = &range;
    txn.compare = (Etcd__Compare *[]){&compare_it};
    txn.success = (Etcd__RequestOp *[]){&change};
    txn.failure = (Etcd__RequestOp *[]){&look};
    txn.n_compare = compare(sw, &compare_it);
    txn.n_success = is_no_write(sw) || w->compare_only ? 0 : 1;
    txn.n_failure = 1;
    uint64_t left = time_left(w);
    bool sent = etcd_ask(w->s, "Txn", &txn.base, &etcd__txn_response__descriptor,
                         left < ETCD_TRY_MS ? left : ETCD_TRY_MS, on_answered, w);
    strbuf_release(&key);
    return sent;
}

static void expire(struct etcd_write *w)
{
    struct strbuf b = STRBUF_INIT;
    strbuf_addf(&b, "etcd: no answer in time; %s", etcd_link_trouble(w->s->link));
    etcd_write_fail(w, strbuf_cstr(&b));
    strbuf_release(&b);
}

void etcd_writes_pump(struct etcd *s)
{
    struct etcd_write *w;
    while (s->writes.in_flight < MOST_IN_FLIGHT && (w = list_pop(&s->writes.ready))) {
        if (time_left(w) == 0) {
            expire(w);
        } else if (send(w)) {
            s->writes.in_flight++;
        } else {
            list_push_first(&s->writes.ready, w);
            etcd_tick(s);
            return;
        }
    }
}

/* The revision that the key has, as the transaction that did nothing says; 0: none. */
static uint64_t current_revision(const Etcd__TxnResponse *t)
{
    if (t->n_responses == 0 ||
        t->responses[0]->response_case != ETCD__RESPONSE_OP__RESPONSE_RANGE ||
        t->responses[0]->range->n_kvs == 0)
        return 0;
    return (uint64_t)t->responses[0]->range->kvs[0]->mod_revision;
}

static void conclude(struct etcd_write *w, const Etcd__TxnResponse *t)
{
    const struct store_write *sw = &w->request->write;
    uint64_t current = t->succeeded ? 0 : current_revision(t);
    if (t->succeeded && w->compare_only) {
        settled(w); /* it has failed before */
    } else if (t->succeeded && !is_no_write(sw)) {
        etcd_write_settle(w, STORE_OK, t->header ? (uint64_t)t->header->revision : 0);
    } else if (w->doubtful && !is_no_write(sw)) {
        w->seen = current;
        etcd_doubt_resolve(w);
    } else {
        etcd_write_settle(w, request_check(sw, current), current);
    }
}

/* A full etcd refuses before it compares; but whoever expects what is not there would not
 * have written, and is to be told that. A server starts so, on objects that are there.
 * And the write that fills it is done, and refused all the same: a doubtful one. */
static bool is_out_of_room(const struct etcd_write *w, const struct grpc_end *end)
{
    return end->told && end->status == GRPC_RESOURCE_EXHAUSTED && !w->doubtful &&
           !w->compare_only && expects_revision(&w->request->write);
}

static void compare_only(struct etcd_write *w, const char *why)
{
    w->compare_only = w->doubtful = true;
    request_fail(w->request, why);
    list_push(&w->s->writes.ready, w);
}

/* One that expects nothing must not be done twice: what came between would be lost. */
static void fail_or_repeat(struct etcd_write *w, const struct grpc_end *end)
{
    struct strbuf why = STRBUF_INIT;
    strbuf_addf(&why, "etcd: %.*s", STR_ARG(end->message));
    bool definite = end->untouched || etcd_is_definite(end);
    w->doubtful = w->doubtful || (!definite && !w->compare_only);
    bool again = end->untouched || (!definite && expects_revision(&w->request->write));
    if (again && time_left(w) > 0)
        etcd_write_again(w);
    else if (is_out_of_room(w, end))
        compare_only(w, strbuf_cstr(&why));
    else
        etcd_write_fail(w, strbuf_cstr(&why));
    strbuf_release(&why);
}

static void on_answered(void *ctx, ProtobufCMessage *answer, const struct grpc_end *end)
{
    struct etcd_write *w = ctx;
    struct etcd *s = w->s;
    s->writes.in_flight--;
    if (end->status == GRPC_OK)
        conclude(w, (const Etcd__TxnResponse *)answer);
    else
        fail_or_repeat(w, end);
    if (end->status == GRPC_DEADLINE_EXCEEDED)
        etcd_link_leave(s->link, "it does not answer");
    if (answer)
        protobuf_c_message_free_unpacked(answer, NULL);
    etcd_writes_pump(s);
    etcd_deliver(s, NULL, s->reached);
}

/* ---- taking ---- */

static void take(struct etcd *s, struct request *r)
{
    bool made;
    struct etcd_write *w = mem_zalloc(sizeof *w);
    w->s = s;
    w->request = r;
    w->deadline_ms = net_now_ms(s->loop) + ETCD_WRITE_MS;
    if (r->answer == STORE_FAILED) { /* refused at the door */
        queue_answer(s, w);
        return;
    }
    struct strmap_entry *e = strmap_put(&s->writes.busy, r->write.key, &made);
    if (made)
        list_push(&s->writes.ready, w);
    else
        ((struct etcd_write *)e->value.ptr)->follower = w;
    e->key = r->write.key; /* of the one that lives longest */
    e->value.ptr = w;
}

void etcd_writes_take(struct etcd *s, struct request_list *l)
{
    for (struct request *r; (r = request_list_pop(l));)
        take(s, r);
    etcd_writes_pump(s);
    etcd_deliver(s, NULL, s->reached);
}

/* ---- what is late ---- */

static void sweep_list(struct etcd *s, struct etcd_list *l)
{
    struct etcd_list left = *l;
    if (!left.first)
        return;
    list_init(l);
    for (struct etcd_write *w = left.first, *next; w; w = next) {
        next = w->next;
        if (time_left(w) == 0)
            expire(w);
        else
            list_push(&s->writes.ready, w);
    }
}

/* A change that does not come is no reason to be silent for ever; but what was written
 * must be seen by whoever hears that it was, unless nobody looks anymore. */
static void answer_late(struct etcd_write *w)
{
    const struct etcd *s = w->s;
    struct strbuf b = STRBUF_INIT;
    strbuf_addf(&b,
                "etcd has written it at revision %llu, but does not tell of changes: %s",
                (unsigned long long)w->request->revision, etcd_link_trouble(s->link));
    if (w->request->answer == STORE_OK && !s->stopping)
        request_fail(w->request, strbuf_cstr(&b));
    strbuf_release(&b);
    w->wait_for = 0;
}

static void sweep_answers(struct etcd *s)
{
    struct etcd_write **v = s->writes.answers.v;
    size_t late = 0;
    for (size_t i = 0; i < s->writes.answers.n; i++) {
        struct etcd_write *w = v[i];
        if (time_left(w) > 0)
            continue;
        answer_late(w);
        memmove(v + late + 1, v + late, (i - late) * sizeof *v);
        v[late++] = w;
    }
}

bool etcd_writes_sweep(struct etcd *s)
{
    struct etcd_writes *all = &s->writes;
    sweep_list(s, &all->ready);
    sweep_list(s, &all->parked);
    sweep_answers(s);
    etcd_writes_pump(s);
    etcd_deliver(s, NULL, s->reached);
    return all->ready.first || all->parked.first || all->answers.n > 0;
}

bool etcd_writes_idle(const struct etcd *s)
{
    return s->writes.busy.live == 0 && s->writes.answers.n == 0;
}

void etcd_writes_release(struct etcd *s)
{
    strmap_release(&s->writes.busy);
    vec_release(&s->writes.answers);
}
