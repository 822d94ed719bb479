/* SPDX-License-Identifier: Apache-2.0 */
/* ValidatingAdmissionPolicy: what its policies say of a request, binding by binding. */
#include "server/admission/admit.h"
#include "server/admission/policy.h"
#include "server/audit/audit.h"
#include "server/observe/measure.h"

enum { AUDIT_VALUE_MAX = 10 * 1024, FAILURES_MAX = 50 };

struct judging {
    struct admission *a;
    struct policy_asking asking;
    struct policy *policy;
    const struct policy_binding *binding; /* NULL: the policy itself is wrong */
    struct policy_view view;
    bool denied; /* the first of all counts */
    struct str message, reason;
    struct doc failures; /* for the audit log */
    struct doc notes;    /* of the policy: a list of values by key */
    double seconds;      /* that the validation at hand took */
};

/* ---- decisions ---- */

static void deny(struct judging *j, struct str message, struct str reason)
{
    struct arena *a = j->a->r->a;
    if (j->denied)
        return;
    j->denied = true;
    j->reason = reason.n ? reason : STR("Invalid");
    j->message = j->binding
                     ? arena_printf(a,
                                    "ValidatingAdmissionPolicy '%.*s' with binding "
                                    "'%.*s' denied request: %.*s",
                                    STR_ARG(j->policy->name), STR_ARG(j->binding->name),
                                    STR_ARG(message))
                     : arena_printf(a,
                                    "ValidatingAdmissionPolicy '%.*s' denied request: "
                                    "%.*s",
                                    STR_ARG(j->policy->name), STR_ARG(message));
}

static void deny_configuration(struct judging *j, struct str why)
{
    if (!j->policy->ignore)
        deny(j,
             arena_printf(j->a->r->a, "failed to configure %s: %.*s",
                          j->binding ? "binding" : "policy", STR_ARG(why)),
             STR_NONE);
}

static void note_failure(struct judging *j, uint32_t index, struct str message)
{
    struct arena *a = j->a->r->a;
    struct doc d = doc_make_map();
    if (j->failures.n == FAILURES_MAX)
        return;
    doc_set_text(a, &d, "message", message);
    doc_set_text(a, &d, "policy", j->policy->name);
    doc_set_text(a, &d, "binding", j->binding->name);
    doc_set(a, &d, "expressionIndex", doc_make_int(a, index));
    doc_set(a, &d, "validationActions", names_doc(j->binding->actions, a));
    doc_append(a, &j->failures, d);
}

static void warn(struct judging *j, struct str message)
{
    request_warn(j->a->r,
                 arena_printf(j->a->r->a,
                              "Validation failed for ValidatingAdmissionPolicy '%.*s' "
                              "with binding '%.*s': %.*s",
                              STR_ARG(j->policy->name), STR_ARG(j->binding->name),
                              STR_ARG(message)));
}

static void count(const struct judging *j, const char *action, const char *error)
{
    measure_validation(j->a->r->s->metrics, j->policy->name, j->binding->name, action,
                       error, j->seconds);
}

/* The actions of the binding, for one validation that failed, by an error or not. */
static void act(struct judging *j, uint32_t index, struct str message, struct str reason,
                const char *error)
{
    for (uint32_t i = 0; i < j->binding->actions.n; i++) {
        struct str action = j->binding->actions.v[i];
        if (str_is(action, "Deny")) {
            deny(j, message, reason);
            count(j, "deny", error);
        } else if (str_is(action, "Audit")) {
            note_failure(j, index, message);
            count(j, "audit", error);
        } else if (str_is(action, "Warn")) {
            warn(j, message);
            count(j, "warn", error);
        }
    }
}

static void act_error(struct judging *j, uint32_t index, struct str why,
                      const char *error)
{
    if (j->policy->ignore)
        count(j, "allow", error);
    else
        act(j, index, arena_str(j->a->r->a, why), STR_NONE, error);
}

/* As upstream tells errors of expressions apart; one that is false is an error too. */
static const char SPENT[] = "out_of_budget", WRONG[] = "invalid_error";

static const char *error_of(const struct condition *c)
{
    return c->expr ? WRONG : "compile_error";
}

/* ---- validations ---- */

struct trial { /* of a policy, with one of its parameters */
    struct judging *j;
    struct policy_eval *eval;
    int64_t budget;
};

static struct str message_of(const struct validation *v, const struct cel_value *made,
                             struct arena *a)
{
    struct str s = made && made->kind == CEL_STRING ? str_trim(cel_str(*made)) : STR("");
    if (s.n > API_CEL_MESSAGE_MAX || str_find_byte(s, '\n', 0) != SIZE_MAX)
        s = STR("");
    if (!s.n)
        s = str_trim(v->message);
    return s.n ? arena_str(a, s)
               : arena_printf(a, "failed expression: %.*s",
                              STR_ARG(str_trim(v->check.text)));
}

struct verdict {
    enum policy_outcome end;
    struct cel_value value;
    struct str why;
    double seconds;
};

/* All of them, before messages are made of what is left of the budget. false: it was not
 * enough, and nothing is said of single ones. */
static bool check_all(struct trial *t, struct verdict *out)
{
    const struct policy *p = t->j->policy;
    for (uint32_t i = 0; i < p->nvalidations; i++) {
        uint64_t since = measure_now();
        out[i].end = policy_check(t->eval, &p->validations[i].check, t->j->a->r->a,
                                  &t->budget, &out[i].value, &out[i].why);
        t->j->seconds = out[i].seconds = (double)(measure_now() - since) / 1e9;
        if (out[i].end == POLICY_SPENT) {
            act_error(t->j, 0, out[i].why, SPENT);
            return false;
        }
    }
    return true;
}

/* false: the budget is spent. */
static bool make_messages(struct trial *t, struct verdict *out, struct str *why)
{
    const struct policy *p = t->j->policy;
    for (uint32_t i = 0; i < p->nvalidations; i++) {
        const struct condition *c = &p->validations[i].message_check;
        out[i].end = POLICY_FAILED;
        if (!c->text.n)
            continue;
        out[i].end = policy_check(t->eval, c, t->j->a->r->a, &t->budget, &out[i].value,
                                  &out[i].why);
        if (out[i].end == POLICY_SPENT) {
            *why = out[i].why;
            return false;
        }
    }
    return true;
}

static bool validate(struct trial *t)
{
    const struct policy *p = t->j->policy;
    struct arena *a = t->j->a->r->a;
    struct verdict *checks = ARENA_ARRAY(a, struct verdict, p->nvalidations),
                   *messages = ARENA_ARRAY(a, struct verdict, p->nvalidations);
    struct str spent = STR("");
    if (!check_all(t, checks))
        return false;
    bool enough = make_messages(t, messages, &spent);
    for (uint32_t i = 0; i < p->nvalidations; i++) {
        const struct validation *v = &p->validations[i];
        bool made = messages[i].end == POLICY_VALUE;
        t->j->seconds = checks[i].seconds;
        if (checks[i].end != POLICY_VALUE)
            act_error(t->j, i, checks[i].why, error_of(&v->check));
        else if (!enough)
            act_error(t->j, i,
                      arena_printf(a, "failed messageExpression: %.*s", STR_ARG(spent)),
                      SPENT);
        else if (checks[i].value.kind != CEL_BOOL || !checks[i].value.b)
            act(t->j, i, message_of(v, made ? &messages[i].value : NULL, a), v->reason,
                WRONG);
    }
    return true;
}

/* ---- audit annotations ---- */

static void note(struct judging *j, struct str key, struct str value)
{
    struct arena *a = j->a->r->a;
    const struct doc *have = doc_get_str(&j->notes, key);
    struct doc text = doc_make_string(a, str_sub(value, 0, AUDIT_VALUE_MAX));
    struct doc list = have ? *have : doc_make_list();
    for (uint32_t i = 0; i < list.n; i++)
        if (doc_equal(&list.items[i], &text))
            return;
    doc_append(a, &list, text);
    doc_set_str(a, &j->notes, key, list);
}

static void annotate(struct trial *t)
{
    struct judging *j = t->j;
    int64_t budget = API_CEL_BUDGET;
    for (uint32_t i = 0; i < j->policy->audits.n; i++) {
        const struct condition *c = &j->policy->audits.v[i];
        struct cel_value v;
        struct str why;
        enum policy_outcome end = policy_check(t->eval, c, j->a->r->a, &budget, &v, &why);
        if (end == POLICY_SPENT) {
            act_error(j, 0, why, SPENT);
            return;
        }
        if (end == POLICY_FAILED && !j->policy->ignore) {
            deny(j, arena_str(j->a->r->a, why), STR_NONE);
            count(j, "deny", error_of(c));
        }
        struct str text =
            end == POLICY_VALUE && v.kind == CEL_STRING ? str_trim(cel_str(v)) : STR("");
        if (text.n)
            note(j, c->name, text);
    }
}

static void publish(struct judging *j)
{
    struct arena *a = j->a->r->a;
    for (uint32_t i = 0; i < j->notes.n; i++) {
        const struct doc *list = &j->notes.members[i].value;
        struct str all = doc_str(&list->items[0]);
        for (uint32_t k = 1; k < list->n; k++)
            all = arena_printf(a, "%.*s, %.*s", STR_ARG(all),
                               STR_ARG(doc_str(&list->items[k])));
        audit_annotate(j->a->r,
                       arena_printf(a, "%.*s/%.*s", STR_ARG(j->policy->name),
                                    STR_ARG(doc_key(&j->notes.members[i]))),
                       all);
    }
}

static void publish_failures(struct judging *j)
{
    struct strbuf b = STRBUF_INIT;
    if (!j->failures.n)
        return;
    doc_write_json(&j->failures, DOC_JSON_COMPACT, &b);
    audit_annotate(j->a->r, STR("validation.policy.admission.k8s.io/validation_failure"),
                   arena_str(j->a->r->a, strbuf_str(&b)));
    strbuf_release(&b);
}

/* ---- policies and bindings ---- */

/* Whether the policy is about the request after all; without the namespace. */
static bool is_met(struct judging *j, const struct doc *param)
{
    struct policy *p = j->policy;
    struct str why;
    if (!p->conditions.n)
        return true;
    struct policy_subject s = policy_subject_of(&j->view, &j->asking, param, false);
    struct policy_eval *e = policy_eval_new(p->exprs, &s);
    enum conditions_answer answer =
        policy_conditions(e, &p->conditions, p->ignore, j->a->r->a, &why);
    if (answer == CONDITIONS_FAILED)
        act_error(j, 0, why, WRONG);
    policy_eval_free(e);
    return answer == CONDITIONS_MET;
}

static void try_param(struct judging *j, const struct doc *param)
{
    if (!is_met(j, param))
        return;
    struct policy_subject s = policy_subject_of(&j->view, &j->asking, param, true);
    struct trial t = {.j = j, .budget = API_CEL_BUDGET};
    t.eval = policy_eval_new(j->policy->exprs, &s);
    if (validate(&t))
        annotate(&t);
    policy_eval_free(t.eval);
}

/* The text of a failure that became one of the configuration. */
static struct str taken_failure(struct request *r)
{
    struct str why = r->failure.message;
    r->failure = (struct failure){0};
    return why;
}

/* false: the request failed. */
static bool judge_binding(struct judging *j, const struct resource *as)
{
    const struct policy_binding *b = j->binding;
    const struct resource *unused;
    struct policy_params params;
    struct str why;
    enum match_answer matches =
        b->matches_all ? MATCH_YES : match_ask(&b->match, j->a, &unused);
    if (matches == MATCH_FAILED)
        deny_configuration(j, taken_failure(j->a->r));
    if (matches != MATCH_YES)
        return true;
    if (!policy_params_find(j->policy, b, j->a, &params, &why)) {
        if (j->a->r->failure.waits)
            return false;
        deny_configuration(j, why);
        return true;
    }
    if (j->view.as != as && !policy_view_make(&j->view, j->a, as))
        return false;
    for (uint32_t i = 0; i < params.n; i++)
        try_param(j, &params.v[i]);
    return true;
}

static bool judge_bindings(struct judging *j, const struct resource *as)
{
    struct server *s = j->a->r->s;
    for (struct hook *h = hooks_of(s, HOOK_VALIDATING_BINDINGS); h; h = h->next) {
        j->binding = &h->binding;
        if (str_eq(h->policy_name, j->policy->name) && !judge_binding(j, as))
            return false;
    }
    return true;
}

static bool is_bound(const struct server *s, struct str policy)
{
    const struct hook *h = hooks_of(s, HOOK_VALIDATING_BINDINGS);
    while (h && !str_eq(h->policy_name, policy))
        h = h->next;
    return h != NULL;
}

static bool judge(struct judging *j)
{
    struct server *s = j->a->r->s;
    const struct resource *as;
    struct str why;
    j->binding = NULL;
    j->notes = doc_make_map();
    enum match_answer matches = match_ask(&j->policy->match, j->a, &as);
    if (matches == MATCH_NO || !is_bound(s, j->policy->name)) {
        j->a->r->failure = (struct failure){0};
        return true;
    }
    if (matches == MATCH_FAILED) {
        deny_configuration(j, taken_failure(j->a->r));
        return true;
    }
    if (!policy_param_known(j->policy, j->a, &why)) {
        deny_configuration(j, why);
        return true;
    }
    hooks_ready_policy(s, j->policy);
    bool ok = judge_bindings(j, as);
    publish(j);
    return ok;
}

static bool fail_denied(struct judging *j)
{
    static const struct {
        const char *reason;
        unsigned code;
    } CODES[] = {{"Forbidden", 403},
                 {"Unauthorized", 401},
                 {"RequestEntityTooLarge", 413},
                 {"Invalid", 422}};
    struct request *r = j->a->r;
    unsigned code = 422;
    for (size_t i = 0; i < sizeof CODES / sizeof *CODES; i++)
        if (str_is(j->reason, CODES[i].reason))
            code = CODES[i].code;
    admit_forbid(j->a, "%.*s", STR_ARG(j->message));
    r->failure.code = code;
    r->failure.reason = arena_str(r->a, j->reason).p;
    fail_cause(r, NULL, j->message, STR_NONE);
    return false;
}

bool check_policies(struct admission *a)
{
    struct hook *h = hooks_of(a->r->s, HOOK_VALIDATING_POLICIES);
    if (!h || match_is_policy(a))
        return true;
    struct judging j = {.a = a, .failures = doc_make_list()};
    policy_asking_init(&j.asking, a);
    for (; h; h = h->next) {
        j.policy = &h->policy;
        if (!judge(&j))
            return false;
    }
    publish_failures(&j);
    return !j.denied || fail_denied(&j);
}
