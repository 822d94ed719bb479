/* SPDX-License-Identifier: Apache-2.0 */
/* Documents as they are made: of a kind that the tables do not have, and of rows. */
#include "server/discovery/openapi_inner.h"
#include "unit/unit.h"

static struct doc read_doc(struct strbuf *b, struct arena *a)
{
    struct doc_source src = {.name = "made", .text = strbuf_str(b)};
    struct err e = ERR_INIT;
    struct doc d = doc_make_null();
    if (!doc_read_json(&src, a, &d, &e))
        fail_msg("%s", err_text(&e));
    return d;
}

static struct doc make(enum openapi_form form, const struct openapi_doc *docs, uint32_t n,
                       struct arena *a)
{
    struct strbuf json = STRBUF_INIT, proto = STRBUF_INIT;
    openapi_make(form, docs, n, &json, &proto);
    assert_true(proto.n > 0);
    struct str kept = arena_str(a, strbuf_str(&json));
    struct strbuf copy = {(char *)kept.p, kept.n, 0};
    struct doc d = read_doc(&copy, a);
    strbuf_release(&json);
    strbuf_release(&proto);
    return d;
}

/* "paths" and so on are no words between dots. */
static const struct doc *at(const struct doc *d, const char *first, const char *second,
                            const char *third)
{
    d = doc_get(d, first);
    d = second ? doc_get(d, second) : d;
    return third ? doc_get(d, third) : d;
}

static const char SCHEMA[] =
    "{\"type\":\"object\",\"properties\":{\"spec\":{\"type\":\"object\",\"properties\":{"
    "\"size\":{\"type\":\"string\",\"default\":\"big\"}}}}}";

struct widget {
    struct doc schema, selectable;
    struct openapi_kind kind;
    struct openapi_doc doc;
};

static void make_widget(struct widget *w, bool namespaced, struct arena *a)
{
    struct strbuf schema = {(char *)SCHEMA, sizeof SCHEMA - 1, 0};
    static const char PATHS[] = "[{\"jsonPath\":\".spec.size\"}]";
    struct strbuf selectable = {(char *)PATHS, sizeof PATHS - 1, 0};
    w->schema = read_doc(&schema, a);
    w->selectable = read_doc(&selectable, a);
    w->kind = (struct openapi_kind){
        .group = STR("acme.example.com"),
        .version = STR("v1"),
        .kind = STR("Widget"),
        .list_kind = STR("WidgetList"),
        .plural = STR("widgets"),
        .namespaced = namespaced,
        .status = true,
        .scale = true,
        .schema = &w->schema,
        .selectable = &w->selectable,
    };
    w->doc = (struct openapi_doc){.name = STR("apis/acme.example.com/v1"),
                                  .group = w->kind.group,
                                  .version = w->kind.version,
                                  .sort = OPENAPI_VERSION,
                                  .kinds = &w->kind,
                                  .nkinds = 1};
}

/* As recorded of upstream. */
static const struct {
    bool namespaced;
    const char *path, *method, *id, *action;
} OPERATIONS[] = {
    {true, "/widgets", "get", "listAcmeExampleComV1WidgetForAllNamespaces", "list"},
    {true, "/namespaces/{namespace}/widgets", "get",
     "listAcmeExampleComV1NamespacedWidget", "list"},
    {true, "/namespaces/{namespace}/widgets", "post",
     "createAcmeExampleComV1NamespacedWidget", "post"},
    {true, "/namespaces/{namespace}/widgets", "delete",
     "deleteAcmeExampleComV1CollectionNamespacedWidget", "deletecollection"},
    {true, "/namespaces/{namespace}/widgets/{name}", "get",
     "readAcmeExampleComV1NamespacedWidget", "get"},
    {true, "/namespaces/{namespace}/widgets/{name}", "put",
     "replaceAcmeExampleComV1NamespacedWidget", "put"},
    {true, "/namespaces/{namespace}/widgets/{name}", "patch",
     "patchAcmeExampleComV1NamespacedWidget", "patch"},
    {true, "/namespaces/{namespace}/widgets/{name}", "delete",
     "deleteAcmeExampleComV1NamespacedWidget", "delete"},
    {true, "/namespaces/{namespace}/widgets/{name}/status", "put",
     "replaceAcmeExampleComV1NamespacedWidgetStatus", "put"},
    {true, "/namespaces/{namespace}/widgets/{name}/scale", "get",
     "readAcmeExampleComV1NamespacedWidgetScale", "get"},
    {false, "/widgets", "get", "listAcmeExampleComV1Widget", "list"},
    {false, "/widgets/{name}", "get", "readAcmeExampleComV1Widget", "get"},
    {false, "/widgets/{name}/status", "patch", "patchAcmeExampleComV1WidgetStatus",
     "patch"},
};

static void custom_operations(void **state)
{
    struct arena a = {0};
    (void)state;
    for (size_t i = 0; i < UNIT_COUNT(OPERATIONS); i++)
        for (int form = OPENAPI_V2; form <= OPENAPI_V3; form++) {
            struct widget w;
            make_widget(&w, OPERATIONS[i].namespaced, &a);
            struct doc d = make(form, &w.doc, 1, &a);
            const char *path =
                arena_printf(&a, "/apis/acme.example.com/v1%s", OPERATIONS[i].path).p;
            const struct doc *o = at(&d, "paths", path, OPERATIONS[i].method);
            ROW(OPERATIONS[i].id,
                doc_is_string(doc_get(o, "operationId"), OPERATIONS[i].id));
            ROW(OPERATIONS[i].id,
                doc_is_string(doc_get(o, "x-kubernetes-action"), OPERATIONS[i].action));
            ROW(OPERATIONS[i].id,
                doc_is_string(doc_path(o, "x-kubernetes-group-version-kind.kind"),
                              "Widget"));
            assert_int_equal(doc_get(&d, "paths")->n, OPERATIONS[i].namespaced ? 5 : 4);
        }
    arena_fini(&a);
}

static void custom_definitions(void **state)
{
    struct arena a = {0};
    struct widget w;
    (void)state;
    make_widget(&w, true, &a);
    struct doc three = make(OPENAPI_V3, &w.doc, 1, &a);
    const struct doc *schemas = at(&three, "components", "schemas", NULL);
    const struct doc *d = doc_get(schemas, "com.example.acme.v1.Widget");
    assert_non_null(d);
    assert_true(
        doc_is_string(doc_path(d, "properties.spec.properties.size.default"), "big"));
    const struct doc *fields = doc_get(d, "x-kubernetes-selectable-fields");
    assert_true(fields && fields->n == 1 &&
                doc_is_string(doc_get(&fields->items[0], "fieldPath"), "spec.size"));
    assert_non_null(doc_get(schemas, "com.example.acme.v1.WidgetList"));
    static const char *const NEEDED[] = {
        "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta",
        "io.k8s.apimachinery.pkg.apis.meta.v1.ListMeta",
        "io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions",
        "io.k8s.apimachinery.pkg.apis.meta.v1.Patch",
        "io.k8s.api.autoscaling.v1.Scale",
        "io.k8s.api.autoscaling.v1.ScaleSpec",
    };
    for (size_t i = 0; i < UNIT_COUNT(NEEDED); i++)
        ROW(NEEDED[i], doc_get(schemas, NEEDED[i]) != NULL);
    struct doc two = make(OPENAPI_V2, &w.doc, 1, &a);
    d = at(&two, "definitions", "com.example.acme.v1.Widget", NULL);
    assert_non_null(doc_path(d, "properties.spec.properties.size"));
    assert_null(doc_path(d, "properties.spec.properties.size.default"));
    assert_non_null(at(&two, "parameters", "body-delete", NULL));
    arena_fini(&a);
}

/* What a custom kind takes and gives: no protobuf, no strategic patches. */
static void custom_media(void **state)
{
    static const char PATH[] =
        "/apis/acme.example.com/v1/namespaces/{namespace}/widgets/{name}";
    struct arena a = {0};
    struct widget w;
    (void)state;
    make_widget(&w, true, &a);
    struct doc d = make(OPENAPI_V3, &w.doc, 1, &a);
    const struct doc *patch =
        doc_path(at(&d, "paths", PATH, "patch"), "requestBody.content");
    assert_int_equal(patch->n, 3);
    assert_null(doc_get(patch, "application/strategic-merge-patch+json"));
    const struct doc *get =
        doc_path(at(&d, "paths", PATH, "get"), "responses.200.content");
    assert_int_equal(get->n, 2);
    assert_null(doc_get(get, "application/vnd.kubernetes.protobuf"));
    arena_fini(&a);
}

static struct openapi_doc of_rows(const char *group, const char *version,
                                  const char *resource, struct arena *a)
{
    const struct api_kind *k =
        api_resource_find(str_from(group), str_from(version), str_from(resource));
    struct resource *r = ARENA_NEW(a, struct resource);
    assert_non_null(k);
    *r = (struct resource){.kind = k, .main = k, .hub = k, .verbs = k->verbs};
    return (struct openapi_doc){.name = STR("apis/x"),
                                .group = str_from(group),
                                .version = str_from(version),
                                .sort = OPENAPI_VERSION,
                                .resources = r,
                                .nresources = 1};
}

static void versions_of_deletions(void **state)
{
    static const char NAME[] = "io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions";
    struct arena a = {0};
    struct openapi_doc docs[] = {of_rows("", "v1", "pods", &a),
                                 of_rows("apps", "v1", "deployments", &a),
                                 of_rows("resource.k8s.io", "v1", "resourceclaims", &a)};
    (void)state;
    struct doc one = make(OPENAPI_V3, &docs[1], 1, &a);
    const struct doc *gvk = doc_get(at(&one, "components", "schemas", NAME),
                                    "x-kubernetes-group-version-kind");
    assert_true(gvk && gvk->n == 2 &&
                doc_is_string(doc_get(&gvk->items[1], "group"), "apps"));
    struct doc all = make(OPENAPI_V2, docs, 3, &a);
    gvk = doc_get(at(&all, "definitions", NAME, NULL), "x-kubernetes-group-version-kind");
    assert_true(gvk && gvk->n == 3);
    /* A pod is returned by its deletion, a Deployment is not. */
    struct doc pods = make(OPENAPI_V3, &docs[0], 1, &a);
    const struct doc *answer = doc_path(
        at(&pods, "paths", "/api/v1/namespaces/{namespace}/pods/{name}", "delete"),
        "responses.200.content");
    answer = doc_path(doc_get(answer, "application/json"), "schema.$ref");
    assert_true(doc_is_string(answer, "#/components/schemas/io.k8s.api.core.v1.Pod"));
    arena_fini(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(custom_operations),
        cmocka_unit_test(custom_definitions),
        cmocka_unit_test(custom_media),
        cmocka_unit_test(versions_of_deletions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
