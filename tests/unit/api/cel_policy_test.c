/* SPDX-License-Identifier: Apache-2.0 */
/* Expressions of admission: what compiles, what they see, what they cost. */
#include "unit/unit.h"

#include "api/cel_policy.h"

static struct api_cel base;
static struct policy_cel cel;

static int set_up(void **state)
{
    api_cel_init(&base);
    policy_cel_init(&cel, &base);
    return 0;
}

static int tear_down(void **state)
{
    policy_cel_fini(&cel);
    api_cel_fini(&base);
    return 0;
}

static struct doc read_json(const char *text, struct arena *a)
{
    struct doc_source src = {.name = "", .text = str_from(text)};
    struct doc d;
    assert_true(doc_read_json(&src, a, &d, NULL));
    return d;
}

/* Allows what the user "alice" gets, and all of the service account ns/bot. */
static bool check(void *ctx, const struct api_authz_check *c, struct arena *a,
                  struct str *reason)
{
    *reason = arena_printf(a, "%.*s %.*s", STR_ARG(c->verb), STR_ARG(c->resource));
    return str_is(c->verb, "get") || str_is(c->account, "bot");
}

static const char *const OBJECT =
    "{\"spec\":{\"replicas\":3,\"ratio\":1.5,\"names\":[\"a\",\"b\"],\"none\":null},"
    "\"metadata\":{\"name\":\"x\",\"labels\":{\"a.b/c\":\"v\"}}}";
static const char *const REQUEST =
    "{\"operation\":\"CREATE\",\"name\":\"x\",\"userInfo\":{\"username\":\"alice\","
    "\"groups\":[\"g\"]},\"kind\":{\"group\":\"\",\"version\":\"v1\",\"kind\":\"Pod\"}}";

static struct api_authorizer authorizer = {.check = check};

struct row {
    const char *text;
    enum policy_result result;
    unsigned flags;
    const char *shown; /* of the value, of the failure, or of what compiling says */
};

/* The outcome as a text. */
static struct str outcome(const struct row *r, struct arena *a)
{
    struct policy_exprs *x = policy_exprs_new(&cel, true);
    struct policy_error error;
    struct str shown = STR("");
    policy_variable_add(x, STR("three"), STR("object.spec.replicas"), POLICY_AUTHORIZER,
                        a, &error);
    policy_variable_add(x, STR("bad"), STR("object.nope + variables.three"),
                        POLICY_AUTHORIZER, a, &error);
    policy_variable_add(x, STR("names"), STR("['a'].map(n, n + 'x')"), 0, a, &error);
    struct policy_expr *e =
        policy_expr_new(x, str_from(r->text), r->result, r->flags, a, &error);
    if (!e) {
        policy_exprs_free(x);
        return error.text;
    }
    struct doc object = read_json(OBJECT, a), request = read_json(REQUEST, a);
    struct policy_subject s = {
        .object = &object, .request = &request, .authorizer = &authorizer};
    struct policy_eval *v = policy_eval_new(x, &s);
    int64_t budget = API_CEL_BUDGET;
    struct cel_value value;
    struct strbuf b = STRBUF_INIT;
    if (policy_eval(v, e, &budget, &value, &shown) == POLICY_VALUE)
        cel_print(value, &b);
    else
        strbuf_addstr(&b, shown);
    shown = arena_str(a, strbuf_str(&b));
    strbuf_release(&b);
    policy_eval_free(v);
    policy_exprs_free(x);
    return shown;
}

enum { ALL = POLICY_AUTHORIZER | POLICY_VARIABLES };

static const struct row ROWS[] = {
    {"object.spec.replicas == 3", POLICY_BOOL, 0, "true"},
    {"oldObject == null && params == null", POLICY_BOOL, 0, "true"},
    {"object.spec.replicas", POLICY_BOOL, 0, "must evaluate to bool but got dyn"},
    {"has(object.spec.nope) || has(object.metadata.labels)", POLICY_BOOL, 0, "true"},
    {"object.spec.nope.deeper == 1", POLICY_BOOL, 0,
     "expression 'object.spec.nope.deeper == 1' resulted in error: no such key: nope"},
    {"object.spec.names.all(n, n in object.spec.names)", POLICY_BOOL, 0, "true"},
    {"object.?spec.?none.hasValue()", POLICY_BOOL, 0, "true"},
    {"object.spec.?nope.orValue('d')", POLICY_ANY, 0, "\"d\""},
    {"object.metadata.labels['a.b/c']", POLICY_ANY, 0, "\"v\""},
    {"object.spec.names.nope", POLICY_ANY, 0,
     "expression 'object.spec.names.nope' resulted in error: unsupported index type "
     "'string' in list"},
    {"request.operation == 'CREATE' && request.kind.kind == 'Pod'", POLICY_BOOL, 0,
     "true"},
    {"request.userInfo.groups == ['g']", POLICY_BOOL, 0, "true"},
    {"request.nope == 1", POLICY_BOOL, 0,
     "compilation failed: ERROR: <input>:1:8: undefined field 'nope'\n"
     " | request.nope == 1\n | .......^"},
    {"variables.three + 1", POLICY_ANY, ALL, "4"},
    {"variables.names[0] + 'y'", POLICY_STRING, ALL, "\"axy\""},
    {"variables.bad == 1", POLICY_BOOL, ALL,
     "expression 'variables.bad == 1' resulted in error: composited variable \"bad\" "
     "fails to evaluate: no such key: nope"},
    {"variables.three == 1", POLICY_BOOL, POLICY_AUTHORIZER,
     "compilation failed: ERROR: <input>:1:1: undeclared reference to 'variables' (in "
     "container '')\n | variables.three == 1\n | ^"},
    {"authorizer.group('').resource('pods').check('get').allowed()", POLICY_BOOL, ALL,
     "true"},
    {"authorizer.group('').resource('pods').check('delete').allowed()", POLICY_BOOL, ALL,
     "false"},
    {"authorizer.serviceAccount('ns', 'bot').path('/x').check('delete').allowed()",
     POLICY_BOOL, ALL, "true"},
    {"authorizer.requestResource.name('a').check('list').reason()", POLICY_ANY, ALL,
     "\"list \""},
    {"authorizer.path(' ').check('get').errored()", POLICY_BOOL, ALL,
     "expression 'authorizer.path(' ').check('get').errored()' resulted in error: path "
     "must not be empty"},
    {"[1, 2, 3].all(i, authorizer.path('/x').check('get').allowed())", POLICY_BOOL, ALL,
     "expression '[1, 2, 3].all(i, authorizer.path('/x').check('get').allowed())' "
     "resulted in error: operation cancelled: actual cost limit exceeded"},
    {"authorizer.path('/x').check('get').allowed()", POLICY_BOOL, 0,
     "compilation failed: ERROR: <input>:1:1: undeclared reference to 'authorizer' (in "
     "container '')\n | authorizer.path('/x').check('get').allowed()\n | ^"},
    {"1", POLICY_TEXT_OR_NULL, ALL,
     "must evaluate to one of [string null_type] but got int"},
    {"Object{spec: Object.spec{replicas: variables.three}}", POLICY_OBJECT, ALL,
     "Object"},
    {"object", POLICY_OBJECT, ALL, "must evaluate to Object but got dyn"},
    {"true ? Object{} : Object{a: 1}", POLICY_OBJECT, ALL, "Object"},
    {"[JSONPatch{op: 'add', path: '/a/' + jsonpatch.escapeKey('b/c~d')}]", POLICY_PATCHES,
     ALL, "[JSONPatch]"},
    {"[JSONPatch{op: 1}]", POLICY_PATCHES, ALL,
     "compilation failed: ERROR: <input>:1:14: expected type of field 'op' is 'string' "
     "but provided type is 'int'\n | [JSONPatch{op: 1}]\n | .............^"},
    {"Object{}", POLICY_BOOL, ALL,
     "compilation failed: ERROR: <input>:1:7: undeclared reference to 'Object' (in "
     "container '')\n | Object{}\n | ......^"},
};

static void outcomes(void **state)
{
    struct arena a;
    arena_init(&a);
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++)
        assert_string_equal(outcome(&ROWS[i], &a).p, ROWS[i].shown);
    arena_fini(&a);
}

/* A budget is spent by expressions and by what variables cost them, once each. */
static void budgets(void **state)
{
    struct arena a;
    struct policy_error error;
    struct cel_value value;
    struct str why;
    int64_t budget = 1000, before;
    arena_init(&a);
    struct policy_exprs *x = policy_exprs_new(&cel, false);
    policy_variable_add(x, STR("v"), STR("object.spec.replicas + 1"), 0, &a, &error);
    struct policy_expr *e =
        policy_expr_new(x, STR("variables.v > 0"), POLICY_BOOL, ALL, &a, &error);
    struct doc object = read_json(OBJECT, &a);
    struct policy_subject s = {.object = &object, .authorizer = &authorizer};
    struct policy_eval *v = policy_eval_new(x, &s);
    assert_int_equal(policy_eval(v, e, &budget, &value, &why), POLICY_VALUE);
    assert_int_equal(1000 - budget,
                     4 + 3); /* object.spec.replicas + 1; variables.v > 0 */
    before = budget;
    assert_int_equal(policy_eval(v, e, &budget, &value, &why), POLICY_VALUE);
    assert_int_equal(before - budget, 3);
    budget = 2;
    assert_int_equal(policy_eval(v, e, &budget, &value, &why), POLICY_SPENT);
    policy_eval_free(v);
    policy_exprs_free(x);
    arena_fini(&a);
}

static void documents(void **state)
{
    static const struct {
        const char *text, *json, *why;
    } CASES[] = {
        {"Object{spec: Object.spec{a: [1, 2], b: {'k': 1.5}, ?c: optional.none()}}",
         "{\"spec\":{\"a\":[1,2],\"b\":{\"k\":1.5}}}", NULL},
        {"Object{spec: Object.other{}}", NULL,
         "unexpected type name \"Object.other\", expected \"Object.spec\", which matches "
         "field name path from root Object type"},
        {"Object{l: [Object.l{d: duration('1s'), t: b'abc', n: null}]}",
         "{\"l\":[{\"d\":\"1s\",\"t\":\"YWJj\",\"n\":null}]}", NULL},
    };
    struct arena a;
    arena_init(&a);
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        struct policy_error error;
        struct policy_exprs *x = policy_exprs_new(&cel, false);
        struct policy_expr *e =
            policy_expr_new(x, str_from(CASES[i].text), POLICY_OBJECT, ALL, &a, &error);
        struct policy_subject s = {.authorizer = &authorizer};
        assert_non_null(e);
        struct policy_eval *v = policy_eval_new(x, &s);
        int64_t budget = 1000;
        struct cel_value value;
        struct str why;
        struct doc d;
        assert_int_equal(policy_eval(v, e, &budget, &value, &why), POLICY_VALUE);
        bool ok = policy_object_check(value, &a, &why);
        assert_int_equal(ok, CASES[i].why == NULL);
        if (ok) {
            struct strbuf b = STRBUF_INIT;
            assert_true(policy_value_doc(value, &a, &d, &why));
            doc_write_json(&d, DOC_JSON_COMPACT, &b);
            assert_string_equal(strbuf_cstr(&b), CASES[i].json);
            strbuf_release(&b);
        } else {
            assert_string_equal(why.p, CASES[i].why);
        }
        policy_eval_free(v);
        policy_exprs_free(x);
    }
    arena_fini(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(outcomes),
                                       cmocka_unit_test(budgets),
                                       cmocka_unit_test(documents)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
