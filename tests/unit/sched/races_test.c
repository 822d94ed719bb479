/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Races of the scheduler on a scripted server (spec cases C): many pods at once whose
 * writes are seen late, an event that is lost, any call fails, another one takes over
 * after any call. At every moment each device is in one allocation at most; in the end
 * all pods are bound.
 */
#include <stdlib.h>

#include "base/clock.h"
#include "base/rng.h"
#include "fake_api.h"
#include "sched/scheduler.h"
#include "unit/unit.h"

enum { PATIENCE_S = 120, MOST_SITES = 64, NODES = 3, DEVICES = 4, CROWD = 12 };

static const char NODE[] =
    "{\"metadata\":{\"name\":\"n%u\",\"uid\":\"n%u\",\"resourceVersion\":\"1\","
    "\"labels\":{"
    "\"kubernetes.io/hostname\":\"n%u\"}},\"spec\":{},\"status\":{\"allocatable\":{"
    "\"cpu\":\"64\",\"memory\":\"64Gi\",\"pods\":\"110\"}}}";
static const char CLASS[] =
    "{\"metadata\":{\"name\":\"c\",\"uid\":\"c\",\"resourceVersion\":\"1\"},\"spec\":{"
    "\"selectors\":[{\"cel\":{\"expression\":\"device.driver == 'd.example.com'\"}}]}}";
static const char SLICE[] =
    "{\"metadata\":{\"name\":\"s%u\",\"uid\":\"s%u\",\"resourceVersion\":\"1\"},\"spec\":"
    "{"
    "\"driver\":\"d.example.com\",\"nodeName\":\"n%u\",\"pool\":{\"name\":\"n%u\","
    "\"generation\":1,\"resourceSliceCount\":1},\"devices\":[%s]}}";
static const char CLAIM[] =
    "{\"metadata\":{\"name\":\"c%u\",\"namespace\":\"n\",\"uid\":\"c%u\","
    "\"resourceVersion\":\"1\"},\"spec\":{\"devices\":{\"requests\":[{\"name\":\"r\","
    "\"exactly\":{\"deviceClassName\":\"c\",\"allocationMode\":\"ExactCount\","
    "\"count\":1}}]}},\"status\":{}}";
static const char POD[] =
    "{\"metadata\":{\"name\":\"p%u\",\"namespace\":\"n\",\"uid\":\"p%u\","
    "\"resourceVersion\":\"1\"},\"spec\":{\"schedulerName\":\"default-scheduler\","
    "\"containers\":[{\"name\":\"c\",\"image\":\"i\"}],\"resourceClaims\":[{\"name\":"
    "\"x\","
    "\"resourceClaimName\":\"c%u\"}]},\"status\":{\"phase\":\"Pending\"}}";
/* What somebody else holds of the first node. */
static const char HELD[] =
    "{\"metadata\":{\"name\":\"held\",\"namespace\":\"n\",\"uid\":\"held\","
    "\"resourceVersion\":\"1\"},\"spec\":{\"devices\":{}},\"status\":{%s}}";
static const char ALLOCATION[] =
    "\"allocation\":{\"devices\":{\"results\":[{\"request\":\"r\",\"driver\":"
    "\"d.example.com\",\"pool\":\"n0\",\"device\":\"d0\"}]}}";

struct site {
    struct arena a;
    struct fake_api api;
    struct scheduler *scheduler;
    struct net_timer *beat;
    uint32_t restart_at; /* calls after which another one takes over; 0: never */
};

/* ---- the server ---- */

static void put(struct site *s, const char *resource, struct str text)
{
    struct doc_source src = {.name = "object", .text = text};
    struct doc d;
    assert_true(doc_read_json(&src, &s->a, &d, NULL));
    fake_api_put(&s->api, resource, &d, true);
}

static void put_node(struct site *s, uint32_t i, uint32_t ndevices)
{
    struct strbuf devices = STRBUF_INIT;
    for (uint32_t k = 0; k < ndevices; k++)
        strbuf_addf(&devices, "%s{\"name\":\"d%u\"}", k ? "," : "", k);
    put(s, "nodes", arena_printf(&s->a, NODE, i, i, i));
    put(s, "resourceslices",
        arena_printf(&s->a, SLICE, i, i, i, i, strbuf_cstr(&devices)));
    strbuf_release(&devices);
}

static void put_pods(struct site *s, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        put(s, "resourceclaims", arena_printf(&s->a, CLAIM, i, i));
        put(s, "pods", arena_printf(&s->a, POD, i, i, i));
    }
}

static void start(struct site *s)
{
    struct scheduler_opts opts = {.gates = api_gates_default};
    s->scheduler = scheduler_new(s->api.client, &opts);
}

static void start_again(struct site *s)
{
    scheduler_free(s->scheduler);
    fake_api_settle(&s->api);
    fake_api_catch_up(&s->api);
    start(s);
}

static void on_beat(void *ctx)
{
    (void)ctx; /* the loop need not wait for anything else */
}

static void open_site(struct site *s, uint32_t nodes, uint32_t ndevices)
{
    *s = (struct site){0};
    fake_api_open(&s->api, &s->a);
    s->api.stores = true;
    s->api.version = 100;
    put(s, "deviceclasses", str_from(CLASS));
    for (uint32_t i = 0; i < nodes; i++)
        put_node(s, i, ndevices);
    s->beat = net_timer_start(s->api.loop, 2, 2, on_beat, NULL);
}

static void close_site(struct site *s)
{
    net_timer_stop(s->beat);
    scheduler_free(s->scheduler);
    fake_api_close(&s->api);
    arena_fini(&s->a);
}

/* ---- what is to be ---- */

static struct str device_of(const struct doc *claim)
{
    const struct doc *list = doc_path(claim, "status.allocation.devices.results");
    return list && list->n ? doc_get_text(&list->items[0], "device") : STR_NONE;
}

static struct str pool_of(const struct doc *claim)
{
    const struct doc *list = doc_path(claim, "status.allocation.devices.results");
    return list && list->n ? doc_get_text(&list->items[0], "pool") : STR_NONE;
}

static void check_devices(struct site *s)
{
    const struct doc *list = fake_api_list(&s->api, "resourceclaims");
    for (uint32_t i = 0; i < list->n; i++)
        for (uint32_t k = 0; k < i; k++) {
            const struct doc *a = &list->items[i], *b = &list->items[k];
            assert_false(device_of(a).n && str_eq(device_of(a), device_of(b)) &&
                         str_eq(pool_of(a), pool_of(b)));
        }
}

static bool all_bound(struct site *s)
{
    const struct doc *list = fake_api_list(&s->api, "pods");
    for (uint32_t i = 0; i < list->n; i++)
        if (!doc_get_text(doc_get(&list->items[i], "spec"), "nodeName").n)
            return false;
    return true;
}

/* Every claim has a device on the node of its pod, and is reserved for it. */
static void check_bound(struct site *s)
{
    const struct doc *pods = fake_api_list(&s->api, "pods"),
                     *claims = fake_api_list(&s->api, "resourceclaims");
    for (uint32_t i = 0; i < pods->n; i++) {
        const struct doc *by = doc_path(&claims->items[i], "status.reservedFor");
        assert_true(str_eq(doc_get_text(doc_get(&pods->items[i], "spec"), "nodeName"),
                           pool_of(&claims->items[i])));
        assert_true(by && by->n == 1);
        assert_true(str_eq(doc_get_text(&by->items[0], "uid"),
                           doc_get_text(doc_get(&pods->items[i], "metadata"), "uid")));
    }
}

static void step(struct site *s)
{
    net_loop_run_once(s->api.loop, true);
    check_devices(s);
    if (s->restart_at && s->api.actions.n >= s->restart_at) {
        s->restart_at = 0;
        start_again(s);
    }
}

static bool is_patient(uint64_t began)
{
    return clock_mono_ns() - began < PATIENCE_S * 1000000000ull;
}

/* All of them at once: who has to wait does so together. */
static void run_sites(struct site *s, uint32_t n)
{
    uint64_t began = clock_mono_ns();
    uint32_t left = n;
    while (left && is_patient(began)) {
        left = 0;
        for (uint32_t i = 0; i < n; i++)
            if (!all_bound(&s[i])) {
                step(&s[i]);
                left++;
            }
    }
    for (uint32_t i = 0; i < n; i++) {
        assert_true(all_bound(&s[i]));
        check_bound(&s[i]);
    }
}

/* ---- a crowd whose writes are seen late (C1) ---- */

static void test_crowd(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 5; seed++) {
        struct site s;
        struct rng r;
        uint64_t began = clock_mono_ns();
        rng_init(&r, seed);
        open_site(&s, NODES, DEVICES);
        s.api.late = true;
        put_pods(&s, CROWD);
        start(&s);
        while (!all_bound(&s) && is_patient(began)) {
            step(&s);
            if (rng_range(&r, 0, 3) == 0)
                fake_api_tell_late(&s.api, "");
        }
        assert_true(all_bound(&s));
        check_bound(&s);
        close_site(&s);
    }
}

/* ---- deallocated and deleted, and only the latter is seen (C3) ---- */

static void remove_held(struct site *s, struct str left)
{
    struct doc *list = (struct doc *)fake_api_list(&s->api, "resourceclaims");
    struct doc_source src = {.name = "held", .text = arena_printf(&s->a, HELD, left.p)};
    struct doc last;
    assert_true(doc_read_json(&src, &s->a, &last, NULL));
    for (uint32_t i = 0; i < list->n; i++)
        if (doc_is_string(doc_path(&list->items[i], "metadata.name"), "held"))
            list->items[i] = list->items[--list->n];
    fake_api_tell(&s->api, "DELETED", "resourceclaims", &last);
}

static void test_lost_update(void **state)
{
    struct site s;
    uint64_t began = clock_mono_ns();
    (void)state;
    open_site(&s, 1, 1);
    put(&s, "resourceclaims", arena_printf(&s.a, HELD, ALLOCATION));
    put_pods(&s, 1);
    start(&s);
    while (!scheduler_count(s.scheduler).unschedulable && is_patient(began))
        step(&s);
    assert_int_equal(scheduler_count(s.scheduler).unschedulable, 1);
    remove_held(&s, STR(""));
    run_sites(&s, 1);
    close_site(&s);
}

/* ---- any call fails, or is the last of a scheduler ---- */

static uint32_t calls_of(uint32_t npods)
{
    struct site s;
    open_site(&s, 1, DEVICES);
    put_pods(&s, npods);
    start(&s);
    run_sites(&s, 1);
    fake_api_settle(&s.api);
    uint32_t n = s.api.actions.n;
    close_site(&s);
    assert_true(n > npods && n < MOST_SITES);
    return n;
}

static void fail_call(struct site *s, uint32_t n, int status, const char *reason)
{
    struct doc d = doc_make_map();
    doc_set_text(&s->a, &d, "error", STR("scripted"));
    doc_set_text(&s->a, &d, "reason", str_from(reason));
    doc_set(&s->a, &d, "status", doc_make_int(&s->a, status));
    doc_set(&s->a, &d, "skip", doc_make_int(&s->a, n));
    doc_set(&s->a, &d, "times", doc_make_int(&s->a, 1));
    doc_append(&s->a, &s->api.failures, d);
}

static void test_failures(void **state)
{
    static struct site sites[MOST_SITES];
    uint32_t n = calls_of(2);
    (void)state;
    for (int round = 0; round < 2; round++) {
        for (uint32_t i = 0; i < n; i++) {
            open_site(&sites[i], 1, 2);
            fail_call(&sites[i], i, round ? 409 : 500,
                      round ? "Conflict" : "InternalError");
            put_pods(&sites[i], 2);
            start(&sites[i]);
        }
        run_sites(sites, n);
        for (uint32_t i = 0; i < n; i++)
            close_site(&sites[i]);
    }
}

static void test_restarts(void **state)
{
    static struct site sites[MOST_SITES];
    uint32_t n = calls_of(2);
    (void)state;
    for (uint32_t i = 0; i < n; i++) {
        open_site(&sites[i], 1, 2);
        sites[i].restart_at = i + 1;
        put_pods(&sites[i], 2);
        start(&sites[i]);
    }
    run_sites(sites, n);
    for (uint32_t i = 0; i < n; i++)
        close_site(&sites[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_crowd),
        cmocka_unit_test(test_lost_update),
        cmocka_unit_test(test_failures),
        cmocka_unit_test(test_restarts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
