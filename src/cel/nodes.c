/* SPDX-License-Identifier: Apache-2.0 */
#include "cel/parser.h"

struct cel_ast *cel_ast_new(struct cel_parser *p, enum cel_ast_kind kind, uint32_t pos)
{
    struct cel_ast *n = arena_alloc(p->a, sizeof *n);
    *n = (struct cel_ast){.kind = (uint8_t)kind, .id = ++p->nids, .pos = pos};
    return n;
}

struct cel_ast *cel_ast_const(struct cel_parser *p, uint32_t pos, struct cel_value v)
{
    struct cel_ast *n = cel_ast_new(p, CEL_AST_CONST, pos);
    n->constant = v;
    return n;
}

struct cel_ast *cel_ast_ident(struct cel_parser *p, uint32_t pos, struct str name)
{
    struct cel_ast *n = cel_ast_new(p, CEL_AST_IDENT, pos);
    n->ident.name = name;
    return n;
}

struct cel_ast *cel_ast_select(struct cel_parser *p, uint32_t pos,
                               struct cel_ast *operand, struct str field)
{
    struct cel_ast *n = cel_ast_new(p, CEL_AST_SELECT, pos);
    n->select.operand = operand;
    n->select.field = field;
    n->depth = operand->depth + 1;
    return n;
}

static struct cel_ast **copy_nodes(struct cel_parser *p, struct cel_ast *parent,
                                   struct cel_ast *const *nodes, uint32_t n)
{
    struct cel_ast **out = arena_alloc(p->a, n * sizeof *out);
    for (uint32_t i = 0; i < n; i++) {
        out[i] = nodes[i];
        cel_ast_deepen(parent, nodes[i]);
    }
    return out;
}

struct cel_ast *cel_ast_call(struct cel_parser *p, uint32_t pos, struct str function,
                             struct cel_ast *target, struct cel_ast *const *args,
                             uint32_t nargs)
{
    struct cel_ast *n = cel_ast_new(p, CEL_AST_CALL, pos);
    n->call.function = function;
    n->call.target = target;
    n->call.args = copy_nodes(p, n, args, nargs);
    n->call.nargs = nargs;
    if (target)
        cel_ast_deepen(n, target);
    return n;
}

struct cel_ast *cel_ast_list(struct cel_parser *p, uint32_t pos,
                             struct cel_ast *const *items, uint32_t n)
{
    struct cel_ast *list = cel_ast_new(p, CEL_AST_LIST, pos);
    list->list.items = copy_nodes(p, list, items, n);
    list->list.n = n;
    return list;
}

static void copy_children(struct cel_parser *p, struct cel_ast **nodes, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        nodes[i] = cel_ast_copy(p, nodes[i]);
}

static void copy_entries(struct cel_parser *p, struct cel_ast *to)
{
    struct cel_ast_entry *from = to->map.entries;
    to->map.entries = ARENA_ARRAY(p->a, struct cel_ast_entry, to->map.n);
    for (uint32_t i = 0; i < to->map.n; i++) {
        struct cel_ast_entry *e = &to->map.entries[i];
        *e = from[i];
        e->id = ++p->nids;
        if (e->key)
            e->key = cel_ast_copy(p, e->key);
        e->value = cel_ast_copy(p, e->value);
    }
}

struct cel_ast *cel_ast_copy(struct cel_parser *p, const struct cel_ast *n)
{
    struct cel_ast *to = cel_ast_new(p, n->kind, n->pos);
    uint32_t id = to->id;
    *to = *n;
    to->id = id;
    if (p->nids > CEL_MAX_NODES) /* the parse ends once the macro is done */
        return to;
    switch (n->kind) {
    case CEL_AST_SELECT:
        to->select.operand = cel_ast_copy(p, n->select.operand);
        break;
    case CEL_AST_CALL:
        if (n->call.target)
            to->call.target = cel_ast_copy(p, n->call.target);
        to->call.args = copy_nodes(p, to, n->call.args, n->call.nargs);
        copy_children(p, to->call.args, to->call.nargs);
        break;
    case CEL_AST_LIST:
        to->list.items = copy_nodes(p, to, n->list.items, n->list.n);
        copy_children(p, to->list.items, to->list.n);
        break;
    case CEL_AST_MAP:
    case CEL_AST_STRUCT:
        copy_entries(p, to);
        break;
    case CEL_AST_COMPREHENSION:
        to->fold.range = cel_ast_copy(p, n->fold.range);
        to->fold.init = cel_ast_copy(p, n->fold.init);
        to->fold.condition = cel_ast_copy(p, n->fold.condition);
        to->fold.step = cel_ast_copy(p, n->fold.step);
        to->fold.result = cel_ast_copy(p, n->fold.result);
        break;
    default:
        break;
    }
    return to;
}
