/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Deleting: at once, or by a mark (deletionTimestamp) while finalizers, a pod's grace
 * period or a namespace's content must end first.
 */
#include <stdlib.h>

#include "api/decode.h"
#include "api/proto.h"
#include "api/timestamp.h"
#include "server/admission/admission.h"
#include "server/custom/custom.h"
#include "server/custom/definition.h"
#include "server/rest/awaiting.h"
#include "server/rest/continue.h"
#include "server/rest/write.h"

#include <time.h>

struct delete_options {
    bool has_grace;
    int64_t grace;
    struct str uid, revision, propagation;
    bool orphan; /* orphanDependents, of old clients */
};

struct deletion {
    struct write w; /* first */
    bool swept;     /* one of a collection */
    struct delete_options options;
    void (*then)(struct write *w, bool ok); /* of w, while a pod is marked first */
    void *ctx;
};

/* ---- options ---- */

static void options_of_doc(const struct doc *d, struct delete_options *o)
{
    const struct doc *pre = doc_get(d, "preconditions");
    o->has_grace = doc_get_int64(d, "gracePeriodSeconds", &o->grace);
    o->uid = doc_get_text(pre, "uid");
    o->revision = doc_get_text(pre, "resourceVersion");
    o->propagation = doc_get_text(d, "propagationPolicy");
    doc_get_bool(d, "orphanDependents", &o->orphan);
}

static void options_of_query(struct request *r, struct delete_options *o)
{
    struct str grace = query_get(&r->query, "gracePeriodSeconds");
    if (grace.n) {
        o->has_grace = true;
        o->grace = strtoll(arena_str(r->a, grace).p, NULL, 10);
    }
    struct str policy = query_get(&r->query, "propagationPolicy");
    if (policy.n)
        o->propagation = policy;
    o->orphan |= query_bool(&r->query, "orphanDependents");
}

/* Options that cannot be read are not guessed at. */
static bool check_options(struct request *r, const struct doc *d)
{
    const struct api_type *t = api_type_of_object(STR("v1"), STR("DeleteOptions"));
    struct api_issues issues = {0};
    bool ok = api_check_shape(t, d, STR(""), r->a, &issues);
    for (size_t i = 0; !ok && i < issues.list.n; i++)
        if (issues.list.v[i].kind == API_WRONG_TYPE)
            fail_bad(r,
                     "DeleteOptions in version \"v1\" cannot be handled as a "
                     "DeleteOptions: %.*s: %.*s",
                     STR_ARG(issues.list.v[i].path), STR_ARG(issues.list.v[i].text));
    api_issues_release(&issues);
    return ok;
}

static bool read_options(struct request *r, struct delete_options *o)
{
    *o = (struct delete_options){0};
    if (r->x->body.n) {
        struct doc_source src;
        struct doc d;
        if (!write_read_document(r, &src, &d))
            return false;
        if (!check_options(r, &d))
            return false;
        options_of_doc(&d, o);
        const struct doc *dry = doc_get(&d, "dryRun");
        r->dry_run |= dry && dry->type == DOC_LIST && dry->n > 0;
    } else {
        options_of_query(r, o);
    }
    if (o->propagation.n == 0 && r->res->main->group[0] == '\0' &&
        strcmp(r->res->main->resource, "replicationcontrollers") == 0)
        o->orphan = true; /* the old default of this kind, too */
    if (o->propagation.n == 0 && strcmp(r->res->main->group, "batch") == 0 &&
        strcmp(r->res->main->resource, "jobs") == 0) {
        o->orphan = true; /* the old default of this kind */
        request_warn(r, STR("child pods are preserved by default when jobs are deleted; "
                            "set propagationPolicy=Background to remove them or set "
                            "propagationPolicy=Orphan to suppress this warning"));
    }
    if (o->has_grace && o->grace < 0)
        o->grace = 1; /* as upstream reads it */
    return true;
}

static bool check_preconditions(struct deletion *d)
{
    struct write *w = &d->w;
    struct request *r = w->r;
    struct str uid = meta_text(&w->object, "uid"),
               revision = meta_text(&w->object, "resourceVersion");
    const char *what = NULL;
    struct str want = STR_NONE, have = STR_NONE;
    if (d->options.uid.n && !str_eq(d->options.uid, uid))
        what = "UID", want = d->options.uid, have = uid;
    else if (d->options.revision.n && !str_eq(d->options.revision, revision))
        what = "ResourceVersion", want = d->options.revision, have = revision;
    if (!what)
        return true;
    const struct api_kind *k = r->res->main;
    struct str kind = qualified(r->a, str_from(k->name), str_from(k->group));
    fail_object(r, 409, "Conflict", w->name,
                "Operation cannot be fulfilled on %.*s \"%.*s\": the %s in the "
                "precondition (%.*s) does not match the %s in record (%.*s). The object "
                "might have been deleted and then recreated",
                STR_ARG(kind), STR_ARG(w->name), what, STR_ARG(want), what,
                STR_ARG(have));
    r->failure.kind = str_from(k->name);
    return false;
}

/* ---- marks ---- */

static bool is_kind(const struct request *r, const char *resource)
{
    return r->res->main->group[0] == '\0' &&
           strcmp(r->res->main->resource, resource) == 0;
}

static struct doc *own_list(struct request *r, struct doc *map, const char *key)
{
    const struct doc *list = doc_get(map, key);
    struct doc copy = list && list->type == DOC_LIST ? *list : doc_make_list();
    return doc_set(r->a, map, key, copy);
}

static void set_finalizer(struct request *r, struct doc *meta, const char *name, bool on)
{
    struct doc *list = own_list(r, meta, "finalizers"), kept = doc_make_list();
    for (uint32_t i = 0; i < list->n; i++)
        if (!doc_is_string(&list->items[i], name))
            doc_append(r->a, &kept, list->items[i]);
    if (on)
        doc_append(r->a, &kept, doc_make_string(r->a, str_from(name)));
    if (kept.n)
        *list = kept;
    else
        doc_remove(meta, STR("finalizers"));
}

/* The finalizers that the garbage collector takes away again. */
static void apply_propagation(struct deletion *d, struct doc *meta)
{
    struct str p = d->options.propagation;
    struct request *r = d->w.r;
    if (p.n == 0 && !d->options.orphan)
        return;
    set_finalizer(r, meta, "orphan", d->options.orphan || str_is(p, "Orphan"));
    set_finalizer(r, meta, "foregroundDeletion", str_is(p, "Foreground"));
}

static bool has_items(const struct doc *d, const char *path)
{
    const struct doc *list = doc_path(d, path);
    return list && list->type == DOC_LIST && list->n > 0;
}

/* Seconds that a pod is given; 0: it may go at once. */
static int64_t pod_grace(const struct deletion *d)
{
    const struct doc *pod = &d->w.object;
    int64_t grace = 30;
    doc_get_int64(doc_get(pod, "spec"), "terminationGracePeriodSeconds", &grace);
    if (d->options.has_grace)
        grace = d->options.grace;
    struct str phase = doc_get_text(doc_get(pod, "status"), "phase");
    if (doc_get_text(doc_get(pod, "spec"), "nodeName").n == 0 ||
        str_is(phase, "Succeeded") || str_is(phase, "Failed"))
        return 0;
    return grace;
}

static void bump_generation(struct request *r, struct doc *meta)
{
    int64_t generation;
    if (doc_get_int64(meta, "generation", &generation) && generation > 0)
        doc_set(r->a, meta, "generation", doc_make_int(r->a, generation + 1));
}

/* false: it is already. */
static bool mark(struct deletion *d, int64_t grace)
{
    struct request *r = d->w.r;
    struct doc *meta = object_meta(&d->w.object);
    int64_t before;
    bool marked = doc_get_text(meta, "deletionTimestamp").n > 0;
    if (marked &&
        (!doc_get_int64(meta, "deletionGracePeriodSeconds", &before) || before <= grace))
        return false;
    doc_set(r->a, meta, "deletionGracePeriodSeconds", doc_make_int(r->a, grace));
    struct str at = timestamp_print(time(NULL) + grace, 0, false, r->a);
    doc_set(r->a, meta, "deletionTimestamp", doc_make_string(r->a, at));
    if (!marked)
        bump_generation(r, meta);
    return true;
}

static void mark_namespace(struct deletion *d)
{
    struct request *r = d->w.r;
    const struct doc *status = doc_get(&d->w.object, "status");
    struct doc copy =
        status && status->type == DOC_MAP ? doc_dup(r->a, status) : doc_make_map();
    doc_set(r->a, &copy, "phase", doc_make_string(r->a, STR("Terminating")));
    doc_set(r->a, &d->w.object, "status", copy);
    struct doc *meta = object_meta(&d->w.object);
    if (doc_get_text(meta, "deletionTimestamp").n)
        return;
    doc_set(r->a, meta, "deletionTimestamp", doc_make_string(r->a, r->now));
}

static void marked(struct write *w, bool ok);

static void mark_first(struct deletion *d)
{
    struct write *w = &d->w;
    d->then = w->then;
    d->ctx = w->ctx;
    w->then = marked;
    w->drop = false;
}

static void unmark(struct deletion *d)
{
    if (d->w.then != marked)
        return;
    d->w.then = d->then;
    d->w.ctx = d->ctx;
}

/* A pod that goes is marked before, by a write of its own: whoever watches it sees that
 * it was ended, and not lost. */
static void marked(struct write *w, bool ok)
{
    struct deletion *d = (struct deletion *)w;
    struct str revision = meta_text(&w->object, "resourceVersion");
    unmark(d);
    d->options.revision = STR_NONE; /* it was met; this revision is our own */
    if (!ok) {
        write_fail(w);
        return;
    }
    bool there = write_load(w);
    if (there)
        w->object = object_doc(w->old, w->r->a);
    if (!there || !str_eq(meta_text(&w->object, "resourceVersion"), revision)) {
        cache_object_unref(w->old);
        w->old = NULL;
        w->again(w);
        return;
    }
    w->drop = true;
    write_commit(w);
}

/* Leaves w->object as it is to be stored, or as it was when it goes. */
static void decide(struct deletion *d)
{
    struct write *w = &d->w;
    struct request *r = w->r;
    w->answer = WRITE_OBJECT;
    w->code = 200;
    if (definition_is_one(r->res) && !meta_text(&w->object, "deletionTimestamp").n) {
        definition_mark_deleted(&w->object, r->now, r->a);
        return;
    }
    bool namespace = is_kind(r, "namespaces"), pod = is_kind(r, "pods");
    int64_t grace = pod ? pod_grace(d) : 0;
    apply_propagation(d, object_meta(&w->object));
    bool finalizers = has_items(&w->object, "metadata.finalizers");
    bool waits = finalizers || grace > 0 ||
                 (namespace && has_items(&w->object, "spec.finalizers"));
    w->drop = !waits;
    if (namespace && waits)
        mark_namespace(d);
    else if ((waits || pod) && mark(d, grace) && !waits && !r->dry_run)
        mark_first(d);
    bool whole = waits || kinds_delete_returns(r->res->main);
    w->answer = whole ? WRITE_OBJECT : WRITE_STATUS;
}

static void again(struct write *w)
{
    struct deletion *d = (struct deletion *)w;
    unmark(d); /* somebody else was faster */
    if (!write_load(w)) {
        fail_missing(w->r, w->name);
        write_fail(w);
        return;
    }
    if (!custom_ready(w->r, &w->old, 1, CUSTOM_GET)) {
        write_fail(w);
        return;
    }
    w->object = object_doc(w->old, w->r->a);
    struct admission admission = {w->r, ADMIT_DELETE, d->swept ? STR("") : w->name,
                                  NULL, &w->object,   d->swept};
    if (!check_preconditions(d) || !admission_mutate(&admission) ||
        !admission_validate(&admission)) {
        write_fail(w);
        return;
    }
    decide(d);
    write_commit(w);
}

void delete_one(struct request *r)
{
    struct deletion *d = ARENA_NEW(r->a, struct deletion);
    d->w = (struct write){.r = r, .again = again};
    if (read_options(r, &d->options))
        again(&d->w);
    else
        write_fail(&d->w);
}

void delete_for(struct request *r, const struct doc *options,
                void (*then)(struct write *w, bool ok), void *ctx)
{
    struct deletion *d = ARENA_NEW(r->a, struct deletion);
    *d = (struct deletion){.w = {.r = r, .again = again, .then = then, .ctx = ctx}};
    if (options)
        options_of_doc(options, &d->options);
    if (d->options.has_grace && d->options.grace < 0)
        d->options.grace = 1; /* as upstream reads it */
    again(&d->w);
}

/* ---- collections: one after another; the answer lists what was there ---- */

struct sweep {
    struct request *r;
    struct delete_options options;
    struct selection selection;
    struct cache_object **objects; /* references */
    uint32_t n, next;
    uint64_t revision; /* that is swept */
    uint64_t limit;    /* 0: none */
    uint64_t left;     /* behind the limit */
    struct str after;  /* key behind which it begins; STR_NONE: at the first */
    struct str last;   /* key of the last object, where some are left */
    struct doc items;
};

static void sweep_end(struct sweep *s)
{
    for (uint32_t i = 0; i < s->n; i++)
        cache_object_unref(s->objects[i]);
}

/* A list that goes on, at the revision that was swept. */
static void note_left(struct sweep *s, struct doc *meta)
{
    struct request *r = s->r;
    bool whole = s->selection.labels.n == 0 && s->selection.fields.n == 0;
    struct continue_token t = {s->revision, str_sub(s->last, r->res->prefix.n, SIZE_MAX)};
    if (s->left == 0) {
        list_note_end(r, meta);
        return;
    }
    doc_set(r->a, meta, "continue", doc_make_string(r->a, continue_print(&t, r->a)));
    if (whole)
        doc_set(r->a, meta, "remainingItemCount", doc_make_int(r->a, (int64_t)s->left));
}

static void sweep_answer(struct sweep *s)
{
    struct request *r = s->r;
    r->failure = (struct failure){0};
    struct arena *a = r->a;
    struct doc list = doc_make_map(), meta = doc_make_map();
    struct str revision =
        arena_printf(a, "%llu", (unsigned long long)cache_revision(r->s->cache));
    doc_set(a, &meta, "resourceVersion", doc_make_string(a, revision));
    note_left(s, &meta);
    doc_set(a, &list, "kind",
            doc_make_string(a, str_from(kinds_list_kind(r->res->main, a))));
    doc_set(a, &list, "apiVersion", doc_make_string(a, r->res->api_version));
    doc_set(a, &list, "metadata", meta);
    doc_set(a, &list, "items", s->items);
    sweep_end(s);
    request_answer(r, 200, &list);
}

static void sweep_next(struct sweep *s);

static void swept(struct write *w, bool ok)
{
    struct sweep *s = w->ctx;
    s->r->failure = w->r->failure;
    if (ok || s->r->failure.code == 404) {
        sweep_next(s);
        return;
    }
    sweep_end(s);
    request_answer_failure(s->r);
}

static void sweep_next(struct sweep *s)
{
    if (s->next == s->n) {
        sweep_answer(s);
        return;
    }
    struct request *r = s->r;
    struct cache_object *o = s->objects[s->next++];
    struct doc item = object_doc(o, r->a);
    object_convert(NULL, r->res, &item, r->a);
    if (!r->res->custom) {
        doc_remove(&item, STR("kind"));
        doc_remove(&item, STR("apiVersion"));
    }
    doc_append(r->a, &s->items, item);
    /* Each is deleted as a request for it alone would. */
    struct request *one = ARENA_NEW(r->a, struct request);
    *one = *r;
    one->awaiting = NULL;
    one->route.name = arena_str(r->a, o->name);
    one->route.namespace = o->namespace.n ? arena_str(r->a, o->namespace) : STR_NONE;
    struct deletion *d = ARENA_NEW(r->a, struct deletion);
    d->w = (struct write){.r = one, .again = again, .then = swept, .ctx = s};
    d->options = s->options;
    d->swept = true;
    again(&d->w);
}

typedef VEC(struct cache_object *) object_list;
struct gathering {
    struct sweep *s;
    object_list list;
};

static bool gather(void *ctx, struct cache_object *o)
{
    struct gathering *g = ctx;
    struct sweep *s = g->s;
    if (!selection_matches(&s->selection, o))
        return true;
    if (s->limit && g->list.n == s->limit) {
        s->left++;
        return true;
    }
    vec_push(&g->list, cache_object_ref(o));
    s->last = arena_str(s->r->a, o->key);
    return true;
}

/* Where a sweep goes on; STR_NONE: it begins. */
static bool read_place(struct request *r, struct str *after)
{
    struct str token = query_get(&r->query, "continue");
    struct continue_token t;
    *after = STR_NONE;
    if (!token.n)
        return true;
    if (!continue_parse(token, r->a, &t))
        return fail_bad(r, "continue key is not valid: %.*s", STR_ARG(token));
    *after = arena_printf(r->a, "%.*s%.*s", STR_ARG(r->res->prefix), STR_ARG(t.after));
    return true;
}

static void gather_all(struct sweep *s, struct str after)
{
    struct request *r = s->r;
    struct gathering g = {.s = s};
    s->revision = cache_revision(r->s->cache);
    s->left = 0;
    cache_each(r->s->cache, request_prefix(r), after, gather, &g);
    s->n = (uint32_t)g.list.n;
    s->objects = ARENA_ARRAY(r->a, struct cache_object *, g.list.n + 1);
    for (uint32_t i = 0; i < s->n; i++)
        s->objects[i] = g.list.v[i];
    vec_release(&g.list);
}

static void sweep_begins(void *ctx)
{
    struct sweep *s = ctx;
    struct request *r = s->r;
    bool ok = custom_selectable(r, &s->selection, CUSTOM_LIST);
    if (ok)
        gather_all(s, s->after);
    if (ok && custom_ready(r, s->objects, s->n, CUSTOM_LIST)) {
        sweep_next(s);
        return;
    }
    if (ok)
        sweep_end(s);
    if (!awaiting_begin(r, sweep_begins, s))
        request_answer_failure(r);
}

void delete_collection(struct request *r)
{
    struct sweep *s = ARENA_NEW(r->a, struct sweep);
    *s = (struct sweep){.r = r, .items = doc_make_list()};
    struct str limit = query_get(&r->query, "limit");
    if (!read_options(r, &s->options) || !selection_read(r, &s->selection) ||
        !read_place(r, &s->after)) {
        request_answer_failure(r);
        return;
    }
    s->limit = limit.n ? strtoull(arena_str(r->a, limit).p, NULL, 10) : 0;
    sweep_begins(s);
}
