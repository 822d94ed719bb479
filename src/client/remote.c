/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The way to a server by HTTPS. One connection has all calls; when it takes no more of
 * them, the next call makes another, and the old one stays until its calls have ended.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "client/way.h"

enum { TOKEN_MS = 10000 }; /* that a token is not looked for again */

struct link {
    struct link *next;
    struct remote *remote;
    struct net_client *client;
};

struct remote {
    struct net_loop *loop;
    const struct kubeconfig *config;
    struct link *links; /* the newest first */
    bool fresh;         /* the newest takes calls, as far as we know */
    struct arena token_arena;
    struct str token;
    uint64_t token_ms; /* when it was read; 0: never */
};

/* ---- connections ---- */

static void on_closed(void *ctx, const struct err *why)
{
    struct link *l = ctx;
    struct remote *r = l->remote;
    (void)why;
    if (r->links == l)
        r->fresh = false;
    struct link **at = &r->links;
    while (*at != l)
        at = &(*at)->next;
    *at = l->next;
    net_client_close(l->client);
    free(l);
}

static struct net_client *connect_new(struct remote *r, struct err *e)
{
    static const struct net_client_ops ops = {.closed = on_closed};
    const struct kubeconfig *k = r->config;
    struct net_client_opts opts = {
        .address = k->address, .tls = &k->tls, .name = k->name};
    struct link *l = mem_zalloc(sizeof *l);
    *l = (struct link){r->links, r, net_client_new(r->loop, &opts, &ops, l, e)};
    if (!l->client) {
        free(l);
        return NULL;
    }
    r->links = l;
    r->fresh = true;
    return l->client;
}

static void *remote_start(void *self, const struct net_call_opts *opts,
                          const struct net_call_ops *ops, void *ctx, struct err *e)
{
    struct remote *r = self;
    void *call = r->fresh ? net_call_start(r->links->client, opts, ops, ctx) : NULL;
    if (call)
        return call;
    struct net_client *c = connect_new(r, e);
    call = c ? net_call_start(c, opts, ops, ctx) : NULL;
    if (c && !call)
        err_set(e, ERR_IO, "%s: the connection takes no calls", r->config->address);
    return call;
}

static void remote_cancel(void *call)
{
    net_call_cancel(call);
}

static void remote_free(void *self)
{
    struct remote *r = self;
    while (r->links) {
        struct link *l = r->links;
        r->links = l->next;
        net_client_close(l->client);
        free(l);
    }
    arena_fini(&r->token_arena);
    free(r);
}

/* ---- who asks ---- */

/* A file that cannot be read keeps the token it had. */
static void read_token(struct remote *r)
{
    struct arena a;
    struct str text;
    arena_init(&a);
    if (!kubeconfig_read_file(r->config->token_file, &a, &text, NULL)) {
        arena_fini(&a);
        return;
    }
    arena_fini(&r->token_arena);
    r->token_arena = a;
    r->token = str_trim(text);
}

static struct str remote_token(void *self, struct arena *a)
{
    struct remote *r = self;
    uint64_t now = net_now_ms(r->loop);
    if (r->config->token_file && (!r->token_ms || now - r->token_ms >= TOKEN_MS)) {
        read_token(r);
        r->token_ms = now ? now : 1;
    }
    return r->token.n ? arena_str(a, r->token) : r->config->token;
}

static const char *remote_prefix(const void *self)
{
    return ((const struct remote *)self)->config->prefix;
}

static const char *remote_address(const void *self)
{
    return ((const struct remote *)self)->config->address;
}

static struct str remote_user_agent(const void *self)
{
    struct str s = ((const struct remote *)self)->config->user_agent;
    return s.n ? s : STR("dray");
}

static const struct kubeconfig_as *remote_acts_as(const void *self)
{
    const struct kubeconfig_as *as = &((const struct remote *)self)->config->as;
    return as->user.n ? as : NULL;
}

struct client *client_new_remote(struct net_loop *l, const struct kubeconfig *k)
{
    static const struct way way = {remote_start,   remote_cancel, remote_free,
                                   remote_prefix,  remote_token,  remote_user_agent,
                                   remote_acts_as, remote_address};
    struct remote *r = mem_zalloc(sizeof *r);
    *r = (struct remote){.loop = l, .config = k};
    arena_init(&r->token_arena);
    return client_new(l, &way, r);
}
