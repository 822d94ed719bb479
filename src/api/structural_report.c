/* SPDX-License-Identifier: Apache-2.0 */
/* Paths, errors, and values as Go has them. */
#include "api/rules.h"
#include "api/structural_inner.h"
#include "base/quote.h"
#include "doc/tree.h"

/* ---- Paths ---- */

size_t schema_path_child(struct strbuf *path, struct str name)
{
    size_t n = path->n;
    if (n)
        strbuf_addc(path, '.');
    strbuf_addstr(path, name);
    return n;
}

size_t schema_path_key(struct strbuf *path, struct str key)
{
    size_t n = path->n;
    strbuf_addf(path, "[%.*s]", STR_ARG(key));
    return n;
}

size_t schema_path_index(struct strbuf *path, uint32_t i)
{
    size_t n = path->n;
    strbuf_addf(path, "[%u]", i);
    return n;
}

/* ---- Errors ---- */

static void push(const struct schema_report *r, const struct strbuf *path,
                 enum api_error_type type, struct str bad, const char *fmt, va_list ap)
{
    struct api_error e = {.type = type, .bad = bad, .pos = UINT32_MAX};
    e.path = path->n ? arena_str(r->a, strbuf_str(path)) : STR("<nil>");
    e.detail = arena_vprintf(r->a, fmt, ap);
    vec_push(&r->errors->list, e);
}

void schema_fail(const struct schema_report *r, const struct strbuf *path,
                 enum api_error_type type, struct str bad, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    push(r, path, type, bad, fmt, ap);
    va_end(ap);
}

void schema_fail_at(const struct schema_report *r, struct strbuf *path, const char *name,
                    enum api_error_type type, struct str bad, const char *fmt, ...)
{
    va_list ap;
    size_t here = schema_path_child(path, str_from(name));
    va_start(ap, fmt);
    push(r, path, type, bad, fmt, ap);
    va_end(ap);
    schema_path_back(path, here);
}

/* ---- Numbers ---- */

struct schema_number schema_number_of(const struct doc *d)
{
    struct schema_number n = {0};
    n.whole = doc_int64(d, &n.i);
    if (n.whole)
        n.d = (double)n.i;
    else
        doc_double(d, &n.d);
    return n;
}

static bool same_members(const struct doc *a, const struct doc *b)
{
    struct tree_order x, y;
    tree_order_init(&x, a, str_cmp);
    tree_order_init(&y, b, str_cmp);
    bool same = x.n == y.n;
    for (uint32_t i = 0; same && i < x.n; i++)
        same = str_eq(doc_key(x.v[i]), doc_key(y.v[i])) &&
               schema_same(&x.v[i]->value, &y.v[i]->value);
    tree_order_fini(&x);
    tree_order_fini(&y);
    return same;
}

bool schema_same(const struct doc *a, const struct doc *b)
{
    enum doc_type t = a ? (enum doc_type)a->type : DOC_NULL;
    if (t != (b ? (enum doc_type)b->type : DOC_NULL))
        return false;
    if (t == DOC_NULL || a == b)
        return true;
    if (t == DOC_BOOL)
        return a->b == b->b;
    if (t == DOC_NUMBER) {
        struct schema_number x = schema_number_of(a), y = schema_number_of(b);
        return x.whole == y.whole && (x.whole ? x.i == y.i : x.d == y.d);
    }
    if (a->n != b->n)
        return false;
    if (t == DOC_STRING)
        return str_eq(doc_str(a), doc_str(b));
    if (t == DOC_MAP)
        return same_members(a, b);
    for (uint32_t i = 0; i < a->n; i++)
        if (!schema_same(&a->items[i], &b->items[i]))
            return false;
    return true;
}

/* ---- Values as text ---- */

/* encoding/json: plain decimals between 1e-6 and 1e21, else an exponent of one digit
 * where that is enough. */
static void write_double(double d, struct strbuf *out)
{
    double size = d < 0 ? -d : d;
    struct strbuf b = STRBUF_INIT;
    if (size == 0 || (size >= 1e-6 && size < 1e21)) {
        cel_print_decimal(d, out);
        return;
    }
    cel_print_double(d, &b);
    size_t e = str_find_byte(strbuf_str(&b), 'e', 0);
    if (e != SIZE_MAX && e + 3 < b.n && b.p[e + 2] == '0' && b.p[e + 1] == '-')
        memmove(b.p + e + 2, b.p + e + 3, b.n-- - (e + 3));
    strbuf_addstr(out, strbuf_str(&b));
    strbuf_release(&b);
}

static void write_members(const struct doc *d, struct strbuf *out)
{
    struct tree_order o;
    tree_order_init(&o, d, str_cmp);
    for (uint32_t i = 0; i < o.n; i++) {
        struct doc key = {.type = DOC_STRING, .n = o.v[i]->key_len, .s = o.v[i]->key};
        strbuf_adds(out, i ? "," : "");
        doc_write_json(&key, DOC_JSON_HTML, out);
        strbuf_addc(out, ':');
        schema_write_json(&o.v[i]->value, out);
    }
    tree_order_fini(&o);
}

void schema_write_json(const struct doc *d, struct strbuf *out)
{
    bool map = d->type == DOC_MAP;
    if (d->type == DOC_NUMBER) {
        struct schema_number n = schema_number_of(d);
        if (n.whole)
            strbuf_addf(out, "%lld", (long long)n.i);
        else
            write_double(n.d, out);
        return;
    }
    if (d->type < DOC_LIST) {
        doc_write_json(d, DOC_JSON_HTML, out);
        return;
    }
    strbuf_addc(out, map ? '{' : '[');
    if (map)
        write_members(d, out);
    for (uint32_t i = 0; !map && i < d->n; i++) {
        strbuf_adds(out, i ? "," : "");
        schema_write_json(&d->items[i], out);
    }
    strbuf_addc(out, map ? '}' : ']');
}

struct str schema_shown(struct arena *a, const struct doc *d)
{
    struct strbuf b = STRBUF_INIT;
    if (!d || d->type == DOC_NULL)
        return STR("null");
    if (d->type == DOC_STRING)
        return api_shown_text(a, doc_str(d));
    struct schema_number n = {0};
    if (d->type == DOC_NUMBER)
        n = schema_number_of(d);
    if (d->type == DOC_NUMBER && !n.whole)
        cel_print_double(n.d, &b);
    else
        schema_write_json(d, &b);
    struct str s = arena_str(a, strbuf_str(&b));
    strbuf_release(&b);
    return s;
}
