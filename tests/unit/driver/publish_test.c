/* SPDX-License-Identifier: Apache-2.0 */
/* The publisher on an API server in earnest: whatever others do to the slices, in the end
 * the pool is whole and as the inventory has it. */
#include "driver/publish.h"

#include "base/rng.h"
#include "cluster.h"
#include "driver/slices.h"
#include "unit/unit.h"

#define SLICES "/apis/resource.k8s.io/v1/resourceslices"
#define MERGE "application/merge-patch+json"

struct site {
    struct cluster c;
    struct driver_publish *p;
    struct driver_inventory v;
    char log[1024];
};

static void on_log(void *ctx, const char *text)
{
    struct site *s = ctx;
    snprintf(s->log, sizeof s->log, "%s", text);
}

static void make_node(struct site *s)
{
    cluster_ask(&s->c, "POST", "/api/v1/nodes", NULL, "{\"metadata\":{\"name\":\"n\"}}",
                NULL);
}

static void open_site(struct site *s, const char *config, const struct api_gates *gates)
{
    *s = (struct site){.p = NULL};
    cluster_open(&s->c, config, gates);
    make_node(s);
    struct driver_publish_opts o = {.driver = STR("x.example.com"),
                                    .node = STR("n"),
                                    .settle_ms = 1,
                                    .log = on_log,
                                    .log_ctx = s};
    s->p = driver_publish_new(s->c.client, &o);
}

static void close_site(struct site *s)
{
    driver_publish_free(s->p);
    cluster_close(&s->c);
}

/* ---- inventories ---- */

enum { TAINTED = 1, COUNTED = 2, SHARED = 4 };

static struct driver_inventory inventory(struct arena *a, uint32_t n, unsigned how)
{
    static const struct driver_taint TAINT = {.key = STR_INIT("x.example.com/sick"),
                                              .effect = STR_INIT("NoSchedule")};
    static const struct driver_counter HALF[] = {{STR_INIT("memory"), STR_INIT("512Mi")}};
    static const struct driver_counter ALL[] = {{STR_INIT("memory"), STR_INIT("1024Mi")}};
    static const struct driver_capacity CAPACITY[] = {
        {STR_INIT("bw"), STR_INIT("1000M")}};
    struct driver_device *v = ARENA_ARRAY(a, struct driver_device, n);
    uint32_t nsets = how & COUNTED ? (n + 1) / 2 : 0;
    struct driver_counter_set *sets = ARENA_ARRAY(a, struct driver_counter_set, nsets);
    for (uint32_t i = 0; i < nsets; i++)
        sets[i] = (struct driver_counter_set){arena_printf(a, "set-%u", i), ALL, 1};
    for (uint32_t i = 0; i < n; i++) {
        struct driver_attribute *at = ARENA_NEW(a, struct driver_attribute);
        struct driver_counter_set *of = ARENA_NEW(a, struct driver_counter_set);
        *at = (struct driver_attribute){STR("index"), {.kind = DRIVER_INT, .number = i}};
        *of = (struct driver_counter_set){arena_printf(a, "set-%u", i / 2), HALF, 1};
        v[i] = (struct driver_device){.name = arena_printf(a, "d-%u", i),
                                      .attributes = at,
                                      .nattributes = 1,
                                      .capacities = CAPACITY,
                                      .ncapacities = 1,
                                      .taints = &TAINT,
                                      .ntaints = how & TAINTED && i == 0,
                                      .consumes = of,
                                      .nconsumes = nsets ? 1 : 0,
                                      .shared = how & SHARED};
    }
    return (struct driver_inventory){v, sets, n, nsets};
}

static bool is_settled(void *ctx)
{
    struct site *s = ctx;
    return driver_publish_status(s->p).settled;
}

static void publish(struct site *s, uint32_t n, unsigned how)
{
    s->v = inventory(&s->c.a, n, how);
    driver_publish_set(s->p, &s->v);
    cluster_await(&s->c, is_settled, s, "the slices are published");
}

/* ---- what is there ---- */

static struct doc list(struct site *s)
{
    struct doc d = cluster_ask(&s->c, "GET", SLICES, NULL, "", NULL);
    return *doc_get(&d, "items");
}

static int64_t pool_int(const struct doc *slice, const char *key)
{
    int64_t n = -1;
    doc_get_int64(doc_path(slice, "spec.pool"), key, &n);
    return n;
}

/* As a scheduler reads it: one generation, as many slices as it says, and every device
 * once, in order (the slices by their names). */
static const char *wrong(const struct doc *items, const struct driver_inventory *v)
{
    uint32_t devices = 0, sets = 0;
    for (uint32_t i = 0; i < items->n; i++) {
        const struct doc *o = &items->items[i], *d = doc_path(o, "spec.devices"),
                         *c = doc_path(o, "spec.sharedCounters"),
                         *refs = doc_path(o, "metadata.ownerReferences");
        if (pool_int(o, "generation") != pool_int(items->items, "generation"))
            return "generations differ";
        if (pool_int(o, "resourceSliceCount") != (int64_t)items->n)
            return "the count of slices is wrong";
        if (!refs || refs->n < 1)
            return "the node does not own it";
        for (uint32_t k = 0; d && k < d->n; k++)
            if (devices >= v->ndevices ||
                !str_eq(doc_get_text(&d->items[k], "name"), v->devices[devices++].name))
                return "devices are wrong";
        sets += c ? c->n : 0;
    }
    return devices != v->ndevices ? "devices are missing"
           : sets != v->ncounters ? "counters are missing"
                                  : NULL;
}

struct wait {
    struct site *s;
    const char *why;
};

static bool is_whole(void *ctx)
{
    struct wait *w = ctx;
    struct doc items = list(w->s);
    w->why = items.n ? wrong(&items, &w->s->v) : "there is none";
    return !w->why;
}

static void await_whole(struct site *s, const char *what)
{
    struct wait w = {s, NULL};
    cluster_await(&s->c, is_whole, &w, what);
}

static struct str name_of(const struct doc *slice)
{
    return doc_get_text(doc_get(slice, "metadata"), "name");
}

static struct str path_of(struct site *s, const struct doc *slice)
{
    return arena_printf(&s->c.a, SLICES "/%.*s", STR_ARG(name_of(slice)));
}

/* ---- tests ---- */

static const struct {
    const char *name;
    uint32_t n;
    unsigned how;
    uint32_t slices;
} CUTS[] = {
    {"none", 0, 0, 1},
    {"one", 1, 0, 1},
    {"a full slice", 128, 0, 1},
    {"one more", 129, 0, 2},
    {"a taint", 65, TAINTED, 2},
    {"counters", 65, COUNTED, 5 + 2}, /* 33 sets, and their devices */
    {"fewer", 3, SHARED, 1},
};

static void test_cuts(void **state)
{
    struct site s;
    (void)state;
    open_site(&s, NULL, NULL);
    for (size_t i = 0; i < UNIT_COUNT(CUTS); i++) {
        publish(&s, CUTS[i].n, CUTS[i].how);
        struct doc items = list(&s);
        ROW(CUTS[i].name, items.n == CUTS[i].slices);
        const char *why = wrong(&items, &s.v);
        if (why)
            fail_msg("row '%s': %s", CUTS[i].name, why);
    }
    assert_string_equal(driver_publish_status(s.p).trouble, "");
    assert_string_equal(driver_publish_status(s.p).dropped, "");
    close_site(&s);
}

/* Nothing is written when nothing is different; one slice changes without the others;
 * more of them make a new generation. */
static void test_generations(void **state)
{
    struct site s;
    (void)state;
    open_site(&s, NULL, NULL);
    publish(&s, 200, 0);
    struct driver_publish_status a = driver_publish_status(s.p);
    assert_int_equal(a.generation, 1);
    assert_int_equal(a.created, 2);
    publish(&s, 200, 0);
    struct driver_publish_status b = driver_publish_status(s.p);
    assert_int_equal(b.updated + b.deleted, 0);
    publish(&s, 199, 0);
    struct driver_publish_status c = driver_publish_status(s.p);
    assert_int_equal(c.generation, 1);
    assert_int_equal(c.updated, 1);
    publish(&s, 300, 0);
    struct driver_publish_status d = driver_publish_status(s.p);
    assert_int_equal(d.generation, 2);
    assert_int_equal(d.created, 3);
    assert_int_equal(d.updated, 3);
    close_site(&s);
}

/* What others put into the metadata stays; what they do to the spec does not, and when a
 * taint was set does. */
static void test_kept(void **state)
{
    struct site s;
    (void)state;
    open_site(&s, NULL, NULL);
    publish(&s, 3, TAINTED);
    struct doc before = list(&s);
    struct str path = path_of(&s, before.items), time = {0};
    const struct doc *device = doc_path(before.items, "spec.devices")->items;
    time = doc_get_text(doc_get(device, "taints")->items, "timeAdded");
    assert_true(time.n > 0);
    cluster_ask(&s.c, "PATCH", path.p, MERGE,
                "{\"metadata\":{\"labels\":{\"a\":\"b\"}},"
                "\"spec\":{\"devices\":[{\"name\":\"else\"}]}}",
                NULL);
    await_whole(&s, "the devices are right again");
    publish(&s, 4, TAINTED);
    struct doc after = list(&s);
    assert_true(doc_is_string(doc_path(after.items, "metadata.labels.a"), "b"));
    device = doc_path(after.items, "spec.devices")->items;
    assert_true(driver_publish_status(s.p).mended > 0);
    assert_true(str_eq(name_of(before.items), name_of(after.items)));
    close_site(&s);
}

/* As the kubelet does when it starts. */
static void test_wiped(void **state)
{
    struct site s;
    (void)state;
    open_site(&s, NULL, NULL);
    publish(&s, 150, 0);
    cluster_ask(&s.c, "DELETE", SLICES "?fieldSelector=spec.nodeName%3Dn", NULL, "",
                NULL);
    await_whole(&s, "the slices are there again");
    close_site(&s);
}

/* A node that comes late, and one that is made anew under its name. */
static void test_nodes(void **state)
{
    struct site s;
    (void)state;
    open_site(&s, NULL, NULL);
    publish(&s, 1, 0);
    struct doc before = list(&s);
    const struct doc *old = doc_path(before.items, "metadata.ownerReferences");
    cluster_ask(&s.c, "DELETE", "/api/v1/nodes/n", NULL, "", NULL);
    make_node(&s);
    publish(&s, 2, 0);
    struct doc after = list(&s);
    const struct doc *now = doc_path(after.items, "metadata.ownerReferences");
    assert_int_equal(now->n, 1);
    assert_false(
        str_eq(doc_get_text(old->items, "uid"), doc_get_text(now->items, "uid")));
    close_site(&s);
}

/* The newest version that the server has. */
static void test_versions(void **state)
{
    static const struct {
        const char *config, *version;
    } ROWS[] = {
        {"resource.k8s.io/v1beta1=true,resource.k8s.io/v1beta2=true", "v1"},
        {"resource.k8s.io/v1=false,resource.k8s.io/v1beta1=true,"
         "resource.k8s.io/v1beta2=true",
         "v1beta2"},
        {"resource.k8s.io/v1=false,resource.k8s.io/v1beta1=true,"
         "resource.k8s.io/v1beta2=false",
         "v1beta1"},
    };
    (void)state;
    for (size_t i = 0; i < UNIT_COUNT(ROWS); i++) {
        struct site s;
        open_site(&s, ROWS[i].config, NULL);
        publish(&s, 150, TAINTED);
        ROW(ROWS[i].version,
            strcmp(driver_publish_status(s.p).version, ROWS[i].version) == 0);
        struct driver_publish_status a = driver_publish_status(s.p);
        publish(&s, 150, TAINTED);
        struct driver_publish_status b = driver_publish_status(s.p);
        ROW(ROWS[i].version, a.created + a.updated == b.created + b.updated);
        ROW(ROWS[i].version, strcmp(b.dropped, "") == 0);
        close_site(&s);
    }
}

/* A server without a feature is told of, and left in peace. */
static void test_dropped(void **state)
{
    struct site s;
    struct api_gates gates = api_gates_default;
    (void)state;
    api_gate_set(&gates, api_gate_find(STR("DRAConsumableCapacity")), false);
    open_site(&s, NULL, &gates);
    publish(&s, 2, SHARED);
    struct driver_publish_status a = driver_publish_status(s.p);
    assert_non_null(
        strstr(a.dropped, "allowMultipleAllocations (DRAConsumableCapacity)"));
    struct doc items = list(&s);
    cluster_ask(&s.c, "DELETE", path_of(&s, items.items).p, NULL, "", NULL);
    await_whole(&s, "the slice is there again");
    close_site(&s);
}

/* ---- whatever happens ---- */

static void do_something(struct site *s, struct rng *r)
{
    struct arena *a = &s->c.a;
    struct doc items = list(s);
    unsigned status;
    if (!items.n)
        return;
    const struct doc *o = &items.items[rng_range(r, 0, items.n - 1)];
    const char *path = path_of(s, o).p;
    int64_t n = rng_range(r, 0, 3);
    struct str body = STR("{\"spec\":{\"devices\":null,\"sharedCounters\":null}}");
    switch (rng_range(r, 0, 6)) {
    case 0:
        cluster_ask(&s->c, "DELETE", path, NULL, "", &status);
        return;
    case 1:
        cluster_ask(&s->c, "DELETE", SLICES, NULL, "", &status);
        return;
    case 2:
        body = arena_printf(a, "{\"spec\":{\"pool\":{\"generation\":%lld}}}",
                            n == 3 ? INT64_MAX : (long long)n * 7);
        break;
    case 3:
        body = arena_printf(a, "{\"spec\":{\"pool\":{\"resourceSliceCount\":%lld}}}",
                            (long long)n + 1);
        break;
    case 4:
        body = STR("{\"metadata\":{\"ownerReferences\":null}}");
        break;
    case 5: { /* another one of its number, or of one that nobody wants */
        struct doc copy = doc_make_map(), meta = doc_make_map();
        struct strbuf b = STRBUF_INIT;
        doc_set_text(a, &meta, "generateName",
                     arena_printf(a, "0000%lld-x.example.com-n-", (long long)n));
        doc_set(a, &copy, "metadata", meta);
        doc_set(a, &copy, "spec", *doc_get(o, "spec"));
        doc_write_json(&copy, DOC_JSON_COMPACT, &b);
        cluster_ask(&s->c, "POST", SLICES, NULL, strbuf_cstr(&b), &status);
        strbuf_release(&b);
        return;
    }
    default:
        break;
    }
    cluster_ask(&s->c, "PATCH", path, MERGE, body.p, &status);
}

static void test_whatever(void **state)
{
    static const unsigned HOWS[] = {0, TAINTED, COUNTED, TAINTED | COUNTED, SHARED};
    struct site s;
    struct rng r;
    (void)state;
    rng_init(&r, 7);
    open_site(&s, NULL, NULL);
    for (int round = 0; round < 30; round++) {
        if (round % 3 == 0) {
            s.v = inventory(&s.c.a, (uint32_t)rng_range(&r, 0, 300),
                            HOWS[rng_range(&r, 0, UNIT_COUNT(HOWS) - 1)]);
            driver_publish_set(s.p, &s.v);
        }
        for (int64_t n = rng_range(&r, 1, 4); n > 0; n--)
            do_something(&s, &r);
        char what[64];
        snprintf(what, sizeof what, "round %d is whole", round);
        await_whole(&s, what);
    }
    close_site(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cuts),    cmocka_unit_test(test_generations),
        cmocka_unit_test(test_kept),    cmocka_unit_test(test_wiped),
        cmocka_unit_test(test_nodes),   cmocka_unit_test(test_versions),
        cmocka_unit_test(test_dropped), cmocka_unit_test(test_whatever),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
