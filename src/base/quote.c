/* SPDX-License-Identifier: Apache-2.0 */
#include "base/quote.h"

#include "base/utf8.h"

static const struct {
    uint32_t first, last;
} printable[] = {
#include "base/printable.inc"
};

bool rune_is_printable(uint32_t cp)
{
    size_t lo = 0, hi = sizeof printable / sizeof *printable;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (cp > printable[mid].last)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < sizeof printable / sizeof *printable && cp >= printable[lo].first;
}

static void add_escape(struct strbuf *b, uint32_t cp)
{
    static const char letters[] = "abtnvfr"; /* U+0007 to U+000D */
    if (cp >= 7 && cp <= 13)
        strbuf_addf(b, "\\%c", letters[cp - 7]);
    else if (cp < 0x80)
        strbuf_addf(b, "\\x%02x", cp);
    else if (cp < 0x10000)
        strbuf_addf(b, "\\u%04x", cp);
    else
        strbuf_addf(b, "\\U%08x", cp);
}

void strbuf_add_quoted(struct strbuf *b, struct str s)
{
    strbuf_addc(b, '"');
    for (size_t i = 0; i < s.n;) {
        uint32_t cp;
        unsigned n = utf8_decode(s, i, &cp);
        if (n == 0)
            strbuf_addf(b, "\\x%02x", (unsigned char)s.p[i]);
        else if (cp == '"' || cp == '\\')
            strbuf_addf(b, "\\%c", (char)cp);
        else if (rune_is_printable(cp))
            strbuf_add(b, s.p + i, n);
        else
            add_escape(b, cp);
        i += n ? n : 1;
    }
    strbuf_addc(b, '"');
}
