/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The layout of kubectl -o yaml, byte for byte: block style, two spaces, lists not
 * indented below their key, long lines folded behind column 80.
 */
#include <stdio.h>

#include "base/utf8.h"
#include "doc/tree.h"
#include "doc/yaml_doc.h"

enum { STEP = 2, WIDTH = 80, LONGEST_SIMPLE_KEY = 128 };

struct writer {
    struct strbuf *out;
    int column;
    bool space;  /* what was written last separates words */
    bool indent; /* the line holds nothing but indentation and - ? : */
};

/* Where a node stands. indent is that of its parent, -1 at the root. */
struct context {
    int indent;
    bool in_map;
    bool simple_key; /* it has to stay on one line */
};

/* ---- Characters ---- */

static void put(struct writer *w, char c)
{
    strbuf_addc(w->out, c);
    w->column++;
}

static size_t width_at(struct str s, size_t i)
{
    uint32_t cp;
    unsigned len = utf8_decode(s, i, &cp);
    return len ? len : 1;
}

/* Copies the character at *i. */
static void copy(struct writer *w, struct str s, size_t *i)
{
    size_t len = width_at(s, *i);
    strbuf_add(w->out, s.p + *i, len);
    w->column++;
    *i += len;
}

static void line_break(struct writer *w)
{
    strbuf_addc(w->out, '\n');
    w->column = 0;
}

static void indent_to(struct writer *w, int indent)
{
    if (indent < 0)
        indent = 0;
    if (!w->indent || w->column > indent || (w->column == indent && !w->space))
        line_break(w);
    while (w->column < indent)
        put(w, ' ');
    w->space = w->indent = true;
}

static void mark(struct writer *w, const char *text, bool space_before, bool space,
                 bool indent)
{
    if (space_before && !w->space)
        put(w, ' ');
    for (; *text; text++)
        put(w, *text);
    w->space = space;
    w->indent = w->indent && indent;
}

static bool is_space(struct str s, size_t i)
{
    return i < s.n && s.p[i] == ' ';
}

static bool is_break(uint32_t cp)
{
    return cp == '\n' || cp == '\r' || cp == 0x85 || cp == 0x2028 || cp == 0x2029;
}

static bool is_printable(uint32_t cp)
{
    return cp == '\n' || (cp >= 0x20 && cp <= 0x7e) ||
           (cp >= 0xa0 && cp <= 0xfffd && cp != 0xfeff);
}

/* ---- What a text allows ---- */

enum style { PLAIN, SINGLE, DOUBLE, LITERAL };

struct analysis {
    bool multiline;
    bool plain, single, literal; /* styles that can hold it */
};

/* Positions of spaces and breaks that matter. */
struct blanks {
    bool leading, trailing_space, trailing_break;
    bool break_space, space_break;
};

static bool is_indicator(struct str s, size_t i, bool after_blank)
{
    bool before_blank = i + 1 >= s.n || s.p[i + 1] == ' ' || s.p[i + 1] == '\t';
    char c = s.p[i];
    if (i == 0) {
        if (c != '\0' && strchr("#,[]{}&*!|>'\"%@`", c))
            return true;
        return (c == '?' || c == ':' || c == '-') && before_blank;
    }
    return (c == ':' && before_blank) || (c == '#' && after_blank);
}

static void note_blank(struct blanks *b, uint32_t cp, bool first, bool last,
                       uint32_t before)
{
    if (cp == ' ') {
        b->leading = b->leading || first;
        b->trailing_space = b->trailing_space || last;
        b->break_space = b->break_space || is_break(before);
    } else if (is_break(cp)) {
        b->leading = b->leading || first;
        b->trailing_break = b->trailing_break || last;
        b->space_break = b->space_break || before == ' ';
    }
}

static struct analysis analyze(struct str s)
{
    if (s.n == 0)
        return (struct analysis){.plain = true, .single = true};
    struct blanks b = {0};
    bool special = false, breaks = false, after_blank = true;
    bool indicators = str_starts(s, STR("---")) || str_starts(s, STR("..."));
    uint32_t cp = 0, before = 0;
    for (size_t i = 0; i < s.n; before = cp) {
        size_t len = utf8_decode(s, i, &cp);
        indicators = indicators || is_indicator(s, i, after_blank);
        special = special || len == 0 || !is_printable(cp);
        breaks = breaks || is_break(cp);
        note_blank(&b, cp, i == 0, i + len == s.n, before);
        after_blank = cp == ' ' || cp == '\t' || cp == 0 || is_break(cp);
        i += len ? len : 1;
    }
    bool bad = special || b.space_break;
    bool edges = b.leading || b.trailing_space || b.trailing_break;
    return (struct analysis){
        .multiline = breaks,
        .plain = !bad && !edges && !b.break_space && !breaks && !indicators,
        .single = !bad && !b.break_space,
        /* kubectl writes a literal that ends in U+2028 too, and reads it back with a
         * line feed more. */
        .literal = !bad && !b.trailing_space && !(b.trailing_break && cp != '\n'),
    };
}

/* [-+]?[0-9][0-9_]*(:[0-5]?[0-9])+(\.[0-9_]*)?: YAML 1.1 reads this as a number. */
static bool is_base60(struct str s)
{
    size_t i = s.n && (s.p[0] == '-' || s.p[0] == '+');
    if (i >= s.n || s.p[i] < '0' || s.p[i] > '9')
        return false;
    i += strspn(s.p + i, "0123456789_");
    if (i >= s.n || s.p[i] != ':')
        return false;
    while (i < s.n && s.p[i] == ':') {
        size_t n = strspn(s.p + i + 1, "0123456789");
        if (n == 0 || n > 2 || (n == 2 && s.p[i + 1] > '5'))
            return false;
        i += 1 + n;
    }
    if (i < s.n && s.p[i] == '.')
        i += 1 + strspn(s.p + i + 1, "0123456789_");
    return i == s.n;
}

static enum style wanted_style(struct str s)
{
    if (memchr(s.p, '\n', s.n))
        return LITERAL;
    return yaml_resolve(s).kind == YAML_STRING && !is_base60(s) ? PLAIN : DOUBLE;
}

static enum style choose_style(enum style style, const struct analysis *a, size_t n,
                               bool simple_key)
{
    if (simple_key && a->multiline)
        style = DOUBLE;
    if (style == PLAIN && (!a->plain || (n == 0 && simple_key)))
        style = SINGLE;
    if (style == SINGLE && !a->single)
        style = DOUBLE;
    if (style == LITERAL && (!a->literal || simple_key))
        style = DOUBLE;
    return style;
}

/* ---- The styles ---- */

/* At a lone space behind the width the line may end instead. */
static bool may_fold(const struct writer *w, bool folds, bool after_space)
{
    return folds && !after_space && w->column > WIDTH;
}

static void write_plain(struct writer *w, struct str s, int indent, bool folds)
{
    bool after_space = false;
    if (!w->space)
        put(w, ' ');
    for (size_t i = 0; i < s.n;) {
        bool space = is_space(s, i);
        if (space && may_fold(w, folds, after_space) && !is_space(s, i + 1)) {
            indent_to(w, indent);
            i++;
        } else {
            copy(w, s, &i);
        }
        after_space = space;
        w->indent = w->indent && space;
    }
    w->space = w->indent = false;
}

static void write_single(struct writer *w, struct str s, int indent, bool folds)
{
    bool after_space = false, after_break = false;
    mark(w, "'", true, false, false);
    for (size_t i = 0; i < s.n;) {
        uint32_t cp;
        utf8_decode(s, i, &cp);
        if (cp == ' ') {
            if (may_fold(w, folds, after_space) && i > 0 && i < s.n - 1 &&
                !is_space(s, i + 1)) {
                indent_to(w, indent);
                i++;
            } else {
                copy(w, s, &i);
            }
            after_space = true;
            continue;
        }
        if (is_break(cp)) {
            if (!after_break && cp == '\n')
                line_break(w);
            copy(w, s, &i);
            w->column = 0;
            w->indent = after_break = true;
            continue;
        }
        if (after_break)
            indent_to(w, indent);
        if (cp == '\'')
            put(w, '\'');
        copy(w, s, &i);
        w->indent = after_space = after_break = false;
    }
    mark(w, "'", false, false, false);
}

static void write_escape(struct writer *w, uint32_t cp)
{
    static const struct {
        uint32_t cp;
        char letter;
    } letters[] = {
        {0x00, '0'},  {0x07, 'a'}, {0x08, 'b'}, {0x09, 't'},   {0x0a, 'n'},
        {0x0b, 'v'},  {0x0c, 'f'}, {0x0d, 'r'}, {0x1b, 'e'},   {'"', '"'},
        {0x5c, '\\'}, {0x85, 'N'}, {0xa0, '_'}, {0x2028, 'L'}, {0x2029, 'P'},
    };
    char text[16];
    int n = 0;
    for (size_t i = 0; i < sizeof letters / sizeof *letters; i++)
        if (letters[i].cp == cp)
            n = snprintf(text, sizeof text, "\\%c", letters[i].letter);
    if (n == 0)
        n = cp <= 0xff     ? snprintf(text, sizeof text, "\\x%02X", cp)
            : cp <= 0xffff ? snprintf(text, sizeof text, "\\u%04X", cp)
                           : snprintf(text, sizeof text, "\\U%08X", cp);
    strbuf_add(w->out, text, (size_t)n);
    w->column += n;
}

static void write_double(struct writer *w, struct str s, int indent, bool folds)
{
    bool after_space = false;
    /* A quirk of the library: behind a byte order mark everything is escaped. */
    bool all = str_starts(s, STR("\xef\xbb\xbf"));
    mark(w, "\"", true, false, false);
    for (size_t i = 0; i < s.n;) {
        uint32_t cp;
        unsigned len = utf8_decode(s, i, &cp);
        if (len == 0)
            cp = 0xfffd;
        if (len == 0 || all || !is_printable(cp) || is_break(cp) || cp == '"' ||
            cp == '\\') {
            write_escape(w, cp);
            i += len ? len : 1;
            after_space = false;
        } else if (cp == ' ' && may_fold(w, folds, after_space) && i > 0 && i < s.n - 1) {
            indent_to(w, indent);
            if (is_space(s, i + 1))
                put(w, '\\');
            i++;
            after_space = true;
        } else {
            copy(w, s, &i);
            after_space = cp == ' ';
        }
    }
    mark(w, "\"", false, false, false);
}

static size_t last_character(struct str s)
{
    size_t i = s.n - 1;
    while (i > 0 && ((unsigned char)s.p[i] & 0xc0) == 0x80)
        i--;
    return i;
}

static bool ends_in_break(struct str s)
{
    uint32_t cp;
    return s.n && utf8_decode(s, last_character(s), &cp) && is_break(cp);
}

/* Whether a text ends in no line break, in one, or in more or nothing else. */
static const char *chomping(struct str s)
{
    if (!ends_in_break(s))
        return "-";
    struct str rest = str_sub(s, 0, last_character(s));
    return rest.n == 0 || ends_in_break(rest) ? "+" : "";
}

static void write_literal(struct writer *w, struct str s, int indent)
{
    uint32_t cp;
    mark(w, "|", true, false, false);
    utf8_decode(s, 0, &cp);
    if (cp == ' ' || is_break(cp))
        mark(w, "2", false, false, false);
    mark(w, chomping(s), false, false, false);
    line_break(w);
    w->indent = w->space = true;
    bool after_break = true;
    for (size_t i = 0; i < s.n;) {
        utf8_decode(s, i, &cp);
        if (is_break(cp)) {
            copy(w, s, &i);
            w->column = 0;
            w->indent = after_break = true;
            continue;
        }
        if (after_break)
            indent_to(w, indent);
        copy(w, s, &i);
        w->indent = after_break = false;
    }
}

/* ---- Nodes ---- */

static void write_text(struct writer *w, struct str s, enum style style,
                       const struct analysis *a, struct context c)
{
    int indent = c.indent < 0 ? STEP : c.indent + STEP;
    bool folds = !c.simple_key;
    switch (choose_style(style, a, s.n, c.simple_key)) {
    case PLAIN:
        write_plain(w, s, indent, folds);
        break;
    case SINGLE:
        write_single(w, s, indent, folds);
        break;
    case DOUBLE:
        write_double(w, s, indent, folds);
        break;
    case LITERAL:
        write_literal(w, s, indent);
        break;
    }
}

static void write_string(struct writer *w, struct str s, struct context c)
{
    struct analysis a = analyze(s);
    write_text(w, s, wanted_style(s), &a, c);
}

static void write_word(struct writer *w, const char *text, struct context c)
{
    struct analysis a = {.plain = true, .single = true};
    write_text(w, str_from(text), PLAIN, &a, c);
}

/* A number goes through the library's own types on its way. */
static void write_number(struct writer *w, struct str s, struct context c)
{
    struct yaml_value v = yaml_resolve(s);
    struct strbuf text = STRBUF_INIT;
    if (v.kind == YAML_INT)
        strbuf_addf(&text, "%s%llu", v.minus ? "-" : "", (unsigned long long)v.u);
    else if (v.kind == YAML_FLOAT)
        yaml_print_double(v.d, false, &text);
    else
        strbuf_addstr(&text, s);
    write_word(w, strbuf_cstr(&text), c);
    strbuf_release(&text);
}

static void write_node(struct writer *w, const struct doc *d, struct context c);

static void write_list(struct writer *w, const struct doc *d, struct context c)
{
    bool flush = c.in_map && !w->indent;
    int indent = c.indent < 0 ? 0 : flush ? c.indent : c.indent + STEP;
    for (uint32_t i = 0; i < d->n; i++) {
        indent_to(w, indent);
        mark(w, "-", true, false, true);
        write_node(w, &d->items[i], (struct context){.indent = indent});
    }
}

static void write_member(struct writer *w, const struct doc_member *m, int indent)
{
    struct str key = doc_key(m);
    struct analysis a = analyze(key);
    struct context c = {.indent = indent, .in_map = true};
    indent_to(w, indent);
    if (!a.multiline && key.n <= LONGEST_SIMPLE_KEY) {
        c.simple_key = true;
        write_text(w, key, wanted_style(key), &a, c);
        mark(w, ":", false, false, false);
    } else {
        mark(w, "?", true, false, true);
        write_text(w, key, wanted_style(key), &a, c);
        indent_to(w, indent);
        mark(w, ":", true, false, true);
    }
    c.simple_key = false;
    write_node(w, &m->value, c);
}

static void write_map(struct writer *w, const struct doc *d, struct context c)
{
    struct tree_order o;
    tree_order_init(&o, d, yaml_key_cmp);
    for (uint32_t i = 0; i < o.n; i++)
        write_member(w, o.v[i], c.indent < 0 ? 0 : c.indent + STEP);
    tree_order_fini(&o);
}

static void write_node(struct writer *w, const struct doc *d, struct context c)
{
    switch ((enum doc_type)d->type) {
    case DOC_NULL:
        write_word(w, "null", c);
        return;
    case DOC_BOOL:
        write_word(w, d->b ? "true" : "false", c);
        return;
    case DOC_NUMBER:
        write_number(w, doc_str(d), c);
        return;
    case DOC_STRING:
        write_string(w, doc_str(d), c);
        return;
    case DOC_LIST:
        if (d->n)
            write_list(w, d, c);
        else
            mark(w, "[]", true, false, false);
        return;
    case DOC_MAP:
        if (d->n)
            write_map(w, d, c);
        else
            mark(w, "{}", true, false, false);
        return;
    }
}

void doc_write_yaml(const struct doc *d, struct strbuf *out)
{
    struct writer w = {.out = out, .space = true, .indent = true};
    write_node(&w, d, (struct context){.indent = -1});
    indent_to(&w, -1);
}
