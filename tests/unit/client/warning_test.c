/* SPDX-License-Identifier: Apache-2.0 */
#include "client/warning.h"

#include "unit/unit.h"

static void test_reads(void **state)
{
    static const struct {
        const char *value, *want; /* texts, with a | behind each */
    } CASES[] = {
        {"299 - \"one\"", "one|"},
        {"299 - \"say \\\"it\\\" \\\\ so\"", "say \"it\" \\ so|"},
        {"299 - \"a, b\", 299 proxy:80 \"c\"", "a, b|c|"},
        {"299 - \"a\" \"Tue, 01 Dec 2026 05:00:00 GMT\",299 - \"b\"", "a|b|"},
        {"199 - \"other\", 299 - \"one\"", "one|"},
        {"299 - \"\x1b[31mred\", 299 - \"one\"", "one|"},
        {"299 - \"\"", "|"},
        {"299 - \"a\", 299 - \"cut", "a|"},
        {"299 - \"a\\", ""},
        {"299 - one", ""},
        {"299", ""},
        {"", ""},
    };
    (void)state;
    for (size_t i = 0; i < UNIT_COUNT(CASES); i++) {
        struct arena a = {0};
        struct strbuf b = STRBUF_INIT;
        struct str rest = str_from(CASES[i].value), text;
        while (warning_next(&rest, &a, &text))
            strbuf_addf(&b, "%.*s|", STR_ARG(text));
        assert_string_equal(strbuf_cstr(&b), CASES[i].want);
        strbuf_release(&b);
        arena_fini(&a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_reads)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
