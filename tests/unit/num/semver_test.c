/* SPDX-License-Identifier: Apache-2.0 */
#include "unit/unit.h"

#include "num/semver.h"

static struct arena arena;

static void test_parse(void **state)
{
    static const struct {
        const char *text;
        bool normalize;
        const char *want; /* canonical text, or the error */
        bool ok;
    } rows[] = {
        {"1.2.3", false, "1.2.3", true},
        {"1.2.3-rc.1+b.01", false, "1.2.3-rc.1+b.01", true},
        {"18446744073709551615.0.0", false, "18446744073709551615.0.0", true},
        {"v1.2", true, "1.2.0", true},
        {"v01.002", true, "1.2.0", true},
        {"7", true, "7.0.0", true},
        {"1.2.03-rc+b", true, "1.2.3-rc+b", true},
        {"1.2.00", true, "1.2.0", true},
        {"", false, "Version string empty", false},
        {"1.2", false, "No Major.Minor.Patch elements found", false},
        {"v1.2.3", false, "Invalid character(s) found in major number \"v1\"", false},
        {"\t1.2.3", false, "Invalid character(s) found in major number \"\\t1\"", false},
        {"1.02.3", false, "Minor number must not contain leading zeroes \"02\"", false},
        {"1.2.-3", false, "strconv.ParseUint: parsing \"\": invalid syntax", false},
        {"18446744073709551616.0.0", false,
         "strconv.ParseUint: parsing \"18446744073709551616\": value out of range",
         false},
        {"1.2.3-a..b", false, "Prerelease is empty", false},
        {"1.2.3-01", false,
         "Numeric PreRelease version must not contain leading zeroes \"01\"", false},
        {"1.2.3+a_b", false, "Invalid character(s) found in build meta data \"a_b\"",
         false},
        {"1.2.3+", false, "Build meta data is empty", false},
        {"1.2-rc", true, "short version cannot contain PreRelease/Build meta data",
         false},
        {"1.2.0abc", true, "Invalid character(s) found in patch number \"0abc\"", false},
    };
    for (size_t i = 0; i < UNIT_COUNT(rows); i++) {
        struct semver v;
        struct err e = ERR_INIT;
        bool ok = semver_parse(str_from(rows[i].text), rows[i].normalize, &arena, &v, &e);
        ROW(rows[i].text, ok == rows[i].ok);
        assert_str(ok ? semver_print(&v, &arena) : str_from(e.msg), rows[i].want);
        err_release(&e);
    }
}

/* SemVer's own chain of precedence, and what it leaves out. */
static void test_order(void **state)
{
    static const char *const rising[] = {
        "0.9.9",      "1.0.0-0",      "1.0.0-2",       "1.0.0-10",
        "1.0.0-A",    "1.0.0-alpha",  "1.0.0-alpha.1", "1.0.0-alpha.beta",
        "1.0.0-beta", "1.0.0-beta.2", "1.0.0-beta.11", "1.0.0-rc.1",
        "1.0.0",      "1.0.1-rc",     "1.1.0",         "2.0.0",
    };
    struct semver v[UNIT_COUNT(rising)], built;
    for (size_t i = 0; i < UNIT_COUNT(rising); i++)
        assert_true(semver_parse(str_from(rising[i]), false, &arena, &v[i], NULL));
    for (size_t i = 0; i < UNIT_COUNT(rising); i++)
        for (size_t j = 0; j < UNIT_COUNT(rising); j++)
            ROW(rising[i], semver_cmp(&v[i], &v[j]) == (i > j) - (i < j));
    assert_true(semver_parse(STR("1.0.0+zz"), false, &arena, &built, NULL));
    assert_int_equal(semver_cmp(&built, &v[12]), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parse),
        cmocka_unit_test(test_order),
    };
    arena_init(&arena);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    arena_fini(&arena);
    return failed;
}
