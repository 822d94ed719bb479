/* SPDX-License-Identifier: Apache-2.0 */
#include "control/template_hash.h"

#include <stdio.h>
#include <stdlib.h>

#include "num/quantity.h"

enum shape_box { SHAPE_ONE, SHAPE_POINTER, SHAPE_LIST, SHAPE_MAP };
enum shape_form {
    SHAPE_STRING,
    SHAPE_BOOL,
    SHAPE_INT,
    SHAPE_STRUCT,
    SHAPE_QUANTITY,
    SHAPE_INT_OR_STRING,
    SHAPE_TIME,  /* printed as none: templates have none */
    SHAPE_OTHER, /* likewise */
};

struct shape;
struct shape_field {
    const char *name, *json; /* json "": its members stand in the struct itself */
    const char *type;        /* as Go prints it */
    enum shape_box box;
    enum shape_form form; /* of the value, the items or the values of the map */
    const struct shape *shape;
};
struct shape {
    const struct shape_field *fields;
    uint32_t n;
};

#include "control/template_shape.inc"

/* ---- what Go prints ---- */

static void print_struct(const struct shape *s, const struct doc *d, struct strbuf *out);

static void print_int(const struct doc *d, struct strbuf *out)
{
    int64_t n = 0;
    if (d && d->type == DOC_NUMBER)
        doc_int64(d, &n);
    strbuf_addf(out, "%lld", (long long)n);
}

static void print_int_or_string(const struct doc *d, struct strbuf *out)
{
    bool text = d && d->type == DOC_STRING;
    strbuf_addf(out, "{Type:(intstr.Type)%d IntVal:(int32)", text);
    print_int(text ? NULL : d, out);
    strbuf_adds(out, " StrVal:(string)");
    if (text)
        strbuf_addstr(out, doc_str(d));
    strbuf_addc(out, '}');
}

/* Numbers that upstream's parser does not take the short way with are kept as decimals of
 * any length. */
static void print_decimal(const struct quantity *q, struct strbuf *out)
{
    uint32_t n;
    const uint64_t *words = quantity_words(q, &n);
    if (!words) {
        strbuf_adds(out, "(*inf.Dec)<nil>");
        return;
    }
    strbuf_addf(out, "(*inf.Dec){unscaled:(big.Int){neg:(bool)%s abs:(big.nat)[",
                quantity_sign(q) < 0 ? "true" : "false");
    for (uint32_t i = 0; i < n; i++)
        strbuf_addf(out, "%s%llu", i ? " " : "", (unsigned long long)words[i]);
    strbuf_addf(out, "]} scale:(inf.Scale)%d}", -q->scale);
}

static void print_number(const struct quantity *q, const char *format, struct strbuf *out)
{
    strbuf_addf(out,
                "{i:(resource.int64Amount){value:(int64)%lld scale:(resource.Scale)%d} "
                "d:(resource.infDecAmount){Dec:",
                q->big ? 0ll : (long long)q->i, q->big ? 0 : (int)q->scale);
    print_decimal(q, out);
    strbuf_addf(out, "} s:(string)%.*s Format:(resource.Format)%s}",
                q->text ? (int)q->text_len : 0, q->text ? q->text : "", format);
}

static void print_quantity(const struct doc *d, struct strbuf *out)
{
    static const char *const FORMATS[] = {"DecimalSI", "BinarySI", "DecimalExponent"};
    bool known = d && (d->type == DOC_STRING || d->type == DOC_NUMBER);
    struct quantity q = QUANTITY_ZERO;
    struct arena a;
    arena_init(&a);
    if (known && quantity_parse(doc_str(d), &a, &q, NULL)) {
        if (quantity_sign(&q) == 0) /* upstream keeps this text alone */
            q.text = "0", q.text_len = 1;
        print_number(&q, FORMATS[q.format], out);
    } else {
        print_number(&q, "", out);
    }
    arena_fini(&a);
}

static void print_value(const struct shape_field *f, const struct doc *d,
                        struct strbuf *out)
{
    switch (f->form) {
    case SHAPE_STRING:
        if (d && d->type == DOC_STRING)
            strbuf_addstr(out, doc_str(d));
        break;
    case SHAPE_BOOL:
        strbuf_adds(out, d && d->type == DOC_BOOL && d->b ? "true" : "false");
        break;
    case SHAPE_INT:
        print_int(d, out);
        break;
    case SHAPE_STRUCT:
        print_struct(f->shape, d, out);
        break;
    case SHAPE_QUANTITY:
        print_quantity(d, out);
        break;
    case SHAPE_INT_OR_STRING:
        print_int_or_string(d, out);
        break;
    case SHAPE_TIME:
        strbuf_adds(out, "{Time:(time.Time){wall:(uint64)0 ext:(int64)0 "
                         "loc:(*time.Location)<nil>}}");
        break;
    case SHAPE_OTHER:
        break;
    }
}

static void print_list(const struct shape_field *f, const struct doc *d,
                       struct strbuf *out)
{
    strbuf_addc(out, '[');
    for (uint32_t i = 0; i < d->n; i++) {
        if (i)
            strbuf_addc(out, ' ');
        print_value(f, &d->items[i], out);
    }
    strbuf_addc(out, ']');
}

static int by_key(const void *a, const void *b)
{
    const struct doc_member *const *x = a, *const *y = b;
    return str_cmp(doc_key(*x), doc_key(*y));
}

static void print_map(const struct shape_field *f, const struct doc *d,
                      struct strbuf *out)
{
    struct arena a;
    arena_init(&a);
    const struct doc_member **sorted = ARENA_ARRAY(&a, const struct doc_member *, d->n);
    for (uint32_t i = 0; i < d->n; i++)
        sorted[i] = &d->members[i];
    qsort(sorted, d->n, sizeof *sorted, by_key);
    strbuf_adds(out, "map[");
    for (uint32_t i = 0; i < d->n; i++) {
        strbuf_addf(out, "%s%.*s:", i ? " " : "", STR_ARG(doc_key(sorted[i])));
        print_value(f, &sorted[i]->value, out);
    }
    strbuf_addc(out, ']');
    arena_fini(&a);
}

/* Lists and maps that are empty come as none over the wire. */
static void print_field(const struct shape_field *f, const struct doc *d,
                        struct strbuf *out)
{
    bool none =
        !d || d->type == DOC_NULL || (f->box == SHAPE_POINTER && f->form >= SHAPE_TIME);
    strbuf_addf(out, "%s:(%s)", f->name, f->type);
    if (f->box == SHAPE_ONE)
        print_value(f, d, out);
    else if (none)
        strbuf_adds(out, "<nil>");
    else if (f->box == SHAPE_POINTER)
        print_value(f, d, out);
    else if (f->box == SHAPE_LIST && d->type == DOC_LIST && d->n)
        print_list(f, d, out);
    else if (f->box == SHAPE_MAP && d->type == DOC_MAP && d->n)
        print_map(f, d, out);
    else
        strbuf_adds(out, "<nil>");
}

static void print_struct(const struct shape *s, const struct doc *d, struct strbuf *out)
{
    strbuf_addc(out, '{');
    for (uint32_t i = 0; i < s->n; i++) {
        const struct shape_field *f = &s->fields[i];
        if (i)
            strbuf_addc(out, ' ');
        print_field(f, *f->json ? doc_get(d, f->json) : d, out);
    }
    strbuf_addc(out, '}');
}

/* ---- hashes ---- */

uint32_t template_hash_add(uint32_t hash, const void *p, size_t n)
{
    for (const unsigned char *at = p, *end = at + n; at < end; at++)
        hash = (hash ^ *at) * 16777619u;
    return hash;
}

uint32_t template_hash_add_plain(uint32_t hash, const void *p, size_t n)
{
    const unsigned char *bytes = p;
    for (size_t i = 0; i < n; i++)
        hash = (hash * 16777619u) ^ bytes[i];
    return hash;
}

struct str template_hash_spell(uint32_t hash, struct arena *a)
{
    static const char LETTERS[] = "bcdfghjklmnpqrstvwxz2456789";
    char *digits = arena_alloc(a, 12);
    int n = snprintf(digits, 12, "%u", hash);
    for (int i = 0; i < n; i++)
        digits[i] = LETTERS[(unsigned char)digits[i] % (sizeof LETTERS - 1)];
    return (struct str){digits, (size_t)n};
}

struct str template_hash(const struct doc *template, int64_t collisions, struct arena *a)
{
    struct strbuf text = STRBUF_INIT;
    strbuf_adds(&text, "(v1.PodTemplateSpec)");
    print_struct(&PodTemplateSpec, template, &text);
    uint32_t hash = template_hash_add(FNV_START, text.p, text.n);
    if (collisions >= 0) {
        unsigned char bytes[8] = {
            (unsigned char)collisions, (unsigned char)(collisions >> 8),
            (unsigned char)(collisions >> 16), (unsigned char)(collisions >> 24)};
        hash = template_hash_add(hash, bytes, sizeof bytes);
    }
    strbuf_release(&text);
    return template_hash_spell(hash, a);
}
