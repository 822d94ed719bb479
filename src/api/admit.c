/* SPDX-License-Identifier: Apache-2.0 */
#include "api/admit.h"

#include "api/edit.h"

typedef void admit_fn(const struct api_admit *p, struct doc *object,
                      const char *argument);

static struct doc *made(const struct api_admit *p, struct doc *d, const char *key,
                        struct doc fresh)
{
    struct doc *have = api_edit_get(d, key);
    return have ? have : doc_set(p->a, d, key, fresh);
}

static void set_text(const struct api_admit *p, struct doc *d, const char *key,
                     const char *text)
{
    doc_set(p->a, d, key, doc_make_string(p->a, str_from(text)));
}

static void finalizer(const struct api_admit *p, struct doc *object, const char *name)
{
    struct doc *meta = made(p, object, "metadata", doc_make_map());
    struct doc *list = made(p, meta, "finalizers", doc_make_list());
    for (uint32_t i = 0; i < list->n; i++)
        if (doc_is_string(&list->items[i], name))
            return;
    doc_append(p->a, list, doc_make_string(p->a, str_from(name)));
}

/* ---- nodes ---- */

static bool is_taint(const struct doc *taint, const char *key, const char *effect)
{
    return doc_is_string(doc_get(taint, "key"), key) &&
           doc_is_string(doc_get(taint, "effect"), effect);
}

static void taint_node(const struct api_admit *p, struct doc *object, const char *key)
{
    struct doc *spec = made(p, object, "spec", doc_make_map()), taint = doc_make_map();
    struct doc *list = made(p, spec, "taints", doc_make_list());
    for (uint32_t i = 0; i < list->n; i++)
        if (is_taint(&list->items[i], key, "NoSchedule"))
            return;
    set_text(p, &taint, "key", key);
    set_text(p, &taint, "effect", "NoSchedule");
    doc_append(p->a, list, taint);
}

/* ---- pods ---- */

enum { OUTAGE_SECONDS = 300 };

static const char NOT_READY[] = "node.kubernetes.io/not-ready";
static const char UNREACHABLE[] = "node.kubernetes.io/unreachable";

static int64_t outage_seconds(const struct api_admit *p, const char *key)
{
    return p->outage_seconds ? p->outage_seconds[key == UNREACHABLE] : OUTAGE_SECONDS;
}

/* Whether a toleration says something of NoExecute taints of that key. */
static bool speaks_of(const struct doc *toleration, const char *key)
{
    struct str k = doc_get_text(toleration, "key"),
               effect = doc_get_text(toleration, "effect");
    return (k.n == 0 || str_is(k, key)) && (effect.n == 0 || str_is(effect, "NoExecute"));
}

static void tolerate(const struct api_admit *p, struct doc *object, const char *key)
{
    struct doc *spec = made(p, object, "spec", doc_make_map()), one = doc_make_map();
    const struct doc *have = doc_get(spec, "tolerations");
    for (uint32_t i = 0; have && have->type == DOC_LIST && i < have->n; i++)
        if (speaks_of(&have->items[i], key))
            return;
    set_text(p, &one, "key", key);
    set_text(p, &one, "operator", "Exists");
    set_text(p, &one, "effect", "NoExecute");
    doc_set(p->a, &one, "tolerationSeconds", doc_make_int(p->a, outage_seconds(p, key)));
    doc_append(p->a, made(p, spec, "tolerations", doc_make_list()), one);
}

static void prioritize(const struct api_admit *p, struct doc *object, const char *policy)
{
    struct doc *spec = made(p, object, "spec", doc_make_map());
    doc_set(p->a, spec, "priority", doc_make_int(p->a, p->priority));
    if (*policy && p->preemption && !api_edit_get(spec, policy))
        set_text(p, spec, policy, p->preemption);
}

static const struct {
    const char *plugin;
    const char *group, *resource;
    admit_fn *fn;
    const char *argument;
} ROWS[] = {
    {"TaintNodesByCondition", "", "nodes", taint_node, NOT_READY},
    {"Priority", "", "pods", prioritize, "preemptionPolicy"},
    {"Priority", "scheduling.k8s.io", "podgroups", prioritize, ""},
    {"DefaultTolerationSeconds", "", "pods", tolerate, NOT_READY},
    {"DefaultTolerationSeconds", "", "pods", tolerate, UNREACHABLE},
    {"StorageObjectInUseProtection", "", "persistentvolumeclaims", finalizer,
     "kubernetes.io/pvc-protection"},
    {"StorageObjectInUseProtection", "", "persistentvolumes", finalizer,
     "kubernetes.io/pv-protection"},
    {"StorageObjectInUseProtection", "storage.k8s.io", "volumeattributesclasses",
     finalizer, "kubernetes.io/vac-protection"},
    {"PodGroupProtection", "scheduling.k8s.io", "podgroups", finalizer,
     "scheduling.k8s.io/podgroup-protection"},
};

/* plugin NULL: all. */
static void run(const struct api_admit *p, const char *plugin,
                const struct api_kind *kind, struct doc *object)
{
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++)
        if (strcmp(ROWS[i].group, kind->group) == 0 &&
            strcmp(ROWS[i].resource, kind->resource) == 0 &&
            (!plugin || strcmp(ROWS[i].plugin, plugin) == 0))
            ROWS[i].fn(p, object, ROWS[i].argument);
}

void api_admit(const struct api_admit *p, const char *plugin, const struct api_kind *kind,
               struct doc *object)
{
    run(p, plugin, kind, object);
}

void api_admit_create(const struct api_admit *p, const struct api_kind *kind,
                      struct doc *object)
{
    run(p, NULL, kind, object);
}
