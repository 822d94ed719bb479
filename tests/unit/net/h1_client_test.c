/* SPDX-License-Identifier: Apache-2.0 */
#include "net/h1_client.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

#include "net/resolve.h"
#include "site.h"
#include "unit/unit.h"

/* ---- what a call says ---- */

struct heard {
    struct net_loop *loop;
    struct net_h1_call *call;
    unsigned status;
    struct strbuf text; /* header x-test, body, end */
    size_t bytes;
    size_t close_after; /* bytes; 0: at the end */
    bool over, stale;
};

static void on_head(void *ctx, const struct net_h1_answer *answer)
{
    struct heard *h = ctx;
    h->status = answer->status;
    for (uint32_t i = 0; i < answer->nheaders; i++)
        if (str_is(answer->headers[i].name, "x-test"))
            strbuf_addf(&h->text, "[%.*s]", STR_ARG(answer->headers[i].value));
}

static void over(struct heard *h)
{
    net_h1_close(h->call);
    h->over = true;
}

static void on_data(void *ctx, struct str bytes)
{
    struct heard *h = ctx;
    h->bytes += bytes.n;
    if (h->text.n < 4096)
        strbuf_addstr(&h->text, bytes);
    if (h->close_after && h->bytes >= h->close_after)
        over(h);
}

static void on_end(void *ctx, const struct err *why)
{
    struct heard *h = ctx;
    strbuf_addf(&h->text, "|%s", why ? err_text(why) : "end");
    h->stale = net_h1_was_stale(h->call);
    over(h);
}

static const struct net_h1_ops OPS = {on_head, on_data, on_end};

static void ask(struct heard *h, const struct net_h1_request *r)
{
    struct err e = ERR_INIT;
    h->loop = net_loop_new(&e);
    h->call = net_h1_call(h->loop, r, &OPS, h, &e);
    if (!h->call) {
        strbuf_addf(&h->text, "|%s", err_text(&e));
        h->over = true;
        err_release(&e);
    }
}

static void wait(struct heard *h)
{
    while (!h->over)
        net_loop_run_once(h->loop, true);
}

static void forget(struct heard *h)
{
    net_loop_free(h->loop);
    strbuf_release(&h->text);
}

/* ---- answers as bytes ---- */

#define OK "HTTP/1.1 200 OK\r\n"

static const struct {
    const char *name, *method, *answer;
    unsigned status;
    const char *want;
} ANSWERS[] = {
    {"length", "GET", OK "content-length: 3\r\n\r\nabc", 200, "abc|end"},
    {"a header", "GET", OK "X-Test:  a b \r\ncontent-length: 0\r\n\r\n", 200,
     "[a b]|end"},
    {"chunks", "GET",
     OK
     "transfer-encoding: chunked\r\n\r\n2\r\nab\r\n1;x=y\r\nc\r\n0\r\nx-test: no\r\n\r\n",
     200, "abc|end"},
    {"until the end", "GET", "HTTP/1.0 200 OK\r\n\r\nabc", 200, "abc|end"},
    {"interim", "GET",
     "HTTP/1.1 100 Continue\r\nx-test: no\r\n\r\n" OK "content-length: 1\r\n\r\na", 200,
     "a|end"},
    {"head", "HEAD", OK "content-length: 9\r\n\r\n", 200, "|end"},
    {"no content", "GET", "HTTP/1.1 204 No Content\r\n\r\n", 204, "|end"},
    {"what follows is not ours", "GET", OK "content-length: 1\r\n\r\na" OK, 200, "a|end"},
    {"upgrade", "GET",
     "HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\nupgrade: x\r\n\r\nraw"
     "\r\n\r\n",
     101, "raw\r\n\r\n|end"},
    {"upgrade to nothing", "GET", "HTTP/1.1 101 Switching Protocols\r\n\r\n", 0,
     "|the answer is no HTTP/1.1"},
    {"short", "GET", OK "content-length: 3\r\n\r\nab", 200,
     "ab|the connection was closed before the answer was complete"},
    {"a chunk is missing", "GET", OK "transfer-encoding: chunked\r\n\r\n1\r\na\r\n", 200,
     "a|the connection was closed before the answer was complete"},
    {"nothing", "GET", "", 0,
     "|the connection was closed before the answer was complete"},
    {"no HTTP", "GET", "SSH-2.0\r\n", 0, "|the answer is no HTTP/1.1"},
    {"two lengths", "GET", OK "content-length: 1\r\ncontent-length: 2\r\n\r\nab", 0,
     "|the answer is no HTTP/1.1"},
};

struct listener {
    int fd;
    uint16_t port;
    pthread_t thread;
    const char *answer;
    bool split;
};

static void *serve_one(void *ctx)
{
    struct listener *l = ctx;
    char buf[4096];
    int fd = accept(l->fd, NULL, NULL);
    ssize_t n = read(fd, buf, sizeof buf);
    size_t len = strlen(l->answer), step = l->split ? 1 : len;
    for (size_t at = 0; n > 0 && at < len; at += step)
        if (write(fd, l->answer + at, step) < 0)
            break;
    close(fd);
    return NULL;
}

static void listener_open(struct listener *l)
{
    struct sockaddr_in at = {.sin_family = AF_INET,
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t n = sizeof at;
    l->fd = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(bind(l->fd, (struct sockaddr *)&at, sizeof at), 0);
    assert_int_equal(listen(l->fd, 4), 0);
    getsockname(l->fd, (struct sockaddr *)&at, &n);
    l->port = ntohs(at.sin_port);
}

static struct net_h1_request request_to(uint16_t port, const char *method,
                                        const char *target)
{
    return (struct net_h1_request){.to = {.ip = "127.0.0.1", .port = port},
                                   .method = str_from(method),
                                   .target = str_from(target),
                                   .host = STR("h")};
}

static void test_answers(void **state)
{
    struct listener l = {0};
    listener_open(&l);
    for (size_t i = 0; i < 2 * (sizeof ANSWERS / sizeof *ANSWERS); i++) {
        struct heard h = {0};
        l.answer = ANSWERS[i / 2].answer;
        l.split = i % 2;
        pthread_create(&l.thread, NULL, serve_one, &l);
        struct net_h1_request r = request_to(l.port, ANSWERS[i / 2].method, "/");
        ask(&h, &r);
        wait(&h);
        assert_int_equal(h.status, ANSWERS[i / 2].status);
        assert_string_equal(strbuf_cstr(&h.text), ANSWERS[i / 2].want);
        pthread_join(l.thread, NULL);
        forget(&h);
    }
    close(l.fd);
}

static void test_no_head_in_time(void **state)
{
    struct listener l = {.answer = ""};
    struct heard h = {0};
    listener_open(&l);
    struct net_h1_request r = request_to(l.port, "GET", "/");
    r.head_ms = 50;
    ask(&h, &r);
    wait(&h);
    assert_string_equal(strbuf_cstr(&h.text), "|no answer came in time");
    forget(&h);
    close(l.fd);
}

static void test_nobody_there(void **state)
{
    struct listener l = {0};
    struct heard h = {0};
    listener_open(&l);
    close(l.fd);
    struct net_h1_request r = request_to(l.port, "GET", "/");
    ask(&h, &r);
    wait(&h);
    assert_string_equal(strbuf_cstr(&h.text), "|connection refused");
    forget(&h);
}

/* ---- kept connections ---- */

/* Answers so many requests on one connection, then closes it. */
static void *serve_some(void *ctx)
{
    struct listener *l = ctx;
    char buf[4096];
    int fd = accept(l->fd, NULL, NULL);
    for (const char *at = l->answer; *at; at++) {
        char head[] = OK "content-length: 1\r\n\r\n";
        if (read(fd, buf, sizeof buf) <= 0 || write(fd, head, sizeof head - 1) < 0 ||
            write(fd, at, 1) < 0)
            break;
    }
    if (l->split) /* only once it was asked again */
        (void)!read(fd, buf, sizeof buf);
    close(fd);
    return NULL;
}

/* Of a loop that is there already; what was heard is in h->text. */
static void ask_kept(struct heard *h, struct net_h1_request *r, struct net_loop *l)
{
    struct err e = ERR_INIT;
    strbuf_clear(&h->text);
    *h = (struct heard){.loop = l, .text = h->text};
    h->call = net_h1_call(l, r, &OPS, h, &e);
    assert_non_null(h->call);
    wait(h);
}

static void test_kept(void **state)
{
    struct listener l = {.answer = "ab", .split = true};
    struct heard h = {0};
    struct err e = ERR_INIT;
    listener_open(&l);
    struct net_loop *loop = net_loop_new(&e);
    struct net_h1_request r = request_to(l.port, "POST", "/");
    r.pool = net_h1_pool_new(loop);
    r.peer = STR("one");
    pthread_create(&l.thread, NULL, serve_some, &l);
    ask_kept(&h, &r, loop);
    assert_string_equal(strbuf_cstr(&h.text), "a|end");
    ask_kept(&h, &r, loop); /* the same connection: the thread accepts only one */
    assert_string_equal(strbuf_cstr(&h.text), "b|end");
    ask_kept(&h, &r, loop);
    assert_non_null(strstr(strbuf_cstr(&h.text), "|the connection was closed"));
    assert_true(h.stale);
    pthread_join(l.thread, NULL);
    net_h1_pool_free(r.pool);
    forget(&h);
    close(l.fd);
}

static void test_not_kept(void **state)
{
    struct listener l = {.answer = OK "connection: close\r\ncontent-length: 1\r\n\r\na"};
    struct heard h = {0};
    struct err e = ERR_INIT;
    listener_open(&l);
    struct net_loop *loop = net_loop_new(&e);
    struct net_h1_request r = request_to(l.port, "POST", "/");
    r.pool = net_h1_pool_new(loop);
    r.peer = STR("one");
    for (int i = 0; i < 2; i++) {
        pthread_create(&l.thread, NULL, serve_one, &l);
        ask_kept(&h, &r, loop);
        assert_string_equal(strbuf_cstr(&h.text), "a|end");
        pthread_join(l.thread, NULL);
    }
    net_h1_pool_free(r.pool);
    forget(&h);
    close(l.fd);
}

/* ---- requests ---- */

static const struct {
    const char *method, *target, *name, *value, *body, *want;
} REQUESTS[] = {
    {"GET", "/about?a=b%20c", "x-test", "v", "", "GET /about a=b%20c x=v http2=0"},
    {"POST", "/echo", "x-test", "v", "hello", "hello|end"},
    {"POST", "/echo", "x-test", "v", "", "|end"},
    {"GET", "/nowhere", "x-test", "v", "", "no such page|end"},
    {"GET", "/a b", "x-test", "v", "", "|the request cannot be written as HTTP/1.1"},
    {"GET", "/", "x-test", "a\r\nb: c", "", "|the request cannot be written as HTTP/1.1"},
    {"GET", "/", "x:", "a", "", "|the request cannot be written as HTTP/1.1"},
    {"GET", "", "x-test", "a", "", "|the request cannot be written as HTTP/1.1"},
    {"G T", "/", "x-test", "a", "", "|the request cannot be written as HTTP/1.1"},
};

static void run_request(struct site *s, size_t i)
{
    struct heard h = {0};
    struct net_tls_client_opts tls = {.ca_pem = s->ca.cert_pem};
    struct net_header header = {str_from(REQUESTS[i].name), str_from(REQUESTS[i].value)};
    struct net_h1_request r = request_to(s->port, REQUESTS[i].method, REQUESTS[i].target);
    r.to.tls = &tls;
    r.headers = &header;
    r.nheaders = 1;
    r.body = str_from(REQUESTS[i].body);
    ask(&h, &r);
    wait(&h);
    assert_non_null(strstr(strbuf_cstr(&h.text), REQUESTS[i].want));
    forget(&h);
}

static void test_requests(void **state)
{
    struct site s;
    site_start(&s, (struct net_server_opts){0}, true);
    for (size_t i = 0; i < sizeof REQUESTS / sizeof *REQUESTS; i++)
        run_request(&s, i);
    site_stop(&s);
}

static void test_certificates(void **state)
{
    struct site s;
    struct heard h = {0};
    site_start(&s, (struct net_server_opts){0}, true);
    struct net_tls_client_opts tls = {.ca_pem = s.stranger.cert_pem};
    struct net_h1_request r = request_to(s.port, "GET", "/hello");
    r.to.tls = &tls;
    ask(&h, &r);
    wait(&h);
    assert_non_null(strstr(strbuf_cstr(&h.text), "certificate"));
    assert_int_equal(h.status, 0);
    forget(&h);
    h = (struct heard){0};
    tls = (struct net_tls_client_opts){
        .insecure = true, .cert_pem = s.client.cert_pem, .key_pem = s.client.key_pem};
    r.target = STR("/who");
    ask(&h, &r);
    wait(&h);
    assert_string_equal(strbuf_cstr(&h.text), "ann|system:masters,dev||64|end");
    forget(&h);
    site_stop(&s);
}

/* ---- streams ---- */

static void on_tick(void *ctx)
{
    *(bool *)ctx = true;
}

/* What is not read stays with the server; what is, comes whole. */
static void test_pause(void **state)
{
    struct site s;
    struct heard h = {0};
    bool ticked = false;
    enum { LINES = 20000, LINE = 1000 };
    site_start(&s, (struct net_server_opts){0}, false);
    struct net_h1_request r = request_to(s.port, "GET", "/stream?20000");
    ask(&h, &r);
    while (h.bytes == 0)
        net_loop_run_once(h.loop, true);
    net_h1_pause(h.call, true);
    net_timer_start(h.loop, 200, 0, on_tick, &ticked);
    while (!ticked)
        net_loop_run_once(h.loop, true);
    assert_true(h.bytes < LINES * LINE / 4);
    net_h1_pause(h.call, false);
    wait(&h);
    assert_int_equal(h.bytes, LINES * LINE);
    forget(&h);
    site_stop(&s);
}

static void test_close_in_the_middle(void **state)
{
    struct site s;
    struct heard h = {.close_after = 1};
    site_start(&s, (struct net_server_opts){0}, true);
    struct net_tls_client_opts tls = {.insecure = true};
    struct net_h1_request r = request_to(s.port, "GET", "/hold");
    r.to.tls = &tls;
    ask(&h, &r);
    wait(&h);
    for (int i = 0; i < 100 && site_get(&s.gone) == 0; i++) {
        net_loop_run_once(h.loop, false);
        usleep(10000);
    }
    assert_int_equal(site_get(&s.gone), 1);
    forget(&h);
    site_stop(&s);
}

static void test_upgrade(void **state)
{
    struct site s;
    struct heard h = {.close_after = 10};
    site_start(&s, (struct net_server_opts){0}, true);
    struct net_tls_client_opts tls = {.insecure = true};
    struct net_h1_request r = request_to(s.port, "GET", "/upgrade");
    r.to.tls = &tls;
    r.upgrade = STR("echo");
    ask(&h, &r);
    while (h.status == 0)
        net_loop_run_once(h.loop, true);
    assert_int_equal(h.status, 101);
    assert_true(net_h1_write(h.call, STR("0123456789")));
    wait(&h);
    assert_string_equal(strbuf_cstr(&h.text), "0123456789");
    forget(&h);
    site_stop(&s);
}

/* ---- names ---- */

struct answer {
    bool came;
    uint32_t n;
    char first[64];
};

static void on_found(void *ctx, const char *const *ips, uint32_t n, const struct err *why)
{
    struct answer *a = ctx;
    a->came = true;
    a->n = n;
    if (n)
        snprintf(a->first, sizeof a->first, "%s", ips[0]);
    else
        assert_int_not_equal(why->code, ERR_NONE);
}

static const struct {
    const char *name, *first; /* first NULL: none */
} NAMES[] = {{"127.0.0.1", "127.0.0.1"},
             {"::1", "::1"},
             {"10.1.2.3", "10.1.2.3"},
             {"no such name", NULL},
             {"", NULL}};

static void test_lookups(void **state)
{
    struct err e = ERR_INIT;
    struct net_loop *l = net_loop_new(&e);
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++) {
        struct answer a = {0};
        net_lookup_start(l, NAMES[i].name, on_found, &a);
        while (!a.came)
            net_loop_run_once(l, true);
        assert_int_equal(a.n > 0, NAMES[i].first != NULL);
        if (NAMES[i].first)
            assert_string_equal(a.first, NAMES[i].first);
    }
    struct answer never = {0};
    net_lookup_cancel(net_lookup_start(l, "localhost", on_found, &never));
    net_loop_free(l);
    assert_false(never.came);
}

static const struct {
    const char *ip;
    bool global;
} ADDRESSES[] = {{"10.0.0.1", true},
                 {"8.8.8.8", true},
                 {"127.0.0.1", false},
                 {"0.0.0.0", false},
                 {"169.254.1.1", false},
                 {"224.0.0.1", false},
                 {"fd00::1", true},
                 {"255.255.255.255", false},
                 {"::1", false},
                 {"::", false},
                 {"fe80::1", false},
                 {"ff02::1", false},
                 {"::ffff:127.0.0.1", false},
                 {"::ffff:10.0.0.1", true},
                 {"x", false}};

static void test_addresses(void **state)
{
    for (size_t i = 0; i < sizeof ADDRESSES / sizeof *ADDRESSES; i++)
        assert_int_equal(net_ip_is_global(ADDRESSES[i].ip), ADDRESSES[i].global);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_answers),      cmocka_unit_test(test_no_head_in_time),
        cmocka_unit_test(test_nobody_there), cmocka_unit_test(test_kept),
        cmocka_unit_test(test_not_kept),     cmocka_unit_test(test_requests),
        cmocka_unit_test(test_certificates), cmocka_unit_test(test_pause),
        cmocka_unit_test(test_upgrade),      cmocka_unit_test(test_close_in_the_middle),
        cmocka_unit_test(test_lookups),      cmocka_unit_test(test_addresses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
