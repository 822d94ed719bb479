/* SPDX-License-Identifier: Apache-2.0 */
#include "alloc/amount.h"

enum { NANO_DIGITS = 9 };

static bool times_ten(amount *v, int times)
{
    for (int i = 0; i < times; i++)
        if (__builtin_mul_overflow(*v, (amount)10, v))
            return *v == 0;
    return true;
}

static bool add_digit(amount *v, char c)
{
    return times_ten(v, 1) && !__builtin_add_overflow(*v, (amount)(c - '0'), v);
}

/* Plain decimal digits with at most nine behind the point. */
static bool from_digits(struct str s, amount *out)
{
    amount v = 0;
    bool minus = s.n && s.p[0] == '-';
    int fraction = -1;
    for (size_t i = minus; i < s.n; i++) {
        if (s.p[i] == '.')
            fraction = 0;
        else if (!add_digit(&v, s.p[i]))
            return false;
        else if (fraction >= 0)
            fraction++;
    }
    if (fraction > NANO_DIGITS ||
        !times_ten(&v, NANO_DIGITS - (fraction < 0 ? 0 : fraction)))
        return false;
    *out = minus ? -v : v;
    return true;
}

bool amount_from(const struct quantity *q, amount *out)
{
    if (!q->big) {
        amount v = q->i;
        if (!times_ten(&v, q->scale + NANO_DIGITS))
            return false;
        *out = v;
        return true;
    }
    struct arena a;
    arena_init(&a);
    bool fits = from_digits(quantity_exact(q, &a), out);
    arena_fini(&a);
    return fits;
}
