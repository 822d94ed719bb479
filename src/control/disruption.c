/* SPDX-License-Identifier: Apache-2.0 */
#include "control/disruption.h"

#include <stdlib.h>
#include <time.h>

#include "api/edit.h"
#include "api/timestamp.h"
#include "control/disruption_inner.h"

/* For how long an eviction that was granted is waited for, as upstream. */
enum { GOING_S = 120 };
enum { BUDGETS, PODS };

struct state {
    struct resources *resources;
};

static const struct client_kind BUDGET = {"policy", "v1", "poddisruptionbudgets", true};

/* ---- views ---- */

static void read_owner(struct guarded *g, const struct doc *list, struct arena *a)
{
    for (uint32_t i = 0; list && list->type == DOC_LIST && i < list->n; i++) {
        const struct doc *o = &list->items[i];
        bool is = false;
        if (!doc_get_bool(o, "controller", &is) || !is)
            continue;
        g->owner_version = arena_str(a, doc_get_text(o, "apiVersion"));
        g->owner_kind = arena_str(a, doc_get_text(o, "kind"));
        g->owner_name = arena_str(a, doc_get_text(o, "name"));
        g->owner_uid = arena_str(a, doc_get_text(o, "uid"));
    }
}

static const void *view_pod(const struct doc *d, struct arena *a, struct err *e)
{
    struct guarded *g = ARENA_NEW(a, struct guarded);
    const struct doc *meta = doc_get(d, "metadata"),
                     *conditions = doc_path(d, "status.conditions");
    struct view_reader r = {.a = a, .e = e};
    g->labels.v = view_label_map(&r, view_map(&r, meta, "labels"), &g->labels.n);
    read_owner(g, doc_get(meta, "ownerReferences"), a);
    g->deleted = doc_get_text(meta, "deletionTimestamp").n > 0;
    for (uint32_t i = 0; conditions && conditions->type == DOC_LIST && i < conditions->n;
         i++)
        if (doc_is_string(doc_get(&conditions->items[i], "type"), "Ready"))
            g->ready = doc_is_string(doc_get(&conditions->items[i], "status"), "True");
    return r.failed ? NULL : g;
}

static const void *view_budget(const struct doc *d, struct arena *a, struct err *e)
{
    struct selector *s = ARENA_NEW(a, struct selector);
    struct view_reader r = {.a = a, .e = e};
    *s = selector_read(&r, doc_path(d, "spec.selector"));
    return r.failed ? NULL : s;
}

/* ---- counting ---- */

struct kept { /* of work, in its arena */
    struct object *budget;
    int64_t now_s;
};

struct count {
    struct work *w;
    const struct object *budget;
    struct pods pods;
    int64_t healthy, expected, desired, allowed;
    struct doc going;    /* disruptedPods that are still to go */
    uint64_t recheck_ms; /* when the first of them is given up; 0: there is none */
};

static void gather(void *ctx, const struct object *o)
{
    struct count *c = ctx;
    if (str_eq(o->namespace, c->budget->namespace) &&
        selector_matches(c->budget->view, &guarded(o)->labels))
        vec_push_in(c->w->a, &c->pods, o);
}

/* An int, or of a percentage so much of the total, rounded up. */
static int64_t scaled(const struct doc *d, int64_t total)
{
    int64_t n = 0;
    if (d->type != DOC_STRING) {
        doc_int64(d, &n);
        return n;
    }
    n = strtoll(d->s, NULL, 10);
    return (n * total + 99) / 100;
}

static const struct doc *limit(const struct count *c, const char *name)
{
    const struct doc *d = doc_get(doc_get(c->budget->doc, "spec"), name);
    return d && d->type != DOC_NULL ? d : NULL;
}

static enum progress find_desired(struct count *c)
{
    const struct state *s = reconciler_state(reconciler_of(c->w));
    const struct doc *most = limit(c, "maxUnavailable"),
                     *least = limit(c, "minAvailable");
    enum progress p = PROGRESS_DONE;
    if (most || (least && least->type == DOC_STRING))
        p = disruption_scale(c->w, s->resources, &c->pods, &c->expected);
    else
        c->expected = (int64_t)c->pods.n;
    if (most)
        c->desired = c->expected - scaled(most, c->expected);
    else if (least)
        c->desired = scaled(least, c->expected);
    c->desired = c->desired < 0 ? 0 : c->desired;
    return p;
}

/* Pods that were let go and have not gone are not counted on, for two minutes. */
static bool is_going(struct count *c, const struct object *pod, int64_t now_s)
{
    const struct doc *since =
        doc_get_str(doc_path(c->budget->doc, "status.disruptedPods"), pod->name);
    int64_t seconds;
    int32_t nanos;
    if (!since || since->type != DOC_STRING || guarded(pod)->deleted ||
        !timestamp_parse(doc_str(since), &seconds, &nanos) || now_s - seconds >= GOING_S)
        return false;
    uint64_t ms = (uint64_t)(seconds + GOING_S - now_s) * 1000;
    c->recheck_ms = !c->recheck_ms || ms < c->recheck_ms ? ms : c->recheck_ms;
    doc_set_str(c->w->a, &c->going, pod->name, *since);
    return true;
}

static void count_healthy(struct count *c, int64_t now_s)
{
    c->going = doc_make_map();
    for (size_t i = 0; i < c->pods.n; i++) {
        const struct guarded *g = guarded(c->pods.v[i]);
        if (!is_going(c, c->pods.v[i], now_s) && !g->deleted && g->ready)
            c->healthy++;
    }
    c->allowed = c->healthy - c->desired;
    if (c->expected <= 0 || c->allowed <= 0)
        c->allowed = 0;
}

/* ---- the status ---- */

static void set_condition(struct count *c, struct doc *status, const struct doc *failure,
                          int64_t now_s)
{
    struct arena *a = c->w->a;
    struct doc *list = api_edit_get(status, "conditions"), *d = NULL;
    const char *is = c->allowed > 0 ? "True" : "False";
    if (!list)
        list = doc_set(a, status, "conditions", doc_make_list());
    for (uint32_t i = 0; i < list->n; i++)
        if (doc_is_string(doc_get(&list->items[i], "type"), "DisruptionAllowed"))
            d = &list->items[i];
    bool turned = !d || !doc_is_string(doc_get(d, "status"), is);
    if (!d)
        d = doc_append(a, list, doc_make_map());
    doc_set_text(a, d, "type", STR("DisruptionAllowed"));
    doc_set_text(a, d, "status", str_from(is));
    doc_set_text(a, d, "reason",
                 failure          ? STR("SyncFailed")
                 : c->allowed > 0 ? STR("SufficientPods")
                                  : STR("InsufficientPods"));
    doc_set(a, d, "message", failure ? *failure : doc_make_string(a, STR("")));
    const struct doc *generation = doc_path(c->budget->doc, "metadata.generation");
    if (generation)
        doc_set(a, d, "observedGeneration", *generation);
    if (turned)
        doc_set_text(a, d, "lastTransitionTime", timestamp_print(now_s, 0, false, a));
}

static struct doc make_status(struct count *c, const struct doc *failure, int64_t now_s)
{
    struct arena *a = c->w->a;
    const struct doc *had = doc_get(c->budget->doc, "status"),
                     *generation = doc_path(c->budget->doc, "metadata.generation");
    struct doc s = had && had->type == DOC_MAP ? doc_dup(a, had) : doc_make_map();
    doc_set(a, &s, "disruptionsAllowed", doc_make_int(a, c->allowed));
    if (!failure) {
        doc_set(a, &s, "currentHealthy", doc_make_int(a, c->healthy));
        doc_set(a, &s, "desiredHealthy", doc_make_int(a, c->desired));
        doc_set(a, &s, "expectedPods", doc_make_int(a, c->expected));
        doc_remove(&s, STR("disruptedPods"));
        if (c->going.n)
            doc_set(a, &s, "disruptedPods", c->going);
        if (generation)
            doc_set(a, &s, "observedGeneration", *generation);
    }
    set_condition(c, &s, failure, now_s);
    return s;
}

/* failure: nothing may go then; NULL: none. */
static enum progress write_status(struct count *c, const struct doc *failure,
                                  int64_t now_s)
{
    struct work *w = c->w;
    const struct client_answer *a;
    struct doc status = make_status(c, failure, now_s), d;
    const struct doc *had = doc_get(c->budget->doc, "status");
    if (had && doc_equal(had, &status))
        return PROGRESS_DONE;
    d = doc_dup(w->a, c->budget->doc);
    doc_set(w->a, &d, "status", status);
    enum progress p = work_ask(
        w, "PUT", NULL,
        client_path(&BUDGET, c->budget->namespace, c->budget->name, "status", w->a), &d,
        &a);
    if (p != PROGRESS_DONE || a->ok || a->status == 404)
        return p;
    return a->status == 409 ? PROGRESS_FAILED : work_fail(w, "%s", a->message);
}

static enum progress fail_safe(struct count *c, int64_t now_s)
{
    struct doc why = doc_make_string(c->w->a, str_from(err_text(&c->w->err)));
    c->allowed = 0;
    enum progress p = write_status(c, &why, now_s);
    return p == PROGRESS_DONE ? PROGRESS_FAILED : p;
}

static void release_kept(void *kept)
{
    struct kept *k = kept;
    object_unref(k->budget);
}

/* All rounds of the work are about the budget as it was at first. */
static struct kept *take(struct work *w)
{
    struct kept *k = w->kept;
    const struct object *o =
        informer_get(reconciler_watched(reconciler_of(w), BUDGETS), w->key);
    if (k || !o)
        return k;
    w->kept = k = ARENA_NEW(w->a, struct kept);
    *k = (struct kept){object_ref((struct object *)o), time(NULL)};
    w->release = release_kept;
    return k;
}

static enum progress sync(struct work *w)
{
    const struct state *s = reconciler_state(reconciler_of(w));
    const struct kept *k = take(w);
    if (!k)
        return PROGRESS_DONE;
    if (!resources_known(s->resources)) {
        w->again_ms = 100;
        return PROGRESS_DONE;
    }
    struct count c = {.w = w, .budget = k->budget};
    informer_each(reconciler_watched(reconciler_of(w), PODS), gather, &c);
    enum progress p = find_desired(&c);
    if (p == PROGRESS_FAILED)
        return fail_safe(&c, k->now_s);
    if (p != PROGRESS_DONE)
        return p;
    count_healthy(&c, k->now_s);
    w->again_ms = c.recheck_ms;
    return write_status(&c, NULL, k->now_s);
}

/* ---- events ---- */

struct touch {
    struct reconciler *r;
    const struct object *old, *now;
};

static void add_if_guards(void *ctx, const struct object *budget)
{
    const struct touch *t = ctx;
    const struct object *pod = t->now ? t->now : t->old;
    if (!str_eq(budget->namespace, pod->namespace))
        return;
    if ((t->old && selector_matches(budget->view, &guarded(t->old)->labels)) ||
        (t->now && selector_matches(budget->view, &guarded(t->now)->labels)))
        reconciler_add(t->r, budget->key);
}

static void on_pod(struct reconciler *r, const struct object *old,
                   const struct object *now)
{
    struct touch t = {r, old, now};
    informer_each(reconciler_watched(r, BUDGETS), add_if_guards, &t);
}

static void init(struct reconciler *r)
{
    static const struct resources_ops QUIET;
    struct state *s = reconciler_state(r);
    s->resources = resources_new(reconciler_client(r), &QUIET, s);
}

static void fini(struct reconciler *r)
{
    struct state *s = reconciler_state(r);
    resources_free(s->resources);
}

const struct reconciler_def disruption_table = {
    .work = sync,
    .workers = 4,
    .state = sizeof(struct state),
    .init = init,
    .fini = fini,
    .watches =
        {
            {.kind = {"policy", "v1", "poddisruptionbudgets", true},
             .objects = {.view = view_budget}},
            {.kind = {"", "v1", "pods", true},
             .changed = on_pod,
             .objects = {.view = view_pod, .drop_doc = true}},
        },
};
