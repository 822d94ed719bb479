/* SPDX-License-Identifier: Apache-2.0 */
#include "unit/doc/docs.h"

static void assert_json(const struct doc *d, const char *want)
{
    struct strbuf b = STRBUF_INIT;
    doc_write_json(d, DOC_JSON_COMPACT, &b);
    assert_str(strbuf_str(&b), want);
    strbuf_release(&b);
}

static void test_make(void **state)
{
    struct arena a;
    arena_init(&a);
    struct doc map = doc_make_map(), list = doc_make_list();
    assert_json(&map, "{}");
    assert_json(&list, "[]");
    doc_append(&a, &list, doc_make_null());
    doc_append(&a, &list, doc_make_bool(true));
    doc_append(&a, &list, doc_make_int(&a, INT64_MIN));
    struct doc *inner = doc_append(&a, &list, doc_make_map());
    doc_set(&a, inner, "k", doc_make_string(&a, STR("a\0b")));
    doc_set(&a, &map, "list", list);
    doc_set_str(&a, &map, STR("n\0"), doc_make_int(&a, 7));
    assert_json(&map, "{\"list\":[null,true,-9223372036854775808,{\"k\":\"a\\u0000b\"}],"
                      "\"n\\u0000\":7}");
    assert_int_equal(map.pos, UINT32_MAX);
    assert_int_equal(map.members[0].key_pos, UINT32_MAX);
    arena_fini(&a);
}

static void test_grow(void **state)
{
    struct arena a;
    arena_init(&a);
    struct doc map = doc_make_map(), list = doc_make_list();
    for (int i = 0; i < 1000; i++) {
        doc_append(&a, &list, doc_make_int(&a, i));
        struct str key = arena_printf(&a, "k%d", i % 700);
        doc_set_str(&a, &map, key, doc_make_int(&a, i));
    }
    int64_t v;
    assert_int_equal(list.n, 1000);
    assert_int_equal(map.n, 700);
    assert_true(doc_int64(&list.items[999], &v) && v == 999);
    assert_true(doc_get_int64(&map, "k0", &v) && v == 700);
    assert_true(doc_get_int64(&map, "k699", &v) && v == 699);
    arena_fini(&a);
}

/* A tree that was read has no room: growing one leaves the original as it was. */
static void test_grow_read(void **state)
{
    struct text t;
    text_json(&t, STR("{\"a\":1,\"l\":[1]}"));
    struct doc map = t.doc, list = *doc_get(&t.doc, "l");
    doc_set(&t.arena, &map, "b", doc_make_bool(false));
    doc_append(&t.arena, &list, doc_make_bool(false));
    assert_json(&map, "{\"a\":1,\"l\":[1],\"b\":false}");
    assert_json(&list, "[1,false]");
    assert_json(&t.doc, "{\"a\":1,\"l\":[1]}");
    text_fini(&t);
}

static void test_set_remove(void **state)
{
    static const struct {
        const char *in, *key, *set, *removed;
        bool found;
    } rows[] = {
        {"{}", "a", "{\"a\":0}", "{}", false},
        {"{\"a\":1}", "a", "{\"a\":0}", "{}", true},
        {"{\"b\":1,\"a\":2,\"c\":3}", "a", "{\"b\":1,\"a\":0,\"c\":3}",
         "{\"b\":1,\"c\":3}", true},
        {"{\"a\":1,\"b\":2,\"a\":3}", "a", "{\"a\":1,\"b\":2,\"a\":0}", "{\"b\":2}",
         true},
        {"{\"b\":1}", "", "{\"b\":1,\"\":0}", "{\"b\":1}", false},
    };
    for (size_t i = 0; i < UNIT_COUNT(rows); i++) {
        struct text t;
        text_json(&t, str_from(rows[i].in));
        doc_set(&t.arena, &t.doc, rows[i].key, doc_make_int(&t.arena, 0));
        assert_json(&t.doc, rows[i].set);
        text_fini(&t);
        text_json(&t, str_from(rows[i].in));
        assert_int_equal(doc_remove(&t.doc, str_from(rows[i].key)), rows[i].found);
        assert_json(&t.doc, rows[i].removed);
        text_fini(&t);
    }
}

static void test_dup(void **state)
{
    struct arena a;
    struct text t;
    arena_init(&a);
    text_json(&t, STR("{\"a\":[1.50,\"x\",{\"y\":null}],\"b\":true,\"e\":[],\"f\":{}}"));
    struct doc copy = doc_dup(&a, &t.doc);
    assert_true(doc_equal(&copy, &t.doc));
    assert_int_equal(copy.members[0].value.items[1].pos, 11);
    text_fini(&t); /* nothing is shared */
    assert_json(&copy, "{\"a\":[1.50,\"x\",{\"y\":null}],\"b\":true,\"e\":[],\"f\":{}}");
    arena_fini(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_make),      cmocka_unit_test(test_grow),
        cmocka_unit_test(test_grow_read), cmocka_unit_test(test_set_remove),
        cmocka_unit_test(test_dup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
