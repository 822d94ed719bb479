/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the node must be able to do before something is asked of it:
 * NodeDeclaredFeatureValidator (spec 6.5.3) and PodResizeValidator.
 */
#include "server/admission/admit.h"

#include "api/view_pod.h"
#include "api/view_read.h"

static bool declares(const struct doc *node, const char *feature)
{
    const struct doc *all = doc_path(node, "status.declaredFeatures");
    for (uint32_t i = 0; all && all->type == DOC_LIST && i < all->n; i++)
        if (doc_is_string(&all->items[i], feature))
            return true;
    return false;
}

/* ---- slices with resources of nodes ---- */

static const char ALLOCATABLE[] = "DRANodeAllocatableResources";

static bool check_declared(struct admission *a, const struct doc *node)
{
    return declares(node, ALLOCATABLE) ||
           admit_forbid(a, "node \"%.*s\" does not support %s feature",
                        STR_ARG(meta_text(node, "name")), ALLOCATABLE);
}

struct sweeping {
    struct admission *a;
    const struct view_node_selector *selector; /* NULL: all nodes */
    bool ok;
};

static bool check_one(void *ctx, struct cache_object *o)
{
    struct sweeping *s = ctx;
    struct arena *a = s->a->r->a;
    struct doc d = object_doc(o, a);
    struct view_node *node = view_node_new(&d, a, NULL);
    bool match =
        !s->selector ||
        (node && view_node_selector_match(s->selector, node, NULL) == VIEW_MATCH_YES);
    s->ok = !match || check_declared(s->a, &d);
    return s->ok;
}

static bool check_nodes(struct admission *a, const struct doc *selector)
{
    struct view_reader reader = {.a = a->r->a};
    struct sweeping s = {.a = a,
                         .selector =
                             selector ? view_read_node_selector(&reader, selector) : NULL,
                         .ok = true};
    admit_each(a, "", "nodes", check_one, &s);
    return s.ok;
}

/* place: the slice's spec, or the device where each says for itself. */
static bool check_place(struct admission *a, const struct doc *place, struct str device)
{
    const struct doc *selector = doc_get(place, "nodeSelector");
    struct str node = doc_get_text(place, "nodeName");
    struct doc d;
    bool all = false;
    doc_get_bool(place, "allNodes", &all);
    if (node.n && !admit_find(a, "", "nodes", STR(""), node, &d))
        return admit_forbid(a, "node \"%.*s\" not found for device \"%.*s\"",
                            STR_ARG(node), STR_ARG(device));
    if (node.n)
        return check_declared(a, &d);
    if (selector || all)
        return check_nodes(a, selector);
    return admit_forbid(a,
                        "device \"%.*s\" in ResourceSlice has NodeAllocatableResources "
                        "but does not map to any nodes",
                        STR_ARG(device));
}

static bool check_slice(struct admission *a)
{
    const struct doc *spec = doc_get(a->object, "spec"), *all = doc_get(spec, "devices");
    bool each = false;
    doc_get_bool(spec, "perDeviceNodeSelection", &each);
    for (uint32_t i = 0; all && all->type == DOC_LIST && i < all->n; i++) {
        const struct doc *device = &all->items[i],
                         *amounts = doc_get(device, "nodeAllocatableResources");
        if (amounts && amounts->n &&
            !check_place(a, each ? device : spec, doc_get_text(device, "name")))
            return false;
    }
    return true;
}

/* ---- changes of pods that not every node can make ---- */

static bool differs(const struct doc *x, const struct doc *y)
{
    return !x != !y || (x && !doc_equal(x, y));
}

static bool resizes_pod(const struct doc *old, const struct doc *now)
{
    return differs(doc_get(old, "resources"), doc_get(now, "resources"));
}

static const struct doc *item(const struct doc *spec, const char *list, uint32_t i)
{
    const struct doc *all = doc_get(spec, list);
    return all && all->type == DOC_LIST && i < all->n ? &all->items[i] : NULL;
}

static bool resizes_init(const struct doc *old, const struct doc *now)
{
    uint32_t n = admit_count(old, "initContainers");
    for (uint32_t i = 0; i < n; i++) {
        const struct doc *c = item(old, "initContainers", i),
                         *d = item(now, "initContainers", i);
        if (!doc_is_string(doc_get(c, "restartPolicy"), "Always") && d &&
            differs(doc_get(c, "resources"), doc_get(d, "resources")))
            return true;
    }
    return false;
}

static bool resizes_memory(const struct doc *old, const struct doc *now)
{
    uint32_t n = admit_count(old, "volumes");
    if (n != admit_count(now, "volumes"))
        return false;
    for (uint32_t i = 0; i < n; i++) {
        const struct doc *v = item(old, "volumes", i), *w = item(now, "volumes", i);
        const struct doc *from = doc_path(v, "emptyDir.sizeLimit"),
                         *to = doc_path(w, "emptyDir.sizeLimit");
        if (doc_is_string(doc_path(w, "emptyDir.medium"), "Memory") && from && to &&
            str_eq(doc_get_text(v, "name"), doc_get_text(w, "name")) &&
            !doc_equal(from, to))
            return true;
    }
    return false;
}

/* Sorted by name, as they are listed. */
static const struct {
    const char *feature;
    bool (*needed)(const struct doc *old, const struct doc *now);
} CHANGES[] = {
    {"InPlacePodLevelResourcesVerticalScaling", resizes_pod},
    {"InPlacePodVerticalScalingInitContainers", resizes_init},
    {"InPlacePodVerticalScalingMemoryBackedVolumes", resizes_memory},
};

/* Of a bound pod whose spec changes; empty: does not matter. */
static struct str node_of_change(const struct admission *a)
{
    int64_t before = 0, after = 0;
    doc_get_int64(doc_get(a->old, "metadata"), "generation", &before);
    doc_get_int64(doc_get(a->object, "metadata"), "generation", &after);
    return before == after ? STR("")
                           : doc_get_text(doc_get(a->object, "spec"), "nodeName");
}

static bool check_pod_update(struct admission *a)
{
    const struct doc *old = doc_get(a->old, "spec"), *now = doc_get(a->object, "spec");
    struct str name = node_of_change(a);
    struct doc node;
    bool found = name.n && admit_find(a, "", "nodes", STR(""), name, &node);
    struct strbuf missing = STRBUF_INIT;
    bool needs = false;
    for (size_t i = 0; name.n && i < sizeof CHANGES / sizeof *CHANGES; i++) {
        bool one = CHANGES[i].needed(old, now);
        needs |= one;
        if (one && found && !declares(&node, CHANGES[i].feature))
            strbuf_addf(&missing, "%s%s", missing.n ? ", " : "", CHANGES[i].feature);
    }
    struct str features = arena_str(a->r->a, strbuf_str(&missing));
    strbuf_release(&missing);
    if (needs && !found)
        return admit_forbid(a, "node \"%.*s\" not found", STR_ARG(name));
    return features.n == 0 ||
           admit_forbid(a,
                        "pod update requires features %.*s which are not available on "
                        "node \"%.*s\"",
                        STR_ARG(features), STR_ARG(name));
}

bool check_features(struct admission *a)
{
    const char *sub = admit_sub(a);
    const struct api_gates *gates = &a->r->s->gates;
    if (admit_of(a, "", "pods"))
        return a->verb != ADMIT_UPDATE || (*sub && strcmp(sub, "resize") != 0) ||
               check_pod_update(a);
    return !admit_on(a, "resource.k8s.io", "resourceslices") ||
           !api_gate(gates, API_GATE_DRANodeAllocatableResources) || check_slice(a);
}

/* ---- resizing ---- */

static const struct quantity *amount(const struct view_amount *all, uint32_t n,
                                     const char *name)
{
    static const struct quantity zero;
    for (uint32_t i = 0; i < n; i++)
        if (str_is(all[i].name, name))
            return &all[i].value;
    return &zero;
}

static bool fail_resize(struct admission *a, const char *reason, struct str why)
{
    admit_forbid(a, "%.*s", STR_ARG(why));
    struct doc cause = doc_make_map();
    admit_set_text(a, &cause, "reason", str_from(reason));
    doc_append(a->r->a, &a->r->failure.causes, cause);
    return false;
}

/* What of cpu and memory does not fit; digits: what the text counts in. */
static struct str shortage(struct arena *a, const struct view_node *node,
                           const struct view_amount *needs, uint32_t n)
{
    static const struct {
        const char *name;
        int digits;
    } ROWS[] = {{"cpu", 3}, {"memory", 0}};
    struct strbuf b = STRBUF_INIT;
    for (size_t i = 0; i < 2; i++) {
        const struct quantity *want = amount(needs, n, ROWS[i].name),
                              *have = amount(node->allocatable, node->nallocatable,
                                             ROWS[i].name);
        int64_t w = 0, h = 0;
        if (quantity_cmp(want, have) <= 0)
            continue;
        quantity_scaled(want, ROWS[i].digits, &w);
        quantity_scaled(have, ROWS[i].digits, &h);
        strbuf_addf(&b, "%s%s, requested: %lld, allocatable: %lld", b.n ? "; " : "",
                    ROWS[i].name, (long long)w, (long long)h);
    }
    struct str text = arena_str(a, strbuf_str(&b));
    strbuf_release(&b);
    return text;
}

bool check_resize_fits(struct admission *a)
{
    struct arena *arena = a->r->a;
    struct doc d;
    uint32_t n = 0;
    if (a->verb != ADMIT_UPDATE || !admit_of(a, "", "pods") ||
        strcmp(admit_sub(a), "resize") != 0)
        return true;
    struct str name = node_of_change(a);
    if (name.n == 0)
        return true;
    if (!admit_find(a, "", "nodes", STR(""), name, &d))
        return admit_forbid(a, "node \"%.*s\" not found", STR_ARG(name));
    struct str os = doc_get_text(doc_path(&d, "metadata.labels"), "kubernetes.io/os");
    if (os.p && !str_is(os, "linux"))
        return fail_resize(a, "UnsupportedPlatform",
                           arena_printf(arena,
                                        "pod resize is only supported on linux nodes, "
                                        "node \"%.*s\" is \"%.*s\"",
                                        STR_ARG(name), STR_ARG(os)));
    struct view_node *node = view_node_new(&d, arena, NULL);
    struct view_pod *pod = view_pod_new(a->object, arena, NULL);
    const struct view_amount *needs = pod ? view_pod_requests(pod, arena, &n) : NULL;
    struct str lacks = node ? shortage(arena, node, needs, n) : STR("");
    return lacks.n == 0 ||
           fail_resize(a, "NodeCapacity",
                       arena_printf(arena,
                                    "node didn't have enough allocatable resources: %.*s",
                                    STR_ARG(lacks)));
}
