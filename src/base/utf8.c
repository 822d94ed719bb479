/* SPDX-License-Identifier: Apache-2.0 */
#include "base/utf8.h"

static bool is_cont(unsigned char c)
{
    return (c & 0xc0) == 0x80;
}

unsigned utf8_decode(struct str s, size_t i, uint32_t *cp)
{
    const unsigned char *p = (const unsigned char *)s.p + i;
    size_t left = s.n - i;
    if (left == 0)
        return 0;
    if (p[0] < 0x80) {
        *cp = p[0];
        return 1;
    }
    if (p[0] >= 0xc2 && p[0] <= 0xdf && left >= 2 && is_cont(p[1])) {
        *cp = (uint32_t)(p[0] & 0x1f) << 6 | (p[1] & 0x3f);
        return 2;
    }
    if ((p[0] & 0xf0) == 0xe0 && left >= 3 && is_cont(p[1]) && is_cont(p[2])) {
        uint32_t c =
            (uint32_t)(p[0] & 0x0f) << 12 | (uint32_t)(p[1] & 0x3f) << 6 | (p[2] & 0x3f);
        if (c < 0x800 || (c >= 0xd800 && c <= 0xdfff))
            return 0;
        *cp = c;
        return 3;
    }
    if ((p[0] & 0xf8) == 0xf0 && left >= 4 && is_cont(p[1]) && is_cont(p[2]) &&
        is_cont(p[3])) {
        uint32_t c = (uint32_t)(p[0] & 0x07) << 18 | (uint32_t)(p[1] & 0x3f) << 12 |
                     (uint32_t)(p[2] & 0x3f) << 6 | (p[3] & 0x3f);
        if (c < 0x10000 || c > 0x10ffff)
            return 0;
        *cp = c;
        return 4;
    }
    return 0;
}

unsigned utf8_encode(uint32_t cp, char out[4])
{
    if (cp < 0x80) {
        out[0] = (char)cp;
        return 1;
    }
    if (cp < 0x800) {
        out[0] = (char)(0xc0 | cp >> 6);
        out[1] = (char)(0x80 | (cp & 0x3f));
        return 2;
    }
    if (cp >= 0xd800 && cp <= 0xdfff)
        return 0;
    if (cp < 0x10000) {
        out[0] = (char)(0xe0 | cp >> 12);
        out[1] = (char)(0x80 | (cp >> 6 & 0x3f));
        out[2] = (char)(0x80 | (cp & 0x3f));
        return 3;
    }
    if (cp > 0x10ffff)
        return 0;
    out[0] = (char)(0xf0 | cp >> 18);
    out[1] = (char)(0x80 | (cp >> 12 & 0x3f));
    out[2] = (char)(0x80 | (cp >> 6 & 0x3f));
    out[3] = (char)(0x80 | (cp & 0x3f));
    return 4;
}

bool utf8_valid(struct str s)
{
    uint32_t cp;
    for (size_t i = 0; i < s.n;) {
        unsigned n = utf8_decode(s, i, &cp);
        if (n == 0)
            return false;
        i += n;
    }
    return true;
}

bool utf8_is_ascii(struct str s)
{
    uint64_t word, all = 0;
    for (size_t i = 0; s.n >= 8 && i < s.n; i += 8) {
        memcpy(&word, s.p + (s.n - i >= 8 ? i : s.n - 8), sizeof word);
        all |= word;
    }
    for (size_t i = 0; s.n < 8 && i < s.n; i++)
        all |= (unsigned char)s.p[i];
    return (all & UINT64_C(0x8080808080808080)) == 0;
}

/* Bytes of ASCII at s[i], in whole words; most texts are nothing else. */
static size_t ascii_words(struct str s, size_t i)
{
    const uint64_t high = UINT64_C(0x8080808080808080);
    size_t start = i;
    for (; s.n - i >= 8; i += 8) {
        uint64_t word;
        memcpy(&word, s.p + i, sizeof word);
        if (word & high)
            break;
    }
    return i - start;
}

size_t utf8_count(struct str s)
{
    uint32_t cp;
    size_t count = 0;
    for (size_t i = 0; i < s.n;) {
        size_t ascii = ascii_words(s, i);
        count += ascii;
        i += ascii;
        for (unsigned k = 0; k < 8 && i < s.n; k++, count++) {
            unsigned n = (unsigned char)s.p[i] < 0x80 ? 1 : utf8_decode(s, i, &cp);
            i += n ? n : 1;
        }
    }
    return count;
}
