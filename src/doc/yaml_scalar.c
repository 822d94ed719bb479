/* SPDX-License-Identifier: Apache-2.0 */
#include "doc/json_shim.h"
#include "doc/yaml_doc.h"

#include <math.h>

/* ---- Words ---- */

static const struct word {
    const char *text;
    enum yaml_kind kind;
    bool b;
    int sign; /* of an infinity; 0: not a number */
} words[] = {
    {"", YAML_NULL},
    {"~", YAML_NULL},
    {"null", YAML_NULL},
    {"Null", YAML_NULL},
    {"NULL", YAML_NULL},
    {"y", YAML_BOOL, true},
    {"Y", YAML_BOOL, true},
    {"yes", YAML_BOOL, true},
    {"Yes", YAML_BOOL, true},
    {"YES", YAML_BOOL, true},
    {"true", YAML_BOOL, true},
    {"True", YAML_BOOL, true},
    {"TRUE", YAML_BOOL, true},
    {"on", YAML_BOOL, true},
    {"On", YAML_BOOL, true},
    {"ON", YAML_BOOL, true},
    {"n", YAML_BOOL, false},
    {"N", YAML_BOOL, false},
    {"no", YAML_BOOL, false},
    {"No", YAML_BOOL, false},
    {"NO", YAML_BOOL, false},
    {"false", YAML_BOOL, false},
    {"False", YAML_BOOL, false},
    {"FALSE", YAML_BOOL, false},
    {"off", YAML_BOOL, false},
    {"Off", YAML_BOOL, false},
    {"OFF", YAML_BOOL, false},
    {".nan", YAML_FLOAT, false, 0},
    {".NaN", YAML_FLOAT, false, 0},
    {".NAN", YAML_FLOAT, false, 0},
    {".inf", YAML_FLOAT, false, 1},
    {".Inf", YAML_FLOAT, false, 1},
    {".INF", YAML_FLOAT, false, 1},
    {"+.inf", YAML_FLOAT, false, 1},
    {"+.Inf", YAML_FLOAT, false, 1},
    {"+.INF", YAML_FLOAT, false, 1},
    {"-.inf", YAML_FLOAT, false, -1},
    {"-.Inf", YAML_FLOAT, false, -1},
    {"-.INF", YAML_FLOAT, false, -1},
};

static bool resolve_word(struct str s, struct yaml_value *v)
{
    if (s.n > 5 || (s.n && !strchr("~yYnNtTfFoO.+-", s.p[0])))
        return false;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (str_is(s, words[i].text)) {
            const struct word *w = &words[i];
            double d = w->sign ? w->sign * (double)INFINITY : (double)NAN;
            *v = (struct yaml_value){.kind = w->kind, .b = w->b, .d = d};
            return true;
        }
    return false;
}

/* ---- Numbers ---- */

static int digit_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : 99;
}

static bool read_digits(struct str s, unsigned base, uint64_t *out)
{
    uint64_t v = 0;
    for (size_t i = 0; i < s.n; i++) {
        unsigned d = (unsigned)digit_value(s.p[i]);
        if (d >= base || __builtin_mul_overflow(v, base, &v) ||
            __builtin_add_overflow(v, d, &v))
            return false;
    }
    *out = v;
    return s.n > 0;
}

/* Digits behind 0x, 0o, 0b or a leading 0, else decimal ones. */
static bool read_based(struct str s, uint64_t *out)
{
    if (s.n >= 3 && s.p[0] == '0') {
        char c = s.p[1] | 0x20;
        unsigned base = c == 'x' ? 16 : c == 'o' ? 8 : c == 'b' ? 2 : 0;
        if (base)
            return read_digits(str_sub(s, 2, s.n), base, out);
    }
    return read_digits(s, s.n > 1 && s.p[0] == '0' ? 8 : 10, out);
}

/* A sign in front narrows the range to that of int64; without one it is uint64's. */
static bool set_int(struct yaml_value *v, char sign, uint64_t u)
{
    if (sign && u > (uint64_t)INT64_MAX + (sign == '-'))
        return false;
    *v = (struct yaml_value){.kind = YAML_INT, .minus = sign == '-' && u, .u = u};
    return true;
}

static char take_sign(struct str *s)
{
    char c = s->n ? s->p[0] : '\0';
    if (c != '+' && c != '-')
        return '\0';
    *s = str_sub(*s, 1, s->n);
    return c;
}

static bool resolve_int(struct str s, struct yaml_value *v)
{
    uint64_t u;
    struct str digits = s;
    char sign = take_sign(&digits);
    if (read_based(digits, &u))
        return set_int(v, sign, u);
    /* A quirk that people may rely on: the sign may stand behind 0b. */
    if (str_starts(s, STR("0b"))) {
        digits = str_sub(s, 2, s.n);
        sign = take_sign(&digits);
        return read_digits(digits, 2, &u) && set_int(v, sign, u);
    }
    return false;
}

static size_t skip_digits(struct str s, size_t i)
{
    while (i < s.n && s.p[i] >= '0' && s.p[i] <= '9')
        i++;
    return i;
}

/* [-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)? */
static bool looks_like_float(struct str s)
{
    take_sign(&s);
    size_t i = skip_digits(s, 0), whole = i, part = 0;
    if (i < s.n && s.p[i] == '.') {
        i = skip_digits(s, i + 1);
        part = i - whole - 1;
    }
    if (whole == 0 && part == 0)
        return false;
    if (i < s.n && (s.p[i] | 0x20) == 'e') {
        i++;
        i += i < s.n && (s.p[i] == '+' || s.p[i] == '-');
        size_t from = i;
        i = skip_digits(s, i);
        if (i == from)
            return false;
    }
    return i == s.n;
}

static bool resolve_float(struct str s, struct yaml_value *v)
{
    double d;
    if (!looks_like_float(s))
        return false;
    if (s.p[0] == '+')
        s = str_sub(s, 1, s.n);
    if (!json_to_double(s.p, s.n, &d))
        return false; /* too large: a string */
    *v = (struct yaml_value){.kind = YAML_FLOAT, .d = d};
    return true;
}

/* ---- Times: they are read as strings, but such strings must be quoted ---- */

/* One or two digits. */
static bool take_number(struct str *s, unsigned most, unsigned *out)
{
    size_t n = skip_digits(*s, 0);
    n = n > 2 ? 2 : n;
    if (n == 0)
        return false;
    *out = (unsigned)(s->p[0] - '0');
    if (n == 2)
        *out = *out * 10 + (unsigned)(s->p[1] - '0');
    *s = str_sub(*s, n, s->n);
    return *out <= most;
}

static bool take_char(struct str *s, char c)
{
    if (s->n == 0 || s->p[0] != c)
        return false;
    *s = str_sub(*s, 1, s->n);
    return true;
}

static bool take_date(struct str *s)
{
    static const uint8_t days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    unsigned year = 0, month, day;
    for (size_t i = 0; i < 4; i++)
        year = year * 10 + (unsigned)(s->p[i] - '0');
    *s = str_sub(*s, 4, s->n);
    if (!take_char(s, '-') || !take_number(s, 12, &month) || month == 0 ||
        !take_char(s, '-') || !take_number(s, 31, &day) || day == 0)
        return false;
    bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    return day <= days[month - 1] + (unsigned)(leap && month == 2);
}

static bool take_clock(struct str *s)
{
    unsigned x;
    if (!take_number(s, 23, &x) || !take_char(s, ':') || !take_number(s, 59, &x) ||
        !take_char(s, ':') || !take_number(s, 59, &x))
        return false;
    if (s->n >= 2 && (s->p[0] == '.' || s->p[0] == ',') && skip_digits(*s, 1) > 1)
        *s = str_sub(*s, skip_digits(*s, 1), s->n);
    return true;
}

/* Z or +hh:mm, to the end. */
static bool is_zone(struct str s)
{
    unsigned hour, minute;
    if (str_is(s, "Z"))
        return true;
    if (s.n != 6 || s.p[3] != ':' || !take_sign(&s))
        return false;
    return skip_digits(s, 0) == 2 && take_number(&s, 24, &hour) && take_char(&s, ':') &&
           skip_digits(s, 0) == 2 && take_number(&s, 60, &minute);
}

static bool is_time(struct str s)
{
    if (s.n < 5 || skip_digits(s, 0) != 4 || s.p[4] != '-' || !take_date(&s))
        return false;
    if (s.n == 0)
        return true;
    if (take_char(&s, 'T') || take_char(&s, 't'))
        return take_clock(&s) && is_zone(s);
    bool space = false;
    while (take_char(&s, ' '))
        space = true;
    return space && take_clock(&s) && s.n == 0;
}

/* ---- The rule ---- */

/* Underscores do not count in numbers. */
static struct yaml_value resolve_number(struct str s)
{
    struct yaml_value v = {.kind = YAML_STRING};
    struct strbuf plain = STRBUF_INIT;
    if (memchr(s.p, '_', s.n)) {
        for (size_t i = 0; i < s.n; i++)
            if (s.p[i] != '_')
                strbuf_addc(&plain, s.p[i]);
        s = strbuf_str(&plain);
    }
    if (!resolve_int(s, &v))
        resolve_float(s, &v);
    strbuf_release(&plain);
    return v;
}

struct yaml_value yaml_resolve(struct str s)
{
    struct yaml_value v = {.kind = YAML_STRING};
    if (resolve_word(s, &v))
        return v;
    switch (s.p[0]) {
    case '.':
        resolve_float(s, &v);
        break;
    case '0' ... '9':
    case '+':
    case '-':
        if (is_time(s))
            v.kind = YAML_TIME;
        else
            v = resolve_number(s);
        break;
    default:
        break;
    }
    return v;
}

/* ---- Printing ---- */

static void print_scientific(const char *digits, int n, int exp, struct strbuf *out)
{
    strbuf_addc(out, digits[0]);
    if (n > 1) {
        strbuf_addc(out, '.');
        strbuf_add(out, digits + 1, (size_t)n - 1);
    }
    strbuf_addf(out, "e%c%02d", exp < 0 ? '-' : '+', exp < 0 ? -exp : exp);
}

static void print_decimal(const char *digits, int n, int point, struct strbuf *out)
{
    if (point <= 0)
        strbuf_adds(out, "0.");
    for (int i = point; i < 0; i++)
        strbuf_addc(out, '0');
    for (int i = 0; i < n || i < point; i++) {
        if (i == point && point > 0)
            strbuf_addc(out, '.');
        strbuf_addc(out, i < n ? digits[i] : '0');
    }
}

void yaml_print_double(double d, bool narrow, struct strbuf *out)
{
    char digits[JSON_DIGITS_ROOM];
    int point;
    if (narrow)
        d = (double)(float)d;
    if (isnan(d) || isinf(d)) {
        strbuf_adds(out, isnan(d) ? ".nan" : d < 0 ? "-.inf" : ".inf");
        return;
    }
    int n = json_digits(d, narrow, digits, &point), exp = point - 1;
    if (signbit(d))
        strbuf_addc(out, '-');
    if (d != 0 && (exp < -4 || exp >= 6))
        print_scientific(digits, n, exp, out);
    else
        print_decimal(digits, n, point, out);
}

void json_print_double(double d, struct strbuf *out)
{
    char digits[JSON_DIGITS_ROOM];
    int point, n = json_digits(d, false, digits, &point);
    double abs = fabs(d);
    if (signbit(d))
        strbuf_addc(out, '-');
    if (d == 0 || (abs >= 1e-6 && abs < 1e21)) {
        print_decimal(digits, n, point, out);
        return;
    }
    size_t from = out->n;
    print_scientific(digits, n, point - 1, out);
    /* encoding/json writes e-9 where others write e-09. */
    if (out->n - from >= 4 && memcmp(out->p + out->n - 3, "-0", 2) == 0) {
        out->p[out->n - 2] = out->p[out->n - 1];
        out->p[--out->n] = '\0';
    }
}
