/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A socket that stands now (wanted) and the one that was registered under its path are
 * told apart by a number, new for every creation. Where the two differ, what was
 * registered goes first, then the new one is asked, one attempt at a time.
 */
#include <stdlib.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/vec.h"
#include "node/plugins_attempt.h"
#include "node/plugins_dir.h"
#include "node/plugins_inner.h"

enum {
    FIRST_PAUSE_MS = 500,
    LONGEST_PAUSE_MS = 122 * 1000, /* two minutes and two seconds, as kubelets */
};

struct socket {
    struct plugins *plugins;
    struct str path;
    struct plugins_attempt *attempt;
    struct net_timer *pause;
    uint64_t pause_ms;
    struct plugin *plugin; /* NULL: not registered */
};

struct driver {
    struct str name;
    VEC(struct plugin *) endpoints; /* in the order in which they came */
    bool connected;
};

struct plugins {
    struct net_loop *loop;
    struct plugins_ops ops;
    void *ctx;
    struct plugins_dir *dir;
    struct strmap sockets; /* path -> struct socket */
    struct strmap drivers; /* name -> struct driver */
};

static void say(struct plugins *p, const char *text)
{
    if (p->ops.log)
        p->ops.log(p->ctx, text);
}

/* ---- drivers ---- */

static struct plugin *best(const struct driver *d)
{
    for (size_t i = d->endpoints.n; i-- > 0;)
        if (plugin_connected(d->endpoints.v[i]))
            return d->endpoints.v[i];
    return d->endpoints.n > 0 ? d->endpoints.v[d->endpoints.n - 1] : NULL;
}

struct plugin *plugins_find(const struct plugins *p, struct str driver)
{
    struct strmap_entry *e = strmap_find(&p->drivers, driver);
    return e ? best(e->value.ptr) : NULL;
}

static void tell_reached(struct plugins *p, struct driver *d, bool always)
{
    struct plugin *b = best(d);
    bool connected = b && plugin_connected(b);
    if (connected == d->connected && !always)
        return;
    d->connected = connected;
    if (p->ops.reached)
        p->ops.reached(p->ctx, d->name, connected);
}

static void on_changed(void *ctx, struct plugin *x)
{
    struct plugins *p = ctx;
    struct strmap_entry *e = strmap_find(&p->drivers, plugin_driver(x));
    if (e)
        tell_reached(p, e->value.ptr, false);
}

static struct driver *find_driver(struct plugins *p, struct str name, bool *made)
{
    struct strmap_entry *e = strmap_find(&p->drivers, name);
    *made = !e;
    if (e)
        return e->value.ptr;
    struct driver *d = mem_zalloc(sizeof *d);
    d->name = (struct str){mem_dup(name.p, name.n), name.n};
    strmap_put(&p->drivers, d->name, NULL)->value.ptr = d;
    return d;
}

static void driver_free(struct driver *d)
{
    for (size_t i = 0; i < d->endpoints.n; i++)
        plugin_free(d->endpoints.v[i]);
    vec_release(&d->endpoints);
    free((char *)d->name.p);
    free(d);
}

/* No instance takes another one's endpoint over. */
static bool is_taken(const struct plugins *p, const struct plugin_info *info)
{
    struct strmap_entry *e = strmap_find(&p->drivers, str_from(info->name));
    const struct driver *d = e ? e->value.ptr : NULL;
    for (size_t i = 0; d && i < d->endpoints.n; i++)
        if (str_is(plugin_endpoint(d->endpoints.v[i]), info->endpoint))
            return true;
    return false;
}

static void add_plugin(struct socket *s, const struct plugin_info *info,
                       struct plugin_opts o)
{
    struct plugins *p = s->plugins;
    bool made;
    struct driver *d = find_driver(p, str_from(info->name), &made);
    o.driver = d->name;
    o.endpoint = str_from(info->endpoint);
    o.changed = on_changed;
    o.ctx = p;
    s->plugin = plugin_new(p->loop, &o);
    vec_push(&d->endpoints, s->plugin);
    if (p->ops.added)
        p->ops.added(p->ctx, s->plugin);
    tell_reached(p, d, made);
}

static void drop_endpoint(struct driver *d, const struct plugin *x)
{
    size_t i = 0;
    while (d->endpoints.v[i] != x)
        i++;
    for (d->endpoints.n--; i < d->endpoints.n; i++)
        d->endpoints.v[i] = d->endpoints.v[i + 1];
}

static void deregister(struct socket *s)
{
    struct plugins *p = s->plugins;
    struct plugin *x = s->plugin;
    if (!x)
        return;
    struct driver *d = strmap_find(&p->drivers, plugin_driver(x))->value.ptr;
    s->plugin = NULL;
    drop_endpoint(d, x);
    if (p->ops.removed)
        p->ops.removed(p->ctx, x);
    plugin_free(x);
    tell_reached(p, d, false);
    if (d->endpoints.n == 0) {
        strmap_remove(&p->drivers, d->name);
        driver_free(d);
    }
}

/* ---- attempts ---- */

static void start_attempt(void *ctx);

static bool take(void *ctx, const struct plugin_info *info, struct err *e)
{
    struct socket *s = ctx;
    struct plugin_opts o = {.driver = STR_NONE};
    struct err why = ERR_INIT;
    if (!plugin_services_choose(info->versions, info->nversions, &o.dra, &o.health,
                                &why)) {
        err_set(e, ERR_UNSUPPORTED,
                "plugin validation failed with err: invalid supported gRPC versions of "
                "DRA driver plugin %s at endpoint %s: %s",
                info->name, info->endpoint, err_text(&why));
        err_release(&why);
        return false;
    }
    if (is_taken(s->plugins, info))
        return err_set(e, ERR_INVALID,
                       "plugin registration failed with err: endpoint %s already "
                       "registered for DRA driver plugin %s",
                       info->endpoint, info->name);
    add_plugin(s, info, o);
    return true;
}

static void on_attempt_over(void *ctx, const struct err *why)
{
    struct socket *s = ctx;
    s->attempt = NULL;
    if (!why) {
        s->pause_ms = FIRST_PAUSE_MS;
        return;
    }
    say(s->plugins, err_text(why));
    deregister(s);
    s->pause = net_timer_start(s->plugins->loop, s->pause_ms, 0, start_attempt, s);
    s->pause_ms *= 2;
    if (s->pause_ms > LONGEST_PAUSE_MS)
        s->pause_ms = LONGEST_PAUSE_MS;
}

static void start_attempt(void *ctx)
{
    static const struct plugins_attempt_ops ops = {take, on_attempt_over};
    struct socket *s = ctx;
    s->pause = NULL;
    s->attempt = plugins_attempt_start(s->plugins->loop, s->path, &ops, s);
}

/* ---- sockets ---- */

static void stop_socket(struct socket *s)
{
    if (s->attempt)
        plugins_attempt_cancel(s->attempt);
    if (s->pause)
        net_timer_stop(s->pause);
    s->attempt = NULL;
    s->pause = NULL;
}

static struct socket *find_socket(struct plugins *p, struct str path)
{
    struct strmap_entry *e = strmap_find(&p->sockets, path);
    if (e)
        return e->value.ptr;
    struct socket *s = mem_zalloc(sizeof *s);
    *s = (struct socket){.plugins = p, .path = {mem_dup(path.p, path.n), path.n}};
    strmap_put(&p->sockets, s->path, NULL)->value.ptr = s;
    return s;
}

static void socket_free(struct socket *s)
{
    free((char *)s->path.p);
    free(s);
}

/* What stood there before is another's, and what it did wrong is not this one's. */
static void on_created(void *ctx, struct str path)
{
    struct socket *s = find_socket(ctx, path);
    stop_socket(s);
    deregister(s);
    s->pause_ms = FIRST_PAUSE_MS;
    start_attempt(s);
}

static void on_removed(void *ctx, struct str path)
{
    struct plugins *p = ctx;
    struct strmap_entry *e = strmap_find(&p->sockets, path);
    if (!e)
        return;
    struct socket *s = e->value.ptr;
    stop_socket(s);
    deregister(s);
    strmap_remove(&p->sockets, s->path);
    socket_free(s);
}

static void on_dir_log(void *ctx, const char *text)
{
    say(ctx, text);
}

/* ---- beginning and end ---- */

struct plugins *plugins_new(struct net_loop *l, const char *kubelet_dir,
                            const struct plugins_ops *ops, void *ctx, struct err *e)
{
    static const struct plugins_dir_ops dir_ops = {on_created, on_removed, on_dir_log};
    struct plugins *p = mem_zalloc(sizeof *p);
    struct strbuf path = STRBUF_INIT;
    *p = (struct plugins){.loop = l, .ops = *ops, .ctx = ctx};
    strbuf_addf(&path, "%s/plugins_registry", kubelet_dir);
    p->dir = plugins_dir_new(l, strbuf_cstr(&path), &dir_ops, p, e);
    strbuf_release(&path);
    if (p->dir)
        return p;
    plugins_free(p);
    return NULL;
}

void plugins_free(struct plugins *p)
{
    if (!p)
        return;
    plugins_dir_free(p->dir);
    strmap_each(&p->sockets, e)
    {
        stop_socket(e->value.ptr);
        socket_free(e->value.ptr);
    }
    strmap_each(&p->drivers, e) driver_free(e->value.ptr);
    strmap_release(&p->sockets);
    strmap_release(&p->drivers);
    free(p);
}
