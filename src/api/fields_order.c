/* SPDX-License-Identifier: Apache-2.0 */
/* The order in which Go writes the elements of a set: by what they say, not by spelling.
 */
#include <stdlib.h>

#include "api/fields.h"
#include "doc/tree.h"

/* "." is the set's own; members, items by keys, values, places. */
static int kind_of(struct str name)
{
    static const char KINDS[] = ".fkvi";
    const char *at = name.n && name.p[0] ? strchr(KINDS, name.p[0]) : NULL;
    return at ? (int)(at - KINDS) : (int)sizeof KINDS;
}

static int sign(bool less, bool more)
{
    return less ? -1 : more;
}

/* ---- values ---- */

static int compare_values(const struct doc *x, const struct doc *y);

static int compare_numbers(const struct doc *x, const struct doc *y)
{
    int64_t i, k;
    double f = 0, g = 0;
    if (doc_int64(x, &i) && doc_int64(y, &k))
        return sign(i<k, i> k);
    doc_double(x, &f);
    doc_double(y, &g);
    return sign(f<g, f> g);
}

static int compare_lists(const struct doc *x, const struct doc *y)
{
    for (uint32_t i = 0; i < x->n && i < y->n; i++) {
        int c = compare_values(&x->items[i], &y->items[i]);
        if (c)
            return c;
    }
    return sign(x->n<y->n, x->n> y->n);
}

/* Keys in order, each with its value. */
static int compare_maps(const struct doc *x, const struct doc *y)
{
    struct tree_order p, q;
    int c = 0;
    tree_order_init(&p, x, str_cmp);
    tree_order_init(&q, y, str_cmp);
    for (uint32_t i = 0; i < p.n && i < q.n && c == 0; i++) {
        c = str_cmp(doc_key(p.v[i]), doc_key(q.v[i]));
        if (c == 0)
            c = compare_values(&p.v[i]->value, &q.v[i]->value);
    }
    if (c == 0)
        c = sign(p.n<q.n, p.n> q.n);
    tree_order_fini(&p);
    tree_order_fini(&q);
    return c;
}

static int type_rank(const struct doc *d)
{
    switch (d->type) {
    case DOC_NUMBER:
        return 0;
    case DOC_STRING:
        return 1;
    case DOC_BOOL:
        return 2;
    case DOC_LIST:
        return 3;
    case DOC_MAP:
        return 4;
    default:
        return 5;
    }
}

static int compare_values(const struct doc *x, const struct doc *y)
{
    int p = type_rank(x), q = type_rank(y);
    if (p != q)
        return p < q ? -1 : 1;
    switch (x->type) {
    case DOC_NUMBER:
        return compare_numbers(x, y);
    case DOC_STRING:
        return str_cmp(doc_str(x), doc_str(y));
    case DOC_BOOL:
        return sign(!x->b && y->b, x->b && !y->b);
    case DOC_LIST:
        return compare_lists(x, y);
    case DOC_MAP:
        return compare_maps(x, y);
    default:
        return 0;
    }
}

/* ---- texts ---- */

/* Most differ within a string, whose bytes tell. false: they have to be read. */
static bool bytes_tell(struct str x, struct str y, int *out)
{
    size_t i = 0;
    bool inside = false;
    for (; i < x.n && i < y.n && x.p[i] == y.p[i]; i++) {
        if (x.p[i] == '\\')
            return false;
        inside ^= x.p[i] == '"';
    }
    if (!inside || i == x.n || i == y.n || x.p[i] == '\\' || y.p[i] == '\\')
        return false;
    int p = x.p[i] == '"' ? -1 : (unsigned char)x.p[i];
    int q = y.p[i] == '"' ? -1 : (unsigned char)y.p[i];
    *out = p < q ? -1 : 1;
    return true;
}

static struct doc read(struct str text, struct arena *a)
{
    struct doc_source src = {.name = "managedFields", .text = text};
    struct doc d = doc_make_null();
    doc_read_json(&src, a, &d, NULL);
    return d;
}

static int compare_texts(struct str x, struct str y)
{
    int c;
    if (str_eq(x, y) || bytes_tell(x, y, &c))
        return str_eq(x, y) ? 0 : c;
    struct arena a = {0};
    struct doc p = read(x, &a), q = read(y, &a);
    c = compare_values(&p, &q);
    arena_fini(&a);
    return c ? c : str_cmp(x, y);
}

static int compare_places(struct str x, struct str y)
{
    struct arena a = {0};
    long long i = strtoll(arena_str(&a, x).p, NULL, 10),
              k = strtoll(arena_str(&a, y).p, NULL, 10);
    arena_fini(&a);
    return i == k ? str_cmp(x, y) : sign(i<k, i> k);
}

int fields_compare(struct str x, struct str y)
{
    int p = kind_of(x), q = kind_of(y);
    if (p != q)
        return p < q ? -1 : 1;
    bool value = x.n && strchr("kv", x.p[0]), place = x.n && x.p[0] == 'i';
    struct str l = str_sub(x, 2, SIZE_MAX), r = str_sub(y, 2, SIZE_MAX);
    return value ? compare_texts(l, r) : place ? compare_places(l, r) : str_cmp(x, y);
}
