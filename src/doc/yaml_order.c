/* SPDX-License-Identifier: Apache-2.0 */
#include "base/utf8.h"
#include "doc/yaml_doc.h"

/* Ranges of code points, both ends included, ascending. */
struct range {
    uint32_t lo, hi;
};
static const struct range letters[] = {
#define RANGE(lo, hi) {lo, hi},
#include "doc/letters.inc"
#undef RANGE
};
static const struct range digits[] = {
#define RANGE(lo, hi) {lo, hi},
#include "doc/digits.inc"
#undef RANGE
};

static bool among(const struct range *v, size_t n, uint32_t cp)
{
    size_t lo = 0, hi = n;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (cp > v[mid].hi)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < n && cp >= v[lo].lo;
}

static bool is_letter(uint32_t cp)
{
    if (cp < 0x80)
        return (cp | 0x20) >= 'a' && (cp | 0x20) <= 'z';
    return among(letters, sizeof letters / sizeof *letters, cp);
}

static bool is_digit(uint32_t cp)
{
    if (cp < 0x80)
        return cp >= '0' && cp <= '9';
    return among(digits, sizeof digits / sizeof *digits, cp);
}

/* A walk over a key's characters. */
struct cursor {
    struct str s;
    size_t i;
    uint32_t cp;
    unsigned len;
};

static bool at_end(const struct cursor *c)
{
    return c->i >= c->s.n;
}

static void load(struct cursor *c)
{
    c->len = at_end(c) ? 0 : utf8_decode(c->s, c->i, &c->cp);
    if (c->len == 0) {
        c->len = 1;
        c->cp = 0xfffd;
    }
}

static void step(struct cursor *c)
{
    c->i += c->len;
    load(c);
}

/* The number at the cursor behind these first digits, wrapping like an int64. */
static int64_t number_at(struct cursor *c, int64_t first)
{
    uint64_t n = (uint64_t)first;
    for (; !at_end(c) && is_digit(c->cp); step(c))
        n = n * 10 + (uint64_t)((int64_t)c->cp - '0');
    return (int64_t)n;
}

/* Two keys that differ first in these characters, no two letters. A number counts as a
 * whole; in_number: what was equal so far ends in digits that are not all zero. */
static int compare_rest(struct cursor a, struct cursor b, bool in_number)
{
    uint32_t x = a.cp, y = b.cp;
    size_t ai = a.i, bi = b.i;
    int64_t first = in_number && (x == '0' || y == '0');
    int64_t an = number_at(&a, first), bn = number_at(&b, first);
    if (an != bn)
        return an < bn ? -1 : 1;
    /* Lengths in characters: up to here both keys were equal. */
    size_t alen = utf8_count(str_sub(a.s, ai, a.i));
    size_t blen = utf8_count(str_sub(b.s, bi, b.i));
    if (alen != blen)
        return alen < blen ? -1 : 1;
    return x < y ? -1 : 1;
}

int yaml_key_cmp(struct str p, struct str q)
{
    struct cursor a = {.s = p}, b = {.s = q};
    bool in_number = false;
    load(&a);
    load(&b);
    for (; !at_end(&a) && !at_end(&b); step(&a), step(&b)) {
        if (a.cp == b.cp) {
            in_number = is_digit(a.cp) && (in_number || a.cp != '0');
            continue;
        }
        bool al = is_letter(a.cp), bl = is_letter(b.cp);
        if (al && bl)
            return a.cp < b.cp ? -1 : 1;
        if (al != bl)
            return bl ? -1 : 1;
        return compare_rest(a, b, in_number);
    }
    return at_end(&a) ? (at_end(&b) ? 0 : -1) : 1;
}
