/* SPDX-License-Identifier: Apache-2.0 */
#include "server/rest/selector.h"

#include "unit/unit.h"

static const struct cache_pair LABELS[] = {
    {{"app", 3}, {"web", 3}}, {{"empty", 5}, {"", 0}}, {{"tier", 4}, {"3", 1}}};

static const struct {
    const char *text;
    bool matches;
} SELECTORS[] = {
    {"", true},
    {"app", true},
    {"!app", false},
    {"!none", true},
    {"app=web", true},
    {"app==web", true},
    {"app!=web", false},
    {"none!=web", true},
    {"none=web", false},
    {"app in (db,web)", true},
    {"app in (db)", false},
    {"app notin (db)", true},
    {"none notin (db)", true},
    {"empty=", true},
    {"empty in (,x)", true},
    {"tier>2", true},
    {"tier>3", false},
    {"tier<4", true},
    {"app>1", false},
    {"app=web,tier=3", true},
    {"app=web , tier = 4", false},
};

static void test_labels(void **state)
{
    struct cache_object o = {.labels = LABELS, .nlabels = 3};
    for (size_t i = 0; i < sizeof SELECTORS / sizeof *SELECTORS; i++) {
        struct arena a = {0};
        struct selector s;
        struct str why;
        assert_true(selector_parse_labels(str_from(SELECTORS[i].text), &a, &s, &why));
        if (selector_matches_labels(&s, &o) != SELECTORS[i].matches)
            fail_msg("%s", SELECTORS[i].text);
        arena_fini(&a);
    }
}

static const struct {
    const char *text, *why;
} REFUSED[] = {
    {"app in (x", "unable to parse requirement: found '', expected: ',' or ')'"},
    {"=x", "found '=', expected: !, identifier, or 'end of string'"},
    {"a b", "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, "
            "lt"},
    {"app=x=y", "found '=', expected: ',' or 'end of string'"},
    {"app===x", "unable to parse requirement: found '=', expected: identifier"},
    {"tier>a", "unable to parse requirement: values[0]: Invalid value: \"a\": for 'Gt', "
               "'Lt' operators, the value must be an integer"},
};

static void test_refused(void **state)
{
    for (size_t i = 0; i < sizeof REFUSED / sizeof *REFUSED; i++) {
        struct arena a = {0};
        struct selector s;
        struct str why = STR("");
        assert_false(selector_parse_labels(str_from(REFUSED[i].text), &a, &s, &why));
        assert_string_equal(arena_str(&a, why).p, REFUSED[i].why);
        arena_fini(&a);
    }
}

static void test_fields(void **state)
{
    struct arena a = {0};
    struct selector s;
    struct str why;
    assert_true(selector_parse_fields(STR("a=b,,c!=d\\,e,f=="), &a, &s, &why));
    assert_int_equal(s.n, 3);
    assert_true(requirement_holds(&s.all[0], STR("b")));
    assert_false(requirement_holds(&s.all[1], STR("d,e")));
    assert_true(requirement_holds(&s.all[2], STR("")));
    assert_false(selector_parse_fields(STR("a"), &a, &s, &why));
    assert_string_equal(arena_str(&a, why).p,
                        "invalid selector: 'a'; can't understand 'a'");
    arena_fini(&a);
}

/* LabelSelectors; matches -1: none that selects anything. */
static const struct {
    const char *json;
    int matches;
} DOCS[] = {
    {"{}", 1},
    {"null", -1},
    {"{\"matchLabels\":{\"app\":\"web\"}}", 1},
    {"{\"matchLabels\":{\"app\":\"db\"}}", 0},
    {"{\"matchLabels\":{\"app\":\"web\",\"none\":\"x\"}}", 0},
    {"{\"matchExpressions\":[{\"key\":\"app\",\"operator\":\"In\",\"values\":[\"a\","
     "\"web\"]}]}",
     1},
    {"{\"matchExpressions\":[{\"key\":\"none\",\"operator\":\"NotIn\",\"values\":["
     "\"a\"]}]}",
     1},
    {"{\"matchExpressions\":[{\"key\":\"app\",\"operator\":\"Exists\"},{\"key\":"
     "\"none\",\"operator\":\"DoesNotExist\"}]}",
     1},
    {"{\"matchExpressions\":[{\"key\":\"app\",\"operator\":\"In\"}]}", -1},
    {"{\"matchExpressions\":[{\"key\":\"app\",\"operator\":\"Gt\",\"values\":[\"1\"]}"
     "]}",
     -1},
};

static void test_docs(void **state)
{
    struct cache_object o = {.labels = LABELS, .nlabels = 3};
    for (size_t i = 0; i < sizeof DOCS / sizeof *DOCS; i++) {
        struct arena a = {0};
        struct selector s;
        struct doc d;
        struct doc_source src = {.name = "doc", .text = str_from(DOCS[i].json)};
        assert_true(doc_read_json(&src, &a, &d, NULL));
        int got = selector_of_doc(&d, &a, &s) ? selector_matches_labels(&s, &o) : -1;
        if (got != DOCS[i].matches)
            fail_msg("%s", DOCS[i].json);
        arena_fini(&a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_docs),
        cmocka_unit_test(test_labels),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_fields),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
