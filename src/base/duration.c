/* SPDX-License-Identifier: Apache-2.0 */
#include "base/duration.h"

static const struct {
    const char *name;
    double ms;
} UNITS[] = {{"ns", 1e-6}, {"us", 1e-3}, {"ms", 1},
             {"s", 1000},  {"m", 60000}, {"h", 3600000}};

/* The length of the unit at the start; 0: there is none. */
static size_t read_unit(struct str s, double *ms)
{
    for (size_t i = 0; i < sizeof UNITS / sizeof *UNITS; i++) {
        struct str name = str_from(UNITS[i].name);
        if (str_starts(s, name)) {
            *ms = UNITS[i].ms;
            return name.n;
        }
    }
    return 0;
}

/* Digits with a fraction; the length, 0: none. */
static size_t read_number(struct str s, double *out)
{
    double n = 0, place = 1;
    size_t i = 0, digits = 0;
    bool fraction = false;
    for (; i < s.n && (s.p[i] == '.' || (s.p[i] >= '0' && s.p[i] <= '9')); i++) {
        if (s.p[i] == '.') {
            if (fraction)
                return 0;
            fraction = true;
            continue;
        }
        digits++;
        n = n * 10 + (s.p[i] - '0');
        place *= fraction ? 10 : 1;
    }
    *out = n / place;
    return digits ? i : 0;
}

bool duration_parse(struct str text, uint64_t *ms)
{
    double sum = 0;
    bool any = str_is(text, "0");
    if (any)
        text = STR("");
    while (text.n) {
        double n, unit = 0;
        size_t number = read_number(text, &n);
        size_t name = number ? read_unit(str_sub(text, number, SIZE_MAX), &unit) : 0;
        if (!name)
            return false;
        sum += n * unit;
        any = true;
        text = str_sub(text, number + name, SIZE_MAX);
    }
    if (!any || sum > 1000.0 * ((uint64_t)1 << 40))
        return false;
    *ms = (uint64_t)sum;
    return true;
}
