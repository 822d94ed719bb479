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
#include "server/custom/conversion.h"
#include "server/custom/custom.h"
#include "server/observe/measure.h"
#include "server/rest/awaiting.h"
#include "server/rest/watch_queue.h"

enum {
    BOOKMARK_MS = 60000,
    LAST_BOOKMARK_MS = 2000,    /* before the time is up, as upstream */
    MIN_TIMEOUT_SECONDS = 1800, /* where none is asked for; at most twice that */
    /* Of the state at the beginning so much is on its way at once. */
    MOST_UNSENT = 1 << 20,
};

static const char ADDED[] = "ADDED", MODIFIED[] = "MODIFIED", DELETED[] = "DELETED";

struct watcher {
    struct watcher *next, **link;
    struct request *r;
    struct cache_watch *watch;
    struct watch_queue *queue; /* NULL: events are told as they come */
    struct selection selection;
    uint64_t from; /* changes after this revision */
    bool initial, bookmarks, initial_end;
    VEC(struct cache_object *) state; /* references, that are sent first */
    size_t sent;                      /* of them */
    size_t known;                     /* of them: those that the queue has answered for */
    uint64_t state_revision;
    bool sees_all; /* of what it watches, as it is: no selector, no table */
    bool told;     /* a table's columns were sent */
    bool over;     /* nothing more can be written */
    bool ready;    /* cache_watch has returned */
    struct net_timer *timeout, *bookmark, *last_bookmark;
    struct arena scratch; /* of one event */
};

static void drop_state(struct watcher *w)
{
    while (w->sent < w->state.n)
        cache_object_unref(w->state.v[w->sent++]);
    vec_release(&w->state);
}

static void end(struct watcher *w)
{
    *w->link = w->next;
    if (w->next)
        w->next->link = w->link;
    cache_unwatch(w->watch);
    watch_queue_free(w->queue);
    drop_state(w);
    if (w->timeout)
        net_timer_stop(w->timeout);
    if (w->bookmark)
        net_timer_stop(w->bookmark);
    if (w->last_bookmark)
        net_timer_stop(w->last_bookmark);
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

static void write_shared(struct watcher *w, struct net_shared *s)
{
    if (!w->over && !net_write_shared(w->r->x, s))
        w->over = true;
}

/* false: it cannot be written in this form. */
static bool print_doc(struct watcher *w, const char *type, const struct doc *d,
                      struct strbuf *out)
{
    if (w->r->accept.media == MEDIA_PROTO)
        return api_proto_encode_event(type, d, &w->scratch, out, NULL);
    strbuf_addf(out, "{\"type\":\"%s\",\"object\":", type);
    doc_write_json(d, DOC_JSON_COMPACT, out);
    strbuf_adds(out, "}\n");
    return true;
}

/* d is in the form that was asked for. */
static void write_doc(struct watcher *w, const char *type, const struct doc *d)
{
    struct strbuf b = STRBUF_INIT;
    if (!print_doc(w, type, d, &b))
        w->over = true;
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

/* fresh: the bytes are what is asked for. */
static bool print_json(struct watcher *w, const char *type, struct str json, bool fresh,
                       struct strbuf *out)
{
    if (fresh && request_plain(w->r)) {
        strbuf_reserve(out, json.n + 64);
        strbuf_addf(out, "{\"type\":\"%s\",\"object\":", type);
        strbuf_addstr(out, json);
        strbuf_adds(out, "}\n");
        return true;
    }
    struct doc d = read_json(w, json);
    return object_convert(NULL, w->r->res, &d, &w->scratch) && shape(w, &d) &&
           print_doc(w, type, &d, out);
}

/* ---- what many watchers are told ---- */

enum {
    NSENT = 8,
    RUN = 64, /* events that are sent as one piece */
};

/* Of the last events, so that each is encoded once for all that want it in one form; of
 * the last runs of them, so that each is one piece to all that want all of it. */
struct sent {
    struct sent_run {
        struct cache_run run; /* without a resource: unused */
        const struct resource *res;
        enum media media;
        enum media_as as;
        const char *as_version;
        struct net_shared *bytes; /* NULL: some event has no such form */
    } runs[NSENT];
    uint32_t next_run;
    struct sent_event {
        struct cache_object *object; /* reference; NULL: unused */
        uint64_t revision;           /* that is written into it */
        const char *type;
        const struct resource *res;
        enum media media;
        enum media_as as;
        const char *as_version;
        struct net_shared *bytes; /* NULL: it has no such form */
    } events[NSENT];
    uint32_t next;
};

static bool same_form(const struct watcher *w, const struct sent_event *e)
{
    const struct accept *a = &w->r->accept;
    return e->res == w->r->res && e->media == a->media && e->as == a->as &&
           e->as_version == a->as_version;
}

static void forget(struct sent_event *e)
{
    cache_object_unref(e->object);
    net_shared_unref(e->bytes);
    *e = (struct sent_event){0};
}

static void forget_all(struct server *s)
{
    for (int i = 0; s->sent && i < NSENT; i++) {
        forget(&s->sent->events[i]);
        net_shared_unref(s->sent->runs[i].bytes);
    }
    free(s->sent);
    s->sent = NULL;
}

static struct net_shared *share(struct strbuf *b)
{
    size_t n = b->n;
    char *bytes = strbuf_steal(b);
    return net_shared_wrap((struct str){bytes, n}, free, bytes);
}

static bool print_object(struct watcher *w, const char *type, struct cache_object *o,
                         uint64_t revision, struct strbuf *out)
{
    struct str json = o->json;
    if (revision != o->revision)
        json = object_json_at(w->r->res, o, revision, &w->scratch);
    return print_json(w, type, json, custom_fresh(w->r->res, o), out);
}

/* One reference; NULL: it has no such form. */
static struct net_shared *encode(struct watcher *w, const char *type,
                                 struct cache_object *o, uint64_t revision)
{
    struct strbuf b = STRBUF_INIT;
    bool ok = print_object(w, type, o, revision, &b);
    struct net_shared *bytes = ok ? share(&b) : NULL;
    strbuf_release(&b);
    return bytes;
}

static struct sent *sent_of(struct server *s)
{
    if (!s->sent)
        s->sent = mem_zalloc(sizeof *s->sent);
    return s->sent;
}

/* Borrowed. */
static struct net_shared *find_encoded(struct watcher *w, const char *type,
                                       struct cache_object *o, uint64_t revision)
{
    struct server *s = w->r->s;
    sent_of(s);
    for (int i = 0; i < NSENT; i++) {
        struct sent_event *e = &s->sent->events[i];
        if (e->object == o && e->revision == revision && e->type == type &&
            same_form(w, e))
            return e->bytes;
    }
    struct sent_event *e = &s->sent->events[s->sent->next++ % NSENT];
    const struct accept *a = &w->r->accept;
    forget(e);
    *e = (struct sent_event){cache_object_ref(o),
                             revision,
                             type,
                             w->r->res,
                             a->media,
                             a->as,
                             a->as_version,
                             encode(w, type, o, revision)};
    return e->bytes;
}

static void write_event(struct watcher *w, struct net_shared *bytes)
{
    measure_event(w->r, net_shared_bytes(bytes).n);
    write_shared(w, bytes);
}

/* As it was at a revision. A table's first row has its columns: each watcher its own. */
static void send_object(struct watcher *w, const char *type, struct cache_object *o,
                        uint64_t revision)
{
    bool own = w->r->accept.as == AS_TABLE;
    if (w->over)
        return;
    struct net_shared *bytes =
        own ? encode(w, type, o, revision) : find_encoded(w, type, o, revision);
    if (bytes)
        write_event(w, bytes);
    else
        w->over |= w->r->accept.media == MEDIA_PROTO;
    if (own)
        net_shared_unref(bytes);
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
    if (res->custom) {
        doc_set(&w->scratch, &d, "apiVersion",
                doc_make_string(&w->scratch, res->api_version));
    } else {
        api_canonical(res->hub->type, &d, &w->scratch);
        object_convert(NULL, res, &d, &w->scratch);
    }
    if (shape(w, &d))
        write_doc(w, "BOOKMARK", &d);
    arena_reset(&w->scratch);
}

static void send_failed(struct watcher *w, struct str why)
{
    struct failure f = {.code = 500, .reason = "InternalError", .message = why};
    struct doc d = failure_doc(&w->scratch, &f);
    write_doc(w, "ERROR", &d);
    arena_reset(&w->scratch);
    w->over = true;
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
        send_object(w, DELETED, e->object, e->revision);
    else if (e->kind != CACHE_DELETED && now)
        send_object(w, before ? MODIFIED : ADDED, e->object, e->object->revision);
    else if (before)
        send_object(w, DELETED, e->previous, e->revision);
}

static void tell_event(void *ctx, const struct cache_event *e)
{
    struct watcher *w = ctx;
    if (w->over)
        return;
    if (e->kind == CACHE_BOOKMARK)
        send_bookmark(w, e->revision, false);
    else
        send_change(w, e);
}

static void take_change(struct watcher *w, const struct cache_event *e)
{
    if (!w->queue)
        tell_event(w, e);
    else if (!w->over && !watch_queue_push(w->queue, e))
        send_failed(w, STR("too many changes wait for the webhook that converts them"));
}

/* ---- many changes at once ---- */

static bool same_run(const struct watcher *w, const struct sent_run *s,
                     const struct cache_run *run)
{
    const struct accept *a = &w->r->accept;
    return s->run.resource == run->resource && s->run.number == run->number &&
           s->run.n == run->n && s->res == w->r->res && s->media == a->media &&
           s->as == a->as && s->as_version == a->as_version;
}

/* For one who sees all of them. */
static struct net_shared *encode_run(struct watcher *w, const struct cache_run *run)
{
    static const char *const types[] = {
        [CACHE_ADDED] = ADDED, [CACHE_MODIFIED] = MODIFIED, [CACHE_DELETED] = DELETED};
    struct strbuf b = STRBUF_INIT;
    bool ok = true;
    for (uint32_t i = 0; ok && i < run->n; i++) {
        const struct cache_event *e = cache_run_at(run, i);
        ok = print_object(w, types[e->kind], e->object, e->revision, &b);
        arena_reset(&w->scratch);
    }
    struct net_shared *bytes = ok ? share(&b) : NULL;
    strbuf_release(&b);
    return bytes;
}

/* Borrowed; NULL: one by one. */
static struct net_shared *find_run(struct watcher *w, const struct cache_run *run)
{
    struct sent *sent = sent_of(w->r->s);
    const struct accept *a = &w->r->accept;
    for (int i = 0; i < NSENT; i++)
        if (same_run(w, &sent->runs[i], run))
            return sent->runs[i].bytes;
    struct sent_run *s = &sent->runs[sent->next_run++ % NSENT];
    net_shared_unref(s->bytes);
    *s = (struct sent_run){*run,  w->r->res,     a->media,
                           a->as, a->as_version, encode_run(w, run)};
    return s->bytes;
}

static void send_run(struct watcher *w, const struct cache_run *run)
{
    struct net_shared *bytes = w->sees_all && !w->queue ? find_run(w, run) : NULL;
    if (bytes)
        write_shared(w, bytes);
    for (uint32_t i = 0; !bytes && i < run->n && !w->over; i++)
        take_change(w, cache_run_at(run, i));
}

static void on_run(void *ctx, const struct cache_run *run)
{
    struct watcher *w = ctx;
    struct cache_run part = *run;
    for (uint32_t left = run->n; left > 0; left -= part.n) {
        uint32_t most = RUN - (uint32_t)(part.number % RUN); /* cut alike for all */
        part.n = left < most ? left : most;
        send_run(w, &part);
        part.first += part.n;
        part.number += part.n;
    }
    check_over(w);
}

static void on_event(void *ctx, const struct cache_event *e)
{
    take_change(ctx, e);
    check_over(ctx);
}

/* ---- what a webhook converts ---- */

static void on_told(void *ctx)
{
    check_over(ctx);
}

static void on_failed(void *ctx, struct str why)
{
    struct watcher *w = ctx;
    send_failed(w, why);
    w->ready = true; /* whatever it was about to begin with */
    check_over(w);
}

static const struct watch_queue_ops QUEUE = {tell_event, on_told, on_failed};

/* So much of the state as makes a review is asked about at once. */
static bool is_known(struct watcher *w, void (*then)(void *ctx))
{
    size_t n = w->state.n - w->sent;
    if (!w->queue || w->sent < w->known)
        return true;
    n = n < CONVERSION_AT_ONCE ? n : CONVERSION_AT_ONCE;
    if (!watch_queue_ready(w->queue, w->state.v + w->sent, n, then))
        return false;
    w->known = w->sent + n;
    return true;
}

/* ---- the state at the beginning ---- */

static void unref_object(void *o)
{
    cache_object_unref(o);
}

static bool take_initial(void *ctx, struct cache_object *o)
{
    struct watcher *w = ctx;
    if (selection_matches(&w->selection, o))
        vec_push(&w->state, cache_object_ref(o));
    return true;
}

static void write_kept(struct watcher *w, struct cache_object *o)
{
    struct net_shared *s = net_shared_wrap(o->json, unref_object, cache_object_ref(o));
    write_text(w, STR("{\"type\":\"ADDED\",\"object\":"));
    write_shared(w, s);
    write_text(w, STR("}\n"));
    net_shared_unref(s);
}

static void send_initial(struct watcher *w, struct cache_object *o)
{
    struct strbuf b = STRBUF_INIT;
    bool fresh = custom_fresh(w->r->res, o);
    if (fresh && request_plain(w->r))
        write_kept(w, o);
    else if (print_json(w, ADDED, o->json, fresh, &b))
        write_text(w, strbuf_str(&b));
    else
        w->over |= w->r->accept.media == MEDIA_PROTO;
    strbuf_release(&b);
    arena_reset(&w->scratch);
}

/* ---- options ---- */

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
    if (!watch_check_options(r, has_initial) || !request_revision(r, &revision) ||
        !selection_read(r, &w->selection))
        return false;
    w->sees_all =
        r->accept.as != AS_TABLE && !w->selection.labels.n && !w->selection.fields.n;
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
    if (w->watch) /* else the state is still being sent */
        cache_bookmark(w->watch);
}

/* So that whoever watches on need not be told again what has happened long ago. */
static void on_last_bookmark(void *ctx)
{
    struct watcher *w = ctx;
    w->last_bookmark = NULL; /* it has freed itself */
    on_bookmark(w);
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
    if (w->initial_end && !w->over)
        send_bookmark(w, w->state_revision, true);
    w->watch = cache_watch_runs(s->cache, prefix, w->from, on_event, on_run, w);
    if (!w->watch) {
        send_gone(w, cache_oldest(s->cache, prefix));
        w->over = true;
    }
    w->ready = true;
    check_over(w);
}

/* As much of the state as may be on its way, then, when all is, the changes since. */
static void go_on(void *ctx)
{
    struct watcher *w = ctx;
    while (w->sent < w->state.n && !w->over && net_unsent(w->r->x) < MOST_UNSENT) {
        if (!is_known(w, go_on))
            return;
        struct cache_object *o = w->state.v[w->sent++];
        send_initial(w, o);
        cache_object_unref(o);
    }
    if (w->sent < w->state.n && !w->over) {
        net_on_drain(w->r->x, MOST_UNSENT / 2, go_on, w);
        return;
    }
    drop_state(w);
    net_on_drain(w->r->x, 0, NULL, NULL);
    follow(w);
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

static void serve_again(void *ctx)
{
    watch_serve(ctx);
}

void watch_serve(struct request *r)
{
    struct watcher *w = ARENA_NEW(r->a, struct watcher);
    w->r = r;
    if (!read_options(w)) {
        request_answer_failure(r);
        return;
    }
    if (!custom_selectable(r, &w->selection, CUSTOM_LIST)) {
        if (!awaiting_begin(r, serve_again, r))
            request_answer_failure(r);
        return;
    }
    w->queue = watch_queue_new(r, w->selection.fields.n > 0, &QUEUE, w);
    link_in(w);
    begin(w);
    net_on_gone(r->x, on_gone, w);
    uint64_t ms = timeout_ms(r);
    w->timeout = net_timer_start(r->s->loop, ms, 0, on_timeout, w);
    if (w->bookmarks)
        w->bookmark =
            net_timer_start(r->s->loop, BOOKMARK_MS, BOOKMARK_MS, on_bookmark, w);
    if (w->bookmarks && ms > 2 * LAST_BOOKMARK_MS) /* short ones need none */
        w->last_bookmark =
            net_timer_start(r->s->loop, ms - LAST_BOOKMARK_MS, 0, on_last_bookmark, w);
    w->state_revision = cache_revision(r->s->cache);
    if (w->initial)
        cache_each(r->s->cache, request_prefix(r), STR_NONE, take_initial, w);
    go_on(w);
}

void watch_end_custom(struct server *s, const struct custom *c)
{
    struct watcher *next;
    for (struct watcher *w = s->watchers; w; w = next) {
        next = w->next;
        if (w->r->held == c)
            end(w);
    }
    if (s->sent)
        forget_all(s);
}

void watch_end_all(struct server *s)
{
    while (s->watchers)
        end(s->watchers);
    forget_all(s);
}
