/* SPDX-License-Identifier: Apache-2.0 */
/* Durable writes in process: writers that each wait for their answer, one sync for all.
 */
#include <dirent.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "bench.h"
#include "store/cache.h"

struct load {
    const char *backend;
    uint32_t writers, writes, keys, bytes; /* keys 0: every write makes a new one */
};

struct state {
    const struct load *load;
    struct store *store;
    char dir[64];
    int wake_fd;
    uint32_t submitted, answered;
    uint64_t failed, serial; /* of all rounds */
    char *value;
};

static void on_wake(void *ctx)
{
    eventfd_write(((struct state *)ctx)->wake_fd, 1);
}

static void submit(struct state *s);

static void answered(void *ctx, enum store_answer answer, uint64_t revision,
                     const struct err *e)
{
    struct state *s = ctx;
    s->answered++;
    s->failed += answer != STORE_OK;
    if (s->submitted < s->load->writes)
        submit(s);
}

static void submit(struct state *s)
{
    char key[64];
    uint64_t serial = s->serial++;
    s->submitted++;
    /* Scattered, as names with random ends are. */
    uint64_t which = (s->load->keys ? serial % s->load->keys : serial) * 2654435761u;
    snprintf(key, sizeof key, "/registry/core/pods/default/pod-%08x", (unsigned)which);
    store_submit(s->store, &(struct store_write){.key = str_from(key),
                                                 .value = {s->value, s->load->bytes},
                                                 .expect = s->load->keys ? STORE_ANY : 0,
                                                 .done = answered,
                                                 .ctx = s});
}

static void remove_dir(const char *dir)
{
    DIR *d = opendir(dir);
    char path[400];
    for (struct dirent *e; d && (e = readdir(d));) {
        snprintf(path, sizeof path, "%s/%s", dir, e->d_name);
        unlink(path);
    }
    if (d)
        closedir(d);
    rmdir(dir);
}

static void setup(struct bench *b, const struct bench_row *row)
{
    struct state *s = ARENA_NEW(b->arena, struct state);
    struct err e = ERR_INIT;
    char url[80] = "memory:";
    b->data = s;
    s->load = row->arg;
    s->wake_fd = eventfd(0, EFD_CLOEXEC);
    s->value = arena_zalloc(b->arena, s->load->bytes);
    snprintf(s->dir, sizeof s->dir, "dray-bench-XXXXXX");
    if (str_is(str_from(s->load->backend), "sqlite:") && mkdtemp(s->dir))
        snprintf(url, sizeof url, "sqlite:%s", s->dir);
    struct store_opts opts = {.wake = on_wake, .wake_ctx = s};
    s->store = store_open(url, &opts, &e);
    if (!s->store)
        b->skip = arena_strdup(b->arena, err_text(&e));
    err_release(&e);
}

static double measure(struct bench *b)
{
    struct state *s = b->data;
    uint64_t start = clock_mono_ns();
    s->submitted = s->answered = 0;
    for (uint32_t i = 0; i < s->load->writers; i++)
        submit(s);
    while (s->answered < s->load->writes) {
        eventfd_t n;
        eventfd_read(s->wake_fd, &n);
        store_poll(s->store);
    }
    return (double)(clock_mono_ns() - start) / s->load->writes;
}

static void teardown(struct bench *b)
{
    struct state *s = b->data;
    store_close(s->store);
    close(s->wake_fd);
    remove_dir(s->dir);
}

/* ---- the cache ---- */

enum { OBJECTS = 20000, WATCHES = 1000 };

struct cached {
    struct state store;
    struct cache *cache;
    uint64_t events;
};

/* As a server's: a copy with the revision in it, and two labels. */
static bool decode(void *ctx, struct str key, struct str value, uint64_t revision,
                   struct cache_object *o)
{
    struct cache_pair *labels = ARENA_ARRAY(&o->arena, struct cache_pair, 2);
    labels[0] = (struct cache_pair){STR("pod-template-hash"), STR("5d4f8c7b9")};
    labels[1] = (struct cache_pair){STR("app"), STR("web")};
    o->json = arena_str(&o->arena, value);
    o->name = str_sub(o->key, 28, o->key.n);
    o->labels = labels;
    o->nlabels = 2;
    return true;
}

static const struct cache_opts cache_opts = {.decode = decode};

static void load_setup(struct bench *b, const struct bench_row *row)
{
    setup(b, row);
    if (!b->skip)
        measure(b); /* makes the objects */
}

static double load_measure(struct bench *b)
{
    struct state *s = b->data;
    uint64_t start = clock_mono_ns();
    struct cache *c = cache_new(&cache_opts);
    b->sink += cache_load(c, s->store, NULL);
    double ns = (double)(clock_mono_ns() - start) / OBJECTS;
    cache_free(c);
    return ns;
}

static void on_event(void *ctx, const struct cache_event *e)
{
    ((struct cached *)ctx)->events += e->revision;
}

static void cached_setup(struct bench *b, const struct bench_row *row)
{
    struct cached *k = ARENA_NEW(b->arena, struct cached);
    load_setup(b, row);
    if (b->skip)
        return;
    k->store = *(struct state *)b->data;
    b->data = k;
    k->cache = cache_new(&cache_opts);
    b->sink += cache_load(k->cache, k->store.store, NULL);
    for (int i = 0; i < WATCHES; i++)
        cache_watch(k->cache, STR("/registry/core/pods/"), cache_revision(k->cache),
                    on_event, k);
}

static void cached_teardown(struct bench *b)
{
    cache_free(((struct cached *)b->data)->cache);
    teardown(b);
}

static bool take_object(void *ctx, struct cache_object *o)
{
    *(uint64_t *)ctx += o->json.n;
    return true;
}

static void run_list(struct bench *b, uint64_t n)
{
    struct cached *k = b->data;
    while (n-- > 0)
        cache_each(k->cache, STR("/registry/core/pods/"), STR_NONE, take_object,
                   &b->sink);
}

static void run_get(struct bench *b, uint64_t n)
{
    struct cached *k = b->data;
    char key[64];
    for (uint64_t i = 0; i < n; i++) {
        uint64_t which = i % OBJECTS * 2654435761u;
        snprintf(key, sizeof key, "/registry/core/pods/default/pod-%08x",
                 (unsigned)which);
        b->sink += cache_get(k->cache, str_from(key)) != NULL;
    }
}

static void run_event(struct bench *b, uint64_t n)
{
    struct cached *k = b->data;
    struct store_change c = {.key = STR("/registry/core/pods/default/pod-00000000"),
                             .value = {k->store.value, k->store.load->bytes}};
    for (uint64_t i = 0; i < n; i++) {
        c.revision = cache_revision(k->cache) + 1;
        cache_apply(k->cache, &c);
    }
    b->sink += k->events;
}

static const struct load create = {"sqlite:", 1024, 40000, 0, 700},
                         update = {"sqlite:", 1024, 40000, 10000, 700},
                         few = {"sqlite:", 32, 3000, 10000, 700},
                         memory = {"memory:", 1024, 100000, 10000, 700},
                         objects = {"sqlite:", 1024, OBJECTS, 0, 700},
                         cached = {"memory:", 1024, OBJECTS, 0, 700};

#define LOAD(l) .setup = setup, .measure = measure, .teardown = teardown, .arg = &(l)

#define CACHED(l) .setup = cached_setup, .teardown = cached_teardown, .arg = &(l), .per

/* The limit of the first two: 15,000 a second. */
const struct bench_row bench_store[] = {
    {.id = "store.create", .what = "1,024 writers", .limit = 66667, LOAD(create)},
    {.id = "store.update", .what = "1,024 writers", .limit = 66667, LOAD(update)},
    {.id = "store.update.few", .what = "32 writers", LOAD(few)},
    {.id = "store.memory", .what = "1,024 writers", LOAD(memory)},
    {.id = "store.load",
     .what = "a cache of 20,000 objects",
     .per = OBJECTS,
     .setup = load_setup,
     .measure = load_measure,
     .teardown = teardown,
     .arg = &objects},
    {.id = "store.list",
     .what = "20,000 objects",
     .run = run_list,
     CACHED(cached) = OBJECTS},
    {.id = "store.get", .what = "of 20,000 objects", .run = run_get, CACHED(cached) = 1},
    {.id = "store.event",
     .what = "to 1,000 watches",
     .run = run_event,
     CACHED(cached) = WATCHES},
    {0}};
