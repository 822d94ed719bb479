/* SPDX-License-Identifier: Apache-2.0 */
/* golden/schedplugin: the cases of one function each. */
#include <stdlib.h>

#include "golden/schedplugin.h"
#include "sched/dra_mapped.h"

static const struct doc *list_at(const struct doc *d, const char *key)
{
    static const struct doc NONE = {.type = DOC_LIST};
    const struct doc *list = doc_get(d, key);
    return list && list->type == DOC_LIST ? list : &NONE;
}

static struct api_gates all_gates(void)
{
    struct api_gates gates = api_gates_default;
    api_gate_set(&gates, API_GATE_DRAWorkloadResourceClaims, false);
    return gates;
}

/* ---- hints ---- */

static struct object *side(struct site *s, const char *key)
{
    const struct doc *d = doc_get(doc_get(s->in, key), "object");
    return d && d->type == DOC_MAP ? object_of_doc(d, &dra_claim_opts, NULL) : NULL;
}

static void check_hint(struct site *s, enum dra_hint hint)
{
    golden_check_str(s->c, "hint", doc_str(doc_get(s->c->doc, "out")),
                     hint == DRA_HINT_QUEUE ? STR("Queue") : STR("QueueSkip"));
}

static void run_hint_claim(struct site *s)
{
    bool unknown = false;
    doc_get_bool(doc_get(s->in, "old"), "finalStateUnknown", &unknown);
    struct object *pod = site_object(doc_get(s->in, "pod"));
    struct object *old = unknown ? NULL : side(s, "old"), *new = side(s, "new");
    struct dra_event e = {DRA_CLAIM, old, new, false};
    check_hint(s, dra_hint(s->dra, pod, &e));
    object_unref(old);
    object_unref(new);
    object_unref(pod);
}

static void run_hint_pod(struct site *s)
{
    struct object *pod = site_object(doc_get(doc_get(s->in, "new"), "object"));
    if (pod)
        check_hint(s, dra_hint_pod(s->dra, pod));
    else
        golden_check_str(s->c, "hint", doc_str(doc_get(s->c->doc, "out")), STR("error"));
    object_unref(pod);
}

/* ---- scores ---- */

static const struct view_allocation *allocation_of(struct site *s, const struct doc *d)
{
    struct doc claim = doc_make_map(), status = doc_make_map();
    doc_set(s->a, &status, "allocation", *d);
    doc_set(s->a, &claim, "status", status);
    struct view_claim *v = view_claim_new(&claim, s->a, NULL);
    return v->allocation;
}

/* That each claim has an allocation is the plugin's own doing: where upstream finds one
 * missing and fails, there is nothing to ask. */
static void run_score(struct site *s)
{
    const struct doc *claims = list_at(s->in, "claims"), *out = doc_get(s->c->doc, "out"),
                     *allocations = list_at(s->in, "allocations");
    int64_t score = 0, want = 0;
    for (uint32_t i = 0; i < claims->n; i++) {
        struct view_claim *v = view_claim_new(&claims->items[i], s->a, NULL);
        if (i < allocations->n)
            score += dra_score_claim(v, allocation_of(s, &allocations->items[i]));
    }
    doc_get_int64(out, "score", &want);
    golden_check_int(s->c, "score", want, score);
}

static void run_normalize(struct site *s)
{
    const struct doc *in = doc_get(s->c->doc, "in"), *out = doc_get(s->c->doc, "out");
    uint32_t n = in->type == DOC_LIST ? in->n : 0;
    int64_t *scores = ARENA_ARRAY(s->a, int64_t, n + 1);
    for (uint32_t i = 0; i < n; i++)
        doc_get_int64(&in->items[i], "Score", &scores[i]);
    dra_normalize(scores, n);
    for (uint32_t i = 0; i < n; i++) {
        int64_t want = 0;
        doc_get_int64(&out->items[i], "Score", &want);
        golden_check_int(s->c, "score", want, scores[i]);
    }
}

/* ---- what is allocated ---- */

static int by_text(const void *a, const void *b)
{
    return str_cmp(doc_str(a), doc_str(b));
}

/* Recorded as a set. */
static void sort_texts(struct doc *list)
{
    uint32_t n = 0;
    if (list->type != DOC_LIST || !list->n)
        return;
    qsort(list->items, list->n, sizeof *list->items, by_text);
    for (uint32_t i = 0; i < list->n; i++)
        if (!n || by_text(&list->items[n - 1], &list->items[i]))
            list->items[n++] = list->items[i];
    list->n = n;
}

static void run_allocated(struct site *s)
{
    static const char *const FIELDS[] = {"devices", "shared", "capacity"};
    const struct doc *flights = doc_get(s->in, "inFlight"); /* by UID */
    for (uint32_t i = 0; flights && i < flights->n; i++) {
        struct doc d = doc_dup(s->a, &flights->members[i].value);
        doc_set_text(s->a, (struct doc *)doc_get(&d, "metadata"), "uid",
                     doc_key(&flights->members[i]));
        dra_take_off(s->dra, object_of_doc(&d, &dra_claim_opts, NULL), NULL);
    }
    struct doc got = dra_allocated(s->dra, s->a);
    for (int i = 0; i < 3; i++) {
        struct doc *list = (struct doc *)doc_get(&got, FIELDS[i]);
        sort_texts(list);
        site_check(s, FIELDS[i], doc_get(doc_get(s->c->doc, "out"), FIELDS[i]), list);
    }
}

/* ---- extended resources ---- */

static void put_classes(struct site *s)
{
    const struct doc *map = doc_get(s->in, "classOfResource");
    for (uint32_t i = 0; map && i < map->n; i++) {
        struct doc d = doc_make_map(), meta = doc_make_map(), spec = doc_make_map();
        doc_set_text(s->a, &meta, "name", doc_str(&map->members[i].value));
        doc_set_text(s->a, &spec, "extendedResourceName", doc_key(&map->members[i]));
        doc_set(s->a, &d, "metadata", meta);
        doc_set(s->a, &d, "spec", spec);
        fake_api_put(&s->api, "deviceclasses", &d, true);
    }
    fake_api_settle(&s->api);
}

static int by_name(const void *a, const void *b)
{
    return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

static struct view_strs names_of(struct site *s, const struct doc *map)
{
    struct str *v = ARENA_ARRAY(s->a, struct str, (map ? map->n : 0) + 1);
    uint32_t n = 0;
    for (; map && map->type == DOC_MAP && n < map->n; n++)
        v[n] = doc_key(&map->members[n]);
    if (n)
        qsort(v, n, sizeof *v, by_name);
    return (struct view_strs){v, n};
}

static int by_mapping(const void *a, const void *b)
{
    static const char *const KEYS[] = {"requestName", "containerName", "resourceName"};
    int c = 0;
    for (int i = 0; i < 3 && c == 0; i++)
        c = str_cmp(doc_get_text(a, KEYS[i]), doc_get_text(b, KEYS[i]));
    return c;
}

static struct doc sorted(struct site *s, const struct doc *list)
{
    struct doc d = list && list->type == DOC_LIST ? doc_dup(s->a, list) : doc_make_list();
    if (d.n)
        qsort(d.items, d.n, sizeof *d.items, by_mapping);
    return d;
}

static void run_extended(struct site *s)
{
    const struct doc *out = doc_get(s->c->doc, "out");
    struct view_pod *pod = view_pod_new(doc_get(s->in, "pod"), s->a, NULL);
    struct view_strs names = names_of(s, doc_get(s->in, "resources"));
    struct doc requests, mappings;
    put_classes(s);
    dra_extended_requests(s->dra, pod, &names, s->a, &requests, &mappings);
    struct doc want = sorted(s, doc_get(out, "mappings")), got = sorted(s, &mappings);
    site_check(s, "requests", doc_get(out, "requests"), &requests);
    site_check(s, "mappings", &want, &got);
}

/* ---- resources of nodes ---- */

static void read_mapped(struct site *s, const struct doc *d, struct mapped_claim *out)
{
    const struct view_allocation *al = allocation_of(s, doc_get(d, "allocation"));
    const struct doc *claim = doc_get(d, "claim");
    struct mapped_result *r = ARENA_ARRAY(s->a, struct mapped_result, al->nresults + 1);
    for (uint32_t i = 0; i < al->nresults; i++) {
        const struct view_result *v = &al->results[i];
        r[i] = (struct mapped_result){dra_find_device(s->dra, NULL, v),
                                      v->driver,
                                      v->pool,
                                      v->device,
                                      v->consumed,
                                      v->nconsumed};
    }
    *out = (struct mapped_claim){doc_get_text(claim, "namespace"),
                                 doc_get_text(claim, "name"), STR_NONE, r, al->nresults};
    out->entry = out->name;
}

/* The name that the pod has for a claim. */
static void name_entry(struct site *s, struct mapped_claim *claim)
{
    const struct doc *list = doc_path(doc_get(s->in, "pod"), "spec.resourceClaims");
    for (uint32_t i = 0; list && list->type == DOC_LIST && i < list->n; i++)
        if (str_eq(doc_get_text(&list->items[i], "resourceClaimName"), claim->name))
            claim->entry = doc_get_text(&list->items[i], "name");
}

static void run_mapped(struct site *s)
{
    const struct doc *list = list_at(s->in, "allocations");
    struct mapped_claim *claims = ARENA_ARRAY(s->a, struct mapped_claim, list->n + 1);
    struct err e = ERR_INIT;
    struct doc got;
    for (uint32_t i = 0; i < list->n; i++) {
        read_mapped(s, &list->items[i], &claims[i]);
        name_entry(s, &claims[i]);
    }
    bool ok = dra_mapped_statuses(doc_get(s->in, "pod"), claims, list->n, s->a, &got, &e);
    struct doc error =
        ok ? doc_make_null()
           : doc_make_string(s->a, arena_str(s->a, str_from(err_text(&e))));
    struct doc none = doc_make_list();
    site_check(s, "error", doc_path(s->c->doc, "out.error"), &error);
    site_check(s, "statuses", doc_path(s->c->doc, "out.statuses"), ok ? &got : &none);
    err_release(&e);
}

static void run_cover(struct site *s)
{
    const struct doc *pod = doc_get(s->in, "pod");
    const struct doc *statuses =
        list_at(doc_get(pod, "status"), "nodeAllocatableResourceClaimStatuses");
    struct sched_status status = dra_mapped_cover(pod, statuses, s->a);
    struct doc got = site_status(s, &status);
    site_check(s, "status", doc_get(s->c->doc, "out"), &got);
}

static void read_resources(const struct doc *d, struct amounts *out)
{
    static const struct {
        const char *key, *name;
        int scale;
    } FIELDS[] = {{"MilliCPU", "cpu", -3},
                  {"Memory", "memory", 0},
                  {"EphemeralStorage", "ephemeral-storage", 0}};
    const struct doc *scalars = doc_get(d, "ScalarResources");
    int64_t v = 0;
    for (int i = 0; i < 3; i++)
        if (doc_get_int64(d, FIELDS[i].key, &v)) {
            struct quantity q = quantity_from_int64(v, QUANTITY_DECIMAL_SI);
            q.scale = (int16_t)FIELDS[i].scale;
            amounts_set(out, str_from(FIELDS[i].name), q);
        }
    for (uint32_t i = 0; scalars && scalars->type == DOC_MAP && i < scalars->n; i++)
        if (doc_int64(&scalars->members[i].value, &v))
            amounts_set_int(out, doc_key(&scalars->members[i]), v);
}

static void run_fits(struct site *s)
{
    struct amounts total = {.a = s->a}, used = {.a = s->a}, want = {.a = s->a};
    read_resources(doc_get(s->in, "allocatable"), &total);
    read_resources(doc_get(s->in, "requested"), &used);
    read_resources(doc_get(s->in, "request"), &want);
    struct view_node view = {.allocatable = total.v, .nallocatable = total.n};
    struct sched_node node;
    sched_node_init(&node, &view, s->a);
    for (uint32_t i = 0; i < total.n; i++) {
        const struct quantity *q = amounts_get(&used, total.v[i].name);
        node.used[i].value = q ? *q : QUANTITY_ZERO;
    }
    struct sched_status status = dra_mapped_fits(&node, &want, s->a);
    struct doc got = site_status(s, &status);
    site_check(s, "status", doc_get(s->c->doc, "out"), &got);
}

static void run_slices(struct site *s)
{
    const struct doc *list = list_at(s->in, "slices");
    struct view_node *node = view_node_new(doc_get(s->in, "node"), s->a, NULL);
    struct doc got = doc_make_list();
    for (uint32_t i = 0; i < list->n; i++) {
        struct view_slice *v =
            view_slice_new(&list->items[i], &s->dra->names, s->a, NULL);
        if (dra_slice_is_for(v, node))
            doc_append(s->a, &got, doc_make_string(s->a, v->meta.name));
    }
    site_check(s, "slices", doc_get(s->c->doc, "out"), &got);
}

/* ---- groups ---- */

struct crowd {
    struct site s;
    struct dra_group *group;
    struct object *pods[8], *object;
    struct dra_cycle *cycles[8];
    uint32_t n;
};

static bool is_listed(const struct doc *list, struct str name)
{
    for (uint32_t i = 0; i < list->n; i++)
        if (str_eq(doc_str(&list->items[i]), name))
            return true;
    return false;
}

static void extended_need(struct crowd *w, struct dra_cycle *c, struct str name)
{
    const struct object *pod = c->pod;
    struct object *o = dra_known(w->s.dra, pod->namespace, name);
    const struct doc *notes = o ? doc_path(o->doc, "metadata.annotations") : NULL;
    if (!doc_get(notes, DRA_EXTENDED_NOTE))
        return;
    c->n = c->nusers + 1;
    c->needs[c->nusers] = (struct dra_need){.claim = object_ref(o), .unavailable = true};
}

/* What the filter would have found is given. */
static void prepare(struct crowd *w, struct dra_cycle *c)
{
    const struct doc *names = list_at(w->s.in, "unavailableClaims");
    dra_pre_filter(c);
    for (uint32_t i = 0; i < c->n; i++)
        c->needs[i].unavailable = is_listed(names, c->needs[i].claim->name);
    if (c->needs && names->n)
        extended_need(w, c, doc_str(&names->items[0]));
}

static void add_pod(struct crowd *w, const struct doc *pod)
{
    static const struct dra_args ARGS;
    struct object *o = site_object(pod);
    w->pods[w->n] = o;
    if (doc_get(w->s.in, "claims") && doc_get(w->s.in, "objs")) {
        w->cycles[w->n] = dra_cycle_new(w->s.dra, &ARGS, o,
                                        view_pod_new(o->doc, w->s.a, NULL), w->group);
        prepare(w, w->cycles[w->n]);
    }
    w->n++;
}

static void run_group(struct golden_case *c)
{
    struct crowd w = {.s = {.c = c}};
    struct api_gates gates = site_gates(doc_path(c->doc, "in.features"));
    site_open(&w.s, &gates);
    w.group = dra_group_new(w.s.dra);
    const struct doc *pods = list_at(w.s.in, "unscheduledPods"),
                     *groups = list_at(w.s.in, "podGroups"),
                     *out = doc_get(c->doc, "out");
    for (uint32_t i = 0; i < pods->n && i < 8; i++)
        add_pod(&w, &pods->items[i]);
    w.object = groups->n ? site_object(&groups->items[0]) : NULL;
    dra_group_post_filter(w.group, w.object, false, w.pods, w.n, site_done, &w.s);
    site_await(&w.s);
    struct doc status = site_status(&w.s, &w.s.status), actions = site_actions(&w.s),
               claims = site_claims(&w.s);
    site_check(&w.s, "status", doc_get(out, "status"), &status);
    site_check(&w.s, "actions", doc_get(out, "actions"), &actions);
    site_check(&w.s, "claims", doc_get(out, "claims"), &claims);
    for (uint32_t i = 0; i < w.n; i++) {
        dra_cycle_free(w.cycles[i]);
        object_unref(w.pods[i]);
    }
    object_unref(w.object);
    dra_group_free(w.group);
    site_close(&w.s);
}

/* ---- all of them ---- */

static const struct {
    const char *prefix;
    void (*run)(struct site *s);
} PARTS[] = {
    {"hintClaim/", run_hint_claim},
    {"hintPod/", run_hint_pod},
    {"computeScore/", run_score},
    {"normalize/", run_normalize},
    {"extRequests/", run_extended},
    {"extMappings/", run_extended},
    {"nodeAllocatable/", run_mapped},
    {"podLevelCover/", run_cover},
    {"nodeFits/", run_fits},
    {"slicesForNode/", run_slices},
    {"allocatedState/", run_allocated},
};

static void run_part(struct golden_case *c, void (*run)(struct site *s))
{
    struct site s = {.c = c};
    struct api_gates gates = all_gates();
    bool consumable = false;
    doc_get_bool(doc_get(c->doc, "in"), "consumableCapacity", &consumable);
    api_gate_set(&gates, API_GATE_DRAConsumableCapacity, consumable);
    site_open(&s, &gates);
    site_put(&s, "cachedClaims", "resourceclaims");
    site_put(&s, "slices", "resourceslices");
    fake_api_settle(&s.api);
    run(&s);
    site_close(&s);
}

void parts_run(struct golden_case *c)
{
    if (str_starts(str_from(c->id), STR("podGroupPostFilter/"))) {
        run_group(c);
        return;
    }
    for (size_t i = 0; i < sizeof PARTS / sizeof *PARTS; i++)
        if (str_starts(str_from(c->id), str_from(PARTS[i].prefix))) {
            run_part(c, PARTS[i].run);
            return;
        }
    golden_fail(c, "no such kind of case");
}
