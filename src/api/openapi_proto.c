/* SPDX-License-Identifier: Apache-2.0 */
/*
 * OpenAPI documents as protobuf: the messages of gnostic's openapiv2 and openapiv3, which
 * clients of Kubernetes read. The messages are tables, and a document is encoded by
 * walking both together.
 */
#include <string.h>

#include "api/openapi.h"
#include "api/wire.h"

enum shape {
    TEXT,
    BOOL,
    INT,
    REAL,
    MESSAGE,
    ANY,   /* JSON, which is YAML too, in a message of its own */
    SCALAR /* one of number, boolean, text */
};
enum many { ONE, LIST, MAP /* of messages {1: key, 2: value} */ };

struct message;
struct field {
    const char *key; /* NULL: all keys that are none of the others */
    uint8_t number, shape, many;
    const struct message *of;
};

struct message {
    const struct field *fields;
    uint8_t n;
    uint8_t extensions; /* number of what begins with "x-": a map of ANY; 0: none */
    /* One of several messages: which of its fields a value is; fields have no keys then.
     */
    uint8_t (*choose)(const struct doc *d);
};

#define FIELDS(...)                                                                      \
    .fields = (const struct field[]){__VA_ARGS__},                                       \
    .n = sizeof((const struct field[]){__VA_ARGS__}) / sizeof(struct field)

/* ---- Choices ---- */

static uint8_t or_reference(const struct doc *d)
{
    return doc_get(d, "$ref") != NULL;
}

static uint8_t or_bool(const struct doc *d)
{
    return d->type == DOC_BOOL;
}

static uint8_t body_or_not(const struct doc *d)
{
    return !doc_is_string(doc_get(d, "in"), "body");
}

static uint8_t where_parameter(const struct doc *d)
{
    static const char *const PLACES[] = {"header", "formData", "query", "path"};
    uint8_t i = 0;
    while (i < 3 && !doc_is_string(doc_get(d, "in"), PLACES[i]))
        i++;
    return i;
}

static uint8_t first(const struct doc *d)
{
    (void)d;
    return 0;
}

/* ---- Both versions ---- */

static const struct message REFERENCE = {FIELDS({"$ref", 1, TEXT})};
static const struct message TEXTS = {FIELDS({NULL, 1, TEXT, LIST})};

/* ---- Version 2 ---- */

static const struct message V2_SCHEMA;
static const struct message V2_SCHEMA_OR_BOOL = {
    FIELDS({NULL, 1, MESSAGE, ONE, &V2_SCHEMA}, {NULL, 2, BOOL}), .choose = or_bool};
static const struct message V2_SCHEMAS = {FIELDS({NULL, 1, MESSAGE, MAP, &V2_SCHEMA})};
static const struct message V2_SCHEMA_LIST = {
    FIELDS({NULL, 1, MESSAGE, LIST, &V2_SCHEMA})};
static const struct message V2_SCHEMA_ITEM = {FIELDS({NULL, 1, MESSAGE, ONE, &V2_SCHEMA}),
                                              .choose = first};

static const struct message V2_SCHEMA = {
    FIELDS(
        {"$ref", 1, TEXT}, {"format", 2, TEXT}, {"title", 3, TEXT},
        {"description", 4, TEXT}, {"default", 5, ANY}, {"multipleOf", 6, REAL},
        {"maximum", 7, REAL}, {"exclusiveMaximum", 8, BOOL}, {"minimum", 9, REAL},
        {"exclusiveMinimum", 10, BOOL}, {"maxLength", 11, INT}, {"minLength", 12, INT},
        {"pattern", 13, TEXT}, {"maxItems", 14, INT}, {"minItems", 15, INT},
        {"uniqueItems", 16, BOOL}, {"maxProperties", 17, INT}, {"minProperties", 18, INT},
        {"required", 19, TEXT, LIST}, {"enum", 20, ANY, LIST},
        {"additionalProperties", 21, MESSAGE, ONE, &V2_SCHEMA_OR_BOOL},
        {"type", 22, MESSAGE, ONE, &TEXTS}, {"items", 23, MESSAGE, ONE, &V2_SCHEMA_LIST},
        {"allOf", 24, MESSAGE, LIST, &V2_SCHEMA},
        {"properties", 25, MESSAGE, ONE, &V2_SCHEMAS}),
    .extensions = 31};

static const struct message V2_RESPONSE = {
    FIELDS({"description", 1, TEXT}, {"schema", 2, MESSAGE, ONE, &V2_SCHEMA_ITEM})};
static const struct message V2_RESPONSE_OR_REF = {
    FIELDS({NULL, 1, MESSAGE, ONE, &V2_RESPONSE}, {NULL, 2, MESSAGE, ONE, &REFERENCE}),
    .choose = or_reference};
static const struct message V2_RESPONSES = {
    FIELDS({NULL, 1, MESSAGE, MAP, &V2_RESPONSE_OR_REF})};

static const struct message V2_BODY = {FIELDS({"description", 1, TEXT}, {"name", 2, TEXT},
                                              {"in", 3, TEXT}, {"required", 4, BOOL},
                                              {"schema", 5, MESSAGE, ONE, &V2_SCHEMA})};
static const struct message V2_QUERY = {FIELDS(
    {"required", 1, BOOL}, {"in", 2, TEXT}, {"description", 3, TEXT}, {"name", 4, TEXT},
    {"type", 6, TEXT}, {"format", 7, TEXT}, {"uniqueItems", 20, BOOL})};
static const struct message V2_PATH = {FIELDS(
    {"required", 1, BOOL}, {"in", 2, TEXT}, {"description", 3, TEXT}, {"name", 4, TEXT},
    {"type", 5, TEXT}, {"format", 6, TEXT}, {"uniqueItems", 19, BOOL})};
/* Headers and form fields are no parameters of ours. */
static const struct message V2_NONE = {0};
static const struct message V2_NON_BODY = {
    FIELDS({NULL, 1, MESSAGE, ONE, &V2_NONE}, {NULL, 2, MESSAGE, ONE, &V2_NONE},
           {NULL, 3, MESSAGE, ONE, &V2_QUERY}, {NULL, 4, MESSAGE, ONE, &V2_PATH}),
    .choose = where_parameter};
static const struct message V2_PARAMETER = {
    FIELDS({NULL, 1, MESSAGE, ONE, &V2_BODY}, {NULL, 2, MESSAGE, ONE, &V2_NON_BODY}),
    .choose = body_or_not};
static const struct message V2_PARAMETER_OR_REF = {
    FIELDS({NULL, 1, MESSAGE, ONE, &V2_PARAMETER}, {NULL, 2, MESSAGE, ONE, &REFERENCE}),
    .choose = or_reference};

static const struct message V2_OPERATION = {
    FIELDS({"tags", 1, TEXT, LIST}, {"description", 3, TEXT}, {"operationId", 5, TEXT},
           {"produces", 6, TEXT, LIST}, {"consumes", 7, TEXT, LIST},
           {"parameters", 8, MESSAGE, LIST, &V2_PARAMETER_OR_REF},
           {"responses", 9, MESSAGE, ONE, &V2_RESPONSES}, {"schemes", 10, TEXT, LIST},
           {"deprecated", 11, BOOL}),
    .extensions = 13};
static const struct message V2_PATH_ITEM = {
    FIELDS({"get", 2, MESSAGE, ONE, &V2_OPERATION},
           {"put", 3, MESSAGE, ONE, &V2_OPERATION},
           {"post", 4, MESSAGE, ONE, &V2_OPERATION},
           {"delete", 5, MESSAGE, ONE, &V2_OPERATION},
           {"options", 6, MESSAGE, ONE, &V2_OPERATION},
           {"head", 7, MESSAGE, ONE, &V2_OPERATION},
           {"patch", 8, MESSAGE, ONE, &V2_OPERATION},
           {"parameters", 9, MESSAGE, LIST, &V2_PARAMETER_OR_REF}),
    .extensions = 10};

static const struct message V2_INFO = {FIELDS({"title", 1, TEXT}, {"version", 2, TEXT})};
static const struct message V2_SCOPES = {FIELDS({NULL, 1, MESSAGE, MAP, &TEXTS})};
static const struct message V2_API_KEY = {FIELDS(
    {"type", 1, TEXT}, {"name", 2, TEXT}, {"in", 3, TEXT}, {"description", 4, TEXT})};
static const struct message V2_SECURITY = {FIELDS({NULL, 2, MESSAGE, ONE, &V2_API_KEY}),
                                           .choose = first};
static const struct message V2_SECURITIES = {
    FIELDS({NULL, 1, MESSAGE, MAP, &V2_SECURITY})};
static const struct message V2_HEAD = {
    FIELDS({"swagger", 1, TEXT}, {"info", 2, MESSAGE, ONE, &V2_INFO},
           {"security", 12, MESSAGE, LIST, &V2_SCOPES},
           {"securityDefinitions", 13, MESSAGE, ONE, &V2_SECURITIES})};

/* ---- Version 3 ---- */

static const struct message V3_SCHEMA;
static const struct message V3_SCHEMA_OR_REF = {
    FIELDS({NULL, 1, MESSAGE, ONE, &V3_SCHEMA}, {NULL, 2, MESSAGE, ONE, &REFERENCE}),
    .choose = or_reference};
static const struct message V3_SCHEMA_OR_BOOL = {
    FIELDS({NULL, 1, MESSAGE, ONE, &V3_SCHEMA_OR_REF}, {NULL, 2, BOOL}),
    .choose = or_bool};
static const struct message V3_SCHEMAS = {
    FIELDS({NULL, 1, MESSAGE, MAP, &V3_SCHEMA_OR_REF})};
static const struct message V3_SCHEMA_LIST = {
    FIELDS({NULL, 1, MESSAGE, LIST, &V3_SCHEMA_OR_REF})};

static const struct message V3_SCHEMA = {
    FIELDS({"nullable", 1, BOOL}, {"title", 9, TEXT}, {"multipleOf", 10, REAL},
           {"maximum", 11, REAL}, {"exclusiveMaximum", 12, BOOL}, {"minimum", 13, REAL},
           {"exclusiveMinimum", 14, BOOL}, {"maxLength", 15, INT}, {"minLength", 16, INT},
           {"pattern", 17, TEXT}, {"maxItems", 18, INT}, {"minItems", 19, INT},
           {"uniqueItems", 20, BOOL}, {"maxProperties", 21, INT},
           {"minProperties", 22, INT}, {"required", 23, TEXT, LIST},
           {"enum", 24, ANY, LIST}, {"type", 25, TEXT},
           {"allOf", 26, MESSAGE, LIST, &V3_SCHEMA_OR_REF},
           {"oneOf", 27, MESSAGE, LIST, &V3_SCHEMA_OR_REF},
           {"anyOf", 28, MESSAGE, LIST, &V3_SCHEMA_OR_REF},
           {"not", 29, MESSAGE, ONE, &V3_SCHEMA},
           {"items", 30, MESSAGE, ONE, &V3_SCHEMA_LIST},
           {"properties", 31, MESSAGE, ONE, &V3_SCHEMAS},
           {"additionalProperties", 32, MESSAGE, ONE, &V3_SCHEMA_OR_BOOL},
           {"default", 33, SCALAR}, {"description", 34, TEXT}, {"format", 35, TEXT}),
    .extensions = 36};

static const struct message V3_MEDIA = {
    FIELDS({"schema", 1, MESSAGE, ONE, &V3_SCHEMA_OR_REF})};
static const struct message V3_CONTENT = {FIELDS({NULL, 1, MESSAGE, MAP, &V3_MEDIA})};
static const struct message V3_BODY = {FIELDS({"description", 1, TEXT},
                                              {"content", 2, MESSAGE, ONE, &V3_CONTENT},
                                              {"required", 3, BOOL})};
static const struct message V3_BODY_OR_REF = {
    FIELDS({NULL, 1, MESSAGE, ONE, &V3_BODY}, {NULL, 2, MESSAGE, ONE, &REFERENCE}),
    .choose = or_reference};
static const struct message V3_RESPONSE = {
    FIELDS({"description", 1, TEXT}, {"content", 3, MESSAGE, ONE, &V3_CONTENT})};
static const struct message V3_RESPONSE_OR_REF = {
    FIELDS({NULL, 1, MESSAGE, ONE, &V3_RESPONSE}, {NULL, 2, MESSAGE, ONE, &REFERENCE}),
    .choose = or_reference};
static const struct message V3_RESPONSES = {
    FIELDS({NULL, 2, MESSAGE, MAP, &V3_RESPONSE_OR_REF})};
static const struct message V3_PARAMETER = {
    FIELDS({"name", 1, TEXT}, {"in", 2, TEXT}, {"description", 3, TEXT},
           {"required", 4, BOOL}, {"schema", 10, MESSAGE, ONE, &V3_SCHEMA_OR_REF})};
static const struct message V3_PARAMETER_OR_REF = {
    FIELDS({NULL, 1, MESSAGE, ONE, &V3_PARAMETER}, {NULL, 2, MESSAGE, ONE, &REFERENCE}),
    .choose = or_reference};

static const struct message V3_OPERATION = {
    FIELDS({"tags", 1, TEXT, LIST}, {"description", 3, TEXT}, {"operationId", 5, TEXT},
           {"parameters", 6, MESSAGE, LIST, &V3_PARAMETER_OR_REF},
           {"requestBody", 7, MESSAGE, ONE, &V3_BODY_OR_REF},
           {"responses", 8, MESSAGE, ONE, &V3_RESPONSES}, {"deprecated", 10, BOOL}),
    .extensions = 13};
static const struct message V3_PATH_ITEM = {
    FIELDS({"get", 4, MESSAGE, ONE, &V3_OPERATION},
           {"put", 5, MESSAGE, ONE, &V3_OPERATION},
           {"post", 6, MESSAGE, ONE, &V3_OPERATION},
           {"delete", 7, MESSAGE, ONE, &V3_OPERATION},
           {"options", 8, MESSAGE, ONE, &V3_OPERATION},
           {"head", 9, MESSAGE, ONE, &V3_OPERATION},
           {"patch", 10, MESSAGE, ONE, &V3_OPERATION},
           {"parameters", 13, MESSAGE, LIST, &V3_PARAMETER_OR_REF}),
    .extensions = 14};

static const struct message V3_INFO = {FIELDS({"title", 1, TEXT}, {"version", 6, TEXT})};
static const struct message V3_SECURITY = {FIELDS(
    {"type", 1, TEXT}, {"description", 2, TEXT}, {"name", 3, TEXT}, {"in", 4, TEXT})};
static const struct message V3_SECURITY_OR_REF = {
    FIELDS({NULL, 1, MESSAGE, ONE, &V3_SECURITY}, {NULL, 2, MESSAGE, ONE, &REFERENCE}),
    .choose = or_reference};
static const struct message V3_SECURITIES = {
    FIELDS({NULL, 1, MESSAGE, MAP, &V3_SECURITY_OR_REF})};
static const struct message V3_COMPONENTS = {
    FIELDS({"securitySchemes", 7, MESSAGE, ONE, &V3_SECURITIES})};
static const struct message V3_HEAD = {
    FIELDS({"openapi", 1, TEXT}, {"info", 2, MESSAGE, ONE, &V3_INFO},
           {"components", 5, MESSAGE, ONE, &V3_COMPONENTS})};

/* ---- Writing ---- */

static void put_message(struct strbuf *b, const struct message *m, const struct doc *d);

/* Half-precise numbers of JSON are read as Go reads them. */
static void put_real(struct strbuf *b, uint8_t number, const struct doc *d)
{
    double v = 0;
    uint64_t bits;
    doc_double(d, &v);
    memcpy(&bits, &v, sizeof bits);
    wire_put_64(b, number, bits);
}

static void put_any(struct strbuf *b, uint8_t number, const struct doc *d)
{
    struct strbuf text = STRBUF_INIT;
    doc_write_json(d, DOC_JSON_COMPACT, &text);
    strbuf_addc(&text, '\n');
    size_t mark = wire_begin(b, number);
    wire_put_bytes(b, 2, strbuf_str(&text));
    wire_end(b, mark);
    strbuf_release(&text);
}

static void put_scalar(struct strbuf *b, uint8_t number, const struct doc *d)
{
    size_t mark = wire_begin(b, number);
    if (d->type == DOC_NUMBER)
        put_real(b, 1, d);
    else if (d->type == DOC_BOOL)
        wire_put_int(b, 2, d->b);
    else if (d->type == DOC_STRING)
        wire_put_bytes(b, 3, doc_str(d));
    wire_end(b, mark);
}

/* What is not of the shape is left out: schemas of others are not checked here. */
static void put_value(struct strbuf *b, const struct field *f, const struct doc *d)
{
    int64_t v;
    size_t mark;
    switch ((enum shape)f->shape) {
    case TEXT:
        if (d->type == DOC_STRING)
            wire_put_bytes(b, f->number, doc_str(d));
        break;
    case BOOL:
        if (d->type == DOC_BOOL)
            wire_put_int(b, f->number, d->b);
        break;
    case INT:
        if (d->type == DOC_NUMBER && doc_int64(d, &v))
            wire_put_int(b, f->number, (uint64_t)v);
        break;
    case REAL:
        if (d->type == DOC_NUMBER)
            put_real(b, f->number, d);
        break;
    case MESSAGE:
        mark = wire_begin(b, f->number);
        put_message(b, f->of, d);
        wire_end(b, mark);
        break;
    case ANY:
        put_any(b, f->number, d);
        break;
    case SCALAR:
        put_scalar(b, f->number, d);
        break;
    }
}

static void put_entry(struct strbuf *b, const struct field *f, struct str key,
                      const struct doc *d)
{
    struct field value = *f;
    value.number = 2;
    size_t mark = wire_begin(b, f->number);
    wire_put_bytes(b, 1, key);
    put_value(b, &value, d);
    wire_end(b, mark);
}

/* One value may stand for a list of one. */
static void put_list(struct strbuf *b, const struct field *f, const struct doc *d)
{
    if (d->type != DOC_LIST)
        put_value(b, f, d);
    for (uint32_t i = 0; d->type == DOC_LIST && i < d->n; i++)
        put_value(b, f, &d->items[i]);
}

static void put_field(struct strbuf *b, const struct field *f, struct str key,
                      const struct doc *d)
{
    if (f->many == LIST)
        put_list(b, f, d);
    else if (f->many == MAP)
        put_entry(b, f, key, d);
    else
        put_value(b, f, d);
}

static const struct field *find_field(const struct message *m, struct str key)
{
    for (uint8_t i = 0; i < m->n; i++)
        if (!m->fields[i].key || str_is(key, m->fields[i].key))
            return &m->fields[i];
    return NULL;
}

static void put_member(struct strbuf *b, const struct message *m, struct str key,
                       const struct doc *d)
{
    struct field extension = {NULL, m->extensions, ANY, MAP, NULL};
    bool is_extension = m->extensions && str_starts(key, STR("x-"));
    const struct field *f = is_extension ? &extension : find_field(m, key);
    if (f)
        put_field(b, f, key, d);
}

static bool is_list(const struct message *m)
{
    return m->n == 1 && !m->fields[0].key && m->fields[0].many == LIST;
}

/* As deep as the document, which was read or made with a limit. */
static void put_message(struct strbuf *b, const struct message *m, const struct doc *d)
{
    if (m->choose)
        put_value(b, &m->fields[m->choose(d)], d);
    else if (is_list(m))
        put_list(b, &m->fields[0], d);
    else
        for (uint32_t i = 0; d->type == DOC_MAP && i < d->n; i++)
            put_member(b, m, doc_key(&d->members[i]), &d->members[i].value);
}

/* ---- Documents ---- */

static const struct {
    const struct message *head;
    struct field parts[OPENAPI_PART_PARAMETER + 1];
} DOCUMENTS[] = {
    [OPENAPI_V2] = {&V2_HEAD,
                    {[OPENAPI_PART_PATH] = {NULL, 2, MESSAGE, MAP, &V2_PATH_ITEM},
                     [OPENAPI_PART_DEFINITION] = {NULL, 1, MESSAGE, MAP, &V2_SCHEMA},
                     [OPENAPI_PART_PARAMETER] = {NULL, 1, MESSAGE, MAP, &V2_PARAMETER}}},
    [OPENAPI_V3] = {&V3_HEAD,
                    {[OPENAPI_PART_PATH] = {NULL, 1, MESSAGE, MAP, &V3_PATH_ITEM},
                     [OPENAPI_PART_DEFINITION] = {NULL, 1, MESSAGE, MAP,
                                                  &V3_SCHEMA_OR_REF}}},
};

void openapi_proto(enum openapi_form form, enum openapi_part part, struct str name,
                   const struct doc *d, struct strbuf *out)
{
    if (part == OPENAPI_PART_HEAD)
        put_message(out, DOCUMENTS[form].head, d);
    else
        put_entry(out, &DOCUMENTS[form].parts[part], name, d);
}

void openapi_proto_join(enum openapi_form form, struct str head, struct str paths,
                        struct str definitions, struct str parameters, struct strbuf *out)
{
    strbuf_addstr(out, head);
    wire_put_bytes(out, form == OPENAPI_V2 ? 8 : 4, paths);
    if (form == OPENAPI_V2) {
        wire_put_bytes(out, 9, definitions);
        wire_put_bytes(out, 10, parameters);
        return;
    }
    if (definitions.n == 0)
        return;
    /* The head has components too: readers join them. */
    size_t mark = wire_begin(out, 5);
    wire_put_bytes(out, 1, definitions);
    wire_end(out, mark);
}
