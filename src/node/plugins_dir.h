/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sockets in a directory and below it, as they come and go. Names that begin with a
 * dot and whatever is no socket are passed over; links are followed. A socket that is
 * renamed away is not gone (spec 5.2, as kubelets see it).
 */
#ifndef DRAY_NODE_PLUGINS_DIR_H
#define DRAY_NODE_PLUGINS_DIR_H

#include "net/http.h"

struct plugins_dir;

struct plugins_dir_ops {
    /* Also of one that stands in the place of another. */
    void (*created)(void *ctx, struct str path);
    void (*removed)(void *ctx, struct str path);
    void (*log)(void *ctx, const char *text); /* what could not be watched */
};

enum { PLUGINS_DIR_MAX = 4096 }; /* sockets, and directories; more are told to the log */

/* Makes the directory, 0755, with all that is missing above it. What is there already is
 * told from the loop. */
struct plugins_dir *plugins_dir_new(struct net_loop *l, const char *path,
                                    const struct plugins_dir_ops *ops, void *ctx,
                                    struct err *e);
void plugins_dir_free(struct plugins_dir *d);

#endif
