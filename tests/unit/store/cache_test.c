/* SPDX-License-Identifier: Apache-2.0 */
#include "store/cache.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/rng.h"
#include "base/vec.h"
#include "unit/unit.h"

/* ---- objects: their bytes are "label=value label=value"; "!" is refused ---- */

static int encoded_freed;

static void free_encoded(void *encoded)
{
    encoded_freed++;
    free(encoded);
}

static struct cache_pair *decode_pairs(struct arena *a, struct str s, uint32_t *n)
{
    struct cache_pair *pairs = ARENA_ARRAY(a, struct cache_pair, s.n + 1);
    for (size_t at = 0; at < s.n;) {
        size_t end = str_find_byte(s, ' ', at), eq = str_find_byte(s, '=', at);
        end = end == SIZE_MAX ? s.n : end;
        if (eq < end)
            pairs[(*n)++] =
                (struct cache_pair){str_sub(s, at, eq), str_sub(s, eq + 1, end)};
        at = end + 1;
    }
    return pairs;
}

static bool decode(void *ctx, struct str key, struct str value, uint64_t revision,
                   struct cache_object *o)
{
    if (str_is(value, "!"))
        return false;
    o->json = arena_printf(&o->arena, "%.*s@%d", STR_ARG(value), (int)revision);
    o->name = str_sub(o->key, 19, o->key.n);
    o->labels = decode_pairs(&o->arena, str_sub(o->json, 0, value.n), &o->nlabels);
    o->encoded = mem_alloc(1);
    o->encoded_free = free_encoded;
    return true;
}

/* ---- a store in memory with a cache above it ---- */

struct world {
    struct store *store;
    struct cache *cache;
};

static void on_change(void *ctx, const struct store_change *c)
{
    struct world *w = ctx;
    if (w->cache)
        cache_apply(w->cache, c);
}

static void load(struct world *w, uint32_t history)
{
    struct cache_opts opts = {.decode = decode, .history = history};
    struct err e = ERR_INIT;
    w->cache = cache_new(&opts);
    if (!cache_load(w->cache, w->store, &e))
        fail_msg("%s", err_text(&e));
}

static void world_init(struct world *w, uint32_t history)
{
    struct store_opts opts = {.changed = on_change, .changed_ctx = w};
    *w = (struct world){.store = store_open("memory:", &opts, NULL)};
    load(w, history);
}

static void world_fini(struct world *w)
{
    cache_free(w->cache);
    w->cache = NULL;
    store_close(w->store);
}

static void put(struct world *w, const char *key, const char *value)
{
    store_submit(w->store, &(struct store_write){.key = str_from(key),
                                                 .value = str_from(value),
                                                 .expect = STORE_ANY});
    store_poll(w->store);
}

static bool print_object(void *ctx, struct cache_object *o)
{
    struct strbuf *b = ctx;
    strbuf_addf(b, "%.*s=%.*s ", STR_ARG(o->name), STR_ARG(o->json));
    return true;
}

static void check_list(struct world *w, const char *prefix, const char *after,
                       const char *want)
{
    struct strbuf b = STRBUF_INIT;
    uint64_t spaces = 0;
    cache_each(w->cache, str_from(prefix), str_from(after), print_object, &b);
    assert_string_equal(strbuf_cstr(&b), want);
    for (const char *p = want; *p; p++)
        spaces += *p == ' ';
    assert_int_equal(cache_count(w->cache, str_from(prefix), str_from(after)), spaces);
    strbuf_release(&b);
}

/* "+a@2 ~a@3(a@2) -a@4 " for what a watch is told. */
struct log {
    struct strbuf text;
    struct cache_watch *end; /* ended at the next event */
    struct world *start;     /* a watch is started at the next event */
    struct cache_watch *started;
};

static void on_event(void *ctx, const struct cache_event *e)
{
    struct log *l = ctx;
    if (e->kind == CACHE_BOOKMARK) {
        strbuf_addf(&l->text, "=%d ", (int)e->revision);
        return;
    }
    strbuf_addf(&l->text, "%c%.*s:%.*s", "+~-"[e->kind], STR_ARG(e->object->name),
                STR_ARG(e->object->json));
    if (e->previous)
        strbuf_addf(&l->text, "(%.*s)", STR_ARG(e->previous->json));
    strbuf_addc(&l->text, ' ');
    if (e->kind != CACHE_DELETED || e->object != e->previous)
        assert_int_equal(e->object->revision, e->revision);
    if (l->end)
        cache_unwatch(l->end);
    l->end = NULL;
    if (l->start) {
        struct world *w = l->start;
        l->start = NULL;
        l->started = cache_watch(w->cache, STR("/registry/g/things/"), 1, on_event, l);
    }
}

static void check_log(struct log *l, const char *want)
{
    assert_string_equal(strbuf_cstr(&l->text), want);
    strbuf_clear(&l->text);
}

static struct cache_watch *watch(struct world *w, const char *prefix, uint64_t after,
                                 struct log *l)
{
    return cache_watch(w->cache, str_from(prefix), after, on_event, l);
}

#define THINGS "/registry/g/things/"

/* ---- lists ---- */

static void test_lists(void **state)
{
    struct world w;
    world_init(&w, 0);
    check_list(&w, THINGS, NULL, "");
    put(&w, THINGS "n2/b", "1");
    put(&w, THINGS "n1/b", "2");
    put(&w, THINGS "n1/a", "3");
    put(&w, "/registry/g/things2/n1/a", "4");
    put(&w, "/registry/g/thing/n1/a", "5");
    check_list(&w, THINGS, NULL, "n1/a=3@4 n1/b=2@3 n2/b=1@2 ");
    check_list(&w, THINGS "n1/", NULL, "n1/a=3@4 n1/b=2@3 ");
    check_list(&w, THINGS, THINGS "n1/a", "n1/b=2@3 n2/b=1@2 ");
    check_list(&w, THINGS, THINGS "n1/a0", "n1/b=2@3 n2/b=1@2 ");
    check_list(&w, THINGS, THINGS "n2/b", "");
    check_list(&w, THINGS, "/registry/a", "n1/a=3@4 n1/b=2@3 n2/b=1@2 ");
    check_list(&w, THINGS, "/registry/z", "");
    put(&w, THINGS "n1/a", NULL);
    put(&w, THINGS "n1/b", "6");
    check_list(&w, THINGS, NULL, "n1/b=6@8 n2/b=1@2 ");
    assert_null(cache_get(w.cache, STR(THINGS "n1/a")));
    assert_int_equal(cache_get(w.cache, STR(THINGS "n1/b"))->revision, 8);
    assert_int_equal(cache_revision(w.cache), 8);
    world_fini(&w);
}

static void test_labels(void **state)
{
    struct world w;
    world_init(&w, 0);
    put(&w, THINGS "n/a", "zone=z app=web tier=1");
    struct cache_object *o = cache_get(w.cache, STR(THINGS "n/a"));
    assert_int_equal(o->nlabels, 3);
    assert_str(o->labels[0].name, "app");
    assert_str(o->labels[2].name, "zone");
    assert_str(cache_pair_find(o->labels, 3, STR("tier")), "1");
    assert_str(cache_pair_find(o->labels, 3, STR("app")), "web");
    assert_null(cache_pair_find(o->labels, 3, STR("tie")).p);
    assert_null(cache_pair_find(o->labels, 0, STR("tier")).p);
    world_fini(&w);
}

static void test_references(void **state)
{
    struct world w;
    world_init(&w, 1);
    encoded_freed = 0;
    put(&w, THINGS "n/a", "1");
    struct cache_object *o = cache_object_ref(cache_get(w.cache, STR(THINGS "n/a")));
    put(&w, THINGS "n/a", NULL);
    world_fini(&w);
    assert_str(o->json, "1@2");
    assert_int_equal(encoded_freed, 1); /* of the deletion's own object */
    cache_object_unref(o);
    assert_int_equal(encoded_freed, 2);
    cache_object_unref(NULL);
}

/* ---- watches ---- */

static void test_watch(void **state)
{
    struct world w;
    struct log all = {0}, one = {0}, late = {0}, soon = {0};
    world_init(&w, 0);
    struct cache_watch *wa = watch(&w, THINGS, 1, &all);
    struct cache_watch *wo = watch(&w, THINGS "n1/", 1, &one);
    struct cache_watch *ws = watch(&w, THINGS, 4, &soon); /* not before there is a 5 */
    put(&w, THINGS "n1/a", "1");
    put(&w, THINGS "n2/a", "2");
    put(&w, "/registry/g/others/n1/a", "3");
    put(&w, THINGS "n1/a", "4");
    put(&w, THINGS "n2/a", NULL);
    check_log(&all, "+n1/a:1@2 +n2/a:2@3 ~n1/a:4@5(1@2) -n2/a:2@6(2@3) ");
    check_log(&one, "+n1/a:1@2 ~n1/a:4@5(1@2) ");
    check_log(&soon, "~n1/a:4@5(1@2) -n2/a:2@6(2@3) ");
    struct cache_watch *wl = watch(&w, THINGS, 2, &late);
    check_log(&late, "+n2/a:2@3 ~n1/a:4@5(1@2) -n2/a:2@6(2@3) ");
    cache_unwatch(wo);
    put(&w, THINGS "n1/b", "7");
    check_log(&late, "+n1/b:7@7 ");
    check_log(&all, "+n1/b:7@7 ");
    check_log(&one, "");
    cache_bookmark(wl);
    check_log(&late, "=7 ");
    cache_unwatch(wa);
    cache_unwatch(ws);
    cache_unwatch(NULL);
    struct log future = {0};
    cache_bookmark(watch(&w, THINGS, 70, &future));
    check_log(&future, "=70 ");
    world_fini(&w);
    strbuf_release(&all.text);
    strbuf_release(&one.text);
    strbuf_release(&late.text);
    strbuf_release(&soon.text);
    strbuf_release(&future.text);
}

static void test_watches_in_callbacks(void **state)
{
    struct world w;
    struct log a = {0}, b = {0};
    world_init(&w, 0);
    struct cache_watch *wb = watch(&w, THINGS, 1, &b);
    struct cache_watch *wa = watch(&w, THINGS, 1, &a);
    a.end = wb; /* ends another, whose turn is next */
    put(&w, THINGS "n/a", "1");
    check_log(&a, "+n/a:1@2 ");
    check_log(&b, "");
    a.end = wa; /* itself */
    put(&w, THINGS "n/a", "2");
    check_log(&a, "~n/a:2@3(1@2) ");
    put(&w, THINGS "n/a", "3");
    check_log(&a, "");
    wa = watch(&w, THINGS, 4, &a);
    a.start = &w; /* a new one is told of this event, and once */
    put(&w, THINGS "n/a", NULL);
    check_log(&a, "-n/a:3@5(3@4) +n/a:1@2 ~n/a:2@3(1@2) ~n/a:3@4(2@3) -n/a:3@5(3@4) ");
    put(&w, THINGS "n/b", "1");
    check_log(&a, "+n/b:1@6 +n/b:1@6 ");
    cache_unwatch(a.started);
    world_fini(&w);
    strbuf_release(&a.text);
    strbuf_release(&b.text);
}

/* "[+a@2 ~a@3(a@2) ]" for a run. */
static void on_run(void *ctx, const struct cache_run *run)
{
    struct log *l = ctx;
    strbuf_addf(&l->text, "%d[", (int)run->number);
    for (uint32_t i = 0; i < run->n; i++)
        on_event(ctx, cache_run_at(run, i));
    strbuf_adds(&l->text, "]");
}

static struct cache_watch *watch_runs(struct world *w, const char *prefix, uint64_t after,
                                      struct log *l)
{
    return cache_watch_runs(w->cache, str_from(prefix), after, on_event, on_run, l);
}

static void test_runs(void **state)
{
    struct world w;
    struct log all = {0}, one = {0}, late = {0};
    world_init(&w, 0);
    struct cache_watch *wa = watch_runs(&w, THINGS, 1, &all);
    struct cache_watch *wo = watch_runs(&w, THINGS "n1/", 1, &one);
    put(&w, THINGS "n1/a", "1");
    check_log(&all, "");
    cache_deliver(w.cache);
    check_log(&all, "+n1/a:1@2 ");
    put(&w, THINGS "n1/a", "2");
    put(&w, THINGS "n1/a", "3");
    put(&w, THINGS "n2/a", "4");
    struct cache_watch *wl = watch_runs(&w, THINGS, 3, &late);
    check_log(&late, "2[~n1/a:3@4(2@3) +n2/a:4@5 ]"); /* what is there, at once */
    put(&w, THINGS "n1/b", "5");
    cache_deliver(w.cache);
    check_log(&all, "1[~n1/a:2@3(1@2) ~n1/a:3@4(2@3) +n2/a:4@5 +n1/b:5@6 ]");
    check_log(&one, "+n1/a:1@2 1[~n1/a:2@3(1@2) ~n1/a:3@4(2@3) ]+n1/b:5@6 ");
    check_log(&late, "+n1/b:5@6 ");
    cache_deliver(w.cache);
    put(&w, THINGS "n2/a", NULL);
    cache_bookmark(wl); /* says that all before was told */
    check_log(&late, "-n2/a:4@7(4@5) =7 ");
    all.end = wo; /* in its turn, before the other's */
    cache_deliver(w.cache);
    check_log(&all, "-n2/a:4@7(4@5) ");
    put(&w, THINGS "n1/a", "8");
    put(&w, THINGS "n1/a", "9");
    all.end = wa; /* itself, amid a run */
    cache_deliver(w.cache);
    put(&w, THINGS "n1/a", "10");
    cache_deliver(w.cache);
    check_log(&one, "");
    check_log(&late, "6[~n1/a:8@8(3@4) ~n1/a:9@9(8@8) ]~n1/a:10@10(9@9) ");
    world_fini(&w);
    strbuf_release(&all.text);
    strbuf_release(&one.text);
    strbuf_release(&late.text);
}

/* What waits is told before it is forgotten. */
static void test_runs_are_bounded(void **state)
{
    struct world w;
    struct log l = {0};
    world_init(&w, 4);
    watch_runs(&w, THINGS, 1, &l);
    for (int i = 0; i < 5; i++)
        put(&w, THINGS "n/a", "x");
    check_log(&l, "0[+n/a:x@2 ~n/a:x@3(x@2) ]2[~n/a:x@4(x@3) ~n/a:x@5(x@4) ]");
    cache_compact(w.cache, 6);
    check_log(&l, "~n/a:x@6(x@5) ");
    cache_deliver(w.cache);
    check_log(&l, "");
    world_fini(&w);
    strbuf_release(&l.text);
}

static void test_too_old(void **state)
{
    struct world w;
    struct log l = {0};
    world_init(&w, 3);
    for (int i = 0; i < 5; i++)
        put(&w, THINGS "n/a", "x"); /* 2 to 6; 4 to 6 are known */
    put(&w, "/registry/g/others/n/a", "x");
    assert_int_equal(cache_oldest(w.cache, STR(THINGS)), 3);
    assert_null(watch(&w, THINGS, 2, &l));
    assert_non_null(watch(&w, THINGS, 3, &l));
    check_log(&l, "~n/a:x@4(x@3) ~n/a:x@5(x@4) ~n/a:x@6(x@5) ");
    assert_non_null(watch(&w, "/registry/g/others/", 1, &l));
    check_log(&l, "+n/a:x@7 ");
    cache_compact(w.cache, 5);
    assert_null(watch(&w, THINGS, 4, &l));
    assert_null(watch(&w, "/registry/g/others/", 4, &l));
    assert_null(watch(&w, "/registry/g/not-yet/", 4, &l));
    assert_int_equal(cache_oldest(w.cache, STR("/registry/g/nothing/")), 5);
    assert_non_null(watch(&w, THINGS, 5, &l));
    check_log(&l, "~n/a:x@6(x@5) ");
    world_fini(&w);
    strbuf_release(&l.text);
}

/* ---- loading ---- */

/* Watches go on over a restart, with what was there before each change. */
static void test_history_loaded(void **state)
{
    struct world w;
    struct log l = {0};
    world_init(&w, 0);
    put(&w, THINGS "n/a", "1");
    put(&w, THINGS "n/b", "2");
    put(&w, THINGS "n/a", "3");
    put(&w, THINGS "n/b", NULL);
    put(&w, THINGS "n/b", "4");
    static const char *const all =
        "+n/a:1@2 +n/b:2@3 ~n/a:3@4(1@2) -n/b:2@5(2@3) +n/b:4@6 ";
    watch(&w, THINGS, 1, &l);
    check_log(&l, all);
    cache_free(w.cache);
    load(&w, 0);
    check_list(&w, THINGS, NULL, "n/a=3@4 n/b=4@6 ");
    watch(&w, THINGS, 1, &l);
    check_log(&l, all);
    cache_free(w.cache);
    load(&w, 3); /* as much as it keeps */
    assert_null(watch(&w, THINGS, 2, &l));
    watch(&w, THINGS, 3, &l);
    check_log(&l, "~n/a:3@4(1@2) -n/b:2@5(2@3) +n/b:4@6 ");
    store_compact(w.store, 5);
    cache_free(w.cache);
    load(&w, 0);
    assert_null(watch(&w, THINGS, 4, &l));
    watch(&w, THINGS, 5, &l);
    check_log(&l, "+n/b:4@6 ");
    put(&w, THINGS "n/a", "5");
    check_log(&l, "~n/a:5@7(3@4) ");
    world_fini(&w);
    strbuf_release(&l.text);
}

/* Bytes that decode refuses. */
static void test_refused(void **state)
{
    struct world w;
    struct log l = {0};
    struct err e = ERR_INIT;
    world_init(&w, 0);
    put(&w, THINGS "n/a", "1");
    put(&w, THINGS "n/a", "!");
    assert_int_equal(cache_refused(w.cache), 1);
    check_list(&w, THINGS, NULL, "n/a=1@2 ");
    const struct cache_opts opts = {.decode = decode};
    struct cache *c = cache_new(&opts);
    assert_false(cache_load(c, w.store, &e)); /* it is what is there now */
    assert_non_null(strstr(err_text(&e), THINGS "n/a at revision 3"));
    err_release(&e);
    cache_free(c);
    put(&w, THINGS "n/a", NULL); /* the last readable state is told */
    check_list(&w, THINGS, NULL, "");
    put(&w, THINGS "n/a", "4");
    cache_free(w.cache);
    load(&w, 0); /* only history has it: it begins behind */
    assert_null(watch(&w, THINGS, 3, &l));
    watch(&w, THINGS, 4, &l);
    check_log(&l, "+n/a:4@5 ");
    world_fini(&w);
    strbuf_release(&l.text);
}

/* ---- mirrors: whoever lists, then watches, knows what is there ---- */

enum { KEYS = 60, MIRRORS = 6 };

struct mirror {
    struct cache_watch *watch;
    struct str prefix;
    uint64_t seen;
    uint64_t number;   /* of events of its resource, as far as runs say */
    bool patient;      /* it is told of runs */
    uint64_t at[KEYS]; /* revision of each key, 0: not there */
};

static void key_of(int i, char key[40])
{
    snprintf(key, 40, THINGS "n%d/k%02d", i % 3, i);
}

static int number_of(struct str key)
{
    return (int)strtol(key.p + key.n - 2, NULL, 10);
}

static void on_mirror(void *ctx, const struct cache_event *e)
{
    struct mirror *m = ctx;
    uint64_t *at = &m->at[number_of(e->object->key)];
    assert_true(e->revision > m->seen);
    m->seen = e->revision;
    assert_int_equal(*at != 0, e->kind != CACHE_ADDED);
    if (e->kind == CACHE_MODIFIED)
        assert_int_equal(e->previous->revision, *at);
    *at = e->kind == CACHE_DELETED ? 0 : e->revision;
}

static void on_mirror_run(void *ctx, const struct cache_run *run)
{
    struct mirror *m = ctx;
    assert_true(run->n > 1);
    assert_true(run->number >= m->number);
    m->number = run->number + run->n;
    for (uint32_t i = 0; i < run->n; i++)
        on_mirror(ctx, cache_run_at(run, i));
}

static bool mirror_object(void *ctx, struct cache_object *o)
{
    ((struct mirror *)ctx)->at[number_of(o->key)] = o->revision;
    return true;
}

static void mirror_list(struct mirror *m, struct world *w)
{
    memset(m->at, 0, sizeof m->at);
    cache_each(w->cache, m->prefix, STR_NONE, mirror_object, m);
    m->seen = cache_revision(w->cache);
}

static void mirror_check(struct mirror *m, struct world *w)
{
    if (m->patient)
        cache_deliver(w->cache);
    struct mirror now = {.prefix = m->prefix};
    mirror_list(&now, w);
    assert_memory_equal(now.at, m->at, sizeof m->at);
}

static struct cache_watch *mirror_watch(struct mirror *m, struct world *w)
{
    m->number = 0;
    return cache_watch_runs(w->cache, m->prefix, m->seen, on_mirror,
                            m->patient ? on_mirror_run : NULL, m);
}

/* Goes on where it was, or lists anew when that is too old. */
static void mirror_resume(struct mirror *m, struct world *w)
{
    m->watch = mirror_watch(m, w);
    if (m->watch)
        return;
    assert_true(m->seen < cache_oldest(w->cache, m->prefix));
    mirror_list(m, w);
    m->watch = mirror_watch(m, w);
    assert_non_null(m->watch);
}

static void any_change(struct world *w, struct rng *r)
{
    char key[40];
    key_of((int)rng_range(r, 0, KEYS - 1), key);
    put(w, key, rng_range(r, 0, 2) ? "x=y" : NULL);
}

static void restart(struct world *w, struct mirror *mirrors)
{
    for (int i = 0; i < MIRRORS; i++)
        cache_unwatch(mirrors[i].watch);
    cache_free(w->cache);
    load(w, 100);
    for (int i = 0; i < MIRRORS; i++)
        mirror_resume(&mirrors[i], w);
}

static void test_mirrors(void **state)
{
    static struct mirror mirrors[MIRRORS];
    struct world w;
    struct rng r;
    rng_init(&r, 1);
    world_init(&w, 100);
    for (int i = 0; i < MIRRORS; i++) {
        static const char *const prefixes[] = {THINGS, THINGS "n1/", THINGS "n2/k05"};
        mirrors[i] = (struct mirror){
            .prefix = str_from(prefixes[i % 3]), .seen = 1, .patient = i >= 3};
        mirror_resume(&mirrors[i], &w);
    }
    for (int step = 0; step < 5000; step++) {
        struct mirror *m = &mirrors[rng_range(&r, 0, MIRRORS - 1)];
        for (int64_t n = rng_range(&r, 1, 5); n > 0; n--)
            any_change(&w, &r);
        if (rng_range(&r, 0, 19) == 0) {
            cache_unwatch(m->watch);
            for (int64_t n = rng_range(&r, 0, 200); n > 0; n--)
                any_change(&w, &r);
            mirror_resume(m, &w);
        }
        if (rng_range(&r, 0, 199) == 0)
            cache_compact(w.cache,
                          (uint64_t)rng_range(&r, 1, (int64_t)cache_revision(w.cache)));
        if (rng_range(&r, 0, 199) == 0)
            restart(&w, mirrors);
        for (int i = 0; i < MIRRORS; i++)
            mirror_check(&mirrors[i], &w);
    }
    assert_int_equal(cache_refused(w.cache), 0);
    world_fini(&w);
}

/* Of several servers' etcd: changes of one transaction have one revision, and after an
 * outage it is not known what was deleted. */
static void test_one_revision(void **state)
{
    struct world w;
    struct log all = {0}, between = {0};
    const struct store_change changes[] = {
        {STORE_PUT, 5, STR("/registry/g/things/n/a"), STR("1"), true, STR_NONE, 0},
        {STORE_PUT, 5, STR("/registry/g/things/n/b"), STR("2"), true, STR_NONE, 0},
        {STORE_DELETE, 7, STR("/registry/g/things/n/a"), STR_NONE, false, STR_NONE, 0},
        {STORE_DELETE, 7, STR("/registry/g/things/n/b"), STR_NONE, false, STR_NONE, 0},
    };
    world_init(&w, 0);
    watch(&w, "/registry/g/things/", 1, &all);
    cache_apply(w.cache, &changes[0]);
    watch(&w, "/registry/g/things/", 1, &between);
    cache_apply(w.cache, &changes[1]);
    check_list(&w, "/registry/g/things/", NULL, "n/a=1@5 n/b=2@5 ");
    check_log(&all, "+n/a:1@5 +n/b:2@5 ");
    check_log(&between, "+n/a:1@5 +n/b:2@5 ");
    cache_apply(w.cache, &changes[2]);
    cache_apply(w.cache, &changes[3]);
    check_list(&w, "/registry/g/things/", NULL, "");
    check_log(&all, "-n/a:1@5(1@5) -n/b:2@5(2@5) ");
    assert_int_equal(cache_refused(w.cache), 0);
    assert_int_equal(cache_revision(w.cache), 7);
    strbuf_release(&all.text);
    strbuf_release(&between.text);
    world_fini(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lists),
        cmocka_unit_test(test_labels),
        cmocka_unit_test(test_references),
        cmocka_unit_test(test_watch),
        cmocka_unit_test(test_watches_in_callbacks),
        cmocka_unit_test(test_runs),
        cmocka_unit_test(test_runs_are_bounded),
        cmocka_unit_test(test_too_old),
        cmocka_unit_test(test_history_loaded),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_one_revision),
        cmocka_unit_test(test_mirrors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
