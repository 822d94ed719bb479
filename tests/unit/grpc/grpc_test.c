/* SPDX-License-Identifier: Apache-2.0 */
/* gRPC calls against a server that does what it should, and one that does not. */
#include "grpc/grpc.h"

#include <stdlib.h>

#include "base/mem.h"
#include "grpc/status.h"
#include "peer.h"
#include "test.pb-c.h"
#include "unit/unit.h"

struct user {
    struct peer peer;
    struct net_loop *loop;
    struct net_client *client;
    bool closed;
};

static void on_closed(void *ctx, const struct err *why)
{
    ((struct user *)ctx)->closed = true;
}

static void connect_user(struct user *u)
{
    static const struct net_client_ops ops = {NULL, on_closed};
    char address[80];
    struct err e = ERR_INIT;
    snprintf(address, sizeof address, "unix:%s", u->peer.path);
    u->closed = false;
    u->client = net_client_new(u->loop, &(struct net_client_opts){.address = address},
                               &ops, u, &e);
    if (!u->client)
        fail_msg("%s", err_text(&e));
}

static void user_init(struct user *u)
{
    *u = (struct user){0};
    peer_start(&u->peer);
    u->loop = net_loop_new(NULL);
    connect_user(u);
}

static void user_fini(struct user *u)
{
    net_client_close(u->client);
    net_loop_free(u->loop);
    peer_stop(&u->peer);
}

static void too_late(void *ctx)
{
    *(bool *)ctx = true;
}

static void await(struct user *u, const bool *thing)
{
    bool late = false;
    struct net_timer *t = net_timer_start(u->loop, 10000, 0, too_late, &late);
    while (!*thing && !late)
        net_loop_run_once(u->loop, true);
    assert_false(late);
    net_timer_stop(t);
}

/* ---- one answer ---- */

struct got {
    bool done, told, untouched;
    enum grpc_status status;
    struct strbuf message;
    uint64_t number; /* of the answer */
};

static void on_answered(void *ctx, ProtobufCMessage *answer, const struct grpc_end *end)
{
    struct got *g = ctx;
    assert_false(g->done);
    assert_int_equal(answer != NULL, end->status == GRPC_OK);
    g->done = true;
    g->told = end->told;
    g->untouched = end->untouched;
    g->status = end->status;
    strbuf_addstr(&g->message, end->message);
    if (answer) {
        g->number = ((Test__Number *)answer)->number;
        protobuf_c_message_free_unpacked(answer, NULL);
    }
}

static void ask(struct user *u, const char *method, uint64_t timeout_ms, struct got *g)
{
    Test__Number n = TEST__NUMBER__INIT;
    n.number = 7;
    assert_non_null(grpc_ask(
        u->client, &(struct grpc_opts){.method = method, .timeout_ms = timeout_ms},
        &n.base, &test__number__descriptor, on_answered, g));
    await(u, &g->done);
}

static const struct {
    const char *method;
    enum grpc_status status;
    bool told, untouched;
    const char *message;
} ASKS[] = {
    {"/t/echo", GRPC_OK, true, false, ""},
    {"/t/bytes", GRPC_OK, true, false, ""},
    {"/t/twice", GRPC_INTERNAL, false, false, "more than one answer"},
    {"/t/nothing", GRPC_INTERNAL, false, false, "no answer"},
    {"/t/junk", GRPC_INTERNAL, false, false, "cannot be decoded"},
    {"/t/refuse", GRPC_NOT_FOUND, true, false, "no such: \xe2\x82\xac%2"},
    {"/t/early", GRPC_FAILED_PRECONDITION, true, false, "no such"},
    {"/t/late-refuse", GRPC_RESOURCE_EXHAUSTED, true, false, ""},
    {"/t/odd-status", GRPC_UNKNOWN, true, false, ""},
    {"/t/no-status", GRPC_INTERNAL, false, false, "without a status"},
    {"/t/http", GRPC_UNAVAILABLE, false, false, "HTTP status 503"},
    {"/t/html", GRPC_UNKNOWN, false, false, "HTTP status 200"},
    {"/t/compressed", GRPC_INTERNAL, false, false, "compressed"},
    {"/t/huge", GRPC_RESOURCE_EXHAUSTED, false, false, "larger"},
    {"/t/half", GRPC_INTERNAL, false, false, "within a message"},
    {"/t/reset", GRPC_UNAVAILABLE, false, true, "REFUSED_STREAM"},
    {"/t/cancel", GRPC_CANCELLED, false, false, "CANCEL"},
    {"/t/headers", GRPC_INTERNAL, false, false, "headers"},
    {"/t/silence", GRPC_DEADLINE_EXCEEDED, false, false, "in time"},
    {"/t/hang-up", GRPC_UNAVAILABLE, false, false, "closed"},
};

static void test_asks(void **state)
{
    struct user u;
    user_init(&u);
    for (size_t i = 0; i < UNIT_COUNT(ASKS); i++) {
        struct got g = {0};
        ask(&u, ASKS[i].method, strstr(ASKS[i].method, "silence") ? 50 : 5000, &g);
        if (g.status != ASKS[i].status)
            fail_msg("%s: %s: %s", ASKS[i].method, grpc_status_name(g.status),
                     strbuf_cstr(&g.message));
        if (!strstr(strbuf_cstr(&g.message), ASKS[i].message))
            fail_msg("%s: %s", ASKS[i].method, strbuf_cstr(&g.message));
        ROW(ASKS[i].method, g.status != GRPC_OK || g.number == 7);
        ROW(ASKS[i].method, g.told == ASKS[i].told);
        ROW(ASKS[i].method, g.untouched == ASKS[i].untouched);
        strbuf_release(&g.message);
    }
    await(&u, &u.closed); /* by hang-up */
    user_fini(&u);
}

/* ---- streams ---- */

struct stream {
    struct grpc_call *call;
    struct strbuf text;
    unsigned messages, cancel_at;
    size_t bytes;
    bool done;
    enum grpc_status status;
};

static void on_message(void *ctx, struct str bytes)
{
    struct stream *s = ctx;
    assert_false(s->done);
    s->messages++;
    s->bytes += bytes.n;
    if (s->text.n < 1000)
        strbuf_addstr(&s->text, bytes);
    if (s->messages == s->cancel_at) {
        grpc_cancel(s->call);
        s->done = true;
    }
}

static void on_done(void *ctx, const struct grpc_end *end)
{
    struct stream *s = ctx;
    assert_false(s->done);
    s->done = true;
    s->status = end->status;
}

static void start(struct user *u, struct stream *s, const struct grpc_opts *opts)
{
    static const struct grpc_ops ops = {on_message, on_done};
    s->call = grpc_start(u->client, opts, &ops, s);
    assert_non_null(s->call);
}

static void test_streams(void **state)
{
    struct user u;
    struct stream s = {0}, many = {0}, cut = {.cancel_at = 777};
    Test__Number n = TEST__NUMBER__INIT;
    user_init(&u);
    start(&u, &s, &(struct grpc_opts){.method = "/t/echo"});
    for (unsigned i = 1; i <= 100; i++) {
        n.number = i;
        grpc_send(s.call, &n.base);
        for (int k = 0; k < 1000 && s.messages < i; k++)
            net_loop_run_once(u.loop, true);
        assert_int_equal(s.messages, i); /* while the call is open both ways */
    }
    grpc_finish(s.call);
    await(&u, &s.done);
    assert_int_equal(s.status, GRPC_OK);
    start(&u, &many, &(struct grpc_opts){.method = "/t/many"});
    grpc_finish(many.call);
    await(&u, &many.done);
    assert_int_equal(many.messages, 10000);
    assert_int_equal(many.bytes, 1000000);
    start(&u, &cut, &(struct grpc_opts){.method = "/t/many"});
    grpc_finish(cut.call);
    await(&u, &cut.done);
    assert_int_equal(cut.messages, 777);
    strbuf_release(&s.text);
    strbuf_release(&many.text);
    strbuf_release(&cut.text);
    user_fini(&u);
}

static void test_metadata(void **state)
{
    static const struct net_header extra = {STR("hasleader"), STR("true")};
    static const char *const lines[] = {
        ":method: POST\n",      ":scheme: http\n",   ":path: /t/metadata\n",
        "te: trailers\n",       "hasleader: true\n", "content-type: application/grpc\n",
        "grpc-timeout: 1500m\n"};
    struct user u;
    struct stream s = {0}, long_time = {0};
    user_init(&u);
    start(&u, &s,
          &(struct grpc_opts){.method = "/t/metadata",
                              .metadata = &extra,
                              .nmetadata = 1,
                              .timeout_ms = 1500});
    grpc_finish(s.call);
    await(&u, &s.done);
    for (size_t i = 0; i < UNIT_COUNT(lines); i++)
        ROW(lines[i], strstr(strbuf_cstr(&s.text), lines[i]));
    start(&u, &long_time,
          &(struct grpc_opts){.method = "/t/metadata", .timeout_ms = 100000000});
    grpc_finish(long_time.call);
    await(&u, &long_time.done);
    assert_non_null(strstr(strbuf_cstr(&long_time.text), "grpc-timeout: 100000S\n"));
    strbuf_release(&s.text);
    strbuf_release(&long_time.text);
    user_fini(&u);
}

/* Calls that are left when the client is closed are told. */
static void test_close(void **state)
{
    struct user u;
    struct stream s = {0};
    struct got g = {0};
    Test__Number n = TEST__NUMBER__INIT;
    user_init(&u);
    start(&u, &s, &(struct grpc_opts){.method = "/t/silence"});
    grpc_ask(u.client, &(struct grpc_opts){.method = "/t/silence"}, &n.base,
             &test__number__descriptor, on_answered, &g);
    struct grpc_ask *dropped =
        grpc_ask(u.client, &(struct grpc_opts){.method = "/t/silence"}, &n.base,
                 &test__number__descriptor, on_answered, NULL);
    for (int i = 0; i < 5; i++)
        net_loop_run_once(u.loop, false);
    grpc_ask_cancel(dropped);
    net_client_close(u.client);
    u.client = NULL;
    assert_false(s.done || g.done);
    await(&u, &g.done);
    await(&u, &s.done);
    assert_int_equal(g.status, GRPC_CANCELLED);
    assert_int_equal(s.status, GRPC_CANCELLED);
    strbuf_release(&g.message);
    user_fini(&u);
}

/* ---- statuses ---- */

static void test_statuses(void **state)
{
    static const struct {
        const char *text;
        enum grpc_status status;
    } rows[] = {{"0", GRPC_OK},       {"5", GRPC_NOT_FOUND}, {"16", GRPC_UNAUTHENTICATED},
                {"17", GRPC_UNKNOWN}, {"", GRPC_UNKNOWN},    {"-1", GRPC_UNKNOWN},
                {"1x", GRPC_UNKNOWN}, {"005", GRPC_UNKNOWN}};
    static const struct {
        const char *encoded, *text;
    } messages[] = {{"", ""},     {"plain", "plain"}, {"a%20b", "a b"},
                    {"%", "%"},   {"%4", "%4"},       {"%4g", "%4g"},
                    {"%41", "A"}, {"%%41", "%A"},     {"%e4%b8", "\xe4\xb8"}};
    struct arena a = {0};
    for (size_t i = 0; i < UNIT_COUNT(rows); i++)
        ROW(rows[i].text, status_parse(str_from(rows[i].text)) == rows[i].status);
    for (size_t i = 0; i < UNIT_COUNT(messages); i++)
        assert_str(status_message(str_from(messages[i].encoded), &a), messages[i].text);
    assert_string_equal(grpc_status_name(GRPC_DATA_LOSS), "DATA_LOSS");
    assert_string_equal(grpc_status_name((enum grpc_status)99), "UNKNOWN");
    arena_fini(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_asks),     cmocka_unit_test(test_streams),
        cmocka_unit_test(test_metadata), cmocka_unit_test(test_close),
        cmocka_unit_test(test_statuses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
