/* SPDX-License-Identifier: Apache-2.0 */
#include "node/slices_wipe.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/query.h"
#include "base/rng.h"

enum {
    DELAY_MS = 30 * 1000,
    RETRY_MS = 1000,
    LONGEST_RETRY_MS = 5 * 60 * 1000,
    MAX_TRIES = 100,
};

struct wipe {
    struct slices_wipe *all;
    char *driver; /* "": of every driver */
    struct net_timer *timer;
    struct client_call *call;
    uint64_t pause_ms;
    unsigned tries;
};

struct slices_wipe {
    struct slices_wipe_opts opts;
    struct net_loop *loop;
    char *node;
    struct rng rng;
    struct strmap wipes; /* driver -> struct wipe */
};

static void wipe_free(struct wipe *x)
{
    if (x->timer)
        net_timer_stop(x->timer);
    if (x->call)
        client_cancel(x->call);
    free(x->driver);
    free(x);
}

static void end_wipe(struct wipe *x)
{
    strmap_remove(&x->all->wipes, str_from(x->driver));
    wipe_free(x);
}

/* ---- tries ---- */

static void ask(void *ctx);

static void log_failure(const struct wipe *x, const char *why)
{
    const struct slices_wipe *w = x->all;
    struct strbuf text = STRBUF_INIT;
    strbuf_addf(&text, "deleting the ResourceSlices of node %s%s%s: %s", w->node,
                *x->driver ? " and driver " : "", x->driver, why);
    if (w->opts.log)
        w->opts.log(w->opts.ctx, strbuf_cstr(&text));
    strbuf_release(&text);
}

/* Up to a fifth more than the pause, so that not all nodes ask at the same moment. */
static void try_again(struct wipe *x)
{
    uint64_t more = (uint64_t)rng_range(&x->all->rng, 0, (int64_t)x->pause_ms / 5);
    x->timer = net_timer_start(x->all->loop, x->pause_ms + more, 0, ask, x);
    x->pause_ms =
        x->pause_ms < LONGEST_RETRY_MS / 2 ? x->pause_ms * 2 : (uint64_t)LONGEST_RETRY_MS;
}

static void on_answer(void *ctx, const struct client_answer *answer)
{
    struct wipe *x = ctx;
    x->call = NULL;
    if (!answer->ok && answer->status != 404) {
        log_failure(x, answer->message);
        if (++x->tries < MAX_TRIES) {
            try_again(x);
            return;
        }
    }
    end_wipe(x);
}

static struct str path_of(const struct wipe *x, struct arena *a)
{
    static const struct client_kind KIND = {"resource.k8s.io", "v1", "resourceslices",
                                            false};
    struct strbuf selector = STRBUF_INIT, query = STRBUF_INIT;
    if (*x->driver)
        strbuf_addf(&selector, "spec.driver=%s,", x->driver);
    strbuf_addf(&selector, "spec.nodeName=%s", x->all->node);
    query_escape(strbuf_str(&selector), &query);
    struct str collection = client_path(&KIND, STR_NONE, STR_NONE, NULL, a);
    struct str path = arena_printf(a, "%.*s?fieldSelector=%s", STR_ARG(collection),
                                   strbuf_cstr(&query));
    strbuf_release(&selector);
    strbuf_release(&query);
    return path;
}

static void ask(void *ctx)
{
    struct wipe *x = ctx;
    struct arena a = {0};
    struct client_request q = {.method = "DELETE", .path = path_of(x, &a)};
    x->timer = NULL;
    x->call = client_start(x->all->opts.client, &q, on_answer, x);
    arena_fini(&a);
}

static void start_wipe(struct slices_wipe *w, struct str driver, uint64_t delay_ms)
{
    struct wipe *x = mem_zalloc(sizeof *x);
    *x = (struct wipe){.all = w,
                       .driver = mem_dup(driver.p, driver.n),
                       .pause_ms =
                           w->opts.retry_ms ? w->opts.retry_ms : (uint64_t)RETRY_MS};
    x->timer = net_timer_start(w->loop, delay_ms, 0, ask, x);
    strmap_put(&w->wipes, str_from(x->driver), NULL)->value.ptr = x;
}

/* A driver that is back has published, or is about to: nothing of it is to go. */
void slices_wipe_reached(struct slices_wipe *w, struct str driver, bool connected)
{
    struct strmap_entry *e = driver.n > 0 ? strmap_find(&w->wipes, driver) : NULL;
    if (connected && e)
        end_wipe(e->value.ptr);
    else if (!connected && !e && driver.n > 0)
        start_wipe(w, driver, w->opts.delay_ms ? w->opts.delay_ms : (uint64_t)DELAY_MS);
}

/* ---- beginning and end ---- */

struct slices_wipe *slices_wipe_new(const struct slices_wipe_opts *o)
{
    struct slices_wipe *w = mem_zalloc(sizeof *w);
    w->opts = *o;
    w->loop = client_loop(o->client);
    w->node = mem_dup(o->node.p, o->node.n);
    rng_init(&w->rng, clock_mono_ns());
    start_wipe(w, STR(""), 0);
    return w;
}

void slices_wipe_free(struct slices_wipe *w)
{
    if (!w)
        return;
    strmap_each(&w->wipes, e) wipe_free(e->value.ptr);
    strmap_release(&w->wipes);
    free(w->node);
    free(w);
}
