/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/simulated.h"

#include <stdlib.h>

#include "base/vec.h"
#include "client/kubeconfig.h"

struct reading {
    struct arena *a;
    VEC(struct sim_group) groups;
    uint32_t open; /* groups without a number */
};

enum { OPEN = UINT32_MAX };

/* "shapes/big-node.yaml" -> "big-node". */
static const char *prefix_of(struct str name, struct arena *a)
{
    size_t slash = str_rfind_byte(name, '/');
    struct str base = slash == SIZE_MAX ? name : str_sub(name, slash + 1, name.n);
    size_t dot = str_rfind_byte(base, '.');
    return arena_str(a, dot == SIZE_MAX ? base : str_sub(base, 0, dot)).p;
}

static struct sim_shape *read_shape(struct str name, struct arena *a, struct err *e)
{
    struct str path = arena_str(a, name), text = sim_shape_shipped(name);
    if (text.n)
        return sim_shape_read(path.p, text, e);
    if (str_find_byte(name, '/', 0) == SIZE_MAX && !str_ends(name, STR(".yaml"))) {
        err_set(e, ERR_NOT_FOUND, "there is no shape \"%s\"; there are %s, and files",
                path.p, sim_shape_names());
        return NULL;
    }
    return kubeconfig_read_file(path.p, a, &text, e) ? sim_shape_read(path.p, text, e)
                                                     : NULL;
}

/* "h100x8=10", or without a number. */
static bool read_count(struct str *item, struct arena *a, uint32_t *n, struct err *e)
{
    size_t at = str_rfind_byte(*item, '=');
    *n = OPEN;
    if (at == SIZE_MAX)
        return true;
    char *end;
    const char *text = arena_str(a, str_sub(*item, at + 1, item->n)).p;
    unsigned long value = strtoul(text, &end, 10);
    if (end == text || *end || text[0] == '-' || value > SIM_MAX_NODES)
        return err_set(e, ERR_INVALID, "\"%.*s\": write NAME=NUMBER, %d at most",
                       STR_ARG(*item), SIM_MAX_NODES);
    *n = (uint32_t)value;
    *item = str_sub(*item, 0, at);
    return true;
}

static bool add(struct reading *r, struct str item, struct err *e)
{
    struct sim_group g = {0};
    if (!read_count(&item, r->a, &g.n, e))
        return false;
    g.shape = read_shape(item, r->a, e);
    if (!g.shape)
        return false;
    g.prefix = prefix_of(item, r->a);
    vec_push(&r->groups, g);
    r->open += g.n == OPEN;
    return true;
}

/* What is left of all nodes goes to the groups without a number, the first ones one more
 * where it does not come out even. */
static bool share(struct reading *r, uint32_t nodes, struct err *e)
{
    uint64_t said = 0;
    for (size_t i = 0; i < r->groups.n; i++)
        said += r->groups.v[i].n == OPEN ? 0 : r->groups.v[i].n;
    bool counted = nodes != SIMULATED_DEFAULT;
    uint64_t left = !counted ? r->open : nodes > said ? nodes - said : 0;
    if (counted && (said > nodes || (left && !r->open)))
        return err_set(e, ERR_INVALID, "%u nodes, and shapes for %llu", nodes,
                       (unsigned long long)said);
    for (size_t i = 0, k = 0; i < r->groups.n; i++)
        if (r->groups.v[i].n == OPEN) {
            r->groups.v[i].n = (uint32_t)(left / r->open + (k < left % r->open));
            k++;
        }
    return true;
}

bool simulated_read(const char *shapes, uint32_t nodes, struct arena *a,
                    struct simulated *out, struct err *e)
{
    struct reading r = {.a = a};
    struct str item;
    bool ok = true;
    for (struct str rest = str_from(shapes); ok && str_split_next(&rest, ',', &item);)
        ok = add(&r, str_trim(item), e);
    ok = ok && share(&r, nodes, e);
    *out = (struct simulated){r.groups.v, (uint32_t)r.groups.n};
    if (!ok)
        simulated_release(out);
    return ok;
}

void simulated_release(struct simulated *s)
{
    for (uint32_t i = 0; i < s->n; i++)
        sim_shape_free((struct sim_shape *)s->groups[i].shape);
    free(s->groups);
    *s = (struct simulated){0};
}

uint32_t simulated_count(const struct simulated *s)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->n; i++)
        n += s->groups[i].n;
    return n;
}
