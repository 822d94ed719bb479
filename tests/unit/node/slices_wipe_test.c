/* SPDX-License-Identifier: Apache-2.0 */
#include "node/slices_wipe.h"

#include "fake_api.h"
#include "unit/unit.h"

/* A server that writes down what it is asked, and fails as often as it is told. */
struct site {
    struct net_loop *loop;
    struct net_server *server;
    struct client *client;
    struct slices_wipe *wipe;
    char asked[1000];
    unsigned fails, status, times;
};

static void on_exchange(void *ctx, struct net_exchange *x)
{
    struct site *s = ctx;
    size_t at = strlen(s->asked);
    s->times++;
    snprintf(s->asked + at, sizeof s->asked - at, "%.*s %.*s?%.*s;", STR_ARG(x->method),
             STR_ARG(x->path), STR_ARG(x->query));
    bool fails = s->fails > 0;
    s->fails -= fails;
    net_respond(x, fails ? s->status : 200, NULL, 0, STR("{}"));
}

static void open_site(struct site *s, uint64_t delay_ms)
{
    *s = (struct site){.loop = net_loop_new(NULL), .status = 500};
    s->server = net_server_new(s->loop, &(struct net_server_opts){.address = NULL},
                               on_exchange, s, NULL);
    s->client = client_new_inner(
        s->loop, net_inner_new(s->server, &(struct net_inner_opts){.name = STR("t")}));
    struct slices_wipe_opts o = {
        .client = s->client, .node = STR("n"), .delay_ms = delay_ms, .retry_ms = 5};
    s->wipe = slices_wipe_new(&o);
}

static void close_site(struct site *s)
{
    slices_wipe_free(s->wipe);
    client_free(s->client);
    for (unsigned i = 0; i < 20; i++) /* whom it had to tell is told */
        net_loop_run_once(s->loop, false);
    net_server_free(s->server);
    net_loop_free(s->loop);
}

static void await_times(struct site *s, unsigned n)
{
    while (s->times < n)
        net_loop_run_once(s->loop, true);
}

#define SLICES "DELETE /apis/resource.k8s.io/v1/resourceslices?fieldSelector="
#define ALL SLICES "spec.nodeName%3Dn;"
#define ONE SLICES "spec.driver%3Dd%2Cspec.nodeName%3Dn;"

static void test_all_at_the_start(void **state)
{
    struct site s;
    open_site(&s, 0);
    s.fails = 2;
    await_times(&s, 3);
    assert_string_equal(s.asked, ALL ALL ALL);
    close_site(&s);
}

static void test_a_driver(void **state)
{
    struct site s;
    open_site(&s, 1);
    await_times(&s, 1);
    slices_wipe_reached(s.wipe, STR("d"), false);
    slices_wipe_reached(s.wipe, STR("d"), false);
    await_times(&s, 2);
    assert_string_equal(s.asked, ALL ONE);
    close_site(&s);
}

/* Whoever is back in time keeps them; a later loss counts anew. */
static void test_back_in_time(void **state)
{
    struct site s;
    open_site(&s, 60 * 60 * 1000);
    await_times(&s, 1);
    slices_wipe_reached(s.wipe, STR("d"), false);
    slices_wipe_reached(s.wipe, STR("d"), true);
    slices_wipe_reached(s.wipe, STR("d"), true);
    slices_wipe_reached(s.wipe, STR("d"), false);
    close_site(&s);
    assert_string_equal(s.asked, ALL);
}

/* Nor does a try that failed go on once the driver is back. */
static void test_back_between_tries(void **state)
{
    struct site s;
    open_site(&s, 1);
    await_times(&s, 1);
    s.fails = 1000;
    slices_wipe_reached(s.wipe, STR("d"), false);
    await_times(&s, 3);
    slices_wipe_reached(s.wipe, STR("d"), true);
    s.fails = 0;
    slices_wipe_reached(s.wipe, STR("e"), false);
    s.asked[0] = '\0';
    while (!strstr(s.asked, "driver%3De"))
        net_loop_run_once(s.loop, true);
    const char *last = strstr(s.asked, "driver%3De");
    assert_null(strstr(last, "driver%3Dd"));
    close_site(&s);
}

static void test_nothing_there(void **state)
{
    struct site s;
    open_site(&s, 1);
    s.fails = 1;
    s.status = 404;
    await_times(&s, 1);
    slices_wipe_reached(s.wipe, STR("d"), false);
    await_times(&s, 2);
    assert_string_equal(s.asked, ALL ONE);
    close_site(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_at_the_start),
        cmocka_unit_test(test_a_driver),
        cmocka_unit_test(test_back_in_time),
        cmocka_unit_test(test_back_between_tries),
        cmocka_unit_test(test_nothing_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
