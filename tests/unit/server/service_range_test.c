/* SPDX-License-Identifier: Apache-2.0 */
#include "server/service/service_range.h"

#include "unit/unit.h"

static const struct {
    const char *text, *cidr, *first, *families; /* cidr NULL: refused */
} ROWS[] = {
    {"10.0.0.0/24", "10.0.0.0/24", "10.0.0.1", "IPv4"},
    {"10.96.0.5/12", "10.96.0.0/12", "10.96.0.1", "IPv4"},
    {"192.168.0.8/30", "192.168.0.8/30", "192.168.0.9", "IPv4"},
    {"fd00::/108", "fd00::/108", "fd00::1", "IPv6"},
    {"10.0.0.0/24,fd00::/108", "10.0.0.0/24", "10.0.0.1", "IPv4,IPv6"},
    {"fd00::/108,10.0.0.0/24", "fd00::/108", "fd00::1", "IPv6,IPv4"},
    {"10.0.0.0/24,10.1.0.0/24", NULL},
    {"10.0.0.0/24,", NULL},
    {"10.0.0.0/24,fd00::/108,fd01::/108", NULL},
    {"10.0.0.0", NULL},
    {"10.0.0.0/", NULL},
    {"10.0.0.0/33", NULL},
    {"10.0.0.0/31", NULL},
    {"10.0.0.0/8", NULL},
    {"10.0.0/24", NULL},
    {"fd00::/64", NULL},
    {"", NULL},
};

static void test_parse(void **state)
{
    (void)state;
    for (size_t i = 0; i < UNIT_COUNT(ROWS); i++) {
        struct service_ranges r;
        bool ok = service_ranges_parse(ROWS[i].text, &r, NULL);
        ROW(ROWS[i].text, ok == (ROWS[i].cidr != NULL));
        if (!ok)
            continue;
        assert_string_equal(r.v[0].cidr, ROWS[i].cidr);
        assert_string_equal(r.v[0].first, ROWS[i].first);
        assert_string_equal(r.families, ROWS[i].families);
    }
}

static const struct {
    const char *cidr, *first, *low_end, *last; /* first NULL: none to give */
} ADDRESSES[] = {
    {"10.0.0.0/24", "10.0.0.1", "10.0.0.17", "10.0.0.254"},
    {"10.0.0.77/28", "10.0.0.65", "10.0.0.65", "10.0.0.78"},
    {"10.0.0.0/16", "10.0.0.1", "10.0.1.1", "10.0.255.254"},
    {"fd00::/112", "fd00::1", "fd00::101", "fd00::ffff"},
    {"fd00::/64", "fd00::1", "fd00::101", "fd00::ffff:ffff:ffff:ffff"},
    {"10.0.0.0/31", NULL},
    {"10.0.0.0/32", NULL},
    {"fd00::/63", NULL},
    {"fd00::", NULL},
    {"10.0.0.0/24/24", NULL},
};

static void test_addresses(void **state)
{
    (void)state;
    for (size_t i = 0; i < UNIT_COUNT(ADDRESSES); i++) {
        struct address_range r;
        char text[ADDRESS_TEXT];
        bool ok = address_range_parse(str_from(ADDRESSES[i].cidr), &r);
        ROW(ADDRESSES[i].cidr, ok == (ADDRESSES[i].first != NULL));
        if (!ok)
            continue;
        address_print(r.first, r.six, text);
        assert_string_equal(text, ADDRESSES[i].first);
        address_print(r.low_end, r.six, text);
        assert_string_equal(text, ADDRESSES[i].low_end);
        address_print(r.last, r.six, text);
        assert_string_equal(text, ADDRESSES[i].last);
    }
}

static const struct {
    const char *text;
    uint32_t first, n, low; /* n 0: refused */
} PORTS[] = {
    {"30000-32767", 30000, 2768, 86},
    {"30000+9", 30000, 10, 0},
    {"80", 80, 1, 0},
    {"1-65535", 1, 65535, 128},
    {"100-131", 100, 32, 16},
    {"0-10", 0, 0, 0},
    {"10-9", 0, 0, 0},
    {"1-65536", 0, 0, 0},
    {"65000+600", 0, 0, 0},
    {"", 0, 0, 0},
    {"a-b", 0, 0, 0},
    {"1-2-3", 0, 0, 0},
};

static void test_ports(void **state)
{
    (void)state;
    for (size_t i = 0; i < UNIT_COUNT(PORTS); i++) {
        struct port_range r = {0};
        bool ok = port_range_parse(PORTS[i].text, &r, NULL);
        ROW(PORTS[i].text, ok == (PORTS[i].n != 0) && r.first == PORTS[i].first &&
                               r.n == PORTS[i].n &&
                               (!ok || port_range_low(&r) == PORTS[i].low));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parse),
        cmocka_unit_test(test_addresses),
        cmocka_unit_test(test_ports),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
