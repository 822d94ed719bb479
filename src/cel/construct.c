/* SPDX-License-Identifier: Apache-2.0 */
#include "cel/construct.h"

#include <math.h>

#include "cel/cel.h"
#include "cel/lib.h"
#include "cel/plan.h"
#include "cel/time.h"

const struct cel_message *cel_message_find(struct str name)
{
    for (const struct cel_message *m = cel_messages; m->fields.name != NULL; m++)
        if (str_is(name, m->fields.name))
            return m;
    return NULL;
}

/* ---- Fields, as values of Go's types ---- */

/* A value of another type than the field's. The texts are those of the value's class. */
static struct cel_value misfit(struct cel_run *run, struct cel_value v, const char *type)
{
    switch (v.kind) {
    case CEL_STRING:
        return cel_errorf(run, "unsupported native conversion from string to '%s'", type);
    case CEL_INT:
    case CEL_UINT:
        return cel_errorf(run, "unsupported type conversion from '%s' to %s",
                          cel_kind_name(v), type);
    case CEL_DOUBLE:
        return cel_errorf(run, "type conversion error from Double to '%s'", type);
    case CEL_BYTES:
        return cel_errorf(run, "type conversion error from Bytes to '%s'", type);
    case CEL_BOOL:
    case CEL_LIST:
    case CEL_MAP:
        return cel_errorf(run, "type conversion error from %s to '%s'", cel_kind_name(v),
                          type);
    case CEL_TYPE:
        return CEL_ERROR_CONST("type conversion not supported for 'type'");
    default: {
        const char *name = cel_kind_name(v), *dot = strrchr(name, '.');
        return cel_errorf(run, "type conversion error from '%s' to '%s'",
                          dot ? dot + 1 : name, type);
    }
    }
}

typedef struct cel_value field_fn(struct cel_run *run, struct cel_value v);

static struct cel_value to_int64(struct cel_run *run, struct cel_value v)
{
    return v.kind == CEL_INT ? v : misfit(run, v, "int64");
}

static struct cel_value to_int32(struct cel_run *run, struct cel_value v)
{
    if (v.kind == CEL_INT && (v.i < INT32_MIN || v.i > INT32_MAX))
        return CEL_ERROR_CONST("integer overflow");
    return v.kind == CEL_INT ? v : misfit(run, v, "int32");
}

static struct cel_value to_uint64(struct cel_run *run, struct cel_value v)
{
    return v.kind == CEL_UINT ? v : misfit(run, v, "uint64");
}

static struct cel_value to_uint32(struct cel_run *run, struct cel_value v)
{
    if (v.kind == CEL_UINT && v.u > UINT32_MAX)
        return CEL_ERROR_CONST("unsigned integer overflow");
    return v.kind == CEL_UINT ? v : misfit(run, v, "uint32");
}

static struct cel_value to_double(struct cel_run *run, struct cel_value v)
{
    return v.kind == CEL_DOUBLE ? v : misfit(run, v, "float64");
}

static struct cel_value to_float(struct cel_run *run, struct cel_value v)
{
    return v.kind == CEL_DOUBLE ? cel_double((double)(float)v.d)
                                : misfit(run, v, "float32");
}

static struct cel_value to_bool(struct cel_run *run, struct cel_value v)
{
    return v.kind == CEL_BOOL ? v : misfit(run, v, "bool");
}

static struct cel_value to_string(struct cel_run *run, struct cel_value v)
{
    return v.kind == CEL_STRING ? v : misfit(run, v, "string");
}

static struct cel_value to_bytes(struct cel_run *run, struct cel_value v)
{
    return v.kind == CEL_BYTES ? v : misfit(run, v, "[]uint8");
}

/* ---- JSON: what a Struct, ListValue or Value can hold ---- */

#define JSON_INT_MAX ((INT64_C(1) << 53) - 1)

static struct cel_value text_of(struct cel_run *run, struct cel_value v)
{
    struct strbuf b = STRBUF_INIT;
    if (v.kind == CEL_DURATION)
        cel_print_seconds(v.i, &b);
    else if (v.kind == CEL_TIMESTAMP)
        cel_print_rfc3339(v, &b);
    else
        cel_print_go(v, &b);
    return cel_lib_text(run, &b);
}

static struct cel_value base64(struct cel_run *run, struct str s)
{
    static const char digits[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char *out = arena_alloc(&run->arena, (s.n + 2) / 3 * 4), *p = out;
    for (size_t i = 0; i < s.n; i += 3) {
        uint32_t bits = 0;
        size_t n = s.n - i < 3 ? s.n - i : 3;
        for (size_t k = 0; k < 3; k++)
            bits = bits << 8 | (k < n ? (unsigned char)s.p[i + k] : 0);
        for (size_t k = 0; k < 4; k++)
            *p++ = k <= n ? digits[bits >> (18 - 6 * k) & 63] : '=';
    }
    return cel_string((struct str){out, (size_t)(p - out)});
}

static struct cel_value to_json(struct cel_run *run, struct cel_value v);

static struct cel_value list_to_json(struct cel_run *run, struct cel_value list)
{
    struct cel_list_builder b = {0};
    for (uint32_t i = 0; i < list.len; i++) {
        struct cel_value v = to_json(run, list.items[i]);
        if (v.kind == CEL_ERROR)
            return v;
        cel_list_push(run, &b, v);
    }
    return cel_list_done(&b);
}

static struct cel_value map_to_json(struct cel_run *run, const struct cel_map *m)
{
    struct cel_map_builder b = {0};
    for (uint32_t i = 0; i < m->n; i++) {
        struct cel_value key = to_string(run, m->entries[i].key);
        struct cel_value value = to_json(run, m->entries[i].value);
        if (key.kind == CEL_ERROR || value.kind == CEL_ERROR)
            return key.kind == CEL_ERROR ? key : value;
        cel_map_put(run, &b, key, value);
    }
    return cel_map_done(run, &b);
}

static struct cel_value to_json(struct cel_run *run, struct cel_value v)
{
    switch (v.kind) {
    case CEL_NULL:
    case CEL_BOOL:
    case CEL_DOUBLE:
    case CEL_STRING:
        return v;
    case CEL_INT:
        return v.i >= -JSON_INT_MAX && v.i <= JSON_INT_MAX ? cel_double((double)v.i)
                                                           : text_of(run, v);
    case CEL_UINT:
        return v.u <= JSON_INT_MAX ? cel_double((double)v.u) : text_of(run, v);
    case CEL_BYTES:
        return base64(run, cel_str(v));
    case CEL_DURATION:
    case CEL_TIMESTAMP:
        return text_of(run, v);
    case CEL_LIST:
        return list_to_json(run, v);
    case CEL_MAP:
        return map_to_json(run, v.map);
    case CEL_OPTIONAL:
        return v.optional ? to_json(run, *v.optional)
                          : CEL_ERROR_CONST("optional.none() dereference");
    default:
        return misfit(run, v, "*structpb.Value");
    }
}

static struct cel_value to_struct(struct cel_run *run, struct cel_value v)
{
    return v.kind == CEL_MAP ? map_to_json(run, v.map)
                             : misfit(run, v, "*structpb.Struct");
}

static struct cel_value to_list(struct cel_run *run, struct cel_value v)
{
    return v.kind == CEL_LIST ? list_to_json(run, v)
                              : misfit(run, v, "*structpb.ListValue");
}

static struct cel_value to_null(struct cel_run *run, struct cel_value v)
{
    struct cel_value number = to_int32(run, v);
    return number.kind == CEL_ERROR ? number : cel_null();
}

/* ---- Messages ---- */

struct fields {
    struct cel_value v[2];
};

typedef struct cel_value make_fn(struct cel_run *run, const struct fields *f);

static struct cel_value make_first(struct cel_run *run, const struct fields *f)
{
    return f->v[0];
}

/* Out of range becomes the nearest duration, as the protobuf library has it. */
static struct cel_value make_duration(struct cel_run *run, const struct fields *f)
{
    int64_t seconds = f->v[0].i, ns;
    if (__builtin_mul_overflow(seconds, CEL_NANOS, &ns) ||
        __builtin_add_overflow(ns, f->v[1].i, &ns))
        ns = seconds < 0 ? INT64_MIN : INT64_MAX;
    return cel_duration(ns);
}

static struct cel_value make_timestamp(struct cel_run *run, const struct fields *f)
{
    int64_t nanos = f->v[1].i, carry = nanos / CEL_NANOS - (nanos % CEL_NANOS < 0);
    int64_t seconds = (int64_t)((uint64_t)f->v[0].i + (uint64_t)carry);
    return cel_timestamp(seconds, (uint32_t)(nanos - carry * CEL_NANOS));
}

static struct cel_value make_any(struct cel_run *run, const struct fields *f)
{
    return CEL_ERROR_CONST("unsupported conversion to ref.Val: (*dynamicpb.Message)");
}

static const struct cel_map no_entries;
#define ZERO_INT                                                                         \
    {                                                                                    \
        .kind = CEL_INT                                                                  \
    }
#define ZERO_UINT                                                                        \
    {                                                                                    \
        .kind = CEL_UINT                                                                 \
    }
#define ZERO_DOUBLE                                                                      \
    {                                                                                    \
        .kind = CEL_DOUBLE                                                               \
    }
#define ZERO_LIST                                                                        \
    {                                                                                    \
        .kind = CEL_LIST                                                                 \
    }
#define ZERO_STRUCT                                                                      \
    {                                                                                    \
        .kind = CEL_MAP, .map = &no_entries                                              \
    }
#define ZERO_BYTES                                                                       \
    {                                                                                    \
        .kind = CEL_BYTES, .s = ""                                                       \
    }
#define ZERO_STRING                                                                      \
    {                                                                                    \
        .kind = CEL_STRING, .s = ""                                                      \
    }

/* What the fields of a message become; Value has one place for all of them. */
static const struct rule {
    const char *message, *field;
    uint8_t place;
    field_fn *convert;
    make_fn *make;
    struct cel_value zero;
} rules[] = {
    {"Any", "type_url", 0, to_string, make_any, ZERO_STRING},
    {"Any", "value", 1, to_bytes, make_any, ZERO_BYTES},
    {"BoolValue", "value", 0, to_bool, make_first, {.kind = CEL_BOOL}},
    {"BytesValue", "value", 0, to_bytes, make_first, ZERO_BYTES},
    {"DoubleValue", "value", 0, to_double, make_first, ZERO_DOUBLE},
    {"Duration", "seconds", 0, to_int64, make_duration, ZERO_INT},
    {"Duration", "nanos", 1, to_int32, make_duration, ZERO_INT},
    {"FloatValue", "value", 0, to_float, make_first, ZERO_DOUBLE},
    {"Int32Value", "value", 0, to_int32, make_first, ZERO_INT},
    {"Int64Value", "value", 0, to_int64, make_first, ZERO_INT},
    {"ListValue", "values", 0, to_list, make_first, ZERO_LIST},
    {"StringValue", "value", 0, to_string, make_first, ZERO_STRING},
    {"Struct", "fields", 0, to_struct, make_first, ZERO_STRUCT},
    {"Timestamp", "seconds", 0, to_int64, make_timestamp, ZERO_INT},
    {"Timestamp", "nanos", 1, to_int32, make_timestamp, ZERO_INT},
    {"UInt32Value", "value", 0, to_uint32, make_first, ZERO_UINT},
    {"UInt64Value", "value", 0, to_uint64, make_first, ZERO_UINT},
    {"Value", "null_value", 0, to_null, make_first, {.kind = CEL_NULL}},
    {"Value", "number_value", 0, to_double, make_first, {.kind = CEL_NULL}},
    {"Value", "string_value", 0, to_string, make_first, {.kind = CEL_NULL}},
    {"Value", "bool_value", 0, to_bool, make_first, {.kind = CEL_NULL}},
    {"Value", "struct_value", 0, to_struct, make_first, {.kind = CEL_NULL}},
    {"Value", "list_value", 0, to_list, make_first, {.kind = CEL_NULL}},
};

enum { NRULES = sizeof rules / sizeof *rules };

static bool is_of(const struct rule *r, const struct cel_message *m)
{
    return strcmp(r->message, strrchr(m->fields.name, '.') + 1) == 0;
}

static const struct rule *find_rule(const struct cel_message *m, struct str field)
{
    for (const struct rule *r = rules; r < rules + NRULES; r++)
        if (is_of(r, m) && str_is(field, r->field))
            return r;
    return NULL;
}

static struct cel_value set_field(struct cel_run *run, const struct cel_message *m,
                                  const struct cel_field_value *v, struct fields *f)
{
    const struct rule *r = find_rule(m, v->name);
    if (r == NULL)
        return cel_errorf(run, "no such field: %.*s", STR_ARG(v->name));
    struct cel_value field = r->convert(run, v->value);
    if (field.kind == CEL_ERROR)
        return cel_errorf(run, "field type conversion error for %s.%s value type: %.*s",
                          m->fields.name, r->field, STR_ARG(field.error->text));
    return f->v[r->place] = field;
}

/* A message without fields equals any other of its type. */
static bool same_type(const struct cel_object *a, const struct cel_object *b)
{
    return a->type == b->type;
}

struct cel_value cel_message_make(struct cel_run *run, const struct cel_message *m,
                                  const struct cel_field_value *fields, uint32_t n)
{
    struct fields f = {0};
    make_fn *make = NULL;
    for (const struct rule *r = rules; r < rules + NRULES; r++) {
        if (!is_of(r, m))
            continue;
        f.v[r->place] = r->zero;
        make = r->make;
    }
    for (uint32_t i = 0; i < n; i++) {
        if (fields[i].value.kind == CEL_UNSET)
            continue;
        struct cel_value v = set_field(run, m, &fields[i], &f);
        if (v.kind == CEL_ERROR)
            return v;
    }
    if (make != NULL)
        return make(run, &f);
    struct cel_object *o = ARENA_NEW(&run->arena, struct cel_object);
    static const struct cel_object_ops ops = {.equal = same_type};
    o->type = m->type;
    o->ops = &ops;
    return (struct cel_value){.kind = CEL_OBJECT, .object = o};
}
