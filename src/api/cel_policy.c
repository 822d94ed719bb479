/* SPDX-License-Identifier: Apache-2.0 */
/* Expressions of admission as they are compiled. */
#include "api/cel_policy_inner.h"

#include "base/mem.h"

/* ---- Objects and patches ---- */

static const struct cel_field patch_fields[] = {{"op", &cel_type_string},
                                                {"path", &cel_type_string},
                                                {"from", &cel_type_string},
                                                {"value", &cel_type_dyn}};
static const struct cel_record_type RECORDS[] = {
    {{.name = "Object", .open = true}, true},
    {{.name = "JSONPatch", .fields = patch_fields, .nfields = CEL_COUNT(patch_fields)},
     false},
};

static struct cel_value escape_key(struct cel_run *run, const struct cel_value *args,
                                   unsigned n)
{
    struct str s = cel_str(args[0]);
    struct strbuf b = STRBUF_INIT;
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] == '/')
            strbuf_adds(&b, "~1");
        else if (s.p[i] == '~')
            strbuf_adds(&b, "~0");
        else
            strbuf_addc(&b, s.p[i]);
    }
    return cel_lib_text(run, &b);
}

static const struct cel_overload PATCH_FUNCTIONS[] = {
    CEL_GLOBAL("string_jsonpatch_escapeKey_string", "jsonpatch.escapeKey",
               "(string) -> string", 0, escape_key)};
static const struct cel_lib patch_lib = {.name = "jsonpatch",
                                         .overloads = PATCH_FUNCTIONS,
                                         .noverloads = CEL_COUNT(PATCH_FUNCTIONS)};

/* The environment with what makes patches. */
static struct cel_env *with_patches(const struct cel_env *base)
{
    struct cel_env_opts opts = *cel_env_opts(base);
    struct cel_env_lib *libs = mem_array(opts.nlibs + 1, sizeof *libs);
    memcpy(libs, opts.libs, opts.nlibs * sizeof *libs);
    libs[opts.nlibs++] = (struct cel_env_lib){&patch_lib, 0, 0};
    opts.libs = libs;
    opts.records = RECORDS;
    opts.nrecords = CEL_COUNT(RECORDS);
    struct cel_env *env = cel_env_new(&opts);
    free(libs);
    return env;
}

void policy_cel_init(struct policy_cel *c, const struct api_cel *base)
{
    c->base = base;
    c->fresh = with_patches(base->fresh);
    c->stored = with_patches(base->stored);
}

void policy_cel_fini(struct policy_cel *c)
{
    cel_env_free(c->fresh);
    cel_env_free(c->stored);
}

/* ---- Environments of a policy ---- */

enum { DOCS_FIXED = 4 };

struct policy_exprs *policy_exprs_new(const struct policy_cel *cel, bool params)
{
    struct policy_exprs *x = mem_zalloc(sizeof *x);
    arena_init(&x->arena);
    x->cel = cel;
    x->params = params;
    for (int i = 0; i < POLICY_DOCS; i++)
        x->paths[i].arena = &x->arena;
    x->variables_object.name = POLICY_VARIABLES_NAME;
    x->variables_type = (struct cel_type){.kind = CEL_T_OBJECT,
                                          .name = x->variables_object.name,
                                          .object = &x->variables_object};
    return x;
}

void policy_exprs_free(struct policy_exprs *x)
{
    if (!x)
        return;
    for (struct policy_expr *e = x->all; e; e = e->next)
        cel_program_free(e->program);
    for (int i = 0; i < POLICY_ENVS; i++)
        cel_env_free(x->envs[i]);
    for (int i = 0; i < POLICY_DOCS; i++)
        api_doc_paths_release(&x->paths[i]);
    vec_release(&x->variables);
    vec_release(&x->fields);
    arena_fini(&x->arena);
    free(x);
}

struct str policy_text_keep(struct policy_exprs *x, struct str text)
{
    return arena_str(&x->arena, text);
}

static struct cel_var doc_var(struct policy_exprs *x, enum policy_doc which,
                              const char *name, const struct cel_type *type)
{
    return (struct cel_var){
        .name = name, .type = type, .ops = &api_doc_ops, .decl = &x->paths[which]};
}

/* All of them begin alike, so that activations serve every environment. */
static struct cel_env *make_env(struct policy_exprs *x, const struct cel_env *base,
                                unsigned flags)
{
    struct cel_var vars[POLICY_VARS];
    uint32_t n = 0;
    bool authorizer = flags & POLICY_AUTHORIZER, variables = flags & POLICY_VARIABLES;
    vars[n++] = doc_var(x, POLICY_DOC_OBJECT, "object", &cel_type_dyn);
    vars[n++] = doc_var(x, POLICY_DOC_OLD, "oldObject", &cel_type_dyn);
    vars[n++] =
        doc_var(x, POLICY_DOC_NAMESPACE, "namespaceObject", policy_namespace_type);
    vars[n++] = doc_var(x, POLICY_DOC_REQUEST, "request", policy_request_type);
    vars[n++] =
        doc_var(x, POLICY_DOC_PARAMS, x->params ? "params" : "@params", &cel_type_dyn);
    vars[n++] = (struct cel_var){.name = variables ? "variables" : "@variables",
                                 .type = &x->variables_type,
                                 .ops = &policy_variables_ops,
                                 .decl = x};
    if (authorizer) {
        vars[n++] =
            (struct cel_var){.name = "authorizer", .type = &api_cel_type_authorizer};
        vars[n++] = (struct cel_var){.name = "authorizer.requestResource",
                                     .type = &api_cel_type_resource_check};
    }
    return cel_env_extend(base, vars, n);
}

static const struct cel_env *env_of(struct policy_exprs *x, bool patches, unsigned flags)
{
    bool stored = flags & POLICY_STORED;
    unsigned at = (flags & 7) | (patches ? 8 : 0);
    const struct policy_cel *c = x->cel;
    const struct cel_env *base = patches  ? stored ? c->stored : c->fresh
                                 : stored ? c->base->stored
                                          : c->base->fresh;
    if (!x->envs[at])
        x->envs[at] = make_env(x, base, flags);
    return x->envs[at];
}

/* ---- Expressions ---- */

static bool is_named(const struct cel_type *t, const char *name)
{
    return t->kind == CEL_T_OBJECT && strcmp(t->name, name) == 0;
}

static const struct {
    const char *wanted;
} RESULTS[] = {
    [POLICY_BOOL] = {"must evaluate to bool"},
    [POLICY_STRING] = {"must evaluate to string"},
    [POLICY_TEXT_OR_NULL] = {"must evaluate to one of [string null_type]"},
    [POLICY_OBJECT] = {"must evaluate to Object"},
    [POLICY_PATCHES] = {"must evaluate to list(JSONPatch)"},
};

static bool fits(const struct cel_type *t, enum policy_result result)
{
    switch (result) {
    case POLICY_BOOL:
        return t->kind == CEL_T_BOOL;
    case POLICY_STRING:
        return t->kind == CEL_T_STRING;
    case POLICY_TEXT_OR_NULL:
        return t->kind == CEL_T_STRING || t->kind == CEL_T_NULL;
    case POLICY_OBJECT:
        return is_named(t, "Object");
    case POLICY_PATCHES:
        return t->kind == CEL_T_LIST && is_named(t->params[0], "JSONPatch");
    default:
        return true;
    }
}

static bool check_result(const struct cel_type *t, enum policy_result result,
                         struct arena *a, struct policy_error *error)
{
    struct strbuf b = STRBUF_INIT;
    if (fits(t, result))
        return true;
    strbuf_addf(&b, "%s but got ", RESULTS[result].wanted);
    cel_type_print(t, &b);
    error->text = arena_str(a, strbuf_str(&b));
    strbuf_release(&b);
    return false;
}

static struct cel_expr *compile(const struct cel_env *env, struct str text,
                                enum policy_result result, struct arena *mem,
                                struct arena *a, struct policy_error *error)
{
    struct cel_issues issues = {0};
    struct cel_expr *expr = cel_compile(env, text, mem, &issues);
    if (!expr)
        error->text = api_cel_issues("compilation failed: ", &issues, text, a);
    else if (!check_result(expr->type, result, a, error))
        expr = NULL;
    return expr;
}

struct policy_expr *policy_expr_new(struct policy_exprs *x, struct str text,
                                    enum policy_result result, unsigned flags,
                                    struct arena *a, struct policy_error *error)
{
    bool patches = result == POLICY_OBJECT || result == POLICY_PATCHES;
    const struct cel_env *env = env_of(x, patches, flags);
    struct policy_expr *e = ARENA_NEW(&x->arena, struct policy_expr);
    struct err why = ERR_INIT;
    const struct cel_program_opts opts = {.track_cost = true};
    *error = (struct policy_error){0};
    e->text = arena_str(&x->arena, text);
    struct cel_expr *expr = compile(env, e->text, result, &x->arena, a, error);
    if (!expr)
        return NULL;
    e->type = expr->type;
    e->program = cel_program_new(env, expr, &opts, &why);
    if (!e->program) {
        error->internal = true;
        error->text = arena_printf(a, "%s", err_text(&why));
        err_release(&why);
        return NULL;
    }
    e->next = x->all;
    x->all = e;
    return e;
}

/* One more than the deepest of those that it names. */
static uint32_t depth_of(const struct policy_exprs *x, const struct policy_expr *e)
{
    int slots[64];
    bool whole = false;
    uint32_t depth = 0, max = CEL_COUNT(slots);
    uint32_t n = cel_program_slots(e->program, POLICY_VAR_VARIABLES, slots, max, &whole);
    if (whole || n > max)
        slots[0] = 0, n = 0, depth = (uint32_t)x->variables.n;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t other = x->variables.v[slots[i] / 2].depth;
        depth = other > depth ? other : depth;
    }
    return depth + 1;
}

bool policy_variable_add(struct policy_exprs *x, struct str name, struct str text,
                         unsigned flags, struct arena *a, struct policy_error *error)
{
    struct policy_variable v = {.name = arena_str(&x->arena, name)};
    v.expr = policy_expr_new(x, text, POLICY_ANY, flags | POLICY_VARIABLES, a, error);
    if (v.expr && (v.depth = depth_of(x, v.expr)) > POLICY_DEPTH)
        v.expr = NULL, error->text = STR("variables are nested too deep");
    if (!v.expr)
        v.why = arena_str(&x->arena, error->text);
    const struct cel_type *type =
        v.expr ? policy_known_type(v.expr->type, &x->arena) : &cel_type_dyn;
    vec_push(&x->variables, v);
    vec_push(&x->fields, (struct cel_field){v.name.p, type});
    x->variables_object.fields = x->fields.v;
    x->variables_object.nfields = (uint32_t)x->fields.n;
    return v.expr != NULL;
}
