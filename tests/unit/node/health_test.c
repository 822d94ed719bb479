/* SPDX-License-Identifier: Apache-2.0 */
#include "node/health.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fake_api.h"
#include "grpc/health.pb-c.h"
#include "node/health_table.h"
#include "node/state_file.h"
#include "scripted.h"
#include "unit/unit.h"

/* ---- the table alone ---- */

#define D STR("d.example.com")

static struct health_now at(uint64_t s)
{
    return (struct health_now){.mono_ms = s * 1000, .unix_s = 1000000 + (int64_t)s};
}

static bool say(struct health_table *t, uint64_t s, const char *device,
                enum checkpoint_health health, const char *message, int64_t timeout_s)
{
    struct health_said said = {.pool = STR("p"),
                               .device = str_from(device),
                               .message = str_from(message),
                               .health = health,
                               .timeout_s = timeout_s};
    struct health_now now = at(s);
    return health_table_report(t, D, &said, 1, &now);
}

static struct health_is is(struct health_table *t, uint64_t s, const char *device)
{
    struct health_now now = at(s);
    return health_table_get(t, D, STR("p"), str_from(device), &now);
}

static bool has_changed(struct health_table *t, const char *device)
{
    return health_table_has_changed(t, D, STR("p"), str_from(device));
}

static void test_changes(void **state)
{
    struct health_table *t = health_table_new();
    assert_int_equal(is(t, 0, "a").health, CHECKPOINT_UNKNOWN);
    assert_true(say(t, 0, "a", CHECKPOINT_HEALTHY, "fine", 0));
    assert_true(has_changed(t, "a"));
    assert_false(
        say(t, 1, "a", CHECKPOINT_HEALTHY, "fine", 30)); /* the same half minute */
    assert_false(has_changed(t, "a"));
    assert_true(say(t, 2, "a", CHECKPOINT_HEALTHY, "hot", 30));
    assert_str(is(t, 2, "a").message, "hot");
    assert_true(say(t, 3, "a", CHECKPOINT_UNHEALTHY, "hot", 30));
    assert_int_equal(is(t, 3, "a").health, CHECKPOINT_UNHEALTHY);
    assert_true(say(t, 4, "a", CHECKPOINT_UNHEALTHY, "hot", 31));
    health_table_drop(t, D);
    assert_int_equal(is(t, 4, "a").health, CHECKPOINT_UNKNOWN);
    health_table_free(t);
}

/* What is not reported stays for its time; then it is unknown at once for who reads, and
 * a change with the next report. */
static void test_old(void **state)
{
    struct health_table *t = health_table_new();
    say(t, 0, "a", CHECKPOINT_HEALTHY, "m", 10);
    assert_true(say(t, 5, "b", CHECKPOINT_HEALTHY, "", 100));
    assert_int_equal(is(t, 10, "a").health, CHECKPOINT_HEALTHY);
    assert_int_equal(is(t, 11, "a").health, CHECKPOINT_UNKNOWN);
    assert_int_equal(is(t, 11, "a").message.n, 0);
    assert_true(say(t, 11, "b", CHECKPOINT_HEALTHY, "", 100));
    assert_true(has_changed(t, "a"));
    assert_false(has_changed(t, "b"));
    assert_false(say(t, 12, "b", CHECKPOINT_HEALTHY, "", 100));
    assert_false(has_changed(t, "a"));
    health_table_free(t);
}

static void test_limits(void **state)
{
    struct health_table *t = health_table_new();
    struct health_now now = at(0);
    static char text[1100], names[HEALTH_MAX_DEVICES + 1][8];
    static struct health_said v[HEALTH_MAX_DEVICES + 1];
    memset(text, 'x', 1025);
    say(t, 0, "a", CHECKPOINT_HEALTHY, text, 0);
    assert_int_equal(is(t, 0, "a").message.n, 1024);
    assert_true(str_ends(is(t, 0, "a").message, STR("x...")));
    text[1024] = '\0';
    say(t, 0, "a", CHECKPOINT_HEALTHY, text, 0);
    assert_true(str_ends(is(t, 0, "a").message, STR("xxxx")));
    for (int i = 0; i <= HEALTH_MAX_DEVICES; i++) {
        snprintf(names[i], sizeof names[i], "d%d", i);
        v[i] = (struct health_said){
            .pool = STR("p"), .device = str_from(names[i]), .health = CHECKPOINT_HEALTHY};
    }
    health_table_report(t, STR("other"), v, HEALTH_MAX_DEVICES + 1, &now);
    assert_int_equal(
        health_table_get(t, STR("other"), STR("p"), STR("d16383"), &now).health,
        CHECKPOINT_HEALTHY);
    assert_int_equal(
        health_table_get(t, STR("other"), STR("p"), STR("d16384"), &now).health,
        CHECKPOINT_UNKNOWN);
    health_table_free(t);
}

/* The next process goes on with what was said, for as long as it holds. */
static void test_list_and_take(void **state)
{
    struct arena a = {0};
    struct health_table *t = health_table_new(), *next = health_table_new();
    say(t, 0, "a", CHECKPOINT_UNHEALTHY, "broken", 60);
    struct checkpoint_reports all = health_table_list(t, &a), read;
    assert_int_equal(all.n, 1);
    assert_true(
        checkpoint_health_read(checkpoint_health_print(&all, &a), &a, &read, NULL));
    struct health_now now = at(20);
    now.mono_ms = 5000; /* the machine was started again */
    health_table_take(next, &read, &now);
    assert_str(health_table_get(next, D, STR("p"), STR("a"), &now).message, "broken");
    now.mono_ms += 41 * 1000;
    assert_int_equal(health_table_get(next, D, STR("p"), STR("a"), &now).health,
                     CHECKPOINT_UNKNOWN);
    health_table_free(t);
    health_table_free(next);
    arena_fini(&a);
}

/* ---- beside a driver ---- */

struct site {
    struct arena a;
    struct fake_api api;
    struct place place;
    struct plugins *plugins;
    struct node_claims *claims;
    struct health *health;
    struct scripted driver;
    unsigned told; /* of pod "p" */
};

static void on_added(void *ctx, struct plugin *p)
{
    health_added(((struct site *)ctx)->health, p);
}

static void on_removed(void *ctx, struct plugin *p)
{
    health_removed(((struct site *)ctx)->health, p);
}

static void on_pod(void *ctx, struct str uid)
{
    if (str_is(uid, "p-uid"))
        ((struct site *)ctx)->told++;
}

static bool is_active(void *ctx, struct str uid)
{
    return true;
}

static void start(struct site *s)
{
    static const struct plugins_ops ops = {on_added, on_removed, NULL, NULL};
    struct health_opts o = {.loop = s->place.loop,
                            .dir = s->place.dir,
                            .messages = true,
                            .retry_ms = 20,
                            .changed = on_pod,
                            .ctx = s};
    s->health = health_new(&o);
    s->plugins = plugins_new(s->place.loop, s->place.dir, &ops, s, NULL);
    struct node_claims_opts c = {.client = s->api.client,
                                 .plugins = s->plugins,
                                 .dir = s->place.dir,
                                 .is_active = is_active};
    s->claims = node_claims_new(&c, NULL);
    assert_non_null(s->plugins);
    assert_non_null(s->claims);
    health_use_claims(s->health, s->claims);
}

static void stop(struct site *s)
{
    health_free(s->health);
    node_claims_free(s->claims);
    plugins_free(s->plugins);
}

static bool is_watched(void *ctx)
{
    return ((struct site *)ctx)->driver.watch != NULL;
}

static void open_site(struct site *s)
{
    *s = (struct site){.told = 0};
    fake_api_open(&s->api, &s->a);
    place_open(&s->place, s->api.loop);
    start(s);
    scripted_init(&s->driver, &s->place, "d.example.com");
    s->driver.versions[1] = "v1.DRAResourceHealth";
}

static void begin(struct site *s)
{
    scripted_listen(&s->driver);
    scripted_register(&s->driver, "plugins_registry/d.sock");
    place_await(&s->place, is_watched, s, "the driver is watched");
}

static void close_site(struct site *s)
{
    stop(s);
    scripted_fini(&s->driver);
    fake_api_close(&s->api);
    place_close(&s->place);
    arena_fini(&s->a);
}

static struct doc read_json(struct site *s, const char *text)
{
    struct doc_source src = {.name = "test", .text = str_from(text)};
    struct doc d;
    assert_true(doc_read_json(&src, &s->a, &d, NULL));
    return d;
}

static void on_prepared(void *ctx, const struct err *why)
{
    if (why)
        fail_msg("%s", err_text(why));
    *(bool *)ctx = true;
}

static bool is_set(void *ctx)
{
    return *(bool *)ctx;
}

static struct doc prepare_pod(struct site *s)
{
    bool done = false;
    struct doc claim = read_json(
        s, "{\"metadata\":{\"namespace\":\"default\",\"name\":\"c\",\"uid\":\"c-uid\"},"
           "\"status\":{\"allocation\":{\"devices\":{\"results\":[{\"driver\":"
           "\"d.example.com\",\"request\":\"r\"}]}},\"reservedFor\":[{\"uid\":\"p-uid\"}]"
           "}}");
    struct doc pod = read_json(
        s, "{\"metadata\":{\"namespace\":\"default\",\"name\":\"p\",\"uid\":\"p-uid\"},"
           "\"spec\":{\"resourceClaims\":[{\"name\":\"x\",\"resourceClaimName\":\"c\"}],"
           "\"containers\":[{\"name\":\"m\",\"resources\":{\"claims\":[{\"name\":\"x\","
           "\"request\":\"r/sub\"}]}}]}}");
    fake_api_put(&s->api, "resourceclaims", &claim, true);
    node_claims_prepare(s->claims, &pod, on_prepared, &done);
    place_await(&s->place, is_set, &done, "the claim is prepared");
    return pod;
}

static void report(struct site *s, Health__HealthStatus health, const char *message)
{
    Health__NodeWatchResourcesResponse m = HEALTH__NODE_WATCH_RESOURCES_RESPONSE__INIT;
    Health__DeviceHealth d = HEALTH__DEVICE_HEALTH__INIT, *list[] = {&d};
    Health__DeviceIdentifier id = HEALTH__DEVICE_IDENTIFIER__INIT;
    id.pool_name = (char *)"n";
    id.device_name = (char *)"d.example.com";
    d.device = &id;
    d.health = health;
    d.message = (char *)message;
    d.health_check_timeout_seconds = 3600;
    m.n_devices = 1;
    m.devices = list;
    assert_true(grpc_request_write(s->driver.watch, &m.base));
}

static const char *status(struct site *s, const struct doc *pod, const char *old)
{
    const struct doc *container = &doc_path(pod, "spec.containers")->items[0];
    struct doc was = read_json(s, old);
    struct doc d = health_container_status(s->health, pod, container, &was, &s->a);
    struct strbuf out = STRBUF_INIT;
    doc_write_json(&d, DOC_JSON_COMPACT, &out);
    const char *kept = arena_strdup(&s->a, strbuf_cstr(&out));
    strbuf_release(&out);
    return kept;
}

#define STATUS(rest)                                                                     \
    "[{\"name\":\"claim:x/r/sub\",\"resources\":[{\"resourceID\":"                       \
    "\"d.example.com/gpu=c-uid\",\"health\":" rest "}]}]"

struct wish {
    struct site *s;
    const struct doc *pod;
    const char *status;
};

static bool is_so(void *ctx)
{
    struct wish *w = ctx;
    return strcmp(status(w->s, w->pod, "null"), w->status) == 0;
}

static void await_status(struct site *s, const struct doc *pod, const char *text)
{
    struct wish w = {s, pod, text};
    place_await(&s->place, is_so, &w, text);
}

static void test_status(void **state)
{
    struct site s;
    open_site(&s);
    begin(&s);
    struct doc pod = prepare_pod(&s);
    await_status(&s, &pod, STATUS("\"Unknown\""));
    report(&s, HEALTH__HEALTH_STATUS__UNHEALTHY, "too hot");
    await_status(&s, &pod, STATUS("\"Unhealthy\",\"message\":\"too hot\""));
    assert_int_equal(s.told, 1);
    report(&s, HEALTH__HEALTH_STATUS__UNHEALTHY, "too hot");
    report(&s, HEALTH__HEALTH_STATUS__HEALTHY, "");
    await_status(&s, &pod, STATUS("\"Healthy\""));
    assert_int_equal(s.told, 2);
    assert_string_equal(
        status(&s, &pod, "[{\"name\":\"other\"},{\"name\":\"claim:x/r/sub\"}]"),
        "[{\"name\":\"other\"},{\"name\":\"claim:x/r/sub\",\"resources\":[{"
        "\"resourceID\":\"d.example.com/gpu=c-uid\",\"health\":\"Healthy\"}]}]");
    scripted_hang_up(&s.driver); /* nobody speaks for it */
    await_status(&s, &pod, STATUS("\"Unknown\""));
    scripted_listen(&s.driver);
    place_await(&s.place, is_watched, &s, "it is watched again");
    report(&s, HEALTH__HEALTH_STATUS__HEALTHY, "");
    await_status(&s, &pod, STATUS("\"Healthy\""));
    scripted_unregister(&s.driver);
    await_status(&s, &pod, STATUS("\"Unknown\""));
    close_site(&s);
}

/* What was said holds after a restart, before the driver says it again. */
static void test_restart(void **state)
{
    struct site s;
    open_site(&s);
    begin(&s);
    struct doc pod = prepare_pod(&s);
    report(&s, HEALTH__HEALTH_STATUS__HEALTHY, "fine");
    await_status(&s, &pod, STATUS("\"Healthy\",\"message\":\"fine\""));
    stop(&s);
    start(&s);
    assert_string_equal(status(&s, &pod, "null"),
                        STATUS("\"Healthy\",\"message\":\"fine\""));
    close_site(&s);
}

static bool was_watched(void *ctx)
{
    return ((struct site *)ctx)->driver.watches > 0;
}

static bool is_connected(void *ctx)
{
    struct plugin *p = plugins_find(((struct site *)ctx)->plugins, STR("d.example.com"));
    return p && plugin_connected(p);
}

/* A driver that has no health to report is not asked again. */
static void test_unsupported(void **state)
{
    struct site s;
    open_site(&s);
    s.driver.fails = "not here";
    scripted_listen(&s.driver);
    scripted_register(&s.driver, "plugins_registry/d.sock");
    place_await(&s.place, was_watched, &s, "the driver is asked");
    place_await(&s.place, is_connected, &s, "it stays connected");
    s.driver.fails = NULL;
    struct doc pod = prepare_pod(&s); /* takes longer than the pause */
    for (unsigned i = 0; i < 20; i++)
        fake_api_settle(&s.api);
    assert_int_equal(s.driver.watches, 1);
    assert_string_equal(status(&s, &pod, "null"), STATUS("\"Unknown\""));
    close_site(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_changes),     cmocka_unit_test(test_old),
        cmocka_unit_test(test_limits),      cmocka_unit_test(test_list_and_take),
        cmocka_unit_test(test_status),      cmocka_unit_test(test_restart),
        cmocka_unit_test(test_unsupported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
