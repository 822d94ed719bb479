/* SPDX-License-Identifier: Apache-2.0 */
/* Documents as values of the types that their schemas declare. */
#include "api/structural_formats.h"
#include "base/base64.h"

void schema_convert_init(struct schema_convert *c)
{
    cel_run_init(&c->run);
    strmap_init(&c->seen);
}

void schema_convert_fini(struct schema_convert *c)
{
    strmap_release(&c->seen);
    cel_run_fini(&c->run);
}

static struct cel_value convert(struct schema_convert *c, const struct schema *s,
                                const struct doc *d);

static const char *go_type(const struct doc *d)
{
    static const char *const names[] = {
        [DOC_NULL] = "<nil>",          [DOC_BOOL] = "bool",
        [DOC_NUMBER] = "float64",      [DOC_STRING] = "string",
        [DOC_LIST] = "[]interface {}", [DOC_MAP] = "map[string]interface {}",
    };
    if (d->type == DOC_NUMBER && schema_number_of(d).whole)
        return "int64";
    return names[d->type];
}

/* ---- Scalars ---- */

static struct cel_value int_or_string(struct schema_convert *c, const struct doc *d)
{
    int64_t i;
    if (d->type == DOC_STRING)
        return cel_string_marked(doc_str(d));
    if (d->type == DOC_NUMBER && doc_int64(d, &i))
        return cel_int(i);
    return CEL_ERROR_CONST(
        "invalid data, expected XIntOrString value to be either a string or integer");
}

/* The alphabet is that of URLs. */
static struct cel_value bytes_value(struct schema_convert *c, struct str text)
{
    static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                   "0123456789-_=\r\n";
    struct str bytes, plain = arena_str(&c->run.arena, text);
    size_t bad = 0;
    while (bad < text.n && text.p[bad] && strchr(alphabet, text.p[bad]))
        bad++;
    for (size_t i = 0; i < plain.n; i++) {
        char *p = (char *)&plain.p[i];
        *p = *p == '-' ? '+' : *p == '_' ? '/' : *p;
    }
    if (bad == text.n && text.n % 4) /* the padding is missing */
        bad = text.n / 4 * 4;
    if (bad == text.n && base64_decode(plain, &c->run.arena, &bytes))
        return cel_bytes(bytes);
    return cel_errorf(&c->run,
                      "Invalid byte formatted string %.*s: illegal base64 data at input "
                      "byte %zu",
                      STR_ARG(text), bad);
}

static struct cel_value string_value(struct schema_convert *c, const struct schema *s,
                                     const struct doc *d)
{
    struct str f = s->values->format, text;
    struct cel_value v;
    int64_t n;
    if (d->type != DOC_STRING)
        return cel_errorf(&c->run, "invalid data, expected string, got %s", go_type(d));
    text = doc_str(d);
    if (str_is(f, "byte"))
        return bytes_value(c, text);
    if (str_is(f, "duration"))
        return schema_duration(text, &n)
                   ? cel_duration(n)
                   : cel_errorf(&c->run,
                                "Invalid duration %.*s: unable to parse %.*s as duration",
                                STR_ARG(text), STR_ARG(text));
    if (str_is(f, "date"))
        return schema_date(text, &n)
                   ? cel_timestamp(n, 0)
                   : cel_errorf(&c->run, "Invalid date formatted string %.*s",
                                STR_ARG(text));
    if (str_is(f, "date-time"))
        return schema_date_time(text, &v)
                   ? v
                   : cel_errorf(&c->run, "Invalid date-time formatted string %.*s",
                                STR_ARG(text));
    return cel_string_marked(text);
}

static struct cel_value number_value(struct schema_convert *c, const struct schema *s,
                                     const struct doc *d)
{
    bool number = d->type == DOC_NUMBER;
    struct schema_number n = {0};
    if (number)
        n = schema_number_of(d);
    if (s->type == SCHEMA_NUMBER)
        return number ? cel_double(n.d)
                      : cel_errorf(&c->run, "invalid data, expected float, got %s",
                                   go_type(d));
    return n.whole
               ? cel_int(n.i)
               : cel_errorf(&c->run, "invalid data, expected int, got %s", go_type(d));
}

/* ---- Lists and maps ---- */

/* In front of the items of a keyed list stands the list of its keys' names. */
static struct cel_value list_value(struct schema_convert *c, const struct schema *s,
                                   const struct doc *d)
{
    struct arena *a = &c->run.arena;
    if (d->type != DOC_LIST)
        return CEL_ERROR_CONST(
            "invalid data, expected an array for the provided schema with type=array");
    if (!s->items)
        return CEL_ERROR_CONST(
            "invalid array type, expected Items with a non-empty Schema");
    struct cel_value *items = ARENA_ARRAY(a, struct cel_value, (size_t)d->n + 1);
    for (uint32_t i = 0; i < d->n; i++)
        items[i + 1] = convert(c, s->items, &d->items[i]);
    struct cel_value list = cel_list(items + 1, d->n);
    if (s->list_type == LIST_SET)
        list.aux2 = CEL_LIST_SET;
    if (s->list_type != LIST_MAP || !s->map_keys)
        return list;
    struct cel_value *keys = ARENA_ARRAY(a, struct cel_value, s->map_keys->n);
    for (uint32_t i = 0; i < s->map_keys->n; i++) {
        struct str name = doc_str(&s->map_keys->items[i]);
        api_cel_escape(name, a, &name);
        keys[i] = cel_string_marked(name);
    }
    items[0] = cel_list(keys, s->map_keys->n);
    list.aux2 = CEL_LIST_KEYED;
    return list;
}

/* Members that expressions do not see count when objects are compared: they have names
 * that no expression can write. */
static struct cel_entry hidden(struct schema_convert *c, struct str name,
                               const struct doc *d)
{
    struct str key = arena_printf(&c->run.arena, "\1%.*s", STR_ARG(name));
    return (struct cel_entry){cel_string(key), api_cel_value(d, &c->run)};
}

static bool entry_of(struct schema_convert *c, const struct schema *s,
                     const struct doc_member *m, struct cel_entry *out)
{
    struct str name = doc_key(m);
    const struct schema *p = s->has_props ? schema_prop(s, name) : s->extra;
    if (s->has_props && m->value.type == DOC_NULL)
        return false;
    if (!p) {
        *out = hidden(c, name, &m->value);
        return true;
    }
    if (s->has_props)
        api_cel_escape(name, &c->run.arena, &name);
    *out = (struct cel_entry){cel_string_marked(name), convert(c, p, &m->value)};
    return true;
}

static struct cel_value map_value(struct schema_convert *c, const struct schema *s,
                                  const struct doc *d)
{
    uint32_t n = 0;
    if (d->type != DOC_MAP)
        return CEL_ERROR_CONST(
            "invalid data, expected a map for the provided schema with type=object");
    struct cel_entry *entries = ARENA_ARRAY(&c->run.arena, struct cel_entry, d->n);
    for (uint32_t i = 0; i < d->n; i++)
        n += entry_of(c, s, &d->members[i], &entries[n]);
    return cel_map_make(&c->run, entries, n);
}

/* ---- */

static struct cel_value by_type(struct schema_convert *c, const struct schema *s,
                                const struct doc *d)
{
    switch (s->type) {
    case SCHEMA_OBJECT:
        return map_value(c, s->as_resource ? s->as_resource : s, d);
    case SCHEMA_ARRAY:
        return list_value(c, s, d);
    case SCHEMA_STRING:
        return string_value(c, s, d);
    case SCHEMA_NUMBER:
    case SCHEMA_INTEGER:
        return number_value(c, s, d);
    case SCHEMA_BOOLEAN:
        return d->type == DOC_BOOL
                   ? cel_bool(d->b)
                   : cel_errorf(&c->run, "invalid data, expected bool, got %s",
                                go_type(d));
    default:
        return api_cel_value(d, &c->run);
    }
}

static struct strmap_entry *seen_at(struct schema_convert *c, const struct doc *d,
                                    bool *made)
{
    const struct doc **key = ARENA_NEW(&c->run.arena, const struct doc *);
    *key = d;
    return strmap_put(&c->seen, (struct str){(const char *)key, sizeof *key}, made);
}

static struct cel_value convert(struct schema_convert *c, const struct schema *s,
                                const struct doc *d)
{
    bool made;
    if (d->type == DOC_NULL)
        return s->nullable ? cel_null()
                           : CEL_ERROR_CONST(
                                 "invalid data, got null for schema with nullable=false");
    struct cel_value v = s->int_or_string ? int_or_string(c, d) : by_type(c, s, d);
    if (!s->nrules)
        return v;
    struct cel_value *kept = ARENA_NEW(&c->run.arena, struct cel_value);
    *kept = v;
    seen_at(c, d, &made)->value.ptr = kept;
    return v;
}

const struct cel_value *schema_convert(struct schema_convert *c, const struct schema *s,
                                       const struct doc *d)
{
    bool made;
    struct strmap_entry *e = seen_at(c, d, &made);
    if (!made)
        return e->value.ptr;
    struct cel_value *v = ARENA_NEW(&c->run.arena, struct cel_value);
    *v = convert(c, s, d);
    seen_at(c, d, &made)->value.ptr = v;
    return v;
}
