/* SPDX-License-Identifier: Apache-2.0 */
/*
 * golden/eviction: which pods a taint sends away and when, what the controller does about
 * it, and what a rule's status says. Events are told to the state straight; the work is
 * done against an API server of documents, by a clock that the case moves.
 */
#include <stdlib.h>

#include "api/timestamp.h"
#include "base/mem.h"
#include "control/eviction_work.h"
#include "fake_api.h"
#include "golden/golden.h"

struct site {
    struct eviction_work work; /* first */
    struct golden_case *c;
    struct arena *a;
    struct fake_api api;
    struct worker *worker;
    int64_t now_ms;
    struct doc ready, later; /* keys; keys with delays */
    struct doc told;
    bool failed;
};

/* ---- what is asked of a site ---- */

static bool has_text(const struct doc *list, struct str text)
{
    for (uint32_t i = 0; i < list->n; i++)
        if (str_eq(doc_str(&list->items[i]), text))
            return true;
    return false;
}

/* The earliest counts. */
static void add_later(struct site *s, struct str key, int64_t at_ms)
{
    for (uint32_t i = 0; i < s->later.n; i++) {
        int64_t had;
        doc_get_int64(&s->later.items[i], "at", &had);
        if (!str_eq(doc_get_text(&s->later.items[i], "item"), key))
            continue;
        if (at_ms < had)
            doc_set(s->a, &s->later.items[i], "at", doc_make_int(s->a, at_ms));
        return;
    }
    struct doc d = doc_make_map();
    doc_set(s->a, &d, "item", doc_make_string(s->a, key));
    doc_set(s->a, &d, "at", doc_make_int(s->a, at_ms));
    doc_append(s->a, &s->later, d);
}

static void add(void *ctx, struct str key, uint64_t ms)
{
    struct site *s = ctx;
    if (ms)
        add_later(s, key, s->now_ms + (int64_t)ms);
    else if (!has_text(&s->ready, key))
        doc_append(s->a, &s->ready, doc_make_string(s->a, key));
}

static void tell(void *ctx, const struct object *pod, const char *text)
{
    struct site *s = ctx;
    struct str line = arena_printf(s->a, "%.*s Normal DeviceTaintManagerEviction %s",
                                   STR_ARG(pod->key), text);
    doc_append(s->a, &s->told, doc_make_string(s->a, line));
}

static int64_t now_ms(void *ctx)
{
    return ((struct site *)ctx)->now_ms;
}

static void on_log(void *ctx, const char *text)
{
    struct site *s = ctx;
    golden_fail(s->c, "%s", text);
    s->failed = true;
}

/* ---- the state as recorded ---- */

static int by_json(const void *a, const void *b)
{
    struct strbuf x = STRBUF_INIT, y = STRBUF_INIT;
    doc_write_json(a, DOC_JSON_SORT, &x);
    doc_write_json(b, DOC_JSON_SORT, &y);
    int c = str_cmp(strbuf_str(&x), strbuf_str(&y));
    strbuf_release(&x);
    strbuf_release(&y);
    return c;
}

static struct doc sorted(struct doc list)
{
    if (list.n)
        qsort(list.items, list.n, sizeof *list.items, by_json);
    return list;
}

static void set_text(struct site *s, struct doc *d, const char *key, struct str text)
{
    doc_set(s->a, d, key, doc_make_string(s->a, text));
}

static struct doc due_doc(struct site *s, const struct due *due)
{
    struct doc d = doc_make_map(), reasons = doc_make_list();
    if (!due)
        return doc_make_null();
    for (size_t i = 0; i < due->reasons.n; i++)
        doc_append(s->a, &reasons,
                   doc_make_string(s->a, taint_ref_text(&due->reasons.v[i], s->a)));
    set_text(s, &d, "when", timestamp_print(due->when, 0, false, s->a));
    doc_set(s->a, &d, "reasons", reasons);
    return d;
}

static struct doc claims_doc(struct site *s)
{
    struct doc list = doc_make_list();
    strmap_each(&s->work.taints.claims, e)
    {
        const struct tainted_claim *c = e->value.ptr;
        struct doc d = doc_make_map();
        set_text(s, &d, "claim", c->claim->key);
        doc_set(s->a, &d, "eviction", due_doc(s, c->due));
        doc_append(s->a, &list, d);
    }
    return list;
}

static struct doc pending_doc(struct site *s)
{
    struct doc list = doc_make_list();
    strmap_each(&s->work.taints.delete_at, e)
    {
        const struct pending *p = e->value.ptr;
        struct doc d = doc_make_map();
        set_text(s, &d, "namespace", p->pod->namespace);
        set_text(s, &d, "name", p->pod->name);
        set_text(s, &d, "uid", p->pod->uid);
        doc_set(s->a, &d, "eviction", due_doc(s, p->due));
        doc_append(s->a, &list, d);
    }
    return list;
}

static struct doc queue_doc(struct site *s)
{
    struct doc d = doc_make_map(), later = doc_make_list();
    for (uint32_t i = 0; i < s->later.n; i++) {
        struct doc row = doc_make_map();
        int64_t at;
        doc_get_int64(&s->later.items[i], "at", &at);
        set_text(s, &row, "item", doc_get_text(&s->later.items[i], "item"));
        doc_set(s->a, &row, "delaySeconds", doc_make_int(s->a, (at - s->now_ms) / 1000));
        doc_append(s->a, &later, row);
    }
    doc_set(s->a, &d, "later", later);
    doc_set(s->a, &d, "ready", s->ready);
    return d;
}

static struct doc names_doc(struct site *s, const struct strmap *m, bool counts)
{
    struct doc list = counts ? doc_make_map() : doc_make_list();
    strmap_each(m, e) if (counts)
        doc_set_str(s->a, &list, e->key, doc_make_int(s->a, (int64_t)e->value.u));
    else doc_append(s->a, &list, doc_make_string(s->a, e->key));
    return list;
}

/* Lists in any order: sorted on both sides. A missing generation is the 0 it is. */
static struct doc comparable(struct site *s, const struct doc *d)
{
    struct doc out = *d;
    if (d->type == DOC_MAP) {
        out = doc_make_map();
        for (uint32_t i = 0; i < d->n; i++)
            if (!str_is(doc_key(&d->members[i]), "observedGeneration"))
                doc_add_str(s->a, &out, doc_key(&d->members[i]),
                            comparable(s, &d->members[i].value));
    } else if (d->type == DOC_LIST) {
        out = doc_make_list();
        for (uint32_t i = 0; i < d->n; i++)
            doc_append(s->a, &out, comparable(s, &d->items[i]));
        out = sorted(out);
    }
    return golden_lean(&out, s->a);
}

static void check(struct site *s, const char *what, const struct doc *state,
                  const char *field, struct doc got)
{
    static const struct doc NONE = {.type = DOC_NULL};
    const struct doc *upstream = doc_get(state, field);
    struct doc want = comparable(s, upstream ? upstream : &NONE),
               have = comparable(s, &got);
    bool nothing = (want.type == DOC_NULL || want.n == 0) && have.n == 0;
    struct str name = arena_printf(s->a, "%s.%s", what, field);
    if (!nothing)
        golden_check_doc(s->c, name.p, &want, &have);
}

static void check_state(struct site *s, const char *what, const struct doc *state)
{
    check(s, what, state, "claims", claims_doc(s));
    check(s, what, state, "deletePodAt", pending_doc(s));
    check(s, what, state, "queue", queue_doc(s));
    check(s, what, state, "evictingRules", names_doc(s, &s->work.taints.rules, false));
    check(s, what, state, "evictedPerRuleUID",
          names_doc(s, &s->work.taints.evicted_by, true));
}

/* ---- events ---- */

static const struct {
    const char *kind, *resource;
    void (*on)(struct taints *t, const struct object *old, const struct object *now);
} KINDS[] = {
    {"Pod", "pods", taints_on_pod},
    {"ResourceClaim", "resourceclaims", taints_on_claim},
    {"ResourceSlice", "resourceslices", taints_on_slice},
    {"DeviceTaintRule", "devicetaintrules", taints_on_rule},
};

static struct object *object_from(const struct doc *d)
{
    static const struct object_opts PLAIN;
    return d && d->type == DOC_MAP ? object_of_doc(d, &PLAIN, NULL) : NULL;
}

/* old of an event is another copy: the state's own is what counts. */
static void happen(struct site *s, const struct doc *event)
{
    struct object *old = object_from(doc_get(event, "old")),
                  *now = object_from(doc_get(event, "new"));
    for (size_t i = 0; i < sizeof KINDS / sizeof *KINDS; i++) {
        if (!doc_is_string(doc_get(event, "kind"), KINDS[i].kind))
            continue;
        if (now)
            fake_api_put(&s->api, KINDS[i].resource, now->doc, false);
        if (i == 3)
            eviction_keep_rule(&s->work, old, now);
        KINDS[i].on(&s->work.taints, old, now);
    }
    object_unref(old);
    object_unref(now);
}

static void happen_all(struct site *s, const struct doc *events)
{
    for (uint32_t i = 0; events && events->type == DOC_LIST && i < events->n; i++)
        if (events->items[i].type == DOC_LIST)
            happen_all(s, &events->items[i]);
        else
            happen(s, &events->items[i]);
}

/* ---- what there was before ---- */

static void nothing(void *ctx, struct str key, uint64_t ms)
{
    (void)ctx;
    (void)key;
    (void)ms;
}

static void say_nothing(void *ctx, const struct object *pod, const char *text)
{
    (void)ctx;
    (void)pod;
    (void)text;
}

static void begin_with(struct site *s, const char *field, size_t kind)
{
    const struct doc *list = doc_get(doc_get(s->c->doc, "in"), field);
    for (uint32_t i = 0; list && list->type == DOC_LIST && i < list->n; i++) {
        const struct doc *d = doc_get(&list->items[i], "claim");
        struct doc event = doc_make_map();
        doc_set(s->a, &event, "kind", doc_make_string(s->a, str_from(KINDS[kind].kind)));
        doc_set(s->a, &event, "new", d ? *d : list->items[i]);
        happen(s, &event);
    }
}

/* Where a case leaves out why a claim is due, the state does not know either. */
static void forget_reasons(struct site *s)
{
    const struct doc *list = doc_get(doc_get(s->c->doc, "in"), "claims");
    for (uint32_t i = 0; list && list->type == DOC_LIST && i < list->n; i++) {
        const struct doc *meta = doc_get(doc_get(&list->items[i], "claim"), "metadata"),
                         *due = doc_get(&list->items[i], "eviction"),
                         *reasons = doc_get(due, "reasons");
        struct str ns = doc_get_text(meta, "namespace"),
                   name = doc_get_text(meta, "name");
        struct strmap_entry *e =
            strmap_find(&s->work.taints.claims,
                        arena_printf(s->a, "%.*s/%.*s", STR_ARG(ns), STR_ARG(name)));
        struct tainted_claim *c = e ? e->value.ptr : NULL;
        if (!c || !c->due || !due || due->type != DOC_MAP ||
            (reasons && reasons->type == DOC_LIST))
            continue;
        struct due *bare = mem_zalloc(sizeof *bare);
        bare->when = c->due->when;
        due_free(c->due);
        c->due = bare;
    }
}

/* As if it had always been so: nobody is told, and nothing is to be done. */
static void begin_state(struct site *s)
{
    static const struct taints_ops QUIET = {nothing, say_nothing, now_ms},
                                   OPS = {add, tell, now_ms};
    eviction_work_init(&s->work, &QUIET, s);
    doc_get_bool(doc_get(s->c->doc, "in"), "workloadResourceClaims",
                 &s->work.taints.group_claims);
    begin_with(s, "rules", 3);
    begin_with(s, "slices", 2);
    begin_with(s, "claims", 1);
    begin_with(s, "pods", 0);
    forget_reasons(s);
    s->work.taints.ops = &OPS;
}

/* ---- working ---- */

static void work_off(struct site *s)
{
    struct doc ready = sorted(s->ready);
    s->ready = doc_make_list();
    for (uint32_t i = ready.n; i-- > 0;)
        worker_add(s->worker, doc_str(&ready.items[i]));
    while (worker_length(s->worker))
        net_loop_run_once(s->api.loop, true);
}

static void advance(struct site *s, const struct doc *step)
{
    struct doc later = s->later;
    int64_t seconds = 0, at;
    doc_get_int64(step, "advanceSeconds", &seconds);
    s->now_ms += seconds * 1000;
    s->later = doc_make_list();
    for (uint32_t i = 0; i < later.n; i++) {
        struct str key = doc_get_text(&later.items[i], "item");
        doc_get_int64(&later.items[i], "at", &at);
        add(s, key, at > s->now_ms ? (uint64_t)(at - s->now_ms) : 0);
    }
}

/* What the API server has by now comes back as events. */
static void come_back(struct site *s)
{
    const struct doc *pods = fake_api_list(&s->api, "pods"),
                     *rules = fake_api_list(&s->api, "devicetaintrules");
    struct strmap *known = &s->work.taints.pods;
    for (uint32_t i = 0; i < known->n; i++) {
        struct object *pod = known->entries[i].key.p ? known->entries[i].value.ptr : NULL;
        bool there = false;
        for (uint32_t k = 0; pod && k < pods->n; k++)
            there |= str_eq(doc_get_text(doc_get(&pods->items[k], "metadata"), "uid"),
                            pod->uid);
        if (pod && !there) {
            object_ref(pod);
            taints_on_pod(&s->work.taints, pod, NULL);
            object_unref(pod);
        }
    }
    for (uint32_t i = 0; i < rules->n; i++) {
        struct object *now = object_from(&rules->items[i]);
        eviction_keep_rule(&s->work, now, now);
        object_unref(now);
    }
}

static void run_steps(struct site *s)
{
    const struct doc *steps = doc_get(s->c->doc, "process");
    for (uint32_t i = 0; steps && steps->type == DOC_LIST && i < steps->n && !s->failed;
         i++) {
        struct str what = arena_printf(s->a, "process[%u]", i);
        work_off(s);
        check_state(s, what.p, &steps->items[i]);
        check(s, what.p, &steps->items[i], "pods", *fake_api_list(&s->api, "pods"));
        check(s, what.p, &steps->items[i], "rules",
              *fake_api_list(&s->api, "devicetaintrules"));
        come_back(s);
        advance(s, &steps->items[i]);
    }
}

static void run_case(struct golden *g, struct golden_case *c)
{
    const struct doc *in = doc_get(c->doc, "in");
    struct site s = {.c = c,
                     .a = c->arena,
                     .ready = doc_make_list(),
                     .later = doc_make_list(),
                     .told = doc_make_list()};
    struct worker_opts opts = {.log = on_log, .log_ctx = &s};
    int32_t nanos;
    (void)g;
    timestamp_parse(doc_get_text(in, "now"), &s.now_ms, &nanos);
    s.now_ms *= 1000;
    fake_api_open(&s.api, s.a);
    begin_state(&s);
    s.worker = worker_new(s.api.client, &opts, eviction_sync, &s.work);
    happen_all(&s, doc_get(in, "events"));
    check_state(&s, "afterEvents", doc_get(c->doc, "afterEvents"));
    run_steps(&s);
    check(&s, "case", c->doc, "recordedEvents", s.told);
    worker_free(s.worker);
    eviction_work_fini(&s.work);
    fake_api_close(&s.api);
}

const struct golden_runner golden_eviction = {.folder = "eviction", .run_case = run_case};
