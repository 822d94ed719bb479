/* SPDX-License-Identifier: Apache-2.0 */
/* Small plugins that look at pods and add to them. */
#include "server/admission/admit.h"

#include <stdlib.h>

#include "api/validate.h"
#include "base/names.h"

static const char *const CONTAINERS[] = {"initContainers", "containers",
                                         "ephemeralContainers"};
enum { NCONTAINERS = sizeof CONTAINERS / sizeof *CONTAINERS };

static const struct doc *list_at(const struct doc *d, const char *key)
{
    static const struct doc none;
    const struct doc *list = doc_get(d, key);
    return list && list->type == DOC_LIST ? list : &none;
}

/* ---- LimitPodHardAntiAffinityTopology ---- */

bool admit_antiaffinity(struct admission *a)
{
    const struct doc *anti = doc_path(a->object, "spec.affinity.podAntiAffinity");
    const struct doc *all =
        list_at(anti, "requiredDuringSchedulingIgnoredDuringExecution");
    if (!admit_on(a, "", "pods"))
        return true;
    for (uint32_t i = 0; i < all->n; i++) {
        struct str key = doc_get_text(&all->items[i], "topologyKey");
        if (!str_is(key, "kubernetes.io/hostname"))
            return admit_forbid(a,
                                "affinity.PodAntiAffinity.RequiredDuringScheduling has "
                                "TopologyKey %.*s but only key kubernetes.io/hostname is "
                                "allowed",
                                STR_ARG(key));
    }
    return true;
}

/* ---- AlwaysPullImages ---- */

static bool has_image(const struct doc *pod, struct str image)
{
    for (int i = 0; i < NCONTAINERS; i++) {
        const struct doc *all = list_at(doc_get(pod, "spec"), CONTAINERS[i]);
        for (uint32_t k = 0; k < all->n; k++)
            if (str_eq(doc_get_text(&all->items[k], "image"), image))
                return true;
    }
    return false;
}

/* An update that brings no image is let alone: others may have made the pod. */
static bool brings_image(const struct admission *a)
{
    if (a->verb == ADMIT_CREATE)
        return true;
    for (int i = 0; i < NCONTAINERS; i++) {
        const struct doc *all = list_at(doc_get(a->object, "spec"), CONTAINERS[i]);
        for (uint32_t k = 0; k < all->n; k++)
            if (!has_image(a->old, doc_get_text(&all->items[k], "image")))
                return true;
    }
    return false;
}

bool admit_pull_images(struct admission *a)
{
    if (!admit_on(a, "", "pods") || !brings_image(a))
        return true;
    const struct doc *spec = doc_get(a->object, "spec");
    for (int i = 0; i < NCONTAINERS; i++) {
        const struct doc *all = list_at(spec, CONTAINERS[i]);
        for (uint32_t k = 0; k < all->n; k++)
            admit_set_text(a, &all->items[k], "imagePullPolicy", STR("Always"));
    }
    const struct doc *volumes = list_at(spec, "volumes");
    for (uint32_t i = 0; i < volumes->n; i++) {
        struct doc *image = (struct doc *)doc_get(&volumes->items[i], "image");
        if (image && image->type == DOC_MAP)
            admit_set_text(a, image, "pullPolicy", STR("Always"));
    }
    return true;
}

static void add_wrong(struct strbuf *b, const char *list, uint32_t i, const char *member,
                      struct str policy)
{
    strbuf_addf(b,
                "%sspec.%s[%u].%s: Unsupported value: \"%.*s\": supported values: "
                "\"Always\"",
                b->n ? ", " : "", list, i, member, STR_ARG(policy));
}

bool check_pull_images(struct admission *a)
{
    struct strbuf b = STRBUF_INIT;
    if (!admit_on(a, "", "pods") || !brings_image(a))
        return true;
    const struct doc *spec = doc_get(a->object, "spec");
    for (int i = 0; i < NCONTAINERS; i++) {
        const struct doc *all = list_at(spec, CONTAINERS[i]);
        for (uint32_t k = 0; k < all->n; k++) {
            struct str policy = doc_get_text(&all->items[k], "imagePullPolicy");
            if (!str_is(policy, "Always"))
                add_wrong(&b, CONTAINERS[i], k, "imagePullPolicy", policy);
        }
    }
    const struct doc *volumes = list_at(spec, "volumes");
    for (uint32_t i = 0; i < volumes->n; i++) {
        const struct doc *image = doc_get(&volumes->items[i], "image");
        if (image && !doc_is_string(doc_get(image, "pullPolicy"), "Always"))
            add_wrong(&b, "volumes", i, "image.pullPolicy",
                      doc_get_text(image, "pullPolicy"));
    }
    bool ok = b.n == 0 || admit_forbid(a, "%s", strbuf_cstr(&b));
    strbuf_release(&b);
    return ok;
}

/* ---- DefaultTolerationSeconds ---- */

bool admit_tolerate_outages(struct admission *a)
{
    admit_rows(a, "DefaultTolerationSeconds");
    return true;
}

/* ---- ExtendedResourceToleration ---- */

static bool is_extended(struct admission *a, struct str name)
{
    if (str_find_byte(name, '/', 0) == SIZE_MAX ||
        str_find(name, STR("kubernetes.io/")) != SIZE_MAX ||
        str_starts(name, STR("requests.")))
        return false;
    return name_valid(NAME_LABEL_KEY,
                      arena_printf(a->r->a, "requests.%.*s", STR_ARG(name)));
}

typedef VEC(struct str) names;

static void gather(struct admission *a, const char *containers, names *out)
{
    const struct doc *all = list_at(doc_get(a->object, "spec"), containers);
    for (uint32_t i = 0; i < all->n; i++) {
        const struct doc *map = doc_path(&all->items[i], "resources.requests");
        for (uint32_t k = 0; map && map->type == DOC_MAP && k < map->n; k++)
            if (is_extended(a, doc_key(&map->members[k])))
                vec_push(out, doc_key(&map->members[k]));
    }
}

static bool is_toleration(const struct doc *t, struct str key)
{
    return str_eq(doc_get_text(t, "key"), key) &&
           doc_is_string(doc_get(t, "operator"), "Exists") &&
           doc_is_string(doc_get(t, "effect"), "NoSchedule") &&
           doc_get_text(t, "value").n == 0;
}

static void tolerate(struct admission *a, struct str key)
{
    struct doc *spec = admit_made(a, a->object, "spec", doc_make_map());
    struct doc one = doc_make_map(), *list = NULL;
    const struct doc *have = list_at(spec, "tolerations");
    admit_set_text(a, &one, "key", key);
    admit_set_text(a, &one, "operator", STR("Exists"));
    admit_set_text(a, &one, "effect", STR("NoSchedule"));
    for (uint32_t i = 0; i < have->n; i++)
        if (is_toleration(&have->items[i], key)) {
            have->items[i] = one;
            return;
        }
    list = admit_made(a, spec, "tolerations", doc_make_list());
    doc_append(a->r->a, list, one);
}

static int by_text(const void *a, const void *b)
{
    return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

bool admit_tolerate_resources(struct admission *a)
{
    names found = {0};
    if (!admit_on(a, "", "pods"))
        return true;
    gather(a, "containers", &found);
    gather(a, "initContainers", &found);
    if (found.n)
        qsort(found.v, found.n, sizeof *found.v, by_text);
    for (size_t i = 0; i < found.n; i++)
        if (i == 0 || !str_eq(found.v[i], found.v[i - 1]))
            tolerate(a, found.v[i]);
    vec_release(&found);
    return true;
}

/* ---- PodTopologyLabels ---- */

static void copy_labels(struct admission *a, struct str node_name)
{
    static const char *const COPIED[] = {"topology.kubernetes.io/region",
                                         "topology.kubernetes.io/zone"};
    struct doc node;
    if (!admit_find(a, "", "nodes", STR(""), node_name, &node))
        return;
    const struct doc *from = doc_path(&node, "metadata.labels");
    for (size_t i = 0; i < sizeof COPIED / sizeof *COPIED; i++) {
        struct str value = doc_get_text(from, COPIED[i]);
        if (!value.p)
            continue;
        struct doc *meta = admit_made(a, a->object, "metadata", doc_make_map());
        admit_set_text(a, admit_made(a, meta, "labels", doc_make_map()), COPIED[i],
                       value);
    }
}

/* Of the node that a pod is bound to: by a Binding, or from the start. */
bool admit_topology_labels(struct admission *a)
{
    if (!admit_of(a, "", "pods") ||
        !api_gate(&a->r->s->gates, API_GATE_PodTopologyLabelsAdmission))
        return true;
    const struct doc *target = doc_get(a->object, "target");
    if (strcmp(admit_sub(a), "binding") == 0 &&
        doc_is_string(doc_get(target, "kind"), "Node"))
        copy_labels(a, doc_get_text(target, "name"));
    else if (!a->r->res->sub)
        copy_labels(a, doc_get_text(doc_get(a->object, "spec"), "nodeName"));
    return true;
}
