/* SPDX-License-Identifier: Apache-2.0 */
#include "driver/driver.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/names.h"
#include "driver/discover.h"
#include "driver/lock.h"
#include "driver/plugin.h"
#include "node/disk.h"

enum {
    DISCOVER_MS = 10 * 1000,
    SETTLE_MS = 200, /* devices that come together are found together */
    MAX_DRIVER_NAME = 63,
};

struct found { /* of one discovery */
    struct arena arena;
    struct driver_inventory v;
};

struct driver {
    struct driver_opts opts;
    struct net_loop *loop;
    struct driver_backend *backend;
    struct arena arena;
    struct str data_dir;
    struct driver_sockets sockets;
    struct driver_worker *worker;
    struct driver_prepare *prepare;
    struct driver_publish *publish;
    struct driver_calls *calls;
    struct driver_watchers *watchers;
    struct driver_plugin *plugin; /* NULL: it does not serve yet */

    struct net_timer *due;        /* NULL: a discovery is on the worker */
    struct net_readable *changed; /* NULL: none, or it has been seen */
    struct found *found, *next;   /* next: of the discovery on the worker */
    bool published;
    struct err err;           /* of the worker's job */
    bool fresh;               /* its discovery has worked */
    bool recovered;           /* one before has */
    struct strbuf complaints; /* of prepare, that nobody was told of yet: lines */
    uint64_t discoveries, discovery_failures;
};

static void say(const struct driver *d, const char *text)
{
    if (d->opts.log)
        d->opts.log(d->opts.log_ctx, text);
}

static void say_err(const struct driver *d, const char *what, struct err *e)
{
    struct strbuf line = {0};
    strbuf_addf(&line, "%s: %s", what, err_text(e));
    say(d, strbuf_cstr(&line));
    strbuf_release(&line);
    err_release(e);
}

static void found_free(struct found *f)
{
    if (!f)
        return;
    arena_fini(&f->arena);
    free(f);
}

/* ---- discovery ---- */

static void note_complaints(struct driver *d)
{
    for (const char *line; (line = driver_prepare_complaint(d->prepare));)
        strbuf_addf(&d->complaints, "%s\n", line);
}

static void say_complaints(struct driver *d)
{
    struct str rest = strbuf_str(&d->complaints), line;
    struct arena a = {0};
    while (str_split_next(&rest, '\n', &line))
        say(d, arena_str(&a, line).p);
    strbuf_clear(&d->complaints);
    arena_fini(&a);
}

/* Claims know their devices by what was found; what could not be looked for is not gone,
 * so the first discovery that works is what they are recovered by. */
static void take_inventory(struct driver *d)
{
    int lock = driver_lock_take(d->data_dir, &d->err);
    d->fresh = lock >= 0;
    if (!d->fresh)
        return;
    driver_prepare_inventory(d->prepare, &d->next->v);
    if (!d->recovered)
        d->recovered = driver_prepare_recover(d->prepare, &d->err);
    driver_lock_give(lock);
}

/* On the worker. What was found before stays until something else is. */
static void discover(void *ctx)
{
    struct driver *d = ctx;
    d->next = mem_zalloc(sizeof *d->next);
    d->fresh =
        d->backend->ops->discover(d->backend, &d->next->arena, &d->next->v, &d->err);
    if (d->fresh)
        take_inventory(d);
    note_complaints(d);
}

static void start_discovery(void *ctx);

static void on_changed(void *ctx)
{
    struct driver *d = ctx;
    d->changed = NULL;
    if (!d->due)
        return;
    net_timer_stop(d->due);
    d->due = net_timer_start(d->loop, SETTLE_MS, 0, start_discovery, d);
}

static void wait_for_change(struct driver *d)
{
    int fd = d->backend->ops->watch ? d->backend->ops->watch(d->backend) : -1;
    d->due = net_timer_start(d->loop, d->opts.discover_ms, 0, start_discovery, d);
    if (fd >= 0 && !d->changed)
        d->changed = net_readable_start(d->loop, fd, on_changed, d);
}

/* How many there are, whenever that differs. */
static void say_count(const struct driver *d)
{
    uint32_t n = d->next->v.ndevices;
    char line[64];
    if (d->published && d->found->v.ndevices == n)
        return;
    snprintf(line, sizeof line, "%u device%s %s found", n, n == 1 ? "" : "s",
             n == 1 ? "is" : "are");
    say(d, n ? line : "no device is found: nothing is offered");
}

static void take_found(struct driver *d)
{
    bool news =
        d->fresh && (!d->published || !driver_inventory_same(&d->found->v, &d->next->v));
    if (news)
        say_count(d);
    found_free(d->found);
    d->found = d->next;
    d->next = NULL;
    if (!news)
        return;
    d->published = true;
    driver_publish_set(d->publish, &d->found->v);
    driver_watchers_set(d->watchers, &d->found->v);
}

static void end_discovery(struct driver *d)
{
    d->discoveries++;
    if (d->fresh || !d->found)
        take_found(d);
    found_free(d->next);
    d->next = NULL;
    say_complaints(d);
    if (d->err.code != ERR_NONE) {
        d->discovery_failures++;
        say_err(d, "discovery", &d->err);
    }
    wait_for_change(d);
}

/* Without anything to look at it was not begun: the driver goes down. */
static void on_discovered(void *ctx)
{
    const struct driver *d = ctx;
    if (d->next)
        end_discovery(ctx);
}

static void start_discovery(void *ctx)
{
    struct driver *d = ctx;
    d->due = NULL;
    driver_worker_do(d->worker, discover, on_discovered, d);
}

/* ---- the start ---- */

static bool serve(struct driver *d, struct err *e)
{
    struct driver_plugin_opts opts = {.driver = d->opts.driver,
                                      .sockets = d->sockets,
                                      .calls = d->calls,
                                      .watchers = d->watchers,
                                      .log = d->opts.log,
                                      .log_ctx = d->opts.log_ctx};
    d->plugin = driver_plugin_new(d->loop, &opts, e);
    return d->plugin != NULL;
}

static void on_discovered_first(void *ctx)
{
    struct driver *d = ctx;
    struct err e = ERR_INIT;
    if (!d->next)
        return;
    end_discovery(d);
    if (serve(d, &e))
        return;
    say_err(d, "serving the kubelet", &e);
    if (d->opts.failed)
        d->opts.failed(d->opts.failed_ctx);
}

static bool make_dirs(struct driver *d, struct err *e)
{
    struct str registry =
        arena_printf(&d->arena, "%.*s/plugins_registry", STR_ARG(d->opts.kubelet_dir));
    return disk_make_dirs(d->data_dir.p, e) && disk_make_dirs(registry.p, e);
}

static bool open_prepare(struct driver *d, struct err *e)
{
    struct driver_prepare_opts opts = {
        .driver = d->opts.driver,
        .node = d->opts.node,
        .data_dir = d->data_dir,
        .cdi_dir = d->opts.cdi_dir,
        .metadata_versions = d->opts.metadata_versions,
        .nmetadata_versions = d->opts.nmetadata_versions,
    };
    int lock = driver_lock_take(d->data_dir, e);
    if (lock < 0)
        return false;
    d->prepare = driver_prepare_new(&opts, d->backend, e);
    driver_lock_give(lock);
    return d->prepare != NULL;
}

static void make_parts(struct driver *d, struct client *c)
{
    struct driver_publish_opts publish = {.driver = d->opts.driver,
                                          .node = d->opts.node,
                                          .log = d->opts.log,
                                          .log_ctx = d->opts.log_ctx};
    d->worker = driver_worker_new(d->loop);
    struct driver_calls_opts calls = {.client = c,
                                      .worker = d->worker,
                                      .prepare = d->prepare,
                                      .lock_dir = d->data_dir,
                                      .log = d->opts.log,
                                      .log_ctx = d->opts.log_ctx};
    d->publish = driver_publish_new(c, &publish);
    d->calls = driver_calls_new(&calls);
    d->watchers = driver_watchers_new(d->loop, d->opts.node);
}

/* They become parts of paths, and of objects that a server would refuse each time. */
static bool check_names(const struct driver_opts *o, struct err *e)
{
    if (o->driver.n > MAX_DRIVER_NAME || !name_valid(NAME_DNS1123_SUBDOMAIN, o->driver))
        return err_set(e, ERR_INVALID, "\"%.*s\" is no driver's name",
                       STR_ARG(o->driver));
    if (!name_valid(NAME_DNS1123_SUBDOMAIN, o->node))
        return err_set(e, ERR_INVALID, "\"%.*s\" is no node's name", STR_ARG(o->node));
    if (str_find_byte(o->instance, '/', 0) != SIZE_MAX)
        return err_set(e, ERR_INVALID, "\"%.*s\" is no pod's UID", STR_ARG(o->instance));
    return true;
}

/* Others read the paths: a kubelet, a container runtime. */
static bool check_dir(struct str dir, struct err *e)
{
    return str_starts(dir, STR("/")) ||
           err_set(e, ERR_INVALID, "%.*s: the path must be whole, from /", STR_ARG(dir));
}

static bool start(struct driver *d, struct client *c, struct err *e)
{
    if (!check_names(&d->opts, e) || !check_dir(d->opts.kubelet_dir, e) ||
        !check_dir(d->opts.cdi_dir, e) ||
        !driver_sockets_name(d->opts.driver, d->opts.kubelet_dir, d->opts.instance,
                             &d->arena, &d->sockets, e) ||
        /* Before what the other one keeps is judged by what is found here. */
        !driver_sockets_unused(&d->sockets, e) || !make_dirs(d, e) || !open_prepare(d, e))
        return false;
    make_parts(d, c);
    driver_worker_do(d->worker, discover, on_discovered_first, d);
    return true;
}

struct driver *driver_new(struct client *c, struct driver_backend *b,
                          const struct driver_opts *o, struct err *e)
{
    struct driver *d = mem_zalloc(sizeof *d);
    d->opts = *o;
    d->opts.discover_ms = o->discover_ms ? o->discover_ms : DISCOVER_MS;
    d->loop = client_loop(c);
    d->backend = b;
    d->data_dir = driver_data_dir(o->driver, o->kubelet_dir, &d->arena);
    if (start(d, c, e))
        return d;
    driver_free(d);
    return NULL;
}

/* ---- the end ---- */

static void stop_parts(struct driver *d)
{
    driver_calls_close(d->calls);
    driver_worker_free(d->worker);
    driver_calls_free(d->calls);
    driver_watchers_free(d->watchers);
    driver_publish_free(d->publish);
    net_timer_stop(d->due);
    net_readable_stop(d->changed);
}

void driver_free(struct driver *d)
{
    if (!d)
        return;
    if (d->worker)
        stop_parts(d);
    driver_plugin_free(d->plugin);
    if (d->prepare)
        driver_prepare_free(d->prepare);
    driver_backend_free(d->backend);
    found_free(d->found);
    found_free(d->next);
    err_release(&d->err);
    strbuf_release(&d->complaints);
    arena_fini(&d->arena);
    free(d);
}

struct driver_state driver_state(const struct driver *d)
{
    return (struct driver_state){
        .serving = d->plugin != NULL,
        .registered = d->plugin && driver_plugin_registered(d->plugin),
        .publish = driver_publish_status(d->publish),
        .calls = driver_calls_count(d->calls),
        .discoveries = d->discoveries,
        .discovery_failures = d->discovery_failures,
    };
}
