/* SPDX-License-Identifier: Apache-2.0 */
#include "api/amounts.h"

#include <stdlib.h>

/* Where a name is, or would be. */
static uint32_t place_of(const struct amounts *x, struct str name)
{
    uint32_t from = 0, to = x->n;
    if (to && str_cmp(x->v[to - 1].name, name) < 0)
        return to;
    while (from < to) {
        uint32_t mid = from + (to - from) / 2;
        if (str_cmp(x->v[mid].name, name) < 0)
            from = mid + 1;
        else
            to = mid;
    }
    return from;
}

static void reserve(struct amounts *x, uint32_t want)
{
    uint32_t cap = x->cap * 2 > want ? x->cap * 2 : want;
    if (want <= x->cap)
        return;
    struct view_amount *more = ARENA_ARRAY(x->a, struct view_amount, cap);
    if (x->n)
        memcpy(more, x->v, x->n * sizeof *more);
    x->v = more;
    x->cap = cap;
}

static int by_name(const void *a, const void *b)
{
    return str_cmp(((const struct view_amount *)a)->name,
                   ((const struct view_amount *)b)->name);
}

/* What is stored has each name once; of what is not, one is taken. */
static void sort(struct amounts *x)
{
    uint32_t n = 0;
    if (x->n > 1)
        qsort(x->v, x->n, sizeof *x->v, by_name);
    for (uint32_t i = 0; i < x->n; i++)
        if (i + 1 == x->n || !str_eq(x->v[i].name, x->v[i + 1].name))
            x->v[n++] = x->v[i];
    x->n = n;
}

struct amounts amounts_read(struct arena *a, const struct doc *map)
{
    struct amounts x = {.a = a};
    uint32_t n = map && map->type == DOC_MAP ? map->n : 0;
    reserve(&x, n);
    for (uint32_t i = 0; i < n; i++) {
        const struct doc *v = &map->members[i].value;
        struct quantity q = QUANTITY_ZERO;
        if (v->type != DOC_STRING || !quantity_parse(doc_str(v), a, &q, NULL))
            q = QUANTITY_ZERO;
        x.v[x.n++] = (struct view_amount){doc_key(&map->members[i]), q};
    }
    sort(&x);
    return x;
}

struct doc amounts_doc(const struct amounts *x)
{
    struct doc d = doc_make_map();
    for (uint32_t i = 0; i < x->n; i++)
        doc_add_str(x->a, &d, x->v[i].name,
                    doc_make_string(x->a, quantity_print(&x->v[i].value, x->a)));
    return d;
}

struct amounts amounts_dup(const struct amounts *x)
{
    struct amounts y = {.a = x->a};
    reserve(&y, x->n);
    if (x->n)
        memcpy(y.v, x->v, x->n * sizeof *y.v);
    y.n = x->n;
    return y;
}

const struct quantity *amounts_get(const struct amounts *x, struct str name)
{
    uint32_t i = place_of(x, name);
    return i < x->n && str_eq(x->v[i].name, name) ? &x->v[i].value : NULL;
}

void amounts_set(struct amounts *x, struct str name, struct quantity value)
{
    uint32_t i = place_of(x, name);
    if (i == x->n || !str_eq(x->v[i].name, name)) {
        reserve(x, x->n + 1);
        memmove(&x->v[i + 1], &x->v[i], (x->n - i) * sizeof *x->v);
        x->n++;
    }
    x->v[i] = (struct view_amount){name, value};
}

void amounts_set_int(struct amounts *x, struct str name, int64_t value)
{
    amounts_set(x, name, quantity_from_int64(value, QUANTITY_DECIMAL_SI));
}

/* ---- two lists, name by name ---- */

/* Of a name in one of them alone, the other is NULL. */
typedef struct quantity join_fn(const struct quantity *x, const struct quantity *y,
                                struct arena *a);

/* A few names into many. */
static void join_few(struct amounts *x, const struct amounts *y, join_fn *fn)
{
    for (uint32_t k = 0; k < y->n; k++)
        amounts_set(x, y->v[k].name,
                    fn(amounts_get(x, y->v[k].name), &y->v[k].value, x->a));
}

static void join(struct amounts *x, const struct amounts *y, join_fn *fn)
{
    struct amounts out = {.a = x->a};
    uint32_t i = 0, k = 0;
    if (y->n * 8 <= x->n) {
        join_few(x, y, fn);
        return;
    }
    out.cap = x->n + y->n;
    out.v = ARENA_ARRAY(x->a, struct view_amount, out.cap);
    while (i < x->n || k < y->n) {
        int order = i == x->n ? 1 : k == y->n ? -1 : str_cmp(x->v[i].name, y->v[k].name);
        const struct view_amount *p = order <= 0 ? &x->v[i++] : NULL;
        const struct view_amount *q = order >= 0 ? &y->v[k++] : NULL;
        out.v[out.n++] = (struct view_amount){
            p ? p->name : q->name, fn(p ? &p->value : NULL, q ? &q->value : NULL, x->a)};
    }
    *x = out;
}

static struct quantity sum(const struct quantity *x, const struct quantity *y,
                           struct arena *a)
{
    return x && y ? quantity_add(x, y, a) : x ? *x : *y;
}

void amounts_add_all(struct amounts *x, const struct amounts *more)
{
    join(x, more, sum);
}

static struct quantity larger(const struct quantity *x, const struct quantity *y,
                              struct arena *a)
{
    (void)a;
    return !x || (y && quantity_cmp(y, x) > 0) ? *y : *x;
}

void amounts_raise_all(struct amounts *x, const struct amounts *other)
{
    join(x, other, larger);
}

static struct quantity rest(const struct quantity *x, const struct quantity *y,
                            struct arena *a)
{
    struct quantity q = x ? *x : QUANTITY_ZERO;
    if (x && y)
        q = quantity_sub(x, y, a);
    return quantity_sign(&q) > 0 ? q : QUANTITY_ZERO;
}

void amounts_less(struct amounts *x, const struct amounts *less)
{
    join(x, less, rest);
}

/* ---- others ---- */

void amounts_filter(struct amounts *x,
                    bool (*keep)(void *ctx, const struct view_amount *v), void *ctx)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < x->n; i++)
        if (keep(ctx, &x->v[i]))
            x->v[n++] = x->v[i];
    x->n = n;
}

bool amounts_equal(const struct amounts *x, const struct amounts *y)
{
    bool same = x->n == y->n;
    for (uint32_t i = 0; same && i < x->n; i++)
        same = str_eq(x->v[i].name, y->v[i].name) &&
               quantity_cmp(&x->v[i].value, &y->v[i].value) == 0;
    return same;
}

struct str amounts_print(const struct amounts *x)
{
    struct strbuf b = STRBUF_INIT;
    for (uint32_t i = 0; i < x->n; i++)
        strbuf_addf(&b, "%s%.*s=%.*s", i ? "," : "", STR_ARG(x->v[i].name),
                    STR_ARG(quantity_print(&x->v[i].value, x->a)));
    struct str text = arena_str(x->a, strbuf_str(&b));
    strbuf_release(&b);
    return text;
}
