/* SPDX-License-Identifier: Apache-2.0 */
/* Kinds that have another shape in another version: there and back. */
#include "api/convert.h"

#include "unit/unit.h"

static struct arena arena;

static struct doc parse(const char *json)
{
    char *text = arena_strdup(&arena, json);
    for (char *p = text; *p; p++)
        *p = *p == '\'' ? '"' : *p;
    struct doc_source src = {.name = "test", .text = str_from(text)};
    struct doc d;
    assert_true(doc_read_json(&src, &arena, &d, NULL));
    return doc_dup(&arena, &d);
}

static void convert(struct doc *d, const char *from, const char *to, const char *kind)
{
    const struct api_kind *f = api_kind_find(str_from(from), str_from(kind)),
                          *t = api_kind_find(str_from(to), str_from(kind));
    assert_non_null(f);
    assert_non_null(t);
    api_convert(f, t, d, &arena);
}

/* What v1 has no field for is in annotations; nothing is lost on the way back. */
static const struct {
    const char *two;     /* autoscaling/v2 */
    const char *percent; /* targetCPUUtilizationPercentage in v1, or NULL */
    const char *metrics; /* the annotation, or NULL */
} AUTOSCALERS[] = {
    {"{'spec':{'maxReplicas':3,'metrics':[{'type':'Resource','resource':{'name':'cpu',"
     "'target':{'type':'Utilization','averageUtilization':50}}}]}}",
     "50", NULL},
    {"{'spec':{'maxReplicas':3,'metrics':[{'type':'Pods','pods':{'metric':{'name':'m'},"
     "'target':{'type':'AverageValue','averageValue':'5'}}},{'type':'Resource','resource'"
     ":{'name':'cpu','target':{'type':'Utilization','averageUtilization':7}}}]}}",
     "7",
     "[{\"type\":\"Pods\",\"pods\":{\"metricName\":\"m\",\"targetAverageValue\":\"5\"}}"
     "]"},
    {"{'spec':{'maxReplicas':3,'metrics':[{'type':'Object','object':{'describedObject':{"
     "'kind':'S','name':'s'},'metric':{'name':'m'},'target':{'type':'Value','value':'9'}"
     "}}]}}",
     NULL,
     "[{\"type\":\"Object\",\"object\":{\"target\":{\"kind\":\"S\",\"name\":\"s\"},"
     "\"metricName\":\"m\",\"targetValue\":\"9\"}}]"},
    {"{'spec':{'maxReplicas':3,'metrics':[{'type':'External','external':{'metric':{'name'"
     ":'m','selector':{'matchLabels':{'a':'b'}}},'target':{'type':'AverageValue',"
     "'averageValue':'1'}}}],'behavior':{'scaleUp':{'policies':[{'type':'Pods','value':1,"
     "'periodSeconds':10}]}}}}",
     NULL,
     "[{\"type\":\"External\",\"external\":{\"metricName\":\"m\",\"metricSelector\":{"
     "\"matchLabels\":{\"a\":\"b\"}},\"targetAverageValue\":\"1\"}}]"},
};

static void test_autoscalers(void **state)
{
    static const char KIND[] = "HorizontalPodAutoscaler";
    (void)state;
    for (size_t i = 0; i < UNIT_COUNT(AUTOSCALERS); i++) {
        struct doc d = parse(AUTOSCALERS[i].two), was = parse(AUTOSCALERS[i].two);
        convert(&d, "autoscaling/v2", "autoscaling/v1", KIND);
        const struct doc *percent = doc_path(&d, "spec.targetCPUUtilizationPercentage"),
                         *all = doc_path(&d, "metadata.annotations");
        struct str metrics = doc_get_text(all, "autoscaling.alpha.kubernetes.io/metrics");
        ROW(AUTOSCALERS[i].two, !percent == !AUTOSCALERS[i].percent);
        if (percent)
            assert_str(doc_str(percent), AUTOSCALERS[i].percent);
        if (AUTOSCALERS[i].metrics)
            assert_str(metrics, AUTOSCALERS[i].metrics);
        ROW(AUTOSCALERS[i].two, !metrics.p == !AUTOSCALERS[i].metrics);
        convert(&d, "autoscaling/v1", "autoscaling/v2", KIND);
        ROW(AUTOSCALERS[i].two,
            doc_equal(doc_path(&d, "spec.metrics"), doc_path(&was, "spec.metrics")));
        const struct doc *behavior = doc_path(&was, "spec.behavior");
        if (behavior)
            ROW(AUTOSCALERS[i].two, doc_equal(doc_path(&d, "spec.behavior"), behavior));
        ROW(AUTOSCALERS[i].two, !doc_path(&d, "metadata.annotations"));
    }
}

/* v1 without any target means 80 percent of the CPU. */
static void test_default_target(void **state)
{
    (void)state;
    struct doc d = parse("{'spec':{'maxReplicas':2}}");
    struct doc want = parse("[{'type':'Resource','resource':{'name':'cpu','target':{"
                            "'type':'Utilization','averageUtilization':80}}}]");
    convert(&d, "autoscaling/v1", "autoscaling/v2", "HorizontalPodAutoscaler");
    assert_true(doc_equal(doc_path(&d, "spec.metrics"), &want));
}

static void test_events(void **state)
{
    static const char OTHER[] =
        "{'metadata':{'name':'e'},'regarding':{'kind':'Pod'},'note':'n','reason':'r',"
        "'deprecatedCount':2,'deprecatedSource':{'host':'h'},'apiVersion':"
        "'events.k8s.io/v1','eventTime':null,'deprecatedFirstTimestamp':null,"
        "'deprecatedLastTimestamp':null}";
    static const char CORE[] =
        "{'metadata':{'name':'e'},'involvedObject':{'kind':'Pod'},'message':'n','reason':"
        "'r','count':2,'source':{'host':'h'},'apiVersion':'v1','eventTime':null,"
        "'firstTimestamp':null,'lastTimestamp':null,'reportingComponent':'',"
        "'reportingInstance':''}";
    struct doc d = parse(OTHER), core = parse(CORE), other = parse(OTHER);
    (void)state;
    convert(&d, "events.k8s.io/v1", "v1", "Event");
    assert_true(doc_equal(&d, &core));
    convert(&d, "v1", "events.k8s.io/v1", "Event");
    assert_true(doc_equal(&d, &other));
}

static int tear_down(void **state)
{
    (void)state;
    arena_fini(&arena);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_autoscalers),
        cmocka_unit_test(test_default_target),
        cmocka_unit_test(test_events),
    };
    return cmocka_run_group_tests(tests, NULL, tear_down);
}
