/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rules compiled (apiextensions-apiserver pkg/apiserver/schema/cel): self and oldSelf of
 * the schema's type, bool for the rule, string for its message.
 */
#include <stdlib.h>

#include "api/structural_inner.h"
#include "base/mem.h"

struct maker {
    const struct api_cel *cel;
    const struct schema_known *known;
    struct arena *a;
    struct schema *s;
};

/* ---- Environments ---- */

static struct cel_env *make_env(const struct maker *m, bool stored, bool optional)
{
    struct schema_decl *d = m->s->decl;
    const struct cel_type *old = optional ? cel_type_optional(m->a, d->type) : d->type;
    const struct cel_var vars[] = {
        {.name = "self",
         .type = d->type,
         .decl = d,
         .size = schema_decl_size,
         .stray = true},
        {.name = "oldSelf", .type = old, .decl = d, .size = schema_decl_size},
    };
    return cel_env_extend(stored ? m->cel->stored : m->cel->fresh, vars, 2);
}

/* What was stored already may use more; a rule with optionalOldSelf has another oldSelf.
 */
static const struct cel_env *env_of(const struct maker *m, const struct schema_rule *rule,
                                    const struct strmap *known, struct str text)
{
    bool stored = !known || strmap_find(known, text);
    struct cel_env **env =
        &m->s->compiled->envs[(stored ? 2 : 0) + (rule->optional_old_self ? 1 : 0)];
    if (!*env)
        *env = make_env(m, stored, rule->optional_old_self);
    return *env;
}

/* ---- Expressions ---- */

/* NULL and *error. */
static struct cel_program *plan(const struct maker *m, const struct cel_env *env,
                                const struct cel_expr *x, const char *prefix,
                                struct str *error)
{
    static const char usual[] = "program instantiation failed: ";
    const struct cel_program_opts opts = {.track_cost = true};
    struct err e = ERR_INIT;
    struct cel_program *p = cel_program_new(env, x, &opts, &e);
    struct str text = str_from(p ? "" : err_text(&e));
    if (str_starts(text, str_from(usual)))
        text = str_sub(text, sizeof usual - 1, SIZE_MAX);
    if (!p)
        *error = arena_printf(m->a, "%s%.*s", prefix, STR_ARG(text));
    err_release(&e);
    return p;
}

struct wanted {
    enum cel_type_kind type;
    const char *not_compiled, *not_typed, *not_planned;
};

static const struct wanted RULE = {
    CEL_T_BOOL, "compilation failed: ", "cel expression must evaluate to a bool",
    "program instantiation failed: "};
static const struct wanted MESSAGE = {CEL_T_STRING,
                                      "messageExpression compilation failed: ",
                                      "messageExpression must evaluate to a string",
                                      "messageExpression instantiation failed: "};

static struct cel_program *compile(const struct maker *m, const struct cel_env *env,
                                   struct str text, const struct wanted *want,
                                   uint64_t *cost, bool *uses_old, struct str *error)
{
    struct cel_issues issues = {0};
    struct cel_expr *x = cel_compile(env, text, m->a, &issues);
    struct cel_program *p = NULL;
    if (!x) {
        *error = api_cel_issues(want->not_compiled, &issues, text, m->a);
    } else if (x->type->kind != want->type) {
        *error = str_from(want->not_typed);
    } else {
        for (uint32_t i = 1; i <= x->nids; i++)
            *uses_old |= str_is(x->refs[i].name, "oldSelf");
        p = plan(m, env, x, want->not_planned, error);
        *cost = p ? cel_estimate(env, x).max : 0;
    }
    return p;
}

/* How often a value can be in an object, if nothing bounds it. */
static uint64_t cardinality(const struct schema_decl *d)
{
    return (uint64_t)(API_CEL_REQUEST_MAX / (d->min + 1));
}

static bool is_blank(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (!strchr(" \t\n\v\f\r", s.p[i]) || !s.p[i])
            return false;
    return true;
}

static void compile_rule(const struct maker *m, const struct schema_rule *rule,
                         struct schema_rule_made *out)
{
    const struct schema_known *k = m->known;
    const struct schema *found;
    bool ignored = false;
    *out = (struct schema_rule_made){.path = STR("")};
    if (is_blank(rule->rule))
        return;
    out->program = compile(m, env_of(m, rule, k ? &k->rules : NULL, rule->rule),
                           rule->rule, &RULE, &out->cost, &out->uses_old, &out->error);
    if (!out->program)
        return;
    out->cardinality = cardinality(m->s->decl);
    struct str text = rule->message_expression;
    if (text.n)
        out->message =
            compile(m, env_of(m, rule, k ? &k->messages : NULL, text), text, &MESSAGE,
                    &out->message_cost, &ignored, &out->message_error);
    if (out->message_error.p || !rule->field_path.n)
        return;
    if (schema_field_path(m->s, rule->field_path, true, m->a, &out->path, &found))
        out->path = STR("");
}

void schema_rules_compile(struct schema *s, const struct api_cel *cel,
                          const struct schema_known *known, struct arena *a)
{
    const struct maker m = {.cel = cel, .known = known, .a = a, .s = s};
    if (!s->nrules || !s->decl || s->compiled)
        return;
    s->compiled = ARENA_NEW(a, struct schema_compiled);
    s->compiled->v = ARENA_ARRAY(a, struct schema_rule_made, s->nrules);
    for (uint32_t i = 0; i < s->nrules; i++)
        compile_rule(&m, &s->rules[i], &s->compiled->v[i]);
}

/* ---- All of a schema ---- */

void schema_rules_compile_all(struct schema *s, const struct api_cel *cel,
                              struct arena *a)
{
    if (!s->has_rules)
        return;
    schema_declare(s, s->embedded, a);
    schema_rules_compile(s, cel, NULL, a);
    if (s->items)
        schema_rules_compile_all(s->items, cel, a);
    if (s->extra)
        schema_rules_compile_all(s->extra, cel, a);
    for (uint32_t i = 0; i < s->nprops; i++)
        schema_rules_compile_all(s->props[i].schema, cel, a);
}

void schema_rules_release(struct schema *s)
{
    if (!s->has_rules)
        return;
    for (uint32_t i = 0; s->compiled && i < s->nrules; i++) {
        cel_program_free(s->compiled->v[i].program);
        cel_program_free(s->compiled->v[i].message);
    }
    for (unsigned i = 0; s->compiled && i < 4; i++)
        cel_env_free(s->compiled->envs[i]);
    s->compiled = NULL;
    if (s->items)
        schema_rules_release(s->items);
    if (s->extra)
        schema_rules_release(s->extra);
    for (uint32_t i = 0; i < s->nprops; i++)
        schema_rules_release(s->props[i].schema);
}
