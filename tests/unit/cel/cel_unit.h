/* SPDX-License-Identifier: Apache-2.0 */
/* For the tests of cel: environments with every library, and trees as text. */
#ifndef DRAY_TESTS_CEL_UNIT_H
#define DRAY_TESTS_CEL_UNIT_H

#include "unit/unit.h"

#include "cel/cel.h"

static const struct cel_env_lib unit_libs[] = {
    {&cel_lib_standard, 0, 0},  {&cel_lib_optional, 0, 0}, {&cel_lib_bindings, 0, 0},
    {&cel_lib_two_var, 0, 0},   {&cel_lib_strings, 0, 0},  {&cel_lib_lists, 0, 0},
    {&cel_lib_k8s_lists, 0, 0}, {&cel_lib_sets, 0, 0},     {&cel_lib_regex, 0, 0},
    {&cel_lib_ip, 0, 0},        {&cel_lib_cidr, 0, 0},     {&cel_lib_format, 0, 0},
    {&cel_lib_quantity, 0, 0},  {&cel_lib_semver, 0, 0},
};

enum {
    UNIT_FLAGS = CEL_ENV_HOMOGENEOUS | CEL_ENV_VALIDATE | CEL_ENV_CROSS_NUMERIC |
                 CEL_ENV_OPTIONAL_SYNTAX | CEL_ENV_BACKQUOTES,
};

/* All libraries, no variables, Kubernetes' dialect. */
static inline struct cel_env_opts unit_opts(void)
{
    return (struct cel_env_opts){
        .libs = unit_libs, .nlibs = UNIT_COUNT(unit_libs), .flags = UNIT_FLAGS};
}

/* ---- Trees: (f a b), (a .f b) with a receiver, (select a f), (has a f), [a ?b],
 * {k: v}, name{f: v}, (fold range x accu init condition step result) ---- */

static inline void unit_tree(const struct cel_ast *n, struct strbuf *out);

static inline void unit_const(struct cel_value v, struct strbuf *out)
{
    switch (v.kind) {
    case CEL_NULL:
        strbuf_adds(out, "null");
        break;
    case CEL_BOOL:
        strbuf_adds(out, v.b ? "true" : "false");
        break;
    case CEL_INT:
        strbuf_addf(out, "%lld", (long long)v.i);
        break;
    case CEL_UINT:
        strbuf_addf(out, "%lluu", (unsigned long long)v.u);
        break;
    case CEL_DOUBLE:
        strbuf_addf(out, "%#.17g", v.d);
        break;
    default:
        strbuf_addf(out, "%s\"%.*s\"", v.kind == CEL_BYTES ? "b" : "",
                    STR_ARG(cel_str(v)));
    }
}

static inline void unit_call(const struct cel_ast *n, struct strbuf *out)
{
    strbuf_addc(out, '(');
    if (n->call.target) {
        unit_tree(n->call.target, out);
        strbuf_adds(out, " .");
    }
    strbuf_addstr(out, n->call.function);
    for (uint32_t i = 0; i < n->call.nargs; i++) {
        strbuf_addc(out, ' ');
        unit_tree(n->call.args[i], out);
    }
    strbuf_addc(out, ')');
}

static inline void unit_entries(const struct cel_ast *n, struct strbuf *out)
{
    strbuf_addstr(out, n->map.type_name);
    strbuf_addc(out, '{');
    for (uint32_t i = 0; i < n->map.n; i++) {
        const struct cel_ast_entry *e = &n->map.entries[i];
        strbuf_adds(out, i ? ", " : "");
        strbuf_adds(out, e->optional ? "?" : "");
        if (e->key)
            unit_tree(e->key, out);
        else
            strbuf_addstr(out, e->field);
        strbuf_adds(out, ": ");
        unit_tree(e->value, out);
    }
    strbuf_addc(out, '}');
}

static inline void unit_list(const struct cel_ast *n, struct strbuf *out)
{
    strbuf_addc(out, '[');
    for (uint32_t i = 0; i < n->list.n; i++) {
        strbuf_adds(out, i ? " " : "");
        strbuf_adds(out, n->list.optional && n->list.optional[i] ? "?" : "");
        unit_tree(n->list.items[i], out);
    }
    strbuf_addc(out, ']');
}

static inline void unit_fold(const struct cel_ast *n, struct strbuf *out)
{
    const struct cel_ast *parts[] = {n->fold.init, n->fold.condition, n->fold.step,
                                     n->fold.result};
    strbuf_adds(out, "(fold ");
    unit_tree(n->fold.range, out);
    strbuf_addf(out, " %.*s", STR_ARG(n->fold.iter_var));
    if (n->fold.iter_var2.n)
        strbuf_addf(out, ",%.*s", STR_ARG(n->fold.iter_var2));
    strbuf_addf(out, " %.*s", STR_ARG(n->fold.accu_var));
    for (unsigned i = 0; i < 4; i++) {
        strbuf_addc(out, ' ');
        unit_tree(parts[i], out);
    }
    strbuf_addc(out, ')');
}

static inline void unit_tree(const struct cel_ast *n, struct strbuf *out)
{
    switch (n->kind) {
    case CEL_AST_CONST:
        unit_const(n->constant, out);
        break;
    case CEL_AST_IDENT:
        strbuf_addstr(out, n->ident.name);
        break;
    case CEL_AST_SELECT:
        strbuf_adds(out, n->select.test ? "(has " : "(select ");
        unit_tree(n->select.operand, out);
        strbuf_addf(out, " %.*s)", STR_ARG(n->select.field));
        break;
    case CEL_AST_CALL:
        unit_call(n, out);
        break;
    case CEL_AST_LIST:
        unit_list(n, out);
        break;
    case CEL_AST_MAP:
    case CEL_AST_STRUCT:
        unit_entries(n, out);
        break;
    case CEL_AST_COMPREHENSION:
        unit_fold(n, out);
        break;
    }
}

#endif
