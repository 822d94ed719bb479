/* SPDX-License-Identifier: Apache-2.0 */
#include "cel/lib_format_check.h"

#include "cel/env.h"
#include "cel/lib_strings_format.h"

struct checking {
    const struct cel_expr *x;
    const struct cel_ast *list; /* of the arguments */
    const struct cel_ast *at;   /* what is wrong */
};

/* The dialect of the format function that a call means; NULL: it means another one. */
static const struct format_dialect *dialect_of(const struct cel_ref *ref)
{
    for (uint32_t i = 0; i < ref->noverloads; i++) {
        cel_fn *fn = ref->overloads[i]->row->fn;
        if (fn == cel_format_frozen)
            return &format_frozen;
        if (fn == cel_format_latest)
            return &format_latest;
    }
    return NULL;
}

static bool has_literals(const struct cel_ast *node)
{
    return node->kind == CEL_AST_CALL && node->call.target &&
           node->call.target->kind == CEL_AST_CONST &&
           node->call.target->constant.kind == CEL_STRING && node->call.nargs == 1 &&
           node->call.args[0]->kind == CEL_AST_LIST;
}

static const struct cel_type *type_of(const struct checking *c,
                                      const struct cel_ast *node)
{
    const struct cel_type *t = c->x->types[node->id];
    return t ? t : &cel_type_dyn;
}

static bool fits(const struct checking *c, const struct cel_ast *node,
                 const struct format_verb *verb)
{
    const struct cel_type *t = type_of(c, node);
    unsigned kind = t->kind == CEL_T_WRAPPER ? t->params[0]->kind : t->kind;
    return verb->types >> kind & 1;
}

/* The first node that %s does not print: node itself or one inside its literals. */
static const struct cel_ast *unprintable(const struct checking *c,
                                         const struct cel_ast *node,
                                         const struct format_verb *verb)
{
    const struct cel_ast *bad = NULL;
    if (!fits(c, node, verb))
        return node;
    if (node->kind == CEL_AST_LIST) {
        for (uint32_t i = 0; i < node->list.n && !bad; i++)
            bad = unprintable(c, node->list.items[i], verb);
    } else if (node->kind == CEL_AST_MAP) {
        for (uint32_t i = 0; i < node->map.n && !bad; i++) {
            bad = unprintable(c, node->map.entries[i].key, verb);
            if (!bad)
                bad = unprintable(c, node->map.entries[i].value, verb);
        }
    }
    return bad;
}

static bool check_clause(void *ctx, const struct format_verb *verb,
                         const struct format_clause *clause, uint64_t index,
                         struct strbuf *error)
{
    struct checking *c = ctx;
    const struct cel_ast *arg = c->list->list.items[index], *bad = NULL;
    if (clause->letter == 's')
        bad = unprintable(c, arg, verb);
    else if (!fits(c, arg, verb))
        bad = arg;
    if (!bad)
        return true;
    c->at = bad;
    strbuf_addf(error, "error during formatting: %s%s", verb->refused,
                cel_type_name(type_of(c, bad)));
    return false;
}

bool cel_format_check(const struct cel_expr *x, const struct cel_ast *node,
                      const struct cel_ast **at, struct strbuf *error)
{
    if (!has_literals(node) || !str_is(node->call.function, "format"))
        return true;
    const struct format_dialect *dialect = dialect_of(&x->refs[node->id]);
    if (!dialect)
        return true;
    struct checking c = {.x = x, .list = node->call.args[0], .at = node};
    struct format_reader r = {.dialect = dialect,
                              .nargs = c.list->list.n,
                              .text_first = true,
                              .clause = check_clause,
                              .ctx = &c};
    uint64_t used;
    bool ok = format_read(cel_str(node->call.target->constant), &r, &used, error);
    if (ok && used < r.nargs) {
        strbuf_addf(error,
                    "too many arguments supplied to string.format (expected %llu, got "
                    "%llu)",
                    (unsigned long long)used, (unsigned long long)r.nargs);
        ok = false;
    }
    *at = c.at;
    return ok;
}
