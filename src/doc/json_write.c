/* SPDX-License-Identifier: Apache-2.0 */
#include "base/utf8.h"
#include "doc/tree.h"

enum { INDENT = 4, NARROW = 2 };

static void write_value(const struct doc *d, unsigned flags, unsigned depth,
                        struct strbuf *out);

static void new_line(unsigned flags, unsigned depth, struct strbuf *out)
{
    if (!(flags & DOC_JSON_INDENT))
        return;
    size_t n = (size_t)depth * (flags & DOC_JSON_NARROW ? NARROW : INDENT);
    strbuf_addc(out, '\n');
    strbuf_reserve(out, n + 1);
    memset(out->p + out->n, ' ', n);
    out->n += n;
    out->p[out->n] = '\0';
}

/* The letter of a short escape, 0 if there is none. */
static char short_escape(unsigned char c)
{
    static const char letters[256] = {
        ['"'] = '"',  ['\\'] = '\\', ['\b'] = 'b', ['\f'] = 'f',
        ['\n'] = 'n', ['\r'] = 'r',  ['\t'] = 't'};
    return letters[c];
}

static bool is_plain(unsigned char c, unsigned flags)
{
    if (c < 0x20 || c == '"' || c == '\\' || c >= 0x80)
        return false;
    return !(flags & DOC_JSON_HTML) || (c != '<' && c != '>' && c != '&');
}

/* One character that is not plain; returns its length. */
static size_t write_special(struct str s, size_t i, struct strbuf *out)
{
    unsigned char c = (unsigned char)s.p[i];
    uint32_t cp;
    if (c < 0x80) {
        if (short_escape(c))
            strbuf_addf(out, "\\%c", short_escape(c));
        else
            strbuf_addf(out, "\\u%04x", c);
        return 1;
    }
    unsigned len = utf8_decode(s, i, &cp);
    if (len == 0)
        strbuf_adds(out, "\\ufffd");
    else if (cp == 0x2028 || cp == 0x2029) /* line ends to JavaScript */
        strbuf_addf(out, "\\u%04x", cp);
    else
        strbuf_add(out, s.p + i, len);
    return len ? len : 1;
}

static void write_string(struct str s, unsigned flags, struct strbuf *out)
{
    strbuf_addc(out, '"');
    for (size_t i = 0; i < s.n;) {
        size_t from = i;
        while (i < s.n && is_plain((unsigned char)s.p[i], flags))
            i++;
        strbuf_add(out, s.p + from, i - from);
        if (i < s.n)
            i += write_special(s, i, out);
    }
    strbuf_addc(out, '"');
}

static void write_member(const struct doc_member *m, bool first, unsigned flags,
                         unsigned depth, struct strbuf *out)
{
    if (!first)
        strbuf_addc(out, ',');
    new_line(flags, depth, out);
    write_string(doc_key(m), flags, out);
    strbuf_adds(out, flags & DOC_JSON_INDENT ? ": " : ":");
    write_value(&m->value, flags, depth, out);
}

static void write_members(const struct doc *d, unsigned flags, unsigned depth,
                          struct strbuf *out)
{
    if (!(flags & DOC_JSON_SORT)) {
        for (uint32_t i = 0; i < d->n; i++)
            write_member(&d->members[i], i == 0, flags, depth, out);
        return;
    }
    struct tree_order o;
    tree_order_init(&o, d, str_cmp);
    for (uint32_t i = 0; i < o.n; i++)
        write_member(o.v[i], i == 0, flags, depth, out);
    tree_order_fini(&o);
}

static void write_items(const struct doc *d, unsigned flags, unsigned depth,
                        struct strbuf *out)
{
    for (uint32_t i = 0; i < d->n; i++) {
        if (i)
            strbuf_addc(out, ',');
        new_line(flags, depth, out);
        write_value(&d->items[i], flags, depth, out);
    }
}

static void write_value(const struct doc *d, unsigned flags, unsigned depth,
                        struct strbuf *out)
{
    bool map = d->type == DOC_MAP;
    switch ((enum doc_type)d->type) {
    case DOC_NULL:
        strbuf_adds(out, "null");
        return;
    case DOC_BOOL:
        strbuf_adds(out, d->b ? "true" : "false");
        return;
    case DOC_NUMBER:
        strbuf_addstr(out, doc_str(d));
        return;
    case DOC_STRING:
        write_string(doc_str(d), flags, out);
        return;
    case DOC_LIST:
    case DOC_MAP:
        break;
    }
    strbuf_addc(out, map ? '{' : '[');
    if (map)
        write_members(d, flags, depth + 1, out);
    else
        write_items(d, flags, depth + 1, out);
    if (d->n)
        new_line(flags, depth, out);
    strbuf_addc(out, map ? '}' : ']');
}

void doc_write_json(const struct doc *d, unsigned flags, struct strbuf *out)
{
    write_value(d, flags, 0, out);
}
