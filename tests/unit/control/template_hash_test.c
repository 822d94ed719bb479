/* SPDX-License-Identifier: Apache-2.0 */
/* Hashes as tests/peers/cmd/templateshape prints them, which asks upstream's own code. */
#include "control/template_hash.h"

#include "unit/unit.h"

static const struct {
    const char *hash;
    int64_t collisions;
    const char *json;
} ROWS[] = {
    {"6b76d74787", -1,
     "{\"metadata\":{\"labels\":{\"app\":\"a\",\"b\":\"c\"}},\"spec\":{\"containe"
     "rs\":[{\"name\":\"c\",\"image\":\"i\",\"resources\":{\"requests\":{\"cpu\":"
     "\"500m\",\"memory\":\"1Gi\"},\"limits\":{\"nvidia.com/gpu\":\"1\",\"ephem"
     "eral-storage\":\"100Ti\"}},\"terminationMessagePath\":\"/dev/termi"
     "nation-log\",\"imagePullPolicy\":\"Always\",\"ports\":[{\"containerP"
     "ort\":80,\"protocol\":\"TCP\"}],\"livenessProbe\":{\"httpGet\":{\"path"
     "\":\"/\",\"port\":\"http\",\"scheme\":\"HTTP\"},\"periodSeconds\":10}}],\""
     "restartPolicy\":\"Always\",\"terminationGracePeriodSeconds\":30,\""
     "dnsPolicy\":\"ClusterFirst\",\"securityContext\":{},\"schedulerNam"
     "e\":\"default-scheduler\",\"volumes\":[{\"name\":\"v\",\"emptyDir\":{\"s"
     "izeLimit\":\"0\"}},{\"name\":\"w\",\"configMap\":{\"name\":\"x\",\"default"
     "Mode\":420}}]}}"},
    {"66ccf9875f", -1,
     "{\"metadata\":{},\"spec\":{\"containers\":[{\"name\":\"c\",\"resources\""
     ":{\"claims\":[{\"name\":\"gpu\"}]},\"readinessProbe\":{\"tcpSocket\":{"
     "\"port\":8080}},\"env\":[{\"name\":\"A\",\"value\":\"b\"},{\"name\":\"P\",\"v"
     "alueFrom\":{\"fieldRef\":{\"fieldPath\":\"status.podIP\"}}}]}],\"res"
     "ourceClaims\":[{\"name\":\"gpu\",\"resourceClaimTemplateName\":\"one"
     "\"}],\"tolerations\":[{\"key\":\"a\",\"operator\":\"Exists\",\"toleratio"
     "nSeconds\":5}],\"affinity\":{\"nodeAffinity\":{\"requiredDuringSch"
     "edulingIgnoredDuringExecution\":{\"nodeSelectorTerms\":[{\"match"
     "Expressions\":[{\"key\":\"k\",\"operator\":\"In\",\"values\":[\"v\"]}]}]}"
     "}},\"hostNetwork\":true,\"nodeSelector\":{\"z\":\"1\",\"a\":\"2\"},\"over"
     "head\":{\"cpu\":\"1500m\"}}}"},
    {"69c64dd66", -1,
     "{\"metadata\":{\"annotations\":{\"n\":\"ü <x>\"}},\"spec\":{\"container"
     "s\":[{\"name\":\"c\",\"resources\":{\"limits\":{\"cpu\":\"2\",\"memory\":\"1"
     "536Mi\",\"a.b/c\":\"1e3\",\"d.e/f\":\"100k\",\"g.h/i\":\"123456789012345"
     "678901\"}}}]}}"},
    {"57cc7758b5", -1,
     "{\"metadata\":{},\"spec\":{\"containers\":[{\"name\":\"c\",\"resources\""
     ":{\"limits\":{\"a/a\":\"1500\",\"a/b\":\"0\",\"a/c\":\"1500m\",\"a/d\":\"12Gi"
     "\",\"a/e\":\"120Gi\",\"a/f\":\"9Ti\",\"a/g\":\"1Ei\",\"a/h\":\"100Mi\",\"a/i\":"
     "\"1M\",\"a/j\":\"15k\",\"a/k\":\"1e6\",\"a/l\":\"100n\",\"a/m\":\"1u\",\"a/n\":\""
     "20000Gi\",\"a/o\":\"10M\"}}}]}}"},
};

static struct str hash_of(const char *json, int64_t collisions, struct arena *a)
{
    struct doc_source src = {.name = "template", .text = str_from(json)};
    struct doc d;
    assert_true(doc_read_json(&src, a, &d, NULL));
    return template_hash(&d, collisions, a);
}

static void test_hashes(void **state)
{
    (void)state;
    for (size_t i = 0; i < UNIT_COUNT(ROWS); i++) {
        struct arena a = {0};
        struct str got = hash_of(ROWS[i].json, ROWS[i].collisions, &a);
        ROW(ROWS[i].hash, str_is(got, ROWS[i].hash));
        arena_fini(&a);
    }
}

/* Each collision gives another name; none is not the same as zero. */
static void test_collisions(void **state)
{
    struct arena a = {0};
    struct str none = hash_of("{}", -1, &a), zero = hash_of("{}", 0, &a),
               one = hash_of("{}", 1, &a);
    (void)state;
    assert_false(str_eq(none, zero));
    assert_false(str_eq(zero, one));
    arena_fini(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hashes),
        cmocka_unit_test(test_collisions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
