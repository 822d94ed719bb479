/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sources of any kind, read as kubectl reads them. A text that starts like JSON is a
 * series of JSON values; when the first or second of these is broken, the rest may still
 * be YAML (JSON with a comment or a trailing comma, or objects with --- between them).
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "doc/json.h"
#include "doc/source.h"
#include "doc/yaml_doc.h"

/* What is done with each value. Both read into build, and say whether to go on. */
struct sink {
    bool (*json)(struct sink *s, struct json_reader *r); /* reads one value itself */
    bool (*yaml)(struct sink *s, const struct doc *d);
    struct doc_source *src;
    struct err *err; /* never NULL */
    struct build build;
    /* The last failure came from behind the sink, or something of the broken value went
     * there: no second attempt. */
    bool final;
};

static bool is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool starts_like_json(struct str text)
{
    size_t i = 0;
    while (i < text.n && is_blank(text.p[i]))
        i++;
    return i < text.n && text.p[i] == '{';
}

/* Over white space, at most to the next line: there a --- may stand. */
static size_t skip_blanks(struct str text, size_t i)
{
    while (i < text.n && is_blank(text.p[i]))
        if (text.p[i++] == '\n')
            break;
    return i;
}

/* Reads values until the end or an error; *good counts them and *end is behind the last
 * one. */
static bool json_values(struct sink *s, unsigned *good, uint32_t *end)
{
    struct json_reader r;
    if (!json_reader_init(&r, s->src, &s->build, s->err))
        return false;
    json_reader_begin(&r);
    bool ok = true;
    while (ok && !json_reader_done(&r)) {
        size_t ndups = s->build.ndups;
        s->final = false;
        ok = s->json(s, &r);
        if (ok) {
            ++*good;
            *end = r.last + 1;
        } else {
            s->build.ndups = ndups;
        }
    }
    json_reader_fini(&r);
    return ok;
}

static bool yaml_documents(struct sink *s, uint32_t from, unsigned *good)
{
    struct yaml_reader r;
    struct doc d;
    bool more = true;
    if (!yaml_reader_init(&r, s->src, from, &s->build, s->err))
        return false;
    bool ok = yaml_reader_next(&r, &d, &more);
    for (; ok && more; ok = ok && yaml_reader_next(&r, &d, &more)) {
        ++*good;
        ok = s->yaml(s, &d);
    }
    yaml_reader_fini(&r);
    return ok;
}

static bool read_source(struct sink *s)
{
    unsigned good = 0, documents = 0;
    uint32_t end = 0;
    if (!starts_like_json(s->src->text))
        return yaml_documents(s, 0, &documents);
    if (json_values(s, &good, &end))
        return true;
    if (s->final || good > 1)
        return false;
    end = (uint32_t)skip_blanks(s->src->text, end);
    /* The JSON reader's message is the better one unless some of it is YAML. */
    struct err json = *s->err;
    *s->err = (struct err)ERR_INIT;
    bool ok = yaml_documents(s, end, &documents);
    if (!ok && documents == 0) {
        struct err yaml = *s->err;
        *s->err = json;
        json = yaml;
    }
    err_release(&json);
    return ok;
}

/* ---- Whole documents ---- */

struct collector {
    struct sink sink;
    struct doc_list list;
    size_t cap;
};

static bool collect(struct sink *s, const struct doc *d)
{
    struct collector *c = (struct collector *)s;
    if (c->list.n == c->cap) {
        c->cap = c->cap ? 2 * c->cap : 8;
        c->list.v = mem_resize(c->list.v, c->cap, sizeof *c->list.v);
    }
    c->list.v[c->list.n++] = *d;
    return true;
}

static bool collect_json(struct sink *s, struct json_reader *r)
{
    struct doc d;
    return json_reader_value(r, &d) && (d.type == DOC_NULL || collect(s, &d));
}

static bool yaml_only(struct sink *s)
{
    unsigned documents = 0;
    return yaml_documents(s, 0, &documents);
}

static bool read_list(struct doc_source *src, struct arena *a, struct doc_list *out,
                      struct err *e, bool (*read)(struct sink *s))
{
    struct err mine = ERR_INIT;
    struct collector c = {
        .sink = {
            .json = collect_json, .yaml = collect, .src = src, .err = e ? e : &mine}};
    build_begin(&c.sink.build, a);
    bool ok = read(&c.sink);
    if (ok) {
        build_dups(&c.sink.build, src);
        *out = (struct doc_list){.n = c.list.n};
        if (c.list.n) {
            out->v = ARENA_ARRAY(a, struct doc, c.list.n);
            memcpy(out->v, c.list.v, c.list.n * sizeof *c.list.v);
        }
    }
    free(c.list.v);
    build_fini(&c.sink.build);
    err_release(&mine);
    return ok;
}

bool doc_read_yaml(struct doc_source *src, struct arena *a, struct doc_list *out,
                   struct err *e)
{
    return read_list(src, a, out, e, yaml_only);
}

bool doc_read(struct doc_source *src, struct arena *a, struct doc_list *out,
              struct err *e)
{
    return read_list(src, a, out, e, read_source);
}

/* ---- Objects one by one ---- */

struct stream {
    struct sink sink;
    doc_each_fn *each;
    void *ctx;
    struct arena object; /* of the object that is shown */
    struct arena head;   /* of the List that it is an item of */
};

/* What the items of a List inherit when they do not say it themselves, as in the lists of
 * an API server. */
struct list_head {
    struct str kind; /* of the list */
    struct str api_version;
    bool later; /* the kind is behind the items, which can do without it */
};

static const struct str list_suffix = {"List", 4};

static bool is_list_kind(struct str kind)
{
    return kind.p && str_ends(kind, list_suffix);
}

static void inherit(struct arena *a, const struct list_head *h, struct doc *item)
{
    if (item->type != DOC_MAP || !h->kind.p || doc_get_text(item, "kind").n)
        return;
    struct str kind = str_sub(h->kind, 0, h->kind.n - list_suffix.n);
    if (kind.n == 0)
        return;
    doc_set(a, item, "kind", doc_make_string(a, kind));
    if (h->api_version.p)
        doc_set(a, item, "apiVersion", doc_make_string(a, h->api_version));
}

/* Of the duplicates in a List those of one item, their paths from there on. */
static void select_dups(struct stream *s, const struct doc_source *list, uint32_t index)
{
    struct doc_source *src = s->sink.src;
    char prefix[32];
    size_t n = (size_t)snprintf(prefix, sizeof prefix, "items[%u].", index);
    struct doc_dup_key *v = ARENA_ARRAY(&s->object, struct doc_dup_key, list->ndups);
    src->dups = v;
    src->ndups = 0;
    for (size_t i = 0; i < list->ndups; i++)
        if (strncmp(list->dups[i].path, prefix, n) == 0)
            v[src->ndups++] =
                (struct doc_dup_key){list->dups[i].path + n, list->dups[i].pos};
}

/* Shows one object, or the items of a List that was read as a whole. */
static bool show(struct stream *s, const struct doc *d)
{
    const struct doc *items = doc_get(d, "items");
    struct list_head h = {.kind = doc_get_text(d, "kind"),
                          .api_version = doc_get_text(d, "apiVersion")};
    /* Go writes a list without items as null. */
    if (!is_list_kind(h.kind) || !items ||
        (items->type != DOC_LIST && items->type != DOC_NULL)) {
        s->sink.final = true;
        return s->each(s->ctx, s->sink.src, d, s->sink.err);
    }
    struct doc_source list = *s->sink.src;
    for (uint32_t i = 0; items->type == DOC_LIST && i < items->n; i++) {
        struct doc item = items->items[i];
        inherit(&s->object, &h, &item);
        if (list.ndups)
            select_dups(s, &list, i);
        if (!show(s, &item))
            return false;
    }
    return true;
}

static bool show_yaml(struct sink *sink, const struct doc *d)
{
    struct stream *s = (struct stream *)sink;
    build_dups(&sink->build, sink->src);
    bool ok = show(s, d);
    arena_reset(&s->object);
    build_begin(&sink->build, &s->object);
    return ok;
}

static void begin_object(struct stream *s, struct json_reader *r)
{
    arena_reset(&s->object);
    build_begin(&s->sink.build, &s->object);
    json_reader_begin(r);
}

static bool show_value(struct stream *s, struct json_reader *r, const struct list_head *h)
{
    struct doc d;
    begin_object(s, r);
    if (!json_reader_value(r, &d))
        return false;
    if (h)
        inherit(&s->object, h, &d);
    else if (d.type == DOC_NULL)
        return true;
    build_dups(&s->sink.build, s->sink.src);
    return show(s, &d);
}

static bool text_value(struct stream *s, struct json_reader *r, struct str *out)
{
    struct doc d;
    if (json_reader_peek(r) != '"' || !json_reader_value(r, &d))
        return false;
    *out = arena_str(&s->head, doc_str(&d));
    return true;
}

static bool says_what_it_is(struct json_reader *r)
{
    unsigned said = 0;
    bool more = true;
    struct str key;
    uint32_t pos;
    if (json_reader_peek(r) != '{')
        return false;
    for (json_reader_take(r); more && said < 2;) {
        if (!json_reader_key(r, &key, &pos))
            return false;
        said += json_reader_peek(r) == '"' &&
                (str_is(key, "kind") || str_is(key, "apiVersion"));
        json_reader_skip(r);
        if (!json_reader_more(r, '}', &more))
            return false;
    }
    return said == 2;
}

/* Whether the first item of the list ahead says kind and apiVersion. */
static bool items_are_objects(struct stream *s, struct json_reader *r)
{
    struct json_mark start = json_reader_mark(r);
    json_reader_take(r);
    bool objects = says_what_it_is(r);
    json_reader_back(r, start);
    err_release(s->sink.err);
    return objects;
}

/* One member of the head; false when there is no more to learn. */
static bool head_member(struct stream *s, struct json_reader *r, struct list_head *h,
                        bool *items)
{
    struct str key;
    uint32_t pos;
    if (!json_reader_key(r, &key, &pos) || json_reader_done(r))
        return false;
    if (str_is(key, "kind"))
        return text_value(s, r, &h->kind);
    if (str_is(key, "apiVersion"))
        return text_value(s, r, &h->api_version);
    if (str_is(key, "items")) {
        *items = json_reader_peek(r) == '[';
        h->later = *items && !h->kind.p && items_are_objects(s, r);
        if (h->later || (h->kind.p && h->api_version.p))
            return false;
    }
    json_reader_skip(r);
    return true;
}

/* Whether the value ahead is a List, and what its head says. Kubectl writes the items
 * before the kind, so this has to look behind them unless they say what they are; it
 * reads as little as it can. What is no JSON may pass: reading it properly will tell. */
static bool find_head(struct stream *s, struct json_reader *r, struct list_head *h)
{
    bool items = false, more = true;
    *h = (struct list_head){.kind = STR_NONE, .api_version = STR_NONE};
    if (json_reader_peek(r) != '{')
        return false;
    struct json_mark start = json_reader_mark(r);
    json_reader_take(r);
    begin_object(s, r);
    while (more && head_member(s, r, h, &items) && json_reader_more(r, '}', &more))
        ;
    json_reader_back(r, start);
    return items && (h->later || is_list_kind(h->kind));
}

static bool show_items(struct stream *s, struct json_reader *r, const struct list_head *h)
{
    bool more = true;
    json_reader_take(r);
    if (json_reader_peek(r) == ']') {
        json_reader_take(r);
        return true;
    }
    while (more)
        if (!show_value(s, r, h) || !json_reader_more(r, ']', &more))
            return false;
    return true;
}

/* A member of a List besides its items. */
static bool list_member(struct json_reader *r, struct str key, struct list_head *h)
{
    struct doc d;
    bool kind = str_is(key, "kind");
    if (!json_reader_value(r, &d))
        return false;
    if (kind && h->later && is_list_kind(doc_str(&d)))
        h->later = false;
    return true;
}

static bool show_list(struct stream *s, struct json_reader *r, struct list_head *h)
{
    bool more = true, items = false;
    struct str key;
    uint32_t pos, start = json_reader_take(r);
    while (more) {
        begin_object(s, r);
        if (!json_reader_key(r, &key, &pos))
            return false;
        bool ok;
        if (!str_is(key, "items") || json_reader_peek(r) != '[')
            ok = list_member(r, key, h);
        else if (items)
            ok = source_fail(s->sink.src, pos, s->sink.err, "a List has items twice");
        else
            ok = items = show_items(s, r, h);
        if (!ok || !json_reader_more(r, '}', &more))
            return false;
    }
    return !h->later || source_fail(s->sink.src, start, s->sink.err,
                                    "this has items as a List has them, but no kind "
                                    "that ends in List");
}

static bool show_json(struct sink *sink, struct json_reader *r)
{
    struct stream *s = (struct stream *)sink;
    struct list_head h;
    arena_reset(&s->head);
    if (find_head(s, r, &h))
        return show_list(s, r, &h);
    err_release(sink->err);
    return show_value(s, r, NULL);
}

bool doc_stream(struct doc_source *src, doc_each_fn *each, void *ctx, struct err *e)
{
    struct err mine = ERR_INIT;
    struct stream s = {
        .sink = {.json = show_json, .yaml = show_yaml, .src = src, .err = e ? e : &mine},
        .each = each,
        .ctx = ctx,
    };
    arena_init(&s.object);
    arena_init(&s.head);
    build_begin(&s.sink.build, &s.object);
    bool ok = read_source(&s.sink);
    src->dups = NULL; /* they went with their object */
    src->ndups = 0;
    arena_fini(&s.object);
    arena_fini(&s.head);
    build_fini(&s.sink.build);
    err_release(&mine);
    return ok;
}
