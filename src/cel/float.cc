/* SPDX-License-Identifier: Apache-2.0 */
#include "cel/float.h"

#include <charconv>

void cel_float_shortest(double d, struct float_digits *out)
{
    char text[40];
    auto end = std::to_chars(text, text + sizeof text, d, std::chars_format::scientific);
    const char *p = text;
    out->negative = *p == '-';
    p += out->negative;
    out->n = 0;
    for (; p < end.ptr && *p != 'e'; p++)
        if (*p != '.')
            out->digits[out->n++] = *p;
    bool down = p[1] == '-';
    int exp = 0;
    std::from_chars(p + 2, (const char *)end.ptr, exp);
    out->exp = down ? -exp : exp;
}

/* Whether a number that no double can hold is too large rather than too small. */
static bool is_large(const char *p, const char *end, bool hex)
{
    char mark = hex ? 'p' : 'e';
    long power = 0; /* of the first digit that is not zero */
    bool point = false, found = false;
    for (; p < end && (*p | 32) != mark; p++) {
        if (*p == '.')
            point = true;
        else if (found || *p != '0') {
            power += !point && found;
            found = true;
        } else {
            power -= point;
        }
    }
    if (p == end)
        return power > 0;
    p += 1 + (p + 1 < end && p[1] == '+');
    long exp = 0;
    if (std::from_chars(p, end, exp).ec == std::errc::result_out_of_range)
        return *p != '-';
    return power * (hex ? 4 : 1) + exp > 0;
}

enum float_read cel_float_parse(const char *p, size_t n, bool hex, double *out)
{
    auto form = hex ? std::chars_format::hex : std::chars_format::general;
    auto r = std::from_chars(p, p + n, *out, form);
    if (r.ptr != p + n)
        return FLOAT_BAD;
    if (r.ec == std::errc())
        return FLOAT_OK;
    if (r.ec != std::errc::result_out_of_range)
        return FLOAT_BAD;
    if (is_large(p, p + n, hex))
        return FLOAT_OUT_OF_RANGE;
    *out = 0;
    return FLOAT_OK;
}
