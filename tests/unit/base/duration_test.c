/* SPDX-License-Identifier: Apache-2.0 */
#include "base/duration.h"

#include "unit/unit.h"

static const struct {
    const char *text;
    bool ok;
    uint64_t ms;
} ROWS[] = {
    {"0", true, 0},
    {"1s", true, 1000},
    {"1m30s", true, 90000},
    {"8m40s", true, 520000},
    {"1h", true, 3600000},
    {"500ms", true, 500},
    {"1.5s", true, 1500},
    {".5s", true, 500},
    {"1500us", true, 1},
    {"", false, 0},
    {"1", false, 0},
    {"s", false, 0},
    {"-1s", false, 0},
    {"1..5s", false, 0},
    {"1s1", false, 0},
    {"1d", false, 0},
    {"99999999999999999999h", false, 0},
};

static void test_parse(void **state)
{
    (void)state;
    for (size_t i = 0; i < UNIT_COUNT(ROWS); i++) {
        uint64_t ms = 0;
        ROW(ROWS[i].text, duration_parse(str_from(ROWS[i].text), &ms) == ROWS[i].ok);
        ROW(ROWS[i].text, ms == ROWS[i].ms);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parse),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
