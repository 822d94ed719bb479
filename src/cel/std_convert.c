/* SPDX-License-Identifier: Apache-2.0 */
/* Conversions: bool() bytes() double() duration() dyn() int() string() timestamp() type()
 * uint(), as Go converts. */
#include <math.h>

#include "base/utf8.h"
#include "cel/cel.h"
#include "cel/float.h"
#include "cel/lib.h"
#include "cel/std.h"
#include "cel/time.h"

static struct cel_value not_convertible(struct cel_run *run, struct cel_value v,
                                        const char *type)
{
    return cel_errorf(run, "type conversion error from '%s' to '%s'", cel_kind_name(v),
                      type);
}

struct cel_value cel_std_identity(struct cel_run *run, const struct cel_value *args,
                                  unsigned n)
{
    return args[0];
}

struct cel_value cel_std_type(struct cel_run *run, const struct cel_value *args,
                              unsigned n)
{
    return cel_type_value(cel_type_of_value(args[0]));
}

/* ---- To bool, bytes ---- */

struct cel_value cel_std_string_to_bool(struct cel_run *run, const struct cel_value *args,
                                        unsigned n)
{
    static const char *const words[] = {"1", "t", "T", "TRUE",  "true",  "True",
                                        "0", "f", "F", "FALSE", "false", "False"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (str_is(cel_str(args[0]), words[i]))
            return cel_bool(i < 6);
    return not_convertible(run, args[0], "bool");
}

struct cel_value cel_std_string_to_bytes(struct cel_run *run,
                                         const struct cel_value *args, unsigned n)
{
    return cel_bytes(cel_str(args[0]));
}

/* ---- To numbers ---- */

struct cel_value cel_std_int_to_double(struct cel_run *run, const struct cel_value *args,
                                       unsigned n)
{
    return cel_double((double)args[0].i);
}

struct cel_value cel_std_uint_to_double(struct cel_run *run, const struct cel_value *args,
                                        unsigned n)
{
    return cel_double((double)args[0].u);
}

/* Equal but for case; word is in lower case. */
static bool is_word(struct str s, const char *word)
{
    size_t i = 0;
    while (i < s.n && word[i] != 0 && (s.p[i] | 32) == word[i])
        i++;
    return i == s.n && word[i] == 0;
}

/* Without its sign. */
static bool parse_special(struct str s, bool negative, double *out)
{
    if (is_word(s, "inf") || is_word(s, "infinity"))
        *out = negative ? -INFINITY : INFINITY;
    else if (is_word(s, "nan"))
        *out = NAN;
    else
        return false;
    return true;
}

/* Whether only digits, points and exponents are in a number, so that cel_float_parse does
 * not take more than Go does; hexadecimal numbers must have an exponent. */
static bool is_number_text(struct str s, bool hex)
{
    bool exponent = false, digits = false;
    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i], low = (char)(c | 32);
        if ((c >= '0' && c <= '9') || (hex && low >= 'a' && low <= 'f'))
            digits = true;
        else if (low == (hex ? 'p' : 'e') && !exponent && digits)
            exponent = true;
        else if (c != '.' && !((c == '+' || c == '-') && exponent))
            return false;
    }
    return digits && (exponent || !hex);
}

/* Underscores may stand between digits, and behind the prefix of a hexadecimal number.
 * Copies the text without them; false if one stands elsewhere. */
static bool drop_underscores(struct str s, bool hex, char *out, size_t *n)
{
    bool after_digit = hex; /* the prefix counts as one */
    *n = 0;
    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i], low = (char)(c | 32);
        bool digit = (c >= '0' && c <= '9') || (hex && low >= 'a' && low <= 'f');
        if (c == '_' ? !after_digit : !digit && i > 0 && s.p[i - 1] == '_')
            return false;
        if (c != '_')
            out[(*n)++] = c;
        after_digit = digit;
    }
    return s.n == 0 || s.p[s.n - 1] != '_';
}

/* Go's strconv.ParseFloat; false if it fails. */
static bool parse_double(struct cel_run *run, struct str s, double *out)
{
    bool negative = s.n != 0 && *s.p == '-';
    if (s.n != 0 && (*s.p == '+' || *s.p == '-'))
        s = str_sub(s, 1, s.n);
    if (parse_special(s, negative, out))
        return true;
    bool hex = s.n > 1 && s.p[0] == '0' && (s.p[1] | 32) == 'x';
    if (hex)
        s = str_sub(s, 2, s.n);
    char *plain = arena_alloc(&run->arena, s.n + 1);
    size_t n;
    if (!drop_underscores(s, hex, plain, &n))
        return false;
    s = (struct str){plain, n};
    double d = 0;
    if (!is_number_text(s, hex) || cel_float_parse(s.p, s.n, hex, &d) != FLOAT_OK)
        return false;
    *out = negative ? -d : d;
    return true;
}

struct cel_value cel_std_string_to_double(struct cel_run *run,
                                          const struct cel_value *args, unsigned n)
{
    double d;
    if (!parse_double(run, cel_str(args[0]), &d))
        return not_convertible(run, args[0], "double");
    return cel_double(d);
}

/* Digits in base 10; false for anything else, or beyond max. */
static bool parse_digits(struct str s, uint64_t max, uint64_t *out)
{
    uint64_t v = 0;
    for (size_t i = 0; i < s.n; i++) {
        unsigned digit = (unsigned)(s.p[i] - '0');
        if (digit > 9 || __builtin_mul_overflow(v, 10, &v) ||
            __builtin_add_overflow(v, digit, &v))
            return false;
    }
    *out = v;
    return s.n != 0 && v <= max;
}

struct cel_value cel_std_string_to_int(struct cel_run *run, const struct cel_value *args,
                                       unsigned n)
{
    struct str s = cel_str(args[0]);
    bool negative = s.n != 0 && *s.p == '-';
    if (s.n != 0 && (*s.p == '+' || *s.p == '-'))
        s = str_sub(s, 1, s.n);
    uint64_t v;
    if (!parse_digits(s, (uint64_t)INT64_MAX + negative, &v))
        return not_convertible(run, args[0], "int");
    return cel_int(negative ? (int64_t)(0 - v) : (int64_t)v);
}

struct cel_value cel_std_string_to_uint(struct cel_run *run, const struct cel_value *args,
                                        unsigned n)
{
    uint64_t v;
    if (!parse_digits(cel_str(args[0]), UINT64_MAX, &v))
        return not_convertible(run, args[0], "uint");
    return cel_uint(v);
}

struct cel_value cel_std_double_to_int(struct cel_run *run, const struct cel_value *args,
                                       unsigned n)
{
    double d = args[0].d;
    /* Upstream excludes both ends, -2^63 too. */
    if (!(d > -0x1p63 && d < 0x1p63))
        return CEL_ERROR_CONST("integer overflow");
    return cel_int((int64_t)d);
}

struct cel_value cel_std_uint_to_int(struct cel_run *run, const struct cel_value *args,
                                     unsigned n)
{
    if (args[0].u > INT64_MAX)
        return CEL_ERROR_CONST("integer overflow");
    return cel_int(args[0].i);
}

struct cel_value cel_std_duration_to_int(struct cel_run *run,
                                         const struct cel_value *args, unsigned n)
{
    return cel_int(args[0].i);
}

struct cel_value cel_std_timestamp_to_int(struct cel_run *run,
                                          const struct cel_value *args, unsigned n)
{
    return cel_int(args[0].i);
}

struct cel_value cel_std_double_to_uint(struct cel_run *run, const struct cel_value *args,
                                        unsigned n)
{
    double d = args[0].d;
    if (!(d >= 0 && d < 0x1p64))
        return CEL_ERROR_CONST("unsigned integer overflow");
    return cel_uint((uint64_t)d);
}

struct cel_value cel_std_int_to_uint(struct cel_run *run, const struct cel_value *args,
                                     unsigned n)
{
    if (args[0].i < 0)
        return CEL_ERROR_CONST("unsigned integer overflow");
    return cel_uint(args[0].u);
}

/* ---- To string ---- */

/* What cel_print* or strbuf_addf wrote; ASCII all of it. */
static struct cel_value ascii(struct cel_run *run, struct strbuf *b)
{
    struct cel_value v = cel_lib_text(run, b);
    v.aux = CEL_STRING_ASCII;
    return v;
}

struct cel_value cel_std_bool_to_string(struct cel_run *run, const struct cel_value *args,
                                        unsigned n)
{
    return cel_lib_cstr(args[0].b ? "true" : "false");
}

struct cel_value cel_std_bytes_to_string(struct cel_run *run,
                                         const struct cel_value *args, unsigned n)
{
    if (!utf8_valid(cel_str(args[0])))
        return CEL_ERROR_CONST("invalid UTF-8 in bytes, cannot convert to string");
    return cel_string(cel_str(args[0]));
}

struct cel_value cel_std_double_to_string(struct cel_run *run,
                                          const struct cel_value *args, unsigned n)
{
    struct strbuf b = STRBUF_INIT;
    cel_print_double(args[0].d, &b);
    return ascii(run, &b);
}

struct cel_value cel_std_int_to_string(struct cel_run *run, const struct cel_value *args,
                                       unsigned n)
{
    struct strbuf b = STRBUF_INIT;
    strbuf_addf(&b, "%lld", (long long)args[0].i);
    return ascii(run, &b);
}

struct cel_value cel_std_uint_to_string(struct cel_run *run, const struct cel_value *args,
                                        unsigned n)
{
    struct strbuf b = STRBUF_INIT;
    strbuf_addf(&b, "%llu", (unsigned long long)args[0].u);
    return ascii(run, &b);
}

struct cel_value cel_std_duration_to_string(struct cel_run *run,
                                            const struct cel_value *args, unsigned n)
{
    struct strbuf b = STRBUF_INIT;
    cel_print_seconds(args[0].i, &b);
    return ascii(run, &b);
}

struct cel_value cel_std_timestamp_to_string(struct cel_run *run,
                                             const struct cel_value *args, unsigned n)
{
    struct strbuf b = STRBUF_INIT;
    cel_print_rfc3339(args[0], &b);
    return ascii(run, &b);
}

/* ---- To durations and timestamps ---- */

struct cel_value cel_std_string_to_duration(struct cel_run *run,
                                            const struct cel_value *args, unsigned n)
{
    int64_t ns;
    if (!cel_duration_parse(cel_str(args[0]), &ns))
        return not_convertible(run, args[0], "google.protobuf.Duration");
    return cel_duration(ns);
}

static struct cel_value check_time(struct cel_value t)
{
    if (t.i < CEL_TIME_MIN || t.i > CEL_TIME_MAX)
        return CEL_ERROR_CONST("timestamp overflow");
    return t;
}

struct cel_value cel_std_string_to_timestamp(struct cel_run *run,
                                             const struct cel_value *args, unsigned n)
{
    struct cel_value t;
    if (!cel_time_parse(cel_str(args[0]), &t))
        return not_convertible(run, args[0], "google.protobuf.Timestamp");
    return check_time(t);
}

struct cel_value cel_std_int_to_timestamp(struct cel_run *run,
                                          const struct cel_value *args, unsigned n)
{
    return check_time(cel_timestamp(args[0].i, 0));
}
