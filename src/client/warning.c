/* SPDX-License-Identifier: Apache-2.0 */
#include "client/warning.h"

static void skip(struct str *s, const char *bytes)
{
    while (s->n && str_find_byte(str_from(bytes), s->p[0], 0) != SIZE_MAX)
        *s = str_sub(*s, 1, s->n);
}

static bool take_word(struct str *s, struct str *word)
{
    size_t end = str_find_byte(*s, ' ', 0);
    if (end == SIZE_MAX)
        return false;
    *word = str_sub(*s, 0, end);
    *s = str_sub(*s, end, s->n);
    skip(s, " ");
    return true;
}

/* A quoted string with its escapes; out NULL: it is of no interest. */
static bool take_quoted(struct str *s, struct strbuf *out)
{
    size_t i = 1;
    if (!s->n || s->p[0] != '"')
        return false;
    for (; i < s->n && s->p[i] != '"'; i++) {
        if (s->p[i] == '\\' && i + 1 < s->n)
            i++;
        if (out)
            strbuf_addc(out, s->p[i]);
    }
    if (i >= s->n)
        return false;
    *s = str_sub(*s, i + 1, s->n);
    skip(s, " ");
    return true;
}

static bool is_printable(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if ((unsigned char)s.p[i] < 0x20 || s.p[i] == 0x7f)
            return false;
    return true;
}

/* 299 AGENT "TEXT" ["DATE"] */
static bool take_one(struct str *rest, struct strbuf *text, bool *wanted)
{
    struct str code, agent;
    strbuf_clear(text);
    skip(rest, " ,");
    if (!take_word(rest, &code) || !take_word(rest, &agent) || !take_quoted(rest, text))
        return false;
    if (rest->n && rest->p[0] == '"' && !take_quoted(rest, NULL))
        return false;
    *wanted = str_is(code, "299") && is_printable(strbuf_str(text));
    return true;
}

bool warning_next(struct str *rest, struct arena *a, struct str *text)
{
    struct strbuf b = STRBUF_INIT;
    bool wanted = false;
    while (!wanted && take_one(rest, &b, &wanted))
        continue;
    if (wanted)
        *text = arena_str(a, strbuf_str(&b));
    strbuf_release(&b);
    return wanted;
}
