/* SPDX-License-Identifier: Apache-2.0 */
/*
 * POST pods/NAME/eviction: a deletion that asks the pod's disruption budget first.
 *
 *     a pod that waits to run, has ended or is going: deleted at once
 *     no budget, or an unready pod that its budget does not count: deleted
 *     else: the budget's count goes down, then the pod goes
 *
 * Deleting is two writes: a condition says why, then the deletion. Where the decision
 * rests on the pod as it was seen, its revision is held on to.
 */
#include "api/apply.h"
#include "server/admission/admission.h"
#include "server/rest/awaiting.h"
#include "server/rest/selector.h"
#include "server/rest/write.h"

enum { MAX_DISRUPTED = 2000, RETRY_SECONDS = 10, MAX_TRIES = 20 };

struct eviction {
    struct request *r, *pod; /* pod: the request as one for the pod itself */
    struct doc body;
    struct doc asked, options; /* DeleteOptions: as sent, as used */
    unsigned tries;
    bool revision;     /* the client demands one of the pod */
    bool pinned;       /* the pod must be as it was seen */
    struct str budget; /* name; empty: none counts */
    struct str seen;   /* the pod's revision */
};

/* ---- answers ---- */

static void answer_failure(struct eviction *e)
{
    request_answer_failure(e->r);
}

static void answer(struct eviction *e, unsigned status, const char *message)
{
    struct request *r = e->r;
    struct failure f = {.code = status, .message = str_from(message)};
    struct doc d = failure_doc(r->a, &f);
    doc_set(r->a, &d, "code", doc_make_int(r->a, (int64_t)status));
    r->accept.as = AS_OBJECT;
    request_answer(r, 201, &d);
}

static bool fail_budget(struct request *r, unsigned retry, struct str why)
{
    fail(r, 429, "TooManyRequests",
         "Cannot evict pod as it would violate the pod's disruption budget.");
    fail_cause(r, "DisruptionBudget", why, STR_NONE);
    r->failure.retry_seconds = retry;
    return false;
}

static bool fail_processing(struct request *r, struct str budget)
{
    return fail_budget(r, RETRY_SECONDS,
                       arena_printf(r->a,
                                    "The disruption budget %.*s is still being processed "
                                    "by the server.",
                                    STR_ARG(budget)));
}

/* ---- what is asked for ---- */

static bool all_dry(const struct doc *list)
{
    return list && list->type == DOC_LIST && list->n == 1 &&
           doc_is_string(&list->items[0], "All");
}

static bool read_dry_run(struct eviction *e)
{
    struct request *r = e->r;
    const struct doc *dry = doc_get(&e->options, "dryRun");
    bool given = dry && dry->type == DOC_LIST && dry->n > 0;
    if (given && !all_dry(dry))
        return fail_bad(r, "Non-matching dry-run options in request and content");
    r->dry_run |= given;
    return true;
}

static bool read_body(struct eviction *e)
{
    struct request *r = e->r;
    bool ignore = false;
    if (!write_read_as(r, "policy", "v1", "Eviction", &e->body))
        return false;
    if (!str_eq(meta_text(&e->body, "name"), r->route.name))
        return fail_bad(r, "name in URL does not match name in Eviction object");
    const struct doc *options = doc_get(&e->body, "deleteOptions");
    e->asked = options && options->type == DOC_MAP ? *options : doc_make_map();
    e->options = doc_dup(r->a, &e->asked);
    e->revision =
        doc_get_text(doc_get(&e->options, "preconditions"), "resourceVersion").n > 0;
    doc_get_bool(&e->options, "ignoreStoreReadErrorWithClusterBreakingPotential",
                 &ignore);
    if (!ignore)
        return read_dry_run(e);
    fail(r, 422, "Invalid", " ");
    fail_cause(r, "FieldValueInvalid",
               STR("Invalid value: true: can not be set for pod eviction, try after "
                   "removing the option"),
               STR("deleteOptions.ignoreStoreReadErrorWithClusterBreakingPotential"));
    return fail_invalid(r, STR("policy"), "Eviction", r->route.name);
}

/* ---- deleting ---- */

static void evict(struct eviction *e);

static void demand_revision(struct eviction *e, struct str revision)
{
    struct request *r = e->r;
    const struct doc *have = doc_get(&e->options, "preconditions");
    struct doc pre = have && have->type == DOC_MAP ? doc_dup(r->a, have) : doc_make_map();
    doc_set(r->a, &pre, "resourceVersion", doc_make_string(r->a, revision));
    doc_set(r->a, &e->options, "preconditions", pre);
}

static void deleted(struct write *w, bool ok)
{
    struct eviction *e = w->ctx;
    e->r->failure = w->r->failure;
    if (ok) {
        answer(e, 201, "");
        return;
    }
    bool raced = e->r->failure.code == 409 && e->pinned && !e->revision;
    if (raced && !e->budget.n && e->tries < MAX_TRIES) {
        evict(e); /* it is another pod now */
        return;
    }
    if (raced && e->budget.n)
        fail_processing(e->r, e->budget);
    answer_failure(e);
}

struct marking {
    struct write w; /* first; of the pod */
    struct eviction *e;
};

static void marked(struct write *w, bool ok)
{
    struct eviction *e = ((struct marking *)w)->e;
    if (!ok) {
        w->ctx = e;
        deleted(w, false);
        return;
    }
    if (e->revision || e->pinned)
        demand_revision(e, meta_text(&w->object, "resourceVersion"));
    delete_for(e->pod, &e->options, deleted, e);
}

static bool fail_demand(struct request *r, const char *what, struct str want,
                        struct str have, const char *perhaps)
{
    struct str name = r->route.name;
    fail_object(r, 409, "Conflict", name,
                "Operation cannot be fulfilled on Pod \"%.*s\": the %s in the "
                "precondition (%.*s) does not match the %s in record (%.*s). The object "
                "might have been %s",
                STR_ARG(name), what, STR_ARG(want), what, STR_ARG(have), perhaps);
    r->failure.kind = STR("Pod");
    return false;
}

static bool meets_demands(struct eviction *e, const struct doc *pod)
{
    const struct doc *pre = doc_get(&e->options, "preconditions");
    struct str uid = doc_get_text(pre, "uid"), had = meta_text(pod, "uid"),
               revision = doc_get_text(pre, "resourceVersion"),
               now = meta_text(pod, "resourceVersion");
    if (uid.n && !str_eq(uid, had))
        return fail_demand(e->pod, "UID", uid, had, "deleted and then recreated");
    return !revision.n || str_eq(revision, now) ||
           fail_demand(e->pod, "ResourceVersion", revision, now, "modified");
}

static void mark_again(struct write *w)
{
    struct eviction *e = ((struct marking *)w)->e;
    struct request *r = w->r;
    if (!write_load(w)) {
        fail_missing(r, w->name);
        write_fail(w);
        return;
    }
    struct doc pod = object_doc(w->old, r->a);
    if (!meets_demands(e, &pod)) {
        write_fail(w);
        return;
    }
    pod_set_condition(r, &pod, "DisruptionTarget", "EvictionByEvictionAPI",
                      "Eviction API: evicting");
    w->object = pod;
    write_commit(w);
}

/* pinned: only as it was seen. */
static void delete_pod(struct eviction *e, bool pinned)
{
    struct request *r = e->r;
    e->pinned = pinned;
    if (pinned && !e->revision)
        demand_revision(e, e->seen);
    if (r->dry_run) {
        delete_for(e->pod, &e->options, deleted, e);
        return;
    }
    struct marking *m = ARENA_NEW(r->a, struct marking);
    *m =
        (struct marking){.w = {.r = e->pod, .again = mark_again, .then = marked}, .e = e};
    mark_again(&m->w);
}

/* ---- the budget ---- */

static int64_t number_at(const struct doc *status, const char *key)
{
    int64_t n = 0;
    doc_get_int64(status, key, &n);
    return n;
}

static const struct doc *condition_of(const struct doc *status, const char *type)
{
    const struct doc *all = doc_get(status, "conditions");
    for (uint32_t i = 0; all && all->type == DOC_LIST && i < all->n; i++)
        if (doc_is_string(doc_get(&all->items[i], "type"), type))
            return &all->items[i];
    return NULL;
}

/* Why no pod may go now. */
static struct str exhausted(struct request *r, struct str name, const struct doc *status)
{
    const struct doc *c = condition_of(status, "DisruptionAllowed");
    struct str message = doc_get_text(c, "message"), reason = doc_get_text(c, "reason");
    bool refused = c && doc_is_string(doc_get(c, "status"), "False") && message.n;
    int64_t healthy = number_at(status, "currentHealthy"),
            desired = number_at(status, "desiredHealthy");
    if (refused && str_is(reason, "SyncFailed"))
        return arena_printf(r->a,
                            "The disruption budget %.*s does not allow evicting pods "
                            "currently because it failed sync: %.*s",
                            STR_ARG(name), STR_ARG(message));
    if (healthy <= desired)
        return arena_printf(
            r->a,
            "The disruption budget %.*s needs %lld healthy pods and has %lld currently",
            STR_ARG(name), (long long)desired, (long long)healthy);
    if (refused)
        return arena_printf(r->a,
                            "The disruption budget %.*s does not allow evicting pods "
                            "currently (%.*s): %.*s",
                            STR_ARG(name), STR_ARG(reason), STR_ARG(message));
    return arena_printf(r->a,
                        "The disruption budget %.*s does not allow evicting pods "
                        "currently",
                        STR_ARG(name));
}

static bool fail_broken(struct request *r, struct str name, const char *why,
                        const char *cause)
{
    fail_object(r, 403, "Forbidden", name,
                "poddisruptionbudget.policy \"%.*s\" is forbidden: %s", STR_ARG(name),
                why);
    fail_cause(r, "DisruptionBudget",
               arena_printf(r->a,
                            "The disruption budget %.*s does not allow evicting pods "
                            "currently: %s",
                            STR_ARG(name), cause),
               STR_NONE);
    r->failure.group = STR("policy");
    r->failure.kind = STR("poddisruptionbudget");
    return false;
}

static bool may_disrupt(struct request *r, const struct doc *budget)
{
    const struct doc *status = doc_get(budget, "status");
    const struct doc *going = doc_get(status, "disruptedPods");
    struct str name = meta_text(budget, "name");
    int64_t allowed = number_at(status, "disruptionsAllowed");
    if (number_at(status, "observedGeneration") <
        number_at(doc_get(budget, "metadata"), "generation"))
        return fail_processing(r, name);
    if (allowed < 0)
        return fail_broken(r, name, "pdb disruptions allowed is negative",
                           "pdb disruptions allowed is negative");
    if (going && going->type == DOC_MAP && going->n > MAX_DISRUPTED)
        return fail_broken(r, name,
                           "DisruptedPods map too big - too many evictions not confirmed "
                           "by PDB controller",
                           "too many pending evictions not confirmed by PDB controller");
    return allowed > 0 || fail_budget(r, 0, exhausted(r, name, status));
}

/* Of a count that has come down to nothing. */
static void note_exhausted(struct request *r, struct doc *status)
{
    static const char type[] = "DisruptionAllowed";
    const struct doc *old = doc_get(status, "conditions"), *had;
    struct doc list = doc_make_list(), c = doc_make_map();
    had = condition_of(status, type);
    bool was = had && doc_is_string(doc_get(had, "status"), "False");
    if (had)
        c = doc_dup(r->a, had);
    doc_set(r->a, &c, "type", doc_make_string(r->a, str_from(type)));
    doc_set(r->a, &c, "status", doc_make_string(r->a, STR("False")));
    doc_set(r->a, &c, "reason", doc_make_string(r->a, STR("InsufficientPods")));
    doc_set(r->a, &c, "message", doc_make_string(r->a, STR("")));
    doc_set(r->a, &c, "observedGeneration",
            doc_make_int(r->a, number_at(status, "observedGeneration")));
    if (!was)
        doc_set(r->a, &c, "lastTransitionTime", doc_make_string(r->a, r->now));
    for (uint32_t i = 0; old && old->type == DOC_LIST && i < old->n; i++)
        doc_append(r->a, &list, &old->items[i] == had ? c : old->items[i]);
    if (!had)
        doc_append(r->a, &list, c);
    doc_set(r->a, status, "conditions", list);
}

static void take_one(struct request *r, struct doc *budget, struct str pod)
{
    const struct doc *have = doc_get(budget, "status"), *going;
    struct doc status = doc_dup(r->a, have);
    int64_t left = number_at(&status, "disruptionsAllowed") - 1;
    doc_set(r->a, &status, "disruptionsAllowed", doc_make_int(r->a, left));
    if (left == 0)
        note_exhausted(r, &status);
    going = doc_get(&status, "disruptedPods");
    struct doc map =
        going && going->type == DOC_MAP ? doc_dup(r->a, going) : doc_make_map();
    doc_set_str(r->a, &map, pod, doc_make_string(r->a, r->now));
    doc_set(r->a, &status, "disruptedPods", map);
    doc_set(r->a, budget, "status", status);
}

struct charge {
    struct write w; /* first; of the budget */
    struct eviction *e;
};

static void charged(struct write *w, bool ok)
{
    struct eviction *e = ((struct charge *)w)->e;
    struct request *r = e->r;
    if (ok) {
        delete_pod(e, false);
        return;
    }
    r->failure = w->r->failure;
    if (r->failure.code == 409) {
        fail(r, 504, "Timeout",
             "Timeout: couldn't update PodDisruptionBudget \"%.*s\" due to conflicts",
             STR_ARG(e->budget));
        r->failure.retry_seconds = RETRY_SECONDS;
        r->failure.has_details = true;
    }
    answer_failure(e);
}

/* The server itself counts, not the client. */
static void track(struct request *r, struct doc *budget, const struct doc *live)
{
    struct apply_write w = {
        .kind = r->res->kind, .manager = STR("kube-apiserver"), .now = r->now};
    struct doc entries = apply_update(&w, live, budget, r->a);
    if (entries.n)
        doc_set(r->a, object_meta(budget), "managedFields", entries);
}

static void charge_again(struct write *w)
{
    struct eviction *e = ((struct charge *)w)->e;
    struct request *r = w->r;
    if (!write_load(w)) {
        fail_missing(r, w->name);
        write_fail(w);
        return;
    }
    struct doc budget = object_doc(w->old, r->a), live = object_doc(w->old, r->a);
    if (!may_disrupt(r, &budget)) {
        write_fail(w);
        return;
    }
    take_one(r, &budget, e->r->route.name);
    track(r, &budget, &live);
    w->object = budget;
    write_commit(w);
}

static void charge(struct eviction *e, const struct resource *budgets)
{
    struct request *r = e->r;
    struct charge *c = ARENA_NEW(r->a, struct charge);
    struct request *q = ARENA_NEW(r->a, struct request);
    *q = *r;
    q->res = budgets;
    q->route.name = e->budget;
    q->route.subresource = STR("status");
    *c = (struct charge){.w = {.r = q, .again = charge_again, .then = charged}, .e = e};
    charge_again(&c->w);
}

/* ---- which budget ---- */

struct finding {
    struct arena *a;
    const struct cache_object *pod;
    struct cache_object *budget; /* borrowed */
    uint32_t n;
};

static bool look(void *ctx, struct cache_object *o)
{
    struct finding *f = ctx;
    struct doc d = object_doc(o, f->a);
    struct selector s;
    if (selector_of_doc(doc_path(&d, "spec.selector"), f->a, &s) &&
        selector_matches_labels(&s, f->pod)) {
        f->budget = o;
        f->n++;
    }
    return f->n < 2;
}

static bool is_ready(const struct doc *pod)
{
    const struct doc *c = condition_of(doc_get(pod, "status"), "Ready");
    return c && doc_is_string(doc_get(c, "status"), "True");
}

/* A pod that does no service, of an application that can do without it. */
static bool is_uncounted(const struct doc *pod, const struct doc *budget)
{
    const struct doc *status = doc_get(budget, "status");
    int64_t desired = number_at(status, "desiredHealthy");
    if (is_ready(pod))
        return false;
    if (doc_is_string(doc_path(budget, "spec.unhealthyPodEvictionPolicy"), "AlwaysAllow"))
        return true;
    return number_at(status, "currentHealthy") >= desired && desired > 0;
}

static void ask_budget(struct eviction *e, struct cache_object *pod,
                       const struct doc *doc)
{
    struct request *r = e->r;
    const struct resource *res =
        kinds_find(r->s, STR("policy"), STR("v1"), STR("poddisruptionbudgets/status"));
    struct finding f = {.a = r->a, .pod = pod};
    if (res)
        cache_each(r->s->cache,
                   arena_printf(r->a, "%.*s%.*s/", STR_ARG(res->prefix),
                                STR_ARG(r->route.namespace)),
                   STR_NONE, look, &f);
    if (f.n > 1) {
        answer(e, 500,
               "This pod has more than one PodDisruptionBudget, which the eviction "
               "subresource does not support.");
        return;
    }
    if (f.n == 0) {
        delete_pod(e, false);
        return;
    }
    struct doc budget = object_doc(f.budget, r->a);
    e->budget = meta_text(&budget, "name");
    if (is_uncounted(doc, &budget))
        delete_pod(e, true);
    else
        charge(e, res);
}

/* ---- the verb ---- */

static bool ends_by_itself(const struct doc *pod)
{
    struct str phase = doc_get_text(doc_get(pod, "status"), "phase");
    return str_is(phase, "Succeeded") || str_is(phase, "Failed") ||
           meta_text(pod, "deletionTimestamp").n > 0;
}

static void evict(struct eviction *e)
{
    struct request *r = e->r;
    e->options = doc_dup(r->a, &e->asked);
    e->tries++;
    struct cache_object *o = cache_get(
        r->s->cache, object_key(e->pod->res, r->route.namespace, r->route.name, r->a));
    if (!o) {
        fail_missing(r, r->route.name);
        answer_failure(e);
        return;
    }
    struct doc pod = object_doc(o, r->a);
    e->seen = meta_text(&pod, "resourceVersion");
    if (ends_by_itself(&pod))
        delete_pod(e, false);
    else if (str_is(doc_get_text(doc_get(&pod, "status"), "phase"), "Pending"))
        delete_pod(e, true);
    else
        ask_budget(e, o, &pod);
}

static bool admit(struct eviction *e)
{
    struct admission a = {e->r, ADMIT_CREATE, e->r->route.name, &e->body, NULL};
    return admission_mutate(&a) && admission_validate(&a);
}

static void begin(void *ctx)
{
    struct eviction *e = ctx;
    struct request *r = e->r, *pod = e->pod;
    if (!admit(e)) {
        if (!awaiting_begin(r, begin, e))
            answer_failure(e);
        return;
    }
    *pod = *r;
    pod->awaiting = NULL;
    pod->res = kinds_find(r->s, STR(""), STR("v1"), STR("pods"));
    pod->route.subresource = STR_NONE;
    evict(e);
}

void eviction_create(struct request *r)
{
    struct eviction *e = ARENA_NEW(r->a, struct eviction);
    *e = (struct eviction){.r = r, .pod = ARENA_NEW(r->a, struct request)};
    if (read_body(e))
        begin(e);
    else
        answer_failure(e);
}
