/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The type of an expression, or what is wrong with it. The answers of test_kubernetes are
 * upstream's.
 */
#include "cel_unit.h"

static struct arena arena, types;
static struct cel_env *env;

/* "TYPE", or "LINE:COLUMN: message; ..." */
static void check_in(const struct cel_env *in, const char *text, const char *want)
{
    struct cel_issues issues;
    struct strbuf got = STRBUF_INIT;
    const struct cel_expr *x = cel_compile(in, str_from(text), &arena, &issues);
    if (x)
        cel_type_print(x->type, &got);
    for (uint32_t i = 0; !x && i < issues.n; i++)
        strbuf_addf(&got, "%s%d:%d: %.*s", i ? "; " : "", issues.v[i].line,
                    issues.v[i].column, STR_ARG(issues.v[i].msg));
    if (!str_is(strbuf_str(&got), want))
        print_error("text %s\n", text);
    assert_str(strbuf_str(&got), want);
    strbuf_release(&got);
    arena_reset(&arena);
}

struct row {
    const char *text, *want;
};

static void check_rows(const struct cel_env *in, const struct row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++)
        check_in(in, rows[i].text, rows[i].want);
}

static void test_kubernetes(void **state)
{
    static const struct row rows[] = {
        {"device", "kubernetes.DRADevice"},
        {"device.driver", "string"},
        {"device.driver.x", "1:14: type 'string' does not support field selection"},
        {"device.nope.x", "1:7: undefined field 'nope'"},
        {"device.?nope", "1:7: undefined field 'nope'"},
        {"device.?driver", "optional_type(string)"},
        {"device.?driver.?x", "1:15: type 'string' does not support field selection"},
        {"device.attributes.x.y", "dyn"},
        {"device.attributes.?x.?y", "optional_type(dyn)"},
        {"device.attributes[?\"x\"].?y", "optional_type(dyn)"},
        {"device.attributes[1]", "1:18: found no matching overload for '_[_]' applied to "
                                 "'(map(string, map(string, dyn)), int)'"},
        {"device[\"driver\"]", "1:7: found no matching overload for '_[_]' applied to "
                               "'(kubernetes.DRADevice, string)'"},
        {"device[?\"driver\"]", "1:7: found no matching overload for '_[?_]' applied to "
                                "'(kubernetes.DRADevice, string)'"},
        {".device.driver", "string"},
        {"dyn(device).x", "dyn"},
        {"x", "1:1: undeclared reference to 'x' (in container '')"},
        {"x.y.z", "1:1: undeclared reference to 'x' (in container '')"},
        {"x.y()", "1:1: undeclared reference to 'x' (in container ''); 1:4: undeclared "
                  "reference to 'y' (in container '')"},
        {"x()", "1:2: undeclared reference to 'x' (in container '')"},
        {"x[0]", "1:1: undeclared reference to 'x' (in container '')"},
        {"-x.y", "1:2: undeclared reference to 'x' (in container '')"},
        {"[x, y]", "1:2: undeclared reference to 'x' (in container ''); 1:5: undeclared "
                   "reference to 'y' (in container '')"},
        {"{\"a\": x, \"b\": y}", "1:7: undeclared reference to 'x' (in container ''); "
                                 "1:15: undeclared reference to 'y' (in container '')"},
        {"null.x", "1:5: type 'null' does not support field selection"},
        {"1.5.x", "1:4: type 'double' does not support field selection"},
        {"{\"a\": 1}.a", "int"},
        {"{\"a\": 1}.a.b", "1:11: type 'int' does not support field selection"},
        {"quantity(\"1\").x",
         "1:14: unexpected failed resolution of 'kubernetes.Quantity'"},
        {"ip(\"1.2.3.4\").x", "1:14: type 'net.IP' does not support field selection"},
        {"has(x.y)", "1:5: undeclared reference to 'x' (in container '')"},
        {"has(device.driver)", "bool"},
        {"has(device.nope)", "1:4: undefined field 'nope'"},
        {"has(device.attributes.x)", "bool"},
        {"has({}.x)", "bool"},
        {"has(\"a\".x)", "1:4: type 'string' does not support field selection"},
        {"has(optional.of({\"a\": 1}).a)", "bool"},
        {"[1, 2].map(x, x.y)", "1:16: type 'int' does not support field selection"},
        {"[1, 2].map(x, x + \"a\")",
         "1:17: found no matching overload for '_+_' applied to '(int, string)'"},
        {"[1, 2].filter(x, x)", "1:14: found no matching overload for '_?_:_' applied to "
                                "'(int, list(int), list(int))'"},
        {"[1, 2].exists(x, x > 1 && y)",
         "1:27: undeclared reference to 'y' (in container '')"},
        {"[1, 2].exists_one(x, x)",
         "1:18: found no matching overload for '_?_:_' applied to '(int, int, int)'"},
        {"[[1]].map(x, x.map(x, x + 1))", "list(list(int))"},
        {"[1].map(device, device)", "list(int)"},
        {"[1].map(device, .device)", "list(kubernetes.DRADevice)"},
        {"[1].map(device, .device.driver)", "list(string)"},
        {"[1].all(device, device.driver == \"a\")",
         "1:23: type 'int' does not support field selection"},
        {"[1].all(x, y, x + y > 1)", "bool"},
        {"[1].all(x, x)", "1:12: expected type 'bool' but found 'int'"},
        {"[1].transformList(i, v, v)", "list(int)"},
        {"[1].transformMap(i, v, v)", "map(int, int)"},
        {"[1].transformMapEntry(i, v, {i: v})", "map(int, int)"},
        {"[1].transformMapEntry(i, v, v)",
         "1:22: found no matching overload for 'cel.@mapInsert' applied to '(map(dyn, "
         "dyn), int)'"},
        {"{\"a\": 1}.transformList(k, v, v)", "list(int)"},
        {"{\"a\": 1}.map(k, k)", "list(string)"},
        {"{\"a\": 1}.all(k, v, v > 0)", "bool"},
        {"1.map(x, x)", "1:1: expression of type 'int' cannot be range of a "
                        "comprehension (must be list, map, or dynamic)"},
        {"\"a\".map(x, x)", "1:1: expression of type 'string' cannot be range of a "
                            "comprehension (must be list, map, or dynamic)"},
        {"dyn(1).map(x, x)", "list(dyn)"},
        {"[].map(x, x)", "list(dyn)"},
        {"[].filter(x, x)", "list(bool)"},
        {"[].exists_one(x, x)", "bool"},
        {"[].all(x, x)", "bool"},
        {"[].all(x, x == 1)", "bool"},
        {"[].map(x, x.y)", "list(dyn)"},
        {"[[]].map(x, x.map(y, y))", "list(list(dyn))"},
        {"[?[]]",
         "1:3: expected type 'optional_type(list(_var0))' but found 'list(_var0)'"},
        {"{?\"a\": []}",
         "1:8: expected type 'optional_type(list(_var0))' but found 'list(_var0)'"},
        {"[[1][0], ?[]]",
         "1:11: expected type 'optional_type(list(_var6))' but found 'list(_var6)'"},
        {"{?\"a\": optional.of(1)}", "map(string, int)"},
        {"{?1: optional.none()}", "map(int, dyn)"},
        {"[?optional.none()]", "list(dyn)"},
        {"[?optional.of(1), 2]", "list(int)"},
        {"[1, ?optional.of(\"a\")]", "1:17: expected type 'int' but found 'string'"},
        {"optional.of(1).optMap(x, x + 1)", "optional_type(int)"},
        {"optional.of(1).optMap(x, y)",
         "1:26: undeclared reference to 'y' (in container '')"},
        {"optional.of(1).optFlatMap(x, optional.of(x))", "optional_type(int)"},
        {"optional.of(1).optFlatMap(x, x)",
         "1:26: found no matching overload for '_?_:_' applied to '(bool, int, "
         "optional_type(dyn))'"},
        {"optional.none()", "optional_type(dyn)"},
        {"optional.none().orValue(1)", "int"},
        {"optional.of(1).or(optional.of(\"a\"))",
         "1:18: found no matching overload for 'or' applied to "
         "'optional_type(int).(optional_type(string))'"},
        {"optional.of(1).orValue(\"a\")",
         "1:23: found no matching overload for 'orValue' applied to "
         "'optional_type(int).(string)'"},
        {"optional.of({\"a\": 1}).a", "optional_type(int)"},
        {"optional.of({\"a\": 1}).a.value()", "int"},
        {"optional.of({\"a\": 1})[\"a\"]", "optional_type(int)"},
        {"optional.of([1])[?0]", "optional_type(int)"},
        {"optional.of(1).x", "1:15: type 'int' does not support field selection"},
        {"optional.x", "1:1: undeclared reference to 'optional' (in container '')"},
        {"optional.of(1, 2)",
         "1:12: found no matching overload for 'optional.of' applied to '(int, int)'"},
        {"cel.bind(x, 1, x + 1)", "int"},
        {"cel.bind(x, x, x)", "1:13: undeclared reference to 'x' (in container '')"},
        {"cel.bind(x, 1)", "1:1: undeclared reference to 'cel' (in container ''); 1:9: "
                           "undeclared reference to 'bind' (in container ''); 1:10: "
                           "undeclared reference to 'x' (in container '')"},
        {"cel.bind(x, 1, cel.bind(x, \"a\", x))", "string"},
        {"cel.bind(x, [], x + [1])", "list(int)"},
        {"cel.bind(x, {}, [x, {\"a\": 1}])", "list(map(string, int))"},
        {"[1, 2].sortBy(x, x)", "list(int)"},
        {"[1, 2].sortBy(x, {\"a\": x})",
         "1:14: found no matching overload for '@sortByAssociatedKeys' applied to "
         "'list(int).(list(map(string, int)))'"},
        {"[1].sortBy(x, y)", "1:15: undeclared reference to 'y' (in container '')"},
        {"true ? 1 : \"a\"",
         "1:6: found no matching overload for '_?_:_' applied to '(bool, int, string)'"},
        {"true ? dyn(1) : \"a\"", "dyn"},
        {"true ? [] : [1]", "list(int)"},
        {"true ? null : 1",
         "1:6: found no matching overload for '_?_:_' applied to '(bool, null, int)'"},
        {"true ? null : duration(\"1s\")", "null_type"},
        {"true ? null : [1]", "1:6: found no matching overload for '_?_:_' applied to "
                              "'(bool, null, list(int))'"},
        {"1 ? 2 : 3",
         "1:3: found no matching overload for '_?_:_' applied to '(int, int, int)'"},
        {"[[], [1]]", "list(list(int))"},
        {"[[1], []]", "list(list(int))"},
        {"[[1], [dyn(1)]]", "1:7: expected type 'list(int)' but found 'list(dyn)'"},
        {"[{}, {\"a\": 1}]", "list(map(string, int))"},
        {"[null, duration(\"1s\")]", "1:16: expected type 'null' but found 'duration'"},
        {"[null, 1]", "1:8: expected type 'null' but found 'int'"},
        {"[1, 1.0]", "1:5: expected type 'int' but found 'double'"},
        {"[int, string]", "1:7: expected type 'type(int)' but found 'type(string)'"},
        {"[type(1), int]", "list(type(int))"},
        {"[int, 1]", "1:7: expected type 'type(int)' but found 'int'"},
        {"{\"a\": 1, \"b\": null}", "1:15: expected type 'int' but found 'null'"},
        {"{1: 1, \"a\": \"b\"}", "1:8: expected type 'int' but found 'string'; 1:13: "
                                 "expected type 'int' but found 'string'"},
        {"{[1]: 1}", "map(list(int), int)"},
        {"{1: {2: {3: 4}}}", "map(int, map(int, map(int, int)))"},
        {"{1: 2}[1]", "int"},
        {"{1: 2}[\"a\"]", "1:7: found no matching overload for '_[_]' applied to "
                          "'(map(int, int), string)'"},
        {"{1: 2}[1u]",
         "1:7: found no matching overload for '_[_]' applied to '(map(int, int), uint)'"},
        {"{dyn(1): 2}[\"a\"]", "int"},
        {"[1][0]", "int"},
        {"[1][\"a\"]",
         "1:4: found no matching overload for '_[_]' applied to '(list(int), string)'"},
        {"[1][dyn(0)]", "int"},
        {"[][0]", "dyn"},
        {"[][0].x", "dyn"},
        {"{}[\"a\"][\"b\"]", "dyn"},
        {"1 == 1", "bool"},
        {"1 == \"a\"",
         "1:3: found no matching overload for '_==_' applied to '(int, string)'"},
        {"1 == null",
         "1:3: found no matching overload for '_==_' applied to '(int, null)'"},
        {"[1] == [\"a\"]", "1:5: found no matching overload for '_==_' applied to "
                           "'(list(int), list(string))'"},
        {"[1] == []", "bool"},
        {"{\"a\": 1} == {1: \"a\"}", "1:10: found no matching overload for '_==_' "
                                     "applied to '(map(string, int), map(int, string))'"},
        {"int == string", "bool"},
        {"int == 1",
         "1:5: found no matching overload for '_==_' applied to '(type(int), int)'"},
        {"type(1) == int", "bool"},
        {"type([1]) == list", "bool"},
        {"type(type(1))", "type(type(int))"},
        {"optional.of(1) == optional.of(\"a\")",
         "1:16: found no matching overload for '_==_' applied to '(optional_type(int), "
         "optional_type(string))'"},
        {"optional.of(1) == 1", "1:16: found no matching overload for '_==_' applied to "
                                "'(optional_type(int), int)'"},
        {"dyn(1) == \"a\"", "bool"},
        {"dyn(1) < \"a\"", "bool"},
        {"1 < 1u", "bool"},
        {"1 < 1.0", "bool"},
        {"\"a\" < 1",
         "1:5: found no matching overload for '_<_' applied to '(string, int)'"},
        {"[1] < [2]",
         "1:5: found no matching overload for '_<_' applied to '(list(int), list(int))'"},
        {"duration(\"1s\") < timestamp(0)",
         "1:16: found no matching overload for '_<_' applied to '(duration, timestamp)'"},
        {"1 + 1u", "1:3: found no matching overload for '_+_' applied to '(int, uint)'"},
        {"[1] + [\"a\"]", "1:5: found no matching overload for '_+_' applied to "
                          "'(list(int), list(string))'"},
        {"[] + [] + [1]", "list(int)"},
        {"dyn(1) + 1", "int"},
        {"dyn(1) + \"a\"", "string"},
        {"dyn(1) + dyn(2)", "dyn"},
        {"dyn([1]) + [1]", "list(int)"},
        {"-true", "1:1: found no matching overload for '-_' applied to '(bool)'"},
        {"-dyn(1)", "dyn"},
        {"!1", "1:1: found no matching overload for '!_' applied to '(int)'"},
        {"!dyn(1)", "bool"},
        {"1 && \"a\" || 2",
         "1:1: expected type 'bool' but found 'int'; 1:6: expected type 'bool' but found "
         "'string'; 1:13: expected type 'bool' but found 'int'"},
        {"true && dyn(1)", "bool"},
        {"true && null", "1:9: expected type 'bool' but found 'null'"},
        {"size(1)", "1:5: found no matching overload for 'size' applied to '(int)'"},
        {"size(dyn(1))", "int"},
        {"1.size()", "1:7: found no matching overload for 'size' applied to 'int.()'"},
        {"size()", "1:5: found no matching overload for 'size' applied to '()'"},
        {"size([], [])", "1:5: found no matching overload for 'size' applied to "
                         "'(list(dyn), list(dyn))'"},
        {"string(dyn(1))", "string"},
        {"int(true)", "1:4: found no matching overload for 'int' applied to '(bool)'"},
        {"dyn", "1:1: undeclared reference to 'dyn' (in container '')"},
        {"dyn()", "1:4: found no matching overload for 'dyn' applied to '()'"},
        {"type", "type(type)"},
        {"type(dyn(1))", "type(dyn)"},
        {"\"a\".matches(\"a\")", "bool"},
        {"matches(\"a\", \"b\")", "bool"},
        {"contains(\"a\", \"b\")",
         "1:9: found no matching overload for 'contains' applied to '(string, string)'"},
        {"\"a\".startsWith(b\"a\")",
         "1:15: found no matching overload for 'startsWith' applied to 'string.(bytes)'"},
        {"\"a\".nope(b, c)", "1:9: undeclared reference to 'nope' (in container ''); "
                             "1:10: undeclared reference to 'b' (in container ''); 1:13: "
                             "undeclared reference to 'c' (in container '')"},
        {"nope(nope(nope(1)))", "1:5: undeclared reference to 'nope' (in container ''); "
                                "1:10: undeclared reference to 'nope' (in container ''); "
                                "1:15: undeclared reference to 'nope' (in container '')"},
        {"_in_(1, [1])", "1:5: undeclared reference to '_in_' (in container '')"},
        {"in_(1, [1])", "1:4: undeclared reference to 'in_' (in container '')"},
        {"__not_strictly_false__(true)",
         "1:23: undeclared reference to '__not_strictly_false__' (in container '')"},
        {"list == list", "bool"},
        {"null_type", "type(null_type)"},
        {"google.protobuf.Timestamp", "type(google.protobuf.Timestamp)"},
        {"google.protobuf.Nope",
         "1:1: undeclared reference to 'google' (in container '')"},
        {"google", "1:1: undeclared reference to 'google' (in container '')"},
        {"net.IP", "type(net.IP)"},
        {"kubernetes.Quantity",
         "1:1: undeclared reference to 'kubernetes' (in container '')"},
        {"ip.isCanonical(\"1.2.3.4\")", "bool"},
        {"ip.nope(\"1\")", "1:1: undeclared reference to 'ip' (in container ''); 1:8: "
                           "undeclared reference to 'nope' (in container '')"},
        {"ip.x", "1:1: undeclared reference to 'ip' (in container '')"},
        {"cidr(\"1.2.3.0/24\").ip()", "net.IP"},
        {"sets.contains([1], [\"a\"])",
         "1:14: found no matching overload for 'sets.contains' applied to '(list(int), "
         "list(string))'"},
        {"sets.contains([], [1])", "bool"},
        {"sets.nope([1])", "1:1: undeclared reference to 'sets' (in container ''); 1:10: "
                           "undeclared reference to 'nope' (in container '')"},
        {"lists.range(\"a\")",
         "1:12: found no matching overload for 'lists.range' applied to '(string)'"},
        {"[1].sum()", "int"},
        {"[\"a\"].sum()",
         "1:10: found no matching overload for 'sum' applied to 'list(string).()'"},
        {"[dyn(1)].sum()", "dyn"},
        {"[].sum()", "int"},
        {"[].min()", "int"},
        {"[[1]].max()",
         "1:10: found no matching overload for 'max' applied to 'list(list(int)).()'"},
        {"[[[1]]].flatten()", "list(list(int))"},
        {"[[1], [\"a\"]].flatten()",
         "1:7: expected type 'list(int)' but found 'list(string)'"},
        {"[1].slice(\"a\", 1)", "1:10: found no matching overload for 'slice' applied to "
                                "'list(int).(string, int)'"},
        {"[1].indexOf(\"a\")", "1:12: found no matching overload for 'indexOf' applied "
                               "to 'list(int).(string)'"},
        {"quantity(\"1\").add(1)", "kubernetes.Quantity"},
        {"quantity(\"1\") == 1", "1:15: found no matching overload for '_==_' applied to "
                                 "'(kubernetes.Quantity, int)'"},
        {"quantity(\"1\") == null", "bool"},
        {"quantity(\"1\").sign()", "1:19: found no matching overload for 'sign' applied "
                                   "to 'kubernetes.Quantity.()'"},
        {"semver(\"1.0.0\", true)", "kubernetes.Semver"},
        {"format.named(\"a\")", "optional_type(kubernetes.NamedFormat)"},
        {"format.dns1123Label().validate(\"a\")", "optional_type(list(string))"},
        {"format.x", "1:1: undeclared reference to 'format' (in container '')"},
        {"google.protobuf.Int64Value{value: 1}", "wrapper(int)"},
        {"[google.protobuf.Int64Value{value: 1}, 1, 2]", "list(wrapper(int))"},
        {"google.protobuf.Int64Value{value: 1} + 1", "int"},
        {"google.protobuf.Int64Value{value: 1} == null", "bool"},
        {"true ? google.protobuf.Int64Value{value: 1} : 1", "wrapper(int)"},
        {"google.protobuf.Int64Value{value: \"a\"}",
         "1:33: expected type of field 'value' is 'int' but provided type is 'string'"},
        {"google.protobuf.Int64Value{nope: 1}", "1:32: undefined field 'nope'"},
        {"google.protobuf.Int64Value{?value: optional.of(1)}", "wrapper(int)"},
        {"google.protobuf.Int64Value{?value: 1}",
         "1:36: expected type 'optional_type(int)' but found 'int'"},
        {"google.protobuf.NullValue.NULL_VALUE", "int"},
        {"kubernetes.DRADevice{driver: \"a\"}", "kubernetes.DRADevice"},
        {"kubernetes.DRADevice{driver: 1}",
         "1:28: expected type of field 'driver' is 'string' but provided type is 'int'"},
        {"kubernetes.Quantity{}",
         "1:20: undeclared reference to 'kubernetes.Quantity' (in container '')"},
        {"int{}", "1:4: 'int' is not a message type"},
        {"device{}", "1:7: undeclared reference to 'device' (in container '')"},
        {"nope{a: b}", "1:5: undeclared reference to 'nope' (in container '')"},
        {"duration(\"x\")", "1:10: invalid duration argument"},
        {"timestamp(\"x\")", "1:11: invalid timestamp argument"},
        {"timestamp(99999999999999)", "1:11: invalid timestamp argument"},
        {"\"a\".matches(\"(\")", "1:13: invalid matches argument"},
        {"matches(\"(\", \"a\")", "1:9: invalid matches argument"},
        {"[duration(\"x\"), duration(\"y\")]",
         "1:11: invalid duration argument; 1:26: invalid duration argument"},
        {"[1, \"a\", 2.0, b\"x\"]", "1:5: expected type 'int' but found 'string'"},
        {"[[1, \"a\"], [\"b\", 2]]", "1:6: expected type 'int' but found 'string'; 1:18: "
                                     "expected type 'string' but found 'int'"},
        {"{\"a\": 1, \"b\": \"c\", 3: 1}",
         "1:15: expected type 'int' but found 'string'; 1:20: expected type 'string' but "
         "found 'int'"},
        {"[1, \"a\"].map(x, [x, \"b\", 1])",
         "1:5: expected type 'int' but found 'string'; 1:21: expected type 'dyn' but "
         "found 'string'"},
        {"[?optional.of(1), ?optional.of(\"a\")]",
         "1:31: expected type 'int' but found 'string'"},
        {"{\"a\": dyn(1), \"b\": dyn(\"c\")}", "map(string, dyn)"},
        {"\"%s %s\".format([1, \"a\"])", "string"},
        {"\"%s\".format([[1, \"a\"]])", "string"},
        {"\"%s\".format([1, \"a\"])",
         "1:12: too many arguments supplied to string.format (expected 1, got 2)"},
        {"\"%d\".format([\"a\"])", "1:14: error during formatting: decimal clause can "
                                   "only be used on integers, was given string"},
        {"\"%s\".format(dyn([1]))", "string"},
    };
    check_rows(env, rows, UNIT_COUNT(rows));
}

/* ---- Environments of other kinds ---- */

static const struct cel_type *type(const char *text)
{
    return cel_type_parse(&types, str_from(text));
}

static struct cel_env *env_of(struct cel_env_opts opts, const struct cel_var *vars,
                              uint32_t nvars)
{
    opts.vars = vars;
    opts.nvars = nvars;
    return cel_env_new(&opts);
}

/* Without the validators, literals may mix and nothing is tried out. */
static void test_mixed_literals(void **state)
{
    static const struct row rows[] = {
        {"[1, 'a']", "list(dyn)"},
        {"{'a': 1, 'b': 'c'}", "map(string, dyn)"},
        {"duration('x')", "google.protobuf.Duration"},
        {"'a'.matches('(')", "bool"},
        {"1 < 1.0", "1:3: found no matching overload for '_<_' applied to '(int, "
                    "double)'"},
        {"dyn(1) < 1.0", "bool"},
        {"[[1, 'a'], [2]]", "list(list(dyn))"},
        {"[duration('1s'), null]", "list(google.protobuf.Duration)"},
        {"[null, duration('1s')]", "list(google.protobuf.Duration)"},
        {"[null, optional.of(1), null]", "list(optional_type(int))"},
        {"{'a': quantity('1'), 'b': null}", "map(string, kubernetes.Quantity)"},
        {"[null, 1]", "list(dyn)"},
        {"[null, null]", "list(null_type)"},
    };
    struct cel_env_opts opts = unit_opts();
    opts.flags = CEL_ENV_OPTIONAL_SYNTAX;
    struct cel_env *e = cel_env_new(&opts);
    check_rows(e, rows, UNIT_COUNT(rows));
    cel_env_free(e);
}

static void test_any(void **state)
{
    static const struct row rows[] = {
        {"v", "google.protobuf.Any"},
        {"v.x", "dyn"},
        {"v + 1", "int"},
        {"v + v", "dyn"},
        {"v.exists(x, true)",
         "1:1: expression of type 'any' cannot be range of a comprehension (must be "
         "list, map, or dynamic)"},
        {"[v, 1]", "1:5: expected type 'any' but found 'int'"},
        {"v == 1 || v == 'a'", "bool"},
        {"m['a']", "google.protobuf.Any"},
        {"m", "map(string, google.protobuf.Any)"},
        {"v ? 1 : 2", "int"},
        {"w + 1", "int"},
        {"w == null", "bool"},
        {"[w, 1]", "list(wrapper(int))"},
        {"[1, w]", "list(int)"},
        {"w + 'a'",
         "1:3: found no matching overload for '_+_' applied to '(wrapper(int), string)'"},
    };
    const struct cel_var vars[] = {
        {.name = "v", .type = &cel_type_any},
        {.name = "m", .type = type("map(string, any)")},
        {.name = "w", .type = type("wrapper(int)")},
    };
    struct cel_env *e = env_of(unit_opts(), vars, UNIT_COUNT(vars));
    check_rows(e, rows, UNIT_COUNT(rows));
    cel_env_free(e);
}

/* A name is looked for in the container, in those around it, and as it stands. */
static void test_containers(void **state)
{
    static const struct row rows[] = {
        {"x", "int"},
        {".x", "string"},
        {"b.x", "int"},
        {"y", "bool"},
        {"z.w", "double"},
        {"a.b.x", "int"},
        {".a.b.x", "int"},
        {"[1].map(x, x)", "list(int)"},
        {"[true].map(x, .x)", "list(string)"},
        {"[true].map(z, z.w)", "1:16: type 'bool' does not support field selection"},
        {"f()", "int"},
        {".f()", "string"},
        {"b.f()", "int"},
        {"nope", "1:1: undeclared reference to 'nope' (in container 'a.b')"},
        {"C", "int"},
        {"b.C", "int"},
    };
    const struct cel_var vars[] = {
        {.name = "x", .type = &cel_type_string},
        {.name = "a.b.x", .type = &cel_type_int},
        {.name = "a.y", .type = &cel_type_bool},
        {.name = "z.w", .type = &cel_type_double},
    };
    static const struct cel_overload functions[] = {
        {.id = "f", .function = "f", .type = "() -> string"},
        {.id = "a_f", .function = "a.b.f", .type = "() -> int"},
    };
    static const struct cel_const consts[] = {
        {"a.b.C", &cel_type_int, {.kind = CEL_INT, .i = 7}}};
    struct cel_env_opts opts = unit_opts();
    opts.container = "a.b";
    opts.functions = functions;
    opts.nfunctions = UNIT_COUNT(functions);
    opts.consts = consts;
    opts.nconsts = UNIT_COUNT(consts);
    struct cel_env *e = env_of(opts, vars, UNIT_COUNT(vars));
    check_rows(e, rows, UNIT_COUNT(rows));
    cel_env_free(e);
}

static const struct cel_expr *compile(const struct cel_env *e, const char *text)
{
    struct cel_issues issues;
    const struct cel_expr *x = cel_compile(e, str_from(text), &arena, &issues);
    assert_non_null(x);
    return x;
}

/* What names were resolved to. */
static void test_references(void **state)
{
    const struct cel_var vars[] = {
        {.name = "a.b", .type = type("map(string, int)")},
        {.name = "x", .type = &cel_type_int},
    };
    struct cel_env *e = env_of(unit_opts(), vars, UNIT_COUNT(vars));

    const struct cel_expr *x = compile(e, "a.b.c");
    assert_int_equal(x->root->kind, CEL_AST_SELECT);
    const struct cel_ast *n = x->root->select.operand;
    assert_int_equal(n->kind, CEL_AST_IDENT);
    assert_str(n->ident.name, "a.b");
    assert_str(x->refs[n->id].name, "a.b");
    assert_false(x->refs[n->id].is_const);

    x = compile(e, "int == type(x)");
    n = x->root->call.args[0];
    assert_true(x->refs[n->id].is_const);
    assert_int_equal(x->refs[n->id].constant.kind, CEL_TYPE);
    assert_ptr_equal(x->refs[n->id].constant.type, &cel_type_int);

    /* A variable that a local one hides keeps its dot. */
    x = compile(e, "[1].map(x, .x)");
    n = x->root->fold.step->call.args[1]->list.items[0];
    assert_str(n->ident.name, ".x");

    x = compile(e, "lists.range(1)");
    assert_str(x->root->call.function, "lists.range");
    assert_null(x->root->call.target);
    cel_env_free(e);
}

static void check_overloads(const char *text, const char *want)
{
    struct strbuf got = STRBUF_INIT;
    const struct cel_expr *x = compile(env, text);
    const struct cel_ref *ref = &x->refs[x->root->id];
    for (uint32_t i = 0; i < ref->noverloads; i++)
        strbuf_addf(&got, "%s%s", i ? " " : "", ref->overloads[i]->row->id);
    assert_str(strbuf_str(&got), want);
    strbuf_release(&got);
}

static void test_overloads(void **state)
{
    static const struct row rows[] = {
        {"1 == 2", "equals"},
        {"'a' + 'b'", "add_string"},
        {"dyn(1) + 'b'", "add_string"},
        {"dyn(1) - 1", "subtract_int64"},
        {"[1][0]", "index_list"},
        {"dyn(1)[0]", "index_list index_map optional_list_index_int "
                      "optional_map_index_value"},
        {"'a'.size()", "string_size"},
        {"size('a')", "size_string"},
        {"true && false", "logical_and"},
        {"device.?driver", "select_optional_field"},
        {"1 in [1]", "in_list"},
        {"1 in dyn([1])", "in_list in_map"},
        {"true ? 1 : 2", "conditional"},
    };
    for (size_t i = 0; i < UNIT_COUNT(rows); i++)
        check_overloads(rows[i].text, rows[i].want);
}

/* Types of parts are settled by what stands around them. */
static void test_inference(void **state)
{
    const struct cel_expr *x = compile(env, "[[], [1]]");
    const struct cel_type *t = x->types[x->root->list.items[0]->id];
    struct strbuf got = STRBUF_INIT;
    cel_type_print(t, &got);
    assert_str(strbuf_str(&got), "list(int)");
    strbuf_release(&got);
}

static void repeat(struct strbuf *b, const char *s, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        strbuf_adds(b, s);
}

/* Types that double at every step end in an error, not in the end of memory. */
static void test_big_types(void **state)
{
    struct strbuf text = STRBUF_INIT;
    strbuf_adds(&text, "cel.bind(a, 1, ");
    repeat(&text, "cel.bind(a, {a: a}, ", 100);
    strbuf_adds(&text, "a");
    repeat(&text, ")", 101);
    check_in(env, strbuf_cstr(&text), "1:268: type of expression exceeds limit: 10000");
    strbuf_clear(&text);
    /* Each variable is a map of twice the next, which is known only later. */
    strbuf_adds(&text, "cel.bind(a0, [], ");
    for (unsigned i = 1; i < 60; i++)
        strbuf_addf(&text, "cel.bind(a%u, [], [a%u[0], {a%u[0]: a%u[0]}] == [] || ", i,
                    i - 1, i, i);
    strbuf_adds(&text, "true");
    repeat(&text, ")", 60);
    check_in(env, strbuf_cstr(&text), "-1:0: type of expression exceeds limit: 10000");
    strbuf_release(&text);
}

static void test_many_errors(void **state)
{
    struct cel_issues issues;
    struct strbuf text = STRBUF_INIT;
    strbuf_adds(&text, "[x");
    repeat(&text, ", x", 149);
    strbuf_adds(&text, "]");
    assert_null(cel_compile(env, strbuf_str(&text), &arena, &issues));
    assert_int_equal(issues.n, 100);
    assert_int_equal(issues.total, 150);
    strbuf_release(&text);
}

static int set_up(void **state)
{
    static struct cel_field fields[4];
    static const struct cel_object_type object = {"kubernetes.DRADevice", fields, 4};
    arena_init(&arena);
    arena_init(&types);
    fields[0] = (struct cel_field){"driver", &cel_type_string};
    fields[1] = (struct cel_field){"attributes", type("map(string, map(string, dyn))")};
    fields[2] = (struct cel_field){"capacity",
                                   type("map(string, map(string, kubernetes.Quantity))")};
    fields[3] = (struct cel_field){"allowMultipleAllocations", &cel_type_bool};
    const struct cel_var device = {.name = "device",
                                   .type = cel_type_object(&types, &object)};
    env = env_of(unit_opts(), &device, 1);
    return 0;
}

static int tear_down(void **state)
{
    cel_env_free(env);
    arena_fini(&arena);
    arena_fini(&types);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kubernetes),  cmocka_unit_test(test_mixed_literals),
        cmocka_unit_test(test_any),         cmocka_unit_test(test_containers),
        cmocka_unit_test(test_references),  cmocka_unit_test(test_overloads),
        cmocka_unit_test(test_inference),   cmocka_unit_test(test_big_types),
        cmocka_unit_test(test_many_errors),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
