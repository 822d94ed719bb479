/* SPDX-License-Identifier: Apache-2.0 */
/* Each function takes where it begins and returns where it ended, NULL on failure. */
#include "doc/json_scan.h"

#include "base/bug.h"
#include "base/utf8.h"
#include "doc/doc.h"
#include "doc/json.h"

struct scan {
    const char *end;
    struct json_want *wants;
    uint32_t depth;
};

/* Wants that are at or below the value that is read: a bit for each; their paths up to
 * there are `from` bytes long, with the dot behind. */
struct below {
    uint64_t wants;
    size_t from;
};

static const char *value(struct scan *s, const char *p, struct below below);

static __attribute__((noinline)) const char *skip_space(const char *p, const char *end)
{
    while (p < end && (*p == ' ' || *p == '\n' || *p == '\r' || *p == '\t'))
        p++;
    return p;
}

/* To what is no white space, of which there is seldom any. */
static inline const char *next(const struct scan *s, const char *p)
{
    return p < s->end && (unsigned char)*p > ' ' ? p : skip_space(p, s->end);
}

/* Behind the character, or NULL. */
static inline const char *take(const struct scan *s, const char *p, char c)
{
    p = next(s, p);
    return p < s->end && *p == c ? p + 1 : NULL;
}

/* ---- strings ---- */

#define EACH_BYTE(b) (0x0101010101010101u * (uint64_t)(b))

/* The high bit of each byte below 0x20, and of some behind such a byte. */
static inline uint64_t controls(uint64_t w)
{
    return (w - EACH_BYTE(0x20)) & ~w & EACH_BYTE(0x80);
}

static inline uint64_t zeros(uint64_t w)
{
    return (w - EACH_BYTE(1)) & ~w & EACH_BYTE(0x80);
}

/* To the first quote, backslash or control character. */
static inline const char *skip_plain(const char *p, const char *end)
{
    uint64_t w;
    for (; end - p >= 8; p += 8) {
        memcpy(&w, p, sizeof w);
        uint64_t hit =
            controls(w) | zeros(w ^ EACH_BYTE('"')) | zeros(w ^ EACH_BYTE('\\'));
        if (hit)
            return p + __builtin_ctzll(hit) / 8;
    }
    while (p < end && (unsigned char)*p >= 0x20 && *p != '"' && *p != '\\')
        p++;
    return p;
}

/* p is behind the backslash. */
static const char *escape(const struct scan *s, const char *p)
{
    if (p == s->end || *p == '\0' || !strchr("\"\\/bfnrtu", *p))
        return NULL;
    if (*p++ != 'u')
        return p;
    if (s->end - p < 4)
        return NULL;
    for (int i = 0; i < 4; i++)
        if (str_hex_digit(p[i]) < 0)
            return NULL;
    bool half = (p[0] == 'd' || p[0] == 'D') && str_hex_digit(p[1]) >= 8;
    return half ? NULL : p + 4;
}

/* With its quotes; p is at the first. */
static inline const char *string(const struct scan *s, const char *p)
{
    if (p == s->end || *p != '"')
        return NULL;
    for (p = skip_plain(p + 1, s->end); p < s->end; p = skip_plain(p, s->end)) {
        if (*p == '"')
            return p + 1;
        if (*p != '\\' || !(p = escape(s, p + 1)))
            return NULL;
    }
    return NULL;
}

/* ---- values ---- */

/* Those of the wants that go on with the key, and the one that ends with it. */
static struct below narrow(struct scan *s, struct below b, struct str key,
                           struct json_want **ends)
{
    struct below out = {0, b.from + key.n + 1};
    for (uint64_t rest = b.wants; rest; rest &= rest - 1) {
        struct json_want *w = &s->wants[__builtin_ctzll(rest)];
        size_t n = w->path.n - b.from;
        if (n < key.n || memcmp(w->path.p + b.from, key.p, key.n) != 0)
            continue;
        if (n == key.n)
            *ends = w;
        else if (w->path.p[b.from + key.n] == '.')
            out.wants |= rest & -rest;
    }
    return out;
}

static const char *member(struct scan *s, const char *p, struct below below)
{
    struct below inner = {0};
    struct json_want *want = NULL;
    const char *key = p = next(s, p), *end = string(s, p);
    if (!end || !(p = take(s, end, ':')))
        return NULL;
    if (below.wants)
        inner = narrow(s, below, (struct str){key + 1, (size_t)(end - key) - 2}, &want);
    p = next(s, p);
    end = value(s, p, inner);
    if (end && want && !want->raw.p)
        want->raw = (struct str){p, (size_t)(end - p)};
    return end;
}

static const char *map(struct scan *s, const char *p, struct below below)
{
    const char *end = take(s, p, '}');
    while (!end) {
        if (!(p = member(s, p, below)))
            return NULL;
        end = take(s, p, '}');
        if (!end && !(p = take(s, p, ',')))
            return NULL;
    }
    return end;
}

static const char *list(struct scan *s, const char *p)
{
    const char *end = take(s, p, ']');
    while (!end) {
        if (!(p = value(s, next(s, p), (struct below){0})))
            return NULL;
        end = take(s, p, ']');
        if (!end && !(p = take(s, p, ',')))
            return NULL;
    }
    return end;
}

static const char *word(const struct scan *s, const char *p, struct str w)
{
    return str_starts((struct str){p, (size_t)(s->end - p)}, w) ? p + w.n : NULL;
}

static const char *number(const struct scan *s, const char *p)
{
    size_t n = json_number_len((struct str){p, (size_t)(s->end - p)});
    return n > 0 ? p + n : NULL;
}

static const char *value(struct scan *s, const char *p, struct below below)
{
    char c = p < s->end ? *p : '\0';
    if (c == '"')
        return string(s, p);
    if (c == '{' || c == '[') {
        if (s->depth == DOC_MAX_DEPTH)
            return NULL;
        s->depth++;
        p = c == '{' ? map(s, p + 1, below) : list(s, p + 1);
        s->depth--;
        return p;
    }
    return c == 't'   ? word(s, p, STR("true"))
           : c == 'f' ? word(s, p, STR("false"))
           : c == 'n' ? word(s, p, STR("null"))
                      : number(s, p);
}

bool json_scan(struct str text, struct json_want *wants, uint32_t n)
{
    struct scan s = {.wants = wants};
    if (n > JSON_WANTS)
        bug("json: more than %d wants", JSON_WANTS);
    for (uint32_t i = 0; i < n; i++)
        wants[i].raw = STR_NONE;
    if (!text.p || (!utf8_is_ascii(text) && !utf8_valid(text)))
        return false;
    s.end = text.p + text.n;
    struct below all = {n ? UINT64_MAX >> (64 - n) : 0, 0};
    const char *p = value(&s, next(&s, text.p), all);
    return p && skip_space(p, s.end) == s.end;
}

/* ---- what was found ---- */

bool json_raw_string(struct str raw, struct arena *a, struct str *out)
{
    struct doc_source src = {.name = "text", .text = raw};
    struct doc d;
    if (raw.n < 2 || raw.p[0] != '"')
        return false;
    *out = str_sub(raw, 1, raw.n - 1);
    if (str_find_byte(*out, '\\', 0) == SIZE_MAX)
        return true;
    if (!doc_read_json(&src, a, &d, NULL))
        return false;
    *out = doc_str(&d);
    return true;
}

bool json_raw_member(struct str *at, struct str *key, struct str *val)
{
    struct scan s = {.end = at->p ? at->p + at->n : NULL};
    const char *p = at->p ? take(&s, at->p, '{') : NULL;
    if (!p)
        p = at->p ? take(&s, at->p, ',') : NULL;
    const char *name = p ? next(&s, p) : NULL, *end = name ? string(&s, name) : NULL;
    const char *from = end ? take(&s, end, ':') : NULL;
    from = from ? next(&s, from) : NULL;
    p = from ? value(&s, from, (struct below){0}) : NULL;
    if (!p)
        return false;
    *key = (struct str){name, (size_t)(end - name)};
    *val = (struct str){from, (size_t)(p - from)};
    *at = (struct str){p, (size_t)(s.end - p)};
    return true;
}
