/* SPDX-License-Identifier: Apache-2.0 */
#include "client/events.h"

#include <stdlib.h>
#include <time.h>

#include "api/timestamp.h"
#include "base/map.h"
#include "base/mem.h"

enum { MAX_KNOWN = 256, MEMORY_MS = 600000, MAX_MESSAGE = 1024 };

struct known { /* an event that was written */
    struct known *older, *newer;
    char *key;
    char *path;
    unsigned count;
    uint64_t told_ms;
};

struct events {
    struct client *client;
    const char *component;
    struct strmap by_key;
    struct known *newest, *oldest;
    uint64_t serial; /* of names */
};

struct events *events_new(struct client *c, const char *component)
{
    struct events *e = mem_zalloc(sizeof *e);
    *e = (struct events){.client = c, .component = component};
    return e;
}

/* ---- what is known ---- */

static void unlink_known(struct events *e, struct known *k)
{
    *(k->newer ? &k->newer->older : &e->newest) = k->older;
    *(k->older ? &k->older->newer : &e->oldest) = k->newer;
}

static void push_known(struct events *e, struct known *k)
{
    k->newer = NULL;
    k->older = e->newest;
    *(e->newest ? &e->newest->newer : &e->oldest) = k;
    e->newest = k;
}

static void forget(struct events *e, struct known *k)
{
    strmap_remove(&e->by_key, str_from(k->key));
    unlink_known(e, k);
    free(k->key);
    free(k->path);
    free(k);
}

void events_free(struct events *e)
{
    if (!e)
        return;
    while (e->newest)
        forget(e, e->newest);
    strmap_release(&e->by_key);
    free(e);
}

static void remember(struct events *e, struct str key, struct str path)
{
    struct known *k = mem_zalloc(sizeof *k);
    k->key = mem_dup(key.p, key.n);
    k->path = mem_dup(path.p, path.n);
    k->count = 1;
    k->told_ms = net_now_ms(client_loop(e->client));
    strmap_put(&e->by_key, str_from(k->key), NULL)->value.ptr = k;
    push_known(e, k);
    if (e->by_key.live > MAX_KNOWN)
        forget(e, e->oldest);
}

static struct known *recall(struct events *e, struct str key)
{
    struct strmap_entry *found = strmap_find(&e->by_key, key);
    struct known *k = found ? found->value.ptr : NULL;
    if (k && net_now_ms(client_loop(e->client)) - k->told_ms > MEMORY_MS) {
        forget(e, k);
        k = NULL;
    }
    return k;
}

/* ---- telling ---- */

static void on_told(void *ctx, const struct client_answer *a)
{
    (void)ctx;
    (void)a;
}

static struct str now_text(struct arena *a)
{
    return timestamp_print(time(NULL), 0, false, a);
}

static void send(struct events *e, const char *method, const char *type, struct str path,
                 const struct doc *body)
{
    struct strbuf json = STRBUF_INIT;
    doc_write_json(body, DOC_JSON_COMPACT, &json);
    struct client_request q = {
        .method = method, .path = path, .type = type, .body = strbuf_str(&json)};
    client_start(e->client, &q, on_told, NULL);
    strbuf_release(&json);
}

static void count_up(struct events *e, struct known *k, struct arena *a)
{
    struct doc patch = doc_make_map();
    k->count++;
    k->told_ms = net_now_ms(client_loop(e->client));
    unlink_known(e, k);
    push_known(e, k);
    doc_set(a, &patch, "count", doc_make_int(a, k->count));
    doc_set(a, &patch, "lastTimestamp", doc_make_string(a, now_text(a)));
    send(e, "PATCH", "application/merge-patch+json", str_from(k->path), &patch);
}

static struct doc reference(const struct event_about *about, struct arena *a)
{
    static const char *const FIELDS[] = {"namespace", "name", "uid", "resourceVersion"};
    const struct doc *meta = doc_get(about->object, "metadata");
    struct doc d = doc_make_map();
    doc_set(a, &d, "apiVersion", doc_make_string(a, str_from(about->api_version)));
    doc_set(a, &d, "kind", doc_make_string(a, str_from(about->kind)));
    for (size_t i = 0; i < sizeof FIELDS / sizeof *FIELDS; i++) {
        struct str text = doc_get_text(meta, FIELDS[i]);
        if (text.n)
            doc_set(a, &d, FIELDS[i], doc_make_string(a, text));
    }
    return d;
}

static struct doc make_event(struct events *e, const struct event_about *about,
                             struct str namespace, struct str name, struct arena *a)
{
    struct doc d = doc_make_map(), meta = doc_make_map(), source = doc_make_map();
    struct str now = now_text(a);
    doc_set_text(a, &meta, "name", name);
    doc_set_text(a, &meta, "namespace", namespace);
    doc_set_text(a, &source, "component", str_from(e->component));
    doc_set_text(a, &d, "apiVersion", STR("v1"));
    doc_set_text(a, &d, "kind", STR("Event"));
    doc_set(a, &d, "metadata", meta);
    doc_set(a, &d, "involvedObject", reference(about, a));
    doc_set(a, &d, "source", source);
    doc_set_text(a, &d, "reportingComponent", str_from(e->component));
    doc_set_text(a, &d, "firstTimestamp", now);
    doc_set_text(a, &d, "lastTimestamp", now);
    doc_set(a, &d, "count", doc_make_int(a, 1));
    return d;
}

/* As client-go names them: the object's name, a point, and a time in hexadecimal. */
static struct str event_name(struct events *e, struct str of, struct arena *a)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    uint64_t ns = (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
    if (ns <= e->serial)
        ns = e->serial + 1;
    e->serial = ns;
    return arena_printf(a, "%.*s.%llx", STR_ARG(of), (unsigned long long)ns);
}

static void write_new(struct events *e, const struct event_about *about, const char *type,
                      const char *reason, struct str message, struct str key,
                      struct arena *a)
{
    static const struct client_kind EVENTS = {"", "v1", "events", true};
    const struct doc *meta = doc_get(about->object, "metadata");
    struct str ns = doc_get_text(meta, "namespace"),
               name = event_name(e, doc_get_text(meta, "name"), a);
    if (!ns.n)
        ns = STR("default");
    struct doc d = make_event(e, about, ns, name, a);
    doc_set_text(a, &d, "type", str_from(type));
    doc_set_text(a, &d, "reason", str_from(reason));
    doc_set_text(a, &d, "message", str_sub(message, 0, MAX_MESSAGE));
    send(e, "POST", NULL, client_path(&EVENTS, ns, STR_NONE, NULL, a), &d);
    remember(e, key, client_path(&EVENTS, ns, name, NULL, a));
}

void events_tell(struct events *e, const struct event_about *about, const char *type,
                 const char *reason, struct str message)
{
    struct arena a;
    struct str uid = doc_get_text(doc_get(about->object, "metadata"), "uid");
    arena_init(&a);
    struct str key = arena_printf(&a, "%s/%.*s/%s/%s/%.*s", about->kind, STR_ARG(uid),
                                  type, reason, STR_ARG(message));
    struct known *k = recall(e, key);
    if (k)
        count_up(e, k, &a);
    else
        write_new(e, about, type, reason, message, key, &a);
    arena_fini(&a);
}
