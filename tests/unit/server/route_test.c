/* SPDX-License-Identifier: Apache-2.0 */
#include "base/query.h"
#include "server/route.h"

#include "unit/unit.h"

/* "FORM group version namespace resource name subresource", - for what is not there;
 * and the rest of a proxied path where there is one. */
static const struct {
    const char *path, *want;
} ROUTES[] = {
    {"/", "0 - - - - - -"},
    {"/healthz", "0 - - - - - -"},
    {"/api", "1 - - - - - -"},
    {"/api/", "1 - - - - - -"},
    {"/apis", "2 - - - - - -"},
    {"/apis/apps", "3 apps - - - - -"},
    {"/api/v1", "4  v1 - - - -"},
    {"/apis/apps/v1", "4 apps v1 - - - -"},
    {"/api/v1/nodes", "5  v1 - nodes - -"},
    {"/api/v1/nodes/n1/status", "5  v1 - nodes n1 status"},
    {"/api/v1/namespaces/a", "5  v1 - namespaces a -"},
    {"/api/v1/namespaces/a/status", "5  v1 - namespaces a status"},
    {"/api/v1/namespaces/a/finalize", "5  v1 - namespaces a finalize"},
    {"/api/v1/namespaces/a/pods", "5  v1 a pods - -"},
    {"/api/v1/namespaces/a/pods/p", "5  v1 a pods p -"},
    {"/api/v1/namespaces/a/pods/p/binding", "5  v1 a pods p binding"},
    {"/apis/apps/v1/namespaces/a/deployments/d/status",
     "5 apps v1 a deployments d status"},
    {"/api/v1/namespaces/a/pods/p%2Fq", "5  v1 a pods p/q -"},
    {"/api/v1/namespaces/a/pods/p%", NULL},
    {"/api/v1/namespaces/a/pods/p%2", NULL},
    {"/api/v1/namespaces/a/pods/p%zz", NULL},
    {"/a/b/c/d/e/f/g/h/i/j/k", "0 - - - - - -"},
    {"/api/v1/nodes/n1/proxy", "5  v1 - nodes n1 proxy"},
    {"/api/v1/nodes/n1/proxy/", "5  v1 - nodes n1 proxy /"},
    {"/api/v1/nodes/n1/proxy/a%20b/c//d/", "5  v1 - nodes n1 proxy /a%20b/c//d/"},
    {"/api/v1/namespaces/a/services/http:s:80/proxy/x/y/z/1/2/3/4/5/6",
     "5  v1 a services http:s:80 proxy /x/y/z/1/2/3/4/5/6"},
    {"/apis/g/v1/namespaces/a/things/t/proxy/x", "5 g v1 a things t proxy /x"},
    {"/api/v1/namespaces/a/pods/p/log/x", "0  v1 a pods p log"},
};

static void put(struct strbuf *b, struct str s)
{
    strbuf_addf(b, " %.*s", s.p ? (int)s.n : 1, s.p ? s.p : "-");
}

static void test_routes(void **state)
{
    for (size_t i = 0; i < sizeof ROUTES / sizeof *ROUTES; i++) {
        struct arena a = {0};
        struct route r;
        struct strbuf got = STRBUF_INIT;
        bool ok = route_parse(str_from(ROUTES[i].path), &a, &r);
        assert_int_equal(ok, ROUTES[i].want != NULL);
        if (ok) {
            strbuf_addf(&got, "%d", (int)r.form);
            put(&got, r.group);
            put(&got, r.version);
            put(&got, r.namespace);
            put(&got, r.resource);
            put(&got, r.name);
            put(&got, r.subresource);
            if (r.rest.n)
                put(&got, r.rest);
            assert_string_equal(strbuf_cstr(&got), ROUTES[i].want);
        }
        strbuf_release(&got);
        arena_fini(&a);
    }
}

static void test_query(void **state)
{
    struct arena a = {0};
    struct query q;
    query_parse(STR("watch=1&labelSelector=a%3Db%2Cc+d&&empty&bad=%2&no=False"), &a, &q);
    assert_true(query_bool(&q, "watch"));
    assert_false(query_bool(&q, "no"));
    assert_false(query_bool(&q, "absent"));
    assert_true(query_bool(&q, "empty"));
    assert_true(str_is(query_get(&q, "labelSelector"), "a=b,c d"));
    assert_null(query_get(&q, "bad").p);
    arena_fini(&a);
}

static void test_escape(void **state)
{
    struct strbuf b = STRBUF_INIT;
    query_escape(STR("aZ09-_.~ /?&=+%:\xc3\xa9"), &b);
    assert_string_equal(strbuf_cstr(&b), "aZ09-_.~+%2F%3F%26%3D%2B%25%3A%C3%A9");
    strbuf_release(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_escape),
        cmocka_unit_test(test_routes),
        cmocka_unit_test(test_query),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
