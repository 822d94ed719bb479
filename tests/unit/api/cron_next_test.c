/* SPDX-License-Identifier: Apache-2.0 */
/* The times of schedules as upstream's library gives them, summer time and all; and rules
 * of zones that files end in. */
#include <unistd.h>

#include "api/cron.h"
#include "api/timestamp.h"
#include "api/zone_rule.h"
#include "objects.h"

enum { TIMES = 4 };

/* "": there is none. */
static const struct {
    const char *schedule, *zone, *after, *next[TIMES];
} ROWS[] = {
    {"*/15 * * * *",
     "UTC",
     "2026-01-31T23:50:01Z",
     {"2026-02-01T00:00:00Z", "2026-02-01T00:15:00Z", "2026-02-01T00:30:00Z",
      "2026-02-01T00:45:00Z"}},
    {"0 0 29 2 *",
     "UTC",
     "2026-03-01T00:00:00Z",
     {"2028-02-29T00:00:00Z", "2032-02-29T00:00:00Z", "2036-02-29T00:00:00Z",
      "2040-02-29T00:00:00Z"}},
    {"0 0 31 2 *", "UTC", "2026-03-01T00:00:00Z", {""}},
    {"30 2 * * *",
     "Europe/Berlin",
     "2026-03-28T12:00:00Z",
     {"2026-03-30T00:30:00Z", "2026-03-31T00:30:00Z", "2026-04-01T00:30:00Z",
      "2026-04-02T00:30:00Z"}},
    {"30 2 * * *",
     "Europe/Berlin",
     "2026-10-24T12:00:00Z",
     {"2026-10-25T00:30:00Z", "2026-10-25T01:30:00Z", "2026-10-26T01:30:00Z",
      "2026-10-27T01:30:00Z"}},
    {"30 2 * * *",
     "Europe/Berlin",
     "2026-10-25T00:30:00Z",
     {"2026-10-25T01:30:00Z", "2026-10-26T01:30:00Z", "2026-10-27T01:30:00Z",
      "2026-10-28T01:30:00Z"}},
    {"0 * * * *",
     "Europe/Berlin",
     "2026-10-25T00:30:00Z",
     {"2026-10-25T01:00:00Z", "2026-10-25T02:00:00Z", "2026-10-25T03:00:00Z",
      "2026-10-25T04:00:00Z"}},
    {"0 0 * * *",
     "America/Sao_Paulo",
     "2018-11-03T12:00:00Z",
     {"2018-11-05T02:00:00Z", "2018-11-06T02:00:00Z", "2018-11-07T02:00:00Z",
      "2018-11-08T02:00:00Z"}},
    {"0 0 * * *",
     "America/Sao_Paulo",
     "2018-11-04T12:00:00Z",
     {"2018-11-05T02:00:00Z", "2018-11-06T02:00:00Z", "2018-11-07T02:00:00Z",
      "2018-11-08T02:00:00Z"}},
    {"0 0 13 * 5",
     "UTC",
     "2026-01-01T00:00:00Z",
     {"2026-01-02T00:00:00Z", "2026-01-09T00:00:00Z", "2026-01-13T00:00:00Z",
      "2026-01-16T00:00:00Z"}},
    {"0 0 */2 * 1",
     "UTC",
     "2026-01-01T00:00:00Z",
     {"2026-01-03T00:00:00Z", "2026-01-05T00:00:00Z", "2026-01-07T00:00:00Z",
      "2026-01-09T00:00:00Z"}},
    {"0 0 * * 1",
     "UTC",
     "2026-01-01T00:00:00Z",
     {"2026-01-05T00:00:00Z", "2026-01-12T00:00:00Z", "2026-01-19T00:00:00Z",
      "2026-01-26T00:00:00Z"}},
    {"0 0 1 * *",
     "UTC",
     "2026-01-01T00:00:00Z",
     {"2026-02-01T00:00:00Z", "2026-03-01T00:00:00Z", "2026-04-01T00:00:00Z",
      "2026-05-01T00:00:00Z"}},
    {"59 23 31 12 *",
     "Pacific/Kiritimati",
     "2026-01-01T00:00:00Z",
     {"2026-12-31T09:59:00Z", "2027-12-31T09:59:00Z", "2028-12-31T09:59:00Z",
      "2029-12-31T09:59:00Z"}},
    {"5 4 * * sun",
     "Australia/Lord_Howe",
     "2026-04-01T00:00:00Z",
     {"2026-04-11T17:35:00Z", "2026-04-18T17:35:00Z", "2026-04-25T17:35:00Z",
      "2026-05-02T17:35:00Z"}},
    {"0 9 * * 1-5",
     "America/New_York",
     "2045-03-10T20:00:00Z",
     {"2045-03-13T13:00:00Z", "2045-03-14T13:00:00Z", "2045-03-15T13:00:00Z",
      "2045-03-16T13:00:00Z"}},
    {"0 9 * * 1-5",
     "Europe/Dublin",
     "2060-07-10T20:00:00Z",
     {"2060-07-12T08:00:00Z", "2060-07-13T08:00:00Z", "2060-07-14T08:00:00Z",
      "2060-07-15T08:00:00Z"}},
    {"@every 90s",
     "UTC",
     "2026-01-01T00:00:00Z",
     {"2026-01-01T00:01:30Z", "2026-01-01T00:03:00Z", "2026-01-01T00:04:30Z",
      "2026-01-01T00:06:00Z"}},
    {"@monthly",
     "Asia/Kathmandu",
     "2026-01-15T00:00:00Z",
     {"2026-01-31T18:15:00Z", "2026-02-28T18:15:00Z", "2026-03-31T18:15:00Z",
      "2026-04-30T18:15:00Z"}},
    {"1,2,3 5-7 * jan,dec *",
     "Asia/Tokyo",
     "2026-02-01T00:00:00Z",
     {"2026-11-30T20:01:00Z", "2026-11-30T20:02:00Z", "2026-11-30T20:03:00Z",
      "2026-11-30T21:01:00Z"}},
    {"0 12 1 1 *",
     "Africa/Casablanca",
     "2026-02-01T00:00:00Z",
     {"2027-01-01T11:00:00Z", "2028-01-01T11:00:00Z", "2029-01-01T11:00:00Z",
      "2030-01-01T12:00:00Z"}},
};

static int64_t seconds(const char *text)
{
    int64_t s;
    int32_t nanos;
    assert_true(timestamp_parse(str_from(text), &s, &nanos));
    return s;
}

static void test_times(void **state)
{
    (void)state;
    if (access("/usr/share/zoneinfo/Europe/Berlin", R_OK))
        skip();
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++) {
        struct arena a;
        struct cron c;
        struct str why = STR_NONE;
        int64_t at = seconds(ROWS[i].after);
        arena_init(&a);
        bool good =
            cron_parse(str_from(ROWS[i].schedule), str_from(ROWS[i].zone), &a, &c, &why);
        if (!good)
            print_error("%s: %.*s\n", ROWS[i].schedule, STR_ARG(why));
        assert_true(good);
        for (int k = 0; k < TIMES && ROWS[i].next[k]; k++) {
            bool found = cron_next(&c, at, &at);
            struct str text = found ? timestamp_print(at, 0, false, &a) : STR("");
            if (!str_is(text, ROWS[i].next[k]))
                print_error("%s in %s: %.*s, not %s\n", ROWS[i].schedule, ROWS[i].zone,
                            STR_ARG(text), ROWS[i].next[k]);
            assert_true(str_is(text, ROWS[i].next[k]));
        }
        arena_fini(&a);
    }
}

static const struct {
    const char *rule;
    int year;
    int32_t offset;             /* in winter */
    const char *first, *second; /* NULL: it does not change */
} RULES[] = {
    {"UTC0", 2030, 0, NULL, NULL},
    {"<+0545>-5:45", 2030, 20700, NULL, NULL},
    {"CET-1CEST,M3.5.0,M10.5.0/3", 2060, 3600, "2060-03-28T01:00:00Z",
     "2060-10-31T01:00:00Z"},
    {"EST5EDT,M3.2.0,M11.1.0", 2045, -18000, "2045-03-12T07:00:00Z",
     "2045-11-05T06:00:00Z"},
    {"<+1030>-10:30<+11>-11,M10.1.0,M4.1.0", 2040, 37800, "2040-03-31T15:00:00Z",
     "2040-10-06T15:30:00Z"},
    {"XXX3YYY,J60/0,J300/0", 2028, -10800, "2028-03-01T03:00:00Z",
     "2028-10-27T02:00:00Z"},
    {"XXX3YYY,59/0,299/0", 2028, -10800, "2028-02-29T03:00:00Z", "2028-10-26T02:00:00Z"},
};

static void test_rules(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof RULES / sizeof *RULES; i++) {
        struct zone_rule r;
        struct zone_change changes[2];
        assert_true(zone_rule_parse(str_from(RULES[i].rule), &r));
        assert_int_equal(r.offset, RULES[i].offset);
        assert_int_equal(r.changes, RULES[i].first != NULL);
        if (!r.changes)
            continue;
        zone_rule_changes(&r, RULES[i].year, changes);
        assert_int_equal(changes[0].at, seconds(RULES[i].first));
        assert_int_equal(changes[1].at, seconds(RULES[i].second));
    }
}

static void test_bad_rules(void **state)
{
    static const char *const BAD[] = {"",
                                      "CET",
                                      "<CET1",
                                      "CET-1CEST",
                                      "CET-1CEST,M13.1.0,M10.5.0",
                                      "CET-1CEST,M3.5.0,M10.5.0x",
                                      "CET99999999999"};
    (void)state;
    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++) {
        struct zone_rule r;
        assert_false(zone_rule_parse(str_from(BAD[i]), &r));
    }
}

/* A file that is cut off anywhere is no zone, or one without its rule. */
static void test_cut_files(void **state)
{
    static const char FILE_[] =
        "TZif2\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
        "\0\0\0\0\0\0\0\0\0\0\0";
    struct arena a;
    (void)state;
    arena_init(&a);
    for (size_t n = 0; n <= sizeof FILE_; n++)
        zone_read((struct str){FILE_, n}, &a);
    assert_null(zone_read(STR("TZif2"), &a));
    assert_null(zone_load(STR("No/Where"), &a));
    assert_null(zone_load(STR("../../etc/passwd"), &a));
    arena_fini(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_times),
        cmocka_unit_test(test_rules),
        cmocka_unit_test(test_bad_rules),
        cmocka_unit_test(test_cut_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
