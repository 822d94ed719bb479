/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/vec.h"
#include "doc/source.h"
#include "doc/yaml_doc.h"
#include "doc/yaml_text.h"

/* What a value costs once its aliases are written out. */
struct extent {
    uint64_t nodes;
    uint32_t height; /* 0 for a scalar */
};

struct anchor {
    struct doc value;
    struct extent extent;
    bool open; /* its value is being read */
};

struct yaml_parse {
    struct yaml_events events;
    struct anchor *anchors;
    size_t nanchors, anchors_cap;
    struct strmap names;  /* of anchors, to the last one so called */
    struct arena strings; /* these names */
    uint64_t nodes, aliased;
    unsigned flow; /* how many [] and {} are open */
};

#define fail(r, pos, ...) source_fail((r)->src, (pos), (r)->err, __VA_ARGS__)

static uint32_t event_pos(struct yaml_reader *r)
{
    return yaml_events_pos(&r->parse->events);
}

/* ---- Anchors and aliases ---- */

static struct str event_anchor(const yaml_event_t *ev)
{
    switch (ev->type) {
    case YAML_SCALAR_EVENT:
        return str_from((const char *)ev->data.scalar.anchor);
    case YAML_SEQUENCE_START_EVENT:
        return str_from((const char *)ev->data.sequence_start.anchor);
    case YAML_MAPPING_START_EVENT:
        return str_from((const char *)ev->data.mapping_start.anchor);
    case YAML_ALIAS_EVENT:
        return str_from((const char *)ev->data.alias.anchor);
    default:
        return STR_NONE;
    }
}

/* Index of a new anchor for the value that the event starts; SIZE_MAX if it has none. */
static size_t open_anchor(struct yaml_parse *p)
{
    struct str name = event_anchor(&p->events.event);
    bool made;
    if (!name.p)
        return SIZE_MAX;
    if (p->nanchors == p->anchors_cap) {
        p->anchors_cap = p->anchors_cap ? 2 * p->anchors_cap : 8;
        p->anchors = mem_resize(p->anchors, p->anchors_cap, sizeof *p->anchors);
    }
    p->anchors[p->nanchors] = (struct anchor){.open = true};
    struct str key = arena_str(&p->strings, name);
    strmap_put(&p->names, key, &made)->value.u = p->nanchors;
    return p->nanchors++;
}

static void close_anchor(struct yaml_parse *p, size_t anchor, const struct doc *value,
                         struct extent extent)
{
    if (anchor != SIZE_MAX)
        p->anchors[anchor] = (struct anchor){*value, extent, false};
}

/* How much of a document may come from aliases: nearly all of a small one, a tenth of a
 * large one. These are the limits of kubectl's library. */
static bool too_many_aliases(uint64_t aliased, uint64_t nodes)
{
    const double low = 400000, high = 4000000;
    if (aliased <= 100 || nodes <= 1000)
        return false;
    double n = (double)nodes, allowed = 0.99;
    if (n >= high)
        allowed = 0.10;
    else if (n > low)
        allowed = 0.99 - 0.89 * ((n - low) / (high - low));
    return (double)aliased / n > allowed;
}

/* The value that an alias stands for. Its parts are shared, not copied. */
static bool read_alias(struct yaml_reader *r, const struct build_frame *up,
                       struct doc *out, struct extent *extent)
{
    struct yaml_parse *p = r->parse;
    struct str name = event_anchor(&p->events.event);
    uint32_t pos = event_pos(r);
    const struct strmap_entry *found = strmap_find(&p->names, name);
    if (!found)
        return fail(r, pos, "no anchor is called '%.*s' up to here", STR_ARG(name));
    const struct anchor *a = &p->anchors[found->value.u];
    if (a->open)
        return fail(r, pos, "the value of anchor '%.*s' contains itself", STR_ARG(name));
    p->nodes += 1 + a->extent.nodes;
    p->aliased += a->extent.nodes;
    if (too_many_aliases(p->aliased, p->nodes))
        return fail(r, pos, "aliases blow this document up too far");
    if ((up ? up->depth : 0) + a->extent.height > DOC_MAX_DEPTH)
        return fail(r, pos, "lists and maps are nested more than %d deep", DOC_MAX_DEPTH);
    *out = a->value;
    *extent = (struct extent){1 + a->extent.nodes, a->extent.height};
    return true;
}

/* ---- Keys ---- */

static struct yaml_text text_of(struct yaml_reader *r)
{
    return (struct yaml_text){&r->parse->events, r->build->arena, r->parse->flow > 0};
}

static bool alias_key(struct yaml_reader *r, struct str *key)
{
    struct doc d;
    struct extent extent = {0};
    if (!read_alias(r, NULL, &d, &extent))
        return false;
    switch ((enum doc_type)d.type) {
    case DOC_STRING:
    case DOC_NUMBER:
        *key = doc_str(&d);
        return true;
    case DOC_BOOL:
        *key = d.b ? STR("true") : STR("false");
        return true;
    default:
        return fail(r, event_pos(r), "a key must not be %s",
                    d.type == DOC_NULL ? "null" : "a list or a map");
    }
}

static bool read_key(struct yaml_reader *r, struct str *key)
{
    struct yaml_parse *p = r->parse;
    if (p->events.event.type == YAML_ALIAS_EVENT)
        return alias_key(r, key);
    if (p->events.event.type != YAML_SCALAR_EVENT)
        return fail(r, event_pos(r), "a key must not be a list or a map");
    struct yaml_text text = text_of(r);
    size_t anchor = open_anchor(p);
    p->nodes++;
    if (!yaml_text_key(&text, key))
        return false;
    if (anchor != SIZE_MAX) {
        struct doc d;
        if (!yaml_text_value(&text, &d))
            return false;
        close_anchor(p, anchor, &d, (struct extent){1, 0});
    }
    return true;
}

/* ---- Lists and maps ---- */

static bool read_value(struct yaml_reader *r, const struct build_frame *up,
                       struct doc *out, struct extent *extent);

static void grow(struct extent *whole, struct extent part)
{
    whole->nodes += part.nodes;
    if (part.height >= whole->height)
        whole->height = part.height + 1;
}

static bool read_sequence(struct yaml_reader *r, const struct build_frame *up,
                          struct doc *out, struct extent *extent)
{
    size_t from = r->build->npending;
    uint32_t pos = event_pos(r);
    struct doc_member m = {0};
    struct build_frame here = build_frame(up, NULL);
    struct extent part = {0};
    for (;; here.index++) {
        if (!yaml_events_next(&r->parse->events))
            return false;
        if (r->parse->events.event.type == YAML_SEQUENCE_END_EVENT)
            break;
        if (!read_value(r, &here, &m.value, &part))
            return false;
        grow(extent, part);
        build_push(r->build, &m);
    }
    *out = build_list(r->build, from, pos);
    return true;
}

/* Members that came by a merge carry this in value.spare until their map ends. */
enum { MERGED = 1 };

static void push_merged(struct yaml_reader *r, const struct doc *map)
{
    for (uint32_t i = 0; i < map->n; i++) {
        struct doc_member m = map->members[i];
        m.value.spare = MERGED;
        build_push(r->build, &m);
    }
}

/* One map to merge, the event being its start or an alias of it. */
static bool read_merged_map(struct yaml_reader *r, const struct build_frame *up,
                            struct doc *out, struct extent *extent)
{
    uint32_t pos = event_pos(r);
    yaml_event_type_t type = r->parse->events.event.type;
    if (type != YAML_MAPPING_START_EVENT && type != YAML_ALIAS_EVENT)
        return fail(r, pos, "<< needs a map or a list of maps");
    if (!read_value(r, up, out, extent))
        return false;
    if (out->type != DOC_MAP)
        return fail(r, pos, "<< needs a map or a list of maps");
    return true;
}

/* The earlier map of a list wins: so they are merged from the end. */
static bool read_merged_list(struct yaml_reader *r, const struct build_frame *up,
                             struct extent *extent)
{
    VEC(struct doc) maps = {0};
    bool ok;
    while ((ok = yaml_events_next(&r->parse->events)) &&
           r->parse->events.event.type != YAML_SEQUENCE_END_EVENT) {
        struct doc map;
        struct extent part = {0};
        ok = read_merged_map(r, up, &map, &part);
        if (!ok)
            break;
        grow(extent, part);
        vec_push(&maps, map);
    }
    while (ok && maps.n)
        push_merged(r, &maps.v[--maps.n]);
    vec_release(&maps);
    return ok;
}

/* The value of a << key. */
static bool read_merge(struct yaml_reader *r, const struct build_frame *up,
                       struct extent *extent)
{
    struct doc map;
    struct extent part = {0};
    if (!yaml_events_next(&r->parse->events))
        return false;
    if (r->parse->events.event.type == YAML_SEQUENCE_START_EVENT)
        return read_merged_list(r, up, extent);
    if (!read_merged_map(r, up, &map, &part))
        return false;
    grow(extent, part);
    push_merged(r, &map);
    return true;
}

static bool is_merge_key(const yaml_event_t *ev)
{
    if (ev->type != YAML_SCALAR_EVENT || ev->data.scalar.length != 2 ||
        memcmp(ev->data.scalar.value, "<<", 2) != 0)
        return false;
    const char *tag = (const char *)ev->data.scalar.tag;
    return ev->data.scalar.plain_implicit ||
           (tag && strcmp(tag, "tag:yaml.org,2002:merge") == 0);
}

/* Of members with the same key the last one stays, and each other one that was written
 * if the last one was: these are duplicates to report. */
static void settle_key(struct doc_member **v, size_t n)
{
    const struct doc_member *last = v[n - 1];
    for (size_t i = 0; i + 1 < n; i++)
        if (v[i]->value.spare == MERGED || last->value.spare == MERGED)
            v[i]->key = NULL;
}

static void settle_merges(struct build *b, size_t from)
{
    size_t n = b->npending - from, kept = from;
    struct doc_member **v = mem_array(n, sizeof *v);
    for (size_t i = 0; i < n; i++)
        v[i] = &b->pending[from + i];
    build_sort_members((const struct doc_member **)v, n);
    for (size_t i = 0, end; i < n; i = end) {
        end = i + 1;
        while (end < n && str_eq(doc_key(v[end]), doc_key(v[i])))
            end++;
        settle_key(v + i, end - i);
    }
    free(v);
    for (size_t i = from; i < b->npending; i++)
        if (b->pending[i].key)
            b->pending[kept++] = b->pending[i];
    b->npending = kept;
    for (size_t i = from; i < kept; i++)
        b->pending[i].value.spare = 0;
}

static bool read_member(struct yaml_reader *r, struct build_frame *here,
                        struct doc_member *m, struct extent *extent)
{
    struct str key = STR_NONE;
    struct extent part = {0};
    *m = (struct doc_member){.key_pos = event_pos(r)};
    if (!read_key(r, &key))
        return false;
    m->key = key.p;
    m->key_len = (uint32_t)key.n;
    if (!yaml_events_next(&r->parse->events) || !read_value(r, here, &m->value, &part))
        return false;
    grow(extent, part);
    extent->nodes++;
    build_push(r->build, m);
    return true;
}

static bool read_mapping(struct yaml_reader *r, const struct build_frame *up,
                         struct doc *out, struct extent *extent)
{
    size_t from = r->build->npending;
    uint32_t pos = event_pos(r);
    struct doc_member m = {.key = ""};
    struct build_frame here = build_frame(up, &m);
    bool merged = false;
    for (;;) {
        if (!yaml_events_next(&r->parse->events))
            return false;
        if (r->parse->events.event.type == YAML_MAPPING_END_EVENT)
            break;
        bool merge = is_merge_key(&r->parse->events.event);
        if (merge ? !read_merge(r, up, extent) : !read_member(r, &here, &m, extent))
            return false;
        merged = merged || merge;
    }
    if (merged)
        settle_merges(r->build, from);
    *out = build_map(r->build, from, pos, up);
    return true;
}

static bool is_flow(const yaml_event_t *ev)
{
    return (ev->type == YAML_SEQUENCE_START_EVENT &&
            ev->data.sequence_start.style == YAML_FLOW_SEQUENCE_STYLE) ||
           (ev->type == YAML_MAPPING_START_EVENT &&
            ev->data.mapping_start.style == YAML_FLOW_MAPPING_STYLE);
}

static bool read_value(struct yaml_reader *r, const struct build_frame *up,
                       struct doc *out, struct extent *extent)
{
    struct yaml_parse *p = r->parse;
    yaml_event_type_t type = p->events.event.type;
    if (type == YAML_ALIAS_EVENT)
        return read_alias(r, up, out, extent);
    if (type != YAML_SCALAR_EVENT && up && up->depth >= DOC_MAX_DEPTH)
        return fail(r, event_pos(r), "lists and maps are nested more than %d deep",
                    DOC_MAX_DEPTH);
    struct yaml_text text = text_of(r);
    size_t anchor = open_anchor(p);
    bool flow = is_flow(&p->events.event);
    *extent = (struct extent){1, 0};
    p->nodes++;
    p->flow += flow;
    bool ok = type == YAML_SCALAR_EVENT           ? yaml_text_value(&text, out)
              : type == YAML_SEQUENCE_START_EVENT ? read_sequence(r, up, out, extent)
                                                  : read_mapping(r, up, out, extent);
    p->flow -= flow;
    if (ok)
        close_anchor(p, anchor, out, *extent);
    return ok;
}

/* ---- Documents ---- */

static void forget_anchors(struct yaml_parse *p)
{
    p->nanchors = 0;
    p->nodes = 1;
    p->aliased = p->flow = 0;
    strmap_clear(&p->names);
    arena_reset(&p->strings);
}

/* The one document of a piece; *some is false when there is none. */
static bool read_piece(struct yaml_reader *r, struct doc *out, bool *some)
{
    struct yaml_events *ev = &r->parse->events;
    struct extent extent = {0};
    *some = false;
    forget_anchors(r->parse);
    if (!yaml_events_next(ev) || !yaml_events_next(ev)) /* the stream's start */
        return false;
    if (ev->event.type == YAML_STREAM_END_EVENT)
        return true;
    if (!yaml_events_next(ev) || !read_value(r, NULL, out, &extent) ||
        !yaml_events_end(ev))
        return false;
    *some = out->type != DOC_NULL;
    return true;
}

bool yaml_reader_next(struct yaml_reader *r, struct doc *out, bool *more)
{
    bool some = false;
    while (!some) {
        if (!yaml_events_piece(&r->parse->events, more))
            return false;
        if (!*more)
            return true;
        if (!read_piece(r, out, &some))
            return false;
    }
    return true;
}

bool yaml_reader_init(struct yaml_reader *r, const struct doc_source *src, size_t from,
                      struct build *b, struct err *e)
{
    *r = (struct yaml_reader){.src = src, .build = b, .err = e};
    r->parse = mem_zalloc(sizeof *r->parse);
    strmap_init(&r->parse->names);
    arena_init(&r->parse->strings);
    b->npending = 0;
    if (yaml_events_init(&r->parse->events, src, from, e))
        return true;
    yaml_reader_fini(r);
    return false;
}

void yaml_reader_fini(struct yaml_reader *r)
{
    yaml_events_fini(&r->parse->events);
    free(r->parse->anchors);
    strmap_release(&r->parse->names);
    arena_fini(&r->parse->strings);
    free(r->parse);
}
