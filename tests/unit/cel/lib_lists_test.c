/* SPDX-License-Identifier: Apache-2.0 */
/* Results and costs as upstream gives them; sorts of many equal keys have its order. */
#include "unit/cel/lib_unit.h"

static const struct lib_row lists[] = {
    {"[1, 2, 3, 4].slice(1, 3)", "[2, 3]", 13},
    {"[1, 2].slice(0, 3)", "error: cannot slice(0, 3), list is length 2", 12},
    {"[1, 2].slice(-1, 1)", "error: cannot slice(-1, 1), negative indexes not supported",
     12},
    {"[1, 2].slice(2, 1)",
     "error: cannot slice(2, 1), start index must be less than or equal to end index",
     12},
    {"[1, 2].slice(2, 2)", "[]", 11},
    {"[[1], [2, 3]].flatten()", "[1, 2, 3]", 13},
    {"[[1, [2, [3]]], dyn([4])].flatten()",
     "error: ERROR: <input>:1:6: expected type 'int' but found 'list(dyn)'", COST_NONE},
    {"[[1, [2, [3]]]].flatten(2)",
     "error: ERROR: <input>:1:6: expected type 'int' but found 'list(dyn)'", COST_NONE},
    {"[[1], [2]].flatten(0)", "[[1], [2]]", 11},
    {"[[1], [2]].flatten(-1)", "error: level must be non-negative", 13},
    {"[1, 2].flatten(1)", "[1, 2]", 13},
    {"lists.range(4)", "[0, 1, 2, 3]", 15},
    {"lists.range(0)", "[]", 11},
    {"lists.range(-1)", "error: lists.range: size must be non-negative, got -1", 12},
    {"lists.range(1000001)",
     "error: lists.range: size 1000001 exceeds maximum allowed (1000000)", 12},
    {"[1, 2, 3].reverse()", "[3, 2, 1]", 14},
    {"[].reverse()", "[]", 11},
    {"[3, 1, 3, 2, 1].distinct()", "[3, 1, 2]", 61},
    {"[\"a\", \"b\", \"a\"].distinct()", "[\"a\", \"b\"]", 29},
    {"[1.5, 1.5, 2.0].distinct()", "[1.5, 2]", 29},
    {"[dyn(1), dyn(1u), dyn(1.0), dyn(\"1\")].map(x, x).distinct()", "[1, \"1\"]", 96},
    {"[[1], [2], [1]].distinct()", "[[1], [2]]", 29},
    {"[quantity(\"1\"), quantity(\"1000m\")].distinct().size()", "1", 32},
};

static const struct lib_row sorting[] = {
    {"[3, 1, 2].sort()", "[1, 2, 3]", 29},
    {"[\"b\", \"a\", \"é\", \"Z\"].sort()", "[\"Z\", \"a\", \"b\", \"é\"]", 44},
    {"[true, false].sort()", "[false, true]", 19},
    {"[duration(\"2s\"), duration(\"1s\")].sort()", "[1s, 2s]", 19},
    {"[b\"b\", b\"a\"].sort()", "[bytes:61, bytes:62]", 19},
    {"[1.5, -1.0].sort()", "[-1, 1.5]", 19},
    {"[].sort()", "[]", 11},
    {"[{\"a\": 1}].sort()",
     "error: ERROR: <input>:1:16: found no matching overload for 'sort' applied to "
     "'list(map(string, int)).()'",
     COST_NONE},
    {"[[1], [2]].sort()",
     "error: ERROR: <input>:1:16: found no matching overload for 'sort' applied to "
     "'list(list(int)).()'",
     COST_NONE},
    {"[dyn(1), dyn(\"a\")].map(x, x).sort()",
     "error: list elements must have the same type", 28},
    {"[\"abc\", \"de\", \"f\"].sortBy(s, s.size())", "[\"f\", \"de\", \"abc\"]", 74},
    {"[3, 1, 2].sortBy(x, -x)", "[3, 2, 1]", 74},
    {"[1, 2].sortBy(x, [x])",
     "error: ERROR: <input>:1:14: found no matching overload for '@sortByAssociatedKeys' "
     "applied to 'list(int).(list(list(int)))'",
     COST_NONE},
    {"lists.range(40).sortBy(x, x % 3)",
     "[15, 39, 36, 3, 33, 30, 6, 27, 24, 9, 0, 21, 12, 18, 10, 4, 16, 1, 13, 19, 37, 34, "
     "22, 31, 28, 25, 7, 14, 8, 29, 5, 23, 32, 26, 11, 35, 2, 20, 38, 17]",
     3825},
    {"lists.range(100).sortBy(x, (x * 7919) % 10)",
     "[10, 70, 0, 50, 20, 90, 80, 30, 40, 60, 59, 49, 29, 9, 99, 69, 39, 89, 79, 19, 48, "
     "18, 78, 38, 68, 98, 58, 8, 28, 88, 77, 87, 97, 47, 67, 57, 7, 37, 17, 27, 16, 86, "
     "36, 6, 66, 56, 46, 76, 96, 26, 25, 5, 75, 95, 35, 55, 45, 65, 15, 85, 14, 74, 84, "
     "94, 64, 44, 54, 34, 24, 4, 63, 83, 3, 73, 53, 43, 33, 23, 93, 13, 92, 42, 82, 2, "
     "62, 72, 52, 32, 12, 22, 61, 91, 71, 11, 21, 31, 41, 81, 51, 1]",
     21625},
    {"lists.range(60).sortBy(x, -x / 5)",
     "[59, 58, 57, 56, 55, 50, 54, 53, 52, 51, 48, 45, 49, 47, 46, 43, 44, 42, 41, 40, "
     "35, 39, 38, 37, 36, 31, 30, 34, 33, 32, 29, 26, 28, 27, 25, 20, 24, 23, 22, 21, "
     "18, 15, 19, 17, 16, 11, 10, 13, 12, 14, 5, 9, 8, 7, 6, 0, 4, 3, 2, 1]",
     8185},
    {"lists.range(60).sortBy(x, x / 7)",
     "[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, "
     "23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, "
     "43, 44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59]",
     8125},
    {"lists.range(300).sortBy(x, (x * x) % 17).slice(0, 40)",
     "[119, 51, 238, 153, 255, 68, 170, 0, 85, 289, 221, 34, 136, 102, 272, 187, 204, "
     "17, 205, 35, 120, 18, 118, 203, 16, 239, 273, 186, 103, 135, 271, 101, 220, 33, "
     "137, 188, 288, 222, 86, 290]",
     185176},
};

static const struct lib_row kubernetes[] = {
    {"[1, 2, 2, 3].isSorted()", "true", 4},
    {"[3, 1].isSorted()", "false", 2},
    {"[\"a\", \"b\"].isSorted()", "true", 0},
    {"[1, 2, 3].sum()", "6", 3},
    {"[].sum()", "0", 0},
    {"[1u, 2u].sum()", "3u", 2},
    {"[1.5, 2.0].sum()", "3.5", 2},
    {"[duration(\"1h\"), duration(\"30m\")].sum()", "5400s", 2},
    {"[9223372036854775807, 1].sum()", "error: integer overflow", 2},
    {"[18446744073709551615u, 1u].sum()", "error: unsigned integer overflow", 2},
    {"dyn([\"a\"]).sum()", "error: no such overload: sum(list)", 0},
    {"[3, 1, 2].min()", "1", 3},
    {"[3, 1, 2].max()", "3", 3},
    {"[\"b\", \"a\"].max()", "\"b\"", 0},
    {"[].min()", "error: min called on empty list", 0},
    {"[].max()", "error: max called on empty list", 0},
    {"dyn([null]).min()", "error: no such overload: min(list)", 1},
    {"[timestamp(\"2020-01-01T00:00:00Z\"), timestamp(\"2019-01-01T00:00:00Z\")].min()",
     "2019-01-01T00:00:00Z", 2},
    {"[1, 2, 1].indexOf(1)", "0", 3},
    {"[1, 2, 1].lastIndexOf(1)", "2", 3},
    {"[1, 2, 1].indexOf(3)", "-1", 3},
    {"[1, 2, 1].lastIndexOf(3)", "-1", 3},
    {"[1, 2].includes(2)", "true", 2},
    {"[1, 2].includes(\"a\")", "false", 2},
    {"\"abc\".includes(\"abc\")", "true", 0},
    {"\"abc\".includes(\"a\")", "false", 0},
    {"{\"a\": 1}.includes({\"a\": 1})", "true", 1},
    {"[1, 2].includes(2.0)", "true", 2},
};

static const struct lib_row sets[] = {
    {"sets.contains([1, 2, 3], [2, 1])", "true", 7},
    {"sets.contains([1], [2])", "false", 2},
    {"sets.contains([], [])", "true", 1},
    {"sets.equivalent([1, 1, 2], [2, 1])", "true", 13},
    {"sets.equivalent([1], [1, 2])", "false", 5},
    {"sets.intersects([1, 2], [2, 3])", "true", 5},
    {"sets.intersects([1], [])", "false", 1},
};

static void test_lists(void **state)
{
    lib_unit_rows(false, lists, UNIT_COUNT(lists));
}

static void test_sorting(void **state)
{
    lib_unit_rows(false, sorting, UNIT_COUNT(sorting));
}

static void test_kubernetes(void **state)
{
    lib_unit_rows(false, kubernetes, UNIT_COUNT(kubernetes));
}

static void test_sets(void **state)
{
    lib_unit_rows(false, sets, UNIT_COUNT(sets));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lists),
        cmocka_unit_test(test_sorting),
        cmocka_unit_test(test_kubernetes),
        cmocka_unit_test(test_sets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
