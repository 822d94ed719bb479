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
