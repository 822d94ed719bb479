/* SPDX-License-Identifier: Apache-2.0 */
#include "cel/issues.h"

#include "base/utf8.h"

enum {
    MAX_SNIPPET = 16384, /* bytes of a source line that is still shown */
};

/* The code point at s[i] as Go decodes it: a byte that is not UTF-8 counts alone. */
static unsigned step(struct str s, size_t i)
{
    uint32_t cp;
    unsigned n = utf8_decode(s, i, &cp);
    return n ? n : 1;
}

static void locate(struct str text, struct cel_issue *issue)
{
    if (issue->pos == CEL_NO_POS) {
        issue->line = -1;
        issue->column = 0;
        return;
    }
    issue->line = issue->column = 1;
    for (size_t i = 0; i < issue->pos && i < text.n; i += step(text, i)) {
        if (text.p[i] == '\n') {
            issue->line++;
            issue->column = 1;
        } else {
            issue->column++;
        }
    }
    if (text.n == 0) /* upstream's end of an empty text lies before its first column */
        issue->column = 0;
}

static struct cel_issue *add(struct cel_issues *is, struct arena *a)
{
    if ((is->n & (is->n - 1)) == 0 && is->n != 1) { /* full: room is 2, 4, 8, ... */
        struct cel_issue *v = ARENA_ARRAY(a, struct cel_issue, is->n ? 2 * is->n : 2);
        if (is->n)
            memcpy(v, is->v, is->n * sizeof *v);
        is->v = v;
    }
    return &is->v[is->n++];
}

void cel_reportv(struct cel_reporter *r, uint32_t pos, const char *fmt, va_list ap)
{
    if (++r->out->total > CEL_MAX_ISSUES)
        return;
    struct cel_issue *issue = add(r->out, r->a);
    *issue = (struct cel_issue){.pos = pos, .msg = arena_vprintf(r->a, fmt, ap)};
    locate(r->text, issue);
}

void cel_report(struct cel_reporter *r, uint32_t pos, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    cel_reportv(r, pos, fmt, ap);
    va_end(ap);
}

static bool before(const struct cel_issue *a, const struct cel_issue *b)
{
    return a->line < b->line || (a->line == b->line && a->column < b->column);
}

void cel_issues_sort(struct cel_issues *is)
{
    for (uint32_t i = 1; i < is->n; i++) {
        struct cel_issue x = is->v[i];
        uint32_t k = i;
        for (; k > 0 && before(&x, &is->v[k - 1]); k--)
            is->v[k] = is->v[k - 1];
        is->v[k] = x;
    }
}

static bool find_line(struct str text, int32_t line, struct str *out)
{
    size_t from = 0;
    if (line < 1 || text.n == 0)
        return false;
    while (--line > 0) {
        from = str_find_byte(text, '\n', from);
        if (from == SIZE_MAX)
            return false;
        from++;
    }
    *out = str_sub(text, from, str_find_byte(text, '\n', from));
    return out->n <= MAX_SNIPPET;
}

static void print_snippet(struct str line, int32_t column, struct strbuf *out)
{
    strbuf_adds(out, "\n | ");
    for (size_t i = 0; i < line.n; i++)
        strbuf_addc(out, line.p[i] == '\t' ? ' ' : line.p[i]);
    strbuf_adds(out, "\n | ");
    size_t i = 0;
    for (int32_t c = 1; c < column && i < line.n; c++) {
        unsigned n = step(line, i);
        strbuf_adds(out, n > 1 ? "\uff0e" : ".");
        i += n;
    }
    strbuf_adds(out, i < line.n && step(line, i) > 1 ? "\uff3e" : "^");
}

void cel_issues_print(const struct cel_issues *issues, struct str text,
                      struct strbuf *out)
{
    for (uint32_t i = 0; i < issues->n; i++) {
        const struct cel_issue *is = &issues->v[i];
        struct str line;
        if (i)
            strbuf_addc(out, '\n');
        strbuf_addf(out, "ERROR: <input>:%d:%d: ", is->line, is->column);
        strbuf_addstr(out, is->msg);
        if (find_line(text, is->line, &line))
            print_snippet(line, is->column, out);
    }
    if (issues->total > issues->n)
        strbuf_addf(out, "\n%u more errors were truncated", issues->total - issues->n);
}
