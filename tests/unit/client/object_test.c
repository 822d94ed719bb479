/* SPDX-License-Identifier: Apache-2.0 */
#include "client/object.h"

#include <stdlib.h>

#include "base/mem.h"
#include "unit/unit.h"

static const char POD[] =
    "{\"metadata\":{\"name\":\"p\",\"namespace\":\"n\",\"uid\":\"u\","
    "\"resourceVersion\":\"7\"},\"spec\":{\"nodeName\":\"w\"}}";

static const void *view_node_name(const struct doc *d, struct arena *a, struct err *e)
{
    struct str name = doc_get_text(doc_get(d, "spec"), "nodeName");
    struct str *v = ARENA_NEW(a, struct str);
    if (!name.n)
        return err_set(e, ERR_INVALID, "it has no node"), NULL;
    *v = arena_str(a, name);
    return v;
}

static void check_meta(const struct object *o)
{
    assert_str(o->key, "n/p");
    assert_str(o->namespace, "n");
    assert_str(o->name, "p");
    assert_str(o->uid, "u");
    assert_str(o->version, "7");
}

static void test_forms(void **state)
{
    static const struct object_opts plain, view = {view_node_name, false},
                                           view_only = {view_node_name, true};
    const struct object_opts *const rows[] = {&plain, &view, &view_only};
    for (size_t i = 0; i < UNIT_COUNT(rows); i++) {
        char *text = mem_dup(POD, sizeof POD - 1); /* nothing of it is kept */
        struct object *o =
            object_of_json((struct str){text, sizeof POD - 1}, rows[i], NULL);
        memset(text, 'x', sizeof POD - 1);
        assert_non_null(o);
        check_meta(o);
        assert_int_equal(o->doc == NULL, rows[i]->drop_doc);
        assert_int_equal(o->view == NULL, rows[i]->view == NULL);
        if (o->view)
            assert_str(*(const struct str *)o->view, "w");
        if (o->doc)
            assert_str(doc_get_text(doc_get(o->doc, "spec"), "nodeName"), "w");
        struct object *second = object_ref(o);
        object_unref(o);
        check_meta(second);
        object_unref(second);
        free(text);
    }
}

static void test_no_namespace(void **state)
{
    static const struct object_opts plain;
    struct object *o =
        object_of_json(STR("{\"metadata\":{\"name\":\"w\"}}"), &plain, NULL);
    assert_str(o->key, "w");
    object_unref(o);
}

static void test_errors(void **state)
{
    static const struct object_opts plain, view = {view_node_name, false};
    struct err e = ERR_INIT;
    assert_null(object_of_json(STR("{\"metadata\":{}}"), &plain, &e));
    assert_string_equal(err_text(&e), "an object without metadata.name");
    assert_null(object_of_json(STR("{\"metadata\":{\"name\":\"a\"}}"), &view, &e));
    assert_string_equal(err_text(&e), "it has no node");
    assert_null(object_of_json(STR("{\"metadata\":"), &plain, &e));
    err_release(&e);
    object_unref(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forms),
        cmocka_unit_test(test_no_namespace),
        cmocka_unit_test(test_errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
