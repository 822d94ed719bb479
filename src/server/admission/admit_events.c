/* SPDX-License-Identifier: Apache-2.0 */
/* EventRateLimit: buckets of tokens, a kind for each limit of the file. Where there are
 * more buckets than a limit may have, the oldest begins anew. */
#include "server/admission/admit.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/map.h"
#include "base/mem.h"
#include "server/access/user.h"

enum { MAX_LIMITS = 16, MAX_BUCKETS = 4096 };

struct bucket {
    double tokens;
    uint64_t filled_ns;
    char key[];
};

struct event_buckets {
    struct strmap of[MAX_LIMITS];
};

void event_buckets_free(struct event_buckets *b)
{
    for (int i = 0; b && i < MAX_LIMITS; i++) {
        strmap_each(&b->of[i], e) free(e->value.ptr);
        strmap_release(&b->of[i]);
    }
    free(b);
}

static void drop_oldest(struct strmap *all)
{
    strmap_each(all, e)
    {
        struct bucket *b = e->value.ptr;
        strmap_remove(all, e->key);
        free(b);
        return;
    }
}

static int64_t number(const struct doc *limit, const char *name, int64_t otherwise)
{
    int64_t n = 0;
    return doc_get_int64(limit, name, &n) && n > 0 ? n : otherwise;
}

static struct bucket *find_bucket(struct strmap *all, struct str key,
                                  const struct doc *limit)
{
    bool made;
    struct strmap_entry *e = strmap_find(all, key);
    if (e)
        return e->value.ptr;
    if (all->live >= (uint64_t)number(limit, "cacheSize", MAX_BUCKETS))
        drop_oldest(all);
    struct bucket *b = mem_alloc(sizeof *b + key.n + 1);
    memcpy(b->key, key.p, key.n);
    b->tokens = (double)number(limit, "burst", 1);
    b->filled_ns = clock_mono_ns();
    e = strmap_put(all, (struct str){b->key, key.n}, &made);
    e->value.ptr = b;
    return b;
}

static bool take(struct bucket *b, const struct doc *limit)
{
    uint64_t now = clock_mono_ns();
    double burst = (double)number(limit, "burst", 1);
    b->tokens += (double)(now - b->filled_ns) / 1e9 * (double)number(limit, "qps", 1);
    b->filled_ns = now;
    if (b->tokens > burst)
        b->tokens = burst;
    if (b->tokens < 1)
        return false;
    b->tokens -= 1;
    return true;
}

static struct str source_and_object(const struct admission *a)
{
    const struct doc *source = doc_get(a->object, "source"),
                     *about = doc_get(a->object, "involvedObject");
    return arena_printf(
        a->r->a, "%.*s%.*s%.*s%.*s%.*s%.*s%.*s",
        STR_ARG(doc_get_text(source, "component")), STR_ARG(doc_get_text(source, "host")),
        STR_ARG(doc_get_text(about, "kind")), STR_ARG(doc_get_text(about, "namespace")),
        STR_ARG(doc_get_text(about, "name")), STR_ARG(doc_get_text(about, "uid")),
        STR_ARG(doc_get_text(about, "apiVersion")));
}

static struct str key_of(const struct admission *a, struct str type)
{
    return str_is(type, "Namespace")         ? a->r->route.namespace
           : str_is(type, "User")            ? a->r->user->name
           : str_is(type, "SourceAndObject") ? source_and_object(a)
                                             : STR("");
}

bool check_event_rate(struct admission *a)
{
    struct request *r = a->r;
    const struct doc *limits = r->s->plugins.event_limits;
    struct strbuf b = STRBUF_INIT;
    unsigned n = 0;
    bool event = admit_of(a, "", "events") || admit_of(a, "events.k8s.io", "events");
    if (!event || r->dry_run || !limits)
        return true;
    if (!r->s->plugins.buckets)
        r->s->plugins.buckets = mem_zalloc(sizeof *r->s->plugins.buckets);
    for (uint32_t i = 0; i < limits->n && i < MAX_LIMITS; i++) {
        const struct doc *limit = &limits->items[i];
        struct str type = doc_get_text(limit, "type"), key = key_of(a, type);
        if (take(find_bucket(&r->s->plugins.buckets->of[i], key, limit), limit))
            continue;
        strbuf_addf(&b, "%slimit reached on type %.*s for key %.*s", n++ ? ", " : "",
                    STR_ARG(type), STR_ARG(key));
    }
    if (n)
        fail(r, 429, "TooManyRequests", "Too many requests: %s%s%s", n > 1 ? "[" : "",
             strbuf_cstr(&b), n > 1 ? "]" : "");
    strbuf_release(&b);
    return n == 0;
}
