/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The type checker: gradual typing with type parameters, as upstream does it (spec 4.3,
 * 4.5, 4.6). It rewrites the tree: names are resolved, "a.b" to one identifier where that
 * is one, and what an operator or a call may be called with is told by unify.h.
 *
 * Types can grow much faster than the text they come from (cel.bind(b, {a: a}, ...)):
 * MAX_WEIGHT bounds that.
 */
#include "base/vec.h"
#include "cel/issues.h"
#include "cel/unify.h"
#include "cel/validate.h"

enum {
    MAX_WEIGHT = 10000, /* nodes of a type */
};

struct local {
    struct str name;
    const struct cel_type *type;
};

struct checker {
    const struct cel_env *env;
    struct cel_expr *x;
    struct arena *a;
    struct cel_reporter report;
    struct str container;
    struct unify u;
    VEC(struct local) locals; /* innermost last */
    VEC(const struct cel_decl *) fits;
    struct strbuf name; /* scratch */
    bool too_big;       /* a type was */
};

/* ---- Types of nodes ---- */

static const struct cel_type *type_of(const struct checker *c, const struct cel_ast *n)
{
    const struct cel_type *t = c->x->types[n->id];
    return t ? t : &cel_type_error;
}

static void report_too_big(struct checker *c, uint32_t pos)
{
    if (!c->too_big)
        cel_report(&c->report, pos, "type of expression exceeds limit: %d", MAX_WEIGHT);
    c->too_big = true;
}

static void set_type(struct checker *c, const struct cel_ast *n, const struct cel_type *t)
{
    if (t->weight > MAX_WEIGHT)
        report_too_big(c, n->pos);
    c->x->types[n->id] = c->too_big ? &cel_type_error : t;
}

static struct cel_ref *ref_of(struct checker *c, const struct cel_ast *n)
{
    return &c->x->refs[n->id];
}

/* ---- Errors ---- */

static void mismatch(struct checker *c, const struct cel_ast *at,
                     const struct cel_type *want, const struct cel_type *got)
{
    struct strbuf w = STRBUF_INIT, g = STRBUF_INIT;
    cel_type_print_short(want, &w);
    cel_type_print_short(got, &g);
    cel_report(&c->report, at->pos, "expected type '%s' but found '%s'", strbuf_cstr(&w),
               strbuf_cstr(&g));
    strbuf_release(&w);
    strbuf_release(&g);
}

/* A text with one type in it. */
__attribute__((format(printf, 3, 0))) static void
report_type(struct checker *c, uint32_t pos, const char *fmt, const struct cel_type *t)
{
    struct strbuf b = STRBUF_INIT;
    cel_type_print_short(t, &b);
    cel_report(&c->report, pos, fmt, strbuf_cstr(&b));
    strbuf_release(&b);
}

static void undeclared(struct checker *c, const struct cel_ast *n, struct str name)
{
    cel_report(&c->report, n->pos, "undeclared reference to '%.*s' (in container '%.*s')",
               STR_ARG(name), STR_ARG(c->container));
    set_type(c, n, &cel_type_error);
}

static void no_overload(struct checker *c, const struct cel_ast *n, struct str function,
                        const struct cel_type *const *args, uint32_t nargs, bool member)
{
    struct strbuf b = STRBUF_INIT;
    for (uint32_t i = 0; i < nargs; i++) {
        if (!member || i > 0)
            strbuf_adds(&b, i == member ? "(" : ", ");
        cel_type_print_short(unify_substitute(&c->u, args[i], true), &b);
        if (member && i == 0)
            strbuf_addc(&b, '.');
    }
    strbuf_adds(&b, nargs == member ? "()" : ")");
    cel_report(&c->report, n->pos,
               "found no matching overload for '%.*s' applied to '%s'", STR_ARG(function),
               strbuf_cstr(&b));
    strbuf_release(&b);
}

/* ---- Names ---- */

static const struct local *find_local(const struct checker *c, struct str name)
{
    if (name.n && name.p[0] == '.')
        name = str_sub(name, 1, name.n);
    for (size_t i = c->locals.n; i > 0; i--)
        if (str_eq(c->locals.v[i - 1].name, name))
            return &c->locals.v[i - 1];
    return NULL;
}

/* Calls try with "a.b.name", "a.name", "name" in container a.b, until one is not NULL. */
typedef const void *try_fn(const struct checker *c, struct str name);

static const void *resolve(struct checker *c, struct str name, try_fn *try)
{
    if (name.n && name.p[0] == '.')
        return try(c, str_sub(name, 1, name.n));
    for (struct str in = c->container; in.n > 0;) {
        strbuf_clear(&c->name);
        strbuf_addstr(&c->name, in);
        strbuf_addc(&c->name, '.');
        strbuf_addstr(&c->name, name);
        const void *found = try(c, strbuf_str(&c->name));
        if (found)
            return found;
        while (in.n > 0 && in.p[--in.n] != '.')
            ;
    }
    return try(c, name);
}

static const void *try_ident(const struct checker *c, struct str name)
{
    return cel_env_ident(c->env, name);
}

static const void *try_type(const struct checker *c, struct str name)
{
    const struct cel_ident *id = cel_env_ident(c->env, name);
    return id && id->names ? id : NULL;
}

static const void *try_function(const struct checker *c, struct str name)
{
    uint32_t n;
    const struct cel_decl *decls = cel_env_function(c->env, name, &n);
    for (uint32_t i = 0; i < n; i++)
        if (!decls[i].dynamic_only)
            return decls;
    return NULL;
}

/* n becomes the name of id; shadowed: a local variable has that name too. */
static void set_ident(struct checker *c, struct cel_ast *n, const struct cel_ident *id,
                      bool shadowed)
{
    struct str name = id->name;
    if (shadowed)
        name = arena_printf(c->a, ".%.*s", STR_ARG(name));
    n->kind = CEL_AST_IDENT;
    n->ident.name = name;
    set_type(c, n, id->type);
    struct cel_ref *ref = ref_of(c, n);
    ref->name = name;
    ref->ident = id;
    ref->is_const = id->constant || id->names;
    if (id->constant)
        ref->constant = id->constant->value;
    else if (id->names)
        ref->constant = cel_type_value(id->names);
}

static void check_ident(struct checker *c, struct cel_ast *n)
{
    struct str name = n->ident.name;
    const struct local *local = find_local(c, name);
    if (local && name.p[0] != '.') {
        set_type(c, n, local->type);
        ref_of(c, n)->name = local->name;
        return;
    }
    const struct cel_ident *id = resolve(c, name, try_ident);
    if (id)
        set_ident(c, n, id, local != NULL);
    else
        undeclared(c, n, name);
}

/* The identifier that selects end in, if n is nothing but those. */
static const struct cel_ast *chain_root(const struct cel_ast *n)
{
    while (n->kind == CEL_AST_SELECT && !n->select.test)
        n = n->select.operand;
    return n->kind == CEL_AST_IDENT ? n : NULL;
}

/* Whether "root.x" can be the beginning of a qualified name. */
static bool may_qualify(const struct checker *c, const struct cel_ast *root)
{
    struct str name = root->ident.name;
    if (c->container.n > 0)
        return true;
    if (name.n && name.p[0] == '.')
        name = str_sub(name, 1, name.n);
    size_t dot = str_find_byte(name, '.', 0);
    return cel_env_qualifies(c->env, str_sub(name, 0, dot));
}

static void write_chain(const struct cel_ast *n, struct strbuf *out)
{
    if (n->kind == CEL_AST_SELECT) {
        write_chain(n->select.operand, out);
        strbuf_addc(out, '.');
        strbuf_addstr(out, n->select.field);
    } else {
        strbuf_addstr(out, n->ident.name);
    }
}

/* "a.b.c" of a chain, in the arena. */
static struct str chain_name(struct checker *c, const struct cel_ast *n)
{
    strbuf_clear(&c->name);
    write_chain(n, &c->name);
    return arena_str(c->a, strbuf_str(&c->name));
}

/* A chain that is a name as a whole becomes it. */
static bool check_qualified(struct checker *c, struct cel_ast *n)
{
    const struct cel_ast *root = chain_root(n);
    if (!root || !may_qualify(c, root))
        return false;
    const struct local *local = find_local(c, root->ident.name);
    if (local && root->ident.name.p[0] != '.')
        return false; /* selects on that */
    const struct cel_ident *id = resolve(c, chain_name(c, n), try_ident);
    if (id)
        set_ident(c, n, id, local != NULL);
    return id != NULL;
}

/* ---- Selects ---- */

static void check(struct checker *c, struct cel_ast *n);

static const struct cel_type *unwrap_optional(const struct cel_type *t, bool *optional)
{
    *optional = cel_type_is_optional(t);
    return *optional ? t->params[0] : t;
}

static const struct cel_type *field_type(struct checker *c, uint32_t pos,
                                         const struct cel_object_type *o,
                                         struct str field)
{
    for (uint32_t i = 0; i < o->nfields; i++)
        if (str_is(field, o->fields[i].name))
            return o->fields[i].type;
    if (o->open)
        return &cel_type_dyn;
    cel_report(&c->report, pos, "undefined field '%.*s'", STR_ARG(field));
    return NULL;
}

/* Kubernetes' types are messages to upstream, of which it knows no fields. */
static bool is_sealed(const struct cel_type *t)
{
    return t->kind == CEL_T_OPAQUE && str_starts(str_from(t->name), STR("kubernetes."));
}

static const struct cel_type *select_type(struct checker *c, const struct cel_ast *n,
                                          const struct cel_type *of, struct str field)
{
    switch (of->kind) {
    case CEL_T_MAP:
        return of->params[1];
    case CEL_T_OBJECT: {
        const struct cel_type *t = field_type(c, n->pos, of->object, field);
        return t ? t : &cel_type_error;
    }
    case CEL_T_PARAM:
        /* Whatever it stands for later must bear this. */
        unify_fits(&c->u, &cel_type_dyn, of);
        return &cel_type_dyn;
    default:
        if (is_sealed(of)) {
            report_type(c, n->pos, "unexpected failed resolution of '%s'", of);
            return &cel_type_error;
        }
        if (!unify_is_dyn_or_error(of))
            report_type(c, n->pos, "type '%s' does not support field selection", of);
        return &cel_type_dyn;
    }
}

static const struct cel_type *check_field(struct checker *c, struct cel_ast *n,
                                          struct cel_ast *operand, struct str field,
                                          bool optional)
{
    bool was_optional;
    check(c, operand);
    const struct cel_type *t = unify_substitute(&c->u, type_of(c, operand), false);
    t = select_type(c, n, unwrap_optional(t, &was_optional), field);
    return optional || was_optional ? cel_type_optional(c->a, t) : t;
}

static void check_select(struct checker *c, struct cel_ast *n)
{
    if (!n->select.test && check_qualified(c, n))
        return;
    const struct cel_type *t =
        check_field(c, n, n->select.operand, n->select.field, false);
    set_type(c, n, n->select.test ? &cel_type_bool : unify_substitute(&c->u, t, false));
}

static void keep_fits(struct checker *c, const struct cel_ast *n)
{
    struct cel_ref *ref = ref_of(c, n);
    const struct cel_decl **out = arena_alloc(c->a, c->fits.n * sizeof *out);
    if (c->fits.n)
        memcpy(out, c->fits.v, c->fits.n * sizeof *out);
    ref->overloads = out;
    ref->noverloads = (uint32_t)c->fits.n;
}

static void check_optional_select(struct checker *c, struct cel_ast *n)
{
    struct cel_ast **args = n->call.args;
    uint32_t ndecls;
    const struct cel_decl *decl = cel_env_function(c->env, n->call.function, &ndecls);
    const struct cel_type *t =
        check_field(c, n, args[0], cel_str(args[1]->constant), true);
    set_type(c, n, unify_substitute(&c->u, t, false));
    vec_clear(&c->fits);
    if (ndecls)
        vec_push_in(c->a, &c->fits, decl);
    keep_fits(c, n);
}

/* ---- Calls ---- */

struct call {
    struct cel_ast *node;
    const struct cel_decl *decls;
    uint32_t ndecls;
    bool member;
    uint32_t nargs; /* with the receiver */
    const struct cel_type **args;
};

/* A quick look at a type of a signature: false if a cannot fit. */
static bool plausible(const struct cel_type *a, const struct cel_type *sig)
{
    if (sig->kind == a->kind)
        return sig->kind != CEL_T_OPAQUE || unify_same_name(a, sig);
    return unify_is_dyn_or_error(a) || unify_is_dyn_or_error(sig) ||
           a->kind == CEL_T_PARAM || sig->kind == CEL_T_PARAM ||
           a->kind == CEL_T_WRAPPER || (a->kind == CEL_T_NULL && unify_nullable(sig)) ||
           sig->kind == CEL_T_WRAPPER;
}

static bool plausible_call(const struct call *call, const struct cel_decl *d)
{
    if (d->nargs != call->nargs)
        return false;
    for (uint32_t i = 0; i < d->nargs; i++)
        if (!plausible(call->args[i], d->args[i]))
            return false;
    return true;
}

/* The result type if the overload fits, and then its variables are bound. */
static const struct cel_type *try_overload(struct checker *c, const struct call *call,
                                           const struct cel_decl *d)
{
    /* Messages show their numbers: every overload that is looked at has its own. */
    uint32_t base = d->nparams ? unify_vars(&c->u, d->nparams) : 0;
    if (!plausible_call(call, d))
        return NULL;
    if (d->alike)
        return unify_fits(&c->u, call->args[1], call->args[0]) ? d->result : NULL;
    size_t mark = unify_mark(&c->u);
    for (uint32_t i = 0; i < d->nargs; i++) {
        if (!unify_assignable(&c->u, call->args[i],
                              unify_instantiate(&c->u, d->args[i], base))) {
            unify_unwind(&c->u, mark);
            return NULL;
        }
    }
    return unify_substitute(&c->u, unify_instantiate(&c->u, d->result, base), false);
}

static bool is_logic(struct str function)
{
    return str_eq(function, STR("_&&_")) || str_eq(function, STR("_||_"));
}

/* && and || say which operand is no bool. */
static const struct cel_type *check_logic(struct checker *c, const struct call *call)
{
    bool ok = true;
    for (uint32_t i = 0; i < call->nargs; i++) {
        if (unify_fits(&c->u, call->args[i], &cel_type_bool))
            continue;
        mismatch(c, call->node->call.args[i], &cel_type_bool, call->args[i]);
        ok = false;
    }
    if (ok)
        vec_push_in(c->a, &c->fits, call->decls);
    return ok ? &cel_type_bool : NULL;
}

/* All overloads that fit go to c->fits. */
static const struct cel_type *check_overloads(struct checker *c, const struct call *call)
{
    const struct cel_type *result = NULL;
    for (uint32_t i = 0; i < call->ndecls; i++) {
        const struct cel_decl *d = &call->decls[i];
        if (d->row->member != call->member || d->dynamic_only)
            continue;
        const struct cel_type *t = try_overload(c, call, d);
        if (!t)
            continue;
        vec_push_in(c->a, &c->fits, d);
        if (!result)
            result = t;
        else if (!unify_is_dyn(result) && !unify_exact(&c->u, t, result))
            result = &cel_type_dyn;
    }
    return result;
}

static void resolve_overload(struct checker *c, struct call *call)
{
    struct cel_ast *n = call->node;
    const struct cel_type *t;
    vec_clear(&c->fits);
    if (is_logic(n->call.function) && !call->member) {
        t = check_logic(c, call);
    } else {
        t = check_overloads(c, call);
        if (!t)
            no_overload(c, n, n->call.function, call->args, call->nargs, call->member);
    }
    if (t)
        keep_fits(c, n);
    set_type(c, n, t ? t : &cel_type_error);
}

static bool find_function(struct checker *c, struct cel_ast *n, struct str name,
                          struct call *call)
{
    call->decls = resolve(c, name, try_function);
    if (!call->decls)
        return false;
    call->ndecls = call->decls->noverloads;
    n->call.function = call->decls->function;
    return true;
}

static void collect_args(struct checker *c, struct call *call)
{
    struct cel_ast *n = call->node;
    uint32_t k = 0;
    call->nargs = n->call.nargs + call->member;
    call->args = arena_alloc(c->a, call->nargs * sizeof *call->args);
    if (call->member)
        call->args[k++] = type_of(c, n->call.target);
    for (uint32_t i = 0; i < n->call.nargs; i++)
        call->args[k++] = type_of(c, n->call.args[i]);
}

/* "a.b.f(x)" where a.b.f is a function: the receiver is part of its name. */
static bool find_qualified(struct checker *c, struct cel_ast *n, struct call *call)
{
    const struct cel_ast *root = chain_root(n->call.target);
    if (!root || !may_qualify(c, root))
        return false;
    strbuf_clear(&c->name);
    write_chain(n->call.target, &c->name);
    strbuf_addc(&c->name, '.');
    strbuf_addstr(&c->name, n->call.function);
    if (!find_function(c, n, arena_str(c->a, strbuf_str(&c->name)), call))
        return false;
    n->call.target = NULL;
    return true;
}

static void check_call(struct checker *c, struct cel_ast *n)
{
    struct call call = {.node = n};
    if (str_eq(n->call.function, STR("_?._"))) {
        check_optional_select(c, n);
        return;
    }
    for (uint32_t i = 0; i < n->call.nargs; i++)
        check(c, n->call.args[i]);
    if (!n->call.target || !find_qualified(c, n, &call)) {
        call.member = n->call.target != NULL;
        if (call.member)
            check(c, n->call.target);
        if (!find_function(c, n, n->call.function, &call)) {
            undeclared(c, n, n->call.function);
            return;
        }
    }
    collect_args(c, &call);
    resolve_overload(c, &call);
}

/* ---- Literals ---- */

/* The type of both. A null beside what may be null leaves its type as it is; upstream has
 * that only when the null comes first. */
static const struct cel_type *join(struct checker *c, const struct cel_type *so_far,
                                   const struct cel_type *next)
{
    if (!so_far)
        return next;
    if (!unify_fits(&c->u, so_far, next))
        return &cel_type_dyn;
    if (next->kind == CEL_T_NULL && unify_nullable(so_far))
        return so_far;
    return unify_most_general(&c->u, so_far, next);
}

/* The type of "?x" as an element. */
static const struct cel_type *element_type(struct checker *c, const struct cel_ast *n,
                                           bool optional)
{
    const struct cel_type *t = type_of(c, n);
    bool is_optional;
    if (!optional)
        return t;
    t = unwrap_optional(t, &is_optional);
    if (!is_optional && !unify_is_dyn(t))
        mismatch(c, n, cel_type_optional(c->a, t), t);
    return t;
}

static void check_list(struct checker *c, struct cel_ast *n)
{
    const struct cel_type *elem = NULL;
    for (uint32_t i = 0; i < n->list.n; i++) {
        struct cel_ast *item = n->list.items[i];
        check(c, item);
        elem =
            join(c, elem, element_type(c, item, n->list.optional && n->list.optional[i]));
    }
    set_type(c, n, cel_type_list(c->a, elem ? elem : unify_var(&c->u)));
}

static void check_map(struct checker *c, struct cel_ast *n)
{
    const struct cel_type *key = NULL, *value = NULL;
    for (uint32_t i = 0; i < n->map.n; i++) {
        struct cel_ast_entry *e = &n->map.entries[i];
        check(c, e->key);
        key = join(c, key, type_of(c, e->key));
        check(c, e->value);
        value = join(c, value, element_type(c, e->value, e->optional));
    }
    if (!key) {
        key = unify_var(&c->u);
        value = unify_var(&c->u);
    }
    set_type(c, n, cel_type_map(c->a, key, value));
}

static void check_entry(struct checker *c, const struct cel_object_type *object,
                        const struct cel_ast_entry *e)
{
    check(c, e->value);
    const struct cel_type *got = element_type(c, e->value, e->optional);
    const struct cel_type *want = field_type(c, e->pos, object, e->field);
    if (!want || unify_fits(&c->u, want, got))
        return;
    struct strbuf w = STRBUF_INIT, g = STRBUF_INIT;
    cel_type_print_short(want, &w);
    cel_type_print_short(got, &g);
    cel_report(&c->report, e->pos,
               "expected type of field '%.*s' is '%s' but provided type is '%s'",
               STR_ARG(e->field), strbuf_cstr(&w), strbuf_cstr(&g));
    strbuf_release(&w);
    strbuf_release(&g);
}

/* An object of a type that the host adds. */
static void check_record(struct checker *c, struct cel_ast *n,
                         const struct cel_record_type *r)
{
    struct cel_object_type *o = ARENA_NEW(c->a, struct cel_object_type);
    *o = r->type;
    o->name = arena_str(c->a, n->map.type_name).p;
    ref_of(c, n)->name = n->map.type_name;
    set_type(c, n, cel_type_object(c->a, o));
    for (uint32_t i = 0; i < n->map.n; i++)
        check_entry(c, o, &n->map.entries[i]);
}

static void check_struct(struct checker *c, struct cel_ast *n)
{
    const struct cel_record_type *record = cel_env_record(c->env, n->map.type_name);
    if (record) {
        check_record(c, n, record);
        return;
    }
    const struct cel_ident *id = resolve(c, n->map.type_name, try_type);
    if (!id) {
        undeclared(c, n, n->map.type_name);
        return;
    }
    n->map.type_name = id->name;
    ref_of(c, n)->name = id->name;
    if (!id->message) {
        cel_report(&c->report, n->pos, "'%s' is not a message type",
                   cel_type_name(id->names));
        set_type(c, n, &cel_type_error);
        return;
    }
    set_type(c, n, id->names);
    for (uint32_t i = 0; i < n->map.n; i++)
        check_entry(c, id->message, &n->map.entries[i]);
}

/* ---- Comprehensions ---- */

static void push_local(struct checker *c, struct str name, const struct cel_type *t)
{
    vec_push_in(c->a, &c->locals, (struct local){name, t});
}

/* The types of the variables over a range; two of them get key and value. */
static void range_types(struct checker *c, const struct cel_ast *range, bool two,
                        const struct cel_type *out[2])
{
    const struct cel_type *t = unify_substitute(&c->u, type_of(c, range), false);
    switch (t->kind) {
    case CEL_T_LIST:
        out[0] = two ? &cel_type_int : t->params[0];
        out[1] = t->params[0];
        return;
    case CEL_T_MAP:
        out[0] = t->params[0];
        out[1] = t->params[1];
        return;
    case CEL_T_DYN:
    case CEL_T_ERROR:
    case CEL_T_PARAM:
        unify_fits(&c->u, &cel_type_dyn, t);
        out[0] = out[1] = &cel_type_dyn;
        return;
    default:
        report_type(c, range->pos,
                    "expression of type '%s' cannot be range of a comprehension (must be "
                    "list, map, or dynamic)",
                    t);
        out[0] = out[1] = &cel_type_error;
    }
}

static void require(struct checker *c, const struct cel_ast *n, const struct cel_type *t)
{
    if (!unify_fits(&c->u, t, type_of(c, n)))
        mismatch(c, n, t, type_of(c, n));
}

static void check_fold(struct checker *c, struct cel_ast *n)
{
    size_t outside = c->locals.n;
    const struct cel_type *vars[2];
    bool two = n->fold.iter_var2.n > 0;
    check(c, n->fold.range);
    check(c, n->fold.init);
    const struct cel_type *accu = type_of(c, n->fold.init);
    range_types(c, n->fold.range, two, vars);
    push_local(c, n->fold.accu_var, accu);
    push_local(c, n->fold.iter_var, vars[0]);
    if (two)
        push_local(c, n->fold.iter_var2, vars[1]);
    check(c, n->fold.condition);
    require(c, n->fold.condition, &cel_type_bool);
    check(c, n->fold.step);
    require(c, n->fold.step, accu);
    c->locals.n = outside + 1; /* the result sees the accumulator alone */
    check(c, n->fold.result);
    c->locals.n = outside;
    set_type(c, n, unify_substitute(&c->u, type_of(c, n->fold.result), false));
}

/* ---- */

static const struct cel_type *const const_types[CEL_KINDS] = {
    [CEL_NULL] = &cel_type_null,     [CEL_BOOL] = &cel_type_bool,
    [CEL_INT] = &cel_type_int,       [CEL_UINT] = &cel_type_uint,
    [CEL_DOUBLE] = &cel_type_double, [CEL_STRING] = &cel_type_string,
    [CEL_BYTES] = &cel_type_bytes,
};

static void check(struct checker *c, struct cel_ast *n)
{
    switch (n->kind) {
    case CEL_AST_CONST:
        set_type(c, n, const_types[n->constant.kind]);
        break;
    case CEL_AST_IDENT:
        check_ident(c, n);
        break;
    case CEL_AST_SELECT:
        check_select(c, n);
        break;
    case CEL_AST_CALL:
        check_call(c, n);
        break;
    case CEL_AST_LIST:
        check_list(c, n);
        break;
    case CEL_AST_MAP:
        check_map(c, n);
        break;
    case CEL_AST_STRUCT:
        check_struct(c, n);
        break;
    case CEL_AST_COMPREHENSION:
        check_fold(c, n);
        break;
    }
}

static void settle_types(struct checker *c)
{
    for (uint32_t id = 1; id <= c->x->nids; id++) {
        const struct cel_type *t = c->x->types[id];
        if (!t || !t->var)
            continue;
        t = c->x->types[id] = unify_settle(&c->u, t);
        if (t->weight > MAX_WEIGHT)
            report_too_big(c, CEL_NO_POS);
    }
}

bool cel_check(const struct cel_env *env, struct cel_expr *x, struct arena *a,
               struct cel_issues *issues)
{
    struct checker c = {
        .env = env,
        .x = x,
        .a = a,
        .report = {issues, a, x->text},
        .container = str_from(cel_env_container(env)),
    };
    *issues = (struct cel_issues){0};
    unify_init(&c.u, a);
    x->types = ARENA_ARRAY(a, const struct cel_type *, x->nids + 1);
    x->refs = ARENA_ARRAY(a, struct cel_ref, x->nids + 1);
    check(&c, x->root);
    settle_types(&c);
    if (c.u.exhausted)
        cel_report(&c.report, CEL_NO_POS, "type check exceeds limit");
    if (!issues->total) {
        x->type = x->types[x->root->id];
        cel_validate(env, x, &c.report);
    }
    strbuf_release(&c.name);
    cel_issues_sort(issues);
    return issues->total == 0;
}

struct cel_expr *cel_compile(const struct cel_env *env, struct str text, struct arena *a,
                             struct cel_issues *issues)
{
    struct cel_expr *x = cel_parse(env, text, a, issues);
    return x && cel_check(env, x, a, issues) ? x : NULL;
}
