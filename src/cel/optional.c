/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Optional values, the library in its latest version. or() and orValue() are code of the
 * planner, as are .?field and [?index].
 */
#include "cel/cel.h"
#include "cel/lib.h"
#include "cel/macros.h"
#include "cel/time.h"

static struct cel_value of(struct cel_run *run, const struct cel_value *args, unsigned n)
{
    return cel_optional_of(run, args[0]);
}

/* Kinds without a notion of zero are never zero. */
static bool is_zero(struct cel_value v)
{
    switch (v.kind) {
    case CEL_NULL:
        return true;
    case CEL_BOOL:
        return !v.b;
    case CEL_INT:
    case CEL_UINT:
    case CEL_DURATION:
        return v.i == 0;
    case CEL_DOUBLE:
        return v.d == 0;
    case CEL_STRING:
    case CEL_BYTES:
    case CEL_LIST:
        return v.len == 0;
    case CEL_MAP:
        return v.map->n == 0;
    case CEL_TIMESTAMP: /* Go's zero time is the first instant of year 1 */
        return v.i == CEL_TIME_MIN && v.len == 0;
    default:
        return false;
    }
}

static struct cel_value of_non_zero(struct cel_run *run, const struct cel_value *args,
                                    unsigned n)
{
    return is_zero(args[0]) ? cel_optional_none() : cel_optional_of(run, args[0]);
}

static struct cel_value none(struct cel_run *run, const struct cel_value *args,
                             unsigned n)
{
    return cel_optional_none();
}

static struct cel_value value(struct cel_run *run, const struct cel_value *args,
                              unsigned n)
{
    if (args[0].optional == NULL)
        return CEL_ERROR_CONST("optional.none() dereference");
    return *args[0].optional;
}

static struct cel_value has_value(struct cel_run *run, const struct cel_value *args,
                                  unsigned n)
{
    return cel_bool(args[0].optional != NULL);
}

static struct cel_value first(struct cel_run *run, const struct cel_value *args,
                              unsigned n)
{
    struct cel_value list = args[0];
    return list.len ? cel_optional_of(run, list.items[0]) : cel_optional_none();
}

static struct cel_value last(struct cel_run *run, const struct cel_value *args,
                             unsigned n)
{
    struct cel_value list = args[0];
    return list.len ? cel_optional_of(run, list.items[list.len - 1])
                    : cel_optional_none();
}

static struct cel_value not_optional(struct cel_run *run, struct cel_value v)
{
    struct strbuf b = STRBUF_INIT;
    cel_print_go(v, &b);
    struct cel_value e =
        cel_errorf(run, "value %.*s is not optional", STR_ARG(strbuf_str(&b)));
    strbuf_release(&b);
    return e;
}

static struct cel_value unwrap(struct cel_run *run, const struct cel_value *args,
                               unsigned n)
{
    struct cel_list_builder b = {0};
    for (uint32_t i = 0; i < args[0].len; i++) {
        struct cel_value v = args[0].items[i];
        if (v.kind != CEL_OPTIONAL)
            return not_optional(run, v);
        if (v.optional != NULL)
            cel_list_push(run, &b, *v.optional);
    }
    return cel_list_done(&b);
}

static const struct cel_overload rows[] = {
    {"optional_of", "optional.of", "(<V>) -> optional_type(<V>)", .since = 28, .fn = of},
    {"optional_ofNonZeroValue", "optional.ofNonZeroValue", "(<V>) -> optional_type(<V>)",
     .since = 28, .fn = of_non_zero},
    {"optional_none", "optional.none", "() -> optional_type(<V>)", .since = 28,
     .fn = none},
    {"optional_value", "value", "(optional_type(<V>)) -> <V>", true, .since = 28,
     .fn = value},
    {"optional_hasValue", "hasValue", "(optional_type(<V>)) -> bool", true, .since = 28,
     .fn = has_value},
    {"optional_or_optional", "or",
     "(optional_type(<V>), optional_type(<V>)) -> optional_type(<V>)", true, .since = 28},
    {"optional_orValue_value", "orValue", "(optional_type(<V>), <V>) -> <V>", true,
     .since = 28},
    {"select_optional_field", "_?._", "(dyn, string) -> optional_type(<V>)", .since = 28},
    {"list_optindex_optional_int", "_[?_]", "(list(<V>), int) -> optional_type(<V>)",
     .since = 28},
    {"optional_list_optindex_optional_int", "_[?_]",
     "(optional_type(list(<V>)), int) -> optional_type(<V>)", .since = 28},
    {"map_optindex_optional_value", "_[?_]", "(map(<K>, <V>), <K>) -> optional_type(<V>)",
     .since = 28},
    {"optional_map_optindex_optional_value", "_[?_]",
     "(optional_type(map(<K>, <V>)), <K>) -> optional_type(<V>)", .since = 28},
    {"optional_list_index_int", "_[_]",
     "(optional_type(list(<V>)), int) -> optional_type(<V>)", .since = 28},
    {"optional_map_index_value", "_[_]",
     "(optional_type(map(<K>, <V>)), <K>) -> optional_type(<V>)", .since = 28},
    {"list_last", "last", "(list(<V>)) -> optional_type(<V>)", true, .since = 28,
     .fn = last},
    {"list_first", "first", "(list(<V>)) -> optional_type(<V>)", true, .since = 28,
     .fn = first},
    {"optional_unwrap", "optional.unwrap", "(list(optional_type(<V>))) -> list(<V>)",
     .since = 28, .fn = unwrap},
    {"optional_unwrapOpt", "unwrapOpt", "(list(optional_type(<V>))) -> list(<V>)", true,
     .since = 28, .fn = unwrap},
};

static const struct cel_type_name types[] = {
    {"optional_type", &cel_type_optional_dyn, .since = 28},
};

const struct cel_lib cel_lib_optional = {
    .name = "optional",
    .overloads = rows,
    .noverloads = sizeof rows / sizeof *rows,
    .macros = cel_macros_optional,
    .nmacros = CEL_MACROS_COUNT(cel_macros_optional),
    .types = types,
    .ntypes = sizeof types / sizeof *types,
};
