/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Watches: what is there (when asked for), then every change, until the client goes or
 * its time is up. Objects go out as they are kept, by reference, wherever that is what
 * the client asked for.
 */
#include <stdlib.h>
#include <time.h>

#include "api/canonical.h"
#include "api/proto.h"
#include "server/inner.h"

enum {
    BOOKMARK_MS = 60000,
    MIN_TIMEOUT_SECONDS = 1800, /* where none is asked for; at most twice that */
};

struct watcher {
    struct watcher *next, **link;
    struct request *r;
    struct cache_watch *watch;
    struct selection selection;
    uint64_t from; /* changes after this revision */
    bool initial, bookmarks, initial_end;
    bool told;  /* a table's columns were sent */
    bool over;  /* nothing more can be written */
    bool ready; /* cache_watch has returned */
    struct net_timer *timeout, *bookmark;
    struct arena scratch; /* of one event */
};

static void end(struct watcher *w)
{
    *w->link = w->next;
    if (w->next)
        w->next->link = w->link;
    cache_unwatch(w->watch);
    if (w->timeout)
        net_timer_stop(w->timeout);
    if (w->bookmark)
        net_timer_stop(w->bookmark);
    arena_fini(&w->scratch);
    vec_release(&w->r->warnings);
    net_done(w->r->x); /* the request and w live in its arena */
}

static void check_over(struct watcher *w)
{
    if (w->over && w->ready)
        end(w);
}

/* ---- events ---- */

static void write_text(struct watcher *w, struct str s)
{
    if (!w->over && !net_write(w->r->x, s))
        w->over = true;
}

static void unref_object(void *o)
{
    cache_object_unref(o);
}

static void write_kept(struct watcher *w, struct cache_object *o)
{
    struct net_shared *s = net_shared_wrap(o->json, unref_object, cache_object_ref(o));
    if (!w->over && !net_write_shared(w->r->x, s))
        w->over = true;
    net_shared_unref(s);
}

static void write_begin(struct watcher *w, const char *type)
{
    write_text(w, arena_printf(&w->scratch, "{\"type\":\"%s\",\"object\":", type));
}

/* d is in the form that was asked for. */
static void write_doc(struct watcher *w, const char *type, const struct doc *d)
{
    struct strbuf b = STRBUF_INIT;
    if (w->r->accept.media == MEDIA_PROTO) {
        if (!api_proto_encode_event(type, d, &w->scratch, &b, NULL))
            w->over = true;
    } else {
        strbuf_addf(&b, "{\"type\":\"%s\",\"object\":", type);
        doc_write_json(d, DOC_JSON_COMPACT, &b);
        strbuf_adds(&b, "}\n");
    }
    write_text(w, strbuf_str(&b));
    strbuf_release(&b);
}

static struct doc read_json(struct watcher *w, struct str json)
{
    struct doc_source src = {.name = "store", .text = json};
    struct doc d = doc_make_map();
    doc_read_json(&src, &w->scratch, &d, NULL);
    return doc_dup(&w->scratch, &d);
}

static bool shape(struct watcher *w, struct doc *d)
{
    struct request *r = w->r, event = *r;
    event.a = &w->scratch;
    if (!request_shape(&event, d))
        return false;
    if (r->accept.as == AS_TABLE && w->told)
        doc_set(&w->scratch, d, "columnDefinitions", doc_make_null());
    w->told |= r->accept.as == AS_TABLE;
    return true;
}

static void send_json(struct watcher *w, const char *type, struct str json)
{
    if (request_plain(w->r)) {
        write_begin(w, type);
        write_text(w, json);
        write_text(w, STR("}\n"));
        return;
    }
    struct doc d = read_json(w, json);
    object_convert(w->r->res, &d, &w->scratch);
    if (shape(w, &d))
        write_doc(w, type, &d);
}

static void send_object(struct watcher *w, const char *type, struct cache_object *o)
{
    if (w->over)
        return;
    if (request_plain(w->r)) {
        write_begin(w, type);
        write_kept(w, o);
        write_text(w, STR("}\n"));
    } else {
        send_json(w, type, o->json);
    }
    arena_reset(&w->scratch);
}

static void send_bookmark(struct watcher *w, uint64_t revision, bool initial_end)
{
    const struct resource *res = w->r->res;
    struct str note = initial_end ? STR("\"annotations\":{\"k8s.io/initial-events-end\":"
                                        "\"true\"},")
                                  : STR("");
    struct str json =
        arena_printf(&w->scratch, "%.*s%.*s\"resourceVersion\":\"%llu\"}}",
                     STR_ARG(res->head), STR_ARG(note), (unsigned long long)revision);
    struct doc d = read_json(w, json);
    api_canonical(res->hub->type, &d, &w->scratch);
    object_convert(res, &d, &w->scratch);
    if (shape(w, &d))
        write_doc(w, "BOOKMARK", &d);
    arena_reset(&w->scratch);
}

static void send_gone(struct watcher *w, uint64_t oldest)
{
    struct failure f = {.code = 410, .reason = "Expired"};
    f.message = arena_printf(w->r->a, "too old resource version: %llu (%llu)",
                             (unsigned long long)w->from, (unsigned long long)oldest);
    struct doc d = failure_doc(w->r->a, &f);
    write_doc(w, "ERROR", &d);
}

/* What a change is to somebody who sees a selection only. */
static void send_change(struct watcher *w, const struct cache_event *e)
{
    bool now = selection_matches(&w->selection, e->object);
    bool before =
        e->kind == CACHE_MODIFIED && selection_matches(&w->selection, e->previous);
    if (e->kind == CACHE_DELETED && now)
        send_object(w, "DELETED", e->object);
    else if (e->kind != CACHE_DELETED && now)
        send_object(w, before ? "MODIFIED" : "ADDED", e->object);
    else if (before)
        send_json(w, "DELETED",
                  object_json_at(w->r->res, e->previous, e->revision, &w->scratch));
    arena_reset(&w->scratch);
}

static void on_event(void *ctx, const struct cache_event *e)
{
    struct watcher *w = ctx;
    if (w->over)
        return;
    if (e->kind == CACHE_BOOKMARK)
        send_bookmark(w, e->revision, false);
    else
        send_change(w, e);
    check_over(w);
}

static bool send_initial(void *ctx, struct cache_object *o)
{
    struct watcher *w = ctx;
    if (selection_matches(&w->selection, o))
        send_object(w, "ADDED", o);
    return !w->over;
}

/* ---- options ---- */

static void add_cause(struct request *r, bool unsupported, const char *text)
{
    fail_cause(r, unsupported ? "FieldValueNotSupported" : "FieldValueForbidden",
               str_from(text), STR("resourceVersionMatch"));
}

/* Messages of all causes, as upstream joins them. */
static bool finish_causes(struct request *r)
{
    struct failure *f = &r->failure;
    struct strbuf b = STRBUF_INIT;
    for (uint32_t i = 0; i < f->causes.n; i++)
        strbuf_addf(&b, "%sresourceVersionMatch: %.*s", i ? ", " : "",
                    STR_ARG(doc_get_text(&f->causes.items[i], "message")));
    bool many = f->causes.n > 1;
    f->message = arena_printf(r->a, "ListOptions.meta.k8s.io \"\" is invalid: %s%s%s",
                              many ? "[" : "", strbuf_cstr(&b), many ? "]" : "");
    strbuf_release(&b);
    f->group = STR("meta.k8s.io");
    f->kind = STR("ListOptions");
    return f->causes.n == 0;
}

static bool check_options(struct request *r, bool has_initial)
{
    struct str match = query_get(&r->query, "resourceVersionMatch");
    fail(r, 422, "Invalid", " ");
    if (has_initial && !str_is(match, "NotOlderThan"))
        add_cause(r, false,
                  "Forbidden: sendInitialEvents requires setting resourceVersionMatch to "
                  "NotOlderThan");
    if (!has_initial && match.n)
        add_cause(r, false,
                  "Forbidden: resourceVersionMatch is forbidden for watch unless "
                  "sendInitialEvents is provided");
    if (match.n && !str_is(match, "NotOlderThan") && has_initial)
        add_cause(r, true,
                  arena_printf(r->a,
                               "Unsupported value: \"%.*s\": supported values: "
                               "\"NotOlderThan\"",
                               STR_ARG(match))
                      .p);
    return finish_causes(r);
}

static bool read_options(struct watcher *w)
{
    struct request *r = w->r;
    bool has_initial = query_get(&r->query, "sendInitialEvents").p != NULL;
    uint64_t revision;
    if (r->accept.media == MEDIA_YAML)
        return fail(r, 406, "NotAcceptable",
                    "only the following media types are accepted: "
                    "application/json;stream=watch, "
                    "application/vnd.kubernetes.protobuf;stream=watch");
    if (!check_options(r, has_initial) || !request_revision(r, &revision) ||
        !selection_read(r, &w->selection))
        return false;
    bool wants = query_bool(&r->query, "sendInitialEvents");
    w->bookmarks = query_bool(&r->query, "allowWatchBookmarks");
    w->initial = has_initial ? wants : revision == 0;
    w->initial_end =
        w->bookmarks &&
        (wants || (!has_initial && !query_get(&r->query, "resourceVersion").n));
    w->from = revision ? revision : cache_revision(r->s->cache);
    if (w->initial && w->from < cache_revision(r->s->cache))
        w->from = cache_revision(r->s->cache);
    return true;
}

/* ---- life ---- */

static void on_gone(void *ctx)
{
    end(ctx);
}

static void on_timeout(void *ctx)
{
    struct watcher *w = ctx;
    w->timeout = NULL; /* it has freed itself */
    end(w);
}

static void on_bookmark(void *ctx)
{
    struct watcher *w = ctx;
    cache_bookmark(w->watch);
}

static uint64_t timeout_ms(struct request *r)
{
    struct str s = query_get(&r->query, "timeoutSeconds");
    uint64_t seconds = s.n ? strtoull(arena_str(r->a, s).p, NULL, 10) : 0;
    uint32_t random;
    pki_random(&random, sizeof random);
    if (seconds == 0 || seconds > UINT32_MAX)
        seconds = MIN_TIMEOUT_SECONDS + random % MIN_TIMEOUT_SECONDS;
    return seconds * 1000;
}

static void begin(struct watcher *w)
{
    bool proto = w->r->accept.media == MEDIA_PROTO;
    struct net_header headers[MAX_HEADERS];
    uint32_t n = request_headers(w->r,
                                 proto ? "application/vnd.kubernetes.protobuf;"
                                         "stream=watch"
                                       : "application/json",
                                 headers);
    net_begin(w->r->x, 200, headers, n);
}

static void follow(struct watcher *w)
{
    struct server *s = w->r->s;
    struct str prefix = request_prefix(w->r);
    if (w->initial)
        cache_each(s->cache, prefix, STR_NONE, send_initial, w);
    if (w->initial_end && !w->over)
        send_bookmark(w, cache_revision(s->cache), true);
    w->watch = cache_watch(s->cache, prefix, w->from, on_event, w);
    if (!w->watch) {
        send_gone(w, cache_oldest(s->cache, prefix));
        w->over = true;
    }
    w->ready = true;
}

static void link_in(struct watcher *w)
{
    struct watcher **first = &w->r->s->watchers;
    w->next = *first;
    w->link = first;
    if (w->next)
        w->next->link = &w->next;
    *first = w;
}

void watch_serve(struct request *r)
{
    struct watcher *w = ARENA_NEW(r->a, struct watcher);
    w->r = r;
    if (!read_options(w)) {
        request_answer_failure(r);
        return;
    }
    link_in(w);
    begin(w);
    net_on_gone(r->x, on_gone, w);
    w->timeout = net_timer_start(r->s->loop, timeout_ms(r), 0, on_timeout, w);
    if (w->bookmarks)
        w->bookmark =
            net_timer_start(r->s->loop, BOOKMARK_MS, BOOKMARK_MS, on_bookmark, w);
    follow(w);
    check_over(w);
}

void watch_end_all(struct server *s)
{
    while (s->watchers)
        end(s->watchers);
}
