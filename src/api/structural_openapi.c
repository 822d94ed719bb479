/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the API server asks of each schema of a definition besides its structure
 * (apiextensions-apiserver pkg/apis/apiextensions/validation): keywords, list types,
 * rules and their costs.
 */
#include "api/rules.h"
#include "api/structural_check.h"

enum { RULE_COST_MAX = 10000000, TOTAL_COST_MAX = 100000000, EXPENSIVE = 4 };

struct expensive {
    struct str path;
    uint64_t cost;
};

struct openapi {
    const struct schema_openapi_opts *opts;
    struct schema_report schema, rules; /* errors of rules come behind all others */
    struct strbuf *path;
    uint64_t total;
    struct expensive most[EXPENSIVE + 1]; /* by falling cost */
    unsigned nmost;
    const struct schema *asked; /* whether it is readable */
    bool readable;
};

/* What the schemas around one say about it. */
struct around {
    const char *no_default; /* why there may be no default; NULL: there may be */
    bool in_meta;
    struct str unrelated; /* the schema from which on old values cannot be found */
    bool rules;           /* of the structure: rules are compiled */
    bool scoped, untyped; /* one of them has rules; and from there on one has no type */
    bool bounded;         /* the number of values is at most count */
    uint64_t count;
};

static void check(struct openapi *c, struct schema *s, struct around at);

/* ---- Reporting ---- */

static void forbid(struct openapi *c, const char *name, const char *why)
{
    schema_fail_at(&c->schema, c->path, name, API_ERROR_FORBIDDEN, STR_NONE, "%s", why);
}

static void require(struct openapi *c, const char *name, const char *why)
{
    schema_fail_at(&c->schema, c->path, name, API_ERROR_REQUIRED, STR_NONE, "%s", why);
}

static void refuse(struct openapi *c, const char *name, struct str bad, const char *why)
{
    schema_fail_at(&c->schema, c->path, name, API_ERROR_INVALID, bad, "%s", why);
}

static struct str member_text(const struct schema *s, const char *key)
{
    return doc_get_text(s->doc, key);
}

/* ---- Keywords ---- */

/* empty: it does not count when nothing is in it. */
static const struct {
    const char *name, *why;
    bool empty;
} KEYWORDS[] = {
    {"id", "id is not supported", true},
    {"additionalItems", "additionalItems is not supported", false},
    {"patternProperties", "patternProperties is not supported", true},
    {"definitions", "definitions is not supported", true},
    {"dependencies", "dependencies is not supported", false},
    {"$ref", "$ref is not supported", false},
};

static void check_keywords(struct openapi *c, const struct schema *s,
                           const struct around *at)
{
    if (s->type == SCHEMA_STRANGE)
        schema_fail_at(&c->schema, c->path, "type", API_ERROR_NOT_SUPPORTED,
                       api_shown_text(c->schema.a, s->type_name),
                       "supported values: \"array\", \"boolean\", \"integer\", "
                       "\"number\", \"object\", \"string\"");
    if (s->def && at->no_default)
        forbid(c, "default", at->no_default);
    for (size_t i = 0; i < sizeof KEYWORDS / sizeof *KEYWORDS; i++) {
        const struct doc *d = doc_get(s->doc, KEYWORDS[i].name);
        if (d && d->type != DOC_NULL && (!KEYWORDS[i].empty || d->n))
            forbid(c, KEYWORDS[i].name, KEYWORDS[i].why);
    }
    if (str_is(s->type_name, "null"))
        forbid(c, "type", "type cannot be set to null, use nullable as an alternative");
    if (s->many_items)
        forbid(c, "items", "items must be a schema object and not an array");
    if (at->in_meta && s->embedded)
        forbid(c, "x-kubernetes-embedded-resource",
               "must not be used inside of resource meta");
    if (s->values->unique_items)
        forbid(c, "uniqueItems",
               "uniqueItems cannot be set to true since the runtime complexity becomes "
               "quadratic");
}

/* ---- Lists and maps ---- */

/* A type that a keyword asks for. */
static void check_needs(struct openapi *c, const struct schema *s, enum schema_type type,
                        const char *why)
{
    if (s->type == SCHEMA_UNTYPED)
        require(c, "type", why);
    else if (s->type != type)
        refuse(c, "type", api_shown_text(c->schema.a, s->type_name), why);
}

static void check_map_type(struct openapi *c, const struct schema *s)
{
    bool preserve;
    if (doc_get_bool(s->doc, "x-kubernetes-preserve-unknown-fields", &preserve) &&
        !preserve)
        refuse(c, "x-kubernetes-preserve-unknown-fields", STR("false"),
               "must be true or undefined");
    if (s->map_type)
        check_needs(c, s, SCHEMA_OBJECT,
                    "must be object if x-kubernetes-map-type is specified");
    if (s->map_type == MAP_STRANGE)
        schema_fail_at(
            &c->schema, c->path, "x-kubernetes-map-type", API_ERROR_NOT_SUPPORTED,
            api_shown_text(c->schema.a, member_text(s, "x-kubernetes-map-type")),
            "supported values: \"atomic\", \"granular\"");
}

/* Items of sets are owned as one. */
static void check_set(struct openapi *c, const struct schema *s)
{
    static const char why[] =
        "must be atomic as item of a list with x-kubernetes-list-type=set";
    const struct schema *items = s->items;
    const struct doc *shown_type =
        items ? doc_get(items->doc, "x-kubernetes-list-type") : NULL;
    size_t here = schema_path_child(c->path, STR("items"));
    if (items && items->type == SCHEMA_ARRAY && items->list_type > LIST_ATOMIC)
        refuse(c, "x-kubernetes-list-type", schema_shown(c->schema.a, shown_type), why);
    if (items && items->type == SCHEMA_OBJECT && items->map_type != MAP_ATOMIC)
        refuse(c, "x-kubernetes-map-type", schema_shown(c->schema.a, shown_type), why);
    schema_path_back(c->path, here);
}

static void check_list_type(struct openapi *c, const struct schema *s)
{
    if (s->list_type && s->type != SCHEMA_ARRAY)
        check_needs(c, s, SCHEMA_ARRAY,
                    "must be array if x-kubernetes-list-type is specified");
    else if (s->list_type == LIST_SET)
        check_set(c, s);
    if (s->list_type == LIST_STRANGE)
        schema_fail_at(
            &c->schema, c->path, "x-kubernetes-list-type", API_ERROR_NOT_SUPPORTED,
            api_shown_text(c->schema.a, member_text(s, "x-kubernetes-list-type")),
            "supported values: \"atomic\", \"set\", \"map\"");
    if (s->map_keys && s->list_type != LIST_MAP) {
        static const char why[] =
            "must be map if x-kubernetes-list-map-keys is non-empty";
        if (s->list_type == LIST_NONE)
            require(c, "x-kubernetes-list-type", why);
        else
            refuse(c, "x-kubernetes-list-type",
                   api_shown_text(c->schema.a, member_text(s, "x-kubernetes-list-type")),
                   why);
    }
}

/* [properties, KEY] below items. */
static size_t enter_key(struct openapi *c, struct str key)
{
    size_t here = schema_path_child(c->path, STR("items"));
    schema_path_child(c->path, STR("properties"));
    schema_path_key(c->path, key);
    return here;
}

static void check_key(struct openapi *c, const struct schema *s, struct str key,
                      bool repeated, struct str *keys)
{
    const struct schema *p = schema_prop(s->items, key);
    if (p && (p->type == SCHEMA_ARRAY || p->type == SCHEMA_OBJECT)) {
        size_t here = enter_key(c, key);
        refuse(c, "type", api_shown_text(c->schema.a, s->items->type_name),
               "must be a scalar type if parent array's x-kubernetes-list-type is map");
        schema_path_back(c->path, here);
    }
    if ((!p || repeated) && !keys->p)
        *keys = schema_shown(c->schema.a, s->map_keys);
    if (!p)
        refuse(c, "x-kubernetes-list-map-keys", *keys,
               "entries must all be names of item properties");
    if (repeated)
        refuse(c, "x-kubernetes-list-map-keys", *keys,
               "must not contain duplicate entries");
}

static void check_keys(struct openapi *c, const struct schema *s)
{
    struct strmap seen = STRMAP_INIT;
    struct str keys = STR_NONE;
    for (uint32_t i = 0; s->map_keys && i < s->map_keys->n; i++) {
        struct str key = doc_str(&s->map_keys->items[i]);
        bool first;
        strmap_put(&seen, key, &first);
        check_key(c, s, key, !first, &keys);
    }
    strmap_release(&seen);
}

static void check_keyed_list(struct openapi *c, const struct schema *s)
{
    if (!s->map_keys)
        require(c, "x-kubernetes-list-map-keys",
                "must not be empty if x-kubernetes-list-type is map");
    if (!s->items && !s->many_items)
        require(c, "items", "must have a schema if x-kubernetes-list-type is map");
    if (s->many_items)
        refuse(c, "items", schema_shown_items(c->schema.a, doc_get(s->doc, "items")),
               "must only have a single schema if x-kubernetes-list-type is map");
    if (s->items && s->items->type != SCHEMA_OBJECT) {
        size_t here = schema_path_child(c->path, STR("items"));
        refuse(c, "type", api_shown_text(c->schema.a, s->items->type_name),
               "must be object if parent array's x-kubernetes-list-type is map");
        schema_path_back(c->path, here);
    }
    if (s->items && s->items->type == SCHEMA_OBJECT)
        check_keys(c, s);
}

/* Keys are always there, and never null. */
static void check_key_value(struct openapi *c, const struct schema *p, struct str key,
                            bool required)
{
    size_t here = enter_key(c, key);
    if (!p->def && !required)
        require(
            c, "default",
            "this property is in x-kubernetes-list-map-keys, so it must have a default "
            "or be a required property");
    if (p->nullable)
        forbid(
            c, "nullable",
            "this property is in x-kubernetes-list-map-keys, so it cannot be nullable");
    schema_path_back(c->path, here);
}

static void check_key_values(struct openapi *c, const struct schema *s)
{
    const struct doc *required = s->items->values->required;
    struct strmap names = STRMAP_INIT;
    bool made;
    for (uint32_t i = 0; required && i < required->n; i++)
        strmap_put(&names, doc_str(&required->items[i]), &made);
    for (uint32_t i = 0; s->map_keys && i < s->map_keys->n; i++) {
        struct str key = doc_str(&s->map_keys->items[i]);
        const struct schema *p = schema_prop(s->items, key);
        if (p)
            check_key_value(c, p, key, strmap_find(&names, key));
    }
    strmap_release(&names);
}

static void check_item_values(struct openapi *c, const struct schema *s)
{
    if (!s->items || (s->list_type != LIST_SET && s->list_type != LIST_MAP))
        return;
    if (s->items->nullable) {
        size_t here = schema_path_child(c->path, STR("items"));
        forbid(c, "nullable",
               s->list_type == LIST_SET
                   ? "cannot be nullable when x-kubernetes-list-type is set"
                   : "cannot be nullable when x-kubernetes-list-type is map");
        schema_path_back(c->path, here);
    }
    if (s->list_type == LIST_MAP)
        check_key_values(c, s);
}

/* ---- Rules as they are written ---- */

static bool has_line_break(struct str s)
{
    return str_find_byte(s, '\n', 0) != SIZE_MAX || str_find_byte(s, '\r', 0) != SIZE_MAX;
}

static void check_message(struct openapi *c, const struct schema_rule *rule)
{
    struct str text = str_trim(rule->rule), message = str_trim(rule->message);
    if (!text.n)
        require(c, "rule", "rule is not specified");
    else if (rule->message.n && !message.n)
        refuse(c, "message", api_shown_text(c->schema.a, rule->message),
               "must be non-empty if specified");
    else if (has_line_break(message))
        refuse(c, "message", api_shown_text(c->schema.a, rule->message),
               "must not contain line breaks");
    else if (has_line_break(text) && !message.n)
        require(c, "message", "message must be specified if rule contains line breaks");
    if (rule->message_expression.n && !str_trim(rule->message_expression).n)
        require(c, "messageExpression",
                "messageExpression must be non-empty if specified");
}

static bool known_reason(struct str reason)
{
    return str_is(reason, "FieldValueRequired") ||
           str_is(reason, "FieldValueForbidden") || str_is(reason, "FieldValueInvalid") ||
           str_is(reason, "FieldValueDuplicate");
}

/* Paths are only followed where upstream can read the schema. */
static bool can_have_paths(struct openapi *c, const struct schema *s)
{
    if (c->asked != s)
        c->readable = !schema_unsupported(s);
    c->asked = s;
    return c->readable;
}

static void check_rule(struct openapi *c, const struct schema *s,
                       const struct schema_rule *rule)
{
    const struct schema *found;
    struct str clean, path = rule->field_path;
    check_message(c, rule);
    if (rule->reason.p && !known_reason(rule->reason))
        schema_fail_at(&c->schema, c->path, "reason", API_ERROR_NOT_SUPPORTED,
                       api_shown_text(c->schema.a, rule->reason),
                       "supported values: \"FieldValueDuplicate\", "
                       "\"FieldValueForbidden\", \"FieldValueInvalid\", "
                       "\"FieldValueRequired\"");
    if (path.n && !str_trim(path).n)
        refuse(c, "fieldPath", api_shown_text(c->schema.a, path),
               "must be non-empty if specified");
    if (has_line_break(path))
        refuse(c, "fieldPath", api_shown_text(c->schema.a, path),
               "must not contain line breaks");
    if (path.n && can_have_paths(c, s) &&
        schema_field_path(s, path, true, c->schema.a, &clean, &found))
        refuse(c, "fieldPath", api_shown_text(c->schema.a, path), "must be a valid path");
}

/* ---- Rules compiled ---- */

static struct str over_budget(struct openapi *c, const char *what, uint64_t cost,
                              uint64_t limit)
{
    double factor = (double)cost / (double)limit;
    struct str by = factor > 100   ? STR("more than 100x")
                    : factor < 1.5 ? arena_printf(c->rules.a, "%fx", factor)
                                   : arena_printf(c->rules.a, "%.1fx", factor);
    return arena_printf(c->rules.a,
                        "%s exceeds budget by factor of %.*s (try simplifying the rule, "
                        "or adding maxItems, maxProperties, and maxLength where arrays, "
                        "maps, and strings are declared)",
                        what, STR_ARG(by));
}

static void observe(struct openapi *c, const char *name, uint64_t cost)
{
    if (__builtin_add_overflow(c->total, cost, &c->total))
        c->total = UINT64_MAX;
    if (cost < TOTAL_COST_MAX / 100)
        return;
    unsigned i = c->nmost;
    for (; i > 0 && c->most[i - 1].cost < cost; i--)
        c->most[i] = c->most[i - 1];
    size_t here = schema_path_child(c->path, str_from(name));
    c->most[i] = (struct expensive){arena_str(c->rules.a, strbuf_str(c->path)), cost};
    schema_path_back(c->path, here);
    c->nmost += c->nmost < EXPENSIVE;
}

static void check_cost(struct openapi *c, const char *name, const char *what,
                       uint64_t cost)
{
    struct str text = over_budget(c, what, cost, RULE_COST_MAX);
    if (!c->opts->unlimited && cost > RULE_COST_MAX)
        schema_fail_at(&c->rules, c->path, name, API_ERROR_FORBIDDEN, STR_NONE, "%.*s",
                       STR_ARG(text));
    observe(c, name, cost);
}

static uint64_t multiplied(uint64_t a, uint64_t b)
{
    uint64_t product;
    return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

static void check_made(struct openapi *c, const struct schema_rule *rule,
                       const struct schema_rule_made *made, const struct around *at)
{
    uint64_t count = at->bounded ? at->count : made->cardinality;
    check_cost(c, "rule", "estimated rule cost", multiplied(made->cost, count));
    if (made->error.p)
        schema_fail_at(&c->rules, c->path, "rule", API_ERROR_INVALID,
                       schema_shown_rule(c->rules.a, rule->doc), "%.*s",
                       STR_ARG(made->error));
    if (made->message_error.p)
        schema_fail_at(&c->rules, c->path, "messageExpression", API_ERROR_INVALID,
                       schema_shown_rule(c->rules.a, rule->doc), "%.*s",
                       STR_ARG(made->message_error));
    else if (made->message)
        check_cost(c, "messageExpression", "estimated messageExpression cost",
                   made->message_cost);
    if (made->uses_old && at->unrelated.p)
        schema_fail_at(&c->rules, c->path, "rule", API_ERROR_INVALID,
                       api_shown_text(c->schema.a, rule->rule),
                       "oldSelf cannot be used on the uncorrelatable portion of the "
                       "schema within %.*s",
                       STR_ARG(at->unrelated));
    else if (!made->uses_old && rule->has_optional_old_self)
        schema_fail_at(&c->rules, c->path, "optionalOldSelf", API_ERROR_INVALID,
                       rule->optional_old_self ? STR("true") : STR("false"),
                       "may not be set if oldSelf is not used in rule");
}

static void compile_rules(struct openapi *c, struct schema *s, const struct around *at)
{
    schema_declare(s, s->embedded, c->rules.a);
    if (!s->decl || at->untyped) {
        schema_fail(&c->rules, c->path, API_ERROR_INTERNAL, STR_NONE,
                    "internal error: failed to construct type information for "
                    "x-kubernetes-validations rules: unable to convert structural schema "
                    "to CEL declarations");
        return;
    }
    schema_rules_compile(s, c->opts->cel, c->opts->known, c->rules.a);
    for (uint32_t i = 0; i < s->nrules; i++) {
        size_t here = schema_path_index(c->path, i);
        check_made(c, &s->rules[i], &s->compiled->v[i], at);
        schema_path_back(c->path, here);
    }
}

static void check_rules(struct openapi *c, struct schema *s, const struct around *at,
                        size_t before)
{
    size_t here = schema_path_child(c->path, STR("x-kubernetes-validations"));
    for (uint32_t i = 0; i < s->nrules; i++) {
        size_t item = schema_path_index(c->path, i);
        check_rule(c, s, &s->rules[i]);
        schema_path_back(c->path, item);
    }
    if (s->nrules && at->rules && c->schema.errors->list.n == before)
        compile_rules(c, s, at);
    schema_path_back(c->path, here);
}

/* ---- Schemas within ---- */

static struct str path_copy(struct openapi *c)
{
    return arena_str(c->schema.a, strbuf_str(c->path));
}

/* How many values of a schema below there can be for each of this one. */
static struct around counted(struct around at, const struct schema *s)
{
    enum schema_bound bound =
        s->type == SCHEMA_ARRAY ? BOUND_MAX_ITEMS : BOUND_MAX_PROPERTIES;
    bool many = s->type == SCHEMA_ARRAY || (s->type == SCHEMA_OBJECT && s->additional);
    if (!many)
        return at;
    at.bounded = at.bounded && schema_bounded(s, bound);
    if (at.bounded)
        at.count = multiplied(at.count, s->values->whole[bound] < 0
                                            ? 0
                                            : (uint64_t)s->values->whole[bound]);
    return at;
}

static void check_named(struct openapi *c, const char *name, struct schema *s,
                        struct around at)
{
    size_t here = schema_path_child(c->path, str_from(name));
    if (s)
        check(c, s, at);
    schema_path_back(c->path, here);
}

static void check_nested(struct openapi *c, const char *name,
                         const struct schema_nested *list, struct around at)
{
    size_t here = schema_path_child(c->path, str_from(name));
    for (uint32_t i = 0; i < list->n; i++) {
        size_t item = schema_path_index(c->path, i);
        check(c, &list->v[i], at);
        schema_path_back(c->path, item);
    }
    schema_path_back(c->path, here);
}

static bool is_meta(struct str key)
{
    return str_is(key, "metadata") || str_is(key, "apiVersion") || str_is(key, "kind");
}

static void check_props(struct openapi *c, struct schema *s, bool root, struct around at)
{
    if (s->map_type == MAP_STRANGE && !at.unrelated.p)
        at.unrelated = path_copy(c);
    at = counted(at, s);
    size_t here = schema_path_child(c->path, STR("properties"));
    for (uint32_t i = 0; i < s->nprops; i++) {
        struct around below = at;
        bool meta = (root || s->embedded) && is_meta(s->props[i].name);
        below.in_meta |= meta;
        if (meta && root)
            below.no_default =
                arena_printf(c->schema.a, "must not be set in top-level %.*s",
                             STR_ARG(s->props[i].name))
                    .p;
        size_t prop = schema_path_key(c->path, s->props[i].name);
        check(c, s->props[i].schema, below);
        schema_path_back(c->path, prop);
    }
    schema_path_back(c->path, here);
}

static void check_extra(struct openapi *c, struct schema *s, struct around at)
{
    if (s->has_props && (s->additional == ADDITIONAL_FALSE || s->extra))
        forbid(c, "additionalProperties",
               "additionalProperties and properties are mutual exclusive");
    at = counted(at, s);
    if (at.in_meta)
        at.no_default = "must not be set inside additionalProperties applying to object "
                        "metadata";
    check_named(c, "additionalProperties", s->extra, at);
}

static void check_below(struct openapi *c, struct schema *s, bool root, struct around at)
{
    at.scoped |= s->nrules > 0;
    if (at.scoped && at.rules)
        at.untyped |= !schema_declare(s, s->embedded, c->rules.a);
    struct around items = counted(at, s), nested = at;
    nested.rules = false;
    check_extra(c, s, at);
    check_props(c, s, root, at);
    check_named(c, "not", s->logic->not_, nested);
    check_nested(c, "allOf", &s->logic->all_of, nested);
    check_nested(c, "oneOf", &s->logic->one_of, nested);
    check_nested(c, "anyOf", &s->logic->any_of, nested);
    if (s->list_type != LIST_MAP && !items.unrelated.p)
        items.unrelated = path_copy(c);
    check_named(c, "items", s->items, items);
}

static void check_schema(struct openapi *c, struct schema *s, bool root, struct around at)
{
    size_t before = c->schema.errors->list.n;
    check_keywords(c, s, &at);
    check_below(c, s, root, at);
    check_map_type(c, s);
    check_list_type(c, s);
    if (s->list_type == LIST_MAP)
        check_keyed_list(c, s);
    check_item_values(c, s);
    check_rules(c, s, &at, before);
}

static void check(struct openapi *c, struct schema *s, struct around at)
{
    check_schema(c, s, false, at);
}

/* ---- */

static void check_total(struct openapi *c)
{
    if (c->total <= TOTAL_COST_MAX)
        return;
    for (unsigned i = 0; i < c->nmost; i++) {
        struct strbuf path = STRBUF_INIT;
        strbuf_addstr(&path, c->most[i].path);
        schema_fail(&c->schema, &path, API_ERROR_FORBIDDEN, STR_NONE,
                    "contributed to estimated rule cost total exceeding cost limit for "
                    "entire OpenAPIv3 schema");
        strbuf_release(&path);
    }
    struct str text = over_budget(c,
                                  "x-kubernetes-validations estimated rule cost total "
                                  "for entire OpenAPIv3 schema",
                                  c->total, TOTAL_COST_MAX);
    schema_fail(&c->schema, c->path, API_ERROR_FORBIDDEN, STR_NONE, "%.*s",
                STR_ARG(text));
}

void schema_check_openapi(struct schema *s, const struct schema_openapi_opts *opts,
                          struct strbuf *path, const struct schema_report *r)
{
    struct api_errors rules = {0};
    struct openapi c = {
        .opts = opts, .schema = *r, .rules = {r->a, &rules}, .path = path};
    if (opts->cel && s->has_rules)
        schema_declare(s, true, r->a);
    check_schema(&c, s, true,
                 (struct around){.rules = opts->cel, .bounded = true, .count = 1});
    for (size_t i = 0; i < rules.list.n; i++)
        vec_push(&r->errors->list, rules.list.v[i]);
    api_errors_release(&rules);
    check_total(&c);
    schema_rules_release(s);
}
