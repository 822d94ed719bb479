/* SPDX-License-Identifier: Apache-2.0 */
#include "scripted.h"

#include <ftw.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "grpc/dra.pb-c.h"
#include "grpc/dra_v1beta1.pb-c.h"
#include "grpc/health.pb-c.h"
#include "grpc/registration.pb-c.h"
#include "unit/unit.h"

enum { PATIENCE_MS = 60000 };

/* ---- the place ---- */

void place_open(struct place *p, struct net_loop *loop)
{
    char path[80];
    *p = (struct place){.loop = loop ? loop : net_loop_new(NULL),
                        .dir = "/tmp/dray-node-XXXXXX"};
    assert_non_null(mkdtemp(p->dir));
    snprintf(path, sizeof path, "%s/plugins", p->dir);
    assert_int_equal(mkdir(path, 0755), 0);
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
    return remove(path);
}

void place_close(struct place *p)
{
    assert_int_equal(nftw(p->dir, remove_one, 8, FTW_DEPTH | FTW_PHYS), 0);
}

static void on_tick(void *ctx)
{
}

void place_await(struct place *p, bool (*so)(void *ctx), void *ctx, const char *what)
{
    uint64_t until = net_now_ms(p->loop) + PATIENCE_MS;
    struct net_timer *tick = net_timer_start(p->loop, 20, 20, on_tick, NULL);
    while (!so(ctx)) {
        if (net_now_ms(p->loop) > until)
            fail_msg("waited in vain: %s", what);
        net_loop_run_once(p->loop, true);
    }
    net_timer_stop(tick);
}

/* ---- registration ---- */

static void endpoint_path(const struct scripted *s, char path[200])
{
    if (s->endpoint)
        snprintf(path, 200, "%s/%s", s->place->dir, s->endpoint);
    else
        snprintf(path, 200, "%s/plugins/%s.sock", s->place->dir, s->name);
}

static void on_info(void *ctx, struct grpc_request *r, const ProtobufCMessage *q)
{
    struct scripted *s = ctx;
    char path[200];
    Registration__PluginInfo m = REGISTRATION__PLUGIN_INFO__INIT;
    s->infos++;
    endpoint_path(s, path);
    m.type = (char *)s->type;
    m.name = (char *)s->name;
    m.endpoint = s->endpoint && !*s->endpoint ? (char *)"" : path;
    m.supported_versions = (char **)s->versions;
    while (m.n_supported_versions < UNIT_COUNT(s->versions) &&
           s->versions[m.n_supported_versions])
        m.n_supported_versions++;
    grpc_request_answer(r, &m.base);
}

static void on_status(void *ctx, struct grpc_request *r, const ProtobufCMessage *q)
{
    struct scripted *s = ctx;
    const Registration__RegistrationStatus *told =
        (const Registration__RegistrationStatus *)q;
    Registration__RegistrationStatusResponse m =
        REGISTRATION__REGISTRATION_STATUS_RESPONSE__INIT;
    if (told->plugin_registered) {
        s->welcomes++;
    } else {
        s->refusals++;
        snprintf(s->told, sizeof s->told, "%s", told->error);
    }
    if (s->refuses)
        grpc_request_fail(r, GRPC_UNKNOWN, str_from(s->refuses));
    else
        grpc_request_answer(r, &m.base);
}

static struct grpc_server *serve(struct scripted *s, const char *path,
                                 const struct grpc_method *methods, uint32_t n)
{
    char address[220];
    struct err e = ERR_INIT;
    snprintf(address, sizeof address, "unix:%s", path);
    struct grpc_server *server =
        grpc_server_new(s->place->loop, address, methods, n, s, &e);
    if (!server)
        fail_msg("%s", err_text(&e));
    return server;
}

void scripted_register(struct scripted *s, const char *reg)
{
    static const struct grpc_method METHODS[] = {
        {"/pluginregistration.Registration/GetInfo",
         &registration__info_request__descriptor, on_info},
        {"/pluginregistration.Registration/NotifyRegistrationStatus",
         &registration__registration_status__descriptor, on_status},
    };
    char path[200];
    snprintf(path, sizeof path, "%s/%s", s->place->dir, reg);
    s->registration = serve(s, path, METHODS, UNIT_COUNT(METHODS));
}

void scripted_unregister(struct scripted *s)
{
    grpc_server_free(s->registration);
    s->registration = NULL;
}

/* ---- preparing ---- */

static void write_down(struct scripted *s, const char *what, Dra__Claim *const *claims,
                       size_t n)
{
    size_t at = strlen(s->log);
    at += (size_t)snprintf(s->log + at, sizeof s->log - at, "%s ", what);
    for (size_t i = 0; i < n; i++)
        at += (size_t)snprintf(s->log + at, sizeof s->log - at, "%s%s/%s",
                               i > 0 ? "," : "", claims[i]->namespace_, claims[i]->name);
    snprintf(s->log + at, sizeof s->log - at, ";");
}

static void answer_prepare(struct scripted *s, struct grpc_request *r,
                           const Dra__NodePrepareResourcesRequest *q)
{
    enum { MAX = 64 };
    Dra__NodePrepareResourcesResponse m = DRA__NODE_PREPARE_RESOURCES_RESPONSE__INIT;
    Dra__NodePrepareResourcesResponse__ClaimsEntry entries[MAX], *list[MAX];
    Dra__NodePrepareResourceResponse values[MAX];
    Dra__Device devices[MAX], *device_list[MAX];
    char cdi[MAX][200], *cdi_list[MAX], *requests[] = {(char *)"r"};
    for (size_t i = 0; i < q->n_claims + (s->other != NULL); i++) {
        dra__node_prepare_resources_response__claims_entry__init(&entries[i]);
        dra__node_prepare_resource_response__init(&values[i]);
        dra__device__init(&devices[i]);
        entries[i].key = i < q->n_claims ? q->claims[i]->uid : (char *)s->other;
        entries[i].value = &values[i];
        snprintf(cdi[i], sizeof cdi[i], "%s/gpu=%s", s->name, entries[i].key);
        cdi_list[i] = cdi[i];
        devices[i].pool_name = (char *)"n";
        devices[i].device_name = (char *)s->name;
        devices[i].n_request_names = 1;
        devices[i].request_names = requests;
        devices[i].n_cdi_device_ids = 1;
        devices[i].cdi_device_ids = &cdi_list[i];
        device_list[i] = &devices[i];
        values[i].n_devices = 1;
        values[i].devices = &device_list[i];
        values[i].error = (char *)(s->error ? s->error : "");
        list[m.n_claims++] = &entries[i];
    }
    m.n_claims -= s->skips;
    m.claims = list;
    grpc_request_answer(r, &m.base);
}

static void answer_unprepare(struct scripted *s, struct grpc_request *r,
                             const Dra__NodeUnprepareResourcesRequest *q)
{
    enum { MAX = 64 };
    Dra__NodeUnprepareResourcesResponse m = DRA__NODE_UNPREPARE_RESOURCES_RESPONSE__INIT;
    Dra__NodeUnprepareResourcesResponse__ClaimsEntry entries[MAX], *list[MAX];
    Dra__NodeUnprepareResourceResponse values[MAX];
    for (size_t i = 0; i < q->n_claims; i++) {
        dra__node_unprepare_resources_response__claims_entry__init(&entries[i]);
        dra__node_unprepare_resource_response__init(&values[i]);
        entries[i].key = q->claims[i]->uid;
        entries[i].value = &values[i];
        values[i].error = (char *)(s->error ? s->error : "");
        list[m.n_claims++] = &entries[i];
    }
    m.n_claims -= s->skips;
    m.claims = list;
    grpc_request_answer(r, &m.base);
}

static void answer(struct scripted *s, struct grpc_request *r, const ProtobufCMessage *q)
{
    if (s->fails)
        grpc_request_fail(r, GRPC_UNKNOWN, str_from(s->fails));
    else if (q->descriptor == &dra__node_prepare_resources_request__descriptor)
        answer_prepare(s, r, (const Dra__NodePrepareResourcesRequest *)q);
    else
        answer_unprepare(s, r, (const Dra__NodeUnprepareResourcesRequest *)q);
}

static void on_call(struct scripted *s, struct grpc_request *r, const ProtobufCMessage *q)
{
    if (!s->silent) {
        answer(s, r, q);
        return;
    }
    assert_true(s->nheld < UNIT_COUNT(s->held));
    s->held_messages[s->nheld] = q;
    s->held[s->nheld++] = r;
}

static void on_prepare(void *ctx, struct grpc_request *r, const ProtobufCMessage *m)
{
    const Dra__NodePrepareResourcesRequest *q =
        (const Dra__NodePrepareResourcesRequest *)m;
    write_down(ctx, "prepare", q->claims, q->n_claims);
    on_call(ctx, r, m);
}

static void on_prepare_old(void *ctx, struct grpc_request *r, const ProtobufCMessage *m)
{
    const Dra__NodePrepareResourcesRequest *q =
        (const Dra__NodePrepareResourcesRequest *)m;
    write_down(ctx, "prepare-v1beta1", q->claims, q->n_claims);
    on_call(ctx, r, m); /* without shares the bytes are the same */
}

static void on_unprepare(void *ctx, struct grpc_request *r, const ProtobufCMessage *m)
{
    const Dra__NodeUnprepareResourcesRequest *q =
        (const Dra__NodeUnprepareResourcesRequest *)m;
    write_down(ctx, "unprepare", q->claims, q->n_claims);
    on_call(ctx, r, m);
}

void scripted_speak(struct scripted *s)
{
    s->silent = false;
    for (unsigned i = 0; i < s->nheld; i++)
        answer(s, s->held[i], s->held_messages[i]);
    s->nheld = 0;
}

/* ---- health ---- */

static void on_watch(void *ctx, struct grpc_request *r, const ProtobufCMessage *m)
{
    struct scripted *s = ctx;
    s->watches++;
    if (s->fails) {
        grpc_request_fail(r, GRPC_UNIMPLEMENTED, str_from(s->fails));
        return;
    }
    assert_null(s->watch);
    s->watch = r;
}

/* ---- the whole ---- */

void scripted_listen(struct scripted *s)
{
#define V1 "/k8s.io.kubelet.pkg.apis.dra.v1.DRAPlugin/"
#define V1BETA1 "/k8s.io.kubelet.pkg.apis.dra.v1beta1.DRAPlugin/"
    static const struct grpc_method METHODS[] = {
        {V1 "NodePrepareResources", &dra__node_prepare_resources_request__descriptor,
         on_prepare},
        {V1 "NodeUnprepareResources", &dra__node_unprepare_resources_request__descriptor,
         on_unprepare},
        {V1BETA1 "NodePrepareResources", &dra__node_prepare_resources_request__descriptor,
         on_prepare_old},
        {V1BETA1 "NodeUnprepareResources",
         &dra__node_unprepare_resources_request__descriptor, on_unprepare},
        {"/v1.DRAResourceHealth/NodeWatchResources",
         &health__node_watch_resources_request__descriptor, on_watch},
    };
    char path[200];
    endpoint_path(s, path);
    s->dra = serve(s, path, METHODS, UNIT_COUNT(METHODS));
}

void scripted_hang_up(struct scripted *s)
{
    if (s->watch)
        grpc_request_end(s->watch);
    s->watch = NULL;
    for (unsigned i = 0; i < s->nheld; i++)
        grpc_request_fail(s->held[i], GRPC_UNAVAILABLE, STR("going down"));
    s->nheld = 0;
    grpc_server_free(s->dra);
    s->dra = NULL;
}

void scripted_init(struct scripted *s, struct place *p, const char *name)
{
    *s = (struct scripted){
        .place = p, .name = name, .type = "DRAPlugin", .versions = {"v1.DRAPlugin"}};
}

void scripted_fini(struct scripted *s)
{
    if (s->dra)
        scripted_hang_up(s);
    if (s->registration)
        scripted_unregister(s);
}
