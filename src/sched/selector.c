/* SPDX-License-Identifier: Apache-2.0 */
#include "sched/selector.h"

static enum view_op op_of(struct str text)
{
    static const char *const OPS[] = {
        [VIEW_IN] = "In",
        [VIEW_NOT_IN] = "NotIn",
        [VIEW_EXISTS] = "Exists",
        [VIEW_NOT_EXISTS] = "DoesNotExist",
    };
    for (int op = VIEW_IN; op <= VIEW_NOT_EXISTS; op++)
        if (str_is(text, OPS[op]))
            return (enum view_op)op;
    return VIEW_OP_BAD;
}

static void put_labels(struct view_requirement *out, const struct labels *l,
                       struct arena *a)
{
    for (uint32_t i = 0; i < l->n; i++) {
        struct str *value = ARENA_NEW(a, struct str);
        *value = l->v[i].value;
        out[i] = (struct view_requirement){
            .key = l->v[i].key, .op = VIEW_IN, .values = {value, 1}};
    }
}

static void read_expression(struct view_reader *r, const struct doc *d,
                            struct view_requirement *out)
{
    out->key = view_text(r, d, "key");
    out->op_text = view_text(r, d, "operator");
    out->op = op_of(out->op_text);
    out->values = view_strs(r, d, "values");
}

struct selector selector_read(struct view_reader *r, const struct doc *d)
{
    if (!d || d->type == DOC_NULL)
        return (struct selector){.nothing = true};
    struct labels l;
    l.v = view_label_map(r, view_map(r, d, "matchLabels"), &l.n);
    const struct doc *list = view_list(r, d, "matchExpressions");
    uint32_t more = list ? list->n : 0;
    struct view_requirement *all = ARENA_ARRAY(r->a, struct view_requirement, l.n + more);
    struct selector s = {.all = all, .n = l.n + more};
    put_labels(all, &l, r->a);
    for (uint32_t i = 0; i < more; i++) {
        read_expression(r, &list->items[i], &all[l.n + i]);
        s.nothing = s.nothing || all[l.n + i].op == VIEW_OP_BAD;
    }
    return s;
}

struct selector selector_of_labels(const struct labels *l, struct arena *a)
{
    struct view_requirement *all = ARENA_ARRAY(a, struct view_requirement, l->n);
    put_labels(all, l, a);
    return (struct selector){.all = all, .n = l->n};
}

struct selector selector_and(const struct selector *x, const struct selector *y,
                             struct arena *a)
{
    struct view_requirement *all = ARENA_ARRAY(a, struct view_requirement, x->n + y->n);
    if (x->n)
        memcpy(all, x->all, x->n * sizeof *all);
    if (y->n)
        memcpy(all + x->n, y->all, y->n * sizeof *all);
    return (struct selector){all, x->n + y->n, x->nothing || y->nothing};
}

static bool has_value(const struct view_strs *values, const struct str *have)
{
    for (uint32_t i = 0; have && i < values->n; i++)
        if (str_eq(values->v[i], *have))
            return true;
    return false;
}

static bool requirement_matches(const struct view_requirement *q, const struct labels *l)
{
    const struct str *have = view_label_find(l->v, l->n, q->key);
    switch (q->op) {
    case VIEW_IN:
        return has_value(&q->values, have);
    case VIEW_NOT_IN:
        return !has_value(&q->values, have);
    case VIEW_EXISTS:
        return have != NULL;
    default:
        return have == NULL;
    }
}

bool selector_matches(const struct selector *s, const struct labels *l)
{
    if (s->nothing)
        return false;
    for (uint32_t i = 0; i < s->n; i++)
        if (!requirement_matches(&s->all[i], l))
            return false;
    return true;
}
