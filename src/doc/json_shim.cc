/* SPDX-License-Identifier: Apache-2.0 */
#include "doc/json_shim.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <memory>
#include <new>

#include <simdjson.h>

using simdjson::error_code;
using parser_impl = simdjson::internal::dom_parser_implementation;

namespace
{

constexpr size_t window_size = 256 << 10;

parser_impl *parser_of(const struct json_index *ix)
{
    return static_cast<parser_impl *>(ix->parser);
}

/* End of the window that starts at from: behind a line's end, or that of the text. */
size_t window_end(const struct json_index *ix, size_t from)
{
    size_t end = from + window_size;
    if (end >= ix->text_n)
        return ix->text_n;
    const void *line = memrchr(ix->text + from, '\n', window_size);
    if (!line)
        line = std::memchr(ix->text + end, '\n', ix->text_n - end);
    return line ? static_cast<const char *>(line) - ix->text + 1 : ix->text_n;
}

bool have_parser(struct json_index *ix, size_t capacity)
{
    if (ix->parser && parser_of(ix)->capacity() >= capacity)
        return true;
    std::unique_ptr<parser_impl> p;
    if (simdjson::get_active_implementation()->create_dom_parser_implementation(capacity,
                                                                                1, p))
        return false;
    delete parser_of(ix);
    ix->parser = p.release();
    return true;
}

/* Indexes from..to; the offsets are those of the text. */
enum json_index_state index_window(struct json_index *ix)
{
    size_t usual = std::min<size_t>(window_size, ix->text_n);
    if (!have_parser(ix, std::max<size_t>(usual, ix->to - ix->from)))
        return JSON_INDEX_NO_MEMORY;
    parser_impl *p = parser_of(ix);
    error_code code = p->stage1(reinterpret_cast<const uint8_t *>(ix->text + ix->from),
                                ix->to - ix->from, simdjson::stage1_mode::regular);
    if (code == simdjson::EMPTY)
        return JSON_INDEX_EMPTY;
    if (code == simdjson::MEMALLOC || code == simdjson::CAPACITY)
        return JSON_INDEX_NO_MEMORY;
    if (code != simdjson::SUCCESS && code != simdjson::UTF8_ERROR)
        return JSON_INDEX_BAD_STRING;
    ix->bad_utf8 = ix->bad_utf8 || code == simdjson::UTF8_ERROR;
    uint32_t *at = p->structural_indexes.get();
    ix->at = at;
    ix->n = p->n_structural_indexes;
    for (uint32_t i = 0; i < ix->n; i++)
        at[i] += ix->from;
    return JSON_INDEX_OK;
}

} // namespace

enum json_index_state json_index_move(struct json_index *ix, uint32_t from)
{
    enum json_index_state state = JSON_INDEX_EMPTY;
    ix->n = 0;
    for (ix->to = from; state == JSON_INDEX_EMPTY && ix->to < ix->text_n;) {
        ix->from = ix->to;
        ix->to = static_cast<uint32_t>(window_end(ix, ix->from));
        state = index_window(ix);
    }
    return state;
}

enum json_index_state json_index_init(struct json_index *ix, const char *text, size_t n)
{
    *ix = {};
    ix->text = text;
    ix->text_n = static_cast<uint32_t>(n);
    return json_index_move(ix, 0);
}

void json_index_fini(struct json_index *ix)
{
    delete parser_of(ix);
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
