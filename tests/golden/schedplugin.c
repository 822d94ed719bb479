/* SPDX-License-Identifier: Apache-2.0 */
/*
 * golden/schedplugin: one pod through the points of the plugin for devices, against a
 * server of documents; and single functions (schedplugin_parts.c).
 */
#include "golden/schedplugin.h"

#include <stdlib.h>

#include "api/timestamp.h"

/* ---- the site ---- */

struct api_gates site_gates(const struct doc *features)
{
    struct api_gates gates = {0};
    for (uint32_t i = 0; features && i < features->n; i++) {
        struct str name = doc_key(&features->members[i]);
        enum api_gate g = api_gate_find(str_sub(name, 6, SIZE_MAX));
        if (str_starts(name, STR("Enable")) && g != API_GATE_COUNT)
            api_gate_set(&gates, g, features->members[i].value.b);
    }
    return gates;
}

static int64_t now(void *ctx)
{
    return ((struct site *)ctx)->now;
}

/* Limits of less than a millisecond are over as soon as they begin. */
static uint64_t clock_ns(void *ctx)
{
    return ((struct site *)ctx)->clock += 2000000;
}

void site_put(struct site *s, const char *field, const char *resource)
{
    const struct doc *list = doc_get(s->in, field);
    for (uint32_t i = 0; list && list->type == DOC_LIST && i < list->n; i++) {
        struct doc d = doc_dup(s->a, &list->items[i]);
        if (fake_api_find(&s->api, resource, &d)) /* what has no server may be alike */
            doc_set_text(s->a, (struct doc *)doc_get(&d, "metadata"), "name",
                         arena_printf(s->a, "again-%u", i));
        fake_api_put(&s->api, resource, &d, true);
    }
}

static const struct {
    const char *kind, *resource;
} KINDS[] = {
    {"Pod", "pods"},
    {"PodGroup", "podgroups"},
    {"ResourceClaim", "resourceclaims"},
    {"ResourceSlice", "resourceslices"},
    {"DeviceClass", "deviceclasses"},
    {"DeviceTaintRule", "devicetaintrules"},
};

static const char *resource_of(struct str kind)
{
    for (size_t i = 0; i < sizeof KINDS / sizeof *KINDS; i++)
        if (str_is(kind, KINDS[i].kind))
            return KINDS[i].resource;
    return "unknown";
}

static void put_objects(struct site *s)
{
    const struct doc *list = doc_get(s->in, "objs");
    for (uint32_t i = 0; list && list->type == DOC_LIST && i < list->n; i++)
        fake_api_put(&s->api, resource_of(doc_get_text(&list->items[i], "kind")),
                     doc_get(&list->items[i], "object"), true);
}

void site_open(struct site *s, const struct api_gates *gates)
{
    int32_t nanos;
    s->a = s->c->arena;
    s->in = doc_get(s->c->doc, "in");
    timestamp_parse(doc_get_text(s->in, "now"), &s->now, &nanos);
    fake_api_open(&s->api, s->a);
    s->api.stores = true;
    s->api.version = 1000;
    site_put(s, "claims", "resourceclaims");
    site_put(s, "classes", "deviceclasses");
    site_put(s, "podGroups", "podgroups");
    put_objects(s);
    s->dra = dra_new(
        s->api.client,
        &(struct dra_opts){.gates = *gates, .now = now, .clock_ns = clock_ns, .ctx = s});
    fake_api_settle(&s->api);
    if (!dra_synced(s->dra))
        golden_fail(s->c, "the plugin did not begin");
}

void site_close(struct site *s)
{
    dra_free(s->dra);
    fake_api_close(&s->api);
}

void site_done(void *ctx, const struct sched_status *status)
{
    struct site *s = ctx;
    struct str *reasons = ARENA_ARRAY(s->a, struct str, status->reasons.n + 1);
    for (uint32_t i = 0; i < status->reasons.n; i++)
        reasons[i] = arena_str(s->a, status->reasons.v[i]);
    s->status = (struct sched_status){status->code, {reasons, status->reasons.n}};
    s->done = true;
}

void site_await(struct site *s)
{
    while (!s->done)
        net_loop_run_once(s->api.loop, true);
    s->done = false;
    fake_api_settle(&s->api);
}

struct object *site_object(const struct doc *d)
{
    static const struct object_opts PLAIN;
    return d && d->type == DOC_MAP ? object_of_doc(d, &PLAIN, NULL) : NULL;
}

/* ---- as recorded ---- */

struct doc site_status(struct site *s, const struct sched_status *status)
{
    static const char *const CODES[] = {"Success", "Error", "Unschedulable",
                                        "UnschedulableAndUnresolvable", "Skip"};
    struct doc d = doc_make_map(), list = doc_make_list();
    doc_set_text(s->a, &d, "code", str_from(CODES[status->code]));
    for (uint32_t i = 0; i < status->reasons.n; i++)
        doc_append(s->a, &list, doc_make_string(s->a, status->reasons.v[i]));
    if (status->reasons.n)
        doc_set(s->a, &d, "reasons", list);
    if (status->code == SCHED_ERROR && status->reasons.n)
        doc_set_text(s->a, &d, "error", status->reasons.v[0]);
    return d;
}

/* Without what several values would do for. */
static void plain(struct doc *d)
{
    static const char *const FREE[] = {
        "uid", "resourceVersion", "shareID", "allocationTimestamp", "apiVersion", "kind"};
    bool owner = doc_get(d, "controller") || doc_get(d, "resource");
    for (size_t i = 0; d->type == DOC_MAP && !owner && i < sizeof FREE / sizeof *FREE;
         i++)
        doc_remove(d, str_from(FREE[i]));
    for (uint32_t i = 0; i < (d->type == DOC_MAP ? d->n : 0); i++)
        plain(&d->members[i].value);
    for (uint32_t i = 0; i < (d->type == DOC_LIST ? d->n : 0); i++)
        plain(&d->items[i]);
}

void site_check(struct site *s, const char *field, const struct doc *want,
                const struct doc *got)
{
    static const struct doc NONE = {.type = DOC_NULL};
    struct doc w = doc_dup(s->a, want ? want : &NONE), g = doc_dup(s->a, got);
    plain(&w);
    plain(&g);
    w = golden_lean(&w, s->a);
    g = golden_lean(&g, s->a);
    bool nothing = (g.type == DOC_LIST || g.type == DOC_MAP) && g.n == 0;
    if ((w.type == DOC_LIST || w.type == DOC_MAP) && w.n == 0)
        w = NONE;
    golden_check_doc(s->c, field, golden_want(s->c, field, &w), nothing ? &NONE : &g);
}

static int by_name(const void *a, const void *b)
{
    return str_cmp(doc_get_text(doc_get(a, "metadata"), "name"),
                   doc_get_text(doc_get(b, "metadata"), "name"));
}

static struct doc sorted(struct doc list)
{
    if (list.n)
        qsort(list.items, list.n, sizeof *list.items, by_name);
    return list;
}

struct doc site_claims(struct site *s)
{
    return sorted(doc_dup(s->a, fake_api_list(&s->api, "resourceclaims")));
}

struct doc site_actions(struct site *s)
{
    struct doc list = s->api.actions;
    s->api.actions = doc_make_list();
    return list;
}

static struct doc in_flight(struct site *s)
{
    struct doc list = doc_make_list();
    strmap_each(&s->dra->flights, e)
    {
        const struct dra_flight *f = e->value.ptr;
        doc_append(s->a, &list, doc_dup(s->a, f->claim->doc));
    }
    return sorted(list);
}

static struct doc pod_status(struct site *s)
{
    const struct doc *list = fake_api_list(&s->api, "pods");
    const struct doc *status = list->n ? doc_get(&list->items[0], "status") : NULL;
    return status ? *status : doc_make_map();
}

/* ---- a pod ---- */

enum { LONG_BINDING_MS = 60000, RECORDER_S = 30 };

struct walk {
    struct site s;
    struct object *pod;
    struct dra_cycle *cycle;
    struct dra_group *group;
    struct sched_node *nodes;
    uint32_t nnodes;
    struct str node; /* where it is reserved */
    int64_t *scores; /* of the first nodes */
    uint32_t nscores;
    uint64_t binding_ms;
    const struct doc *claims; /* as last recorded */
};

static void add_pods(struct walk *w, struct sched_node *n)
{
    const struct doc *list = doc_get(w->s.in, "existingPods");
    for (uint32_t i = 0; list && list->type == DOC_LIST && i < list->n; i++) {
        struct view_pod *view = view_pod_new(&list->items[i], w->s.a, NULL);
        struct sched_pod pod;
        if (!view || !str_eq(view->node_name, n->view->meta.name))
            continue;
        sched_pod_init(&pod, view, w->s.a);
        sched_node_add(n, &pod, w->s.a);
    }
}

static void read_nodes(struct walk *w)
{
    const struct doc *list = doc_get(w->s.in, "nodes");
    w->nnodes = list && list->type == DOC_LIST ? list->n : 0;
    w->nodes = ARENA_ARRAY(w->s.a, struct sched_node, w->nnodes + 1);
    w->scores = ARENA_ARRAY(w->s.a, int64_t, w->nnodes + 1);
    for (uint32_t i = 0; i < w->nnodes; i++) {
        struct view_node *v = view_node_new(&list->items[i], w->s.a, NULL);
        sched_node_init(&w->nodes[i], v, w->s.a);
        add_pods(w, &w->nodes[i]);
    }
}

static struct sched_node *node_of(struct walk *w, struct str name)
{
    for (uint32_t i = 0; i < w->nnodes; i++)
        if (str_eq(w->nodes[i].view->meta.name, name))
            return &w->nodes[i];
    return NULL;
}

static uint64_t milliseconds(const struct doc *in, const char *key)
{
    double v = 0;
    const struct doc *d = doc_get(in, key);
    if (!d || !doc_double(d, &v) || v <= 0)
        return 0;
    return v < 0.001 ? 1 : (uint64_t)(v * 1000);
}

static void take_in_flight(struct walk *w)
{
    const struct doc *list = doc_get(w->s.in, "inFlightClaims");
    for (uint32_t i = 0; list && list->type == DOC_LIST && i < list->n; i++)
        dra_take_off(w->s.dra, object_of_doc(&list->items[i], &dra_claim_opts, NULL),
                     NULL);
}

static void begin(struct walk *w)
{
    const struct doc *failures = doc_get(w->s.in, "failures");
    const struct doc *pod = doc_get(w->s.in, "pod");
    bool fail_patch = false;
    if (failures && failures->type == DOC_LIST)
        w->s.api.failures = doc_dup(w->s.a, failures);
    for (uint32_t i = 0; i < w->s.api.failures.n; i++) /* the server has refused them */
        doc_set(w->s.a, &w->s.api.failures.items[i], "status", doc_make_int(w->s.a, 422));
    if (doc_get_bool(w->s.in, "failPatch", &fail_patch) && fail_patch) {
        struct doc d = doc_make_map();
        doc_set_text(w->s.a, &d, "verb", STR("patch"));
        doc_set_text(w->s.a, &d, "error", STR("patch error"));
        doc_append(w->s.a, &w->s.api.failures, d);
    }
    fake_api_put(&w->s.api, "pods", pod, false);
    take_in_flight(w);
    read_nodes(w);
    struct dra_args args = {.filter_ms = milliseconds(w->s.in, "filterTimeoutSeconds"),
                            .binding_ms = milliseconds(w->s.in, "bindingTimeoutSeconds")};
    w->binding_ms = args.binding_ms;
    if (doc_path(pod, "spec.schedulingGroup"))
        w->group = dra_group_new(w->s.dra);
    w->pod = site_object(pod);
    struct view_pod *view = view_pod_new(w->pod->doc, w->s.a, NULL);
    w->cycle = dra_cycle_new(w->s.dra, &args, w->pod, view, w->group);
}

static bool pods_active(struct walk *w)
{
    const struct doc *list = fake_api_list(&w->s.api, "pods");
    for (uint32_t i = 0; i < list->n; i++)
        if (doc_path(&list->items[i], "spec.nodeName"))
            return true;
    return false;
}

/* ---- points ---- */

static void post_filter(struct walk *w)
{
    const struct doc *groups = doc_get(w->s.in, "podGroups");
    struct object *group = groups && groups->n ? site_object(&groups->items[0]) : NULL;
    if (group && w->group)
        dra_group_post_filter(w->group, group, pods_active(w), &w->pod, 1, site_done,
                              &w->s);
    else
        dra_post_filter(w->cycle, site_done, &w->s);
    site_await(&w->s);
    object_unref(group);
}

static void reserve(struct walk *w)
{
    uint32_t best = 0;
    for (uint32_t i = 1; i < w->nnodes; i++)
        if (w->scores[i] > w->scores[best])
            best = i;
    w->node = w->nnodes ? w->nodes[best].view->meta.name : STR_NONE;
    w->s.status = dra_reserve(w->cycle, w->node);
}

static void ask(struct walk *w, struct str point)
{
    w->s.status = dra_ok();
    if (str_is(point, "PreEnqueue")) {
        w->s.status = dra_pre_enqueue(w->s.dra, w->pod, w->s.a);
    } else if (str_is(point, "prefilter")) {
        w->s.status = dra_pre_filter(w->cycle);
    } else if (str_starts(point, STR("filter/"))) {
        w->s.status = dra_filter(w->cycle, node_of(w, str_sub(point, 7, SIZE_MAX)));
    } else if (str_is(point, "postfilter")) {
        post_filter(w);
    } else if (str_is(point, "reserve")) {
        reserve(w);
    } else if (str_is(point, "prebind")) {
        dra_pre_bind(w->cycle, site_done, &w->s);
        if (w->binding_ms >= LONG_BINDING_MS) /* the recorder looked for some seconds */
            w->s.now += RECORDER_S;
        site_await(&w->s);
    } else if (str_starts(point, STR("unreserve"))) {
        dra_unreserve(w->cycle, site_done, &w->s);
        site_await(&w->s);
    }
}

static struct doc value_of(struct walk *w, struct str point)
{
    struct doc list = doc_make_list();
    if (str_is(point, "preBindPreFlight"))
        return doc_make_string(w->s.a, dra_pre_bind_needed(w->cycle) ? STR("Success")
                                                                     : STR("Skip"));
    if (str_starts(point, STR("score/"))) {
        struct sched_node *n = node_of(w, str_sub(point, 6, SIZE_MAX));
        w->scores[w->nscores] = dra_score(w->cycle, n->view->meta.name);
        return doc_make_int(w->s.a, w->scores[w->nscores++]);
    }
    dra_normalize(w->scores, w->nscores);
    for (uint32_t i = 0; i < w->nscores; i++) {
        struct doc d = doc_make_map();
        doc_set_text(w->s.a, &d, "Name", w->nodes[i].view->meta.name);
        doc_set(w->s.a, &d, "Score", doc_make_int(w->s.a, w->scores[i]));
        doc_append(w->s.a, &list, d);
    }
    return list;
}

/* The recorder looked at the pod itself. */
static struct doc actions_wanted(struct walk *w, const struct doc *step)
{
    const struct doc *list = doc_get(step, "actions");
    struct doc d = doc_make_list();
    for (uint32_t i = 0; list && list->type == DOC_LIST && i < list->n; i++)
        if (!doc_is_string(doc_get(&list->items[i], "verb"), "get") ||
            !doc_is_string(doc_get(&list->items[i], "resource"), "pods"))
            doc_append(w->s.a, &d, list->items[i]);
    return d;
}

static void check_after(struct walk *w, const struct doc *step)
{
    struct doc wanted = actions_wanted(w, step);
    struct doc claims = site_claims(&w->s), flights = in_flight(&w->s),
               actions = site_actions(&w->s), status = pod_status(&w->s);
    if (doc_get(step, "claims"))
        w->claims = doc_get(step, "claims");
    site_check(&w->s, "claims", w->claims, &claims);
    site_check(&w->s, "inFlight", doc_get(step, "inFlight"), &flights);
    site_check(&w->s, "actions", &wanted, &actions);
    if (doc_get(step, "podStatus"))
        site_check(&w->s, "podStatus", doc_get(step, "podStatus"), &status);
}

static void change(struct walk *w, const struct doc *what)
{
    const char *resource = resource_of(doc_get_text(what, "kind"));
    const struct doc *object = doc_get(what, "object");
    fake_api_put(&w->s.api, resource, object ? object : what, false);
    fake_api_tell(&w->s.api, "MODIFIED", resource, object ? object : what);
    fake_api_settle(&w->s.api);
}

static void take_step(struct walk *w, const struct doc *step)
{
    struct str point = doc_get_text(step, "point");
    if (doc_get(step, "apply")) {
        change(w, doc_get(step, "apply"));
    } else if (doc_get(step, "value")) {
        struct doc got = value_of(w, point);
        golden_check_doc(w->s.c, "value", doc_get(step, "value"), &got);
    } else {
        ask(w, point);
        struct doc got = site_status(&w->s, &w->s.status);
        struct str field = arena_printf(w->s.a, "status of %.*s", STR_ARG(point));
        site_check(&w->s, field.p, doc_get(step, "status"), &got);
        check_after(w, step);
    }
}

static void run_pod(struct golden_case *c)
{
    struct walk w = {.s = {.c = c}};
    struct api_gates gates = site_gates(doc_path(c->doc, "in.features"));
    const struct doc *steps = doc_get(c->doc, "steps");
    site_open(&w.s, &gates);
    begin(&w);
    for (uint32_t i = 0; i < steps->n; i++)
        take_step(&w, &steps->items[i]);
    dra_cycle_free(w.cycle);
    dra_group_free(w.group);
    object_unref(w.pod);
    site_close(&w.s);
}

static void run_case(struct golden *g, struct golden_case *c)
{
    (void)g;
    if (str_starts(str_from(c->id), STR("plugin/")))
        run_pod(c);
    else
        parts_run(c);
}

const struct golden_runner golden_schedplugin = {.folder = "schedplugin",
                                                 .run_case = run_case};
