/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The driver as a kubelet sees it: two sockets, one for registration and one for the DRA
 * and health services, each in all of its versions (spec 5.1 to 5.4).
 */
#ifndef DRAY_DRIVER_PLUGIN_H
#define DRAY_DRIVER_PLUGIN_H

#include "driver/calls.h"
#include "driver/sockets.h"
#include "driver/watchers.h"

struct driver_plugin;

struct driver_plugin_opts { /* what it points to outlives the plugin */
    struct str driver;
    struct driver_sockets sockets;
    struct driver_calls *calls;
    struct driver_watchers *watchers;
    /* What a kubelet says about the registration: a line for people. */
    void (*log)(void *ctx, const char *text);
    void *log_ctx;
};

/* The DRA service first, registration once it is there. NULL: a socket cannot be had. */
struct driver_plugin *
driver_plugin_new(struct net_loop *l, const struct driver_plugin_opts *o, struct err *e);
/* Removes both sockets. */
void driver_plugin_free(struct driver_plugin *p);
/* The last that a kubelet said. */
bool driver_plugin_registered(const struct driver_plugin *p);

#endif
