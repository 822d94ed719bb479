/* SPDX-License-Identifier: Apache-2.0 */
/* The driver and the node's side of it, which find one another by sockets alone, beside
 * an API server in earnest; all in one process. */
#include <stdlib.h>
#include <unistd.h>

#include "cluster.h"
#include "driver/discover.h"
#include "driver/driver.h"
#include "node/disk.h"
#include "node/health.h"
#include "node/slices_wipe.h"
#include "unit/unit.h"

#define SLICES "/apis/resource.k8s.io/v1/resourceslices"
#define CLAIMS "/apis/resource.k8s.io/v1/namespaces/default/resourceclaims"

struct site {
    struct cluster c;
    struct driver *driver;
    struct driver_opts opts;
    struct health *health;
    struct slices_wipe *wipe;
    struct plugins *plugins;
    struct node_claims *claims;
    struct doc pod;
    char dir[40], cdi[60], devices[60];
    unsigned told;
};

static void on_log(void *ctx, const char *text)
{
    (void)text; /* what goes wrong on the way is made up for */
}

/* ---- the node's side ---- */

static void on_added(void *ctx, struct plugin *p)
{
    health_added(((struct site *)ctx)->health, p);
}

static void on_removed(void *ctx, struct plugin *p)
{
    health_removed(((struct site *)ctx)->health, p);
}

static void on_reached(void *ctx, struct str driver, bool connected)
{
    slices_wipe_reached(((struct site *)ctx)->wipe, driver, connected);
}

static void on_pod(void *ctx, struct str uid)
{
    ((struct site *)ctx)->told++;
}

static bool is_active(void *ctx, struct str uid)
{
    return true;
}

static void start_agent(struct site *s)
{
    static const struct plugins_ops ops = {on_added, on_removed, on_reached, on_log};
    struct health_opts h = {
        .loop = s->c.loop, .dir = s->dir, .messages = true, .changed = on_pod, .ctx = s};
    struct slices_wipe_opts w = {
        .client = s->c.client, .node = STR("n"), .delay_ms = 1, .retry_ms = 20};
    s->health = health_new(&h);
    s->wipe = slices_wipe_new(&w);
    s->plugins = plugins_new(s->c.loop, s->dir, &ops, s, NULL);
    struct node_claims_opts c = {.client = s->c.client,
                                 .plugins = s->plugins,
                                 .dir = s->dir,
                                 .is_active = is_active,
                                 .ctx = s};
    s->claims = node_claims_new(&c, NULL);
    assert_non_null(s->claims);
    health_use_claims(s->health, s->claims);
}

static void stop_agent(struct site *s)
{
    health_free(s->health);
    node_claims_free(s->claims);
    plugins_free(s->plugins);
    slices_wipe_free(s->wipe);
}

/* ---- the driver ---- */

static void on_failed(void *ctx)
{
    fail_msg("the driver has failed");
}

static void start_driver(struct site *s)
{
    struct err e = ERR_INIT;
    struct driver_discover_opts discover = {.driver = s->opts.driver};
    struct driver_backend *b = driver_backend_file_new(s->devices, &discover, &e);
    s->driver = b ? driver_new(s->c.other, b, &s->opts, &e) : NULL;
    if (!s->driver)
        fail_msg("%s", err_text(&e));
}

static bool is_connected(void *ctx)
{
    struct plugin *p = plugins_find(((struct site *)ctx)->plugins, STR("x.example.com"));
    return p && plugin_connected(p);
}

static bool is_gone(void *ctx)
{
    return !plugins_find(((struct site *)ctx)->plugins, STR("x.example.com"));
}

static void open_site(struct site *s)
{
    char text[200];
    *s = (struct site){.dir = "/tmp/dray-agent-XXXXXX"};
    assert_non_null(mkdtemp(s->dir));
    snprintf(s->cdi, sizeof s->cdi, "%s/cdi", s->dir);
    snprintf(s->devices, sizeof s->devices, "%s/devices.yaml", s->dir);
    snprintf(text, sizeof text,
             "devices:\n- {name: zero, path: /dev/zero}\n- {name: plug, path: %s/plug}\n",
             s->dir);
    assert_true(disk_write(s->devices, str_from(text), 0600, NULL));
    cluster_open(&s->c, NULL, NULL);
    cluster_ask(&s->c, "POST", "/api/v1/nodes", NULL, "{\"metadata\":{\"name\":\"n\"}}",
                NULL);
    s->opts = (struct driver_opts){.driver = STR("x.example.com"),
                                   .node = STR("n"),
                                   .kubelet_dir = str_from(s->dir),
                                   .cdi_dir = str_from(s->cdi),
                                   .discover_ms = 50,
                                   .log = on_log,
                                   .failed = on_failed,
                                   .failed_ctx = s};
    start_agent(s);
    start_driver(s);
    cluster_await(&s->c, is_connected, s, "the two have met");
}

static void close_site(struct site *s)
{
    stop_agent(s);
    if (s->driver)
        driver_free(s->driver);
    cluster_close(&s->c);
    assert_true(disk_remove_tree(s->dir, NULL));
}

/* ---- claims and pods ---- */

static void make_claim(struct site *s, const char *name, const char *device)
{
    char text[900], path[200];
    snprintf(text, sizeof text,
             "{\"metadata\":{\"name\":\"%s\"},\"spec\":{\"devices\":{\"requests\":[{"
             "\"name\":\"r\",\"exactly\":{\"deviceClassName\":\"c\"}}]}}}",
             name);
    cluster_ask(&s->c, "POST", CLAIMS, NULL, text, NULL);
    snprintf(
        text, sizeof text,
        "{\"status\":{\"allocation\":{\"devices\":{\"results\":[{\"request\":\"r\","
        "\"driver\":\"x.example.com\",\"pool\":\"n\",\"device\":\"%s\"}]}},"
        "\"reservedFor\":[{\"resource\":\"pods\",\"name\":\"p\",\"uid\":\"p-uid\"}]}}",
        device);
    snprintf(path, sizeof path, CLAIMS "/%s/status", name);
    cluster_ask(&s->c, "PATCH", path, "application/merge-patch+json", text, NULL);
}

static void make_pod(struct site *s)
{
    static const char POD[] =
        "{\"metadata\":{\"namespace\":\"default\",\"name\":\"p\",\"uid\":\"p-uid\"},"
        "\"spec\":{\"resourceClaims\":[{\"name\":\"x\",\"resourceClaimName\":\"c\"}],"
        "\"containers\":[{\"name\":\"m\",\"resources\":{\"claims\":[{\"name\":\"x\"}]}}]"
        "}}";
    struct doc_source src = {.name = "pod", .text = STR(POD)};
    assert_true(doc_read_json(&src, &s->c.a, &s->pod, NULL));
}

struct outcome {
    bool done;
    char why[500];
};

static void on_done(void *ctx, const struct err *why)
{
    struct outcome *o = ctx;
    o->done = true;
    snprintf(o->why, sizeof o->why, "%s", why ? err_text(why) : "");
}

static bool is_done(void *ctx)
{
    return ((struct outcome *)ctx)->done;
}

static void prepare(struct site *s)
{
    struct outcome o = {.done = false};
    node_claims_prepare(s->claims, &s->pod, on_done, &o);
    cluster_await(&s->c, is_done, &o, "the claims are prepared");
    assert_string_equal(o.why, "");
}

static void unprepare(struct site *s)
{
    struct outcome o = {.done = false};
    node_claims_unprepare(s->claims, STR("p-uid"), on_done, &o);
    cluster_await(&s->c, is_done, &o, "the claims are given back");
    assert_string_equal(o.why, "");
}

static const struct doc *container(const struct site *s)
{
    return &doc_path(&s->pod, "spec.containers")->items[0];
}

static struct str device_of(struct site *s)
{
    struct node_claims_devices v;
    struct err e = ERR_INIT;
    if (!node_claims_container_devices(s->claims, &s->pod, container(s), &s->c.a, &v, &e))
        fail_msg("%s", err_text(&e));
    assert_int_equal(v.n, 1);
    return v.ids[0];
}

static bool count_name(void *ctx, const char *name)
{
    ++*(unsigned *)ctx;
    return true;
}

static unsigned cdi_files(struct site *s)
{
    unsigned n = 0;
    assert_true(disk_each(s->cdi, count_name, &n, NULL));
    return n;
}

static bool has_a_file(void *ctx)
{
    return cdi_files(ctx) == 1;
}

/* ---- tests ---- */

static void test_there_and_back(void **state)
{
    struct site s;
    open_site(&s);
    make_claim(&s, "c", "zero");
    make_pod(&s);
    prepare(&s);
    assert_int_equal(cdi_files(&s), 1);
    struct str id = device_of(&s);
    assert_true(str_find(id, STR("x.example.com")) != SIZE_MAX);
    unprepare(&s);
    assert_int_equal(cdi_files(&s), 0);
    close_site(&s);
}

/* Each of the two is replaced while a pod has its device. */
static void test_both_restart(void **state)
{
    struct site s;
    open_site(&s);
    make_claim(&s, "c", "zero");
    make_pod(&s);
    prepare(&s);
    struct str id = device_of(&s);
    stop_agent(&s);
    start_agent(&s);
    cluster_await(&s.c, is_connected, &s, "the new agent has met the driver");
    assert_true(str_eq(device_of(&s), id));
    prepare(&s);
    driver_free(s.driver);
    assert_true(disk_remove_tree(s.cdi, NULL)); /* as after a reboot */
    cluster_await(&s.c, is_gone, &s, "the driver is gone");
    start_driver(&s);
    cluster_await(&s.c, is_connected, &s, "the new driver has met the agent");
    prepare(&s); /* which asks nobody: the driver has its own memory */
    cluster_await(&s.c, has_a_file, &s, "the container's file is there again");
    unprepare(&s);
    assert_int_equal(cdi_files(&s), 0);
    close_site(&s);
}

static const char *health_of(struct site *s)
{
    struct doc d =
        health_container_status(s->health, &s->pod, container(s), NULL, &s->c.a);
    if (d.type != DOC_LIST)
        return "";
    const struct doc *r = doc_get(&d.items[0], "resources");
    return doc_get_text(&r->items[0], "health").p;
}

static bool is_sick(void *ctx)
{
    return strcmp(health_of(ctx), "Unhealthy") == 0;
}

static bool is_well(void *ctx)
{
    return strcmp(health_of(ctx), "Healthy") == 0;
}

static void test_health(void **state)
{
    struct site s;
    char plug[64];
    open_site(&s);
    snprintf(plug, sizeof plug, "%s/plug", s.dir);
    assert_int_equal(symlink("/dev/zero", plug), 0);
    make_claim(&s, "c", "plug");
    make_pod(&s);
    struct outcome o = {.done = false, .why = "not yet"};
    while (*o.why) { /* until the driver has seen the device */
        o.done = false;
        node_claims_prepare(s.claims, &s.pod, on_done, &o);
        cluster_await(&s.c, is_done, &o, "an answer");
    }
    cluster_await(&s.c, is_well, &s, "the device is well");
    unsigned told = s.told;
    assert_int_equal(unlink(plug), 0);
    cluster_await(&s.c, is_sick, &s, "it is unplugged");
    assert_true(s.told > told);
    close_site(&s);
}

static bool has_slices(void *ctx)
{
    struct site *s = ctx;
    struct doc d = cluster_ask(&s->c, "GET", SLICES, NULL, "", NULL);
    return doc_get(&d, "items")->n > 0;
}

static bool has_none(void *ctx)
{
    return !has_slices(ctx);
}

/* Slices of a driver that is gone go too, and come with it again. */
static void test_slices(void **state)
{
    struct site s;
    open_site(&s);
    cluster_await(&s.c, has_slices, &s, "slices are published");
    driver_free(s.driver);
    s.driver = NULL;
    cluster_await(&s.c, has_none, &s, "they are wiped");
    start_driver(&s);
    cluster_await(&s.c, has_slices, &s, "they are published again");
    stop_agent(&s);
    start_agent(&s);
    cluster_await(&s.c, is_connected, &s, "the new agent has met the driver");
    cluster_await(&s.c, has_slices, &s, "what it has wiped is published again");
    close_site(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_there_and_back),
        cmocka_unit_test(test_both_restart),
        cmocka_unit_test(test_health),
        cmocka_unit_test(test_slices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
