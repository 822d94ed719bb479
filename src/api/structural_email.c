/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Mail addresses as Go's net/mail takes them: "a@b", "<a@b>", "Name <a@b>", with quoted
 * strings and domain literals. Comments, groups and encoded words are not read.
 */
#include "api/structural_formats.h"
#include "base/utf8.h"

struct mail {
    struct str s;
    size_t at;
};

static char peek(const struct mail *m)
{
    return m->at < m->s.n ? m->s.p[m->at] : '\0';
}

static void skip_space(struct mail *m)
{
    while (peek(m) == ' ' || peek(m) == '\t')
        m->at++;
}

static bool take(struct mail *m, char c)
{
    bool ok = peek(m) == c;
    m->at += ok;
    return ok;
}

/* Bytes of the character at the place if it may stand in an atom, else 0. */
static unsigned atom_char(const struct mail *m)
{
    uint32_t cp;
    char c = peek(m);
    if ((unsigned char)c >= 0x80)
        return utf8_decode(m->s, m->at, &cp);
    bool letter =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    return letter || (c && strchr("!#$%&'*+-/=?^_`{|}~", c));
}

/* Words of atom characters with single dots between them. */
static bool dot_atom(struct mail *m)
{
    size_t from = m->at;
    bool dot = true; /* none may come now */
    for (;;) {
        unsigned n = atom_char(m);
        if (n) {
            m->at += n;
            dot = false;
        } else if (!dot && take(m, '.')) {
            dot = true;
        } else {
            break;
        }
    }
    return m->at > from && !dot;
}

static bool quoted(struct mail *m)
{
    uint32_t cp;
    size_t empty = m->at + 1;
    m->at++;
    while (m->at < m->s.n && peek(m) != '"') {
        m->at += peek(m) == '\\';
        if (m->at >= m->s.n)
            return false;
        unsigned n = utf8_decode(m->s, m->at, &cp);
        bool visible = n && (cp == ' ' || cp == '\t' || (cp > ' ' && cp != 0x7f));
        if (!visible)
            return false;
        m->at += n;
    }
    return m->at > empty && take(m, '"');
}

/* [192.0.2.1] or [IPv6:...]. */
static bool literal(struct mail *m)
{
    size_t close = str_find_byte(m->s, ']', m->at);
    if (close == SIZE_MAX)
        return false;
    struct str inside = str_sub(m->s, m->at + 1, close);
    m->at = close + 1;
    if (str_starts(inside, STR("IPv6:")))
        return schema_format_find(STR("ipv6"))->check(str_sub(inside, 5, SIZE_MAX));
    return schema_format_find(STR("ipv4"))->check(inside);
}

static bool addr_spec(struct mail *m)
{
    bool local = peek(m) == '"' ? quoted(m) : dot_atom(m);
    skip_space(m);
    if (!local || !take(m, '@'))
        return false;
    skip_space(m);
    return peek(m) == '[' ? literal(m) : dot_atom(m);
}

/* A display name: words, quoted or not; dots may stand anywhere in them. */
static bool phrase(struct mail *m)
{
    bool any = false;
    for (;; any = true) {
        skip_space(m);
        if (peek(m) == '<' || m->at == m->s.n)
            return any;
        if (peek(m) == '"') {
            if (!quoted(m))
                return false;
            continue;
        }
        size_t from = m->at;
        while (atom_char(m) || peek(m) == '.')
            m->at += peek(m) == '.' ? 1 : atom_char(m);
        if (m->at == from)
            return false;
    }
}

static bool ends(struct mail *m)
{
    skip_space(m);
    return m->at == m->s.n;
}

bool schema_email(struct str text)
{
    struct mail m = {.s = text};
    skip_space(&m);
    size_t start = m.at;
    if (addr_spec(&m) && ends(&m))
        return true;
    m.at = start;
    if (peek(&m) != '<' && !phrase(&m))
        return false;
    return take(&m, '<') && addr_spec(&m) && take(&m, '>') && ends(&m);
}
