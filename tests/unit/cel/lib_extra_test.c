/* SPDX-License-Identifier: Apache-2.0 */
/* Libraries outside Kubernetes; results as upstream gives them. */
#include "unit/cel/lib_unit.h"

static const struct lib_row math[] = {
    {"math.least(1)", "1", COST_NONE},
    {"math.least(1, 2.5)", "1", COST_NONE},
    {"math.least(3, 2u, 1.5)", "1.5", COST_NONE},
    {"math.greatest([1, 5, 3])", "5", COST_NONE},
    {"math.greatest(1, 2u)", "2u", COST_NONE},
    {"math.least(dyn(\"a\"))", "error: no such overload: math.@min(string)", COST_NONE},
    {"math.least([])",
     "error: ERROR: <input>:1:12: math.least() invalid single argument value", COST_NONE},
    {"math.least(\"a\")",
     "error: ERROR: <input>:1:12: math.least() invalid single argument value", COST_NONE},
    {"math.least(1, \"a\")",
     "error: ERROR: <input>:1:15: math.least() simple literal arguments must be numeric",
     COST_NONE},
    {"math.least(1, 2, \"a\")",
     "error: ERROR: <input>:1:18: math.least() simple literal arguments must be numeric",
     COST_NONE},
    {"math.least()",
     "error: ERROR: <input>:1:1: math.least() requires at least one argument", COST_NONE},
    {"math.least([1, \"a\"])",
     "error: ERROR: <input>:1:12: math.least() invalid single argument value", COST_NONE},
    {"math.least({})",
     "error: ERROR: <input>:1:12: math.least() invalid single argument value", COST_NONE},
    {"math.greatest(dyn([]))", "error: math.@max(list) argument must not be empty",
     COST_NONE},
    {"math.greatest(dyn([\"a\"]))", "error: no such overload: math.@max(list)",
     COST_NONE},
    {"math.greatest([dyn(1), dyn(\"a\")])", "error: no such overload: math.@max",
     COST_NONE},
    {"math.least(1, dyn(\"a\"))", "error: no such overload: math.@min(int, string)",
     COST_NONE},
    {"math.least(1.0, double(\"nan\"))", "error: NaN values cannot be ordered: math.@min",
     COST_NONE},
    {"math.least([1.0, double(\"nan\")])", "error: no such overload: math.@min",
     COST_NONE},
    {"math.ceil(1.2) + math.floor(-1.2) + math.round(2.5) + math.trunc(-1.9)", "2",
     COST_NONE},
    {"math.round(-2.5)", "-3", COST_NONE},
    {"[math.isInf(1.0 / 0.0), math.isNaN(double(\"nan\")), math.isFinite(1.0)]",
     "[true, true, true]", COST_NONE},
    {"[math.abs(-1.5), math.abs(double(\"-inf\"))]", "[1.5, +Inf]", COST_NONE},
    {"math.abs(-9223372036854775807 - 1)", "error: integer overflow", COST_NONE},
    {"math.abs(-5) + math.abs(5)", "10", COST_NONE},
    {"math.abs(5u)", "5u", COST_NONE},
    {"[math.sign(-2.5), math.sign(0.0), math.sign(-0.0)]", "[-1, 0, 0]", COST_NONE},
    {"[math.sign(-2), math.sign(0), math.sign(7)]", "[-1, 0, 1]", COST_NONE},
    {"[math.sign(0u), math.sign(7u)]", "[0u, 1u]", COST_NONE},
    {"math.sign(double(\"nan\"))", "NaN", COST_NONE},
    {"math.bitAnd(6, 3) + math.bitOr(6, 3) + math.bitXor(6, 3) + math.bitNot(6)", "7",
     COST_NONE},
    {"[math.bitAnd(6u, 3u), math.bitOr(6u, 3u), math.bitXor(6u, 3u), math.bitNot(6u)]",
     "[2u, 7u, 5u, 18446744073709551609u]", COST_NONE},
    {"[math.bitShiftLeft(1, 4), math.bitShiftLeft(1, 64), math.bitShiftRight(-1, 60), "
     "math.bitShiftRight(1, 64)]",
     "[16, 0, 15, 0]", COST_NONE},
    {"[math.bitShiftLeft(1u, 4), math.bitShiftRight(255u, 4)]", "[16u, 15u]", COST_NONE},
    {"math.bitShiftLeft(1, -1)", "error: math.bitShiftLeft() negative offset: -1",
     COST_NONE},
    {"math.bitShiftRight(1u, -1)", "error: math.bitShiftRight() negative offset: -1",
     COST_NONE},
    {"[math.sqrt(2.0), math.sqrt(9), math.sqrt(16u)]", "[1.4142135623730951, 3, 4]",
     COST_NONE},
    {"math.sqrt(-1.0)", "NaN", COST_NONE},
};

static const struct lib_row encoders[] = {
    {"base64.encode(b\"\")", "\"\"", COST_NONE},
    {"base64.encode(b\"a\")", "\"YQ==\"", COST_NONE},
    {"base64.encode(b\"ab\")", "\"YWI=\"", COST_NONE},
    {"base64.encode(b\"abc\")", "\"YWJj\"", COST_NONE},
    {"base64.encode(b\"\\xff\\xfe\\xfd\\xfc\")", "\"//79/A==\"", COST_NONE},
    {"base64.decode(\"YQ==\")", "bytes:61", COST_NONE},
    {"base64.decode(\"YQ\")", "bytes:61", COST_NONE},
    {"base64.decode(\"YWI=\")", "bytes:6162", COST_NONE},
    {"base64.decode(\"YWI\")", "bytes:6162", COST_NONE},
    {"base64.decode(\"YWJj\")", "bytes:616263", COST_NONE},
    {"base64.decode(\"YW\\nJj\")", "bytes:616263", COST_NONE},
    {"base64.decode(\"\")", "bytes:", COST_NONE},
    {"base64.decode(\"Y\")", "error: illegal base64 data at input byte 0", COST_NONE},
    {"base64.decode(\"Y===\")", "error: illegal base64 data at input byte 1", COST_NONE},
    {"base64.decode(\"YQ=\")", "error: illegal base64 data at input byte 2", COST_NONE},
    {"base64.decode(\"YQ===\")", "error: illegal base64 data at input byte 2", COST_NONE},
    {"base64.decode(\"YQ==YQ==\")", "error: illegal base64 data at input byte 2",
     COST_NONE},
    {"base64.decode(\"Y!==\")", "error: illegal base64 data at input byte 1", COST_NONE},
    {"base64.decode(\"YWJj=\")", "error: illegal base64 data at input byte 4", COST_NONE},
    {"base64.decode(\"_-8=\")", "error: illegal base64 data at input byte 0", COST_NONE},
};

static void test_math(void **state)
{
    lib_unit_rows(true, math, UNIT_COUNT(math));
}

static void test_encoders(void **state)
{
    lib_unit_rows(true, encoders, UNIT_COUNT(encoders));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_math),
        cmocka_unit_test(test_encoders),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
