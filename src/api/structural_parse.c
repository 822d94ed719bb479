/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "api/structural_inner.h"

static struct schema_values no_values;
static struct schema_logic no_logic;
static const struct doc no_doc = {.type = DOC_MAP};
struct schema schema_empty = {.doc = &no_doc, .values = &no_values, .logic = &no_logic};

struct parser {
    struct arena *a;
    uint32_t nodes;
    struct str why; /* p is NULL: so far all is well */
};

static void parse(struct parser *p, const struct doc *d, uint32_t depth,
                  struct schema *s);

static bool flag(const struct doc *d, const char *key)
{
    bool b;
    return doc_get_bool(d, key, &b) && b;
}

/* What has members or items. */
static const struct doc *filled(const struct doc *d, const char *key, enum doc_type type)
{
    const struct doc *v = doc_get(d, key);
    return v && v->type == type && v->n ? v : NULL;
}

/* A list of texts that is not empty. */
static const struct doc *texts(const struct doc *d, const char *key)
{
    const struct doc *v = filled(d, key, DOC_LIST);
    for (uint32_t i = 0; v && i < v->n; i++)
        if (v->items[i].type != DOC_STRING)
            v = NULL;
    return v;
}

static const struct doc *present(const struct doc *d, const char *key)
{
    const struct doc *v = doc_get(d, key);
    return v && v->type != DOC_NULL ? v : NULL;
}

static unsigned name_index(struct str name, const char *const *names, unsigned n)
{
    unsigned i = 0;
    while (i < n && !str_is(name, names[i]))
        i++;
    return i;
}

/* ---- Values ---- */

static const char *const BOUND_NAMES[] = {
    [BOUND_MAX_LENGTH] = "maxLength",
    [BOUND_MIN_LENGTH] = "minLength",
    [BOUND_MAX_ITEMS] = "maxItems",
    [BOUND_MIN_ITEMS] = "minItems",
    [BOUND_MAX_PROPERTIES] = "maxProperties",
    [BOUND_MIN_PROPERTIES] = "minProperties",
    [BOUND_MAXIMUM] = "maximum",
    [BOUND_MINIMUM] = "minimum",
    [BOUND_MULTIPLE_OF] = "multipleOf",
};

static bool parse_bounds(const struct doc *d, struct schema_values *v)
{
    for (unsigned i = 0; i < BOUNDS_ALL; i++) {
        const struct doc *n = doc_get(d, BOUND_NAMES[i]);
        bool ok = n && n->type == DOC_NUMBER;
        if (ok && i < BOUNDS)
            ok = doc_int64(n, &v->whole[i]);
        else if (ok)
            ok = doc_double(n, &v->number[i - BOUNDS]);
        if (ok)
            v->set |= (uint16_t)(1 << i);
    }
    return v->set;
}

static struct schema_values *parse_values(struct parser *p, const struct doc *d)
{
    struct schema_values v = {
        .format = doc_get_text(d, "format"),
        .pattern = doc_get_text(d, "pattern"),
        .enums = filled(d, "enum", DOC_LIST),
        .required = texts(d, "required"),
        .exclusive_maximum = flag(d, "exclusiveMaximum"),
        .exclusive_minimum = flag(d, "exclusiveMinimum"),
        .unique_items = flag(d, "uniqueItems"),
    };
    bool any = parse_bounds(d, &v);
    if (!any && !v.format.n && !v.pattern.n && !v.enums && !v.required &&
        !v.exclusive_maximum && !v.exclusive_minimum && !v.unique_items)
        return &no_values;
    struct schema_values *out = ARENA_NEW(p->a, struct schema_values);
    *out = v;
    return out;
}

/* ---- Schemas within ---- */

static struct schema *parse_one(struct parser *p, const struct doc *d, uint32_t depth)
{
    struct schema *s = ARENA_NEW(p->a, struct schema);
    parse(p, d, depth + 1, s);
    return s;
}

static struct schema_nested parse_list(struct parser *p, const struct doc *d,
                                       const char *key, uint32_t depth)
{
    const struct doc *list = filled(d, key, DOC_LIST);
    struct schema_nested out = {0};
    if (!list)
        return out;
    out.v = ARENA_ARRAY(p->a, struct schema, list->n);
    for (; out.n < list->n && !p->why.p; out.n++)
        parse(p, &list->items[out.n], depth + 1, &out.v[out.n]);
    return out;
}

static struct schema_logic *parse_logic(struct parser *p, const struct doc *d,
                                        uint32_t depth)
{
    struct schema_logic l = {.all_of = parse_list(p, d, "allOf", depth),
                             .any_of = parse_list(p, d, "anyOf", depth),
                             .one_of = parse_list(p, d, "oneOf", depth)};
    const struct doc *not_ = present(d, "not");
    if (not_)
        l.not_ = parse_one(p, not_, depth);
    if (!l.all_of.n && !l.any_of.n && !l.one_of.n && !l.not_)
        return &no_logic;
    struct schema_logic *out = ARENA_NEW(p->a, struct schema_logic);
    *out = l;
    return out;
}

struct named {
    struct str name;
    const struct doc *value;
};

/* Equal names in the order of the source. */
static int by_name(const void *a, const void *b)
{
    const struct named *x = a, *y = b;
    int c = str_cmp(x->name, y->name);
    return c ? c : (x->value > y->value) - (x->value < y->value);
}

/* Of a name that is given twice the last value counts. */
static void parse_props(struct parser *p, const struct doc *d, uint32_t depth,
                        struct schema *s)
{
    const struct doc *props = filled(d, "properties", DOC_MAP);
    if (!props)
        return;
    struct named *v = ARENA_ARRAY(p->a, struct named, props->n);
    for (uint32_t i = 0; i < props->n; i++)
        v[i] = (struct named){doc_key(&props->members[i]), &props->members[i].value};
    qsort(v, props->n, sizeof *v, by_name);
    s->has_props = true;
    s->props = ARENA_ARRAY(p->a, struct schema_prop, props->n);
    for (uint32_t i = 0; i < props->n && !p->why.p; i++)
        if (i + 1 == props->n || !str_eq(v[i].name, v[i + 1].name))
            s->props[s->nprops++] =
                (struct schema_prop){v[i].name, parse_one(p, v[i].value, depth)};
}

static void parse_items(struct parser *p, const struct doc *d, uint32_t depth,
                        struct schema *s)
{
    const struct doc *items = present(d, "items"),
                     *extra = present(d, "additionalProperties");
    if (items && items->type == DOC_MAP)
        s->items = parse_one(p, items, depth);
    s->many_items = items && items->type == DOC_LIST && items->n;
    if (!extra)
        return;
    if (extra->type == DOC_MAP)
        s->extra = parse_one(p, extra, depth);
    s->additional = s->extra                              ? ADDITIONAL_SCHEMA
                    : extra->type == DOC_BOOL && extra->b ? ADDITIONAL_TRUE
                                                          : ADDITIONAL_FALSE;
}

/* ---- Extensions ---- */

static void parse_rules(struct parser *p, const struct doc *d, struct schema *s)
{
    const struct doc *rules = filled(d, "x-kubernetes-validations", DOC_LIST);
    if (!rules)
        return;
    s->rules = ARENA_ARRAY(p->a, struct schema_rule, rules->n);
    for (; s->nrules < rules->n; s->nrules++) {
        const struct doc *r = &rules->items[s->nrules];
        struct schema_rule *out = &s->rules[s->nrules];
        *out = (struct schema_rule){
            .doc = r,
            .rule = doc_get_text(r, "rule"),
            .message = doc_get_text(r, "message"),
            .message_expression = doc_get_text(r, "messageExpression"),
            .field_path = doc_get_text(r, "fieldPath"),
            .reason = doc_get_text(r, "reason"),
        };
        out->has_optional_old_self =
            doc_get_bool(r, "optionalOldSelf", &out->optional_old_self);
    }
}

static void parse_extensions(const struct doc *d, struct schema *s)
{
    static const char *const lists[] = {"atomic", "set", "map"};
    static const char *const maps[] = {"granular", "atomic"};
    const struct doc *list = present(d, "x-kubernetes-list-type"),
                     *map = present(d, "x-kubernetes-map-type");
    s->preserve = flag(d, "x-kubernetes-preserve-unknown-fields");
    s->embedded = flag(d, "x-kubernetes-embedded-resource");
    s->int_or_string = flag(d, "x-kubernetes-int-or-string");
    s->map_keys = texts(d, "x-kubernetes-list-map-keys");
    if (list && list->type == DOC_STRING)
        s->list_type = (uint8_t)(LIST_ATOMIC + name_index(doc_str(list), lists, 3));
    if (map && map->type == DOC_STRING)
        s->map_type = (uint8_t)(MAP_GRANULAR + name_index(doc_str(map), maps, 2));
}

/* ---- Nodes ---- */

static void parse_type(const struct doc *d, struct schema *s)
{
    static const char *const names[] = {
        "", "object", "array", "string", "number", "integer", "boolean",
    };
    s->type_name = doc_get_text(d, "type");
    s->type = (uint8_t)name_index(s->type_name, names, sizeof names / sizeof *names);
    s->nullable = flag(d, "nullable");
    s->def = present(d, "default");
}

/* What a value of the schema can hold that has to be looked at. */
static void inherit(struct schema *s, const struct schema *below)
{
    s->has_rules |= below->has_rules;
    s->has_embedded |= below->has_embedded;
    s->has_list_types |= below->has_list_types;
    s->has_defaults |= below->has_defaults;
}

static void inherit_all(struct schema *s)
{
    s->has_rules = s->nrules;
    s->has_embedded = s->embedded;
    s->has_list_types = s->list_type == LIST_SET || s->list_type == LIST_MAP;
    s->has_defaults = s->def;
    if (s->items)
        inherit(s, s->items);
    if (s->extra)
        inherit(s, s->extra);
    for (uint32_t i = 0; i < s->nprops; i++)
        inherit(s, s->props[i].schema);
}

static void parse(struct parser *p, const struct doc *d, uint32_t depth, struct schema *s)
{
    *s = schema_empty;
    if (depth > STRUCTURAL_DEPTH || ++p->nodes > STRUCTURAL_NODES)
        p->why = depth > STRUCTURAL_DEPTH ? STR("schemas are nested too deeply")
                                          : STR("there are too many schemas");
    if (p->why.p || d->type != DOC_MAP)
        return;
    s->doc = d;
    parse_type(d, s);
    parse_extensions(d, s);
    parse_rules(p, d, s);
    s->values = parse_values(p, d);
    s->logic = parse_logic(p, d, depth);
    parse_items(p, d, depth, s);
    parse_props(p, d, depth, s);
    inherit_all(s);
}

struct schema *schema_parse(const struct doc *d, struct arena *a, struct str *why)
{
    struct parser p = {.a = a};
    struct schema *s = ARENA_NEW(a, struct schema);
    parse(&p, d, 1, s);
    *why = p.why;
    return p.why.p ? NULL : s;
}

uint32_t schema_prop_index(const struct schema *s, struct str name)
{
    uint32_t lo = 0, hi = s->nprops;
    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        int c = str_cmp(s->props[mid].name, name);
        if (c == 0)
            return mid;
        if (c < 0)
            lo = mid + 1;
        else
            hi = mid;
    }
    return s->nprops;
}

struct schema *schema_prop(const struct schema *s, struct str name)
{
    uint32_t i = schema_prop_index(s, name);
    return i < s->nprops ? s->props[i].schema : NULL;
}

static void each_of(const struct schema_nested *n, schema_each_fn *fn, void *ctx)
{
    for (uint32_t i = 0; i < n->n; i++)
        schema_each(&n->v[i], fn, ctx);
}

void schema_each(struct schema *s, schema_each_fn *fn, void *ctx)
{
    fn(ctx, s);
    if (s->items)
        schema_each(s->items, fn, ctx);
    if (s->extra)
        schema_each(s->extra, fn, ctx);
    if (s->logic->not_)
        schema_each(s->logic->not_, fn, ctx);
    for (uint32_t i = 0; i < s->nprops; i++)
        schema_each(s->props[i].schema, fn, ctx);
    each_of(&s->logic->all_of, fn, ctx);
    each_of(&s->logic->any_of, fn, ctx);
    each_of(&s->logic->one_of, fn, ctx);
}
