/* SPDX-License-Identifier: Apache-2.0 */
#include "cel/type.h"

#include <assert.h>

#define SIMPLE(k)                                                                        \
    {                                                                                    \
        .kind = (k), .weight = 1                                                         \
    }

const struct cel_type cel_type_error = SIMPLE(CEL_T_ERROR);
const struct cel_type cel_type_dyn = SIMPLE(CEL_T_DYN);
const struct cel_type cel_type_any = SIMPLE(CEL_T_ANY);
const struct cel_type cel_type_null = SIMPLE(CEL_T_NULL);
const struct cel_type cel_type_bool = SIMPLE(CEL_T_BOOL);
const struct cel_type cel_type_int = SIMPLE(CEL_T_INT);
const struct cel_type cel_type_uint = SIMPLE(CEL_T_UINT);
const struct cel_type cel_type_double = SIMPLE(CEL_T_DOUBLE);
const struct cel_type cel_type_string = SIMPLE(CEL_T_STRING);
const struct cel_type cel_type_bytes = SIMPLE(CEL_T_BYTES);
const struct cel_type cel_type_duration = SIMPLE(CEL_T_DURATION);
const struct cel_type cel_type_timestamp = SIMPLE(CEL_T_TIMESTAMP);
const struct cel_type cel_type_type = SIMPLE(CEL_T_TYPE);

static const struct cel_type *const dyn_params[] = {&cel_type_dyn, &cel_type_dyn};
const struct cel_type cel_type_list_dyn = {
    .kind = CEL_T_LIST, .nparams = 1, .weight = 2, .params = dyn_params};
const struct cel_type cel_type_map_dyn = {
    .kind = CEL_T_MAP, .nparams = 2, .weight = 3, .params = dyn_params};

/* One row a kind that has a name of its own: the full name is what cel_type_print writes,
 * the short one what error texts use. */
struct kind_name {
    const char *full, *brief;
    const struct cel_type *type; /* NULL: takes parameters */
};

static const struct kind_name kinds[] = {
    [CEL_T_ERROR] = {"error", "!error!", &cel_type_error},
    [CEL_T_DYN] = {"dyn", "dyn", &cel_type_dyn},
    [CEL_T_ANY] = {"google.protobuf.Any", "any", &cel_type_any},
    [CEL_T_NULL] = {"null_type", "null", &cel_type_null},
    [CEL_T_BOOL] = {"bool", "bool", &cel_type_bool},
    [CEL_T_INT] = {"int", "int", &cel_type_int},
    [CEL_T_UINT] = {"uint", "uint", &cel_type_uint},
    [CEL_T_DOUBLE] = {"double", "double", &cel_type_double},
    [CEL_T_STRING] = {"string", "string", &cel_type_string},
    [CEL_T_BYTES] = {"bytes", "bytes", &cel_type_bytes},
    [CEL_T_DURATION] = {"google.protobuf.Duration", "duration", &cel_type_duration},
    [CEL_T_TIMESTAMP] = {"google.protobuf.Timestamp", "timestamp", &cel_type_timestamp},
    [CEL_T_LIST] = {"list", "list", NULL},
    [CEL_T_MAP] = {"map", "map", NULL},
    [CEL_T_TYPE] = {"type", "type", &cel_type_type},
    [CEL_T_PARAM] = {NULL, NULL, NULL},
    [CEL_T_OPAQUE] = {NULL, NULL, NULL},
    [CEL_T_OBJECT] = {NULL, NULL, NULL},
    [CEL_T_WRAPPER] = {"wrapper", "wrapper", NULL},
};

enum { NKINDS = sizeof kinds / sizeof *kinds };

static uint32_t weight_of(const struct cel_type *t)
{
    return t->weight ? t->weight : 1;
}

static const struct cel_type *compose(struct arena *a, enum cel_type_kind kind,
                                      const char *name,
                                      const struct cel_type *const *params, unsigned n)
{
    assert(n <= CEL_TYPE_PARAMS);
    struct cel_type *t = arena_alloc(a, sizeof *t + n * sizeof *params);
    const struct cel_type **copy = (const struct cel_type **)(t + 1);
    uint32_t weight = 1;
    *t = (struct cel_type){.kind = (uint8_t)kind, .nparams = (uint8_t)n, .name = name};
    for (unsigned i = 0; i < n; i++) {
        copy[i] = params[i];
        weight += weight_of(params[i]);
        t->var |= params[i]->var != 0;
    }
    t->weight = (uint16_t)(weight < UINT16_MAX ? weight : UINT16_MAX);
    t->params = copy;
    return t;
}

const struct cel_type *cel_type_list(struct arena *a, const struct cel_type *elem)
{
    if (elem->kind == CEL_T_DYN)
        return &cel_type_list_dyn;
    return compose(a, CEL_T_LIST, NULL, &elem, 1);
}

const struct cel_type *cel_type_map(struct arena *a, const struct cel_type *key,
                                    const struct cel_type *value)
{
    const struct cel_type *params[] = {key, value};
    if (key->kind == CEL_T_DYN && value->kind == CEL_T_DYN)
        return &cel_type_map_dyn;
    return compose(a, CEL_T_MAP, NULL, params, 2);
}

const struct cel_type *cel_type_of(struct arena *a, const struct cel_type *t)
{
    return compose(a, CEL_T_TYPE, NULL, &t, 1);
}

const struct cel_type *cel_type_opaque(struct arena *a, const char *name,
                                       const struct cel_type *const *params, unsigned n)
{
    return compose(a, CEL_T_OPAQUE, name, params, n);
}

static const char optional_name[] = "optional_type";

const struct cel_type *cel_type_optional(struct arena *a, const struct cel_type *t)
{
    return compose(a, CEL_T_OPAQUE, optional_name, &t, 1);
}

/* The variables of most expressions: these types are the same everywhere. */
#define V(n)                                                                             \
    {                                                                                    \
        .kind = CEL_T_PARAM, .weight = 1, .var = (n)                                     \
    }
#define V4(n) V(n), V((n) + 1), V((n) + 2), V((n) + 3)
static const struct cel_type first_vars[] = {V4(0), V4(4), V4(8), V4(12)};
#undef V4
#undef V

const struct cel_type *cel_type_param(struct arena *a, const char *name, uint32_t var)
{
    if (!name && var < sizeof first_vars / sizeof *first_vars)
        return &first_vars[var];
    struct cel_type *t = arena_alloc(a, sizeof *t);
    *t = (struct cel_type){.kind = CEL_T_PARAM, .weight = 1, .name = name, .var = var};
    return t;
}

const struct cel_type *cel_type_object(struct arena *a, const struct cel_object_type *o)
{
    struct cel_type *t = arena_alloc(a, sizeof *t);
    *t = (struct cel_type){
        .kind = CEL_T_OBJECT, .weight = 1, .name = o->name, .object = o};
    return t;
}

const struct cel_type *cel_type_wrapper(struct arena *a, const struct cel_type *scalar)
{
    return compose(a, CEL_T_WRAPPER, NULL, &scalar, 1);
}

static bool names_equal(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

bool cel_type_is_optional(const struct cel_type *t)
{
    return t->kind == CEL_T_OPAQUE && names_equal(t->name, optional_name);
}

bool cel_type_equal(const struct cel_type *a, const struct cel_type *b)
{
    if (a == b)
        return true;
    if (a->kind != b->kind || a->nparams != b->nparams || !names_equal(a->name, b->name))
        return false;
    if (a->kind == CEL_T_PARAM)
        return a->var == b->var;
    for (unsigned i = 0; i < a->nparams; i++)
        if (!cel_type_equal(a->params[i], b->params[i]))
            return false;
    return true;
}

const char *cel_type_name(const struct cel_type *t)
{
    if (t->kind == CEL_T_WRAPPER)
        return cel_type_name(t->params[0]);
    return kinds[t->kind].full ? kinds[t->kind].full : t->name;
}

/* ---- Printing ---- */

static void print(const struct cel_type *t, bool brief, struct strbuf *out)
{
    if (t->kind == CEL_T_PARAM) {
        const char *open = brief ? "" : "<", *close = brief ? "" : ">";
        if (t->name)
            strbuf_addf(out, "%s%s%s", open, t->name, close);
        else
            strbuf_addf(out, "%s_var%u%s", open, t->var - 1, close);
        return;
    }
    const char *name = brief ? kinds[t->kind].brief : kinds[t->kind].full;
    strbuf_adds(out, name ? name : t->name);
    for (unsigned i = 0; i < t->nparams; i++) {
        strbuf_adds(out, i ? ", " : "(");
        print(t->params[i], brief, out);
    }
    if (t->nparams)
        strbuf_addc(out, ')');
}

void cel_type_print(const struct cel_type *t, struct strbuf *out)
{
    print(t, false, out);
}

void cel_type_print_short(const struct cel_type *t, struct strbuf *out)
{
    print(t, true, out);
}

/* ---- Parsing ---- */

enum { MAX_DEPTH = 32 };

struct reader {
    struct arena *a;
    struct str s;
    size_t i;
    unsigned depth;
    const struct cel_type *vars[CEL_TYPE_PARAMS]; /* type parameters seen */
    unsigned nvars;
};

static void skip_space(struct reader *r)
{
    while (r->i < r->s.n && r->s.p[r->i] == ' ')
        r->i++;
}

static bool take(struct reader *r, char c)
{
    skip_space(r);
    if (r->i >= r->s.n || r->s.p[r->i] != c)
        return false;
    r->i++;
    return true;
}

static bool take_arrow(struct reader *r)
{
    skip_space(r);
    if (!str_starts(str_sub(r->s, r->i, r->s.n), STR("->")))
        return false;
    r->i += 2;
    return true;
}

static struct str take_name(struct reader *r)
{
    skip_space(r);
    size_t from = r->i;
    while (r->i < r->s.n && !strchr("(), <>", r->s.p[r->i]))
        r->i++;
    return str_sub(r->s, from, r->i);
}

static const struct cel_type *read_param(struct reader *r)
{
    struct str name = take_name(r);
    if (name.n == 0 || !take(r, '>'))
        return NULL;
    for (unsigned i = 0; i < r->nvars; i++)
        if (str_is(name, r->vars[i]->name))
            return r->vars[i];
    if (r->nvars == CEL_TYPE_PARAMS)
        return NULL;
    const char *copy = arena_str(r->a, name).p;
    const struct cel_type *t = cel_type_param(r->a, copy, r->nvars + 1);
    return r->vars[r->nvars++] = t;
}

static const struct cel_type *make(struct reader *r, struct str name,
                                   const struct cel_type *const *params, unsigned n)
{
    if (n == 0) {
        for (unsigned k = 0; k < NKINDS; k++)
            if (kinds[k].type &&
                (str_is(name, kinds[k].full) || str_is(name, kinds[k].brief)))
                return kinds[k].type;
    } else if (str_is(name, "list")) {
        return n == 1 ? cel_type_list(r->a, params[0]) : NULL;
    } else if (str_is(name, "map")) {
        return n == 2 ? cel_type_map(r->a, params[0], params[1]) : NULL;
    } else if (str_is(name, "type")) {
        return n == 1 ? cel_type_of(r->a, params[0]) : NULL;
    } else if (str_is(name, "wrapper")) {
        return n == 1 ? cel_type_wrapper(r->a, params[0]) : NULL;
    }
    return cel_type_opaque(r->a, arena_str(r->a, name).p, params, n);
}

static const struct cel_type *read_type(struct reader *r);

/* "a, b, c" up to ")", which is taken too. */
static bool read_list(struct reader *r, const struct cel_type **out, unsigned *n)
{
    *n = 0;
    if (take(r, ')'))
        return true;
    do {
        if (*n == CEL_TYPE_PARAMS || !(out[*n] = read_type(r)))
            return false;
        ++*n;
    } while (take(r, ','));
    return take(r, ')');
}

static const struct cel_type *read_type(struct reader *r)
{
    const struct cel_type *params[CEL_TYPE_PARAMS];
    unsigned n = 0;
    if (r->depth == MAX_DEPTH)
        return NULL;
    if (take(r, '<'))
        return read_param(r);
    struct str name = take_name(r);
    if (name.n == 0)
        return NULL;
    if (r->i < r->s.n && r->s.p[r->i] == '(') {
        r->i++;
        r->depth++;
        if (!read_list(r, params, &n) || n == 0)
            return NULL;
        r->depth--;
    }
    return make(r, name, params, n);
}

static bool at_end(struct reader *r)
{
    skip_space(r);
    return r->i == r->s.n;
}

const struct cel_type *cel_type_parse(struct arena *a, struct str text)
{
    struct reader r = {.a = a, .s = text};
    const struct cel_type *t = read_type(&r);
    return t && at_end(&r) ? t : NULL;
}

bool cel_signature_parse(struct arena *a, struct str text, struct cel_signature *out)
{
    struct reader r = {.a = a, .s = text};
    const struct cel_type *args[CEL_TYPE_PARAMS], *result;
    unsigned n;
    if (!take(&r, '(') || !read_list(&r, args, &n) || !take_arrow(&r) ||
        !(result = read_type(&r)) || !at_end(&r))
        return false;
    const struct cel_type **copy = ARENA_ARRAY(a, const struct cel_type *, n);
    if (n)
        memcpy(copy, args, n * sizeof *copy);
    *out = (struct cel_signature){copy, result, n, r.nvars};
    return true;
}
