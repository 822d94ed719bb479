/* SPDX-License-Identifier: Apache-2.0 */
#include "device/internal.h"

void device_names_init(struct device_names *n)
{
    *n = (struct device_names){0};
    intern_init(&n->texts);
    arena_init(&n->arena);
    strmap_init(&n->shapes);
}

void device_names_fini(struct device_names *n)
{
    for (struct device_column *c = n->all; c; c = c->next)
        free(c->slots);
    free(n->columns[0]);
    free(n->columns[1]);
    strmap_release(&n->shapes);
    strbuf_release(&n->key);
    intern_fini(&n->texts);
    arena_fini(&n->arena);
}

void device_names_replace(struct device_names *n, struct device_names *fresh)
{
    device_names_fini(n);
    *n = *fresh;
    n->nmoved = n->nvalues + n->texts.ids.n;
    device_names_init(fresh);
}

bool device_names_swollen(const struct device_names *n)
{
    enum { LITTLE = 4096 };
    return n->nvalues + (uint64_t)n->texts.ids.n > 2 * (uint64_t)n->nmoved + LITTLE;
}

struct device_name device_name_split(struct str driver, struct str name)
{
    size_t slash = str_find_byte(name, '/', 0);
    if (slash == SIZE_MAX)
        return (struct device_name){driver, name};
    return (struct device_name){str_sub(name, 0, slash),
                                str_sub(name, slash + 1, name.n)};
}

uint32_t device_name_join(struct device_names *n, struct device_name name)
{
    char few[256];
    size_t size = name.domain.n + 1 + name.id.n;
    char *text = size <= sizeof few ? few : mem_alloc(size);
    if (name.domain.n)
        memcpy(text, name.domain.p, name.domain.n);
    text[name.domain.n] = '/';
    if (name.id.n)
        memcpy(text + name.domain.n + 1, name.id.p, name.id.n);
    uint32_t id = intern_id(&n->texts, (struct str){text, size});
    if (text != few)
        free(text);
    return id;
}

uint32_t device_name_id(struct device_names *n, struct str driver, struct str name)
{
    if (str_find_byte(name, '/', 0) != SIZE_MAX)
        return intern_id(&n->texts, name);
    return device_name_join(n, (struct device_name){driver, name});
}
