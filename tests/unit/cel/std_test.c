/* SPDX-License-Identifier: Apache-2.0 */
/* The core language's operators and functions: values, errors and costs as upstream has
 * them. */
#include "run_unit.h"

static const struct run_row operators[] = {
    {"1 + 2", "3", 1},
    {"9223372036854775807 + 1", "error: integer overflow", 1},
    {"-9223372036854775808 - 1", "error: integer overflow", 1},
    {"9223372036854775807 * 2", "error: integer overflow", 1},
    {"-9223372036854775808 / -1", "error: integer overflow", 1},
    {"-9223372036854775808 % -1", "error: integer overflow", 1},
    {"7 / 2", "3", 1},
    {"-7 / 2", "-3", 1},
    {"-7 % 3", "-1", 1},
    {"1 / 0", "error: division by zero", 1},
    {"1 % 0", "error: modulus by zero", 1},
    {"1u + 2u", "3u", 1},
    {"0u - 1u", "error: unsigned integer overflow", 1},
    {"18446744073709551615u + 1u", "error: unsigned integer overflow", 1},
    {"18446744073709551615u * 2u", "error: unsigned integer overflow", 1},
    {"5u / 0u", "error: division by zero", 1},
    {"5u % 0u", "error: modulus by zero", 1},
    {"1.5 + 2.25", "3.75", 1},
    {"1.0 / 0.0", "+Inf", 1},
    {"-1.0 / 0.0", "-Inf", 1},
    {"0.1 + 0.2", "0.30000000000000004", 1},
    {"-(-9223372036854775807 - 1)", "error: integer overflow", 2},
    {"-1.5", "-1.5", 0},
    {"\"a\" + \"ü\"", "\"aü\"", 1},
    {"b\"a\" + b\"\\xff\"", "bytes:61ff", 1},
    {"[1] + [2, 3]", "[1, 2, 3]", 1},
    {"1 < 2", "true", 1},
    {"1 < 1.5", "true", 1},
    {"2u >= 2", "true", 1},
    {"-1 < 0u", "true", 1},
    {"9007199254740993 > 9007199254740992.0", "false", 1},
    {"\"abc\" < \"abd\"", "true", 1},
    {"\"Z\" < \"a\"", "true", 1},
    {"b\"a\" < b\"ab\"", "true", 1},
    {"false < true", "true", 1},
    {"double(\"NaN\") < 1.0", "error: NaN values cannot be ordered", 1},
    {"double(\"NaN\") == double(\"NaN\")", "false", 1},
    {"dyn(1) == 1.0", "true", 1},
    {"dyn(1u) == 1", "true", 1},
    {"dyn(\"1\") == 1", "false", 1},
    {"null == dyn(null)", "true", 1},
    {"dyn(null) == 1", "false", 1},
    {"[1, 2] == [1, 2]", "true", 1},
    {"{\"a\": 1} == {\"a\": 1}", "true", 1},
    {"{\"a\": 1, \"b\": 2} == {\"b\": 2, \"a\": 1}", "true", 1},
    {"{\"a\": 1} == {\"a\": 2}", "false", 1},
    {"{\"a\": 1} == {\"b\": 1}", "false", 1},
    {"type(1) == int", "true", 1},
    {"type([1]) == type([\"a\"])", "true", 1},
    {"optional.of(1) == optional.of(1)", "true", 3},
    {"optional.of(1) == optional.none()", "false", 3},
    {"dyn(quantity(\"1\")) == dyn(1)", "error: no such overload", 3},
    {"dyn(1) == dyn(quantity(\"1\"))", "false", 3},
    {"dyn(quantity(\"1\")) != dyn(1)", "true", 3},
    {"dyn(semver(\"1.0.0\")) == dyn(\"1.0.0\")", "error: no such overload", 3},
    {"dyn(ip(\"1.2.3.4\")) == dyn(null)", "false", 3},
    {"1 in [1, 2]", "true", 0},
    {"3 in [1, 2]", "false", 0},
    {"dyn(1.0) in [1, 2]", "true", 0},
    {"dyn(quantity(\"1\")) in [dyn(1), dyn(quantity(\"1\"))]", "true", 16},
    {"\"a\" in {\"a\": 1}", "true", 1},
    {"dyn(1.0) in {1: \"x\"}", "true", 1},
    {"1 in {dyn(1u): \"x\"}", "true", 1},
    {"\"x\" in []", "false", 0},
    {"dyn(1) in dyn(5)", "error: no such overload", 1},
    {"size(\"héllo\")", "5", 1},
    {"size(b\"h\\xc3\\xa9\")", "3", 1},
    {"size([1, 2])", "2", 1},
    {"size({\"a\": 1})", "1", 1},
    {"\"日本\".size()", "2", 1},
    {"size(dyn(1))", "error: no such overload: size", 1},
    {"\"hello\".contains(\"ell\")", "true", 1},
    {"\"hello\".startsWith(\"he\")", "true", 1},
    {"\"hello\".endsWith(\"lo\")", "true", 1},
    {"\"hello\".endsWith(\"\")", "true", 0},
    {"\"abc\".matches(\"^a.c$\")", "true", 2},
    {"\"abc\".matches(\"B\")", "false", 1},
    {"\"abc\".matches(\"(?i)B\")", "true", 2},
    {"dyn(1) + dyn(\"a\")", "error: no such overload", 1},
    {"dyn(null) + dyn(1)", "error: no such overload: _+_", 1},
    {"dyn(\"a\") - dyn(1)", "error: no such overload", 1},
    {"dyn(true) < dyn(1)", "error: no such overload", 1},
    {"dyn([1]) < dyn([2])", "error: no such overload: _<_", 1},
    {"-dyn(\"a\")", "error: no such overload", 1},
    {"-dyn(1u)", "error: no such overload: -_", 1},
    {"!dyn(1)", "error: no such overload", 1},
    {"dyn(1).contains(\"a\")", "error: no such overload", 1},
};

static const struct run_row conversions[] = {
    {"int(\"42\")", "42", 0},
    {"int(\"-9223372036854775808\")", "-9223372036854775808", 0},
    {"int(3.99)", "3", 0},
    {"int(-3.99)", "-3", 0},
    {"int(5u)", "5", 0},
    {"uint(\"18446744073709551615\")", "18446744073709551615u", 0},
    {"uint(3.9)", "3u", 0},
    {"uint(5)", "5u", 0},
    {"double(\"1e3\")", "1000", 0},
    {"double(\"1_000.5\")", "1000.5", 0},
    {"double(\"0x1.8p1\")", "3", 0},
    {"double(\"-Infinity\")", "-Inf", 0},
    {"double(\"nan\")", "NaN", 0},
    {"double(\"1e-400\")", "0", 0},
    {"double(9007199254740993)", "9.007199254740992e+15", 0},
    {"double(3u)", "3", 0},
    {"string(1.5)", "\"1.5\"", 0},
    {"string(1e6)", "\"1e+06\"", 0},
    {"string(100000.0)", "\"100000\"", 0},
    {"string(1e21)", "\"1e+21\"", 0},
    {"string(1e-5)", "\"1e-05\"", 0},
    {"string(0.0001)", "\"0.0001\"", 0},
    {"string(-0.0)", "\"-0\"", 0},
    {"string(1.0 / 0.0)", "\"+Inf\"", 2},
    {"string(123)", "\"123\"", 0},
    {"string(18446744073709551615u)", "\"18446744073709551615\"", 0},
    {"string(true)", "\"true\"", 0},
    {"string(b\"abc\")", "\"abc\"", 0},
    {"bytes(\"ü\")", "bytes:c3bc", 0},
    {"bool(\"TRUE\")", "true", 0},
    {"bool(\"f\")", "false", 0},
    {"type(\"a\")", "string", 0},
    {"type(type(1))", "type", 0},
    {"type(null)", "null_type", 0},
    {"type(optional.none())", "optional_type(dyn)", 2},
    {"type(duration(\"1s\"))", "google.protobuf.Duration", 0},
    {"type(quantity(\"1\"))", "kubernetes.Quantity", 2},
    {"dyn(1)", "1", 0},
};

static const struct run_row times[] = {
    {"duration(\"1h\") + duration(\"30m\")", "5400s", 1},
    {"timestamp(\"2024-02-28T23:59:59Z\") + duration(\"1s\")", "2024-02-29T00:00:00Z", 1},
    {"duration(\"1s\") + timestamp(\"2024-12-31T23:59:59Z\")", "2025-01-01T00:00:00Z", 1},
    {"timestamp(\"2024-01-01T00:00:00Z\") - duration(\"1ns\")",
     "2023-12-31T23:59:59.999999999Z", 1},
    {"timestamp(\"2024-03-01T00:00:00Z\") - timestamp(\"2024-02-01T00:00:00Z\")",
     "2505600s", 1},
    {"duration(\"1s\") - duration(\"2s\")", "-1s", 1},
    {"timestamp(253402300799) + duration(\"1s\")", "error: timestamp overflow", 1},
    {"timestamp(\"0001-01-01T00:00:00Z\") - duration(\"1s\")",
     "error: timestamp overflow", 1},
    {"timestamp(\"9999-01-01T00:00:00Z\") - timestamp(\"0001-01-01T00:00:00Z\")",
     "error: integer overflow", 1},
    {"duration(\"2540400h\") + duration(\"2540400h\")", "error: integer overflow", 1},
    {"duration(\"1s\") < duration(\"1001ms\")", "true", 1},
    {"timestamp(1) <= timestamp(1)", "true", 1},
    {"dyn(duration(\"1s\")).size()", "error: no such overload", 1},
    {"int(duration(\"1.5s\"))", "1500000000", 0},
    {"int(timestamp(\"2024-01-01T00:00:00Z\"))", "1704067200", 0},
    {"string(duration(\"90m\"))", "\"5400s\"", 0},
    {"string(duration(\"-1.000000001s\"))", "\"-1.000000001s\"", 0},
    {"string(timestamp(\"2024-01-01T05:00:00.120+01:30\"))",
     "\"2024-01-01T05:00:00.12+01:30\"", 0},
    {"duration(\"1h2m3s4ms5us6ns\")", "3723.004005006s", 0},
    {"duration(\"-1.5h\")", "-5400s", 0},
    {"duration(\"0\")", "0s", 0},
    {"duration(\"+1m\")", "60s", 0},
    {"timestamp(\"2024-02-29T12:00:00Z\")", "2024-02-29T12:00:00Z", 0},
    {"timestamp(\"2024-01-01T5:00:00Z\")", "2024-01-01T05:00:00Z", 0},
    {"timestamp(\"2024-01-01T05:00:00,25Z\")", "2024-01-01T05:00:00.25Z", 0},
    {"timestamp(\"2024-01-01T05:00:00+24:60\")", "2024-01-01T05:00:00+25:00", 0},
    {"timestamp(\"2024-01-01T00:00:00.123456789123Z\")", "2024-01-01T00:00:00.123456789Z",
     0},
    {"timestamp(0)", "1970-01-01T00:00:00Z", 0},
    {"timestamp(\"2024-07-14T10:30:45.123Z\").getFullYear()", "2024", 1},
    {"timestamp(\"2024-07-14T10:30:45.123Z\").getMonth()", "6", 1},
    {"timestamp(\"2024-07-14T10:30:45.123Z\").getDayOfYear()", "195", 1},
    {"timestamp(\"2024-07-14T10:30:45.123Z\").getDayOfMonth()", "13", 1},
    {"timestamp(\"2024-07-14T10:30:45.123Z\").getDate()", "14", 1},
    {"timestamp(\"2024-07-14T10:30:45.123Z\").getDayOfWeek()", "0", 1},
    {"timestamp(\"2024-07-14T10:30:45.123Z\").getHours()", "10", 1},
    {"timestamp(\"2024-07-14T10:30:45.123Z\").getMinutes()", "30", 1},
    {"timestamp(\"2024-07-14T10:30:45.123Z\").getSeconds()", "45", 1},
    {"timestamp(\"2024-07-14T10:30:45.123Z\").getMilliseconds()", "123", 1},
    {"timestamp(\"2024-01-01T00:30:00Z\").getFullYear(\"America/New_York\")", "2023", 1},
    {"timestamp(\"2024-01-01T00:30:00Z\").getDayOfYear(\"America/New_York\")", "364", 1},
    {"timestamp(\"2024-07-01T00:00:00Z\").getHours(\"Europe/Berlin\")", "2", 1},
    {"timestamp(\"2024-01-01T00:00:00Z\").getHours(\"Europe/Berlin\")", "1", 1},
    {"timestamp(\"2094-07-01T00:00:00Z\").getHours(\"Europe/Berlin\")", "2", 1},
    {"timestamp(\"2094-01-01T00:00:00Z\").getHours(\"Australia/Sydney\")", "11", 1},
    {"timestamp(\"1800-07-01T00:00:00Z\").getMinutes(\"Europe/Berlin\")", "53", 1},
    {"timestamp(\"2024-01-01T00:00:00Z\").getHours(\"+05:30\")", "5", 1},
    {"timestamp(\"2024-01-01T00:00:00Z\").getMinutes(\"+05:30\")", "30", 1},
    {"timestamp(\"2024-01-01T00:00:00Z\").getHours(\"-08:30\")", "15", 1},
    {"timestamp(\"2024-01-01T00:00:00Z\").getHours(\"UTC\")", "0", 1},
    {"timestamp(\"2024-01-01T00:00:00Z\").getHours(\"nope/zone\")",
     "error: unknown time zone nope/zone", 1},
    {"timestamp(\"2024-01-01T00:00:00Z\").getHours(\"../x\")",
     "error: time: invalid location name", 1},
    {"timestamp(\"2024-01-01T00:00:00Z\").getHours(\"x:1\")",
     "error: strconv.Atoi: parsing \"x\": invalid syntax", 1},
    {"timestamp(\"2024-01-01T00:00:00Z\").getHours(\"99999999999999999999:30\")",
     "error: strconv.Atoi: parsing \"99999999999999999999\": value out of range", 1},
    {"timestamp(\"0001-01-01T00:00:00Z\").getDayOfWeek()", "1", 1},
    {"duration(\"90m\").getHours()", "1", 1},
    {"duration(\"90m\").getMinutes()", "90", 1},
    {"duration(\"90m\").getSeconds()", "5400", 1},
    {"duration(\"1.5s\").getMilliseconds()", "1500", 1},
    {"dyn(1).getHours()", "error: no such overload: getHours(int)", 1},
};

/* Refused when the program is made, since their operands are constants. */
static const struct run_row refused[] = {
    {"int(\"4.5\")",
     "program instantiation failed: type conversion error from 'string' to "
     "'int'"},
    {"int(9223372036854775807.0)", "program instantiation failed: integer overflow"},
    {"int(-9223372036854775808.0)", "program instantiation failed: integer overflow"},
    {"int(9223372036854775808u)", "program instantiation failed: integer overflow"},
    {"uint(-1)", "program instantiation failed: unsigned integer overflow"},
    {"uint(-1.0)", "program instantiation failed: unsigned integer overflow"},
    {"uint(\"+1\")",
     "program instantiation failed: type conversion error from 'string' to "
     "'uint'"},
    {"double(\"1e400\")", "program instantiation failed: type conversion error from "
                          "'string' to 'double'"},
    {"double(\"1__0\")", "program instantiation failed: type conversion error from "
                         "'string' to 'double'"},
    {"double(\" 1\")", "program instantiation failed: type conversion error from "
                       "'string' to 'double'"},
    {"bool(\"yes\")", "program instantiation failed: type conversion error from 'string' "
                      "to 'bool'"},
    {"string(b\"\\xff\")", "program instantiation failed: invalid UTF-8 in bytes, cannot "
                           "convert to string"},
    {"string(dyn([1]))", "program instantiation failed: no such overload: string(list)"},
    {"\"a\".matches(dyn(\"(\"))",
     "program instantiation failed: error parsing regexp: missing closing ): `(`"},
    {"\"a\".find(\"[\")",
     "program instantiation failed: error parsing regexp: missing closing ]: `[`"},
    {"[1][dyn(null)]",
     "program instantiation failed: invalid qualifier type: types.Null"},
};

static struct run_unit unit;

static int open_unit(void **state)
{
    struct cel_env_opts opts = unit_opts();
    opts.flags |= CEL_ENV_FOLD;
    run_unit_init(&unit, &opts);
    return 0;
}

static int close_unit(void **state)
{
    run_unit_fini(&unit);
    return 0;
}

static void test_operators(void **state)
{
    run_unit_rows(&unit, operators, UNIT_COUNT(operators));
}

static void test_conversions(void **state)
{
    run_unit_rows(&unit, conversions, UNIT_COUNT(conversions));
}

static void test_times(void **state)
{
    run_unit_rows(&unit, times, UNIT_COUNT(times));
}

static void test_refused(void **state)
{
    for (size_t i = 0; i < UNIT_COUNT(refused); i++)
        assert_string_equal(run_unit_text(&unit, refused[i].expr, NULL), refused[i].text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_operators),
        cmocka_unit_test(test_conversions),
        cmocka_unit_test(test_times),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, open_unit, close_unit);
}
