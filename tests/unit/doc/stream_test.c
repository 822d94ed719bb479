/* SPDX-License-Identifier: Apache-2.0 */
#include "unit/doc/docs.h"

/* What a stream showed: objects as compact JSON, duplicates in brackets. */
struct seen {
    struct strbuf text;
    int left; /* refuse the next one when it is zero */
};

static bool see(void *ctx, const struct doc_source *src, const struct doc *object,
                struct err *e)
{
    struct seen *s = ctx;
    if (s->left-- == 0)
        return err_set(e, ERR_CANCELLED, "enough");
    if (s->text.n)
        strbuf_addc(&s->text, ' ');
    doc_write_json(object, DOC_JSON_COMPACT, &s->text);
    for (size_t i = 0; i < src->ndups; i++)
        strbuf_addf(&s->text, "[%s@%u]", src->dups[i].path, src->dups[i].pos);
    return true;
}

/* The objects, and the error behind them if there is one. */
static void check(const char *in, int most, const char *want)
{
    struct seen s = {.left = most};
    struct text t;
    text_init(&t, str_from(in));
    t.ok = doc_stream(&t.src, see, &s, &t.err);
    assert_true(t.ok == (t.err.code == ERR_NONE));
    assert_int_equal(t.src.ndups, 0);
    if (!t.ok)
        strbuf_addf(&s.text, "%s! %s", s.text.n ? " " : "", err_text(&t.err));
    if (!str_is(strbuf_str(&s.text), want))
        fail_msg("%s\n   got  %s\n   want %s", in, strbuf_cstr(&s.text), want);
    strbuf_release(&s.text);
    text_fini(&t);
}

struct row {
    const char *in, *out;
};

static void check_rows(const struct row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++)
        check(rows[i].in, -1, rows[i].out);
}

static void test_objects(void **state)
{
    static const struct row rows[] = {
        {"{\"kind\":\"Pod\"}", "{\"kind\":\"Pod\"}"},
        {"{\"kind\":\"Pod\"}\n{\"kind\":\"Node\"}",
         "{\"kind\":\"Pod\"} {\"kind\":\"Node\"}"},
        {"kind: Pod\n---\nkind: Node\n", "{\"kind\":\"Pod\"} {\"kind\":\"Node\"}"},
        {"{\"kind\":\"Pod\"}\n---\nkind: Node\n",
         "{\"kind\":\"Pod\"} {\"kind\":\"Node\"}"},
        {"{\"kind\":\"Pod\",}", "{\"kind\":\"Pod\"}"},
        {"", ""},
        {"# nothing\n---\n", ""},
        {"{\"a\":1,\"a\":2}", "{\"a\":1,\"a\":2}[a@7]"},
        {"a: 1\na: 2\n", "{\"a\":1,\"a\":2}[a@5]"},
    };
    check_rows(rows, UNIT_COUNT(rows));
}

static void test_lists(void **state)
{
    static const struct row rows[] = {
        {"{\"apiVersion\":\"v1\",\"items\":[{\"kind\":\"A\"},{\"kind\":\"B\"}],"
         "\"kind\":\"List\",\"metadata\":{}}",
         "{\"kind\":\"A\"} {\"kind\":\"B\"}"},
        {"{\"kind\":\"List\",\"apiVersion\":\"v1\",\"metadata\":{\"x\":[1]},\"items\":"
         "[{\"kind\":\"A\"}]}",
         "{\"kind\":\"A\"}"},
        {"{\"kind\":\"List\",\"items\":[]}", ""},
        {"kind: List\nitems:\n- kind: A\n- kind: B\n",
         "{\"kind\":\"A\"} {\"kind\":\"B\"}"},
        /* Items of a typed list take its kind and version. */
        {"{\"kind\":\"PodList\",\"apiVersion\":\"v1\",\"items\":[{\"a\":1}]}",
         "{\"a\":1,\"kind\":\"Pod\",\"apiVersion\":\"v1\"}"},
        {"{\"items\":[{\"a\":1},{\"kind\":\"X\"}],\"kind\":\"PodList\",\"apiVersion\":"
         "\"v1\"}",
         "{\"a\":1,\"kind\":\"Pod\",\"apiVersion\":\"v1\"} {\"kind\":\"X\"}"},
        {"apiVersion: v1\nkind: PodList\nitems:\n- a: 1\n",
         "{\"a\":1,\"kind\":\"Pod\",\"apiVersion\":\"v1\"}"},
        /* Items that say what they are, and the List's kind behind them. */
        {"{\"items\":[{\"kind\":\"A\",\"apiVersion\":\"v1\"},{\"b\":1}],\"kind\":"
         "\"AList\","
         "\"apiVersion\":\"v1\"}",
         "{\"kind\":\"A\",\"apiVersion\":\"v1\"} {\"b\":1}"},
        {"{\"items\":[{\"apiVersion\":\"v1\",\"kind\":\"A\"}],\"kind\":\"Other\"}",
         "{\"apiVersion\":\"v1\",\"kind\":\"A\"} ! f:1:1: this has items as a List has "
         "them, "
         "but no kind that ends in List"},
        {"{\"items\":[{\"kind\":\"A\",\"b\":[1,{}],\"apiVersion\":7},{}],\"kind\":"
         "\"AList\"}",
         "{\"kind\":\"A\",\"b\":[1,{}],\"apiVersion\":7} {\"kind\":\"A\"}"},
        /* Lists in lists. */
        {"{\"kind\":\"List\",\"items\":[{\"kind\":\"PodList\",\"apiVersion\":\"v1\","
         "\"items\":[{\"a\":1}]},{\"kind\":\"B\"}]}",
         "{\"a\":1,\"kind\":\"Pod\",\"apiVersion\":\"v1\"} {\"kind\":\"B\"}"},
        /* Not lists. */
        {"{\"kind\":\"Config\",\"items\":[1]}", "{\"kind\":\"Config\",\"items\":[1]}"},
        {"{\"kind\":\"List\",\"items\":{}}", "{\"kind\":\"List\",\"items\":{}}"},
        {"{\"kind\":1,\"items\":[]}", "{\"kind\":1,\"items\":[]}"},
        {"{\"items\":[{\"kind\":\"List\"}]}", "{\"items\":[{\"kind\":\"List\"}]}"},
        {"{}", "{}"},
        /* Several, and what is a string or null in them. */
        {"{\"kind\":\"List\",\"items\":[1,null]}{\"kind\":\"List\",\"items\":[\"x\"]}",
         "1 null \"x\""},
        /* Paths of duplicates start at the item. */
        {"{\"kind\":\"List\",\"items\":[{\"a\":{\"b\":1,\"b\":2}},{\"c\":1}]}",
         "{\"a\":{\"b\":1,\"b\":2}}[a.b@36] {\"c\":1}"},
        {"kind: List\nitems:\n- a: 1\n  a: 2\n- b: {c: 1, c: 2}\n- d: 1\n",
         "{\"a\":1,\"a\":2}[a@27] {\"b\":{\"c\":1,\"c\":2}}[b.c@44] {\"d\":1}"},
    };
    check_rows(rows, UNIT_COUNT(rows));
}

static void test_broken(void **state)
{
    static const struct row rows[] = {
        {"{\"kind\":\"List\",\"items\":[{\"a\":1},{\"a\":}]}",
         "{\"a\":1} ! f:1:38: found '}' where a value should be"},
        {"{\"kind\":\"List\",\"items\":[{\"a\":1}}",
         "{\"a\":1} ! f:1:32: found '}' where a comma or ] should be"},
        {"{\"kind\":\"List\",\"items\":[{\"a\":1}],\"items\":[{\"b\":1}]}",
         "{\"a\":1} ! f:1:34: a List has items twice"},
        {"{\"items\":[{\"a\":1}],\"kind\":\"List\",\"x\":tru}",
         "{\"a\":1} ! f:1:38: 'tru' is no value of JSON"},
        {"{\"items\":[{\"a\":1}],\"kind\":\"List\"",
         "{\"a\":1} ! f:1:33: the JSON ends where a comma or } should be"},
        {"{\"items\":[{\"a\"", "! f:1:15: the JSON ends where the colon behind a key "
                               "should be"},
        {"{\"kind\":\"A\"}{\"kind\":\"B\"}{",
         "{\"kind\":\"A\"} {\"kind\":\"B\"} ! f:1:26: "
         "the JSON ends where a key in double quotes "
         "should be"},
        {"a: 1\n---\nb: [", "{\"a\":1} ! f:3:5: did not find expected node content while "
                            "parsing a flow node that starts in line 3"},
    };
    check_rows(rows, UNIT_COUNT(rows));
    check("{\"a\":1}{\"b\":2}{\"c\":3}", 2, "{\"a\":1} {\"b\":2} ! enough");
    check("{\"a\":1}\n---\nb: 1", 0, "! enough");
    check("kind: List\nitems: [1, 2]", 1, "1 ! enough");
    check("{\"kind\":\"List\",\"items\":[1,2]}", 1, "1 ! enough");
}

/* Many items: the memory of one is used again for the next. */
static bool add_up(void *ctx, const struct doc_source *src, const struct doc *object,
                   struct err *e)
{
    int64_t v;
    assert_true(doc_get_int64(object, "n", &v));
    assert_str(doc_get_text(object, "name"), "some-name");
    *(int64_t *)ctx += v;
    return true;
}

static void test_many(void **state)
{
    struct strbuf b = STRBUF_INIT;
    struct text t;
    int64_t sum = 0;
    strbuf_adds(&b, "{\"kind\":\"List\",\"items\":[");
    for (int i = 1; i <= 5000; i++)
        strbuf_addf(&b, "%s{\"n\":%d,\"name\":\"some-name\",\"l\":[1,2,{\"x\":\"y\"}]}",
                    i > 1 ? "," : "", i);
    strbuf_adds(&b, "]}");
    text_init(&t, strbuf_str(&b));
    assert_true(doc_stream(&t.src, add_up, &sum, &t.err));
    assert_int_equal(sum, 5000 * 5001 / 2);
    text_fini(&t);
    strbuf_release(&b);
}

/* ---- Texts of many windows ---- */

enum { ITEMS = 40000 };

/* A List that is much longer than a window; kubectl's order has the kind at the end. */
static void make_list(struct strbuf *b, bool lines, const char *last)
{
    const char *nl = lines ? "\n" : "";
    strbuf_addf(b, "{%s\"apiVersion\":%s\"v1\",%s\"items\":%s[", nl, nl, nl, nl);
    for (int i = 0; i < ITEMS; i++)
        strbuf_addf(b, "%s%s{%s\"n\":%s%d,%s\"t\":\"a\\n[{\\\"\"%s}", i ? "," : "", nl,
                    nl, nl, i, nl, nl);
    strbuf_addf(b, "%s]%s,%s%s\"kind\":%s\"PodList\"%s}%s", nl, nl, last, nl, nl, nl, nl);
}

struct counter {
    uint32_t seen, most_passed, backwards, passed;
};

static bool count(void *ctx, const struct doc_source *src, const struct doc *object,
                  struct err *e)
{
    struct counter *c = ctx;
    int64_t n = -1;
    (void)src;
    (void)e;
    assert_true(doc_int64(doc_get(object, "n"), &n));
    assert_int_equal(n, c->seen++);
    assert_true(str_is(doc_get_text(object, "t"), "a\n[{\""));
    assert_true(str_is(doc_get_text(object, "kind"), "Pod"));
    return true;
}

static void passed(void *ctx, uint32_t pos)
{
    struct counter *c = ctx;
    c->backwards += pos < c->passed;
    c->passed = pos;
    if (pos > c->most_passed)
        c->most_passed = pos;
}

static void check_list(bool lines, const char *last, const char *want)
{
    struct counter c = {0};
    struct strbuf b = STRBUF_INIT;
    make_list(&b, lines, last);
    struct text t;
    text_init(&t, strbuf_str(&b));
    t.src.passed = passed;
    t.src.passed_ctx = &c;
    t.ok = doc_stream(&t.src, count, &c, &t.err);
    assert_string_equal(t.ok ? "" : err_text(&t.err), want);
    assert_int_equal(c.seen, ITEMS);
    /* Once to find the kind that the items need, then again for these. */
    assert_int_equal(c.backwards, lines);
    assert_true(!lines || c.most_passed > b.n - (1 << 20));
    text_fini(&t);
    strbuf_release(&b);
}

static void test_windows(void **state)
{
    check_list(true, "", "");
    check_list(false, "", "");
    check_list(true, "\"\xff\":\"\xff\",", "");
    check_list(true, "\n\n\"x\": tru,", "f:200009:6: 'tru' is no value of JSON");
}

/* Every way to break the text behind the first window is found, and white space of a
 * window's length is none. */
static void test_window_ends(void **state)
{
    static const struct row rows[] = {
        {"", "f:8002:8: the JSON ends where a value should be"},
        {"1]", "\"ok\""},
        {"1, \"a]", "f:8002:11: a string has no closing quote"},
        {"1] x", "f:8002:11: found 'x' behind the end of the JSON value"},
    };
    for (size_t i = 0; i < UNIT_COUNT(rows); i++) {
        struct strbuf b = STRBUF_INIT;
        struct text t;
        strbuf_adds(&b, "[\"ok\",  ");
        for (int k = 0; k < 8000; k++)
            strbuf_addf(&b, "%100s\n", "");
        strbuf_addf(&b, "\n \"ok\", %s", rows[i].in);
        text_json(&t, strbuf_str(&b));
        const char *got = text_result(&t);
        if (!strstr(got, rows[i].out))
            fail_msg("row %zu: %s", i, got);
        text_fini(&t);
        strbuf_release(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_objects), cmocka_unit_test(test_lists),
        cmocka_unit_test(test_broken),  cmocka_unit_test(test_many),
        cmocka_unit_test(test_windows), cmocka_unit_test(test_window_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
