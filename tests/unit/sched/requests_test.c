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

/* n / step requests for as much of r0, r<step>, ..., the last first. */
static struct view_container asks(uint32_t n, uint32_t step, int64_t much,
                                  struct arena *a)
{
    struct view_container c = {.nrequests = (n + step - 1) / step};
    struct view_amount *v = ARENA_ARRAY(a, struct view_amount, c.nrequests);
    for (uint32_t i = 0; i < c.nrequests; i++) {
        v[i].name = arena_printf(a, "r%05u", (c.nrequests - 1 - i) * step);
        v[i].value = quantity_from_int64(much, QUANTITY_DECIMAL_SI);
    }
    c.requests = v;
    return c;
}

static int64_t needed(uint32_t i)
{
    int64_t sidecar = i % 3 ? 0 : 3, init = i % 5 ? 0 : 10;
    int64_t run = 1 + (i % 2 ? 0 : 2) + sidecar, start = init + (init ? sidecar : 0);
    return run > start ? run : start;
}

static void check_many(uint32_t n)
{
    struct arena a;
    arena_init(&a);
    struct view_container containers[] = {asks(n, 1, 1, &a), asks(n, 2, 2, &a)};
    struct view_container inits[] = {asks(n, 3, 3, &a), asks(n, 5, 10, &a)};
    inits[0].restarts = true;
    struct view_pod p = {.containers = containers,
                         .ncontainers = UNIT_COUNT(containers),
                         .init_containers = inits,
                         .ninit_containers = UNIT_COUNT(inits)};
    uint32_t got;
    const struct view_amount *v = view_pod_requests(&p, &a, &got);
    assert_int_equal(got, n);
    for (uint32_t i = 0; i < n; i++) {
        struct quantity want = quantity_from_int64(needed(i), QUANTITY_DECIMAL_SI);
        if (!str_eq(v[i].name, arena_printf(&a, "r%05u", i)) ||
            quantity_cmp(&v[i].value, &want) != 0)
            fail_msg("%u of %u: %.*s", i, n, STR_ARG(v[i].name));
    }
    arena_fini(&a);
}

/* The last row ends soon only where the time is linear in the names. */
static void test_many_requests(void **state)
{
    (void)state;
    for (uint32_t n = 1; n < 40; n++)
        check_many(n);
    check_many(100000);
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
        cmocka_unit_test(test_many_requests),
        cmocka_unit_test(test_pending),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
