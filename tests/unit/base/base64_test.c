/* SPDX-License-Identifier: Apache-2.0 */
#include "unit/unit.h"

#include "base/base64.h"

static const struct {
    struct str bytes;
    const char *text;
} PAIRS[] = {
    {{"", 0}, ""},        {{"f", 1}, "Zg=="},        {{"fo", 2}, "Zm8="},
    {{"foo", 3}, "Zm9v"}, {{"foob", 4}, "Zm9vYg=="}, {{"\0\xff\x80", 3}, "AP+A"},
};

static void test_pairs(void **state)
{
    struct arena a = {0};
    (void)state;
    for (size_t i = 0; i < UNIT_COUNT(PAIRS); i++) {
        struct str back;
        assert_str(base64_encode(PAIRS[i].bytes, &a), PAIRS[i].text);
        ROW(PAIRS[i].text, base64_decode(str_from(PAIRS[i].text), &a, &back));
        ROW(PAIRS[i].text, str_eq(back, PAIRS[i].bytes));
    }
    arena_fini(&a);
}

static void test_odd_texts(void **state)
{
    struct arena a = {0};
    struct str got;
    (void)state;
    assert_true(base64_decode(STR("Zm\r\n9v\n"), &a, &got));
    assert_str(got, "foo");
    assert_true(base64_decode(STR("Zg"), &a, &got));
    assert_str(got, "f");
    assert_false(base64_decode(STR("Zm9*"), &a, &got));
    assert_false(base64_decode(STR("Zg==Zg=="), &a, &got));
    arena_fini(&a);
}

static void test_faults(void **state)
{
    static const struct {
        const char *text;
        size_t fault;
    } ROWS[] = {
        {"", SIZE_MAX},
        {"bm8=", SIZE_MAX},
        {"bm8=\n", SIZE_MAX},
        {"bm\n8=", SIZE_MAX},
        {"bg=\n=", SIZE_MAX},
        {"one", 0},
        {"bm8", 0},
        {"bm8=x", 4},
        {"b m8=", 1},
        {"=", 0},
        {"bm8==", 4},
        {"a", 0},
        {"ab", 0},
        {"abc!", 3},
        {"bm9vb", 4},
        {"a=", 1},
        {"ab=", 3},
        {"ab=c", 3},
    };
    (void)state;
    for (size_t i = 0; i < UNIT_COUNT(ROWS); i++)
        ROW(ROWS[i].text, base64_fault(str_from(ROWS[i].text)) == ROWS[i].fault);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pairs),
        cmocka_unit_test(test_odd_texts),
        cmocka_unit_test(test_faults),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
