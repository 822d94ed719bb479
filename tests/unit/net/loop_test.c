/* SPDX-License-Identifier: Apache-2.0 */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"
#include "net/http.h"
#include "site.h"
#include "unit/unit.h"

/* ---- posts ---- */

enum { POSTERS = 4, POSTS = 5000 };

struct poster {
    struct net_loop *loop;
    unsigned *total;
    unsigned sent, seen;
    bool disorder;
    pthread_t thread;
};

struct note {
    struct poster *poster;
    unsigned number;
};

static void on_note(void *ctx)
{
    struct note *n = ctx;
    n->poster->disorder |= n->number != n->poster->seen++;
    if (++*n->poster->total == POSTERS * POSTS)
        net_loop_stop(n->poster->loop);
    free(n);
}

static void *post_all(void *ctx)
{
    struct poster *p = ctx;
    for (; p->sent < POSTS; p->sent++) {
        struct note *n = mem_alloc(sizeof *n);
        *n = (struct note){p, p->sent};
        net_post(p->loop, on_note, n);
    }
    return NULL;
}

static void test_posts(void **state)
{
    struct poster posters[POSTERS] = {0};
    unsigned total = 0;
    struct net_loop *l = net_loop_new(NULL);
    for (int i = 0; i < POSTERS; i++) {
        posters[i].loop = l;
        posters[i].total = &total;
        pthread_create(&posters[i].thread, NULL, post_all, &posters[i]);
    }
    net_loop_run(l);
    for (int i = 0; i < POSTERS; i++) {
        pthread_join(posters[i].thread, NULL);
        assert_int_equal(posters[i].seen, POSTS);
        assert_false(posters[i].disorder);
    }
    net_loop_free(l);
}

static void count_one(void *ctx)
{
    ++*(unsigned *)ctx;
}

struct forgetting {
    struct net_loop *loop;
    unsigned mine, other;
};

static void forget_mine(void *ctx)
{
    struct forgetting *f = ctx;
    net_unpost(f->loop, &f->mine);
}

/* Those that wait, and those of the round that is being run. */
static void test_unpost(void **state)
{
    struct forgetting f = {.loop = net_loop_new(NULL)};
    net_post(f.loop, count_one, &f.mine);
    net_post(f.loop, count_one, &f.other);
    net_unpost(f.loop, &f.mine);
    net_loop_run_once(f.loop, true);
    assert_int_equal(f.mine, 0);
    assert_int_equal(f.other, 1);

    net_post(f.loop, forget_mine, &f);
    net_post(f.loop, count_one, &f.mine);
    net_post(f.loop, count_one, &f.other);
    net_loop_run_once(f.loop, true);
    assert_int_equal(f.mine, 0);
    assert_int_equal(f.other, 2);
    net_loop_free(f.loop);
}

/* ---- timers and signals ---- */

struct clock {
    struct net_loop *loop;
    struct net_timer *timer, *other;
    int rings, once;
};

static void ring(void *ctx)
{
    struct clock *c = ctx;
    if (++c->rings == 5)
        net_timer_stop(c->timer);
}

static void ring_once(void *ctx)
{
    struct clock *c = ctx;
    c->once++;
    net_timer_stop(c->other);
}

static void stop(void *ctx)
{
    net_loop_stop(ctx);
}

static void test_timers(void **state)
{
    struct net_loop *l = net_loop_new(NULL);
    struct clock c = {.loop = l};
    c.timer = net_timer_start(l, 1, 2, ring, &c);
    c.other = net_timer_start(l, 40, 0, ring_once, &c); /* stopped by the next */
    net_timer_start(l, 20, 0, ring_once, &c);
    net_timer_start(l, 80, 0, stop, l);
    uint64_t before = net_now_ms(l);
    net_loop_run(l);
    assert_true(net_now_ms(l) - before >= 80);
    assert_int_equal(c.rings, 5);
    assert_int_equal(c.once, 1);
    net_timer_start(l, 100000, 0, stop, l); /* left: freed with the loop */
    net_loop_free(l);
}

static void raise_term(void *ctx)
{
    kill(getpid(), SIGTERM);
}

static void test_signals(void **state)
{
    struct net_loop *l = net_loop_new(NULL);
    net_on_stop_signal(l, stop, l);
    net_timer_start(l, 1, 0, raise_term, NULL);
    net_loop_run(l);
    net_loop_free(l);
}

/* ---- tunnels out ---- */

struct call {
    struct net_loop *loop;
    struct net_tunnel *tunnel;
    struct strbuf got;
    const char *until;
    bool ended;
};

static void on_data(void *ctx, struct str bytes)
{
    struct call *c = ctx;
    strbuf_addstr(&c->got, bytes);
    c->ended = bytes.n == 0;
    if (c->ended || str_find(strbuf_str(&c->got), str_from(c->until)) != SIZE_MAX)
        net_loop_stop(c->loop);
}

static void call(struct call *c, const struct net_connect_opts *opts, const char *say,
                 const char *until)
{
    struct err e = ERR_INIT;
    *c = (struct call){.loop = net_loop_new(&e), .until = until};
    c->tunnel = net_tunnel_connect(c->loop, opts, on_data, c, &e);
    assert_non_null(c->tunnel);
    assert_true(net_tunnel_write(c->tunnel, str_from(say)));
    net_loop_run(c->loop);
}

static void hang_up(struct call *c)
{
    net_tunnel_close(c->tunnel);
    net_loop_free(c->loop);
    strbuf_release(&c->got);
}

#define ASK_WHO "GET /who HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
#define ASK_UPGRADE                                                                      \
    "GET /upgrade HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: "               \
    "echo\r\n\r\nabc"

static void test_connect(void **state)
{
    struct site s;
    site_start(&s, (struct net_server_opts){0}, true);
    struct net_tls_client_opts known = {.ca_pem = s.ca.cert_pem};
    struct net_tls_client_opts own = {s.ca.cert_pem, s.client.cert_pem, s.client.key_pem,
                                      false};
    struct net_tls_client_opts wrong = {.ca_pem = s.client.cert_pem};
    struct net_tls_client_opts careless = {.insecure = true};
    const struct {
        const char *name;
        const struct net_tls_client_opts *tls;
        const char *host, *say, *want; /* NULL: no connection */
    } rows[] = {
        {"no certificate", &known, NULL, ASK_WHO, "|||0"},
        {"certificate", &own, NULL, ASK_WHO, "ann|system:masters,dev||64"},
        {"by name", &known, "localhost", ASK_WHO, "|||0"},
        {"another name", &known, "example.org", ASK_WHO, NULL},
        {"another CA", &wrong, NULL, ASK_WHO, NULL},
        {"not verified", &careless, "example.org", ASK_WHO, "|||0"},
        {"upgrade", &known, NULL, ASK_UPGRADE, "\r\n\r\nabc"},
    };
    for (size_t i = 0; i < UNIT_COUNT(rows); i++) {
        struct net_connect_opts opts = {"127.0.0.1", s.port, rows[i].tls, rows[i].host};
        struct call c;
        call(&c, &opts, rows[i].say, rows[i].want ? rows[i].want : "HTTP/1.1");
        struct str got = strbuf_str(&c.got);
        if (rows[i].want)
            ROW(rows[i].name, str_find(got, str_from(rows[i].want)) != SIZE_MAX);
        else
            ROW(rows[i].name, c.ended && got.n == 0);
        hang_up(&c);
    }
    site_stop(&s);
}

static void test_no_connection(void **state)
{
    struct site s;
    struct call c;
    struct err e = ERR_INIT;
    site_start(&s, (struct net_server_opts){0}, false);
    site_stop(&s); /* nobody listens there anymore */
    struct net_connect_opts opts = {"127.0.0.1", s.port, NULL, NULL};
    call(&c, &opts, "hello", "never");
    assert_true(c.ended);
    assert_false(net_tunnel_write(c.tunnel, STR("hello")));
    hang_up(&c);

    struct net_loop *l = net_loop_new(NULL);
    opts.ip = "somewhere";
    assert_null(net_tunnel_connect(l, &opts, on_data, NULL, &e));
    assert_string_equal(err_text(&e), "'somewhere' is no IP address");
    err_release(&e);
    net_loop_free(l);
}

static void test_bad_servers(void **state)
{
    struct net_loop *l = net_loop_new(NULL);
    static const struct net_tls_opts no_tls = {STR("x"), STR("y"), STR_NONE};
    static const struct {
        const char *name;
        struct net_server_opts opts;
        const char *want;
    } rows[] = {
        {"no port", {.address = "127.0.0.1"}, "'127.0.0.1' is not ADDRESS:PORT"},
        {"bad port", {.address = "127.0.0.1:99999"}, "'127.0.0.1:99999' is not ADDRESS"},
        {"a name", {.address = "localhost:1"}, "'localhost' is no IP address"},
        {"not ours", {.address = "192.0.2.1:1"}, "192.0.2.1:1: address not available"},
        {"no folder", {.address = "unix:/nowhere/x"}, "/nowhere/x: no such file"},
        {"no keys", {.address = "127.0.0.1:0", .tls = &no_tls}, "certificate: "},
    };
    for (size_t i = 0; i < UNIT_COUNT(rows); i++) {
        struct err e = ERR_INIT;
        ROW(rows[i].name, !net_server_new(l, &rows[i].opts, NULL, NULL, &e));
        ROW(rows[i].name, str_starts(str_from(err_text(&e)), str_from(rows[i].want)));
        err_release(&e);
    }
    net_loop_free(l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_posts),       cmocka_unit_test(test_unpost),
        cmocka_unit_test(test_timers),      cmocka_unit_test(test_signals),
        cmocka_unit_test(test_connect),     cmocka_unit_test(test_no_connection),
        cmocka_unit_test(test_bad_servers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
