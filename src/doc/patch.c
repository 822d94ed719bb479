/* SPDX-License-Identifier: Apache-2.0 */
#include "doc/patch.h"

#include "doc/tree.h"

bool patch_refuse(struct patch_error *e, enum patch_status status, struct arena *a,
                  const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    *e = (struct patch_error){status, arena_vprintf(a, fmt, ap)};
    va_end(ap);
    return false;
}

/* ---- JSON patch: the state of one run ---- */

struct run {
    struct arena *a;
    struct patch_error *e;
    struct doc root; /* ours to change */
    uint32_t depth;  /* no value of root lies deeper */
    size_t copied;   /* bytes */
};

static void set_no_fit(struct run *r, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

static void set_no_fit(struct run *r, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    *r->e = (struct patch_error){PATCH_NO_FIT, arena_vprintf(r->a, fmt, ap)};
    va_end(ap);
}

/* false, as a constant that analysers see. */
#define no_fit(r, ...) (set_no_fit((r), __VA_ARGS__), false)

static uint32_t depth_of(const struct doc *d)
{
    uint32_t deepest = 0;
    for (uint32_t i = 0; i < d->n && d->type >= DOC_LIST; i++) {
        uint32_t below =
            depth_of(d->type == DOC_LIST ? &d->items[i] : &d->members[i].value);
        deepest = below > deepest ? below : deepest;
    }
    return deepest + 1;
}

/* Values are put in one by one; measuring the whole each time would take too long. So
 * depth is a bound, and made exact only when it gets too high. */
static bool deepen(struct run *r, uint32_t at, uint32_t value)
{
    if (at + value > r->depth)
        r->depth = at + value;
    if (r->depth <= DOC_MAX_DEPTH)
        return true;
    r->depth = depth_of(&r->root);
    return r->depth <= DOC_MAX_DEPTH || no_fit(r, "the result nests too deeply");
}

/* ---- Pointers ---- */

/* Where an operation works: a map or list and a key in it. */
struct spot {
    struct doc *in; /* NULL: there is no such place */
    struct str key;
    uint32_t depth;
};

/* ~1 is a slash and ~0 a tilde. */
static struct str unescape(struct arena *a, struct str s)
{
    if (str_find_byte(s, '~', 0) == SIZE_MAX)
        return s;
    char *p = arena_alloc(a, s.n + 1);
    size_t n = 0;
    for (size_t i = 0; i < s.n; i++) {
        bool code = s.p[i] == '~' && i + 1 < s.n && strchr("01", s.p[i + 1]);
        p[n++] = !code ? s.p[i] : s.p[++i] == '1' ? '/' : '~';
    }
    p[n] = '\0';
    return (struct str){p, n};
}

/* A whole number with a sign or without, as Go's Atoi takes it. */
static bool read_index(struct str s, int64_t *out)
{
    bool minus = s.n && s.p[0] == '-', sign = minus || (s.n && s.p[0] == '+');
    int64_t v = 0;
    for (size_t i = sign; i < s.n; i++)
        if (s.p[i] < '0' || s.p[i] > '9' || __builtin_mul_overflow(v, 10, &v) ||
            __builtin_add_overflow(v, s.p[i] - '0', &v))
            return false;
    *out = minus ? -v : v;
    return s.n > sign;
}

/* The place of an item in a list of n; negative ones count from the end. */
static bool find_index(struct run *r, struct str key, uint32_t n, uint32_t *out)
{
    int64_t i;
    if (!read_index(key, &i))
        return no_fit(r, "\"%.*s\" is no index of a list", STR_ARG(key));
    i += i < 0 ? n : 0;
    if (i < 0 || i >= n)
        return no_fit(r, "index %.*s is outside of the list", STR_ARG(key));
    *out = (uint32_t)i;
    return true;
}

/* NULL where there is nothing: of a list that is an error, of a map it is not. */
static bool get(struct run *r, const struct spot *s, struct doc **out)
{
    uint32_t i = 0;
    *out = NULL;
    if (s->in->type == DOC_MAP)
        *out = (struct doc *)doc_get_str(s->in, s->key);
    else if (find_index(r, s->key, s->in->n, &i))
        *out = &s->in->items[i];
    return *out || s->in->type == DOC_MAP;
}

static bool find_spot(struct run *r, struct str path, struct spot *out)
{
    struct doc *d = &r->root;
    size_t from = str_find_byte(path, '/', 0);
    if (from == SIZE_MAX)
        return no_fit(r, "there is nothing to change at path \"%.*s\"", STR_ARG(path));
    for (uint32_t depth = 1;; depth++) {
        size_t to = str_find_byte(path, '/', from + 1);
        struct spot s = {.in = d, .depth = depth};
        s.key = unescape(r->a, str_sub(path, from + 1, to));
        if (to == SIZE_MAX) {
            *out = s;
            return true;
        }
        if (!get(r, &s, &d) || !d || d->type < DOC_LIST)
            return no_fit(r, "path \"%.*s\" leads nowhere", STR_ARG(path));
        from = to;
    }
}

/* ---- Changes ---- */

static bool insert_item(struct run *r, const struct spot *s, struct doc value)
{
    struct doc *list = s->in;
    uint32_t at = list->n;
    if (!str_is(s->key, "-") && !find_index(r, s->key, list->n + 1, &at))
        return false;
    doc_append(r->a, list, value);
    memmove(list->items + at + 1, list->items + at,
            (list->n - 1 - at) * sizeof *list->items);
    list->items[at] = value;
    return true;
}

static bool add(struct run *r, const struct spot *s, struct doc value, uint32_t depth)
{
    if (s->in->type == DOC_MAP)
        doc_set_str(r->a, s->in, s->key, value);
    else if (!insert_item(r, s, value))
        return false;
    return deepen(r, s->depth, depth);
}

static bool cut(struct run *r, const struct spot *s)
{
    uint32_t i;
    if (s->in->type == DOC_MAP)
        return doc_remove(s->in, s->key) ||
               no_fit(r, "there is no member \"%.*s\" to remove", STR_ARG(s->key));
    if (!find_index(r, s->key, s->in->n, &i))
        return false;
    s->in->n--;
    memmove(s->in->items + i, s->in->items + i + 1,
            (s->in->n - i) * sizeof *s->in->items);
    return true;
}

static struct doc value_of(struct run *r, const struct doc *op)
{
    const struct doc *v = doc_get(op, "value");
    return v ? doc_dup(r->a, v) : doc_make_null();
}

/* ---- Operations ---- */

static bool find_named(struct run *r, const struct doc *op, const char *name,
                       struct spot *s)
{
    const struct doc *path = doc_get(op, name);
    if (!path || path->type != DOC_STRING)
        return no_fit(r, "an operation has no \"%s\"", name);
    return find_spot(r, doc_str(path), s);
}

static bool op_add(struct run *r, const struct doc *op)
{
    struct spot s;
    struct doc value = value_of(r, op);
    return find_named(r, op, "path", &s) && add(r, &s, value, depth_of(&value));
}

static bool op_remove(struct run *r, const struct doc *op)
{
    struct spot s;
    return find_named(r, op, "path", &s) && cut(r, &s);
}

static bool op_replace(struct run *r, const struct doc *op)
{
    struct spot s;
    struct doc value = value_of(r, op), *old;
    if (doc_is_string(doc_get(op, "path"), "")) {
        if (value.type < DOC_LIST)
            return no_fit(r, "the whole can only be replaced by a map or a list");
        r->root = value;
        r->depth = depth_of(&value);
        return true;
    }
    if (!find_named(r, op, "path", &s) || !get(r, &s, &old))
        return false;
    if (!old) /* of a map: replace then adds */
        return add(r, &s, value, depth_of(&value));
    *old = value;
    return deepen(r, s.depth, depth_of(&value));
}

static bool op_move(struct run *r, const struct doc *op)
{
    struct spot from, to;
    struct doc *found;
    if (!find_named(r, op, "from", &from) || !get(r, &from, &found))
        return false;
    struct doc value = found ? *found : doc_make_null();
    return cut(r, &from) && find_named(r, op, "path", &to) &&
           add(r, &to, value, r->depth);
}

static size_t json_size(const struct doc *d)
{
    struct strbuf b = STRBUF_INIT;
    doc_write_json(d, DOC_JSON_COMPACT, &b);
    size_t n = b.n;
    strbuf_release(&b);
    return n;
}

static bool op_copy(struct run *r, const struct doc *op)
{
    struct spot from, to;
    struct doc *found;
    if (!find_named(r, op, "from", &from) || !get(r, &from, &found) ||
        !find_named(r, op, "path", &to))
        return false;
    if (!found)
        return add(r, &to, doc_make_null(), 1);
    r->copied += json_size(found);
    if (r->copied > PATCH_MAX_COPIED)
        return no_fit(r, "copy operations may add %d bytes, not %zu", PATCH_MAX_COPIED,
                      r->copied);
    return add(r, &to, doc_dup(r->a, found), r->depth);
}

static bool same(const struct doc *a, const struct doc *b);

static bool same_members(const struct doc *a, const struct doc *b)
{
    struct tree_order x, y;
    tree_order_init(&x, a, str_cmp);
    tree_order_init(&y, b, str_cmp);
    bool ok = x.n == y.n;
    for (uint32_t i = 0; ok && i < x.n; i++)
        ok = str_eq(doc_key(x.v[i]), doc_key(y.v[i])) &&
             same(&x.v[i]->value, &y.v[i]->value);
    tree_order_fini(&x);
    tree_order_fini(&y);
    return ok;
}

/* As doc_equal, but 1 and 1.0 differ. */
static bool same(const struct doc *a, const struct doc *b)
{
    if (a->type != b->type || (a->type == DOC_LIST && a->n != b->n))
        return false;
    if (a->type == DOC_NUMBER)
        return str_eq(doc_str(a), doc_str(b));
    if (a->type == DOC_MAP)
        return same_members(a, b);
    if (a->type != DOC_LIST)
        return doc_equal(a, b);
    for (uint32_t i = 0; i < a->n; i++)
        if (!same(&a->items[i], &b->items[i]))
            return false;
    return true;
}

static bool op_test(struct run *r, const struct doc *op)
{
    static const struct doc null = {.type = DOC_NULL};
    struct spot s;
    struct doc *found = NULL;
    const struct doc *path = doc_get(op, "path"), *want = doc_get(op, "value");
    bool whole = doc_is_string(path, "");
    if (!whole && (!find_named(r, op, "path", &s) || !get(r, &s, &found)))
        return false;
    const struct doc *have = whole ? &r->root : found ? found : &null;
    if (same(have, want ? want : &null))
        return true;
    const struct str text =
        arena_printf(r->a, "the test of path \"%.*s\" failed", STR_ARG(doc_str(path)));
    *r->e = (struct patch_error){PATCH_NO_FIT, text, .untrue = true};
    return false;
}

static const struct operation {
    const char *name;
    bool (*run)(struct run *r, const struct doc *op);
} OPERATIONS[] = {
    {"add", op_add},   {"remove", op_remove}, {"replace", op_replace},
    {"move", op_move}, {"copy", op_copy},     {"test", op_test},
};

static bool run_operation(struct run *r, const struct doc *op)
{
    struct str name = doc_get_text(op, "op");
    for (size_t i = 0; i < sizeof OPERATIONS / sizeof *OPERATIONS; i++)
        if (str_is(name, OPERATIONS[i].name))
            return OPERATIONS[i].run(r, op);
    return no_fit(r, "there is no operation \"%.*s\"", STR_ARG(name));
}

/* ---- Whole patches ---- */

static bool is_operation_list(const struct doc *patch)
{
    if (patch->type == DOC_NULL) /* no operations */
        return true;
    bool ok = patch->type == DOC_LIST;
    for (uint32_t i = 0; ok && i < patch->n; i++)
        ok = patch->items[i].type == DOC_MAP || patch->items[i].type == DOC_NULL;
    return ok;
}

static bool check_member(uint32_t at, const struct doc_member *m, struct doc *unknown,
                         struct arena *a, struct patch_error *e)
{
    struct str key = doc_key(m);
    bool text = str_is(key, "op") || str_is(key, "path") || str_is(key, "from");
    if (text && m->value.type != DOC_STRING && m->value.type != DOC_NULL)
        return patch_refuse(e, PATCH_BAD, a,
                            "error decoding patch: \"%.*s\" of operation %u is a %s, "
                            "not a string",
                            STR_ARG(key), at, doc_type_name(&m->value));
    if (!text && !str_is(key, "value") && unknown)
        doc_append(a, unknown,
                   doc_make_string(a, arena_printf(a, "[%u].%.*s", at, STR_ARG(key))));
    return true;
}

bool patch_json_check(const struct doc *patch, struct doc *unknown, struct arena *a,
                      struct patch_error *e)
{
    if (!is_operation_list(patch))
        return patch_refuse(e, PATCH_BAD, a,
                            "error decoding patch: not a list of operations");
    for (uint32_t i = 0; i < patch->n; i++)
        for (uint32_t j = 0; j < patch->items[i].n; j++)
            if (!check_member(i, &patch->items[i].members[j], unknown, a, e))
                return false;
    return true;
}

bool patch_json(const struct doc *object, const struct doc *patch, struct arena *a,
                struct doc *out, struct patch_error *e)
{
    if (!is_operation_list(patch))
        return patch_refuse(e, PATCH_BAD, a, "not a list of operations");
    if (patch->n > PATCH_MAX_OPERATIONS)
        return patch_refuse(e, PATCH_TOO_LARGE, a,
                            "The allowed maximum operations in a JSON patch is %d, "
                            "got %u",
                            PATCH_MAX_OPERATIONS, patch->n);
    struct run r = {.a = a, .e = e, .root = doc_dup(a, object)};
    r.depth = depth_of(&r.root);
    for (uint32_t i = 0; i < patch->n; i++)
        if (!run_operation(&r, &patch->items[i]))
            return false;
    *out = r.root;
    return true;
}

/* ---- Merge patch ---- */

static struct doc merge(const struct doc *old, const struct doc *patch, struct arena *a);
static struct doc without_nulls(const struct doc *d, struct arena *a);

/* A map that is filled in the order of its keys, each once: no key is looked for. */
static struct doc new_map(struct arena *a, size_t room)
{
    struct doc d = doc_make_map();
    d.cap = (uint32_t)room;
    d.members = room ? ARENA_ARRAY(a, struct doc_member, room) : NULL;
    return d;
}

static void put(struct doc *map, const struct doc_member *like, struct doc value)
{
    /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): there is room for it */
    map->members[map->n] = *like;
    map->members[map->n++].value = value;
}

static struct doc map_without_nulls(const struct doc *d, struct arena *a)
{
    struct tree_order o;
    tree_order_init(&o, d, str_cmp);
    struct doc out = new_map(a, o.n);
    for (uint32_t i = 0; i < o.n; i++)
        if (o.v[i]->value.type != DOC_NULL)
            put(&out, o.v[i], without_nulls(&o.v[i]->value, a));
    tree_order_fini(&o);
    return out;
}

/* Members that are null go, at any depth; items of lists stay. */
static struct doc without_nulls(const struct doc *d, struct arena *a)
{
    if (d->type == DOC_MAP)
        return map_without_nulls(d, a);
    if (d->type != DOC_LIST)
        return *d;
    struct doc out = doc_make_list();
    for (uint32_t i = 0; i < d->n; i++)
        doc_append(a, &out, without_nulls(&d->items[i], a));
    return out;
}

/* Walks two maps in the order of their keys. */
struct zip {
    struct tree_order left, right;
    uint32_t i, j;
};

static void zip_init(struct zip *z, const struct doc *left, const struct doc *right)
{
    tree_order_init(&z->left, left, str_cmp);
    tree_order_init(&z->right, right, str_cmp);
    z->i = z->j = 0;
}

static void zip_fini(struct zip *z)
{
    tree_order_fini(&z->left);
    tree_order_fini(&z->right);
}

/* The next key; a side that lacks it is NULL. */
static bool zip_next(struct zip *z, const struct doc_member **l,
                     const struct doc_member **r)
{
    *l = z->i < z->left.n ? z->left.v[z->i] : NULL;
    *r = z->j < z->right.n ? z->right.v[z->j] : NULL;
    int c = *l && *r ? str_cmp(doc_key(*l), doc_key(*r)) : 0;
    if (c < 0)
        *r = NULL;
    if (c > 0)
        *l = NULL;
    z->i += *l != NULL;
    z->j += *r != NULL;
    return *l || *r;
}

static struct doc merge_maps(const struct doc *old, const struct doc *patch,
                             struct arena *a)
{
    struct zip z;
    const struct doc_member *l, *r;
    zip_init(&z, old, patch);
    struct doc out = new_map(a, (size_t)z.left.n + z.right.n);
    while (zip_next(&z, &l, &r)) {
        if (!r)
            put(&out, l, l->value);
        else if (r->value.type != DOC_NULL)
            put(&out, r, merge(l ? &l->value : NULL, &r->value, a));
    }
    zip_fini(&z);
    return out;
}

static struct doc merge(const struct doc *old, const struct doc *patch, struct arena *a)
{
    if (!old || old->type != DOC_MAP)
        return without_nulls(patch, a);
    return patch->type == DOC_MAP ? merge_maps(old, patch, a) : *patch;
}

bool patch_merge(const struct doc *object, const struct doc *patch, struct arena *a,
                 struct doc *out, struct patch_error *e)
{
    if (patch->type != DOC_MAP)
        return patch_refuse(e, PATCH_BAD, a, "Invalid JSON Patch");
    *out = merge(object, patch, a);
    return true;
}

struct doc patch_merge_diff(const struct doc *from, const struct doc *to, struct arena *a)
{
    struct zip z;
    const struct doc_member *l, *r;
    zip_init(&z, from, to);
    struct doc out = new_map(a, (size_t)z.left.n + z.right.n);
    while (zip_next(&z, &l, &r)) {
        bool had = l && l->value.type != DOC_NULL, has = r && r->value.type != DOC_NULL;
        if (l && !has)
            put(&out, l, doc_make_null());
        else if (has && had && l->value.type == DOC_MAP && r->value.type == DOC_MAP) {
            struct doc inner = patch_merge_diff(&l->value, &r->value, a);
            if (inner.n)
                put(&out, r, inner);
        } else if (has && !(had && doc_equal(&l->value, &r->value)))
            put(&out, r, r->value);
    }
    zip_fini(&z);
    return out;
}
