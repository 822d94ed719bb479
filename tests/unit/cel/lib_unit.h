/* SPDX-License-Identifier: Apache-2.0 */
/* For the tests of the function libraries: tables of expression, result and cost. */
#ifndef DRAY_TESTS_CEL_LIB_UNIT_H
#define DRAY_TESTS_CEL_LIB_UNIT_H

#include "unit/unit.h"

#include "cel/cel.h"

/* cost: COST_NONE where nothing runs, or where it does not matter. */
enum { COST_NONE = -1 };

struct lib_row {
    const char *text;
    const char
        *want; /* as cel_print has it, or "error: " and the first line of the text */
    int64_t cost;
};

static const struct cel_env_lib lib_unit_kubernetes[] = {
    {&cel_lib_standard, 0, 0},  {&cel_lib_optional, 0, 0}, {&cel_lib_bindings, 0, 0},
    {&cel_lib_two_var, 0, 0},   {&cel_lib_strings, 0, 0},  {&cel_lib_lists, 0, 0},
    {&cel_lib_k8s_lists, 0, 0}, {&cel_lib_sets, 0, 0},     {&cel_lib_regex, 0, 0},
    {&cel_lib_url, 0, 0},       {&cel_lib_ip, 0, 0},       {&cel_lib_cidr, 0, 0},
    {&cel_lib_format, 0, 0},    {&cel_lib_quantity, 0, 0}, {&cel_lib_semver, 0, 0},
};

/* What the public specification knows. */
static const struct cel_env_lib lib_unit_latest[] = {
    {&cel_lib_standard, 0, 0}, {&cel_lib_optional, 0, 0}, {&cel_lib_bindings, 0, 0},
    {&cel_lib_two_var, 0, 0},  {&cel_lib_lists, 0, 0},    {&cel_lib_strings_latest, 0, 0},
    {&cel_lib_math, 0, 0},     {&cel_lib_encoders, 0, 0}, {&cel_lib_network, 0, 0},
    {&cel_lib_block, 0, 0},
};

static inline struct cel_env *lib_unit_env(bool latest)
{
    struct cel_env_opts o = {
        .libs = latest ? lib_unit_latest : lib_unit_kubernetes,
        .nlibs = latest ? UNIT_COUNT(lib_unit_latest) : UNIT_COUNT(lib_unit_kubernetes),
        .flags = CEL_ENV_CROSS_NUMERIC | CEL_ENV_OPTIONAL_SYNTAX | CEL_ENV_VALIDATE |
                 (latest ? 0 : CEL_ENV_HOMOGENEOUS | CEL_ENV_FOLD),
    };
    return cel_env_new(&o);
}

static inline void lib_unit_eval(const struct cel_env *env, struct cel_run *run,
                                 const char *text, struct strbuf *out)
{
    struct cel_issues issues = {0};
    struct err e = ERR_INIT;
    struct cel_expr *x = cel_compile(env, str_from(text), &run->arena, &issues);
    if (!x) {
        strbuf_adds(out, "error: ");
        cel_issues_print(&issues, str_from(text), out);
        out->n = str_find_byte(strbuf_str(out), '\n', 0);
        return;
    }
    struct cel_program *p =
        cel_program_new(env, x, &(struct cel_program_opts){.track_cost = true}, &e);
    if (!p) {
        strbuf_addf(out, "error: %s", err_text(&e));
        err_release(&e);
        return;
    }
    struct cel_value v = cel_eval(p, NULL, run);
    if (cel_is_error(v))
        strbuf_addf(out, "error: %.*s", STR_ARG(v.error->text));
    else
        cel_print(v, out);
    cel_program_free(p);
}

static inline void lib_unit_row(const struct cel_env *env, const struct lib_row *row)
{
    struct strbuf out = STRBUF_INIT;
    struct cel_run run;
    cel_run_init(&run);
    lib_unit_eval(env, &run, row->text, &out);
    if (!str_is(strbuf_str(&out), row->want))
        fail_msg("%s\n  got  %.*s\n  want %s", row->text, STR_ARG(strbuf_str(&out)),
                 row->want);
    if (row->cost != COST_NONE && run.cost != (uint64_t)row->cost)
        fail_msg("%s: costs %llu, not %lld", row->text, (unsigned long long)run.cost,
                 (long long)row->cost);
    cel_run_fini(&run);
    strbuf_release(&out);
}

static inline void lib_unit_rows(bool latest, const struct lib_row *rows, size_t n)
{
    struct cel_env *env = lib_unit_env(latest);
    for (size_t i = 0; i < n; i++)
        lib_unit_row(env, &rows[i]);
    cel_env_free(env);
}

#endif
