/* SPDX-License-Identifier: Apache-2.0 */
#include "server/load.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "unit/unit.h"

enum { SETTLE_MS = 60000 };

/* ---- what writers do ---- */

struct op {
    const char *method, *type;
    bool named;         /* the path has the name */
    bool with_revision; /* the body has the one that is known */
    bool stale;         /* an old one: to be refused */
    const char *query;
    unsigned weight;
    bool deletes, reads;
};

static const struct op CREATE = {"POST", NULL, false, false, false, "", 0, false, false};
static const struct op GET = {"GET", NULL, true, false, false, "", 0, false, true};
/* With objects that are there. */
static const struct op OPS[] = {
    {"PUT", NULL, true, true, false, "", 8, false, false},
    {"PUT", NULL, true, false, false, "", 2, false, false},
    {"PUT", NULL, true, true, true, "", 1, false, false},
    {"PUT", NULL, true, true, false, "?dryRun=All", 1, false, false},
    {"PATCH", "application/merge-patch+json", true, false, false, "", 5, false, false},
    {"PATCH", "application/strategic-merge-patch+json", true, true, false, "", 3, false,
     false},
    {"PATCH", "application/apply-patch+yaml", true, false, false,
     "?fieldManager=load&force=true", 2, false, false},
    {"DELETE", NULL, true, false, false, "", 3, true, false},
    {"GET", NULL, true, false, false, "", 3, false, true},
};
enum { NOPS = sizeof OPS / sizeof *OPS };
/* With those that are shared; nobody deletes them. */
static const struct op SHARED_OPS[] = {
    {"PUT", NULL, true, true, false, "", 2, false, false},
    {"PATCH", "application/merge-patch+json", true, false, false, "", 3, false, false},
    {"GET", NULL, true, false, false, "", 2, false, true},
};
enum { NSHARED_OPS = sizeof SHARED_OPS / sizeof *SHARED_OPS };

static const struct op *choose(struct rng *r, const struct op *ops, size_t n)
{
    unsigned sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += ops[i].weight;
    int64_t at = rng_range(r, 0, sum - 1);
    for (size_t i = 0;; i++) {
        at -= ops[i].weight;
        if (at < 0)
            return &ops[i];
    }
}

static bool is_shared(uint32_t object)
{
    return object >= WRITERS * OWN;
}

static struct known *known_of(struct writer *w, uint32_t object)
{
    return is_shared(object) ? &w->shared : &w->own[object % OWN];
}

static bool is_dry(const struct op *op)
{
    return strstr(op->query, "dryRun") != NULL;
}

/* ---- answers ---- */

static void note(struct load *l, uint32_t object, bool deleted, uint64_t revision,
                 uint64_t n)
{
    struct ack a = {object, deleted, revision, n};
    vec_push(&l->acks, a);
    if (!deleted && revision > l->newest)
        l->newest = revision;
}

static void read_answer(struct writer *w, struct str body, struct known *out)
{
    struct doc_source src = {.name = "answer", .text = body};
    struct arena a = {0};
    struct doc d;
    uint32_t object = 0;
    if (!doc_read_json(&src, &a, &d, NULL) ||
        !content_read(&d, &object, &out->revision, &out->content))
        fail_msg("writer %u: not the object: %.*s", w->id, STR_ARG(body));
    assert_int_equal(object, w->object);
    out->state = THERE;
    arena_fini(&a);
}

/* Nobody else writes what a writer owns, so it knows what it must see. */
static void took(struct writer *w, struct str body)
{
    struct known *k = known_of(w, w->object), before = *k;
    bool dry = is_dry(w->op), own = !is_shared(w->object);
    if (w->op->deletes) {
        note(w->load, w->object, true, before.revision, 0);
        k->state = ABSENT;
        return;
    }
    struct known now;
    read_answer(w, body, &now);
    if (!w->op->reads && now.content.n != w->content.n)
        fail_msg("writer %u: another write is answered", w->id);
    if (own && before.state == THERE &&
        (w->op->reads || dry ? now.revision != before.revision
                             : now.revision <= before.revision))
        fail_msg("writer %u: o-%u went from %llu to %llu", w->id, w->object,
                 (unsigned long long)before.revision, (unsigned long long)now.revision);
    if (own && before.state == THERE && w->op->reads && now.content.n != before.content.n)
        fail_msg("writer %u does not read what it wrote", w->id);
    if (dry)
        return;
    *k = now;
    note(w->load, w->object, false, now.revision, now.content.n);
}

static bool may_fail(const struct writer *w, unsigned status)
{
    const struct known *k = &w->own[w->object % OWN];
    if (is_shared(w->object))
        return status == 404 || status == 409;
    if (w->op->stale)
        return status == 409;
    return w->op->reads && k->state != THERE && status == 404;
}

static void refused(struct writer *w, unsigned status, struct str body)
{
    struct known *k = known_of(w, w->object);
    if (!may_fail(w, status))
        fail_msg("writer %u: %s of o-%u: %u %.*s", w->id, w->op->method, w->object,
                 status, STR_ARG(body));
    if (status == 404)
        k->state = ABSENT;
    else if (is_shared(w->object))
        k->state = UNKNOWN;
}

static void work(struct writer *w);

static void answered(void *ctx, unsigned status, struct str body)
{
    struct writer *w = ctx;
    struct load *l = w->load;
    l->busy--;
    l->answers += status != 0;
    l->lost += status == 0;
    if (status == 0)
        known_of(w, w->object)->state = UNKNOWN;
    else if (status < 300 && w->op->stale)
        fail_msg("an old version was taken");
    else if (status < 300)
        took(w, body);
    else
        refused(w, status, body);
    w->op = NULL;
    if (status != 0 && !l->stop)
        work(w);
}

/* ---- requests ---- */

static void choose_op(struct writer *w)
{
    bool share = rng_range(&w->rng, 0, 15) == 0;
    w->object = w->id * OWN + (uint32_t)rng_range(&w->rng, 0, OWN - 1);
    if (share) {
        w->object = WRITERS * OWN + (uint32_t)rng_range(&w->rng, 0, SHARED - 1);
        w->shared.state = w->shared.state == ABSENT ? ABSENT : UNKNOWN;
    }
    const struct known *k = known_of(w, w->object);
    if (k->state == ABSENT)
        w->op = &CREATE;
    else if (k->state == UNKNOWN)
        w->op = share && rng_range(&w->rng, 0, 2) ? &SHARED_OPS[1] : &GET;
    else
        w->op =
            share ? choose(&w->rng, SHARED_OPS, NSHARED_OPS) : choose(&w->rng, OPS, NOPS);
}

static void work(struct writer *w)
{
    struct load *l = w->load;
    struct strbuf body = STRBUF_INIT;
    char path[160];
    choose_op(w);
    const struct known *k = known_of(w, w->object);
    int n = object_path(w->object, w->op->named, path, sizeof path);
    snprintf(path + n, sizeof path - (size_t)n, "%s", w->op->query);
    struct https_request r = {.method = w->op->method,
                              .path = str_from(path),
                              .type = w->op->type,
                              .done = answered,
                              .ctx = w};
    w->content = (struct content){.n = ++l->next_n,
                                  .phase = (uint32_t)rng_range(&w->rng, 0, PHASES - 1)};
    if (w->object % KINDS == 2)
        w->content.cordoned = rng_range(&w->rng, 0, 1);
    if (!w->op->reads && !w->op->deletes) {
        /* Leases are not replaced without one. */
        bool with = w->op->with_revision || (w->object % KINDS == 1 && w->op != &CREATE);
        uint64_t revision = with ? k->revision : 0;
        content_print(w->object, &w->content, w->op->stale ? 1 : revision, &body);
        r.body = strbuf_str(&body);
    }
    l->busy++;
    https_send(l->conns[w->id % CONNECTIONS], &r);
    strbuf_release(&body);
}

/* ---- the whole ---- */

void load_init(struct load *l, const char *program, uint64_t seed)
{
    *l = (struct load){.program = program};
    snprintf(l->dir, sizeof l->dir, "load-XXXXXX");
    assert_non_null(mkdtemp(l->dir));
    for (uint32_t i = 0; i < WRITERS; i++) {
        struct writer *w = &l->writers[i];
        *w = (struct writer){.load = l, .id = i};
        rng_init(&w->rng, seed * WRITERS + i);
    }
}

void load_fini(struct load *l)
{
    load_down(l, true);
    vec_release(&l->acks);
    remove_tree(l->dir);
}

void load_up(struct load *l)
{
    char ca[96], cert[96], key[96];
    if (!daemon_start(&l->daemon, l->program, l->dir, NULL))
        fail_msg("the server does not start");
    snprintf(ca, sizeof ca, "%s/ca.crt", l->dir);
    snprintf(cert, sizeof cert, "%s/admin.crt", l->dir);
    snprintf(key, sizeof key, "%s/admin.key", l->dir);
    l->https = https_new(&(struct https_opts){ca, cert, key});
    assert_non_null(l->https);
    for (int i = 0; i < CONNECTIONS; i++) {
        l->conns[i] = https_connect(l->https, l->daemon.port);
        assert_non_null(l->conns[i]);
    }
}

void load_down(struct load *l, bool kill)
{
    if (kill)
        daemon_kill(&l->daemon);
    else if (!daemon_stop(&l->daemon))
        fail_msg("the server did not end in order");
    /* What came before the end counts. */
    if (l->https)
        https_run(l->https, 0);
    https_free(l->https);
    l->https = NULL;
}

void load_run(struct load *l, uint64_t us)
{
    uint64_t end = clock_mono_ns() + us * 1000;
    l->stop = false;
    for (uint32_t i = 0; i < WRITERS; i++)
        if (!l->writers[i].op)
            work(&l->writers[i]);
    while (clock_mono_ns() < end)
        https_run(l->https, 1);
}

void load_settle(struct load *l)
{
    uint64_t end = clock_mono_ns() + (uint64_t)SETTLE_MS * 1000000;
    l->stop = true;
    while (l->busy > 0 && clock_mono_ns() < end)
        https_run(l->https, 10);
    assert_int_equal(l->busy, 0);
}

/* ---- judging ---- */

static const struct change *change_at(const struct history *h, uint64_t revision)
{
    size_t i = history_seek(h, revision - 1);
    bool there = i < h->all.n && h->all.v[i].revision == revision;
    return there ? &h->all.v[i] : NULL;
}

static bool was_deleted(const struct history *h, const struct ack *a)
{
    for (size_t i = history_seek(h, a->revision); i < h->all.n; i++)
        if (h->all.v[i].object == a->object)
            return h->all.v[i].type == DELETED &&
                   h->all.v[i].previous_revision == a->revision;
    return false;
}

/* Read before the history that is known: it was checked then. */
static bool is_base(const struct history *h, const struct ack *a)
{
    return a->revision <= h->after && h->base[a->object].there &&
           h->base[a->object].revision == a->revision &&
           h->base[a->object].content.n == a->n;
}

static bool is_true(const struct history *h, const struct ack *a)
{
    if (a->deleted)
        return was_deleted(h, a);
    const struct change *c = change_at(h, a->revision);
    if (c)
        return c->type != DELETED && c->object == a->object && c->now.n == a->n;
    return is_base(h, a);
}

void load_check(struct load *l, const struct history *h)
{
    for (size_t i = 0; i < l->acks.n; i++)
        if (!is_true(h, &l->acks.v[i]))
            fail_msg("o-%u at %llu was answered, and is not in the history%s",
                     l->acks.v[i].object, (unsigned long long)l->acks.v[i].revision,
                     l->acks.v[i].deleted ? " (a deletion)" : "");
    vec_clear(&l->acks);
}
