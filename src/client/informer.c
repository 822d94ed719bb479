/* SPDX-License-Identifier: Apache-2.0 */
#include "client/informer.h"

#include <stdlib.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/query.h"
#include "base/rng.h"

/* As client-go's reflector: back-off of a watch that fails; a watch is asked to end after
 * five to ten minutes. */
enum {
    FIRST_WAIT_MS = 800,
    LONGEST_WAIT_MS = 30000,
    CALM_MS = 120000, /* of a watch that went well: the next one waits little again */
    SHORTEST_S = 300,
};

static const char INITIAL_END[] = "k8s.io/initial-events-end";

enum phase {
    PHASE_INITIAL, /* the state is being told, as a stream or as a list */
    PHASE_WATCH,
};

struct entry { /* the value of a map's entry */
    struct object *object;
    uint32_t round; /* of the initial state that has it last */
};

struct informer {
    struct client *client;
    struct informer_opts opts;
    const struct informer_ops *ops;
    void *ctx;
    struct strmap objects; /* key -> struct entry; the key is the object's */
    enum phase phase;
    bool synced, no_streams; /* no_streams: this server has no initial events */
    bool expired;            /* the version is not known anymore */
    uint32_t round;
    struct strbuf version; /* of the last event; empty: from the beginning */
    struct client_call *call;
    struct net_timer *timer;
    uint64_t wait_ms, begun_ms;
    struct rng rng;
    bool *gone;
};

/* ---- the map ---- */

const struct object *informer_get(const struct informer *i, struct str key)
{
    const struct strmap_entry *e = strmap_find(&i->objects, key);
    return e ? ((const struct entry *)e->value.ptr)->object : NULL;
}

const struct object *informer_find(const struct informer *i, struct str namespace,
                                   struct str name)
{
    struct arena a;
    arena_init(&a);
    const struct object *o =
        informer_get(i, arena_printf(&a, "%.*s/%.*s", STR_ARG(namespace), STR_ARG(name)));
    arena_fini(&a);
    return o;
}

uint32_t informer_count(const struct informer *i)
{
    return i->objects.live;
}

void informer_each(const struct informer *i,
                   void (*each)(void *ctx, const struct object *o), void *ctx)
{
    strmap_each(&i->objects, e) each(ctx, ((const struct entry *)e->value.ptr)->object);
}

static void entry_free(struct entry *e)
{
    object_unref(e->object);
    free(e);
}

static void trouble(struct informer *i, const char *what)
{
    if (i->ops->trouble)
        i->ops->trouble(i->ctx, what);
}

/* The informer takes the reference. Told after it is in the map. false: the informer is
 * gone. */
static bool put(struct informer *i, struct object *now)
{
    struct strmap_entry *found = strmap_find(&i->objects, now->key);
    struct entry *entry = found ? found->value.ptr : mem_zalloc(sizeof *entry);
    struct object *old = entry->object;
    bool gone = false, same = old && str_eq(old->version, now->version);
    if (found)
        strmap_remove(&i->objects, now->key);
    entry->object = now;
    entry->round = i->round;
    strmap_put(&i->objects, now->key, NULL)->value.ptr = entry;
    object_ref(now);
    i->gone = &gone;
    if (!same)
        i->ops->changed(i->ctx, old, now);
    if (!gone)
        i->gone = NULL;
    object_unref(old);
    object_unref(now);
    return !gone;
}

static bool drop(struct informer *i, struct str key)
{
    struct strmap_entry *found = strmap_find(&i->objects, key);
    struct entry *entry = found ? found->value.ptr : NULL;
    bool gone = false;
    if (!entry)
        return true;
    strmap_remove(&i->objects, entry->object->key);
    i->gone = &gone;
    i->ops->changed(i->ctx, entry->object, NULL);
    if (!gone)
        i->gone = NULL;
    entry_free(entry);
    return !gone;
}

/* What the initial state did not have is gone. The map does not change its entries'
 * places while some are removed. */
static bool sweep(struct informer *i)
{
    for (uint32_t at = 0; at < i->objects.n; at++) {
        struct strmap_entry *e = &i->objects.entries[at];
        if (e->key.p && ((struct entry *)e->value.ptr)->round != i->round &&
            !drop(i, ((struct entry *)e->value.ptr)->object->key))
            return false;
    }
    return true;
}

static bool complete(struct informer *i)
{
    bool first = !i->synced, gone = false;
    if (!sweep(i))
        return false;
    i->phase = PHASE_WATCH;
    i->synced = true;
    if (!first || !i->ops->synced)
        return true;
    i->gone = &gone;
    i->ops->synced(i->ctx);
    if (!gone)
        i->gone = NULL;
    return !gone;
}

static void set_version(struct informer *i, struct str version)
{
    strbuf_clear(&i->version);
    strbuf_addstr(&i->version, version);
}

/* ---- events ---- */

/* o NULL: it made no sense, e says why. The reference is taken. false: the informer is
 * gone. */
static bool take_object(struct informer *i, struct object *o, bool deleted,
                        const struct err *e)
{
    bool goes_on = true;
    if (!o) {
        trouble(i, err_text(e));
    } else if (deleted) {
        goes_on = drop(i, o->key);
        object_unref(o);
    } else {
        goes_on = put(i, o);
    }
    return goes_on;
}

static bool take_bookmark(struct informer *i, const struct doc *d)
{
    const struct doc *notes = doc_path(d, "metadata.annotations");
    bool end = doc_is_string(doc_get(notes, INITIAL_END), "true");
    return i->phase != PHASE_INITIAL || !end || complete(i);
}

static void take_error(struct informer *i, const struct doc *status)
{
    int64_t code = 0;
    doc_get_int64(status, "code", &code);
    i->expired = code == 410;
    if (!i->expired)
        trouble(i, doc_get_text(status, "message").n ? doc_get_text(status, "message").p
                                                     : "the watch has failed");
}

/* The event lies in a, which its object takes over. Nothing of the informer is touched
 * after an object was taken. */
static void take_event(struct informer *i, struct arena *a, const struct doc *event)
{
    struct str type = doc_get_text(event, "type");
    const struct doc *d = doc_get(event, "object");
    struct str version = doc_get_text(doc_get(d, "metadata"), "resourceVersion");
    bool bookmark = str_is(type, "BOOKMARK");
    struct err e = ERR_INIT;
    if (str_is(type, "ERROR")) {
        take_error(i, d);
        return;
    }
    if (i->phase == PHASE_WATCH || bookmark)
        set_version(i, version);
    if (bookmark)
        take_bookmark(i, d);
    else
        take_object(i, object_take(a, d, &i->opts.objects, &e), str_is(type, "DELETED"),
                    &e);
    err_release(&e);
}

/* {"type":"TYPE","object":OBJECT}, as servers write it; false: it is not of this form. An
 * object that is none is found when it is read. */
static bool split_line(struct str line, struct str *type, struct str *object)
{
    static const struct str HEAD = STR_INIT("{\"type\":\""),
                            MIDDLE = STR_INIT("\",\"object\":");
    if (!str_starts(line, HEAD) || line.p[line.n - 1] != '}')
        return false;
    size_t end = str_find_byte(line, '"', HEAD.n);
    if (end == SIZE_MAX || !str_starts(str_sub(line, end, line.n), MIDDLE))
        return false;
    *type = str_sub(line, HEAD.n, end);
    *object = str_sub(line, end + MIDDLE.n, line.n - 1);
    return true;
}

/* What most events are, by way of the pool. false: something else is to be tried. */
static bool take_line(struct informer *i, struct str line)
{
    struct str type, text;
    if (!split_line(line, &type, &text) || str_is(type, "BOOKMARK") ||
        str_is(type, "ERROR"))
        return false;
    struct object *o =
        object_pool_read(client_pool(i->client), text, &i->opts.objects, NULL);
    if (!o)
        return false;
    if (i->phase == PHASE_WATCH)
        set_version(i, o->version);
    take_object(i, o, str_is(type, "DELETED"), NULL);
    return true;
}

static void on_line(void *ctx, struct str line)
{
    struct informer *i = ctx;
    if (take_line(i, line))
        return;
    struct arena a;
    struct doc_source src = {.name = "event", .text = line};
    struct doc event;
    struct err e = ERR_INIT;
    object_arena_init(&a);
    if (doc_read_json(&src, &a, &event, &e))
        take_event(i, &a, &event);
    else
        trouble(i, err_text(&e));
    err_release(&e);
    arena_fini(&a);
}

/* ---- lists ---- */

static bool take_items(struct informer *i, const struct doc *list)
{
    const struct doc *items = doc_get(list, "items");
    bool goes_on = true;
    for (uint32_t n = 0; goes_on && items && items->type == DOC_LIST && n < items->n;
         n++) {
        struct err e = ERR_INIT;
        struct object *o = object_of_doc(&items->items[n], &i->opts.objects, &e);
        goes_on = take_object(i, o, false, &e);
        err_release(&e);
    }
    if (!goes_on)
        return false;
    set_version(i, doc_get_text(doc_get(list, "metadata"), "resourceVersion"));
    return complete(i);
}

/* ---- asking ---- */

static void ask(struct informer *i);

static void ask_now(void *ctx)
{
    struct informer *i = ctx;
    i->timer = NULL;
    ask(i);
}

/* Twice as long each time, and a bit of chance, so that not all come back at once. */
static void ask_later(struct informer *i)
{
    uint64_t ms = i->wait_ms + rng_next(&i->rng) % (i->wait_ms + 1);
    i->timer = net_timer_start(client_loop(i->client), ms, 0, ask_now, i);
    i->wait_ms = i->wait_ms * 2 > LONGEST_WAIT_MS ? LONGEST_WAIT_MS : i->wait_ms * 2;
}

static void again(struct informer *i, bool at_once)
{
    uint64_t now = net_now_ms(client_loop(i->client));
    if (now - i->begun_ms > CALM_MS || at_once)
        i->wait_ms = FIRST_WAIT_MS;
    if (at_once)
        i->timer = net_timer_start(client_loop(i->client), 0, 0, ask_now, i);
    else
        ask_later(i);
}

static void forget_version(struct informer *i)
{
    strbuf_clear(&i->version);
    i->expired = false;
}

static void on_watch_end(void *ctx, const struct client_answer *a)
{
    struct informer *i = ctx;
    bool initial = i->phase == PHASE_INITIAL;
    i->call = NULL;
    if (initial && (a->status == 400 || a->status == 422))
        i->no_streams = true;
    if (initial || i->expired || a->status == 410)
        forget_version(i);
    else if (!a->ok)
        trouble(i, a->message);
    again(i, a->ok && !initial);
}

static void on_list_end(void *ctx, const struct client_answer *a)
{
    struct informer *i = ctx;
    struct arena arena;
    struct doc_source src = {.name = "list", .text = a->body};
    struct doc list;
    bool goes_on = true, read = false;
    i->call = NULL;
    arena_init(&arena);
    if (!a->ok)
        trouble(i, a->message);
    else if (doc_read_json(&src, &arena, &list, NULL))
        read = true, goes_on = take_items(i, &list);
    arena_fini(&arena);
    if (goes_on)
        again(i, read);
}

static void add_selectors(const struct informer *i, struct strbuf *path)
{
    if (i->opts.labels) {
        strbuf_adds(path, "&labelSelector=");
        query_escape(str_from(i->opts.labels), path);
    }
    if (i->opts.fields) {
        strbuf_adds(path, "&fieldSelector=");
        query_escape(str_from(i->opts.fields), path);
    }
}

static void add_watch(struct informer *i, struct strbuf *path)
{
    strbuf_addf(path, "watch=true&allowWatchBookmarks=true&timeoutSeconds=%u",
                SHORTEST_S + (unsigned)(rng_next(&i->rng) % SHORTEST_S));
    if (i->version.n)
        strbuf_addf(path, "&resourceVersion=%s", strbuf_cstr(&i->version));
    else
        strbuf_adds(path, "&sendInitialEvents=true&resourceVersionMatch=NotOlderThan");
}

static const char *accepted(const struct informer *i, bool list)
{
    if (!i->opts.metadata)
        return NULL;
    return list ? CLIENT_METADATA_LIST : CLIENT_METADATA;
}

static void ask(struct informer *i)
{
    bool list = i->no_streams && !i->version.n;
    struct arena a;
    struct strbuf path = STRBUF_INIT;
    arena_init(&a);
    i->begun_ms = net_now_ms(client_loop(i->client));
    strbuf_addstr(&path, client_path(&i->opts.kind, str_from(i->opts.namespace), STR_NONE,
                                     NULL, &a));
    strbuf_addc(&path, '?');
    if (!i->version.n) {
        i->phase = PHASE_INITIAL;
        i->round++;
    }
    if (!list)
        add_watch(i, &path);
    add_selectors(i, &path);
    struct client_request q = {
        .method = "GET", .path = strbuf_str(&path), .accept = accepted(i, list)};
    i->call = list ? client_start(i->client, &q, on_list_end, i)
                   : client_stream(i->client, &q, on_line, on_watch_end, i);
    strbuf_release(&path);
    arena_fini(&a);
}

/* ---- life ---- */

struct informer *informer_new(struct client *c, const struct informer_opts *opts,
                              const struct informer_ops *ops, void *ctx)
{
    struct informer *i = mem_zalloc(sizeof *i);
    *i = (struct informer){
        .client = c, .opts = *opts, .ops = ops, .ctx = ctx, .wait_ms = FIRST_WAIT_MS};
    rng_init(&i->rng, (uint64_t)(uintptr_t)i ^ net_now_ms(client_loop(c)));
    ask(i);
    return i;
}

bool informer_synced(const struct informer *i)
{
    return i->synced;
}

void informer_free(struct informer *i)
{
    if (!i)
        return;
    if (i->gone)
        *i->gone = true;
    if (i->call)
        client_cancel(i->call);
    net_timer_stop(i->timer);
    strmap_each(&i->objects, e) entry_free(e->value.ptr);
    strmap_release(&i->objects);
    strbuf_release(&i->version);
    free(i);
}
