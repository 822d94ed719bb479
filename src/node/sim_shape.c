/* SPDX-License-Identifier: Apache-2.0 */
#include "node/sim_shape.h"

#include <stdlib.h>

#include "base/mem.h"
#include "node/shapes.h"

struct sim_shape {
    struct arena arena;
    struct str name; /* of the captured node; every string is searched for it */
    struct doc node; /* null: not found yet */
    struct doc slices[SIM_SHAPE_MAX_SLICES];
    uint32_t nslices;
};

/* ---- those that come with dray ---- */

struct str sim_shape_shipped(struct str name)
{
    for (const struct shipped_shape *s = shipped_shapes; s->name; s++)
        if (str_is(name, s->name))
            return (struct str){s->text, s->size};
    return STR_NONE;
}

const char *sim_shape_names(void)
{
    return shipped_shape_names;
}

/* ---- reading ---- */

/* What of an object's metadata is the shape's; the rest was the captured cluster's. */
static struct doc keep_meta(const struct doc *object, struct arena *a)
{
    static const char *const KEPT[] = {"name", "labels", "annotations"};
    const struct doc *meta = doc_get(object, "metadata");
    struct doc out = doc_make_map();
    for (size_t i = 0; i < sizeof KEPT / sizeof *KEPT; i++)
        if (doc_get(meta, KEPT[i]))
            doc_set(a, &out, KEPT[i], *doc_get(meta, KEPT[i]));
    return out;
}

static struct doc keep(const struct doc *object, const char *part, struct arena *a)
{
    struct doc out = doc_make_map();
    doc_set_text(a, &out, "apiVersion", doc_get_text(object, "apiVersion"));
    doc_set_text(a, &out, "kind", doc_get_text(object, "kind"));
    doc_set(a, &out, "metadata", keep_meta(object, a));
    if (doc_get(object, part))
        doc_set(a, &out, part, *doc_get(object, part));
    return out;
}

static bool take_node(struct sim_shape *s, const struct doc *object, struct err *e)
{
    struct str name = doc_get_text(doc_get(object, "metadata"), "name");
    if (s->name.n)
        return err_set(e, ERR_INVALID, "two Nodes: a shape is of one");
    if (!name.n)
        return err_set(e, ERR_INVALID, "a Node without a name");
    s->name = name;
    s->node = keep(object, "status", &s->arena);
    return true;
}

static bool take_slice(struct sim_shape *s, const struct doc *object, struct err *e)
{
    if (s->nslices == SIM_SHAPE_MAX_SLICES)
        return err_set(e, ERR_LIMIT, "more than %d ResourceSlices", SIM_SHAPE_MAX_SLICES);
    if (!doc_get_text(doc_get(object, "metadata"), "name").n)
        return err_set(e, ERR_INVALID, "a ResourceSlice without a name");
    s->slices[s->nslices++] = keep(object, "spec", &s->arena);
    return true;
}

static bool take(struct sim_shape *s, const struct doc *object, struct err *e)
{
    const struct doc *kind = doc_get(object, "kind"), *items = doc_get(object, "items");
    if (doc_is_string(kind, "Node"))
        return take_node(s, object, e);
    if (doc_is_string(kind, "ResourceSlice"))
        return take_slice(s, object, e);
    if (!doc_is_string(kind, "List") || !items || items->type != DOC_LIST)
        return err_set(e, ERR_INVALID, "there is more than a Node and ResourceSlices");
    for (uint32_t i = 0; i < items->n; i++)
        if (!take(s, &items->items[i], e))
            return false;
    return true;
}

static bool check(const struct sim_shape *s, struct err *e)
{
    if (!s->name.n)
        return err_set(e, ERR_INVALID, "there is no Node");
    for (uint32_t i = 0; i < s->nslices; i++) {
        struct str node = doc_get_text(doc_get(&s->slices[i], "spec"), "nodeName");
        if (!str_eq(node, s->name))
            return err_set(e, ERR_INVALID,
                           "a ResourceSlice with nodeName \"%.*s\"; the Node is \"%.*s\"",
                           STR_ARG(node), STR_ARG(s->name));
    }
    return true;
}

static bool read_all(struct sim_shape *s, const char *source, struct str yaml,
                     struct err *e)
{
    struct doc_source src = {.name = source, .text = arena_str(&s->arena, yaml)};
    struct doc_list docs;
    if (!doc_read(&src, &s->arena, &docs, e))
        return false;
    for (size_t i = 0; i < docs.n; i++)
        if (!take(s, &docs.v[i], e))
            return err_wrap(e, "%s", source);
    return check(s, e) || err_wrap(e, "%s", source);
}

struct sim_shape *sim_shape_read(const char *source, struct str yaml, struct err *e)
{
    if (yaml.n > SIM_SHAPE_MAX_BYTES) {
        err_set(e, ERR_LIMIT, "%s: more than %d bytes", source, SIM_SHAPE_MAX_BYTES);
        return NULL;
    }
    struct sim_shape *s = mem_zalloc(sizeof *s);
    arena_init(&s->arena);
    if (read_all(s, source, yaml, e))
        return s;
    sim_shape_free(s);
    return NULL;
}

void sim_shape_free(struct sim_shape *s)
{
    if (!s)
        return;
    arena_fini(&s->arena);
    free(s);
}

/* ---- a node's own copy ---- */

struct copying {
    struct arena *a;
    struct str from, to;
};

static bool is_alnum(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Whether s[at, at + n) is a word of its own. */
static bool is_word(struct str s, size_t at, size_t n)
{
    return (at == 0 || !is_alnum(s.p[at - 1])) &&
           (at + n == s.n || !is_alnum(s.p[at + n]));
}

static struct str rename_text(const struct copying *c, struct str s)
{
    struct strbuf out = STRBUF_INIT;
    size_t done = 0, found = str_find(s, c->from);
    if (found == SIZE_MAX)
        return arena_str(c->a, s);
    while (found != SIZE_MAX) {
        size_t at = done + found, end = at + c->from.n;
        strbuf_addstr(&out, str_sub(s, done, at));
        strbuf_addstr(&out, is_word(s, at, c->from.n) ? c->to : c->from);
        done = end;
        found = str_find(str_sub(s, done, s.n), c->from);
    }
    strbuf_addstr(&out, str_sub(s, done, s.n));
    struct str renamed = arena_str(c->a, strbuf_str(&out));
    strbuf_release(&out);
    return renamed;
}

/* Its hexadecimal digits are others on every node, and the same again next time. */
static struct str other_uuid(const struct copying *c, struct str s)
{
    static const char DIGITS[] = "0123456789abcdef";
    uint64_t bits = str_hash(c->to) ^ str_hash(s);
    char *p = mem_dup(s.p, s.n);
    for (size_t i = 0; i < s.n; i++) {
        bits = bits * 6364136223846793005u + 1442695040888963407u;
        if (str_hex_digit(p[i]) >= 0 && (i > 3 || s.p[0] != 'G'))
            p[i] = DIGITS[bits >> 60];
    }
    struct str out = arena_str(c->a, (struct str){p, s.n});
    free(p);
    return out;
}

static struct doc copy(const struct copying *c, const struct doc *d);

static bool is_uuid(struct str key, const struct doc *value)
{
    struct str word = str_sub(key, str_rfind_byte(key, '/') + 1, key.n);
    return str_is(word, "uuid") && doc_get_text(value, "string").n;
}

static struct doc copy_member(const struct copying *c, const struct doc_member *m)
{
    struct doc value = copy(c, &m->value);
    if (is_uuid(doc_key(m), &m->value))
        doc_set_text(c->a, &value, "string",
                     other_uuid(c, doc_get_text(&m->value, "string")));
    return value;
}

static struct doc copy(const struct copying *c, const struct doc *d)
{
    struct doc out;
    switch (d->type) {
    case DOC_STRING:
        return doc_make_string(c->a, rename_text(c, doc_str(d)));
    case DOC_LIST:
        out = doc_make_list();
        for (uint32_t i = 0; i < d->n; i++)
            doc_append(c->a, &out, copy(c, &d->items[i]));
        return out;
    case DOC_MAP:
        out = doc_make_map();
        for (uint32_t i = 0; i < d->n; i++)
            doc_set_str(c->a, &out, doc_key(&d->members[i]),
                        copy_member(c, &d->members[i]));
        return out;
    default:
        return doc_dup(c->a, d);
    }
}

struct doc sim_shape_node(const struct sim_shape *s, struct str name, struct arena *a)
{
    struct copying c = {a, s->name, name};
    return copy(&c, &s->node);
}

uint32_t sim_shape_nslices(const struct sim_shape *s)
{
    return s->nslices;
}

struct doc sim_shape_slice(const struct sim_shape *s, uint32_t i, struct str name,
                           struct arena *a)
{
    struct copying c = {a, s->name, name};
    return copy(&c, &s->slices[i]);
}
