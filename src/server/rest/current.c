/* SPDX-License-Identifier: Apache-2.0 */
#include "server/rest/current.h"

#include <stdlib.h>

struct held {
    struct request *r;
    void (*serve)(struct request *r);
};

static bool is_read(const struct request *r)
{
    return str_is(r->x->method, "GET") || str_is(r->x->method, "HEAD");
}

/* "0" is any version. */
static bool any_will_do(const struct request *r)
{
    struct str version = query_get(&r->query, "resourceVersion");
    if (!is_read(r) || version.n == 0)
        return false;
    return query_bool(&r->query, "watch") ||
           strtoull(arena_str(r->a, version).p, NULL, 10) <= cache_revision(r->s->cache);
}

static void go_on(void *ctx, bool current)
{
    struct held *h = ctx;
    if (current) {
        h->serve(h->r);
        return;
    }
    fail(h->r, 504, "Timeout",
         "Timeout: the store cannot be reached, and what is known here may be old "
         "(resourceVersion=0 asks for that)");
    h->r->failure.has_details = true;
    h->r->failure.retry_seconds = 1;
    request_answer_failure(h->r);
}

void current_serve(struct request *r, void (*serve)(struct request *r))
{
    struct held *h = ARENA_NEW(r->a, struct held);
    *h = (struct held){r, serve};
    if (any_will_do(r))
        serve(r);
    else
        store_sync(r->s->store, go_on, h);
}
