/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Everything in memory, for tests and for clusters that need not outlive their process.
 * The model that the other back ends are held against: writes are applied when they are
 * polled for.
 */
#include <pthread.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/vec.h"
#include "store/order.h"
#include "store/queue.h"

/* A key's state at one revision; immutable, shared by the current rows and by history. */
struct version {
    struct str key; /* first: order.h */
    uint32_t refs;
    uint64_t revision;
    struct str value;
};

struct past {
    uint64_t revision, at_ns;
    struct version *now, *was; /* NULL: deleted; created */
};

struct memory {
    struct store store;
    struct store_opts opts;
    pthread_mutex_t lock; /* of waiting */
    struct request_list waiting;
    struct order current;
    VEC(struct past) history; /* from head on */
    size_t head;
    uint64_t history_bytes;
    uint64_t revision, compacted;
    uint64_t compact_to; /* asked for */
};

static struct memory *memory_of(const struct store *s)
{
    return (struct memory *)s;
}

static struct version *version_new(const struct store_write *w, uint64_t revision)
{
    struct version *v = mem_alloc(sizeof *v + w->key.n + w->value.n);
    char *at = (char *)(v + 1);
    *v = (struct version){.refs = 1, .revision = revision};
    v->key = (struct str){memcpy(at, w->key.p, w->key.n), w->key.n};
    v->value = (struct str){at + w->key.n, w->value.n};
    if (w->value.n)
        memcpy(at + w->key.n, w->value.p, w->value.n);
    return v;
}

static struct version *version_ref(struct version *v)
{
    if (v)
        v->refs++;
    return v;
}

static void version_unref(struct version *v)
{
    if (v && --v->refs == 0)
        free(v);
}

/* What history is charged for a change: the state that only it remembers. */
static uint64_t past_cost(const struct past *p)
{
    return sizeof *p + (p->was ? sizeof *p->was + p->was->key.n + p->was->value.n : 0);
}

static void forget_oldest(struct memory *m)
{
    struct past *p = &m->history.v[m->head++];
    m->history_bytes -= past_cost(p);
    m->compacted = p->revision;
    version_unref(p->now);
    version_unref(p->was);
    if (m->head >= 64 && m->head * 2 >= m->history.n) {
        m->history.n -= m->head;
        memmove(m->history.v, m->history.v + m->head,
                m->history.n * sizeof *m->history.v);
        m->head = 0;
    }
}

static bool outlived(const struct memory *m, const struct past *p, uint64_t now_ns)
{
    return p->revision <= m->compact_to || m->history_bytes > m->opts.history_bytes ||
           now_ns - p->at_ns > m->opts.history_seconds * UINT64_C(1000000000);
}

static void forget(struct memory *m, size_t most)
{
    uint64_t now_ns = clock_mono_ns();
    while (most-- > 0 && m->head < m->history.n &&
           outlived(m, &m->history.v[m->head], now_ns))
        forget_oldest(m);
}

static void remember(struct memory *m, struct version *now, struct version *was)
{
    struct past p = {m->revision, clock_mono_ns(), version_ref(now), was};
    vec_push(&m->history, p);
    m->history_bytes += past_cost(&p);
}

static void note_previous(struct request *r, const struct version *was)
{
    if (!was)
        return;
    r->previous_revision = was->revision;
    r->previous = mem_dup(was->value.p, was->value.n);
    r->previous_size = was->value.n;
}

static void apply(struct memory *m, struct request *r)
{
    if (r->answer == STORE_FAILED)
        return;
    struct version *was = order_find(&m->current, r->write.key);
    r->answer = request_check(&r->write, was ? was->revision : 0);
    r->revision = was ? was->revision : 0;
    if (r->answer != STORE_OK)
        return;
    r->revision = ++m->revision;
    note_previous(r, was);
    struct version *now = NULL;
    if (r->write.value.p) {
        now = version_new(&r->write, m->revision);
        order_put(&m->current, now);
    } else {
        order_remove(&m->current, r->write.key);
    }
    remember(m, now, was); /* takes the reference that current had */
}

/* A batch: what callbacks submit meanwhile waits for the next call. */
static void memory_poll(struct store *s)
{
    struct memory *m = memory_of(s);
    struct request_list batch;
    request_list_init(&batch);
    pthread_mutex_lock(&m->lock);
    request_list_join(&batch, &m->waiting);
    pthread_mutex_unlock(&m->lock);
    forget(m, 2 * batch.n + 64);
    for (struct request *r; (r = request_list_pop(&batch));) {
        apply(m, r);
        request_deliver(r, &m->opts);
    }
}

static void memory_submit(struct store *s, const struct store_write *w)
{
    struct memory *m = memory_of(s);
    struct request *r = request_new(w);
    pthread_mutex_lock(&m->lock);
    request_list_push(&m->waiting, r);
    pthread_mutex_unlock(&m->lock);
    if (m->opts.wake)
        m->opts.wake(m->opts.wake_ctx);
}

static struct store *memory_open(const char *rest, const struct store_opts *opts,
                                 struct err *e)
{
    if (*rest) {
        err_set(e, ERR_INVALID, "store \"memory:%s\": nothing follows memory:", rest);
        return NULL;
    }
    struct memory *m = mem_zalloc(sizeof *m);
    m->store.backend = &store_memory;
    m->opts = *opts;
    m->revision = m->compacted = 1;
    pthread_mutex_init(&m->lock, NULL);
    request_list_init(&m->waiting);
    order_init(&m->current);
    return &m->store;
}

static void memory_close(struct store *s)
{
    struct memory *m = memory_of(s);
    while (m->waiting.n > 0)
        memory_poll(s);
    while (m->head < m->history.n)
        forget_oldest(m);
    struct order_at at = {0, 0};
    for (struct version *v; (v = order_next(&m->current, &at));)
        version_unref(v);
    order_release(&m->current);
    vec_release(&m->history);
    pthread_mutex_destroy(&m->lock);
    free(m);
}

static bool memory_snapshot(struct store *s, store_each_object *each, void *ctx,
                            uint64_t *revision, struct err *e)
{
    struct memory *m = memory_of(s);
    struct order_at at = {0, 0};
    *revision = m->revision;
    for (struct version *v; (v = order_next(&m->current, &at));)
        if (!each(ctx, v->key, v->value, v->revision))
            return false;
    return true;
}

static struct store_change change_of(const struct past *p)
{
    struct store_change c = {.revision = p->revision, .created = !p->was};
    if (p->was) {
        c.previous = p->was->value;
        c.previous_revision = p->was->revision;
    }
    const struct version *shown = p->now ? p->now : p->was;
    c.kind = p->now ? STORE_PUT : STORE_DELETE;
    /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): one of them is there */
    c.key = shown->key;
    c.value = shown->value;
    return c;
}

static bool memory_history(struct store *s, uint64_t after, store_each_change *each,
                           void *ctx, struct err *e)
{
    struct memory *m = memory_of(s);
    if (after < m->compacted)
        return err_set(e, ERR_NOT_FOUND,
                       "changes after revision %llu are forgotten up to %llu",
                       (unsigned long long)after, (unsigned long long)m->compacted);
    for (size_t i = m->head; i < m->history.n; i++) {
        struct store_change c = change_of(&m->history.v[i]);
        if (c.revision > after && !each(ctx, &c))
            return false;
    }
    return true;
}

static void memory_compact(struct store *s, uint64_t revision)
{
    struct memory *m = memory_of(s);
    if (revision > m->compact_to)
        m->compact_to = revision < m->revision ? revision : m->revision;
    forget(m, SIZE_MAX);
}

static uint64_t memory_revision(const struct store *s)
{
    return memory_of(s)->revision;
}

static uint64_t memory_compacted(const struct store *s)
{
    return memory_of(s)->compacted;
}

const struct store_backend store_memory = {
    .scheme = "memory:",
    .open = memory_open,
    .close = memory_close,
    .submit = memory_submit,
    .poll = memory_poll,
    .snapshot = memory_snapshot,
    .history = memory_history,
    .compact = memory_compact,
    .revision = memory_revision,
    .compacted = memory_compacted,
};
