/* SPDX-License-Identifier: Apache-2.0 */
/* Sums of amounts; what objects use of quotas, and what is refused. Much more is compared
 * with upstream's code, on random input (tests/peers). */
#include "api/quota.h"

#include "api/pod_amounts.h"
#include "objects.h"

static struct arena arena;

static struct amounts amounts_of(const char *json)
{
    struct doc d = read_object(&arena, json);
    return amounts_read(&arena, &d);
}

/* ---- amounts ---- */

static const struct {
    const char *name;
    void (*fn)(struct amounts *x, const struct amounts *y);
    const char *x, *y, *want;
} SUMS[] = {
    {"add", amounts_add_all, "{\"b\":\"1\",\"a\":\"500m\"}",
     "{\"b\":\"1500m\",\"c\":\"2\"}", "a=500m,b=2500m,c=2"},
    {"add nothing", amounts_add_all, "{\"a\":\"1\"}", "{}", "a=1"},
    {"add to nothing", amounts_add_all, "{}", "{\"a\":\"1Gi\"}", "a=1Gi"},
    {"raise", amounts_raise_all, "{\"a\":\"1\",\"b\":\"5\"}",
     "{\"a\":\"2\",\"b\":\"3\",\"c\":\"1\"}", "a=2,b=5,c=1"},
    {"less", amounts_less, "{\"a\":\"3\",\"b\":\"1\"}",
     "{\"a\":\"1\",\"b\":\"2\",\"c\":\"1\"}", "a=2,b=0,c=0"},
    {"one into many", amounts_add_all,
     "{\"a\":\"1\",\"b\":\"1\",\"c\":\"1\",\"d\":\"1\",\"e\":\"1\",\"f\":\"1\",\"g\":"
     "\"1\","
     "\"h\":\"1\"}",
     "{\"aa\":\"1\"}", "a=1,aa=1,b=1,c=1,d=1,e=1,f=1,g=1,h=1"},
};

static void test_sums(void **state)
{
    (void)state;
    for (size_t i = 0; i < UNIT_COUNT(SUMS); i++) {
        struct amounts x = amounts_of(SUMS[i].x), y = amounts_of(SUMS[i].y);
        SUMS[i].fn(&x, &y);
        struct str got = amounts_print(&x);
        if (!str_is(got, SUMS[i].want))
            fail_msg("%s: %.*s", SUMS[i].name, STR_ARG(got));
    }
    arena_reset(&arena);
}

/* ---- pods ---- */

#define BOX(name, resources) "{\"name\":\"" name "\",\"resources\":{" resources "}}"
#define ASKS(cpu) "\"requests\":{\"cpu\":\"" cpu "\"}"
#define SPEC(rest) "{\"spec\":{" rest "}}"

static const struct {
    const char *name, *pod, *requests, *limits;
} PODS[] = {
    {"side by side",
     SPEC("\"containers\":[" BOX("a", ASKS("1")) "," BOX("b", ASKS("500m")) "]"),
     "cpu=1500m", ""},
    {"before the others",
     SPEC("\"containers\":[" BOX("a", ASKS("1")) "],\"initContainers\":[" BOX(
         "i", ASKS("3")) "," BOX("j", ASKS("2")) "]"),
     "cpu=3", ""},
    {"beside a sidecar",
     SPEC("\"containers\":[" BOX(
         "a", ASKS("1")) "],\"initContainers\":[{\"name\":\"s\","
                         "\"restartPolicy\":\"Always\",\"resources\":{" ASKS(
                             "1") "}}," BOX("j", ASKS("2")) "]"),
     "cpu=3", ""},
    {"for the whole pod",
     SPEC("\"containers\":[" BOX(
         "a", ASKS("1")) "],\"resources\":{\"requests\":{"
                         "\"cpu\":\"4\",\"x/y\":\"9\"},\"limits\":{\"memory\":\"1Gi\"}}"),
     "cpu=4", "memory=1Gi"},
    {"the overhead",
     SPEC("\"containers\":[" BOX(
         "a", ASKS("1") ",\"limits\":{\"cpu\":\"2\"}") "],"
                                                       "\"overhead\":{\"cpu\":\"100m\","
                                                       "\"memory\":\"1Mi\"}"),
     "cpu=1100m,memory=1Mi", "cpu=2100m"},
    {"while it is resized",
     "{\"spec\":{\"containers\":[" BOX(
         "a", ASKS("1")) "]},\"status\":{"
                         "\"containerStatuses\":[{\"name\":\"a\",\"allocatedResources\":{"
                         "\"cpu\":\"2\"},"
                         "\"resources\":{\"requests\":{\"cpu\":\"3\"}}}]}}",
     "cpu=3", ""},
    {"what the node refused",
     "{\"spec\":{\"containers\":[" BOX(
         "a", ASKS("9")) "]},\"status\":{\"conditions\":[{"
                         "\"type\":\"PodResizePending\",\"reason\":\"Infeasible\"}],"
                         "\"containerStatuses\":[{"
                         "\"name\":\"a\",\"allocatedResources\":{\"cpu\":\"2\"}}]}}",
     "cpu=2", ""},
};

static void test_pods(void **state)
{
    (void)state;
    for (size_t i = 0; i < UNIT_COUNT(PODS); i++) {
        struct doc pod = read_object(&arena, PODS[i].pod);
        struct amounts requests = pod_requests(&pod, &arena),
                       limits = pod_limits(&pod, &arena);
        struct str r = amounts_print(&requests), l = amounts_print(&limits);
        if (!str_is(r, PODS[i].requests) || !str_is(l, PODS[i].limits))
            fail_msg("%s: requests %.*s, limits %.*s", PODS[i].name, STR_ARG(r),
                     STR_ARG(l));
    }
    arena_reset(&arena);
}

static void test_many_amounts(void **state)
{
    struct strbuf b = STRBUF_INIT;
    (void)state;
    strbuf_adds(&b, "{\"spec\":{\"containers\":[{\"name\":\"a\",\"resources\":{"
                    "\"requests\":{\"x/0\":\"1\"");
    for (int i = 1; i <= POD_AMOUNTS_MAX; i++)
        strbuf_addf(&b, ",\"x/%d\":\"1\"", i);
    strbuf_adds(&b, "}}}]}}");
    struct doc pod = read_object(&arena, strbuf_cstr(&b));
    assert_false(pod_amounts_countable(&pod));
    strbuf_release(&b);
    arena_reset(&arena);
}

/* ---- one write after another, charged and paid ---- */

static void test_paid(void **state)
{
    struct quota_world w = {.a = &arena, .gates = &api_gates_default};
    struct doc spec = read_object(&arena, "{}"),
               map = read_object(&arena, "{\"metadata\":{\"name\":\"m\"}}");
    struct quota_request q = {.w = &w,
                              .verb = QUOTA_CREATE,
                              .group = "",
                              .resource = "configmaps",
                              .sub = "",
                              .object = &map};
    struct quota_state s = {.name = STR("q"),
                            .spec = &spec,
                            .hard = amounts_of("{\"configmaps\":\"2\"}"),
                            .used = amounts_of("{\"configmaps\":\"1\"}"),
                            .paid = {.a = &arena}};
    struct str why = STR_NONE;
    (void)state;
    assert_int_equal(quota_check(&q, &s, 1, &why), QUOTA_OK);
    assert_true(str_is(amounts_print(&s.used), "configmaps=2"));
    s.paid = s.charge;
    assert_int_equal(quota_check(&q, &s, 1, &why), QUOTA_OK);
    assert_true(str_is(amounts_print(&s.used), "configmaps=2"));
    s.paid = (struct amounts){.a = &arena};
    assert_int_equal(quota_check(&q, &s, 1, &why), QUOTA_FORBIDDEN);
    assert_true(str_is(why, "exceeded quota: q, requested: configmaps=1, used: "
                            "configmaps=2, limited: configmaps=2"));
    assert_true(str_is(amounts_print(&s.used), "configmaps=2"));
    arena_reset(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sums),
        cmocka_unit_test(test_pods),
        cmocka_unit_test(test_many_amounts),
        cmocka_unit_test(test_paid),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    arena_fini(&arena);
    return failed;
}
