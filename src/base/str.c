/* SPDX-License-Identifier: Apache-2.0 */
#include "base/str.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"

int str_cmp(struct str a, struct str b)
{
    size_t n = a.n < b.n ? a.n : b.n;
    int c = n ? memcmp(a.p, b.p, n) : 0;
    if (c != 0)
        return c < 0 ? -1 : 1;
    return (a.n > b.n) - (a.n < b.n);
}

static uint64_t mix(uint64_t h)
{
    h ^= h >> 32;
    h *= 0xd6e8feb86659fd93u;
    h ^= h >> 32;
    return h;
}

/* The n bytes, fewer than 8, as a number that begins with the first: no call for them. */
static uint64_t last_word(const char *p, size_t n)
{
    const unsigned char *b = (const unsigned char *)p;
    uint32_t first, last;
    if (n == 0)
        return 0;
    if (n < 4)
        return b[0] | (uint64_t)b[n / 2] << 8 * (n / 2) |
               (uint64_t)b[n - 1] << 8 * (n - 1);
    memcpy(&first, p, 4);
    memcpy(&last, p + n - 4, 4);
    return first | (uint64_t)last << 8 * (n - 4);
}

uint64_t str_hash(struct str s)
{
    uint64_t h = 0x9e3779b97f4a7c15u ^ s.n;
    size_t i = 0;
    for (; i + 8 <= s.n; i += 8) {
        uint64_t w;
        memcpy(&w, s.p + i, 8);
        h = (h ^ w) * 0x9fb21c651e98df25u;
        h ^= h >> 29;
    }
    return mix((h ^ last_word(s.p + i, s.n - i)) * 0x9fb21c651e98df25u);
}

bool str_starts(struct str s, struct str prefix)
{
    return s.n >= prefix.n && (prefix.n == 0 || memcmp(s.p, prefix.p, prefix.n) == 0);
}

bool str_ends(struct str s, struct str suffix)
{
    return s.n >= suffix.n &&
           (suffix.n == 0 || memcmp(s.p + s.n - suffix.n, suffix.p, suffix.n) == 0);
}

size_t str_find_byte(struct str s, char c, size_t from)
{
    if (from >= s.n)
        return SIZE_MAX;
    const char *hit = memchr(s.p + from, c, s.n - from);
    return hit ? (size_t)(hit - s.p) : SIZE_MAX;
}

size_t str_rfind_byte(struct str s, char c)
{
    for (size_t i = s.n; i-- > 0;)
        if (s.p[i] == c)
            return i;
    return SIZE_MAX;
}

size_t str_find(struct str s, struct str needle)
{
    if (needle.n == 0)
        return 0;
    if (s.n < needle.n)
        return SIZE_MAX;
    const char *hit = memmem(s.p, s.n, needle.p, needle.n);
    return hit ? (size_t)(hit - s.p) : SIZE_MAX;
}

struct str str_sub(struct str s, size_t from, size_t to)
{
    if (to > s.n)
        to = s.n;
    if (from >= to)
        return (struct str){s.p ? s.p + (from < s.n ? from : s.n) : NULL, 0};
    return (struct str){s.p + from, to - from};
}

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

bool str_split_next(struct str *rest, char separator, struct str *part)
{
    if (rest->n == 0)
        return false;
    size_t end = str_find_byte(*rest, separator, 0);
    *part = str_sub(*rest, 0, end);
    *rest = end == SIZE_MAX ? STR_NONE : str_sub(*rest, end + 1, rest->n);
    return true;
}

struct str str_trim(struct str s)
{
    while (s.n && is_space(s.p[0])) {
        s.p++;
        s.n--;
    }
    while (s.n && is_space(s.p[s.n - 1]))
        s.n--;
    return s;
}

int str_hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

void strbuf_init(struct strbuf *b)
{
    *b = (struct strbuf)STRBUF_INIT;
}

void strbuf_release(struct strbuf *b)
{
    free(b->p);
    strbuf_init(b);
}

void strbuf_clear(struct strbuf *b)
{
    b->n = 0;
    if (b->p)
        b->p[0] = '\0';
}

void strbuf_reserve(struct strbuf *b, size_t more)
{
    size_t want;
    if (__builtin_add_overflow(b->n + 1, more, &want) || want > SIZE_MAX / 2)
        mem_exhausted();
    if (want <= b->cap)
        return;
    size_t cap = b->cap ? b->cap : 64;
    while (cap < want)
        cap *= 2;
    b->p = mem_resize(b->p, cap, 1);
    b->cap = cap;
}

void strbuf_add(struct strbuf *b, const void *p, size_t n)
{
    strbuf_reserve(b, n);
    if (n)
        memcpy(b->p + b->n, p, n);
    b->n += n;
    b->p[b->n] = '\0';
}

void strbuf_adds(struct strbuf *b, const char *cstr)
{
    strbuf_add(b, cstr, strlen(cstr));
}

void strbuf_addstr(struct strbuf *b, struct str s)
{
    strbuf_add(b, s.p, s.n);
}

void strbuf_addc(struct strbuf *b, char c)
{
    strbuf_add(b, &c, 1);
}

void strbuf_addv(struct strbuf *b, const char *fmt, va_list ap)
{
    va_list again;
    va_copy(again, ap);
    strbuf_reserve(b, 64);
    int n = vsnprintf(b->p + b->n, b->cap - b->n, fmt, ap);
    if (n > 0 && (size_t)n >= b->cap - b->n) {
        strbuf_reserve(b, (size_t)n);
        n = vsnprintf(b->p + b->n, b->cap - b->n, fmt, again);
    }
    va_end(again);
    if (n > 0)
        b->n += (size_t)n;
    b->p[b->n] = '\0';
}

void strbuf_addf(struct strbuf *b, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    strbuf_addv(b, fmt, ap);
    va_end(ap);
}

char *strbuf_steal(struct strbuf *b)
{
    char *p = b->p ? b->p : mem_dup("", 0);
    strbuf_init(b);
    return p;
}
