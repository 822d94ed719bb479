/* SPDX-License-Identifier: Apache-2.0 */
#include "unit/unit.h"

#include "base/names.h"

static void test_valid(void **state)
{
    static const struct {
        enum name_kind kind;
        const char *s;
        bool valid;
    } rows[] = {
        {NAME_DNS1123_LABEL, "a", true},
        {NAME_DNS1123_LABEL, "0-a", true},
        {NAME_DNS1123_LABEL, "", false},
        {NAME_DNS1123_LABEL, "a-", false},
        {NAME_DNS1123_LABEL, "A", false},
        {NAME_DNS1123_LABEL, "a.b", false},
        {NAME_DNS1123_SUBDOMAIN, "gpu.example.com", true},
        {NAME_DNS1123_SUBDOMAIN, "gpu..com", false},
        {NAME_DNS1123_SUBDOMAIN, ".com", false},
        {NAME_DNS1123_SUBDOMAIN, "Gpu.com", false},
        {NAME_DNS1123_SUBDOMAIN_CASELESS, "Gpu.Com", true},
        {NAME_DNS1035_LABEL, "a1", true},
        {NAME_DNS1035_LABEL, "1a", false},
        {NAME_LABEL_KEY, "example.com/My_name.1", true},
        {NAME_LABEL_KEY, "/x", false},
        {NAME_LABEL_KEY, "a/b/c", false},
        {NAME_LABEL_KEY, "a/", false},
        {NAME_LABEL_VALUE, "", true},
        {NAME_LABEL_VALUE, "-a", false},
        {NAME_C_IDENTIFIER, "_a9", true},
        {NAME_C_IDENTIFIER, "9a", false},
        {NAME_C_IDENTIFIER, "", false},
    };
    for (size_t i = 0; i < UNIT_COUNT(rows); i++)
        ROW(rows[i].s, name_valid(rows[i].kind, str_from(rows[i].s)) == rows[i].valid);
}

static void test_lengths(void **state)
{
    char text[254];
    memset(text, 'a', sizeof text);
    assert_true(name_valid(NAME_DNS1123_LABEL, (struct str){text, 63}));
    assert_false(name_valid(NAME_DNS1123_LABEL, (struct str){text, 64}));
    assert_true(name_valid(NAME_DNS1123_SUBDOMAIN, (struct str){text, 253}));
    assert_false(name_valid(NAME_DNS1123_SUBDOMAIN, (struct str){text, 254}));
    assert_true(name_valid(NAME_C_IDENTIFIER, (struct str){text, 254}));
}

static void test_problems(void **state)
{
    static const struct {
        enum name_kind kind;
        const char *s;
        unsigned n;
        const char *last;
    } rows[] = {
        {NAME_DNS1123_LABEL, "a.b", 1, "must not contain dots"},
        {NAME_DNS1123_LABEL, "_", 1,
         "a lowercase RFC 1123 label must consist of lower case alphanumeric characters "
         "or "
         "'-', and must start and end with an alphanumeric character (e.g. 'my-name',  "
         "or "
         "'123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')"},
        {NAME_DNS1123_SUBDOMAIN, "A", 1,
         "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric "
         "characters, "
         "'-' or '.', and must start and end with an alphanumeric character (e.g. "
         "'example.com', regex used for validation is "
         "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"},
        {NAME_LABEL_KEY, "/a", 1, "prefix part must be non-empty"},
        {NAME_LABEL_KEY, "A_/", 3,
         "name part must consist of alphanumeric characters, '-', '_' or '.', and must "
         "start "
         "and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or "
         "'123-abc', regex used for validation is "
         "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"},
    };
    struct arena a;
    arena_init(&a);
    for (size_t i = 0; i < UNIT_COUNT(rows); i++) {
        struct str problems[NAME_MAX_PROBLEMS];
        unsigned n = name_check(rows[i].kind, str_from(rows[i].s), &a, problems);
        ROW(rows[i].s, n == rows[i].n);
        assert_str(problems[n - 1], rows[i].last);
    }
    arena_fini(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_valid),
        cmocka_unit_test(test_lengths),
        cmocka_unit_test(test_problems),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
