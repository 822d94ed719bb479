/* SPDX-License-Identifier: Apache-2.0 */
/* Schedules that upstream's library takes, and those it does not. */
#include "api/cron.h"

#include "objects.h"

static const struct {
    const char *schedule;
    bool good;
} ROWS[] = {
    {"* * * * *", true},
    {"0 0 1 1 0", true},
    {"*/15 0-23/2 1,15 JAN-mar mon,FRI", true},
    {"59 23 31 12 6", true},
    {"? ? ? ? ?", true},
    {"@yearly", true},
    {"@hourly", true},
    {"@every 1h30m", true},
    {"", false},
    {"* * * *", false},
    {"* * * * * *", false},
    {"60 * * * *", false},
    {"* 24 * * *", false},
    {"* * 0 * *", false},
    {"* * * 13 *", false},
    {"* * * * 7", false},
    {"5-1 * * * *", false},
    {"*/0 * * * *", false},
    {"1-2-3 * * * *", false},
    {"-1 * * * *", false},
    {"a * * * *", false},
    {"@never", false},
    {"@every", false},
    {"@every x", false},
};

static void test_schedules(void **state)
{
    (void)state;
    struct arena a;
    arena_init(&a);
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++) {
        struct str why = STR("");
        bool good = cron_check(str_from(ROWS[i].schedule), &a, &why);
        if (good != ROWS[i].good || (!good && !why.n))
            fail_msg("'%s': %d, %.*s", ROWS[i].schedule, good, STR_ARG(why));
    }
    arena_fini(&a);
}

static void test_zones(void **state)
{
    (void)state;
    assert_true(cron_zone_known(STR("UTC")));
    assert_true(cron_zone_known(STR("Europe/Berlin")));
    assert_false(cron_zone_known(STR("../UTC")));
    assert_false(cron_zone_known(STR("/UTC")));
    assert_false(cron_zone_known(STR("")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_schedules),
        cmocka_unit_test(test_zones),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
