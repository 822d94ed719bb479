/* SPDX-License-Identifier: Apache-2.0 */
/* Serving gRPC, asked by dray's own client and by requests that are none. */
#include "grpc/serve.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"
#include "net/client.h"
#include "test.pb-c.h"
#include "unit/unit.h"

struct world {
    struct net_loop *loop;
    struct grpc_server *server;
    struct net_client *client;
    char dir[40], address[80];
    struct grpc_request *kept; /* by /t/later and /t/stream */
    bool gone, closed;
    uint64_t patience;
};

/* ---- the methods ---- */

static void echo(void *ctx, struct grpc_request *r, const ProtobufCMessage *m)
{
    ((struct world *)ctx)->patience = grpc_request_patience(r);
    grpc_request_answer(r, m);
}

static void refuse(void *ctx, struct grpc_request *r, const ProtobufCMessage *m)
{
    grpc_request_fail(r, GRPC_NOT_FOUND, STR("no such: \xe2\x82\xac 100%\n"));
}

static void on_gone(void *ctx)
{
    struct world *w = ctx;
    w->gone = true;
    grpc_request_end(w->kept);
    w->kept = NULL;
}

static void later(void *ctx, struct grpc_request *r, const ProtobufCMessage *m)
{
    struct world *w = ctx;
    w->kept = r;
    grpc_request_on_gone(r, on_gone, w);
}

static void count(void *ctx, struct grpc_request *r, const ProtobufCMessage *m)
{
    Test__Number n = TEST__NUMBER__INIT;
    for (n.number = 1; n.number <= ((const Test__Number *)m)->number; n.number++)
        assert_true(grpc_request_write(r, &n.base));
    grpc_request_end(r);
}

static void half(void *ctx, struct grpc_request *r, const ProtobufCMessage *m)
{
    assert_true(grpc_request_write(r, m));
    grpc_request_fail(r, GRPC_ABORTED, STR("half way"));
}

static const struct grpc_method METHODS[] = {
    {"/t/echo", &test__number__descriptor, echo},
    {"/t/refuse", &test__number__descriptor, refuse},
    {"/t/later", &test__number__descriptor, later},
    {"/t/count", &test__number__descriptor, count},
    {"/t/half", &test__number__descriptor, half},
};

/* ---- the world ---- */

static void on_closed(void *ctx, const struct err *why)
{
    ((struct world *)ctx)->closed = true;
}

static void world_init(struct world *w)
{
    static const struct net_client_ops ops = {NULL, on_closed};
    struct err e = ERR_INIT;
    *w = (struct world){.dir = "/tmp/dray-serve-XXXXXX"};
    assert_non_null(mkdtemp(w->dir));
    snprintf(w->address, sizeof w->address, "unix:%s/s", w->dir);
    w->loop = net_loop_new(&e);
    w->server = grpc_server_new(w->loop, w->address, METHODS, UNIT_COUNT(METHODS), w, &e);
    if (!w->server)
        fail_msg("%s", err_text(&e));
    w->client = net_client_new(w->loop, &(struct net_client_opts){.address = w->address},
                               &ops, w, &e);
    assert_non_null(w->client);
}

static void world_fini(struct world *w)
{
    net_client_close(w->client);
    grpc_server_free(w->server);
    net_loop_free(w->loop);
    assert_int_equal(access(w->address + 5, F_OK), -1);
    rmdir(w->dir);
}

static void too_late(void *ctx)
{
    *(bool *)ctx = true;
}

static void await(struct world *w, const bool *thing)
{
    bool late = false;
    struct net_timer *t = net_timer_start(w->loop, 30000, 0, too_late, &late);
    while (!*thing && !late)
        net_loop_run_once(w->loop, true);
    assert_false(late);
    net_timer_stop(t);
}

struct got {
    bool done;
    enum grpc_status status;
    char message[120];
    uint64_t sum; /* of the answers */
    unsigned n;
};

static void on_message(void *ctx, struct str bytes)
{
    struct got *g = ctx;
    Test__Number *n =
        test__number__unpack(NULL, bytes.n, (const uint8_t *)(bytes.p ? bytes.p : ""));
    assert_non_null(n);
    g->sum += n->number;
    g->n++;
    test__number__free_unpacked(n, NULL);
}

static void on_done(void *ctx, const struct grpc_end *end)
{
    struct got *g = ctx;
    g->done = true;
    g->status = end->status;
    snprintf(g->message, sizeof g->message, "%.*s", STR_ARG(end->message));
}

static struct grpc_call *start(struct world *w, const char *method, uint64_t number,
                               uint64_t timeout_ms, struct got *g)
{
    static const struct grpc_ops ops = {on_message, on_done};
    Test__Number n = TEST__NUMBER__INIT;
    n.number = number;
    struct grpc_call *call = grpc_start(
        w->client, &(struct grpc_opts){.method = method, .timeout_ms = timeout_ms}, &ops,
        g);
    assert_non_null(call);
    grpc_send(call, &n.base);
    grpc_finish(call);
    return call;
}

/* ---- tests ---- */

static const struct {
    const char *method;
    uint64_t number;
    enum grpc_status status;
    uint64_t sum;
    unsigned n;
    const char *message;
} CALLS[] = {
    {"/t/echo", 7, GRPC_OK, 7, 1, ""},
    {"/t/echo", 0, GRPC_OK, 0, 1, ""},
    {"/t/refuse", 7, GRPC_NOT_FOUND, 0, 0, "no such: \xe2\x82\xac 100%\n"},
    {"/t/count", 100, GRPC_OK, 5050, 100, ""},
    {"/t/count", 0, GRPC_OK, 0, 0, ""},
    {"/t/half", 3, GRPC_ABORTED, 3, 1, "half way"},
    {"/t/none", 3, GRPC_UNIMPLEMENTED, 0, 0, "unknown method /t/none"},
};

static void test_calls(void **state)
{
    struct world w;
    world_init(&w);
    for (size_t i = 0; i < UNIT_COUNT(CALLS); i++) {
        struct got g = {0};
        start(&w, CALLS[i].method, CALLS[i].number, 0, &g);
        await(&w, &g.done);
        ROW(CALLS[i].method, g.status == CALLS[i].status);
        ROW(CALLS[i].method, g.sum == CALLS[i].sum && g.n == CALLS[i].n);
        ROW(CALLS[i].method, strcmp(g.message, CALLS[i].message) == 0);
    }
    assert_true(w.patience == UINT64_MAX);
    world_fini(&w);
}

static void test_patience(void **state)
{
    struct world w;
    struct got g = {0};
    world_init(&w);
    start(&w, "/t/echo", 1, 60000, &g);
    await(&w, &g.done);
    assert_in_range(w.patience, 1, 60000);
    world_fini(&w);
}

static void test_caller_goes(void **state)
{
    struct world w;
    struct got g = {0}, echoed = {0};
    world_init(&w);
    struct grpc_call *call = start(&w, "/t/later", 1, 0, &g);
    start(&w, "/t/echo", 1, 0, &echoed);
    await(&w, &echoed.done);
    assert_non_null(w.kept);
    grpc_cancel(call);
    await(&w, &w.gone);
    world_fini(&w);
}

static void test_answered_after_the_end(void **state)
{
    struct world w;
    struct got g = {0}, echoed = {0};
    world_init(&w);
    start(&w, "/t/later", 1, 0, &g);
    start(&w, "/t/echo", 1, 0, &echoed);
    await(&w, &echoed.done);
    struct grpc_request *kept = w.kept;
    grpc_server_free(w.server);
    w.server = NULL;
    if (w.kept)
        grpc_request_fail(kept, GRPC_UNAVAILABLE, STR("going down"));
    await(&w, &g.done);
    assert_int_equal(g.status, GRPC_UNAVAILABLE);
    world_fini(&w);
}

/* ---- requests that are no gRPC, or not whole ---- */

struct raw {
    bool done;
    unsigned status;
    char grpc[8];
};

static void raw_head(void *ctx, unsigned status, const struct net_header *headers,
                     uint32_t n, bool last)
{
    struct raw *r = ctx;
    r->status = status;
    for (uint32_t i = 0; i < n; i++)
        if (str_is(headers[i].name, "grpc-status"))
            snprintf(r->grpc, sizeof r->grpc, "%.*s", STR_ARG(headers[i].value));
}

static void raw_data(void *ctx, struct str bytes)
{
}

static void raw_done(void *ctx, const struct net_call_end *end)
{
    ((struct raw *)ctx)->done = true;
}

static const struct {
    const char *label, *method, *type;
    struct str body;
    unsigned status;
    const char *grpc;
} RAW[] = {
    {"no gRPC", "POST", "application/json", STR_INIT("{}"), 415, ""},
    {"not asked by POST", "GET", "application/grpc", STR_INIT(""), 415, ""},
    {"no message", "POST", "application/grpc", STR_INIT(""), 200, "13"},
    {"half a prefix", "POST", "application/grpc", STR_INIT("\0\0"), 200, "13"},
    {"half a message", "POST", "application/grpc", STR_INIT("\0\0\0\0\2\10"), 200, "13"},
    {"two messages", "POST", "application/grpc", STR_INIT("\0\0\0\0\0\0\0\0\0\0"), 200,
     "13"},
    {"compressed", "POST", "application/grpc", STR_INIT("\1\0\0\0\0"), 200, "12"},
    {"too large", "POST", "application/grpc", STR_INIT("\0\377\0\0\0"), 200, "8"},
    {"junk", "POST", "application/grpc+proto", STR_INIT("\0\0\0\0\1\7"), 200, "13"},
    {"empty", "POST", "application/grpc", STR_INIT("\0\0\0\0\0"), 200, "0"},
};

static void test_raw(void **state)
{
    static const struct net_call_ops ops = {raw_head, raw_data, raw_done};
    struct world w;
    world_init(&w);
    for (size_t i = 0; i < UNIT_COUNT(RAW); i++) {
        struct raw r = {0};
        struct net_header type = {STR("content-type"), str_from(RAW[i].type)};
        struct net_call_opts opts = {.method = str_from(RAW[i].method),
                                     .path = STR("/t/count"),
                                     .headers = &type,
                                     .nheaders = 1,
                                     .more = true};
        struct net_call *call = net_call_start(w.client, &opts, &ops, &r);
        net_call_send(call, RAW[i].body);
        net_call_finish(call);
        await(&w, &r.done);
        if (r.status != RAW[i].status)
            fail_msg("%s: %u", RAW[i].label, r.status);
    }
    world_fini(&w);
}

/* The next server takes over what a killed one left. */
static void test_stale_socket(void **state)
{
    struct world w;
    struct err e = ERR_INIT;
    world_init(&w);
    assert_null(grpc_server_new(w.loop, w.address, METHODS, 1, &w, &e));
    err_release(&e);
    world_fini(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_calls),       cmocka_unit_test(test_patience),
        cmocka_unit_test(test_caller_goes), cmocka_unit_test(test_answered_after_the_end),
        cmocka_unit_test(test_raw),         cmocka_unit_test(test_stale_socket),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
