/* SPDX-License-Identifier: Apache-2.0 */
#include "api/pod_amounts.h"

#include "base/map.h"

static bool is_pod_level(void *ctx, const struct view_amount *v)
{
    (void)ctx;
    return str_is(v->name, "cpu") || str_is(v->name, "memory") ||
           str_starts(v->name, STR("hugepages-"));
}

static struct amounts level_amounts(const struct doc *pod, const char *which,
                                    struct arena *a)
{
    struct amounts x = amounts_read(a, doc_get(doc_path(pod, "spec.resources"), which));
    amounts_filter(&x, is_pod_level, NULL);
    return x;
}

bool pod_has_level_resources(const struct doc *pod)
{
    struct arena a = {0};
    bool any = level_amounts(pod, "requests", &a).n || level_amounts(pod, "limits", &a).n;
    arena_fini(&a);
    return any;
}

static uint32_t count_names(const struct doc *pod, const char *containers)
{
    const struct doc *list = doc_get(doc_get(pod, "spec"), containers), *map;
    uint32_t n = 0;
    for (uint32_t i = 0; list && list->type == DOC_LIST && i < list->n; i++) {
        map = doc_path(&list->items[i], "resources.requests");
        n += map && map->type == DOC_MAP ? map->n : 0;
        map = doc_path(&list->items[i], "resources.limits");
        n += map && map->type == DOC_MAP ? map->n : 0;
    }
    return n;
}

bool pod_amounts_countable(const struct doc *pod)
{
    return count_names(pod, "containers") + count_names(pod, "initContainers") <=
           POD_AMOUNTS_MAX;
}

/* ---- one container ---- */

/* Whose word is taken for what a container has. */
enum view { WANTED, PROMISED, IN_EFFECT };

struct counting {
    const struct doc *pod;
    const char *which; /* "requests", "limits" */
    enum view view;
    bool infeasible; /* the node has refused what is wanted */
    struct strmap statuses;
    struct arena *a;
};

static bool is_infeasible(const struct doc *pod)
{
    const struct doc *list = doc_path(pod, "status.conditions");
    for (uint32_t i = 0; list && list->type == DOC_LIST && i < list->n; i++)
        if (doc_is_string(doc_get(&list->items[i], "type"), "PodResizePending"))
            return doc_is_string(doc_get(&list->items[i], "reason"), "Infeasible");
    return false;
}

static void index_statuses(struct counting *c)
{
    static const char *const LISTS[] = {"status.containerStatuses",
                                        "status.initContainerStatuses"};
    for (int k = 0; k < 2; k++) {
        const struct doc *list = doc_path(c->pod, LISTS[k]);
        for (uint32_t i = 0; list && list->type == DOC_LIST && i < list->n; i++) {
            bool made;
            struct strmap_entry *e =
                strmap_put(&c->statuses, doc_get_text(&list->items[i], "name"), &made);
            if (made)
                e->value.ptr = &list->items[i];
        }
    }
}

static const struct doc *map_of(const struct doc *d, const char *key)
{
    const struct doc *m = doc_get(d, key);
    return m && m->type == DOC_MAP ? m : NULL;
}

static struct amounts container_amounts(const struct counting *c,
                                        const struct doc *container)
{
    struct str name = doc_get_text(container, "name");
    struct strmap_entry *e = c->view == WANTED ? NULL : strmap_find(&c->statuses, name);
    const struct doc *status = e ? e->value.ptr : NULL, *have = NULL;
    bool limits = strcmp(c->which, "limits") == 0;
    if (c->view == IN_EFFECT)
        have = map_of(doc_get(status, "resources"), c->which);
    if (!have && !limits)
        have = map_of(status, "allocatedResources");
    if (!have && (c->view == WANTED || !c->infeasible))
        have = doc_get(doc_get(container, "resources"), c->which);
    return amounts_read(c->a, have);
}

/* ---- all of them ---- */

/* The largest of what starts one after another, each beside the sidecars so far. */
static void raise_beside(struct amounts *most, const struct amounts *one,
                         const struct amounts *sidecars)
{
    struct amounts both = amounts_dup(one);
    for (uint32_t i = 0; i < both.n; i++) {
        const struct quantity *q = amounts_get(sidecars, both.v[i].name);
        if (q)
            both.v[i].value = quantity_add(&both.v[i].value, q, both.a);
    }
    amounts_raise_all(most, &both);
}

static void count_init(const struct counting *c, struct amounts *sum)
{
    const struct doc *list = doc_path(c->pod, "spec.initContainers");
    struct amounts sidecars = {.a = c->a}, most = {.a = c->a};
    for (uint32_t i = 0; list && list->type == DOC_LIST && i < list->n; i++) {
        struct amounts one = container_amounts(c, &list->items[i]);
        if (doc_is_string(doc_get(&list->items[i], "restartPolicy"), "Always")) {
            amounts_add_all(sum, &one);
            amounts_add_all(&sidecars, &one);
        } else {
            raise_beside(&most, &one, &sidecars);
        }
    }
    amounts_raise_all(&most, &sidecars);
    amounts_raise_all(sum, &most);
}

static struct amounts count_view(struct counting *c, enum view view)
{
    const struct doc *list = doc_path(c->pod, "spec.containers");
    struct amounts sum = {.a = c->a};
    c->view = view;
    for (uint32_t i = 0; list && list->type == DOC_LIST && i < list->n; i++) {
        struct amounts one = container_amounts(c, &list->items[i]);
        amounts_add_all(&sum, &one);
    }
    count_init(c, &sum);
    return sum;
}

static struct amounts count(const struct doc *pod, const char *which, struct arena *a)
{
    struct counting c = {
        .pod = pod, .which = which, .infeasible = is_infeasible(pod), .a = a};
    index_statuses(&c);
    struct amounts sum = count_view(&c, c.infeasible ? IN_EFFECT : WANTED), other;
    if (!c.infeasible) {
        other = count_view(&c, IN_EFFECT);
        amounts_raise_all(&sum, &other);
    }
    if (strcmp(which, "requests") == 0) {
        other = count_view(&c, PROMISED);
        amounts_raise_all(&sum, &other);
    }
    strmap_release(&c.statuses);
    return sum;
}

static void set_level(struct amounts *sum, const struct doc *pod, const char *which)
{
    struct amounts level = level_amounts(pod, which, sum->a);
    for (uint32_t i = 0; i < level.n; i++)
        amounts_set(sum, level.v[i].name, level.v[i].value);
}

struct amounts pod_requests(const struct doc *pod, struct arena *a)
{
    struct amounts sum = count(pod, "requests", a);
    set_level(&sum, pod, "requests");
    struct amounts overhead = amounts_read(a, doc_path(pod, "spec.overhead"));
    amounts_add_all(&sum, &overhead);
    return sum;
}

/* The overhead raises limits that there are. */
static bool is_limited(void *ctx, const struct view_amount *v)
{
    const struct quantity *q = amounts_get(ctx, v->name);
    return q && quantity_sign(q) != 0;
}

struct amounts pod_limits(const struct doc *pod, struct arena *a)
{
    struct amounts sum = count(pod, "limits", a);
    set_level(&sum, pod, "limits");
    struct amounts overhead = amounts_read(a, doc_path(pod, "spec.overhead"));
    amounts_filter(&overhead, is_limited, &sum);
    amounts_add_all(&sum, &overhead);
    return sum;
}

struct amounts pod_wanted(const struct doc *pod, const char *which, struct arena *a)
{
    struct counting c = {.pod = pod, .which = which, .a = a};
    struct amounts sum = count_view(&c, WANTED);
    struct amounts level = level_amounts(pod, which, a);
    for (uint32_t i = 0; i < level.n; i++)
        if (!str_starts(level.v[i].name, STR("hugepages-")))
            amounts_set(&sum, level.v[i].name, level.v[i].value);
    return sum;
}
