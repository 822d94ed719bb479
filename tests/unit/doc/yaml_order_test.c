/* SPDX-License-Identifier: Apache-2.0 */
#include "doc/yaml_doc.h"

#include "unit/unit.h"

static void test_compare(void **state)
{
    static const struct {
        const char *a, *b; /* a comes first */
    } rows[] = {
        {"", "a"},
        {"a", "b"},
        {"A", "a"},
        {"Z", "a"},
        {"a", "aa"},
        {"1", "a"},
        {"_", "a"},
        {"a1", "aa"},
        {"a-b", "ab"},
        {"a2", "a10"},
        {"a10", "a10b"},
        {"a1b", "a2"},
        {"1", "2"},
        {"2", "10"},
        {"1a", "01"},
        {"a1", "a01"}, /* equal numbers: the shorter one */
        {"a.b", "a/b"},
        {"a-b", "a.b"},
        {"a\xc3\xa9", "a\xc3\xaa"},
        {"z", "\xc3\xa9"},
        {"1", "\xc3\xa9"},
        {"100", "101"},
        {"a100", "a1001"},
        {"app", "app.kubernetes.io/name"},
        {"app.kubernetes.io/name", "apps"},
        {"1", "99999999999999999999"}, /* beyond 64 bits it wraps */
    };
    for (size_t i = 0; i < UNIT_COUNT(rows); i++) {
        struct str a = str_from(rows[i].a), b = str_from(rows[i].b);
        ROW(rows[i].a, yaml_key_cmp(a, b) < 0);
        ROW(rows[i].a, yaml_key_cmp(b, a) > 0);
        ROW(rows[i].a, yaml_key_cmp(a, a) == 0 && yaml_key_cmp(b, b) == 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_compare),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
