/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Strings beyond the core language, in the two versions that matter: the second, which
 * Kubernetes froze, and the latest. Positions count code points. What is cut out of a
 * string shares its bytes.
 */
#include "base/utf8.h"
#include "cel/lib.h"
#include "cel/lib_strings_format.h"

/* ---- Positions ---- */

static bool is_ascii(struct cel_value s)
{
    return (s.aux & CEL_STRING_ASCII) != 0;
}

/* Bytes of the code point at i; malformed bytes count alone. */
static size_t point_size(struct str s, size_t i)
{
    uint32_t cp;
    unsigned n = (unsigned char)s.p[i] < 0x80 ? 1 : utf8_decode(s, i, &cp);
    return n ? n : 1;
}

/* Byte offset of the code point numbered index, from the one at offset from; false if the
 * string ends before it. Its end is a position too. */
static bool offset_of(struct cel_value v, uint64_t index, size_t *offset)
{
    struct str s = cel_str(v);
    if (is_ascii(v) || index > s.n) {
        *offset = index;
        return index <= s.n;
    }
    size_t i = 0;
    for (; index > 0 && i < s.n; index--)
        i += point_size(s, i);
    *offset = i;
    return index == 0;
}

static int64_t points(struct cel_value v)
{
    return is_ascii(v) ? v.len : (int64_t)utf8_count(cel_str(v));
}

static int64_t points_before(struct cel_value v, size_t offset)
{
    return is_ascii(v) ? (int64_t)offset
                       : (int64_t)utf8_count(str_sub(cel_str(v), 0, offset));
}

static struct cel_value cut(struct cel_value v, size_t from, size_t to)
{
    struct cel_value part = cel_string(str_sub(cel_str(v), from, to));
    part.aux = v.aux & CEL_STRING_ASCII;
    return part;
}

static struct cel_value out_of_range(struct cel_run *run, int64_t index)
{
    return cel_errorf(run, "index out of range: %lld", (long long)index);
}

/* ---- Parts ---- */

static struct cel_value char_at(struct cel_run *run, const struct cel_value *a,
                                unsigned n)
{
    size_t from;
    if (a[1].i < 0 || !offset_of(a[0], a[1].u, &from))
        return out_of_range(run, a[1].i);
    size_t size = from < a[0].len ? point_size(cel_str(a[0]), from) : 0;
    return cut(a[0], from, from + size);
}

static struct cel_value substring(struct cel_run *run, const struct cel_value *a,
                                  unsigned n)
{
    size_t from, to = a[0].len;
    if (n == 3 && a[1].i > a[2].i)
        return cel_errorf(run, "invalid substring range. start: %lld, end: %lld",
                          (long long)a[1].i, (long long)a[2].i);
    if (a[1].i < 0 || !offset_of(a[0], a[1].u, &from))
        return out_of_range(run, a[1].i);
    if (n == 3 && !offset_of(a[0], a[2].u, &to))
        return out_of_range(run, a[2].i);
    return cut(a[0], from, to);
}

/* White_Space of Unicode. */
static bool is_space(uint32_t cp)
{
    return (cp >= 0x09 && cp <= 0x0d) || cp == 0x20 || cp == 0x85 || cp == 0xa0 ||
           cp == 0x1680 || (cp >= 0x2000 && cp <= 0x200a) || cp == 0x2028 ||
           cp == 0x2029 || cp == 0x202f || cp == 0x205f || cp == 0x3000;
}

/* Size of the white space at i, 0 if there is none. */
static size_t space_at(struct str s, size_t i)
{
    uint32_t cp;
    unsigned n = utf8_decode(s, i, &cp);
    return n && is_space(cp) ? n : 0;
}

static size_t point_start(struct str s, size_t end)
{
    size_t i = end - 1;
    while (i > 0 && end - i < 4 && ((unsigned char)s.p[i] & 0xc0) == 0x80)
        i--;
    return i;
}

static struct cel_value trim(struct cel_run *run, const struct cel_value *a, unsigned n)
{
    struct str s = cel_str(a[0]);
    size_t from = 0, size;
    while (from < s.n && (size = space_at(s, from)) > 0)
        from += size;
    while (s.n > from) {
        size_t start = point_start(s, s.n);
        if (space_at(s, start) != s.n - start)
            break;
        s.n = start;
    }
    return cut(a[0], from, s.n);
}

/* ---- Search ---- */

/* The public specification refuses a position behind the end, which Kubernetes takes. */
static bool beyond(const struct cel_value *a, unsigned n)
{
    size_t at;
    return n == 3 && a[2].i >= 0 && !offset_of(a[0], a[2].u, &at);
}

static struct cel_value index_of(struct cel_run *run, const struct cel_value *a,
                                 unsigned n)
{
    int64_t at = n == 3 ? a[2].i : 0;
    if (at < 0)
        return out_of_range(run, at);
    size_t from;
    bool inside = offset_of(a[0], (uint64_t)at, &from);
    if (a[1].len == 0)
        return cel_int(inside ? at : points(a[0]));
    if (!inside)
        return cel_int(-1);
    struct str s = cel_str(a[0]), rest = str_sub(s, from, s.n);
    size_t hit = str_find(rest, cel_str(a[1]));
    return cel_int(hit == SIZE_MAX ? -1 : points_before(a[0], from + hit));
}

/* Offset of the last occurrence that starts at or before the offset from. */
static size_t find_last(struct str s, struct str needle, size_t from)
{
    if (needle.n > s.n)
        return SIZE_MAX;
    size_t i = from < s.n - needle.n ? from : s.n - needle.n;
    for (;; i--) {
        if (memcmp(s.p + i, needle.p, needle.n) == 0)
            return i;
        if (i == 0)
            return SIZE_MAX;
    }
}

static struct cel_value last_index_of(struct cel_run *run, const struct cel_value *a,
                                      unsigned n)
{
    size_t from = a[0].len;
    if (n == 3 && a[2].i < 0)
        return out_of_range(run, a[2].i);
    bool inside = n == 2 || offset_of(a[0], a[2].u, &from);
    if (a[1].len == 0)
        return cel_int(n == 3 && inside ? a[2].i : points(a[0]));
    if (!inside || (n == 3 && from == a[0].len))
        return cel_int(-1);
    size_t hit = find_last(cel_str(a[0]), cel_str(a[1]), from);
    return cel_int(hit == SIZE_MAX ? -1 : points_before(a[0], hit));
}

static struct cel_value index_of_latest(struct cel_run *run, const struct cel_value *a,
                                        unsigned n)
{
    return beyond(a, n) ? out_of_range(run, a[2].i) : index_of(run, a, n);
}

static struct cel_value last_index_of_latest(struct cel_run *run,
                                             const struct cel_value *a, unsigned n)
{
    return beyond(a, n) ? out_of_range(run, a[2].i) : last_index_of(run, a, n);
}

/* ---- Changes ---- */

/* A copy with the letters from first to first + 25 in the other case. */
static struct cel_value change_case(struct cel_run *run, struct cel_value v, char first)
{
    char *p = arena_alloc(&run->arena, v.len);
    for (uint32_t i = 0; i < v.len; i++)
        p[i] = v.s[i] >= first && v.s[i] < first + 26 ? (char)(v.s[i] ^ 0x20) : v.s[i];
    v.s = p;
    v.aux2 = 0;
    return v;
}

static struct cel_value lower_ascii(struct cel_run *run, const struct cel_value *a,
                                    unsigned n)
{
    return change_case(run, a[0], 'A');
}

static struct cel_value upper_ascii(struct cel_run *run, const struct cel_value *a,
                                    unsigned n)
{
    return change_case(run, a[0], 'a');
}

/* The text between code points: an empty search string matches before each of them and at
 * the end. */
static void replace_between(struct str s, struct str by, int64_t limit,
                            struct strbuf *out)
{
    size_t i = 0;
    for (; limit != 0 && out->n <= CEL_TEXT_MAX; limit--) {
        strbuf_addstr(out, by);
        if (i == s.n)
            return;
        size_t size = point_size(s, i);
        strbuf_add(out, s.p + i, size);
        i += size;
    }
    strbuf_add(out, s.p + i, s.n - i);
}

static void replace_each(struct str s, struct str old, struct str by, int64_t limit,
                         struct strbuf *out)
{
    for (; limit != 0 && out->n <= CEL_TEXT_MAX; limit--) {
        size_t hit = str_find(s, old);
        if (hit == SIZE_MAX)
            break;
        strbuf_add(out, s.p, hit);
        strbuf_addstr(out, by);
        s = str_sub(s, hit + old.n, s.n);
    }
    strbuf_addstr(out, s);
}

static struct cel_value replace(struct cel_run *run, const struct cel_value *a,
                                unsigned n)
{
    struct str s = cel_str(a[0]), old = cel_str(a[1]), by = cel_str(a[2]);
    int64_t limit = n == 4 ? a[3].i : -1;
    if (limit == 0 || str_eq(old, by))
        return a[0];
    struct strbuf out = STRBUF_INIT;
    if (old.n == 0)
        replace_between(s, by, limit, &out);
    else
        replace_each(s, old, by, limit, &out);
    return cel_lib_text(run, &out);
}

static struct cel_value split_points(struct cel_run *run, struct cel_value v,
                                     int64_t limit)
{
    struct cel_list_builder parts = {0};
    struct str s = cel_str(v);
    size_t i = 0;
    for (; i < s.n && limit != 1; limit--) {
        size_t size = point_size(s, i);
        cel_list_push(run, &parts, cut(v, i, i + size));
        i += size;
    }
    if (i < s.n)
        cel_list_push(run, &parts, cut(v, i, s.n));
    return cel_list_done(&parts);
}

/* limit: most parts, the last one then holds the rest; negative: no limit. */
static struct cel_value split(struct cel_run *run, const struct cel_value *a, unsigned n)
{
    struct cel_list_builder parts = {0};
    struct str s = cel_str(a[0]), sep = cel_str(a[1]);
    int64_t limit = n == 3 ? a[2].i : -1;
    if (limit == 0)
        return cel_list(NULL, 0);
    if (sep.n == 0)
        return split_points(run, a[0], limit);
    size_t from = 0;
    for (; limit != 1; limit--) {
        size_t hit = str_find(str_sub(s, from, s.n), sep);
        if (hit == SIZE_MAX)
            break;
        cel_list_push(run, &parts, cut(a[0], from, from + hit));
        from += hit + sep.n;
    }
    cel_list_push(run, &parts, cut(a[0], from, s.n));
    return cel_list_done(&parts);
}

static struct cel_value join(struct cel_run *run, const struct cel_value *a, unsigned n)
{
    struct strbuf out = STRBUF_INIT;
    for (uint32_t i = 0; i < a[0].len && out.n <= CEL_TEXT_MAX; i++) {
        struct cel_value item = a[0].items[i];
        if (item.kind != CEL_STRING) {
            strbuf_clear(&out);
            cel_print_go(item, &out);
            struct cel_value e =
                cel_errorf(run, "join: invalid input: %s", strbuf_cstr(&out));
            strbuf_release(&out);
            return e;
        }
        if (i > 0 && n == 2)
            strbuf_addstr(&out, cel_str(a[1]));
        strbuf_addstr(&out, cel_str(item));
    }
    return cel_lib_text(run, &out);
}

static struct cel_value reverse(struct cel_run *run, const struct cel_value *a,
                                unsigned n)
{
    struct str s = cel_str(a[0]);
    char *p = arena_alloc(&run->arena, s.n);
    for (size_t i = 0, size; i < s.n; i += size) {
        size = point_size(s, i);
        memcpy(p + s.n - i - size, s.p + i, size);
    }
    struct cel_value v = a[0];
    v.s = p;
    v.aux2 = 0;
    return v;
}

/* The letter that stands for c behind a backslash, or 0. */
static char escape_of(char c)
{
    static const char plain[] = "\a\b\f\n\r\t\v\\\"", letters[] = "abfnrtv\\\"";
    const char *hit = c ? strchr(plain, c) : NULL;
    return hit ? letters[hit - plain] : 0;
}

static struct cel_value quote(struct cel_run *run, const struct cel_value *a, unsigned n)
{
    struct strbuf out = STRBUF_INIT;
    strbuf_addc(&out, '"');
    for (uint32_t i = 0; i < a[0].len; i++) {
        char letter = escape_of(a[0].s[i]);
        if (letter)
            strbuf_addc(&out, '\\');
        strbuf_addc(&out, letter ? letter : a[0].s[i]);
    }
    strbuf_addc(&out, '"');
    return cel_lib_text(run, &out);
}

/* ---- The tables ---- */

#define COMMON_ROWS                                                                      \
    CEL_MEMBER("string_char_at_int", "charAt", "(string, int) -> string", 0, char_at),   \
        CEL_MEMBER("string_index_of_string", "indexOf", "(string, string) -> int", 0,    \
                   index_of),                                                            \
        CEL_MEMBER("string_last_index_of_string", "lastIndexOf",                         \
                   "(string, string) -> int", 0, last_index_of),                         \
        CEL_MEMBER("string_lower_ascii", "lowerAscii", "(string) -> string", 0,          \
                   lower_ascii),                                                         \
        CEL_MEMBER("string_replace_string_string", "replace",                            \
                   "(string, string, string) -> string", 0, replace),                    \
        CEL_MEMBER("string_replace_string_string_int", "replace",                        \
                   "(string, string, string, int) -> string", 0, replace),               \
        CEL_MEMBER("string_split_string", "split", "(string, string) -> list(string)",   \
                   0, split),                                                            \
        CEL_MEMBER("string_split_string_int", "split",                                   \
                   "(string, string, int) -> list(string)", 0, split),                   \
        CEL_MEMBER("string_substring_int", "substring", "(string, int) -> string", 0,    \
                   substring),                                                           \
        CEL_MEMBER("string_substring_int_int", "substring",                              \
                   "(string, int, int) -> string", 0, substring),                        \
        CEL_MEMBER("string_trim", "trim", "(string) -> string", 0, trim),                \
        CEL_MEMBER("string_upper_ascii", "upperAscii", "(string) -> string", 0,          \
                   upper_ascii),                                                         \
        CEL_MEMBER("list_join", "join", "(list(string)) -> string", 0, join),            \
        CEL_MEMBER("list_join_string", "join", "(list(string), string) -> string", 0,    \
                   join)

/* charAt to upperAscii and join came with version 0, the others with version 2. */
static const struct cel_overload k8s_rows[] = {
    COMMON_ROWS,
    CEL_MEMBER("string_index_of_string_int", "indexOf", "(string, string, int) -> int", 0,
               index_of),
    CEL_MEMBER("string_last_index_of_string_int", "lastIndexOf",
               "(string, string, int) -> int", 0, last_index_of),
    CEL_MEMBER("string_format", "format", "(string, list(dyn)) -> string", 29,
               cel_format_frozen),
    CEL_GLOBAL("strings_quote", "strings.quote", "(string) -> string", 29, quote),
};

static const struct cel_overload latest_rows[] = {
    COMMON_ROWS,
    CEL_MEMBER("string_index_of_string_int", "indexOf", "(string, string, int) -> int", 0,
               index_of_latest),
    CEL_MEMBER("string_last_index_of_string_int", "lastIndexOf",
               "(string, string, int) -> int", 0, last_index_of_latest),
    CEL_MEMBER("string_format", "format", "(string, list(dyn)) -> string", 0,
               cel_format_latest),
    CEL_GLOBAL("strings_quote", "strings.quote", "(string) -> string", 0, quote),
    CEL_MEMBER("string_reverse", "reverse", "(string) -> string", 0, reverse),
};

static uint64_t cost_join(const struct cel_value *args, unsigned n,
                          struct cel_value result)
{
    return cel_cost_string(2 * cel_cost_size(result));
}

static const struct cel_cost_row k8s_costs[] = {
    {NULL, "lowerAscii", cel_cost_scan},
    {NULL, "upperAscii", cel_cost_scan},
    {NULL, "substring", cel_cost_scan},
    {NULL, "trim", cel_cost_scan},
    {NULL, "replace", cel_cost_scan_twice},
    {NULL, "split", cel_cost_scan_twice},
    {NULL, "join", cost_join},
    {NULL, "indexOf", cel_cost_traverse},
    {NULL, "lastIndexOf", cel_cost_traverse},
    {"string_format", NULL, cel_cost_scan},
    {"strings_quote", NULL, cel_cost_scan},
};

const struct cel_lib cel_lib_strings = {
    .name = "strings",
    .overloads = k8s_rows,
    .noverloads = CEL_COUNT(k8s_rows),
    .costs = k8s_costs,
    .ncosts = CEL_COUNT(k8s_costs),
};

/* ---- Costs of the latest version ---- */

static uint64_t at_least_one(uint64_t n)
{
    return n ? n : 1;
}

static uint64_t cost_char_at(const struct cel_value *args, unsigned n,
                             struct cel_value result)
{
    return 2 + cel_cost_string(cel_cost_size(args[0]));
}

static uint64_t cost_transform(const struct cel_value *args, unsigned n,
                               struct cel_value result)
{
    return 1 + cel_cost_string(cel_cost_size(args[0])) + cel_cost_size(result);
}

static uint64_t cost_search(const struct cel_value *args, unsigned n,
                            struct cel_value result)
{
    return 1 + cel_cost_string(cel_cost_size(args[0]) * cel_cost_size(args[1]));
}

static uint64_t cost_replace(const struct cel_value *args, unsigned n,
                             struct cel_value result)
{
    uint64_t looked_at =
        at_least_one(cel_cost_size(args[0])) * at_least_one(cel_cost_size(args[1]));
    return 1 + cel_cost_string(looked_at) + cel_cost_size(result);
}

static uint64_t cost_split(const struct cel_value *args, unsigned n,
                           struct cel_value result)
{
    return 11 + cel_cost_string(1 + cel_cost_size(args[0])) + cel_cost_size(result);
}

static uint64_t cost_join_latest(const struct cel_value *args, unsigned n,
                                 struct cel_value result)
{
    return 1 + cel_cost_string(1 + cel_cost_size(args[0])) + cel_cost_size(result);
}

static const struct cel_cost_row latest_costs[] = {
    {"string_char_at_int", NULL, cost_char_at},
    {"string_index_of_string", NULL, cost_search},
    {"string_index_of_string_int", NULL, cost_search},
    {"string_last_index_of_string", NULL, cost_search},
    {"string_last_index_of_string_int", NULL, cost_search},
    {"string_lower_ascii", NULL, cost_transform},
    {"string_upper_ascii", NULL, cost_transform},
    {"string_replace_string_string", NULL, cost_replace},
    {"string_replace_string_string_int", NULL, cost_replace},
    {"string_split_string", NULL, cost_split},
    {"string_split_string_int", NULL, cost_split},
    {"string_substring_int", NULL, cost_transform},
    {"string_substring_int_int", NULL, cost_transform},
    {"string_trim", NULL, cost_transform},
    {"string_reverse", NULL, cost_transform},
    {"list_join", NULL, cost_join_latest},
    {"list_join_string", NULL, cost_join_latest},
    {"string_format", NULL, cel_cost_scan},
    {"strings_quote", NULL, cel_cost_scan},
};

const struct cel_lib cel_lib_strings_latest = {
    .name = "strings, latest",
    .overloads = latest_rows,
    .noverloads = CEL_COUNT(latest_rows),
    .costs = latest_costs,
    .ncosts = CEL_COUNT(latest_costs),
};
