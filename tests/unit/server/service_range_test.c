/* SPDX-License-Identifier: Apache-2.0 */
#include "server/service_range.h"

#include "unit/unit.h"

static const struct {
    const char *text, *cidr, *first; /* NULL: refused */
} ROWS[] = {
    {"10.0.0.0/24", "10.0.0.0/24", "10.0.0.1"},
    {"10.96.0.5/12", "10.96.0.0/12", "10.96.0.1"},
    {"192.168.0.8/30", "192.168.0.8/30", "192.168.0.9"},
    {"fd00::/108", "fd00::/108", "fd00::1"},
    {"10.0.0.0", NULL, NULL},
    {"10.0.0.0/", NULL, NULL},
    {"10.0.0.0/33", NULL, NULL},
    {"10.0.0.0/31", NULL, NULL},
    {"10.0.0.0/8", NULL, NULL},
    {"10.0.0/24", NULL, NULL},
    {"fd00::/64", NULL, NULL},
    {"10.0.0.0/24,fd00::/108", NULL, NULL},
    {"", NULL, NULL},
};

static void test_parse(void **state)
{
    (void)state;
    for (size_t i = 0; i < UNIT_COUNT(ROWS); i++) {
        struct service_range r;
        bool ok = service_range_parse(ROWS[i].text, &r, NULL);
        ROW(ROWS[i].text, ok == (ROWS[i].cidr != NULL));
        if (!ok)
            continue;
        assert_string_equal(r.cidr, ROWS[i].cidr);
        assert_string_equal(r.first, ROWS[i].first);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parse),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
