/* SPDX-License-Identifier: Apache-2.0 */
#include "doc/doc.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "doc/json_shim.h"
#include "doc/tree.h"

/* ---- Reading ---- */

const struct doc *doc_get_str(const struct doc *d, struct str key)
{
    if (!d || d->type != DOC_MAP)
        return NULL;
    for (uint32_t i = d->n; i-- > 0;)
        if (str_eq(doc_key(&d->members[i]), key))
            return &d->members[i].value;
    return NULL;
}

const struct doc *doc_get(const struct doc *d, const char *key)
{
    return doc_get_str(d, str_from(key));
}

const struct doc *doc_path(const struct doc *d, const char *dotted)
{
    for (;;) {
        size_t n = strcspn(dotted, ".");
        d = doc_get_str(d, (struct str){dotted, n});
        if (!d || dotted[n] == '\0')
            return d;
        dotted += n + 1;
    }
}

bool doc_get_bool(const struct doc *d, const char *key, bool *out)
{
    const struct doc *v = doc_get(d, key);
    if (!v || v->type != DOC_BOOL)
        return false;
    *out = v->b;
    return true;
}

bool doc_get_int64(const struct doc *d, const char *key, int64_t *out)
{
    const struct doc *v = doc_get(d, key);
    return v && doc_int64(v, out);
}

struct str doc_get_text(const struct doc *d, const char *key)
{
    const struct doc *v = doc_get(d, key);
    return v && v->type == DOC_STRING ? doc_str(v) : STR_NONE;
}

/* A number of digits alone, with its sign apart. */
static bool whole_number(const struct doc *d, bool *minus, uint64_t *out)
{
    if (!d || d->type != DOC_NUMBER)
        return false;
    const char *p = d->s, *end = d->s + d->n;
    uint64_t v = 0;
    *minus = p < end && *p == '-';
    for (p += *minus; p < end; p++)
        if (*p < '0' || *p > '9' || __builtin_mul_overflow(v, 10, &v) ||
            __builtin_add_overflow(v, (uint64_t)(*p - '0'), &v))
            return false;
    *out = v;
    return true;
}

bool doc_int64(const struct doc *d, int64_t *out)
{
    bool minus;
    uint64_t v;
    if (!whole_number(d, &minus, &v) || v > (uint64_t)INT64_MAX + minus)
        return false;
    *out = (int64_t)(minus ? -v : v);
    return true;
}

bool doc_uint64(const struct doc *d, uint64_t *out)
{
    bool minus;
    uint64_t v;
    if (!whole_number(d, &minus, &v) || (minus && v))
        return false;
    *out = v;
    return true;
}

bool doc_double(const struct doc *d, double *out)
{
    return d && d->type == DOC_NUMBER && json_to_double(d->s, d->n, out);
}

const char *doc_type_name(const struct doc *d)
{
    static const char *const names[] = {
        [DOC_NULL] = "null",     [DOC_BOOL] = "boolean", [DOC_NUMBER] = "number",
        [DOC_STRING] = "string", [DOC_LIST] = "list",    [DOC_MAP] = "map",
    };
    return d ? names[d->type] : "nothing";
}

/* ---- Order of members ---- */

static int compare_members(const void *a, const void *b, void *cmp)
{
    const struct doc_member *x = *(const struct doc_member *const *)a;
    const struct doc_member *y = *(const struct doc_member *const *)b;
    int c = (*(tree_key_cmp **)cmp)(doc_key(x), doc_key(y));
    return c ? c : (x > y) - (x < y);
}

static void sort_members(struct tree_order *o, tree_key_cmp *cmp)
{
    qsort_r(o->v, o->n, sizeof *o->v, compare_members, &cmp);
}

void tree_order_init(struct tree_order *o, const struct doc *map, tree_key_cmp *cmp)
{
    bool few = map->n <= sizeof o->few / sizeof *o->few;
    o->v = few ? o->few : mem_array(map->n, sizeof *o->v);
    o->n = map->n;
    for (uint32_t i = 0; i < map->n; i++)
        o->v[i] = &map->members[i];
    /* By bytes first: not every cmp brings equal keys together. */
    sort_members(o, str_cmp);
    o->n = 0;
    for (uint32_t i = 0; i < map->n; i++)
        if (i + 1 == map->n || !str_eq(doc_key(o->v[i]), doc_key(o->v[i + 1])))
            o->v[o->n++] = o->v[i];
    if (cmp != str_cmp)
        sort_members(o, cmp);
}

void tree_order_fini(struct tree_order *o)
{
    if (o->v != o->few)
        free(o->v);
}

/* ---- Equality ---- */

/* A number as 0.DIGITS * 10^exp, DIGITS without zeros at either end; zero has none. Its
 * digits lie in the text, a point among them. */
struct decimal {
    bool minus;
    struct str digits;
    size_t ndigits;
    int64_t exp;
    bool huge; /* the exponent does not fit: compare the texts */
};

static int64_t read_exponent(const char *p, const char *end, bool *huge)
{
    bool minus = p < end && *p == '-';
    int64_t v = 0;
    for (p += p < end && (*p == '-' || *p == '+'); p < end; p++) {
        v = v * 10 + (*p - '0');
        if (v > INT64_MAX / 100) {
            *huge = true;
            return 0;
        }
    }
    return minus ? -v : v;
}

static struct decimal decimal_of(const struct doc *d)
{
    struct decimal x = {.minus = d->n && d->s[0] == '-'};
    const char *p = d->s + x.minus, *end = d->s + d->n;
    const char *e = p + strcspn(p, "eE"), *point = memchr(p, '.', (size_t)(e - p));
    const char *from = p, *to = e;
    while (from < to && (*from == '0' || *from == '.'))
        from++;
    while (to > from && (to[-1] == '0' || to[-1] == '.'))
        to--;
    x.digits = (struct str){from, (size_t)(to - from)};
    if (from == to) {
        x.minus = false;
        return x;
    }
    x.ndigits = x.digits.n - (point && point > from && point < to);
    if (e < end)
        x.exp = read_exponent(e + 1, end, &x.huge);
    const char *unit = point ? point : e; /* where the whole part ends */
    x.exp += from < unit ? unit - from : unit - from + 1;
    return x;
}

static bool digits_equal(struct str a, struct str b)
{
    size_t i = 0, j = 0;
    for (;; i++, j++) {
        i += i < a.n && a.p[i] == '.';
        j += j < b.n && b.p[j] == '.';
        if (i == a.n || j == b.n)
            return i == a.n && j == b.n;
        if (a.p[i] != b.p[j])
            return false;
    }
}

static bool numbers_equal(const struct doc *a, const struct doc *b)
{
    if (str_eq(doc_str(a), doc_str(b)))
        return true;
    struct decimal x = decimal_of(a), y = decimal_of(b);
    return !x.huge && !y.huge && x.minus == y.minus && x.exp == y.exp &&
           x.ndigits == y.ndigits && digits_equal(x.digits, y.digits);
}

static bool lists_equal(const struct doc *a, const struct doc *b)
{
    bool same = a->n == b->n;
    for (uint32_t i = 0; same && i < a->n; i++)
        same = doc_equal(&a->items[i], &b->items[i]);
    return same;
}

static bool maps_equal(const struct doc *a, const struct doc *b)
{
    struct tree_order x, y;
    tree_order_init(&x, a, str_cmp);
    tree_order_init(&y, b, str_cmp);
    bool same = x.n == y.n;
    for (uint32_t i = 0; same && i < x.n; i++)
        same = str_eq(doc_key(x.v[i]), doc_key(y.v[i])) &&
               doc_equal(&x.v[i]->value, &y.v[i]->value);
    tree_order_fini(&x);
    tree_order_fini(&y);
    return same;
}

bool doc_equal(const struct doc *a, const struct doc *b)
{
    if (!a || !b || a->type != b->type)
        return a == b;
    switch ((enum doc_type)a->type) {
    case DOC_NULL:
        return true;
    case DOC_BOOL:
        return a->b == b->b;
    case DOC_NUMBER:
        return numbers_equal(a, b);
    case DOC_STRING:
        return str_eq(doc_str(a), doc_str(b));
    case DOC_LIST:
        return lists_equal(a, b);
    case DOC_MAP:
        return maps_equal(a, b);
    }
    return false;
}

/* ---- Building ---- */

static struct doc made(enum doc_type type)
{
    return (struct doc){.type = (uint8_t)type, .pos = UINT32_MAX};
}

struct doc doc_make_null(void)
{
    return made(DOC_NULL);
}

struct doc doc_make_bool(bool b)
{
    struct doc d = made(DOC_BOOL);
    d.b = b;
    return d;
}

static void set_text(struct doc *d, struct str s)
{
    d->s = s.p;
    d->n = (uint32_t)s.n;
}

struct doc doc_make_int(struct arena *a, int64_t v)
{
    struct doc d = made(DOC_NUMBER);
    set_text(&d, arena_printf(a, "%lld", (long long)v));
    return d;
}

struct doc doc_make_string(struct arena *a, struct str s)
{
    struct doc d = made(DOC_STRING);
    set_text(&d, arena_str(a, s));
    return d;
}

struct doc doc_make_list(void)
{
    return made(DOC_LIST);
}

struct doc doc_make_map(void)
{
    return made(DOC_MAP);
}

/* Room for one more behind n elements of this size; returns the array. */
static void *room_for_one(struct arena *a, struct doc *d, void *old, size_t size)
{
    if (d->n < d->cap)
        return old;
    uint32_t cap = d->n < 4 ? 4 : 2 * d->n;
    char *v = arena_array_zalloc(a, cap, size);
    if (d->n)
        memcpy(v, old, d->n * size);
    d->cap = cap;
    return v;
}

struct doc *doc_append(struct arena *a, struct doc *list, struct doc item)
{
    list->items = room_for_one(a, list, list->items, sizeof item);
    list->items[list->n] = item;
    return &list->items[list->n++];
}

struct doc *doc_set_str(struct arena *a, struct doc *map, struct str key,
                        struct doc value)
{
    struct doc *old = (struct doc *)doc_get_str(map, key);
    if (old) {
        *old = value;
        return old;
    }
    return doc_add_str(a, map, key, value);
}

struct doc *doc_add_str(struct arena *a, struct doc *map, struct str key,
                        struct doc value)
{
    map->members = room_for_one(a, map, map->members, sizeof *map->members);
    struct doc_member *m = &map->members[map->n++];
    *m = (struct doc_member){.key = arena_str(a, key).p,
                             .key_len = (uint32_t)key.n,
                             .key_pos = UINT32_MAX,
                             .value = value};
    return &m->value;
}

struct doc *doc_set(struct arena *a, struct doc *map, const char *key, struct doc value)
{
    return doc_set_str(a, map, str_from(key), value);
}

void doc_set_text(struct arena *a, struct doc *map, const char *key, struct str text)
{
    doc_set(a, map, key, doc_make_string(a, text));
}

bool doc_remove(struct doc *map, struct str key)
{
    uint32_t kept = 0, n = map->n;
    for (uint32_t i = 0; i < n; i++)
        if (!str_eq(doc_key(&map->members[i]), key))
            map->members[kept++] = map->members[i];
    map->n = kept;
    return kept < n;
}

static void dup_members(struct arena *a, struct doc *to, const struct doc *d)
{
    to->members = ARENA_ARRAY(a, struct doc_member, d->n);
    for (uint32_t i = 0; i < d->n; i++) {
        const struct doc_member *m = &d->members[i];
        to->members[i] = *m;
        to->members[i].key = arena_str(a, doc_key(m)).p;
        to->members[i].value = doc_dup(a, &m->value);
    }
}

struct doc doc_dup(struct arena *a, const struct doc *d)
{
    struct doc to = *d;
    to.cap = 0;
    if (d->type == DOC_STRING || d->type == DOC_NUMBER)
        set_text(&to, arena_str(a, doc_str(d)));
    if (d->type == DOC_LIST && d->n) {
        to.items = ARENA_ARRAY(a, struct doc, d->n);
        for (uint32_t i = 0; i < d->n; i++)
            to.items[i] = doc_dup(a, &d->items[i]);
    }
    if (d->type == DOC_MAP && d->n)
        dup_members(a, &to, d);
    return to;
}
