/* SPDX-License-Identifier: Apache-2.0 */
/* The HTTP/2 client against our own server, and against peers that are no servers. */
#include "net/client.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/mem.h"
#include "site.h"
#include "unit/unit.h"

static const struct net_server_opts usual = {.address = NULL};

/* ---- a client and its calls, on a loop of the test's own ---- */

struct user {
    struct net_loop *loop;
    struct net_client *client;
    bool opened, closed, late;
    struct err why;
};

struct got {
    struct user *user;
    struct net_call *call;
    unsigned status;
    struct strbuf head, body;
    bool headed, last, done, complete, untouched;
    uint32_t reset;
    struct err err;
    size_t cancel_at, close_at, pause_at; /* bytes; 0: never */
    bool paused;
};

static void on_opened(void *ctx)
{
    ((struct user *)ctx)->opened = true;
}

static void on_closed(void *ctx, const struct err *why)
{
    struct user *u = ctx;
    assert_false(u->closed);
    u->closed = true;
    err_set(&u->why, why->code, "%s", err_text(why));
}

static bool user_try(struct user *u, struct net_client_opts opts, struct err *e)
{
    static const struct net_client_ops ops = {on_opened, on_closed};
    *u = (struct user){.loop = net_loop_new(NULL)};
    u->client = net_client_new(u->loop, &opts, &ops, u, e);
    return u->client != NULL;
}

static void user_open(struct user *u, struct net_client_opts opts)
{
    struct err e = ERR_INIT;
    if (!user_try(u, opts, &e))
        fail_msg("%s", err_text(&e));
}

static void user_fini(struct user *u)
{
    net_client_close(u->client);
    net_loop_free(u->loop);
    err_release(&u->why);
}

static void too_late(void *ctx)
{
    *(bool *)ctx = true;
}

/* Runs the loop until a thing is so, ten seconds at most. */
static void await(struct user *u, const bool *thing)
{
    bool late = false;
    struct net_timer *t = net_timer_start(u->loop, 10000, 0, too_late, &late);
    while (!*thing && !late)
        net_loop_run_once(u->loop, true);
    assert_false(late);
    net_timer_stop(t);
}

static void rest(struct user *u, unsigned ms)
{
    bool over = false;
    net_timer_start(u->loop, ms, 0, too_late, &over);
    while (!over)
        net_loop_run_once(u->loop, true);
}

static void on_head(void *ctx, unsigned status, const struct net_header *headers,
                    uint32_t n, bool last)
{
    struct got *g = ctx;
    assert_false(g->headed || g->done);
    g->headed = true;
    g->last = last;
    g->status = status;
    for (uint32_t i = 0; i < n; i++)
        strbuf_addf(&g->head, "%.*s: %.*s\n", STR_ARG(headers[i].name),
                    STR_ARG(headers[i].value));
}

static void on_data(void *ctx, struct str bytes)
{
    struct got *g = ctx;
    assert_true(g->headed && !g->done);
    strbuf_addstr(&g->body, bytes);
    if (g->cancel_at && g->body.n >= g->cancel_at) {
        net_call_cancel(g->call);
        g->done = true;
    } else if (g->close_at && g->body.n >= g->close_at) {
        net_client_close(g->user->client);
        g->user->client = NULL;
        g->close_at = 0;
    } else if (g->pause_at && g->body.n >= g->pause_at) {
        net_call_pause(g->call, true);
        g->pause_at = 0;
        g->paused = true;
    }
}

static void on_done(void *ctx, const struct net_call_end *end)
{
    struct got *g = ctx;
    assert_false(g->done);
    g->done = true;
    g->complete = !end->err;
    g->untouched = end->untouched;
    g->reset = end->reset;
    if (end->err)
        err_set(&g->err, end->err->code, "%s", err_text(end->err));
}

static void start(struct user *u, struct got *g, struct net_call_opts opts)
{
    static const struct net_call_ops ops = {on_head, on_data, on_done};
    g->user = u;
    if (!opts.method.p)
        opts.method = STR("GET");
    g->call = net_call_start(u->client, &opts, &ops, g);
    assert_non_null(g->call);
}

static void got_fini(struct got *g)
{
    strbuf_release(&g->head);
    strbuf_release(&g->body);
    err_release(&g->err);
}

static void get(struct user *u, const char *path, unsigned status, const char *body)
{
    struct got g = {0};
    start(u, &g, (struct net_call_opts){.path = str_from(path)});
    await(u, &g.done);
    assert_true(g.complete);
    assert_int_equal(g.status, status);
    assert_str(strbuf_str(&g.body), body);
    got_fini(&g);
}

/* ---- as it should be ---- */

static const char *site_address(const struct site *s, const char *host, char text[64])
{
    snprintf(text, 64, "%s:%u", host, s->port);
    return text;
}

static void test_tls(void **state)
{
    static const char *const hosts[] = {"127.0.0.1", "localhost"};
    struct site s;
    char address[64];
    site_start(&s, usual, true);
    struct net_tls_client_opts tls = {s.ca.cert_pem, s.client.cert_pem, s.client.key_pem};
    for (size_t i = 0; i < UNIT_COUNT(hosts); i++) {
        struct user u;
        user_open(&u, (struct net_client_opts){
                          .address = site_address(&s, hosts[i], address), .tls = &tls});
        get(&u, "/hello", 200, "hello");
        struct got who = {0};
        start(&u, &who, (struct net_call_opts){.path = STR("/who")});
        await(&u, &who.done);
        assert_true(str_starts(strbuf_str(&who.body), STR("ann|system:masters,dev|")));
        got_fini(&who);
        get(&u, "/nowhere", 404, "no such page");
        get(&u, "/empty", 204, "");
        assert_true(u.opened && net_client_is_open(u.client) && !u.closed);
        user_fini(&u);
    }
    site_stop(&s);
}

static void test_bodies(void **state)
{
    struct site s;
    struct user u;
    struct got g = {0}, pieces = {0};
    char address[64];
    site_start(&s, usual, false);
    user_open(
        &u, (struct net_client_opts){.address = site_address(&s, "127.0.0.1", address)});
    size_t size = 2 << 20;
    char *body = mem_alloc(size);
    for (size_t i = 0; i < size; i++)
        body[i] = (char)(i * 2654435761u >> 24);
    start(&u, &g,
          (struct net_call_opts){
              .method = STR("POST"), .path = STR("/echo"), .body = {body, size}});
    start(
        &u, &pieces,
        (struct net_call_opts){
            .method = STR("POST"), .path = STR("/echo"), .body = STR("a"), .more = true});
    net_call_send(pieces.call, STR("b")); /* before there is a connection */
    for (int i = 0; i < 500 && net_call_unsent(pieces.call) > 0; i++)
        rest(&u, 10);
    assert_int_equal(net_call_unsent(pieces.call), 0);
    net_call_send(pieces.call, STR("c"));
    net_call_send(pieces.call, STR("d"));
    net_call_finish(pieces.call);
    await(&u, &g.done);
    await(&u, &pieces.done);
    assert_true(g.complete && g.body.n == size && memcmp(g.body.p, body, size) == 0);
    assert_str(strbuf_str(&pieces.body), "abcd");
    free(body);
    got_fini(&g);
    got_fini(&pieces);
    user_fini(&u);
    site_stop(&s);
}

/* More than the server takes at once. */
static void test_many(void **state)
{
    enum { CALLS = 900 };
    struct site s;
    struct user u;
    struct got *all = mem_zalloc(CALLS * sizeof *all);
    char address[64];
    site_start(&s, usual, false);
    user_open(
        &u, (struct net_client_opts){.address = site_address(&s, "127.0.0.1", address)});
    for (int i = 0; i < CALLS; i++)
        start(&u, &all[i], (struct net_call_opts){.path = STR("/late?1")});
    for (int i = 0; i < CALLS; i++) {
        await(&u, &all[i].done);
        assert_true(all[i].complete);
        assert_str(strbuf_str(&all[i].body), "late");
        got_fini(&all[i]);
    }
    free(all);
    user_fini(&u);
    site_stop(&s);
}

/* What is not taken stops the server, for that call alone. */
static void test_pause(void **state)
{
    enum { SIZE = 20 << 20 };
    struct site s;
    struct user u;
    struct got g = {.pause_at = 1};
    char address[64];
    site_start(&s, usual, false);
    user_open(
        &u, (struct net_client_opts){.address = site_address(&s, "127.0.0.1", address)});
    start(&u, &g, (struct net_call_opts){.path = STR("/big?20971520")});
    await(&u, &g.paused);
    size_t before = g.body.n;
    rest(&u, 100);
    assert_int_equal(g.body.n, before);
    get(&u, "/hello", 200, "hello");
    net_call_pause(g.call, false);
    assert_int_equal(g.body.n, before); /* not from within */
    await(&u, &g.done);
    assert_true(g.complete && g.body.n == SIZE);
    got_fini(&g);
    /* One that is complete before it is taken up again. */
    struct got small = {.pause_at = 1};
    start(&u, &small, (struct net_call_opts){.path = STR("/shared?3")});
    await(&u, &small.paused);
    rest(&u, 100);
    assert_false(small.done);
    net_call_pause(small.call, false);
    await(&u, &small.done);
    assert_true(small.complete && small.body.n == 3000);
    got_fini(&small);
    user_fini(&u);
    site_stop(&s);
}

/* ---- ends ---- */

static void test_ends(void **state)
{
    struct site s;
    struct user u;
    struct got late = {0}, cancelled = {.cancel_at = 2000}, held = {0}, left = {0},
               closer = {.close_at = 3000};
    char address[64];
    site_start(&s, usual, true);
    struct net_tls_client_opts tls = {.ca_pem = s.ca.cert_pem};
    user_open(&u, (struct net_client_opts){
                      .address = site_address(&s, "127.0.0.1", address), .tls = &tls});
    await(&u, &u.opened);
    start(&u, &late, (struct net_call_opts){.path = STR("/stuck"), .timeout_ms = 300});
    await(&u, &late.done);
    assert_int_equal(late.err.code, ERR_TIMEOUT);
    assert_false(late.untouched || late.headed);
    start(&u, &cancelled, (struct net_call_opts){.path = STR("/stream?100000")});
    await(&u, &cancelled.done);
    start(&u, &held, (struct net_call_opts){.path = STR("/hold")});
    await(&u, &held.headed);
    net_call_cancel(held.call);
    rest(&u, 20);
    assert_true(site_wait(&s.gone, 2));
    /* Closed from within, while another waits. */
    start(&u, &left, (struct net_call_opts){.path = STR("/hold")});
    start(&u, &closer, (struct net_call_opts){.path = STR("/stream?100000")});
    await(&u, &closer.done);
    await(&u, &left.done);
    assert_int_equal(left.err.code, ERR_CANCELLED);
    assert_int_equal(closer.err.code, ERR_CANCELLED);
    assert_false(u.closed);
    got_fini(&late);
    got_fini(&cancelled);
    got_fini(&held);
    got_fini(&left);
    got_fini(&closer);
    user_fini(&u);
    site_stop(&s);
}

/* Closed before there is an address, or a connection. */
static void test_early_end(void **state)
{
    static const char *const rows[] = {"localhost:1", "127.0.0.1:1", "unix:nowhere"};
    for (size_t i = 0; i < UNIT_COUNT(rows); i++) {
        struct user u;
        struct got g = {0};
        user_open(&u, (struct net_client_opts){.address = rows[i]});
        start(&u, &g, (struct net_call_opts){.path = STR("/hello")});
        net_client_close(u.client);
        u.client = NULL;
        ROW(rows[i], !g.done);
        await(&u, &g.done);
        ROW(rows[i], g.err.code == ERR_CANCELLED && g.untouched && !u.closed);
        got_fini(&g);
        user_fini(&u);
    }
}

/* Calls that run may end; there are no new ones. */
static void test_server_leaves(void **state)
{
    struct site s;
    struct user u;
    struct got late = {0};
    char address[64];
    static const struct net_call_ops ops = {on_head, on_data, on_done};
    site_start(&s, usual, false);
    user_open(
        &u, (struct net_client_opts){.address = site_address(&s, "127.0.0.1", address)});
    start(&u, &late, (struct net_call_opts){.path = STR("/late?150")});
    await(&u, &u.opened);
    rest(&u, 50);
    site_shut_down(&s, 5000);
    rest(&u, 50);
    assert_null(net_call_start(
        u.client, &(struct net_call_opts){.method = STR("GET"), .path = STR("/hello")},
        &ops, NULL));
    await(&u, &late.done);
    assert_true(late.complete);
    await(&u, &u.closed);
    assert_false(net_client_is_open(u.client));
    got_fini(&late);
    user_fini(&u);
    site_stop(&s);
}

static void test_trust(void **state)
{
    struct site s;
    char address[64];
    struct err e = ERR_INIT;
    site_start(&s, usual, true);
    site_address(&s, "127.0.0.1", address);
    const struct {
        const char *name;
        struct net_client_opts opts;
        struct net_tls_client_opts tls;
        const char *why;
    } rows[] = {
        {"another authority", {0}, {.ca_pem = s.stranger.cert_pem}, "certificate"},
        {"another name",
         {.name = "example.org"},
         {.ca_pem = s.ca.cert_pem},
         "certificate"},
        {"no TLS", {0}, {.insecure = false}, "not HTTP/2"},
    };
    for (size_t i = 0; i < UNIT_COUNT(rows); i++) {
        struct user u;
        struct got g = {0};
        struct net_client_opts opts = rows[i].opts;
        opts.address = address;
        opts.tls = rows[i].tls.ca_pem.n ? &rows[i].tls : NULL;
        user_open(&u, opts);
        start(&u, &g, (struct net_call_opts){.path = STR("/hello")});
        await(&u, &u.closed);
        ROW(rows[i].name, g.done && !g.complete && !g.headed);
        ROW(rows[i].name, g.untouched || !opts.tls);
        if (!strstr(err_text(&u.why), rows[i].why))
            fail_msg("%s: %s", rows[i].name, err_text(&u.why));
        got_fini(&g);
        user_fini(&u);
    }
    struct user u;
    struct net_tls_client_opts bad = {.ca_pem = STR("no PEM")};
    assert_false(
        user_try(&u, (struct net_client_opts){.address = address, .tls = &bad}, &e));
    net_loop_free(u.loop);
    err_release(&e);
    site_stop(&s);
}

static void test_addresses(void **state)
{
    static const char *const rows[] = {"",        "host",       "host:", ":1",
                                       "host:0",  "host:65536", "::1:1", "[::1]",
                                       "host:1 ", "host:-1"};
    for (size_t i = 0; i < UNIT_COUNT(rows); i++) {
        struct user u;
        struct err e = ERR_INIT;
        ROW(rows[i], !user_try(&u, (struct net_client_opts){.address = rows[i]}, &e));
        ROW(rows[i], e.code == ERR_INVALID);
        net_loop_free(u.loop);
        err_release(&e);
    }
}

/* ---- peers that are no servers ---- */

/* A socket that listens; what accepts, if anything does, is the test. */
static int listen_silently(char address[64])
{
    struct sockaddr_in at = {.sin_family = AF_INET,
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof at;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&at, size), 0);
    assert_int_equal(listen(fd, 8), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&at, &size), 0);
    snprintf(address, 64, "127.0.0.1:%u", ntohs(at.sin_port));
    return fd;
}

#define TEN "aaaaaaaaaa"
#define HUNDRED TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN
#define TOO_LONG HUNDRED HUNDRED HUNDRED

static void test_nobody(void **state)
{
    static const char *const rows[] = {"refused", "unix:no-such-socket",
                                       "no-such-host.invalid:1", TOO_LONG ":1"};
    for (size_t i = 0; i < UNIT_COUNT(rows); i++) {
        struct user u;
        struct got g = {0};
        char address[64];
        close(listen_silently(address));
        user_open(&u, (struct net_client_opts){.address = i == 0 ? address : rows[i]});
        start(&u, &g, (struct net_call_opts){.path = STR("/hello")});
        await(&u, &u.closed);
        ROW(rows[i], g.done && g.untouched && g.err.code == ERR_IO);
        ROW(rows[i], !u.opened);
        got_fini(&g);
        user_fini(&u);
    }
}

/* TLS that is never answered; and calls that never are. */
static void test_silence(void **state)
{
    struct site s;
    struct user u;
    struct got g = {0};
    char address[64];
    int fd = listen_silently(address);
    site_start(&s, usual, true);
    struct net_tls_client_opts tls = {.ca_pem = s.ca.cert_pem};
    user_open(
        &u, (struct net_client_opts){.address = address, .tls = &tls, .connect_ms = 100});
    await(&u, &u.closed);
    assert_int_equal(u.why.code, ERR_TIMEOUT);
    user_fini(&u);
    user_open(&u, (struct net_client_opts){.address = address, .ping_ms = 50});
    await(&u, &u.opened);
    rest(&u, 300); /* without a call nobody is asked */
    assert_false(u.closed);
    start(&u, &g, (struct net_call_opts){.path = STR("/hello")});
    await(&u, &u.closed);
    assert_true(g.done && !g.untouched);
    assert_non_null(strstr(err_text(&u.why), "does not answer"));
    got_fini(&g);
    user_fini(&u);
    site_stop(&s);
    close(fd);
}

/* A server that answers pings is waited for. */
static void test_patience(void **state)
{
    struct site s;
    struct user u;
    struct got g = {0};
    char address[64];
    site_start(&s, usual, false);
    user_open(&u, (struct net_client_opts){
                      .address = site_address(&s, "127.0.0.1", address), .ping_ms = 50});
    start(&u, &g, (struct net_call_opts){.path = STR("/late?600")});
    await(&u, &g.done);
    assert_true(g.complete && !u.closed);
    got_fini(&g);
    user_fini(&u);
    site_stop(&s);
}

#define SETTINGS "\0\0\0\4\0\0\0\0\0"
static const struct {
    const char *name;
    struct str bytes;
} NONSENSE[] = {
    {"another protocol", STR("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")},
    {"zeros", STR("\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0")},
    {"a frame that is too large", STR(SETTINGS "\xff\xff\xff\0\0\0\0\0\1")},
    {"data of a call that is not there", STR(SETTINGS "\0\0\1\0\0\0\0\0\x63x")},
    {"data before the headers", STR(SETTINGS "\0\0\1\0\1\0\0\0\1x")},
    {"headers that cannot be decoded", STR(SETTINGS "\0\0\1\1\5\0\0\0\1\xff")},
    {"headers without a status", STR(SETTINGS "\0\0\0\1\5\0\0\0\1")},
    {"a promise", STR(SETTINGS "\0\0\5\5\4\0\0\0\1\0\0\0\2\x82")},
    {"windows beyond the limit", STR(SETTINGS "\0\0\4\10\0\0\0\0\0\x7f\xff\xff\xff")},
    {"the end at once", STR("")},
    {"half a frame", STR("\0\0\0\4")},
};

static void test_nonsense(void **state)
{
    for (size_t i = 0; i < UNIT_COUNT(NONSENSE); i++) {
        struct user u;
        struct got g = {0};
        char address[64];
        int fd = listen_silently(address);
        user_open(&u, (struct net_client_opts){.address = address});
        start(&u, &g, (struct net_call_opts){.path = STR("/hello"), .timeout_ms = 2000});
        await(&u, &u.opened);
        int peer = accept(fd, NULL, NULL);
        ssize_t n = send(peer, NONSENSE[i].bytes.p, NONSENSE[i].bytes.n, MSG_NOSIGNAL);
        ROW(NONSENSE[i].name, n == (ssize_t)NONSENSE[i].bytes.n);
        shutdown(peer, SHUT_WR);
        await(&u, &g.done);
        ROW(NONSENSE[i].name, !g.complete && g.err.code == ERR_IO);
        got_fini(&g);
        user_fini(&u);
        close(peer);
        close(fd);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tls),           cmocka_unit_test(test_bodies),
        cmocka_unit_test(test_many),          cmocka_unit_test(test_pause),
        cmocka_unit_test(test_ends),          cmocka_unit_test(test_early_end),
        cmocka_unit_test(test_server_leaves), cmocka_unit_test(test_trust),
        cmocka_unit_test(test_addresses),     cmocka_unit_test(test_nobody),
        cmocka_unit_test(test_silence),       cmocka_unit_test(test_patience),
        cmocka_unit_test(test_nonsense),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
