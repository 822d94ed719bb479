/* SPDX-License-Identifier: Apache-2.0 */
#include "unit/unit.h"

#include "cel/type.h"

static struct arena arena;

static const struct cel_type *parse(const char *text)
{
    return cel_type_parse(&arena, str_from(text));
}

static void check_print(void (*print)(const struct cel_type *, struct strbuf *),
                        const struct cel_type *t, const char *want)
{
    struct strbuf b = STRBUF_INIT;
    print(t, &b);
    assert_str(strbuf_str(&b), want);
    strbuf_release(&b);
}

static void test_parse_print(void **state)
{
    static const struct {
        const char *text, *full, *brief;
        enum cel_type_kind kind;
        unsigned nparams, weight;
    } rows[] = {
        {"int", "int", "int", CEL_T_INT, 0, 1},
        {" int ", "int", "int", CEL_T_INT, 0, 1},
        {"dyn", "dyn", "dyn", CEL_T_DYN, 0, 1},
        {"any", "google.protobuf.Any", "any", CEL_T_ANY, 0, 1},
        {"google.protobuf.Any", "google.protobuf.Any", "any", CEL_T_ANY, 0, 1},
        {"null", "null_type", "null", CEL_T_NULL, 0, 1},
        {"null_type", "null_type", "null", CEL_T_NULL, 0, 1},
        {"duration", "google.protobuf.Duration", "duration", CEL_T_DURATION, 0, 1},
        {"google.protobuf.Timestamp", "google.protobuf.Timestamp", "timestamp",
         CEL_T_TIMESTAMP, 0, 1},
        {"!error!", "error", "!error!", CEL_T_ERROR, 0, 1},
        {"list(int)", "list(int)", "list(int)", CEL_T_LIST, 1, 2},
        {"list( list(dyn) )", "list(list(dyn))", "list(list(dyn))", CEL_T_LIST, 1, 3},
        {"map(string,any)", "map(string, google.protobuf.Any)", "map(string, any)",
         CEL_T_MAP, 2, 3},
        {"type", "type", "type", CEL_T_TYPE, 0, 1},
        {"type(null)", "type(null_type)", "type(null)", CEL_T_TYPE, 1, 2},
        {"wrapper(int)", "wrapper(int)", "wrapper(int)", CEL_T_WRAPPER, 1, 2},
        {"<A>", "<A>", "A", CEL_T_PARAM, 0, 1},
        {"map(<K>, list(<V>))", "map(<K>, list(<V>))", "map(K, list(V))", CEL_T_MAP, 2,
         4},
        {"kubernetes.Quantity", "kubernetes.Quantity", "kubernetes.Quantity",
         CEL_T_OPAQUE, 0, 1},
        {"optional_type(map(dyn, dyn))", "optional_type(map(dyn, dyn))",
         "optional_type(map(dyn, dyn))", CEL_T_OPAQUE, 1, 4},
        {"pair(int, string)", "pair(int, string)", "pair(int, string)", CEL_T_OPAQUE, 2,
         3},
    };
    for (size_t i = 0; i < UNIT_COUNT(rows); i++) {
        const struct cel_type *t = parse(rows[i].text);
        ROW(rows[i].text, t != NULL);
        ROW(rows[i].text, t->kind == rows[i].kind);
        ROW(rows[i].text, t->nparams == rows[i].nparams);
        ROW(rows[i].text, t->weight == rows[i].weight);
        check_print(cel_type_print, t, rows[i].full);
        check_print(cel_type_print_short, t, rows[i].brief);
        ROW(rows[i].text, cel_type_equal(t, parse(rows[i].full)));
    }
}

static void test_bad_text(void **state)
{
    static const char *const rows[] = {
        "",
        " ",
        "list",
        "list(",
        "list()",
        "list(int",
        "list(int",
        "list(int))",
        "map(int)",
        "int int",
        "(int)",
        "<",
        "<>",
        "<A",
        "list(<A>",
        "int,",
        "map(int,,int)",
        "list(int,)",
        "type(int, int)",
        "wrapper(int, int)",
    };
    for (size_t i = 0; i < UNIT_COUNT(rows); i++) {
        const struct cel_type *t = parse(rows[i]);
        /* list and map without parameters are names like any other */
        ROW(rows[i], t == NULL || strcmp(rows[i], "list") == 0);
    }
    struct strbuf deep = STRBUF_INIT;
    for (unsigned i = 0; i < 1000; i++)
        strbuf_adds(&deep, "list(");
    assert_null(parse(strbuf_cstr(&deep)));
    strbuf_release(&deep);
}

static void test_equal(void **state)
{
    static const char *const texts[] = {
        "int",           "uint",          "dyn",  "list(int)",          "list(dyn)",
        "map(int, int)", "map(int, dyn)", "<A>",  "optional_type(int)", "net.IP",
        "net.CIDR",      "type(int)",     "type", "wrapper(int)",       "list(<A>)",
        "list(<B>)",
    };
    for (size_t i = 0; i < UNIT_COUNT(texts); i++)
        for (size_t k = 0; k < UNIT_COUNT(texts); k++)
            ROW(texts[i], cel_type_equal(parse(texts[i]), parse(texts[k])) == (i == k));
    assert_true(cel_type_equal(parse("map(dyn, dyn)"), &cel_type_map_dyn));
    assert_true(cel_type_is_optional(parse("optional_type(int)")));
    assert_true(cel_type_is_optional(cel_type_optional(&arena, &cel_type_int)));
    assert_false(cel_type_is_optional(parse("list(int)")));
}

static void test_names(void **state)
{
    static const struct {
        const char *text, *name;
    } rows[] = {
        {"int", "int"},
        {"null", "null_type"},
        {"list(int)", "list"},
        {"map(dyn, dyn)", "map"},
        {"wrapper(uint)", "uint"},
        {"net.IP", "net.IP"},
        {"duration", "google.protobuf.Duration"},
        {"type(int)", "type"},
    };
    for (size_t i = 0; i < UNIT_COUNT(rows); i++)
        assert_string_equal(cel_type_name(parse(rows[i].text)), rows[i].name);
}

static void test_signatures(void **state)
{
    static const struct {
        const char *text;
        unsigned nargs, nparams;
        const char *result;
    } rows[] = {
        {"() -> int", 0, 0, "int"},
        {"(string) -> bool", 1, 0, "bool"},
        {"(list(<A>), <A>) -> <A>", 2, 1, "<A>"},
        {"(map(<K>, <V>), <K>) -> optional_type(<V>)", 2, 2, "optional_type(<V>)"},
        {"(bool,<A>,<A>)-><A>", 3, 1, "<A>"},
    };
    static const char *const bad[] = {
        "",
        "int",
        "(int)",
        "(int) ->",
        "(int -> int",
        "(int) - > int",
        "(,) -> int",
        "(int) -> int int",
    };
    struct cel_signature sig;
    for (size_t i = 0; i < UNIT_COUNT(rows); i++) {
        ROW(rows[i].text, cel_signature_parse(&arena, str_from(rows[i].text), &sig));
        ROW(rows[i].text, sig.nargs == rows[i].nargs && sig.nparams == rows[i].nparams);
        check_print(cel_type_print, sig.result, rows[i].result);
    }
    for (size_t i = 0; i < UNIT_COUNT(bad); i++)
        ROW(bad[i], !cel_signature_parse(&arena, str_from(bad[i]), &sig));
    /* One parameter is one type wherever it stands. */
    assert_true(cel_signature_parse(&arena, STR("(<B>, list(<A>), <B>) -> <A>"), &sig));
    assert_ptr_equal(sig.args[0], sig.args[2]);
    assert_ptr_equal(sig.args[1]->params[0], sig.result);
    assert_int_equal(sig.args[0]->var, 1);
    assert_int_equal(sig.result->var, 2);
    assert_true(sig.args[1]->var != 0);
}

static void test_made(void **state)
{
    static const struct cel_field fields[] = {{"a", &cel_type_int}};
    static const struct cel_object_type object = {"x.Thing", fields, 1};
    const struct cel_type *t = cel_type_object(&arena, &object);
    check_print(cel_type_print, t, "x.Thing");
    check_print(cel_type_print, cel_type_list(&arena, t), "list(x.Thing)");
    check_print(cel_type_print, cel_type_param(&arena, NULL, 3), "<_var2>");
    check_print(cel_type_print_short, cel_type_param(&arena, NULL, 3), "_var2");
    /* Weights saturate: 2^20 nodes in 20 steps. */
    for (unsigned i = 0; i < 20; i++)
        t = cel_type_map(&arena, t, t);
    assert_int_equal(t->weight, UINT16_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parse_print), cmocka_unit_test(test_bad_text),
        cmocka_unit_test(test_equal),       cmocka_unit_test(test_names),
        cmocka_unit_test(test_signatures),  cmocka_unit_test(test_made),
    };
    arena_init(&arena);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    arena_fini(&arena);
    return failed;
}
