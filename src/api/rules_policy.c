/* SPDX-License-Identifier: Apache-2.0 */
/* Rules of policies and their bindings; expressions are compiled as they are met. */
#include "api/rules_util.h"

#include "api/cel_policy.h"
#include "base/mem.h"

struct api_policy_walk {
    struct api_cel base;
    struct policy_cel cel;
    struct policy_exprs *exprs; /* of the policy, with the variables so far */
};

void api_policy_walk_free(struct api_policy_walk *p)
{
    if (!p)
        return;
    policy_exprs_free(p->exprs);
    policy_cel_fini(&p->cel);
    api_cel_fini(&p->base);
    free(p);
}

/* ---- expressions ---- */

static bool has_params(const struct api_walk *w)
{
    return api_member(api_member(w->object, "spec"), "paramKind") != NULL;
}

static struct policy_exprs *exprs_of(struct api_walk *w)
{
    if (!w->policy) {
        w->policy = mem_zalloc(sizeof *w->policy);
        api_cel_init(&w->policy->base);
        policy_cel_init(&w->policy->cel, &w->policy->base);
        w->policy->exprs = policy_exprs_new(&w->policy->cel, has_params(w));
    }
    return w->policy->exprs;
}

/* Whether the stored object has a text somewhere: an expression that was accepted. */
static bool has_text(const struct doc *d, struct str text)
{
    if (!d)
        return false;
    if (d->type == DOC_STRING)
        return str_eq(doc_str(d), text);
    for (uint32_t i = 0; d->type == DOC_LIST && i < d->n; i++)
        if (has_text(&d->items[i], text))
            return true;
    for (uint32_t i = 0; d->type == DOC_MAP && i < d->n; i++)
        if (has_text(&d->members[i].value, text))
            return true;
    return false;
}

static unsigned stored_flag(const struct api_walk *w, struct str text)
{
    const struct doc *old = w->opts->op == API_CREATE ? NULL : w->opts->old;
    const struct doc *in = api_member(old, "spec");
    return has_text(in ? in : api_member(old, "webhooks"), text) ? POLICY_STORED : 0;
}

static void report(struct api_at *at, const char *suffix, struct str shown,
                   const struct policy_error *error)
{
    if (error->internal)
        api_report_shown(at, suffix, STR(""), API_ERROR_INTERNAL, "%.*s",
                         STR_ARG(error->text));
    else
        api_report_shown(at, suffix, api_shown_text(at->w->a, shown), API_ERROR_INVALID,
                         "%.*s", STR_ARG(error->text));
}

static void compile(struct api_at *at, const char *suffix, struct str text,
                    enum policy_result result, unsigned flags)
{
    struct policy_error error;
    flags |= stored_flag(at->w, text);
    if (!policy_expr_new(exprs_of(at->w), text, result, flags, at->w->a, &error))
        report(at, suffix, text, &error);
}

/* Policies without variables do not have the word; those that mutate always do. */
static unsigned with_variables(const struct api_walk *w)
{
    const struct doc *spec = api_member(w->object, "spec");
    bool mutates = strcmp(w->type->name, "MutatingAdmissionPolicy") == 0;
    return mutates || !api_empty(api_member(spec, "variables")) ? POLICY_VARIABLES : 0;
}

static bool is_blank(const struct doc *d)
{
    return str_trim(api_text(d)).n == 0;
}

/* ---- conditions ---- */

static const struct doc *conditions_at(const struct doc *d)
{
    const struct doc *list = api_member(d, "matchConditions");
    return api_empty(list) ? NULL : list;
}

static bool same_conditions(const struct doc *a, const struct doc *b)
{
    const struct doc *x = conditions_at(a), *y = conditions_at(b);
    return (!x && !y) || (x && y && doc_equal(x, y));
}

static bool hooks_same(const struct doc *now, const struct doc *old)
{
    const struct doc *x = api_member(now, "webhooks"), *y = api_member(old, "webhooks");
    if ((x ? x->n : 0) != (y ? y->n : 0))
        return false;
    for (uint32_t i = 0; x && i < x->n; i++)
        if (!same_conditions(&x->items[i], &y->items[i]))
            return false;
    return true;
}

static bool specs_same(const struct doc *now, const struct doc *old)
{
    const struct doc *x = api_member(now, "paramKind"), *y = api_member(old, "paramKind");
    return same_conditions(now, old) && (x && y ? doc_equal(x, y) : x == y);
}

/* Those that are as they were are not looked at. */
API_RULE(conditions_changed)
{
    const struct doc *now = at->w->object;
    const struct doc *old = at->w->opts->op == API_CREATE ? NULL : at->w->opts->old;
    if (!old)
        return true;
    const struct doc *spec = api_member(now, "spec");
    return spec ? !specs_same(spec, api_member(old, "spec")) : !hooks_same(now, old);
}

API_RULE(condition_expression)
{
    struct str text = str_trim(api_text(at->value));
    if (!text.n)
        return api_report(at, API_ERROR_REQUIRED, "%s", "") || true;
    compile(at, "", text, POLICY_BOOL, POLICY_AUTHORIZER);
    return true;
}

/* The list that holds an item. */
static const struct doc *list_of(const struct doc *d, const struct doc *item)
{
    const struct doc *list = conditions_at(d);
    return list && item >= list->items && item < list->items + list->n ? list : NULL;
}

API_RULE(condition_twice)
{
    const struct doc *hooks = api_member(at->w->object, "webhooks");
    const struct doc *list = list_of(api_member(at->w->object, "spec"), at->value);
    const struct doc *name = api_member(at->value, "name");
    for (uint32_t i = 0; hooks && i < hooks->n && !list; i++)
        list = list_of(&hooks->items[i], at->value);
    if (api_empty(name) || !list)
        return true;
    for (const struct doc *other = list->items; other < at->value; other++)
        if (str_eq(doc_get_text(other, "name"), api_text(name)))
            return api_report_at(at, ".name", name, API_ERROR_DUPLICATE, "%s", "");
    return true;
}

/* ---- parts of policies ---- */

API_RULE(param_version)
{
    struct str text = api_text(at->value);
    size_t slash = str_find_byte(text, '/', 0);
    struct str group = slash == SIZE_MAX ? STR("") : str_sub(text, 0, slash);
    struct str version = slash == SIZE_MAX ? text : str_sub(text, slash + 1, SIZE_MAX);
    struct str problems[NAME_MAX_PROBLEMS];
    if (str_find_byte(version, '/', 0) != SIZE_MAX)
        return api_report(at, API_ERROR_INVALID, "unexpected GroupVersion string: %.*s",
                          STR_ARG(text));
    unsigned n =
        group.n ? rules_problems(at->w, NAME_DNS1123_SUBDOMAIN, group, problems) : 0;
    for (unsigned i = 0; i < n; i++)
        api_report_shown(at, "", api_shown_text(at->w->a, group), API_ERROR_INVALID,
                         "%.*s", STR_ARG(problems[i]));
    if (!version.n)
        return api_report(at, API_ERROR_INVALID, "version must be specified");
    n = rules_problems(at->w, NAME_DNS1035_LABEL, version, problems);
    for (unsigned i = 0; i < n; i++)
        api_report_shown(at, "", api_shown_text(at->w->a, version), API_ERROR_INVALID,
                         "%.*s", STR_ARG(problems[i]));
    return true;
}

API_RULE(param_kind)
{
    struct str problems[NAME_MAX_PROBLEMS];
    struct str lower = rules_lowered(at->w->a, api_text(at->value));
    unsigned n = rules_problems(at->w, NAME_DNS1035_LABEL, lower, problems);
    for (unsigned i = 0; i < n; i++)
        api_report(at, API_ERROR_INVALID,
                   "may have mixed case, but should otherwise match: %.*s",
                   STR_ARG(problems[i]));
    return true;
}

static bool is_identifier(struct str s)
{
    static const char *const RESERVED[] = {
        "true",     "false",   "null", "in",     "as",     "break",    "const",
        "continue", "else",    "for",  "if",     "import", "function", "let",
        "loop",     "package", "var",  "return", "void",   "while",    "namespace"};
    for (size_t i = 0; i < sizeof RESERVED / sizeof *RESERVED; i++)
        if (str_is(s, RESERVED[i]))
            return false;
    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
        if (!letter && !(i && c >= '0' && c <= '9'))
            return false;
    }
    return s.n > 0;
}

API_RULE(policy_variable)
{
    const struct doc *name = api_member(at->value, "name"),
                     *text = api_member(at->value, "expression");
    struct policy_error error;
    if (is_blank(name))
        api_report_at(at, ".name", name, API_ERROR_REQUIRED, "name is not specified");
    else if (!is_identifier(api_text(name)))
        api_report_at(at, ".name", name, API_ERROR_INVALID,
                      "must be a valid CEL identifier");
    if (is_blank(text)) {
        api_report_at(at, ".expression", text, API_ERROR_REQUIRED,
                      "expression is not specified");
        return true;
    }
    unsigned flags = POLICY_AUTHORIZER | stored_flag(at->w, api_text(text));
    if (!policy_variable_add(exprs_of(at->w), api_text(name), api_text(text), flags,
                             at->w->a, &error))
        report(at, ".expression", api_text(text), &error);
    return true;
}

API_RULE(some_validations)
{
    static const char text[] =
        "validations or auditAnnotations must contain at least one item";
    const struct doc *checks = api_member(at->value, "validations"),
                     *audits = api_member(at->value, "auditAnnotations");
    if (!api_empty(checks) || !api_empty(audits))
        return true;
    api_report_at(at, ".validations", checks, API_ERROR_REQUIRED, text);
    return api_report_at(at, ".auditAnnotations", audits, API_ERROR_REQUIRED, text) ||
           true;
}

static bool has_lines(struct str s)
{
    return str_find_byte(s, '\n', 0) != SIZE_MAX || str_find_byte(s, '\r', 0) != SIZE_MAX;
}

static void check_message(struct api_at *at)
{
    const struct doc *message = api_member(at->value, "message");
    if (api_empty(message))
        return;
    if (is_blank(message))
        api_report_at(at, ".message", message, API_ERROR_INVALID,
                      "must be non-empty if specified");
    else if (has_lines(str_trim(api_text(message))))
        api_report_at(at, ".message", message, API_ERROR_INVALID,
                      "must not contain line breaks");
}

API_RULE(policy_validation)
{
    const struct doc *text = api_member(at->value, "expression"),
                     *made = api_member(at->value, "messageExpression"),
                     *reason = api_member(at->value, "reason");
    unsigned variables = with_variables(at->w);
    if (is_blank(text))
        api_report_at(at, ".expression", text, API_ERROR_REQUIRED,
                      "expression is not specified");
    else
        compile(at, ".expression", api_text(text), POLICY_BOOL,
                POLICY_AUTHORIZER | variables);
    if (!api_empty(made) && is_blank(made))
        api_report_at(at, ".messageExpression", made, API_ERROR_INVALID,
                      "must be non-empty if specified");
    else if (!api_empty(made))
        compile(at, ".messageExpression", api_text(made), POLICY_STRING, variables);
    check_message(at);
    struct str name = api_text(reason);
    if (reason && !str_is(name, "Forbidden") && !str_is(name, "Invalid") &&
        !str_is(name, "RequestEntityTooLarge"))
        rules_not_supported(at, ".reason", reason,
                            "Forbidden|Invalid|RequestEntityTooLarge");
    return true;
}

enum { MAX_AUDITS = 20, MAX_AUDIT_TEXT = 5 * 1024 };

API_RULE(audit_annotations)
{
    if (at->value && at->value->n > MAX_AUDITS)
        api_report(at, API_ERROR_INVALID, "must not have more than %d auditAnnotations",
                   MAX_AUDITS);
    return true;
}

static void check_audit_key(struct api_at *at, const struct doc *key)
{
    struct str problems[NAME_MAX_PROBLEMS];
    struct str name = doc_get_text(api_member(at->w->object, "metadata"), "name");
    if (!name.n) {
        api_report_at(at, ".key", key, API_ERROR_INVALID,
                      "requires metadata.name be non-empty");
        return;
    }
    struct str whole =
        arena_printf(at->w->a, "%.*s/%.*s", STR_ARG(name), STR_ARG(api_text(key)));
    unsigned n = rules_problems(at->w, NAME_LABEL_KEY, whole, problems);
    for (unsigned i = 0; i < n; i++)
        api_report_shown(at, ".key", api_shown_text(at->w->a, whole), API_ERROR_INVALID,
                         "%.*s", STR_ARG(problems[i]));
}

static void check_audit_twice(struct api_at *at, const struct doc *key)
{
    const struct doc *list =
        api_member(api_member(at->w->object, "spec"), "auditAnnotations");
    for (const struct doc *other = list ? list->items : at->value; other < at->value;
         other++)
        if (str_eq(doc_get_text(other, "key"), api_text(key))) {
            api_report_at(at, ".key", key, API_ERROR_DUPLICATE, "%s", "");
            return;
        }
}

API_RULE(audit_annotation)
{
    const struct doc *key = api_member(at->value, "key"),
                     *value = api_member(at->value, "valueExpression");
    struct str text = str_trim(api_text(value));
    check_audit_key(at, key);
    if (!text.n)
        api_report_at(at, ".valueExpression", value, API_ERROR_REQUIRED,
                      "valueExpression is not specified");
    else if (text.n > MAX_AUDIT_TEXT)
        api_report_at(at, ".valueExpression", value, API_ERROR_REQUIRED,
                      "must not exceed %d bytes in length", MAX_AUDIT_TEXT);
    else
        compile(at, ".valueExpression", text, POLICY_TEXT_OR_NULL,
                POLICY_AUTHORIZER | with_variables(at->w));
    check_audit_twice(at, key);
    return true;
}

/* ---- mutations ---- */

static void check_patch(struct api_at *at, const char *own, const char *other,
                        const char *type, enum policy_result result)
{
    struct arena *a = at->w->a;
    const struct doc *patch = api_member(at->value, own);
    const char *suffix = arena_printf(a, ".%s", own).p;
    const char *inner = arena_printf(a, ".%s.expression", own).p;
    struct str text = str_trim(api_text(api_member(patch, "expression")));
    if (!patch)
        api_report_at(at, suffix, patch, API_ERROR_REQUIRED,
                      "must be specified when patchType is %s", type);
    else if (!text.n)
        api_report_at(at, inner, api_member(patch, "expression"), API_ERROR_REQUIRED,
                      "%s", "");
    else
        compile(at, inner, text, result, POLICY_AUTHORIZER | POLICY_VARIABLES);
    if (api_member(at->value, other))
        api_report_shown(at, arena_printf(a, ".%s", other).p,
                         arena_printf(a, "\"{%s}\"", other), API_ERROR_INVALID,
                         "must not be specified when patchType is %s", type);
}

API_RULE(policy_mutation)
{
    const struct doc *type = api_member(at->value, "patchType");
    if (api_empty(type))
        api_report_at(at, ".patchType", type, API_ERROR_REQUIRED, "%s", "");
    else if (doc_is_string(type, "JSONPatch"))
        check_patch(at, "jsonPatch", "applyConfiguration", "JSONPatch", POLICY_PATCHES);
    else if (doc_is_string(type, "ApplyConfiguration"))
        check_patch(at, "applyConfiguration", "jsonPatch", "ApplyConfiguration",
                    POLICY_OBJECT);
    else
        rules_not_supported(at, ".patchType", type, "ApplyConfiguration|JSONPatch");
    return true;
}

/* ---- bindings ---- */

API_RULE(param_ref)
{
    static const char both[] = "name and selector are mutually exclusive";
    const struct doc *name = api_member(at->value, "name"),
                     *selector = api_member(at->value, "selector"),
                     *action = api_member(at->value, "parameterNotFoundAction");
    if (!at->value)
        return true;
    if (!api_empty(name)) {
        rules_segment(at, ".name", api_text(name), false);
        if (selector)
            api_report_at(at, ".name", name, API_ERROR_FORBIDDEN, both);
    }
    if (selector && !api_empty(name))
        api_report_at(at, ".selector", selector, API_ERROR_FORBIDDEN, both);
    if (!selector && api_empty(name))
        api_fail(at, API_ERROR_REQUIRED, "one of name or selector must be specified");
    if (api_empty(action))
        api_report_at(at, ".parameterNotFoundAction", action, API_ERROR_REQUIRED, "%s",
                      "");
    else if (!doc_is_string(action, "Deny") && !doc_is_string(action, "Allow"))
        rules_not_supported(at, ".parameterNotFoundAction", action, "Deny|Allow");
    return true;
}

static bool has_action(const struct doc *list, uint32_t n, const char *action)
{
    for (uint32_t i = 0; list && i < n; i++)
        if (doc_is_string(&list->items[i], action))
            return true;
    return false;
}

API_RULE(validation_actions)
{
    const struct doc *list = at->value;
    if (api_empty(list))
        return api_report(at, API_ERROR_REQUIRED, "%s", "");
    for (uint32_t i = 0; i < list->n; i++) {
        const struct doc *d = &list->items[i];
        if (!doc_is_string(d, "Deny") && !doc_is_string(d, "Warn") &&
            !doc_is_string(d, "Audit"))
            rules_not_supported(at, rules_index(at, i), d, "Audit|Deny|Warn");
        if (has_action(list, i, arena_str(at->w->a, api_text(d)).p))
            api_report_at(at, rules_index(at, i), d, API_ERROR_DUPLICATE, "%s", "");
    }
    if (has_action(list, list->n, "Deny") && has_action(list, list->n, "Warn"))
        api_report(at, API_ERROR_INVALID,
                   "must not contain both Deny and Warn (repeating the same validation "
                   "failure information in the API response and headers serves no "
                   "purpose)");
    return true;
}
