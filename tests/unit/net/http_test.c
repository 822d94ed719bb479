/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "client.h"
#include "site.h"
#include "unit/unit.h"

static const struct net_server_opts usual;

/* ---- HTTP/1.1 byte for byte ---- */

#define HOST "Host: a\r\n"
#define GET_HELLO "GET /hello HTTP/1.1\r\n" HOST "\r\n"

/* what: sent on one connection; wants: found in what comes back, in this order. */
struct talk {
    const char *name, *what;
    const char *wants[4];
    bool closes;
};

static const struct talk talks[] = {
    {"get", GET_HELLO, {"HTTP/1.1 200 OK\r\n", "content-length: 5\r\n\r\nhello"}},
    {"no line begins in a header",
     "GET /mirror HTTP/1.1\r\n" HOST "\r\n",
     {"x-mirror: a  b\r\n", "hello"}},
    {"two at once", GET_HELLO GET_HELLO, {"hello", "hello"}},
    {"three, with a body between",
     GET_HELLO "POST /echo HTTP/1.1\r\n" HOST "Content-Length: 3\r\n\r\nabc" GET_HELLO,
     {"hello", "\r\n\r\nabc", "hello"}},
    {"chunked body",
     "POST /echo HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n"
     "3\r\nabc\r\n2;x=y\r\nde\r\n0\r\nTrailer: x\r\n\r\n" GET_HELLO,
     {"content-length: 5\r\n\r\nabcde", "hello"}},
    {"head",
     "HEAD /hello HTTP/1.1\r\n" HOST "\r\n" GET_HELLO,
     {"content-length: 5\r\n\r\nHTTP/1.1 200 OK"}},
    {"streamed head",
     "HEAD /stream?3 HTTP/1.1\r\n" HOST "\r\n" GET_HELLO,
     {"\r\n\r\nHTTP/1.1 200 OK", "hello"}},
    {"no content",
     "GET /empty HTTP/1.1\r\n" HOST "\r\n" GET_HELLO,
     {"HTTP/1.1 204 No Content\r\n", "\r\n\r\nHTTP/1.1 200 OK", "hello"}},
    {"path and query",
     "GET /about?a=%20b&c=?d HTTP/1.1\r\n" HOST "X-TEST:  Value \r\n\r\n",
     {"GET /about a=%20b&c=?d x=Value http2=0 tls=0 local=0"}},
    {"absolute form",
     "GET http://host/about?q HTTP/1.1\r\n" HOST "\r\n",
     {"GET /about q x="}},
    {"close",
     "GET /hello HTTP/1.1\r\n" HOST "Connection: close\r\n\r\n",
     {"connection: close\r\n", "hello"},
     true},
    {"old client", "GET /hello HTTP/1.0\r\n\r\n", {"connection: close", "hello"}, true},
    {"old client, kept",
     "GET /hello HTTP/1.0\r\nConnection: keep-alive\r\n\r\n" GET_HELLO,
     {"connection: keep-alive\r\n", "hello", "hello"}},
    {"old client, streamed", "GET /stream?2 HTTP/1.0\r\n\r\n", {"\r\n\r\n000"}, true},
    {"chunks", "GET /stream?2 HTTP/1.1\r\n" HOST "\r\n" GET_HELLO, {"0\r\n\r\nHTTP/1.1"}},
    {"continue",
     "POST /echo HTTP/1.1\r\n" HOST "Expect: 100-continue\r\nContent-Length: 2\r\n\r\nhi",
     {"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK", "hi"}},
    {"another expectation",
     "POST /echo HTTP/1.1\r\n" HOST "Expect: wonders\r\nContent-Length: 2\r\n\r\nhi",
     {"HTTP/1.1 417 "},
     true},
    {"offer of h2c",
     "GET /hello HTTP/1.1\r\n" HOST
     "Upgrade: h2c\r\nConnection: Upgrade\r\n\r\n" GET_HELLO,
     {"hello", "hello"}},
    {"too large, by length",
     "POST /echo HTTP/1.1\r\n" HOST "Content-Length: 4000000\r\n\r\n",
     {"HTTP/1.1 413 Payload Too Large\r\n", "connection: close"},
     true},
    {"no host", "GET /hello HTTP/1.1\r\n\r\n", {"HTTP/1.1 400 "}, true},
    {"connect", "CONNECT a:1 HTTP/1.1\r\n" HOST "\r\n", {"HTTP/1.1 405 "}, true},
    {"a method of nobody's",
     "FROB /hello HTTP/1.1\r\n" HOST "\r\n",
     {"HTTP/1.1 405 "},
     true},
    {"nearly a method", "GEX /hello HTTP/1.1\r\n" HOST "\r\n", {"HTTP/1.1 405 "}, true},
    {"no request at all", "\x16\x03\x01\x02", {"HTTP/1.1 400 "}, true},
    {"two lengths",
     "POST /echo HTTP/1.1\r\n" HOST "Content-Length: 3\r\nContent-Length: 4\r\n\r\nabc",
     {"HTTP/1.1 400 "},
     true},
    {"length and chunks",
     "POST /echo HTTP/1.1\r\n" HOST
     "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
     {"HTTP/1.1 400 "},
     true},
    {"strange coding",
     "POST /echo HTTP/1.1\r\n" HOST "Transfer-Encoding: gzip\r\n\r\n",
     {"HTTP/1.1 400 "},
     true},
    {"space before the colon", "GET /hello HTTP/1.1\r\nHost : a\r\n\r\n", {"400"}, true},
};

static void run_talk(const struct talk *t, struct site *s, bool split)
{
    struct client c;
    size_t from = 0;
    client_open(&c, s, NULL, NULL);
    if (split)
        for (const char *p = t->what; *p; p++)
            client_write(&c, (struct str){p, 1});
    else
        client_say(&c, t->what);
    for (int i = 0; i < 4 && t->wants[i]; i++) {
        struct str want = str_from(t->wants[i]);
        size_t at;
        while ((at = str_find(str_sub(strbuf_str(&c.got), from, c.got.n), want)) ==
               SIZE_MAX)
            if (!client_read(&c, 4096))
                fail_msg("row '%s': no '%s' in '%.*s'", t->name, want.p,
                         STR_ARG(strbuf_str(&c.got)));
        from += at + want.n;
    }
    if (t->closes)
        ROW(t->name, client_drain(&c));
    client_close(&c);
}

static void test_talks(void **state)
{
    struct site s;
    site_start(&s, usual, false);
    for (size_t i = 0; i < UNIT_COUNT(talks); i++) {
        run_talk(&talks[i], &s, false);
        run_talk(&talks[i], &s, true);
    }
    site_stop(&s);
}

static void test_large_requests(void **state)
{
    struct site s;
    struct client c;
    struct strbuf b = STRBUF_INIT;
    site_start(&s, usual, false);
    client_open(&c, &s, NULL, NULL);
    for (int i = 0; i < 700; i++)
        strbuf_addf(&b, "x-%d: %0100d\r\n", i, 0);
    client_say(&c, "GET /hello HTTP/1.1\r\n" HOST);
    client_write(&c, strbuf_str(&b));
    assert_true(client_expect(&c, "HTTP/1.1 431 "));
    client_close(&c);

    /* Chunks without end: refused as soon as they are too many, and read over. */
    client_open(&c, &s, NULL, NULL);
    client_say(&c, "POST /echo HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n");
    strbuf_clear(&b);
    strbuf_adds(&b, "10000\r\n");
    for (int i = 0; i < 0x10000; i++)
        strbuf_addc(&b, 'x');
    strbuf_adds(&b, "\r\n");
    for (int i = 0; i < 50; i++)
        client_write(&c, strbuf_str(&b));
    assert_true(client_expect(&c, "HTTP/1.1 413 "));
    assert_true(client_drain(&c));
    client_close(&c);
    strbuf_release(&b);
    site_stop(&s);
}

/* ---- TLS ---- */

static void test_certificates(void **state)
{
    struct site s;
    site_start(&s, usual, true);
    const struct {
        const char *name;
        const struct pki_pair *pair;
        const char *want;
    } rows[] = {
        {"none", NULL, "|||0"},
        {"good", &s.client, "ann|system:masters,dev||64"},
        {"of another CA", &s.stranger, "||unable to verify the first certificate|64"},
        {"for servers", &s.server, "||unsuitable certificate purpose|64"},
    };
    for (size_t i = 0; i < UNIT_COUNT(rows); i++) {
        struct client c;
        client_open(&c, &s, "http/1.1", rows[i].pair);
        client_say(&c, "GET /who HTTP/1.1\r\n" HOST "\r\n");
        ROW(rows[i].name, client_expect(&c, rows[i].want));
        client_close(&c);
        struct h2_client h;
        h2_open(&h, &s, rows[i].pair, false);
        h2_ask(&h, "/who", NULL);
        ROW(rows[i].name, h2_wait(&h, 1));
        ROW(rows[i].name, str_is(strbuf_str(&h.answers[0].text), rows[i].want));
        h2_close(&h);
    }
    site_stop(&s);
}

static void test_http_to_tls(void **state)
{
    struct site s;
    struct client c;
    site_start(&s, usual, true);
    client_open(&c, &s, NULL, NULL);
    client_say(&c, GET_HELLO);
    assert_true(client_expect(&c, "HTTP/1.0 400 Bad Request\r\n"));
    assert_true(client_drain(&c));
    client_close(&c);
    client_open(&c, &s, NULL, NULL); /* neither of them */
    client_write(&c, STR("\x16\x03\x01\x00\x05hello"));
    assert_true(client_drain(&c));
    client_close(&c);
    site_stop(&s);
}

/* ---- curl, where it is installed ---- */

static void run_curl(const struct site *s, const char *folder, const char *args,
                     const char *want)
{
    char command[1024], got[4096];
    snprintf(
        command, sizeof command,
        "cd %s && curl -sS -m 20 --cacert ca --resolve localhost:%u:127.0.0.1 %s 2>&1",
        folder, s->port, args);
    FILE *f = popen(command, "r");
    size_t n = fread(got, 1, sizeof got, f);
    pclose(f);
    struct str text = {got, n};
    if (str_find(text, str_from(want)) == SIZE_MAX)
        fail_msg("row '%s': no '%s' in '%.*s'", args, want, STR_ARG(text));
}

static void save(const char *folder, const char *name, struct str a, struct str b)
{
    char path[64];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fwrite(a.p, 1, a.n, f);
    if (b.n > 0)
        fwrite(b.p, 1, b.n, f);
    fclose(f);
}

static void clean_up(const char *folder)
{
    char command[64];
    snprintf(command, sizeof command, "rm -r %s", folder);
    assert_int_equal(system(command), 0);
}

static void test_curl(void **state)
{
    static const char *const versions[] = {"--http1.1", "--http2"};
    static const char *const rows[][2] = {
        {"%s https://localhost:%u/hello", "hello"},
        {"%s https://localhost:%u/who", "|||0"},
        {"%s --cert ann https://localhost:%u/who", "ann|system:masters,dev||64"},
        {"%s --data-binary @three -w '%%{http_code} %%{size_download}' -o out "
         "https://localhost:%u/echo && cmp three out",
         "200 3145728"},
        {"%s --data-binary @four -w '%%{http_code}' https://localhost:%u/echo", "413"},
        {"%s -T four -H 'Expect: 100-continue' -w '%%{http_code}' "
         "https://localhost:%u/echo",
         "413"},
        {"%s 'https://localhost:%u/stream?10000' | wc -c", "10000000"},
        {"%s -I https://localhost:%u/hello", "content-length: 5"},
    };
    struct site s;
    char folder[] = "/tmp/net-test-XXXXXX", args[256];
    if (system("curl --version 2>/dev/null | grep -q HTTP2") != 0)
        skip();
    assert_non_null(mkdtemp(folder));
    site_start(&s, usual, true);
    char *bytes = mem_zalloc(4 << 20);
    save(folder, "ca", s.ca.cert_pem, STR_NONE);
    save(folder, "ann", s.client.cert_pem, s.client.key_pem);
    save(folder, "three", (struct str){bytes, 3 << 20}, STR_NONE);
    save(folder, "four", (struct str){bytes, 4 << 20}, STR_NONE);
    free(bytes);
    for (size_t v = 0; v < UNIT_COUNT(versions); v++)
        for (size_t i = 0; i < UNIT_COUNT(rows); i++) {
            snprintf(args, sizeof args, rows[i][0], versions[v], s.port);
            run_curl(&s, folder, args, rows[i][1]);
        }
    clean_up(folder);
    site_stop(&s);
}

/* ---- HTTP/2 ---- */

static void test_many_streams(void **state)
{
    struct site s;
    struct h2_client h;
    site_start(&s, usual, true);
    h2_open(&h, &s, NULL, false);
    for (int i = 0; i < 500; i++) /* more than may run at once */
        h2_ask(&h, i % 2 ? "/stream?100" : "/shared?100", NULL);
    assert_true(h2_wait(&h, 500));
    for (int i = 0; i < 500; i++) {
        assert_int_equal(h.answers[i].status, 200);
        assert_int_equal(h.answers[i].bytes, 100000);
        assert_int_equal(h.answers[i].error, 0);
    }
    h2_close(&h);
    site_stop(&s);
}

static void test_h2_bodies(void **state)
{
    struct site s;
    struct h2_client h;
    size_t sizes[] = {1, 70000, 3 << 20, (3 << 20) + 1, 5 << 20};
    site_start(&s, usual, false);
    for (size_t i = 0; i < UNIT_COUNT(sizes); i++) {
        char *bytes = mem_zalloc(sizes[i]);
        struct str body = {bytes, sizes[i]};
        bool fits = sizes[i] <= 3 << 20;
        h2_open(&h, &s, NULL, false);
        h2_ask(&h, "/echo", &body);
        assert_true(h2_wait(&h, 1));
        assert_int_equal(h.answers[0].status, fits ? 200 : 413);
        if (fits)
            assert_int_equal(h.answers[0].bytes, sizes[i]);
        h2_close(&h);
        free(bytes);
    }
    site_stop(&s);
}

/* Bodies that are not ended add up: one connection may not take all the room. */
static void test_bodies_at_once(void **state)
{
    struct site s;
    struct h2_client h, other;
    struct str bodies[10];
    char *bytes = mem_zalloc(100000);
    unsigned refused = 0;
    site_start(&s, (struct net_server_opts){.max_bodies = 4000000}, false);
    h2_open(&h, &s, NULL, false);
    for (int i = 0; i < 10; i++) {
        bodies[i] = (struct str){bytes, 100000};
        h2_ask(&h, "/late?60000", &bodies[i]);
    }
    assert_true(h2_wait(&h, 5));
    for (int i = 0; i < 10; i++)
        refused += h.answers[i].status == 429;
    assert_int_equal(refused, 5);
    h2_open(&other, &s, NULL, false);
    bodies[0] = (struct str){bytes, 100000};
    h2_ask(&other, "/echo", &bodies[0]);
    assert_true(h2_wait(&other, 1));
    assert_int_equal(other.answers[0].status, 200);
    h2_close(&other);
    h2_close(&h);
    free(bytes);
    site_stop(&s);
}

static void test_h2_headers_limit(void **state)
{
    struct site s;
    struct h2_client h;
    char *path = mem_alloc(70000);
    memset(path, 'a', 69999);
    path[0] = '/';
    path[69999] = 0;
    site_start(&s, usual, false);
    h2_open(&h, &s, NULL, false);
    h2_ask(&h, "/hello", NULL);
    assert_true(h2_wait(&h, 1));
    h2_ask(&h, path, NULL);
    h2_wait(&h, 2); /* refused, or the session is ended: not served */
    assert_int_not_equal(h.answers[1].status, 200);
    h2_close(&h);
    /* A new connection works. */
    h2_open(&h, &s, NULL, false);
    h2_ask(&h, "/hello", NULL);
    assert_true(h2_wait(&h, 1));
    h2_close(&h);
    free(path);
    site_stop(&s);
}

/* ---- slow readers ---- */

static void test_slow_reader(void **state)
{
    struct site s;
    struct h2_client h;
    struct client c;
    site_start(&s, usual, true);
    /* 10,000 lines are 10 MB: what waits stays below the megabyte of the handler. */
    client_open(&c, &s, "http/1.1", NULL);
    client_say(&c, "GET /stream?10000 HTTP/1.1\r\n" HOST "\r\n");
    h2_open(&h, &s, NULL, false);
    h2_ask(&h, "/stream?10000", NULL);
    h2_flush(&h);
    usleep(300000);
    /* Others are served meanwhile. */
    struct h2_client other;
    h2_open(&other, &s, NULL, false);
    h2_ask(&other, "/hello", NULL);
    assert_true(h2_wait(&other, 1));
    h2_close(&other);
    assert_true(h2_wait(&h, 1));
    assert_int_equal(h.answers[0].bytes, 10000 * 1000);
    assert_true(client_expect(&c, "\r\n0\r\n\r\n"));
    assert_true(site_get(&s.drained) > 0);
    assert_true(s.most_unsent < (1 << 20) + 1000);
    h2_close(&h);
    client_close(&c);
    site_stop(&s);
}

static void test_max_unsent(void **state)
{
    struct site s;
    struct h2_client h;
    site_start(&s, (struct net_server_opts){.max_unsent = 100000}, false);
    h2_open(&h, &s, NULL, true);
    h2_ask(&h, "/flood?99", NULL);
    h2_ask(&h, "/flood?1000", NULL);
    h2_ask(&h, "/big?60000", NULL);
    while (!h.answers[1].closed)
        assert_true(h2_flush(&h) && h2_step(&h));
    assert_int_equal(site_get(&s.refused), 1);
    assert_int_not_equal(h.answers[1].error, 0);
    h2_close(&h);
    site_stop(&s);
}

static void test_stall(void **state)
{
    struct site s;
    struct h2_client h;
    struct client c;
    site_start(&s, (struct net_server_opts){.stall_ms = 600}, false);
    /* The window of one stream is never opened: the stream is ended, not the others. */
    h2_open(&h, &s, NULL, true);
    h2_ask(&h, "/stream?5000", NULL);
    h2_ask(&h, "/hello", NULL);
    assert_true(h2_wait(&h, 2));
    assert_int_not_equal(h.answers[0].error, 0);
    assert_true(site_wait(&s.gone, 1));
    h2_close(&h);
    /* Nothing is read at all: the connection is ended. */
    client_open(&c, &s, NULL, NULL);
    client_say(&c, "GET /stream?100000 HTTP/1.1\r\n" HOST "\r\n");
    assert_true(site_wait(&s.gone, 2));
    client_close(&c);
    site_stop(&s);
}

/* ---- clients that go, slow ones, hostile ones ---- */

static void test_gone(void **state)
{
    struct site s;
    struct client c;
    struct h2_client h;
    site_start(&s, usual, true);
    client_open(&c, &s, "http/1.1", NULL);
    client_say(&c, "GET /hold HTTP/1.1\r\n" HOST "\r\n");
    assert_true(client_expect(&c, "held\n"));
    client_close(&c);
    assert_true(site_wait(&s.gone, 1));

    h2_open(&h, &s, NULL, false);
    for (int i = 0; i < 4; i++)
        h2_ask(&h, i < 2 ? "/hold" : "/late?60000", NULL);
    h2_flush(&h);
    assert_true(site_wait(&s.held, 5));
    nghttp2_submit_rst_stream(h.session, 0, h.answers[0].id, NGHTTP2_CANCEL);
    h2_flush(&h);
    assert_true(site_wait(&s.gone, 2));
    usleep(20000);
    assert_int_equal(site_get(&s.gone), 2); /* the others are still there */
    h2_close(&h);
    assert_true(site_wait(&s.gone, 5));
    site_stop(&s);
}

/* Somebody answers in the handler's place; the handler's own answer goes nowhere, also
 * when the client has left by then. */
static void test_preempted(void **state)
{
    struct site s;
    struct client c;
    struct h2_client h;
    (void)state;
    site_start(&s, usual, true);
    client_open(&c, &s, "http/1.1", &s.client);
    client_say(&c, "GET /early?30 HTTP/1.1\r\n" HOST "\r\n");
    assert_true(client_expect(&c, "early"));
    assert_true(site_wait(&s.late, 1));
    client_say(&c, "GET /hello HTTP/1.1\r\n" HOST "\r\n");
    assert_true(client_expect(&c, "hello"));
    assert_true(str_find(strbuf_str(&c.got), str_from("ann")) == SIZE_MAX);
    client_say(&c, "GET /early?60 HTTP/1.1\r\n" HOST "\r\n");
    assert_true(client_expect(&c, "504"));
    client_close(&c);
    assert_true(site_wait(&s.late, 2));

    h2_open(&h, &s, NULL, false);
    h2_ask(&h, "/early?30", NULL);
    h2_ask(&h, "/hello", NULL);
    assert_true(h2_wait(&h, 2));
    assert_int_equal(h.answers[0].status, 504);
    assert_str(strbuf_str(&h.answers[0].text), "early");
    assert_true(site_wait(&s.late, 3));
    h2_ask(&h, "/early?60", NULL);
    h2_flush(&h);
    assert_true(site_wait(&s.observed, 4));
    h2_close(&h);
    assert_true(site_wait(&s.late, 4));
    assert_int_equal(site_get(&s.observed), 4);
    site_stop(&s);
}

static void test_time_limits(void **state)
{
    struct site s;
    struct client c;
    site_start(
        &s,
        (struct net_server_opts){.headers_ms = 400, .request_ms = 800, .idle_ms = 600},
        false);
    client_open(&c, &s, NULL, NULL);
    client_say(&c, "GET /hello HTTP/1.1\r\nHost: ");
    assert_true(client_expect(&c, "HTTP/1.1 408 "));
    assert_true(client_drain(&c));
    client_close(&c);
    client_open(&c, &s, NULL, NULL);
    client_say(&c, "POST /echo HTTP/1.1\r\n" HOST "Content-Length: 10\r\n\r\nabc");
    assert_true(client_expect(&c, "HTTP/1.1 408 "));
    assert_true(client_drain(&c));
    client_close(&c);
    client_open(&c, &s, NULL, NULL);
    client_say(&c, GET_HELLO);
    assert_true(client_drain(&c)); /* idle */
    client_close(&c);
    site_stop(&s);
}

static void test_rapid_reset(void **state)
{
    struct site s;
    struct h2_client h;
    site_start(&s, (struct net_server_opts){.max_streams = 10}, false);
    h2_open(&h, &s, NULL, false);
    /* The handlers do not end: it is their number that must not grow. */
    for (int i = 0; i < 500; i++) {
        unsigned at = h2_ask(&h, "/stuck", NULL);
        assert_true(h2_flush(&h));
        nghttp2_submit_rst_stream(h.session, 0, h.answers[at].id, NGHTTP2_CANCEL);
    }
    unsigned last = h2_ask(&h, "/hello", NULL);
    h2_wait(&h, 501);
    assert_int_equal(h.answers[last].error, NGHTTP2_REFUSED_STREAM);
    assert_int_equal(site_get(&s.asked), 20);
    h2_close(&h);
    h2_open(&h, &s, NULL, false); /* others do not suffer */
    h2_ask(&h, "/hello", NULL);
    assert_true(h2_wait(&h, 1));
    h2_close(&h);
    site_stop(&s);
}

static void test_ping_flood(void **state)
{
    struct site s;
    struct h2_client h;
    site_start(&s, usual, false);
    h2_open(&h, &s, NULL, false);
    h2_ask(&h, "/hold", NULL);
    for (int i = 0; i < 20000 && h2_flush(&h); i++)
        nghttp2_submit_ping(h.session, 0, NULL);
    while (!h.goaway && h2_step(&h))
        ;
    assert_true(site_wait(&s.gone, 1)); /* the connection was ended */
    h2_close(&h);
    site_stop(&s);
}

static void test_max_connections(void **state)
{
    struct site s;
    struct client c[8];
    site_start(&s, (struct net_server_opts){.max_connections = 4}, false);
    for (int i = 0; i < 8; i++) {
        client_open(&c[i], &s, NULL, NULL);
        client_say(&c[i], i < 3 ? "GET /hold HTTP/1.1\r\n" HOST "\r\n" : GET_HELLO);
        assert_true(client_expect(&c[i], i < 3 ? "held" : "hello"));
    }
    for (int i = 3; i < 7; i++)
        assert_true(client_drain(&c[i])); /* idle ones made room */
    for (int i = 0; i < 8; i++)
        client_close(&c[i]);
    assert_true(site_wait(&s.gone, 3));
    site_stop(&s);
}

/* ---- upgrades, Unix sockets, the end ---- */

static void test_upgrade(void **state)
{
    static const char *const alpn[] = {NULL, "http/1.1"};
    for (int i = 0; i < 2; i++) {
        struct site s;
        struct client c;
        site_start(&s, usual, i > 0);
        client_open(&c, &s, alpn[i], NULL);
        client_say(&c, "GET /upgrade HTTP/1.1\r\n" HOST
                       "Upgrade: echo\r\nConnection: Upgrade\r\n\r\nat once");
        assert_true(client_expect(&c, "HTTP/1.1 101 Switching Protocols\r\n"));
        assert_true(client_expect(&c, "\r\n\r\nat once"));
        for (int k = 0; k < 100; k++) {
            client_forget(&c);
            client_say(&c, "there and back");
            assert_true(client_expect(&c, "there and back"));
        }
        client_close(&c);
        assert_true(site_wait(&s.gone, 1));
        /* Without the wish there is none. */
        client_open(&c, &s, alpn[i], NULL);
        client_say(&c, "GET /upgrade HTTP/1.1\r\n" HOST "\r\n" GET_HELLO);
        assert_true(client_expect(&c, "HTTP/1.1 400 "));
        assert_true(client_expect(&c, "hello"));
        client_close(&c);
        site_stop(&s);
    }
}

static void test_unix_socket(void **state)
{
    struct site s;
    struct client c;
    struct stat st;
    char folder[] = "/tmp/net-test-XXXXXX", path[64], address[80];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/socket", folder);
    snprintf(address, sizeof address, "unix:%s", path);
    for (int i = 0; i < 2; i++) { /* again where the first was */
        site_start(&s, (struct net_server_opts){.address = address}, false);
        assert_int_equal(stat(path, &st), 0);
        assert_int_equal(st.st_mode & 0777, 0600);
        client_open_unix(&c, path);
        client_say(&c, "GET /about HTTP/1.1\r\n" HOST "\r\n");
        assert_true(client_expect(&c, "local=1"));
        client_close(&c);
        site_stop(&s);
        assert_int_not_equal(stat(path, &st), 0);
    }
    rmdir(folder);
}

static void test_graceful_stop(void **state)
{
    struct site s;
    struct h2_client h, idle;
    struct client c, keep;
    site_start(&s, usual, true);
    h2_open(&h, &s, NULL, false);
    h2_ask(&h, "/late?500", NULL);
    h2_flush(&h);
    client_open(&c, &s, "http/1.1", NULL);
    client_say(&c, "GET /late?500 HTTP/1.1\r\n" HOST "\r\n");
    client_open(&keep, &s, "http/1.1", NULL);
    client_say(&keep, GET_HELLO);
    assert_true(client_expect(&keep, "hello"));
    h2_open(&idle, &s, NULL, false);
    h2_ask(&idle, "/hello", NULL);
    assert_true(h2_wait(&idle, 1));
    assert_true(site_wait(&s.held, 2));
    site_shut_down(&s, 5000);
    assert_true(client_drain(&keep));
    while (h2_step(&idle))
        ;
    assert_true(idle.goaway);
    /* What runs may end. */
    assert_true(client_expect(&c, "late"));
    assert_true(client_drain(&c));
    assert_true(h2_wait(&h, 1));
    assert_int_equal(h.answers[0].status, 200);
    assert_true(h.goaway);
    client_close(&c);
    client_close(&keep);
    h2_close(&h);
    h2_close(&idle);
    assert_true(site_wait(&s.stopped, 1));
    site_stop(&s);
}

static void test_stop_deadline(void **state)
{
    struct site s;
    struct client c;
    site_start(&s, usual, true);
    client_open(&c, &s, "http/1.1", NULL);
    client_say(&c, "GET /hold HTTP/1.1\r\n" HOST "\r\n");
    assert_true(client_expect(&c, "held"));
    site_shut_down(&s, 100);
    assert_true(site_wait(&s.stopped, 1));
    assert_int_equal(site_get(&s.gone), 1);
    client_close(&c);
    site_stop(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_talks),
        cmocka_unit_test(test_large_requests),
        cmocka_unit_test(test_certificates),
        cmocka_unit_test(test_http_to_tls),
        cmocka_unit_test(test_curl),
        cmocka_unit_test(test_bodies_at_once),
        cmocka_unit_test(test_many_streams),
        cmocka_unit_test(test_h2_bodies),
        cmocka_unit_test(test_h2_headers_limit),
        cmocka_unit_test(test_slow_reader),
        cmocka_unit_test(test_max_unsent),
        cmocka_unit_test(test_stall),
        cmocka_unit_test(test_gone),
        cmocka_unit_test(test_preempted),
        cmocka_unit_test(test_time_limits),
        cmocka_unit_test(test_rapid_reset),
        cmocka_unit_test(test_ping_flood),
        cmocka_unit_test(test_max_connections),
        cmocka_unit_test(test_upgrade),
        cmocka_unit_test(test_unix_socket),
        cmocka_unit_test(test_graceful_stop),
        cmocka_unit_test(test_stop_deadline),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
