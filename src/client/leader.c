/* SPDX-License-Identifier: Apache-2.0 */
#include "client/leader.h"

#include <stdlib.h>
#include <time.h>

#include "api/timestamp.h"
#include "base/mem.h"
#include "doc/doc.h"

enum { MAX_CONFLICTS = 3 };

static const struct client_kind LEASE = {"coordination.k8s.io", "v1", "leases", true};

struct leader {
    struct client *client;
    struct leader_opts opts;
    const struct leader_ops *ops;
    void *ctx;
    struct client_call *call;
    struct net_timer *timer;
    bool leads, resigning;
    unsigned conflicts;   /* while resigning */
    uint64_t renewed_ms;  /* when it was last ours */
    struct strbuf seen;   /* version of the lease as it was last seen to change */
    uint64_t seen_ms;     /* and when */
    struct strbuf holder; /* whom it was said to wait for */
    void (*resigned)(void *ctx);
};

static uint64_t now_ms(const struct leader *l)
{
    return net_now_ms(client_loop(l->client));
}

static void trouble(struct leader *l, const char *what)
{
    if (l->ops->trouble)
        l->ops->trouble(l->ctx, what);
}

/* ---- the lease ---- */

static struct str time_text(struct arena *a)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return timestamp_print(t.tv_sec, (int32_t)t.tv_nsec, true, a);
}

/* Ours from now on, or (resigning) nobody's. old: its spec, NULL if it is new. */
static struct doc make_spec(const struct leader *l, const struct doc *old,
                            struct arena *a)
{
    struct doc spec = doc_make_map();
    struct str holder = doc_get_text(old, "holderIdentity"), now = time_text(a),
               acquired = doc_get_text(old, "acquireTime");
    bool ours = str_is(holder, l->opts.identity);
    int64_t changes = 0;
    doc_get_int64(old, "leaseTransitions", &changes);
    doc_set_text(a, &spec, "holderIdentity",
                 l->resigning ? STR("") : str_from(l->opts.identity));
    doc_set(a, &spec, "leaseDurationSeconds",
            doc_make_int(a, l->resigning ? 1 : (int64_t)l->opts.lease_ms / 1000));
    doc_set_text(a, &spec, "acquireTime", ours && acquired.n ? acquired : now);
    doc_set_text(a, &spec, "renewTime", now);
    doc_set(a, &spec, "leaseTransitions", doc_make_int(a, changes + (old && !ours)));
    return spec;
}

static struct doc make_lease(const struct leader *l, const struct doc *old,
                             struct arena *a)
{
    struct doc d = old ? doc_dup(a, old) : doc_make_map(), meta = doc_make_map();
    doc_set_text(a, &d, "apiVersion", STR("coordination.k8s.io/v1"));
    doc_set_text(a, &d, "kind", STR("Lease"));
    doc_set_text(a, &meta, "name", str_from(l->opts.name));
    doc_set_text(a, &meta, "namespace", str_from(l->opts.namespace));
    if (!old)
        doc_set(a, &d, "metadata", meta);
    doc_set(a, &d, "spec", make_spec(l, old ? doc_get(old, "spec") : NULL, a));
    return d;
}

static void note_change(struct leader *l, struct str version)
{
    if (str_eq(strbuf_str(&l->seen), version))
        return;
    strbuf_clear(&l->seen);
    strbuf_addstr(&l->seen, version);
    l->seen_ms = now_ms(l);
}

/* Somebody else has it, and may well be there. */
static bool is_taken(const struct leader *l, const struct doc *lease)
{
    const struct doc *spec = doc_get(lease, "spec");
    struct str holder = doc_get_text(spec, "holderIdentity");
    int64_t seconds = 0;
    doc_get_int64(spec, "leaseDurationSeconds", &seconds);
    return holder.n && !str_is(holder, l->opts.identity) &&
           now_ms(l) < l->seen_ms + (uint64_t)seconds * 1000;
}

/* Once for each holder: whoever looks on sees why nothing happens. */
static void tell_waiting(struct leader *l, const struct doc *lease)
{
    struct str holder = doc_get_text(doc_get(lease, "spec"), "holderIdentity");
    struct strbuf b = STRBUF_INIT;
    if (l->leads || l->resigning || str_eq(strbuf_str(&l->holder), holder))
        return;
    strbuf_clear(&l->holder);
    strbuf_addstr(&l->holder, holder);
    strbuf_addf(&b, "waiting for the lease %s/%s, held by %.*s", l->opts.namespace,
                l->opts.name, STR_ARG(holder));
    trouble(l, strbuf_cstr(&b));
    strbuf_release(&b);
}

/* ---- trying ---- */

static void look(void *ctx);

static void again(struct leader *l)
{
    if (l->resigning)
        l->resigned(l->ctx);
    else
        l->timer = net_timer_start(client_loop(l->client), l->opts.retry_ms, 0, look, l);
}

static void gained(struct leader *l)
{
    bool first = !l->leads;
    l->leads = true;
    l->renewed_ms = now_ms(l);
    again(l);
    if (first)
        l->ops->gained(l->ctx);
}

static void lost(struct leader *l)
{
    l->leads = false;
    l->ops->lost(l->ctx);
}

/* It was not renewed this time; too often, and it is lost. */
static void missed(struct leader *l, bool taken)
{
    if (l->leads && !l->resigning &&
        (taken || now_ms(l) - l->renewed_ms >= l->opts.renew_ms))
        lost(l);
    else
        again(l);
}

static void on_written(void *ctx, const struct client_answer *a)
{
    struct leader *l = ctx;
    l->call = NULL;
    if (a->ok && !l->resigning) {
        gained(l);
        return;
    }
    if (!a->ok && a->status != 409)
        trouble(l, a->message);
    /* A renewal that was on its way when it resigned may have come in between. */
    if (l->resigning && a->status == 409 && l->conflicts++ < MAX_CONFLICTS)
        look(l);
    else
        missed(l, false);
}

static void write_lease(struct leader *l, const struct doc *old, struct arena *a)
{
    struct doc lease = make_lease(l, old, a);
    struct strbuf json = STRBUF_INIT;
    struct str name = old ? str_from(l->opts.name) : STR_NONE;
    doc_write_json(&lease, DOC_JSON_COMPACT, &json);
    struct client_request q = {
        .method = old ? "PUT" : "POST",
        .path = client_path(&LEASE, str_from(l->opts.namespace), name, NULL, a),
        .body = strbuf_str(&json),
        .timeout_ms = l->opts.renew_ms};
    l->call = client_start(l->client, &q, on_written, l);
    strbuf_release(&json);
}

static void decide(struct leader *l, const struct doc *lease, struct arena *a)
{
    const struct doc *meta = doc_get(lease, "metadata");
    bool ours =
        str_is(doc_get_text(doc_get(lease, "spec"), "holderIdentity"), l->opts.identity);
    note_change(l, doc_get_text(meta, "resourceVersion"));
    if (is_taken(l, lease))
        tell_waiting(l, lease);
    if (is_taken(l, lease) || (l->resigning && !ours))
        missed(l, true);
    else
        write_lease(l, lease, a);
}

static void on_seen(void *ctx, const struct client_answer *answer)
{
    struct leader *l = ctx;
    struct arena a;
    struct doc_source src = {.name = "lease", .text = answer->body};
    struct doc lease;
    l->call = NULL;
    arena_init(&a);
    if (answer->status == 404 && !l->resigning) {
        write_lease(l, NULL, &a);
    } else if (answer->ok && doc_read_json(&src, &a, &lease, NULL)) {
        decide(l, &lease, &a);
    } else {
        trouble(l, answer->message);
        missed(l, false);
    }
    arena_fini(&a);
}

static void look(void *ctx)
{
    struct leader *l = ctx;
    struct arena a;
    l->timer = NULL;
    arena_init(&a);
    struct client_request q = {.method = "GET",
                               .path = client_path(&LEASE, str_from(l->opts.namespace),
                                                   str_from(l->opts.name), NULL, &a),
                               .timeout_ms = l->opts.renew_ms};
    l->call = client_start(l->client, &q, on_seen, l);
    arena_fini(&a);
}

/* ---- life ---- */

struct leader *leader_new(struct client *c, const struct leader_opts *opts,
                          const struct leader_ops *ops, void *ctx)
{
    struct leader *l = mem_zalloc(sizeof *l);
    *l = (struct leader){.client = c, .opts = *opts, .ops = ops, .ctx = ctx};
    if (!l->opts.lease_ms)
        l->opts.lease_ms = 15000;
    if (!l->opts.renew_ms)
        l->opts.renew_ms = 10000;
    if (!l->opts.retry_ms)
        l->opts.retry_ms = 2000;
    look(l);
    return l;
}

static void stop(struct leader *l)
{
    if (l->call)
        client_cancel(l->call);
    net_timer_stop(l->timer);
    l->call = NULL;
    l->timer = NULL;
}

static void resign_soon(void *ctx)
{
    struct leader *l = ctx;
    l->timer = NULL;
    if (l->leads)
        look(l);
    else
        l->resigned(l->ctx);
}

void leader_resign(struct leader *l, void (*done)(void *ctx))
{
    stop(l);
    l->resigning = true;
    l->resigned = done;
    l->timer = net_timer_start(client_loop(l->client), 0, 0, resign_soon, l);
}

void leader_free(struct leader *l)
{
    if (!l)
        return;
    stop(l);
    strbuf_release(&l->seen);
    strbuf_release(&l->holder);
    free(l);
}

bool leader_is(const struct leader *l)
{
    return l->leads;
}
