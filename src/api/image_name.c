/* SPDX-License-Identifier: Apache-2.0 */
#include "api/image_name.h"

enum { MAX_NAME = 255, MAX_TAG = 128, ID_LENGTH = 64 };

static bool is_lower(char c)
{
    return c >= 'a' && c <= 'z';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
    return is_lower((char)(c | 32)) && c != '`' - 32;
}

static bool is_hex(char c)
{
    return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

static bool all(struct str s, bool (*fits)(char c))
{
    for (size_t i = 0; i < s.n; i++)
        if (!fits(s.p[i]))
            return false;
    return s.n > 0;
}

/* Lower-case words joined by one '.', one or two '_', or any number of '-'. */
static bool is_component(struct str s)
{
    size_t i = 0;
    for (;;) {
        size_t word = i, gap;
        while (i < s.n && (is_lower(s.p[i]) || is_digit(s.p[i])))
            i++;
        if (i == word)
            return false;
        if (i == s.n)
            return true;
        gap = i;
        while (i < s.n && s.p[i] == s.p[gap])
            i++;
        size_t most = s.p[gap] == '.' ? 1 : s.p[gap] == '_' ? 2 : SIZE_MAX;
        if (!strchr("._-", s.p[gap]) || i - gap > most)
            return false;
    }
}

static bool is_path(struct str s)
{
    size_t at = 0, slash;
    while ((slash = str_find_byte(s, '/', at)) != SIZE_MAX) {
        if (!is_component(str_sub(s, at, slash)))
            return false;
        at = slash + 1;
    }
    return is_component(str_sub(s, at, SIZE_MAX));
}

static bool is_host_char(char c)
{
    return is_letter(c) || is_digit(c) || c == '-';
}

static bool is_label(struct str s)
{
    return all(s, is_host_char) && s.p[0] != '-' && s.p[s.n - 1] != '-';
}

static bool is_v6_char(char c)
{
    return is_hex(c) || c == ':';
}

static bool is_host(struct str s)
{
    size_t at = 0, dot;
    if (s.n > 2 && s.p[0] == '[' && s.p[s.n - 1] == ']')
        return all(str_sub(s, 1, s.n - 1), is_v6_char);
    while ((dot = str_find_byte(s, '.', at)) != SIZE_MAX) {
        if (!is_label(str_sub(s, at, dot)))
            return false;
        at = dot + 1;
    }
    return is_label(str_sub(s, at, SIZE_MAX));
}

/* host[:port] */
static bool is_domain(struct str s)
{
    size_t colon = str_rfind_byte(s, ':');
    if (colon == SIZE_MAX || s.p[s.n - 1] == ']')
        return is_host(s);
    return all(str_sub(s, colon + 1, SIZE_MAX), is_digit) &&
           is_host(str_sub(s, 0, colon));
}

static bool has_upper(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (is_letter(s.p[i]) && !is_lower(s.p[i]))
            return true;
    return false;
}

/* Whether the part before the first slash is a domain and not the path's first word. */
static bool names_domain(struct str first)
{
    return str_find_byte(first, '.', 0) != SIZE_MAX ||
           str_find_byte(first, ':', 0) != SIZE_MAX || str_is(first, "localhost") ||
           has_upper(first);
}

static bool is_name(struct str s)
{
    size_t slash = str_find_byte(s, '/', 0);
    if (slash == SIZE_MAX || !names_domain(str_sub(s, 0, slash)))
        return s.n <= MAX_NAME && is_path(s);
    return s.n <= MAX_NAME && is_domain(str_sub(s, 0, slash)) &&
           is_path(str_sub(s, slash + 1, SIZE_MAX));
}

static bool is_tag_char(char c)
{
    return is_letter(c) || is_digit(c) || c == '_' || c == '.' || c == '-';
}

static bool is_tag(struct str s)
{
    return s.n <= MAX_TAG && all(s, is_tag_char) && s.p[0] != '.' && s.p[0] != '-';
}

static bool is_lower_hex(char c)
{
    return is_digit(c) || (c >= 'a' && c <= 'f');
}

static bool is_digest(struct str s)
{
    static const struct {
        struct str algorithm;
        size_t length;
    } KNOWN[] = {{{"sha256:", 7}, 64}, {{"sha384:", 7}, 96}, {{"sha512:", 7}, 128}};
    for (size_t i = 0; i < sizeof KNOWN / sizeof *KNOWN; i++)
        if (str_starts(s, KNOWN[i].algorithm))
            return s.n == KNOWN[i].algorithm.n + KNOWN[i].length &&
                   all(str_sub(s, KNOWN[i].algorithm.n, SIZE_MAX), is_lower_hex);
    return false;
}

bool image_name_is_latest(struct str name)
{
    size_t at = str_find_byte(name, '@', 0);
    struct str before = str_sub(name, 0, at);
    size_t slash = str_rfind_byte(before, '/'), colon = str_rfind_byte(before, ':');
    bool tagged = colon != SIZE_MAX && (slash == SIZE_MAX || colon > slash);
    struct str tag = tagged ? str_sub(before, colon + 1, SIZE_MAX) : STR("latest");
    if (name.n == ID_LENGTH && all(name, is_lower_hex))
        return false;
    if (!is_name(tagged ? str_sub(before, 0, colon) : before) || !is_tag(tag))
        return false;
    if (at != SIZE_MAX && !is_digest(str_sub(name, at + 1, SIZE_MAX)))
        return false;
    return str_is(tag, "latest") && (tagged || at == SIZE_MAX);
}
