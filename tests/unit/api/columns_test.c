/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of custom resources. */
#include "unit/api/objects.h"

#include "api/printers.h"

static const char OBJECT[] =
    "{\"apiVersion\":\"x.io/v1\",\"kind\":\"Foo\",\"metadata\":{\"name\":\"a\","
    "\"creationTimestamp\":\"2025-12-31T23:59:00Z\"},\"spec\":{\"n\":3,\"f\":2.5,\"s\":"
    "\"t\","
    "\"b\":true,\"m\":{\"z\":1,\"a\":\"<\"},\"l\":[1,2],\"when\":\"2025-12-31T22:00:"
    "00Z\","
    "\"ahead\":\"2026-01-01T01:00:00Z\",\"null\":null}}";

static const struct {
    const char *type, *path, *cell;
} CELLS[] = {
    {"string", ".spec.s", "\"t\""},
    {"string", ".spec.n", "\"3\""},
    {"string", ".spec.b", "\"true\""},
    {"string", ".spec.m", "\"{\\\"a\\\":\\\"\\\\u003c\\\",\\\"z\\\":1}\""},
    {"string", ".spec.l", "\"[1,2]\""},
    {"string", ".spec.none", "null"},
    {"string", ".spec.null", "null"},
    {"integer", ".spec.n", "3"},
    {"integer", ".spec.f", "2"},
    {"integer", ".spec.s", "null"},
    {"number", ".spec.f", "2.5"},
    {"number", ".spec.n", "3"},
    {"number", ".spec.s", "null"},
    {"boolean", ".spec.b", "true"},
    {"boolean", ".spec.s", "null"},
    {"date", ".spec.when", "\"120m\""},
    {"date", ".spec.ahead", "\"<invalid>\""},
    {"date", ".spec.s", "\"<invalid>\""},
    {"date", ".spec.n", "null"},
    {"date", ".spec.none", "null"},
};

static struct doc read(struct arena *a, struct str text)
{
    struct doc_source src = {.name = "test", .text = text};
    struct doc d;
    assert_true(doc_read_json(&src, a, &d, NULL));
    return d;
}

static void cells(void **state)
{
    for (size_t i = 0; i < sizeof CELLS / sizeof *CELLS; i++) {
        struct arena a = {0};
        struct strbuf b = STRBUF_INIT;
        struct str text =
            arena_printf(&a, "[{\"name\":\"C\",\"type\":\"%s\",\"jsonPath\":\"%s\"}]",
                         CELLS[i].type, CELLS[i].path);
        struct doc definition = read(&a, text), object = read(&a, STR(OBJECT));
        struct api_columns c = api_columns_read(&definition, &a);
        struct doc row = api_columns_cells(&c, &object, INT64_C(1767225600000000000), &a);
        assert_int_equal(row.n, 2);
        assert_true(doc_is_string(&row.items[0], "a"));
        doc_write_json(&row.items[1], DOC_JSON_COMPACT, &b);
        if (strcmp(strbuf_cstr(&b), CELLS[i].cell) != 0)
            fail_msg("%s of %s: %s, not %s", CELLS[i].type, CELLS[i].path,
                     strbuf_cstr(&b), CELLS[i].cell);
        strbuf_release(&b);
        arena_fini(&a);
    }
}

static void table(struct arena *a, const char *definition, const char *object,
                  const char *rows, uint32_t ncolumns)
{
    struct doc d = read(a, str_from(definition)), o = read(a, str_from(object));
    struct api_columns c = api_columns_read(&d, a);
    struct strbuf b = STRBUF_INIT;
    struct api_print p = {.a = a,
                          .now = INT64_C(1767225600000000000),
                          .include = API_INCLUDE_NONE,
                          .columns = &c};
    c.list_kind = "FooList";
    struct doc t = api_table(&p, &o);
    doc_write_json(doc_get(&t, "rows"), DOC_JSON_COMPACT, &b);
    assert_string_equal(strbuf_cstr(&b), rows);
    assert_int_equal(doc_get(&t, "columnDefinitions")->n, ncolumns);
    strbuf_release(&b);
}

static void tables(void **state)
{
    struct arena a = {0};
    /* none of its own: the age */
    table(&a, "[]", OBJECT, "[{\"cells\":[\"a\",\"60s\"],\"object\":null}]", 2);
    table(&a, "null", "{\"kind\":\"FooList\",\"items\":[]}", "[]", 2);
    /* a list, and what only looks like one */
    table(&a, "[]", "{\"kind\":\"FooList\",\"items\":[{\"metadata\":{\"name\":\"x\"}}]}",
          "[{\"cells\":[\"x\",null],\"object\":null}]", 2);
    table(&a, "[]", "{\"kind\":\"Foo\",\"metadata\":{\"name\":\"y\"},\"items\":[1]}",
          "[{\"cells\":[\"y\",null],\"object\":null}]", 2);
    /* what follows a path that is none is left out */
    table(&a,
          "[{\"name\":\"A\",\"type\":\"string\",\"jsonPath\":\".a\",\"priority\":1},"
          "{\"name\":\"B\",\"type\":\"string\",\"jsonPath\":\".a[\"},"
          "{\"name\":\"C\",\"type\":\"string\",\"jsonPath\":\".c\"}]",
          "{\"kind\":\"Foo\",\"metadata\":{\"name\":\"z\"},\"a\":\"1\"}",
          "[{\"cells\":[\"z\",\"1\"],\"object\":null}]", 2);
    arena_fini(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cells),
        cmocka_unit_test(tables),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
