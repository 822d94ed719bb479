/* SPDX-License-Identifier: Apache-2.0 */
/* Columns: the values under one name, each once. */
#include "device/internal.h"

/* Values of the first block, which are looked through without an index. */
enum { FEW = 4 };

struct device_code { /* of an index; code 0: free */
    uint32_t hash, code;
};

static uint64_t mix(uint64_t h, uint64_t v)
{
    h = (h ^ v) * 0x9e3779b97f4a7c15u;
    return h ^ h >> 32;
}

/* ---- Published values of attributes ---- */

static uint64_t hash_texts(uint64_t h, const struct str *v, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        h = mix(h, str_hash(v[i]));
    return h;
}

static uint64_t attr_hash(const struct device_attr_value *v)
{
    uint64_t h = mix(v->kind, v->n);
    switch ((enum device_attr_kind)v->kind) {
    case DEVICE_ATTR_NONE:
        return h;
    case DEVICE_ATTR_INT:
        return mix(h, (uint64_t)v->i);
    case DEVICE_ATTR_BOOL:
        return mix(h, v->b);
    case DEVICE_ATTR_STRING:
    case DEVICE_ATTR_VERSION:
        return hash_texts(h, &v->s, 1);
    case DEVICE_ATTR_INTS:
        return hash_texts(h, &(struct str){(const char *)v->ints, v->n * sizeof *v->ints},
                          1);
    case DEVICE_ATTR_BOOLS:
        return hash_texts(
            h, &(struct str){(const char *)v->bools, v->n * sizeof *v->bools}, 1);
    case DEVICE_ATTR_STRINGS:
    case DEVICE_ATTR_VERSIONS:
        return hash_texts(h, v->strings, v->n);
    }
    return h;
}

static bool same_texts(const struct str *a, const struct str *b, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (!str_eq(a[i], b[i]))
            return false;
    return true;
}

static bool same_bytes(const void *a, const void *b, size_t n)
{
    return n == 0 || memcmp(a, b, n) == 0;
}

static bool attr_same(const struct device_attr_value *a,
                      const struct device_attr_value *b)
{
    if (a->kind != b->kind || a->n != b->n)
        return false;
    switch ((enum device_attr_kind)a->kind) {
    case DEVICE_ATTR_NONE:
        return true;
    case DEVICE_ATTR_INT:
        return a->i == b->i;
    case DEVICE_ATTR_BOOL:
        return a->b == b->b;
    case DEVICE_ATTR_STRING:
    case DEVICE_ATTR_VERSION:
        return str_eq(a->s, b->s);
    case DEVICE_ATTR_INTS:
        return same_bytes(a->ints, b->ints, a->n * sizeof *a->ints);
    case DEVICE_ATTR_BOOLS:
        return same_bytes(a->bools, b->bools, a->n * sizeof *a->bools);
    case DEVICE_ATTR_STRINGS:
    case DEVICE_ATTR_VERSIONS:
        return same_texts(a->strings, b->strings, a->n);
    }
    return false;
}

/* ---- As CEL has them ---- */

static const struct str *keep_texts(const struct str *v, uint32_t n, struct arena *a)
{
    struct str *out = ARENA_ARRAY(a, struct str, n);
    for (uint32_t i = 0; i < n; i++)
        out[i] = arena_str(a, v[i]);
    return out;
}

static const void *keep_bytes(const void *v, size_t n, struct arena *a)
{
    void *out = arena_alloc(a, n);
    return n ? memcpy(out, v, n) : out;
}

/* Sets versions, or bad if one of the texts is none. */
static void parse_versions(struct device_attr_value *v, const struct str *texts,
                           uint32_t n, struct arena *a)
{
    struct semver *parsed = ARENA_ARRAY(a, struct semver, n);
    for (uint32_t i = 0; i < n && !v->bad; i++)
        v->bad = !semver_parse(texts[i], false, a, &parsed[i], NULL);
    v->versions = v->bad ? NULL : parsed;
}

static struct device_attr_value keep_attr(const struct device_attr_value *v,
                                          struct arena *a)
{
    struct device_attr_value out = *v;
    out.bad = false;
    out.versions = NULL;
    switch ((enum device_attr_kind)v->kind) {
    case DEVICE_ATTR_NONE:
    case DEVICE_ATTR_INT:
    case DEVICE_ATTR_BOOL:
        break;
    case DEVICE_ATTR_STRING:
        out.s = arena_str(a, v->s);
        break;
    case DEVICE_ATTR_VERSION:
        out.s = arena_str(a, v->s);
        parse_versions(&out, &out.s, 1, a);
        break;
    case DEVICE_ATTR_INTS:
        out.ints = keep_bytes(v->ints, v->n * sizeof *v->ints, a);
        break;
    case DEVICE_ATTR_BOOLS:
        out.bools = keep_bytes(v->bools, v->n * sizeof *v->bools, a);
        break;
    case DEVICE_ATTR_VERSIONS:
    case DEVICE_ATTR_STRINGS:
        out.strings = keep_texts(v->strings, v->n, a);
        if (v->kind == DEVICE_ATTR_VERSIONS)
            parse_versions(&out, out.strings, v->n, a);
        break;
    }
    return out;
}

static struct cel_value semver_value(const struct semver *v)
{
    return (struct cel_value){.kind = CEL_SEMVER, .semver = v};
}

static struct cel_value item_value(const struct device_attr_value *v, uint32_t i)
{
    switch (v->kind) {
    case DEVICE_ATTR_INTS:
        return cel_int(v->ints[i]);
    case DEVICE_ATTR_BOOLS:
        return cel_bool(v->bools[i]);
    case DEVICE_ATTR_STRINGS:
        return cel_string_marked(v->strings[i]);
    default:
        return semver_value(&v->versions[i]);
    }
}

static struct cel_value list_value(const struct device_attr_value *v, struct arena *a)
{
    struct cel_value *items = ARENA_ARRAY(a, struct cel_value, v->n);
    for (uint32_t i = 0; i < v->n; i++)
        items[i] = item_value(v, i);
    return cel_list(items, v->n);
}

static struct cel_value attr_value(const struct device_attr_value *v, struct arena *a)
{
    if (v->bad)
        return cel_null();
    switch (v->kind) {
    case DEVICE_ATTR_NONE:
        return cel_null();
    case DEVICE_ATTR_INT:
        return cel_int(v->i);
    case DEVICE_ATTR_BOOL:
        return cel_bool(v->b);
    case DEVICE_ATTR_STRING:
        return cel_string_marked(v->s);
    case DEVICE_ATTR_VERSION:
        return semver_value(v->versions);
    default:
        return list_value(v, a);
    }
}

/* ---- Capacities ---- */

static uint64_t quantity_key(const struct quantity *q)
{
    if (q->big)
        return quantity_hash(q);
    return mix(mix(q->format, (uint64_t)q->i), (uint64_t)q->scale);
}

/* isInteger sees the form of a quantity, so equal numbers are not enough. */
static bool quantity_same(const struct quantity *a, const struct quantity *b)
{
    return a->format == b->format && a->scale == b->scale && a->i == b->i &&
           !a->big == !b->big && a->text_len == b->text_len &&
           same_bytes(a->text, b->text, a->text_len) &&
           (!a->big || quantity_cmp(a, b) == 0);
}

/* ---- Codes ---- */

/* A value that is looked for: of an attribute, or of a capacity. */
struct wanted {
    bool is_amount;
    union {
        const struct device_attr_value *attr;
        const struct quantity *amount;
    };
};

static uint32_t hash_of(const struct wanted *w)
{
    return (uint32_t)(w->is_amount ? quantity_key(w->amount) : attr_hash(w->attr));
}

static bool is_at(const struct device_column *c, uint32_t code, const struct wanted *w)
{
    const struct device_value *v = device_value_at(c, code);
    return w->is_amount ? quantity_same(&v->quantity, w->amount)
                        : attr_same(&v->attr, w->attr);
}

static void enter(struct device_column *c, uint32_t hash, uint32_t code)
{
    uint32_t i = hash & c->mask;
    while (c->slots[i].code)
        i = (i + 1) & c->mask;
    c->slots[i] = (struct device_code){hash, code};
}

/* An index for twice as many values as there are. */
static void grow(struct device_column *c)
{
    struct device_code *old = c->slots;
    uint32_t n = old ? c->mask + 1 : 0;
    c->mask = n ? 2 * n - 1 : 4 * FEW - 1;
    c->slots = mem_zalloc((c->mask + (size_t)1) * sizeof *c->slots);
    for (uint32_t i = 0; i < n; i++)
        if (old[i].code)
            enter(c, old[i].hash, old[i].code);
    for (uint32_t code = 1; !old && code <= c->n; code++) {
        const struct device_value *v = device_value_at(c, code);
        struct wanted w = {.attr = &v->attr};
        if (c->capacity)
            w = (struct wanted){true, .amount = &v->quantity};
        enter(c, hash_of(&w), code);
    }
    free(old);
}

static uint32_t add(struct device_names *n, struct device_column *c,
                    const struct wanted *w)
{
    uint32_t at = c->n + FEW, block = (uint32_t)__builtin_clz(at) ^ 31;
    if (c->n >= UINT32_MAX / 8)
        mem_exhausted();
    struct device_value **values = &c->blocks[block - 2];
    if (!*values)
        *values = arena_alloc(&n->arena, sizeof **values << block);
    struct device_value *v = &(*values)[at - (UINT32_C(1) << block)];
    if (w->is_amount) {
        v->quantity = quantity_dup(w->amount, &n->arena);
        v->cel = (struct cel_value){.kind = CEL_QUANTITY, .quantity = &v->quantity};
    } else {
        v->attr = keep_attr(w->attr, &n->arena);
        v->cel = attr_value(&v->attr, &n->arena);
    }
    if (c->n >= FEW && c->n * (uint64_t)2 >= c->mask)
        grow(c);
    c->n++;
    n->nvalues++;
    if (c->slots)
        enter(c, hash_of(w), c->n);
    return c->n;
}

/* 0: not there. */
static uint32_t find(const struct device_column *c, const struct wanted *w)
{
    if (!c->slots) {
        uint32_t code = c->n;
        while (code && !is_at(c, code, w))
            code--;
        return code;
    }
    uint32_t hash = hash_of(w), i = hash & c->mask;
    while (c->slots[i].code &&
           (c->slots[i].hash != hash || !is_at(c, c->slots[i].code, w)))
        i = (i + 1) & c->mask;
    return c->slots[i].code;
}

/* Neighbours often have the same value. */
static uint32_t code_of(struct device_names *n, struct device_column *c,
                        const struct wanted *w)
{
    if (c->last && is_at(c, c->last, w))
        return c->last;
    uint32_t code = find(c, w);
    return c->last = code ? code : add(n, c, w);
}

uint32_t device_column_attr(struct device_names *n, struct device_column *c,
                            const struct device_attr_value *v)
{
    return code_of(n, c, &(struct wanted){.attr = v});
}

uint32_t device_column_amount(struct device_names *n, struct device_column *c,
                              const struct quantity *q)
{
    return code_of(n, c, &(struct wanted){true, .amount = q});
}

struct device_column *device_column(struct device_names *n, uint32_t id, bool capacity)
{
    struct device_column ***v = &n->columns[capacity];
    uint32_t *room = &n->ncolumns[capacity];
    if (id >= *room) {
        uint32_t more = id * 2 + 16;
        *v = mem_resize(*v, more, sizeof **v);
        memset(*v + *room, 0, (more - *room) * sizeof **v);
        *room = more;
    }
    if (!(*v)[id]) {
        struct device_column *c = ARENA_NEW(&n->arena, struct device_column);
        *c = (struct device_column){.next = n->all, .id = id, .capacity = capacity};
        (*v)[id] = n->all = c;
    }
    return (*v)[id];
}
