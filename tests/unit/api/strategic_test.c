/* SPDX-License-Identifier: Apache-2.0 */
#include "unit/unit.h"

#include "api/strategic.h"

/* Results are upstream's, but for the texts of errors. */
struct row {
    const char *object, *patch;
    const char *want; /* NULL: refused with status */
    enum patch_status status;
};

static struct doc read(struct arena *a, const char *json)
{
    struct doc_source src = {.name = "-", .text = str_from(json)};
    struct err e = ERR_INIT;
    struct doc d;
    if (!doc_read_json(&src, a, &d, &e))
        fail_msg("%s: %s", json, err_text(&e));
    return d;
}

static void check_row(const struct api_type *type, const struct row *row)
{
    struct arena a;
    struct patch_error e = {0};
    arena_init(&a);
    struct doc object = read(&a, row->object), patch = read(&a, row->patch);
    struct doc before = doc_dup(&a, &object), out;
    bool ok = strategic_patch(type, &object, &patch, &a, &out, &e);
    ROW(row->patch, ok == (row->want != NULL));
    ROW(row->patch, doc_equal(&object, &before));
    if (ok) {
        struct doc want = read(&a, row->want);
        struct strbuf b = STRBUF_INIT;
        doc_write_json(&out, DOC_JSON_SORT, &b);
        if (!doc_equal(&out, &want))
            fail_msg("%s\ngot  %s\nwant %s", row->patch, strbuf_cstr(&b), row->want);
        strbuf_release(&b);
    } else {
        ROW(row->patch, e.status == row->status && e.text.n > 0);
    }
    arena_fini(&a);
}

static void check(const char *version, const char *kind, const struct row *rows, size_t n)
{
    const struct api_kind *k = api_kind_find(str_from(version), str_from(kind));
    assert_non_null(k);
    for (size_t i = 0; i < n; i++)
        check_row(k->type, &rows[i]);
}

#define CONTAINERS(list) "{\"spec\":{\"containers\":" list "}}"
#define ABC                                                                              \
    CONTAINERS("[{\"name\":\"a\",\"image\":\"i\"},{\"name\":\"b\"},{\"name\":\"c\"}]")
#define FINALIZERS(list) "{\"metadata\":{\"finalizers\":" list "}}"
#define ORDER "\"$setElementOrder/containers\""

static void test_lists_of_maps(void **state)
{
    static const struct row rows[] = {
        {ABC, CONTAINERS("[{\"name\":\"a\",\"image\":\"j\"}]"),
         CONTAINERS(
             "[{\"name\":\"a\",\"image\":\"j\"},{\"name\":\"b\"},{\"name\":\"c\"}]"),
         0},
        {ABC, CONTAINERS("[{\"name\":\"a\",\"image\":null}]"),
         CONTAINERS("[{\"name\":\"a\"},{\"name\":\"b\"},{\"name\":\"c\"}]"), 0},
        /* what is new comes before what the server alone has */
        {ABC, CONTAINERS("[{\"name\":\"n\"}]"),
         CONTAINERS("[{\"name\":\"n\"},{\"name\":\"a\",\"image\":\"i\"},{\"name\":\"b\"},"
                    "{\"name\":\"c\"}]"),
         0},
        {ABC, CONTAINERS("[{\"name\":\"c\"},{\"name\":\"a\"}]"),
         CONTAINERS(
             "[{\"name\":\"b\"},{\"name\":\"c\"},{\"name\":\"a\",\"image\":\"i\"}]"),
         0},
        {ABC, CONTAINERS("[{\"name\":\"b\",\"$patch\":\"delete\"}]"),
         CONTAINERS("[{\"name\":\"a\",\"image\":\"i\"},{\"name\":\"c\"}]"), 0},
        {ABC, CONTAINERS("[{\"name\":\"x\"},{\"$patch\":\"replace\"}]"),
         CONTAINERS("[{\"name\":\"x\"}]"), 0},
        {ABC, CONTAINERS("[{\"name\":\"a\",\"$patch\":\"replace\",\"image\":\"x\"}]"),
         CONTAINERS("[]"), 0},
        {ABC, CONTAINERS("[]"), ABC, 0},
        {ABC, CONTAINERS("null"), "{\"spec\":{}}", 0},
        {ABC, CONTAINERS("[{\"image\":\"j\"}]"), NULL, PATCH_NO_FIT},
        {ABC, CONTAINERS("[{\"$patch\":\"delete\"}]"), NULL, PATCH_NO_FIT},
        {ABC, CONTAINERS("[{\"name\":\"a\",\"$patch\":\"merge\"}]"), NULL, PATCH_NO_FIT},
        {ABC, CONTAINERS("[\"a\"]"), NULL, PATCH_NO_FIT},
        {ABC, CONTAINERS("[[]]"), NULL, PATCH_NO_FIT},
        /* the key of ports is a number */
        {CONTAINERS("[{\"name\":\"a\",\"ports\":[{\"containerPort\":80},"
                    "{\"containerPort\":443}]}]"),
         CONTAINERS("[{\"name\":\"a\",\"ports\":[{\"containerPort\":443,"
                    "\"name\":\"s\"}]}]"),
         CONTAINERS("[{\"name\":\"a\",\"ports\":[{\"containerPort\":80},"
                    "{\"containerPort\":443,\"name\":\"s\"}]}]"),
         0},
        /* no merge strategy: replaced */
        {"{\"spec\":{\"tolerations\":[{\"key\":\"a\"}]}}",
         "{\"spec\":{\"tolerations\":[{\"key\":\"b\"}]}}",
         "{\"spec\":{\"tolerations\":[{\"key\":\"b\"}]}}", 0},
        /* taken over as it is, but for what is deleted */
        {"{\"spec\":{}}",
         CONTAINERS("[{\"name\":\"a\",\"image\":null},"
                    "{\"name\":\"b\",\"$patch\":\"delete\"}]"),
         CONTAINERS("[{\"name\":\"a\"}]"), 0},
    };
    check("v1", "Pod", rows, UNIT_COUNT(rows));
}

static void test_order(void **state)
{
    static const struct row rows[] = {
        {ABC,
         "{\"spec\":{" ORDER ":[{\"name\":\"c\"},{\"name\":\"a\"},{\"name\":\"b\"}]}}",
         CONTAINERS(
             "[{\"name\":\"c\"},{\"name\":\"a\",\"image\":\"i\"},{\"name\":\"b\"}]"),
         0},
        {ABC, "{\"spec\":{" ORDER ":[{\"name\":\"c\"},{\"name\":\"a\"}]}}",
         CONTAINERS(
             "[{\"name\":\"b\"},{\"name\":\"c\"},{\"name\":\"a\",\"image\":\"i\"}]"),
         0},
        {ABC,
         "{\"spec\":{" ORDER ":[{\"name\":\"a\"},{\"name\":\"x\"},{\"name\":\"c\"}],"
         "\"containers\":[{\"name\":\"x\"},{\"name\":\"b\",\"$patch\":\"delete\"}]}}",
         CONTAINERS(
             "[{\"name\":\"a\",\"image\":\"i\"},{\"name\":\"x\"},{\"name\":\"c\"}]"),
         0},
        /* an item that takes the room of a deleted one is known to the server's order */
        {ABC,
         "{\"spec\":{" ORDER ":[{\"name\":\"x\"}],"
         "\"containers\":[{\"name\":\"x\"},{\"name\":\"b\",\"$patch\":\"delete\"}]}}",
         CONTAINERS(
             "[{\"name\":\"a\",\"image\":\"i\"},{\"name\":\"c\"},{\"name\":\"x\"}]"),
         0},
        {ABC,
         "{\"spec\":{" ORDER ":[{\"name\":\"a\"},{\"name\":\"b\"}],"
         "\"containers\":[{\"name\":\"b\"},{\"name\":\"a\"}]}}",
         NULL, PATCH_NO_FIT},
        {ABC, "{\"spec\":{" ORDER ":{}}}", NULL, PATCH_NO_FIT},
        {ABC, "{\"spec\":{" ORDER ":[{\"image\":\"a\"}]}}", NULL, PATCH_NO_FIT},
        {ABC, "{\"spec\":{\"$setElementOrder\":[]}}", NULL, PATCH_BAD},
        {ABC, "{\"spec\":{\"$setElementOrder/nope\":[]}}", NULL, PATCH_NO_FIT},
        {FINALIZERS("[\"a\",\"b\",\"c\"]"),
         "{\"metadata\":{\"$setElementOrder/finalizers\":[\"c\",\"x\",\"a\"],"
         "\"finalizers\":[\"x\"]}}",
         FINALIZERS("[\"b\",\"c\",\"x\",\"a\"]"), 0},
    };
    check("v1", "Pod", rows, UNIT_COUNT(rows));
}

static void test_scalars(void **state)
{
    static const struct row rows[] = {
        {FINALIZERS("[\"a\",\"b\"]"), FINALIZERS("[\"c\",\"a\"]"),
         FINALIZERS("[\"c\",\"a\",\"b\"]"), 0},
        {FINALIZERS("[\"a\",\"b\",\"a\"]"),
         "{\"metadata\":{\"$deleteFromPrimitiveList/finalizers\":[\"a\",\"z\"]}}",
         FINALIZERS("[\"b\"]"), 0},
        {FINALIZERS("[\"a\"]"), FINALIZERS("[1]"), NULL, PATCH_NO_FIT},
        {FINALIZERS("[\"a\"]"), "{\"metadata\":{\"$deleteFromPrimitiveList\":[\"a\"]}}",
         NULL, PATCH_BAD},
        {"{\"metadata\":{}}",
         "{\"metadata\":{\"$deleteFromPrimitiveList/finalizers\":[\"a\"]}}",
         "{\"metadata\":{}}", 0},
        {CONTAINERS("[{\"name\":\"a\",\"args\":[\"x\"]}]"),
         CONTAINERS("[{\"name\":\"a\",\"args\":[\"y\"]}]"),
         CONTAINERS("[{\"name\":\"a\",\"args\":[\"y\"]}]"), 0},
    };
    check("v1", "Pod", rows, UNIT_COUNT(rows));
}

#define STRATEGY(s) "{\"spec\":{\"strategy\":" s "}}"

static void test_maps(void **state)
{
    static const struct row rows[] = {
        {"{\"metadata\":{\"labels\":{\"a\":\"1\",\"b\":\"2\"}}}",
         "{\"metadata\":{\"labels\":{\"a\":null,\"c\":\"3\"}}}",
         "{\"metadata\":{\"labels\":{\"b\":\"2\",\"c\":\"3\"}}}", 0},
        {STRATEGY("{\"type\":\"RollingUpdate\",\"rollingUpdate\":{\"maxSurge\":1}}"),
         STRATEGY("{\"$retainKeys\":[\"type\"],\"type\":\"Recreate\"}"),
         STRATEGY("{\"type\":\"Recreate\"}"), 0},
        {STRATEGY("{}"), STRATEGY("{\"$retainKeys\":[],\"type\":\"Recreate\"}"), NULL,
         PATCH_BAD},
        {STRATEGY("{}"), STRATEGY("{\"$retainKeys\":\"type\"}"), NULL, PATCH_BAD},
        {STRATEGY("{\"type\":\"Recreate\"}"), STRATEGY("{\"$patch\":\"delete\"}"),
         STRATEGY("{}"), 0},
        {STRATEGY("{\"type\":\"Recreate\"}"),
         STRATEGY("{\"$patch\":\"replace\",\"rollingUpdate\":{}}"),
         STRATEGY("{\"rollingUpdate\":{}}"), 0},
        {STRATEGY("{}"), STRATEGY("{\"$patch\":\"merge\"}"), NULL, PATCH_NO_FIT},
        {"{\"spec\":{}}", STRATEGY("{\"$patch\":\"replace\",\"type\":\"x\"}"),
         "{\"spec\":{}}", 0},
        /* other types than before are taken as they come */
        {STRATEGY("{\"type\":\"x\"}"), STRATEGY("[1,{\"a\":null}]"), STRATEGY("[1,{}]"),
         0},
        {"{\"nope\":{}}", "{\"nope\":{\"a\":1}}", NULL, PATCH_NO_FIT},
        {"{}", "[]", NULL, PATCH_BAD},
        {"{\"spec\":{}}", "null", "{\"spec\":{}}", 0},
    };
    check("apps/v1", "Deployment", rows, UNIT_COUNT(rows));
}

/* Replaced as one by its strategy; nothing is known inside of free-form values. */
static void test_replaced(void **state)
{
    static const struct row budgets[] = {
        {"{\"spec\":{\"selector\":{\"matchLabels\":{\"a\":\"1\"}}}}",
         "{\"spec\":{\"selector\":{\"matchExpressions\":[]}}}",
         "{\"spec\":{\"selector\":{\"matchExpressions\":[]}}}", 0},
    };
    static const struct row classes[] = {
        {"{\"spec\":{\"config\":[{\"opaque\":{\"parameters\":{\"a\":{\"b\":1}}}}]}}",
         "{\"spec\":{\"config\":[{\"opaque\":{\"parameters\":{\"a\":{\"c\":1}}}}]}}",
         "{\"spec\":{\"config\":[{\"opaque\":{\"parameters\":{\"a\":{\"c\":1}}}}]}}", 0},
    };
    check("policy/v1", "PodDisruptionBudget", budgets, UNIT_COUNT(budgets));
    check("resource.k8s.io/v1", "DeviceClass", classes, UNIT_COUNT(classes));
}

/* Large maps and lists take an index. */
static void test_large(void **state)
{
    struct arena a;
    struct patch_error e;
    struct doc object = doc_make_map(), patch = doc_make_map(), out;
    arena_init(&a);
    struct doc *old = doc_set(&a, &object, "data", doc_make_map());
    struct doc *new = doc_set(&a, &patch, "data", doc_make_map());
    for (int i = 0; i < 50000; i++) {
        doc_add_str(&a, old, arena_printf(&a, "k%d", i), doc_make_bool(true));
        doc_add_str(&a, new, arena_printf(&a, "k%d", i + 25000),
                    i % 2 ? doc_make_null() : doc_make_bool(false));
    }
    const struct api_kind *k = api_kind_find(STR("v1"), STR("ConfigMap"));
    assert_true(strategic_patch(k->type, &object, &patch, &a, &out, &e));
    assert_int_equal(doc_get(&out, "data")->n, 50000);
    arena_fini(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lists_of_maps), cmocka_unit_test(test_order),
        cmocka_unit_test(test_scalars),       cmocka_unit_test(test_maps),
        cmocka_unit_test(test_replaced),      cmocka_unit_test(test_large),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
