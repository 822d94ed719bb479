/* SPDX-License-Identifier: Apache-2.0 */
/* Templates of -o jsonpath, and labels of descriptions. */
#include "unit/unit.h"

#include "cli/describe.h"
#include "cli/template.h"

static const char OBJECT[] =
    "{\"metadata\":{\"name\":\"a\",\"labels\":{\"x.y/z\":\"v\"}},\"n\":3,\"on\":true,"
    "\"items\":[{\"name\":\"p\",\"ip\":\"1\"},{\"name\":\"q\"}],\"empty\":null}";

static void test_prints(void **state)
{
    static const struct {
        const char *template, *want;
    } CASES[] = {
        {"", ""},
        {"plain", "plain"},
        {"{.metadata.name}", "a"},
        {"{.n}{.on}{.empty}", "3true"},
        {"{.nope}", ""},
        {"{.items[*].name}", "p q"},
        {"{.metadata.labels}", "{\"x.y/z\":\"v\"}"},
        {"{.metadata.labels.x\\.y/z}", "v"},
        {"<{.metadata.name}>", "<a>"},
        {"{range .items[*]}{.name}={.ip};{end}", "p=1;q=;"},
        {"{range .items}{.name}{\"\\n\"}{end}", "p\nq\n"},
        {"{range .items[*]}{@.name},{end}.", "p,q,."},
        {"{'}'}{\"a\\\"b\"}", "}a\"b"},
        {"{$.n}", "3"},
        {"{range .nope[*]}x{end}", ""},
        {"{.items[?(@.name==\"q\")].name}", "q"},
    };
    struct arena a = {0};
    struct doc_source src = {.name = "object", .text = str_from(OBJECT)};
    struct doc d;
    (void)state;
    assert_true(doc_read_json(&src, &a, &d, NULL));
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        struct err e = ERR_INIT;
        struct strbuf out = STRBUF_INIT;
        const struct template_part *t =
            template_parse(str_from(CASES[i].template), &a, &e);
        assert_int_equal(e.code, ERR_NONE);
        assert_non_null(t);
        template_print(t, &d, &a, &out);
        assert_string_equal(strbuf_cstr(&out), CASES[i].want);
        strbuf_release(&out);
    }
    arena_fini(&a);
}

static void test_refuses(void **state)
{
    static const char *const CASES[] = {"{.a",    "{",     "{range .a[*]}x",
                                        "x{end}", "{.a[}", "{range .a}{range .b}{end}"};
    struct arena a = {0};
    (void)state;
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        struct err e = ERR_INIT;
        assert_null(template_parse(str_from(CASES[i]), &a, &e));
        assert_int_not_equal(e.code, ERR_NONE);
        err_release(&e);
    }
    arena_fini(&a);
}

static void test_limits_ranges(void **state)
{
    struct arena a = {0};
    struct strbuf b = STRBUF_INIT;
    struct err e = ERR_INIT;
    (void)state;
    for (int i = 0; i < 1000; i++)
        strbuf_adds(&b, "{range .a}");
    assert_null(template_parse(strbuf_str(&b), &a, &e));
    assert_int_not_equal(e.code, ERR_NONE);
    err_release(&e);
    strbuf_release(&b);
    arena_fini(&a);
}

static void test_labels(void **state)
{
    static const struct {
        const char *field, *want;
    } CASES[] = {{"name", "Name"},
                 {"apiVersion", "API Version"},
                 {"uid", "UID"},
                 {"deviceClassName", "Device Class Name"},
                 {"podIP", "Pod IP"},
                 {"podIPs", "Pod I Ps"},
                 {"example.com/key", "example.com/key"},
                 {"kind", "Kind"}};
    struct arena a = {0};
    (void)state;
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++)
        assert_string_equal(describe_label(str_from(CASES[i].field), &a).p,
                            CASES[i].want);
    arena_fini(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_prints),
        cmocka_unit_test(test_refuses),
        cmocka_unit_test(test_limits_ranges),
        cmocka_unit_test(test_labels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
