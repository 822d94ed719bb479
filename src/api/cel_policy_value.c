/* SPDX-License-Identifier: Apache-2.0 */
/* What expressions made, as documents. */
#include "api/cel_policy_inner.h"

#include "base/base64.h"
#include "cel/record.h"
#include "cel/time.h"

/* ---- Documents ---- */

static struct doc number(struct str text, struct arena *a)
{
    struct doc d = doc_make_string(a, text);
    d.type = DOC_NUMBER;
    return d;
}

static struct doc text_doc(struct cel_value v, struct arena *a)
{
    struct strbuf b = STRBUF_INIT;
    if (v.kind == CEL_TIMESTAMP)
        cel_print_rfc3339(v, &b);
    else if (v.kind == CEL_DURATION)
        cel_print_seconds(v.i, &b);
    else if (v.kind == CEL_BYTES)
        strbuf_addstr(&b, base64_encode(cel_str(v), a));
    else
        cel_print_double(v.d, &b);
    struct doc d = v.kind == CEL_DOUBLE ? number(strbuf_str(&b), a)
                                        : doc_make_string(a, strbuf_str(&b));
    strbuf_release(&b);
    return d;
}

static bool list_doc(struct cel_value v, struct arena *a, struct doc *out,
                     struct str *why)
{
    *out = doc_make_list();
    for (uint32_t i = 0; i < v.len; i++) {
        struct doc item;
        if (!policy_value_doc(v.items[i], a, &item, why))
            return false;
        doc_append(a, out, item);
    }
    return true;
}

static bool map_doc(struct cel_value v, struct arena *a, struct doc *out, struct str *why)
{
    *out = doc_make_map();
    for (uint32_t i = 0; i < v.map->n; i++) {
        struct cel_value key = v.map->entries[i].key;
        struct doc item;
        if (key.kind != CEL_STRING) {
            struct strbuf b = STRBUF_INIT;
            cel_print_go(key, &b);
            *why = arena_printf(a, "map key \"%s\" is of type %s, not string",
                                strbuf_cstr(&b), cel_kind_go_name(key));
            strbuf_release(&b);
            return false;
        }
        if (!policy_value_doc(v.map->entries[i].value, a, &item, why))
            return false;
        doc_set_str(a, out, cel_str(key), item);
    }
    return true;
}

static bool record_doc(const struct cel_record *r, struct arena *a, struct doc *out,
                       struct str *why)
{
    *out = doc_make_map();
    for (uint32_t i = 0; i < r->n; i++) {
        struct doc item;
        if (!policy_value_doc(r->fields[i].value, a, &item, why)) {
            *why = arena_printf(a, "fail to convert field \"%.*s\": %.*s",
                                STR_ARG(r->fields[i].name), STR_ARG(*why));
            return false;
        }
        doc_set_str(a, out, r->fields[i].name, item);
    }
    return true;
}

static bool object_doc(struct cel_value v, struct arena *a, struct doc *out,
                       struct str *why)
{
    const struct cel_record *r = cel_record_of(v);
    if (r)
        return record_doc(r, a, out, why);
    *why = arena_printf(a, "unable to convert %s", cel_kind_name(v));
    return false;
}

bool policy_value_doc(struct cel_value v, struct arena *a, struct doc *out,
                      struct str *why)
{
    switch (v.kind) {
    case CEL_NULL:
        *out = doc_make_null();
        return true;
    case CEL_BOOL:
        *out = doc_make_bool(v.b);
        return true;
    case CEL_INT:
        *out = doc_make_int(a, v.i);
        return true;
    case CEL_UINT:
        *out = v.u <= INT64_MAX
                   ? doc_make_int(a, v.i)
                   : doc_make_string(a, arena_printf(a, "%llu", (unsigned long long)v.u));
        return true;
    case CEL_STRING:
        *out = doc_make_string(a, cel_str(v));
        return true;
    case CEL_DOUBLE:
    case CEL_BYTES:
    case CEL_DURATION:
    case CEL_TIMESTAMP:
        *out = text_doc(v, a);
        return true;
    case CEL_LIST:
        return list_doc(v, a, out, why);
    case CEL_MAP:
        return map_doc(v, a, out, why);
    case CEL_OPTIONAL:
        if (v.optional)
            return policy_value_doc(*v.optional, a, out, why);
        *why = STR("optional.none() dereference");
        return false;
    default:
        return object_doc(v, a, out, why);
    }
}

/* ---- The types of objects ---- */

struct naming {
    struct arena *a;
    struct strbuf wrong;
};

static void check_names(struct naming *n, struct cel_value v, struct str path);

static void check_record(struct naming *n, const struct cel_record *r, struct str path)
{
    struct str name = str_from(r->object.type->name);
    if (!str_eq(name, path))
        strbuf_addf(&n->wrong,
                    "%sunexpected type name \"%.*s\", expected \"%.*s\", which matches "
                    "field name path from root Object type",
                    n->wrong.n ? "\n" : "", STR_ARG(name), STR_ARG(path));
    for (uint32_t i = 0; i < r->n; i++)
        check_names(
            n, r->fields[i].value,
            arena_printf(n->a, "%.*s.%.*s", STR_ARG(path), STR_ARG(r->fields[i].name)));
}

/* Lists and maps have no names of their own. */
static void check_names(struct naming *n, struct cel_value v, struct str path)
{
    const struct cel_record *r = cel_record_of(v);
    if (r)
        check_record(n, r, path);
    for (uint32_t i = 0; v.kind == CEL_LIST && i < v.len; i++)
        check_names(n, v.items[i], path);
    for (uint32_t i = 0; v.kind == CEL_MAP && i < v.map->n; i++)
        check_names(n, v.map->entries[i].value, path);
}

bool policy_object_check(struct cel_value v, struct arena *a, struct str *why)
{
    struct naming n = {.a = a};
    const struct cel_record *r = cel_record_of(v);
    check_names(&n, v, r ? str_from(r->object.type->name) : STR(""));
    bool ok = n.wrong.n == 0;
    if (!ok)
        *why = arena_str(a, strbuf_str(&n.wrong));
    strbuf_release(&n.wrong);
    return ok;
}
