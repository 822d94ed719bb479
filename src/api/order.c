/* SPDX-License-Identifier: Apache-2.0 */
#include "api/order.h"

#include <stdlib.h>

#include "api/fields.h"
#include "api/proto.h"

struct ranked {
    uint64_t rank;
    struct doc_member m;
};

/* kind and apiVersion of an object have no number; of a reference to one they do. */
static uint64_t rank_of(const struct api_field *f, struct str key)
{
    if (!f || f->number == 0)
        return str_is(key, "kind") ? 0 : str_is(key, "apiVersion") ? 1 : UINT64_MAX;
    uint64_t number = f->number;
    if (!f->outer[0])
        return number << 32;
    uint64_t inner = f->outer[1] ? (uint64_t)f->outer[1] << 16 | number : number << 16;
    return (uint64_t)f->outer[0] << 32 | inner;
}

typedef int compare_fn(const void *x, const void *y);

static int by_rank(const void *x, const void *y)
{
    const struct ranked *p = x, *q = y;
    if (p->rank != q->rank)
        return p->rank < q->rank ? -1 : 1;
    return str_cmp(doc_key(&p->m), doc_key(&q->m));
}

static int by_element(const void *x, const void *y)
{
    const struct ranked *p = x, *q = y;
    return fields_compare(doc_key(&p->m), doc_key(&q->m));
}

/* t NULL: keys of a map. */
static void sort_members(const struct api_type *t, struct doc *d, struct arena *a,
                         compare_fn *compare)
{
    struct ranked *all = ARENA_ARRAY(a, struct ranked, d->n);
    bool sorted = true;
    for (uint32_t i = 0; i < d->n; i++) {
        struct str key = doc_key(&d->members[i]);
        all[i].m = d->members[i];
        all[i].rank = t ? rank_of(api_field_find(t, key), key) : 0;
        sorted = sorted && (i == 0 || compare(&all[i - 1], &all[i]) <= 0);
    }
    if (sorted)
        return;
    qsort(all, d->n, sizeof *all, compare);
    for (uint32_t i = 0; i < d->n; i++)
        d->members[i] = all[i].m;
}

/* Sets of fields, which are maps of maps. */
static void order_fields(struct doc *d, struct arena *a)
{
    if (d->type != DOC_MAP)
        return;
    sort_members(NULL, d, a, by_element);
    for (uint32_t i = 0; i < d->n; i++)
        order_fields(&d->members[i].value, a);
}

static void order_one(const struct api_field *f, struct doc *d, struct arena *a)
{
    if (f->form == API_STRUCT)
        api_order(f->type, d, a);
    else if (f->form == API_FIELDS_V1)
        order_fields(d, a);
}

static void order_value(const struct api_field *f, struct doc *d, struct arena *a)
{
    bool map = f->container == API_MAP || f->container == API_MAP_OF_LISTS;
    if (f->container == API_ONE) {
        order_one(f, d, a);
    } else if (map && d->type == DOC_MAP) {
        sort_members(NULL, d, a, by_rank);
        for (uint32_t i = 0; i < d->n; i++)
            order_one(f, &d->members[i].value, a);
    } else if (d->type == DOC_LIST) {
        for (uint32_t i = 0; i < d->n; i++)
            order_one(f, &d->items[i], a);
    }
}

void api_order(const struct api_type *t, struct doc *d, struct arena *a)
{
    if (d->type != DOC_MAP || t->form != API_STRUCT)
        return;
    sort_members(t, d, a, by_rank);
    for (uint32_t i = 0; i < d->n; i++) {
        const struct api_field *f = api_field_find(t, doc_key(&d->members[i]));
        if (f)
            order_value(f, &d->members[i].value, a);
    }
}

static void order_metadata(struct doc *d, struct arena *a)
{
    const struct api_type *t = api_type_find(STR("meta"), STR("v1"), STR("ObjectMeta"));
    for (uint32_t i = 0; d->type == DOC_MAP && i < d->n; i++)
        if (str_is(doc_key(&d->members[i]), "metadata"))
            api_order(t, &d->members[i].value, a);
}

void api_order_object(struct doc *d, struct arena *a)
{
    const struct api_type *t =
        api_type_of_object(doc_get_text(d, "apiVersion"), doc_get_text(d, "kind"));
    if (t)
        api_order(t, d, a);
    else
        order_metadata(d, a);
}
