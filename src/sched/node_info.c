/* SPDX-License-Identifier: Apache-2.0 */
#include "sched/node_info.h"

#include <stdlib.h>

#include "api/view_read.h"

static int by_name(const void *a, const void *b)
{
    return str_cmp(((const struct node_image *)a)->name,
                   ((const struct node_image *)b)->name);
}

static uint32_t count_names(const struct doc *images)
{
    uint32_t n = 0;
    for (uint32_t i = 0; images && i < images->n; i++) {
        const struct doc *names = doc_get(&images->items[i], "names");
        n += names && names->type == DOC_LIST ? names->n : 0;
    }
    return n;
}

static void read_images(struct view_reader *r, const struct doc *images,
                        struct node_info *out)
{
    struct node_image *v = ARENA_ARRAY(r->a, struct node_image, count_names(images));
    for (uint32_t i = 0; images && i < images->n; i++) {
        const struct view_strs names = view_strs(r, &images->items[i], "names");
        int64_t size = view_int(r, &images->items[i], "sizeBytes");
        for (uint32_t k = 0; k < names.n; k++)
            v[out->nimages++] = (struct node_image){names.v[k], size};
    }
    if (out->nimages > 1)
        qsort(v, out->nimages, sizeof *v, by_name);
    out->images = v;
}

static int64_t max_pods(const struct view_node *n)
{
    for (uint32_t i = 0; i < n->nallocatable; i++)
        if (str_is(n->allocatable[i].name, "pods"))
            return resource_value(n->allocatable[i].name, &n->allocatable[i].value);
    return 0;
}

const void *node_info_new(const struct doc *d, struct arena *a, struct err *e)
{
    struct view_reader r = {.a = a, .e = e};
    struct node_info *out = ARENA_NEW(a, struct node_info);
    out->node = view_node_new(d, a, e);
    if (!out->node)
        return NULL;
    out->labels = (struct labels){out->node->labels, out->node->nlabels};
    out->allocatable = resources_of(out->node->allocatable, out->node->nallocatable, a);
    out->max_pods = max_pods(out->node);
    read_images(&r, view_list(&r, view_map(&r, d, "status"), "images"), out);
    return r.failed ? NULL : out;
}
