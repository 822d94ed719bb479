/* SPDX-License-Identifier: Apache-2.0 */
#include "unit/unit.h"

#include "api/age.h"

#define SECOND 1000000000ll
#define HOUR (3600 * SECOND)
#define DAY (24 * HOUR)

static const struct {
    int64_t span;
    const char *text;
} SPANS[] = {
    {-2 * SECOND, "<invalid>"},
    {-2 * SECOND + 1, "0s"},
    {-1, "0s"},
    {0, "0s"},
    {119 * SECOND, "119s"},
    {120 * SECOND, "2m"},
    {599 * SECOND, "9m59s"},
    {600 * SECOND, "10m"},
    {3 * HOUR - 1, "179m"},
    {3 * HOUR, "3h"},
    {8 * HOUR - 1, "7h59m"},
    {48 * HOUR - 1, "47h"},
    {2 * DAY, "2d"},
    {8 * DAY - 1, "7d23h"},
    {8 * DAY, "8d"},
    {730 * DAY - 1, "729d"},
    {730 * DAY, "2y"},
    {731 * DAY, "2y1d"},
    {8 * 365 * DAY, "8y"},
    {INT64_MAX, "292y"},
};

static void test_spans(void **state)
{
    struct arena a = {0};
    (void)state;
    for (size_t i = 0; i < UNIT_COUNT(SPANS); i++)
        assert_str(age_print(SPANS[i].span, &a), SPANS[i].text);
    arena_fini(&a);
}

static void test_times(void **state)
{
    struct arena a = {0};
    int64_t now = 1767225600 * SECOND + SECOND / 2; /* 2026-01-01T00:00:00.5Z */
    (void)state;
    assert_str(age_of(STR("2025-12-31T23:59:00Z"), now, &a), "60s");
    assert_str(age_of(STR("2026-01-01T00:00:00.400000Z"), now, &a), "0s");
    assert_str(age_of(STR("2026-01-01T00:00:03Z"), now, &a), "<invalid>");
    assert_str(age_of(STR("9999-12-31T23:59:59Z"), now, &a), "<invalid>");
    assert_str(age_of(STR("0001-01-01T00:00:00Z"), now, &a), "292y");
    assert_str(age_of(STR(""), now, &a), "<unknown>");
    arena_fini(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_spans),
        cmocka_unit_test(test_times),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
