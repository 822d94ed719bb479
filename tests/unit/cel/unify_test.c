/* SPDX-License-Identifier: Apache-2.0 */
#include "unit/unit.h"

#include "cel/unify.h"

static struct arena arena;

static const struct cel_type *parse(const char *text)
{
    const struct cel_type *t = cel_type_parse(&arena, str_from(text));
    assert_non_null(t);
    return t;
}

/* Two types whose parameters, by name, become variables: <A> is one in both. */
static void open_pair(struct unify *u, const char *a, const char *b,
                      const struct cel_type *out[2])
{
    struct cel_signature sig;
    struct str text = arena_printf(&arena, "(%s, %s) -> bool", a, b);
    assert_true(cel_signature_parse(&arena, text, &sig));
    uint32_t base = unify_vars(u, sig.nparams);
    out[0] = unify_instantiate(u, sig.args[0], base);
    out[1] = unify_instantiate(u, sig.args[1], base);
}

static void test_fits(void **state)
{
    static const struct {
        const char *a, *b;
        bool fits;
        const char *as; /* a afterwards */
    } rows[] = {
        {"int", "int", true, "int"},
        {"int", "uint", false, "int"},
        {"int", "dyn", true, "int"},
        {"dyn", "list(int)", true, "dyn"},
        {"any", "int", true, "google.protobuf.Any"},
        {"error", "int", true, "error"},
        {"null", "int", false, "null_type"},
        {"null", "duration", true, "null_type"},
        {"timestamp", "null", true, "google.protobuf.Timestamp"},
        {"null", "optional_type(int)", true, "null_type"},
        {"null", "list(int)", false, "null_type"},
        {"null", "wrapper(int)", true, "null_type"},
        {"null", "null", true, "null_type"},
        {"wrapper(int)", "int", true, "wrapper(int)"},
        {"int", "wrapper(int)", true, "int"},
        {"wrapper(int)", "wrapper(string)", false, "wrapper(int)"},
        {"list(int)", "list(dyn)", true, "list(int)"},
        {"list(int)", "list(string)", false, "list(int)"},
        {"map(string, int)", "map(string, dyn)", true, "map(string, int)"},
        {"map(int, int)", "map(string, int)", false, "map(int, int)"},
        {"type(int)", "type(string)", true, "type(int)"},
        {"type(int)", "int", false, "type(int)"},
        {"kubernetes.Quantity", "kubernetes.Quantity", true, "kubernetes.Quantity"},
        {"kubernetes.Quantity", "kubernetes.Semver", false, "kubernetes.Quantity"},
        {"optional_type(int)", "optional_type(string)", false, "optional_type(int)"},
        {"<A>", "int", true, "int"},
        {"int", "<A>", true, "int"},
        {"<A>", "<B>", true, "<_var0>"},
        {"<A>", "<A>", true, "<_var0>"},
        {"list(<A>)", "list(map(string, <B>))", true, "list(map(string, <_var1>))"},
        {"map(<A>, <A>)", "map(int, int)", true, "map(int, int)"},
        {"map(<A>, <A>)", "map(int, string)", false, "map(<_var0>, <_var0>)"},
        {"map(<A>, <A>)", "map(int, dyn)", true, "map(dyn, dyn)"},
        {"map(<A>, <A>)", "map(dyn, int)", true, "map(dyn, dyn)"},
        {"<A>", "list(<A>)", false, "<_var0>"},
        {"list(<A>)", "<A>", false, "list(<_var0>)"},
        {"map(<A>, <B>)", "map(list(<B>), list(<A>))", false, "map(<_var0>, <_var1>)"},
    };
    for (size_t i = 0; i < UNIT_COUNT(rows); i++) {
        struct unify u;
        const struct cel_type *t[2];
        struct strbuf got = STRBUF_INIT;
        unify_init(&u, &arena);
        open_pair(&u, rows[i].a, rows[i].b, t);
        ROW(rows[i].a, unify_fits(&u, t[0], t[1]) == rows[i].fits);
        cel_type_print(unify_substitute(&u, t[0], false), &got);
        assert_str(strbuf_str(&got), rows[i].as);
        strbuf_release(&got);
    }
}

static void test_unwind(void **state)
{
    struct unify u;
    unify_init(&u, &arena);
    const struct cel_type *a = unify_var(&u), *b = unify_var(&u);
    assert_true(unify_fits(&u, a, b));
    size_t mark = unify_mark(&u);
    assert_true(unify_fits(&u, a, &cel_type_int));
    assert_ptr_equal(unify_substitute(&u, b, false), &cel_type_int);
    unify_unwind(&u, mark);
    assert_int_equal(unify_substitute(&u, b, false)->kind, CEL_T_PARAM);
    assert_ptr_equal(unify_substitute(&u, b, true), &cel_type_dyn);
}

/* Variables that stand for one another in turn make no circle. */
static void test_circles(void **state)
{
    struct unify u;
    unify_init(&u, &arena);
    const struct cel_type *v[4];
    for (unsigned i = 0; i < 4; i++)
        v[i] = unify_var(&u);
    for (unsigned i = 0; i < 4; i++) {
        for (unsigned k = 0; k < 4; k++) {
            assert_true(unify_fits(&u, v[i], v[k]));
            assert_true(
                unify_fits(&u, cel_type_list(&arena, v[k]), cel_type_list(&arena, v[i])));
        }
    }
    assert_int_equal(unify_substitute(&u, v[3], false)->kind, CEL_T_PARAM);
    assert_true(unify_fits(&u, v[2], &cel_type_int));
    for (unsigned i = 0; i < 4; i++)
        for (unsigned k = 0; k < 4; k++)
            assert_true(unify_fits(&u, v[i], v[k]));
    for (unsigned i = 0; i < 4; i++)
        assert_ptr_equal(unify_settle(&u, v[i]), &cel_type_int);
    assert_false(u.exhausted);
}

static void test_general(void **state)
{
    static const struct {
        const char *a, *b, *general;
    } rows[] = {
        {"int", "int", "int"},
        {"int", "dyn", "dyn"},
        {"dyn", "int", "dyn"},
        {"list(int)", "list(dyn)", "list(dyn)"},
        {"list(dyn)", "list(int)", "list(dyn)"},
        {"map(int, dyn)", "map(dyn, int)", "map(dyn, int)"},
        {"type(int)", "type(string)", "type(int)"},
        {"optional_type(dyn)", "optional_type(int)", "optional_type(dyn)"},
    };
    struct unify u;
    unify_init(&u, &arena);
    for (size_t i = 0; i < UNIT_COUNT(rows); i++)
        ROW(rows[i].a,
            cel_type_equal(unify_most_general(&u, parse(rows[i].a), parse(rows[i].b)),
                           parse(rows[i].general)));
}

/* Settled types share their parts, however often those occur. */
static void test_settle(void **state)
{
    struct unify u;
    unify_init(&u, &arena);
    const struct cel_type *first = unify_var(&u), *last = first;
    for (unsigned i = 0; i < 100; i++) {
        const struct cel_type *next = unify_var(&u);
        assert_true(unify_fits(&u, last, cel_type_map(&arena, next, next)));
        last = next;
    }
    assert_true(unify_fits(&u, last, &cel_type_int));
    const struct cel_type *t = unify_settle(&u, first);
    assert_int_equal(t->weight, UINT16_MAX);
    assert_int_equal(t->var, 0);
    for (unsigned i = 0; i < 100; i++) {
        assert_ptr_equal(t->params[0], t->params[1]);
        t = t->params[0];
    }
    assert_ptr_equal(t, &cel_type_int);
    assert_false(u.exhausted);
}

/* A long row of variables is an end, not an overflow of the stack. */
static void test_exhaustion(void **state)
{
    struct unify u;
    unify_init(&u, &arena);
    const struct cel_type *a = &cel_type_int, *b = &cel_type_int;
    for (unsigned i = 0; i < 5000; i++) {
        a = cel_type_list(&arena, a);
        b = cel_type_list(&arena, b);
    }
    unify_fits(&u, a, b);
    assert_true(u.exhausted);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fits),    cmocka_unit_test(test_unwind),
        cmocka_unit_test(test_circles), cmocka_unit_test(test_general),
        cmocka_unit_test(test_settle),  cmocka_unit_test(test_exhaustion),
    };
    arena_init(&arena);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    arena_fini(&arena);
    return failed;
}
