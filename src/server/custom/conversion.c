/* SPDX-License-Identifier: Apache-2.0 */
#include "server/custom/conversion.h"

#include <stdlib.h>

#include "server/observe/measure.h"
#include "server/rest/awaiting.h"
#include "server/rest/write.h"

/* Two of them: what was not asked for while one filled up is forgotten. */
struct memory {
    struct strmap texts; /* "VERSION\nSOURCE" to the text of what was made of it */
    struct arena arena;
    size_t bytes;
};

struct conversions {
    struct arena arena;
    struct hook_peer peer;
    enum conversion_review review;
    struct memory now, before;
};

struct conversions *conversions_new(const struct doc *definition)
{
    const struct doc *conversion = doc_path(definition, "spec.conversion"),
                     *webhook = doc_get(conversion, "webhook");
    if (!doc_is_string(doc_get(conversion, "strategy"), "Webhook"))
        return NULL;
    struct conversions *c = mem_zalloc(sizeof *c);
    const struct doc *config = doc_get(webhook, "clientConfig");
    struct doc own = config ? doc_dup(&c->arena, config) : doc_make_map();
    hook_peer_read(&c->peer, &own, &c->arena);
    c->review = conversion_review_version(doc_get(webhook, "conversionReviewVersions"));
    return c;
}

static void memory_fini(struct memory *m)
{
    strmap_release(&m->texts);
    arena_fini(&m->arena);
}

void conversions_free(struct conversions *c)
{
    if (!c)
        return;
    memory_fini(&c->now);
    memory_fini(&c->before);
    arena_fini(&c->arena);
    free(c);
}

/* ---- what is known ---- */

struct str conversion_source(const struct doc *d, struct arena *a)
{
    struct doc copy = doc_dup(a, d);
    struct strbuf b = STRBUF_INIT;
    struct doc *meta = object_meta(&copy);
    if (meta)
        doc_remove(meta, STR("resourceVersion"));
    doc_write_json(&copy, DOC_JSON_COMPACT | DOC_JSON_SORT, &b);
    struct str text = arena_str(a, strbuf_str(&b));
    strbuf_release(&b);
    return text;
}

static void make_room(struct conversions *c)
{
    if (c->now.bytes < CONVERSION_MEMORY / 2)
        return;
    struct memory old = c->before;
    c->before = c->now;
    strmap_clear(&old.texts);
    arena_reset(&old.arena);
    old.bytes = 0;
    c->now = old;
}

static void remember(struct conversions *c, struct str key, struct str text)
{
    bool made;
    struct memory *m = &c->now;
    struct strmap_entry *e = strmap_put(&m->texts, arena_str(&m->arena, key), &made);
    struct str *kept = ARENA_NEW(&m->arena, struct str);
    *kept = arena_str(&m->arena, text);
    e->value.ptr = kept;
    m->bytes += key.n + text.n;
}

static const struct str *look(struct conversions *c, struct str key)
{
    struct strmap_entry *e = strmap_find(&c->now.texts, key);
    if (e)
        return e->value.ptr;
    e = strmap_find(&c->before.texts, key);
    if (!e)
        return NULL;
    remember(c, key, *(const struct str *)e->value.ptr); /* it is in use */
    return strmap_find(&c->now.texts, key)->value.ptr;
}

static struct str key_of(struct str version, struct str source, struct arena *a)
{
    return arena_printf(a, "%.*s\n%.*s", STR_ARG(version), STR_ARG(source));
}

static const struct str *find(struct conversions *c, struct str version,
                              struct str source)
{
    struct arena a = {0};
    const struct str *text = look(c, key_of(version, source, &a));
    arena_fini(&a);
    return text;
}

bool conversion_known(struct conversions *c, struct str version, struct str source)
{
    return find(c, version, source) != NULL;
}

bool conversion_find(struct conversions *c, struct str version, struct str source,
                     struct arena *a, struct doc *out)
{
    const struct str *text = find(c, version, source);
    struct doc d;
    if (!text)
        return false;
    struct doc_source src = {.name = "converted", .text = arena_str(a, *text)};
    if (!doc_read_json(&src, a, &d, NULL))
        return false;
    *out = doc_dup(a, &d);
    return true;
}

/* ---- a call ---- */

struct conversion_call {
    struct conversions *of;
    struct arena *a;
    struct str version, uid;
    const struct str *sources;
    uint32_t n;
    struct hook_post *post;
    conversion_done *done;
    void *ctx;
    struct metrics *metrics;
    uint64_t since;
};

static void remember_all(struct conversion_call *c, const struct doc *made)
{
    make_room(c->of);
    for (uint32_t i = 0; i < c->n; i++) {
        struct strbuf b = STRBUF_INIT;
        doc_write_json(&made[i], DOC_JSON_COMPACT, &b);
        remember(c->of, key_of(c->version, c->sources[i], c->a), strbuf_str(&b));
        strbuf_release(&b);
    }
}

static void answered(void *ctx, const struct hook_answer *said)
{
    struct conversion_call *c = ctx;
    struct doc *made = ARENA_ARRAY(c->a, struct doc, c->n);
    const char *failure;
    struct str why = conversion_read(c->of->review, c->uid, c->version, c->sources, c->n,
                                     said, made, &failure, c->a);
    c->post = NULL;
    measure_conversion(c->metrics, failure, (double)(measure_now() - c->since) / 1e9);
    if (!why.n)
        remember_all(c, made);
    c->done(c->ctx, why);
}

struct conversion_call *conversion_start(struct request *r, struct arena *a,
                                         struct conversions *c, struct str version,
                                         const struct str *sources, uint32_t n,
                                         conversion_done *done, void *ctx)
{
    struct conversion_call *call = ARENA_NEW(a, struct conversion_call);
    *call = (struct conversion_call){.of = c,
                                     .a = a,
                                     .version = version,
                                     .uid = write_new_uid(a),
                                     .sources = sources,
                                     .n = n,
                                     .done = done,
                                     .ctx = ctx,
                                     .metrics = r->s->metrics,
                                     .since = measure_now()};
    struct str body = conversion_question(c->review, call->uid, version, sources, n, a);
    call->post = hook_post_start(r, a, &c->peer, body, CONVERSION_MS, answered, call);
    return call;
}

void conversion_cancel(struct conversion_call *call)
{
    if (call)
        hook_post_cancel(call->post);
}

/* ---- for a request ---- */

struct asked {
    struct question question; /* first */
    struct str fail;
    struct conversion_call *call;
};

static void cancel(struct question *q)
{
    conversion_cancel(((struct asked *)q)->call);
}

static void on_done(void *ctx, struct str fail)
{
    struct asked *q = ctx;
    q->fail = fail;
    awaiting_answered(&q->question);
}

/* What of it was known by then may be forgotten again: so it is asked once more. */
static struct str question_text(struct str version, const struct str *sources, uint32_t n,
                                unsigned time, struct arena *a)
{
    struct strbuf b = STRBUF_INIT;
    for (uint32_t i = 0; i < n; i++)
        strbuf_addf(&b, "%.*s\n", STR_ARG(sources[i]));
    struct str hash = pki_sha256_hex(strbuf_str(&b), a);
    strbuf_release(&b);
    return arena_printf(a, "convert\n%.*s\n%u\n%.*s", STR_ARG(version), time,
                        STR_ARG(hash));
}

static bool ask(struct request *r, struct conversions *c, struct str version,
                const struct str *sources, uint32_t n, struct str *why)
{
    struct question *had;
    struct str text;
    unsigned time = 0;
    while ((had = awaiting_find(
                r, text = question_text(version, sources, n, time++, r->a)))) {
        struct asked *q = (struct asked *)had;
        if (had->open)
            return true;
        if (q->fail.n) {
            *why = q->fail;
            return false;
        }
    }
    struct asked *q = ARENA_NEW(r->a, struct asked);
    if (!awaiting_ask(r, &q->question, text, cancel))
        return false;
    q->call = conversion_start(r, r->a, c, version, sources, n, on_done, q);
    return true;
}

/* How many of them make one review. */
static uint32_t at_once(const struct str *sources, uint32_t n)
{
    size_t bytes = 0;
    uint32_t i = 0;
    while (i < n && i < CONVERSION_AT_ONCE &&
           (i == 0 || bytes + sources[i].n <= CONVERSION_AT_ONCE_BYTES))
        bytes += sources[i++].n;
    return i;
}

bool conversion_await(struct request *r, struct conversions *c, struct str version,
                      const struct str *sources, uint32_t n, struct str *why)
{
    struct str *missing = ARENA_ARRAY(r->a, struct str, n);
    uint32_t left = 0;
    *why = STR("");
    for (uint32_t i = 0; i < n; i++)
        if (!conversion_known(c, version, sources[i]))
            missing[left++] = sources[i];
    if (left == 0)
        return true;
    if (c->review == CONVERSION_REVIEW_NONE) {
        *why = STR("no supported conversion review versions");
        return false;
    }
    for (uint32_t done = 0, some; done < left; done += some) {
        some = at_once(missing + done, left - done);
        if (!ask(r, c, version, missing + done, some, why))
            return false;
    }
    r->failure.waits = true;
    return false;
}
