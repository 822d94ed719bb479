/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who asks for OpenAPI documents, what is kept of them, and who makes what is missing.
 *
 * What is kept is of one round: the kinds as they were at its epoch. A request is
 * answered from a round that is not older than itself; until it is there, the request
 * waits. One piece of work runs at a time, for all who wait when it starts; rounds change
 * between pieces of work alone.
 */
#include "server/discovery/openapi.h"

#include <stdlib.h>
#include <time.h>

#include "server/discovery/openapi_inner.h"

struct packed {
    struct net_shared *bytes; /* NULL: not made */
    size_t n;                 /* of what is packed */
};

struct kept { /* a document */
    struct str name;
    uint64_t stamp;
    char hash[65]; /* of its JSON; empty: not made */
    struct packed json, proto;
};

struct round {
    struct arena a;
    uint64_t epoch;
    struct kept *docs; /* by name */
    uint32_t n;
    struct kept all; /* the document of form 2 */
};

struct wish {
    bool v2, index, proto;
    struct str name; /* "apis/apps/v1" */
};

struct waiting {
    struct request *r;
    struct wish wish;
    uint64_t epoch;
};

struct work { /* one piece of it: the documents of a round that somebody waits for */
    struct openapi *owner; /* NULL: the server has ended */
    struct arena a;
    struct openapi_docs docs;
    struct made {
        bool json, proto; /* to be made */
        struct kept out;
    } * made, all; /* one for each of docs */
};

struct openapi {
    struct server *s;
    openapi_kinds_fn *kinds; /* NULL: there are none but those of the tables */
    uint64_t epoch;          /* counts what has changed */
    struct round now;
    struct work *work; /* NULL: none runs */
    VEC(struct waiting) waiting;
};

/* ---- What is kept ---- */

static void drop_packed(struct packed *p)
{
    if (p->bytes)
        net_shared_unref(p->bytes);
    *p = (struct packed){0};
}

static void drop_kept(struct kept *k)
{
    drop_packed(&k->json);
    drop_packed(&k->proto);
    k->hash[0] = '\0';
}

static void drop_round(struct round *r)
{
    for (uint32_t i = 0; i < r->n; i++)
        drop_kept(&r->docs[i]);
    drop_kept(&r->all);
    arena_fini(&r->a);
    *r = (struct round){0};
}

static struct kept *find_kept(const struct round *r, struct str name)
{
    for (uint32_t i = 0; i < r->n; i++)
        if (str_eq(r->docs[i].name, name))
            return &r->docs[i];
    return NULL;
}

/* What old has made of the same is taken over. */
static void move_kept(struct kept *to, struct kept *old)
{
    if (!old || old->stamp != to->stamp)
        return;
    to->json = old->json;
    to->proto = old->proto;
    memcpy(to->hash, old->hash, sizeof to->hash);
    old->json = old->proto = (struct packed){0};
}

/* The round of the kinds as they are. */
static void renew(struct openapi *o)
{
    struct round next = {.epoch = o->epoch};
    struct openapi_docs docs = openapi_docs_list(o->s, o->kinds, NULL, &next.a);
    next.docs = ARENA_ARRAY(&next.a, struct kept, docs.n);
    next.n = docs.n;
    for (uint32_t i = 0; i < docs.n; i++) {
        struct kept *k = &next.docs[i];
        k->name = docs.v[i].name;
        k->stamp = docs.v[i].stamp;
        next.all.stamp = next.all.stamp * 31 + k->stamp + str_hash(k->name);
        move_kept(k, find_kept(&o->now, k->name));
    }
    move_kept(&next.all, &o->now.all);
    drop_round(&o->now);
    o->now = next;
}

/* ---- Making ---- */

static void pack(struct packed *out, const struct strbuf *bytes)
{
    struct strbuf small = STRBUF_INIT;
    if (!gzip_pack(strbuf_str(bytes), &small))
        mem_exhausted(); /* nothing else fails there */
    *out = (struct packed){net_shared_new(strbuf_str(&small)), bytes->n};
    strbuf_release(&small);
}

static void make(struct made *m, enum openapi_form form, const struct openapi_doc *docs,
                 uint32_t n)
{
    struct strbuf json = STRBUF_INIT, proto = STRBUF_INIT;
    struct arena a = {0};
    if (!m->json && !m->proto)
        return;
    openapi_make(form, docs, n, m->json ? &json : NULL, m->proto ? &proto : NULL);
    if (m->json) {
        struct str hash = pki_sha256_hex(strbuf_str(&json), &a);
        memcpy(m->out.hash, hash.p, sizeof m->out.hash);
        pack(&m->out.json, &json);
    }
    if (m->proto)
        pack(&m->out.proto, &proto);
    strbuf_release(&json);
    strbuf_release(&proto);
    arena_fini(&a);
}

/* On another thread. */
static void run_work(void *ctx)
{
    struct work *w = ctx;
    for (uint32_t i = 0; i < w->docs.n; i++)
        make(&w->made[i], OPENAPI_V3, &w->docs.v[i], 1);
    make(&w->all, OPENAPI_V2, w->docs.v, w->docs.n);
}

static void take(struct kept *k, struct made *m)
{
    if (m->json) {
        drop_packed(&k->json);
        k->json = m->out.json;
        memcpy(k->hash, m->out.hash, sizeof k->hash);
    }
    if (m->proto) {
        drop_packed(&k->proto);
        k->proto = m->out.proto;
    }
    m->out.json = m->out.proto = (struct packed){0};
}

static void free_work(struct work *w)
{
    for (uint32_t i = 0; i < w->docs.n; i++)
        drop_kept(&w->made[i].out);
    drop_kept(&w->all.out);
    arena_fini(&w->a);
    free(w);
}

static void settle(struct openapi *o);

/* On the loop; no round has begun since. */
static void end_work(void *ctx)
{
    struct work *w = ctx;
    struct openapi *o = w->owner;
    if (o) {
        for (uint32_t i = 0; i < w->docs.n; i++)
            if (w->made[i].json || w->made[i].proto)
                take(find_kept(&o->now, w->docs.v[i].name), &w->made[i]);
        take(&o->now.all, &w->all);
        o->work = NULL;
        settle(o);
    }
    free_work(w);
}

static bool lacks_json(const struct kept *k)
{
    return !k->hash[0] || !k->json.bytes;
}

static void ask_for(struct openapi *o, struct work *w, const struct wish *wish)
{
    if (wish->v2) {
        w->all.json = w->all.json || lacks_json(&o->now.all);
        w->all.proto = w->all.proto || (wish->proto && !o->now.all.proto.bytes);
    }
    for (uint32_t i = 0; !wish->v2 && i < o->now.n; i++) {
        const struct kept *k = &o->now.docs[i];
        if (!wish->index && !str_eq(wish->name, k->name))
            continue;
        w->made[i].json = w->made[i].json || lacks_json(k);
        w->made[i].proto = w->made[i].proto || (wish->proto && !k->proto.bytes);
    }
}

/* Which schemas that takes; both lists are of the same round, in the same order. */
static void gather(struct openapi *o, struct work *w)
{
    struct openapi_doc *wanted = ARENA_ARRAY(&w->a, struct openapi_doc, o->now.n);
    struct openapi_docs whole = {wanted, 0};
    bool all = w->all.json || w->all.proto;
    for (uint32_t i = 0; i < w->docs.n; i++)
        if (all || w->made[i].json || w->made[i].proto)
            wanted[whole.n++] = w->docs.v[i];
    w->docs = openapi_docs_list(o->s, o->kinds, &whole, &w->a);
}

static void start_work(struct openapi *o)
{
    if (o->now.epoch != o->epoch)
        renew(o);
    struct work *w = mem_zalloc(sizeof *w);
    w->owner = o;
    w->docs = openapi_docs_list(o->s, o->kinds, NULL, &w->a);
    w->made = ARENA_ARRAY(&w->a, struct made, w->docs.n);
    for (size_t i = 0; i < o->waiting.n; i++)
        ask_for(o, w, &o->waiting.v[i].wish);
    gather(o, w);
    o->work = w;
    net_work(o->s->loop, run_work, end_work, w);
}

/* ---- Answers ---- */

static void respond(struct request *r, unsigned code, const struct net_header *headers,
                    uint32_t n, const struct packed *p)
{
    struct net_header all[MAX_HEADERS];
    memcpy(all, headers, n * sizeof *headers);
    if (!p) {
        net_respond(r->x, code, all, n, STR(""));
    } else if (gzip_wanted(r, SIZE_MAX)) {
        all[n++] = (struct net_header){STR("content-encoding"), STR("gzip")};
        net_respond_shared(r->x, code, all, n, p->bytes);
    } else {
        struct strbuf body = STRBUF_INIT;
        gzip_unpack(net_shared_bytes(p->bytes), p->n, &body);
        net_respond_buf(r->x, code, all, n, &body);
        strbuf_release(&body);
    }
}

static void answer_empty(struct request *r, unsigned code)
{
    struct net_header headers[] = {
        {STR("cache-control"), STR("no-cache, private")},
        {STR("audit-id"), r->audit_id},
    };
    respond(r, code, headers, 2, NULL);
}

static void answer_index(struct request *r, const struct round *round)
{
    struct strbuf b = STRBUF_INIT;
    strbuf_adds(&b, "{\"paths\":{");
    for (uint32_t i = 0; i < round->n; i++)
        strbuf_addf(&b, "%s\"%.*s\":{\"serverRelativeURL\":\"/openapi/v3/%.*s?hash=%s\"}",
                    i ? "," : "", STR_ARG(round->docs[i].name),
                    STR_ARG(round->docs[i].name), round->docs[i].hash);
    strbuf_adds(&b, "}}\n");
    request_answer_bytes(r, 200, "text/plain; charset=utf-8", &b);
    strbuf_release(&b);
}

static const char *content_type(const struct wish *w)
{
    if (!w->proto)
        return "application/json";
    return w->v2 ? "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"
                 : "application/com.github.proto-openapi.spec.v3.v1.0+protobuf";
}

/* As HTTP has it, a year from now. */
static struct str a_year_on(struct request *r)
{
    time_t then = time(NULL) + 365 * 24 * 3600;
    struct tm tm;
    char text[64];
    gmtime_r(&then, &tm);
    strftime(text, sizeof text, "%a, %d %b %Y %H:%M:%S GMT", &tm);
    return arena_str(r->a, str_from(text));
}

/* An address with the hash is that of these bytes for ever; one with another hash was of
 * others. */
static void answer_doc(struct request *r, const struct wish *w, const struct kept *k)
{
    struct str hash = query_get(&r->query, "hash");
    bool dated = !w->v2 && hash.n, right = dated && str_is(hash, k->hash);
    struct str tag = arena_printf(r->a, "\"%s\"", k->hash);
    struct net_header headers[MAX_HEADERS] = {
        {STR("content-type"), str_from(content_type(w))},
        {STR("cache-control"),
         right ? STR("public, immutable") : STR("no-cache, private")},
        {STR("etag"), tag},
        {STR("vary"), STR("Accept-Encoding, Accept")},
        {STR("audit-id"), r->audit_id},
    };
    uint32_t n = 5;
    if (dated && !right) {
        headers[n++] = (struct net_header){
            STR("location"),
            arena_printf(r->a, "%.*s?hash=%s", STR_ARG(r->x->path), k->hash)};
        respond(r, 301, headers, n, NULL);
        return;
    }
    if (right)
        headers[n++] = (struct net_header){STR("expires"), a_year_on(r)};
    struct str known = net_header_get(r->x, "if-none-match");
    if (str_find(known, tag) != SIZE_MAX)
        respond(r, 304, headers, n, NULL);
    else
        respond(r, 200, headers, n, w->proto ? &k->proto : &k->json);
}

/* ---- Asking ---- */

/* false: nothing is made of it yet. */
static bool answer(struct openapi *o, const struct waiting *w)
{
    if (o->now.epoch < w->epoch || o->now.n == 0)
        return false;
    if (w->wish.index) {
        for (uint32_t i = 0; i < o->now.n; i++)
            if (lacks_json(&o->now.docs[i]))
                return false;
        answer_index(w->r, &o->now);
        return true;
    }
    const struct kept *k = w->wish.v2 ? &o->now.all : find_kept(&o->now, w->wish.name);
    if (k && (lacks_json(k) || (w->wish.proto && !k->proto.bytes)))
        return false;
    if (k)
        answer_doc(w->r, &w->wish, k);
    else
        answer_empty(w->r, 404);
    return true;
}

/* Answers whom it can; for the others work begins. */
static void settle(struct openapi *o)
{
    size_t kept = 0;
    for (size_t i = 0; i < o->waiting.n; i++)
        if (!answer(o, &o->waiting.v[i]))
            o->waiting.v[kept++] = o->waiting.v[i];
    o->waiting.n = kept;
    if (kept && !o->work)
        start_work(o);
}

static bool is_proto(struct str type, bool v2)
{
    char digit = v2 ? '2' : '3';
    struct str head = STR("application/com.github.proto-openapi.spec.v");
    return str_starts(type, head) && type.n > head.n && type.p[head.n] == digit &&
           (str_is(str_sub(type, head.n + 1, SIZE_MAX), "@v1.0+protobuf") ||
            str_is(str_sub(type, head.n + 1, SIZE_MAX), ".v1.0+protobuf"));
}

static bool is_json(struct str type)
{
    return str_is(type, "application/json") || str_is(type, "application/*") ||
           str_is(type, "*/*");
}

/* The weightiest that can be made, of equal ones the first. false: none can. */
static bool negotiate(struct request *r, struct wish *w)
{
    struct str accept = net_header_get(r->x, "accept");
    double best = 0;
    if (str_trim(accept).n == 0)
        return true;
    for (struct str rest = accept, clause; str_split_next(&rest, ',', &clause);) {
        struct str type = str_trim(str_sub(clause, 0, str_find_byte(clause, ';', 0)));
        bool proto = is_proto(type, w->v2);
        double weight = proto || is_json(type) ? media_weight(clause) : 0;
        if (weight > best) {
            best = weight;
            w->proto = proto;
        }
    }
    return best > 0;
}

static bool read_wish(struct request *r, struct wish *w)
{
    struct str path = r->x->path, docs = STR("/openapi/v3/");
    *w = (struct wish){.v2 = str_is(path, "/openapi/v2"),
                       .index = str_is(path, "/openapi/v3")};
    if (str_starts(path, docs))
        w->name = str_sub(path, docs.n, SIZE_MAX);
    return w->v2 || w->index || w->name.p;
}

void openapi_serve(struct request *r)
{
    struct openapi *o = r->s->openapi;
    struct waiting w = {.r = r, .epoch = o->epoch};
    if (!read_wish(r, &w.wish)) {
        request_answer_nowhere(r);
    } else if (!w.wish.index && !negotiate(r, &w.wish)) {
        answer_empty(r, 406);
    } else if (!answer(o, &w)) {
        vec_push(&o->waiting, w);
        if (!o->work)
            start_work(o);
    }
}

/* ---- Life ---- */

void openapi_init(struct server *s)
{
    s->openapi = mem_zalloc(sizeof *s->openapi);
    s->openapi->s = s;
    s->openapi->epoch = 1; /* no round is as new */
}

void openapi_free(struct server *s)
{
    struct openapi *o = s->openapi;
    if (!o)
        return;
    for (size_t i = 0; i < o->waiting.n; i++)
        answer_empty(o->waiting.v[i].r, 503);
    vec_release(&o->waiting);
    if (o->work)
        o->work->owner = NULL;
    drop_round(&o->now);
    free(o);
    s->openapi = NULL;
}

void openapi_set_kinds(struct server *s, openapi_kinds_fn *kinds)
{
    s->openapi->kinds = kinds;
    openapi_invalidate(s);
}

void openapi_invalidate(struct server *s)
{
    s->openapi->epoch++;
}
