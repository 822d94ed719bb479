/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All controllers, under upstream's names, and several of them at work beside one API
 * server.
 */
#ifndef DRAY_CONTROL_CONTROLLERS_H
#define DRAY_CONTROL_CONTROLLERS_H

#include "control/reconciler.h"
#include "control/shared.h"

struct controllers;

struct controllers_opts {             /* texts outlive the controllers, gates too */
    const char *only;                 /* names with commas between; NULL: all */
    const struct api_gates *gates;    /* what a gate turns off does not start */
    struct control_settings settings; /* its gates are those above */
    unsigned claim_workers, eviction_workers; /* 0: as upstream */
    void (*log)(void *ctx, const char *text); /* what goes wrong; or NULL */
    void *log_ctx;
    struct shared *shared; /* controllers_new sets it */
};

/* Whether all the names of a list are known, with or without "-controller" at the end. */
bool controllers_check(const char *only, struct err *e);
/* They work from here on, until controllers_free. */
struct controllers *controllers_new(struct client *c,
                                    const struct controllers_opts *opts);
void controllers_free(struct controllers *c);

#endif
