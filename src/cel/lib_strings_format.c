/* SPDX-License-Identifier: Apache-2.0 */
#include "cel/lib_strings_format.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/quote.h"
#include "base/utf8.h"
#include "cel/time.h"

/* ---- Clauses ---- */

#define V(kind) (1u << CEL_##kind)
#define T(kind) (1u << CEL_T_##kind)

#define V_TEXT                                                                           \
    (V(NULL) | V(BOOL) | V(INT) | V(UINT) | V(DOUBLE) | V(STRING) | V(BYTES) |           \
     V(DURATION) | V(TIMESTAMP) | V(LIST) | V(MAP) | V(TYPE))
#define T_TEXT                                                                           \
    (T(DYN) | T(NULL) | T(BOOL) | T(INT) | T(UINT) | T(DOUBLE) | T(STRING) | T(BYTES) |  \
     T(DURATION) | T(TIMESTAMP) | T(LIST) | T(MAP) | T(TYPE))
#define BOTH(kinds_v, kinds_t) (kinds_v), T(DYN) | (kinds_t)
#define V_WHOLE (V(INT) | V(UINT))
#define T_WHOLE (T(INT) | T(UINT))
#define V_NUMBER (V_WHOLE | V(DOUBLE))
#define T_NUMBER (T_WHOLE | T(DOUBLE))

#define TEXT_REFUSED                                                                     \
    "string clause can only be used on strings, bools, bytes, ints, doubles, maps, "     \
    "lists, types, durations, and timestamps, was given "
#define HEX_REFUSED                                                                      \
    "only integers, byte buffers, and strings can be formatted as hex, was given "
#define HEX_REFUSED_LATEST                                                               \
    "only ints, uints, bytes, and strings can be formatted as hex, was given "

/* "NaN", "Infinity" and "-Infinity" as strings are numbers to %f and %e: the functions
 * look closer. */
static const struct format_verb frozen_verbs[] = {
    {'s', V_TEXT, T_TEXT, TEXT_REFUSED},
    {'d', BOTH(V_WHOLE, T_WHOLE),
     "decimal clause can only be used on integers, was given "},
    {'f', BOTH(V(DOUBLE) | V(STRING), T(DOUBLE) | T(STRING)),
     "fixed-point clause can only be used on doubles, was given "},
    {'e', BOTH(V(DOUBLE) | V(STRING), T(DOUBLE) | T(STRING)),
     "scientific clause can only be used on doubles, was given "},
    {'b', BOTH(V_WHOLE | V(BOOL), T_WHOLE | T(BOOL)),
     "only integers and bools can be formatted as binary, was given "},
    {'x', BOTH(V_WHOLE | V(STRING) | V(BYTES), T_WHOLE | T(STRING) | T(BYTES)),
     HEX_REFUSED},
    {'X', BOTH(V_WHOLE | V(STRING) | V(BYTES), T_WHOLE | T(STRING) | T(BYTES)),
     HEX_REFUSED},
    {'o', BOTH(V_WHOLE, T_WHOLE),
     "octal clause can only be used on integers, was given "},
};

static const struct format_verb latest_verbs[] = {
    {'s', V_TEXT, T_TEXT, TEXT_REFUSED},
    {'d', BOTH(V_NUMBER, T_NUMBER),
     "decimal clause can only be used on ints, uints, and doubles, was given "},
    {'f', BOTH(V_NUMBER, T_NUMBER),
     "fixed-point clause can only be used on ints, uints, and doubles, was given "},
    {'e', BOTH(V_NUMBER, T_NUMBER),
     "scientific clause can only be used on ints, uints, and doubles, was given "},
    {'b', BOTH(V_WHOLE | V(BOOL), T_WHOLE | T(BOOL)),
     "only ints, uints, and bools can be formatted as binary, was given "},
    {'x', BOTH(V_WHOLE | V(STRING) | V(BYTES), T_WHOLE | T(STRING) | T(BYTES)),
     HEX_REFUSED_LATEST},
    {'X', BOTH(V_WHOLE | V(STRING) | V(BYTES), T_WHOLE | T(STRING) | T(BYTES)),
     HEX_REFUSED_LATEST},
    {'o', BOTH(V_WHOLE, T_WHOLE),
     "octal clause can only be used on ints and uints, was given "},
};

const struct format_dialect format_frozen = {frozen_verbs, CEL_COUNT(frozen_verbs), 0};
const struct format_dialect format_latest = {latest_verbs, CEL_COUNT(latest_verbs), 100};

static const struct format_verb *format_verb_find(const struct format_dialect *d,
                                                  char letter)
{
    for (unsigned i = 0; i < d->nverbs; i++)
        if (d->verbs[i].letter == letter)
            return &d->verbs[i];
    return NULL;
}

/* ---- Reading a format text ---- */

#define IN_CLAUSE "could not parse formatting clause: "
#define IN_PRECISION IN_CLAUSE "error while parsing precision: "

static bool precision_of(struct str digits, const struct format_dialect *d, int64_t *out,
                         struct strbuf *error)
{
    int64_t n = 0;
    bool fits = true;
    for (size_t i = 0; i < digits.n; i++)
        fits = fits && !__builtin_mul_overflow(n, 10, &n) &&
               !__builtin_add_overflow(n, digits.p[i] - '0', &n);
    if (digits.n == 0 || !fits) {
        strbuf_adds(
            error, IN_PRECISION
            "error while converting precision to integer: strconv.Atoi: parsing ");
        strbuf_add_quoted(error, digits);
        strbuf_adds(error, fits ? ": invalid syntax" : ": value out of range");
        return false;
    }
    if (d->max_precision && n > d->max_precision) {
        strbuf_addf(error,
                    IN_PRECISION "precision %lld exceeds maximum allowed precision %lld",
                    (long long)n, (long long)d->max_precision);
        return false;
    }
    *out = n;
    return true;
}

/* The clause behind the % at *i, which is not the last byte. */
static bool clause_at(struct str text, size_t *i, const struct format_dialect *d,
                      struct format_clause *c, struct strbuf *error)
{
    size_t at = *i + 1;
    c->precision = FORMAT_NO_PRECISION;
    if (text.p[at] == '.') {
        size_t from = ++at;
        while (at < text.n && text.p[at] >= '0' && text.p[at] <= '9')
            at++;
        if (at == text.n) {
            strbuf_adds(error, IN_PRECISION "could not find end of precision specifier");
            return false;
        }
        if (!precision_of(str_sub(text, from, at), d, &c->precision, error))
            return false;
    }
    c->letter = text.p[at];
    *i = at + 1;
    return true;
}

/* Upstream takes the byte for a code point. */
static bool unknown_letter(char letter, struct strbuf *error)
{
    char cp[4];
    unsigned n = utf8_encode((unsigned char)letter, cp);
    strbuf_addf(error, IN_CLAUSE "unrecognized formatting clause \"%.*s\"", (int)n, cp);
    return false;
}

static bool missing_argument(uint64_t index, struct strbuf *error)
{
    strbuf_addf(error, "index %llu out of range", (unsigned long long)index);
    return false;
}

static bool read_clause(struct str text, size_t *i, const struct format_reader *r,
                        uint64_t index, struct strbuf *error)
{
    struct format_clause c;
    if (index >= r->nargs && !r->text_first)
        return missing_argument(index, error);
    if (*i + 1 == text.n) {
        strbuf_adds(error, "unexpected end of string");
        return false;
    }
    if (index >= r->nargs)
        return missing_argument(index, error);
    if (!clause_at(text, i, r->dialect, &c, error))
        return false;
    const struct format_verb *verb = format_verb_find(r->dialect, c.letter);
    return verb ? r->clause(r->ctx, verb, &c, index, error)
                : unknown_letter(c.letter, error);
}

static void plain_text(const struct format_reader *r, struct str text)
{
    if (r->plain)
        r->plain(r->ctx, text);
}

bool format_read(struct str text, const struct format_reader *r, uint64_t *used,
                 struct strbuf *error)
{
    *used = 0;
    for (size_t i = 0; i < text.n;) {
        size_t percent = str_find_byte(text, '%', i);
        if (percent == SIZE_MAX)
            percent = text.n;
        plain_text(r, str_sub(text, i, percent));
        i = percent;
        if (i + 1 < text.n && text.p[i + 1] == '%') {
            plain_text(r, STR("%"));
            i += 2;
        } else if (i < text.n && !read_clause(text, &i, r, (*used)++, error)) {
            return false;
        }
    }
    return true;
}

/* ---- Numbers ---- */

enum { DEFAULT_PRECISION = 6 };

static void put_base2(uint64_t v, unsigned bits, bool upper, struct strbuf *out)
{
    const char *digits = upper ? "0123456789ABCDEF" : "0123456789abcdef";
    char text[64];
    unsigned n = sizeof text;
    do
        text[--n] = digits[v & ((1u << bits) - 1)];
    while (v >>= bits);
    strbuf_add(out, text + n, sizeof text - n);
}

/* In base 2, 8 or 16, with a sign. */
static void put_radix(struct cel_value v, unsigned bits, bool upper, struct strbuf *out)
{
    bool negative = v.kind == CEL_INT && v.i < 0;
    if (negative)
        strbuf_addc(out, '-');
    put_base2(negative ? -v.u : v.u, bits, upper, out);
}

static void put_hex(struct cel_value v, bool upper, struct strbuf *out)
{
    if (v.kind == CEL_INT || v.kind == CEL_UINT) {
        put_radix(v, 4, upper, out);
        return;
    }
    for (uint32_t i = 0; i < v.len; i++)
        strbuf_addf(out, upper ? "%02X" : "%02x", (unsigned char)v.s[i]);
}

static void put_whole(struct cel_value v, struct strbuf *out)
{
    if (v.kind == CEL_UINT)
        strbuf_addf(out, "%llu", (unsigned long long)v.u);
    else
        strbuf_addf(out, "%lld", (long long)v.i);
}

/* Spaces in front of what was added since start, up to width characters. */
static void pad_left(struct strbuf *out, size_t start, size_t width)
{
    size_t have = utf8_count((struct str){out->p + start, out->n - start});
    if (have >= width)
        return;
    size_t more = width - have, n = out->n - start;
    strbuf_reserve(out, more);
    memmove(out->p + start + more, out->p + start, n);
    memset(out->p + start, ' ', more);
    out->n += more;
    out->p[out->n] = '\0';
}

/* NaN and infinities in English notation. */
static bool put_english_special(double d, struct strbuf *out)
{
    if (isfinite(d))
        return false;
    strbuf_adds(out, isnan(d) ? "NaN" : d < 0 ? "-∞" : "∞");
    return true;
}

/* The absolute value with so many digits behind the point; negative: as few as tell it
 * from its neighbours. */
static void put_digits(double d, int precision, struct strbuf *out)
{
    if (precision < 0)
        cel_print_decimal(fabs(d), out);
    else
        strbuf_addf(out, "%.*f", precision, fabs(d));
}

/*
 * Groups of three digits, and zeros behind the point up to precision. The printer that
 * upstream uses keeps the least number of digits in 8 bits and the largest in 16, so
 * large precisions lose zeros.
 */
static void put_english_fixed(double d, int64_t precision, struct strbuf *out)
{
    if (put_english_special(d, out))
        return;
    struct strbuf digits = STRBUF_INIT;
    put_digits(d, (int16_t)precision, &digits);
    struct str s = strbuf_str(&digits), fraction = STR_NONE;
    size_t point = str_find_byte(s, '.', 0);
    if (point != SIZE_MAX) {
        fraction = str_sub(s, point + 1, s.n);
        s.n = point;
    }
    while (fraction.n && fraction.p[fraction.n - 1] == '0')
        fraction.n--;
    if (d < 0)
        strbuf_addc(out, '-');
    for (size_t i = 0; i < s.n; i++) {
        if (i > 0 && (s.n - i) % 3 == 0)
            strbuf_addc(out, ',');
        strbuf_addc(out, s.p[i]);
    }
    uint8_t least = (uint8_t)precision;
    if (fraction.n || least)
        strbuf_addc(out, '.');
    strbuf_addstr(out, fraction);
    for (size_t i = fraction.n; i < least; i++)
        strbuf_addc(out, '0');
    strbuf_release(&digits);
}

/* "1.234568×10⁰⁴" */
static void put_english_power(double d, struct strbuf *out)
{
    static const char *const raised[] = {"⁰", "¹", "²", "³", "⁴",
                                         "⁵", "⁶", "⁷", "⁸", "⁹"};
    char text[32];
    snprintf(text, sizeof text, "%.*e", DEFAULT_PRECISION, d == 0 ? 0.0 : d);
    char *e = strchr(text, 'e');
    strbuf_add(out, text, (size_t)(e - text));
    strbuf_adds(out, "×10");
    if (e[1] == '-')
        strbuf_adds(out, "⁻");
    for (const char *p = e + 2; *p; p++)
        strbuf_adds(out, raised[*p - '0']);
}

/* Upstream gives the precision to the printer as a width. */
static void put_english_scientific(double d, int64_t precision, struct strbuf *out)
{
    size_t start = out->n;
    if (!put_english_special(d, out))
        put_english_power(d, out);
    pad_left(out, start, (uint16_t)precision);
}

static bool special_number(struct cel_value v, double *d)
{
    if (v.kind == CEL_DOUBLE)
        *d = v.d;
    else if (str_is(cel_str(v), "NaN"))
        *d = NAN;
    else if (str_is(cel_str(v), "Infinity"))
        *d = INFINITY;
    else if (str_is(cel_str(v), "-Infinity"))
        *d = -INFINITY;
    else
        return false;
    return true;
}

/* A number the printer takes for no number at all ends the clause. */
static bool too_wide(int64_t precision)
{
    return precision / 10 > 1000000;
}

static bool put_english(const struct format_clause *c, struct cel_value v,
                        struct strbuf *out)
{
    double d;
    int64_t precision =
        c->precision == FORMAT_NO_PRECISION ? DEFAULT_PRECISION : c->precision;
    if (!special_number(v, &d))
        return false;
    if (too_wide(precision))
        strbuf_adds(out, "%!(NOVERB)");
    else if (c->letter == 'f')
        put_english_fixed(d, precision, out);
    else
        put_english_scientific(d, precision, out);
    return true;
}

static double number_of(struct cel_value v)
{
    return v.kind == CEL_DOUBLE ? v.d : v.kind == CEL_INT ? (double)v.i : (double)v.u;
}

/* NaN and infinities in the specification's notation. */
static bool put_special(double d, struct strbuf *out)
{
    if (isfinite(d))
        return false;
    strbuf_adds(out, isnan(d) ? "NaN" : d < 0 ? "-Infinity" : "Infinity");
    return true;
}

static void put_number(const struct format_clause *c, struct cel_value v,
                       struct strbuf *out)
{
    double d = number_of(v);
    int precision =
        c->precision == FORMAT_NO_PRECISION ? DEFAULT_PRECISION : (int)c->precision;
    if (!put_special(d, out))
        strbuf_addf(out, c->letter == 'f' ? "%.*f" : "%.*e", precision, d);
}

static void put_plain_double(double d, struct strbuf *out)
{
    if (!put_special(d, out))
        cel_print_decimal(d, out);
}

/* ---- %s: what both dialects print alike ---- */

static bool put_scalar(struct cel_value v, struct strbuf *out)
{
    switch (v.kind) {
    case CEL_NULL:
        strbuf_adds(out, "null");
        return true;
    case CEL_BOOL:
        strbuf_adds(out, v.b ? "true" : "false");
        return true;
    case CEL_INT:
    case CEL_UINT:
        put_whole(v, out);
        return true;
    case CEL_STRING:
    case CEL_BYTES:
        strbuf_addstr(out, cel_str(v));
        return true;
    case CEL_DURATION:
        cel_print_seconds(v.i, out);
        return true;
    case CEL_TIMESTAMP:
        cel_print_rfc3339(v, out);
        return true;
    case CEL_TYPE:
        strbuf_adds(out, cel_type_name(v.type));
        return true;
    default:
        return false;
    }
}

struct map_text {
    struct str key;
    struct cel_value value;
    uint32_t order;
};

static int by_key(const void *a, const void *b)
{
    const struct map_text *x = a, *y = b;
    int c = str_cmp(x->key, y->key);
    return c ? c : (x->order > y->order) - (x->order < y->order);
}

typedef bool put_fn(struct cel_run *run, struct cel_value v, struct strbuf *out,
                    struct strbuf *error);

/* The entries with their keys as text, sorted by it, in a; NULL on failure. */
static struct map_text *sorted_entries(struct cel_run *run, const struct cel_map *m,
                                       put_fn *put_key, struct arena *a,
                                       struct strbuf *error)
{
    struct map_text *t = ARENA_ARRAY(a, struct map_text, m->n + 1);
    for (uint32_t i = 0; i < m->n; i++) {
        struct strbuf key = STRBUF_INIT;
        bool ok = put_key(run, m->entries[i].key, &key, error);
        t[i] = (struct map_text){arena_str(a, strbuf_str(&key)), m->entries[i].value, i};
        strbuf_release(&key);
        if (!ok)
            return NULL;
    }
    qsort(t, m->n, sizeof *t, by_key);
    return t;
}

struct aggregate_style {
    put_fn *key, *item;
    const char *colon;
};

static bool put_list(struct cel_run *run, struct cel_value v,
                     const struct aggregate_style *style, struct strbuf *out,
                     struct strbuf *error)
{
    strbuf_addc(out, '[');
    for (uint32_t i = 0; i < v.len && out->n <= CEL_TEXT_MAX; i++) {
        if (i > 0)
            strbuf_adds(out, ", ");
        if (!style->item(run, v.items[i], out, error))
            return false;
    }
    strbuf_addc(out, ']');
    return true;
}

static bool put_entries(struct cel_run *run, const struct map_text *t, uint32_t n,
                        const struct aggregate_style *style, struct strbuf *out,
                        struct strbuf *error)
{
    strbuf_addc(out, '{');
    for (uint32_t i = 0; i < n && out->n <= CEL_TEXT_MAX; i++) {
        if (i > 0)
            strbuf_adds(out, ", ");
        strbuf_addstr(out, t[i].key);
        strbuf_adds(out, style->colon);
        if (!style->item(run, t[i].value, out, error))
            return false;
    }
    strbuf_addc(out, '}');
    return true;
}

static bool put_map(struct cel_run *run, const struct cel_map *m,
                    const struct aggregate_style *style, struct strbuf *out,
                    struct strbuf *error)
{
    struct arena scratch;
    arena_init(&scratch);
    const struct map_text *t = sorted_entries(run, m, style->key, &scratch, error);
    bool ok = t && put_entries(run, t, m->n, style, out, error);
    arena_fini(&scratch);
    return ok;
}

/* ---- %s, frozen ---- */

static bool no_function(const char *what, struct cel_value v, struct strbuf *error)
{
    strbuf_addf(error, "no formatting function for %s%s", what, cel_kind_name(v));
    return false;
}

static bool valid_bytes(struct cel_value v, struct strbuf *error)
{
    if (v.kind != CEL_BYTES || utf8_valid(cel_str(v)))
        return true;
    strbuf_adds(error, "could not convert argument \"invalid UTF-8 in bytes, cannot "
                       "convert to string\" to string");
    return false;
}

static bool put_frozen_key(struct cel_run *run, struct cel_value v, struct strbuf *out,
                           struct strbuf *error)
{
    if (v.kind == CEL_STRING)
        strbuf_add_quoted(out, cel_str(v));
    else if (v.kind == CEL_BOOL || v.kind == CEL_INT || v.kind == CEL_UINT)
        put_scalar(v, out);
    else
        return no_function("map key of type ", v, error);
    return true;
}

/* Six digits always; what is no number is quoted. */
static void put_frozen_double(double d, struct strbuf *out)
{
    if (isfinite(d))
        strbuf_addf(out, "%.*f", DEFAULT_PRECISION, d);
    else
        strbuf_adds(out, isnan(d) ? "\"NaN\"" : d > 0 ? "\"+Inf\"" : "\"-Inf\"");
}

static bool put_frozen_aggregate(struct cel_run *run, struct cel_value v,
                                 struct strbuf *out, struct strbuf *error);

/* Inside a list or a map: as a literal of the language, or nearly. */
static bool put_frozen_item(struct cel_run *run, struct cel_value v, struct strbuf *out,
                            struct strbuf *error)
{
    switch (v.kind) {
    case CEL_BYTES:
        if (!valid_bytes(v, error))
            return false;
        strbuf_addc(out, 'b');
        strbuf_add_quoted(out, cel_str(v));
        return true;
    case CEL_STRING:
        strbuf_add_quoted(out, cel_str(v));
        return true;
    case CEL_DOUBLE:
        put_frozen_double(v.d, out);
        return true;
    case CEL_DURATION:
    case CEL_TIMESTAMP:
        strbuf_adds(out, v.kind == CEL_DURATION ? "duration(\"" : "timestamp(\"");
        put_scalar(v, out);
        strbuf_adds(out, "\")");
        return true;
    case CEL_LIST:
    case CEL_MAP:
        return put_frozen_aggregate(run, v, out, error);
    default:
        return put_scalar(v, out) || no_function("", v, error);
    }
}

static bool put_frozen_aggregate(struct cel_run *run, struct cel_value v,
                                 struct strbuf *out, struct strbuf *error)
{
    static const struct aggregate_style style = {put_frozen_key, put_frozen_item, ":"};
    return v.kind == CEL_LIST ? put_list(run, v, &style, out, error)
                              : put_map(run, v.map, &style, out, error);
}

static bool put_frozen_text(struct cel_run *run, struct cel_value v, struct strbuf *out,
                            struct strbuf *error)
{
    if (v.kind == CEL_LIST || v.kind == CEL_MAP)
        return put_frozen_aggregate(run, v, out, error);
    if (v.kind == CEL_DOUBLE)
        cel_print_double(v.d, out);
    else if (!valid_bytes(v, error))
        return false;
    else
        put_scalar(v, out);
    return true;
}

/* ---- %s, latest ---- */

static bool put_latest_text(struct cel_run *run, struct cel_value v, struct strbuf *out,
                            struct strbuf *error)
{
    static const struct aggregate_style style = {put_latest_text, put_latest_text, ": "};
    switch (v.kind) {
    case CEL_LIST:
        return put_list(run, v, &style, out, error);
    case CEL_MAP:
        return put_map(run, v.map, &style, out, error);
    case CEL_DOUBLE:
        put_plain_double(v.d, out);
        return true;
    default:
        if (put_scalar(v, out))
            return true;
        strbuf_addf(error, "%s%s", TEXT_REFUSED, cel_kind_name(v));
        return false;
    }
}

/* ---- The functions ---- */

struct formatting {
    struct cel_run *run;
    const struct cel_value *args;
    put_fn *text;
    bool frozen;
    struct strbuf out;
};

static bool put_clause(struct formatting *f, const struct format_clause *c,
                       struct cel_value v, struct strbuf *error)
{
    switch (c->letter) {
    case 's':
        return f->text(f->run, v, &f->out, error);
    case 'd':
        if (v.kind == CEL_DOUBLE)
            put_plain_double(v.d, &f->out);
        else
            put_whole(v, &f->out);
        return true;
    case 'b':
        put_radix(v.kind == CEL_BOOL ? cel_int(v.b) : v, 1, false, &f->out);
        return true;
    case 'o':
        put_radix(v, 3, false, &f->out);
        return true;
    case 'x':
    case 'X':
        put_hex(v, c->letter == 'X', &f->out);
        return true;
    default: /* f and e */
        if (f->frozen)
            return put_english(c, v, &f->out);
        put_number(c, v, &f->out);
        return true;
    }
}

static bool format_clause(void *ctx, const struct format_verb *verb,
                          const struct format_clause *c, uint64_t index,
                          struct strbuf *error)
{
    struct formatting *f = ctx;
    struct cel_value v = f->args[index];
    bool takes = verb->values >> v.kind & 1;
    if (takes && put_clause(f, c, v, error)) {
        if (f->out.n <= CEL_TEXT_MAX)
            return true;
        strbuf_adds(error, "text is too long");
    } else if (error->n == 0) {
        strbuf_addf(error, "%s%s", verb->refused, cel_kind_name(v));
    }
    struct strbuf why = *error;
    strbuf_init(error);
    strbuf_addf(error, "error during formatting: %s", strbuf_cstr(&why));
    strbuf_release(&why);
    return false;
}

static void format_plain(void *ctx, struct str text)
{
    strbuf_addstr(&((struct formatting *)ctx)->out, text);
}

static struct cel_value format(struct cel_run *run, const struct cel_value *args,
                               const struct format_dialect *dialect, put_fn *text)
{
    struct formatting f = {.run = run,
                           .args = args[1].items,
                           .text = text,
                           .frozen = dialect == &format_frozen};
    struct format_reader r = {.dialect = dialect,
                              .nargs = args[1].len,
                              .clause = format_clause,
                              .plain = format_plain,
                              .ctx = &f};
    struct strbuf error = STRBUF_INIT;
    uint64_t used;
    if (format_read(cel_str(args[0]), &r, &used, &error))
        return cel_lib_text(run, &f.out);
    struct cel_value v = cel_errorf(run, "%s", strbuf_cstr(&error));
    strbuf_release(&error);
    strbuf_release(&f.out);
    return v;
}

struct cel_value cel_format_frozen(struct cel_run *run, const struct cel_value *args,
                                   unsigned n)
{
    return format(run, args, &format_frozen, put_frozen_text);
}

struct cel_value cel_format_latest(struct cel_run *run, const struct cel_value *args,
                                   unsigned n)
{
    return format(run, args, &format_latest, put_latest_text);
}
