/* SPDX-License-Identifier: Apache-2.0 */
#include "driver/watchers.h"

#include <stdlib.h>
#include <time.h>

#include "base/mem.h"
#include "grpc/health.pb-c.h"

enum {
    STALE_S = 30, /* after which a kubelet takes a device's health for unknown */
    AGAIN_MS = STALE_S * 1000 / 3,
    MAX_MESSAGE = 1024, /* of a device; a kubelet cuts it there */
};

struct watcher {
    struct watcher *next;
    struct driver_watchers *all;
    struct grpc_request *request;
};

/* A message with all that it points to, in an arena of its own. */
struct report {
    struct arena arena;
    Health__NodeWatchResourcesResponse message;
};

struct driver_watchers {
    struct watcher *first;
    struct net_timer *again;
    struct str pool;
    struct report report;
};

/* ---- the report ---- */

static char *text(struct str s, struct arena *a)
{
    return (char *)arena_str(a, s).p;
}

/* Cut between characters. */
static struct str cut(struct str s)
{
    size_t n = s.n < MAX_MESSAGE ? s.n : MAX_MESSAGE;
    while (n < s.n && n > 0 && ((unsigned char)s.p[n] & 0xc0) == 0x80)
        n--;
    return str_sub(s, 0, n);
}

static Health__HealthStatus status_of(enum driver_health h)
{
    switch (h) {
    case DRIVER_HEALTHY:
        return HEALTH__HEALTH_STATUS__HEALTHY;
    case DRIVER_UNHEALTHY:
        return HEALTH__HEALTH_STATUS__UNHEALTHY;
    default:
        return HEALTH__HEALTH_STATUS__UNKNOWN;
    }
}

static Health__DeviceHealth *
device_message(struct str pool, const struct driver_device *d, struct arena *a)
{
    Health__DeviceHealth *m = ARENA_ARRAY(a, Health__DeviceHealth, 1);
    Health__DeviceIdentifier *id = ARENA_ARRAY(a, Health__DeviceIdentifier, 1);
    health__device_health__init(m);
    health__device_identifier__init(id);
    id->pool_name = text(pool, a);
    id->device_name = text(d->name, a);
    m->device = id;
    m->health = status_of(d->health);
    m->health_check_timeout_seconds = STALE_S;
    m->message = text(cut(d->health_message), a);
    return m;
}

static void report_make(struct report *r, struct str pool,
                        const struct driver_inventory *v)
{
    *r = (struct report){.message = HEALTH__NODE_WATCH_RESOURCES_RESPONSE__INIT};
    r->message.n_devices = v->ndevices;
    r->message.devices = ARENA_ARRAY(&r->arena, Health__DeviceHealth *, v->ndevices + 1);
    for (uint32_t i = 0; i < v->ndevices; i++)
        r->message.devices[i] = device_message(pool, &v->devices[i], &r->arena);
}

static bool same_health(const struct report *a, const struct report *b)
{
    if (a->message.n_devices != b->message.n_devices)
        return false;
    for (size_t i = 0; i < a->message.n_devices; i++) {
        const Health__DeviceHealth *x = a->message.devices[i], *y = b->message.devices[i];
        if (strcmp(x->device->device_name, y->device->device_name) != 0 ||
            x->health != y->health || strcmp(x->message, y->message) != 0)
            return false;
    }
    return true;
}

static void stamp(struct report *r)
{
    int64_t now = (int64_t)time(NULL);
    for (size_t i = 0; i < r->message.n_devices; i++)
        r->message.devices[i]->last_updated_time = now;
}

/* ---- watchers ---- */

static void free_watcher(struct watcher *x)
{
    grpc_request_end(x->request);
    free(x);
}

static void end_watcher(struct watcher *x)
{
    struct watcher **link = &x->all->first;
    while (*link != x)
        link = &(*link)->next;
    *link = x->next;
    free_watcher(x);
}

static void on_gone(void *ctx)
{
    end_watcher(ctx);
}

static void tell_all(struct driver_watchers *w)
{
    struct watcher *next;
    stamp(&w->report);
    for (struct watcher *x = w->first; x; x = next) {
        next = x->next;
        if (!grpc_request_write(x->request, &w->report.message.base))
            end_watcher(x);
    }
}

static void on_again(void *ctx)
{
    tell_all(ctx);
}

void driver_watchers_watch(struct driver_watchers *w, struct grpc_request *r)
{
    struct watcher *x = mem_zalloc(sizeof *x);
    *x = (struct watcher){.next = w->first, .all = w, .request = r};
    w->first = x;
    grpc_request_on_gone(r, on_gone, x);
    stamp(&w->report);
    if (!grpc_request_write(r, &w->report.message.base))
        end_watcher(x);
}

void driver_watchers_set(struct driver_watchers *w, const struct driver_inventory *v)
{
    struct report r;
    report_make(&r, w->pool, v);
    bool same = same_health(&w->report, &r);
    arena_fini(&w->report.arena);
    w->report = r;
    if (!same)
        tell_all(w);
}

struct driver_watchers *driver_watchers_new(struct net_loop *l, struct str pool)
{
    static const struct driver_inventory none;
    struct driver_watchers *w = mem_zalloc(sizeof *w);
    w->pool = pool;
    report_make(&w->report, pool, &none);
    w->again = net_timer_start(l, AGAIN_MS, AGAIN_MS, on_again, w);
    return w;
}

void driver_watchers_free(struct driver_watchers *w)
{
    if (!w)
        return;
    while (w->first) {
        struct watcher *x = w->first;
        w->first = x->next;
        free_watcher(x);
    }
    net_timer_stop(w->again);
    arena_fini(&w->report.arena);
    free(w);
}
