/* SPDX-License-Identifier: Apache-2.0 */
#include "unit/unit.h"

#include "api/fields.h"
#include "base/rng.h"

static bool decode(struct arena *a, const char *json, struct fields *out)
{
    struct doc_source src = {.name = "-", .text = str_from(json)};
    struct doc d;
    struct str why;
    assert_true(doc_read_json(&src, a, &d, NULL));
    return fields_decode(&d, a, out, &why);
}

static void assert_fields(struct arena *a, const char *name, const struct fields *got,
                          const char *want)
{
    struct strbuf b = STRBUF_INIT;
    struct doc d = fields_encode(got, a);
    doc_write_json(&d, DOC_JSON_SORT, &b);
    if (!str_is(strbuf_str(&b), want))
        fail_msg("%s: got %s, want %s", name, strbuf_cstr(&b), want);
    strbuf_release(&b);
}

/* FieldsV1 in its one spelling; NULL: refused. */
static void test_decode(void **state)
{
    static const struct {
        const char *in, *out;
    } rows[] = {
        {"{}", "{}"},
        {"null", "{}"},
        {"{\"f:a\":{}}", "{\"f:a\":{}}"},
        {"{\"f:a\":{\"f:b\":{}}}", "{\"f:a\":{\"f:b\":{}}}"},
        {"{\"f:a\":{\".\":{},\"f:b\":{}}}", "{\"f:a\":{\".\":{},\"f:b\":{}}}"},
        {"{\"f:a\":{\".\":{}}}", "{\"f:a\":{}}"},
        {"{\"k:{ \\\"b\\\":1,\\\"a\\\":\\\"x\\\"}\":{}}",
         "{\"k:{\\\"a\\\":\\\"x\\\",\\\"b\\\":1}\":{}}"},
        {"{\"v:\\\"x\\\"\":{},\"i:3\":{}}", "{\"i:3\":{},\"v:\\\"x\\\"\":{}}"},
        {"{\"z:new\":{},\"f:a\":{}}", "{\"f:a\":{}}"},
        {"{\"bad\":{}}", NULL},
        {"{\"f\":{}}", NULL},
        {"{\"k:[]\":{}}", NULL},
        {"{\"k:{\":{}}", NULL},
        {"{\"i:x\":{}}", NULL},
        {"{\"f:a\":1}", NULL},
        {"[]", NULL},
    };
    for (size_t i = 0; i < UNIT_COUNT(rows); i++) {
        struct arena a;
        struct fields s = {0};
        arena_init(&a);
        ROW(rows[i].in, decode(&a, rows[i].in, &s) == (rows[i].out != NULL));
        if (rows[i].out)
            assert_fields(&a, rows[i].in, &s, rows[i].out);
        arena_fini(&a);
    }
}

static void test_combine(void **state)
{
    static const struct {
        const char *x, *y, *both, *either, *difference, *without;
    } rows[] = {
        {"{\"f:a\":{}}", "{\"f:b\":{}}", "{}", "{\"f:a\":{},\"f:b\":{}}", "{\"f:a\":{}}",
         "{\"f:a\":{}}"},
        {"{\"f:a\":{\".\":{},\"f:b\":{}}}", "{\"f:a\":{}}", "{\"f:a\":{}}",
         "{\"f:a\":{\".\":{},\"f:b\":{}}}", "{\"f:a\":{\"f:b\":{}}}", "{}"},
        {"{\"f:a\":{\"f:b\":{},\"f:c\":{}}}", "{\"f:a\":{\"f:c\":{}}}",
         "{\"f:a\":{\"f:c\":{}}}", "{\"f:a\":{\"f:b\":{},\"f:c\":{}}}",
         "{\"f:a\":{\"f:b\":{}}}", "{\"f:a\":{\"f:b\":{}}}"},
        {"{}", "{\"f:a\":{}}", "{}", "{\"f:a\":{}}", "{}", "{}"},
    };
    for (size_t i = 0; i < UNIT_COUNT(rows); i++) {
        struct arena a;
        struct fields x, y, got;
        arena_init(&a);
        assert_true(decode(&a, rows[i].x, &x) && decode(&a, rows[i].y, &y));
        got = fields_intersection(&x, &y, &a);
        assert_fields(&a, "both", &got, rows[i].both);
        got = fields_union(&x, &y, &a);
        assert_fields(&a, "either", &got, rows[i].either);
        got = fields_difference(&x, &y, &a);
        assert_fields(&a, "difference", &got, rows[i].difference);
        got = fields_without(&x, &y, &a);
        assert_fields(&a, "without", &got, rows[i].without);
        arena_fini(&a);
    }
}

static void add_line(void *ctx, struct str path)
{
    strbuf_addstr(ctx, path);
    strbuf_addc(ctx, '\n');
}

static void test_paths(void **state)
{
    struct arena a;
    struct fields s;
    struct strbuf b = STRBUF_INIT;
    arena_init(&a);
    assert_true(
        decode(&a,
               "{\"f:spec\":{\"f:ports\":{\".\":{},\"k:{\\\"port\\\":80,"
               "\\\"protocol\\\":\\\"TCP\\\"}\":{\".\":{},\"f:name\":{}}}},"
               "\"f:set\":{\"v:\\\"a b\\\"\":{},\"v:true\":{}},\"f:x\":{\"i:3\":{}}}",
               &s));
    fields_each(&s, &a, add_line, &b);
    assert_string_equal(strbuf_cstr(&b), ".set[=\"a b\"]\n.set[=true]\n.spec.ports\n"
                                         ".spec.ports[port=80,protocol=\"TCP\"]\n"
                                         ".spec.ports[port=80,protocol=\"TCP\"].name\n"
                                         ".x[3]\n");
    strbuf_release(&b);
    arena_fini(&a);
}

/* A path of three elements out of 3 * 3 * 3. */
static bool touch(struct fields *s, unsigned i, unsigned length, bool insert,
                  struct arena *a)
{
    static const char *const names[] = {"f:a", "f:b", "f:c"};
    const struct field_step x = {NULL, str_from(names[i % 3])};
    const struct field_step y = {&x, str_from(names[i / 3 % 3])};
    const struct field_step z = {&y, str_from(names[i / 9])};
    const struct field_step *path = length == 1 ? &x : length == 2 ? &y : &z;
    if (insert)
        fields_insert(s, path, a);
    return fields_has(s, path);
}

/* Against sets as bits. */
static void test_random(void **state)
{
    struct rng r;
    rng_init(&r, 3);
    for (int round = 0; round < 200; round++) {
        struct arena a;
        struct fields x = {0}, y = {0};
        arena_init(&a);
        for (int i = 0; i < 20; i++)
            touch(i % 2 ? &x : &y, (unsigned)rng_range(&r, 0, 26),
                  (unsigned)rng_range(&r, 1, 3), true, &a);
        struct fields both = fields_intersection(&x, &y, &a);
        struct fields either = fields_union(&x, &y, &a);
        struct fields left = fields_difference(&x, &y, &a);
        for (unsigned i = 0; i < 81; i++) {
            bool in_x = touch(&x, i / 3, i % 3 + 1, false, &a);
            bool in_y = touch(&y, i / 3, i % 3 + 1, false, &a);
            assert_int_equal(touch(&both, i / 3, i % 3 + 1, false, &a), in_x && in_y);
            assert_int_equal(touch(&either, i / 3, i % 3 + 1, false, &a), in_x || in_y);
            assert_int_equal(touch(&left, i / 3, i % 3 + 1, false, &a), in_x && !in_y);
        }
        arena_fini(&a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_decode),
        cmocka_unit_test(test_combine),
        cmocka_unit_test(test_paths),
        cmocka_unit_test(test_random),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
