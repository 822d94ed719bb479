/* SPDX-License-Identifier: Apache-2.0 */
#include "server/rest/pod_refs.h"

#include "store/object.h"
#include "unit/unit.h"

static struct arena arena;

static struct str quote(const char *json)
{
    char *text = arena_strdup(&arena, json);
    for (char *p = text; *p; p++)
        *p = *p == '\'' ? '"' : *p;
    return str_from(text);
}

static struct doc parse(const char *json)
{
    struct doc_source src = {.name = "test", .text = quote(json)};
    struct doc d;
    assert_true(doc_read_json(&src, &arena, &d, NULL));
    return d;
}

/* ---- references of one object ---- */

static void note(void *ctx, enum ref_kind kind, struct str name)
{
    static const char LETTERS[] = "scavr";
    strbuf_addf(ctx, "%c:%.*s ", LETTERS[kind], STR_ARG(name));
}

#define CONTAINER                                                                        \
    "{'envFrom':[{'secretRef':{'name':'ef'}},{'configMapRef':{'name':'cf'}}],'env':["    \
    "{'valueFrom':{'secretKeyRef':{'name':'es'}}},{'valueFrom':{'configMapKeyRef':{"     \
    "'name':'ec'}}},{'value':'x'}]}"

static const struct {
    const char *pod, *refs;
} PODS[] = {
    {"{}", ""},
    {"{'spec':{'serviceAccountName':'bot'}}", "a:bot "},
    {"{'spec':{'imagePullSecrets':[{'name':'p'},{}]}}", "s:p "},
    {"{'spec':{'containers':[" CONTAINER "]}}", "s:ef c:cf s:es c:ec "},
    {"{'spec':{'initContainers':[" CONTAINER "]}}", "s:ef c:cf s:es c:ec "},
    {"{'spec':{'ephemeralContainers':[" CONTAINER "]}}", "s:ef c:cf s:es c:ec "},
    {"{'spec':{'volumes':[{'secret':{'secretName':'a'}},{'configMap':{'name':'b'}},"
     "{'persistentVolumeClaim':{'claimName':'c'}},{'projected':{'sources':[{'secret':{"
     "'name':'d'}},{'configMap':{'name':'e'}},{'serviceAccountToken':{}}]}},{'csi':{"
     "'nodePublishSecretRef':{'name':'f'}}},{'rbd':{'secretRef':{'name':'g'}}}]}}",
     "s:a c:b v:c s:d c:e s:f s:g "},
    {"{'metadata':{'name':'p'},'spec':{'volumes':[{'name':'v','ephemeral':{}}]}}",
     "v:p-v "},
    {"{'spec':{'resourceClaims':[{'name':'x','resourceClaimName':'c'},{'name':'t',"
     "'resourceClaimTemplateName':'t'},{'name':'u','resourceClaimTemplateName':'t'}]},"
     "'status':{'resourceClaimStatuses':[{'name':'t','resourceClaimName':'made'},"
     "{'name':'u'}],'extendedResourceClaimStatus':{'resourceClaimName':'ext'}}}",
     "r:c r:made r:ext "},
    {"{'metadata':{'annotations':{'kubernetes.io/config.mirror':'x'}},'spec':{"
     "'serviceAccountName':'bot','imagePullSecrets':[{'name':'p'}]}}",
     ""},
};

static void test_refs(void **state)
{
    for (size_t i = 0; i < UNIT_COUNT(PODS); i++) {
        struct strbuf b = STRBUF_INIT;
        struct doc d = parse(PODS[i].pod);
        pod_refs_each(&d, note, &b);
        assert_string_equal(strbuf_cstr(&b), PODS[i].refs);
        strbuf_release(&b);
    }
}

static void note_secret(void *ctx, struct str namespace, struct str name)
{
    strbuf_addf(ctx, "%.*s/%.*s ", STR_ARG(namespace), STR_ARG(name));
}

static const struct {
    const char *volume, *secrets;
} VOLUMES[] = {
    {"{'spec':{'claimRef':{'namespace':'n','name':'c'}}}", ""},
    {"{'spec':{'claimRef':{'namespace':'n'},'azureFile':{'secretName':'a'}}}", "n/a "},
    {"{'spec':{'claimRef':{'namespace':'n'},'azureFile':{'secretName':'a',"
     "'secretNamespace':'m'}}}",
     "m/a "},
    {"{'spec':{'claimRef':{'namespace':'n'},'cephfs':{'secretRef':{'name':'a'}}}}",
     "n/a "},
    /* A kubelet has nothing to do with what the controller needs. */
    {"{'spec':{'csi':{'nodeStageSecretRef':{'namespace':'m','name':'a'},"
     "'nodePublishSecretRef':{'namespace':'m','name':'b'},'nodeExpandSecretRef':{"
     "'namespace':'m','name':'c'},'controllerPublishSecretRef':{'namespace':'m','name':"
     "'d'}}}}",
     "m/b m/a m/c "},
};

static void test_volumes(void **state)
{
    for (size_t i = 0; i < UNIT_COUNT(VOLUMES); i++) {
        struct strbuf b = STRBUF_INIT;
        struct doc d = parse(VOLUMES[i].volume);
        volume_secrets_each(&d, note_secret, &b);
        assert_string_equal(strbuf_cstr(&b), VOLUMES[i].secrets);
        strbuf_release(&b);
    }
}

/* ---- the index ---- */

static bool decode(void *ctx, struct str key, struct str value, uint64_t revision,
                   struct cache_object *o)
{
    struct doc_source src = {.name = "test", .text = value};
    struct doc d;
    struct cache_pair *field = ARENA_NEW(&o->arena, struct cache_pair);
    assert_true(doc_read_json(&src, &o->arena, &d, NULL));
    o->json = arena_str(&o->arena, value);
    o->namespace = doc_get_text(doc_get(&d, "metadata"), "namespace");
    o->name = doc_get_text(doc_get(&d, "metadata"), "name");
    struct str node = doc_get_text(doc_get(&d, "spec"), "nodeName");
    *field = (struct cache_pair){STR("spec.nodeName"), node.p ? node : STR("")};
    o->fields = field;
    o->nfields = 1;
    return true;
}

static void send(struct pod_index *x, enum cache_event_kind kind, const char *namespace,
                 const char *name, const char *node, const char *secret)
{
    struct cache_opts opts = {.decode = decode};
    struct str key = arena_printf(&arena, "/registry/core/pods/%s/%s", namespace, name);
    struct str json = quote(arena_printf(&arena,
                                         "{'metadata':{'namespace':'%s','name':'%s'},"
                                         "'spec':{'nodeName':'%s','imagePullSecrets':[{"
                                         "'name':'%s'}]}}",
                                         namespace, name, node, secret)
                                .p);
    struct cache_object *o = object_new(&opts, key, json, 1);
    struct cache_event e = {.kind = kind, .object = o};
    pod_index_event(x, &e);
    cache_object_unref(o);
}

static bool sees(struct pod_index *x, const char *node, const char *namespace,
                 const char *secret)
{
    return pod_index_refers(x, str_from(node), REF_SECRET, str_from(namespace),
                            str_from(secret));
}

static void test_index(void **state)
{
    struct pod_index *x = pod_index_new();
    send(x, CACHE_ADDED, "n", "p", "", "s");
    assert_false(sees(x, "", "n", "s"));
    send(x, CACHE_MODIFIED, "n", "p", "node1", "s"); /* bound */
    assert_true(sees(x, "node1", "n", "s"));
    assert_false(sees(x, "node2", "n", "s"));
    assert_false(sees(x, "node1", "m", "s"));
    assert_false(sees(x, "node1", "n", "other"));
    assert_false(pod_index_refers(x, STR("node1"), REF_CONFIGMAP, STR("n"), STR("s")));
    send(x, CACHE_ADDED, "n", "q", "node1", "t");
    send(x, CACHE_ADDED, "m", "r", "node1", "s");
    assert_true(sees(x, "node1", "m", "s") && sees(x, "node1", "n", "t"));
    send(x, CACHE_DELETED, "n", "p", "node1", "s");
    assert_false(sees(x, "node1", "n", "s"));
    assert_true(sees(x, "node1", "m", "s") && sees(x, "node1", "n", "t"));
    send(x, CACHE_DELETED, "n", "p", "node1", "s"); /* known already */
    send(x, CACHE_DELETED, "n", "q", "node1", "t");
    send(x, CACHE_DELETED, "m", "r", "node1", "s");
    assert_false(sees(x, "node1", "n", "t"));
    send(x, CACHE_ADDED, "n", "p", "node1", "s");
    pod_index_free(x);
}

static int set_up(void **state)
{
    arena_init(&arena);
    return 0;
}

static int tear_down(void **state)
{
    arena_fini(&arena);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refs),
        cmocka_unit_test(test_volumes),
        cmocka_unit_test(test_index),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
