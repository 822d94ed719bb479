/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One attempt to register the plugin behind a socket: it is asked who it is, taken or
 * refused, and told so (spec 5.2). The connection is closed afterwards.
 */
#ifndef DRAY_NODE_PLUGINS_ATTEMPT_H
#define DRAY_NODE_PLUGINS_ATTEMPT_H

#include "net/http.h"

struct plugins_attempt;

struct plugin_info { /* texts live during the call */
    const char *type, *name;
    const char *endpoint; /* never empty */
    const char *const *versions;
    size_t nversions;
};

struct plugins_attempt_ops {
    /* False: refused, and e says why in words for the plugin. */
    bool (*take)(void *ctx, const struct plugin_info *info, struct err *e);
    /* The last call; the attempt is gone. why NULL: it was taken and knows of it. Else
     * what take has taken is to be given back. */
    void (*over)(void *ctx, const struct err *why);
};

/* Callbacks come from the loop. */
struct plugins_attempt *plugins_attempt_start(struct net_loop *l, struct str socket,
                                              const struct plugins_attempt_ops *ops,
                                              void *ctx);
void plugins_attempt_cancel(struct plugins_attempt *a); /* no callback follows */

#endif
