/* SPDX-License-Identifier: Apache-2.0 */
#include "client/object.h"

#include <stdlib.h>

#include "base/mem.h"
#include "client/object_pool.h"

/* Of an object with its document; of one that has texts and a view alone. */
enum { CHUNK = 1024, SMALL_CHUNK = 256 };

void object_arena_init(struct arena *a)
{
    arena_init(a);
    a->chunk_size = CHUNK;
}

static struct object *object_new(void)
{
    struct object *o = mem_zalloc(sizeof *o);
    o->refs = 1;
    object_arena_init(&o->arena);
    return o;
}

struct object *object_ref(struct object *o)
{
    __atomic_add_fetch(&o->refs, 1, __ATOMIC_RELAXED);
    return o;
}

void object_free(struct object *o)
{
    struct object *plain = o->plain;
    arena_fini(&o->arena);
    free(o);
    object_unref(plain);
}

void object_unref(struct object *o)
{
    if (o && o->pool)
        object_pool_unref(o->pool, o);
    else if (o && __atomic_sub_fetch(&o->refs, 1, __ATOMIC_ACQ_REL) == 0)
        object_free(o);
}

/* A text of the document, copied if that is not kept. */
static struct str text_of(struct object *o, const struct doc *meta, const char *name)
{
    struct str s = doc_get_text(meta, name);
    return o->doc && s.n ? s : arena_str(&o->arena, s);
}

static bool read_meta(struct object *o, const struct doc *d, struct err *e)
{
    const struct doc *meta = doc_get(d, "metadata");
    struct arena *a = &o->arena;
    o->namespace = text_of(o, meta, "namespace");
    o->name = text_of(o, meta, "name");
    o->uid = text_of(o, meta, "uid");
    o->version = text_of(o, meta, "resourceVersion");
    o->key = o->namespace.n
                 ? arena_printf(a, "%.*s/%.*s", STR_ARG(o->namespace), STR_ARG(o->name))
                 : o->name;
    return o->name.n || err_set(e, ERR_INVALID, "an object without metadata.name");
}

static bool make_view(struct object *o, const struct doc *d,
                      const struct object_opts *opts, struct err *e)
{
    if (opts->view_with)
        o->view = opts->view_with(opts->with, d, &o->arena, e);
    else if (opts->view)
        o->view = opts->view(d, &o->arena, e);
    return o->view || !(opts->view || opts->view_with);
}

/* d lies in the object's arena when it is kept. */
static bool fill(struct object *o, const struct doc *d, const struct object_opts *opts,
                 struct err *e)
{
    if (!opts->drop_doc) {
        struct doc *own = ARENA_NEW(&o->arena, struct doc);
        *own = *d;
        o->doc = own;
    }
    return read_meta(o, d, e) && make_view(o, o->doc ? o->doc : d, opts, e);
}

struct object *object_take(struct arena *a, const struct doc *d,
                           const struct object_opts *opts, struct err *e)
{
    struct object *o = object_new();
    if (!opts->drop_doc) {
        o->arena = *a;
        object_arena_init(a);
    }
    if (fill(o, d, opts, e))
        return o;
    object_unref(o);
    return NULL;
}

struct object *object_of_doc(const struct doc *d, const struct object_opts *opts,
                             struct err *e)
{
    struct arena a;
    object_arena_init(&a);
    struct doc copy = opts->drop_doc ? *d : doc_dup(&a, d);
    struct object *o = object_take(&a, &copy, opts, e);
    arena_fini(&a);
    return o;
}

struct object *object_of_json(struct str json, const struct object_opts *opts,
                              struct err *e)
{
    struct doc_source src = {.name = "object", .text = json};
    struct arena a;
    struct doc d;
    object_arena_init(&a);
    bool ok = doc_read_json(&src, &a, &d, e);
    struct object *o = ok ? object_take(&a, &d, opts, e) : NULL;
    arena_fini(&a);
    return o;
}

/* Its texts are the plain one's. */
static void share(struct object *o, struct object *plain)
{
    o->plain = object_ref(plain);
    o->doc = plain->doc;
    o->key = plain->key;
    o->namespace = plain->namespace;
    o->name = plain->name;
    o->uid = plain->uid;
    o->version = plain->version;
}

struct object *object_of_plain(struct object *plain, const struct object_opts *opts,
                               struct err *e)
{
    struct object *o = object_new();
    bool ok;
    o->arena.chunk_size = SMALL_CHUNK;
    if (opts->drop_doc) {
        ok = fill(o, plain->doc, opts, e);
    } else {
        share(o, plain);
        ok = make_view(o, o->doc, opts, e);
    }
    if (ok)
        return o;
    object_unref(o);
    return NULL;
}
