/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kubectl cuts a stream into documents at lines that start with ---, gives every line a
 * line feed at its end, and reads one YAML document from each piece. So does this.
 */
#include "doc/yaml_doc.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <yaml.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "base/vec.h"
#include "doc/source.h"

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
    yaml_parser_t parser;
    yaml_event_t event;
    bool have_event;
    /* The piece of the text that is parsed, and how much of it the parser has. */
    size_t from, to, fed;
    bool fed_newline;
    /* A mark counts characters: the byte offset of one of them. */
    size_t mark_index, mark_offset;
    struct anchor *anchors;
    size_t nanchors, anchors_cap;
    struct strmap names;  /* of anchors, to the last one so called */
    struct arena strings; /* these names */
    uint64_t nodes, aliased;
    unsigned flow; /* how many [] and {} are open */
};

#define fail(r, pos, ...) source_fail((r)->src, (pos), (r)->err, __VA_ARGS__)

/* ---- Cutting the stream ---- */

static size_t line_end(struct str t, size_t i)
{
    size_t nl = str_find_byte(t, '\n', i);
    return nl == SIZE_MAX ? t.n : nl + 1;
}

/* Behind --- only a comment may follow. */
static bool check_separator(struct yaml_reader *r, size_t from, size_t to)
{
    struct str rest = str_sub(r->src->text, from, to), text = str_trim(rest);
    if (text.n == 0 || text.p[0] == '#')
        return true;
    return fail(r, (uint32_t)(text.p - r->src->text.p),
                "only a comment may follow --- on its line");
}

static bool next_piece(struct yaml_reader *r, bool *more)
{
    struct yaml_parse *p = r->parse;
    struct str t = r->src->text;
    size_t start = r->next, i = start;
    *more = start < t.n;
    while (i < t.n) {
        size_t end = line_end(t, i);
        if (str_starts(str_sub(t, i, end), STR("---"))) {
            if (!check_separator(r, i + 3, end))
                return false;
            if (i > start) {
                p->from = start;
                p->to = i;
                r->next = end;
                return true;
            }
        }
        i = end;
    }
    p->from = start;
    p->to = r->next = t.n;
    return true;
}

static int feed(void *ctx, unsigned char *buffer, size_t size, size_t *used)
{
    struct yaml_reader *r = ctx;
    struct yaml_parse *p = r->parse;
    const char *text = r->src->text.p;
    size_t n = p->to - p->fed;
    *used = n < size ? n : size;
    memcpy(buffer, text + p->fed, *used);
    p->fed += *used;
    if (*used == 0 && !p->fed_newline && size > 0) {
        p->fed_newline = true;
        if (p->to > p->from && text[p->to - 1] != '\n') {
            buffer[0] = '\n';
            *used = 1;
        }
    }
    return 1;
}

/* ---- Places and errors ---- */

static size_t step_forward(struct str t, size_t i)
{
    uint32_t cp;
    unsigned len = utf8_decode(t, i, &cp);
    return i + (len ? len : 1);
}

static size_t step_back(struct str t, size_t i)
{
    do
        i--;
    while (i > 0 && ((unsigned char)t.p[i] & 0xc0) == 0x80);
    return i;
}

static uint32_t offset_of(struct yaml_reader *r, const yaml_mark_t *mark)
{
    struct yaml_parse *p = r->parse;
    struct str t = r->src->text;
    while (p->mark_index < mark->index && p->mark_offset < p->to) {
        p->mark_offset = step_forward(t, p->mark_offset);
        p->mark_index++;
    }
    while (p->mark_index > mark->index && p->mark_offset > p->from) {
        p->mark_offset = step_back(t, p->mark_offset);
        p->mark_index--;
    }
    return (uint32_t)p->mark_offset;
}

static uint32_t event_pos(struct yaml_reader *r)
{
    return offset_of(r, &r->parse->event.start_mark);
}

static bool starts_with_directive(struct yaml_reader *r)
{
    struct str piece = str_sub(r->src->text, r->parse->from, r->parse->to);
    for (size_t i = 0; i < piece.n; i = line_end(piece, i)) {
        char c = piece.p[i];
        if (c == '%')
            return true;
        if (c != '#' && c != '\n' && c != '\r' && c != ' ')
            return false;
    }
    return false;
}

static bool fail_reader(struct yaml_reader *r)
{
    const yaml_parser_t *y = &r->parse->parser;
    uint32_t pos = (uint32_t)(r->parse->from + y->problem_offset);
    if (y->problem_value != -1)
        return fail(r, pos, "%s (0x%02X)", y->problem, (unsigned)y->problem_value);
    return fail(r, pos, "%s", y->problem);
}

/* kubectl would stop here in silence. */
static bool fail_ended(struct yaml_reader *r, uint32_t pos)
{
    return fail(r, pos,
                "the document ends before this: is it indented like the rest, or is a "
                "line --- missing?");
}

/* libyaml's own words, with what helps in the usual cases. */
static bool fail_parse(struct yaml_reader *r)
{
    const yaml_parser_t *y = &r->parse->parser;
    if (y->error == YAML_MEMORY_ERROR)
        return err_set(r->err, ERR_LIMIT, "%s: too little memory", r->src->name);
    if (y->error == YAML_READER_ERROR)
        return fail_reader(r);
    uint32_t pos = offset_of(r, &y->problem_mark);
    struct str t = r->src->text;
    if (starts_with_directive(r))
        return fail(r, (uint32_t)r->parse->from,
                    "kubectl reads no directives (lines that start with %%)");
    if (str_is(str_from(y->problem), "did not find expected <document start>"))
        return fail_ended(r, pos);
    if (pos < t.n && t.p[pos] == '\t')
        return fail(r, pos, "%s: a tab cannot indent; use spaces", y->problem);
    if (!y->context)
        return fail(r, pos, "%s", y->problem);
    uint32_t start = offset_of(r, &y->context_mark);
    return fail(r, pos, "%s %s that starts in line %u", y->problem, y->context,
                doc_place(r->src, start).line);
}

/* ---- Events ---- */

static void drop_event(struct yaml_parse *p)
{
    if (p->have_event)
        yaml_event_delete(&p->event);
    p->have_event = false;
}

/* The next event into r->parse->event. */
static bool advance(struct yaml_reader *r)
{
    struct yaml_parse *p = r->parse;
    drop_event(p);
    if (!yaml_parser_parse(&p->parser, &p->event))
        return fail_parse(r);
    p->have_event = true;
    return true;
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
    struct str name = event_anchor(&p->event);
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
    struct str name = event_anchor(&p->event);
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

/* ---- Scalars ---- */

/* Tags of scalars that change their meaning. */
enum scalar_tag {
    TAG_NONE,
    TAG_STR,
    TAG_BOOL,
    TAG_INT,
    TAG_FLOAT,
    TAG_NULL,
    TAG_TIME,
    TAG_BINARY,
    TAG_OTHER
};

static enum scalar_tag scalar_tag(const char *tag)
{
    static const char *const names[] = {
        [TAG_STR] = "str",       [TAG_BOOL] = "bool", [TAG_INT] = "int",
        [TAG_FLOAT] = "float",   [TAG_NULL] = "null", [TAG_TIME] = "timestamp",
        [TAG_BINARY] = "binary",
    };
    struct str s = str_from(tag), prefix = STR("tag:yaml.org,2002:");
    if (s.n == 0)
        return TAG_NONE;
    if (str_starts(s, prefix))
        for (int t = TAG_STR; t <= TAG_BINARY; t++)
            if (str_is(str_sub(s, prefix.n, s.n), names[t]))
                return (enum scalar_tag)t;
    return TAG_OTHER;
}

static bool tag_allows(enum scalar_tag tag, struct yaml_value *v)
{
    switch (tag) {
    case TAG_BOOL:
        return v->kind == YAML_BOOL;
    case TAG_INT:
        return v->kind == YAML_INT;
    case TAG_NULL:
        return v->kind == YAML_NULL;
    case TAG_TIME:
        return v->kind == YAML_TIME;
    case TAG_FLOAT:
        if (v->kind == YAML_INT && v->u <= (uint64_t)INT64_MAX + v->minus) {
            v->kind = YAML_FLOAT;
            v->d = v->minus ? -(double)v->u : (double)v->u;
        }
        return v->kind == YAML_FLOAT;
    default:
        return true;
    }
}

/* The meaning of the scalar event: its tag decides, else its text if it is plain. */
static bool resolve_scalar(struct yaml_reader *r, struct yaml_value *v)
{
    const yaml_event_t *ev = &r->parse->event;
    const char *tag_text = (const char *)ev->data.scalar.tag;
    enum scalar_tag tag = scalar_tag(tag_text);
    struct str s = {(const char *)ev->data.scalar.value, ev->data.scalar.length};
    *v = (struct yaml_value){.kind = YAML_STRING};
    if (r->parse->flow && ev->data.scalar.style == YAML_PLAIN_SCALAR_STYLE &&
        str_find_byte(s, '?', 0) != SIZE_MAX)
        return fail(r, event_pos(r), "a text with ? needs quotes inside [] and {}");
    if (tag == TAG_STR || tag == TAG_BINARY || tag == TAG_OTHER ||
        (tag == TAG_NONE && !ev->data.scalar.plain_implicit))
        return true;
    *v = yaml_resolve(s);
    if (tag_allows(tag, v))
        return true;
    char seen[SOURCE_QUOTE_ROOM];
    snprintf(seen, sizeof seen, "%.*s", s.n > 40 ? 40 : (int)s.n, s.p);
    return fail(r, event_pos(r), "'%s' is no %s, as its tag says", seen,
                strrchr(tag_text, ':') + 1);
}

static int base64_digit(char c)
{
    static const char digits[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *p = c ? strchr(digits, c) : NULL;
    return p ? (int)(p - digits) : -1;
}

/* Strict but for line ends; false if it is no base64. */
static bool base64_decode(struct str s, struct strbuf *out)
{
    uint32_t bits = 0;
    unsigned n = 0, pad = 0;
    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];
        if (c == '\n' || c == '\r')
            continue;
        int d = base64_digit(c);
        if (c == '=' && n % 4 >= 2)
            pad++;
        else if (d < 0 || pad)
            return false;
        bits = bits << 6 | (uint32_t)(d < 0 ? 0 : d);
        if (++n % 4 == 0) {
            char bytes[3] = {(char)(bits >> 16), (char)(bits >> 8), (char)bits};
            strbuf_add(out, bytes, 3 - pad);
        }
    }
    return n % 4 == 0 && pad <= 2;
}

/* As JSON has it: each wrong byte becomes U+FFFD. */
static struct str valid_utf8(struct arena *a, struct str s)
{
    if (utf8_valid(s))
        return arena_str(a, s);
    struct strbuf b = STRBUF_INIT;
    for (size_t i = 0; i < s.n;) {
        uint32_t cp;
        unsigned len = utf8_decode(s, i, &cp);
        if (len)
            strbuf_add(&b, s.p + i, len);
        else
            strbuf_adds(&b, "\xef\xbf\xbd");
        i += len ? len : 1;
    }
    struct str copy = arena_str(a, strbuf_str(&b));
    strbuf_release(&b);
    return copy;
}

static bool binary_text(struct yaml_reader *r, struct str s, struct str *out)
{
    struct strbuf b = STRBUF_INIT;
    bool ok = base64_decode(s, &b);
    if (ok)
        *out = valid_utf8(r->build->arena, strbuf_str(&b));
    else
        fail(r, event_pos(r), "the !!binary value is no base64");
    strbuf_release(&b);
    return ok;
}

static bool string_value(struct yaml_reader *r, struct str *out)
{
    const yaml_event_t *ev = &r->parse->event;
    struct str s = {(const char *)ev->data.scalar.value, ev->data.scalar.length};
    if (scalar_tag((const char *)ev->data.scalar.tag) == TAG_BINARY)
        return binary_text(r, s, out);
    *out = arena_str(r->build->arena, s);
    return true;
}

static struct str int_text(struct arena *a, const struct yaml_value *v)
{
    return arena_printf(a, "%s%llu", v->minus ? "-" : "", (unsigned long long)v->u);
}

static bool number_text(struct yaml_reader *r, const struct yaml_value *v,
                        struct str *out)
{
    if (v->kind == YAML_INT) {
        *out = int_text(r->build->arena, v);
        return true;
    }
    if (isnan(v->d) || isinf(v->d))
        return fail(r, event_pos(r), "JSON has no number for %s",
                    (const char *)r->parse->event.data.scalar.value);
    struct strbuf b = STRBUF_INIT;
    json_print_double(v->d, &b);
    *out = arena_str(r->build->arena, strbuf_str(&b));
    strbuf_release(&b);
    return true;
}

static uint8_t event_style(const yaml_event_t *ev)
{
    switch (ev->data.scalar.style) {
    case YAML_SINGLE_QUOTED_SCALAR_STYLE:
        return DOC_QUOTED;
    case YAML_DOUBLE_QUOTED_SCALAR_STYLE:
        return DOC_DOUBLE_QUOTED;
    case YAML_LITERAL_SCALAR_STYLE:
        return DOC_LITERAL;
    case YAML_FOLDED_SCALAR_STYLE:
        return DOC_FOLDED;
    default:
        return DOC_PLAIN;
    }
}

static bool read_scalar(struct yaml_reader *r, struct doc *out)
{
    struct yaml_value v;
    struct str text = STR_NONE;
    if (!resolve_scalar(r, &v))
        return false;
    struct doc d = {.style = event_style(&r->parse->event), .pos = event_pos(r)};
    switch (v.kind) {
    case YAML_NULL:
        d.type = DOC_NULL;
        *out = d;
        return true;
    case YAML_BOOL:
        d.type = DOC_BOOL;
        d.b = v.b;
        *out = d;
        return true;
    case YAML_INT:
    case YAML_FLOAT:
        d.type = DOC_NUMBER;
        if (!number_text(r, &v, &text))
            return false;
        break;
    case YAML_STRING:
    case YAML_TIME:
        d.type = DOC_STRING;
        if (!string_value(r, &text))
            return false;
        break;
    }
    d.s = text.p;
    d.n = (uint32_t)text.n;
    *out = d;
    return true;
}

/* ---- Keys ---- */

static struct str float_key(struct arena *a, double d)
{
    struct strbuf b = STRBUF_INIT;
    yaml_print_double(d, true, &b);
    struct str s = arena_str(a, strbuf_str(&b));
    strbuf_release(&b);
    return s;
}

/* Keys of other types become strings. */
static bool scalar_key(struct yaml_reader *r, struct str *key)
{
    struct yaml_value v;
    struct arena *a = r->build->arena;
    if (!resolve_scalar(r, &v))
        return false;
    switch (v.kind) {
    case YAML_NULL:
        return fail(r, event_pos(r), "a key must not be null");
    case YAML_BOOL:
        *key = v.b ? STR("true") : STR("false");
        return true;
    case YAML_INT:
        if (!v.minus && v.u > INT64_MAX)
            return fail(r, event_pos(r), "a key this large needs quotes");
        *key = int_text(a, &v);
        return true;
    case YAML_FLOAT:
        *key = float_key(a, v.d);
        return true;
    case YAML_STRING:
    case YAML_TIME:
        return string_value(r, key);
    }
    return false;
}

static bool alias_key(struct yaml_reader *r, struct str *key)
{
    struct doc d;
    struct extent extent;
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
    if (p->event.type == YAML_ALIAS_EVENT)
        return alias_key(r, key);
    if (p->event.type != YAML_SCALAR_EVENT)
        return fail(r, event_pos(r), "a key must not be a list or a map");
    size_t anchor = open_anchor(p);
    p->nodes++;
    if (!scalar_key(r, key))
        return false;
    if (anchor != SIZE_MAX) {
        struct doc d;
        if (!read_scalar(r, &d))
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
    struct extent part;
    for (;; here.index++) {
        if (!advance(r))
            return false;
        if (r->parse->event.type == YAML_SEQUENCE_END_EVENT)
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
    yaml_event_type_t type = r->parse->event.type;
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
    while ((ok = advance(r)) && r->parse->event.type != YAML_SEQUENCE_END_EVENT) {
        struct doc map;
        struct extent part;
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
    struct extent part;
    if (!advance(r))
        return false;
    if (r->parse->event.type == YAML_SEQUENCE_START_EVENT)
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

/* Of a merged member and another of the same key the later one stays. Two written keys
 * both stay: that is a duplicate to report. */
static void settle_merges(struct build *b, size_t from)
{
    struct strmap last = STRMAP_INIT;
    bool made;
    for (size_t i = from; i < b->npending; i++)
        strmap_put(&last, doc_key(&b->pending[i]), &made)->value.u = i;
    size_t kept = from;
    for (size_t i = from; i < b->npending; i++) {
        struct doc_member *m = &b->pending[i];
        uint64_t other = strmap_find(&last, doc_key(m))->value.u;
        if (other != i && (m->value.spare | b->pending[other].value.spare) == MERGED)
            continue;
        b->pending[kept++] = *m;
    }
    strmap_release(&last);
    b->npending = kept;
    for (size_t i = from; i < kept; i++)
        b->pending[i].value.spare = 0;
}

static bool read_member(struct yaml_reader *r, struct build_frame *here,
                        struct doc_member *m, struct extent *extent)
{
    struct str key = STR_NONE;
    struct extent part;
    *m = (struct doc_member){.key_pos = event_pos(r)};
    if (!read_key(r, &key))
        return false;
    m->key = key.p;
    m->key_len = (uint32_t)key.n;
    if (!advance(r) || !read_value(r, here, &m->value, &part))
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
        if (!advance(r))
            return false;
        if (r->parse->event.type == YAML_MAPPING_END_EVENT)
            break;
        bool merge = is_merge_key(&r->parse->event);
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
    yaml_event_type_t type = p->event.type;
    if (type == YAML_ALIAS_EVENT)
        return read_alias(r, up, out, extent);
    if (type != YAML_SCALAR_EVENT && up && up->depth >= DOC_MAX_DEPTH)
        return fail(r, event_pos(r), "lists and maps are nested more than %d deep",
                    DOC_MAX_DEPTH);
    size_t anchor = open_anchor(p);
    bool flow = is_flow(&p->event);
    *extent = (struct extent){1, 0};
    p->nodes++;
    p->flow += flow;
    bool ok = type == YAML_SCALAR_EVENT           ? read_scalar(r, out)
              : type == YAML_SEQUENCE_START_EVENT ? read_sequence(r, up, out, extent)
                                                  : read_mapping(r, up, out, extent);
    p->flow -= flow;
    if (ok)
        close_anchor(p, anchor, out, *extent);
    return ok;
}

/* ---- Documents ---- */

static void start_piece(struct yaml_reader *r)
{
    struct yaml_parse *p = r->parse;
    p->fed = p->mark_offset = p->from;
    p->mark_index = 0;
    p->fed_newline = false;
    p->nanchors = 0;
    p->nodes = 1;
    p->aliased = p->flow = 0;
    strmap_clear(&p->names);
    arena_reset(&p->strings);
    if (!yaml_parser_initialize(&p->parser))
        mem_array(SIZE_MAX, 2); /* aborts */
    yaml_parser_set_encoding(&p->parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input(&p->parser, feed, r);
}

/* The one document of a piece; *some is false when there is none. kubectl would pass over
 * whatever follows it in silence; that is an error here. */
static bool read_piece(struct yaml_reader *r, struct doc *out, bool *some)
{
    struct yaml_parse *p = r->parse;
    struct extent extent;
    *some = false;
    if (!advance(r) || !advance(r)) /* the stream's start */
        return false;
    if (p->event.type == YAML_STREAM_END_EVENT)
        return true;
    if (!advance(r) || !read_value(r, NULL, out, &extent) || !advance(r) || !advance(r))
        return false;
    if (p->event.type != YAML_STREAM_END_EVENT)
        return fail_ended(r, event_pos(r));
    *some = out->type != DOC_NULL;
    return true;
}

bool yaml_reader_next(struct yaml_reader *r, struct doc *out, bool *more)
{
    struct yaml_parse *p = r->parse;
    bool some = false;
    while (!some) {
        if (!next_piece(r, more))
            return false;
        if (!*more)
            return true;
        start_piece(r);
        bool ok = read_piece(r, out, &some);
        drop_event(p);
        yaml_parser_delete(&p->parser);
        if (!ok)
            return false;
    }
    return true;
}

bool yaml_reader_init(struct yaml_reader *r, const struct doc_source *src, size_t from,
                      struct build *b, struct err *e)
{
    *r = (struct yaml_reader){.src = src, .build = b, .err = e, .next = from};
    if (!source_check_size(src, e))
        return false;
    r->parse = mem_zalloc(sizeof *r->parse);
    strmap_init(&r->parse->names);
    arena_init(&r->parse->strings);
    b->npending = 0;
    return true;
}

void yaml_reader_fini(struct yaml_reader *r)
{
    free(r->parse->anchors);
    strmap_release(&r->parse->names);
    arena_fini(&r->parse->strings);
    free(r->parse);
}
