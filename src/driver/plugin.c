/* SPDX-License-Identifier: Apache-2.0 */
#include "driver/plugin.h"

#include <stdlib.h>

#include "base/mem.h"
#include "grpc/dra.pb-c.h"
#include "grpc/health.pb-c.h"
#include "grpc/registration.pb-c.h"

struct driver_plugin {
    struct driver_plugin_opts opts;
    struct grpc_server *dra, *registration;
    struct arena arena;
    bool registered;
};

/* ---- registration ---- */

/* As a kubelet is told of them: the first that it knows is taken, so newest first. */
static const char *const SERVICES[] = {"v1.DRAPlugin", "v1beta1.DRAPlugin",
                                       "v1.DRAResourceHealth",
                                       "v1alpha1.DRAResourceHealth"};

static void get_info(void *ctx, struct grpc_request *r, const ProtobufCMessage *m)
{
    struct driver_plugin *p = ctx;
    Registration__PluginInfo info = REGISTRATION__PLUGIN_INFO__INIT;
    info.type = (char *)"DRAPlugin";
    info.name = (char *)p->opts.driver.p;
    info.endpoint = (char *)p->opts.sockets.dra.p;
    info.n_supported_versions = sizeof SERVICES / sizeof *SERVICES;
    info.supported_versions = (char **)SERVICES;
    grpc_request_answer(r, &info.base);
}

static void say_status(struct driver_plugin *p, const Registration__RegistrationStatus *s)
{
    struct arena a = {0};
    struct str line =
        s->plugin_registered
            ? STR("registered with the kubelet")
            : arena_printf(&a, "the kubelet does not take the driver: %s", s->error);
    if (p->opts.log)
        p->opts.log(p->opts.log_ctx, line.p);
    arena_fini(&a);
}

static void notify(void *ctx, struct grpc_request *r, const ProtobufCMessage *m)
{
    struct driver_plugin *p = ctx;
    const Registration__RegistrationStatus *s =
        (const Registration__RegistrationStatus *)m;
    Registration__RegistrationStatusResponse ok =
        REGISTRATION__REGISTRATION_STATUS_RESPONSE__INIT;
    if (s->plugin_registered != p->registered || !s->plugin_registered)
        say_status(p, s);
    p->registered = s->plugin_registered;
    if (p->registered)
        grpc_request_answer(r, &ok.base);
    else
        grpc_request_fail(r, GRPC_UNKNOWN, str_from(s->error));
}

static const struct grpc_method REGISTRATION[] = {
    {"/pluginregistration.Registration/GetInfo", &registration__info_request__descriptor,
     get_info},
    {"/pluginregistration.Registration/NotifyRegistrationStatus",
     &registration__registration_status__descriptor, notify},
};

/* ---- DRA and health ---- */

static void prepare(void *ctx, struct grpc_request *r, const ProtobufCMessage *m)
{
    driver_calls_prepare(((struct driver_plugin *)ctx)->opts.calls, r, m);
}

static void prepare_v1beta1(void *ctx, struct grpc_request *r, const ProtobufCMessage *m)
{
    driver_calls_prepare_v1beta1(((struct driver_plugin *)ctx)->opts.calls, r, m);
}

static void unprepare(void *ctx, struct grpc_request *r, const ProtobufCMessage *m)
{
    driver_calls_unprepare(((struct driver_plugin *)ctx)->opts.calls, r, m);
}

static void watch(void *ctx, struct grpc_request *r, const ProtobufCMessage *m)
{
    driver_watchers_watch(((struct driver_plugin *)ctx)->opts.watchers, r);
}

#define SERVICE "k8s.io.kubelet.pkg.apis.dra."
static const struct grpc_method DRA[] = {
    {"/" SERVICE "v1.DRAPlugin/NodePrepareResources",
     &dra__node_prepare_resources_request__descriptor, prepare},
    {"/" SERVICE "v1beta1.DRAPlugin/NodePrepareResources",
     &dra__node_prepare_resources_request__descriptor, prepare_v1beta1},
    {"/" SERVICE "v1.DRAPlugin/NodeUnprepareResources",
     &dra__node_unprepare_resources_request__descriptor, unprepare},
    {"/" SERVICE "v1beta1.DRAPlugin/NodeUnprepareResources",
     &dra__node_unprepare_resources_request__descriptor, unprepare},
    {"/v1.DRAResourceHealth/NodeWatchResources",
     &health__node_watch_resources_request__descriptor, watch},
    {"/v1alpha1.DRAResourceHealth/NodeWatchResources",
     &health__node_watch_resources_request__descriptor, watch},
};
#undef SERVICE

static struct grpc_server *serve(struct net_loop *l, struct driver_plugin *p,
                                 struct str path, const struct grpc_method *methods,
                                 uint32_t n, struct err *e)
{
    struct str address = arena_printf(&p->arena, "unix:%.*s", STR_ARG(path));
    return grpc_server_new(l, address.p, methods, n, p, e);
}

struct driver_plugin *driver_plugin_new(struct net_loop *l,
                                        const struct driver_plugin_opts *o, struct err *e)
{
    struct driver_plugin *p = mem_zalloc(sizeof *p);
    p->opts = *o;
    p->opts.driver = arena_str(&p->arena, o->driver);
    p->opts.sockets.dra = arena_str(&p->arena, o->sockets.dra);
    p->dra = serve(l, p, o->sockets.dra, DRA, sizeof DRA / sizeof *DRA, e);
    if (p->dra)
        p->registration = serve(l, p, o->sockets.registration, REGISTRATION,
                                sizeof REGISTRATION / sizeof *REGISTRATION, e);
    if (p->registration)
        return p;
    driver_plugin_free(p);
    return NULL;
}

void driver_plugin_free(struct driver_plugin *p)
{
    if (!p)
        return;
    grpc_server_free(p->registration);
    grpc_server_free(p->dra);
    arena_fini(&p->arena);
    free(p);
}

bool driver_plugin_registered(const struct driver_plugin *p)
{
    return p->registered;
}
