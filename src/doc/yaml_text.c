/* SPDX-License-Identifier: Apache-2.0 */
#include "doc/yaml_text.h"

#include <math.h>
#include <stdio.h>

#include "base/utf8.h"
#include "doc/source.h"
#include "doc/yaml_doc.h"

#define fail(t, pos, ...)                                                                \
    source_fail((t)->events->src, (pos), (t)->events->err, __VA_ARGS__)

static uint32_t event_pos(struct yaml_text *t)
{
    return yaml_events_pos(t->events);
}

/* ---- Meaning ---- */

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
static bool resolve_scalar(struct yaml_text *t, struct yaml_value *v)
{
    const yaml_event_t *ev = &t->events->event;
    const char *tag_text = (const char *)ev->data.scalar.tag;
    enum scalar_tag tag = scalar_tag(tag_text);
    struct str s = {(const char *)ev->data.scalar.value, ev->data.scalar.length};
    *v = (struct yaml_value){.kind = YAML_STRING};
    if (t->in_flow && ev->data.scalar.style == YAML_PLAIN_SCALAR_STYLE &&
        str_find_byte(s, '?', 0) != SIZE_MAX)
        return fail(t, event_pos(t), "a text with ? needs quotes inside [] and {}");
    if (tag == TAG_STR || tag == TAG_BINARY || tag == TAG_OTHER ||
        (tag == TAG_NONE && !ev->data.scalar.plain_implicit))
        return true;
    *v = yaml_resolve(s);
    if (tag_allows(tag, v))
        return true;
    char seen[SOURCE_QUOTE_ROOM];
    snprintf(seen, sizeof seen, "%.*s", s.n > 40 ? 40 : (int)s.n, s.p);
    return fail(t, event_pos(t), "'%s' is no %s, as its tag says", seen,
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

static bool binary_text(struct yaml_text *t, struct str s, struct str *out)
{
    struct strbuf b = STRBUF_INIT;
    bool ok = base64_decode(s, &b);
    if (ok)
        *out = valid_utf8(t->arena, strbuf_str(&b));
    else
        fail(t, event_pos(t), "the !!binary value is no base64");
    strbuf_release(&b);
    return ok;
}

static bool string_value(struct yaml_text *t, struct str *out)
{
    const yaml_event_t *ev = &t->events->event;
    struct str s = {(const char *)ev->data.scalar.value, ev->data.scalar.length};
    if (scalar_tag((const char *)ev->data.scalar.tag) == TAG_BINARY)
        return binary_text(t, s, out);
    *out = arena_str(t->arena, s);
    return true;
}

static struct str int_text(struct arena *a, const struct yaml_value *v)
{
    return arena_printf(a, "%s%llu", v->minus ? "-" : "", (unsigned long long)v->u);
}

static bool number_text(struct yaml_text *t, const struct yaml_value *v, struct str *out)
{
    if (v->kind == YAML_INT) {
        *out = int_text(t->arena, v);
        return true;
    }
    if (isnan(v->d) || isinf(v->d))
        return fail(t, event_pos(t), "JSON has no number for %s",
                    (const char *)t->events->event.data.scalar.value);
    struct strbuf b = STRBUF_INIT;
    json_print_double(v->d, &b);
    *out = arena_str(t->arena, strbuf_str(&b));
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

bool yaml_text_value(struct yaml_text *t, struct doc *out)
{
    struct yaml_value v;
    struct str text = STR_NONE;
    if (!resolve_scalar(t, &v))
        return false;
    struct doc d = {.style = event_style(&t->events->event), .pos = event_pos(t)};
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
        if (!number_text(t, &v, &text))
            return false;
        break;
    case YAML_STRING:
    case YAML_TIME:
        d.type = DOC_STRING;
        if (!string_value(t, &text))
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
bool yaml_text_key(struct yaml_text *t, struct str *key)
{
    struct yaml_value v;
    struct arena *a = t->arena;
    if (!resolve_scalar(t, &v))
        return false;
    switch (v.kind) {
    case YAML_NULL:
        return fail(t, event_pos(t), "a key must not be null");
    case YAML_BOOL:
        *key = v.b ? STR("true") : STR("false");
        return true;
    case YAML_INT:
        if (!v.minus && v.u > INT64_MAX)
            return fail(t, event_pos(t), "a key this large needs quotes");
        *key = int_text(a, &v);
        return true;
    case YAML_FLOAT:
        *key = float_key(a, v.d);
        return true;
    case YAML_STRING:
    case YAML_TIME:
        return string_value(t, key);
    }
    return false;
}
