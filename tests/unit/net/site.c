/* SPDX-License-Identifier: Apache-2.0 */
#include "site.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/bug.h"
#include "base/mem.h"

enum { LINE = 1000, ENOUGH = 1 << 20 };

static void bump(unsigned *counter)
{
    __atomic_add_fetch(counter, 1, __ATOMIC_SEQ_CST);
}

unsigned site_get(unsigned *counter)
{
    return __atomic_load_n(counter, __ATOMIC_SEQ_CST);
}

bool site_wait(unsigned *counter, unsigned least)
{
    for (int i = 0; i < 5000 && site_get(counter) < least; i++)
        usleep(1000);
    return site_get(counter) >= least;
}

/* ---- handlers ---- */

/* What runs on while an exchange is open. */
struct job {
    struct site *site;
    struct net_exchange *x;
    struct net_timer *timer;
    struct net_tunnel *tunnel;
    long left;
};

static long number(struct str s)
{
    char text[24] = "";
    memcpy(text, s.p ? s.p : "", s.n < sizeof text ? s.n : 0);
    return strtol(text, NULL, 10);
}

static struct job *job_new(struct site *s, struct net_exchange *x)
{
    struct job *j = mem_zalloc(sizeof *j);
    *j = (struct job){.site = s, .x = x, .left = number(x->query)};
    return j;
}

static void job_end(struct job *j)
{
    net_timer_stop(j->timer);
    net_done(j->x);
    free(j);
}

static void on_gone(void *ctx)
{
    struct job *j = ctx;
    bump(&j->site->gone);
    job_end(j);
}

static void respond_text(struct net_exchange *x, struct str text)
{
    static const struct net_header type = {STR("content-type"), STR("text/plain")};
    net_respond(x, 200, &type, 1, text);
}

static void hello(struct site *s, struct net_exchange *x)
{
    respond_text(x, STR("hello"));
}

static void mirror(struct site *s, struct net_exchange *x)
{
    static const struct net_header twice = {STR("x-mirror"), STR("a\r\nb")};
    net_respond(x, 200, &twice, 1, STR("hello"));
}

static void echo(struct site *s, struct net_exchange *x)
{
    respond_text(x, x->body);
}

static void who(struct site *s, struct net_exchange *x)
{
    struct strbuf b = STRBUF_INIT;
    strbuf_addstr(&b, x->client_name);
    strbuf_addc(&b, '|');
    for (uint32_t i = 0; i < x->nclient_groups; i++) {
        strbuf_adds(&b, i ? "," : "");
        strbuf_addstr(&b, x->client_groups[i]);
    }
    strbuf_addf(&b, "|%.*s|%zu", STR_ARG(x->client_cert_error), x->client_cert_hash.n);
    net_respond_buf(x, 200, NULL, 0, &b);
}

static void about(struct site *s, struct net_exchange *x)
{
    struct strbuf b = STRBUF_INIT;
    strbuf_addf(&b, "%.*s %.*s %.*s x=%.*s http2=%d tls=%d local=%d", STR_ARG(x->method),
                STR_ARG(x->path), STR_ARG(x->query), STR_ARG(net_header_get(x, "x-test")),
                x->http2, x->tls, x->local);
    net_respond_buf(x, 200, NULL, 0, &b);
}

static void line(struct net_exchange *x, long i)
{
    char text[LINE + 1];
    snprintf(text, sizeof text, "%0*ld", LINE - 1, i);
    text[LINE - 1] = '\n';
    net_write(x, (struct str){text, LINE});
}

/* As long as it is taken: what waits stays below ENOUGH. */
static void stream_more(void *ctx)
{
    struct job *j = ctx;
    while (j->left > 0 && net_unsent(j->x) < ENOUGH)
        line(j->x, --j->left);
    if (net_unsent(j->x) > j->site->most_unsent)
        j->site->most_unsent = net_unsent(j->x);
    if (j->left == 0)
        job_end(j);
}

static void on_drain(void *ctx)
{
    struct job *j = ctx;
    bump(&j->site->drained);
    stream_more(ctx);
}

static void stream(struct site *s, struct net_exchange *x)
{
    struct job *j = job_new(s, x);
    net_begin(x, 200, NULL, 0);
    net_on_gone(x, on_gone, j);
    net_on_drain(x, ENOUGH / 2, on_drain, j);
    stream_more(j);
}

static void flood(struct site *s, struct net_exchange *x)
{
    char text[LINE] = {0};
    long n = number(x->query);
    net_begin(x, 200, NULL, 0);
    while (n-- > 0)
        if (!net_write(x, (struct str){text, LINE})) {
            bump(&s->refused);
            break;
        }
    net_done(x);
}

static void shared(struct site *s, struct net_exchange *x)
{
    long n = number(x->query);
    net_begin(x, 200, NULL, 0);
    while (n-- > 0)
        net_write_shared(x, s->line);
    net_done(x);
}

static void big(struct site *s, struct net_exchange *x)
{
    size_t n = (size_t)number(x->query);
    struct strbuf b = STRBUF_INIT;
    strbuf_reserve(&b, n);
    memset(b.p, 'x', n);
    b.n = n;
    net_respond_buf(x, 200, NULL, 0, &b);
}

static void hold(struct site *s, struct net_exchange *x)
{
    struct job *j = job_new(s, x);
    net_begin(x, 200, NULL, 0);
    net_write(x, STR("held\n"));
    net_on_gone(x, on_gone, j);
    bump(&s->held);
}

static void late_now(void *ctx)
{
    struct job *j = ctx;
    j->timer = NULL;
    respond_text(j->x, STR("late"));
    free(j);
}

static void late(struct site *s, struct net_exchange *x)
{
    struct job *j = job_new(s, x);
    net_on_gone(x, on_gone, j);
    j->timer = net_timer_start(s->loop, (uint64_t)j->left, 0, late_now, j);
    bump(&s->held);
}

static void observe(void *ctx, unsigned status, struct str body)
{
    struct site *s = ctx;
    if (status == 504 && str_is(body, "early"))
        bump(&s->observed);
}

static void early_later(void *ctx)
{
    struct job *j = ctx;
    struct site *s = j->site;
    who(s, j->x); /* what is known of the client is still there */
    free(j);
    bump(&s->late);
}

static void early(struct site *s, struct net_exchange *x)
{
    struct net_observer observer = {NULL, observe, s};
    struct job *j = job_new(s, x);
    net_observe(x, &observer);
    net_preempt(x, 504, NULL, 0, STR("early"));
    net_timer_start(s->loop, (uint64_t)j->left, 0, early_later, j);
}

static void tunnel_data(void *ctx, struct str bytes)
{
    struct job *j = ctx;
    if (bytes.n > 0) {
        net_tunnel_write(j->tunnel, bytes);
        return;
    }
    bump(&j->site->gone);
    net_tunnel_close(j->tunnel);
    free(j);
}

static void upgrade(struct site *s, struct net_exchange *x)
{
    static const struct net_header to = {STR("upgrade"), STR("echo")};
    struct job *j = job_new(s, x);
    j->tunnel = net_upgrade(x, &to, 1, tunnel_data, j);
    if (j->tunnel)
        return;
    free(j);
    net_respond(x, 400, NULL, 0, STR("no upgrade"));
}

static void stuck(struct site *s, struct net_exchange *x)
{
    if (s->nstuck == sizeof s->stuck / sizeof *s->stuck)
        bug("site: too many requests are let in");
    s->stuck[s->nstuck++] = x;
}

static void empty(struct site *s, struct net_exchange *x)
{
    net_respond(x, 204, NULL, 0, STR_NONE);
}

static void handle(void *ctx, struct net_exchange *x)
{
    static const struct {
        const char *path;
        void (*fn)(struct site *s, struct net_exchange *x);
    } routes[] = {
        {"/hello", hello},   {"/echo", echo},       {"/who", who},
        {"/about", about},   {"/stream", stream},   {"/flood", flood},
        {"/shared", shared}, {"/big", big},         {"/hold", hold},
        {"/late", late},     {"/empty", empty},     {"/mirror", mirror},
        {"/stuck", stuck},   {"/upgrade", upgrade}, {"/early", early},
    };
    struct site *s = ctx;
    bump(&s->asked);
    for (size_t i = 0; i < sizeof routes / sizeof *routes; i++)
        if (str_is(x->path, routes[i].path)) {
            routes[i].fn(s, x);
            return;
        }
    net_respond(x, 404, NULL, 0, STR("no such page"));
}

/* ---- the site ---- */

static void make_keys(struct site *s)
{
    static const char *const hosts[] = {"localhost", "127.0.0.1", "::1"};
    static const char *const groups[] = {"system:masters", "dev"};
    struct pki_subject server = {
        .name = "server", .hosts = hosts, .nhosts = 3, .server = true, .days = 30};
    struct pki_subject client = {
        .name = "ann", .groups = groups, .ngroups = 2, .client = true, .days = 30};
    struct pki_pair other;
    struct err e = ERR_INIT;
    if (!pki_new_ca("test-ca", &s->arena, &s->ca, &e) ||
        !pki_new_ca("test-ca", &s->arena, &other, &e) ||
        !pki_issue(&s->ca, &server, &s->arena, &s->server, &e) ||
        !pki_issue(&s->ca, &client, &s->arena, &s->client, &e) ||
        !pki_issue(&other, &client, &s->arena, &s->stranger, &e))
        bug("site: %s", err_text(&e));
    s->tls = (struct net_tls_opts){s->server.cert_pem, s->server.key_pem, s->ca.cert_pem};
}

static void *run(void *ctx)
{
    net_loop_run(ctx);
    return NULL;
}

void site_start(struct site *s, struct net_server_opts opts, bool tls)
{
    char text[LINE];
    struct err e = ERR_INIT;
    *s = (struct site){0};
    arena_init(&s->arena);
    memset(text, 's', sizeof text);
    s->line = net_shared_new((struct str){text, sizeof text});
    if (tls)
        make_keys(s);
    opts.tls = tls ? &s->tls : NULL;
    if (!opts.address)
        opts.address = "127.0.0.1:0";
    s->loop = net_loop_new(&e);
    s->net = net_server_new(s->loop, &opts, handle, s, &e);
    if (!s->net)
        bug("site: %s", err_text(&e));
    s->port = net_server_port(s->net);
    pthread_create(&s->thread, NULL, run, s->loop);
}

static void end(void *ctx)
{
    struct site *s = ctx;
    for (unsigned i = 0; i < s->nstuck; i++)
        net_done(s->stuck[i]);
    net_server_free(s->net);
    net_loop_stop(s->loop);
}

void site_stop(struct site *s)
{
    net_post(s->loop, end, s);
    pthread_join(s->thread, NULL);
    net_loop_free(s->loop);
    net_shared_unref(s->line);
    arena_fini(&s->arena);
}

static void on_stopped(void *ctx)
{
    bump(&((struct site *)ctx)->stopped);
}

struct shut_down {
    struct site *site;
    unsigned ms;
};

static void shut_down(void *ctx)
{
    struct shut_down *d = ctx;
    net_server_stop(d->site->net, d->ms, on_stopped, d->site);
    free(d);
}

void site_shut_down(struct site *s, unsigned ms)
{
    struct shut_down *d = mem_alloc(sizeof *d);
    *d = (struct shut_down){s, ms};
    net_post(s->loop, shut_down, d);
}
