/* SPDX-License-Identifier: Apache-2.0 */
#include "base/base64.h"

static const char LETTERS[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

struct str base64_encode(struct str s, struct arena *a)
{
    char *out = arena_alloc(a, (s.n + 2) / 3 * 4 + 1);
    size_t n = 0;
    for (size_t i = 0; i < s.n; i += 3) {
        uint32_t v = (uint32_t)(uint8_t)s.p[i] << 16;
        v |= i + 1 < s.n ? (uint32_t)(uint8_t)s.p[i + 1] << 8 : 0;
        v |= i + 2 < s.n ? (uint8_t)s.p[i + 2] : 0;
        for (int k = 0; k < 4; k++)
            out[n++] = i + (size_t)(k > 1 ? k - 1 : 0) < s.n
                           ? LETTERS[v >> (18 - 6 * k) & 63]
                           : '=';
    }
    out[n] = '\0';
    return (struct str){out, n};
}

static bool is_break(char c)
{
    return c == '\r' || c == '\n';
}

bool base64_decode(struct str s, struct arena *a, struct str *out)
{
    char *bytes = arena_alloc(a, s.n / 4 * 3 + 3);
    size_t n = 0;
    uint32_t v = 0;
    unsigned bits = 0;
    while (s.n && (s.p[s.n - 1] == '=' || is_break(s.p[s.n - 1])))
        s.n--;
    for (size_t i = 0; i < s.n; i++) {
        /* NOLINTNEXTLINE(bugprone-not-null-terminated-result): letters, not text */
        const char *at = memchr(LETTERS, s.p[i], 64);
        if (s.p[i] == '\n' || s.p[i] == '\r')
            continue;
        if (!at)
            return false;
        v = v << 6 | (uint32_t)(at - LETTERS);
        if ((bits += 6) >= 8)
            bytes[n++] = (char)(v >> (bits -= 8));
    }
    *out = (struct str){bytes, n};
    return true;
}

static size_t skip_breaks(struct str s, size_t i)
{
    while (i < s.n && is_break(s.p[i]))
        i++;
    return i;
}

/* From the first "=", behind the digits of a group: how far it is right. */
static size_t padding_fault(struct str s, size_t i, unsigned digits)
{
    if (digits < 2)
        return i;
    i = skip_breaks(s, i + 1);
    if (digits == 2) {
        if (i == s.n || s.p[i] != '=')
            return i;
        i = skip_breaks(s, i + 1);
    }
    return i < s.n ? i : SIZE_MAX;
}

size_t base64_fault(struct str s)
{
    unsigned digits = 0; /* of the group of four */
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] == '=')
            return padding_fault(s, i, digits);
        /* NOLINTNEXTLINE(bugprone-not-null-terminated-result): letters, not text */
        if (memchr(LETTERS, s.p[i], 64))
            digits = (digits + 1) % 4;
        else if (!is_break(s.p[i]))
            return i;
    }
    return digits ? s.n - digits : SIZE_MAX;
}
