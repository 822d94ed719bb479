/* SPDX-License-Identifier: Apache-2.0 */
/* Which requests webhooks and policies are about. */
#include "server/admission/match.h"

#include "unit/unit.h"

static struct server s;
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

static void put_namespace(const char *name, const char *team)
{
    static uint64_t revision = 1;
    const struct resource *res = kinds_stored(&s, "", "namespaces");
    struct strbuf b = STRBUF_INIT;
    revision++;
    strbuf_addf(&b,
                "{\"kind\":\"Namespace\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":"
                "\"%s\",\"labels\":{\"team\":\"%s\"}}}",
                name, team);
    struct store_change c = {.kind = STORE_PUT,
                             .revision = revision,
                             .key = object_key(res, STR(""), str_from(name), &arena),
                             .value = arena_str(&arena, strbuf_str(&b)),
                             .created = true};
    cache_apply(s.cache, &c);
    strbuf_release(&b);
}

static int set_up(void **state)
{
    struct cache_opts opts = {.decode = object_decode, .ctx = &s};
    s.opts.runtime_config = "api/all=true";
    s.gates = api_gates_default;
    arena_init(&s.arena);
    arena_init(&s.scratch);
    arena_init(&arena);
    kinds_init(&s);
    s.cache = cache_new(&opts);
    put_namespace("one", "red");
    put_namespace("two", "blue");
    return 0;
}

static int tear_down(void **state)
{
    cache_free(s.cache);
    strmap_release(&s.by_name);
    strmap_release(&s.by_key);
    arena_fini(&arena);
    arena_fini(&s.scratch);
    arena_fini(&s.arena);
    return 0;
}

struct asked {
    enum admit_verb verb;
    const char *group, *version, *resource, *namespace, *name, *labels, *old_labels;
};

static const struct asked
    POD = {ADMIT_CREATE, "", "v1", "pods", "one", "p", "{'a':'b'}", NULL},
    GONE = {ADMIT_DELETE, "", "v1", "pods", "two", "p", NULL, "{'a':'b'}"},
    STATUS = {ADMIT_UPDATE, "", "v1", "pods/status", "one", "p", "{}", "{'a':'b'}"},
    NODE = {ADMIT_UPDATE, "", "v1", "nodes", NULL, "n", "{}", "{}"},
    SCALER = {ADMIT_CREATE, "autoscaling", "v2", "horizontalpodautoscalers",
              "two",        "h",           "{}", NULL},
    SPACE = {ADMIT_CREATE,      "",  "v1", "namespaces", NULL, "three",
             "{'team':'blue'}", NULL},
    LOST = {ADMIT_CREATE, "", "v1", "pods", "none", "p", "{}", NULL},
    EXEC = {ADMIT_CONNECT, "", "v1", "pods/exec", "one", "p", NULL, NULL};

#define RULES(groups, versions, resources, more)                                         \
    "'resourceRules':[{'operations':['CREATE','UPDATE'],'apiGroups':[" groups            \
    "],'apiVersions':[" versions "],'resources':[" resources "]" more "}]"
#define PODS RULES("''", "'v1'", "'pods'", "")
#define ALL                                                                              \
    "'resourceRules':[{'operations':['*'],'apiGroups':['*'],'apiVersions':['*'],"        \
    "'resources':['*/*']}]"

static const struct {
    const char *match;
    const struct asked *asked;
    enum match_answer answer;
    const char *version; /* that is meant; NULL: the request's */
} ROWS[] = {
    {"{}", &POD, MATCH_YES, NULL},
    {"{" PODS "}", &POD, MATCH_YES, NULL},
    {"{" PODS "}", &GONE, MATCH_NO, NULL},
    {"{" PODS "}", &STATUS, MATCH_NO, NULL},
    {"{" RULES("''", "'v1'", "'pods/status'", "") "}", &STATUS, MATCH_YES, NULL},
    {"{" RULES("''", "'v1'", "'pods/*'", "") "}", &STATUS, MATCH_YES, NULL},
    {"{" RULES("''", "'v1'", "'pods/*'", "") "}", &POD, MATCH_YES, NULL},
    {"{" RULES("''", "'v1'", "'*/status'", "") "}", &STATUS, MATCH_YES, NULL},
    {"{" RULES("''", "'v1'", "'*/status'", "") "}", &POD, MATCH_NO, NULL},
    {"{" RULES("''", "'v1'", "'*'", "") "}", &STATUS, MATCH_NO, NULL},
    {"{" RULES("'apps'", "'v1'", "'*'", "") "}", &POD, MATCH_NO, NULL},
    {"{" RULES("'*'", "'v2'", "'*'", "") "}", &POD, MATCH_NO, NULL},
    {"{" RULES("'*'", "'*'", "'*'", ",'scope':'Cluster'") "}", &NODE, MATCH_YES, NULL},
    {"{" RULES("'*'", "'*'", "'*'", ",'scope':'Cluster'") "}", &SPACE, MATCH_YES, NULL},
    {"{" RULES("'*'", "'*'", "'*'", ",'scope':'Cluster'") "}", &POD, MATCH_NO, NULL},
    {"{" RULES("'*'", "'*'", "'*'", ",'scope':'Namespaced'") "}", &NODE, MATCH_NO, NULL},
    {"{" RULES("'*'", "'*'", "'*'", ",'scope':'Namespaced'") "}", &POD, MATCH_YES, NULL},
    {"{" RULES("'*'", "'*'", "'*'", ",'resourceNames':['p']") "}", &POD, MATCH_YES, NULL},
    {"{" RULES("'*'", "'*'", "'*'", ",'resourceNames':['q']") "}", &POD, MATCH_NO, NULL},
    {"{" ALL "}", &EXEC, MATCH_YES, NULL},
    {"{" ALL ",'excludeResourceRules':[{'operations':['CONNECT'],'apiGroups':[''],"
     "'apiVersions':['v1'],'resources':['pods/exec']}]}",
     &EXEC, MATCH_NO, NULL},
    {"{" RULES("'autoscaling'", "'v1'", "'horizontalpodautoscalers'", "") "}", &SCALER,
     MATCH_NO, NULL},
    {"{'matchPolicy':'Equivalent'," RULES("'autoscaling'", "'v1'",
                                          "'horizontalpodautoscalers'", "") "}",
     &SCALER, MATCH_YES, "v1"},
    {"{'matchPolicy':'Equivalent'," RULES("'autoscaling'", "'v1','v2'",
                                          "'horizontalpodautoscalers'", "") "}",
     &SCALER, MATCH_YES, "v2"},
    {"{'matchPolicy':'Equivalent'," ALL ",'excludeResourceRules':[{'operations':['*'],"
     "'apiGroups':['autoscaling'],'apiVersions':['v1'],'resources':['*']}]}",
     &SCALER, MATCH_NO, NULL},
    {"{" PODS ",'objectSelector':{'matchLabels':{'a':'b'}}}", &POD, MATCH_YES, NULL},
    {"{" PODS ",'objectSelector':{'matchLabels':{'a':'c'}}}", &POD, MATCH_NO, NULL},
    {"{" ALL ",'objectSelector':{'matchLabels':{'a':'b'}}}", &GONE, MATCH_YES, NULL},
    {"{" ALL ",'objectSelector':{'matchLabels':{'a':'b'}}}", &STATUS, MATCH_YES, NULL},
    {"{" ALL ",'objectSelector':{'matchLabels':{'a':'b'}}}", &EXEC, MATCH_NO, NULL},
    {"{" PODS ",'namespaceSelector':{'matchLabels':{'team':'red'}}}", &POD, MATCH_YES,
     NULL},
    {"{" ALL ",'namespaceSelector':{'matchLabels':{'team':'red'}}}", &GONE, MATCH_NO,
     NULL},
    {"{" ALL ",'namespaceSelector':{'matchLabels':{'team':'red'}}}", &NODE, MATCH_YES,
     NULL},
    {"{" ALL ",'namespaceSelector':{'matchLabels':{'team':'red'}}}", &SPACE, MATCH_NO,
     NULL},
    {"{" ALL ",'namespaceSelector':{'matchLabels':{'team':'blue'}}}", &SPACE, MATCH_YES,
     NULL},
    {"{" ALL ",'namespaceSelector':{'matchLabels':{'team':'red'}}}", &LOST, MATCH_FAILED,
     NULL},
    {"{'resourceRules':[{'operations':['DELETE'],'apiGroups':[''],'apiVersions':['v1'],"
     "'resources':['pods']}],'namespaceSelector':{'matchLabels':{'team':'red'}}}",
     &LOST, MATCH_NO, NULL},
};

static struct doc object_of(const char *labels)
{
    return parse(arena_printf(&arena, "{'metadata':{'labels':%s}}", labels).p);
}

static void ask(size_t i)
{
    const struct asked *q = ROWS[i].asked;
    struct doc spec = parse(ROWS[i].match), object = doc_make_map(), old = doc_make_map();
    struct match m;
    struct request r = {.s = &s, .a = &arena};
    const struct resource *as = NULL;
    r.res =
        kinds_find(&s, str_from(q->group), str_from(q->version), str_from(q->resource));
    assert_non_null(r.res);
    r.route.namespace = q->namespace ? str_from(q->namespace) : STR_NONE;
    r.route.name = q->verb == ADMIT_CREATE ? STR_NONE : str_from(q->name);
    if (q->labels)
        object = object_of(q->labels);
    if (q->old_labels)
        old = object_of(q->old_labels);
    if (q->labels)
        doc_set(&arena, object_meta(&object), "name",
                doc_make_string(&arena, str_from(q->name)));
    struct admission a = {&r, q->verb, str_from(q->name), q->labels ? &object : NULL,
                          q->old_labels ? &old : NULL};
    match_read(&spec, "resourceRules", "excludeResourceRules", &arena, &m);
    enum match_answer answer = match_ask(&m, &a, &as);
    if (answer != ROWS[i].answer)
        fail_msg("row %zu: %s: %d", i, ROWS[i].match, answer);
    if (answer == MATCH_YES)
        assert_string_equal(as->main->version,
                            ROWS[i].version ? ROWS[i].version : q->version);
    if (answer == MATCH_FAILED)
        assert_int_equal(r.failure.code, 404);
}

static void matches(void **state)
{
    for (size_t i = 0; i < UNIT_COUNT(ROWS); i++)
        ask(i);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(matches)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
