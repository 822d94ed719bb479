/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "base/utf8.h"
#include "doc/json_shim.h"
#include "doc/source.h"

struct doc_place doc_place(const struct doc_source *src, uint32_t pos)
{
    struct str t = src->text;
    size_t end = pos < t.n ? pos : t.n, start = 0;
    uint32_t line = 1;
    for (;;) {
        const char *nl = end > start ? memchr(t.p + start, '\n', end - start) : NULL;
        if (!nl)
            break;
        line++;
        start = (size_t)(nl - t.p) + 1;
    }
    if (start == 0 && str_starts(t, STR("\xef\xbb\xbf")))
        start = end < 3 ? end : 3; /* a byte order mark takes no column */
    size_t column = utf8_count(str_sub(t, start, end)) + 1;
    return (struct doc_place){line, (uint32_t)column};
}

/* ---- Inside strings ---- */

/* Behind the anchor and the tag that a YAML value may start with. */
static size_t skip_properties(struct str t, size_t i)
{
    while (i < t.n && (t.p[i] == '&' || t.p[i] == '!')) {
        while (i < t.n && (unsigned char)t.p[i] > ' ')
            i++;
        while (i < t.n && (unsigned char)t.p[i] <= ' ')
            i++;
    }
    return i;
}

static size_t in_plain(struct str t, size_t i, const struct doc *d, size_t offset)
{
    return str_eq(str_sub(t, i, i + d->n), doc_str(d)) ? i + offset : SIZE_MAX;
}

static size_t in_quoted(struct str t, size_t i, size_t offset)
{
    size_t seen = 0;
    for (i++; i < t.n && t.p[i] != '\n'; i++, seen++) {
        if (seen == offset)
            return i;
        if (t.p[i] == '\'')
            i++;
    }
    return SIZE_MAX;
}

static int hex_value(struct str t, size_t i, size_t n)
{
    int v = 0;
    for (size_t k = i; k < i + n; k++) {
        int digit = k < t.n ? str_hex_digit(t.p[k]) : -1;
        if (digit < 0)
            return -1;
        v = v * 16 + digit;
    }
    return v;
}

static size_t utf8_size(int cp)
{
    return cp < 0x80 ? 1 : cp < 0x800 ? 2 : cp < 0x10000 ? 3 : 4;
}

/* Bytes that the escape at i, a backslash, stands for; *len is how long it is itself. */
static size_t escape_size(struct str t, size_t i, size_t *len)
{
    char c = i + 1 < t.n ? t.p[i + 1] : '\0';
    size_t digits = c == 'x' ? 2 : c == 'u' ? 4 : c == 'U' ? 8 : 0;
    *len = 2 + digits;
    if (digits == 0)
        return c == 'N' || c == '_' ? 2 : c == 'L' || c == 'P' ? 3 : 1;
    int cp = hex_value(t, i + 2, digits);
    if (digits == 4 && cp >= 0xd800 && cp <= 0xdbff &&
        str_starts(str_sub(t, i + 6, t.n), STR("\\u"))) {
        int low = hex_value(t, i + 8, 4);
        if (low >= 0xdc00 && low <= 0xdfff) {
            *len = 12;
            return 4;
        }
    }
    return utf8_size(cp);
}

static size_t in_double_quoted(struct str t, size_t i, size_t offset)
{
    size_t seen = 0, len;
    for (i++; i < t.n && t.p[i] != '\n'; i += len) {
        size_t size = 1;
        len = 1;
        if (t.p[i] == '\\')
            size = escape_size(t, i, &len);
        if (seen + size > offset)
            return i;
        seen += size;
    }
    return SIZE_MAX;
}

static size_t skip_line(struct str t, size_t i)
{
    size_t nl = str_find_byte(t, '\n', i);
    return nl == SIZE_MAX ? t.n : nl + 1;
}

static size_t count_spaces(struct str t, size_t i)
{
    size_t from = i;
    while (i < t.n && t.p[i] == ' ')
        i++;
    return i - from;
}

/* How far a literal's lines stand in: its first line that is not empty tells. */
static size_t literal_indent(struct str t, size_t i, struct str value)
{
    size_t v = 0;
    while (v < value.n && value.p[v] == '\n') {
        v = skip_line(value, v);
        i = skip_line(t, i);
    }
    size_t in_text = count_spaces(t, i), in_value = count_spaces(value, v);
    return in_text > in_value ? in_text - in_value : 0;
}

static size_t in_literal(struct str t, size_t i, const struct doc *d, size_t offset)
{
    struct str value = doc_str(d);
    size_t line = skip_line(t, i), start = 0;
    size_t indent = literal_indent(t, line, value);
    for (;;) {
        size_t next = skip_line(value, start);
        if (next > offset || next == value.n)
            break;
        start = next;
        line = skip_line(t, line);
    }
    size_t pos = line + indent + (offset - start);
    return pos <= t.n ? pos : SIZE_MAX;
}

struct doc_place doc_place_in(const struct doc_source *src, const struct doc *d,
                              size_t offset)
{
    struct str t = src->text;
    size_t found = SIZE_MAX, i;
    if (d->type != DOC_STRING || d->pos >= t.n)
        return doc_place(src, d->pos);
    if (offset > d->n)
        offset = d->n;
    i = skip_properties(t, d->pos);
    switch ((enum doc_style)d->style) {
    case DOC_PLAIN:
        found = in_plain(t, i, d, offset);
        break;
    case DOC_QUOTED:
        found = in_quoted(t, i, offset);
        break;
    case DOC_DOUBLE_QUOTED:
        found = in_double_quoted(t, i, offset);
        break;
    case DOC_LITERAL:
        found = in_literal(t, i, d, offset);
        break;
    case DOC_FOLDED:
        break;
    }
    return doc_place(src, found == SIZE_MAX ? d->pos : (uint32_t)found);
}

/* ---- Errors and paths ---- */

bool source_failv(const struct doc_source *src, uint32_t pos, struct err *e,
                  const char *fmt, va_list ap)
{
    struct doc_place at = doc_place(src, pos);
    err_setv(e, ERR_INVALID, fmt, ap);
    return err_wrap(e, "%s:%u:%u", src->name, at.line, at.column);
}

bool source_fail(const struct doc_source *src, uint32_t pos, struct err *e,
                 const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    source_failv(src, pos, e, fmt, ap);
    va_end(ap);
    return false;
}

bool source_check_size(const struct doc_source *src, struct err *e)
{
    if (src->text.n <= DOC_MAX_SOURCE)
        return true;
    return err_set(e, ERR_LIMIT, "%s: the text is larger than 4 GiB", src->name);
}

static bool ends_word(char c)
{
    return (unsigned char)c <= ' ' || strchr(",:[]{}\"", c);
}

const char *source_quote(const struct doc_source *src, uint32_t pos,
                         char out[SOURCE_QUOTE_ROOM])
{
    enum { LONGEST = 32 };
    struct str t = src->text;
    uint32_t cp;
    if (pos >= t.n) {
        snprintf(out, SOURCE_QUOTE_ROOM, "the end");
        return out;
    }
    unsigned char c = (unsigned char)t.p[pos];
    if (c < 0x20 || c == 0x7f || utf8_decode(t, pos, &cp) == 0) {
        snprintf(out, SOURCE_QUOTE_ROOM, "byte 0x%02x", c);
        return out;
    }
    size_t n = 0;
    unsigned len;
    while ((len = utf8_decode(t, pos + n, &cp)) && n + len <= LONGEST &&
           !(n && ends_word(t.p[pos + n])))
        n += len;
    if (ends_word((char)c))
        n = 1;
    snprintf(out, SOURCE_QUOTE_ROOM, "'%.*s'", (int)n, t.p + pos);
    return out;
}

void source_path_key(struct strbuf *path, struct str key)
{
    if (path->n)
        strbuf_addc(path, '.');
    strbuf_addstr(path, key);
}

void source_path_index(struct strbuf *path, uint32_t index)
{
    strbuf_addf(path, "[%u]", index);
}
