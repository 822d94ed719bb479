/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a request fits into the quotas of its namespace. */
#include "api/quota_inner.h"

#include "base/vec.h"

bool quota_handles(const struct quota_request *q)
{
    const struct quota_evaluator *e = quota_evaluator(q->group, q->resource);
    return e && e->handles(q);
}

struct amounts quota_usage(const struct quota_request *q, const struct doc *object)
{
    const struct quota_evaluator *e = quota_evaluator(q->group, q->resource);
    struct amounts out = {.a = q->w->a};
    if (e)
        e->usage(q, object, &out);
    return out;
}

bool quota_counts(const struct quota_request *q, struct str name)
{
    const struct quota_evaluator *e = quota_evaluator(q->group, q->resource);
    return e && e->counts(q, name);
}

/* ---- the check of one request ---- */

struct check {
    const struct quota_request *q;
    const struct quota_evaluator *e;
    struct amounts usage, before; /* of the object, and of what it replaces */
    struct amounts covered;       /* names that a quota limits */
    struct amounts scopes;        /* that a quota has, and the object is in */
    bool any;                     /* a quota concerns it */
    bool any_charge;              /* and it uses more than before */
    struct str *why;
};

static enum quota_verdict refuse(struct check *c, struct str why)
{
    *c->why = why;
    return QUOTA_FORBIDDEN;
}

static bool in_scope(struct check *c, const struct quota_scope *s, const struct doc *d)
{
    return c->e->in_scope && c->e->in_scope(c->q, s, d);
}

static bool term_matches(struct check *c, const struct quota_scope *s,
                         const struct doc *object, bool note)
{
    bool in = in_scope(c, s, object);
    if (in && note)
        amounts_set_int(&c->scopes, s->name, 1);
    return in;
}

static struct quota_scope scope_of(const struct doc *term)
{
    struct quota_scope s = {doc_get_text(term, "scopeName"),
                            doc_get_text(term, "operator"), doc_get(term, "values")};
    if (s.values && s.values->type != DOC_LIST)
        s.values = NULL;
    return s;
}

/* Whether the object is in all scopes; note: in those that it is in, it is covered. */
static bool matches_scopes(struct check *c, const struct quota_state *s,
                           const struct doc *object, bool note)
{
    const struct doc *names = doc_get(s->spec, "scopes"),
                     *terms = doc_path(s->spec, "scopeSelector.matchExpressions");
    bool all = true;
    for (uint32_t i = 0; names && names->type == DOC_LIST && i < names->n; i++) {
        struct quota_scope scope = {doc_str(&names->items[i]), STR("Exists"), NULL};
        all &= term_matches(c, &scope, object, note);
    }
    for (uint32_t i = 0; terms && terms->type == DOC_LIST && i < terms->n; i++) {
        struct quota_scope scope = scope_of(&terms->items[i]);
        all &= term_matches(c, &scope, object, note);
    }
    return all;
}

bool quota_is_in_scopes(const struct quota_request *q, const struct doc *spec)
{
    struct check c = {.q = q, .e = quota_evaluator(q->group, q->resource)};
    const struct quota_state s = {.spec = spec};
    return c.e && matches_scopes(&c, &s, q->object, false);
}

static bool is_counted(void *ctx, const struct view_amount *v)
{
    struct check *c = ctx;
    return c->e->counts(c->q, v->name);
}

static bool is_set(void *ctx, const struct view_amount *v)
{
    return amounts_get(ctx, v->name) != NULL;
}

static bool is_not_zero(void *ctx, const struct view_amount *v)
{
    (void)ctx;
    return quantity_sign(&v->value) != 0;
}

static bool is_negative(void *ctx, const struct view_amount *v)
{
    (void)ctx;
    return quantity_sign(&v->value) < 0;
}

static bool is_above(void *ctx, const struct view_amount *v)
{
    const struct quantity *most = amounts_get(ctx, v->name);
    return most && quantity_cmp(&v->value, most) > 0;
}

static struct amounts only(const struct amounts *x,
                           bool (*keep)(void *ctx, const struct view_amount *v),
                           void *ctx)
{
    struct amounts y = amounts_dup(x);
    amounts_filter(&y, keep, ctx);
    return y;
}

static struct str names_of(const struct amounts *x)
{
    struct strbuf b = STRBUF_INIT;
    for (uint32_t i = 0; i < x->n; i++)
        strbuf_addf(&b, "%s%.*s", i ? "," : "", STR_ARG(x->v[i].name));
    struct str text = arena_str(x->a, strbuf_str(&b));
    strbuf_release(&b);
    return text;
}

/* Fills s->charge with what the object adds, nothing where s does not concern it. */
static enum quota_verdict look_at(struct check *c, struct quota_state *s, bool *concerns)
{
    struct arena *a = c->q->w->a;
    struct amounts limited = only(&s->hard, is_counted, c);
    bool scoped = matches_scopes(c, s, c->q->object, true);
    *concerns = scoped && limited.n;
    if (!*concerns)
        return QUOTA_OK;
    struct str lacks = c->e->lacks ? c->e->lacks(c->q, &limited) : STR_NONE;
    if (lacks.p)
        return refuse(c, arena_printf(a, "failed quota: %.*s: %.*s", STR_ARG(s->name),
                                      STR_ARG(lacks)));
    struct amounts known = only(&limited, is_set, &s->used);
    if (known.n < limited.n)
        return refuse(c,
                      arena_printf(a, "status unknown for quota: %.*s, resources: %.*s",
                                   STR_ARG(s->name), STR_ARG(names_of(&limited))));
    amounts_add_all(&c->covered, &limited);
    return QUOTA_OK;
}

/* What the object adds to a quota that it is in, and maybe was in. */
static void find_charge(struct check *c, struct quota_state *s)
{
    s->charge = amounts_dup(&c->usage);
    if (c->q->old && matches_scopes(c, s, c->q->old, false))
        amounts_less(&s->charge, &c->before);
    amounts_filter(&s->charge, is_not_zero, NULL);
    if (s->charge.n)
        c->any_charge = true;
    amounts_less(&s->charge, &s->paid);
    amounts_filter(&s->charge, is_set, &s->hard);
    amounts_filter(&s->charge, is_not_zero, NULL);
}

/* ---- what must be covered ---- */

static bool holds_any(const struct doc *texts, struct str name)
{
    for (uint32_t i = 0; texts && texts->type == DOC_LIST && i < texts->n; i++)
        if (str_find(name, doc_str(&texts->items[i])) != SIZE_MAX)
            return true;
    return false;
}

static void need_names(struct check *c, const struct doc *row, struct amounts *out)
{
    if (!str_is(doc_get_text(row, "resource"), c->q->resource) ||
        !str_eq(str_from(c->q->group), doc_get_text(row, "apiGroup")))
        return;
    for (uint32_t i = 0; i < c->usage.n; i++)
        if (quantity_sign(&c->usage.v[i].value) > 0 &&
            holds_any(doc_get(row, "matchContains"), c->usage.v[i].name) &&
            !amounts_get(&c->covered, c->usage.v[i].name))
            amounts_set_int(out, c->usage.v[i].name, 1);
}

static void print_scope(struct strbuf *b, const struct quota_scope *s)
{
    strbuf_addf(b, "%s{%.*s %.*s [", b->n ? " " : "", STR_ARG(s->name), STR_ARG(s->op));
    for (uint32_t i = 0; s->values && i < s->values->n; i++)
        strbuf_addf(b, "%s%.*s", i ? " " : "", STR_ARG(doc_str(&s->values->items[i])));
    strbuf_adds(b, "]}");
}

static void need_scopes(struct check *c, const struct doc *row, struct strbuf *b)
{
    const struct doc *terms = doc_get(row, "matchScopes");
    for (uint32_t i = 0; terms && terms->type == DOC_LIST && i < terms->n; i++) {
        struct quota_scope s = scope_of(&terms->items[i]);
        if (in_scope(c, &s, c->q->object) && !amounts_get(&c->scopes, s.name))
            print_scope(b, &s);
    }
}

static enum quota_verdict check_covered(struct check *c)
{
    const struct doc *rows = c->q->w->limited;
    struct amounts names = {.a = c->q->w->a};
    struct strbuf b = STRBUF_INIT;
    for (uint32_t i = 0; rows && rows->type == DOC_LIST && i < rows->n; i++) {
        need_names(c, &rows->items[i], &names);
        need_scopes(c, &rows->items[i], &b);
    }
    struct str scopes = arena_str(c->q->w->a, strbuf_str(&b));
    strbuf_release(&b);
    if (names.n)
        return refuse(c, arena_printf(c->q->w->a, "insufficient quota to consume: %.*s",
                                      STR_ARG(names_of(&names))));
    if (scopes.n == 0)
        return QUOTA_OK;
    *c->why = arena_printf(c->q->w->a, "insufficient quota to match these scopes: [%.*s]",
                           STR_ARG(scopes));
    return QUOTA_FAILED;
}

/* ---- charging ---- */

static struct amounts with_charge(const struct quota_state *s)
{
    struct amounts used = amounts_dup(&s->used);
    amounts_add_all(&used, &s->charge);
    return used;
}

static enum quota_verdict check_fits(struct check *c, const struct quota_state *s)
{
    struct amounts used = with_charge(s), over = only(&used, is_set, (void *)&s->charge);
    amounts_filter(&over, is_above, (void *)&s->hard);
    if (over.n == 0 || strcmp(c->q->sub, "status") == 0)
        return QUOTA_OK;
    struct amounts requested = only(&s->charge, is_set, &over),
                   before = only(&s->used, is_set, &over),
                   hard = only(&s->hard, is_set, &over);
    return refuse(c, arena_printf(c->q->w->a,
                                  "exceeded quota: %.*s, requested: %.*s, used: %.*s, "
                                  "limited: %.*s",
                                  STR_ARG(s->name), STR_ARG(amounts_print(&requested)),
                                  STR_ARG(amounts_print(&before)),
                                  STR_ARG(amounts_print(&hard))));
}

static enum quota_verdict count(struct check *c, struct quota_state *quotas,
                                const bool *concerns, uint32_t n)
{
    c->usage = quota_usage(c->q, c->q->object);
    struct amounts negative = only(&c->usage, is_negative, NULL);
    if (negative.n)
        return refuse(c, arena_printf(c->q->w->a,
                                      "quota usage is negative for resource(s): %.*s",
                                      STR_ARG(names_of(&negative))));
    if (c->q->old)
        c->before = quota_usage(c->q, c->q->old);
    for (uint32_t i = 0; i < n; i++)
        if (concerns[i])
            find_charge(c, &quotas[i]);
    if (c->any)
        return c->any_charge ? check_covered(c) : QUOTA_OK;
    struct amounts added = amounts_dup(&c->usage);
    amounts_less(&added, &c->before);
    amounts_filter(&added, is_not_zero, NULL);
    return added.n ? check_covered(c) : QUOTA_OK;
}

static enum quota_verdict check(struct check *c, struct quota_state *quotas, uint32_t n)
{
    bool *concerns = ARENA_ARRAY(c->q->w->a, bool, n + 1);
    enum quota_verdict v = QUOTA_OK;
    for (uint32_t i = 0; i < n && v == QUOTA_OK; i++) {
        v = look_at(c, &quotas[i], &concerns[i]);
        c->any = c->any || concerns[i];
    }
    if (v == QUOTA_OK)
        v = count(c, quotas, concerns, n);
    for (uint32_t i = 0; i < n && v == QUOTA_OK; i++)
        v = check_fits(c, &quotas[i]);
    return v;
}

enum quota_verdict quota_check(const struct quota_request *q, struct quota_state *quotas,
                               uint32_t n, struct str *why)
{
    struct amounts none = {.a = q->w->a};
    struct check c = {.q = q,
                      .e = quota_evaluator(q->group, q->resource),
                      .usage = none,
                      .before = none,
                      .covered = none,
                      .scopes = none,
                      .why = why};
    for (uint32_t i = 0; i < n; i++)
        quotas[i].charge = none;
    if (!c.e || !c.e->handles(q))
        return QUOTA_OK;
    enum quota_verdict v = check(&c, quotas, n);
    for (uint32_t i = 0; i < n && v == QUOTA_OK; i++)
        amounts_add_all(&quotas[i].used, &quotas[i].charge);
    return v;
}
