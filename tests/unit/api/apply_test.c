/* SPDX-License-Identifier: Apache-2.0 */
#include "unit/unit.h"

#include "api/apply.h"
#include "api/canonical.h"

#define NOW "2026-01-01T00:00:00Z"
#define CONFIG(data) "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"data\":" data "}"

static struct doc read(struct arena *a, const char *json)
{
    struct doc_source src = {.name = "-", .text = str_from(json)};
    struct err e = ERR_INIT;
    struct doc d;
    if (!doc_read_json(&src, a, &d, &e))
        fail_msg("%s: %s", json, err_text(&e));
    return d;
}

static struct apply_write write_of(const char *resource, const char *manager)
{
    const struct api_kind *k = api_resource_find(STR(""), STR("v1"), str_from(resource));
    assert_non_null(k);
    return (struct apply_write){.kind = k, .manager = str_from(manager), .now = STR(NOW)};
}

static const struct doc *entries_of(const struct doc *d)
{
    return doc_get(doc_get(d, "metadata"), "managedFields");
}

static void assert_json(const struct doc *d, const char *want)
{
    struct strbuf b = STRBUF_INIT;
    if (d)
        doc_write_json(d, DOC_JSON_SORT, &b);
    assert_string_equal(strbuf_cstr(&b), want);
    strbuf_release(&b);
}

/* One config map through the hands of several managers. */
struct life {
    struct arena a;
    struct doc live;
    bool exists;
    struct apply_result r;
    struct patch_error e;
};

static bool apply_as(struct life *l, const char *manager, bool force, const char *data)
{
    struct apply_write w = write_of("configmaps", manager);
    struct doc config = read(&l->a, data);
    bool ok = apply_config(&w, l->exists ? &l->live : NULL, &config, force, &l->a, &l->r,
                           &l->e);
    if (ok)
        l->live = l->r.object;
    l->exists |= ok;
    return ok;
}

static void test_ownership(void **state)
{
    struct life l = {0};
    arena_init(&l.a);
    assert_true(apply_as(&l, "m1", false, CONFIG("{\"a\":\"1\",\"b\":\"1\"}")));
    assert_false(l.r.unchanged);
    assert_true(apply_as(&l, "m1", false, CONFIG("{\"a\":\"1\",\"b\":\"1\"}")));
    assert_true(l.r.unchanged);
    /* the same value is shared, another is a conflict */
    assert_true(apply_as(&l, "m2", false, CONFIG("{\"a\":\"1\"}")));
    assert_false(apply_as(&l, "m2", false, CONFIG("{\"a\":\"2\",\"b\":\"2\"}")));
    assert_int_equal(l.e.status, PATCH_CONFLICT);
    assert_int_equal(l.r.nconflicts, 2);
    assert_str(l.e.text, "Apply failed with 2 conflicts: conflicts with \"m1\":\n"
                         "- .data.a\n- .data.b");
    assert_false(apply_as(&l, "m2", false, CONFIG("{\"b\":\"2\"}")));
    assert_str(l.e.text, "Apply failed with 1 conflict: conflict with \"m1\": .data.b");
    /* m1 gives a up, which stays for m2; then m2 gives it up, and it goes */
    assert_true(apply_as(&l, "m1", false, CONFIG("{\"b\":\"1\"}")));
    assert_json(doc_get(&l.live, "data"), "{\"a\":\"1\",\"b\":\"1\"}");
    assert_true(apply_as(&l, "m2", false, CONFIG("{\"c\":\"1\"}")));
    assert_json(doc_get(&l.live, "data"), "{\"b\":\"1\",\"c\":\"1\"}");
    /* by force */
    assert_true(apply_as(&l, "m2", true, CONFIG("{\"b\":\"3\",\"c\":\"1\"}")));
    assert_json(doc_get(&l.live, "data"), "{\"b\":\"3\",\"c\":\"1\"}");
    const struct doc *entries = entries_of(&l.live);
    assert_int_equal(entries->n, 1); /* m1 has lost all */
    assert_json(doc_get(&entries->items[0], "fieldsV1"),
                "{\"f:data\":{\"f:b\":{},\"f:c\":{}}}");
    arena_fini(&l.a);
}

static void test_refusals(void **state)
{
    static const struct {
        const char *config;
        enum patch_status status;
        const char *text;
    } rows[] = {
        {"{\"apiVersion\":\"v1\",\"kind\":\"Secret\"}", PATCH_BAD,
         "invalid object type: /v1, Kind=Secret"},
        {"{\"apiVersion\":\"v2\",\"kind\":\"ConfigMap\"}", PATCH_BAD,
         "invalid object type: /v2, Kind=ConfigMap"},
        {"{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":"
         "{\"managedFields\":[]}}",
         PATCH_BAD, "metadata.managedFields must be nil"},
        {"{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"nope\":1}", PATCH_FAILED,
         "failed to create typed patch object (/; /v1, Kind=ConfigMap): .nope: field not "
         "declared in schema"},
        {"{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"data\":[]}", PATCH_FAILED,
         "failed to create typed patch object (/; /v1, Kind=ConfigMap): .data: expected "
         "map, got list"},
        {"{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":"
         "{\"finalizers\":[\"a\",\"a\"]}}",
         PATCH_FAILED,
         "failed to create typed patch object (/; /v1, Kind=ConfigMap): "
         ".metadata.finalizers: duplicate entries for key [=\"a\"]"},
    };
    for (size_t i = 0; i < UNIT_COUNT(rows); i++) {
        struct life l = {0};
        arena_init(&l.a);
        ROW(rows[i].config, !apply_as(&l, "m", false, rows[i].config));
        ROW(rows[i].config, l.e.status == rows[i].status);
        assert_str(l.e.text, rows[i].text);
        arena_fini(&l.a);
    }
}

/* Updates by more than ten managers: the oldest become one. */
static void test_cap(void **state)
{
    struct arena a;
    struct doc live, *last = NULL;
    arena_init(&a);
    for (int i = 0; i < 14; i++) {
        struct apply_write w = write_of("configmaps", arena_printf(&a, "m%02d", i).p);
        struct doc object = last ? doc_dup(&a, last) : read(&a, CONFIG("{}"));
        api_canonical(w.kind->type, &object, &a);
        struct doc *data = (struct doc *)doc_get(&object, "data");
        data = data ? data : doc_set(&a, &object, "data", doc_make_map());
        doc_set_str(&a, data, arena_printf(&a, "k%d", i), doc_make_string(&a, STR("v")));
        w.now = arena_printf(&a, "2026-01-01T00:00:%02dZ", i);
        struct doc entries = apply_update(&w, last, &object, &a);
        struct doc *meta = (struct doc *)doc_get(&object, "metadata");
        doc_set(&a, meta, "managedFields", entries);
        live = object;
        last = &live;
    }
    const struct doc *entries = entries_of(&live);
    assert_int_equal(entries->n, MANAGERS_MAX_UPDATERS);
    assert_true(doc_is_string(doc_get(&entries->items[0], "manager"), "ancient-changes"));
    assert_json(doc_get(&entries->items[0], "fieldsV1"),
                "{\"f:data\":{\".\":{},\"f:k0\":{},\"f:k1\":{},\"f:k2\":{},\"f:k3\":{},"
                "\"f:k4\":{}}}");
    assert_true(
        doc_is_string(doc_get(&entries->items[0], "time"), "2026-01-01T00:00:04Z"));
    arena_fini(&a);
}

static void test_times(void **state)
{
#define OBJECT(time, value)                                                              \
    "{\"metadata\":{\"managedFields\":[{\"manager\":\"m\",\"time\":\"" time              \
    "\"}]},\"data\":{\"a\":\"" value "\"}}"
    struct arena a;
    arena_init(&a);
    struct doc x = read(&a, OBJECT("1", "1")), y = read(&a, OBJECT("2", "1"));
    struct doc z = read(&a, OBJECT("1", "2"));
    assert_true(apply_same_but_times(&x, &y, &a));
    assert_false(apply_same_but_times(&x, &z, &a));
    arena_fini(&a);
}

static void test_manager_name(void **state)
{
    static const struct {
        const char *manager, *agent, *want;
    } rows[] = {
        {"m", "kubectl/v1", "m"},
        {"", "kubectl/v1.37 (linux)", "kubectl"},
        {"", "", ""},
        {"", "a\tb\xc3\xa9/x", "ab\xc3\xa9"},
        {"", "a\xff", "a\xef\xbf\xbd"},
    };
    struct arena a;
    arena_init(&a);
    for (size_t i = 0; i < UNIT_COUNT(rows); i++)
        assert_str(
            apply_manager_name(str_from(rows[i].manager), str_from(rows[i].agent), &a),
            rows[i].want);
    char longer[300];
    memset(longer, 'x', sizeof longer);
    assert_int_equal(
        apply_manager_name(STR_NONE, (struct str){longer, sizeof longer}, &a).n,
        APPLY_MAX_MANAGER);
    arena_fini(&a);
}

#define ENTRY(name, op, version, sub, fields)                                            \
    "{\"apiVersion\":\"" version "\",\"fieldsType\":\"FieldsV1\",\"fieldsV1\":" fields   \
    ",\"manager\":\"" name "\",\"operation\":\"" op "\"" sub "}"
#define REPLICAS "{\"f:spec\":{\"f:replicas\":{}}}"
#define SCALE ",\"subresource\":\"scale\""

static void test_scale(void **state)
{
    struct arena a;
    arena_init(&a);
    struct doc parent = read(&a, "[" ENTRY("m1", "Apply", "apps/v1", "",
                                           "{\"f:spec\":{\"f:replicas\":{},\"f:paused\":{"
                                           "}}}") "," ENTRY("m2", "Update", "apps/v1", "",
                                                            "{\"f:spec\":{\"f:paused\":{}"
                                                            "}}") "]");
    struct doc scale = apply_to_scale(&parent, STR("apps/v1"), "spec.replicas", &a);
    assert_json(&scale, "[" ENTRY("m1", "Apply", "autoscaling/v1", "", REPLICAS) "]");
    /* m1 keeps it */
    struct doc back =
        apply_from_scale(&parent, &scale, STR("apps/v1"), "spec.replicas", &a);
    assert_true(doc_equal(&back, &parent));
    /* another takes it */
    struct doc taken =
        read(&a, "[" ENTRY("hpa", "Update", "autoscaling/v1", SCALE, REPLICAS) "]");
    back = apply_from_scale(&parent, &taken, STR("apps/v1"), "spec.replicas", &a);
    assert_json(
        &back,
        "[" ENTRY(
            "m1", "Apply", "apps/v1", "",
            "{\"f:spec\":{\"f:paused\":{}}}") "," ENTRY("hpa", "Update", "apps/v1", SCALE,
                                                        REPLICAS) "," ENTRY("m2",
                                                                            "Update",
                                                                            "apps/v1", "",
                                                                            "{\"f:spec\":"
                                                                            "{\"f:"
                                                                            "paused\":{}}"
                                                                            "}") "]");
    arena_fini(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ownership), cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_cap),       cmocka_unit_test(test_times),
        cmocka_unit_test(test_scale),     cmocka_unit_test(test_manager_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
