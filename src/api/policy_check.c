/* SPDX-License-Identifier: Apache-2.0 */
#include "api/policy_check.h"

#include <stdlib.h>

#include "api/cel_policy_inner.h"
#include "base/mem.h"

enum { VARS_MAX = 7 };

struct policy_check {
    struct arena arena;
    struct cel_env *env;
    VEC(struct cel_field) fields;
    struct cel_object_type variables_object; /* it grows with them */
    struct cel_type variables_type;
};

static const struct cel_type *or_any(const struct cel_type *t)
{
    return t ? t : &cel_type_dyn;
}

/* Of the authorizer there is nothing but the variable: authorizer.requestResource is an
 * error to upstream's check, though policies may use it. */
static struct cel_env *make_env(struct policy_check *c, const struct api_cel *cel,
                                const struct policy_subject_types *types)
{
    const struct cel_type *object = or_any(types->object);
    struct cel_var vars[VARS_MAX] = {
        {.name = "object", .type = object},
        {.name = "oldObject", .type = object},
        {.name = "namespaceObject", .type = policy_namespace_type},
        {.name = "request", .type = policy_request_type},
        {.name = "variables", .type = &c->variables_type},
        {.name = "authorizer", .type = &api_cel_type_authorizer},
        {.name = "params", .type = or_any(types->params)},
    };
    return cel_env_extend(cel->stored, vars, types->has_params ? VARS_MAX : VARS_MAX - 1);
}

struct policy_check *policy_check_new(const struct api_cel *cel,
                                      const struct policy_subject_types *types)
{
    struct policy_check *c = mem_zalloc(sizeof *c);
    arena_init(&c->arena);
    c->variables_object.name = POLICY_VARIABLES_NAME;
    c->variables_type = (struct cel_type){.kind = CEL_T_OBJECT,
                                          .name = c->variables_object.name,
                                          .object = &c->variables_object};
    c->env = make_env(c, cel, types);
    return c;
}

void policy_check_free(struct policy_check *c)
{
    if (!c)
        return;
    cel_env_free(c->env);
    vec_release(&c->fields);
    arena_fini(&c->arena);
    free(c);
}

void policy_check_variable(struct policy_check *c, struct str name, struct str text)
{
    struct cel_issues issues = {0};
    struct str kept = arena_str(&c->arena, text);
    const struct cel_expr *x = cel_compile(c->env, kept, &c->arena, &issues);
    const struct cel_type *type =
        x ? policy_known_type(x->type, &c->arena) : &cel_type_dyn;
    vec_push(&c->fields, (struct cel_field){arena_str(&c->arena, name).p, type});
    c->variables_object.fields = c->fields.v;
    c->variables_object.nfields = (uint32_t)c->fields.n;
}

bool policy_check_expr(struct policy_check *c, struct str text, struct arena *a,
                       struct str *issues)
{
    struct cel_issues found = {0};
    if (cel_compile(c->env, text, a, &found))
        return true;
    *issues = api_cel_issues("", &found, text, a);
    return false;
}
