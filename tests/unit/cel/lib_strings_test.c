/* SPDX-License-Identifier: Apache-2.0 */
/* Results and costs as upstream gives them. */
#include "unit/cel/lib_unit.h"

static const struct lib_row strings[] = {
    {"\"héllo\".charAt(1)", "\"é\"", 1},
    {"\"abc\".charAt(3)", "\"\"", 1},
    {"\"abc\".charAt(4)", "error: index out of range: 4", 1},
    {"\"abc\".charAt(-1)", "error: index out of range: -1", 1},
    {"\"日本語\".charAt(2)", "\"語\"", 1},
    {"\"日本語\".indexOf(\"語\")", "2", 0},
    {"\"abcabc\".indexOf(\"c\")", "2", 0},
    {"\"abcabc\".indexOf(\"c\", 3)", "5", 0},
    {"\"abcabc\".indexOf(\"c\", 6)", "-1", 0},
    {"\"abcabc\".indexOf(\"\", 2)", "2", 0},
    {"\"abcabc\".indexOf(\"\", 9)", "6", 0},
    {"\"abcabc\".indexOf(\"c\", -1)", "error: index out of range: -1", 0},
    {"\"日本日本\".indexOf(\"本\", 2)", "3", 1},
    {"\"\".indexOf(\"\")", "0", 0},
    {"\"\".indexOf(\"a\")", "-1", 0},
    {"\"abcabc\".lastIndexOf(\"c\")", "5", 0},
    {"\"abcabc\".lastIndexOf(\"c\", 4)", "2", 0},
    {"\"abcabc\".lastIndexOf(\"abc\", 5)", "3", 0},
    {"\"abcabc\".lastIndexOf(\"c\", 6)", "-1", 0},
    {"\"abcabc\".lastIndexOf(\"\", 3)", "3", 0},
    {"\"abcabc\".lastIndexOf(\"\", 9)", "6", 0},
    {"\"abcabc\".lastIndexOf(\"c\", -1)", "error: index out of range: -1", 0},
    {"\"日本日本\".lastIndexOf(\"本\")", "3", 1},
    {"\"日本日本\".lastIndexOf(\"日本\", 3)", "2", 1},
    {"\"ab\".lastIndexOf(\"abc\")", "-1", 0},
    {"\"\".lastIndexOf(\"\")", "0", 0},
    {"\"ÀbC\".lowerAscii()", "\"Àbc\"", 1},
    {"\"àbc\".upperAscii()", "\"àBC\"", 1},
    {"\"abab\".replace(\"ab\", \"x\")", "\"xx\"", 1},
    {"\"abab\".replace(\"ab\", \"x\", 1)", "\"xab\"", 1},
    {"\"abab\".replace(\"ab\", \"x\", 0)", "\"abab\"", 1},
    {"\"日本\".replace(\"\", \"-\")", "\"-日-本-\"", 1},
    {"\"日本\".replace(\"\", \"-\", 2)", "\"-日-本\"", 1},
    {"\"\".replace(\"\", \"x\")", "\"x\"", 0},
    {"\"aaa\".replace(\"aa\", \"b\")", "\"ba\"", 1},
    {"\"a\".replace(\"a\", \"\")", "\"\"", 1},
    {"\"a,b,c\".split(\",\")", "[\"a\", \"b\", \"c\"]", 1},
    {"\"a,b,c\".split(\",\", 2)", "[\"a\", \"b,c\"]", 1},
    {"\"a,b,c\".split(\",\", 1)", "[\"a,b,c\"]", 1},
    {"\"a,b,c\".split(\",\", 0)", "[]", 1},
    {"\"a,b,c\".split(\",\", -1)", "[\"a\", \"b\", \"c\"]", 1},
    {"\"日本語\".split(\"\")", "[\"日\", \"本\", \"語\"]", 1},
    {"\"日本語\".split(\"\", 2)", "[\"日\", \"本語\"]", 1},
    {"\"\".split(\"\")", "[]", 0},
    {"\"\".split(\",\")", "[\"\"]", 0},
    {"\"abc\".split(\"abc\")", "[\"\", \"\"]", 1},
    {"\"abcde\".substring(2)", "\"cde\"", 1},
    {"\"abcde\".substring(5)", "\"\"", 1},
    {"\"abcde\".substring(6)", "error: index out of range: 6", 1},
    {"\"abcde\".substring(-1)", "error: index out of range: -1", 1},
    {"\"abcde\".substring(1, 3)", "\"bc\"", 1},
    {"\"abcde\".substring(3, 1)", "error: invalid substring range. start: 3, end: 1", 1},
    {"\"abcde\".substring(1, 6)", "error: index out of range: 6", 1},
    {"\"abcde\".substring(-1, 3)", "error: index out of range: -1", 1},
    {"\"日本語\".substring(1, 2)", "\"本\"", 1},
    {"\" \\t\\u00a0\\u3000a b\\u2028\\u0085 \".trim()", "\"a b\"", 1},
    {"\"\\u200b\".trim().size()", "1", 2},
    {"\"\".trim()", "\"\"", 0},
    {"\"   \".trim()", "\"\"", 1},
    {"[\"a\", \"b\"].join()", "\"ab\"", 1},
    {"[\"a\", \"b\"].join(\"-\")", "\"a-b\"", 1},
    {"[].join(\"-\")", "\"\"", 0},
    {"[\"a\", dyn(1)].map(x, x).join(\"-\")",
     "error: ERROR: <input>:1:10: expected type 'string' but found 'dyn'", COST_NONE},
    {"strings.quote(\"a\\\"b\\\\c\\n\\t\\a\\b\\f\\r\\vé'\")",
     "\"\\\"a\\\\\\\"b\\\\\\\\c\\\\n\\\\t\\\\a\\\\b\\\\f\\\\r\\\\vé'\\\"\"", 2},
    {"\"a\".matches(\"^a$\")", "true", 1},
};

static const struct lib_row format[] = {
    {"\"x%sx%d%%\".format([\"é\", 42])", "\"xéx42%\"", 1},
    {"\"%s\".format([[1.5, \"a\\\"b\", b\"xyz\", true, null, duration(\"1h\"), "
     "timestamp(\"2020-01-01T00:00:00Z\"), {1: \"x\"}, type(1), 1u]])",
     "\"[1.500000, \\\"a\\\\\\\"b\\\", b\\\"xyz\\\", true, null, "
     "duration(\\\"3600s\\\"), timestamp(\\\"2020-01-01T00:00:00Z\\\"), {1:\\\"x\\\"}, "
     "int, 1]\"",
     1},
    {"\"%s\".format([{1: 1, 10: 2, 2: 3, \"a\": 1, true: 5, 5u: 7}])",
     "\"{\\\"a\\\":1, 1:1, 10:2, 2:3, 5:7, true:5}\"", 1},
    {"\"%s|%s|%s|%s\".format([1.5, 1e100, -0.0, double(\"inf\")])",
     "\"1.5|1e+100|-0|+Inf\"", 2},
    {"\"%f|%.2f|%.0f|%.3f\".format([1234567.891, 0.005, 2.5, -1e-9])",
     "\"1,234,567.891000|0.01|2|-0.000\"", 2},
    {"\"%e|%.20e|%.3e|%e\".format([12345.6789, -2.5, double(\"inf\"), 0.0])",
     "\"1.234568×10⁰⁴|      -2.500000×10⁰⁰|  ∞|0.000000×10⁰⁰\"", 2},
    {"\"%f|%e\".format([\"NaN\", \"-Infinity\"])", "\"NaN|    -∞\"", 1},
    {"\"%.300f\".format([1e-5])",
     "\"0.000010000000000000000818030539140313095458623138256371021270751953125\"", 1},
    {"\"%.99999999f\".format([0.5])", "\"%!(NOVERB)\"", 2},
    {"\"%b|%b|%b|%o|%o\".format([5, true, -5, 8u, -8])", "\"101|1|-101|10|-10\"", 2},
    {"\"%x|%X|%x|%x\".format([\"hé\", b\"\\xff\\x0a\", -255, 255u])",
     "\"68c3a9|FF0A|-ff|ff\"", 2},
    {"\"%s\".format([\"a\", \"b\"])",
     "error: ERROR: <input>:1:12: too many arguments supplied to string.format (expected "
     "1, got 2)",
     COST_NONE},
    {"\"%s %s\".format([\"a\"])", "error: ERROR: <input>:1:15: index 1 out of range",
     COST_NONE},
    {"\"%s %s\".format(dyn([\"a\"]))", "error: index 1 out of range", 1},
    {"\"%\".format([\"a\"])", "error: ERROR: <input>:1:11: unexpected end of string",
     COST_NONE},
    {"\"%\".format(dyn([]))", "error: index 0 out of range", 1},
    {"\"%q\".format([\"a\"])",
     "error: ERROR: <input>:1:12: could not parse formatting clause: unrecognized "
     "formatting clause \"q\"",
     COST_NONE},
    {"\"%é\".format([\"a\"])",
     "error: ERROR: <input>:1:12: could not parse formatting clause: unrecognized "
     "formatting clause \"Ã\"",
     COST_NONE},
    {"\"%.f\".format([1.5])",
     "error: ERROR: <input>:1:13: could not parse formatting clause: error while parsing "
     "precision: error while converting precision to integer: strconv.Atoi: parsing "
     "\"\": invalid syntax",
     COST_NONE},
    {"\"%.2\".format([1.5])",
     "error: ERROR: <input>:1:13: could not parse formatting clause: error while parsing "
     "precision: could not find end of precision specifier",
     COST_NONE},
    {"\"%.99999999999999999999f\".format([1.5])",
     "error: ERROR: <input>:1:33: could not parse formatting clause: error while parsing "
     "precision: error while converting precision to integer: strconv.Atoi: parsing "
     "\"99999999999999999999\": value out of range",
     COST_NONE},
    {"\"%d\".format([\"a\"])",
     "error: ERROR: <input>:1:14: error during formatting: decimal clause can only be "
     "used on integers, was given string",
     COST_NONE},
    {"\"%s\".format([quantity(\"1\")])",
     "error: ERROR: <input>:1:22: error during formatting: string clause can only be "
     "used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and "
     "timestamps, was given kubernetes.Quantity",
     COST_NONE},
    {"\"%s\".format([[1, [quantity(\"1\")]]])",
     "error: ERROR: <input>:1:27: error during formatting: string clause can only be "
     "used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and "
     "timestamps, was given kubernetes.Quantity",
     COST_NONE},
    {"\"%d\".format([dyn(\"a\")])",
     "error: error during formatting: decimal clause can only be used on integers, was "
     "given string",
     1},
    {"\"%f\".format([dyn(1)])",
     "error: error during formatting: fixed-point clause can only be used on doubles, "
     "was given int",
     1},
    {"\"%e\".format([dyn(\"x\")])",
     "error: error during formatting: scientific clause can only be used on doubles, was "
     "given string",
     1},
    {"\"%b\".format([dyn(1.5)])",
     "error: error during formatting: only integers and bools can be formatted as "
     "binary, was given double",
     1},
    {"\"%x\".format([dyn(1.5)])",
     "error: error during formatting: only integers, byte buffers, and strings can be "
     "formatted as hex, was given double",
     1},
    {"\"%o\".format([dyn(1.5)])",
     "error: error during formatting: octal clause can only be used on integers, was "
     "given double",
     1},
    {"\"%s\".format([dyn(optional.of(1))])",
     "error: error during formatting: string clause can only be used on strings, bools, "
     "bytes, ints, doubles, maps, lists, types, durations, and timestamps, was given "
     "optional_type",
     13},
    {"\"%s\".format([[dyn(quantity(\"1\"))]])",
     "error: error during formatting: no formatting function for kubernetes.Quantity",
     23},
    {"\"%s\".format([dyn(b\"\\xff\")])",
     "error: error during formatting: could not convert argument \"invalid UTF-8 in "
     "bytes, cannot convert to string\" to string",
     1},
    {"\"%s\".format([{1.5: 2}])",
     "error: error during formatting: no formatting function for map key of type double",
     1},
};

static const struct lib_row strings_latest[] = {
    {"\"abc\".indexOf(\"a\", 3)", "-1", COST_NONE},
    {"\"abc\".indexOf(\"a\", 4)", "error: index out of range: 4", COST_NONE},
    {"\"abc\".lastIndexOf(\"a\", 4)", "error: index out of range: 4", COST_NONE},
    {"\"abc\".lastIndexOf(\"a\", -1)", "error: index out of range: -1", COST_NONE},
    {"\"abc\".reverse()", "\"cba\"", COST_NONE},
    {"\"日本é\".reverse()", "\"é本日\"", COST_NONE},
    {"strings.quote(\"a\\\"\\n\")", "\"\\\"a\\\\\\\"\\\\n\\\"\"", COST_NONE},
    {"[\"a\", \"b\"].join(\",\")", "\"a,b\"", COST_NONE},
};

static const struct lib_row format_latest[] = {
    {"\"x%sx%d%%\".format([\"é\", 42])", "\"xéx42%\"", COST_NONE},
    {"\"%s\".format([[1.5, \"a\", b\"xyz\", true, null, duration(\"1h1.5s\"), "
     "timestamp(\"2020-01-01T00:00:00.5Z\"), {\"x\": 1}, type(1), 1u, double(\"inf\"), "
     "-0.0]])",
     "\"[1.5, a, xyz, true, null, 3601.5s, 2020-01-01T00:00:00.5Z, {x: 1}, int, 1, "
     "Infinity, -0]\"",
     COST_NONE},
    {"\"%s\".format([{\"b\": 2, \"a\": [1, {}], \"c\": {}}])",
     "\"{a: [1, {}], b: 2, c: {}}\"", COST_NONE},
    {"\"%s|%s|%s|%s\".format([1.5, 1e100, 1e-7, double(\"-inf\")])",
     "\"1.5|"
     "10000000000000000000000000000000000000000000000000000000000000000000000000000000000"
     "000000000000000000|0.0000001|-Infinity\"",
     COST_NONE},
    {"\"%s\".format([double(\"nan\")])", "\"NaN\"", COST_NONE},
    {"\"%f|%.2f|%.0f|%.3f|%f|%f\".format([1234567.891, 0.005, 2.5, -1e-9, 3, 4u])",
     "\"1234567.891000|0.01|2|-0.000|3.000000|4.000000\"", COST_NONE},
    {"\"%e|%.2e|%e|%e|%e\".format([12345.6789, -2.5, 0.0, 3, 4u])",
     "\"1.234568e+04|-2.50e+00|0.000000e+00|3.000000e+00|4.000000e+00\"", COST_NONE},
    {"\"%f %e %d\".format([double(\"inf\"), double(\"-inf\"), double(\"nan\")])",
     "\"Infinity -Infinity NaN\"", COST_NONE},
    {"\"%d|%d|%d\".format([1.5, 17u, -3])", "\"1.5|17|-3\"", COST_NONE},
    {"\"%.101f\".format([1.0])",
     "error: ERROR: <input>:1:16: could not parse formatting clause: error while parsing "
     "precision: precision 101 exceeds maximum allowed precision 100",
     COST_NONE},
    {"\"%.100f\".format([1.0])",
     "\"1."
     "00000000000000000000000000000000000000000000000000000000000000000000000000000000000"
     "00000000000000000\"",
     COST_NONE},
    {"\"%b|%o|%x|%X\".format([true, 8, \"hé\", b\"\\xff\"])", "\"1|10|68c3a9|FF\"",
     COST_NONE},
    {"\"%b\".format([\"a\"])",
     "error: ERROR: <input>:1:14: error during formatting: only ints, uints, and bools "
     "can be formatted as binary, was given string",
     COST_NONE},
    {"\"%d\".format([\"a\"])",
     "error: ERROR: <input>:1:14: error during formatting: decimal clause can only be "
     "used on ints, uints, and doubles, was given string",
     COST_NONE},
    {"\"%f\".format([\"a\"])",
     "error: ERROR: <input>:1:14: error during formatting: fixed-point clause can only "
     "be used on ints, uints, and doubles, was given string",
     COST_NONE},
    {"\"%e\".format([\"a\"])",
     "error: ERROR: <input>:1:14: error during formatting: scientific clause can only be "
     "used on ints, uints, and doubles, was given string",
     COST_NONE},
    {"\"%x\".format([1.5])",
     "error: ERROR: <input>:1:14: error during formatting: only ints, uints, bytes, and "
     "strings can be formatted as hex, was given double",
     COST_NONE},
    {"\"%o\".format([1.5])",
     "error: ERROR: <input>:1:14: error during formatting: octal clause can only be used "
     "on ints and uints, was given double",
     COST_NONE},
    {"\"%s\".format([dyn(optional.of(1))])",
     "error: error during formatting: string clause can only be used on strings, bools, "
     "bytes, ints, doubles, maps, lists, types, durations, and timestamps, was given "
     "optional_type",
     COST_NONE},
    {"\"%d\".format([dyn(\"a\")])",
     "error: error during formatting: decimal clause can only be used on ints, uints, "
     "and doubles, was given string",
     COST_NONE},
    {"\"%f\".format([dyn(\"a\")])",
     "error: error during formatting: fixed-point clause can only be used on ints, "
     "uints, and doubles, was given string",
     COST_NONE},
    {"\"%e\".format([dyn(\"a\")])",
     "error: error during formatting: scientific clause can only be used on ints, uints, "
     "and doubles, was given string",
     COST_NONE},
    {"\"%b\".format([dyn(\"a\")])",
     "error: error during formatting: only ints, uints, and bools can be formatted as "
     "binary, was given string",
     COST_NONE},
    {"\"%x\".format([dyn(1.5)])",
     "error: error during formatting: only ints, uints, bytes, and strings can be "
     "formatted as hex, was given double",
     COST_NONE},
    {"\"%o\".format([dyn(1.5)])",
     "error: error during formatting: octal clause can only be used on ints and uints, "
     "was given double",
     COST_NONE},
    {"\"%s\".format([b\"\\xff\"]).size()", "1", COST_NONE},
};

static void test_strings(void **state)
{
    lib_unit_rows(false, strings, UNIT_COUNT(strings));
}

static void test_format(void **state)
{
    lib_unit_rows(false, format, UNIT_COUNT(format));
}

static void test_strings_latest(void **state)
{
    lib_unit_rows(true, strings_latest, UNIT_COUNT(strings_latest));
}

static void test_format_latest(void **state)
{
    lib_unit_rows(true, format_latest, UNIT_COUNT(format_latest));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_strings),
        cmocka_unit_test(test_format),
        cmocka_unit_test(test_strings_latest),
        cmocka_unit_test(test_format_latest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
