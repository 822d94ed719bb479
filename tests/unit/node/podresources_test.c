/* SPDX-License-Identifier: Apache-2.0 */
#include "node/podresources.h"

#include <stdlib.h>

#include "fake_api.h"
#include "grpc/podresources.pb-c.h"
#include "scripted.h"
#include "unit/unit.h"

struct site {
    struct arena a;
    struct fake_api api;
    struct place place;
    struct plugins *plugins;
    struct node_claims *claims;
    struct podresources *server;
    struct scripted driver;
    struct net_client *client;
    struct doc pods; /* a list */
};

static bool is_active(void *ctx, struct str uid)
{
    return true;
}

static void each_pod(void *ctx, void (*each)(void *to, const struct doc *pod), void *to)
{
    struct site *s = ctx;
    for (uint32_t i = 0; i < s->pods.n; i++)
        each(to, &s->pods.items[i]);
}

static void on_closed(void *ctx, const struct err *why)
{
    fail_msg("%s", err_text(why));
}

static bool is_connected(void *ctx)
{
    struct plugin *p = plugins_find(((struct site *)ctx)->plugins, STR("d.example.com"));
    return p && plugin_connected(p);
}

static void start(struct site *s)
{
    static const struct plugins_ops ops = {.log = NULL};
    struct err e = ERR_INIT;
    s->plugins = plugins_new(s->place.loop, s->place.dir, &ops, s, NULL);
    struct node_claims_opts c = {.client = s->api.client,
                                 .plugins = s->plugins,
                                 .dir = s->place.dir,
                                 .is_active = is_active};
    s->claims = node_claims_new(&c, NULL);
    struct podresources_opts o = {.loop = s->place.loop,
                                  .dir = s->place.dir,
                                  .claims = s->claims,
                                  .pods = each_pod,
                                  .ctx = s};
    s->server = podresources_new(&o, &e);
    if (!s->server)
        fail_msg("%s", err_text(&e));
}

static void open_site(struct site *s)
{
    static const struct net_client_ops ops = {NULL, on_closed};
    char address[100];
    *s = (struct site){.pods = doc_make_list()};
    fake_api_open(&s->api, &s->a);
    place_open(&s->place, s->api.loop);
    start(s);
    snprintf(address, sizeof address, "unix:%s/pod-resources/kubelet.sock", s->place.dir);
    s->client = net_client_new(
        s->place.loop, &(struct net_client_opts){.address = address}, &ops, s, NULL);
    scripted_init(&s->driver, &s->place, "d.example.com");
    scripted_listen(&s->driver);
    scripted_register(&s->driver, "plugins_registry/d.sock");
    place_await(&s->place, is_connected, s, "the driver is connected");
}

static void close_site(struct site *s)
{
    net_client_close(s->client);
    podresources_free(s->server);
    node_claims_free(s->claims);
    plugins_free(s->plugins);
    scripted_fini(&s->driver);
    fake_api_close(&s->api);
    place_close(&s->place);
    arena_fini(&s->a);
}

/* ---- asking ---- */

struct reply {
    bool done;
    enum grpc_status status;
    char message[200];
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

static struct reply ask(struct site *s, const char *method, const ProtobufCMessage *m,
                        const ProtobufCMessageDescriptor *type)
{
    struct reply r = {.done = false};
    assert_non_null(grpc_ask(s->client, &(struct grpc_opts){.method = method}, m, type,
                             on_reply, &r));
    place_await(&s->place, is_done, &r, method);
    return r;
}

static struct reply list(struct site *s, const char *method)
{
    Podresources__ListPodResourcesRequest q =
        PODRESOURCES__LIST_POD_RESOURCES_REQUEST__INIT;
    return ask(s, method, &q.base,
               &podresources__list_pod_resources_response__descriptor);
}

static struct reply get(struct site *s, const char *name)
{
    Podresources__GetPodResourcesRequest q =
        PODRESOURCES__GET_POD_RESOURCES_REQUEST__INIT;
    q.pod_namespace = (char *)"default";
    q.pod_name = (char *)name;
    return ask(s, "/v1.PodResourcesLister/Get", &q.base,
               &podresources__get_pod_resources_response__descriptor);
}

/* "p m[c d.example.com/n/d.example.com d.example.com/gpu=c-uid;]" */
static const char *in_short(struct site *s, const Podresources__PodResources *p)
{
    struct strbuf b = STRBUF_INIT;
    strbuf_addf(&b, "%s/%s", p->namespace_, p->name);
    for (size_t i = 0; i < p->n_containers; i++) {
        const Podresources__ContainerResources *c = p->containers[i];
        strbuf_addf(&b, " %s[", c->name);
        for (size_t k = 0; k < c->n_dynamic_resources; k++) {
            const Podresources__DynamicResource *d = c->dynamic_resources[k];
            strbuf_addf(&b, "%s/%s", d->claim_namespace, d->claim_name);
            for (size_t n = 0; n < d->n_claim_resources; n++)
                strbuf_addf(&b, " %s/%s %s", d->claim_resources[n]->driver_name,
                            d->claim_resources[n]->pool_name,
                            d->claim_resources[n]->cdi_devices[0]->name);
        }
        strbuf_addc(&b, ']');
    }
    const char *kept = arena_strdup(&s->a, strbuf_cstr(&b));
    strbuf_release(&b);
    return kept;
}

static void on_prepared(void *ctx, const struct err *why)
{
    if (why)
        fail_msg("%s", err_text(why));
    *(bool *)ctx = true;
}

static bool is_set(void *ctx)
{
    return *(bool *)ctx;
}

static struct doc read_json(struct site *s, const char *text)
{
    struct doc_source src = {.name = "test", .text = str_from(text)};
    struct doc d;
    assert_true(doc_read_json(&src, &s->a, &d, NULL));
    return d;
}

static void add_pod(struct site *s)
{
    struct doc claim = read_json(
        s, "{\"metadata\":{\"namespace\":\"default\",\"name\":\"c\",\"uid\":\"c-uid\"},"
           "\"status\":{\"allocation\":{\"devices\":{\"results\":[{\"driver\":"
           "\"d.example.com\",\"request\":\"r\"}]}},\"reservedFor\":[{\"uid\":\"p-uid\"}]"
           "}}");
    struct doc pod = read_json(
        s, "{\"metadata\":{\"namespace\":\"default\",\"name\":\"p\",\"uid\":\"p-uid\"},"
           "\"spec\":{\"resourceClaims\":[{\"name\":\"x\",\"resourceClaimName\":\"c\"}],"
           "\"initContainers\":[{\"name\":\"first\"},{\"name\":\"side\","
           "\"restartPolicy\":\"Always\"}],"
           "\"containers\":[{\"name\":\"m\",\"resources\":{\"claims\":[{\"name\":\"x\","
           "\"request\":\"other\"}]}},{\"name\":\"none\"}]}}");
    fake_api_put(&s->api, "resourceclaims", &claim, true);
    doc_append(&s->a, &s->pods, pod);
}

static void prepare_pod(struct site *s)
{
    bool done = false;
    node_claims_prepare(s->claims, &s->pods.items[0], on_prepared, &done);
    place_await(&s->place, is_set, &done, "the claim is prepared");
}

/* ---- tests ---- */

static void test_pods(void **state)
{
    static const char PREPARED[] =
        "default/p side[] m[default/c d.example.com/n d.example.com/gpu=c-uid] none[]";
    struct site s;
    open_site(&s);
    add_pod(&s);
    struct reply r = get(&s, "p");
    assert_int_equal(r.status, GRPC_OK);
    const Podresources__GetPodResourcesResponse *one = (void *)r.m;
    assert_string_equal(in_short(&s, one->pod_resources), "default/p side[] m[] none[]");
    protobuf_c_message_free_unpacked(r.m, NULL);
    prepare_pod(&s);
    r = get(&s, "p");
    one = (void *)r.m;
    assert_string_equal(in_short(&s, one->pod_resources), PREPARED);
    protobuf_c_message_free_unpacked(r.m, NULL);
    r = list(&s, "/v1.PodResourcesLister/List");
    const Podresources__ListPodResourcesResponse *all = (void *)r.m;
    assert_int_equal(all->n_pod_resources, 1);
    assert_string_equal(in_short(&s, all->pod_resources[0]), PREPARED);
    protobuf_c_message_free_unpacked(r.m, NULL);
    r = list(&s, "/v1alpha1.PodResourcesLister/List");
    all = (void *)r.m;
    assert_string_equal(in_short(&s, all->pod_resources[0]), "default/p m[] none[]");
    protobuf_c_message_free_unpacked(r.m, NULL);
    r = get(&s, "q");
    assert_int_equal(r.status, GRPC_UNKNOWN);
    assert_string_equal(r.message, "pod q in namespace default not found");
    close_site(&s);
}

static void test_allocatable(void **state)
{
    struct site s;
    Podresources__AllocatableResourcesRequest q =
        PODRESOURCES__ALLOCATABLE_RESOURCES_REQUEST__INIT;
    open_site(&s);
    struct reply r = ask(&s, "/v1.PodResourcesLister/GetAllocatableResources", &q.base,
                         &podresources__allocatable_resources_response__descriptor);
    assert_int_equal(r.status, GRPC_OK);
    protobuf_c_message_free_unpacked(r.m, NULL);
    close_site(&s);
}

/* Of many at once the first ones are answered. */
static void test_rate(void **state)
{
    enum { N = 200 };
    struct site s;
    Podresources__ListPodResourcesRequest q =
        PODRESOURCES__LIST_POD_RESOURCES_REQUEST__INIT;
    struct reply r[N] = {{.done = false}};
    unsigned answered = 0, refused = 0;
    open_site(&s);
    for (int i = 0; i < N; i++)
        assert_non_null(grpc_ask(
            s.client, &(struct grpc_opts){.method = "/v1.PodResourcesLister/List"},
            &q.base, &podresources__list_pod_resources_response__descriptor, on_reply,
            &r[i]));
    for (int i = 0; i < N; i++) {
        place_await(&s.place, is_done, &r[i], "an answer");
        answered += r[i].status == GRPC_OK;
        refused += r[i].status == GRPC_RESOURCE_EXHAUSTED;
        if (r[i].status == GRPC_RESOURCE_EXHAUSTED)
            assert_string_equal(r[i].message, "rejected by rate limit");
        if (r[i].m)
            protobuf_c_message_free_unpacked(r[i].m, NULL);
    }
    assert_int_equal(answered + refused, N);
    assert_true(answered >= 10);
    close_site(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pods),
        cmocka_unit_test(test_allocatable),
        cmocka_unit_test(test_rate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
