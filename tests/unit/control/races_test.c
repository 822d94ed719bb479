/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Controllers of workloads against a server where things go wrong: a write is lost, at
 * each step in turn; the controllers begin anew, at each step in turn; watches tell late.
 * Whatever happens, in the end there is what was asked for, and no more of it; and when
 * that is deleted, the garbage collector leaves nothing of it.
 */
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "control/daemonsets.h"
#include "control/deployments.h"
#include "control/garbage.h"
#include "control/jobs.h"
#include "control/replicasets.h"
#include "control/statefulsets.h"
#include "fake_api.h"
#include "unit/unit.h"

enum { PATIENCE_S = 120, STEPS_MAX = 200, EACH = 8 };

struct site {
    struct arena a;
    struct fake_api api;
    struct shared *shared;
    struct replicasets *sets;
    struct deployments *deployments;
    struct daemonsets *daemons;
    struct statefulsets *stateful;
    struct jobs *jobs;
    struct garbage *garbage;
    uint32_t restart_at; /* so many requests; UINT32_MAX: never */
    bool late;           /* watches tell when nothing else happens */
};

/* ---- controllers ---- */

static void start(struct site *s)
{
    struct workload_opts opts = {.pause_ms = 1};
    s->shared = shared_new(s->api.client, NULL, NULL);
    s->sets = replicasets_new(s->shared, &opts);
    s->deployments = deployments_new(s->shared, &opts);
    s->daemons = daemonsets_new(s->shared, &opts);
    s->stateful = statefulsets_new(s->shared, &opts);
    s->jobs = jobs_new(s->shared, &opts);
    s->garbage = garbage_new(s->api.client, &(struct garbage_opts){0});
}

static void stop(struct site *s)
{
    garbage_free(s->garbage);
    jobs_free(s->jobs);
    statefulsets_free(s->stateful);
    daemonsets_free(s->daemons);
    deployments_free(s->deployments);
    replicasets_free(s->sets);
    shared_free(s->shared);
}

static void restart(struct site *s)
{
    stop(s);
    fake_api_settle(&s->api);
    fake_api_catch_up(&s->api);
    start(s);
}

/* ---- the rest of the cluster ---- */

static const struct doc *text_doc(struct site *s, const char *json)
{
    struct doc *d = ARENA_NEW(&s->a, struct doc);
    struct doc_source src = {.name = "object", .text = arena_str(&s->a, str_from(json))};
    assert_true(doc_read_json(&src, &s->a, d, NULL));
    return d;
}

static void set_status(struct site *s, const struct doc *pod, const char *status)
{
    struct doc d = doc_dup(&s->a, pod);
    doc_set(&s->a, &d, "status", *text_doc(s, status));
    fake_api_write(&s->api, "pods", &d);
}

static bool is_owned_by(const struct doc *pod, const char *kind)
{
    const struct doc *refs = doc_path(pod, "metadata.ownerReferences");
    return refs && refs->n && doc_is_string(doc_get(&refs->items[0], "kind"), kind);
}

/* Pods run and are ready, or, of jobs, succeed. */
static void bring_up(struct site *s)
{
    struct doc pods = doc_dup(&s->a, fake_api_list(&s->api, "pods"));
    for (uint32_t i = 0; i < pods.n; i++) {
        const struct doc *pod = &pods.items[i], *phase = doc_path(pod, "status.phase");
        if (phase && !doc_is_string(phase, "Pending"))
            continue;
        if (is_owned_by(pod, "Job"))
            set_status(s, pod, "{\"phase\":\"Succeeded\"}");
        else
            set_status(s, pod,
                       "{\"phase\":\"Running\",\"conditions\":[{\"type\":\"Ready\","
                       "\"status\":\"True\",\"lastTransitionTime\":"
                       "\"2026-01-01T00:00:00Z\"}]}");
    }
}

/* Changes a member of an object's spec, as a user does. */
static void change(struct site *s, const char *resource, const char *key,
                   const char *value)
{
    const struct doc *have = &fake_api_list(&s->api, resource)->items[0];
    struct doc d = doc_dup(&s->a, have);
    struct doc *spec = (struct doc *)doc_get(&d, "spec"),
               *meta = (struct doc *)doc_get(&d, "metadata");
    int64_t generation = 0;
    doc_get_int64(meta, "generation", &generation);
    doc_set(&s->a, meta, "generation", doc_make_int(&s->a, generation + 1));
    doc_set(&s->a, spec, key, *text_doc(s, value));
    fake_api_write(&s->api, resource, &d);
}

/* ---- what is asked for ---- */

#define TEMPLATE(image)                                                                  \
    "{\"metadata\":{\"labels\":{\"a\":\"b\"}},\"spec\":{\"containers\":[{\"name\":"      \
    "\"c\","                                                                             \
    "\"image\":\"" image "\"}]}}"
#define OBJECT(kind, spec)                                                               \
    "{\"kind\":\"" kind "\",\"metadata\":{\"name\":\"x\",\"namespace\":\"n\",\"uid\":"   \
    "\"owner\",\"generation\":1},\"spec\":{\"selector\":{\"matchLabels\":{\"a\":\"b\"}}" \
    ","                                                                                  \
    "\"template\":" TEMPLATE("one") "," spec "}}"

struct stage {
    const char *key, *value; /* what is changed; NULL: nothing */
    const char *image;       /* that all pods are to have */
    uint32_t pods;           /* how many there are to be */
    const char *count;       /* the number in the status that says so, or NULL */
    const char *condition;   /* of the status that is to be true, or NULL */
};

struct scenario {
    const char *resource, *object;
    struct stage stages[4]; /* up to the first without pods or image */
};

static const struct scenario SCENARIOS[] = {
    {"deployments",
     OBJECT("Deployment", "\"replicas\":3,\"strategy\":{\"type\":\"RollingUpdate\","
                          "\"rollingUpdate\":{\"maxSurge\":1,\"maxUnavailable\":1}}"),
     {{NULL, NULL, "one", 3, "availableReplicas", "Available"},
      {"template", TEMPLATE("two"), "two", 3, "updatedReplicas", "Available"},
      {"replicas", "1", "two", 1, "replicas", NULL}}},
    {"daemonsets",
     OBJECT("DaemonSet",
            "\"updateStrategy\":{\"type\":\"RollingUpdate\",\"rollingUpdate\":"
            "{\"maxSurge\":0,\"maxUnavailable\":1}}"),
     {{NULL, NULL, "one", 2, "numberReady", NULL},
      {"template", TEMPLATE("two"), "two", 2, "updatedNumberScheduled", NULL}}},
    {"statefulsets",
     OBJECT("StatefulSet",
            "\"replicas\":3,\"serviceName\":\"x\",\"updateStrategy\":{"
            "\"type\":\"RollingUpdate\",\"rollingUpdate\":{\"partition\":0}}"),
     {{NULL, NULL, "one", 3, "availableReplicas", NULL},
      {"template", TEMPLATE("two"), "two", 3, "updatedReplicas", NULL},
      {"replicas", "1", "two", 1, "replicas", NULL}}},
    {"jobs",
     OBJECT("Job", "\"completions\":3,\"parallelism\":2,\"backoffLimit\":0"),
     {{NULL, NULL, "one", 3, "succeeded", "Complete"}}},
};

static const struct doc *owner(struct site *s, const struct scenario *c)
{
    return &fake_api_list(&s->api, c->resource)->items[0];
}

static bool is_true(const struct doc *object, const char *condition)
{
    const struct doc *list = doc_path(object, "status.conditions");
    for (uint32_t i = 0; list && i < list->n; i++)
        if (doc_is_string(doc_get(&list->items[i], "type"), condition) &&
            doc_is_string(doc_get(&list->items[i], "status"), "True"))
            return true;
    return false;
}

static bool has_image(const struct doc *pod, const char *image)
{
    const struct doc *list = doc_path(pod, "spec.containers");
    return list && doc_is_string(doc_get(&list->items[0], "image"), image);
}

static bool is_reached(struct site *s, const struct scenario *c, const struct stage *g)
{
    const struct doc *pods = fake_api_list(&s->api, "pods"), *o = owner(s, c);
    int64_t counted = 0;
    for (uint32_t i = 0; i < pods->n; i++) {
        const struct doc *held = doc_path(&pods->items[i], "metadata.finalizers");
        if (!has_image(&pods->items[i], g->image) || (held && held->n))
            return false;
    }
    doc_get_int64(doc_get(o, "status"), g->count, &counted);
    return pods->n == g->pods && counted == g->pods &&
           (!g->condition || is_true(o, g->condition));
}

/* ---- running ---- */

static void step(struct site *s)
{
    for (int i = 0; i < 3; i++)
        fake_api_settle(&s->api);
    if (s->api.actions.n >= s->restart_at) {
        s->restart_at = UINT32_MAX;
        restart(s);
    }
    if (s->late) /* by now they have done all that they could without knowing */
        fake_api_tell_late(&s->api, "");
    bring_up(s);
    usleep(500);
}

/* For whoever looks into a failure. */
static void tell_state(struct site *s, const struct scenario *c, const char *what)
{
    static const char *const KINDS[] = {"pods", "replicasets", "controllerrevisions"};
    struct strbuf b = STRBUF_INIT;
    uint32_t n = s->api.actions.n;
    for (int k = 0; k < 3; k++) {
        const struct doc *list = fake_api_list(&s->api, KINDS[k]);
        for (uint32_t i = 0; i < list->n && i < 10; i++)
            doc_write_json(doc_get(&list->items[i], "metadata"), DOC_JSON_COMPACT, &b);
    }
    for (uint32_t i = n > 12 ? n - 12 : 0; i < n; i++) {
        const struct doc *d = &s->api.actions.items[i];
        strbuf_addf(&b, "\n#   %s %s %s", doc_get_text(d, "verb").p,
                    doc_get_text(d, "resource").p,
                    doc_get(d, "name") ? doc_get_text(d, "name").p : "");
    }
    fprintf(stderr, "# %s: %s: %s\n", c->resource, what, strbuf_cstr(&b));
    strbuf_release(&b);
}

static void reach(struct site *s, const struct scenario *c, const struct stage *g)
{
    time_t end = time(NULL) + PATIENCE_S;
    while (!is_reached(s, c, g) && time(NULL) < end)
        step(s);
    if (!is_reached(s, c, g))
        tell_state(s, c, g->image);
    assert_true(is_reached(s, c, g));
}

static bool is_collected(struct site *s)
{
    return !fake_api_list(&s->api, "pods")->n &&
           !fake_api_list(&s->api, "replicasets")->n &&
           !fake_api_list(&s->api, "controllerrevisions")->n;
}

/* The owner goes, and all that it has goes with it. */
static void collect(struct site *s, const struct scenario *c)
{
    struct doc gone = doc_dup(&s->a, owner(s, c));
    time_t end = time(NULL) + PATIENCE_S;
    fake_api_remove(&s->api, c->resource, &gone);
    while (!is_collected(s) && time(NULL) < end)
        step(s);
    if (!is_collected(s))
        tell_state(s, c, "not all has gone");
    assert_true(is_collected(s));
}

/* How many requests it took. */
static uint32_t run(struct site *s, const struct scenario *c)
{
    static const char *const NODES[] = {
        "{\"metadata\":{\"name\":\"n1\",\"uid\":\"n1\"},\"spec\":{}}",
        "{\"metadata\":{\"name\":\"n2\",\"uid\":\"n2\"},\"spec\":{}}",
    };
    for (int i = 0; i < 2; i++)
        fake_api_write(&s->api, "nodes", text_doc(s, NODES[i]));
    fake_api_write(&s->api, c->resource, text_doc(s, c->object));
    s->api.late = s->late;
    fake_api_catch_up(&s->api);
    start(s);
    for (size_t i = 0; i < 4 && c->stages[i].image; i++) {
        if (c->stages[i].key)
            change(s, c->resource, c->stages[i].key, c->stages[i].value);
        reach(s, c, &c->stages[i]);
    }
    collect(s, c);
    stop(s);
    return s->api.actions.n;
}

/* What kinds there are, for the garbage collector. */
static struct doc discover(struct site *s, const char *group, const char *const *kinds)
{
    struct strbuf b = STRBUF_INIT;
    strbuf_addf(&b,
                "{\"kind\":\"APIGroupDiscoveryList\",\"items\":[{\"metadata\":{\"name\":"
                "\"%s\"},\"versions\":[{\"version\":\"v1\",\"resources\":[",
                group);
    for (int i = 0; kinds[i]; i += 2)
        strbuf_addf(&b,
                    "%s{\"resource\":\"%s\",\"responseKind\":{\"kind\":\"%s\"},\"scope\":"
                    "\"Namespaced\",\"verbs\":[\"get\",\"list\",\"watch\",\"delete\"]}",
                    i ? "," : "", kinds[i], kinds[i + 1]);
    strbuf_addf(&b, "]}]}]}");
    struct doc d = *text_doc(s, strbuf_cstr(&b));
    strbuf_release(&b);
    return d;
}

static void open_site(struct site *s)
{
    static const char *const
        CORE[] = {"pods", "Pod", NULL},
        *const BATCH[] = {"jobs", "Job", NULL},
        *const APPS[] = {"deployments",        "Deployment",  "replicasets",
                         "ReplicaSet",         "daemonsets",  "DaemonSet",
                         "statefulsets",       "StatefulSet", "controllerrevisions",
                         "ControllerRevision", NULL};
    *s = (struct site){.restart_at = UINT32_MAX};
    arena_init(&s->a);
    fake_api_open(&s->api, &s->a);
    s->api.stores = true;
    s->api.discovery[0] = discover(s, "", CORE);
    s->api.discovery[1] = discover(s, "apps", APPS);
    struct doc batch = discover(s, "batch", BATCH);
    doc_append(&s->a, (struct doc *)doc_get(&s->api.discovery[1], "items"),
               doc_get(&batch, "items")->items[0]);
}

static void close_site(struct site *s)
{
    fake_api_close(&s->api);
    arena_fini(&s->a);
}

/* ---- tests ---- */

static void test_late(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof SCENARIOS / sizeof *SCENARIOS; i++) {
        struct site s;
        open_site(&s);
        s.late = true;
        run(&s, &SCENARIOS[i]);
        close_site(&s);
    }
}

static void test_restarts(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof SCENARIOS / sizeof *SCENARIOS; i++) {
        uint32_t n = STEPS_MAX;
        for (uint32_t at = 1; at < n; at += at < EACH ? 1 : 5) {
            struct site s;
            open_site(&s);
            s.restart_at = at;
            s.late = at % 2;
            uint32_t took = run(&s, &SCENARIOS[i]);
            n = took < n ? took : n;
            close_site(&s);
        }
        assert_true(n > 3);
    }
}

/* The n-th request of a sort fails; so it goes for each n that there is. */
static void fail_each(const char *verb, const char *error)
{
    for (size_t i = 0; i < sizeof SCENARIOS / sizeof *SCENARIOS; i++)
        for (uint32_t skip = 0; skip < STEPS_MAX; skip++) {
            struct site s;
            char text[256];
            int64_t left = 1;
            open_site(&s);
            snprintf(text, sizeof text, "{\"verb\":\"%s\",\"skip\":%u,\"times\":1,%s}",
                     verb, skip, error);
            doc_append(&s.a, &s.api.failures, *text_doc(&s, text));
            s.late = skip % 2;
            run(&s, &SCENARIOS[i]);
            doc_get_int64(&s.api.failures.items[0], "times", &left);
            close_site(&s);
            if (left)
                break;
        }
}

static void test_lost_updates(void **state)
{
    (void)state;
    fail_each("update", "\"status\":409,\"reason\":\"Conflict\",\"error\":\"modified\"");
}

static void test_lost_creates(void **state)
{
    (void)state;
    fail_each("create", "\"status\":500,\"reason\":\"InternalError\",\"error\":\"no\"");
}

static void test_lost_deletes(void **state)
{
    (void)state;
    fail_each("delete", "\"status\":500,\"reason\":\"InternalError\",\"error\":\"no\"");
}

static void test_lost_patches(void **state)
{
    (void)state;
    fail_each("patch", "\"status\":500,\"reason\":\"InternalError\",\"error\":\"no\"");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_late),         cmocka_unit_test(test_restarts),
        cmocka_unit_test(test_lost_updates), cmocka_unit_test(test_lost_creates),
        cmocka_unit_test(test_lost_deletes), cmocka_unit_test(test_lost_patches),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
