/* SPDX-License-Identifier: Apache-2.0 */
#include "control/eviction.h"

#include <stdlib.h>
#include <time.h>

#include "base/mem.h"
#include "client/events.h"
#include "client/informer.h"
#include "control/eviction_work.h"

enum { WORKERS = 8 };

struct eviction {
    struct eviction_work work; /* first */
    struct client *client;
    struct eviction_opts opts;
    struct worker *worker;
    struct events *events;
    struct informer *pods, *claims, *slices, *rules; /* rules: or NULL */
};

/* ---- what taints.h asks for ---- */

static void add(void *ctx, struct str key, uint64_t ms)
{
    struct eviction *e = ctx;
    if (ms)
        worker_add_after(e->worker, key, ms);
    else
        worker_add(e->worker, key);
}

static void tell(void *ctx, const struct object *pod, const char *text)
{
    struct eviction *e = ctx;
    struct event_about about = {"v1", "Pod", pod->doc};
    events_tell(e->events, &about, "Normal", "DeviceTaintManagerEviction",
                str_from(text));
}

static int64_t now_ms(void *ctx)
{
    struct timespec t;
    (void)ctx;
    clock_gettime(CLOCK_REALTIME, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* ---- events ---- */

static void on_pod(void *ctx, const struct object *old, const struct object *now)
{
    taints_on_pod(&((struct eviction *)ctx)->work.taints, old, now);
}

static void on_claim(void *ctx, const struct object *old, const struct object *now)
{
    taints_on_claim(&((struct eviction *)ctx)->work.taints, old, now);
}

static void on_slice(void *ctx, const struct object *old, const struct object *now)
{
    taints_on_slice(&((struct eviction *)ctx)->work.taints, old, now);
}

static void on_rule(void *ctx, const struct object *old, const struct object *now)
{
    struct eviction *e = ctx;
    eviction_keep_rule(&e->work, old, now);
    taints_on_rule(&e->work.taints, old, now);
}

static void on_trouble(void *ctx, const char *what)
{
    struct eviction *e = ctx;
    if (e->opts.log)
        e->opts.log(e->opts.log_ctx, what);
}

/* ---- life ---- */

static struct informer *watch(struct eviction *e, const char *group, const char *resource,
                              bool namespaced, const struct informer_ops *ops)
{
    struct informer_opts opts = {.kind = {group, "v1", resource, namespaced}};
    return informer_new(e->client, &opts, ops, e);
}

struct eviction *eviction_new(struct client *c, const struct eviction_opts *opts)
{
    static const struct taints_ops OPS = {add, tell, now_ms};
    static const struct informer_ops POD = {on_pod, NULL, on_trouble},
                                     CLAIM = {on_claim, NULL, on_trouble},
                                     SLICE = {on_slice, NULL, on_trouble},
                                     RULE = {on_rule, NULL, on_trouble};
    struct worker_opts worker = {.queue.workers = opts->workers ? opts->workers : WORKERS,
                                 .log = opts->log,
                                 .log_ctx = opts->log_ctx};
    struct eviction *e = mem_zalloc(sizeof *e);
    e->client = c;
    e->opts = *opts;
    eviction_work_init(&e->work, &OPS, e);
    e->work.taints.group_claims = opts->group_claims;
    e->worker = worker_new(c, &worker, eviction_sync, &e->work);
    e->events = events_new(c, "device-taint-eviction-controller");
    e->slices = watch(e, "resource.k8s.io", "resourceslices", false, &SLICE);
    e->claims = watch(e, "resource.k8s.io", "resourceclaims", true, &CLAIM);
    e->pods = watch(e, "", "pods", true, &POD);
    if (opts->rules)
        e->rules = watch(e, "resource.k8s.io", "devicetaintrules", false, &RULE);
    return e;
}

void eviction_free(struct eviction *e)
{
    if (!e)
        return;
    worker_free(e->worker);
    events_free(e->events);
    informer_free(e->pods);
    informer_free(e->claims);
    informer_free(e->slices);
    informer_free(e->rules);
    eviction_work_fini(&e->work);
    free(e);
}
