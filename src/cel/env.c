/* SPDX-License-Identifier: Apache-2.0 */
#include "cel/env.h"

#include <stdlib.h>

#include "base/bug.h"
#include "base/map.h"
#include "base/mem.h"
#include "cel/estimate.h"
#include "cel/messages.h"
#include "cel/planner.h"

struct function {
    struct cel_decl *decls;
    uint32_t n, room; /* room: rows counted in the first pass */
    cel_cost_fn *cost;
};

struct macros {
    const struct cel_macro *rows[8]; /* of one name */
    uint32_t n;
};

struct cel_env {
    struct arena arena;
    struct cel_env_opts opts;
    const struct cel_env *base; /* whose functions, macros and types it has too; NULL */
    struct cel_var *vars;
    struct strmap functions; /* struct function */
    struct strmap idents;    /* struct cel_ident */
    struct strmap macros;    /* struct macros */
    struct strmap firsts;    /* "a" of every qualified name "a.b" */
    uint32_t initials;       /* of these: a bit for each */
    uint32_t ndecls;
};

static bool in_version(const struct cel_env *env, unsigned since, unsigned until)
{
    unsigned version = env->opts.version;
    if (version == 0)
        return until == 0;
    return since <= version && (until == 0 || version < until);
}

static bool lib_taken(const struct cel_env *env, const struct cel_env_lib *lib)
{
    return in_version(env, lib->since, lib->until);
}

#define each_lib(env, l)                                                                 \
    for (const struct cel_env_lib *l = (env)->opts.libs;                                 \
         l < (env)->opts.libs + (env)->opts.nlibs; l++)                                  \
        if (lib_taken((env), l))

/* ---- Names ---- */

static uint32_t initial(struct str name)
{
    return name.n ? UINT32_C(1) << (name.p[0] & 31) : 0;
}

static void add_first(struct cel_env *env, struct str name)
{
    size_t dot = str_find_byte(name, '.', 0);
    bool made;
    if (dot == SIZE_MAX)
        return;
    strmap_put(&env->firsts, str_sub(name, 0, dot), &made);
    env->initials |= initial(str_sub(name, 0, dot));
}

/* Names of the environment live as long as it does. */
static struct str keep(struct cel_env *env, const char *name)
{
    return arena_str(&env->arena, str_from(name));
}

/* NULL if the name is taken. */
static struct cel_ident *add_ident(struct cel_env *env, const char *name)
{
    bool made;
    if (strmap_find(&env->idents, str_from(name)))
        return NULL;
    struct cel_ident *id = ARENA_NEW(&env->arena, struct cel_ident);
    id->name = keep(env, name);
    strmap_put(&env->idents, id->name, &made)->value.ptr = id;
    add_first(env, id->name);
    return id;
}

static void add_type(struct cel_env *env, const char *name, const struct cel_type *t)
{
    struct cel_ident *id = add_ident(env, name);
    if (!id)
        return;
    id->names = t;
    id->type = cel_type_of(&env->arena, t);
    id->message = t->object;
}

/* The types with fields that t leads to are names too. */
static void add_objects(struct cel_env *env, const struct cel_type *t)
{
    for (unsigned i = 0; i < t->nparams; i++)
        add_objects(env, t->params[i]);
    if (t->kind != CEL_T_OBJECT || strmap_find(&env->idents, str_from(t->name)))
        return;
    add_type(env, t->name, t);
    for (uint32_t i = 0; i < t->object->nfields; i++)
        add_objects(env, t->object->fields[i].type);
}

static void add_vars(struct cel_env *env)
{
    uint32_t n = env->opts.nvars;
    env->vars = ARENA_ARRAY(&env->arena, struct cel_var, n);
    for (uint32_t i = 0; i < n; i++) {
        struct cel_ident *id = add_ident(env, env->opts.vars[i].name);
        if (!id)
            bug("cel: variable declared twice: %s", env->opts.vars[i].name);
        env->vars[i] = env->opts.vars[i];
        env->vars[i].name = id->name.p;
        id->var = &env->vars[i];
        id->type = id->var->type;
    }
}

static void add_const(struct cel_env *env, const struct cel_const *from)
{
    struct cel_const *c = ARENA_NEW(&env->arena, struct cel_const);
    *c = *from;
    struct cel_ident *id = add_ident(env, c->name);
    if (!id)
        return;
    c->name = id->name.p;
    id->constant = c;
    id->type = c->type;
}

static void add_consts(struct cel_env *env)
{
    static const struct cel_const null_value = {
        "google.protobuf.NullValue.NULL_VALUE", &cel_type_int, {.kind = CEL_INT}};
    for (uint32_t i = 0; i < env->opts.nconsts; i++)
        add_const(env, &env->opts.consts[i]);
    add_const(env, &null_value);
}

/* The types of the language that are names (dyn and any are none). */
static void add_language_types(struct cel_env *env)
{
    static const struct cel_type *const types[] = {
        &cel_type_bool,   &cel_type_bytes,     &cel_type_double,  &cel_type_duration,
        &cel_type_int,    &cel_type_list_dyn,  &cel_type_map_dyn, &cel_type_null,
        &cel_type_string, &cel_type_timestamp, &cel_type_type,    &cel_type_uint,
    };
    for (unsigned i = 0; i < sizeof types / sizeof *types; i++)
        add_type(env, cel_type_name(types[i]), types[i]);
}

/* Messages of the language: names of types, and most of them of no other name. */
static void add_messages(struct cel_env *env)
{
    for (const struct cel_message *m = cel_messages; m->fields.name; m++) {
        add_type(env, m->fields.name, m->type);
        struct cel_ident *id =
            strmap_find(&env->idents, str_from(m->fields.name))->value.ptr;
        if (id->names == m->type)
            id->message = &m->fields;
    }
}

static void add_idents(struct cel_env *env)
{
    add_vars(env);
    add_language_types(env);
    add_messages(env);
    each_lib(env, l)
    {
        for (uint32_t i = 0; i < l->lib->ntypes; i++)
            if (in_version(env, l->lib->types[i].since, 0))
                add_type(env, l->lib->types[i].name, l->lib->types[i].type);
    }
    add_consts(env);
    for (uint32_t i = 0; i < env->opts.nvars; i++)
        add_objects(env, env->vars[i].type);
}

/* ---- Functions ---- */

typedef void row_fn(struct cel_env *env, const struct cel_overload *row);

static void each_row(struct cel_env *env, row_fn *fn)
{
    each_lib(env, l)
    {
        for (uint32_t i = 0; i < l->lib->noverloads; i++)
            if (in_version(env, l->lib->overloads[i].since, l->lib->overloads[i].until))
                fn(env, &l->lib->overloads[i]);
    }
    for (uint32_t i = 0; i < env->opts.nfunctions; i++)
        fn(env, &env->opts.functions[i]);
}

static struct function *get_function(const struct cel_env *env, struct str name)
{
    const struct cel_env *has = env->base ? env->base : env;
    struct strmap_entry *e = strmap_find(&has->functions, name);
    return e ? e->value.ptr : NULL;
}

static void count_row(struct cel_env *env, const struct cel_overload *row)
{
    struct function *f = get_function(env, str_from(row->function));
    if (!f) {
        bool made;
        struct str name = keep(env, row->function);
        f = ARENA_NEW(&env->arena, struct function);
        strmap_put(&env->functions, name, &made)->value.ptr = f;
        add_first(env, name);
    }
    f->room++;
}

static bool is_number(const struct cel_type *t)
{
    return t->kind == CEL_T_INT || t->kind == CEL_T_UINT || t->kind == CEL_T_DOUBLE;
}

/* int < double and the like are no overloads for the checker without the flag, but serve
 * operands of type dyn. */
static bool is_cross_numeric(const struct cel_decl *d)
{
    static const char *const functions[] = {"_<_", "_<=_", "_>_", "_>=_"};
    if (d->nargs != 2 || !is_number(d->args[0]) || !is_number(d->args[1]) ||
        d->args[0] == d->args[1])
        return false;
    for (unsigned i = 0; i < 4; i++)
        if (strcmp(d->row->function, functions[i]) == 0)
            return true;
    return false;
}

/* Names by which trees from elsewhere may call operators, but no text. */
static bool is_undeclared(const char *function)
{
    static const char *const functions[] = {"_in_", "in", "__not_strictly_false__"};
    for (unsigned i = 0; i < 3; i++)
        if (strcmp(function, functions[i]) == 0)
            return true;
    return false;
}

static bool is_alike(const struct cel_signature *sig)
{
    return sig->nargs == 2 && sig->args[0]->kind == CEL_T_PARAM &&
           sig->args[0] == sig->args[1] && sig->result->var == 0;
}

static bool is_dynamic_only(const struct cel_env *env, const struct cel_decl *d)
{
    if (is_cross_numeric(d))
        return !(env->opts.flags & CEL_ENV_CROSS_NUMERIC);
    return is_undeclared(d->row->function);
}

static cel_cost_fn *find_cost(const struct cel_env *env, const char *overload,
                              const char *function)
{
    const char *want = overload ? overload : function;
    each_lib(env, l)
    {
        for (uint32_t i = 0; i < l->lib->ncosts; i++) {
            const struct cel_cost_row *row = &l->lib->costs[i];
            const char *have = overload ? row->overload : row->function;
            if (have && want && strcmp(have, want) == 0)
                return row->cost;
        }
    }
    return NULL;
}

static void add_row(struct cel_env *env, const struct cel_overload *row)
{
    struct function *f = get_function(env, str_from(row->function));
    struct cel_signature sig;
    if (!f->decls) {
        f->decls = ARENA_ARRAY(&env->arena, struct cel_decl, f->room);
        f->cost = find_cost(env, NULL, row->function);
    }
    for (uint32_t i = 0; i < f->n; i++) /* libraries may share an overload */
        if (strcmp(f->decls[i].row->id, row->id) == 0)
            return;
    if (!cel_signature_parse(&env->arena, str_from(row->type), &sig))
        bug("cel: bad signature: %s", row->type);
    struct cel_decl *d = &f->decls[f->n++];
    *d = (struct cel_decl){
        .row = row,
        .function = str_from(row->function),
        .special = cel_plan_special(row->function),
        .args = sig.args,
        .nargs = sig.nargs,
        .result = sig.result,
        .nparams = sig.nparams,
        .generic = sig.nparams != 0,
        .alike = is_alike(&sig),
        .cost = find_cost(env, row->id, NULL),
        .estimate = cel_estimate_find(row),
        .index = env->ndecls++,
    };
    if (!d->cost)
        d->cost = f->cost;
    d->dynamic_only = is_dynamic_only(env, d);
    f->decls[0].noverloads = f->n;
}

/* ---- Macros ---- */

static void add_macro(struct cel_env *env, const struct cel_macro *row)
{
    bool made;
    struct strmap_entry *e = strmap_put(&env->macros, str_from(row->name), &made);
    if (made)
        e->value.ptr = ARENA_NEW(&env->arena, struct macros);
    struct macros *m = e->value.ptr;
    if (m->n == sizeof m->rows / sizeof *m->rows)
        bug("cel: too many macros named %s", row->name);
    m->rows[m->n++] = row;
}

static void add_macros(struct cel_env *env)
{
    each_lib(env, l)
    {
        for (uint32_t i = 0; i < l->lib->nmacros; i++)
            if (in_version(env, l->lib->macros[i].since, l->lib->macros[i].until))
                add_macro(env, &l->lib->macros[i]);
    }
}

/* ---- */

struct cel_env *cel_env_new(const struct cel_env_opts *opts)
{
    struct cel_env *env = mem_zalloc(sizeof *env);
    arena_init(&env->arena);
    env->opts = *opts;
    add_idents(env);
    each_row(env, count_row);
    each_row(env, add_row);
    add_macros(env);
    if (opts->container && *opts->container)
        env->opts.container = keep(env, opts->container).p;
    else
        env->opts.container = NULL;
    return env;
}

struct cel_env *cel_env_extend(const struct cel_env *base, const struct cel_var *vars,
                               uint32_t nvars)
{
    struct cel_env *env = mem_zalloc(sizeof *env);
    arena_init(&env->arena);
    env->base = base->base ? base->base : base;
    env->opts = base->opts;
    env->opts.vars = vars;
    env->opts.nvars = nvars;
    env->ndecls = base->ndecls;
    add_vars(env);
    return env;
}

void cel_env_free(struct cel_env *env)
{
    if (!env)
        return;
    strmap_release(&env->functions);
    strmap_release(&env->idents);
    strmap_release(&env->macros);
    strmap_release(&env->firsts);
    arena_fini(&env->arena);
    free(env);
}

const struct cel_ident *cel_env_ident(const struct cel_env *env, struct str name)
{
    struct strmap_entry *e = strmap_find(&env->idents, name);
    if (!e && env->base) {
        const struct cel_ident *id = cel_env_ident(env->base, name);
        return id && !id->var ? id : NULL;
    }
    return e ? e->value.ptr : NULL;
}

bool cel_env_qualifies(const struct cel_env *env, struct str first)
{
    return (env->initials & initial(first) && strmap_find(&env->firsts, first)) ||
           (env->base && cel_env_qualifies(env->base, first));
}

const struct cel_record_type *cel_env_record(const struct cel_env *env, struct str name)
{
    for (uint32_t i = 0; i < env->opts.nrecords; i++) {
        const struct cel_record_type *r = &env->opts.records[i];
        struct str root = str_from(r->type.name);
        bool below = r->below && str_starts(name, root) && name.n > root.n &&
                     name.p[root.n] == '.';
        if (below || str_eq(name, root))
            return r;
    }
    return NULL;
}

const struct cel_var *cel_env_var(const struct cel_env *env, struct str name)
{
    const struct cel_ident *id = cel_env_ident(env, name);
    return id ? id->var : NULL;
}

const struct cel_var *cel_env_vars(const struct cel_env *env, uint32_t *n)
{
    *n = env->opts.nvars;
    return env->vars;
}

const struct cel_type *cel_env_type(const struct cel_env *env, struct str name)
{
    const struct cel_ident *id = cel_env_ident(env, name);
    return id ? id->names : NULL;
}

const struct cel_decl *cel_env_function(const struct cel_env *env, struct str name,
                                        uint32_t *n)
{
    const struct function *f = get_function(env, name);
    *n = f ? f->n : 0;
    return f ? f->decls : NULL;
}

cel_cost_fn *cel_env_cost(const struct cel_env *env, struct str function)
{
    const struct function *f = get_function(env, function);
    return f ? f->cost : NULL;
}

const struct cel_macro *cel_env_macro(const struct cel_env *env, struct str name,
                                      bool member, unsigned nargs)
{
    const struct cel_env *has = env->base ? env->base : env;
    struct strmap_entry *e = strmap_find(&has->macros, name);
    const struct macros *m = e ? e->value.ptr : NULL;
    const struct cel_macro *any = NULL;
    for (uint32_t i = 0; m && i < m->n; i++) {
        if (m->rows[i]->member != member)
            continue;
        if (m->rows[i]->nargs >= 0 && (unsigned)m->rows[i]->nargs == nargs)
            return m->rows[i];
        if (m->rows[i]->nargs < 0)
            any = m->rows[i];
    }
    return any;
}

const struct cel_env_opts *cel_env_opts(const struct cel_env *env)
{
    return &env->opts;
}

unsigned cel_env_flags(const struct cel_env *env)
{
    return env->opts.flags;
}

const char *cel_env_container(const struct cel_env *env)
{
    return env->opts.container;
}
