/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Deleting what a namespace has: each kind is listed first, and only what has something
 * is deleted and listed again. Nothing can be made there meanwhile: the API refuses that
 * for a namespace that is being deleted. Pods go before all else, so that what they use
 * is there until they end.
 */
#include "api/timestamp.h"
#include "control/namespaces_inner.h"

/* What a finalizer is given, as upstream. */
enum { FINALIZER_S = 15 };

struct site {
    struct work *w;
    struct str namespace;
    int64_t deleted_s; /* how long ago */
    struct namespace_rest *rest;
};

static void count(struct arena *a, struct left **v, size_t *n, size_t *cap,
                  struct str what, uint32_t more)
{
    for (size_t i = 0; i < *n; i++)
        if (str_eq((*v)[i].what, what)) {
            (*v)[i].n += more;
            return;
        }
    struct {
        struct left *v;
        size_t n, cap;
    } list = {*v, *n, *cap};
    vec_push_in(a, &list, (struct left){what, more});
    *v = list.v;
    *n = list.n;
    *cap = list.cap;
}

static void fail(struct site *s, struct str why)
{
    vec_push_in(s->w->a, &s->rest->errors, why);
}

/* ---- lists ---- */

/* again: not the list that was asked for before something was deleted. */
static enum progress list(struct site *s, const struct resource *r, bool again,
                          const struct doc **items)
{
    static const struct doc NONE = {.type = DOC_LIST};
    const struct client_answer *a;
    struct str path = client_path(&r->kind, s->namespace, STR_NONE, NULL, s->w->a);
    if (again)
        path = arena_printf(s->w->a, "%.*s?limit=10000", STR_ARG(path));
    enum progress p = work_ask_metadata(s->w, path, true, &a);
    *items = &NONE;
    if (p != PROGRESS_DONE || a->status == 404 || a->status == 405)
        return p;
    const struct doc *d = a->ok ? work_answer_doc(s->w, a) : NULL;
    const struct doc *found = doc_get(d, "items");
    if (!d)
        fail(s, str_from(a->message));
    if (found && found->type == DOC_LIST)
        *items = found;
    return p;
}

static enum progress delete_one(struct site *s, const struct resource *r,
                                const struct doc *item, const struct doc *options)
{
    const struct client_answer *a;
    struct str name = doc_get_text(doc_get(item, "metadata"), "name"),
               path = client_path(&r->kind, s->namespace, name, NULL, s->w->a);
    enum progress p = work_ask(s->w, "DELETE", NULL, path, options, &a);
    if (p == PROGRESS_DONE && !a->ok && a->status != 404 && a->status != 405)
        fail(s, str_from(a->message));
    return p;
}

/* Of kinds that cannot be deleted as a collection, one after another. */
static enum progress delete_each(struct site *s, const struct resource *r,
                                 const struct doc *items, const struct doc *options)
{
    enum progress p = PROGRESS_DONE;
    for (uint32_t i = 0; p == PROGRESS_DONE && i < items->n; i++)
        p = delete_one(s, r, &items->items[i], options);
    return p;
}

static enum progress delete_all(struct site *s, const struct resource *r,
                                const struct doc *items)
{
    const struct client_answer *a;
    struct doc options = doc_make_map();
    doc_set_text(s->w->a, &options, "propagationPolicy", STR("Background"));
    if (!(r->verbs & RESOURCE_DELETE_COLLECTION))
        return delete_each(s, r, items, &options);
    struct str path = client_path(&r->kind, s->namespace, STR_NONE, NULL, s->w->a);
    enum progress p = work_ask(s->w, "DELETE", NULL, path, &options, &a);
    if (p == PROGRESS_DONE && !a->ok && a->status != 404 && a->status != 405)
        fail(s, str_from(a->message));
    return p;
}

/* ---- what is left ---- */

/* The longest time that pods are given to end, as long as that is not over. */
static int64_t longest_grace(const struct site *s, const struct doc *pods)
{
    int64_t longest = 0;
    for (uint32_t i = 0; i < pods->n; i++) {
        const struct doc *phase = doc_path(&pods->items[i], "status.phase");
        int64_t grace = 0;
        if (doc_is_string(phase, "Succeeded") || doc_is_string(phase, "Failed"))
            continue;
        doc_get_int64(doc_get(&pods->items[i], "spec"), "terminationGracePeriodSeconds",
                      &grace);
        longest = grace > longest ? grace : longest;
    }
    return s->deleted_s >= longest ? 0 : longest;
}

/* Asked for with what they are made of, and before they are deleted. */
static enum progress estimate_pods(struct site *s, const struct resource *r,
                                   int64_t *seconds)
{
    const struct client_answer *a;
    struct str path = client_path(&r->kind, s->namespace, STR_NONE, NULL, s->w->a);
    path = arena_printf(s->w->a, "%.*s?limit=5000", STR_ARG(path));
    enum progress p = work_ask(s->w, "GET", NULL, path, NULL, &a);
    const struct doc *d = p == PROGRESS_DONE && a->ok ? work_answer_doc(s->w, a) : NULL;
    const struct doc *pods = doc_get(d, "items");
    *seconds = pods && pods->type == DOC_LIST ? longest_grace(s, pods) : 0;
    return p;
}

static bool count_finalizers(struct site *s, const struct doc *items)
{
    struct namespace_rest *rest = s->rest;
    bool any = false;
    for (uint32_t i = 0; i < items->n; i++) {
        const struct doc *names = doc_path(&items->items[i], "metadata.finalizers");
        for (uint32_t k = 0; names && names->type == DOC_LIST && k < names->n; k++) {
            count(s->w->a, &rest->finalizers.v, &rest->finalizers.n,
                  &rest->finalizers.cap, doc_str(&names->items[k]), 1);
            any = true;
        }
    }
    return any;
}

static void note_left(struct site *s, const struct resource *r, const struct doc *items,
                      int64_t seconds)
{
    struct namespace_rest *rest = s->rest;
    struct arena *a = s->w->a;
    if (!items->n)
        return;
    bool held = count_finalizers(s, items);
    struct str what = arena_printf(a, "%s.%s", r->kind.resource, r->kind.group);
    count(a, &rest->resources.v, &rest->resources.n, &rest->resources.cap, what,
          items->n);
    if (!seconds && held)
        seconds = FINALIZER_S;
    if (!seconds)
        fail(s, arena_printf(a,
                             "unexpected items still remain in namespace: %.*s for gvr: "
                             "%s/%s, Resource=%s",
                             STR_ARG(s->namespace), r->kind.group, r->kind.version,
                             r->kind.resource));
    rest->seconds = seconds > rest->seconds ? seconds : rest->seconds;
}

/* ---- one kind, and all of them ---- */

static bool is_pods(const struct resource *r)
{
    return !r->kind.group[0] && strcmp(r->kind.resource, "pods") == 0;
}

static enum progress empty(struct site *s, const struct resource *r)
{
    const struct doc *items;
    int64_t seconds = 0;
    enum progress p = list(s, r, false, &items);
    if (p != PROGRESS_DONE || !items->n)
        return p;
    if (is_pods(r))
        p = estimate_pods(s, r, &seconds);
    if (p == PROGRESS_DONE)
        p = delete_all(s, r, items);
    if (p == PROGRESS_DONE)
        p = list(s, r, true, &items);
    if (p == PROGRESS_DONE)
        note_left(s, r, items, seconds);
    return p;
}

static bool has_content(const struct resource *r)
{
    static const unsigned NEEDED = RESOURCE_DELETE | RESOURCE_LIST;
    return r->preferred && r->kind.namespaced && (r->verbs & NEEDED) == NEEDED;
}

/* All kinds are asked about before the first answer is waited for. */
static enum progress empty_all(struct site *s, const struct resources *known, bool pods)
{
    enum progress all = PROGRESS_DONE;
    for (uint32_t i = 0; i < resources_count(known); i++) {
        const struct resource *r = resources_at(known, i);
        if (has_content(r) && is_pods(r) == pods && empty(s, r) == PROGRESS_WAIT)
            all = PROGRESS_WAIT;
    }
    return all;
}

static int64_t seconds_since(struct str text, int64_t now_s)
{
    int64_t seconds = 0;
    int32_t nanos;
    return timestamp_parse(text, &seconds, &nanos) ? now_s - seconds : 0;
}

enum progress namespaces_delete_content(struct work *w, const struct doc *namespace,
                                        int64_t now_s, struct namespace_rest *rest)
{
    const struct namespaces *n = w->ctx;
    const struct doc *meta = doc_get(namespace, "metadata");
    struct site s = {.w = w,
                     .namespace = w->key,
                     .deleted_s =
                         seconds_since(doc_get_text(meta, "deletionTimestamp"), now_s),
                     .rest = rest};
    *rest = (struct namespace_rest){.stale = resources_stale(n->resources)};
    enum progress p = empty_all(&s, n->resources, true);
    if (p == PROGRESS_DONE && !rest->resources.n)
        p = empty_all(&s, n->resources, false);
    return p;
}
