/* SPDX-License-Identifier: Apache-2.0 */
/* Expressions of admission on a request. */
#include "api/cel_policy_inner.h"
#include "base/mem.h"
#include "base/quote.h"

struct made_variable {
    bool made;
    struct cel_value value;
    struct cel_run run;
};

struct policy_eval {
    const struct policy_exprs *exprs;
    struct cel_run run, values;
    struct api_doc_binding docs[POLICY_DOCS];
    struct cel_value authorizer, request_resource;
    struct made_variable *variables;
    int64_t spent; /* on variables, since it was last looked at */
    const void *activations[POLICY_VARS];
};

/* ---- Variables ---- */

static int slot(void *decl, const struct cel_step *steps, unsigned n, unsigned *used)
{
    const struct policy_exprs *x = decl;
    for (size_t i = 0; n && i < x->variables.n; i++)
        if (str_eq(x->variables.v[i].name, steps[0].key)) {
            *used = 1;
            return (int)i * 2 + steps[0].optional;
        }
    return -1;
}

static struct cel_value evaluate(struct policy_eval *e, size_t i)
{
    const struct policy_variable *v = &e->exprs->variables.v[i];
    struct made_variable *m = &e->variables[i];
    struct strbuf name = STRBUF_INIT;
    struct cel_value value = {0};
    struct str why = v->why;
    if (v->expr) {
        m->run.cost_limit = API_CEL_CALL_LIMIT;
        value = cel_eval(v->expr->program, e->activations, &m->run);
        e->spent += (int64_t)m->run.cost;
    }
    if (v->expr && value.kind != CEL_ERROR)
        return value;
    strbuf_add_quoted(&name, v->name);
    value = cel_errorf(&m->run, "composited variable %s fails to %s: %.*s",
                       strbuf_cstr(&name), v->expr ? "evaluate" : "compile",
                       STR_ARG(v->expr ? value.error->text : why));
    strbuf_release(&name);
    return value;
}

static struct cel_value variable(struct policy_eval *e, size_t i)
{
    struct made_variable *m = &e->variables[i];
    if (!m->made) {
        cel_run_init(&m->run);
        m->made = true;
        m->value = evaluate(e, i);
    }
    return m->value;
}

static struct cel_value load(const void *activation, int at, struct cel_run *run)
{
    /* What it keeps is no part of what the expression sees. */
    struct policy_eval *e = (struct policy_eval *)activation;
    struct cel_value v = variable(e, (size_t)at / 2);
    return at & 1 && v.kind != CEL_ERROR ? cel_optional_of(run, v) : v;
}

static struct cel_value whole(const void *activation, struct cel_run *run)
{
    struct policy_eval *e = (struct policy_eval *)activation;
    size_t n = e->exprs->variables.n;
    struct cel_entry *entries = ARENA_ARRAY(&run->arena, struct cel_entry, n);
    for (size_t i = 0; i < n; i++) {
        entries[i].key = cel_string(e->exprs->variables.v[i].name);
        entries[i].value = variable(e, i);
    }
    return cel_map_make(run, entries, (uint32_t)n);
}

const struct cel_var_ops policy_variables_ops = {
    .slot = slot, .load = load, .value = whole};

/* ---- Evaluation ---- */

struct policy_eval *policy_eval_new(const struct policy_exprs *x,
                                    const struct policy_subject *s)
{
    const struct doc *docs[POLICY_DOCS] = {[POLICY_DOC_OBJECT] = s->object,
                                           [POLICY_DOC_OLD] = s->old,
                                           [POLICY_DOC_NAMESPACE] = s->namespace,
                                           [POLICY_DOC_REQUEST] = s->request,
                                           [POLICY_DOC_PARAMS] = s->params};
    struct policy_eval *e = mem_zalloc(sizeof *e);
    e->exprs = x;
    cel_run_init(&e->run);
    cel_run_init(&e->values);
    for (int i = 0; i < POLICY_DOCS; i++) {
        api_doc_bind(&e->docs[i], &x->paths[i], docs[i], &e->values);
        e->activations[i] = &e->docs[i];
    }
    e->variables =
        ARENA_ARRAY(&e->values.arena, struct made_variable, x->variables.n + 1);
    e->authorizer = api_authz_value(s->authorizer, &e->values);
    e->request_resource = api_authz_request_value(s->authorizer, &e->values);
    e->activations[POLICY_VAR_VARIABLES] = e;
    e->activations[POLICY_VAR_AUTHORIZER] = &e->authorizer;
    e->activations[POLICY_VAR_REQUEST_RESOURCE] = &e->request_resource;
    return e;
}

void policy_eval_free(struct policy_eval *e)
{
    for (size_t i = 0; i < e->exprs->variables.n; i++)
        if (e->variables[i].made)
            cel_run_fini(&e->variables[i].run);
    cel_run_fini(&e->run);
    cel_run_fini(&e->values);
    free(e);
}

static bool take(int64_t *budget, int64_t cost)
{
    if (cost > *budget)
        return false;
    *budget -= cost;
    return true;
}

enum policy_outcome policy_eval(struct policy_eval *e, const struct policy_expr *x,
                                int64_t *budget, struct cel_value *out, struct str *why)
{
    e->spent = 0;
    e->run.cost_limit = API_CEL_CALL_LIMIT;
    struct cel_value v = cel_eval(x->program, e->activations, &e->run);
    if (!take(budget, e->spent) || !take(budget, (int64_t)e->run.cost)) {
        *why = STR("validation failed due to running out of cost budget, no further "
                   "validation rules will be run");
        return POLICY_SPENT;
    }
    *out = v;
    if (v.kind != CEL_ERROR)
        return POLICY_VALUE;
    *why = arena_printf(&e->run.arena, "expression '%.*s' resulted in error: %.*s",
                        STR_ARG(x->text), STR_ARG(v.error->text));
    return POLICY_FAILED;
}
