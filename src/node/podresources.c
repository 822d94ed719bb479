/* SPDX-License-Identifier: Apache-2.0 */
#include "node/podresources.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "base/vec.h"
#include "grpc/serve.h"
#include "node/podresources_make.h"

enum { PER_SECOND = 100, BURST = 10 };

struct podresources {
    struct podresources_opts opts;
    struct grpc_server *server;
    uint64_t tokens; /* thousandths of a request that may be made now */
    uint64_t at_ms;
};

/* ---- not too often ---- */

static bool may_ask(struct podresources *p)
{
    uint64_t now = net_now_ms(p->opts.loop), most = BURST * 1000;
    uint64_t past = now - p->at_ms;
    p->at_ms = now;
    p->tokens += past < most ? past * PER_SECOND : most;
    if (p->tokens > most)
        p->tokens = most;
    if (p->tokens < 1000)
        return false;
    p->tokens -= 1000;
    return true;
}

static bool is_refused(struct podresources *p, struct grpc_request *r)
{
    if (may_ask(p))
        return false;
    grpc_request_fail(r, GRPC_RESOURCE_EXHAUSTED, STR("rejected by rate limit"));
    return true;
}

/* ---- all pods ---- */

struct list {
    const struct node_claims *claims;
    struct arena a;
    VEC(Podresources__PodResources *) pods;
};

static void add_pod(void *to, const struct doc *pod)
{
    struct list *l = to;
    vec_push_in(&l->a, &l->pods, podresources_make(l->claims, pod, &l->a));
}

static void answer_list(struct podresources *p, struct grpc_request *r,
                        const struct node_claims *claims)
{
    struct list l = {.claims = claims};
    Podresources__ListPodResourcesResponse m =
        PODRESOURCES__LIST_POD_RESOURCES_RESPONSE__INIT;
    if (is_refused(p, r))
        return;
    p->opts.pods(p->opts.ctx, add_pod, &l);
    m.n_pod_resources = l.pods.n;
    m.pod_resources = l.pods.v;
    grpc_request_answer(r, &m.base);
    arena_fini(&l.a);
}

static void on_list(void *ctx, struct grpc_request *r, const ProtobufCMessage *q)
{
    struct podresources *p = ctx;
    answer_list(p, r, p->opts.claims);
}

static void on_list_v1alpha1(void *ctx, struct grpc_request *r, const ProtobufCMessage *q)
{
    answer_list(ctx, r, NULL);
}

/* ---- one pod ---- */

struct wanted {
    const Podresources__GetPodResourcesRequest *q;
    const struct node_claims *claims;
    struct arena a;
    Podresources__PodResources *found;
};

static void take_pod(void *to, const struct doc *pod)
{
    struct wanted *w = to;
    const struct doc *meta = doc_get(pod, "metadata");
    if (!w->found && str_is(doc_get_text(meta, "name"), w->q->pod_name) &&
        str_is(doc_get_text(meta, "namespace"), w->q->pod_namespace))
        w->found = podresources_make(w->claims, pod, &w->a);
}

static void on_get(void *ctx, struct grpc_request *r, const ProtobufCMessage *m)
{
    struct podresources *p = ctx;
    const Podresources__GetPodResourcesRequest *q =
        (const Podresources__GetPodResourcesRequest *)m;
    struct wanted w = {.q = q, .claims = p->opts.claims};
    Podresources__GetPodResourcesResponse answer =
        PODRESOURCES__GET_POD_RESOURCES_RESPONSE__INIT;
    if (is_refused(p, r))
        return;
    p->opts.pods(p->opts.ctx, take_pod, &w);
    answer.pod_resources = w.found;
    if (w.found)
        grpc_request_answer(r, &answer.base);
    else
        grpc_request_fail(r, GRPC_UNKNOWN,
                          arena_printf(&w.a, "pod %s in namespace %s not found",
                                       q->pod_name, q->pod_namespace));
    arena_fini(&w.a);
}

static void on_allocatable(void *ctx, struct grpc_request *r, const ProtobufCMessage *q)
{
    Podresources__AllocatableResourcesResponse m =
        PODRESOURCES__ALLOCATABLE_RESOURCES_RESPONSE__INIT;
    if (!is_refused(ctx, r))
        grpc_request_answer(r, &m.base);
}

/* ---- beginning and end ---- */

static const struct grpc_method METHODS[] = {
    {"/v1.PodResourcesLister/List", &podresources__list_pod_resources_request__descriptor,
     on_list},
    {"/v1.PodResourcesLister/Get", &podresources__get_pod_resources_request__descriptor,
     on_get},
    {"/v1.PodResourcesLister/GetAllocatableResources",
     &podresources__allocatable_resources_request__descriptor, on_allocatable},
    {"/v1alpha1.PodResourcesLister/List",
     &podresources__list_pod_resources_request__descriptor, on_list_v1alpha1},
};

static bool serve(struct podresources *p, struct err *e)
{
    struct arena a = {0};
    struct str dir = arena_printf(&a, "%s/pod-resources", p->opts.dir);
    struct str address = arena_printf(&a, "unix:%.*s/kubelet.sock", STR_ARG(dir));
    if (mkdir(dir.p, 0750) != 0 && errno != EEXIST)
        err_set(e, ERR_IO, "%s: %m", dir.p);
    else
        p->server = grpc_server_new(p->opts.loop, address.p, METHODS,
                                    sizeof METHODS / sizeof *METHODS, p, e);
    arena_fini(&a);
    return p->server != NULL;
}

struct podresources *podresources_new(const struct podresources_opts *o, struct err *e)
{
    struct podresources *p = mem_zalloc(sizeof *p);
    p->opts = *o;
    p->tokens = BURST * 1000;
    p->at_ms = net_now_ms(o->loop);
    if (serve(p, e))
        return p;
    free(p);
    return NULL;
}

void podresources_free(struct podresources *p)
{
    if (!p)
        return;
    grpc_server_free(p->server);
    free(p);
}
