/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Races of the controller of ResourceClaims on a scripted server: it is started anew
 * after any of its calls, any of its calls fails, its watches are late or lose events;
 * in the end all is as if nothing had happened.
 */
#include "control/claims.h"

#include "base/clock.h"
#include "fake_api.h"
#include "unit/unit.h"

#define FINALIZER "resource.kubernetes.io/delete-protection"

static const char POD[] =
    "{\"metadata\":{\"name\":\"p\",\"namespace\":\"n\",\"uid\":\"pod\","
    "\"resourceVersion\":\"%d\"},\"spec\":{\"resourceClaims\":["
    "{\"name\":\"a\",\"resourceClaimTemplateName\":\"t1\"},"
    "{\"name\":\"b\",\"resourceClaimTemplateName\":\"t2\"}]},\"status\":{}}";
static const char TEMPLATE[] =
    "{\"metadata\":{\"name\":\"%s\",\"namespace\":\"n\",\"uid\":\"%s\","
    "\"resourceVersion\":\"1\"},\"spec\":{\"spec\":{\"devices\":{\"requests\":["
    "{\"name\":\"r\",\"exactly\":{\"deviceClassName\":\"c\"}}]}}}}";
static const char USED[] =
    "{\"metadata\":{\"name\":\"used\",\"namespace\":\"n\",\"uid\":\"used\","
    "\"resourceVersion\":\"1\",\"finalizers\":[\"" FINALIZER "\"]},\"spec\":{},"
    "\"status\":{\"allocation\":{\"devices\":{\"results\":[{\"request\":\"r\","
    "\"driver\":\"d\",\"pool\":\"p\",\"device\":\"x\"}]}},\"reservedFor\":["
    "{\"resource\":\"pods\",\"name\":\"p\",\"uid\":\"pod\"}]}}";

enum { PATIENCE_S = 60, MOST_CALLS = 100 };

struct site {
    struct arena a;
    struct fake_api api;
    struct claims *claims;
};

/* ---- the server ---- */

static struct doc read(struct site *s, struct str text)
{
    struct doc_source src = {.name = "object", .text = text};
    struct doc d;
    assert_true(doc_read_json(&src, &s->a, &d, NULL));
    return d;
}

static void put(struct site *s, const char *resource, struct str text)
{
    struct doc d = read(s, text);
    fake_api_put(&s->api, resource, &d, true);
}

static void put_template(struct site *s, const char *name)
{
    put(s, "resourceclaimtemplates", arena_printf(&s->a, TEMPLATE, name, name));
}

static const struct doc *pod_of(struct site *s)
{
    const struct doc *pods = fake_api_list(&s->api, "pods");
    return pods->n ? &pods->items[0] : NULL;
}

/* As a kubelet writes it. */
static void end_pod(struct site *s)
{
    struct doc pod = doc_dup(&s->a, pod_of(s));
    struct doc *meta = (struct doc *)doc_get(&pod, "metadata"),
               *status = (struct doc *)doc_get(&pod, "status");
    doc_set_text(&s->a, status, "phase", STR("Succeeded"));
    doc_set_text(&s->a, meta, "resourceVersion",
                 arena_printf(&s->a, "%d", (int)++s->api.version));
    fake_api_put(&s->api, "pods", &pod, true);
    fake_api_tell(&s->api, "MODIFIED", "pods", &pod);
}

/* ---- life of the controller ---- */

static void start(struct site *s)
{
    static const struct claims_opts opts;
    s->claims = claims_new(s->api.client, &opts);
}

static void start_again(struct site *s)
{
    claims_free(s->claims);
    fake_api_settle(&s->api);
    fake_api_catch_up(&s->api);
    start(s);
}

static void open_site(struct site *s)
{
    *s = (struct site){0};
    fake_api_open(&s->api, &s->a);
    s->api.stores = true;
    s->api.version = 100;
}

static void close_site(struct site *s)
{
    claims_free(s->claims);
    fake_api_close(&s->api);
    arena_fini(&s->a);
}

typedef bool condition(struct site *s);

static void on_beat(void *ctx)
{
    (void)ctx; /* the loop need not wait for anything else */
}

/* Once the controller has made n calls, another one takes its place; n 0: never. */
static bool until_anew(struct site *s, condition *is, uint32_t n)
{
    struct net_timer *beat = net_timer_start(s->api.loop, 2, 2, on_beat, NULL);
    uint64_t end = clock_mono_ns() + PATIENCE_S * 1000000000ull;
    uint32_t first = s->api.actions.n;
    while (!is(s) && clock_mono_ns() < end) {
        net_loop_run_once(s->api.loop, true);
        if (n && s->api.actions.n - first >= n) {
            start_again(s);
            n = 0;
        }
    }
    net_timer_stop(beat);
    return is(s);
}

static bool until(struct site *s, condition *is)
{
    return until_anew(s, is, 0);
}

/* ---- what is to be ---- */

static uint32_t nclaims(struct site *s)
{
    return fake_api_list(&s->api, "resourceclaims")->n;
}

/* One claim of each template, and the pod says which. */
static bool are_made(struct site *s)
{
    const struct doc *list = doc_path(pod_of(s), "status.resourceClaimStatuses");
    return list && list->n == 2 && nclaims(s) == 2;
}

/* The pod says nothing yet: not all of them are there. */
static bool is_one_made(struct site *s)
{
    return nclaims(s) == 1;
}

static bool are_gone(struct site *s)
{
    return nclaims(s) == 0;
}

/* A finalizer may stay when nobody came to take it away; it holds nothing. */
static bool is_free(struct site *s)
{
    const struct doc *list = fake_api_list(&s->api, "resourceclaims");
    const struct doc *by = doc_path(&list->items[0], "status.reservedFor");
    return !doc_path(&list->items[0], "status.allocation") && (!by || !by->n);
}

/* Each entry names a claim of its own that is there. */
static void check_made(struct site *s)
{
    const struct doc *list = doc_path(pod_of(s), "status.resourceClaimStatuses"),
                     *claims = fake_api_list(&s->api, "resourceclaims");
    for (uint32_t i = 0; i < 2; i++) {
        struct str name = doc_get_text(&list->items[i], "resourceClaimName");
        uint32_t n = 0;
        for (uint32_t k = 0; k < claims->n; k++)
            n += str_eq(doc_get_text(doc_get(&claims->items[k], "metadata"), "name"),
                        name);
        assert_int_equal(n, 1);
    }
}

/* ---- two templates, one of them late (spec cases C5) ---- */

static void put_pod(struct site *s)
{
    put(s, "pods", arena_printf(&s->a, POD, 1));
}

static void test_late_template(void **state)
{
    struct site s;
    (void)state;
    open_site(&s);
    put_template(&s, "t1");
    put_pod(&s);
    start(&s);
    assert_true(until(&s, is_one_made));
    put_template(&s, "t2");
    assert_true(until(&s, are_made));
    check_made(&s);
    close_site(&s);
}

/* The claims that it has made are not seen before much else has happened. */
static void test_seen_late(void **state)
{
    struct site s;
    (void)state;
    open_site(&s);
    s.api.late = true;
    put_template(&s, "t1");
    put_pod(&s);
    start(&s);
    assert_true(until(&s, is_one_made));
    put_template(&s, "t2");
    assert_true(until(&s, are_made));
    fake_api_settle(&s.api);
    fake_api_tell_late(&s.api, "");
    fake_api_settle(&s.api);
    assert_true(are_made(&s));
    check_made(&s);
    close_site(&s);
}

/* ---- started anew ---- */

static void test_restarts(void **state)
{
    (void)state;
    for (uint32_t n = 1, calls = n; n <= calls && n < MOST_CALLS; n++) {
        struct site s;
        open_site(&s);
        put_template(&s, "t1");
        put_template(&s, "t2");
        put_pod(&s);
        start(&s);
        assert_true(until_anew(&s, are_made, n));
        fake_api_settle(&s.api);
        assert_true(are_made(&s));
        check_made(&s);
        end_pod(&s);
        assert_true(until_anew(&s, are_gone, n));
        calls = s.api.actions.n;
        close_site(&s);
    }
}

/* ---- each call fails once ---- */

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

static const struct {
    int status;
    const char *reason;
} FAILURES[] = {{500, "InternalError"}, {409, "Conflict"}, {429, "TooManyRequests"}};

static void test_failures(void **state)
{
    (void)state;
    for (size_t f = 0; f < UNIT_COUNT(FAILURES); f++)
        for (uint32_t n = 0, calls = 1; n < calls && n < MOST_CALLS; n++) {
            struct site s;
            open_site(&s);
            fail_call(&s, n, FAILURES[f].status, FAILURES[f].reason);
            put_template(&s, "t1");
            put_template(&s, "t2");
            put_pod(&s);
            start(&s);
            ROW(FAILURES[f].reason, until(&s, are_made));
            check_made(&s);
            end_pod(&s);
            ROW(FAILURES[f].reason, until(&s, are_gone));
            calls = s.api.actions.n;
            close_site(&s);
        }
}

/* ---- what is taken back ---- */

static void on_deleted(void *ctx, const struct client_answer *a)
{
    (void)ctx;
    assert_true(a->ok);
}

static void delete_used(struct site *s)
{
    struct client_request q = {
        .method = "DELETE",
        .path = STR("/apis/resource.k8s.io/v1/namespaces/n/resourceclaims/used")};
    client_start(s->api.client, &q, on_deleted, NULL);
}

/* The pod went while nobody looked; then the claim is deleted. */
static void test_taken_back(void **state)
{
    (void)state;
    for (uint32_t n = 1, calls = n; n <= calls && n < MOST_CALLS; n++) {
        struct site s;
        open_site(&s);
        put(&s, "resourceclaims", str_from(USED));
        start(&s);
        assert_true(until_anew(&s, is_free, n));
        delete_used(&s);
        assert_true(until_anew(&s, are_gone, n));
        calls = s.api.actions.n;
        close_site(&s);
    }
}

/* Somebody has changed a claim, and the watch tells of it late: what is written from the
 * older one is refused, and written again. */
static void test_lost_update(void **state)
{
    struct site s;
    (void)state;
    open_site(&s);
    put(&s, "resourceclaims", str_from(USED));
    put(&s, "pods", arena_printf(&s.a, POD, 1));
    start(&s);
    fake_api_settle(&s.api);
    /* Somebody writes it, and no event comes. */
    struct doc *list = (struct doc *)fake_api_list(&s.api, "resourceclaims");
    for (uint32_t i = 0; i < list->n; i++)
        if (doc_is_string(doc_get(doc_get(&list->items[i], "metadata"), "name"), "used"))
            doc_set_text(&s.a, (struct doc *)doc_get(&list->items[i], "metadata"),
                         "resourceVersion", STR("77"));
    end_pod(&s);
    fake_api_settle(&s.api);
    /* When the event comes after all, the reservation goes. */
    for (uint32_t i = 0; i < list->n; i++)
        fake_api_tell(&s.api, "MODIFIED", "resourceclaims", &list->items[i]);
    assert_true(until(&s, is_free));
    close_site(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_late_template), cmocka_unit_test(test_seen_late),
        cmocka_unit_test(test_restarts),      cmocka_unit_test(test_failures),
        cmocka_unit_test(test_taken_back),    cmocka_unit_test(test_lost_update),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
