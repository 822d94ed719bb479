/* SPDX-License-Identifier: Apache-2.0 */
#include "node/health_table.h"

#include <stdlib.h>

#include "base/map.h"
#include "base/mem.h"

enum { TIMEOUT_S = 30, MAX_MESSAGE = 1024, CUT_MESSAGE = 1021 };
static const int64_t SECOND_NS = 1000000000;

struct device {
    struct arena arena;
    struct str key; /* "POOL/DEVICE" */
    struct checkpoint_report is;
    int64_t heard_ms;         /* before the machine started: below zero */
    uint64_t report, changed; /* numbers of reports: the last one, the last change */
};

struct driver {
    struct arena arena;
    struct str name;
    struct strmap devices; /* key -> struct device */
    struct strmap gone;    /* keys that the last report took away as changed */
    struct arena gone_arena;
    uint64_t report;
};

struct health_table {
    struct strmap drivers; /* name -> struct driver */
};

static void device_free(struct device *d)
{
    arena_fini(&d->arena);
    free(d);
}

static void driver_free(struct driver *d)
{
    strmap_each(&d->devices, e) device_free(e->value.ptr);
    strmap_release(&d->devices);
    strmap_release(&d->gone);
    arena_fini(&d->gone_arena);
    arena_fini(&d->arena);
    free(d);
}

static struct str key_of(struct str pool, struct str device, struct arena *a)
{
    return arena_printf(a, "%.*s/%.*s", STR_ARG(pool), STR_ARG(device));
}

static struct driver *find_driver(const struct health_table *t, struct str name)
{
    struct strmap_entry *e = strmap_find(&t->drivers, name);
    return e ? e->value.ptr : NULL;
}

static struct driver *make_driver(struct health_table *t, struct str name)
{
    struct driver *d = find_driver(t, name);
    if (d)
        return d;
    d = mem_zalloc(sizeof *d);
    d->name = arena_str(&d->arena, name);
    strmap_put(&t->drivers, d->name, NULL)->value.ptr = d;
    return d;
}

static struct device *find_device(const struct driver *d, struct str pool,
                                  struct str device)
{
    struct arena a = {0};
    struct strmap_entry *e = strmap_find(&d->devices, key_of(pool, device, &a));
    arena_fini(&a);
    return e ? e->value.ptr : NULL;
}

static bool is_old(const struct device *x, const struct health_now *now)
{
    return (int64_t)now->mono_ms - x->heard_ms > x->is.timeout_ns / (SECOND_NS / 1000);
}

/* ---- a report ---- */

static int64_t timeout_of(const struct health_said *s)
{
    int64_t max = INT64_MAX / SECOND_NS;
    int64_t seconds = s->timeout_s > 0 ? s->timeout_s : (int64_t)TIMEOUT_S;
    return (seconds < max ? seconds : max) * SECOND_NS;
}

/* Cut between characters; a kubelet would cut into one. */
static struct str cut_message(struct str s, struct arena *a)
{
    if (s.n <= MAX_MESSAGE)
        return s;
    size_t n = CUT_MESSAGE;
    while (n > 0 && ((unsigned char)s.p[n] & 0xc0) == 0x80)
        n--;
    return arena_printf(a, "%.*s...", (int)n, s.p);
}

static bool is_same(const struct device *x, const struct health_said *s,
                    struct str message)
{
    return x->is.health == s->health && x->is.timeout_ns == timeout_of(s) &&
           str_eq(x->is.message, message);
}

static struct device *make_device(struct driver *d, struct str pool, struct str device)
{
    struct device *x = mem_zalloc(sizeof *x);
    x->key = key_of(pool, device, &x->arena);
    x->is.driver = d->name;
    x->is.pool = str_sub(x->key, 0, pool.n);
    x->is.device = str_sub(x->key, pool.n + 1, x->key.n);
    strmap_put(&d->devices, x->key, NULL)->value.ptr = x;
    return x;
}

/* In memory of its own: messages change as often as the driver likes. */
static struct device *set_message(struct driver *d, struct device *x, struct str message)
{
    struct device *now = mem_zalloc(sizeof *now);
    *now = (struct device){.heard_ms = x->heard_ms};
    now->key = arena_str(&now->arena, x->key);
    now->is = x->is;
    now->is.pool = str_sub(now->key, 0, x->is.pool.n);
    now->is.device = str_sub(now->key, x->is.pool.n + 1, now->key.n);
    now->is.message = arena_str(&now->arena, message);
    strmap_remove(&d->devices, x->key);
    device_free(x);
    strmap_put(&d->devices, now->key, NULL)->value.ptr = now;
    return now;
}

static void hear(struct device *x, const struct health_said *s,
                 const struct health_now *now)
{
    x->is.health = s->health;
    x->is.timeout_ns = timeout_of(s);
    x->is.updated_s = now->unix_s;
    x->is.updated_ns = now->unix_ns;
    x->heard_ms = (int64_t)now->mono_ms;
}

/* True: it is otherwise than before. */
static bool take_device(struct driver *d, const struct health_said *s,
                        const struct health_now *now)
{
    struct arena a = {0};
    struct str message = cut_message(s->message, &a);
    struct device *x = find_device(d, s->pool, s->device);
    bool is_new = !x, changed = false;
    if (is_new && d->devices.live < HEALTH_MAX_DEVICES)
        x = make_device(d, s->pool, s->device);
    if (x) {
        changed = is_new || !is_same(x, s, message);
        if (!str_eq(x->is.message, message))
            x = set_message(d, x, message);
        hear(x, s, now);
        x->report = d->report;
        x->changed = changed ? d->report : x->changed;
    }
    arena_fini(&a);
    return changed;
}

static bool drop_old(struct driver *d, const struct health_now *now)
{
    bool dropped = false;
    strmap_each(&d->devices, e)
    {
        struct device *x = e->value.ptr;
        if (x->report == d->report || !is_old(x, now))
            continue;
        if (x->is.health != CHECKPOINT_UNKNOWN)
            strmap_put(&d->gone, arena_str(&d->gone_arena, x->key), NULL);
        strmap_remove(&d->devices, x->key);
        device_free(x);
        dropped = true;
    }
    return dropped;
}

bool health_table_report(struct health_table *t, struct str driver,
                         const struct health_said *v, uint32_t n,
                         const struct health_now *now)
{
    struct driver *d = make_driver(t, driver);
    bool changed = false;
    d->report++;
    strmap_clear(&d->gone);
    arena_reset(&d->gone_arena);
    for (uint32_t i = 0; i < n; i++)
        changed = take_device(d, &v[i], now) || changed;
    return drop_old(d, now) || changed;
}

bool health_table_has_changed(const struct health_table *t, struct str driver,
                              struct str pool, struct str device)
{
    const struct driver *d = find_driver(t, driver);
    if (!d)
        return false;
    const struct device *x = find_device(d, pool, device);
    if (x)
        return x->changed == d->report;
    struct arena a = {0};
    bool gone = strmap_find(&d->gone, key_of(pool, device, &a)) != NULL;
    arena_fini(&a);
    return gone;
}

void health_table_drop(struct health_table *t, struct str driver)
{
    struct driver *d = find_driver(t, driver);
    if (!d)
        return;
    strmap_remove(&t->drivers, d->name);
    driver_free(d);
}

struct health_is health_table_get(const struct health_table *t, struct str driver,
                                  struct str pool, struct str device,
                                  const struct health_now *now)
{
    const struct driver *d = find_driver(t, driver);
    const struct device *x = d ? find_device(d, pool, device) : NULL;
    if (!x || is_old(x, now))
        return (struct health_is){CHECKPOINT_UNKNOWN, STR("")};
    return (struct health_is){x->is.health, x->is.message};
}

/* ---- the file ---- */

struct checkpoint_reports health_table_list(const struct health_table *t, struct arena *a)
{
    uint32_t n = 0;
    strmap_each(&t->drivers, e) n += ((struct driver *)e->value.ptr)->devices.live;
    struct checkpoint_report *v = ARENA_ARRAY(a, struct checkpoint_report, n + 1);
    n = 0;
    strmap_each(&t->drivers, e)
    {
        const struct driver *d = e->value.ptr;
        strmap_each(&d->devices, x) v[n++] = ((struct device *)x->value.ptr)->is;
    }
    return (struct checkpoint_reports){v, n};
}

/* By the clock on the wall, which may go back: never in the future. */
static int64_t heard_at(const struct checkpoint_report *r, const struct health_now *now)
{
    int64_t ago_s = now->unix_s - r->updated_s, most_s = INT64_MAX / 4000;
    ago_s = ago_s < 0 ? 0 : ago_s > most_s ? most_s : ago_s;
    return (int64_t)now->mono_ms - ago_s * 1000;
}

void health_table_take(struct health_table *t, const struct checkpoint_reports *r,
                       const struct health_now *now)
{
    for (uint32_t i = 0; i < r->n; i++) {
        const struct checkpoint_report *x = &r->v[i];
        struct driver *d = make_driver(t, x->driver);
        struct health_said s = {.pool = x->pool,
                                .device = x->device,
                                .message = x->message,
                                .health = x->health,
                                .timeout_s = x->timeout_ns / SECOND_NS};
        take_device(d, &s, now);
        struct device *kept = find_device(d, x->pool, x->device);
        if (!kept)
            continue;
        kept->is.updated_s = x->updated_s;
        kept->is.updated_ns = x->updated_ns;
        kept->heard_ms = heard_at(x, now);
    }
}

struct health_table *health_table_new(void)
{
    return mem_zalloc(sizeof(struct health_table));
}

void health_table_free(struct health_table *t)
{
    strmap_each(&t->drivers, e) driver_free(e->value.ptr);
    strmap_release(&t->drivers);
    free(t);
}
