/* SPDX-License-Identifier: Apache-2.0 */
#include "api/proto.h"

#include "api/canonical.h"
#include "api/timestamp.h"
#include "api/wire.h"
#include "base/base64.h"
#include "base/names.h"

enum { OUTER_LEVELS = sizeof((struct api_field *)0)->outer };

static const struct str MAGIC = {"k8s\0", 4};

/* ---- finding types ---- */

const struct api_type *api_type_of_object(struct str api_version, struct str kind)
{
    size_t slash = str_find_byte(api_version, '/', 0);
    struct str group = slash == SIZE_MAX ? STR("") : str_sub(api_version, 0, slash);
    struct str version =
        slash == SIZE_MAX ? api_version : str_sub(api_version, slash + 1, SIZE_MAX);
    const struct api_type *t = api_type_find(group, version, kind);
    return t ? t : api_type_find(STR("meta"), STR("v1"), kind);
}

/* ================ encoding ================ */

struct encoder {
    struct arena *a;
    struct strbuf *out;
    struct err *e;
};

static bool encode_struct(struct encoder *w, const struct api_type *t,
                          const struct doc *d);

static bool unfit(struct encoder *w, const struct api_field *f, const struct doc *d)
{
    return err_set(w->e, ERR_INVALID, "%s: a %s cannot stand here", f->name,
                   doc_type_name(d));
}

static bool encode_int(struct encoder *w, const struct api_field *f, uint32_t number,
                       const struct doc *d)
{
    int64_t v;
    if (!doc_int64(d, &v))
        return unfit(w, f, d);
    wire_put_int(w->out, number, (uint64_t)v);
    return true;
}

static bool encode_double(struct encoder *w, const struct api_field *f, uint32_t number,
                          const struct doc *d)
{
    double v;
    uint64_t bits;
    if (!doc_double(d, &v))
        return unfit(w, f, d);
    memcpy(&bits, &v, sizeof bits);
    wire_put_64(w->out, number, bits);
    return true;
}

static bool encode_time(struct encoder *w, const struct api_field *f, uint32_t number,
                        const struct doc *d)
{
    int64_t seconds;
    int32_t nanos;
    if (d->type != DOC_STRING || !timestamp_parse(doc_str(d), &seconds, &nanos))
        return unfit(w, f, d);
    size_t mark = wire_begin(w->out, number);
    wire_put_int(w->out, 1, (uint64_t)seconds);
    wire_put_int(w->out, 2, f->form == API_MICRO_TIME ? (uint64_t)nanos : 0);
    wire_end(w->out, mark);
    return true;
}

static bool encode_int_or_string(struct encoder *w, const struct api_field *f,
                                 uint32_t number, const struct doc *d)
{
    int64_t v = 0;
    bool text = d->type == DOC_STRING;
    if (!text && !doc_int64(d, &v))
        return unfit(w, f, d);
    size_t mark = wire_begin(w->out, number);
    wire_put_int(w->out, 1, text);
    wire_put_int(w->out, 2, (uint64_t)v);
    wire_put_bytes(w->out, 3, text ? doc_str(d) : STR(""));
    wire_end(w->out, mark);
    return true;
}

/* A message whose field 1 is a text. */
static void put_boxed(struct encoder *w, uint32_t number, struct str s)
{
    size_t mark = wire_begin(w->out, number);
    wire_put_bytes(w->out, 1, s);
    wire_end(w->out, mark);
}

static void encode_json(struct encoder *w, uint32_t number, const struct doc *d)
{
    struct strbuf b = STRBUF_INIT;
    doc_write_json(d, DOC_JSON_COMPACT, &b);
    put_boxed(w, number, strbuf_str(&b));
    strbuf_release(&b);
}

static bool encode_bytes(struct encoder *w, const struct api_field *f, uint32_t number,
                         const struct doc *d)
{
    struct str bytes;
    if (d->type != DOC_STRING || !base64_decode(doc_str(d), w->a, &bytes))
        return unfit(w, f, d);
    wire_put_bytes(w->out, number, bytes);
    return true;
}

static bool encode_text(struct encoder *w, const struct api_field *f, uint32_t number,
                        const struct doc *d)
{
    if (d->type != DOC_STRING && !(f->form == API_QUANTITY && d->type == DOC_NUMBER))
        return unfit(w, f, d);
    if (f->form == API_QUANTITY)
        put_boxed(w, number, doc_str(d));
    else
        wire_put_bytes(w->out, number, doc_str(d));
    return true;
}

/* ---- what is a schema or something else: a message of both ---- */

static const struct either {
    const char *name;
    uint32_t schema, other; /* numbers */
    enum { OR_BOOL, OR_SCHEMAS, OR_TEXTS } kind;
} EITHERS[] = {
    {"JSONSchemaPropsOrArray", 1, 2, OR_SCHEMAS},
    {"JSONSchemaPropsOrBool", 2, 1, OR_BOOL},
    {"JSONSchemaPropsOrStringArray", 1, 2, OR_TEXTS},
};

static const struct either *either_of(const struct api_type *t)
{
    for (size_t i = 0; i < sizeof EITHERS / sizeof *EITHERS; i++)
        if (strcmp(t->name, EITHERS[i].name) == 0)
            return &EITHERS[i];
    return NULL;
}

static const struct api_type *schema_type(void)
{
    return api_type_find(STR("apiextensions.k8s.io"), STR("v1"), STR("JSONSchemaProps"));
}

static bool encode_schema(struct encoder *w, uint32_t number, const struct doc *d)
{
    size_t mark = wire_begin(w->out, number);
    bool ok = d->type == DOC_MAP && encode_struct(w, schema_type(), d);
    wire_end(w->out, mark);
    return ok;
}

static bool encode_either(struct encoder *w, const struct either *e, uint32_t number,
                          const struct doc *d)
{
    size_t mark = wire_begin(w->out, number);
    bool ok = true;
    if (e->kind == OR_BOOL) /* a schema allows what it describes */
        wire_put_int(w->out, e->other, d->type != DOC_BOOL || d->b);
    if (d->type == DOC_MAP)
        ok = encode_schema(w, e->schema, d);
    for (uint32_t i = 0; ok && d->type == DOC_LIST && i < d->n; i++) {
        if (e->kind == OR_TEXTS)
            wire_put_bytes(w->out, e->other, doc_str(&d->items[i]));
        else
            ok = encode_schema(w, e->other, &d->items[i]);
    }
    wire_end(w->out, mark);
    return ok;
}

static bool encode_nested(struct encoder *w, const struct api_field *f, uint32_t number,
                          const struct doc *d)
{
    const struct either *either = f->type->form == API_ANY ? either_of(f->type) : NULL;
    if (either)
        return encode_either(w, either, number, d);
    if (f->type->form == API_ANY) {
        encode_json(w, number, d);
        return true;
    }
    if (d->type != DOC_MAP)
        return unfit(w, f, d);
    size_t mark = wire_begin(w->out, number);
    bool ok = encode_struct(w, f->type, d);
    wire_end(w->out, mark);
    return ok;
}

static bool encode_value(struct encoder *w, const struct api_field *f, uint32_t number,
                         const struct doc *d)
{
    switch (f->form) {
    case API_STRUCT:
        return encode_nested(w, f, number, d);
    case API_BOOL:
        if (d->type != DOC_BOOL)
            return unfit(w, f, d);
        wire_put_int(w->out, number, d->b);
        return true;
    case API_INT32:
    case API_INT64:
        return encode_int(w, f, number, d);
    case API_DOUBLE:
        return encode_double(w, f, number, d);
    case API_BYTES:
        return encode_bytes(w, f, number, d);
    case API_TIME:
    case API_MICRO_TIME:
        return encode_time(w, f, number, d);
    case API_INT_OR_STRING:
        return encode_int_or_string(w, f, number, d);
    case API_STRING:
    case API_QUANTITY:
        return encode_text(w, f, number, d);
    default:
        encode_json(w, number, d);
        return true;
    }
}

/* A list that is a message of its own: Verbs, ExtraValue. */
static bool encode_boxed_list(struct encoder *w, const struct api_field *f,
                              uint32_t number, const struct doc *d)
{
    size_t mark = wire_begin(w->out, number);
    bool ok = true;
    for (uint32_t i = 0; ok && d->type == DOC_LIST && i < d->n; i++)
        ok = encode_value(w, f, 1, &d->items[i]);
    wire_end(w->out, mark);
    return ok;
}

static bool encode_map(struct encoder *w, const struct api_field *f, const struct doc *d)
{
    bool ok = d->type == DOC_MAP || unfit(w, f, d);
    for (uint32_t i = 0; ok && i < d->n; i++) {
        const struct doc *value = &d->members[i].value;
        size_t mark = wire_begin(w->out, f->number);
        wire_put_bytes(w->out, 1, doc_key(&d->members[i]));
        if (f->container == API_MAP_OF_LISTS)
            ok = encode_boxed_list(w, f, 2, value);
        else if (value->type != DOC_NULL)
            ok = encode_value(w, f, 2, value);
        wire_end(w->out, mark);
    }
    return ok;
}

static bool is_boxed_list(const struct api_field *f)
{
    return f->container == API_LIST && f->proto && strncmp(f->proto, "optional ", 9) == 0;
}

static bool encode_list(struct encoder *w, const struct api_field *f, const struct doc *d)
{
    bool ok = d->type == DOC_LIST || unfit(w, f, d);
    if (is_boxed_list(f))
        return ok && encode_boxed_list(w, f, f->number, d);
    for (uint32_t i = 0; ok && i < d->n; i++)
        ok = encode_value(w, f, f->number, &d->items[i]);
    return ok;
}

/* What Go writes for a struct that is always there. */
static void encode_absent(struct encoder *w, const struct api_field *f)
{
    bool value = f->container == API_ONE && !(f->flags & API_POINTER);
    if (value && f->form == API_STRUCT && f->type->form == API_STRUCT)
        wire_put_bytes(w->out, f->number, STR(""));
}

static bool encode_field(struct encoder *w, const struct api_field *f,
                         const struct doc *d)
{
    if (!d || d->type == DOC_NULL) {
        encode_absent(w, f);
        return true;
    }
    if (f->container == API_LIST)
        return encode_list(w, f, d);
    if (f->container != API_ONE)
        return encode_map(w, f, d);
    return encode_value(w, f, f->number, d);
}

/* Fields [from, to) in the order of their numbers; those of embedded messages stand
 * together and are written inside of these. */
static bool encode_fields(struct encoder *w, const struct api_type *t,
                          const struct doc *d, uint16_t from, uint16_t to, int level)
{
    bool ok = true;
    for (uint16_t i = from; ok && i < to;) {
        const struct api_field *f = &t->fields[t->by_number[i]];
        uint8_t outer = level < OUTER_LEVELS ? f->outer[level] : 0;
        uint16_t end = i + 1;
        if (!outer) {
            ok = encode_field(w, f, doc_get_str(d, str_from(f->name)));
            i = end;
            continue;
        }
        while (end < to && t->fields[t->by_number[end]].outer[level] == outer)
            end++;
        size_t mark = wire_begin(w->out, outer);
        ok = encode_fields(w, t, d, i, end, level + 1);
        wire_end(w->out, mark);
        i = end;
    }
    return ok;
}

static bool encode_struct(struct encoder *w, const struct api_type *t,
                          const struct doc *d)
{
    return encode_fields(w, t, d, 0, t->nnumbered, 0);
}

bool api_proto_encode_message(const struct api_type *t, const struct doc *d,
                              struct arena *a, struct strbuf *out, struct err *e)
{
    struct encoder w = {a, out, e};
    size_t before = out->n;
    if (encode_struct(&w, t, d))
        return true;
    out->n = before;
    return false;
}

/* The envelope up to the object itself; NULL: no type of that name. */
static const struct api_type *begin_object(const struct doc *object, struct strbuf *out,
                                           size_t *raw, struct err *e)
{
    struct str version = doc_get_text(object, "apiVersion"),
               kind = doc_get_text(object, "kind");
    const struct api_type *t = api_type_of_object(version, kind);
    if (!t) {
        err_set(e, ERR_UNSUPPORTED, "no protobuf for kind \"%.*s\" of %.*s",
                STR_ARG(kind), STR_ARG(version));
        return NULL;
    }
    strbuf_addstr(out, MAGIC);
    size_t mark = wire_begin(out, 1);
    wire_put_bytes(out, 1, version);
    wire_put_bytes(out, 2, kind);
    wire_end(out, mark);
    *raw = wire_begin(out, 2);
    return t;
}

static void end_object(struct strbuf *out, size_t raw)
{
    wire_end(out, raw);
    wire_put_bytes(out, 3, STR(""));
    wire_put_bytes(out, 4, STR(""));
}

bool api_proto_encode(const struct doc *object, struct arena *a, struct strbuf *out,
                      struct err *e)
{
    size_t before = out->n, raw;
    const struct api_type *t = begin_object(object, out, &raw, e);
    if (!t)
        return false;
    bool ok = api_proto_encode_message(t, object, a, out, e);
    end_object(out, raw);
    if (!ok)
        out->n = before;
    return ok;
}

/* ---- lists ---- */

bool api_proto_list_begin(struct api_proto_list *l, const struct doc *list,
                          struct arena *a, struct strbuf *out, struct err *e)
{
    *l = (struct api_proto_list){.out = out};
    const struct api_type *t = begin_object(list, out, &l->raw, e);
    if (!t || !api_proto_encode_message(t, list, a, out, e))
        return false;
    for (uint32_t i = 0; i < t->nfields; i++)
        if (strcmp(t->fields[i].name, "items") == 0) {
            l->item = t->fields[i].type;
            l->number = t->fields[i].number;
        }
    return l->item || err_set(e, ERR_UNSUPPORTED, "%s is no list", t->name);
}

bool api_proto_list_add(struct api_proto_list *l, const struct doc *item, struct arena *a,
                        struct err *e)
{
    size_t mark = wire_begin(l->out, l->number);
    bool ok = api_proto_encode_message(l->item, item, a, l->out, e);
    wire_end(l->out, mark);
    return ok;
}

void api_proto_list_end(struct api_proto_list *l)
{
    end_object(l->out, l->raw);
}

static void put_length(char *p, size_t n)
{
    for (int i = 0; i < 4; i++)
        p[i] = (char)(n >> (24 - 8 * i));
}

bool api_proto_encode_event(const char *type, const struct doc *object, struct arena *a,
                            struct strbuf *out, struct err *e)
{
    size_t start = out->n;
    strbuf_add(out, "\0\0\0\0", 4);
    wire_put_bytes(out, 1, str_from(type));
    size_t event = wire_begin(out, 2), raw = wire_begin(out, 1);
    bool ok = api_proto_encode(object, a, out, e);
    wire_end(out, raw);
    wire_end(out, event);
    if (ok)
        put_length(out->p + start, out->n - start - 4);
    else
        out->n = start;
    return ok;
}

/* ================ decoding ================ */

struct decoder {
    struct arena *a;
    struct err *e;
    unsigned depth;
};

static bool decode_struct(struct decoder *r, const struct api_type *t, struct str bytes,
                          struct doc *out);

static bool broken(struct decoder *r, const char *what)
{
    return err_set(r->e, ERR_INVALID, "not a protobuf message: %s", what);
}

/* Field 1 of a message that holds one thing. */
static bool unbox(struct decoder *r, struct str message, struct wire_field *out)
{
    struct wire_field f;
    bool bad;
    *out = (struct wire_field){0};
    while (wire_next(&message, &f, &bad))
        if (f.number == 1)
            *out = f;
    return bad ? broken(r, "a boxed value") : true;
}

static bool decode_time(struct decoder *r, struct str message, bool micro,
                        struct doc *out)
{
    int64_t seconds = 0;
    int32_t nanos = 0;
    struct wire_field f;
    bool bad, any = false;
    while (wire_next(&message, &f, &bad)) {
        any = true;
        if (f.number == 1)
            seconds = (int64_t)f.value;
        else if (f.number == 2)
            nanos = (int32_t)f.value;
    }
    if (bad || nanos < 0 || nanos > 999999999 || seconds < -62135596800 ||
        seconds > 253402300799)
        return broken(r, "a time");
    *out = any ? doc_make_string(r->a, timestamp_print(seconds, nanos, micro, r->a))
               : doc_make_null();
    return true;
}

static bool decode_int_or_string(struct decoder *r, struct str message, struct doc *out)
{
    struct wire_field f;
    uint64_t type = 0, number = 0;
    struct str text = STR("");
    bool bad;
    while (wire_next(&message, &f, &bad)) {
        if (f.number == 1)
            type = f.value;
        else if (f.number == 2)
            number = f.value;
        else if (f.number == 3)
            text = f.bytes;
    }
    if (bad)
        return broken(r, "an int or string");
    *out = type ? doc_make_string(r->a, text) : doc_make_int(r->a, (int32_t)number);
    return true;
}

static bool decode_json(struct decoder *r, struct str message, struct doc *out)
{
    struct wire_field f;
    if (!unbox(r, message, &f))
        return false;
    struct doc_source src = {.name = "raw", .text = arena_str(r->a, f.bytes)};
    if (f.bytes.n == 0) {
        *out = doc_make_null();
        return true;
    }
    return doc_read_json(&src, r->a, out, r->e);
}

static bool decode_text(struct decoder *r, struct str s, struct doc *out)
{
    *out = doc_make_string(r->a, s);
    return true;
}

static bool decode_boxed_text(struct decoder *r, struct str message, struct doc *out)
{
    struct wire_field f;
    return unbox(r, message, &f) && decode_text(r, f.bytes.n ? f.bytes : STR("0"), out);
}

static bool decode_double(struct decoder *r, uint64_t bits, struct doc *out)
{
    double v;
    memcpy(&v, &bits, sizeof v);
    struct str text = arena_printf(r->a, "%.17g", v);
    struct doc_source src = {.name = "double", .text = text};
    return doc_read_json(&src, r->a, out, r->e);
}

static bool decode_one(struct decoder *r, const struct either *e,
                       const struct wire_field *w, struct doc *schema, struct doc *other)
{
    struct doc one = doc_make_null();
    if (w->number == e->schema)
        return decode_struct(r, schema_type(), w->bytes, schema);
    if (w->number != e->other)
        return true;
    if (e->kind == OR_BOOL) {
        *other = doc_make_bool(w->value != 0);
        return true;
    }
    if (e->kind == OR_TEXTS)
        one = doc_make_string(r->a, w->bytes);
    else if (!decode_struct(r, schema_type(), w->bytes, &one))
        return false;
    doc_append(r->a, other, one);
    return true;
}

static bool decode_either(struct decoder *r, const struct either *e, struct str message,
                          struct doc *out)
{
    struct doc schema = {.type = DOC_NULL}, other = doc_make_list();
    struct wire_field f;
    bool bad;
    if (e->kind == OR_BOOL)
        other = doc_make_bool(false);
    while (wire_next(&message, &f, &bad))
        if (!decode_one(r, e, &f, &schema, &other))
            return false;
    *out = schema.type == DOC_MAP ? schema : other;
    return bad ? broken(r, e->name) : true;
}

static bool decode_any(struct decoder *r, const struct api_type *t, struct str message,
                       struct doc *out)
{
    const struct either *either = either_of(t);
    return either ? decode_either(r, either, message, out) : decode_json(r, message, out);
}

static bool takes_bytes(enum api_form form)
{
    return form != API_BOOL && form != API_INT32 && form != API_INT64 &&
           form != API_DOUBLE;
}

static bool decode_value(struct decoder *r, const struct api_field *f,
                         const struct wire_field *w, struct doc *out)
{
    if (takes_bytes((enum api_form)f->form) != (w->type == WIRE_BYTES))
        return broken(r, f->name);
    switch (f->form) {
    case API_STRUCT:
        return f->type->form == API_ANY ? decode_any(r, f->type, w->bytes, out)
                                        : decode_struct(r, f->type, w->bytes, out);
    case API_BOOL:
        *out = doc_make_bool(w->value != 0);
        return true;
    case API_INT32:
        *out = doc_make_int(r->a, (int32_t)w->value);
        return true;
    case API_INT64:
        *out = doc_make_int(r->a, (int64_t)w->value);
        return true;
    case API_DOUBLE:
        return decode_double(r, w->value, out);
    case API_STRING:
        return decode_text(r, w->bytes, out);
    case API_BYTES:
        return decode_text(r, base64_encode(w->bytes, r->a), out);
    case API_TIME:
    case API_MICRO_TIME:
        return decode_time(r, w->bytes, f->form == API_MICRO_TIME, out);
    case API_INT_OR_STRING:
        return decode_int_or_string(r, w->bytes, out);
    case API_QUANTITY:
        return decode_boxed_text(r, w->bytes, out);
    default:
        return decode_json(r, w->bytes, out);
    }
}

static bool decode_boxed_list(struct decoder *r, const struct api_field *f,
                              struct str message, struct doc *out)
{
    struct wire_field w;
    bool bad;
    *out = doc_make_list();
    while (wire_next(&message, &w, &bad)) {
        struct doc item;
        if (w.number != 1)
            continue;
        if (!decode_value(r, f, &w, &item))
            return false;
        doc_append(r->a, out, item);
    }
    return bad ? broken(r, f->name) : true;
}

static bool decode_entry(struct decoder *r, const struct api_field *f, struct str message,
                         struct doc *map)
{
    struct wire_field w;
    struct str key = STR("");
    struct doc value = doc_make_string(r->a, STR(""));
    bool bad, ok = true;
    while (ok && wire_next(&message, &w, &bad)) {
        if (w.number == 1)
            key = w.bytes;
        else if (w.number == 2 && f->container == API_MAP_OF_LISTS)
            ok = decode_boxed_list(r, f, w.bytes, &value);
        else if (w.number == 2)
            ok = decode_value(r, f, &w, &value);
    }
    if (!ok || bad)
        return ok ? broken(r, f->name) : false;
    doc_set_str(r->a, map, arena_str(r->a, key), value);
    return true;
}

static const struct api_field *field_numbered(const struct api_type *t,
                                              const uint8_t *outer, uint32_t number)
{
    for (uint16_t i = 0; i < t->nnumbered; i++) {
        const struct api_field *f = &t->fields[t->by_number[i]];
        if (f->number == number && memcmp(f->outer, outer, OUTER_LEVELS) == 0)
            return f;
    }
    return NULL;
}

/* Whether the message embeds one of that number; inner is where that one's fields stand.
 */
static bool embeds(const struct api_type *t, const uint8_t *outer, int level,
                   uint32_t number, uint8_t *inner)
{
    if (level >= OUTER_LEVELS || number > UINT8_MAX)
        return false;
    memcpy(inner, outer, OUTER_LEVELS);
    inner[level] = (uint8_t)number;
    for (uint16_t i = 0; i < t->nnumbered; i++)
        if (memcmp(t->fields[t->by_number[i]].outer, inner, (size_t)level + 1) == 0)
            return true;
    return false;
}

static struct doc *member_made(struct decoder *r, struct doc *map,
                               const struct api_field *f, struct doc fresh)
{
    struct doc *have = (struct doc *)doc_get(map, f->name);
    return have ? have : doc_set(r->a, map, f->name, fresh);
}

static bool decode_field(struct decoder *r, const struct api_field *f,
                         const struct wire_field *w, struct doc *out)
{
    struct doc value = {0};
    if (f->container == API_MAP || f->container == API_MAP_OF_LISTS)
        return decode_entry(r, f, w->bytes, member_made(r, out, f, doc_make_map()));
    bool boxed = is_boxed_list(f);
    if (!(boxed ? decode_boxed_list(r, f, w->bytes, &value)
                : decode_value(r, f, w, &value)))
        return false;
    if (f->container == API_LIST && !boxed)
        doc_append(r->a, member_made(r, out, f, doc_make_list()), value);
    else
        doc_set(r->a, out, f->name, value);
    return true;
}

static bool decode_fields(struct decoder *r, const struct api_type *t,
                          const uint8_t *outer, int level, struct str bytes,
                          struct doc *out)
{
    struct wire_field w;
    bool bad;
    while (wire_next(&bytes, &w, &bad)) {
        const struct api_field *f = field_numbered(t, outer, w.number);
        uint8_t inner[OUTER_LEVELS];
        if (!f && w.type == WIRE_BYTES && embeds(t, outer, level, w.number, inner)) {
            if (!decode_fields(r, t, inner, level + 1, w.bytes, out))
                return false;
        } else if (f && !decode_field(r, f, &w, out)) {
            return false;
        }
    }
    return bad ? broken(r, t->name) : true;
}

static bool decode_struct(struct decoder *r, const struct api_type *t, struct str bytes,
                          struct doc *out)
{
    if (++r->depth > API_PROTO_MAX_DEPTH)
        return broken(r, "too deep");
    struct doc d = doc_make_map();
    static const uint8_t none[OUTER_LEVELS] = {0};
    if (!decode_fields(r, t, none, 0, bytes, &d))
        return false;
    api_canonical_fields(t, &d, r->a);
    r->depth--;
    *out = d;
    return true;
}

bool api_proto_decode_message(const struct api_type *t, struct str bytes, struct arena *a,
                              struct doc *out, struct err *e)
{
    struct decoder r = {.a = a, .e = e};
    return decode_struct(&r, t, bytes, out);
}

bool api_proto_is(struct str bytes)
{
    return str_starts(bytes, MAGIC);
}

struct envelope {
    struct str version, kind, raw;
};

static bool open_envelope(struct decoder *r, struct str bytes, struct envelope *out)
{
    struct wire_field f, m;
    bool bad, bad_meta = false;
    if (!api_proto_is(bytes))
        return broken(r, "it does not begin with k8s");
    bytes = str_sub(bytes, MAGIC.n, SIZE_MAX);
    while (wire_next(&bytes, &f, &bad)) {
        if (f.number == 2)
            out->raw = f.bytes;
        if (f.number != 1)
            continue;
        while (wire_next(&f.bytes, &m, &bad_meta))
            *(m.number == 1 ? &out->version : &out->kind) = m.bytes;
    }
    return bad || bad_meta ? broken(r, "its envelope") : true;
}

bool api_proto_decode(struct str bytes, struct arena *a, struct doc *out, struct err *e)
{
    struct decoder r = {.a = a, .e = e};
    struct envelope x = {0};
    struct doc d;
    if (!open_envelope(&r, bytes, &x))
        return false;
    const struct api_type *t = api_type_of_object(x.version, x.kind);
    if (!t)
        return err_set(e, ERR_UNSUPPORTED, "no protobuf for kind \"%.*s\" of \"%.*s\"",
                       STR_ARG(x.kind), STR_ARG(x.version));
    if (!decode_struct(&r, t, x.raw, &d))
        return false;
    if (x.kind.n)
        doc_set(a, &d, "kind", doc_make_string(a, x.kind));
    if (x.version.n)
        doc_set(a, &d, "apiVersion", doc_make_string(a, x.version));
    *out = d;
    return true;
}

bool api_proto_decode_event(struct str bytes, size_t *used, struct str *type,
                            struct arena *a, struct doc *object, struct err *e)
{
    struct decoder r = {.a = a, .e = e};
    struct wire_field f, raw = {0};
    size_t n = 0;
    bool bad;
    *used = 0;
    for (size_t i = 0; i < 4 && i < bytes.n; i++)
        n = n << 8 | (uint8_t)bytes.p[i];
    if (bytes.n < 4 || bytes.n - 4 < n)
        return true;
    struct str message = str_sub(bytes, 4, 4 + n);
    while (wire_next(&message, &f, &bad)) {
        if (f.number == 1)
            *type = arena_str(a, f.bytes);
        else if (f.number == 2 && !unbox(&r, f.bytes, &raw))
            return false;
    }
    if (bad)
        return broken(&r, "a watch event");
    *used = 4 + n;
    return api_proto_decode(raw.bytes, a, object, e);
}
