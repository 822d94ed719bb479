/* SPDX-License-Identifier: Apache-2.0 */
#include "doc/json.h"

#include <charconv>
#include <cstring>
#include <memory>
#include <new>

#include <simdjson.h>

using simdjson::error_code;
using parser_impl = simdjson::internal::dom_parser_implementation;

enum json_index_state json_index_init(struct json_index *ix, const char *text, size_t n)
{
    *ix = {};
    if (n == 0)
        return JSON_INDEX_EMPTY;
    std::unique_ptr<parser_impl> p;
    if (simdjson::get_active_implementation()->create_dom_parser_implementation(n, 1, p))
        return JSON_INDEX_NO_MEMORY;
    error_code code = p->stage1(reinterpret_cast<const uint8_t *>(text), n,
                                simdjson::stage1_mode::regular);
    ix->at = p->structural_indexes.get();
    ix->n = p->n_structural_indexes;
    ix->parser = p.release();
    switch (code) {
    case simdjson::SUCCESS:
        return JSON_INDEX_OK;
    case simdjson::UTF8_ERROR:
        ix->bad_utf8 = true;
        return JSON_INDEX_OK;
    case simdjson::EMPTY:
        return JSON_INDEX_EMPTY;
    case simdjson::MEMALLOC:
    case simdjson::CAPACITY:
        return JSON_INDEX_NO_MEMORY;
    default:
        return JSON_INDEX_BAD_STRING;
    }
}

void json_index_fini(struct json_index *ix)
{
    delete static_cast<parser_impl *>(ix->parser);
    *ix = {};
}

/* Whether a number that does not fit a double is too small rather than too large: the
 * place of its first digit that counts, its exponent added, is left of the point. */
static bool is_tiny(const char *p, const char *end)
{
    const char *e = p;
    while (e < end && *e != 'e' && *e != 'E')
        e++;
    long long place = 0;
    bool point = false, seen = false;
    for (const char *c = p; c < e; c++) {
        if (*c == '.')
            point = true;
        else if (*c >= '0' && *c <= '9') {
            seen = seen || *c != '0';
            place += seen && !point ? 1 : !seen && point ? -1 : 0;
        }
    }
    long long exp = 0;
    if (e < end) {
        const char *from = e + 1 + (e[1] == '+');
        if (std::from_chars(from, end, exp).ec != std::errc())
            return *from == '-';
    }
    return exp < -place;
}

bool json_to_double(const char *text, size_t n, double *out)
{
    double d = 0;
    auto r = std::from_chars(text, text + n, d);
    if (r.ec == std::errc::result_out_of_range) {
        if (!is_tiny(text, text + n))
            return false;
        d = text[0] == '-' ? -0.0 : 0.0;
    } else if (r.ec != std::errc() || r.ptr != text + n) {
        return false;
    }
    *out = d;
    return true;
}

/* Digits d1 d2 ... dn times ten to the (point - n) as plain decimals. */
static char *lay_out(char *out, const char *digits, int n, int point)
{
    if (point <= 0) {
        *out++ = '0';
        *out++ = '.';
        for (int i = point; i < 0; i++)
            *out++ = '0';
    }
    for (int i = 0; i < n || i < point; i++) {
        if (i == point && point > 0)
            *out++ = '.';
        *out++ = i < n ? digits[i] : '0';
    }
    return out;
}

size_t json_from_double(double d, char out[JSON_DOUBLE_ROOM])
{
    char sci[JSON_DOUBLE_ROOM];
    char *end =
        std::to_chars(sci, sci + sizeof sci, d, std::chars_format::scientific).ptr;
    double abs = d < 0 ? -d : d;
    if (abs != 0 && (abs < 1e-6 || abs >= 1e21)) {
        /* encoding/json writes e-9 where others write e-09. */
        if (end[-4] == 'e' && end[-3] == '-' && end[-2] == '0') {
            end[-2] = end[-1];
            end--;
        }
        memcpy(out, sci, (size_t)(end - sci));
        return (size_t)(end - sci);
    }
    char digits[JSON_DOUBLE_ROOM], *to = out;
    const char *p = sci;
    int n = 0, exp = 0;
    if (*p == '-')
        *to++ = *p++;
    for (; *p != 'e'; p++)
        if (*p != '.')
            digits[n++] = *p;
    p += p[1] == '+' ? 2 : 1;
    std::from_chars(p, end, exp);
    return (size_t)(lay_out(to, digits, n, exp + 1) - out);
}
