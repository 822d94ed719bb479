/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What macros expand to. The shapes are upstream's node for node, since costs are counted
 * on them (spec 4.7): a fold with an accumulator whose name no text can spell.
 */
#include "cel/macros.h"

#include "cel/parser.h"

#define ACCU STR("@result")
#define UNUSED STR("#unused")

/* A macro under expansion: new nodes stand where its call does. */
struct site {
    struct cel_parser *p;
    uint32_t pos;
    bool *failed;
};

#define SITE(p, call, failed) ((struct site){(p), (call)->pos, (failed)})

static struct cel_ast *ident(struct site *s, struct str name)
{
    return cel_ast_ident(s->p, s->pos, name);
}

static struct cel_ast *accu(struct site *s)
{
    return ident(s, ACCU);
}

static struct cel_ast *boolean(struct site *s, bool b)
{
    return cel_ast_const(s->p, s->pos, cel_bool(b));
}

static struct cel_ast *integer(struct site *s, int64_t i)
{
    return cel_ast_const(s->p, s->pos, cel_int(i));
}

static struct cel_ast *list(struct site *s, struct cel_ast *item)
{
    return cel_ast_list(s->p, s->pos, &item, item ? 1 : 0);
}

static struct cel_ast *call1(struct site *s, struct str f, struct cel_ast *a)
{
    return cel_ast_call(s->p, s->pos, f, NULL, &a, 1);
}

static struct cel_ast *call2(struct site *s, struct str f, struct cel_ast *a,
                             struct cel_ast *b)
{
    struct cel_ast *args[] = {a, b};
    return cel_ast_call(s->p, s->pos, f, NULL, args, 2);
}

static struct cel_ast *call3(struct site *s, struct str f, struct cel_ast *a,
                             struct cel_ast *b, struct cel_ast *c)
{
    struct cel_ast *args[] = {a, b, c};
    return cel_ast_call(s->p, s->pos, f, NULL, args, 3);
}

static struct cel_ast *member0(struct site *s, struct str f, struct cel_ast *target)
{
    return cel_ast_call(s->p, s->pos, f, target, NULL, 0);
}

/* The variables of a fold; the second is empty in those that have one. */
struct vars {
    struct str a, b;
};

struct body {
    struct cel_ast *init, *condition, *step, *result;
};

static struct cel_ast *fold(struct site *s, struct cel_ast *range, struct vars v,
                            struct str accu_var, struct body b)
{
    struct cel_ast *n = cel_ast_new(s->p, CEL_AST_COMPREHENSION, s->pos);
    n->fold.iter_var = v.a;
    n->fold.iter_var2 = v.b;
    n->fold.accu_var = accu_var;
    n->fold.range = range;
    n->fold.init = b.init;
    n->fold.condition = b.condition;
    n->fold.step = b.step;
    n->fold.result = b.result;
    return n;
}

/* ---- Variables ---- */

static bool is_accu(struct str name)
{
    return str_eq(name, ACCU) || str_eq(name, STR("__result__"));
}

static bool accu_free(struct site *s, const struct cel_ast *arg)
{
    if (is_accu(arg->ident.name)) {
        cel_macro_error(s->p, arg, s->failed,
                        "iteration variable overwrites accumulator variable");
        return false;
    }
    return true;
}

static bool is_ident(struct site *s, const struct cel_ast *arg, const char *complaint)
{
    if (arg->kind != CEL_AST_IDENT)
        cel_macro_error(s->p, arg, s->failed, "%s", complaint);
    return arg->kind == CEL_AST_IDENT;
}

static bool one_var(struct site *s, const struct cel_ast *call, const char *complaint,
                    struct vars *out)
{
    const struct cel_ast *arg = call->call.args[0];
    if (!is_ident(s, arg, complaint) || !accu_free(s, arg))
        return false;
    *out = (struct vars){arg->ident.name, STR_NONE};
    return true;
}

static const char simple_name[] = "argument must be a simple name";
static const char not_ident[] = "argument is not an identifier";

static bool two_vars(struct site *s, const struct cel_ast *call, struct vars *out)
{
    const struct cel_ast *a = call->call.args[0], *b = call->call.args[1];
    if (!is_ident(s, a, simple_name) || !is_ident(s, b, simple_name))
        return false;
    *out = (struct vars){a->ident.name, b->ident.name};
    if (str_eq(out->a, out->b)) {
        cel_macro_error(s->p, b, s->failed, "duplicate variable name: %.*s",
                        STR_ARG(out->a));
        return false;
    }
    return accu_free(s, a) && accu_free(s, b);
}

/* ---- Bodies ---- */

static struct body all_body(struct site *s, struct cel_ast *predicate)
{
    struct body b;
    b.init = boolean(s, true);
    b.condition = call1(s, STR("@not_strictly_false"), accu(s));
    b.step = call2(s, STR("_&&_"), accu(s), predicate);
    b.result = accu(s);
    return b;
}

static struct body exists_body(struct site *s, struct cel_ast *predicate)
{
    struct body b;
    b.init = boolean(s, false);
    b.condition = call1(s, STR("@not_strictly_false"), call1(s, STR("!_"), accu(s)));
    b.step = call2(s, STR("_||_"), accu(s), predicate);
    b.result = accu(s);
    return b;
}

static struct body exists_one_body(struct site *s, struct cel_ast *predicate)
{
    struct body b;
    b.init = integer(s, 0);
    b.condition = boolean(s, true);
    b.step = call3(s, STR("_?_:_"), predicate,
                   call2(s, STR("_+_"), accu(s), integer(s, 1)), accu(s));
    b.result = call2(s, STR("_==_"), accu(s), integer(s, 1));
    return b;
}

/* accu = filter ? step : accu; no filter: accu = step. */
static struct body collect_body(struct site *s, struct cel_ast *init,
                                struct cel_ast *filter, struct cel_ast *step)
{
    struct body b;
    b.init = init;
    b.condition = boolean(s, true);
    b.step = filter ? call3(s, STR("_?_:_"), filter, step, accu(s)) : step;
    b.result = accu(s);
    return b;
}

static struct cel_ast *append(struct site *s, struct cel_ast *item)
{
    return call2(s, STR("_+_"), accu(s), list(s, item));
}

/* ---- One variable ---- */

typedef struct body body_fn(struct site *s, struct cel_ast *predicate);

static struct cel_ast *quantify(struct cel_parser *p, struct cel_ast *call, bool *failed,
                                body_fn *body)
{
    struct site s = SITE(p, call, failed);
    struct vars v;
    if (!one_var(&s, call, simple_name, &v))
        return NULL;
    return fold(&s, call->call.target, v, ACCU, body(&s, call->call.args[1]));
}

static struct cel_ast *expand_all(struct cel_parser *p, struct cel_ast *call,
                                  bool *failed)
{
    return quantify(p, call, failed, all_body);
}

static struct cel_ast *expand_exists(struct cel_parser *p, struct cel_ast *call,
                                     bool *failed)
{
    return quantify(p, call, failed, exists_body);
}

static struct cel_ast *expand_exists_one(struct cel_parser *p, struct cel_ast *call,
                                         bool *failed)
{
    return quantify(p, call, failed, exists_one_body);
}

static struct cel_ast *map_over(struct site *s, struct cel_ast *call,
                                struct cel_ast *range)
{
    struct cel_ast **args = call->call.args;
    struct cel_ast *filter = call->call.nargs == 3 ? args[1] : NULL;
    struct vars v;
    if (!one_var(s, call, not_ident, &v))
        return NULL;
    struct cel_ast *step = append(s, args[call->call.nargs - 1]);
    return fold(s, range, v, ACCU, collect_body(s, list(s, NULL), filter, step));
}

static struct cel_ast *expand_map(struct cel_parser *p, struct cel_ast *call,
                                  bool *failed)
{
    struct site s = SITE(p, call, failed);
    return map_over(&s, call, call->call.target);
}

static struct cel_ast *expand_filter(struct cel_parser *p, struct cel_ast *call,
                                     bool *failed)
{
    struct site s = SITE(p, call, failed);
    struct cel_ast **args = call->call.args;
    struct vars v;
    if (!one_var(&s, call, not_ident, &v))
        return NULL;
    struct body b = collect_body(&s, list(&s, NULL), args[1], append(&s, args[0]));
    return fold(&s, call->call.target, v, ACCU, b);
}

static struct cel_ast *expand_has(struct cel_parser *p, struct cel_ast *call,
                                  bool *failed)
{
    const struct cel_ast *arg = call->call.args[0];
    if (arg->kind != CEL_AST_SELECT)
        return cel_macro_error(p, arg, failed, "invalid argument to has() macro");
    struct cel_ast *n =
        cel_ast_select(p, call->pos, arg->select.operand, arg->select.field);
    n->select.test = true;
    return n;
}

/* ---- Two variables ---- */

static struct cel_ast *quantify2(struct cel_parser *p, struct cel_ast *call, bool *failed,
                                 body_fn *body)
{
    struct site s = SITE(p, call, failed);
    struct vars v;
    if (!two_vars(&s, call, &v))
        return NULL;
    return fold(&s, call->call.target, v, ACCU, body(&s, call->call.args[2]));
}

static struct cel_ast *expand_all2(struct cel_parser *p, struct cel_ast *call,
                                   bool *failed)
{
    return quantify2(p, call, failed, all_body);
}

static struct cel_ast *expand_exists2(struct cel_parser *p, struct cel_ast *call,
                                      bool *failed)
{
    return quantify2(p, call, failed, exists_body);
}

static struct cel_ast *expand_exists_one2(struct cel_parser *p, struct cel_ast *call,
                                          bool *failed)
{
    return quantify2(p, call, failed, exists_one_body);
}

/* The arguments of a transform: with four of them, the third is the filter. */
static struct cel_ast *filter_of(const struct cel_ast *call)
{
    return call->call.nargs == 4 ? call->call.args[2] : NULL;
}

static struct cel_ast *transform_of(const struct cel_ast *call)
{
    return call->call.args[call->call.nargs - 1];
}

static struct cel_ast *expand_transform_list(struct cel_parser *p, struct cel_ast *call,
                                             bool *failed)
{
    struct site s = SITE(p, call, failed);
    struct vars v;
    if (!two_vars(&s, call, &v))
        return NULL;
    struct cel_ast *step = append(&s, transform_of(call));
    struct body b = collect_body(&s, list(&s, NULL), filter_of(call), step);
    return fold(&s, call->call.target, v, ACCU, b);
}

static struct cel_ast *transform_to_map(struct cel_parser *p, struct cel_ast *call,
                                        bool *failed, bool entry)
{
    struct site s = SITE(p, call, failed);
    struct cel_ast *step, *to = transform_of(call);
    struct vars v;
    if (!two_vars(&s, call, &v))
        return NULL;
    if (entry)
        step = call2(&s, STR("cel.@mapInsert"), accu(&s), to);
    else
        step = call3(&s, STR("cel.@mapInsert"), accu(&s), ident(&s, v.a), to);
    struct cel_ast *init = cel_ast_new(p, CEL_AST_MAP, s.pos);
    return fold(&s, call->call.target, v, ACCU,
                collect_body(&s, init, filter_of(call), step));
}

static struct cel_ast *expand_transform_map(struct cel_parser *p, struct cel_ast *call,
                                            bool *failed)
{
    return transform_to_map(p, call, failed, false);
}

static struct cel_ast *expand_transform_map_entry(struct cel_parser *p,
                                                  struct cel_ast *call, bool *failed)
{
    return transform_to_map(p, call, failed, true);
}

/* ---- Bindings: folds over nothing, whose accumulator is the variable ---- */

static struct cel_ast *bind(struct site *s, struct str name, struct cel_ast *value,
                            struct cel_ast *in)
{
    struct body b = {value, boolean(s, false), ident(s, name), in};
    return fold(s, list(s, NULL), (struct vars){UNUSED, STR_NONE}, name, b);
}

static struct cel_ast *expand_bind(struct cel_parser *p, struct cel_ast *call,
                                   bool *failed)
{
    struct site s = SITE(p, call, failed);
    struct cel_ast **args = call->call.args;
    if (!is_ident(&s, args[0], "cel.bind() variable names must be simple identifiers"))
        return NULL;
    return bind(&s, args[0]->ident.name, args[1], args[2]);
}

static struct cel_ast *map_optional(struct cel_parser *p, struct cel_ast *call,
                                    bool *failed, bool flat)
{
    struct site s = SITE(p, call, failed);
    struct cel_ast *var = call->call.args[0], *target = call->call.target;
    if (!is_ident(&s, var,
                  flat ? "optFlatMap() variable name must be a simple identifier"
                       : "optMap() variable name must be a simple identifier"))
        return NULL;
    struct cel_ast *has = member0(&s, STR("hasValue"), target);
    struct cel_ast *value = member0(&s, STR("value"), cel_ast_copy(p, target));
    struct cel_ast *mapped = bind(&s, var->ident.name, value, call->call.args[1]);
    if (!flat)
        mapped = call1(&s, STR("optional.of"), mapped);
    struct cel_ast *none = cel_ast_call(p, s.pos, STR("optional.none"), NULL, NULL, 0);
    return call3(&s, STR("_?_:_"), has, mapped, none);
}

static struct cel_ast *expand_opt_map(struct cel_parser *p, struct cel_ast *call,
                                      bool *failed)
{
    return map_optional(p, call, failed, false);
}

static struct cel_ast *expand_opt_flat_map(struct cel_parser *p, struct cel_ast *call,
                                           bool *failed)
{
    return map_optional(p, call, failed, true);
}

/* bind(input, target, input.@sortByAssociatedKeys(input.map(var, key))) */
static struct cel_ast *expand_sort_by(struct cel_parser *p, struct cel_ast *call,
                                      bool *failed)
{
    static const char complaint[] = "sortBy can only be applied to a list, identifier, "
                                    "comprehension, call or select expression";
    const struct str input = STR("@__sortBy_input__");
    struct site s = SITE(p, call, failed);
    struct cel_ast *target = call->call.target;
    if (target->kind == CEL_AST_CONST || target->kind == CEL_AST_MAP ||
        target->kind == CEL_AST_STRUCT)
        return cel_macro_error(p, target, failed, "%s", complaint);
    struct cel_ast *keys = map_over(&s, call, ident(&s, input));
    if (!keys)
        return NULL;
    struct cel_ast *sorted =
        cel_ast_call(p, s.pos, STR("@sortByAssociatedKeys"), ident(&s, input), &keys, 1);
    return bind(&s, input, target, sorted);
}

/* ---- cel.block, as the conformance tests write what optimizers produce ---- */

static struct cel_ast *expand_block(struct cel_parser *p, struct cel_ast *call,
                                    bool *failed)
{
    struct site s = SITE(p, call, failed);
    struct cel_ast **args = call->call.args;
    if (args[0]->kind != CEL_AST_LIST)
        return cel_macro_error(p, args[0], failed,
                               "cel.block requires the first arg to be a list literal");
    return call2(&s, STR("cel.@block"), args[0], args[1]);
}

static bool index_of(struct site *s, const struct cel_ast *arg, const char *macro,
                     int64_t *out)
{
    if (arg->kind != CEL_AST_CONST || arg->constant.kind != CEL_INT ||
        arg->constant.i < 0) {
        cel_macro_error(s->p, arg, s->failed,
                        "cel.%s requires a non-negative int constant arg", macro);
        return false;
    }
    *out = arg->constant.i;
    return true;
}

static struct cel_ast *expand_index(struct cel_parser *p, struct cel_ast *call,
                                    bool *failed)
{
    struct site s = SITE(p, call, failed);
    int64_t i;
    if (!index_of(&s, call->call.args[0], "index", &i))
        return NULL;
    return ident(&s, arena_printf(p->a, "@index%lld", (long long)i));
}

static struct cel_ast *block_var(struct cel_parser *p, struct cel_ast *call, bool *failed,
                                 const char *macro, const char *prefix)
{
    struct site s = SITE(p, call, failed);
    int64_t depth, unique;
    if (!index_of(&s, call->call.args[0], macro, &depth) ||
        !index_of(&s, call->call.args[1], macro, &unique))
        return NULL;
    return ident(&s, arena_printf(p->a, "%s:%lld:%lld", prefix, (long long)depth,
                                  (long long)unique));
}

static struct cel_ast *expand_iter_var(struct cel_parser *p, struct cel_ast *call,
                                       bool *failed)
{
    return block_var(p, call, failed, "iterVar", "@it");
}

static struct cel_ast *expand_accu_var(struct cel_parser *p, struct cel_ast *call,
                                       bool *failed)
{
    return block_var(p, call, failed, "accuVar", "@ac");
}

/* ---- Rows: name, member, arguments, receiver, since, until, expansion ---- */

const struct cel_macro cel_macros_standard[7] = {
    {"has", false, 1, NULL, 0, 0, expand_has},
    {"all", true, 2, NULL, 0, 0, expand_all},
    {"exists", true, 2, NULL, 0, 0, expand_exists},
    {"exists_one", true, 2, NULL, 0, 0, expand_exists_one},
    {"map", true, 2, NULL, 0, 0, expand_map},
    {"map", true, 3, NULL, 0, 0, expand_map},
    {"filter", true, 2, NULL, 0, 0, expand_filter},
};

const struct cel_macro cel_macros_two_var[10] = {
    {"all", true, 3, NULL, 0, 0, expand_all2},
    {"exists", true, 3, NULL, 0, 0, expand_exists2},
    {"exists_one", true, 3, NULL, 0, 0, expand_exists_one2},
    {"existsOne", true, 3, NULL, 0, 0, expand_exists_one2},
    {"transformList", true, 3, NULL, 0, 0, expand_transform_list},
    {"transformList", true, 4, NULL, 0, 0, expand_transform_list},
    {"transformMap", true, 3, NULL, 0, 0, expand_transform_map},
    {"transformMap", true, 4, NULL, 0, 0, expand_transform_map},
    {"transformMapEntry", true, 3, NULL, 0, 0, expand_transform_map_entry},
    {"transformMapEntry", true, 4, NULL, 0, 0, expand_transform_map_entry},
};

const struct cel_macro cel_macros_optional[2] = {
    {"optMap", true, 2, NULL, 0, 0, expand_opt_map},
    {"optFlatMap", true, 2, NULL, 0, 0, expand_opt_flat_map},
};

const struct cel_macro cel_macros_bindings[1] = {
    {"bind", true, 3, "cel", 0, 0, expand_bind},
};

const struct cel_macro cel_macros_lists[1] = {
    {"sortBy", true, 2, NULL, 0, 0, expand_sort_by},
};

const struct cel_macro cel_macros_block[4] = {
    {"block", true, 2, "cel", 0, 0, expand_block},
    {"index", true, 1, "cel", 0, 0, expand_index},
    {"iterVar", true, 2, "cel", 0, 0, expand_iter_var},
    {"accuVar", true, 2, "cel", 0, 0, expand_accu_var},
};
