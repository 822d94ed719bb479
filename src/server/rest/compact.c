/* SPDX-License-Identifier: Apache-2.0 */
#include "server/rest/compact.h"

#include <stdlib.h>

enum { LOOK_MS = 5, MOST_MS = 20000 };

/* Lives in the request's arena. */
struct compaction {
    struct request *r;
    struct net_timer *timer;
    uint64_t revision, until_ms;
};

static void answer(struct compaction *c)
{
    struct strbuf body = STRBUF_INIT;
    uint64_t compacted = store_compacted(c->r->s->store);
    cache_compact(c->r->s->cache, compacted);
    strbuf_addf(&body, "{\"revision\":%llu}\n", (unsigned long long)compacted);
    request_answer_bytes(c->r, 200, media_type(MEDIA_JSON), &body);
    strbuf_release(&body);
}

/* The store compacts in small steps, and does not say when it is done. */
static void look(void *ctx)
{
    struct compaction *c = ctx;
    bool done = store_compacted(c->r->s->store) >= c->revision;
    if (!done && net_now_ms(c->r->s->loop) < c->until_ms)
        return;
    net_timer_stop(c->timer);
    if (done) {
        answer(c);
        return;
    }
    fail(c->r, 504, "Timeout", "the store is still at it; it goes on");
    request_answer_failure(c->r);
}

static void on_gone(void *ctx)
{
    struct compaction *c = ctx;
    net_timer_stop(c->timer);
    net_done(c->r->x);
}

static bool read_revision(struct request *r, uint64_t *out)
{
    struct str s = query_get(&r->query, "revision");
    uint64_t now = store_revision(r->s->store);
    char *end = NULL;
    *out = now;
    if (!s.p)
        return true;
    const char *text = arena_str(r->a, s).p;
    *out = strtoull(text, &end, 10);
    if (s.n == 0 || s.n > 19 || *end || text[0] < '0' || text[0] > '9')
        return fail_bad(r, "\"%.*s\" is no revision", STR_ARG(s));
    /* Lists may show one at which others have changed something else, in etcd. */
    if (*out > now && *out > cache_revision(r->s->cache))
        return fail_bad(r, "revision %llu is yet to come: the store is at %llu",
                        (unsigned long long)*out, (unsigned long long)now);
    if (*out > now)
        *out = now;
    return true;
}

bool compact_serve(struct request *r)
{
    if (!str_is(r->x->path, "/dray/v1/compact"))
        return false;
    struct compaction *c = ARENA_NEW(r->a, struct compaction);
    c->r = r;
    if (!str_is(r->x->method, "POST")) {
        fail(r, 405, "MethodNotAllowed", "only POST compacts");
        request_answer_failure(r);
    } else if (!read_revision(r, &c->revision)) {
        request_answer_failure(r);
    } else {
        store_compact(r->s->store, c->revision);
        c->until_ms = net_now_ms(r->s->loop) + MOST_MS;
        c->timer = net_timer_start(r->s->loop, 0, LOOK_MS, look, c);
        net_on_gone(r->x, on_gone, c);
    }
    return true;
}
