/* SPDX-License-Identifier: Apache-2.0 */
/* Inside of plugins: the endpoints of drivers. */
#ifndef DRAY_NODE_PLUGINS_INNER_H
#define DRAY_NODE_PLUGINS_INNER_H

#include "node/plugins.h"

struct plugin_opts {
    struct str driver, endpoint;
    enum plugin_dra dra;
    enum plugin_health health;
    /* It is connected, or not anymore. */
    void (*changed)(void *ctx, struct plugin *p);
    void *ctx;
};

/* Connects at once, and again whenever the connection ends. */
struct plugin *plugin_new(struct net_loop *l, const struct plugin_opts *o);
void plugin_free(struct plugin *p);

#endif
