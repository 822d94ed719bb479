/* SPDX-License-Identifier: Apache-2.0 */
#include "cel/validate.h"

#include "cel/lib_format_check.h"
#include "cel/regex.h"

struct validator {
    const struct cel_expr *x;
    struct cel_reporter *report;
    bool homogeneous, literals;
    unsigned exempt; /* calls around, in whose literals types may differ */
    struct cel_run run;
};

/* ---- Literals as arguments ---- */

static bool call_fails(struct validator *v, const struct cel_ast *call)
{
    const struct cel_ref *ref = &v->x->refs[call->id];
    if (ref->noverloads == 0 || !ref->overloads[0]->row->fn)
        return false;
    return cel_is_error(
        ref->overloads[0]->row->fn(&v->run, &call->call.args[0]->constant, 1));
}

static bool pattern_fails(struct validator *v, const struct cel_ast *call)
{
    return !cel_regex_check(cel_str(call->call.args[0]->constant), NULL);
}

/* Calls whose first argument is looked at when it is a literal. Of the global form
 * matches(text, pattern) that is the text, as upstream has it. */
static const struct literal_rule {
    struct str function;
    uint8_t kind; /* of the literal, CEL_ERROR: any */
    bool (*fails)(struct validator *v, const struct cel_ast *call);
} literal_rules[] = {
    {{"duration", 8}, CEL_ERROR, call_fails},
    {{"timestamp", 9}, CEL_ERROR, call_fails},
    {{"matches", 7}, CEL_STRING, pattern_fails},
};

static void check_literal(struct validator *v, const struct cel_ast *call)
{
    if (call->call.nargs == 0 || call->call.args[0]->kind != CEL_AST_CONST)
        return;
    const struct cel_ast *arg = call->call.args[0];
    for (unsigned i = 0; i < sizeof literal_rules / sizeof *literal_rules; i++) {
        const struct literal_rule *r = &literal_rules[i];
        if (!str_eq(call->call.function, r->function) ||
            (r->kind != CEL_ERROR && r->kind != arg->constant.kind))
            continue;
        if (r->fails(v, call))
            cel_report(v->report, arg->pos, "invalid %s argument", r->function.p);
    }
}

static void check_format(struct validator *v, const struct cel_ast *call)
{
    struct strbuf text = STRBUF_INIT;
    const struct cel_ast *at;
    if (!cel_format_check(v->x, call, &at, &text))
        cel_report(v->report, at->pos, "%s", strbuf_cstr(&text));
    strbuf_release(&text);
}

/* ---- Literals of one type ---- */

/* Type of an element; of what is in it when it is an optional one. */
static const struct cel_type *type_of(const struct validator *v, const struct cel_ast *n,
                                      bool optional)
{
    const struct cel_type *t = v->x->types[n->id];
    return optional && t->nparams > 0 ? t->params[0] : t;
}

/* Type equivalence takes a wrapper for its scalar. */
static bool equivalent(const struct cel_type *a, const struct cel_type *b)
{
    if (a->kind == CEL_T_WRAPPER)
        a = a->params[0];
    if (b->kind == CEL_T_WRAPPER)
        b = b->params[0];
    if (a == b)
        return true;
    if (a->nparams == 0 || a->kind != b->kind || a->nparams != b->nparams)
        return cel_type_equal(a, b);
    if (a->name && strcmp(a->name, b->name) != 0)
        return false;
    for (unsigned i = 0; i < a->nparams; i++)
        if (!equivalent(a->params[i], b->params[i]))
            return false;
    return true;
}

static bool agree(struct validator *v, const struct cel_type *first,
                  const struct cel_type *t, const struct cel_ast *at)
{
    if (equivalent(first, t))
        return true;
    struct strbuf want = STRBUF_INIT, got = STRBUF_INIT;
    cel_type_print_short(first, &want);
    cel_type_print_short(t, &got);
    cel_report(v->report, at->pos, "expected type '%s' but found '%s'",
               strbuf_cstr(&want), strbuf_cstr(&got));
    strbuf_release(&want);
    strbuf_release(&got);
    return false;
}

static void check_list(struct validator *v, const struct cel_ast *n)
{
    const struct cel_type *first = NULL;
    for (uint32_t i = 0; i < n->list.n; i++) {
        bool optional = n->list.optional && n->list.optional[i];
        const struct cel_type *t = type_of(v, n->list.items[i], optional);
        if (!first)
            first = t;
        else if (!agree(v, first, t, n->list.items[i]))
            return; /* one complaint is enough */
    }
}

static void check_map(struct validator *v, const struct cel_ast *n)
{
    const struct cel_type *key = NULL, *value = NULL;
    for (uint32_t i = 0; i < n->map.n; i++) {
        const struct cel_ast_entry *e = &n->map.entries[i];
        const struct cel_type *k = type_of(v, e->key, false);
        const struct cel_type *t = type_of(v, e->value, e->optional);
        if (i == 0) {
            key = k;
            value = t;
            continue;
        }
        agree(v, key, k, e->key);
        agree(v, value, t, e->value);
    }
}

static bool exempts(const struct cel_ast *call)
{
    return str_eq(call->call.function, STR("format")) ||
           str_eq(call->call.function, STR("cel.@block"));
}

/* ---- The walk ---- */

static void walk(struct validator *v, const struct cel_ast *n);

static void walk_call(struct validator *v, const struct cel_ast *n)
{
    if (v->literals)
        check_literal(v, n);
    check_format(v, n);
    bool exempt = exempts(n);
    v->exempt += exempt;
    if (n->call.target)
        walk(v, n->call.target);
    for (uint32_t i = 0; i < n->call.nargs; i++)
        walk(v, n->call.args[i]);
    v->exempt -= exempt;
}

static void walk_entries(struct validator *v, const struct cel_ast *n)
{
    if (n->kind == CEL_AST_MAP && v->homogeneous && !v->exempt)
        check_map(v, n);
    for (uint32_t i = 0; i < n->map.n; i++) {
        if (n->map.entries[i].key)
            walk(v, n->map.entries[i].key);
        walk(v, n->map.entries[i].value);
    }
}

static void walk(struct validator *v, const struct cel_ast *n)
{
    switch (n->kind) {
    case CEL_AST_SELECT:
        walk(v, n->select.operand);
        break;
    case CEL_AST_CALL:
        walk_call(v, n);
        break;
    case CEL_AST_LIST:
        if (v->homogeneous && !v->exempt)
            check_list(v, n);
        for (uint32_t i = 0; i < n->list.n; i++)
            walk(v, n->list.items[i]);
        break;
    case CEL_AST_MAP:
    case CEL_AST_STRUCT:
        walk_entries(v, n);
        break;
    case CEL_AST_COMPREHENSION:
        walk(v, n->fold.range);
        walk(v, n->fold.init);
        walk(v, n->fold.condition);
        walk(v, n->fold.step);
        walk(v, n->fold.result);
        break;
    default:
        break;
    }
}

void cel_validate(const struct cel_env *env, const struct cel_expr *x,
                  struct cel_reporter *report)
{
    unsigned flags = cel_env_flags(env);
    struct validator v = {
        .x = x,
        .report = report,
        .homogeneous = (flags & CEL_ENV_HOMOGENEOUS) != 0,
        .literals = (flags & CEL_ENV_VALIDATE) != 0,
    };
    cel_run_init(&v.run);
    walk(&v, x->root);
    cel_run_fini(&v.run);
}
