/* SPDX-License-Identifier: Apache-2.0 */
/* Calls from within the server's own process. */
#include "net/inner.h"

#include <stdlib.h>

#include "base/mem.h"
#include "unit/unit.h"

/* ---- a server whose handler does what the path says ---- */

struct place {
    struct net_loop *loop;
    struct net_server *server;
    struct net_inner *inner;
    struct net_exchange *held; /* /hold */
    unsigned gone, lines;
    struct net_timer *ticking;
};

static void on_gone(void *ctx)
{
    struct place *p = ctx;
    p->gone++;
    net_timer_stop(p->ticking);
    p->ticking = NULL;
    net_done(p->held);
    p->held = NULL;
}

/* A line, and the next one later; ten are all. */
static void say_line(void *ctx)
{
    struct place *p = ctx;
    char line[32];
    snprintf(line, sizeof line, "line %u\n", p->lines++);
    assert_true(net_write(p->held, str_from(line)));
    if (p->lines < 10)
        return;
    net_timer_stop(p->ticking);
    p->ticking = NULL;
    net_done(p->held);
    p->held = NULL;
}

static void begin(struct place *p, struct net_exchange *x)
{
    static const struct net_header text = {STR("content-type"), STR("text/plain")};
    p->held = x;
    p->lines = 0;
    net_on_gone(x, on_gone, p);
    net_begin(x, 200, &text, 1);
}

static void handle(void *ctx, struct net_exchange *x)
{
    struct place *p = ctx;
    struct strbuf b = STRBUF_INIT;
    if (str_is(x->path, "/who")) {
        strbuf_addf(&b, "%.*s", STR_ARG(x->client_name));
        for (uint32_t i = 0; i < x->nclient_groups; i++)
            strbuf_addf(&b, ",%.*s", STR_ARG(x->client_groups[i]));
        net_respond_buf(x, 200, NULL, 0, &b);
    } else if (str_is(x->path, "/echo")) {
        strbuf_addf(&b, "%.*s?%.*s %.*s ", STR_ARG(x->path), STR_ARG(x->query),
                    STR_ARG(net_header_get(x, "x-name")));
        strbuf_addstr(&b, x->body);
        net_respond_buf(x, 201, NULL, 0, &b);
    } else if (str_is(x->path, "/lines")) {
        begin(p, x);
        p->ticking = net_timer_start(p->loop, 1, 1, say_line, p);
    } else if (str_is(x->path, "/hold")) {
        begin(p, x);
        net_write(x, STR("held"));
    } else if (str_is(x->path, "/flood")) {
        begin(p, x);
        while (net_write(x, STR("more and more ")))
            ;
        net_done(x);
        p->held = NULL;
    } else {
        net_respond(x, 404, NULL, 0, STR("nothing"));
    }
}

static void open_place(struct place *p)
{
    static const struct str GROUPS[] = {{"a", 1}, {"b", 1}};
    struct net_server_opts opts = {.max_unsent = 1 << 20};
    struct net_inner_opts who = {STR("ann"), GROUPS, 2};
    *p = (struct place){.loop = net_loop_new(NULL)};
    p->server = net_server_new(p->loop, &opts, handle, p, NULL);
    p->inner = net_inner_new(p->server, &who);
}

static void close_place(struct place *p)
{
    net_inner_free(p->inner);
    for (int i = 0; i < 3; i++)
        net_loop_run_once(p->loop, false);
    net_server_free(p->server);
    net_loop_free(p->loop);
}

/* ---- a caller ---- */

struct got {
    struct place *place;
    struct net_inner_call *call;
    unsigned status, heads, pieces;
    bool last, done;
    enum err_code err;
    struct strbuf body;
    unsigned cancel_at, pause_at, free_at; /* pieces; 0: never */
};

static void on_head(void *ctx, unsigned status, const struct net_header *headers,
                    uint32_t n, bool last)
{
    struct got *g = ctx;
    g->heads++;
    g->status = status;
    g->last = last;
}

static void on_data(void *ctx, struct str bytes)
{
    struct got *g = ctx;
    assert_false(g->done);
    strbuf_addstr(&g->body, bytes);
    g->pieces++;
    if (g->pieces == g->pause_at)
        net_inner_pause(g->call, true);
    if (g->pieces == g->free_at) {
        net_inner_free(g->place->inner);
        g->place->inner = NULL;
    }
    if (g->pieces == g->cancel_at) {
        net_inner_cancel(g->call);
        g->done = true;
    }
}

static void on_done(void *ctx, const struct net_call_end *end)
{
    struct got *g = ctx;
    assert_false(g->done);
    g->done = true;
    g->err = end->err ? end->err->code : ERR_NONE;
}

static void start(struct place *p, struct got *g, struct net_call_opts opts)
{
    static const struct net_call_ops ops = {on_head, on_data, on_done};
    if (!opts.method.p)
        opts.method = STR("GET");
    g->place = p;
    g->call = net_inner_start(p->inner, &opts, &ops, g);
    assert_int_equal(g->heads + g->pieces, 0); /* never from within */
    assert_false(g->done);
}

static void await(struct place *p, const bool *thing)
{
    while (!*thing)
        net_loop_run_once(p->loop, true);
}

static void rounds(struct place *p, int n)
{
    for (int i = 0; i < n; i++)
        net_loop_run_once(p->loop, false);
}

static void expect(struct place *p, struct net_call_opts opts, unsigned status,
                   const char *body)
{
    struct got g = {0};
    start(p, &g, opts);
    await(p, &g.done);
    assert_int_equal(g.err, ERR_NONE);
    assert_int_equal(g.status, status);
    assert_int_equal(g.heads, 1);
    assert_str(strbuf_str(&g.body), body);
    strbuf_release(&g.body);
}

/* ---- tests ---- */

static void test_answers(void **state)
{
    static const struct net_header NAME = {STR("X-Name"), STR("bob")};
    struct place p;
    open_place(&p);
    expect(&p, (struct net_call_opts){.path = STR("/who")}, 200, "ann,a,b");
    expect(&p, (struct net_call_opts){.path = STR("/none")}, 404, "nothing");
    expect(&p,
           (struct net_call_opts){.method = STR("POST"),
                                  .path = STR("/echo?q=1"),
                                  .headers = &NAME,
                                  .nheaders = 1,
                                  .body = STR("text")},
           201, "/echo?q=1 bob text");
    expect(&p, (struct net_call_opts){.path = STR("/lines")}, 200,
           "line 0\nline 1\nline 2\nline 3\nline 4\nline 5\nline 6\nline 7\nline 8\n"
           "line 9\n");
    assert_int_equal(p.gone, 0);
    close_place(&p);
}

static void test_many(void **state)
{
    enum { N = 100 };
    struct place p;
    struct got all[N] = {{0}};
    open_place(&p);
    for (int i = 0; i < N; i++)
        start(&p, &all[i], (struct net_call_opts){.path = STR("/who")});
    for (int i = 0; i < N; i++) {
        await(&p, &all[i].done);
        assert_str(strbuf_str(&all[i].body), "ann,a,b");
        strbuf_release(&all[i].body);
    }
    close_place(&p);
}

/* The handler hears of a caller that leaves, however it does. */
static void test_leaving(void **state)
{
    struct got cancelled = {.cancel_at = 1}, late = {0}, freed = {.free_at = 1};
    struct place p;
    open_place(&p);
    start(&p, &cancelled, (struct net_call_opts){.path = STR("/hold")});
    await(&p, &cancelled.done);
    assert_int_equal(p.gone, 1);
    rounds(&p, 3);

    start(&p, &late, (struct net_call_opts){.path = STR("/hold"), .timeout_ms = 5});
    await(&p, &late.done);
    assert_int_equal(late.err, ERR_TIMEOUT);
    assert_str(strbuf_str(&late.body), "held");
    assert_int_equal(p.gone, 2);

    start(&p, &freed, (struct net_call_opts){.path = STR("/hold")});
    await(&p, &freed.done);
    assert_int_equal(freed.err, ERR_CANCELLED);
    assert_int_equal(p.gone, 3);
    strbuf_release(&cancelled.body);
    strbuf_release(&late.body);
    strbuf_release(&freed.body);
    close_place(&p);
}

static void test_pause(void **state)
{
    struct got g = {.pause_at = 2};
    struct place p;
    open_place(&p);
    start(&p, &g, (struct net_call_opts){.path = STR("/lines")});
    while (p.lines < 10)
        net_loop_run_once(p.loop, true);
    rounds(&p, 5);
    assert_int_equal(g.pieces, 2);
    assert_false(g.done);
    net_inner_pause(g.call, false);
    await(&p, &g.done);
    assert_int_equal(g.body.n, 70);
    strbuf_release(&g.body);
    close_place(&p);
}

/* What is said faster than it is heard has a limit. */
static void test_flood(void **state)
{
    struct got g = {0};
    struct place p;
    open_place(&p);
    start(&p, &g, (struct net_call_opts){.path = STR("/flood")});
    await(&p, &g.done);
    assert_int_equal(g.err, ERR_IO);
    assert_true(g.body.n <= 1 << 20);
    strbuf_release(&g.body);
    close_place(&p);
}

static void test_refused(void **state)
{
    struct place p;
    size_t size = 4 << 20;
    char *body = mem_zalloc(size);
    open_place(&p);
    expect(&p,
           (struct net_call_opts){
               .method = STR("POST"), .path = STR("/echo"), .body = {body, size}},
           413, "413 Payload Too Large\n");
    free(body);
    close_place(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_answers), cmocka_unit_test(test_many),
        cmocka_unit_test(test_leaving), cmocka_unit_test(test_pause),
        cmocka_unit_test(test_flood),   cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
