/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Comprehensions with two variables, and the insertion into maps that transformMap and
 * transformMapEntry expand to. Inside such a comprehension the planner inserts in place.
 */
#include "cel/cel.h"
#include "cel/lib.h"
#include "cel/macros.h"
#include "cel/std.h"

struct cel_value cel_insert_failed(struct cel_run *run, struct cel_value key)
{
    struct strbuf b = STRBUF_INIT;
    cel_print_go(key, &b);
    struct cel_value e = cel_errorf(run, "insert failed: key %.*s already exists",
                                    STR_ARG(strbuf_str(&b)));
    strbuf_release(&b);
    return e;
}

static void copy_entries(struct cel_run *run, const struct cel_map *m,
                         struct cel_map_builder *b)
{
    for (uint32_t i = 0; i < m->n; i++)
        cel_map_put(run, b, m->entries[i].key, m->entries[i].value);
}

static struct cel_value insert_entry(struct cel_run *run, const struct cel_value *args,
                                     unsigned n)
{
    if (cel_map_find(args[0].map, args[1]) != NULL)
        return cel_insert_failed(run, args[1]);
    struct cel_map_builder b = {0};
    copy_entries(run, args[0].map, &b);
    cel_map_put(run, &b, args[1], args[2]);
    return cel_map_done(run, &b);
}

static struct cel_value insert_map(struct cel_run *run, const struct cel_value *args,
                                   unsigned n)
{
    const struct cel_map *more = args[1].map;
    struct cel_map_builder b = {0};
    copy_entries(run, args[0].map, &b);
    for (uint32_t i = 0; i < more->n; i++) {
        if (cel_map_has(&b, more->entries[i].key) != NULL)
            return cel_insert_failed(run, more->entries[i].key);
        cel_map_put(run, &b, more->entries[i].key, more->entries[i].value);
    }
    return cel_map_done(run, &b);
}

static const struct cel_overload rows[] = {
    {"@mapInsert_map_key_value", "cel.@mapInsert",
     "(map(<K>, <V>), <K>, <V>) -> map(<K>, <V>)", .since = 32, .fn = insert_entry},
    {"@mapInsert_map_map", "cel.@mapInsert",
     "(map(<K>, <V>), map(<K>, <V>)) -> map(<K>, <V>)", .since = 32, .fn = insert_map},
};

const struct cel_lib cel_lib_two_var = {
    .name = "cel.two-variable",
    .overloads = rows,
    .noverloads = sizeof rows / sizeof *rows,
    .macros = cel_macros_two_var,
    .nmacros = CEL_MACROS_COUNT(cel_macros_two_var),
};
