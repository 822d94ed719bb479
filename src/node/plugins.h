/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The drivers of a node, as a kubelet finds them: each makes itself known by a socket in
 * KUBELET/plugins_registry, says who it is and where it listens, and is called there.
 * One driver may have several endpoints while it is replaced.
 *
 * All of it on one loop. Callbacks come from the loop; they may call whatever there is
 * here but plugins_free.
 *
 * Source: spec 5.2.
 */
#ifndef DRAY_NODE_PLUGINS_H
#define DRAY_NODE_PLUGINS_H

#include "net/client.h"
#include "node/plugins_services.h"

struct plugins;
struct plugin; /* a driver's endpoint */

struct plugins_ops {
    /* An endpoint is registered, or not anymore (then it is gone after the call). */
    void (*added)(void *ctx, struct plugin *p);   /* or NULL */
    void (*removed)(void *ctx, struct plugin *p); /* or NULL */
    /* The driver has an endpoint that is connected, or none. Each time it changes, and
     * with false when it is registered for the first time. */
    void (*reached)(void *ctx, struct str driver, bool connected); /* or NULL */
    void (*log)(void *ctx, const char *text);                      /* or NULL */
};

/* kubelet_dir: "/var/lib/kubelet". */
struct plugins *plugins_new(struct net_loop *l, const char *kubelet_dir,
                            const struct plugins_ops *ops, void *ctx, struct err *e);
/* No callback follows; calls that run on its connections are told as net_client_close
 * says. */
void plugins_free(struct plugins *p);

/* The endpoint to call: of those that are connected the one that was registered last,
 * else the last one. NULL: the driver is not registered. */
struct plugin *plugins_find(const struct plugins *p, struct str driver);

/* Texts live as long as the endpoint. */
struct str plugin_driver(const struct plugin *p);
struct str plugin_endpoint(const struct plugin *p);
enum plugin_dra plugin_dra(const struct plugin *p);
enum plugin_health plugin_health(const struct plugin *p);
bool plugin_connected(const struct plugin *p);
/* For a call that begins now. Connects if need be; calls wait for that. NULL: the path is
 * none that can be connected to. */
struct net_client *plugin_connection(struct plugin *p);
void plugin_set_user(struct plugin *p, void *user); /* of who is told of added */
void *plugin_user(const struct plugin *p);

#endif
