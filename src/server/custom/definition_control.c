/* SPDX-License-Identifier: Apache-2.0 */
/* What has to happen to definitions, one after another: two that want one name never both
 * get it. */
#include <stdlib.h>
#include <time.h>

#include "api/canonical.h"
#include "api/order.h"
#include "api/timestamp.h"
#include "server/custom/custom.h"
#include "server/custom/definition.h"
#include "server/discovery/apiservices.h"

enum { RETRY_MS = 1000 };

struct creation { /* whose answer waits */
    struct creation *next;
    struct write *w;
};

struct definitions {
    struct server *s;
    struct strmap dirty; /* names that are to be looked at */
    struct arena names;  /* of them */
    bool writing, over;
    struct str name; /* that is written */
    struct arena scratch;
    struct net_timer *timer; /* of the next round; NULL: none is due */
    struct creation *creations;
};

static void round_begins(void *ctx);

static struct definitions *control_of(struct server *s)
{
    if (!s->definitions) {
        s->definitions = mem_zalloc(sizeof *s->definitions);
        s->definitions->s = s;
    }
    return s->definitions;
}

static void begin_in(struct definitions *c, uint64_t ms)
{
    if (!c->timer && !c->writing && !c->s->ending)
        c->timer = net_timer_start(c->s->loop, ms, 0, round_begins, c);
}

static void mark(struct definitions *c, struct str name)
{
    bool made;
    if (!strmap_find(&c->dirty, name))
        strmap_put(&c->dirty, arena_str(&c->names, name), &made);
}

static void mark_waiting(void *ctx, struct str name)
{
    mark(ctx, name);
}

/* ---- answers ---- */

static void answer(struct write *w)
{
    struct request *r = w->r;
    api_canonical(r->res->hub->type, &w->object, r->a);
    api_order_object(&w->object, r->a);
    request_answer(r, w->code, &w->object);
}

static void answer_all(struct definitions *c, struct str name)
{
    struct creation **link = &c->creations;
    while (*link) {
        struct write *w = (*link)->w;
        if (!name.p || str_eq(w->name, name)) {
            *link = (*link)->next;
            answer(w);
        } else {
            link = &(*link)->next;
        }
    }
}

void definition_created(struct write *w, bool ok)
{
    if (!ok) {
        request_answer_failure(w->r);
        return;
    }
    if (w->r->dry_run || w->r->s->ending) {
        answer(w);
        return;
    }
    struct definitions *c = control_of(w->r->s);
    struct creation *n = ARENA_NEW(w->r->a, struct creation);
    *n = (struct creation){c->creations, w};
    c->creations = n;
    mark(c, w->name);
    begin_in(c, 0);
}

/* ---- one after another ---- */

static void drop(struct definitions *c)
{
    strmap_release(&c->dirty);
    arena_fini(&c->names);
    arena_fini(&c->scratch);
    free(c);
}

static void written(void *ctx, enum store_answer answer, uint64_t revision,
                    const struct err *e)
{
    struct definitions *c = ctx;
    bool failed = answer == STORE_FAILED;
    c->writing = false;
    if (c->over) {
        drop(c);
        return;
    }
    mark(c, c->name); /* it is looked at once more */
    begin_in(c, failed ? RETRY_MS : 0);
    if (failed)
        answer_all(c, c->name);
}

static void write_out(struct definitions *c, struct cache_object *o,
                      const struct doc *definition)
{
    struct strbuf b = STRBUF_INIT;
    object_encode(definition, &b);
    c->name = arena_str(&c->names, o->name);
    c->writing = true;
    struct store_write w = {.key = arena_str(&c->names, o->key),
                            .value = strbuf_str(&b),
                            .expect = o->revision,
                            .done = written,
                            .ctx = c};
    store_submit(c->s->store, &w);
    strbuf_release(&b);
}

/* false: there is nothing to do about it. */
static bool settle(struct definitions *c, struct str name)
{
    struct arena *a = &c->scratch;
    struct str now = timestamp_print(time(NULL), 0, false, a);
    struct cache_object *o =
        cache_get(c->s->cache, object_key(definitions_resource(c->s), STR_NONE, name, a));
    if (!o)
        return false;
    struct doc d = object_doc(o, a);
    if (meta_text(&d, "deletionTimestamp").n || !definition_settle(c->s, &d, now, a))
        return false;
    write_out(c, o, &d);
    return true;
}

/* STR_NONE: none is left. */
static struct str take_dirty(struct definitions *c)
{
    strmap_each(&c->dirty, e)
    {
        struct str name = e->key;
        strmap_remove(&c->dirty, name);
        return name;
    }
    return STR_NONE;
}

static void round_begins(void *ctx)
{
    struct definitions *c = ctx;
    struct str name;
    c->timer = NULL;
    while (!c->writing && (name = take_dirty(c)).p) {
        if (!settle(c, name))
            answer_all(c, name);
        arena_reset(&c->scratch);
    }
    if (!c->writing) {
        strmap_clear(&c->dirty);
        arena_reset(&c->names);
    }
}

void definition_changed(struct server *s, struct str name, const struct doc *definition,
                        bool gone)
{
    if (s->ending)
        return;
    struct definitions *c = control_of(s);
    struct str group = doc_get_text(doc_get(definition, "spec"), "group");
    mark(c, name);
    customs_each_conflict(s, group, mark_waiting, c);
    if (!gone && definition_waits_cleanup(definition))
        cleanup_begin(s, name, definition);
    begin_in(c, 0);
}

void definitions_end(struct server *s)
{
    struct definitions *c = s->definitions;
    cleanup_end_all(s);
    apiservices_end(s);
    if (!c)
        return;
    s->definitions = NULL;
    if (c->timer)
        net_timer_stop(c->timer);
    answer_all(c, STR_NONE);
    c->timer = NULL;
    c->over = true;
    if (!c->writing)
        drop(c);
}
