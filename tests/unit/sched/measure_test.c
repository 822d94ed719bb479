/* SPDX-License-Identifier: Apache-2.0 */
#include "sched/measure.h"

#include "unit/unit.h"

static void expect(const struct strbuf *out, const char *line)
{
    if (!strstr(strbuf_cstr(out), line))
        fail_msg("%s\nis not in\n%s", line, strbuf_cstr(out));
}

static void test_print(void **state)
{
    struct profile profiles[] = {profile_default(), profile_default()};
    struct sched_config config = {.profiles = profiles, .n = 2};
    struct sched_measure m;
    struct strbuf out = STRBUF_INIT;
    (void)state;
    profiles[1].name = STR("a\"b");
    sched_measure_init(&m, &config);
    sched_measure_attempt(&m, &profiles[0], SCHED_SCHEDULED,
                          0.001); /* a bound is below */
    sched_measure_attempt(&m, &profiles[0], SCHED_SCHEDULED, 0.0015);
    sched_measure_attempt(&m, &profiles[0], SCHED_SCHEDULED, 100);
    sched_measure_attempt(&m, &profiles[1], SCHED_FAILED, 0.25);
    sched_measure_pod(&m, 1);
    sched_measure_pod(&m, 17);
    sched_measure_print(&m, &out);
#define DEFAULT "profile=\"default-scheduler\",result=\"scheduled\""
#define SECONDS "scheduler_scheduling_attempt_duration_seconds"
    expect(&out, "\nscheduler_schedule_attempts_total{" DEFAULT "} 3\n");
    expect(
        &out,
        "\nscheduler_schedule_attempts_total{profile=\"a\\\"b\",result=\"error\"} 1\n");
    expect(&out, "\n" SECONDS "_bucket{" DEFAULT ",le=\"0.001\"} 1\n");
    expect(&out, "\n" SECONDS "_bucket{" DEFAULT ",le=\"0.002\"} 2\n");
    expect(&out, "\n" SECONDS "_bucket{" DEFAULT ",le=\"16.384\"} 2\n");
    expect(&out, "\n" SECONDS "_bucket{" DEFAULT ",le=\"+Inf\"} 3\n");
    expect(&out, "\n" SECONDS "_sum{" DEFAULT "} 100.0025\n");
    expect(&out, "\n" SECONDS "_count{" DEFAULT "} 3\n");
    expect(&out, "\nscheduler_pod_scheduling_attempts_bucket{le=\"1\"} 1\n");
    expect(&out, "\nscheduler_pod_scheduling_attempts_bucket{le=\"16\"} 1\n");
    expect(&out, "\nscheduler_pod_scheduling_attempts_bucket{le=\"+Inf\"} 2\n");
    expect(&out, "\nscheduler_pod_scheduling_attempts_sum 18\n");
    assert_null(strstr(strbuf_cstr(&out), "unschedulable\"}")); /* none was */
    strbuf_release(&out);
    sched_measure_fini(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_print)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
