/* SPDX-License-Identifier: Apache-2.0 */
#include "server/observe/metrics.h"

#include <stdio.h>

#include "unit/unit.h"

static void has(const struct metrics *m, const char *line, bool want)
{
    struct strbuf b = STRBUF_INIT;
    metrics_print(m, &b);
    bool found = str_find(strbuf_str(&b), str_from(line)) != SIZE_MAX;
    if (found != want)
        fail_msg("%s: %s\n%s", want ? "not there" : "there", line, strbuf_cstr(&b));
    strbuf_release(&b);
}

static void test_counters(void **state)
{
    struct metrics *m = metrics_new();
    struct str a = STR("success"), b = STR("fail\"ure\\\n");
    (void)state;
    has(m, "authentication_attempts", false);
    metrics_add(m, METRIC_AUTHENTICATION, &a, 1);
    metrics_add(m, METRIC_AUTHENTICATION, &a, 1);
    metrics_add(m, METRIC_AUTHENTICATION, &b, 1);
    metrics_add(m, METRIC_AUDIT_EVENTS, NULL, 3);
    has(m, "# TYPE authentication_attempts counter\n", true);
    has(m, "\nauthentication_attempts{result=\"success\"} 2\n", true);
    has(m, "\nauthentication_attempts{result=\"fail\\\"ure\\\\\\n\"} 1\n", true);
    has(m, "\napiserver_audit_event_total 3\n", true);
    metrics_free(m);
}

static void test_gauges(void **state)
{
    struct metrics *m = metrics_new();
    struct str all[] = {STR("g"), STR(""), STR("r"), STR(""), STR("v1")};
    (void)state;
    metrics_set(m, METRIC_DEPRECATED, all, 1);
    metrics_set(m, METRIC_DEPRECATED, all, 1);
    has(m,
        "apiserver_requested_deprecated_apis{group=\"g\",removed_release=\"\",resource="
        "\"r\","
        "subresource=\"\",version=\"v1\"} 1\n",
        true);
    metrics_free(m);
}

static void test_histograms(void **state)
{
    static const double SEEN[] = {0.001, 0.0005, 0.003, 100};
    struct metrics *m = metrics_new();
    struct str a = STR("success");
    (void)state;
    for (size_t i = 0; i < UNIT_COUNT(SEEN); i++)
        metrics_observe(m, METRIC_AUTHENTICATION_SECONDS, &a, SEEN[i]);
    has(m, "authentication_duration_seconds_bucket{result=\"success\",le=\"0.001\"} 2\n",
        true);
    has(m, "authentication_duration_seconds_bucket{result=\"success\",le=\"0.002\"} 2\n",
        true);
    has(m, "authentication_duration_seconds_bucket{result=\"success\",le=\"0.004\"} 3\n",
        true);
    has(m, "authentication_duration_seconds_bucket{result=\"success\",le=\"16.384\"} 3\n",
        true);
    has(m, "authentication_duration_seconds_bucket{result=\"success\",le=\"+Inf\"} 4\n",
        true);
    has(m, "authentication_duration_seconds_sum{result=\"success\"} 100.0045\n", true);
    has(m, "authentication_duration_seconds_count{result=\"success\"} 4\n", true);
    metrics_free(m);
}

/* There is an end to labels that nobody has seen; those that are known go on. */
static void test_too_many(void **state)
{
    struct metrics *m = metrics_new();
    char text[32];
    (void)state;
    for (int i = 0; i < METRIC_MAX_SERIES + 5; i++) {
        int n = snprintf(text, sizeof text, "user-%d", i);
        struct str name = {text, (size_t)n};
        metrics_add(m, METRIC_USERS, &name, 1);
    }
    struct str first = STR("user-0");
    metrics_add(m, METRIC_USERS, &first, 1);
    has(m, "authenticated_user_requests{username=\"user-0\"} 2\n", true);
    has(m, "username=\"user-20000\"", false);
    has(m, "# 5 observations of new labels were left out\n", true);
    metrics_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counters),
        cmocka_unit_test(test_gauges),
        cmocka_unit_test(test_histograms),
        cmocka_unit_test(test_too_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
