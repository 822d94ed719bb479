/* SPDX-License-Identifier: Apache-2.0 */
#include "api/typed.h"

#include <stdlib.h>

#include "base/map.h"
#include "base/quote.h"

/* ---- Shapes ---- */

struct shape {
    /* DEDUCED: a map of such values, or as one, as the value is. */
    enum { SCALAR, LIST, STRUCT, MAP, FREE, DEDUCED } kind;
    bool atomic;
    const struct api_type *type;   /* STRUCT */
    const struct api_field *field; /* LIST, MAP, SCALAR; NULL: a map that was deduced */
};

static const struct shape AS_ONE = {.kind = FREE, .atomic = true};
static const struct shape BY_VALUE = {.kind = DEDUCED};

static struct shape shape_of_field(const struct api_field *f);

static struct shape shape_of_type(const struct api_type *t)
{
    if (t->value)
        return shape_of_field(t->value);
    if (t->form == API_DEDUCED)
        return BY_VALUE;
    bool plain = t->form == API_STRUCT;
    return (struct shape){.kind = plain ? STRUCT : FREE, .atomic = !plain, .type = t};
}

/* Of the value of a field, or of the items of its list or map. */
static struct shape shape_of_value(const struct api_field *f)
{
    switch (f->form) {
    case API_STRUCT:
        return shape_of_type(f->type);
    case API_OBJECT:
    case API_RAW:
    case API_FIELDS_V1:
    case API_ANY:
        return AS_ONE;
    case API_DEDUCED:
        return BY_VALUE;
    default:
        return (struct shape){.kind = SCALAR, .atomic = true, .field = f};
    }
}

static struct shape shape_of_field(const struct api_field *f)
{
    bool atomic = f->flags & API_MAP_ATOMIC;
    struct shape s = {.field = f, .kind = MAP, .atomic = atomic};
    if (f->container == API_LIST) {
        s.kind = LIST;
        s.atomic = f->list_type == API_LIST_ATOMIC;
    } else if (f->container == API_ONE) {
        s = shape_of_value(f);
        s.atomic = s.atomic || atomic;
    }
    return s;
}

static struct shape shape_of_item(const struct shape *list)
{
    struct shape s = shape_of_value(list->field);
    if (s.kind == STRUCT && s.type->atomic) /* the tables say so for members alone */
        s.atomic = true;
    return s;
}

/* false: a struct has no such member. */
static bool shape_of_member(const struct shape *s, struct str key, struct shape *out)
{
    if (s->kind == MAP && !s->field) {
        *out = BY_VALUE;
        return true;
    }
    if (s->kind == MAP) {
        *out = shape_of_value(s->field);
        if (s->field->container == API_MAP_OF_LISTS)
            *out = (struct shape){.kind = LIST, .atomic = true, .field = s->field};
        return true;
    }
    const struct api_field *f = s->kind == STRUCT ? api_field_find(s->type, key) : NULL;
    if (f)
        *out = shape_of_field(f);
    return f != NULL;
}

/* Members that no table knows are carried along as one, unless their type is open. */
static struct shape member_or_free(const struct shape *s, struct str key)
{
    struct shape out = s->kind == STRUCT && s->type->open ? BY_VALUE : AS_ONE;
    shape_of_member(s, key, &out);
    return out;
}

/* What a deduced shape is for one or two values, either of which may be absent. */
static struct shape settled(const struct shape *s, const struct doc *l,
                            const struct doc *r)
{
    bool map = (l && l->type == DOC_MAP) || (r && r->type == DOC_MAP);
    if (s->kind != DEDUCED)
        return *s;
    if (s->atomic || !map || (l && l->type != DOC_MAP && l->type != DOC_NULL) ||
        (r && r->type != DOC_MAP && r->type != DOC_NULL))
        return AS_ONE;
    return (struct shape){.kind = MAP};
}

/* The items or members of a value that is of the kind that its shape wants. */
static const struct doc *content(const struct shape *s, const struct doc *d)
{
    enum doc_type want = s->kind == LIST ? DOC_LIST : DOC_MAP;
    return d && d->type == want ? d : NULL;
}

static bool has_content(const struct shape *s, const struct doc *d)
{
    const struct doc *c = content(s, d);
    return c && c->n;
}

/* ---- Keys of items ---- */

static bool default_of(const struct shape *item, struct str key, struct arena *a,
                       struct doc *out)
{
    const struct api_field *f =
        item->kind == STRUCT ? api_field_find(item->type, key) : NULL;
    if (!f || !f->def)
        return false;
    struct doc_source src = {.name = "default", .text = str_from(f->def)};
    return doc_read_json(&src, a, out, NULL);
}

/* The member keys of a keyed list are "a,b"; one that an item lacks has its default. */
static struct doc key_of(const struct shape *list, const struct doc *d, struct arena *a)
{
    struct doc keys = doc_make_map(), value;
    struct shape item = shape_of_value(list->field);
    struct str rest = str_from(list->field->list_keys);
    while (rest.n) {
        size_t end = str_find_byte(rest, ',', 0);
        struct str key = str_sub(rest, 0, end);
        const struct doc *have = doc_get_str(d, key);
        if (have)
            doc_set_str(a, &keys, key, *have);
        else if (default_of(&item, key, a, &value))
            doc_set_str(a, &keys, key, value);
        rest = end == SIZE_MAX ? STR_NONE : str_sub(rest, end + 1, SIZE_MAX);
    }
    return keys;
}

static struct str spell(char kind, const struct doc *d, struct arena *a)
{
    struct strbuf b = STRBUF_INIT;
    strbuf_addc(&b, kind);
    strbuf_addc(&b, ':');
    doc_write_json(d, DOC_JSON_SORT, &b);
    struct str s = arena_str(a, strbuf_str(&b));
    strbuf_release(&b);
    return s;
}

static const char *wrong_item(const struct shape *list, const struct doc *d)
{
    bool null = d->type == DOC_NULL;
    if (list->field->list_type == API_LIST_MAP)
        return d->type == DOC_MAP ? NULL
               : null ? "associative list with keys may not have a null element"
                      : "associative list with keys may not have non-map elements";
    if (d->type == DOC_MAP)
        return "associative list without keys has an element that's a map type";
    if (d->type == DOC_LIST)
        return "not supported: associative list with lists as elements";
    return null ? "associative list without keys has an element that's an explicit null"
                : NULL;
}

/* The path element of an item; STR_NONE with a text in why (may be NULL): it has none. */
static struct str item_name(const struct shape *list, const struct doc *d,
                            struct arena *a, struct str *why)
{
    const char *wrong = wrong_item(list, d);
    struct str text = str_from(wrong);
    if (!wrong && list->field->list_type == API_LIST_SET)
        return spell('v', d, a);
    if (!wrong) {
        struct doc keys = key_of(list, d, a);
        if (keys.n)
            return spell('k', &keys, a);
        text = arena_printf(a,
                            "associative list with keys has an element that omits all "
                            "key fields (%s), which have no default values",
                            list->field->list_keys);
    }
    if (why)
        *why = text;
    return STR_NONE;
}

/* ---- Check ---- */

struct check {
    struct arena *a;
    bool duplicates;
    struct str *why;
};

static bool check(struct check *c, const struct shape *s, const struct doc *d,
                  const struct field_step *at);

static void keep_path(void *ctx, struct str path)
{
    *(struct str *)ctx = path;
}

static bool wrong(struct check *c, const struct field_step *at, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

static bool wrong(struct check *c, const struct field_step *at, const char *fmt, ...)
{
    va_list ap;
    struct fields one = {0};
    struct str path = STR(""), text;
    fields_insert(&one, at, c->a);
    fields_each(&one, c->a, keep_path, &path);
    va_start(ap, fmt);
    text = arena_vprintf(c->a, fmt, ap);
    va_end(ap);
    *c->why = arena_printf(c->a, "%.*s: %.*s", STR_ARG(path), STR_ARG(text));
    return false;
}

static bool check_scalar(struct check *c, const struct shape *s, const struct doc *d,
                         const struct field_step *at)
{
    bool ok = d->type < DOC_LIST, number = d->type == DOC_NUMBER;
    const char *want = "any scalar";
    switch (s->field->form) {
    case API_BOOL:
        ok = d->type == DOC_BOOL;
        want = "boolean";
        break;
    case API_INT32:
    case API_INT64:
    case API_DOUBLE:
        ok = number;
        want = "numeric (int or float)";
        break;
    case API_QUANTITY:
    case API_INT_OR_STRING:
        break;
    default:
        ok = d->type == DOC_STRING;
        want = "string";
    }
    return ok || wrong(c, at, "expected %s, got %s", want, doc_type_name(d));
}

static struct str index_name(struct arena *a, uint32_t i)
{
    return arena_printf(a, "i:%u", i);
}

static bool check_item(struct check *c, const struct shape *s, const struct doc *d,
                       uint32_t i, struct strmap *seen, const struct field_step *at)
{
    struct str why = STR_NONE, name = index_name(c->a, i);
    bool made = true;
    if (!s->atomic) {
        name = item_name(s, d, c->a, &why);
        if (!name.p)
            return wrong(c, at, "element %u: %.*s", i, STR_ARG(why));
        strmap_put(seen, name, &made);
    }
    const struct field_step here = {at, name};
    struct shape item = shape_of_item(s);
    if (!made && !c->duplicates) {
        struct fields one = {0};
        struct str path;
        const struct field_step alone = {NULL, name};
        fields_insert(&one, &alone, c->a);
        fields_each(&one, c->a, keep_path, &path);
        return wrong(c, at, "duplicate entries for key %.*s", STR_ARG(path));
    }
    return check(c, &item, d, &here);
}

static bool check_list(struct check *c, const struct shape *s, const struct doc *d,
                       const struct field_step *at)
{
    struct strmap seen;
    bool ok = true;
    strmap_init(&seen);
    for (uint32_t i = 0; ok && i < d->n; i++)
        ok = check_item(c, s, &d->items[i], i, &seen, at);
    strmap_release(&seen);
    return ok;
}

static bool check_map(struct check *c, const struct shape *s, const struct doc *d,
                      const struct field_step *at)
{
    for (uint32_t i = 0; i < d->n; i++) {
        struct shape member;
        struct str key = doc_key(&d->members[i]);
        const struct field_step here = {at, field_name(c->a, key)};
        if (!shape_of_member(s, key, &member) && !(s->type && s->type->open))
            return wrong(c, &here, "field not declared in schema");
        member = member_or_free(s, key);
        if (!check(c, &member, &d->members[i].value, &here))
            return false;
    }
    return true;
}

static bool check(struct check *c, const struct shape *s, const struct doc *d,
                  const struct field_step *at)
{
    if (d->type == DOC_NULL || s->kind == FREE || s->kind == DEDUCED)
        return true;
    if (s->kind == SCALAR)
        return check_scalar(c, s, d, at);
    if (!content(s, d))
        return wrong(c, at, "expected %s, got %s", s->kind == LIST ? "list" : "map",
                     doc_type_name(d));
    return s->kind == LIST ? check_list(c, s, d, at) : check_map(c, s, d, at);
}

bool typed_check(const struct api_type *t, const struct doc *d, bool duplicates,
                 struct arena *a, struct str *why)
{
    struct check c = {a, duplicates, why};
    struct shape s = shape_of_type(t);
    return check(&c, &s, d, NULL);
}

/* ---- Two values beside each other ---- */

/* The members of two maps, or the items of two lists by name, in pairs. */
struct pair {
    struct str name; /* of the path element */
    struct str key;  /* of a member */
    const struct doc *l, *r;
    struct doc l_many, r_many; /* lists of the items when they are more than one */
};

struct pairs {
    struct pair *v;
    uint32_t n;
};

static struct pair *pair_at(struct pairs *p, struct strmap *index, struct str name)
{
    bool made;
    struct strmap_entry *entry = strmap_put(index, name, &made);
    if (made) {
        entry->value.u = p->n;
        p->v[p->n++] = (struct pair){
            .name = name, .l_many = doc_make_list(), .r_many = doc_make_list()};
    }
    return &p->v[entry->value.u];
}

/* Sets of fields grow at their end then. */
static int by_name(const void *a, const void *b)
{
    return str_cmp(((const struct pair *)a)->name, ((const struct pair *)b)->name);
}

static struct pairs pair_items(const struct shape *s, const struct doc *l,
                               const struct doc *r, struct arena *a)
{
    uint32_t nl = l ? l->n : 0, nr = r ? r->n : 0;
    struct pairs p = {.v = ARENA_ARRAY(a, struct pair, nl + nr)};
    struct strmap index;
    strmap_init(&index);
    for (uint32_t i = 0; i < nl + nr; i++) {
        bool left = i < nl;
        const struct doc *item = left ? &l->items[i] : &r->items[i - nl];
        struct str name = item_name(s, item, a, NULL);
        if (!name.p)
            continue;
        struct pair *pair = pair_at(&p, &index, name);
        const struct doc **side = left ? &pair->l : &pair->r;
        struct doc *many = left ? &pair->l_many : &pair->r_many;
        if (*side && !many->n)
            doc_append(a, many, **side);
        if (*side)
            doc_append(a, many, *item);
        *side = *side ? *side : item;
    }
    strmap_release(&index);
    qsort(p.v, p.n, sizeof *p.v, by_name);
    return p;
}

static struct pairs pair_members(const struct doc *l, const struct doc *r,
                                 struct arena *a)
{
    uint32_t nl = l ? l->n : 0, nr = r ? r->n : 0;
    struct pairs p = {.v = ARENA_ARRAY(a, struct pair, nl + nr)};
    struct strmap index;
    strmap_init(&index);
    for (uint32_t i = 0; i < nl + nr; i++) {
        const struct doc_member *m = i < nl ? &l->members[i] : &r->members[i - nl];
        struct pair *pair = pair_at(&p, &index, doc_key(m));
        pair->key = doc_key(m);
        *(i < nl ? &pair->l : &pair->r) = &m->value; /* of equal keys the last */
    }
    strmap_release(&index);
    for (uint32_t i = 0; i < p.n; i++)
        p.v[i].name = field_name(a, p.v[i].key);
    qsort(p.v, p.n, sizeof *p.v, by_name);
    return p;
}

/* ---- The fields of a value ---- */

struct walk {
    struct arena *a;
    struct fields *out;
};

static void walk(struct walk *w, const struct shape *s, const struct doc *d,
                 const struct field_step *at);

/* Of items with equal keys only the key is owned. */
static void walk_list(struct walk *w, const struct shape *s, const struct doc *d,
                      const struct field_step *at)
{
    struct pairs p = pair_items(s, d, NULL, w->a);
    struct shape item = shape_of_item(s);
    for (uint32_t i = 0; i < p.n; i++) {
        const struct field_step here = {at, p.v[i].name};
        fields_insert(w->out, &here, w->a);
        if (!p.v[i].l_many.n)
            walk(w, &item, p.v[i].l, &here);
    }
}

static void walk_map(struct walk *w, const struct shape *s, const struct doc *d,
                     const struct field_step *at)
{
    struct pairs p = pair_members(d, NULL, w->a);
    for (uint32_t i = 0; i < p.n; i++) {
        const struct doc *value = p.v[i].l;
        struct shape member = member_or_free(s, p.v[i].key);
        const struct field_step here = {at, p.v[i].name};
        bool empty = value->type == DOC_NULL || (value->type == DOC_MAP && !value->n);
        walk(w, &member, value, &here);
        bool declared = s->kind == STRUCT && api_field_find(s->type, p.v[i].key);
        if (empty || !declared)
            fields_insert(w->out, &here, w->a);
    }
}

static void walk(struct walk *w, const struct shape *shape, const struct doc *d,
                 const struct field_step *at)
{
    const struct shape now = settled(shape, d, NULL), *s = &now;
    if (s->atomic)
        fields_insert(w->out, at, w->a);
    else if (!content(s, d))
        return;
    else if (s->kind == LIST)
        walk_list(w, s, d, at);
    else
        walk_map(w, s, d, at);
}

struct fields typed_fields(const struct api_type *t, const struct doc *d, struct arena *a)
{
    struct fields out = {0};
    struct walk w = {a, &out};
    struct shape s = shape_of_type(t);
    walk(&w, &s, d, NULL);
    return out;
}

/* ---- What is owned as one ---- */

static void find_atomics(const struct shape *s, const struct doc *d, struct str path,
                         struct arena *a, struct strbuf *out)
{
    bool list = d->type == DOC_LIST && (s->kind == LIST || s->kind == FREE);
    bool map = d->type == DOC_MAP && s->kind != LIST && s->kind != SCALAR;
    if (s->atomic && (list || map))
        strbuf_addf(out, "%s%.*s", out->n ? ", " : "", STR_ARG(path));
    for (uint32_t i = 0; map && s->kind == STRUCT && i < d->n; i++) {
        struct shape member;
        struct str key = doc_key(&d->members[i]);
        if (shape_of_member(s, key, &member))
            find_atomics(&member, &d->members[i].value,
                         arena_printf(a, "%.*s.%.*s", STR_ARG(path), STR_ARG(key)), a,
                         out);
    }
    struct shape item = list && s->kind == LIST ? shape_of_item(s) : *s;
    for (uint32_t i = 0; list && s->kind == LIST && i < d->n; i++)
        find_atomics(&item, &d->items[i], arena_printf(a, "%.*s[%u]", STR_ARG(path), i),
                     a, out);
}

struct str typed_atomics(const struct api_type *t, const struct doc *d, struct arena *a)
{
    struct strbuf b = STRBUF_INIT;
    struct shape s = shape_of_type(t);
    find_atomics(&s, d, STR(""), a, &b);
    struct str found = arena_str(a, strbuf_str(&b));
    strbuf_release(&b);
    return found;
}

/* ---- Compare ---- */

struct compare {
    struct arena *a;
    struct typed_change *out;
};

static void compare(struct compare *c, const struct shape *s, const struct doc *l,
                    const struct doc *r, const struct field_step *at);

static void note_side(struct compare *c, const struct doc *l, const struct doc *r,
                      const struct field_step *at)
{
    if (!l)
        fields_insert(&c->out->added, at, c->a);
    else if (!r)
        fields_insert(&c->out->removed, at, c->a);
}

static void compare_leaf(struct compare *c, const struct doc *l, const struct doc *r,
                         const struct field_step *at)
{
    if (l && r && !doc_equal(l, r))
        fields_insert(&c->out->modified, at, c->a);
    note_side(c, l, r, at);
}

static void compare_items(struct compare *c, const struct shape *s, const struct pair *p,
                          const struct field_step *at)
{
    const struct field_step here = {at, p->name};
    struct shape item = shape_of_item(s);
    bool l_many = p->l_many.n > 0, r_many = p->r_many.n > 0;
    if (!l_many && !r_many) {
        compare(c, &item, p->l, p->r, &here);
    } else if (l_many && r_many) {
        if (!doc_equal(&p->l_many, &p->r_many))
            fields_insert(&c->out->modified, &here, c->a);
    } else if (l_many) {
        if (p->r)
            compare(c, &item, NULL, p->r, &here);
        fields_insert(&c->out->removed, &here, c->a);
    } else {
        if (p->l)
            compare(c, &item, p->l, NULL, &here);
        fields_insert(&c->out->added, &here, c->a);
    }
}

static void compare_members(struct compare *c, const struct shape *s, const struct doc *l,
                            const struct doc *r, const struct field_step *at)
{
    struct pairs p = pair_members(l, r, c->a);
    for (uint32_t i = 0; i < p.n; i++) {
        const struct field_step here = {at, p.v[i].name};
        struct shape member = member_or_free(s, p.v[i].key);
        compare(c, &member, p.v[i].l, p.v[i].r, &here);
    }
}

static void compare(struct compare *c, const struct shape *shape, const struct doc *l,
                    const struct doc *r, const struct field_step *at)
{
    const struct shape now = settled(shape, l, r), *s = &now;
    if (s->atomic || (!has_content(s, l) && !has_content(s, r))) {
        compare_leaf(c, l, r, at);
        return;
    }
    const struct doc *x = content(s, l), *y = content(s, r);
    if (s->kind == LIST) {
        struct pairs p = pair_items(s, x, y, c->a);
        for (uint32_t i = 0; i < p.n; i++)
            compare_items(c, s, &p.v[i], at);
    } else {
        compare_members(c, s, x, y, at);
    }
    note_side(c, l, r, at);
}

struct typed_change typed_compare(const struct api_type *t, const struct doc *from,
                                  const struct doc *to, struct arena *a)
{
    struct typed_change out = {0};
    struct compare c = {a, &out};
    struct shape s = shape_of_type(t);
    compare(&c, &s, from, to, NULL);
    return out;
}

/* ---- Merge ---- */

static bool merge(const struct shape *s, const struct doc *l, const struct doc *r,
                  struct arena *a, struct doc *out);

static bool merge_members(const struct shape *s, const struct doc *l, const struct doc *r,
                          struct arena *a, struct doc *out)
{
    struct pairs p = pair_members(l, r, a);
    *out = doc_make_map();
    for (uint32_t i = 0; i < p.n; i++) {
        struct doc value;
        struct shape member = member_or_free(s, p.v[i].key);
        if (merge(&member, p.v[i].l, p.v[i].r, a, &value))
            doc_add_str(a, out, p.v[i].key, value);
    }
    return out->n > 0;
}

/* The names of a list's items and which item each stands for. */
struct names {
    struct str *v;
    uint32_t n;
    struct strmap first; /* name: index of the item, SIZE_MAX when there are many */
};

static struct names names_of(const struct shape *s, const struct doc *d, struct arena *a)
{
    struct names n = {.v = ARENA_ARRAY(a, struct str, d ? d->n : 0)};
    strmap_init(&n.first);
    for (uint32_t i = 0; d && i < d->n; i++) {
        bool made;
        struct str name = item_name(s, &d->items[i], a, NULL);
        if (!name.p)
            continue;
        struct strmap_entry *entry = strmap_put(&n.first, name, &made);
        entry->value.u = made ? i : SIZE_MAX;
        n.v[n.n++] = name;
    }
    return n;
}

static const struct doc *item_of(const struct names *n, const struct doc *d,
                                 struct str name)
{
    static const struct doc null = {.type = DOC_NULL};
    const struct strmap_entry *entry = strmap_find(&n->first, name);
    return !entry ? NULL : entry->value.u == SIZE_MAX ? &null : &d->items[entry->value.u];
}

struct zipper {
    const struct shape *s;
    const struct doc *l, *r;
    struct names left, right;
    struct strmap done; /* names of the right side that are out */
    uint32_t shared;    /* the next of the right side that both have; right.n: none */
    struct arena *a;
    struct doc *out;
};

static void next_shared(struct zipper *z, uint32_t from)
{
    z->shared = from;
    while (z->shared < z->right.n && !strmap_find(&z->left.first, z->right.v[z->shared]))
        z->shared++;
}

static void emit(struct zipper *z, const struct doc *l, const struct doc *r)
{
    struct doc value;
    struct shape item = shape_of_item(z->s);
    if (merge(&item, l, r, z->a, &value))
        doc_append(z->a, z->out, value);
}

static void emit_right(struct zipper *z, uint32_t j)
{
    struct str name = z->right.v[j];
    strmap_put(&z->done, name, NULL);
    emit(z, item_of(&z->left, z->l, name), item_of(&z->right, z->r, name));
    if (z->shared == j)
        next_shared(z, j + 1);
}

/* Items of the left side alone stay where they are among the shared ones; those shared
 * come in the order of the right side. */
static void zip(struct zipper *z)
{
    uint32_t i = 0, j = 0;
    next_shared(z, 0);
    while (i < z->left.n || j < z->right.n) {
        struct str name = i < z->left.n ? z->left.v[i] : STR_NONE;
        bool known = name.p && strmap_find(&z->right.first, name);
        if (name.p && j < z->right.n) {
            if (str_eq(name, z->right.v[j])) {
                emit_right(z, j++);
                i++;
                continue;
            }
            if (known && z->shared < z->right.n && !str_eq(name, z->right.v[z->shared])) {
                i++;
                continue;
            }
        }
        if (name.p && !known) {
            emit(z, &z->l->items[i++], NULL);
            continue;
        }
        if (name.p && strmap_find(&z->done, name))
            i++;
        if (j < z->right.n)
            emit_right(z, j++);
    }
}

static bool merge_items(const struct shape *s, const struct doc *l, const struct doc *r,
                        struct arena *a, struct doc *out)
{
    struct zipper z = {.s = s, .l = l, .r = r, .a = a, .out = out};
    *out = doc_make_list();
    z.left = names_of(s, l, a);
    z.right = names_of(s, r, a);
    strmap_init(&z.done);
    zip(&z);
    strmap_release(&z.done);
    strmap_release(&z.left.first);
    strmap_release(&z.right.first);
    return out->n > 0;
}

/* false: nothing is left. */
static bool merge(const struct shape *shape, const struct doc *l, const struct doc *r,
                  struct arena *a, struct doc *out)
{
    const struct shape now = settled(shape, l, r), *s = &now;
    if (s->atomic || (!has_content(s, l) && !has_content(s, r))) {
        *out = r ? *r : *l;
        return true;
    }
    const struct doc *x = content(s, l), *y = content(s, r);
    return s->kind == LIST ? merge_items(s, x, y, a, out)
                           : merge_members(s, x, y, a, out);
}

struct doc typed_merge(const struct api_type *t, const struct doc *old,
                       const struct doc *config, struct arena *a)
{
    struct doc out;
    struct shape s = shape_of_type(t);
    return merge(&s, old, config, a, &out) ? out : doc_make_null();
}

/* ---- Remove ---- */

static struct doc cut(const struct shape *s, const struct doc *d,
                      const struct fields *gone, struct arena *a);

/* false: the value goes. */
static bool cut_one(const struct shape *s, const struct doc *d, struct str name,
                    const struct fields *gone, struct arena *a, struct doc *out)
{
    const struct field_node *node = name.p ? fields_find(gone, name) : NULL;
    if (node && node->member)
        return false;
    *out = node ? cut(s, d, &node->below, a) : *d;
    return true;
}

static struct doc cut(const struct shape *shape, const struct doc *d,
                      const struct fields *gone, struct arena *a)
{
    const struct shape now = settled(shape, d, NULL), *s = &now;
    struct doc out = s->kind == LIST ? doc_make_list() : doc_make_map(), value;
    if (s->kind == SCALAR || (s->kind == FREE && d->type < DOC_LIST))
        return *d;
    if (s->atomic || !has_content(s, d))
        return doc_make_null();
    struct shape item = s->kind == LIST ? shape_of_item(s) : *s;
    for (uint32_t i = 0; s->kind == LIST && i < d->n; i++)
        if (cut_one(&item, &d->items[i], item_name(s, &d->items[i], a, NULL), gone, a,
                    &value))
            doc_append(a, &out, value);
    for (uint32_t i = 0; s->kind != LIST && i < d->n; i++) {
        struct str key = doc_key(&d->members[i]);
        struct shape member = member_or_free(s, key);
        if (cut_one(&member, &d->members[i].value, field_name(a, key), gone, a, &value))
            doc_add_str(a, &out, key, value);
    }
    return out.n ? out : doc_make_null();
}

struct doc typed_remove(const struct api_type *t, const struct doc *d,
                        const struct fields *gone, struct arena *a)
{
    struct shape s = shape_of_type(t);
    return cut(&s, d, gone, a);
}

/* ---- Sets in a shape ---- */

/* The shape behind a path element; false when there is none. */
static bool shape_below(const struct shape *s, struct str name, struct shape *out)
{
    if (s->kind == DEDUCED) {
        *out = name.p[0] == 'f' ? BY_VALUE : AS_ONE;
        return true;
    }
    if (s->kind == LIST) {
        *out = shape_of_item(s);
        return true;
    }
    return name.p[0] == 'f' && shape_of_member(s, str_sub(name, 2, SIZE_MAX), out);
}

static struct fields name_fields(const struct shape *s, const struct fields *set,
                                 struct arena *a)
{
    struct fields out = {.v = ARENA_ARRAY(a, struct field_node, set->n), .n = set->n};
    for (uint32_t i = 0; i < set->n; i++) {
        struct shape below = AS_ONE;
        bool known = shape_below(s, set->v[i].name, &below);
        out.v[i] = set->v[i];
        out.v[i].below = name_fields(&below, &set->v[i].below, a);
        out.v[i].member |= known && s->kind == STRUCT;
    }
    return out;
}

struct fields typed_name_fields(const struct api_type *t, const struct fields *set,
                                struct arena *a)
{
    struct shape s = shape_of_type(t);
    return name_fields(&s, set, a);
}

static struct fields reconcile(const struct shape *s, const struct fields *set,
                               struct arena *a)
{
    struct fields out = {.v = ARENA_ARRAY(a, struct field_node, set->n), .n = set->n};
    for (uint32_t i = 0; i < set->n; i++) {
        struct shape below;
        struct field_node *node = &out.v[i];
        *node = set->v[i];
        if (!shape_below(s, node->name, &below) || below.kind == FREE)
            continue;
        bool inside = !fields_empty(&node->below) && below.kind != SCALAR;
        if (inside && below.atomic)
            *node = (struct field_node){.name = node->name, .member = true};
        else if (inside)
            node->below = reconcile(&below, &node->below, a);
    }
    return out;
}

struct fields typed_reconcile(const struct api_type *t, const struct fields *set,
                              struct arena *a)
{
    struct shape s = shape_of_type(t);
    return reconcile(&s, set, a);
}
