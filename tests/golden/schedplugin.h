/* SPDX-License-Identifier: Apache-2.0 */
/* What the two parts of the runner of golden/schedplugin share. */
#ifndef DRAY_TESTS_GOLDEN_SCHEDPLUGIN_H
#define DRAY_TESTS_GOLDEN_SCHEDPLUGIN_H

#include "fake_api.h"
#include "golden/golden.h"
#include "sched/dra_inner.h"

/* The plugin beside a server of documents. */
struct site {
    struct golden_case *c;
    const struct doc *in;
    struct arena *a;
    struct fake_api api;
    struct dra *dra;
    int64_t now;
    uint64_t clock;
    bool done; /* what was asked of the plugin is over */
    struct sched_status status;
};

/* Gates that are named "EnableX" in a map of features. */
struct api_gates site_gates(const struct doc *features);
void site_open(struct site *s, const struct api_gates *gates);
void site_close(struct site *s);
void site_put(struct site *s, const char *field, const char *resource);
void site_done(void *ctx, const struct sched_status *status);
/* Until it is done. */
void site_await(struct site *s);
struct object *site_object(const struct doc *d);

/* As recorded: {code, reasons, error}. */
struct doc site_status(struct site *s, const struct sched_status *status);
struct doc site_claims(struct site *s);
struct doc site_actions(struct site *s);
/* Compares without what is no part of the contract. */
void site_check(struct site *s, const char *field, const struct doc *want,
                const struct doc *got);

/* Cases of one function each. */
void parts_run(struct golden_case *c);

#endif
