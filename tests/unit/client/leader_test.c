/* SPDX-License-Identifier: Apache-2.0 */
#include "client/leader.h"

#include "script.h"
#include "unit/unit.h"

#define LEASE "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases"
#define BODY(holder, version)                                                            \
    "{\"metadata\":{\"name\":\"work\",\"resourceVersion\":\"" version "\"},\"spec\":{"   \
    "\"holderIdentity\":\"" holder "\",\"leaseDurationSeconds\":1,"                      \
    "\"acquireTime\":\"2020-01-01T00:00:00.000000Z\",\"leaseTransitions\":3}}"

struct site {
    struct script script;
    struct leader *leader;
    bool gained, lost, resigned;
    unsigned told; /* whom it waits for */
};

static void on_gained(void *ctx)
{
    ((struct site *)ctx)->gained = true;
}

static void on_lost(void *ctx)
{
    ((struct site *)ctx)->lost = true;
}

static void on_trouble(void *ctx, const char *what)
{
    struct site *s = ctx;
    s->told += strcmp(what, "waiting for the lease kube-system/work, held by you") == 0;
}

static void on_resigned(void *ctx)
{
    ((struct site *)ctx)->resigned = true;
}

/* A lease of so long, lost when it was not renewed for so long. */
static void begin(struct site *s, unsigned lease_ms, unsigned renew_ms)
{
    static const struct leader_ops ops = {on_gained, on_lost, on_trouble};
    const struct leader_opts opts = {.namespace = "kube-system",
                                     .name = "work",
                                     .identity = "me",
                                     .lease_ms = lease_ms,
                                     .renew_ms = renew_ms,
                                     .retry_ms = 10};
    *s = (struct site){0};
    script_open(&s->script);
    s->leader = leader_new(s->script.client, &opts, &ops, s);
}

/* So long that no slow machine loses it. */
static void begin_long(struct site *s)
{
    begin(s, 60000, 50000);
}

static void end(struct site *s)
{
    leader_free(s->leader);
    script_settle(&s->script);
    script_close(&s->script);
}

/* The next request must be a write whose body has the text. */
static void take_write(struct site *s, const char *want, const char *text,
                       unsigned status, const char *body)
{
    struct net_exchange *x = script_take(&s->script, want);
    if (str_find(x->body, str_from(text)) == SIZE_MAX)
        fail_msg("%.*s has no %s", STR_ARG(x->body), text);
    net_respond(x, status, NULL, 0, str_from(body));
}

static void take_new(struct site *s)
{
    script_answer(&s->script, "GET " LEASE "/work?", 404, "{\"message\":\"no\"}");
    take_write(s, "POST " LEASE "?", "\"holderIdentity\":\"me\"", 201, BODY("me", "1"));
    script_await(&s->script, &s->gained);
    assert_true(leader_is(s->leader));
}

static void test_first(void **state)
{
    struct site s;
    begin_long(&s);
    take_new(&s);
    script_answer(&s.script, "GET " LEASE "/work?", 200, BODY("me", "1"));
    take_write(&s, "PUT " LEASE "/work?", "\"leaseTransitions\":3", 200, BODY("me", "2"));
    script_answer(&s.script, "GET " LEASE "/work?", 200, BODY("me", "2"));
    take_write(&s, "PUT " LEASE "/work?", "\"resourceVersion\":\"2\"", 200,
               BODY("me", "3"));
    assert_false(s.lost);
    end(&s);
}

/* As long as it changes it is somebody's; then it is taken over. */
static void test_waiting(void **state)
{
    struct site s;
    begin(&s, 1000, 900);
    script_answer(&s.script, "GET " LEASE "/work?", 200, BODY("you", "1"));
    script_answer(&s.script, "GET " LEASE "/work?", 200, BODY("you", "2"));
    uint64_t seen = net_now_ms(s.script.loop);
    struct net_exchange *x;
    while (x = script_take(&s.script, ""), str_is(x->method, "GET"))
        net_respond(x, 200, NULL, 0, STR(BODY("you", "2")));
    assert_true(net_now_ms(s.script.loop) - seen >= 900); /* a round may lag behind */
    assert_true(str_find(x->body, STR("\"leaseTransitions\":4")) != SIZE_MAX);
    net_respond(x, 200, NULL, 0, STR(BODY("me", "3")));
    script_await(&s.script, &s.gained);
    assert_int_equal(s.told, 1);
    end(&s);
}

static void test_free_lease(void **state)
{
    struct site s;
    begin_long(&s);
    script_answer(&s.script, "GET " LEASE "/work?", 200, BODY("", "1"));
    take_write(&s, "PUT " LEASE "/work?", "\"holderIdentity\":\"me\"", 409,
               "{\"reason\":\"Conflict\"}"); /* another was faster */
    script_settle(&s.script);
    assert_false(s.gained);
    script_answer(&s.script, "GET " LEASE "/work?", 200, BODY("you", "2"));
    assert_false(s.gained);
    end(&s);
}

static void test_lost(void **state)
{
    struct site s;
    begin_long(&s);
    take_new(&s);
    script_answer(&s.script, "GET " LEASE "/work?", 200, BODY("you", "2"));
    script_await(&s.script, &s.lost);
    assert_false(leader_is(s.leader));
    end(&s);

    begin(&s, 1000, 60);
    take_new(&s);
    while (!s.lost) { /* nobody answers rightly: it ends by itself */
        if (s.script.nasked)
            net_respond(script_take(&s.script, "GET"), 500, NULL, 0, STR("oh"));
        net_loop_run_once(s.script.loop, true);
    }
    end(&s);
}

static void test_resign(void **state)
{
    struct site s;
    begin_long(&s);
    take_new(&s);
    leader_resign(s.leader, on_resigned);
    script_answer(&s.script, "GET " LEASE "/work?", 200, BODY("me", "1"));
    take_write(&s, "PUT " LEASE "/work?", "\"holderIdentity\":\"\"", 409,
               "{\"reason\":\"Conflict\"}"); /* a renewal of its own came in between */
    script_answer(&s.script, "GET " LEASE "/work?", 200, BODY("me", "2"));
    take_write(&s, "PUT " LEASE "/work?", "\"resourceVersion\":\"2\"", 200,
               BODY("", "3"));
    script_await(&s.script, &s.resigned);
    end(&s);

    begin_long(&s); /* it never was ours */
    script_answer(&s.script, "GET " LEASE "/work?", 200, BODY("you", "1"));
    leader_resign(s.leader, on_resigned);
    script_await(&s.script, &s.resigned);
    end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_first),      cmocka_unit_test(test_waiting),
        cmocka_unit_test(test_free_lease), cmocka_unit_test(test_lost),
        cmocka_unit_test(test_resign),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
