/* SPDX-License-Identifier: Apache-2.0 */
/*
 * API servers over HTTPS: dray's on SQLite beside kube-apiserver on etcd, under the same
 * clients. What is answered is counted, not decoded; once, before the clock runs, it is
 * looked at.
 */
#include "server.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "bench.h"

#define PATH "/api/v1/namespaces/default/configmaps"

enum {
    OBJECTS = 10000,
    ROUND = OBJECTS / 3 + 1, /* creates of a round */
    LISTS = 8,
    /* Many watches and few writes: the events are the work. */
    WATCHES = 1000,
    WRITES = 160,
    TEXT = 400,
    ASK_MS = 60000,
};

/* ---- many requests ---- */

/* The i-th request; strings live until it is sent. */
typedef void make_fn(struct target *t, uint32_t i, char path[128], char text[2048],
                     struct https_request *out);

struct burst {
    struct target *t;
    make_fn *make;
    unsigned want; /* status */
    uint32_t first, next, end, done, failed;
};

static void send_next(struct burst *b, struct https_conn *c);

struct lane { /* a client */
    struct burst *burst;
    struct https_conn *conn;
};

static void lane_done(void *ctx, unsigned status, struct str body)
{
    struct lane *l = ctx;
    struct burst *b = l->burst;
    b->done++;
    b->failed += status != b->want;
    if (status != b->want && b->failed == 1)
        fprintf(stderr, "dray-bench: %s answered %u: %.*s\n", b->t->name, status,
                body.n < 200 ? (int)body.n : 200, body.p);
    send_next(b, l->conn);
    free(l);
}

static void send_next(struct burst *b, struct https_conn *c)
{
    char path[128], text[2048];
    if (b->next == b->end)
        return;
    struct lane *l = mem_alloc(sizeof *l);
    *l = (struct lane){b, c};
    struct https_request r = {.done = lane_done, .ctx = l};
    b->make(b->t, b->next++, path, text, &r);
    https_send(c, &r);
}

static void burst_start(struct burst *b)
{
    b->end += b->next;
    b->first = b->next;
    for (uint32_t i = 0; i < CLIENTS; i++)
        send_next(b, b->t->conns[i % CONNECTIONS]);
}

static bool burst_over(const struct burst *b)
{
    return b->done == b->end - b->first;
}

/* ns per request; infinite: some failed. */
static double burst_run(struct burst *b)
{
    uint64_t start = clock_mono_ns();
    burst_start(b);
    while (!burst_over(b))
        https_run(b->t->https, 1000);
    double ns = (double)(clock_mono_ns() - start) / (b->end - b->first);
    return b->failed ? INFINITY : ns;
}

/* ---- the requests ---- */

static int write_object(char text[2048], uint32_t i, uint32_t serial)
{
    static char filler[TEXT + 1];
    memset(filler, 'x', TEXT);
    return snprintf(
        text, 2048,
        "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":"
        "\"object-%05u\",\"labels\":{\"app\":\"bench\",\"part\":\"p%u\"}},"
        "\"data\":{\"serial\":\"%u\",\"text\":\"%s\"}}",
        i, i % 10, serial, filler);
}

static void make_create(struct target *t, uint32_t i, char path[128], char text[2048],
                        struct https_request *out)
{
    int n = write_object(text, i, 0);
    out->method = "POST";
    out->path = STR(PATH);
    out->body = (struct str){text, (size_t)n};
}

/* Of objects in no order. */
static void make_get(struct target *t, uint32_t i, char path[128], char text[2048],
                     struct https_request *out)
{
    snprintf(path, 128, PATH "/object-%05u", (unsigned)(i * 2654435761u % OBJECTS));
    out->method = "GET";
    out->path = str_from(path);
}

static void make_patch(struct target *t, uint32_t i, char path[128], char text[2048],
                       struct https_request *out)
{
    int n = snprintf(text, 2048, "{\"data\":{\"serial\":\"%u\"}}", ++t->serial);
    make_get(t, i, path, text, out);
    out->method = "PATCH";
    out->type = "application/merge-patch+json";
    out->body = (struct str){text, (size_t)n};
}

static bool make_objects(struct target *t, uint32_t n)
{
    struct burst b = {
        .t = t, .make = make_create, .want = 201, .next = t->objects, .end = n};
    t->objects += n;
    return isfinite(burst_run(&b));
}

/* ---- looking at answers ---- */

/* As many items, each with its text. */
static bool list_is_right(struct target *t)
{
    struct strbuf body = STRBUF_INIT;
    struct https_request r = {.method = "GET", .path = STR(PATH)};
    struct arena a = {0};
    struct doc d;
    uint32_t seen = 0;
    struct doc_source src = {.name = "list"};
    bool ok = https_ask(t->https, t->conns[0], &r, ASK_MS, &body) == 200;
    src.text = strbuf_str(&body);
    ok = ok && doc_read_json(&src, &a, &d, NULL);
    const struct doc *items = ok ? doc_get(&d, "items") : NULL;
    for (uint32_t i = 0; items && i < items->n; i++) {
        struct str name = doc_get_text(doc_get(&items->items[i], "metadata"), "name");
        struct str text = doc_get_text(doc_get(&items->items[i], "data"), "text");
        seen += str_starts(name, STR("object-")) && text.n == TEXT;
    }
    arena_fini(&a);
    strbuf_release(&body);
    return seen == t->objects;
}

static void setup(struct bench *b, const struct bench_row *row)
{
    const char *why = target_up(&target_dray);
    if (why) {
        b->skip = why;
        return;
    }
    struct target *both[] = {&target_dray, &target_kube};
    for (int i = 0; row->peer_measure && i < 2; i++)
        if (!target_up(both[i]) && row->arg == NULL && both[i]->objects < OBJECTS &&
            (!make_objects(both[i], OBJECTS - both[i]->objects) ||
             !list_is_right(both[i])))
            b->skip = "what is answered is not right";
}

/* ---- rows ---- */

static double measure_creates(struct target *t)
{
    struct burst b = {
        .t = t, .make = make_create, .want = 201, .next = t->objects, .end = ROUND};
    t->objects += ROUND;
    return burst_run(&b);
}

static double measure_gets(struct target *t)
{
    struct burst b = {.t = t, .make = make_get, .want = 200, .end = OBJECTS};
    return burst_run(&b);
}

static double measure_patches(struct target *t)
{
    struct burst b = {.t = t, .make = make_patch, .want = 200, .end = ROUND};
    return burst_run(&b);
}

static void count_bytes(void *ctx, struct https_call *call, struct str bytes)
{
    *(uint64_t *)ctx += bytes.n;
}

struct listed {
    uint64_t bytes; /* first */
    bool done;
    unsigned status;
};

static void list_done(void *ctx, unsigned status, struct str body)
{
    struct listed *l = ctx;
    l->done = true;
    l->status = status;
}

/* ns per object, one list after another. */
static double measure_lists(struct target *t)
{
    uint64_t start = clock_mono_ns();
    for (int i = 0; i < LISTS; i++) {
        struct listed l = {0};
        struct https_request r = {.method = "GET",
                                  .path = STR(PATH),
                                  .data = count_bytes,
                                  .done = list_done,
                                  .ctx = &l};
        https_send(t->conns[0], &r);
        while (!l.done)
            https_run(t->https, 1000);
        if (l.status != 200 || l.bytes < (uint64_t)t->objects * TEXT)
            return INFINITY;
    }
    return (double)(clock_mono_ns() - start) / LISTS / t->objects;
}

/* ---- watches ---- */

struct fan {
    uint32_t watches, writes;
    uint64_t events; /* lines */
    uint32_t open, lost;
    bool over;
    struct https_call **calls; /* NULL: ended */
};

struct watch {
    struct fan *fan;
    uint32_t index;
};

static void count_lines(void *ctx, struct https_call *call, struct str bytes)
{
    struct fan *f = ((struct watch *)ctx)->fan;
    const char *end = bytes.p + bytes.n;
    for (const char *p = bytes.p; (p = memchr(p, '\n', (size_t)(end - p))); p++)
        f->events++;
}

static void watch_done(void *ctx, unsigned status, struct str body)
{
    struct watch *w = ctx;
    struct fan *f = w->fan;
    f->calls[w->index] = NULL;
    f->open--;
    f->lost += !f->over;
    free(w);
}

static bool list_revision(struct target *t, char out[24])
{
    struct strbuf body = STRBUF_INIT;
    struct https_request r = {.method = "GET", .path = STR(PATH "?limit=1")};
    static const char KEY[] = "\"resourceVersion\":\"";
    bool ok = https_ask(t->https, t->conns[0], &r, ASK_MS, &body) == 200;
    const char *p = ok ? strstr(strbuf_cstr(&body), KEY) : NULL;
    snprintf(out, 24, "%llu", p ? strtoull(p + sizeof KEY - 1, NULL, 10) : 0ull);
    strbuf_release(&body);
    return p != NULL;
}

static void start_watches(struct target *t, struct fan *f)
{
    char path[128], revision[24] = "";
    list_revision(t, revision);
    snprintf(path, sizeof path, PATH "?watch=1&resourceVersion=%s&timeoutSeconds=600",
             revision);
    for (uint32_t i = 0; i < f->watches; i++) {
        struct watch *w = mem_alloc(sizeof *w);
        *w = (struct watch){f, i};
        struct https_request r = {.method = "GET",
                                  .path = str_from(path),
                                  .data = count_lines,
                                  .done = watch_done,
                                  .ctx = w};
        f->calls[i] = https_send(t->conns[i % CONNECTIONS], &r);
        f->open++;
    }
    for (uint32_t i = 0; i < f->watches; i++)
        while (f->calls[i] && https_status(f->calls[i]) == 0)
            https_run(t->https, 1000);
}

static void end_watches(struct target *t, struct fan *f)
{
    f->over = true;
    for (uint32_t i = 0; i < f->watches; i++)
        if (f->calls[i])
            https_cancel(f->calls[i]);
    while (f->open > 0)
        https_run(t->https, 1000);
    free(f->calls);
}

/* ns per event: all that was written has come to all. */
static double run_fan(struct target *t, struct fan *f)
{
    uint64_t want = (uint64_t)f->watches * f->writes;
    struct burst b = {.t = t, .make = make_patch, .want = 200, .end = f->writes};
    f->calls = mem_array(f->watches, sizeof *f->calls);
    start_watches(t, f);
    uint64_t start = clock_mono_ns();
    burst_start(&b);
    while ((f->events < want || !burst_over(&b)) && f->lost == 0)
        https_run(t->https, 1000);
    double ns = (double)(clock_mono_ns() - start) / (double)want;
    bool ok = f->events == want && b.failed == 0 && f->lost == 0;
    if (!ok)
        fprintf(stderr, "dray-bench: %s: %u of %u watches ended, %llu of %llu events\n",
                t->name, f->lost, f->watches, (unsigned long long)f->events,
                (unsigned long long)want);
    while (!burst_over(&b))
        https_run(t->https, 1000);
    end_watches(t, f);
    return ok ? ns : INFINITY;
}

static double measure_events(struct target *t)
{
    struct fan f = {.watches = WATCHES, .writes = WRITES};
    return run_fan(t, &f);
}

static double measure_memory(struct target *t)
{
    return (double)target_memory(t);
}

/* ---- start ---- */

static double measure_first_start(struct target *t)
{
    uint64_t ns = target_restart(t, true);
    return ns ? (double)ns : INFINITY;
}

static double measure_next_start(struct target *t)
{
    uint64_t ns = target_restart(t, false);
    return ns ? (double)ns : INFINITY;
}

#define BOTH(name)                                                                       \
    static double dray_##name(struct bench *b)                                           \
    {                                                                                    \
        return target_up(&target_dray) ? INFINITY : measure_##name(&target_dray);        \
    }                                                                                    \
    static double kube_##name(struct bench *b)                                           \
    {                                                                                    \
        return target_up(&target_kube) ? -1 : measure_##name(&target_kube);              \
    }
BOTH(creates)
BOTH(gets)
BOTH(patches)
BOTH(lists)
BOTH(events)
BOTH(memory)

static double dray_first_start(struct bench *b)
{
    return measure_first_start(&target_dray);
}

static double dray_next_start(struct bench *b)
{
    return measure_next_start(&target_dray);
}

#define ROW(fn) .setup = setup, .measure = dray_##fn, .peer_measure = kube_##fn

static const int NO_OBJECTS;

/* The order matters: creating makes the objects that the others use. */
const struct bench_row bench_server[] = {
    {.id = "server.start.first",
     .what = "an empty folder",
     .cold = true,
     .limit = 500e6,
     .setup = setup,
     .measure = dray_first_start},
    {.id = "server.create",
     .what = "config maps, 32 clients",
     .goal = 4,
     .rounds = 3,
     ROW(creates),
     .arg = &NO_OBJECTS},
    {.id = "server.memory",
     .what = "resident, with 10,000 config maps",
     .unit = "B",
     .goal = 10,
     .rounds = 1,
     ROW(memory)},
    {.id = "server.get", .what = "config maps, 32 clients", .goal = 4, ROW(gets)},
    {.id = "server.list",
     .what = "10,000 config maps, per object",
     .goal = 10,
     ROW(lists)},
    {.id = "server.patch", .what = "config maps, 32 clients", .goal = 4, ROW(patches)},
    {.id = "server.watch",
     .what = "an event to one of 1,000 watches",
     .goal = 8,
     ROW(events)},
    {.id = "server.start.again",
     .what = "a folder of 10,000 config maps",
     .limit = 100e6,
     .setup = setup,
     .measure = dray_next_start},
    {0}};
