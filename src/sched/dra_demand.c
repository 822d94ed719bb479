/* SPDX-License-Identifier: Apache-2.0 */
/* What a pod asks of a node when its devices bring demands of their own (spec 7.11). */
#include "api/pod_amounts.h"
#include "sched/dra_mapped.h"

#define HUGE_PAGES STR("hugepages-")

static bool is_pod_level(struct str name)
{
    return str_is(name, "cpu") || str_is(name, "memory") || str_starts(name, HUGE_PAGES);
}

static struct quantity quantity_at(const struct doc *d, const char *key, struct arena *a)
{
    const struct doc *text = doc_get(d, key);
    struct quantity q = QUANTITY_ZERO;
    if (text && (text->type == DOC_STRING || text->type == DOC_NUMBER))
        quantity_parse(doc_str(text), a, &q, NULL);
    return q;
}

static void add(struct amounts *to, struct str name, struct quantity q)
{
    const struct quantity *have = amounts_get(to, name);
    amounts_set(to, name, have ? quantity_add(have, &q, to->a) : q);
}

/* The pod's containers alone. */
static struct doc containers_only(const struct doc *pod, struct arena *a)
{
    static const char *const LISTS[] = {"initContainers", "containers"};
    const struct doc *spec = doc_get(pod, "spec");
    struct doc d = doc_make_map(), own = doc_make_map();
    for (int i = 0; i < 2; i++) {
        const struct doc *list = doc_get(spec, LISTS[i]);
        if (list)
            doc_set(a, &own, LISTS[i], *list);
    }
    doc_set(a, &d, "spec", own);
    return d;
}

static const struct doc *list_of(const struct doc *d, const char *key)
{
    static const struct doc NONE = {.type = DOC_LIST};
    const struct doc *list = doc_get(d, key);
    return list && list->type == DOC_LIST ? list : &NONE;
}

/* ---- of the statuses ---- */

static void add_mapping(const struct doc *status, struct amounts *sum)
{
    const struct doc *list = list_of(status, "mapping");
    for (uint32_t i = 0; i < list->n; i++)
        add(sum, doc_get_text(&list->items[i], "name"),
            quantity_at(&list->items[i], "quantity", sum->a));
}

static void add_overhead(const struct doc *status, uint32_t containers,
                         struct amounts *sum)
{
    const struct doc *list = list_of(status, "overhead");
    for (uint32_t i = 0; i < list->n; i++) {
        struct str name = doc_get_text(&list->items[i], "name");
        struct quantity each = quantity_at(&list->items[i], "perContainer", sum->a);
        add(sum, name, quantity_at(&list->items[i], "perPod", sum->a));
        add(sum, name, quantity_mul_int64(&each, containers, sum->a));
    }
}

static void add_status(const struct doc *status, uint32_t containers, struct amounts *sum)
{
    add_mapping(status, sum);
    add_overhead(status, containers, sum);
}

static void add_statuses(const struct doc *statuses, struct amounts *sum)
{
    for (uint32_t i = 0; i < statuses->n; i++)
        add_status(&statuses->items[i], list_of(&statuses->items[i], "containers")->n,
                   sum);
}

static struct amounts of_containers(const struct doc *pod, const struct doc *statuses,
                                    struct arena *a)
{
    struct doc only = containers_only(pod, a);
    struct amounts sum = pod_requests(&only, a);
    add_statuses(statuses, &sum);
    return sum;
}

struct amounts dra_mapped_demand(const struct doc *pod, const struct doc *statuses,
                                 struct arena *a)
{
    struct amounts sum = of_containers(pod, statuses, a);
    struct amounts level = amounts_read(a, doc_path(pod, "spec.resources.requests")),
                   overhead = amounts_read(a, doc_path(pod, "spec.overhead"));
    for (uint32_t i = 0; i < level.n; i++)
        if (is_pod_level(level.v[i].name))
            amounts_set(&sum, level.v[i].name, level.v[i].value);
    amounts_add_all(&sum, &overhead);
    return sum;
}

/* ---- resources of the whole pod ---- */

static struct sched_status cover_requests(const struct doc *pod,
                                          const struct doc *statuses, struct arena *a)
{
    struct amounts level = amounts_read(a, doc_path(pod, "spec.resources.requests"));
    struct amounts sum = of_containers(pod, statuses, a);
    for (uint32_t i = 0; i < level.n; i++) {
        const struct quantity *need = amounts_get(&sum, level.v[i].name);
        if (is_pod_level(level.v[i].name) && need &&
            quantity_cmp(need, &level.v[i].value) > 0)
            return dra_status(
                SCHED_UNRESOLVABLE,
                arena_printf(a,
                             "pod level request for %.*s is insufficient to cover the "
                             "aggregated container and node-allocatable DRA requests",
                             STR_ARG(level.v[i].name)),
                a);
    }
    return dra_ok();
}

static struct sched_status cover_huge_pages(const struct doc *pod,
                                            const struct doc *statuses,
                                            const struct amounts *level, struct arena *a)
{
    struct doc only = containers_only(pod, a);
    struct amounts sum = pod_limits(&only, a);
    add_statuses(statuses, &sum);
    for (uint32_t i = 0; i < sum.n; i++) {
        const struct quantity *limit = amounts_get(level, sum.v[i].name);
        if (str_starts(sum.v[i].name, HUGE_PAGES) && limit &&
            quantity_cmp(&sum.v[i].value, limit) > 0)
            return dra_status(
                SCHED_UNRESOLVABLE,
                arena_printf(a,
                             "pod level limit for %.*s is insufficient to cover the "
                             "aggregated container and node-allocatable DRA limits",
                             STR_ARG(sum.v[i].name)),
                a);
    }
    return dra_ok();
}

static bool lists(const struct doc *status, struct str container)
{
    const struct doc *list = list_of(status, "containers");
    for (uint32_t i = 0; i < list->n; i++)
        if (str_eq(doc_str(&list->items[i]), container))
            return true;
    return false;
}

static struct sched_status cover_container(const struct doc *container,
                                           const struct doc *statuses,
                                           const struct amounts *level, struct arena *a)
{
    struct str name = doc_get_text(container, "name");
    struct amounts limits = amounts_read(a, doc_path(container, "resources.limits"));
    struct amounts more = {.a = a};
    for (uint32_t i = 0; i < statuses->n; i++)
        if (lists(&statuses->items[i], name))
            add_status(&statuses->items[i], 1, &more);
    for (uint32_t i = 0; i < limits.n; i++) {
        const struct quantity *limit = amounts_get(level, limits.v[i].name);
        if (!limit || str_starts(limits.v[i].name, HUGE_PAGES))
            continue;
        const struct quantity *plus = amounts_get(&more, limits.v[i].name);
        struct quantity all =
            plus ? quantity_add(&limits.v[i].value, plus, a) : limits.v[i].value;
        if (quantity_cmp(&all, limit) > 0)
            return dra_status(
                SCHED_UNRESOLVABLE,
                arena_printf(a,
                             "pod level limit for %.*s is insufficient to cover the "
                             "limit and DRA overhead for container %.*s",
                             STR_ARG(limits.v[i].name), STR_ARG(name)),
                a);
    }
    return dra_ok();
}

static struct sched_status cover_limits(const struct doc *pod, const struct doc *statuses,
                                        struct arena *a)
{
    const struct doc *list = list_of(doc_get(pod, "spec"), "containers");
    struct amounts level = amounts_read(a, doc_path(pod, "spec.resources.limits"));
    struct sched_status s = cover_huge_pages(pod, statuses, &level, a);
    for (uint32_t i = 0; i < list->n && sched_ok(&s); i++)
        s = cover_container(&list->items[i], statuses, &level, a);
    return s;
}

struct sched_status dra_mapped_cover(const struct doc *pod, const struct doc *statuses,
                                     struct arena *a)
{
    const struct doc *level = doc_path(pod, "spec.resources");
    struct sched_status s = dra_ok();
    if (!statuses->n || !level)
        return s;
    if (doc_get(level, "requests"))
        s = cover_requests(pod, statuses, a);
    if (sched_ok(&s) && doc_get(level, "limits"))
        s = cover_limits(pod, statuses, a);
    return s;
}

/* ---- the node ---- */

static bool is_nodes(struct str name)
{
    return str_is(name, "cpu") || str_is(name, "memory") ||
           str_is(name, "ephemeral-storage") || str_starts(name, HUGE_PAGES);
}

/* 0: it fits; 1: not now; 2: never. */
static int misfit(const struct sched_node *node, const struct view_amount *want,
                  struct arena *a)
{
    struct quantity total = QUANTITY_ZERO, left = QUANTITY_ZERO;
    for (uint32_t i = 0; i < node->view->nallocatable; i++)
        if (str_eq(node->view->allocatable[i].name, want->name)) {
            total = node->view->allocatable[i].value;
            left = quantity_sub(&total, &node->used[i].value, a);
        }
    if (quantity_sign(&want->value) <= 0 || quantity_cmp(&want->value, &left) <= 0)
        return 0;
    return quantity_cmp(&want->value, &total) > 0 ? 2 : 1;
}

struct sched_status dra_mapped_fits(const struct sched_node *node,
                                    const struct amounts *want, struct arena *a)
{
    struct str *reasons = ARENA_ARRAY(a, struct str, want->n + 1);
    uint32_t n = 0;
    int worst = 0;
    for (uint32_t i = 0; i < want->n; i++) {
        int m = is_nodes(want->v[i].name) ? misfit(node, &want->v[i], a) : 0;
        worst = m > worst ? m : worst;
        if (m)
            reasons[n++] = arena_printf(a, "Insufficient %.*s", STR_ARG(want->v[i].name));
    }
    if (!n)
        return dra_ok();
    return (struct sched_status){worst == 2 ? SCHED_UNRESOLVABLE : SCHED_UNSCHEDULABLE,
                                 {reasons, n}};
}
