/* SPDX-License-Identifier: Apache-2.0 */
#include "api/fields.h"

#include <stdlib.h>

#include "base/quote.h"
#include "doc/tree.h"

/* ---- Elements ---- */

struct str field_name(struct arena *a, struct str member)
{
    return arena_printf(a, "f:%.*s", STR_ARG(member));
}

static bool read_value(struct str text, struct arena *a, struct doc *out, struct str *why)
{
    struct doc_source src = {.name = "managedFields", .text = text};
    struct err e = ERR_INIT;
    bool ok = doc_read_json(&src, a, out, &e);
    if (!ok)
        *why = arena_str(a, str_from(err_text(&e)));
    err_release(&e);
    return ok;
}

static bool is_place(struct str s)
{
    size_t i = s.n && (s.p[0] == '-' || s.p[0] == '+');
    bool ok = s.n > i && s.n < 12;
    for (; ok && i < s.n; i++)
        ok = s.p[i] >= '0' && s.p[i] <= '9';
    return ok;
}

/* An element in its one spelling. false: none, with a text in why. Elements of kinds to
 * come (not f, k, v, i) give an empty name, and are to be passed over. */
static bool field_canonical(struct str raw, struct arena *a, struct str *out,
                            struct str *why)
{
    struct doc value;
    struct strbuf b = STRBUF_INIT;
    *out = STR_NONE;
    if (raw.n < 2 || raw.p[1] != ':') {
        *why = arena_printf(a, "no path element: %.*s", STR_ARG(raw));
        return false;
    }
    struct str text = str_sub(raw, 2, SIZE_MAX);
    switch (raw.p[0]) {
    case 'f':
        *out = raw;
        return true;
    case 'i':
        *out = raw;
        *why = arena_printf(a, "no place in a list: %.*s", STR_ARG(raw));
        return is_place(text);
    case 'k':
    case 'v':
        break;
    default:
        return true;
    }
    if (!read_value(text, a, &value, why))
        return false;
    if (raw.p[0] == 'k' && value.type != DOC_MAP) {
        *why = arena_printf(a, "no keys of an item: %.*s", STR_ARG(raw));
        return false;
    }
    strbuf_add(&b, raw.p, 2);
    doc_write_json(&value, DOC_JSON_SORT, &b);
    *out = arena_str(a, strbuf_str(&b));
    strbuf_release(&b);
    return true;
}

/* ---- Nodes ---- */

static uint32_t lower_bound(const struct fields *s, struct str name)
{
    uint32_t lo = 0, hi = s->n;
    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        if (str_cmp(s->v[mid].name, name) < 0)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

const struct field_node *fields_find(const struct fields *s, struct str name)
{
    uint32_t i = lower_bound(s, name);
    return i < s->n && str_eq(s->v[i].name, name) ? &s->v[i] : NULL;
}

static void make_room(struct fields *s, struct arena *a)
{
    if (s->n < s->cap)
        return;
    uint32_t cap = s->n < 4 ? 4 : 2 * s->n;
    struct field_node *v = ARENA_ARRAY(a, struct field_node, cap);
    if (s->n)
        memcpy(v, s->v, s->n * sizeof *v);
    s->v = v;
    s->cap = cap;
}

/* Appends unless nothing is there. */
static void push(struct fields *s, struct field_node node, struct arena *a)
{
    if (!node.member && fields_empty(&node.below))
        return;
    make_room(s, a);
    s->v[s->n++] = node;
}

static struct field_node *node_of(struct fields *s, struct str name, struct arena *a)
{
    uint32_t i = lower_bound(s, name);
    if (i < s->n && str_eq(s->v[i].name, name))
        return &s->v[i];
    make_room(s, a);
    memmove(s->v + i + 1, s->v + i, (s->n - i) * sizeof *s->v);
    s->v[i] = (struct field_node){.name = name};
    s->n++;
    return &s->v[i];
}

static struct fields *level_of(struct fields *s, const struct field_step *up,
                               struct arena *a)
{
    return up ? &node_of(level_of(s, up->up, a), up->name, a)->below : s;
}

void fields_insert(struct fields *s, const struct field_step *path, struct arena *a)
{
    if (path)
        node_of(level_of(s, path->up, a), path->name, a)->member = true;
}

static const struct field_node *find_node(const struct fields *s,
                                          const struct field_step *path)
{
    if (!path->up)
        return fields_find(s, path->name);
    const struct field_node *up = find_node(s, path->up);
    return up ? fields_find(&up->below, path->name) : NULL;
}

bool fields_has(const struct fields *s, const struct field_step *path)
{
    const struct field_node *node = path ? find_node(s, path) : NULL;
    return node && node->member;
}

/* ---- FieldsV1 ---- */

static bool decode_level(const struct doc *d, struct arena *a, struct fields *s,
                         struct str *why);

/* A node with nothing in it is a path of the set; one with something is when it has a
 * member ".". */
static bool decode_node(const struct doc *d, struct arena *a, struct field_node *node,
                        struct str *why)
{
    if (d->type != DOC_MAP && d->type != DOC_NULL) {
        *why = STR("a path element is no map");
        return false;
    }
    if (!decode_level(d, a, &node->below, why))
        return false;
    node->member |= fields_empty(&node->below) || doc_get(d, ".");
    return true;
}

struct named {
    struct str name;
    const struct doc *value;
};

static int by_name(const void *a, const void *b)
{
    return str_cmp(((const struct named *)a)->name, ((const struct named *)b)->name);
}

/* In the order of the canonical names, so that the set grows at its end. */
static bool decode_level(const struct doc *d, struct arena *a, struct fields *s,
                         struct str *why)
{
    bool map = d->type == DOC_MAP;
    struct named *v = ARENA_ARRAY(a, struct named, map ? d->n : 0);
    uint32_t n = 0;
    for (uint32_t i = 0; map && i < d->n; i++) {
        struct str key = doc_key(&d->members[i]);
        if (str_is(key, "."))
            continue;
        if (!field_canonical(key, a, &v[n].name, why))
            return false;
        v[n].value = &d->members[i].value;
        n += v[n].name.n > 0;
    }
    qsort(v, n, sizeof *v, by_name);
    for (uint32_t i = 0; i < n; i++)
        if (!decode_node(v[i].value, a, node_of(s, v[i].name, a), why))
            return false;
    return true;
}

bool fields_decode(const struct doc *d, struct arena *a, struct fields *out,
                   struct str *why)
{
    struct fields s = {0};
    if (d->type != DOC_MAP && d->type != DOC_NULL) {
        *why = STR("fields are no map");
        return false;
    }
    if (!decode_level(d, a, &s, why))
        return false;
    *out = s;
    return true;
}

/* "." comes first, as Go writes it: who compares bytes finds no difference. */
static struct doc encode_level(const struct fields *s, bool member, struct arena *a)
{
    struct doc out = doc_make_map();
    if (member && s->n)
        doc_add_str(a, &out, STR("."), doc_make_map());
    for (uint32_t i = 0; i < s->n; i++) {
        const struct field_node *node = &s->v[i];
        doc_add_str(a, &out, node->name, encode_level(&node->below, node->member, a));
    }
    return out;
}

struct doc fields_encode(const struct fields *s, struct arena *a)
{
    return encode_level(s, false, a);
}

/* ---- Two sets ---- */

enum operation { UNION, INTERSECTION, DIFFERENCE, WITHOUT };

static struct fields combine(enum operation op, const struct fields *x,
                             const struct fields *y, struct arena *a);

/* x or y may be missing, not both. */
static struct field_node combine_nodes(enum operation op, const struct field_node *x,
                                       const struct field_node *y, struct arena *a)
{
    struct field_node node = {.name = STR_NONE};
    if (!y) {
        /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): x is there, then */
        node.name = x->name;
        return op == INTERSECTION ? node : *x;
    }
    node.name = y->name;
    if (!x)
        return op == UNION ? *y : node;
    if (op == WITHOUT && y->member)
        return node;
    node.member = op == UNION          ? x->member || y->member
                  : op == INTERSECTION ? x->member && y->member
                                       : x->member && !y->member;
    node.below = combine(op, &x->below, &y->below, a);
    return node;
}

static struct fields combine(enum operation op, const struct fields *x,
                             const struct fields *y, struct arena *a)
{
    struct fields out = {0};
    for (uint32_t i = 0, j = 0; i < x->n || j < y->n;) {
        int c = i == x->n ? 1 : j == y->n ? -1 : str_cmp(x->v[i].name, y->v[j].name);
        const struct field_node *l = c <= 0 ? &x->v[i++] : NULL;
        const struct field_node *r = c >= 0 ? &y->v[j++] : NULL;
        push(&out, combine_nodes(op, l, r, a), a);
    }
    return out;
}

struct fields fields_union(const struct fields *x, const struct fields *y,
                           struct arena *a)
{
    return combine(UNION, x, y, a);
}

struct fields fields_intersection(const struct fields *x, const struct fields *y,
                                  struct arena *a)
{
    return combine(INTERSECTION, x, y, a);
}

struct fields fields_difference(const struct fields *x, const struct fields *y,
                                struct arena *a)
{
    return combine(DIFFERENCE, x, y, a);
}

struct fields fields_without(const struct fields *x, const struct fields *y,
                             struct arena *a)
{
    return combine(WITHOUT, x, y, a);
}

/* ---- Paths for people ---- */

static void write_value(const struct doc *d, struct strbuf *out)
{
    if (d->type == DOC_STRING)
        strbuf_add_quoted(out, doc_str(d));
    else
        doc_write_json(d, DOC_JSON_SORT, out);
}

static void write_keys(const struct doc *keys, struct strbuf *out)
{
    struct tree_order o;
    tree_order_init(&o, keys, str_cmp);
    for (uint32_t i = 0; i < o.n; i++) {
        strbuf_adds(out, i ? "," : "");
        strbuf_addstr(out, doc_key(o.v[i]));
        strbuf_addc(out, '=');
        write_value(&o.v[i]->value, out);
    }
    tree_order_fini(&o);
}

static void write_element(struct str name, struct arena *a, struct strbuf *out)
{
    struct doc value;
    struct str text = str_sub(name, 2, SIZE_MAX), why;
    if (name.p[0] == 'f') {
        strbuf_addc(out, '.');
        strbuf_addstr(out, text);
        return;
    }
    strbuf_addc(out, '[');
    if (name.p[0] == 'i')
        strbuf_addstr(out, text);
    else if (read_value(text, a, &value, &why) && name.p[0] == 'k')
        write_keys(&value, out);
    else {
        strbuf_addc(out, '=');
        write_value(&value, out);
    }
    strbuf_addc(out, ']');
}

static void each_below(const struct fields *s, struct strbuf *prefix, struct arena *a,
                       fields_each_fn *each, void *ctx)
{
    size_t n = prefix->n;
    for (int members = 1; members >= 0; members--)
        for (uint32_t i = 0; i < s->n; i++) {
            if (members && !s->v[i].member)
                continue;
            write_element(s->v[i].name, a, prefix);
            if (members)
                each(ctx, arena_str(a, strbuf_str(prefix)));
            else
                each_below(&s->v[i].below, prefix, a, each, ctx);
            prefix->n = n;
        }
}

/* The paths that end on a level come before those that go on. */
void fields_each(const struct fields *s, struct arena *a, fields_each_fn *each, void *ctx)
{
    struct strbuf prefix = STRBUF_INIT;
    each_below(s, &prefix, a, each, ctx);
    strbuf_release(&prefix);
}
