/* SPDX-License-Identifier: Apache-2.0 */
/* The way to the server of this process. */
#include "client/way.h"

static void *inner_start(void *self, const struct net_call_opts *opts,
                         const struct net_call_ops *ops, void *ctx, struct err *e)
{
    (void)e;
    return net_inner_start(self, opts, ops, ctx);
}

static void inner_cancel(void *call)
{
    net_inner_cancel(call);
}

static void inner_free(void *self)
{
    net_inner_free(self);
}

static const char *nothing(const void *self)
{
    (void)self;
    return "";
}

static struct str no_token(void *self, struct arena *a)
{
    (void)self;
    (void)a;
    return STR_NONE;
}

static struct str user_agent(const void *self)
{
    (void)self;
    return STR("dray");
}

static const struct kubeconfig_as *oneself(const void *self)
{
    (void)self;
    return NULL;
}

struct client *client_new_inner(struct net_loop *l, struct net_inner *n)
{
    static const struct way way = {inner_start, inner_cancel, inner_free, nothing,
                                   no_token,    user_agent,   oneself,    nothing};
    return client_new(l, &way, n);
}
