/* SPDX-License-Identifier: Apache-2.0 */
#include "store/store.h"

static const struct store_backend *const BACKENDS[] = {&store_sqlite, &store_memory,
                                                       &store_etcd, &store_etcds};
enum { NBACKENDS = sizeof BACKENDS / sizeof *BACKENDS };
enum { HISTORY_SECONDS = 300, HISTORY_BYTES = 64 << 20 };

struct store *store_open(const char *url, const struct store_opts *opts, struct err *e)
{
    struct store_opts o = *opts;
    if (o.history_seconds == 0)
        o.history_seconds = HISTORY_SECONDS;
    if (o.history_bytes == 0)
        o.history_bytes = HISTORY_BYTES;
    for (int i = 0; i < NBACKENDS; i++) {
        struct str scheme = str_from(BACKENDS[i]->scheme);
        if (str_starts(str_from(url), scheme))
            return BACKENDS[i]->open(url + scheme.n, &o, e);
    }
    err_set(e, ERR_UNSUPPORTED,
            "store \"%s\": not one of sqlite:DIR, memory:, etcd://HOST:PORT/PREFIX and "
            "etcds://HOST:PORT/PREFIX",
            url);
    return NULL;
}

void store_close(struct store *s)
{
    if (s)
        s->backend->close(s);
}

void store_submit(struct store *s, const struct store_write *w)
{
    s->backend->submit(s, w);
}

void store_poll(struct store *s)
{
    s->backend->poll(s);
}

bool store_snapshot(struct store *s, store_each_object *each, void *ctx,
                    uint64_t *revision, struct err *e)
{
    return s->backend->snapshot(s, each, ctx, revision, e);
}

uint64_t store_revision(const struct store *s)
{
    return s->backend->revision(s);
}

bool store_history(struct store *s, uint64_t after, store_each_change *each, void *ctx,
                   struct err *e)
{
    return s->backend->history(s, after, each, ctx, e);
}

void store_compact(struct store *s, uint64_t revision)
{
    s->backend->compact(s, revision);
}

void store_sync(struct store *s, void (*done)(void *ctx, bool current), void *ctx)
{
    if (s->backend->sync)
        s->backend->sync(s, done, ctx);
    else
        done(ctx, true);
}

uint64_t store_compacted(const struct store *s)
{
    return s->backend->compacted(s);
}
