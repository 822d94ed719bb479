/* SPDX-License-Identifier: Apache-2.0 */
/* Resources of whole pods: what is not said follows from those of the containers. */
#include "api/prepare_inner.h"
#include "num/quantity.h"

static struct quantity read(const struct doc *d, struct arena *a)
{
    struct quantity q = QUANTITY_ZERO;
    if (d && (d->type == DOC_STRING || d->type == DOC_NUMBER) &&
        !quantity_parse(doc_str(d), a, &q, NULL))
        q = QUANTITY_ZERO;
    return q;
}

static const struct doc *named(const struct doc *resources, const char *list,
                               struct str name)
{
    return doc_get_str(doc_get(resources, list), name);
}

static struct quantity larger(struct quantity x, struct quantity y)
{
    return quantity_cmp(&x, &y) >= 0 ? x : y;
}

static struct quantity of_container(const struct doc *container, const char *list,
                                    struct str name, struct arena *a)
{
    return read(named(doc_get(container, "resources"), list, name), a);
}

/*
 * The most that the containers use at one time. Init containers run one by one, beside
 * those before them that never end.
 */
static struct quantity total(const struct doc *spec, const char *list, struct str name,
                             struct arena *a)
{
    const struct doc *run = doc_get(spec, "containers"),
                     *init = doc_get(spec, "initContainers");
    struct quantity sum = QUANTITY_ZERO, beside = QUANTITY_ZERO, most = QUANTITY_ZERO;
    for (uint32_t i = 0; run && run->type == DOC_LIST && i < run->n; i++) {
        struct quantity q = of_container(&run->items[i], list, name, a);
        sum = quantity_add(&sum, &q, a);
    }
    for (uint32_t i = 0; init && init->type == DOC_LIST && i < init->n; i++) {
        struct quantity q = of_container(&init->items[i], list, name, a);
        bool stays = doc_is_string(doc_get(&init->items[i], "restartPolicy"), "Always");
        struct quantity now = quantity_add(&q, &beside, a);
        most = larger(most, now);
        if (!stays)
            continue;
        sum = quantity_add(&sum, &q, a);
        beside = now;
    }
    return larger(sum, most);
}

/* ---- names of resources ---- */

static bool is_huge(struct str name)
{
    return str_starts(name, STR("hugepages-"));
}

static bool is_basic(struct str name)
{
    return str_is(name, "cpu") || str_is(name, "memory");
}

bool prepare_is_pod_level(struct str name)
{
    return is_basic(name) || is_huge(name);
}

static bool none_lacks(const struct doc *spec, struct str name)
{
    static const char *const lists[] = {"initContainers", "containers",
                                        "ephemeralContainers"};
    for (int k = 0; k < 3; k++) {
        const struct doc *v = doc_get(spec, lists[k]);
        for (uint32_t i = 0; v && v->type == DOC_LIST && i < v->n; i++)
            if (!named(doc_get(&v->items[i], "resources"), "limits", name))
                return false;
    }
    return true;
}

/* ---- filling in ---- */

struct level {
    const struct api_prepare *p;
    struct doc *spec, *resources;
};

static void set(const struct level *l, const char *list, struct str name,
                struct quantity q)
{
    doc_set_str(l->p->a, prepare_map(l->p, l->resources, list), name,
                doc_make_string(l->p->a, quantity_print(&q, l->p->a)));
}

/* Limits of huge pages, which are not requested apart; requests of all else. */
static void from_container(const struct level *l, const char *list, struct str name)
{
    bool limits = strcmp(list, "limits") == 0;
    if (named(l->resources, list, name) || (limits ? !is_huge(name) : !is_basic(name)) ||
        (limits && named(l->resources, "requests", name)))
        return;
    set(l, list, name, total(l->spec, list, name, l->p->a));
}

static void from_containers(const struct level *l, const char *list)
{
    static const char *const kinds[] = {"containers", "initContainers"};
    for (int k = 0; k < 2; k++) {
        const struct doc *v = doc_get(l->spec, kinds[k]);
        for (uint32_t i = 0; v && v->type == DOC_LIST && i < v->n; i++) {
            const struct doc *have = doc_get(doc_get(&v->items[i], "resources"), list);
            for (uint32_t m = 0; have && have->type == DOC_MAP && m < have->n; m++)
                from_container(l, list, doc_key(&have->members[m]));
        }
    }
}

static void requests_from_limits(const struct level *l)
{
    const struct doc *limits = doc_get(l->resources, "limits");
    for (uint32_t i = 0; limits && limits->type == DOC_MAP && i < limits->n; i++) {
        struct str name = doc_key(&limits->members[i]);
        struct doc value = limits->members[i].value;
        if (!prepare_is_pod_level(name) || named(l->resources, "requests", name))
            continue;
        doc_set_str(l->p->a, prepare_map(l->p, l->resources, "requests"), name, value);
        limits = doc_get(l->resources, "limits"); /* resources may have moved */
    }
}

/* Where every container has a limit the pod has their sum, but no less than it asks. */
static void limits_of_requests(const struct level *l)
{
    const struct doc *asked = doc_get(l->resources, "requests");
    for (uint32_t i = 0; asked && asked->type == DOC_MAP && i < asked->n; i++) {
        struct str name = doc_key(&asked->members[i]);
        if (!prepare_is_pod_level(name) || named(l->resources, "limits", name) ||
            !none_lacks(l->spec, name))
            continue;
        set(l, "limits", name,
            larger(total(l->spec, "limits", name, l->p->a),
                   read(&asked->members[i].value, l->p->a)));
        asked = doc_get(l->resources, "requests");
    }
}

static bool says_any(const struct doc *resources, const char *list)
{
    const struct doc *d = doc_get(resources, list);
    return d && d->type == DOC_MAP && d->n;
}

void prepare_pod_level(const struct api_prepare *p, struct doc *spec)
{
    struct level l = {p, spec, api_edit_get(spec, "resources")};
    if (!says_any(l.resources, "requests") && !says_any(l.resources, "limits"))
        return;
    from_containers(&l, "limits");
    from_containers(&l, "requests");
    requests_from_limits(&l);
    limits_of_requests(&l);
}
