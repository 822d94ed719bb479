/* SPDX-License-Identifier: Apache-2.0 */
/*
 * MutatingAdmissionPolicy: the mutations of all policies that a request matches, in the
 * order of their names. After a mutation the plugins run once more (admission.c), and
 * then those policies whose reinvocationPolicy wants it do.
 */
#include "server/admission/admit.h"
#include "server/admission/policy.h"
#include "server/admission/reinvoke.h"
#include "server/observe/measure.h"
#include "server/rest/scale.h"

#include "api/typed.h"
#include "cel/record.h"
#include "doc/patch.h"

struct mutating {
    struct admission *a;
    struct policy_asking asking;
    struct reinvocation *reinvocation;
    struct policy *policy;
    const struct policy_binding *binding; /* NULL: the policy itself is wrong */
    const struct resource *as;
    struct str message, reason; /* of the first failure */
    struct doc causes;
};

/* ---- failures ---- */

static void add_failure(struct mutating *m, struct str why, const char *reason)
{
    struct arena *a = m->a->r->a;
    if (m->policy->ignore)
        return;
    struct str text =
        m->binding
            ? arena_printf(a, "policy '%.*s' with binding '%.*s' denied request: %.*s",
                           STR_ARG(m->policy->name), STR_ARG(m->binding->name),
                           STR_ARG(why))
            : arena_printf(a, "policy \"%.*s\" denied request: %.*s",
                           STR_ARG(m->policy->name), STR_ARG(why));
    if (!m->causes.n) {
        m->message = text;
        m->reason = str_from(reason);
    }
    doc_append(a, &m->causes, doc_make_string(a, text));
}

static void fail_configuration(struct mutating *m, struct str why)
{
    add_failure(m,
                arena_printf(m->a->r->a, "failed to configure %s: %.*s",
                             m->binding ? "binding" : "policy", STR_ARG(why)),
                "Forbidden");
}

static bool fail_all(struct mutating *m)
{
    struct request *r = m->a->r;
    admit_forbid(m->a, " ");
    r->failure.message = m->message;
    r->failure.reason = m->reason.p;
    for (uint32_t i = 0; i < m->causes.n; i++)
        fail_cause(r, NULL, doc_str(&m->causes.items[i]), STR_NONE);
    return false;
}

/* ---- patches ---- */

/* An operation that expressions made. */
static bool operation_doc(struct cel_value v, struct arena *a, struct doc *out,
                          struct str *why)
{
    const struct cel_record *r = cel_record_of(v);
    *out = doc_make_map();
    for (uint32_t i = 0; r && i < r->n; i++) {
        struct doc value;
        bool from = str_is(r->fields[i].name, "from");
        if (cel_record_of(r->fields[i].value) &&
            !policy_object_check(r->fields[i].value, a, why)) {
            *why = arena_printf(a, "type mismatch: %.*s", STR_ARG(*why));
            return false;
        }
        if (!policy_value_doc(r->fields[i].value, a, &value, why)) {
            *why = arena_printf(a,
                                "JSONPath valueExpression evaluated to a type that could "
                                "not marshal to JSON: %.*s",
                                STR_ARG(*why));
            return false;
        }
        if (!from || value.n)
            doc_set_str(a, out, r->fields[i].name, value);
    }
    return true;
}

static bool patch_by_json(struct cel_value v, struct arena *a, struct doc *object,
                          struct str *why)
{
    struct doc patch = doc_make_list(), out;
    struct patch_error e = {0};
    for (uint32_t i = 0; i < v.len; i++) {
        struct doc operation;
        if (!operation_doc(v.items[i], a, &operation, why))
            return false;
        doc_append(a, &patch, operation);
    }
    if (patch_json_check(&patch, NULL, a, &e) &&
        patch_json(object, &patch, a, &out, &e)) {
        *object = doc_dup(a, &out);
        return true;
    }
    *why = arena_printf(a, "JSON Patch: %.*s", STR_ARG(e.text));
    return e.untrue; /* the object stays as it was */
}

static bool merge(const struct api_type *t, const struct doc *config, struct arena *a,
                  struct doc *object, struct str *why)
{
    struct str wrong;
    if (!typed_check(t, config, false, a, &wrong)) {
        *why = arena_printf(a, "failed to convert patch object to typed object: %.*s",
                            STR_ARG(wrong));
        return false;
    }
    struct str atomic = typed_atomics(t, config, a);
    if (atomic.n) {
        *why = arena_printf(a,
                            "invalid ApplyConfiguration: may not mutate atomic arrays, "
                            "maps or structs: %.*s",
                            STR_ARG(atomic));
        return false;
    }
    struct doc merged = typed_merge(t, object, config, a);
    *object = doc_dup(a, &merged);
    return true;
}

/* Of a Scale, for example. */
static bool fail_untyped(const struct doc *object, struct arena *a, struct str *why)
{
    *why = arena_printf(a,
                        "error applying patch: failed to convert patch object to typed "
                        "object: no corresponding type for %.*s, Kind=%.*s",
                        STR_ARG(doc_get_text(object, "apiVersion")),
                        STR_ARG(doc_get_text(object, "kind")));
    return false;
}

static bool patch_by_apply(struct cel_value v, const struct api_type *t, struct arena *a,
                           struct doc *object, struct str *why)
{
    struct doc config;
    struct str wrong;
    if (!policy_object_check(v, a, &wrong)) {
        *why = arena_printf(a, "type mismatch: %.*s", STR_ARG(wrong));
        return false;
    }
    if (!policy_value_doc(v, a, &config, why))
        return false;
    if (!t)
        return fail_untyped(object, a, why);
    doc_set(a, &config, "kind", doc_make_string(a, doc_get_text(object, "kind")));
    doc_set(a, &config, "apiVersion",
            doc_make_string(a, doc_get_text(object, "apiVersion")));
    if (merge(t, &config, a, object, &wrong))
        return true;
    *why = arena_printf(a, "error applying patch: %.*s", STR_ARG(wrong));
    return false;
}

/* ---- mutations ---- */

/* The value of the expression, on the object as it is by now. */
static bool evaluate(struct mutating *m, const struct condition *c,
                     const struct policy_view *view, const struct doc *param,
                     struct policy_eval **e, struct cel_value *out, struct str *why,
                     const char **error)
{
    int64_t budget = API_CEL_BUDGET;
    enum policy_outcome end;
    struct policy_subject s = policy_subject_of(view, &m->asking, param, true);
    *e = policy_eval_new(m->policy->exprs, &s);
    *error = "compile_error";
    if (!c->expr) {
        *why = c->why;
        return false;
    }
    end = policy_eval(*e, c->expr, &budget, out, why);
    *error = end == POLICY_SPENT ? "out_of_budget" : "invalid_error";
    return end == POLICY_VALUE;
}

/* false: the request failed; a mutation that does is told by add_failure. */
static bool mutate_once(struct mutating *m, const struct mutation *mutation,
                        const struct doc *param, bool *changed)
{
    struct arena *a = m->a->r->a;
    struct policy_view view;
    struct policy_eval *e;
    struct cel_value v;
    struct str why = STR("");
    const char *error;
    if (!policy_view_make(&view, m->a, m->as))
        return false;
    if (!view.has_object)
        return true;
    struct doc object = doc_dup(a, &view.object);
    uint64_t since = measure_now();
    bool ok = evaluate(m, &mutation->patch, &view, param, &e, &v, &why, &error);
    if (ok && mutation->apply)
        ok = patch_by_apply(v, is_scale(m->as) ? NULL : m->as->kind->type, a, &object,
                            &why);
    else if (ok)
        ok = patch_by_json(v, a, &object, &why);
    if (!ok)
        add_failure(m, arena_str(a, why), "Invalid");
    policy_eval_free(e);
    bool differs = ok && !doc_equal(&object, &view.object);
    bool taken = !differs || review_take(m->a, m->as, !mutation->apply, &object);
    *changed |= differs;
    measure_mutation(m->a->r->s->metrics, m->policy->name, m->binding->name,
                     ok && taken ? "no_error" : error,
                     (double)(measure_now() - since) / 1e9);
    return taken;
}

static enum conditions_answer is_met(struct mutating *m, const struct doc *param,
                                     struct str *why)
{
    struct policy *p = m->policy;
    struct policy_view view;
    if (!p->conditions.n)
        return CONDITIONS_MET;
    if (!policy_view_make(&view, m->a, m->as))
        return CONDITIONS_UNMET;
    struct policy_subject s = policy_subject_of(&view, &m->asking, param, false);
    struct policy_eval *e = policy_eval_new(p->exprs, &s);
    enum conditions_answer answer =
        policy_conditions(e, &p->conditions, p->ignore, m->a->r->a, why);
    policy_eval_free(e);
    return answer;
}

static bool mutate_for(struct mutating *m, const struct doc *param)
{
    struct request *r = m->a->r;
    struct str why;
    struct str key = arena_printf(
        r->a, "%.*s/%.*s/%.*s/%.*s", STR_ARG(m->policy->name), STR_ARG(m->binding->name),
        STR_ARG(meta_text(param, "namespace")), STR_ARG(meta_text(param, "name")));
    enum conditions_answer answer = is_met(m, param, &why);
    if (r->failure.code)
        return false;
    if (answer == CONDITIONS_FAILED)
        add_failure(m, why, "Invalid");
    if (answer != CONDITIONS_MET || !reinvoke_due(m->a, m->reinvocation, key))
        return true;
    bool changed = false;
    for (uint32_t i = 0; i < m->policy->nmutations; i++)
        if (!mutate_once(m, &m->policy->mutations[i], param, &changed))
            return false;
    reinvoke_called(m->a, m->reinvocation, key, changed, m->policy->again);
    return true;
}

/* ---- policies and bindings ---- */

static struct str taken_failure(struct request *r)
{
    struct str why = r->failure.message;
    r->failure = (struct failure){0};
    return why;
}

static bool apply_binding(struct mutating *m)
{
    const struct resource *unused;
    struct policy_params params;
    struct str why;
    enum match_answer matches = m->binding->matches_all
                                    ? MATCH_YES
                                    : match_ask(&m->binding->match, m->a, &unused);
    if (matches == MATCH_FAILED)
        fail_configuration(m, taken_failure(m->a->r));
    if (matches != MATCH_YES)
        return true;
    if (!policy_params_find(m->policy, m->binding, m->a, &params, &why)) {
        if (m->a->r->failure.waits)
            return false;
        fail_configuration(m, why);
        return true;
    }
    for (uint32_t i = 0; i < params.n; i++)
        if (!mutate_for(m, &params.v[i]))
            return false;
    return true;
}

static bool apply_bindings(struct mutating *m)
{
    struct server *s = m->a->r->s;
    for (struct hook *h = hooks_of(s, HOOK_MUTATING_BINDINGS); h; h = h->next) {
        m->binding = &h->binding;
        if (str_eq(h->policy_name, m->policy->name) && !apply_binding(m))
            return false;
    }
    return true;
}

static bool apply_policy(struct mutating *m)
{
    struct str why;
    m->binding = NULL;
    enum match_answer matches = match_ask(&m->policy->match, m->a, &m->as);
    if (matches == MATCH_FAILED)
        fail_configuration(m, taken_failure(m->a->r));
    if (matches != MATCH_YES)
        return true;
    if (!policy_param_known(m->policy, m->a, &why)) {
        fail_configuration(m, why);
        return true;
    }
    hooks_ready_policy(m->a->r->s, m->policy);
    return apply_bindings(m);
}

bool admit_policies(struct admission *a)
{
    struct server *s = a->r->s;
    struct hook *h = hooks_of(s, HOOK_MUTATING_POLICIES);
    if (!h || !hooks_of(s, HOOK_MUTATING_BINDINGS) || match_is_policy(a))
        return true;
    struct mutating m = {.a = a, .causes = doc_make_list()};
    policy_asking_init(&m.asking, a);
    if (!a->policies)
        a->policies = ARENA_NEW(a->r->a, struct reinvocation);
    m.reinvocation = a->policies;
    reinvoke_begin(a, m.reinvocation);
    for (; h; h = h->next) {
        m.policy = &h->policy;
        if (!apply_policy(&m))
            return false;
    }
    reinvoke_end(a, m.reinvocation);
    return !m.causes.n || fail_all(&m);
}
