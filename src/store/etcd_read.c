/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads for the owner, who waits: each call is a job for the back end's thread, which
 * repeats it while the connection comes and goes.
 *
 * Where history ends is not told by a watch: it has to be watched until something comes
 * that is known to be the last. So a key of its own is written first.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "base/mem.h"
#include "store/etcd.h"

enum { PAGE = 500 };

struct etcd_job {
    struct etcd_job *next;
    struct etcd *s;
    uint64_t deadline_ms; /* 0: not begun */
    bool asked;           /* a call is under way */
    bool done;
    enum grpc_status status;
    struct err err;

    /* A call. */
    const char *method;
    const ProtobufCMessage *m;
    const ProtobufCMessageDescriptor *type;
    ProtobufCMessage *answer;
    bool objects; /* it is a page of what the owner gets to know */

    /* Or changes, after a revision and up to one. */
    bool changes;
    struct etcd_watch *watch;
    uint64_t after, until, compacted;
    struct etcd_changes list;
};

/* ---- the thread's side ---- */

static void finish(struct etcd_job *j)
{
    struct etcd *s = j->s;
    struct etcd_job **link = &s->running;
    while (*link && *link != j)
        link = &(*link)->next;
    if (*link)
        *link = j->next;
    pthread_mutex_lock(&s->lock);
    j->done = true;
    pthread_cond_broadcast(&s->job_done);
    pthread_mutex_unlock(&s->lock);
}

static void fail(struct etcd_job *j, enum grpc_status status, struct str why)
{
    j->status = status;
    err_set(&j->err, ERR_IO, "store: etcd: %.*s", STR_ARG(why));
    finish(j);
}

static void note_objects(struct etcd *s, const Etcd__RangeResponse *r)
{
    for (size_t i = 0; i < r->n_kvs; i++) {
        struct str key = etcd_key(&s->target, r->kvs[i]->key);
        if (key.p)
            etcd_known_put(&s->known, key, (uint64_t)r->kvs[i]->mod_revision);
    }
}

static void on_answered(void *ctx, ProtobufCMessage *answer, const struct grpc_end *end)
{
    struct etcd_job *j = ctx;
    struct etcd *s = j->s;
    j->asked = false;
    j->answer = answer;
    if (end->status == GRPC_OK && j->objects)
        note_objects(s, (const Etcd__RangeResponse *)answer);
    if (end->status == GRPC_OK)
        finish(j);
    else if (etcd_is_definite(end) || s->stopped)
        fail(j, end->status, end->message);
    else
        etcd_tick(s);
    if (end->status == GRPC_DEADLINE_EXCEEDED)
        etcd_link_leave(s->link, "it does not answer");
}

static void on_changes(void *ctx, struct etcd_changes *l, uint64_t reached)
{
    struct etcd_job *j = ctx;
    etcd_changes_join(&j->list, l);
    j->after = reached;
    if (reached < j->until)
        return;
    etcd_watch_free(j->watch);
    j->watch = NULL;
    finish(j);
}

static void on_ended(void *ctx, uint64_t compacted, const char *why)
{
    struct etcd_job *j = ctx;
    j->watch = NULL;
    j->compacted = compacted;
    if (compacted || j->s->stopped)
        fail(j, GRPC_OUT_OF_RANGE, str_from(why));
    else
        etcd_tick(j->s);
}

static void begin_call(struct etcd_job *j)
{
    j->asked = etcd_ask(j->s, j->method, j->m, j->type, ETCD_TRY_MS, on_answered, j);
}

static void begin_changes(struct etcd_job *j)
{
    static const struct etcd_watch_ops ops = {on_changes, on_ended};
    struct net_client *c = etcd_link_client(j->s->link);
    if (c)
        j->watch = etcd_watch_new(c, &j->s->target, j->after, &ops, j);
}

void etcd_jobs_pump(struct etcd *s)
{
    for (struct etcd_job *j = s->running, *next; j; j = next) {
        next = j->next;
        if (j->asked || j->watch)
            continue;
        if (j->changes)
            begin_changes(j);
        else
            begin_call(j);
    }
}

/* The owner of a job that is late goes without. */
static void give_up(struct etcd_job *j)
{
    struct etcd *s = j->s;
    etcd_watch_free(j->watch);
    j->watch = NULL;
    fail(j, GRPC_UNAVAILABLE, str_from(etcd_link_trouble(s->link)));
}

bool etcd_jobs_sweep(struct etcd *s)
{
    for (struct etcd_job *j = s->running, *next; j; j = next) {
        next = j->next;
        if (!j->asked && net_now_ms(s->loop) >= j->deadline_ms)
            give_up(j);
    }
    etcd_jobs_pump(s);
    return s->running != NULL;
}

void etcd_jobs_take(void *etcd)
{
    struct etcd *s = etcd;
    pthread_mutex_lock(&s->lock);
    struct etcd_job *jobs = s->jobs;
    s->jobs = NULL;
    pthread_mutex_unlock(&s->lock);
    for (struct etcd_job *j = jobs, *next; j; j = next) {
        next = j->next;
        j->deadline_ms = net_now_ms(s->loop) + ETCD_READ_MS;
        j->next = s->running;
        s->running = j;
    }
    etcd_jobs_pump(s);
    etcd_tick(s);
}

/* ---- the owner's side ---- */

static bool run(struct etcd *s, struct etcd_job *j, struct err *e)
{
    j->s = s;
    pthread_mutex_lock(&s->lock);
    j->next = s->jobs;
    s->jobs = j;
    net_post(s->loop, etcd_jobs_take, s);
    while (!j->done)
        pthread_cond_wait(&s->job_done, &s->lock);
    pthread_mutex_unlock(&s->lock);
    bool ok = j->err.code == ERR_NONE;
    if (!ok)
        err_set(e, j->err.code, "%s", err_text(&j->err));
    err_release(&j->err);
    return ok;
}

/* The answer is the caller's; *status tells why there is none. */
static void *ask(struct etcd *s, const char *method, const ProtobufCMessage *m,
                 const ProtobufCMessageDescriptor *type, enum grpc_status *status,
                 bool objects, struct err *e)
{
    struct etcd_job j = {.method = method, .m = m, .type = type, .objects = objects};
    bool ok = run(s, &j, e);
    *status = ok ? GRPC_OK : j.status;
    return ok ? j.answer : NULL;
}

void etcd_page(const struct etcd *s, Etcd__RangeRequest *r, struct str from,
               uint64_t revision, int64_t limit)
{
    r->key = etcd_bytes(from);
    r->range_end = etcd_bytes(s->target.past);
    r->revision = (int64_t)revision;
    r->limit = limit;
}

/* One page; halves it while it is too large for one answer. */
static Etcd__RangeResponse *read_page(struct etcd *s, struct str from, uint64_t revision,
                                      int64_t *limit, struct err *e)
{
    enum grpc_status status;
    for (;; *limit /= 2) {
        Etcd__RangeRequest range = ETCD__RANGE_REQUEST__INIT;
        etcd_page(s, &range, from, revision, *limit);
        Etcd__RangeResponse *r = ask(s, "Range", &range.base,
                                     &etcd__range_response__descriptor, &status, true, e);
        if (r || status != GRPC_RESOURCE_EXHAUSTED || *limit <= 1)
            return r;
        err_release(e);
    }
}

static bool each_of(const struct etcd *s, const Etcd__RangeResponse *r,
                    store_each_object *each, void *ctx)
{
    for (size_t i = 0; i < r->n_kvs; i++) {
        const Etcd__KeyValue *kv = r->kvs[i];
        struct str key = etcd_key(&s->target, kv->key);
        if (key.p && !each(ctx, key, etcd_str(kv->value), (uint64_t)kv->mod_revision))
            return false;
    }
    return true;
}

bool etcd_snapshot(struct store *store, store_each_object *each, void *ctx,
                   uint64_t *revision, struct err *e)
{
    struct etcd *s = etcd_of(store);
    struct strbuf from = STRBUF_INIT;
    struct err own = ERR_INIT;
    uint64_t at = 0;
    int64_t limit = PAGE;
    bool ok = true, more = true;
    strbuf_addstr(&from, s->target.first);
    while (ok && more) {
        Etcd__RangeResponse *r = read_page(s, strbuf_str(&from), at, &limit, &own);
        if (!r) {
            ok = err_set(e, own.code, "%s", err_text(&own));
            break;
        }
        if (at == 0)
            at = (uint64_t)r->header->revision;
        ok = each_of(s, r, each, ctx);
        more = r->more && r->n_kvs > 0;
        if (more) {
            strbuf_clear(&from);
            strbuf_addstr(&from, etcd_str(r->kvs[r->n_kvs - 1]->key));
            strbuf_addc(&from, '\0'); /* the next key there can be */
        }
        etcd__range_response__free_unpacked(r, NULL);
    }
    if (ok)
        *revision = at;
    err_release(&own);
    strbuf_release(&from);
    return ok;
}

/* Writes the key that ends history: its revision. */
static bool put_mark(struct etcd *s, uint64_t *revision, struct err *e)
{
    enum grpc_status status;
    Etcd__PutRequest put = ETCD__PUT_REQUEST__INIT;
    put.key = etcd_bytes(s->target.mark);
    Etcd__PutResponse *r =
        ask(s, "Put", &put.base, &etcd__put_response__descriptor, &status, false, e);
    if (!r)
        return false;
    *revision = (uint64_t)r->header->revision;
    etcd__put_response__free_unpacked(r, NULL);
    return true;
}

static bool fail_forgotten(uint64_t after, uint64_t compacted, struct err *e)
{
    return err_set(e, ERR_NOT_FOUND,
                   "changes after revision %" PRIu64 " are forgotten up to %" PRIu64,
                   after, compacted);
}

bool etcd_history(struct store *store, uint64_t after, store_each_change *each, void *ctx,
                  struct err *e)
{
    struct etcd *s = etcd_of(store);
    struct etcd_job j = {.changes = true, .after = after};
    uint64_t compacted = store_compacted(store);
    etcd_changes_init(&j.list);
    if (after < compacted)
        return fail_forgotten(after, compacted, e);
    if (!put_mark(s, &j.until, e))
        return false;
    bool ok = run(s, &j, e);
    if (j.compacted)
        fail_forgotten(after, j.compacted, e);
    for (struct etcd_change *c = j.list.first; ok && c; c = c->next)
        ok = each(ctx, &c->change);
    etcd_changes_release(&j.list);
    return ok;
}

/* ---- at the start ---- */

/* etcd tells what it has forgotten only to a watch that begins there. */
static bool look_for_compacted(struct etcd *s, uint64_t *compacted, struct err *e)
{
    struct etcd_job j = {.changes = true, .after = 0, .until = UINT64_MAX};
    struct err own = ERR_INIT;
    etcd_changes_init(&j.list);
    run(s, &j, &own);
    etcd_changes_release(&j.list);
    *compacted = j.compacted;
    if (!j.compacted)
        err_set(e, own.code, "%s", err_text(&own));
    err_release(&own);
    return j.compacted != 0;
}

bool etcd_look(struct etcd *s, uint64_t *revision, uint64_t *compacted, struct err *e)
{
    enum grpc_status status;
    struct err own = ERR_INIT;
    for (int64_t at = 0; at < 2; at++) { /* now, and as of revision 1 */
        Etcd__RangeRequest range = ETCD__RANGE_REQUEST__INIT;
        range.key = etcd_bytes(s->target.mark);
        range.revision = at;
        Etcd__RangeResponse *r =
            ask(s, "Range", &range.base, &etcd__range_response__descriptor, &status,
                false, &own);
        if (!r && at == 1 && status == GRPC_OUT_OF_RANGE) {
            err_release(&own);
            return look_for_compacted(s, compacted, e);
        }
        if (!r) {
            err_set(e, own.code, "%s", err_text(&own));
            err_release(&own);
            return false;
        }
        *revision = (uint64_t)r->header->revision;
        *compacted = 1;
        etcd__range_response__free_unpacked(r, NULL);
    }
    return true;
}
