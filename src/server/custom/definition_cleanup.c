/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A definition that goes takes its objects with it: they are deleted, some at a time, and
 * once none is left, neither is the finalizer. Objects with finalizers of their own are
 * marked and waited for. Every step is made from what the cache has, so that it does not
 * matter where the last one ended.
 */
#include <stdlib.h>
#include <time.h>

#include "api/timestamp.h"
#include "server/custom/custom.h"
#include "server/custom/definition.h"

enum { AT_ONCE = 256, AGAIN_MS = 1000 };

struct cleanup {
    struct server *s;
    struct cleanup *next, **link;
    struct str name;   /* of the definition */
    struct str prefix; /* of its objects */
    uint32_t busy;     /* writes on their way */
    bool failed, over;
    struct cache_watch *watch; /* of the objects */
    struct net_timer *timer;
    struct arena arena, scratch;
};

static void step(void *ctx);

static void end(struct cleanup *c)
{
    *c->link = c->next;
    if (c->next)
        c->next->link = c->link;
    cache_unwatch(c->watch);
    if (c->timer)
        net_timer_stop(c->timer);
    arena_fini(&c->scratch);
    arena_fini(&c->arena);
    free(c);
}

static void step_in(struct cleanup *c, uint64_t ms)
{
    if (!c->timer && !c->busy && !c->over)
        c->timer = net_timer_start(c->s->loop, ms, 0, step, c);
}

/* A write is through; the last one goes on, or ends what the server ended before. */
static void done(void *ctx, enum store_answer answer, uint64_t revision,
                 const struct err *e)
{
    struct cleanup *c = ctx;
    c->failed |= answer == STORE_FAILED;
    if (--c->busy > 0)
        return;
    if (c->over)
        end(c);
    else
        step_in(c, c->failed ? AGAIN_MS : 0);
}

/* value STR_NONE: it is deleted. */
static void submit(struct cleanup *c, const struct cache_object *o, struct str value)
{
    struct store_write w = {
        .key = o->key, .value = value, .expect = o->revision, .done = done, .ctx = c};
    c->busy++;
    store_submit(c->s->store, &w);
}

static void submit_doc(struct cleanup *c, const struct cache_object *o,
                       const struct doc *d)
{
    struct strbuf b = STRBUF_INIT;
    object_encode(d, &b);
    submit(c, o, strbuf_str(&b));
    strbuf_release(&b);
}

static bool has_finalizers(const struct doc *d)
{
    const struct doc *list = doc_path(d, "metadata.finalizers");
    return list && list->type == DOC_LIST && list->n > 0;
}

/* ---- objects ---- */

static void mark(struct cleanup *c, struct cache_object *o, struct doc *d,
                 struct arena *a)
{
    struct doc *meta = object_meta(d);
    int64_t generation;
    struct str now = timestamp_print(time(NULL), 0, false, a);
    doc_set(a, meta, "deletionTimestamp", doc_make_string(a, now));
    doc_set(a, meta, "deletionGracePeriodSeconds", doc_make_int(a, 0));
    if (doc_get_int64(meta, "generation", &generation))
        doc_set(a, meta, "generation", doc_make_int(a, generation + 1));
    submit_doc(c, o, d);
}

static bool remove_one(void *ctx, struct cache_object *o)
{
    struct cleanup *c = ctx;
    struct arena a = {0};
    struct doc d = object_doc(o, &a);
    if (!has_finalizers(&d))
        submit(c, o, STR_NONE);
    else if (!meta_text(&d, "deletionTimestamp").n)
        mark(c, o, &d, &a);
    arena_fini(&a);
    return c->busy < AT_ONCE;
}

/* ---- the definition ---- */

static struct cache_object *definition_of(struct cleanup *c)
{
    return cache_get(c->s->cache, object_key(definitions_resource(c->s), STR_NONE,
                                             c->name, &c->scratch));
}

static const struct ending {
    const char *status, *reason, *message;
} IN_PROGRESS = {"True", "InstanceDeletionInProgress",
                 "CustomResource deletion is in progress"},
  COMPLETED = {"False", "InstanceDeletionCompleted", "removed all instances"},
  NEVER = {"False", "NeverEstablished", "resource was never established"},
  OVERLAPS = {"False", "OverlappingBuiltInResource",
              "instances overlap with built-in resources in storage"};

static void set_ending(struct cleanup *c, struct doc *d, const struct ending *o)
{
    struct str now = timestamp_print(time(NULL), 0, false, &c->scratch);
    definition_set_condition(d, "Terminating", o->status, o->reason, str_from(o->message),
                             now, &c->scratch);
}

/* Nothing is left of it: the definition may go. */
static void finish(struct cleanup *c, struct cache_object *o, struct doc *d,
                   const struct ending *ending)
{
    set_ending(c, d, ending);
    definition_drop_finalizer(d, &c->scratch);
    if (has_finalizers(d))
        submit_doc(c, o, d);
    else
        submit(c, o, STR_NONE);
}

static bool says_so(const struct doc *d)
{
    const struct doc *list = doc_path(d, "status.conditions");
    for (uint32_t i = 0; list && list->type == DOC_LIST && i < list->n; i++)
        if (doc_is_string(doc_get(&list->items[i], "reason"), IN_PROGRESS.reason))
            return true;
    return false;
}

/* Of a definition that has objects: each call does as much as may be on its way. */
static void remove_all(struct cleanup *c, struct cache_object *o, struct doc *d)
{
    if (!says_so(d)) {
        set_ending(c, d, &IN_PROGRESS);
        submit_doc(c, o, d);
        return;
    }
    cache_each(c->s->cache, c->prefix, STR_NONE, remove_one, c);
    if (cache_count(c->s->cache, c->prefix, STR_NONE) == 0)
        finish(c, o, d, &COMPLETED);
}

static bool is_built_in(struct cleanup *c, const struct doc *d)
{
    const struct doc *spec = doc_get(d, "spec");
    struct str group = doc_get_text(spec, "group"),
               plural = doc_get_text(doc_get(spec, "names"), "plural");
    return kinds_built_in(c->s, arena_str(&c->scratch, group).p,
                          arena_str(&c->scratch, plural).p);
}

static void step(void *ctx)
{
    struct cleanup *c = ctx;
    c->timer = NULL;
    c->failed = false;
    struct cache_object *o = definition_of(c);
    struct doc d = o ? object_doc(o, &c->scratch) : doc_make_null();
    if (!o || !definition_waits_cleanup(&d)) {
        end(c);
        return;
    }
    /* Its bytes outlive what becomes of it meanwhile. */
    cache_object_ref(o);
    if (is_built_in(c, &d))
        finish(c, o, &d, &OVERLAPS);
    else if (!definition_is(&d, "Established"))
        finish(c, o, &d, &NEVER);
    else
        remove_all(c, o, &d);
    cache_object_unref(o);
    arena_reset(&c->scratch);
}

/* An object is gone, or has lost a finalizer. */
static void on_object(void *ctx, const struct cache_event *e)
{
    step_in(ctx, 0);
}

static struct cleanup *find(struct server *s, struct str name)
{
    struct cleanup *c = s->cleanups;
    while (c && !str_eq(c->name, name))
        c = c->next;
    return c;
}

static void link_in(struct server *s, struct cleanup *c)
{
    c->next = s->cleanups;
    c->link = &s->cleanups;
    if (c->next)
        c->next->link = &c->next;
    s->cleanups = c;
}

void cleanup_begin(struct server *s, struct str name, const struct doc *definition)
{
    struct cleanup *c = find(s, name);
    if (c)
        step_in(c, 0);
    if (c || s->ending)
        return;
    const struct doc *spec = doc_get(definition, "spec");
    struct str group = doc_get_text(spec, "group"),
               plural = doc_get_text(doc_get(spec, "names"), "plural");
    c = mem_zalloc(sizeof *c);
    c->s = s;
    c->name = arena_str(&c->arena, name);
    c->prefix =
        arena_printf(&c->arena, "/registry/%.*s/%.*s/", STR_ARG(group), STR_ARG(plural));
    link_in(s, c);
    c->watch = cache_watch(s->cache, c->prefix, cache_revision(s->cache), on_object, c);
    step_in(c, 0);
}

/* Those whose writes are on their way end with these. */
void cleanup_end_all(struct server *s)
{
    struct cleanup *next;
    for (struct cleanup *c = s->cleanups; c; c = next) {
        next = c->next;
        c->over = true;
        if (c->timer)
            net_timer_stop(c->timer);
        c->timer = NULL;
        if (!c->busy)
            end(c);
    }
}
