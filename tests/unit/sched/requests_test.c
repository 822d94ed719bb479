/* SPDX-License-Identifier: Apache-2.0 */
/* What a pod needs of a node: containers, init containers, sidecars, overhead. */
#include "unit/unit.h"

#include "api/view_pod.h"

static struct view_pod *read_pod(const char *spec, struct arena *a)
{
    struct doc_source src = {.name = "pod"};
    struct doc_list list;
    struct err e = ERR_INIT;
    src.text = arena_printf(a, "{metadata: {name: p, namespace: d}, spec: %s}", spec);
    if (!doc_read_yaml(&src, a, &list, &e) || list.n != 1)
        fail_msg("%s", err_text(&e));
    struct view_pod *p = view_pod_new(&list.v[0], a, &e);
    if (!p)
        fail_msg("%s", err_text(&e));
    return p;
}

static void check(const char *name, const char *spec, const char *want)
{
    struct arena a;
    struct strbuf b = STRBUF_INIT;
    uint32_t n;
    arena_init(&a);
    const struct view_amount *v = view_pod_requests(read_pod(spec, &a), &a, &n);
    for (uint32_t i = 0; i < n; i++)
        strbuf_addf(&b, "%s%.*s=%.*s", i ? " " : "", STR_ARG(v[i].name),
                    STR_ARG(quantity_print(&v[i].value, &a)));
    if (!str_is(strbuf_str(&b), want))
        fail_msg("row '%s': got \"%s\", want \"%s\"", name, strbuf_cstr(&b), want);
    strbuf_release(&b);
    arena_fini(&a);
}

#define C(amounts) "{name: c, resources: {requests: {" amounts "}}}"
#define SIDECAR(amounts)                                                                 \
    "{name: s, restartPolicy: Always, resources: {requests: {" amounts "}}}"

static const struct {
    const char *name, *spec, *want;
} ROWS[] = {
    {"none", "{containers: [{name: c}]}", ""},
    {"one", "{containers: [" C("cpu: 1, memory: 1Gi") "]}", "cpu=1 memory=1Gi"},
    {"sum", "{containers: [" C("cpu: 1") ", " C("cpu: 500m, memory: 1Gi") "]}",
     "cpu=1500m memory=1Gi"},
    {"a larger init container",
     "{initContainers: [" C("cpu: 3") "], containers: [" C("cpu: 1") ", " C(
         "cpu: 1") "]}",
     "cpu=3"},
    {"a smaller init container",
     "{initContainers: [" C("cpu: 1") "], containers: [" C("cpu: 2") "]}", "cpu=2"},
    {"init containers run one after another",
     "{initContainers: [" C("cpu: 2") ", " C("cpu: 3") "], containers: [" C(
         "cpu: 1") "]}",
     "cpu=3"},
    {"a sidecar runs beside the containers",
     "{initContainers: [" SIDECAR("cpu: 1") "], containers: [" C("cpu: 2") "]}", "cpu=3"},
    {"a sidecar runs beside later init containers",
     "{initContainers: [" SIDECAR("cpu: 1") ", " C("cpu: 5") "], containers: [" C(
         "cpu: 2") "]}",
     "cpu=6"},
    {"and not beside earlier ones",
     "{initContainers: [" C("cpu: 5") ", " SIDECAR("cpu: 1") "], containers: [" C(
         "cpu: 2") "]}",
     "cpu=5"},
    {"overhead", "{overhead: {cpu: 250m}, containers: [" C("cpu: 1") "]}", "cpu=1250m"},
    {"requests of the pod come first",
     "{resources: {requests: {cpu: 4}}, containers: [" C("cpu: 1, memory: 1Gi") "]}",
     "cpu=4 memory=1Gi"},
    {"but not for extended resources",
     "{resources: {requests: {x.io/gpu: 4}}, containers: [" C("x.io/gpu: 1") "]}",
     "x.io/gpu=1"},
};

static void test_requests(void **state)
{
    (void)state;
    for (size_t i = 0; i < UNIT_COUNT(ROWS); i++)
        check(ROWS[i].name, ROWS[i].spec, ROWS[i].want);
}

static void test_pending(void **state)
{
    static const struct {
        const char *name;
        struct view_pod pod;
        bool pending;
    } rows[] = {
        {"new", {.phase = {"", 0}}, true},
        {"bound", {.node_name = {"n", 1}}, false},
        {"finished", {.phase = {"Succeeded", 9}}, false},
        {"failed", {.phase = {"Failed", 6}}, false},
        {"deleted", {.meta = {.deleting = true}}, false},
    };
    (void)state;
    for (size_t i = 0; i < UNIT_COUNT(rows); i++)
        ROW(rows[i].name, view_pod_pending(&rows[i].pod) == rows[i].pending);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_requests),
        cmocka_unit_test(test_pending),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
