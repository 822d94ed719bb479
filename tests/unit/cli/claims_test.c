/* SPDX-License-Identifier: Apache-2.0 */
/* Claims of pods: names that are made, shapes that are alike, and what is written out. */
#include "unit/unit.h"

#include "api/convert.h"
#include "api/decode.h"
#include "api/edit.h"
#include "api/validate.h"
#include "cli/claimdoc.h"
#include "cli/manifests.h"
#include "cli/place.h"
#include "cli/shape.h"

struct world {
    struct cluster c;
    struct diags diags;
    struct waiting_pods waiting;
    struct placement placement;
};

/* The manifests, placed. */
static void set_up(struct world *w, const char *manifests)
{
    char name[] = "/tmp/dray-claims-XXXXXX";
    FILE *f = fdopen(mkstemp(name), "w");
    const struct manifests_opts opts = {&api_gates_default, STR("2026-01-31T12:00:00Z")};
    const struct place_opts place = {.features = &alloc_features_default};
    assert_non_null(f);
    fputs(manifests, f);
    fclose(f);
    *w = (struct world){0};
    cluster_init(&w->c);
    diags_init(&w->diags);
    manifests_read(&w->c, name, &opts, &w->diags);
    manifests_finish(&w->c, &w->diags);
    remove(name);
    if (w->diags.errors)
        diags_print(&w->diags, stderr, true);
    assert_int_equal(w->diags.errors, 0);
    expand_pods(&w->c, &w->waiting, &w->diags);
    place_pods(&w->c, &w->waiting, &place, &w->placement);
}

static void tear_down(struct world *w)
{
    placement_fini(&w->placement);
    waiting_pods_release(&w->waiting);
    diags_fini(&w->diags);
    cluster_fini(&w->c);
}

static const char CLUSTER[] =
    "apiVersion: v1\nkind: Node\nmetadata: {name: n1}\n"
    "---\napiVersion: resource.k8s.io/v1\nkind: DeviceClass\nmetadata: {name: gpu}\n"
    "spec: {extendedResourceName: x.io/gpu}\n"
    "---\napiVersion: resource.k8s.io/v1\nkind: ResourceSlice\nmetadata: {name: s}\n"
    "spec:\n  driver: d.io\n  nodeName: n1\n"
    "  pool: {name: n1, generation: 1, resourceSliceCount: 1}\n"
    "  devices:\n  - {name: d0}\n  - {name: d1}\n  - {name: d2}\n"
    "  - {name: d3, allowMultipleAllocations: true, capacity: {mem: {value: 8Gi}}}\n"
    "---\napiVersion: resource.k8s.io/v1\nkind: ResourceClaimTemplate\n"
    "metadata: {name: t}\nspec:\n  metadata: {labels: {a: b}}\n  spec:\n    devices:\n"
    "      requests: [{name: r, exactly: {deviceClassName: gpu}}]\n";

#define POD(name, rest)                                                                  \
    "---\napiVersion: v1\nkind: Pod\nmetadata: {name: " name "}\nspec:\n"                \
    "  containers: [{name: c, image: i}]\n" rest
#define FROM_T "  resourceClaims: [{name: x, resourceClaimTemplateName: t}]\n"

static struct str claim_name(const struct world *w, size_t pod)
{
    return w->placement.pods.v[pod].claims[0]->view->meta.name;
}

/* pod, entry, five characters; long names are cut in proportion (spec 6.1). */
static void test_names(void **state)
{
    struct world w;
    struct strbuf text = STRBUF_INIT;
    (void)state;
    strbuf_adds(&text, CLUSTER);
    strbuf_adds(&text, POD("p", FROM_T));
    strbuf_adds(
        &text,
        POD("a-name-of-sixty-characters-is-long-enough-to-be-cut-to-fit-in", FROM_T));
    set_up(&w, strbuf_cstr(&text));
    assert_int_equal(claim_name(&w, 0).n, 4 + 5);
    assert_true(str_starts(claim_name(&w, 0), STR("p-x-")));
    assert_int_equal(claim_name(&w, 1).n, 55 + 5);
    assert_true(
        str_starts(claim_name(&w, 1),
                   STR("a-name-of-sixty-characters-is-long-enough-to-be-cut-to-")));
    tear_down(&w);
    strbuf_release(&text);
}

static void test_shapes(void **state)
{
    struct world w;
    struct strbuf text = STRBUF_INIT;
    (void)state;
    strbuf_adds(&text, CLUSTER);
    strbuf_adds(&text, POD("p1", FROM_T));
    strbuf_adds(&text, POD("p2", FROM_T));
    strbuf_adds(&text, POD("p3", FROM_T "  nodeSelector: {a: b}\n"));
    strbuf_adds(&text, POD("p4", FROM_T "  tolerations: [{key: k, operator: Exists}]\n"));
    strbuf_adds(&text, POD("p5", ""));
    set_up(&w, strbuf_cstr(&text));
    struct str shapes[5];
    for (int i = 0; i < 5; i++) {
        const struct placed_pod *p = &w.placement.pods.v[i];
        shapes[i] = shape_text(&p->pod, p->claims, p->nclaims, &w.c.arena);
    }
    assert_true(str_eq(shapes[0], shapes[1]));
    for (int i = 1; i < 5; i++)
        for (int k = i + 1; k < 5; k++)
            assert_false(str_eq(shapes[i], shapes[k]));
    tear_down(&w);
    strbuf_release(&text);
}

static void check_written(const struct doc *d, struct arena *a)
{
    const struct api_kind *kind =
        api_kind_find(doc_get_text(d, "apiVersion"), doc_get_text(d, "kind"));
    struct api_issues issues = {0};
    struct api_errors errors = {0};
    struct doc old = doc_dup(a, d);
    assert_non_null(kind);
    doc_remove(&old, STR("status"));
    doc_set(a, api_edit_get(&old, "metadata"), "resourceVersion",
            doc_make_string(a, STR("1")));
    doc_set(a, api_edit_get((struct doc *)d, "metadata"), "resourceVersion",
            doc_make_string(a, STR("1")));
    const struct api_validate_opts opts = {.op = API_UPDATE_STATUS,
                                           .old = &old,
                                           .gates = &api_gates_default,
                                           .admin_namespace = true};
    api_check_object(kind, d, NULL, a, &issues);
    for (size_t i = 0; i < issues.list.n; i++)
        print_error("%.*s\n", STR_ARG(issues.list.v[i].text));
    assert_int_equal(issues.list.n, 0);
    api_validate(kind, d, &opts, a, &errors);
    for (size_t i = 0; i < errors.list.n; i++)
        print_error("%.*s: %.*s\n", STR_ARG(errors.list.v[i].path),
                    STR_ARG(errors.list.v[i].detail));
    assert_int_equal(errors.list.n, 0);
    api_issues_release(&issues);
    api_errors_release(&errors);
}

/* What is written decodes strictly, and a server would take it as a status. */
static void test_written(void **state)
{
    struct world w;
    struct strbuf text = STRBUF_INIT;
    struct arena a;
    (void)state;
    arena_init(&a);
    strbuf_adds(&text, CLUSTER);
    strbuf_adds(&text, POD("p1", FROM_T));
    strbuf_adds(&text, "---\napiVersion: v1\nkind: Pod\nmetadata: {name: p2}\nspec:\n"
                       "  containers: [{name: c, image: i, resources: {requests: "
                       "{x.io/gpu: 2}, limits: {x.io/gpu: 2}}}]\n");
    strbuf_adds(&text,
                "---\napiVersion: resource.k8s.io/v1\nkind: ResourceClaim\n"
                "metadata: {name: c}\nspec:\n  devices:\n    requests:\n"
                "    - {name: r, exactly: {deviceClassName: gpu, capacity: {requests: "
                "{mem: 2Gi}}, tolerations: [{operator: Exists}]}}\n");
    strbuf_adds(&text,
                POD("p3", "  resourceClaims: [{name: x, resourceClaimName: c}]\n"));
    set_up(&w, strbuf_cstr(&text));
    assert_int_equal(w.placement.unplaced, 0);
    struct doc list =
        claim_list_doc(&w.placement.claims, STR("2026-01-31T12:00:00Z"), &a);
    const struct doc *items = doc_get(&list, "items");
    assert_int_equal(items->n, 3);
    for (uint32_t i = 0; i < items->n; i++)
        check_written(&items->items[i], &a);
    assert_true(doc_is_string(doc_path(&items->items[0], "metadata.labels.a"), "b"));
    tear_down(&w);
    arena_fini(&a);
    strbuf_release(&text);
}

/* A claim takes 256 pods and no more. */
static void test_consumers(void **state)
{
    struct world w;
    struct strbuf text = STRBUF_INIT;
    (void)state;
    strbuf_adds(&text, CLUSTER);
    strbuf_adds(&text, "---\napiVersion: resource.k8s.io/v1\nkind: ResourceClaim\n"
                       "metadata: {name: c}\nspec: {devices: {requests: [{name: r, "
                       "exactly: {deviceClassName: gpu}}]}}\n");
    for (int i = 0; i < 257; i++)
        strbuf_addf(&text,
                    "---\napiVersion: v1\nkind: Pod\nmetadata: {name: p%d}\nspec:\n"
                    "  containers: [{name: c, image: i}]\n"
                    "  resourceClaims: [{name: x, resourceClaimName: c}]\n",
                    i);
    set_up(&w, strbuf_cstr(&text));
    assert_int_equal(w.placement.unplaced, 1);
    assert_int_equal(w.placement.pods.v[255].status, PLACED);
    assert_int_equal(w.placement.pods.v[256].status, UNPLACED_ERROR);
    tear_down(&w);
    strbuf_release(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_shapes),
        cmocka_unit_test(test_written),
        cmocka_unit_test(test_consumers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
