/* SPDX-License-Identifier: Apache-2.0 */
#include "doc/json_shim.h"

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

int json_digits(double d, bool narrow, char out[JSON_DIGITS_ROOM], int *point)
{
    char sci[JSON_DIGITS_ROOM + 8];
    char *to = sci + sizeof sci;
    double abs = d < 0 ? -d : d;
    char *end =
        narrow ? std::to_chars(sci, to, (float)abs, std::chars_format::scientific).ptr
               : std::to_chars(sci, to, abs, std::chars_format::scientific).ptr;
    const char *p = sci;
    int n = 0, exp = 0;
    for (; *p != 'e'; p++)
        if (*p >= '0' && *p <= '9')
            out[n++] = *p;
    std::from_chars(p + 1 + (p[1] == '+'), end, exp);
    *point = exp + 1;
    return n;
}
