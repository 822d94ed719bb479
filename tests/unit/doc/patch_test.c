/* SPDX-License-Identifier: Apache-2.0 */
#include "unit/unit.h"

#include "base/rng.h"
#include "doc/patch.h"

static struct doc read(struct arena *a, const char *json)
{
    struct doc_source src = {.name = "-", .text = str_from(json)};
    struct err e = ERR_INIT;
    struct doc d;
    if (!doc_read_json(&src, a, &d, &e))
        fail_msg("%s: %s", json, err_text(&e));
    return d;
}

typedef bool apply_fn(const struct doc *object, const struct doc *patch, struct arena *a,
                      struct doc *out, struct patch_error *e);

struct row {
    const char *object, *patch;
    const char *want; /* NULL: refused with status */
    enum patch_status status;
};

static void check(apply_fn *apply, const struct row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct arena a;
        struct patch_error e = {0};
        arena_init(&a);
        struct doc object = read(&a, rows[i].object), patch = read(&a, rows[i].patch);
        struct doc before = doc_dup(&a, &object), out;
        bool ok = apply(&object, &patch, &a, &out, &e);
        ROW(rows[i].patch, ok == (rows[i].want != NULL));
        ROW(rows[i].patch, doc_equal(&object, &before));
        if (ok) {
            struct doc want = read(&a, rows[i].want);
            ROW(rows[i].patch, doc_equal(&out, &want));
        } else {
            ROW(rows[i].patch, e.status == rows[i].status && e.text.n > 0);
        }
        arena_fini(&a);
    }
}

#define O "{\"a\":{\"b\":[1,2,3],\"x/y\":1,\"m~n\":2},\"n\":null}"
#define NO NULL, PATCH_NO_FIT

static void test_json(void **state)
{
    static const struct row rows[] = {
        {O, "[]", O, 0},
        {O, "null", O, 0},
        {O, "[{\"op\":\"add\",\"path\":\"/c\",\"value\":1}]",
         "{\"a\":{\"b\":[1,2,3],\"x/y\":1,\"m~n\":2},\"n\":null,\"c\":1}", 0},
        {"{}", "[{\"op\":\"add\",\"path\":\"c\",\"value\":1}]", NO},
        {"{}", "[{\"op\":\"add\",\"path\":\"c/d\",\"value\":1}]", "{\"d\":1}", 0},
        {"{}", "[{\"op\":\"add\",\"path\":\"/d\"}]", "{\"d\":null}", 0},
        {"{}", "[{\"op\":\"add\",\"path\":\"/\",\"value\":1}]", "{\"\":1}", 0},
        {"{}", "[{\"op\":\"add\",\"path\":\"\",\"value\":{}}]", NO},
        {"{}", "[{\"op\":\"add\",\"path\":\"/d/e\",\"value\":1}]", NO},
        {"{\"d\":null}", "[{\"op\":\"add\",\"path\":\"/d/e\",\"value\":1}]", NO},
        {"{\"d\":\"t\"}", "[{\"op\":\"add\",\"path\":\"/d/e\",\"value\":1}]", NO},
        {"{}", "[{\"op\":\"add\",\"value\":1}]", NO},
        {"{}", "[{\"op\":\"nope\",\"path\":\"/a\"}]", NO},
        {"{}", "[null]", NO},
        /* places in a list */
        {"[1,2]", "[{\"op\":\"add\",\"path\":\"/-\",\"value\":3}]", "[1,2,3]", 0},
        {"[1,2]", "[{\"op\":\"add\",\"path\":\"/2\",\"value\":3}]", "[1,2,3]", 0},
        {"[1,2]", "[{\"op\":\"add\",\"path\":\"/0\",\"value\":3}]", "[3,1,2]", 0},
        {"[1,2]", "[{\"op\":\"add\",\"path\":\"/-1\",\"value\":3}]", "[1,2,3]", 0},
        {"[1,2]", "[{\"op\":\"add\",\"path\":\"/-3\",\"value\":3}]", "[3,1,2]", 0},
        {"[1,2]", "[{\"op\":\"add\",\"path\":\"/3\",\"value\":3}]", NO},
        {"[1,2]", "[{\"op\":\"add\",\"path\":\"/-4\",\"value\":3}]", NO},
        {"[1,2]", "[{\"op\":\"add\",\"path\":\"/+1\",\"value\":3}]", "[1,3,2]", 0},
        {"[1,2]", "[{\"op\":\"add\",\"path\":\"/1x\",\"value\":3}]", NO},
        {"[1,2]", "[{\"op\":\"remove\",\"path\":\"/-1\"}]", "[1]", 0},
        {"[1,2]", "[{\"op\":\"remove\",\"path\":\"/2\"}]", NO},
        {"[1,2]", "[{\"op\":\"remove\",\"path\":\"/-\"}]", NO},
        {"[1,2]", "[{\"op\":\"remove\",\"path\":\"/99999999999999999999\"}]", NO},
        {"[1,2]", "[{\"op\":\"replace\",\"path\":\"/01\",\"value\":3}]", "[1,3]", 0},
        {"[1,2]", "[{\"op\":\"replace\",\"path\":\"/2\",\"value\":3}]", NO},
        /* maps */
        {O, "[{\"op\":\"remove\",\"path\":\"/a\"},{\"op\":\"remove\",\"path\":\"/n\"}]",
         "{}", 0},
        {O, "[{\"op\":\"remove\",\"path\":\"/zz\"}]", NO},
        {"{}", "[{\"op\":\"replace\",\"path\":\"/q\",\"value\":1}]", "{\"q\":1}", 0},
        {O, "[{\"op\":\"replace\",\"path\":\"\",\"value\":[1]}]", "[1]", 0},
        {O, "[{\"op\":\"replace\",\"path\":\"\",\"value\":1}]", NO},
        {"{\"x/y\":1,\"m~n\":2,\"~1\":3}",
         "[{\"op\":\"remove\",\"path\":\"/x~1y\"},{\"op\":\"remove\",\"path\":\"/m~0n\"},"
         "{\"op\":\"replace\",\"path\":\"/~01\",\"value\":4}]",
         "{\"~1\":4}", 0},
        /* move and copy */
        {O, "[{\"op\":\"move\",\"from\":\"/a/b\",\"path\":\"/n\"}]",
         "{\"a\":{\"x/y\":1,\"m~n\":2},\"n\":[1,2,3]}", 0},
        {"[1,2,3]", "[{\"op\":\"move\",\"from\":\"/2\",\"path\":\"/0\"}]", "[3,1,2]", 0},
        {"{\"a\":{}}", "[{\"op\":\"move\",\"from\":\"/a\",\"path\":\"/a/b\"}]", NO},
        {"{}", "[{\"op\":\"move\",\"from\":\"/a\",\"path\":\"/b\"}]", NO},
        {"{}", "[{\"op\":\"copy\",\"from\":\"/a\",\"path\":\"/b\"}]", "{\"b\":null}", 0},
        {"{\"a\":{}}", "[{\"op\":\"copy\",\"from\":\"/a\",\"path\":\"/a/b\"}]",
         "{\"a\":{\"b\":{}}}", 0},
        {"[1]", "[{\"op\":\"copy\",\"from\":\"/1\",\"path\":\"/-\"}]", NO},
        {"{}", "[{\"op\":\"copy\",\"path\":\"/a\"}]", NO},
        /* test */
        {O, "[{\"op\":\"test\",\"path\":\"/a/b\",\"value\":[1,2,3]}]", O, 0},
        {O, "[{\"op\":\"test\",\"path\":\"/a/b/0\",\"value\":1.0}]", NO},
        {O, "[{\"op\":\"test\",\"path\":\"\",\"value\":" O "}]", O, 0},
        {O, "[{\"op\":\"test\",\"path\":\"/n\"}]", O, 0},
        {O, "[{\"op\":\"test\",\"path\":\"/zz\",\"value\":null}]", O, 0},
        {O, "[{\"op\":\"test\",\"path\":\"/a\",\"value\":null}]", NO},
        {O, "[{\"op\":\"test\",\"path\":\"/a\",\"value\":{\"b\":[1,2,3]}}]", NO},
        /* one fails: nothing is done */
        {"{\"a\":1}",
         "[{\"op\":\"remove\",\"path\":\"/a\"},{\"op\":\"remove\",\"path\":\"/a\"}]", NO},
        {"{}", "{\"op\":\"add\"}", NULL, PATCH_BAD},
        {"{}", "[1]", NULL, PATCH_BAD},
        {"{}", "\"t\"", NULL, PATCH_BAD},
    };
    check(patch_json, rows, UNIT_COUNT(rows));
}

static void test_json_check(void **state)
{
    struct arena a;
    struct patch_error e = {0};
    arena_init(&a);
    struct doc unknown = doc_make_list();
    struct doc good = read(&a, "[{\"op\":\"add\",\"path\":\"/a\",\"val\":1},"
                               "{\"op\":\"test\",\"from\":null,\"x\":2}]");
    struct doc bad = read(&a, "[{\"op\":\"add\",\"path\":5}]");
    assert_true(patch_json_check(&good, &unknown, &a, &e));
    assert_int_equal(unknown.n, 2);
    assert_str(doc_str(&unknown.items[0]), "[0].val");
    assert_str(doc_str(&unknown.items[1]), "[1].x");
    assert_true(patch_json_check(&good, NULL, &a, &e));
    assert_false(patch_json_check(&bad, NULL, &a, &e));
    assert_int_equal(e.status, PATCH_BAD);
    arena_fini(&a);
}

/* n times the same operation. */
static struct doc repeat(struct arena *a, const char *operation, unsigned n)
{
    struct doc list = doc_make_list(), one = read(a, operation);
    for (unsigned i = 0; i < n; i++)
        doc_append(a, &list, one);
    return list;
}

static bool run(struct arena *a, const char *object, const struct doc *patch,
                struct patch_error *e)
{
    struct doc d = read(a, object), out;
    return patch_json(&d, patch, a, &out, e);
}

static void test_limits(void **state)
{
    struct arena a;
    struct patch_error e = {0};
    arena_init(&a);
    const char *same = "{\"op\":\"add\",\"path\":\"/a\",\"value\":1}";
    struct doc most = repeat(&a, same, PATCH_MAX_OPERATIONS);
    struct doc more = repeat(&a, same, PATCH_MAX_OPERATIONS + 1);
    assert_true(run(&a, "{}", &most, &e));
    assert_false(run(&a, "{}", &more, &e));
    assert_int_equal(e.status, PATCH_TOO_LARGE);
    assert_str(e.text, "The allowed maximum operations in a JSON patch is 10000, "
                       "got 10001");

    /* Doubles each time. */
    const char *doubling = "{\"op\":\"copy\",\"from\":\"/a\",\"path\":\"/a/-\"}";
    struct doc grow = repeat(&a, doubling, 30);
    assert_false(run(&a, "{\"a\":[\"text\"]}", &grow, &e));
    assert_int_equal(e.status, PATCH_NO_FIT);

    /* Deeper by one with each pair, without a copy. */
    struct doc nest = doc_make_list();
    for (int i = 0; i < DOC_MAX_DEPTH; i++) {
        doc_append(&a, &nest, read(&a, "{\"op\":\"add\",\"path\":\"/b\",\"value\":{}}"));
        doc_append(&a, &nest,
                   read(&a, "{\"op\":\"move\",\"from\":\"/a\",\"path\":\"/b/a\"}"));
        doc_append(&a, &nest,
                   read(&a, "{\"op\":\"move\",\"from\":\"/b\",\"path\":\"/a\"}"));
    }
    assert_false(run(&a, "{\"a\":1}", &nest, &e));
    assert_int_equal(e.status, PATCH_NO_FIT);
    nest.n = 3 * (DOC_MAX_DEPTH - 2);
    assert_true(run(&a, "{\"a\":1}", &nest, &e));
    arena_fini(&a);
}

static void test_merge(void **state)
{
    static const struct row rows[] = {
        /* the examples of RFC 7386 whose patch is a map */
        {"{\"a\":\"b\"}", "{\"a\":\"c\"}", "{\"a\":\"c\"}", 0},
        {"{\"a\":\"b\"}", "{\"b\":\"c\"}", "{\"a\":\"b\",\"b\":\"c\"}", 0},
        {"{\"a\":\"b\"}", "{\"a\":null}", "{}", 0},
        {"{\"a\":\"b\",\"b\":\"c\"}", "{\"a\":null}", "{\"b\":\"c\"}", 0},
        {"{\"a\":[\"b\"]}", "{\"a\":\"c\"}", "{\"a\":\"c\"}", 0},
        {"{\"a\":\"c\"}", "{\"a\":[\"b\"]}", "{\"a\":[\"b\"]}", 0},
        {"{\"a\":{\"b\":\"c\"}}", "{\"a\":{\"b\":\"d\",\"c\":null}}",
         "{\"a\":{\"b\":\"d\"}}", 0},
        {"{\"a\":[{\"b\":\"c\"}]}", "{\"a\":[1]}", "{\"a\":[1]}", 0},
        {"{\"e\":null}", "{\"a\":1}", "{\"e\":null,\"a\":1}", 0},
        {"[1,2]", "{\"a\":\"b\",\"c\":null}", "{\"a\":\"b\"}", 0},
        {"{}", "{\"a\":{\"bb\":{\"ccc\":null}}}", "{\"a\":{\"bb\":{}}}", 0},
        /* where upstream departs from it: nulls go in items of lists too, unless a map
         * was there */
        {"{\"a\":1}", "{\"a\":[null,{\"b\":null}]}", "{\"a\":[null,{}]}", 0},
        {"{\"a\":{}}", "{\"a\":[null,{\"b\":null}]}", "{\"a\":[null,{\"b\":null}]}", 0},
        {"{}", "[1]", NULL, PATCH_BAD},
        {"{}", "null", NULL, PATCH_BAD},
        {"{}", "1", NULL, PATCH_BAD},
    };
    check(patch_merge, rows, UNIT_COUNT(rows));
}

static struct doc random_value(struct rng *r, struct arena *a, int depth)
{
    unsigned kind = (unsigned)rng_range(r, 0, depth ? 5 : 3);
    struct doc d = kind == 4 ? doc_make_list() : doc_make_map();
    if (kind < 2)
        return doc_make_int(a, (unsigned)rng_range(r, 0, 3 - 1));
    if (kind == 2)
        return doc_make_bool((unsigned)rng_range(r, 0, 2 - 1));
    for (unsigned i = (unsigned)rng_range(r, 0, 4 - 1); i-- > 0;) {
        char key[2] = {(char)('a' + (unsigned)rng_range(r, 0, 4 - 1)), '\0'};
        if (kind == 4)
            doc_append(a, &d, random_value(r, a, depth - 1));
        else
            doc_set(a, &d, key, random_value(r, a, depth ? depth - 1 : 0));
    }
    return d;
}

static struct doc random_map(struct rng *r, struct arena *a)
{
    struct doc d = doc_make_map();
    doc_set(a, &d, "a", random_value(r, a, 3));
    doc_set(a, &d, "b", random_value(r, a, 3));
    return d;
}

/* The difference of two maps makes the one into the other, and equal ones have none. */
static void test_diff(void **state)
{
    struct rng r;
    rng_init(&r, 7);
    for (int i = 0; i < 2000; i++) {
        struct arena a;
        struct patch_error e;
        arena_init(&a);
        struct doc from = random_map(&r, &a), to = random_map(&r, &a), out;
        struct doc diff = patch_merge_diff(&from, &to, &a);
        assert_true(patch_merge(&from, &diff, &a, &out, &e));
        assert_true(doc_equal(&out, &to));
        assert_int_equal(patch_merge_diff(&from, &from, &a).n, 0);
        arena_fini(&a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_json),   cmocka_unit_test(test_json_check),
        cmocka_unit_test(test_limits), cmocka_unit_test(test_merge),
        cmocka_unit_test(test_diff),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
