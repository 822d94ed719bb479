/* SPDX-License-Identifier: Apache-2.0 */
#include "client/client.h"

#include "script.h"
#include "unit/unit.h"

struct got {
    struct client_call *call;
    unsigned status, lines;
    bool done, ok;
    char reason[32], message[256], body[512];
    unsigned cancel_at; /* lines; 0: never */
};

static void on_done(void *ctx, const struct client_answer *a)
{
    struct got *g = ctx;
    assert_false(g->done);
    g->done = true;
    g->ok = a->ok;
    g->status = a->status;
    snprintf(g->reason, sizeof g->reason, "%s", a->reason);
    snprintf(g->message, sizeof g->message, "%s", a->message);
    snprintf(g->body, sizeof g->body, "%.*s", STR_ARG(a->body));
}

static void on_line(void *ctx, struct str line)
{
    struct got *g = ctx;
    size_t n = strlen(g->body);
    snprintf(g->body + n, sizeof g->body - n, "[%.*s]", STR_ARG(line));
    if (++g->lines == g->cancel_at)
        client_cancel(g->call);
}

static void ask(struct script *s, struct got *g, struct client_request q)
{
    g->call = client_start(s->client, &q, on_done, g);
}

static void test_paths(void **state)
{
    static const struct client_kind POD = {"", "v1", "pods", true},
                                    SLICE = {"resource.k8s.io", "v1", "resourceslices",
                                             false};
    static const struct {
        const struct client_kind *kind;
        const char *namespace, *name, *sub, *want;
    } ROWS[] = {
        {&POD, "", "", NULL, "/api/v1/pods"},
        {&POD, "n", "", NULL, "/api/v1/namespaces/n/pods"},
        {&POD, "n", "p", "status", "/api/v1/namespaces/n/pods/p/status"},
        {&SLICE, "", "s", NULL, "/apis/resource.k8s.io/v1/resourceslices/s"},
    };
    struct arena a;
    arena_init(&a);
    for (size_t i = 0; i < UNIT_COUNT(ROWS); i++)
        assert_str(client_path(ROWS[i].kind, str_from(ROWS[i].namespace),
                               str_from(ROWS[i].name), ROWS[i].sub, &a),
                   ROWS[i].want);
    arena_fini(&a);
}

static void test_answers(void **state)
{
    static const struct {
        unsigned status;
        const char *body;
        bool ok;
        const char *reason, *message;
    } ROWS[] = {
        {200, "{}", true, "", ""},
        {201, "{\"reason\":\"x\"}", true, "", ""},
        {404, "{\"reason\":\"NotFound\",\"message\":\"no such pod\"}", false, "NotFound",
         "no such pod"},
        {503, "sorry", false, "", "the server answered 503: sorry"},
    };
    struct script s;
    script_open(&s);
    for (size_t i = 0; i < UNIT_COUNT(ROWS); i++) {
        struct got g = {0};
        ask(&s, &g,
            (struct client_request){
                .method = "PUT", .path = STR("/a"), .body = STR("b")});
        struct net_exchange *x = script_take(&s, "PUT /a?");
        assert_str(x->body, "b");
        assert_str(net_header_get(x, "content-type"), "application/json");
        assert_str(net_header_get(x, "user-agent"), "dray");
        net_respond(x, ROWS[i].status, NULL, 0, str_from(ROWS[i].body));
        script_await(&s, &g.done);
        assert_int_equal(g.status, ROWS[i].status);
        assert_int_equal(g.ok, ROWS[i].ok);
        assert_string_equal(g.reason, ROWS[i].reason);
        assert_string_equal(g.message, ROWS[i].message);
        assert_string_equal(g.body, ROWS[i].body);
    }
    script_close(&s);
}

static void refuse(struct script *s, unsigned status, const char *after)
{
    struct net_header h = {STR("retry-after"), str_from(after)};
    net_respond(script_take(s, "GET /a?"), status, &h, 1, STR("busy"));
}

/* Asked again when the server says so, and not when it says nothing of use. */
static void test_retries(void **state)
{
    struct script s;
    struct got g = {0}, never = {0};
    script_open(&s);
    ask(&s, &g, (struct client_request){.method = "GET", .path = STR("/a")});
    refuse(&s, 429, "1");
    script_settle(&s);
    assert_false(g.done);
    script_answer(&s, "GET /a?", 200, "now");
    script_await(&s, &g.done);
    assert_string_equal(g.body, "now");

    ask(&s, &never, (struct client_request){.method = "GET", .path = STR("/a")});
    refuse(&s, 503, "tomorrow");
    script_await(&s, &never.done);
    assert_int_equal(never.status, 503);
    script_close(&s);
}

static void test_lines(void **state)
{
    struct script s;
    struct got g = {0}, cancelled = {.cancel_at = 2};
    struct client_request q = {.method = "GET", .path = STR("/w")};
    script_open(&s);
    g.call = client_stream(s.client, &q, on_line, on_done, &g);
    struct net_exchange *x = script_take(&s, "GET /w?");
    script_say(x, "one\ntw");
    script_settle(&s);
    assert_string_equal(g.body, "[one]");
    script_say(x, "o\n\nthree\nfo");
    script_settle(&s);
    assert_string_equal(g.body, "[one][two][][three]");
    net_done(x);
    script_await(&s, &g.done);
    assert_true(g.ok);

    cancelled.call = client_stream(s.client, &q, on_line, on_done, &cancelled);
    x = script_take(&s, "GET /w?");
    script_say(x, "a\nb\nc\nd\n");
    script_settle(&s);
    assert_string_equal(cancelled.body, "[a][b]");
    assert_false(cancelled.done);
    net_done(x);
    script_close(&s);
}

/* A watch that is refused is no stream: its answer comes as a whole. */
static void test_refused_stream(void **state)
{
    struct script s;
    struct got g = {0};
    struct client_request q = {.method = "GET", .path = STR("/w")};
    script_open(&s);
    g.call = client_stream(s.client, &q, on_line, on_done, &g);
    script_answer(&s, "GET /w?", 403,
                  "{\"message\":\"no\",\n\"reason\":\"Forbidden\"}\n");
    script_await(&s, &g.done);
    assert_int_equal(g.lines, 0);
    assert_string_equal(g.reason, "Forbidden");
    script_close(&s);
}

static void test_end(void **state)
{
    struct script s;
    struct got g = {0};
    script_open(&s);
    ask(&s, &g, (struct client_request){.method = "GET", .path = STR("/a")});
    script_close(&s);
    assert_false(g.done);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_paths),          cmocka_unit_test(test_answers),
        cmocka_unit_test(test_retries),        cmocka_unit_test(test_lines),
        cmocka_unit_test(test_refused_stream), cmocka_unit_test(test_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
