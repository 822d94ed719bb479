/* SPDX-License-Identifier: Apache-2.0 */
#include "client/object_pool.h"

#include "unit/unit.h"

#define POD(node)                                                                        \
    "{\"metadata\":{\"name\":\"p\",\"namespace\":\"n\",\"resourceVersion\":\"7\"},"      \
    "\"spec\":{\"nodeName\":\"" node "\"}}"

static const void *view_node_name(const struct doc *d, struct arena *a, struct err *e)
{
    struct str name = doc_get_text(doc_get(d, "spec"), "nodeName");
    struct str *v = ARENA_NEW(a, struct str);
    *v = arena_str(a, name);
    return name.n ? v : (err_set(e, ERR_INVALID, "it has no node"), NULL);
}

static const struct object_opts PLAIN,
    VIEW = {.view = view_node_name},
    VIEW_ONLY = {.view = view_node_name, .drop_doc = true};

static struct object *take(struct object_pool *p, const char *json,
                           const struct object_opts *opts)
{
    struct object *o = object_pool_read(p, str_from(json), opts, NULL);
    assert_non_null(o);
    assert_str(o->key, "n/p");
    assert_str(o->version, "7");
    return o;
}

static void test_same_text_is_one_document(void **state)
{
    struct object_pool *p = object_pool_new();
    struct object *a = take(p, POD("w"), &PLAIN), *b = take(p, POD("w"), &PLAIN),
                  *seen = take(p, POD("w"), &VIEW), *other = take(p, POD("v"), &PLAIN);
    assert_ptr_equal(a, b);
    assert_ptr_equal(seen->doc, a->doc);
    assert_str(*(const struct str *)seen->view, "w");
    assert_ptr_not_equal(other, a);
    assert_int_equal(object_pool_count(p), 2);
    object_unref(a);
    object_unref(b);
    object_unref(other);
    assert_int_equal(object_pool_count(p), 1); /* the view's */
    object_unref(seen);
    assert_int_equal(object_pool_count(p), 0);
    object_pool_free(p);
}

static void test_a_dropped_document_is_not_kept(void **state)
{
    struct object_pool *p = object_pool_new();
    struct object *o = take(p, POD("w"), &VIEW_ONLY);
    assert_null(o->doc);
    assert_str(*(const struct str *)o->view, "w");
    assert_int_equal(object_pool_count(p), 0);
    assert_str(o->namespace, "n");
    object_unref(o);
    object_pool_free(p);
}

static void test_objects_outlive_the_pool(void **state)
{
    struct object_pool *p = object_pool_new();
    struct object *a = take(p, POD("w"), &PLAIN), *b = take(p, POD("w"), &VIEW);
    object_pool_free(p);
    object_unref(a);
    assert_str(doc_get_text(doc_get(b->doc, "spec"), "nodeName"), "w");
    object_unref(b);
}

static void test_errors(void **state)
{
    static const char *const rows[] = {"", "{", "[]", "{\"metadata\":{}}", POD("w") "x"};
    struct object_pool *p = object_pool_new();
    struct err e = ERR_INIT;
    for (size_t i = 0; i < UNIT_COUNT(rows); i++) {
        assert_null(object_pool_read(p, str_from(rows[i]), &PLAIN, &e));
        assert_true(e.code != ERR_NONE);
        err_release(&e);
    }
    assert_null(object_pool_read(p, STR(POD("")), &VIEW, &e));
    assert_string_equal(err_text(&e), "it has no node");
    assert_int_equal(object_pool_count(p), 0);
    err_release(&e);
    object_pool_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_text_is_one_document),
        cmocka_unit_test(test_a_dropped_document_is_not_kept),
        cmocka_unit_test(test_objects_outlive_the_pool),
        cmocka_unit_test(test_errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
