/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Claims and Services brought together again: a server that dies between two writes
 * leaves a claim that nobody has, and stores of old have Services without claims.
 */
#include <stdio.h>
#include <time.h>

#include "api/timestamp.h"
#include "server/service/claims.h"

enum {
    EVERY_MS = 180000, /* as upstream */
    GRACE = 90         /* seconds; a claim's Service is stored by then, or never */
};

struct repair {
    struct server *s;
    struct net_timer *timer;
    struct arena a; /* of one run */
    bool alone;     /* nobody else writes to the store, and nothing runs yet */
    bool first;     /* the run at the start, which waits for its writes */
    uint32_t left;  /* writes at the start */
    bool failed;
    struct err *e;
};

/* ---- claims that nobody has ---- */

static bool is_old(const struct repair *r, struct str since)
{
    int64_t seconds;
    int32_t nanos;
    return r->alone || !timestamp_parse(since, &seconds, &nanos) ||
           seconds + GRACE < time(NULL);
}

/* Whether the Service's bytes have the address or the port in them. */
static bool names(const struct cache_object *o, struct str address, struct str port)
{
    static const char *const KEYS[] = {"\"nodePort\":", "\"healthCheckNodePort\":"};
    char text[80];
    if (address.n) {
        snprintf(text, sizeof text, "\"%.*s\"", STR_ARG(address));
        return str_find(o->json, str_from(text)) != SIZE_MAX;
    }
    for (size_t i = 0; i < sizeof KEYS / sizeof *KEYS; i++) {
        int n = snprintf(text, sizeof text, "%s%.*s", KEYS[i], STR_ARG(port));
        struct str rest = o->json, want = {text, (size_t)n};
        for (size_t at; (at = str_find(rest, want)) != SIZE_MAX;) {
            rest = str_sub(rest, at + want.n, SIZE_MAX);
            if (!rest.n || rest.p[0] < '0' || rest.p[0] > '9')
                return true;
        }
    }
    return false;
}

static bool has_owner(struct repair *r, const struct doc *owner, struct str address,
                      struct str port)
{
    const struct resource *res = kinds_stored(r->s, "", "services");
    struct cache_object *o =
        cache_get(r->s->cache, object_key(res, doc_get_text(owner, "namespace"),
                                          doc_get_text(owner, "name"), &r->a));
    return o && names(o, address, port);
}

static void wrote(void *ctx, enum store_answer answer, uint64_t revision,
                  const struct err *e)
{
    struct repair *r = ctx;
    if (!r->first)
        return; /* the next run looks again */
    r->left--;
    if (answer == STORE_FAILED && !r->failed) {
        r->failed = true;
        err_set(r->e, e->code, "%s", err_text(e));
    }
}

static void submit(struct repair *r, struct store_write w)
{
    w.done = wrote;
    w.ctx = r;
    r->left += r->first;
    store_submit(r->s->store, &w);
}

static bool check_port(void *ctx, struct cache_object *o)
{
    struct repair *r = ctx;
    struct doc d = object_doc(o, &r->a);
    struct str port = str_sub(o->key, sizeof CLAIMS_PORTS - 1, SIZE_MAX);
    if (is_old(r, doc_get_text(&d, "since")) && !has_owner(r, &d, STR(""), port))
        submit(r, (struct store_write){.key = o->key, .expect = o->revision});
    return true;
}

static bool check_address(void *ctx, struct cache_object *o)
{
    struct repair *r = ctx;
    static const struct str LABEL = STR("ipaddress.kubernetes.io/managed-by");
    if (!str_is(cache_pair_find(o->labels, o->nlabels, LABEL), "ipallocator.k8s.io"))
        return true;
    struct doc d = object_doc(o, &r->a);
    if (is_old(r, meta_text(&d, "creationTimestamp")) &&
        !has_owner(r, doc_path(&d, "spec.parentRef"), o->name, STR("")))
        submit(r, (struct store_write){.key = o->key, .expect = o->revision});
    return true;
}

/* ---- Services without claims ---- */

static bool check_service(void *ctx, struct cache_object *o)
{
    struct repair *r = ctx;
    struct doc d = object_doc(o, &r->a);
    struct claim_list list = claims_of(r->s, &d, &r->a);
    struct str now = timestamp_print(time(NULL), 0, false, &r->a);
    for (uint32_t i = 0; i < list.n; i++) {
        struct strbuf b = STRBUF_INIT;
        if (cache_get(r->s->cache, list.v[i].key))
            continue;
        claim_encode(r->s, &list.v[i], &d, now, &r->a, &b);
        submit(r, (struct store_write){.key = list.v[i].key, .value = strbuf_str(&b)});
        strbuf_release(&b);
    }
    return true;
}

/* ---- runs ---- */

static void each(struct repair *r, struct str prefix,
                 bool (*check)(void *ctx, struct cache_object *o))
{
    cache_each(r->s->cache, prefix, STR_NONE, check, r);
}

static void run(struct repair *r)
{
    each(r, kinds_stored(r->s, "networking.k8s.io", "ipaddresses")->prefix,
         check_address);
    each(r, STR(CLAIMS_PORTS), check_port);
    if (r->first)
        each(r, kinds_stored(r->s, "", "services")->prefix, check_service);
    arena_reset(&r->a);
}

/* What others have stored is known by now. */
static void synced(void *ctx, bool current)
{
    struct server *s = ctx;
    if (s->repair && current)
        run(s->repair);
}

static void due(void *ctx)
{
    struct repair *r = ctx;
    store_sync(r->s->store, synced, r->s);
}

bool service_repair_begin(struct server *s, struct err *e)
{
    struct repair *r = mem_zalloc(sizeof *r);
    s->repair = r;
    *r = (struct repair){.s = s, .e = e, .first = true};
    r->alone = !s->opts.store || strncmp(s->opts.store, "etcd", 4) != 0;
    run(r);
    while (r->left)
        net_loop_run_once(s->loop, true);
    r->alone = r->first = false;
    r->timer = net_timer_start(s->loop, EVERY_MS, EVERY_MS, due, r);
    return !r->failed;
}

void service_repair_end(struct server *s)
{
    struct repair *r = s->repair;
    if (!r)
        return;
    s->repair = NULL;
    if (r->timer)
        net_timer_stop(r->timer);
    arena_fini(&r->a);
    free(r);
}
