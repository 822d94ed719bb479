/* SPDX-License-Identifier: Apache-2.0 */
/* Rules run on an object and on what was stored of it. */
#include "api/rules.h"
#include "api/structural_inner.h"

/* Which stored value decides whether an error is new. */
struct ratchet {
    struct schema_pair *here; /* NULL: this part has no stored counterpart */
    struct schema_pair *up;   /* of the nearest value around it */
};

struct runner {
    const struct schema_run_opts *o;
    struct schema_convert values;
    struct cel_run run;
    struct strbuf *at;
    int64_t budget; /* below 0: nothing more is run */
};

static struct arena *arena_of(struct runner *r)
{
    return r->o->r->a;
}

static struct str rule_text(const struct schema_rule *rule)
{
    return str_trim(rule->message.n ? rule->message : rule->rule);
}

/* ---- Reports ---- */

/* Errors of the machinery show the type in place of the value. */
static void fail(struct runner *r, const struct schema *s, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

static void fail(struct runner *r, const struct schema *s, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    struct str text = arena_vprintf(arena_of(r), fmt, ap);
    va_end(ap);
    schema_fail(r->o->r, r->at, API_ERROR_INVALID,
                api_shown_text(arena_of(r), s->type_name), "%.*s", STR_ARG(text));
}

static bool is_old(struct runner *r, const struct ratchet *t)
{
    return schema_pair_same(t->here ? t->here : t->up, arena_of(r));
}

/* What was wrong before is only warned of. */
static void settle(struct runner *r, bool old)
{
    struct api_errors *errors = r->o->r->errors;
    struct strbuf b = STRBUF_INIT;
    if (!old)
        return;
    api_error_print(&vec_pop(&errors->list), &b);
    if (r->o->warn)
        r->o->warn(r->o->warn_ctx, arena_str(arena_of(r), strbuf_str(&b)));
    strbuf_release(&b);
}

static enum api_error_type type_of(struct str reason)
{
    static const struct {
        const char *reason;
        enum api_error_type type;
    } types[] = {
        {"FieldValueForbidden", API_ERROR_FORBIDDEN},
        {"FieldValueRequired", API_ERROR_REQUIRED},
        {"FieldValueDuplicate", API_ERROR_DUPLICATE},
    };
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (str_is(reason, types[i].reason))
            return types[i].type;
    return API_ERROR_INVALID;
}

static void report(struct runner *r, const struct schema *s,
                   const struct schema_rule *rule, const struct doc *d, struct str detail)
{
    enum api_error_type type = type_of(rule->reason);
    bool omit = s->type == SCHEMA_OBJECT || s->type == SCHEMA_ARRAY ||
                type == API_ERROR_FORBIDDEN || type == API_ERROR_REQUIRED;
    struct str shown = omit ? STR_NONE : schema_shown(arena_of(r), d);
    if (type == API_ERROR_DUPLICATE)
        detail = STR("");
    schema_fail(r->o->r, r->at, type, shown, "%.*s", STR_ARG(detail));
}

/* ---- Evaluation ---- */

/* false: the budget is gone, which was reported or is left to the caller. */
static bool evaluate(struct runner *r, const struct cel_program *p,
                     const struct cel_value *self, const struct cel_value *old,
                     struct cel_value *out)
{
    const void *activations[] = {self, old};
    cel_run_reset(&r->run);
    r->run.cost_limit = API_CEL_CALL_LIMIT;
    *out = cel_eval(p, activations, &r->run);
    if (r->run.cost > INT64_MAX || (int64_t)r->run.cost > r->budget)
        return false;
    r->budget -= (int64_t)r->run.cost;
    return true;
}

static bool is_over_limit(struct str text)
{
    return str_starts(text, STR("operation cancelled: actual cost limit exceeded"));
}

/* An error of a rule; false: nothing more is run. */
static bool fail_rule(struct runner *r, const struct schema *s,
                      const struct schema_rule *rule, struct str text)
{
    struct str which = rule_text(rule);
    if (str_starts(text, STR("no such overload"))) {
        fail(r, s,
             "'%.*s': call arguments did not match a supported operator, function or "
             "macro signature for rule: %.*s",
             STR_ARG(text), STR_ARG(which));
    } else if (is_over_limit(text)) {
        fail(r, s,
             "'%.*s': no further validation rules will be run due to call cost exceeds "
             "limit for rule: %.*s",
             STR_ARG(text), STR_ARG(which));
        r->budget = -1;
    } else {
        fail(r, s, "%.*s evaluating rule: %.*s", STR_ARG(text), STR_ARG(which));
    }
    return r->budget >= 0;
}

/* ---- Messages ---- */

/* What messageExpression says; false: the rule's own message is to be used, unless the
 * budget is gone. */
static bool make_message(struct runner *r, const struct schema *s,
                         const struct schema_rule *rule,
                         const struct schema_rule_made *made,
                         const struct cel_value *self, const struct cel_value *old,
                         bool was_old, struct str *out)
{
    struct cel_value v;
    if (!evaluate(r, made->message, self, old, &v)) {
        fail(r, s,
             "messageExpression evaluation failed due to running out of cost budget, no "
             "further validation rules will be run");
        settle(r, was_old);
        r->budget = -1;
        return false;
    }
    if (v.kind == CEL_ERROR && is_over_limit(v.error->text)) {
        struct str quoted = api_shown_text(arena_of(r), rule->message_expression);
        fail(r, s,
             "no further validation rules will be run due to call cost exceeds limit for "
             "messageExpression: %.*s",
             STR_ARG(quoted));
        settle(r, was_old);
        r->budget = -1;
        return false;
    }
    if (v.kind != CEL_STRING)
        return false;
    *out = arena_str(arena_of(r), str_trim(cel_str(v)));
    return out->n && out->n <= API_CEL_MESSAGE_MAX &&
           str_find_byte(*out, '\n', 0) == SIZE_MAX;
}

static struct str default_message(struct runner *r, const struct schema_rule *rule)
{
    if (rule->message.n)
        return str_trim(rule->message);
    return arena_printf(arena_of(r), "failed rule: %.*s", STR_ARG(rule_text(rule)));
}

static void fail_false(struct runner *r, const struct schema *s, uint32_t i,
                       const struct doc *d, const struct cel_value *self,
                       const struct cel_value *old, const struct ratchet *t)
{
    const struct schema_rule *rule = &s->rules[i];
    const struct schema_rule_made *made = &s->compiled->v[i];
    bool was_old = !made->uses_old && is_old(r, t);
    struct str detail;
    size_t here = r->at->n;
    if (made->path.n)
        schema_path_child(r->at, made->path);
    if (!made->message || !make_message(r, s, rule, made, self, old, was_old, &detail))
        detail = default_message(r, rule);
    if (r->budget >= 0) {
        report(r, s, rule, d, detail);
        settle(r, was_old);
    }
    schema_path_back(r->at, here);
}

/* ---- Rules of one value ---- */

struct bound {                          /* what self and oldSelf are */
    const struct cel_value *self, *old; /* old: NULL, none */
    struct cel_value maybe;             /* oldSelf of rules that take an optional */
};

/* false: nothing more is run. */
static bool run_rule(struct runner *r, const struct schema *s, uint32_t i,
                     const struct doc *d, const struct bound *b, const struct ratchet *t)
{
    const struct schema_rule *rule = &s->rules[i];
    const struct schema_rule_made *made = &s->compiled->v[i];
    const struct cel_value *old = rule->optional_old_self ? &b->maybe : b->old;
    struct cel_value v;
    if (made->error.p) {
        fail(r, s, "rule compile error: %.*s", STR_ARG(made->error));
        return true;
    }
    if (!made->program || (made->uses_old && !b->old && !rule->optional_old_self))
        return true;
    if (!evaluate(r, made->program, b->self, old, &v)) {
        fail(r, s,
             "validation failed due to running out of cost budget, no further validation "
             "rules will be run");
        r->budget = -1;
        return false;
    }
    if (v.kind == CEL_ERROR)
        return fail_rule(r, s, rule, v.error->text);
    if (v.kind != CEL_BOOL || !v.b)
        fail_false(r, s, i, d, b->self, old, t);
    return r->budget >= 0;
}

static void run_rules(struct runner *r, const struct schema *s, const struct doc *d,
                      const struct doc *old, const struct ratchet *t)
{
    struct bound b = {.maybe = cel_optional_none()};
    if (old && old->type == DOC_NULL)
        old = NULL;
    if (r->budget <= 0) {
        fail(r, s,
             "validation failed due to running out of cost budget, no further validation "
             "rules will be run");
        r->budget = -1;
        return;
    }
    b.self = schema_convert(&r->values, s, d);
    b.old = old ? schema_convert(&r->values, s, old) : NULL;
    if (b.old)
        b.maybe = (struct cel_value){.kind = CEL_OPTIONAL, .optional = b.old};
    for (uint32_t i = 0; i < s->nrules; i++)
        if (!run_rule(r, s, i, d, &b, t))
            return;
}

/* ---- The walk ---- */

static void walk(struct runner *r, const struct schema *s, const struct doc *d,
                 const struct doc *old, const struct ratchet *t);

/* The ratchet of a member or an item, whose pair is kept in *room. */
static struct ratchet below(const struct ratchet *t, bool paired,
                            struct schema_pair *room)
{
    return (struct ratchet){paired ? room : NULL, t->here};
}

static struct ratchet at_member(const struct ratchet *t, const struct doc_member *m,
                                struct arena *a, struct schema_pair *room)
{
    struct str key = doc_key(m);
    if (!t->here)
        return *t;
    if (!t->up && (str_is(key, "apiVersion") || str_is(key, "kind")))
        return (struct ratchet){0};
    return below(t, schema_pair_key(t->here, key, &m->value, a, room), room);
}

static void walk_map(struct runner *r, const struct schema *s, const struct doc *d,
                     const struct doc *old, const struct ratchet *t)
{
    struct schema_lookup before = {.map = s->map_type == MAP_STRANGE ? NULL : old};
    for (uint32_t i = 0; i < d->n && r->budget >= 0; i++) {
        struct schema_pair room;
        struct str key = doc_key(&d->members[i]);
        const struct schema *p = schema_prop(s, key);
        const struct schema *m = p ? p : s->extra;
        if (!m || !m->has_rules || (p && (!m->decl || !s->decl)))
            continue;
        const struct doc *was = schema_lookup(&before, key, arena_of(r));
        const struct ratchet next = at_member(t, &d->members[i], arena_of(r), &room);
        size_t here = p ? schema_path_child(r->at, key) : schema_path_key(r->at, key);
        walk(r, m, &d->members[i].value, was, &next);
        schema_path_back(r->at, here);
    }
}

static void walk_list(struct runner *r, const struct schema *s, const struct doc *d,
                      const struct doc *old, const struct ratchet *t)
{
    struct arena *a = arena_of(r);
    if (!s->items || !s->items->has_rules)
        return;
    const struct schema_index *index = schema_index_new(s, old, a);
    for (uint32_t i = 0; i < d->n && r->budget >= 0; i++) {
        struct schema_pair room;
        bool paired = t->here && schema_pair_item(t->here, i, a, &room);
        const struct ratchet next = t->here ? below(t, paired, &room) : *t;
        size_t here = schema_path_index(r->at, i);
        walk(r, s->items, &d->items[i], schema_index_find(index, &d->items[i], a), &next);
        schema_path_back(r->at, here);
    }
}

static void walk(struct runner *r, const struct schema *s, const struct doc *d,
                 const struct doc *old, const struct ratchet *t)
{
    if (d->type == DOC_NULL)
        return;
    if (s->compiled)
        run_rules(r, s, d, old, t);
    else if (s->nrules) /* only of definitions that are refused for it */
        fail(r, s,
             "rule compiler initialization error: failed to convert to declType for CEL "
             "validation rules");
    if (r->budget < 0)
        return;
    if (d->type == DOC_MAP)
        walk_map(r, s, d, old, t);
    else if (d->type == DOC_LIST)
        walk_list(r, s, d, old, t);
}

int64_t schema_rules_run(const struct schema *s, const struct doc *d,
                         const struct doc *old, struct strbuf *at, int64_t budget,
                         const struct schema_run_opts *opts)
{
    struct runner r = {.o = opts, .at = at, .budget = budget};
    const struct ratchet t = {.here = opts->pair};
    if (!s->has_rules)
        return budget;
    schema_convert_init(&r.values);
    cel_run_init(&r.run);
    r.run.cancelled = opts->cancelled;
    r.run.cancel_ctx = opts->cancel_ctx;
    walk(&r, s, d, old, &t);
    cel_run_fini(&r.run);
    schema_convert_fini(&r.values);
    return r.budget;
}
