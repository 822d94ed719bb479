/* SPDX-License-Identifier: Apache-2.0 */
/* Values as text: for people and tests (cel_print), and inside error texts (Go's %v). */
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "cel/cel.h"
#include "cel/float.h"
#include "cel/time.h"
#include "cel/value.h"
#include "num/quantity.h"
#include "num/semver.h"

/* ---- Doubles ---- */

static bool print_special(double d, struct strbuf *out)
{
    if (isfinite(d))
        return false;
    strbuf_adds(out, isnan(d) ? "NaN" : d > 0 ? "+Inf" : "-Inf");
    return true;
}

static void print_plain(const struct float_digits *f, struct strbuf *out)
{
    int point = f->exp + 1; /* digits before the point */
    if (point <= 0) {
        strbuf_adds(out, "0.");
        for (int i = point; i < 0; i++)
            strbuf_addc(out, '0');
        strbuf_add(out, f->digits, f->n);
        return;
    }
    for (int i = 0; i < point || i < (int)f->n; i++) {
        if (i == point)
            strbuf_addc(out, '.');
        strbuf_addc(out, i < (int)f->n ? f->digits[i] : '0');
    }
}

static void print_scientific(const struct float_digits *f, struct strbuf *out)
{
    strbuf_addc(out, f->digits[0]);
    if (f->n > 1) {
        strbuf_addc(out, '.');
        strbuf_add(out, f->digits + 1, f->n - 1);
    }
    strbuf_addf(out, "e%c%02d", f->exp < 0 ? '-' : '+', abs(f->exp));
}

void cel_print_double(double d, struct strbuf *out)
{
    if (print_special(d, out))
        return;
    struct float_digits f;
    cel_float_shortest(d, &f);
    if (f.negative)
        strbuf_addc(out, '-');
    if (f.exp < -4 || f.exp >= 6)
        print_scientific(&f, out);
    else
        print_plain(&f, out);
}

void cel_print_decimal(double d, struct strbuf *out)
{
    if (print_special(d, out))
        return;
    struct float_digits f;
    cel_float_shortest(d, &f);
    if (f.negative)
        strbuf_addc(out, '-');
    print_plain(&f, out);
}

/* ---- Parts that both forms share ---- */

static void print_quantity(const struct quantity *q, struct strbuf *out)
{
    struct arena a;
    arena_init(&a);
    strbuf_addstr(out, quantity_print(q, &a));
    arena_fini(&a);
}

static void print_semver(const struct semver *v, struct strbuf *out)
{
    struct arena a;
    arena_init(&a);
    strbuf_addstr(out, semver_print(v, &a));
    arena_fini(&a);
}

/* Kinds that look the same in both forms; false for the others. */
static bool print_common(struct cel_value v, struct strbuf *out)
{
    switch (v.kind) {
    case CEL_ERROR:
        strbuf_addstr(out, v.error->text);
        return true;
    case CEL_BOOL:
        strbuf_adds(out, v.b ? "true" : "false");
        return true;
    case CEL_INT:
        strbuf_addf(out, "%lld", (long long)v.i);
        return true;
    case CEL_DOUBLE:
        cel_print_double(v.d, out);
        return true;
    case CEL_TYPE:
        cel_type_print(v.type, out);
        return true;
    case CEL_QUANTITY:
        print_quantity(v.quantity, out);
        return true;
    case CEL_SEMVER:
        print_semver(v.semver, out);
        return true;
    case CEL_IP:
        cel_ip_print(v.ip, out);
        return true;
    case CEL_CIDR:
        cel_cidr_print(v.cidr, out);
        return true;
    case CEL_URL:
        cel_url_print(v.url, out);
        return true;
    case CEL_FORMAT:
        strbuf_adds(out, cel_format_name(v.format));
        return true;
    case CEL_OBJECT:
        strbuf_adds(out, v.object->type->name);
        return true;
    default:
        return false;
    }
}

typedef void print_fn(struct cel_value v, struct strbuf *out);

/* A text of lists and maps that is longer is cut: they may share their items many times
 * over, and who reads it is a person. */
enum { PRINT_MAX = 1 << 20 };

static void print_items(struct cel_value v, const char *sep, print_fn *print,
                        struct strbuf *out)
{
    strbuf_addc(out, '[');
    for (uint32_t i = 0; i < v.len && out->n < PRINT_MAX; i++) {
        if (i != 0)
            strbuf_adds(out, sep);
        print(v.items[i], out);
    }
    strbuf_addc(out, ']');
}

static int compare_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Sorted by the text of the entries, so that equal maps print alike. */
static void print_entries(const struct cel_map *m, print_fn *print, struct strbuf *out)
{
    char **texts = mem_array(m->n + 1, sizeof *texts);
    size_t total = 0;
    uint32_t n = 0;
    for (; n < m->n && total < PRINT_MAX; n++) {
        struct strbuf b = STRBUF_INIT;
        print(m->entries[n].key, &b);
        strbuf_adds(&b, ": ");
        print(m->entries[n].value, &b);
        total += b.n;
        texts[n] = strbuf_steal(&b);
    }
    qsort(texts, n, sizeof *texts, compare_text);
    strbuf_addc(out, '{');
    for (uint32_t i = 0; i < n; i++) {
        strbuf_adds(out, i ? ", " : "");
        strbuf_adds(out, texts[i]);
        free(texts[i]);
    }
    strbuf_addc(out, '}');
    free(texts);
}

/* ---- The form for people ---- */

/* As Go writes a JSON string: the escapes of JSON, and of what HTML or JavaScript would
 * trip over. */
static void print_json_rune(uint32_t cp, struct strbuf *out)
{
    static const char brief[] = "\"\"\\\\\nn\rr\tt\bb\ff";
    for (const char *p = brief; *p != 0; p += 2) {
        if ((unsigned char)*p == cp) {
            strbuf_addc(out, '\\');
            strbuf_addc(out, p[1]);
            return;
        }
    }
    char utf8[4];
    if (cp < 32 || cp == '<' || cp == '>' || cp == '&' || cp == 0x2028 || cp == 0x2029)
        strbuf_addf(out, "\\u%04x", cp);
    else
        strbuf_add(out, utf8, utf8_encode(cp, utf8));
}

static void print_json(struct str s, struct strbuf *out)
{
    strbuf_addc(out, '"');
    for (size_t i = 0; i < s.n;) {
        uint32_t cp = 0;
        unsigned n = utf8_decode(s, i, &cp);
        if (n == 0)
            strbuf_adds(out, "\\ufffd");
        else
            print_json_rune(cp, out);
        i += n ? n : 1;
    }
    strbuf_addc(out, '"');
}

static void print_hex(struct str s, struct strbuf *out)
{
    strbuf_adds(out, "bytes:");
    for (size_t i = 0; i < s.n; i++)
        strbuf_addf(out, "%02x", (unsigned char)s.p[i]);
}

static void print_optional(struct cel_value v, const char *name, print_fn *print,
                           struct strbuf *out)
{
    if (v.optional == NULL) {
        strbuf_adds(out, "optional.none()");
        return;
    }
    strbuf_adds(out, name);
    strbuf_addc(out, '(');
    print(*v.optional, out);
    strbuf_addc(out, ')');
}

void cel_print(struct cel_value v, struct strbuf *out)
{
    if (print_common(v, out))
        return;
    switch (v.kind) {
    case CEL_UINT:
        strbuf_addf(out, "%lluu", (unsigned long long)v.u);
        break;
    case CEL_STRING:
        print_json(cel_str(v), out);
        break;
    case CEL_BYTES:
        print_hex(cel_str(v), out);
        break;
    case CEL_DURATION:
        cel_print_seconds(v.i, out);
        break;
    case CEL_TIMESTAMP:
        cel_print_rfc3339(v, out);
        break;
    case CEL_LIST:
        print_items(v, ", ", cel_print, out);
        break;
    case CEL_MAP:
        print_entries(v.map, cel_print, out);
        break;
    case CEL_OPTIONAL:
        print_optional(v, "optional.of", cel_print, out);
        break;
    default:
        strbuf_adds(out, "null");
    }
}

/* ---- Go's %v ---- */

static void print_go_bytes(struct str s, struct strbuf *out)
{
    strbuf_addc(out, '[');
    for (size_t i = 0; i < s.n; i++)
        strbuf_addf(out, "%s%u", i ? " " : "", (unsigned char)s.p[i]);
    strbuf_addc(out, ']');
}

void cel_print_go(struct cel_value v, struct strbuf *out)
{
    if (print_common(v, out))
        return;
    switch (v.kind) {
    case CEL_UINT:
        strbuf_addf(out, "%llu", (unsigned long long)v.u);
        break;
    case CEL_STRING:
        strbuf_addstr(out, cel_str(v));
        break;
    case CEL_BYTES:
        print_go_bytes(cel_str(v), out);
        break;
    case CEL_DURATION:
        cel_print_duration(v.i, out);
        break;
    case CEL_TIMESTAMP:
        cel_print_go_time(v, out);
        break;
    case CEL_LIST:
        print_items(v, ", ", cel_print_go, out);
        break;
    case CEL_MAP:
        print_entries(v.map, cel_print_go, out);
        break;
    case CEL_OPTIONAL:
        print_optional(v, "optional", cel_print_go, out);
        break;
    default: /* null is an enum without a name to Go */
        strbuf_adds(out, "0");
    }
}
