/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The public conformance suite of CEL: every test in an environment of its own, with the
 * suite's extensions and none of Kubernetes' rules. Tests that need a message type are
 * named in cel-spec-skipped.
 */
#include "golden/golden.h"

#include <math.h>
#include <stdlib.h>

#include "base/map.h"
#include "base/vec.h"
#include "cel/cel.h"
#include "golden/lists.h"
#include "golden/textproto.h"

static const struct cel_lib *const libs[] = {
    &cel_lib_standard, &cel_lib_optional,       &cel_lib_bindings,
    &cel_lib_two_var,  &cel_lib_strings_latest, &cel_lib_math,
    &cel_lib_encoders, &cel_lib_block,          &cel_lib_network,
};

enum { LIBS = sizeof libs / sizeof *libs };

struct suite {
    struct strmap skipped; /* value: seen */
    struct cel_env *plain; /* of tests that declare nothing */
};

/* ---- Types ---- */

static const char *const primitives[][2] = {
    {"BOOL", "bool"},     {"INT64", "int"},     {"UINT64", "uint"},
    {"DOUBLE", "double"}, {"STRING", "string"}, {"BYTES", "bytes"},
};

static const char *const well_known[][2] = {
    {"ANY", "google.protobuf.Any"},
    {"TIMESTAMP", "google.protobuf.Timestamp"},
    {"DURATION", "google.protobuf.Duration"},
};

static const char *renamed(struct str name, const char *const (*table)[2], size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (str_is(name, table[i][0]))
            return table[i][1];
    return "error";
}

#define RENAMED(name, table) renamed((name), (table), sizeof(table) / sizeof *(table))

static void write_type(const struct tp_message *m, struct strbuf *out);
/* The type of a message that is a value of the language, else its own name. */
static struct str message_type(struct str name);

static void write_list(const struct tp_message *m, struct strbuf *out)
{
    strbuf_adds(out, "list(");
    write_type(tp_message(m, "elem_type"), out);
    strbuf_addc(out, ')');
}

static void write_map(const struct tp_message *m, struct strbuf *out)
{
    strbuf_adds(out, "map(");
    write_type(tp_message(m, "key_type"), out);
    strbuf_adds(out, ", ");
    write_type(tp_message(m, "value_type"), out);
    strbuf_addc(out, ')');
}

static void write_abstract(const struct tp_message *m, struct strbuf *out)
{
    const char *sep = "(";
    strbuf_addstr(out, tp_text(m, "name"));
    tp_each(m, "parameter_types", f)
    {
        strbuf_adds(out, sep);
        write_type(f->message, out);
        sep = ", ";
    }
    if (*sep == ',')
        strbuf_addc(out, ')');
}

/* A Type message in the notation of cel_type_parse. */
static void write_type(const struct tp_message *m, struct strbuf *out)
{
    const struct tp_field *f = m ? m->first : NULL;
    if (!f || str_is(f->name, "dyn"))
        strbuf_adds(out, "dyn");
    else if (str_is(f->name, "primitive"))
        strbuf_adds(out, RENAMED(f->text, primitives));
    else if (str_is(f->name, "wrapper"))
        strbuf_addf(out, "wrapper(%s)", RENAMED(f->text, primitives));
    else if (str_is(f->name, "well_known"))
        strbuf_adds(out, RENAMED(f->text, well_known));
    else if (str_is(f->name, "list_type"))
        write_list(f->message, out);
    else if (str_is(f->name, "map_type"))
        write_map(f->message, out);
    else if (str_is(f->name, "abstract_type"))
        write_abstract(f->message, out);
    else if (str_is(f->name, "type_param"))
        strbuf_addf(out, "<%.*s>", STR_ARG(f->text));
    else if (str_is(f->name, "null"))
        strbuf_adds(out, "null_type");
    else if (str_is(f->name, "message_type"))
        strbuf_addstr(out, message_type(f->text));
    else if (str_is(f->name, "type")) {
        strbuf_adds(out, "type(");
        write_type(f->message, out);
        strbuf_addc(out, ')');
    } else
        strbuf_adds(out, "error");
}

static const char *type_text(const struct tp_message *m, struct arena *a)
{
    struct strbuf b = STRBUF_INIT;
    write_type(m, &b);
    struct str text = arena_str(a, strbuf_str(&b));
    strbuf_release(&b);
    return text.p;
}

/* ---- Values ---- */

static bool read_value(const struct tp_message *m, struct arena *a,
                       struct cel_value *out);

static double read_double(struct str s)
{
    if (str_is(s, "nan"))
        return NAN;
    if (str_is(s, "inf") || str_is(s, "infinity"))
        return INFINITY;
    if (str_is(s, "-inf") || str_is(s, "-infinity"))
        return -INFINITY;
    return strtod(s.p, NULL);
}

static bool read_list_value(const struct tp_message *m, struct arena *a,
                            struct cel_value *out)
{
    uint32_t n = 0;
    tp_each(m, "values", f) n++;
    struct cel_value *items = ARENA_ARRAY(a, struct cel_value, n);
    n = 0;
    tp_each(m, "values", f) if (!read_value(f->message, a, &items[n++])) return false;
    *out = cel_list(items, n);
    return true;
}

static bool read_map_value(const struct tp_message *m, struct arena *a,
                           struct cel_value *out)
{
    uint32_t n = 0;
    tp_each(m, "entries", f) n++;
    struct cel_map *map = ARENA_NEW(a, struct cel_map);
    map->entries = ARENA_ARRAY(a, struct cel_entry, n);
    tp_each(m, "entries", f)
    {
        struct cel_entry *entry = &map->entries[map->n++];
        if (!read_value(tp_message(f->message, "key"), a, &entry->key) ||
            !read_value(tp_message(f->message, "value"), a, &entry->value))
            return false;
    }
    *out = cel_map_value(map);
    return true;
}

/* The messages that are values of the language; others are none of ours. */
typedef bool message_fn(const struct tp_message *m, struct arena *a,
                        struct cel_value *out);

static int64_t int_field(const struct tp_message *m, const char *name)
{
    struct str s = tp_text(m, name);
    return s.n ? strtoll(s.p, NULL, 10) : 0;
}

static bool read_duration(const struct tp_message *m, struct arena *a,
                          struct cel_value *out)
{
    *out = cel_duration(int_field(m, "seconds") * 1000000000 + int_field(m, "nanos"));
    return true;
}

static bool read_timestamp(const struct tp_message *m, struct arena *a,
                           struct cel_value *out)
{
    *out = cel_timestamp(int_field(m, "seconds"), (uint32_t)int_field(m, "nanos"));
    return true;
}

static bool read_bool(const struct tp_message *m, struct arena *a, struct cel_value *out)
{
    *out = cel_bool(tp_flag(m, "value"));
    return true;
}

static bool read_int(const struct tp_message *m, struct arena *a, struct cel_value *out)
{
    *out = cel_int(int_field(m, "value"));
    return true;
}

static bool read_uint(const struct tp_message *m, struct arena *a, struct cel_value *out)
{
    struct str s = tp_text(m, "value");
    *out = cel_uint(s.n ? strtoull(s.p, NULL, 10) : 0);
    return true;
}

static bool read_number(const struct tp_message *m, struct arena *a,
                        struct cel_value *out)
{
    struct str s = tp_text(m, "value");
    *out = cel_double(s.n ? read_double(s) : 0);
    return true;
}

static bool read_string(const struct tp_message *m, struct arena *a,
                        struct cel_value *out)
{
    *out = cel_string(tp_text(m, "value"));
    return true;
}

static bool read_bytes(const struct tp_message *m, struct arena *a, struct cel_value *out)
{
    *out = cel_bytes(tp_text(m, "value"));
    return true;
}

static bool read_json(const struct tp_message *m, struct arena *a, struct cel_value *out);

static bool read_json_list(const struct tp_message *m, struct arena *a,
                           struct cel_value *out)
{
    uint32_t n = 0;
    tp_each(m, "values", f) n++;
    struct cel_value *items = ARENA_ARRAY(a, struct cel_value, n);
    n = 0;
    tp_each(m, "values", f) read_json(f->message, a, &items[n++]);
    *out = cel_list(items, n);
    return true;
}

static bool read_json_struct(const struct tp_message *m, struct arena *a,
                             struct cel_value *out)
{
    uint32_t n = 0;
    tp_each(m, "fields", f) n++;
    struct cel_map *map = ARENA_NEW(a, struct cel_map);
    map->entries = ARENA_ARRAY(a, struct cel_entry, n);
    tp_each(m, "fields", f)
    {
        struct cel_entry *entry = &map->entries[map->n++];
        entry->key = cel_string(tp_text(f->message, "key"));
        read_json(tp_message(f->message, "value"), a, &entry->value);
    }
    *out = cel_map_value(map);
    return true;
}

static bool read_json(const struct tp_message *m, struct arena *a, struct cel_value *out)
{
    const struct tp_field *f = m ? m->first : NULL;
    *out = cel_null();
    if (!f || str_is(f->name, "null_value"))
        return true;
    if (str_is(f->name, "struct_value"))
        return read_json_struct(f->message, a, out);
    if (str_is(f->name, "list_value"))
        return read_json_list(f->message, a, out);
    if (str_is(f->name, "number_value"))
        *out = cel_double(read_double(f->text));
    else if (str_is(f->name, "string_value"))
        *out = cel_string(f->text);
    else
        *out = cel_bool(str_is(f->text, "true"));
    return true;
}

static const struct {
    const char *name;
    const char *type; /* as cel_type_parse reads it */
    message_fn *read;
} messages[] = {
    {"google.protobuf.BoolValue", "wrapper(bool)", read_bool},
    {"google.protobuf.BytesValue", "wrapper(bytes)", read_bytes},
    {"google.protobuf.DoubleValue", "wrapper(double)", read_number},
    {"google.protobuf.Duration", "google.protobuf.Duration", read_duration},
    {"google.protobuf.FloatValue", "wrapper(double)", read_number},
    {"google.protobuf.Int32Value", "wrapper(int)", read_int},
    {"google.protobuf.Int64Value", "wrapper(int)", read_int},
    {"google.protobuf.ListValue", "list(dyn)", read_json_list},
    {"google.protobuf.StringValue", "wrapper(string)", read_string},
    {"google.protobuf.Struct", "map(string, dyn)", read_json_struct},
    {"google.protobuf.Timestamp", "google.protobuf.Timestamp", read_timestamp},
    {"google.protobuf.UInt32Value", "wrapper(uint)", read_uint},
    {"google.protobuf.UInt64Value", "wrapper(uint)", read_uint},
    {"google.protobuf.Value", "dyn", read_json},
};

enum { MESSAGES = sizeof messages / sizeof *messages };

/* name may be a URL that ends with "/" and the name. */
static size_t message_find(struct str name)
{
    for (size_t slash; (slash = str_find_byte(name, '/', 0)) != SIZE_MAX;)
        name = str_sub(name, slash + 1, name.n);
    size_t i = 0;
    while (i < MESSAGES && !str_is(name, messages[i].name))
        i++;
    return i;
}

static struct str message_type(struct str name)
{
    size_t i = message_find(name);
    return i < MESSAGES ? str_from(messages[i].type) : name;
}

static bool read_object(const struct tp_message *m, struct arena *a,
                        struct cel_value *out)
{
    const struct tp_field *f = m ? m->first : NULL;
    size_t i = f ? message_find(f->name) : MESSAGES;
    return i < MESSAGES && messages[i].read(f->message, a, out);
}

static const struct cel_type *named_type(struct str name, struct arena *a)
{
    const struct cel_type *t = cel_type_parse(a, name);
    return t ? t : cel_type_opaque(a, name.p, NULL, 0);
}

static bool read_value(const struct tp_message *m, struct arena *a, struct cel_value *out)
{
    const struct tp_field *f = m ? m->first : NULL;
    if (!f)
        return false;
    if (str_is(f->name, "null_value"))
        *out = cel_null();
    else if (str_is(f->name, "bool_value"))
        *out = cel_bool(str_is(f->text, "true"));
    else if (str_is(f->name, "int64_value"))
        *out = cel_int(strtoll(f->text.p, NULL, 0));
    else if (str_is(f->name, "uint64_value"))
        *out = cel_uint(strtoull(f->text.p, NULL, 0));
    else if (str_is(f->name, "double_value"))
        *out = cel_double(read_double(f->text));
    else if (str_is(f->name, "string_value"))
        *out = cel_string(f->text);
    else if (str_is(f->name, "bytes_value"))
        *out = cel_bytes(f->text);
    else if (str_is(f->name, "type_value"))
        *out = cel_type_value(named_type(f->text, a));
    else if (str_is(f->name, "list_value"))
        return read_list_value(f->message, a, out);
    else if (str_is(f->name, "map_value"))
        return read_map_value(f->message, a, out);
    else if (str_is(f->name, "object_value"))
        return read_object(f->message, a, out);
    else
        return false;
    return true;
}

/* ---- Equality: kind and value, maps without order ---- */

static bool same(struct cel_value a, struct cel_value b);

static bool same_lists(struct cel_value a, struct cel_value b)
{
    bool ok = a.len == b.len;
    for (uint32_t i = 0; ok && i < a.len; i++)
        ok = same(a.items[i], b.items[i]);
    return ok;
}

static bool same_maps(const struct cel_map *a, const struct cel_map *b)
{
    if (a->n != b->n)
        return false;
    for (uint32_t i = 0; i < a->n; i++) {
        uint32_t j = 0;
        while (j < b->n && !same(a->entries[i].key, b->entries[j].key))
            j++;
        if (j == b->n || !same(a->entries[i].value, b->entries[j].value))
            return false;
    }
    return true;
}

static bool same(struct cel_value a, struct cel_value b)
{
    if (a.kind != b.kind)
        return false;
    switch (a.kind) {
    case CEL_NULL:
        return true;
    case CEL_BOOL:
        return a.b == b.b;
    case CEL_DOUBLE:
        return a.d == b.d || (isnan(a.d) && isnan(b.d));
    case CEL_STRING:
    case CEL_BYTES:
        return str_eq(cel_str(a), cel_str(b));
    case CEL_LIST:
        return same_lists(a, b);
    case CEL_MAP:
        return same_maps(a.map, b.map);
    case CEL_TYPE:
        return strcmp(cel_type_name(a.type), cel_type_name(b.type)) == 0;
    case CEL_TIMESTAMP:
        return a.i == b.i && a.len == b.len;
    default:
        return a.i == b.i;
    }
}

static struct str value_text(struct cel_value v, struct arena *a)
{
    struct strbuf b = STRBUF_INIT;
    if (v.kind == CEL_ERROR)
        strbuf_addf(&b, "error: %.*s", STR_ARG(v.error->text));
    else
        strbuf_addf(&b, "%s ", cel_kind_name(v)), cel_print(v, &b);
    struct str text = arena_str(a, strbuf_str(&b));
    strbuf_release(&b);
    return text;
}

/* ---- Environments ---- */

struct setup {
    struct arena *arena;
    const struct tp_message *test;
    VEC(struct cel_var) vars;
    VEC(struct cel_overload) functions;
    bool no_macros;
};

static struct cel_var *add_var(struct setup *s, struct str name,
                               const struct cel_type *type)
{
    for (size_t i = 0; i < s->vars.n; i++)
        if (str_is(name, s->vars.v[i].name))
            return &s->vars.v[i];
    vec_push(&s->vars,
             (struct cel_var){.name = arena_str(s->arena, name).p, .type = type});
    return &s->vars.v[s->vars.n - 1];
}

static void add_overload(struct setup *s, struct str name, const struct tp_message *m)
{
    struct strbuf b = STRBUF_INIT;
    const char *sep = "";
    strbuf_addc(&b, '(');
    tp_each(m, "params", f)
    {
        strbuf_adds(&b, sep);
        write_type(f->message, &b);
        sep = ", ";
    }
    strbuf_adds(&b, ") -> ");
    write_type(tp_message(m, "result_type"), &b);
    vec_push(&s->functions,
             (struct cel_overload){.id = arena_str(s->arena, tp_text(m, "overload_id")).p,
                                   .function = arena_str(s->arena, name).p,
                                   .type = arena_str(s->arena, strbuf_str(&b)).p,
                                   .member = tp_flag(m, "is_instance_function")});
    strbuf_release(&b);
}

static void add_declarations(struct setup *s)
{
    tp_each(s->test, "type_env", f)
    {
        struct str name = tp_text(f->message, "name");
        const struct tp_message *ident = tp_message(f->message, "ident");
        if (ident)
            add_var(s, name,
                    cel_type_parse(s->arena, str_from(type_text(tp_message(ident, "type"),
                                                                s->arena))));
        tp_each(tp_message(f->message, "function"), "overloads", o)
            add_overload(s, name, o->message);
    }
    if (tp_flag(s->test, "disable_check"))
        tp_each(s->test, "bindings", f)
            add_var(s, tp_text(f->message, "key"), &cel_type_dyn);
    s->no_macros = tp_flag(s->test, "disable_macros");
}

/* What cel.index(N) stands for is checked as a variable of any type; within cel.block it
 * names a slot. */
static void add_block_slots(struct setup *s)
{
    if (!str_starts(tp_text(s->test, "expr"), STR("cel.block(")))
        return;
    for (unsigned i = 0; i < 30; i++)
        add_var(s, arena_printf(s->arena, "@index%u", i), &cel_type_dyn);
}

static struct cel_env *make_env(const struct setup *s, const char *container)
{
    struct cel_lib copies[LIBS];
    struct cel_env_lib rows[LIBS];
    for (size_t i = 0; i < LIBS; i++) {
        copies[i] = *libs[i];
        if (s->no_macros)
            copies[i].nmacros = 0;
        rows[i] = (struct cel_env_lib){.lib = &copies[i]};
    }
    const struct cel_env_opts opts = {
        .libs = rows,
        .nlibs = LIBS,
        .vars = s->vars.v,
        .nvars = (uint32_t)s->vars.n,
        .functions = s->functions.v,
        .nfunctions = (uint32_t)s->functions.n,
        .container = container,
        .flags = CEL_ENV_CROSS_NUMERIC | CEL_ENV_OPTIONAL_SYNTAX | CEL_ENV_BACKQUOTES |
                 CEL_ENV_STRICT_KEYS | CEL_ENV_STRICT_PRESENCE,
    };
    return cel_env_new(&opts);
}

/* Most tests share one: making an environment costs more than running a test. */
static struct cel_env *env_for(struct suite *suite, const struct setup *s)
{
    struct str container = tp_text(s->test, "container");
    if (s->vars.n || s->functions.n || s->no_macros || container.n)
        return make_env(s, container.n ? container.p : NULL);
    if (!suite->plain)
        suite->plain = make_env(s, NULL);
    return suite->plain;
}

/* ---- Running ---- */

/* In the order of the environment's variables; an unbound one is an error. */
static const void **bind(const struct setup *s, const struct cel_env *env,
                         struct cel_run *run)
{
    uint32_t n;
    const struct cel_var *vars = cel_env_vars(env, &n);
    const void **out = ARENA_ARRAY(s->arena, const void *, n + 1);
    for (uint32_t i = 0; i < n; i++) {
        struct cel_value *v = ARENA_NEW(s->arena, struct cel_value);
        *v = cel_errorf(run, "no such attribute(s): %s", vars[i].name);
        tp_each(s->test, "bindings", f)
        {
            const struct tp_message *value = tp_message(f->message, "value");
            if (str_is(tp_text(f->message, "key"), vars[i].name))
                read_value(tp_message(value, "value"), s->arena, v);
        }
        out[i] = v;
    }
    return out;
}

static struct cel_value evaluate(const struct setup *s, const struct cel_env *env,
                                 const struct cel_expr *x, struct cel_run *run)
{
    struct err e = ERR_INIT;
    const struct cel_program_opts opts = {.track_cost = true};
    struct cel_program *p = cel_program_new(env, x, &opts, &e);
    struct cel_value v;
    if (p)
        v = cel_dup(cel_eval(p, bind(s, env, run), run), s->arena);
    else
        v = cel_errorf(run, "%s", err_text(&e));
    cel_program_free(p);
    err_release(&e);
    return v;
}

/* The result, whatever the stage that an error came from. */
static struct cel_value run_test(const struct setup *s, const struct cel_env *env,
                                 struct cel_run *run, const struct cel_type **type)
{
    struct str text = tp_text(s->test, "expr");
    struct cel_issues issues = {0};
    bool unchecked = tp_flag(s->test, "disable_check");
    struct cel_expr *x = unchecked ? cel_parse(env, text, s->arena, &issues)
                                   : cel_compile(env, text, s->arena, &issues);
    if (!x) {
        struct strbuf b = STRBUF_INIT;
        cel_issues_print(&issues, text, &b);
        struct cel_value v = cel_errorf(run, "%s", strbuf_cstr(&b));
        strbuf_release(&b);
        return v;
    }
    *type = x->type;
    if (tp_flag(s->test, "check_only"))
        return cel_null();
    return evaluate(s, env, x, run);
}

static void check_value(struct golden_case *c, const struct tp_message *want,
                        struct cel_value got)
{
    struct cel_value v = cel_bool(true);
    if (want && !read_value(want, c->arena, &v)) {
        golden_fail(c, "the runner cannot read the value wanted");
        return;
    }
    struct str want_text = value_text(v, c->arena), got_text = value_text(got, c->arena);
    golden_check_str(c, "value", want_text, same(v, got) ? want_text : got_text);
}

static void check_type(struct golden_case *c, const struct tp_message *want,
                       const struct cel_type *type)
{
    struct strbuf b = STRBUF_INIT;
    const char *want_text = type_text(want, c->arena);
    const struct cel_type *t = cel_type_parse(c->arena, str_from(want_text));
    if (type)
        cel_type_print(type, &b);
    bool equal = type && t && cel_type_equal(t, type);
    golden_check_str(c, "type", str_from(want_text),
                     equal ? str_from(want_text) : strbuf_str(&b));
    strbuf_release(&b);
}

static void check_result(struct golden_case *c, const struct tp_message *test,
                         struct cel_value got, const struct cel_type *type)
{
    const struct tp_message *typed = tp_message(test, "typed_result");
    if (tp_field(test, "eval_error") || tp_field(test, "any_eval_errors")) {
        if (got.kind != CEL_ERROR)
            golden_fail(c, "no error, but %s", value_text(got, c->arena).p);
    } else if (typed) {
        if (tp_message(typed, "deduced_type"))
            check_type(c, tp_message(typed, "deduced_type"), type);
        if (!tp_flag(test, "check_only"))
            check_value(c, tp_message(typed, "result"), got);
    } else {
        check_value(c, tp_message(test, "value"), got);
    }
}

static void run_case(struct suite *suite, struct golden_case *c,
                     const struct tp_message *test)
{
    struct setup s = {.arena = c->arena, .test = test};
    add_declarations(&s);
    add_block_slots(&s);
    struct cel_env *env = env_for(suite, &s);
    struct cel_run run;
    cel_run_init(&run);
    const struct cel_type *type = NULL;
    struct cel_value v = run_test(&s, env, &run, &type);
    check_result(c, test, v, type);
    cel_run_fini(&run);
    if (env != suite->plain)
        cel_env_free(env);
    vec_release(&s.vars);
    vec_release(&s.functions);
}

/* ---- The folder ---- */

static bool is_skipped(struct suite *suite, const char *id)
{
    struct strmap_entry *entry = strmap_find(&suite->skipped, str_from(id));
    if (entry)
        entry->value.u = 1;
    return entry;
}

/* "basic/self_eval/name", and "#2" for the second of its name. */
static const char *case_id(const char *file, struct str section, struct str name,
                           struct strmap *names, struct arena *a)
{
    struct strmap_entry *entry = strmap_put(names, name, NULL);
    size_t stem = strlen(file) - strlen(".textproto");
    struct str id = arena_printf(a, "%.*s/%.*s/%.*s", (int)stem, file, STR_ARG(section),
                                 STR_ARG(name));
    if (++entry->value.u > 1)
        id = arena_printf(a, "%s#%lu", id.p, (unsigned long)entry->value.u);
    return id.p;
}

static void run_section(struct golden *g, const char *file,
                        const struct tp_message *section)
{
    struct suite *suite = g->data;
    struct strmap names = STRMAP_INIT;
    tp_each(section, "test", f)
    {
        const char *id = case_id(file, tp_text(section, "name"),
                                 tp_text(f->message, "name"), &names, g->arena);
        bool skipped = is_skipped(suite, id);
        struct golden_case *c = golden_begin(g, file, f->line, id);
        if (!c)
            continue;
        if (skipped)
            golden_skip(c, "needs a message type");
        else
            run_case(suite, c, f->message);
        golden_end(c);
    }
    strmap_release(&names);
}

static void run_file(struct golden *g, const char *file)
{
    struct err e = ERR_INIT;
    struct str text;
    if (!golden_read(g, file, g->arena, &text))
        return;
    const struct tp_message *m = tp_parse(text, g->arena, &e);
    if (!m)
        golden_broken(g, "%s: %s", file, err_text(&e));
    tp_each(m, "section", f) run_section(g, file, f->message);
    err_release(&e);
}

static void run_folder(struct golden *g)
{
    const char **files;
    size_t n = golden_files(g, ".textproto", &files);
    for (size_t i = 0; i < n; i++)
        run_file(g, files[i]);
    struct suite *suite = g->data;
    strmap_each(&suite->skipped, entry) if (!entry->value.u)
        golden_broken(g, "cel-spec-skipped: no such test: %.*s", STR_ARG(entry->key));
}

static bool begin(struct golden *g)
{
    struct suite *suite = ARENA_NEW(g->arena, struct suite);
    struct err e = ERR_INIT;
    struct str text, line;
    g->data = suite;
    if (!golden_slurp(DRAY_SOURCE_ROOT "/tests/golden/cel-spec-skipped", g->arena, &text,
                      &e)) {
        golden_broken(g, "%s", err_text(&e));
        err_release(&e);
        return false;
    }
    while (golden_next_line(&text, &line))
        if (line.n && line.p[0] != '#')
            strmap_put(&suite->skipped, line, NULL);
    return true;
}

static void end(struct golden *g)
{
    struct suite *suite = g->data;
    strmap_release(&suite->skipped);
    cel_env_free(suite->plain);
}

const struct golden_runner golden_cel_spec = {
    .folder = "cel-spec", .begin = begin, .run_folder = run_folder, .end = end};
