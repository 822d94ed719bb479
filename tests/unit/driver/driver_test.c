/* SPDX-License-Identifier: Apache-2.0 */
/* The driver whole, between an API server in earnest and somebody who asks it over its
 * sockets as a kubelet does. */
#include "driver/driver.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cluster.h"
#include "driver/discover.h"
#include "grpc/dra.pb-c.h"
#include "grpc/dra_v1beta1.pb-c.h"
#include "grpc/health.pb-c.h"
#include "grpc/registration.pb-c.h"
#include "node/disk.h"
#include "unit/unit.h"

#define CLAIMS "/apis/resource.k8s.io/v1/namespaces/default/resourceclaims"
#define DRA "/k8s.io.kubelet.pkg.apis.dra.v1.DRAPlugin/"
#define DRA_BETA "/k8s.io.kubelet.pkg.apis.dra.v1beta1.DRAPlugin/"

static const char DEVICES[] = "devices:\n"
                              "- {name: zero, path: /dev/zero}\n"
                              "- {name: full, path: /dev/full, shared: true}\n"
                              "- {name: plug, path: %s/plug}\n";

struct site {
    struct cluster c;
    struct driver *driver;
    struct net_client *kubelet, *registrar;
    struct driver_opts opts;
    char dir[32], cdi[48], devices[64], log[4096];
    unsigned ended; /* connections */
};

/* ---- the driver ---- */

static void on_log(void *ctx, const char *text)
{
    struct site *s = ctx;
    snprintf(s->log, sizeof s->log, "%s", text);
}

static void on_failed(void *ctx)
{
    fail_msg("the driver has failed: %s", ((struct site *)ctx)->log);
}

static void on_closed(void *ctx, const struct err *why)
{
    ((struct site *)ctx)->ended++;
}

static struct net_client *connect_to(struct site *s, const char *path)
{
    static const struct net_client_ops ops = {NULL, on_closed};
    char address[160];
    struct err e = ERR_INIT;
    snprintf(address, sizeof address, "unix:%s%s", s->dir, path);
    struct net_client *c = net_client_new(
        s->c.loop, &(struct net_client_opts){.address = address}, &ops, s, &e);
    if (!c)
        fail_msg("%s", err_text(&e));
    return c;
}

static bool is_serving(void *ctx)
{
    return driver_state(((struct site *)ctx)->driver).serving;
}

static void serve_with(struct site *s, struct driver_backend *b)
{
    struct err e = ERR_INIT;
    s->driver = driver_new(s->c.client, b, &s->opts, &e);
    if (!s->driver)
        fail_msg("%s", err_text(&e));
    cluster_await(&s->c, is_serving, s, "the driver serves");
    s->kubelet = connect_to(s, "/plugins/x.example.com/dra.sock");
    s->registrar = connect_to(s, "/plugins_registry/x.example.com-reg.sock");
}

static void start_driver(struct site *s)
{
    struct err e = ERR_INIT;
    struct driver_discover_opts discover = {.driver = s->opts.driver};
    struct driver_backend *b = driver_backend_file_new(s->devices, &discover, &e);
    if (!b)
        fail_msg("%s", err_text(&e));
    serve_with(s, b);
}

static void stop_driver(struct site *s)
{
    net_client_close(s->kubelet);
    net_client_close(s->registrar);
    driver_free(s->driver);
    s->driver = NULL;
}

static void open_site(struct site *s)
{
    struct err e = ERR_INIT;
    char text[sizeof DEVICES + 64];
    *s = (struct site){.dir = "/tmp/dray-drv-XXXXXX"};
    assert_non_null(mkdtemp(s->dir));
    snprintf(s->cdi, sizeof s->cdi, "%s/cdi", s->dir);
    snprintf(s->devices, sizeof s->devices, "%s/devices.yaml", s->dir);
    snprintf(text, sizeof text, DEVICES, s->dir);
    assert_true(disk_write(s->devices, str_from(text), 0600, &e));
    cluster_open(&s->c, NULL, NULL);
    cluster_ask(&s->c, "POST", "/api/v1/nodes", NULL, "{\"metadata\":{\"name\":\"n\"}}",
                NULL);
    s->opts = (struct driver_opts){.driver = STR("x.example.com"),
                                   .node = STR("n"),
                                   .kubelet_dir = str_from(s->dir),
                                   .cdi_dir = str_from(s->cdi),
                                   .discover_ms = 50,
                                   .log = on_log,
                                   .log_ctx = s,
                                   .failed = on_failed,
                                   .failed_ctx = s};
    start_driver(s);
}

static void close_site(struct site *s)
{
    if (s->driver)
        stop_driver(s);
    cluster_close(&s->c);
    assert_true(disk_remove_tree(s->dir, NULL));
}

/* ---- asking ---- */

struct reply {
    bool done;
    enum grpc_status status;
    char message[300];
    ProtobufCMessage *m;
};

static void on_reply(void *ctx, ProtobufCMessage *m, const struct grpc_end *end)
{
    struct reply *r = ctx;
    *r = (struct reply){.done = true, .status = end->status, .m = m};
    snprintf(r->message, sizeof r->message, "%.*s", STR_ARG(end->message));
}

static bool is_done(void *ctx)
{
    return ((struct reply *)ctx)->done;
}

static struct reply ask(struct site *s, struct net_client *to, const char *method,
                        const ProtobufCMessage *m, const ProtobufCMessageDescriptor *type)
{
    struct reply r = {.done = false};
    struct grpc_opts opts = {.method = method, .timeout_ms = 45000};
    assert_non_null(grpc_ask(to, &opts, m, type, on_reply, &r));
    cluster_await(&s->c, is_done, &r, method);
    return r;
}

static void reply_free(struct reply *r)
{
    if (r->m)
        protobuf_c_message_free_unpacked(r->m, NULL);
}

/* ---- claims ---- */

struct claim {
    char name[20], uid[40];
};

static struct claim make_claim(struct site *s, const char *name, const char *device,
                               const char *share)
{
    char text[800];
    struct claim c;
    unsigned status;
    snprintf(text, sizeof text,
             "{\"metadata\":{\"name\":\"%s\"},\"spec\":{\"devices\":{\"requests\":[{"
             "\"name\":\"r\",\"exactly\":{\"deviceClassName\":\"c\"}}]}}}",
             name);
    struct doc made = cluster_ask(&s->c, "POST", CLAIMS, NULL, text, &status);
    assert_int_equal(status, 201);
    snprintf(c.name, sizeof c.name, "%s", name);
    snprintf(c.uid, sizeof c.uid, "%.*s",
             STR_ARG(doc_get_text(doc_get(&made, "metadata"), "uid")));
    if (!device)
        return c;
    snprintf(text, sizeof text,
             "{\"status\":{\"allocation\":{\"devices\":{\"results\":[{\"request\":\"r\","
             "\"driver\":\"x.example.com\",\"pool\":\"n\",\"device\":\"%s\"%s%s%s}]}}}}",
             device, share ? ",\"shareID\":\"" : "", share ? share : "",
             share ? "\"" : "");
    char path[200];
    snprintf(path, sizeof path, CLAIMS "/%s/status", name);
    cluster_ask(&s->c, "PATCH", path, "application/merge-patch+json", text, &status);
    assert_int_equal(status, 200);
    return c;
}

static struct reply prepare_by(struct site *s, const struct claim *c, const char *method,
                               const ProtobufCMessageDescriptor *type)
{
    Dra__Claim claim = DRA__CLAIM__INIT, *claims[] = {&claim};
    Dra__NodePrepareResourcesRequest q = DRA__NODE_PREPARE_RESOURCES_REQUEST__INIT;
    claim.namespace_ = (char *)"default";
    claim.name = (char *)c->name;
    claim.uid = (char *)c->uid;
    q.n_claims = 1;
    q.claims = claims;
    return ask(s, s->kubelet, method, &q.base, type);
}

static struct reply prepare(struct site *s, const struct claim *c)
{
    return prepare_by(s, c, DRA "NodePrepareResources",
                      &dra__node_prepare_resources_response__descriptor);
}

static const Dra__NodePrepareResourceResponse *answer_of(const struct reply *r)
{
    const Dra__NodePrepareResourcesResponse *m =
        (const Dra__NodePrepareResourcesResponse *)r->m;
    if (r->status != GRPC_OK)
        fail_msg("%s", r->message);
    assert_int_equal(m->n_claims, 1);
    return m->claims[0]->value;
}

static void unprepare(struct site *s, const struct claim *c)
{
    struct reply r = prepare_by(s, c, DRA "NodeUnprepareResources",
                                &dra__node_unprepare_resources_response__descriptor);
    const Dra__NodeUnprepareResourcesResponse *m =
        (const Dra__NodeUnprepareResourcesResponse *)r.m;
    assert_int_equal(r.status, GRPC_OK);
    assert_string_equal(m->claims[0]->value->error, "");
    reply_free(&r);
}

/* The device that a claim is prepared with, or the error; in buffer. */
static const char *prepared(struct site *s, const struct claim *c, char buffer[300])
{
    struct reply r = prepare(s, c);
    const Dra__NodePrepareResourceResponse *m = answer_of(&r);
    if (*m->error)
        snprintf(buffer, 300, "error: %s", m->error);
    else
        snprintf(buffer, 300, "%s/%s %s", m->devices[0]->pool_name,
                 m->devices[0]->device_name, m->devices[0]->cdi_device_ids[0]);
    reply_free(&r);
    return buffer;
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

/* ---- tests ---- */

static void test_registration(void **state)
{
    static const char GET[] = "/pluginregistration.Registration/GetInfo";
    static const char TELL[] =
        "/pluginregistration.Registration/NotifyRegistrationStatus";
    struct site s;
    Registration__InfoRequest q = REGISTRATION__INFO_REQUEST__INIT;
    Registration__RegistrationStatus told = REGISTRATION__REGISTRATION_STATUS__INIT;
    open_site(&s);
    struct reply r =
        ask(&s, s.registrar, GET, &q.base, &registration__plugin_info__descriptor);
    const Registration__PluginInfo *info = (const Registration__PluginInfo *)r.m;
    assert_string_equal(info->type, "DRAPlugin");
    assert_string_equal(info->name, "x.example.com");
    assert_int_equal(info->n_supported_versions, 4);
    assert_non_null(strstr(info->endpoint, "/plugins/x.example.com/dra.sock"));
    reply_free(&r);
    told.error = (char *)"not you";
    r = ask(&s, s.registrar, TELL, &told.base,
            &registration__registration_status_response__descriptor);
    assert_int_equal(r.status, GRPC_UNKNOWN);
    assert_string_equal(r.message, "not you");
    assert_false(driver_state(s.driver).registered);
    told.plugin_registered = true;
    r = ask(&s, s.registrar, TELL, &told.base,
            &registration__registration_status_response__descriptor);
    assert_int_equal(r.status, GRPC_OK);
    reply_free(&r);
    assert_true(driver_state(s.driver).registered);
    close_site(&s);
}

static void test_prepare(void **state)
{
    char first[300], again[300];
    struct site s;
    open_site(&s);
    struct claim a = make_claim(&s, "a", "zero", NULL),
                 b = make_claim(&s, "b", "zero", NULL);
    prepared(&s, &a, first);
    assert_non_null(strstr(first, "n/zero "));
    assert_non_null(strstr(first, a.uid));
    assert_string_equal(prepared(&s, &a, again), first);
    assert_int_equal(cdi_files(&s), 1);
    assert_non_null(strstr(prepared(&s, &b, again), "default/a"));
    unprepare(&s, &b);
    unprepare(&s, &a);
    assert_int_equal(cdi_files(&s), 0);
    assert_non_null(strstr(prepared(&s, &b, again), b.uid));
    struct driver_calls_count n = driver_state(s.driver).calls;
    assert_int_equal(n.prepared, 3);
    assert_int_equal(n.prepare_failed, 1);
    assert_int_equal(n.unprepared, 2);
    close_site(&s);
}

static void test_shares(void **state)
{
    static const char SHARE[] = "3a7d4be2-9c3e-4f0a-8d63-0a2c1b9a0001";
    struct site s;
    open_site(&s);
    struct claim c = make_claim(&s, "a", "full", SHARE);
    struct reply r = prepare(&s, &c);
    const Dra__NodePrepareResourceResponse *m = answer_of(&r);
    assert_string_equal(m->error, "");
    assert_int_equal(m->devices[0]->share_case, DRA__DEVICE__SHARE_SHARE_ID);
    assert_string_equal(m->devices[0]->share_id, SHARE);
    reply_free(&r);
    r = prepare_by(&s, &c, DRA_BETA "NodePrepareResources",
                   &dra_v1beta1__node_prepare_resources_response__descriptor);
    const DraV1beta1__NodePrepareResourcesResponse *old =
        (const DraV1beta1__NodePrepareResourcesResponse *)r.m;
    assert_int_equal(old->n_claims, 1);
    assert_string_equal(old->claims[0]->value->devices[0]->device_name, "full");
    reply_free(&r);
    close_site(&s);
}

static void test_unfit(void **state)
{
    struct site s;
    open_site(&s);
    struct claim free = make_claim(&s, "free", NULL, NULL),
                 other = make_claim(&s, "other", "zero", NULL), gone = other;
    snprintf(other.uid, sizeof other.uid, "3a7d4be2-9c3e-4f0a-8d63-0a2c1b9a0b7d");
    snprintf(gone.name, sizeof gone.name, "gone");
    const struct {
        const struct claim *claim;
        const char *says;
    } rows[] = {
        {&free, "prepare resource claims: get resource claims: claim default/free not "
                "allocated"},
        {&other, "prepare resource claims: get resource claims: claim default/other got "
                 "replaced"},
        {&gone, "prepare resource claims: get resource claims: retrieve claim "
                "default/gone: "},
    };
    for (size_t i = 0; i < UNIT_COUNT(rows); i++) {
        struct reply r = prepare(&s, rows[i].claim);
        ROW(rows[i].says, r.status == GRPC_UNKNOWN);
        if (strncmp(r.message, rows[i].says, strlen(rows[i].says)) != 0)
            fail_msg("%s", r.message);
    }
    assert_int_equal(cdi_files(&s), 0);
    close_site(&s);
}

/* What was prepared is so for the next process too, whoever emptied the directory. */
static void test_restart(void **state)
{
    char before[300], after[300];
    struct site s;
    open_site(&s);
    struct claim a = make_claim(&s, "a", "zero", NULL),
                 b = make_claim(&s, "b", "zero", NULL);
    prepared(&s, &a, before);
    stop_driver(&s);
    assert_true(disk_remove_tree(s.cdi, NULL));
    start_driver(&s);
    assert_int_equal(cdi_files(&s), 1);
    assert_non_null(strstr(prepared(&s, &b, after), "default/a"));
    assert_string_equal(prepared(&s, &a, after), before);
    close_site(&s);
}

/* ---- health ---- */

struct health {
    unsigned reports;
    int plug; /* -1: not told yet */
    bool ended;
};

static void on_health(void *ctx, struct str bytes)
{
    struct health *h = ctx;
    Health__NodeWatchResourcesResponse *m = health__node_watch_resources_response__unpack(
        NULL, bytes.n, (const uint8_t *)bytes.p);
    assert_non_null(m);
    h->reports++;
    for (size_t i = 0; i < m->n_devices; i++) {
        assert_string_equal(m->devices[i]->device->pool_name, "n");
        assert_int_equal(m->devices[i]->health_check_timeout_seconds, 30);
        if (strcmp(m->devices[i]->device->device_name, "plug") == 0)
            h->plug = (int)m->devices[i]->health;
    }
    health__node_watch_resources_response__free_unpacked(m, NULL);
}

static void on_health_end(void *ctx, const struct grpc_end *end)
{
    ((struct health *)ctx)->ended = true;
}

static bool is_sick(void *ctx)
{
    return ((struct health *)ctx)->plug == HEALTH__HEALTH_STATUS__UNHEALTHY;
}

static bool is_well(void *ctx)
{
    return ((struct health *)ctx)->plug == HEALTH__HEALTH_STATUS__HEALTHY;
}

static struct grpc_call *watch(struct site *s, const char *method, struct health *h)
{
    static const struct grpc_ops ops = {on_health, on_health_end};
    Health__NodeWatchResourcesRequest q = HEALTH__NODE_WATCH_RESOURCES_REQUEST__INIT;
    *h = (struct health){.plug = -1};
    struct grpc_call *call =
        grpc_start(s->kubelet, &(struct grpc_opts){.method = method}, &ops, h);
    assert_non_null(call);
    grpc_send(call, &q.base);
    grpc_finish(call);
    return call;
}

static void test_health(void **state)
{
    struct site s;
    struct health h, old;
    char plug[64], error[300];
    open_site(&s);
    snprintf(plug, sizeof plug, "%s/plug", s.dir);
    watch(&s, "/v1.DRAResourceHealth/NodeWatchResources", &h);
    struct grpc_call *other =
        watch(&s, "/v1alpha1.DRAResourceHealth/NodeWatchResources", &old);
    cluster_await(&s.c, is_sick, &h, "the device that is not there is sick");
    cluster_await(&s.c, is_sick, &old, "and by the older service");
    struct claim c = make_claim(&s, "a", "plug", NULL);
    assert_non_null(strstr(prepared(&s, &c, error), plug));
    assert_int_equal(symlink("/dev/zero", plug), 0);
    cluster_await(&s.c, is_well, &h, "it is plugged in");
    assert_non_null(strstr(prepared(&s, &c, error), "n/plug "));
    grpc_cancel(other);
    assert_int_equal(unlink(plug), 0);
    cluster_await(&s.c, is_sick, &h, "it is unplugged");
    stop_driver(&s);
    close_site(&s);
}

/* ---- ends ---- */

/* Calls that were not answered yet are, in whatever state the driver goes down. */
static void test_end_while_asked(void **state)
{
    struct site s;
    open_site(&s);
    struct claim c = make_claim(&s, "a", "zero", NULL);
    struct reply replies[8] = {{.done = false}};
    Dra__Claim claim = DRA__CLAIM__INIT, *claims[] = {&claim};
    Dra__NodePrepareResourcesRequest q = DRA__NODE_PREPARE_RESOURCES_REQUEST__INIT;
    claim.namespace_ = (char *)"default";
    claim.name = c.name;
    claim.uid = c.uid;
    q.n_claims = 1;
    q.claims = claims;
    for (size_t i = 0; i < UNIT_COUNT(replies); i++)
        grpc_ask(s.kubelet, &(struct grpc_opts){.method = DRA "NodePrepareResources"},
                 &q.base, &dra__node_prepare_resources_response__descriptor, on_reply,
                 &replies[i]);
    for (unsigned rounds = 0; rounds < 3; rounds++)
        net_loop_run_once(s.c.loop, false);
    driver_free(s.driver);
    s.driver = NULL;
    for (size_t i = 0; i < UNIT_COUNT(replies); i++) {
        cluster_await(&s.c, is_done, &replies[i], "an answer");
        reply_free(&replies[i]);
    }
    net_client_close(s.kubelet);
    net_client_close(s.registrar);
    close_site(&s);
}

/* Of a claim whose unprepare was answered nothing is left, also where its prepare was
 * still being looked into. */
static void test_unprepare_overtakes(void **state)
{
    struct site s;
    open_site(&s);
    struct claim c = make_claim(&s, "a", "zero", NULL);
    struct reply replies[2] = {{.done = false}};
    Dra__Claim claim = DRA__CLAIM__INIT, *claims[] = {&claim};
    Dra__NodePrepareResourcesRequest q = DRA__NODE_PREPARE_RESOURCES_REQUEST__INIT;
    claim.namespace_ = (char *)"default";
    claim.name = c.name;
    claim.uid = c.uid;
    q.n_claims = 1;
    q.claims = claims;
    grpc_ask(s.kubelet, &(struct grpc_opts){.method = DRA "NodePrepareResources"},
             &q.base, &dra__node_prepare_resources_response__descriptor, on_reply,
             &replies[0]);
    grpc_ask(s.kubelet, &(struct grpc_opts){.method = DRA "NodeUnprepareResources"},
             &q.base, &dra__node_unprepare_resources_response__descriptor, on_reply,
             &replies[1]);
    cluster_await(&s.c, is_done, &replies[0], "an answer to prepare");
    cluster_await(&s.c, is_done, &replies[1], "an answer to unprepare");
    assert_int_equal(replies[1].status, GRPC_OK);
    assert_int_equal(cdi_files(&s), 0);
    assert_string_equal(replies[0].message,
                        "prepare resource claims: claim default/a is being unprepared");
    reply_free(&replies[0]);
    reply_free(&replies[1]);
    close_site(&s);
}

static void test_odd_names(void **state)
{
    static const char *const names[][2] = {
        {"default", ""},
        {"default", "a/status"},
        {"default", "a?x"},
        {"default", "a b"},
        {"..", "a"},
        {"", "a"},
        {"default", "A\r\nHost: x"},
    };
    struct site s;
    open_site(&s);
    for (size_t i = 0; i < UNIT_COUNT(names); i++) {
        Dra__Claim claim = DRA__CLAIM__INIT, *claims[] = {&claim};
        Dra__NodePrepareResourcesRequest q = DRA__NODE_PREPARE_RESOURCES_REQUEST__INIT;
        claim.namespace_ = (char *)names[i][0];
        claim.name = (char *)names[i][1];
        claim.uid = (char *)"u";
        q.n_claims = 1;
        q.claims = claims;
        struct reply r = ask(&s, s.kubelet, DRA "NodePrepareResources", &q.base,
                             &dra__node_prepare_resources_response__descriptor);
        ROW(names[i][1], r.status == GRPC_UNKNOWN);
        ROW(names[i][1], strstr(r.message, "no claim has such a name") != NULL);
    }
    close_site(&s);
}

/* Nothing is made for a driver that cannot be. */
static void test_unfit_options(void **state)
{
    static const char LONG[] =
        "a.very.long.name.of.a.driver.that.has.sixty.four.bytes.in.it.abc";
    struct site s;
    struct err e = ERR_INIT;
    open_site(&s);
    stop_driver(&s);
    const struct {
        struct str driver, node, instance, kubelet_dir, cdi_dir;
    } rows[] = {
        {STR("../x"), s.opts.node, STR(""), s.opts.kubelet_dir, s.opts.cdi_dir},
        {STR(""), s.opts.node, STR(""), s.opts.kubelet_dir, s.opts.cdi_dir},
        {STR(LONG), s.opts.node, STR(""), s.opts.kubelet_dir, s.opts.cdi_dir},
        {STR("y"), STR("N_1"), STR(""), s.opts.kubelet_dir, s.opts.cdi_dir},
        {STR("y"), s.opts.node, STR("../u"), s.opts.kubelet_dir, s.opts.cdi_dir},
        {STR("y"), s.opts.node, STR(""), STR("kubelet"), s.opts.cdi_dir},
        {STR("y"), s.opts.node, STR(""), s.opts.kubelet_dir, STR("run/cdi")},
    };
    assert_true(disk_remove_tree(s.cdi, NULL));
    for (size_t i = 0; i < UNIT_COUNT(rows); i++) {
        struct driver_opts o = s.opts;
        struct driver_discover_opts discover = {.driver = rows[i].driver};
        o.driver = rows[i].driver;
        o.node = rows[i].node;
        o.instance = rows[i].instance;
        o.kubelet_dir = rows[i].kubelet_dir;
        o.cdi_dir = rows[i].cdi_dir;
        struct driver_backend *b = driver_backend_file_new(s.devices, &discover, &e);
        assert_non_null(b);
        ROW(rows[i].driver.p, !driver_new(s.c.client, b, &o, &e));
        ROW(rows[i].driver.p, e.code == ERR_INVALID);
        err_release(&e);
    }
    assert_int_equal(access(s.cdi, F_OK), -1);
    close_site(&s);
}

/* One that was started by mistake, with other devices, takes nothing from the first. */
static void test_second_by_mistake(void **state)
{
    struct site s;
    struct err e = ERR_INIT;
    char text[300], other[96];
    open_site(&s);
    struct claim c = make_claim(&s, "a", "zero", NULL);
    assert_null(strstr(prepared(&s, &c, text), "error"));
    snprintf(other, sizeof other, "%s/other.yaml", s.dir);
    assert_true(disk_write(other, STR("devices: [{name: b}]\n"), 0600, NULL));
    struct driver_discover_opts discover = {.driver = s.opts.driver};
    struct driver_backend *b = driver_backend_file_new(other, &discover, &e);
    struct driver *second = driver_new(s.c.client, b, &s.opts, &e);
    assert_null(second);
    assert_non_null(strstr(err_text(&e), "another instance of the driver answers there"));
    err_release(&e);
    assert_int_equal(cdi_files(&s), 1);
    assert_null(strstr(prepared(&s, &c, text), "error"));
    close_site(&s);
}

/* ---- a back end that takes its time ---- */

struct slow {
    struct driver_backend base, *inner;
    atomic_bool asked, go;
};

static void slow_free(struct driver_backend *b)
{
    driver_backend_free(((struct slow *)b)->inner);
}

static bool slow_discover(struct driver_backend *b, struct arena *a,
                          struct driver_inventory *out, struct err *e)
{
    struct driver_backend *inner = ((struct slow *)b)->inner;
    return inner->ops->discover(inner, a, out, e);
}

/* Until it may go on, and some more. */
static bool slow_prepare(struct driver_backend *b, const struct driver_use *u,
                         struct arena *a, struct cdi_edits *edits, struct str *state,
                         struct err *e)
{
    struct slow *slow = (struct slow *)b;
    const struct timespec some = {.tv_nsec = 50 * 1000 * 1000};
    slow->asked = true;
    while (!slow->go)
        nanosleep(&some, NULL);
    nanosleep(&some, NULL);
    return true;
}

static bool is_asked(void *ctx)
{
    return ((struct slow *)ctx)->asked;
}

static void set_flag(void *ctx)
{
    *(bool *)ctx = true;
}

static bool is_set(void *ctx)
{
    return *(bool *)ctx;
}

/* A second instance, if only by mistake, would wait. */
static bool is_locked(struct site *s)
{
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    char path[96];
    snprintf(path, sizeof path, "%s/plugins/x.example.com/serialize.lock", s->dir);
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    bool taken = fcntl(fd, F_OFD_SETLK, &whole) < 0;
    close(fd);
    return taken;
}

/* The next discovery waits behind a claim that is being prepared, and never begins. */
static void test_end_before_discovery(void **state)
{
    static const struct driver_backend_ops ops = {.name = "slow",
                                                  .free = slow_free,
                                                  .discover = slow_discover,
                                                  .prepare = slow_prepare};
    struct site s;
    struct err e = ERR_INIT;
    struct reply r = {.done = false};
    open_site(&s);
    stop_driver(&s);
    struct driver_discover_opts discover = {.driver = s.opts.driver};
    struct slow slow = {.base = {&ops}};
    slow.inner = driver_backend_file_new(s.devices, &discover, &e);
    serve_with(&s, &slow.base);
    struct claim c = make_claim(&s, "a", "zero", NULL);
    Dra__Claim claim = DRA__CLAIM__INIT, *claims[] = {&claim};
    Dra__NodePrepareResourcesRequest q = DRA__NODE_PREPARE_RESOURCES_REQUEST__INIT;
    claim.namespace_ = (char *)"default";
    claim.name = c.name;
    claim.uid = c.uid;
    q.n_claims = 1;
    q.claims = claims;
    grpc_ask(s.kubelet, &(struct grpc_opts){.method = DRA "NodePrepareResources"},
             &q.base, &dra__node_prepare_resources_response__descriptor, on_reply, &r);
    cluster_await(&s.c, is_asked, &slow, "the claim is on the worker");
    assert_true(is_locked(&s));
    bool later = false;
    net_timer_start(s.c.loop, 4 * s.opts.discover_ms, 0, set_flag, &later);
    cluster_await(&s.c, is_set, &later, "a discovery is due");
    slow.go = true;
    driver_free(s.driver);
    s.driver = NULL;
    cluster_await(&s.c, is_done, &r, "an answer");
    reply_free(&r);
    net_client_close(s.kubelet);
    net_client_close(s.registrar);
    close_site(&s);
}

static bool is_published(void *ctx)
{
    return driver_state(((struct site *)ctx)->driver).publish.settled;
}

static void test_publishes(void **state)
{
    struct site s;
    open_site(&s);
    cluster_await(&s.c, is_published, &s, "the slices are published");
    struct doc d = cluster_ask(&s.c, "GET", "/apis/resource.k8s.io/v1/resourceslices",
                               NULL, "", NULL);
    assert_int_equal(doc_get(&d, "items")->n, 1);
    assert_int_equal(doc_path(&doc_get(&d, "items")->items[0], "spec.devices")->n, 3);
    close_site(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_registration),
        cmocka_unit_test(test_publishes),
        cmocka_unit_test(test_prepare),
        cmocka_unit_test(test_shares),
        cmocka_unit_test(test_unfit),
        cmocka_unit_test(test_restart),
        cmocka_unit_test(test_health),
        cmocka_unit_test(test_end_while_asked),
        cmocka_unit_test(test_unprepare_overtakes),
        cmocka_unit_test(test_odd_names),
        cmocka_unit_test(test_unfit_options),
        cmocka_unit_test(test_second_by_mistake),
        cmocka_unit_test(test_end_before_discovery),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
