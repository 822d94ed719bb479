/* SPDX-License-Identifier: Apache-2.0 */
/* Sets of completion indexes: read, joined and written. */
#include "control/job_spans.h"

#include "unit/unit.h"

static const struct {
    const char *x, *y;
    int64_t limit;
    const char *both; /* joined */
    int64_t total, common;
} ROWS[] = {
    {"", "", 10, "", 0, 0},
    {"1,2", "", 10, "1,2", 2, 0},
    {"0,1,2", "", 10, "0-2", 3, 0},
    {"1,3-5,7", "2", 10, "1-5,7", 6, 0},
    {"0-9", "3,4", 10, "0-9", 10, 2},
    {"0-99", "", 5, "0-4", 5, 0},
    {"1,12", "", 10, "1", 1, 0},
    {"x,1,-,2-y,3", "", 10, "1,3", 2, 0},
    {"0-2,6-8", "1-7", 10, "0-8", 9, 4},
    {"99999999999999999999", "4", 10, "4", 1, 0},
};

static void test_sets(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++) {
        struct arena a;
        arena_init(&a);
        struct job_spans x = job_spans_parse(str_from(ROWS[i].x), ROWS[i].limit, &a),
                         y = job_spans_parse(str_from(ROWS[i].y), ROWS[i].limit, &a),
                         both = job_spans_merge(&x, &y, &a);
        struct str text = job_spans_print(&both, &a);
        if (!str_is(text, ROWS[i].both))
            print_error("%s + %s: %.*s\n", ROWS[i].x, ROWS[i].y, STR_ARG(text));
        assert_true(str_is(text, ROWS[i].both));
        assert_int_equal(job_spans_total(&both), ROWS[i].total);
        assert_int_equal(job_spans_common(&x, &y), ROWS[i].common);
        assert_int_equal(job_spans_common(&y, &x), ROWS[i].common);
        arena_fini(&a);
    }
}

static void test_members(void **state)
{
    struct arena a;
    (void)state;
    arena_init(&a);
    struct job_spans s = job_spans_parse(STR("1,3-5,7"), 10, &a);
    const bool IN[] = {false, true, false, true, true, true, false, true, false};
    for (int i = 0; i < 9; i++)
        assert_int_equal(job_spans_have(&s, i), IN[i]);
    job_spans_append(&s, 8, &a);
    job_spans_append(&s, 8, &a);
    assert_true(str_is(job_spans_print(&s, &a), "1,3-5,7,8"));
    arena_fini(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sets),
        cmocka_unit_test(test_members),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
