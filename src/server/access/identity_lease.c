/* SPDX-License-Identifier: Apache-2.0 */
#include "server/access/identity_lease.h"

#include <limits.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "api/apply.h"
#include "api/timestamp.h"
#include "server/access/bootstrap.h"
#include "server/rest/write.h"

enum { RENEW_MS = 10000, NAME_DIGITS = 26 };

static const char LEASE[] =
    "{'kind':'Lease','apiVersion':'coordination.k8s.io/v1','metadata':{'name':'%.*s',"
    "'namespace':'kube-system','labels':{'apiserver.kubernetes.io/identity':"
    "'kube-apiserver','kubernetes.io/hostname':'%s'}},'spec':{'holderIdentity':"
    "'%.*s_%.*s','leaseDurationSeconds':3600,'renewTime':'%.*s'}}";

struct identity_lease {
    struct server *s;
    struct net_timer *timer;
    struct arena a;       /* lives as long */
    struct arena scratch; /* of one write, until it is answered */
    const struct resource *res;
    struct str name, run; /* run: of this start */
    char host[HOST_NAME_MAX + 1];
    bool writing, ended;
};

static void release(struct identity_lease *l)
{
    arena_fini(&l->a);
    arena_fini(&l->scratch);
    free(l);
}

static void written(void *ctx, enum store_answer answer, uint64_t revision,
                    const struct err *e)
{
    struct identity_lease *l = ctx;
    l->writing = false;
    arena_reset(&l->scratch);
    if (l->ended)
        release(l);
}

static struct str now_micro(struct arena *a)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return timestamp_print(t.tv_sec, (int32_t)t.tv_nsec, true, a);
}

static struct doc as_it_should_be(struct identity_lease *l)
{
    struct arena *a = &l->scratch;
    struct str now = now_micro(a);
    struct str text = arena_printf(a, LEASE, STR_ARG(l->name), l->host, STR_ARG(l->name),
                                   STR_ARG(l->run), STR_ARG(now));
    char *json = arena_alloc(a, text.n);
    for (size_t i = 0; i < text.n; i++)
        json[i] = text.p[i] == '\'' ? '"' : text.p[i];
    struct doc_source src = {.name = "lease", .text = {json, text.n}};
    struct doc d = doc_make_map();
    doc_read_json(&src, a, &d, NULL);
    return doc_dup(a, &d);
}

static void submit(struct identity_lease *l, struct str key, const struct doc *d,
                   uint64_t expect)
{
    struct strbuf b = STRBUF_INIT;
    object_encode(d, &b);
    struct store_write w = {
        .key = key, .value = strbuf_str(&b), .expect = expect, .done = written, .ctx = l};
    l->writing = true;
    store_submit(l->s->store, &w);
    strbuf_release(&b);
}

static void make(struct identity_lease *l, struct str key, struct doc *d, struct str now)
{
    struct arena *a = &l->scratch;
    doc_set(a, object_meta(d), "uid", doc_make_string(a, write_new_uid(a)));
    doc_set(a, object_meta(d), "creationTimestamp", doc_make_string(a, now));
    bootstrap_complete(l->res, d, now, a);
    submit(l, key, d, 0);
}

/* What others have added to it stays. */
static void renew_kept(struct identity_lease *l, struct cache_object *o,
                       const struct doc *want, struct str now)
{
    struct arena *a = &l->scratch;
    struct doc live = object_doc(o, a), d = object_doc(o, a);
    doc_set(a, &d, "spec", *doc_get(want, "spec"));
    struct apply_write w = {
        .kind = l->res->kind, .now = now, .manager = STR("kube-apiserver")};
    struct doc entries = apply_update(&w, &live, &d, a);
    if (entries.n)
        doc_set(a, object_meta(&d), "managedFields", entries);
    submit(l, arena_str(a, o->key), &d, o->revision);
}

static void renew(void *ctx)
{
    struct identity_lease *l = ctx;
    struct arena *a = &l->scratch;
    if (l->writing)
        return;
    struct str now = timestamp_print(time(NULL), 0, false, a);
    struct doc d = as_it_should_be(l);
    struct str key = object_key(l->res, STR("kube-system"), l->name, a);
    struct cache_object *o = cache_get(l->s->cache, key);
    if (o)
        renew_kept(l, o, &d, now);
    else
        make(l, key, &d, now);
}

struct identity_lease *identity_lease_begin(struct server *s)
{
    const struct resource *res = kinds_stored(s, "coordination.k8s.io", "leases");
    if (!res)
        return NULL; /* they are not served */
    struct identity_lease *l = mem_zalloc(sizeof *l);
    char folder[PATH_MAX];
    l->s = s;
    l->res = res;
    if (gethostname(l->host, sizeof l->host - 1) != 0)
        l->host[0] = '\0';
    struct str who = arena_printf(&l->a, "%s %s", l->host,
                                  realpath(s->opts.dir, folder) ? folder : s->opts.dir);
    struct str digits = str_sub(pki_sha256_hex(who, &l->a), 0, NAME_DIGITS);
    l->name = arena_printf(&l->a, "apiserver-%.*s", STR_ARG(digits));
    l->run = write_new_uid(&l->a);
    l->timer = net_timer_start(s->loop, 1, RENEW_MS, renew, l);
    return l;
}

void identity_lease_end(struct identity_lease *l)
{
    if (!l)
        return;
    net_timer_stop(l->timer);
    l->ended = true;
    if (!l->writing)
        release(l);
}
