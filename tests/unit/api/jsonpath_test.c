/* SPDX-License-Identifier: Apache-2.0 */
/* Paths of columns: what they lead to, and which are none. */
#include "unit/api/objects.h"

#include "api/jsonpath.h"

static const char OBJECT[] = "{\"a\":{\"b\":1,\"c.d\":2,\"e\":[10,20,30,40]},\"n\":null,"
                             "\"list\":[{\"t\":\"x\",\"v\":1,\"s\":\"one\"},{\"t\":\"y\","
                             "\"v\":2},{\"t\":\"x\",\"v\":3}],"
                             "\"deep\":{\"b\":{\"b\":5}}}";

static const struct {
    const char *path, *found; /* found: a list; NULL: no path */
} CASES[] = {
    {".a.b", "[1]"},
    {"$.a.b", "[1]"},
    {".a.x", "[]"},
    {".x.y", "[]"},
    {".n", "[null]"},
    {".a.c\\.d", "[2]"},
    {".a['c.d']", "[2]"},
    {".a[\"c.d\"]", "[2]"},
    {"['a'].b", "[1]"},
    {".a.e[0]", "[10]"},
    {".a.e[-1]", "[40]"},
    {".a.e[9]", "[]"},
    {".a.e[1:3]", "[20,30]"},
    {".a.e[:2]", "[10,20]"},
    {".a.e[-2:]", "[30,40]"},
    {".a.e[0:4:2]", "[10,30]"},
    {".a.e[*]", "[10,20,30,40]"},
    {".a.e.*", "[10,20,30,40]"},
    {".a.b[0]", "[]"}, /* no list */
    {".list[*].v", "[1,2,3]"},
    {".list[?(@.t==\"x\")].v", "[1,3]"},
    {".list[?(@.t=='y')].v", "[2]"},
    {".list[?(@.v>1)].t", "[\"y\",\"x\"]"},
    {".list[?(@.v>=2)].v", "[2,3]"},
    {".list[?(@.v<2)].t", "[\"x\"]"},
    {".list[?(@.v<=2)].v", "[1,2]"},
    {".list[?(@.t!=\"x\")].v", "[2]"},
    {".list[?(@.s)].v", "[1]"},
    {".list[?( @.t == \"y\" )].v", "[2]"},
    {".list[?(@.s==\"one\")].v", "[1]"},
    {".list[?(@.t==1)].v", "[]"}, /* cannot be compared */
    {".a[?(@.b)]", "[]"},         /* nothing to choose from */
    {"..b", "[1,{\"b\":5},5]"},
    {".deep..b", "[{\"b\":5},5]"},
    {"", "[{}]"},
    {".", "[{}]"},
    {".a[", NULL},
    {".a[]", NULL},
    {".a[x]", NULL},
    {".a['b", NULL},
    {".a.", NULL},
    {"..", NULL},
    {".list[?(@.t==\"x\"]", NULL},
    {".list[?(@.t==\"x)]", NULL},
    {".list[?(@.t==)]", NULL},
    {".a b", NULL},
    {".a[99999999999]", NULL},
    {"a.b{", NULL},
};

static void paths(void **state)
{
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        struct arena a = {0};
        struct doc_source src = {.name = "object", .text = STR(OBJECT)};
        struct strbuf b = STRBUF_INIT;
        struct jsonpath p;
        struct doc d, all = doc_make_list();
        uint32_t n;
        assert_true(doc_read_json(&src, &a, &d, NULL));
        bool ok = jsonpath_parse(str_from(CASES[i].path), &a, &p);
        if (ok != (CASES[i].found != NULL))
            fail_msg("%s: %s", CASES[i].path, ok ? "is a path" : "is none");
        if (ok) {
            const struct doc *const *v = jsonpath_find(&p, &d, &a, &n);
            for (uint32_t k = 0; k < n; k++)
                doc_append(&a, &all,
                           v[k]->n == d.n && v[k] == &d ? doc_make_map() : *v[k]);
            doc_write_json(&all, DOC_JSON_COMPACT, &b);
            if (strcmp(strbuf_cstr(&b), CASES[i].found) != 0)
                fail_msg("%s: %s, not %s", CASES[i].path, strbuf_cstr(&b),
                         CASES[i].found);
        }
        strbuf_release(&b);
        arena_fini(&a);
    }
}

/* Neither many steps nor many results take more than their limit. */
static void limits(void **state)
{
    struct arena a = {0};
    struct strbuf b = STRBUF_INIT;
    struct jsonpath p;
    for (int i = 0; i <= JSONPATH_MAX_STEPS; i++)
        strbuf_adds(&b, ".a");
    assert_false(jsonpath_parse(strbuf_str(&b), &a, &p));
    strbuf_clear(&b);
    for (int i = 0; i < 100; i++)
        strbuf_adds(&b, "[*]");
    assert_true(jsonpath_parse(strbuf_str(&b), &a, &p));
    struct doc row = doc_make_list(), d;
    for (int i = 0; i < 200; i++)
        doc_append(&a, &row, doc_make_bool(true));
    d = doc_make_list();
    for (int i = 0; i < 200; i++)
        doc_append(&a, &d, row);
    uint32_t n;
    assert_true(jsonpath_parse(STR("[*][*]"), &a, &p));
    jsonpath_find(&p, &d, &a, &n);
    assert_int_equal(n, JSONPATH_MAX_RESULTS);
    strbuf_release(&b);
    arena_fini(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paths),
        cmocka_unit_test(limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
