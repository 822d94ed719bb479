/* SPDX-License-Identifier: Apache-2.0 */
/* find and findAll; results and costs as upstream gives them. */
#include "unit/cel/lib_unit.h"

static const struct lib_row searches[] = {
    {"\"abc 123\".find(\"[0-9]+\")", "\"123\"", 2},
    {"\"abc\".find(\"[0-9]+\")", "\"\"", 2},
    {"\"a1b22\".findAll(\"[0-9]+\")", "[\"1\", \"22\"]", 2},
    {"\"a1b22\".findAll(\"[0-9]+\", -9223372036854775808)", "[\"1\", \"22\"]", 2},
    {"\"a1b22\".findAll(\"[0-9]+\", 1)", "[\"1\"]", 2},
    {"\"a1b22\".findAll(\"[0-9]+\", 0)", "[]", 2},
    {"\"日本\".findAll(\"\")", "[\"\", \"\", \"\"]", 0},
    {"\"baaac\".findAll(\"a*\")", "[\"\", \"aaa\", \"\"]", 1},
    {"\"x\".find(\"(\")",
     "error: program instantiation failed: error parsing regexp: missing closing ): `(`",
     COST_NONE},
    {"\"x\".find(dyn(\"(\"))",
     "error: program instantiation failed: error parsing regexp: missing closing ): `(`",
     COST_NONE},
    {"\"x\".findAll(dyn(\"a**\"))",
     "error: program instantiation failed: error parsing regexp: invalid nested "
     "repetition operator: `**`",
     COST_NONE},
    {"\"x\".find(\"(?<n>x)\")", "\"x\"", 2},
    {"\"x\".find(\"\\\\C\")",
     "error: program instantiation failed: error parsing regexp: invalid escape "
     "sequence: `\\C`",
     COST_NONE},
};

static void test_searches(void **state)
{
    lib_unit_rows(false, searches, UNIT_COUNT(searches));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_searches),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
