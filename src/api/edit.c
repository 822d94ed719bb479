/* SPDX-License-Identifier: Apache-2.0 */
#include "api/edit.h"

struct doc *api_edit_get(struct doc *d, const char *key)
{
    struct doc *m = (struct doc *)doc_get(d, key);
    return m && m->type != DOC_NULL ? m : NULL;
}

static void each(struct doc *d, struct str place, api_edit_fn *fn, void *ctx);

static void each_child(struct doc *d, struct str rest, api_edit_fn *fn, void *ctx)
{
    for (uint32_t i = 0; i < d->n; i++)
        each(d->type == DOC_LIST ? &d->items[i] : &d->members[i].value, rest, fn, ctx);
}

static void each(struct doc *d, struct str place, api_edit_fn *fn, void *ctx)
{
    if (!d || d->type == DOC_NULL)
        return;
    if (place.n == 0) {
        fn(ctx, d);
        return;
    }
    bool list = str_starts(place, STR("[]")), map = str_starts(place, STR("{}"));
    if (list || map) {
        if (d->type == (list ? DOC_LIST : DOC_MAP))
            each_child(d, str_sub(place, 2, SIZE_MAX), fn, ctx);
        return;
    }
    if (place.p[0] == '.')
        place = str_sub(place, 1, SIZE_MAX);
    size_t end = 0;
    while (end < place.n && !strchr(".[{", place.p[end]))
        end++;
    each((struct doc *)doc_get_str(d, str_sub(place, 0, end)),
         str_sub(place, end, SIZE_MAX), fn, ctx);
}

void api_edit_each(struct doc *root, const char *place, api_edit_fn *fn, void *ctx)
{
    each(root, str_from(place), fn, ctx);
}
