/* SPDX-License-Identifier: Apache-2.0 */
#include "server/discovery/apiservices.h"

#include "server/rest/write.h"

/* Upstream's; which group and version clients see first follows from them. */
static const struct {
    const char *group, *version;
    int group_priority, version_priority;
} PRIORITIES[] = {
    {"", "v1", 18000, 1},
    {"apps", "v1", 17800, 15},
    {"events.k8s.io", "v1", 17750, 15},
    {"authentication.k8s.io", "v1", 17700, 15},
    {"authorization.k8s.io", "v1", 17600, 15},
    {"autoscaling", "v1", 17500, 15},
    {"autoscaling", "v2", 17500, 30},
    {"batch", "v1", 17400, 15},
    {"certificates.k8s.io", "v1", 17300, 15},
    {"certificates.k8s.io", "v1beta1", 17300, 9},
    {"networking.k8s.io", "v1", 17200, 15},
    {"policy", "v1", 17100, 15},
    {"rbac.authorization.k8s.io", "v1", 17000, 15},
    {"storage.k8s.io", "v1", 16800, 15},
    {"apiextensions.k8s.io", "v1", 16700, 15},
    {"admissionregistration.k8s.io", "v1", 16700, 15},
    {"admissionregistration.k8s.io", "v1beta1", 16700, 12},
    {"admissionregistration.k8s.io", "v1alpha1", 16700, 9},
    {"scheduling.k8s.io", "v1", 16600, 15},
    {"scheduling.k8s.io", "v1beta1", 16600, 9},
    {"scheduling.k8s.io", "v1alpha3", 16600, 3},
    {"coordination.k8s.io", "v1", 16500, 15},
    {"coordination.k8s.io", "v1beta1", 16500, 13},
    {"coordination.k8s.io", "v1alpha2", 16500, 12},
    {"node.k8s.io", "v1", 16300, 15},
    {"discovery.k8s.io", "v1", 16200, 15},
    {"resource.k8s.io", "v1", 16200, 21},
    {"resource.k8s.io", "v1beta2", 16200, 15},
    {"resource.k8s.io", "v1beta1", 16200, 9},
    {"resource.k8s.io", "v1alpha3", 16200, 1},
    {"flowcontrol.apiserver.k8s.io", "v1", 16100, 21},
    {"internal.apiserver.k8s.io", "v1alpha1", 16000, 9},
    {"storagemigration.k8s.io", "v1", 15800, 15},
    {"storagemigration.k8s.io", "v1beta1", 15800, 9},
};
enum { NPRIORITIES = sizeof PRIORITIES / sizeof *PRIORITIES };

struct making { /* of all of them */
    struct server *s;
    struct arena *a;
    struct str now;
    const struct resource *res;
    uint32_t left;
    bool failed;
    struct err *e;
};

static void done(void *ctx, enum store_answer answer, uint64_t revision,
                 const struct err *e)
{
    struct making *m = ctx;
    m->left--;
    if (answer == STORE_FAILED && !m->failed) {
        m->failed = true;
        err_set(m->e, e->code, "%s", err_text(e));
    }
}

static struct str name_of(struct arena *a, int row)
{
    return arena_printf(a, "%s.%s", PRIORITIES[row].version, PRIORITIES[row].group);
}

static const char OBJECT[] =
    "{\"kind\":\"APIService\",\"apiVersion\":\"apiregistration.k8s.io/v1\",\"metadata\":{"
    "\"name\":\"%.*s.%.*s\",\"uid\":\"%s\",\"creationTimestamp\":\"%.*s\",\"labels\":{"
    "\"" APISERVICE_LABEL "\":\"%s\"}},\"spec\":{%s%.*s%s\"version\":\"%.*s\","
    "\"groupPriorityMinimum\":%d,\"versionPriority\":%d},\"status\":{\"conditions\":[{"
    "\"type\":\"Available\",\"status\":\"True\",\"lastTransitionTime\":\"%.*s\","
    "\"reason\":\"Local\",\"message\":\"Local APIServices are always available\"}]}}";

struct str apiservice_bytes(const struct apiservice *v, struct arena *a)
{
    bool group = v->group.n > 0;
    struct str text = arena_printf(
        a, OBJECT, STR_ARG(v->version), STR_ARG(v->group), write_new_uid(a).p,
        STR_ARG(v->now), v->managed, group ? "\"group\":\"" : "", STR_ARG(v->group),
        group ? "\"," : "", STR_ARG(v->version), v->group_priority, v->version_priority,
        STR_ARG(v->now));
    struct doc_source src = {.name = "", .text = text};
    struct doc d;
    struct strbuf b = STRBUF_INIT;
    doc_read_json(&src, a, &d, NULL);
    object_encode(&d, &b);
    struct str bytes = arena_str(a, strbuf_str(&b));
    strbuf_release(&b);
    return bytes;
}

static void make(struct making *m, int row, struct str key)
{
    struct apiservice v = {.group = str_from(PRIORITIES[row].group),
                           .version = str_from(PRIORITIES[row].version),
                           .managed = "onstart",
                           .group_priority = PRIORITIES[row].group_priority,
                           .version_priority = PRIORITIES[row].version_priority,
                           .now = m->now};
    struct store_write w = {.key = key,
                            .value = apiservice_bytes(&v, m->a),
                            .expect = 0,
                            .done = done,
                            .ctx = m};
    m->left++;
    store_submit(m->s->store, &w);
}

static void drop(struct making *m, struct cache_object *o)
{
    struct store_write w = {
        .key = arena_str(m->a, o->key), .expect = o->revision, .done = done, .ctx = m};
    m->left++;
    store_submit(m->s->store, &w);
}

/* Only what a start has made: nobody else's. */
static void settle(struct making *m, int row)
{
    struct server *s = m->s;
    struct str key = object_key(m->res, STR(""), name_of(m->a, row), m->a);
    struct cache_object *o = cache_get(s->cache, key);
    bool ours = o && str_is(cache_pair_find(o->labels, o->nlabels, STR(APISERVICE_LABEL)),
                            "onstart");
    bool served = kinds_version_served(s, str_from(PRIORITIES[row].group),
                                       str_from(PRIORITIES[row].version));
    if (served && !o)
        make(m, row, key);
    else if (!served && ours)
        drop(m, o);
}

bool apiservices_make(struct server *s, struct str now, struct err *e)
{
    struct arena a = {0};
    struct making m = {.s = s, .a = &a, .now = now, .e = e};
    m.res = kinds_stored(s, "apiregistration.k8s.io", "apiservices");
    for (int i = 0; m.res && i < NPRIORITIES; i++)
        settle(&m, i);
    while (m.left)
        net_loop_run_once(s->loop, true);
    arena_fini(&a);
    return !m.failed;
}
