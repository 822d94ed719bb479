/* SPDX-License-Identifier: Apache-2.0 */
#include "unit/unit.h"

#include "api/image_name.h"

#define HEX64 "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static const struct {
    const char *name;
    bool latest;
} NAMES[] = {
    {"nginx", true},
    {"nginx:latest", true},
    {"nginx:1.2", false},
    {"registry.example:5000/a/b_c/d--e", true},
    {"registry.example:5000/a:latest", true},
    {"registry.example:5000/a:v1", false},
    {"localhost/a", true},
    {"[::1]:5000/a", true},
    {"nginx@sha256:" HEX64, false},
    {"nginx:latest@sha256:" HEX64, true},
    {"a__b", true},
    /* no names at all */
    {"", false},
    {"Nginx", false},
    {"a/B", false},
    {"UPPER/a", true}, /* an upper-case first word is a domain */
    {"a//b", false},
    {"a___b", false},
    {"-a", false},
    {"a-", false},
    {"nginx:", false},
    {"nginx:-x", false},
    {"nginx@sha256:12", false},
    {"nginx@md5:" HEX64, false},
    {"registry.example:port/a", false},
    {HEX64, false},
};

static void test_names(void **state)
{
    (void)state;
    for (size_t i = 0; i < UNIT_COUNT(NAMES); i++)
        ROW(NAMES[i].name,
            image_name_is_latest(str_from(NAMES[i].name)) == NAMES[i].latest);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_names)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
