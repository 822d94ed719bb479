/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Schemas and rules as they are shown where one is a bad value: Go's internal structs,
 * which have no names of JSON, each field in its order.
 */
#include "api/structural_check.h"
#include "doc/tree.h"

enum form {
    TEXT,         /* "" when absent */
    FLAG,         /* false when absent */
    VALUE,        /* as it stands; null when absent */
    SCHEMA,       /* null when absent */
    SCHEMAS,      /* a list of them */
    NAMED,        /* a map of them */
    ITEMS,        /* {Schema, JSONSchemas} */
    EXTRA,        /* {Allows, Schema} */
    EITHER,       /* {Schema, Property} */
    DEPENDENCIES, /* a map of those */
    DOCS,
    RULES,
};

struct shown_field {
    const char *go, *json;
    enum form form;
};

static const struct shown_field PROPS[] = {
    {"ID", "id", TEXT},
    {"Schema", "$schema", TEXT},
    {"Ref", "$ref", VALUE},
    {"Description", "description", TEXT},
    {"Type", "type", TEXT},
    {"Nullable", "nullable", FLAG},
    {"Format", "format", TEXT},
    {"Title", "title", TEXT},
    {"Default", "default", VALUE},
    {"Maximum", "maximum", VALUE},
    {"ExclusiveMaximum", "exclusiveMaximum", FLAG},
    {"Minimum", "minimum", VALUE},
    {"ExclusiveMinimum", "exclusiveMinimum", FLAG},
    {"MaxLength", "maxLength", VALUE},
    {"MinLength", "minLength", VALUE},
    {"Pattern", "pattern", TEXT},
    {"MaxItems", "maxItems", VALUE},
    {"MinItems", "minItems", VALUE},
    {"UniqueItems", "uniqueItems", FLAG},
    {"MultipleOf", "multipleOf", VALUE},
    {"Enum", "enum", VALUE},
    {"MaxProperties", "maxProperties", VALUE},
    {"MinProperties", "minProperties", VALUE},
    {"Required", "required", VALUE},
    {"Items", "items", ITEMS},
    {"AllOf", "allOf", SCHEMAS},
    {"OneOf", "oneOf", SCHEMAS},
    {"AnyOf", "anyOf", SCHEMAS},
    {"Not", "not", SCHEMA},
    {"Properties", "properties", NAMED},
    {"AdditionalProperties", "additionalProperties", EXTRA},
    {"PatternProperties", "patternProperties", NAMED},
    {"Dependencies", "dependencies", DEPENDENCIES},
    {"AdditionalItems", "additionalItems", EXTRA},
    {"Definitions", "definitions", NAMED},
    {"ExternalDocs", "externalDocs", DOCS},
    {"Example", "example", VALUE},
    {"XPreserveUnknownFields", "x-kubernetes-preserve-unknown-fields", VALUE},
    {"XEmbeddedResource", "x-kubernetes-embedded-resource", FLAG},
    {"XIntOrString", "x-kubernetes-int-or-string", FLAG},
    {"XListMapKeys", "x-kubernetes-list-map-keys", VALUE},
    {"XListType", "x-kubernetes-list-type", VALUE},
    {"XMapType", "x-kubernetes-map-type", VALUE},
    {"XValidations", "x-kubernetes-validations", RULES},
    {NULL},
};

static const struct shown_field RULE[] = {
    {"Rule", "rule", TEXT},
    {"Message", "message", TEXT},
    {"MessageExpression", "messageExpression", TEXT},
    {"Reason", "reason", VALUE},
    {"FieldPath", "fieldPath", TEXT},
    {"OptionalOldSelf", "optionalOldSelf", VALUE},
    {NULL},
};

static const struct shown_field EXTERNAL_DOCS[] = {
    {"Description", "description", TEXT}, {"URL", "url", TEXT}, {NULL}};

static void show(enum form form, const struct doc *d, struct strbuf *b);

static void show_struct(const struct shown_field *fields, const struct doc *d,
                        struct strbuf *b)
{
    strbuf_addc(b, '{');
    for (const struct shown_field *f = fields; f->go; f++) {
        strbuf_addf(b, "%s\"%s\":", f == fields ? "" : ",", f->go);
        show(f->form, doc_get(d, f->json), b);
    }
    strbuf_addc(b, '}');
}

static void show_list(const struct shown_field *fields, const struct doc *d,
                      struct strbuf *b)
{
    strbuf_addc(b, '[');
    for (uint32_t i = 0; i < d->n; i++) {
        strbuf_adds(b, i ? "," : "");
        show_struct(fields, &d->items[i], b);
    }
    strbuf_addc(b, ']');
}

static void show_named(enum form form, const struct doc *d, struct strbuf *b)
{
    struct tree_order o;
    tree_order_init(&o, d, str_cmp);
    strbuf_addc(b, '{');
    for (uint32_t i = 0; i < o.n; i++) {
        const struct doc key = {
            .type = DOC_STRING, .n = o.v[i]->key_len, .s = o.v[i]->key};
        strbuf_adds(b, i ? "," : "");
        schema_write_json(&key, b);
        strbuf_addc(b, ':');
        show(form, &o.v[i]->value, b);
    }
    strbuf_addc(b, '}');
    tree_order_fini(&o);
}

/* Two fields, of which the document is one or the other. */
static void show_either(const char *first, bool is_first, enum form form,
                        const char *second, const struct doc *d, struct strbuf *b)
{
    strbuf_addf(b, "{\"%s\":", first);
    show(is_first ? SCHEMA : VALUE, is_first ? d : NULL, b);
    strbuf_addf(b, ",\"%s\":", second);
    show(form, is_first ? NULL : d, b);
    strbuf_addc(b, '}');
}

static void show_extra(const struct doc *d, struct strbuf *b)
{
    bool schema = d->type == DOC_MAP;
    strbuf_addf(b, "{\"Allows\":%s,\"Schema\":",
                schema || (d->type == DOC_BOOL && d->b) ? "true" : "false");
    show(SCHEMA, schema ? d : NULL, b);
    strbuf_addc(b, '}');
}

static void show_present(enum form form, const struct doc *d, struct strbuf *b)
{
    switch (form) {
    case SCHEMA:
        show_struct(PROPS, d, b);
        break;
    case SCHEMAS:
        show_list(PROPS, d, b);
        break;
    case NAMED:
        show_named(SCHEMA, d, b);
        break;
    case ITEMS:
        show_either("Schema", d->type == DOC_MAP, SCHEMAS, "JSONSchemas", d, b);
        break;
    case EITHER:
        show_either("Schema", d->type == DOC_MAP, VALUE, "Property", d, b);
        break;
    case EXTRA:
        show_extra(d, b);
        break;
    case DEPENDENCIES:
        show_named(EITHER, d, b);
        break;
    case DOCS:
        show_struct(EXTERNAL_DOCS, d, b);
        break;
    case RULES:
        show_list(RULE, d, b);
        break;
    default:
        schema_write_json(d, b);
    }
}

static void show(enum form form, const struct doc *d, struct strbuf *b)
{
    if (!d || d->type == DOC_NULL)
        strbuf_adds(b, form == TEXT ? "\"\"" : form == FLAG ? "false" : "null");
    else
        show_present(form, d, b);
}

static struct str shown(struct arena *a, enum form form, const struct doc *d)
{
    struct strbuf b = STRBUF_INIT;
    show(form, d, &b);
    struct str s = arena_str(a, strbuf_str(&b));
    strbuf_release(&b);
    return s;
}

struct str schema_shown_schema(struct arena *a, const struct doc *d)
{
    return shown(a, SCHEMA, d);
}

struct str schema_shown_items(struct arena *a, const struct doc *d)
{
    return shown(a, ITEMS, d);
}

struct str schema_shown_rule(struct arena *a, const struct doc *d)
{
    struct strbuf b = STRBUF_INIT;
    show_struct(RULE, d, &b);
    struct str s = arena_str(a, strbuf_str(&b));
    strbuf_release(&b);
    return s;
}
