/* SPDX-License-Identifier: Apache-2.0 */
/* Node selectors and tolerations: how they are read and what they match (spec 2.1, 3.8).
 */
#include <stdlib.h>

#include "api/view_read.h"

static const char *const OPS[] = {
    [VIEW_IN] = "In",         [VIEW_NOT_IN] = "NotIn",
    [VIEW_EXISTS] = "Exists", [VIEW_NOT_EXISTS] = "DoesNotExist",
    [VIEW_GT] = "Gt",         [VIEW_LT] = "Lt",
};

static enum view_op op_of(struct str text)
{
    for (int op = VIEW_IN; op < VIEW_OP_BAD; op++)
        if (str_is(text, OPS[op]))
            return (enum view_op)op;
    return VIEW_OP_BAD;
}

static const struct view_requirement *
read_requirements(struct view_reader *r, const struct doc *list, uint32_t *n)
{
    struct view_requirement *v = VIEW_ITEMS(r, list, struct view_requirement, n);
    for (uint32_t i = 0; i < *n; i++) {
        const struct doc *d = &list->items[i];
        v[i].key = view_text(r, d, "key");
        v[i].op_text = view_text(r, d, "operator");
        v[i].op = op_of(v[i].op_text);
        v[i].values = view_strs(r, d, "values");
    }
    return v;
}

const struct view_node_selector *view_read_node_selector(struct view_reader *r,
                                                         const struct doc *d)
{
    if (!d || d->type == DOC_NULL)
        return NULL;
    struct view_node_selector *s = ARENA_NEW(r->a, struct view_node_selector);
    const struct doc *terms = view_list(r, d, "nodeSelectorTerms");
    struct view_term *v = VIEW_ITEMS(r, terms, struct view_term, &s->nterms);
    s->terms = v;
    for (uint32_t i = 0; i < s->nterms; i++) {
        const struct doc *t = &terms->items[i];
        v[i].expressions =
            read_requirements(r, view_list(r, t, "matchExpressions"), &v[i].nexpressions);
        v[i].fields = read_requirements(r, view_list(r, t, "matchFields"), &v[i].nfields);
    }
    return s;
}

const struct str *view_label_find(const struct view_label *labels, uint32_t n,
                                  struct str key)
{
    uint32_t lo = 0, hi = n;
    while (lo < hi) {
        uint32_t mid = (lo + hi) / 2;
        int c = str_cmp(labels[mid].key, key);
        if (c == 0)
            return &labels[mid].value;
        if (c < 0)
            lo = mid + 1;
        else
            hi = mid;
    }
    return NULL;
}

static bool contains(const struct view_strs *values, struct str s)
{
    for (uint32_t i = 0; i < values->n; i++)
        if (str_eq(values->v[i], s))
            return true;
    return false;
}

/* Go's strconv.ParseInt(s, 10, 64). */
static bool to_int64(struct str s, int64_t *out)
{
    bool negative = s.n && s.p[0] == '-';
    size_t i = s.n && (s.p[0] == '-' || s.p[0] == '+') ? 1 : 0;
    if (i == s.n)
        return false;
    int64_t v = 0;
    for (; i < s.n; i++) {
        if (s.p[i] < '0' || s.p[i] > '9' || __builtin_mul_overflow(v, 10, &v))
            return false;
        int64_t digit = s.p[i] - '0';
        if (__builtin_add_overflow(v, negative ? -digit : digit, &v))
            return false;
    }
    *out = v;
    return true;
}

/* What is wrong with the requirement, or NULL; the rules of a label selector. */
static const char *requirement_defect(const struct view_requirement *q)
{
    int64_t bound;
    switch (q->op) {
    case VIEW_IN:
    case VIEW_NOT_IN:
        return q->values.n ? NULL : "needs values";
    case VIEW_EXISTS:
    case VIEW_NOT_EXISTS:
        return q->values.n ? "takes no values" : NULL;
    case VIEW_GT:
    case VIEW_LT:
        if (q->values.n != 1)
            return "needs exactly one value";
        return to_int64(q->values.v[0], &bound) ? NULL : "needs an integer";
    default:
        return "is not a node selector operator";
    }
}

static bool bad_requirement(const struct view_requirement *q, const char *why,
                            struct err *e)
{
    return err_set(e, ERR_INVALID,
                   "node selector requirement on \"%.*s\": operator \"%.*s\" %s",
                   STR_ARG(q->key), STR_ARG(q->op_text), why);
}

static bool label_matches(const struct view_requirement *q, const struct str *label)
{
    int64_t have, bound;
    switch (q->op) {
    case VIEW_IN:
        return label && contains(&q->values, *label);
    case VIEW_NOT_IN:
        return !label || !contains(&q->values, *label);
    case VIEW_EXISTS:
        return label != NULL;
    case VIEW_NOT_EXISTS:
        return label == NULL;
    case VIEW_GT:
    case VIEW_LT:
        if (!label || !to_int64(*label, &have) || !to_int64(q->values.v[0], &bound))
            return false;
        return q->op == VIEW_GT ? have > bound : have < bound;
    default:
        return false;
    }
}

static const char *field_defect(const struct view_requirement *q)
{
    if (q->op != VIEW_IN && q->op != VIEW_NOT_IN)
        return "is not allowed for fields";
    return q->values.n == 1 ? NULL : "needs exactly one value for a field";
}

static bool field_matches(const struct view_requirement *q, const struct view_node *node)
{
    struct str have = str_is(q->key, "metadata.name") ? node->meta.name : STR_NONE;
    return str_eq(have, q->values.v[0]) == (q->op == VIEW_IN);
}

static bool term_defect(const struct view_term *t, struct err *e)
{
    const char *why;
    for (uint32_t i = 0; i < t->nexpressions; i++)
        if ((why = requirement_defect(&t->expressions[i])) != NULL)
            return !bad_requirement(&t->expressions[i], why, e);
    for (uint32_t i = 0; i < t->nfields; i++)
        if ((why = field_defect(&t->fields[i])) != NULL)
            return !bad_requirement(&t->fields[i], why, e);
    return false;
}

bool view_term_match(const struct view_term *t, const struct view_node *node, bool *bad,
                     struct err *e)
{
    if (t->nexpressions == 0 && t->nfields == 0)
        return false;
    if (term_defect(t, e)) {
        *bad = true;
        return false;
    }
    for (uint32_t i = 0; i < t->nexpressions; i++) {
        const struct view_requirement *q = &t->expressions[i];
        if (!label_matches(q, view_label_find(node->labels, node->nlabels, q->key)))
            return false;
    }
    for (uint32_t i = 0; i < t->nfields; i++)
        if (!field_matches(&t->fields[i], node))
            return false;
    return true;
}

enum view_match view_node_selector_match(const struct view_node_selector *s,
                                         const struct view_node *node, struct err *e)
{
    bool bad = false;
    struct err first = ERR_INIT;
    for (uint32_t i = 0; i < s->nterms; i++) {
        if (view_term_match(&s->terms[i], node, &bad, first.msg ? NULL : &first)) {
            err_release(&first);
            return VIEW_MATCH_YES;
        }
    }
    if (bad && e)
        err_set(e, first.code, "%s", err_text(&first));
    err_release(&first);
    return bad ? VIEW_MATCH_BAD : VIEW_MATCH_NO;
}

bool view_tolerates(const struct view_toleration *t, const struct view_taint *taint)
{
    if (t->effect.n && !str_eq(t->effect, taint->effect))
        return false;
    if (t->key.n && !str_eq(t->key, taint->key))
        return false;
    if (str_is(t->op, "Exists"))
        return true;
    return (t->op.n == 0 || str_is(t->op, "Equal")) && str_eq(t->value, taint->value);
}
