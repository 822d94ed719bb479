/* SPDX-License-Identifier: Apache-2.0 */
/* The admission plugin Priority: a pod's number comes from its PriorityClass. */
#include "server/write.h"

/* Classes that every cluster has. */
static const struct {
    const char *name;
    int32_t value;
} SYSTEM[] = {
    {"system-cluster-critical", 2000000000},
    {"system-node-critical", 2000001000},
};

struct finding {
    struct arena *a;
    struct doc best; /* the class with the lowest value of those that are the default */
    bool found;
};

static int64_t value_of(const struct doc *class)
{
    int64_t value = 0;
    doc_get_int64(class, "value", &value);
    return value;
}

static bool note_default(void *ctx, struct cache_object *o)
{
    struct finding *f = ctx;
    struct doc d = object_doc(o, f->a);
    bool is_default = false;
    doc_get_bool(&d, "globalDefault", &is_default);
    if (is_default && (!f->found || value_of(&d) < value_of(&f->best))) {
        f->best = d;
        f->found = true;
    }
    return true;
}

static void take(const struct doc *class, struct api_admit *out)
{
    struct str policy = doc_get_text(class, "preemptionPolicy");
    out->priority = (int32_t)value_of(class);
    if (policy.n)
        out->preemption = policy.p;
}

static bool find_system(struct str name, struct api_admit *out)
{
    for (size_t i = 0; i < sizeof SYSTEM / sizeof *SYSTEM; i++)
        if (str_is(name, SYSTEM[i].name)) {
            out->priority = SYSTEM[i].value;
            return true;
        }
    return false;
}

static bool find_named(struct request *r, const struct resource *classes, struct str name,
                       struct api_admit *out)
{
    struct cache_object *o =
        cache_get(r->s->cache, object_key(classes, STR(""), name, r->a));
    if (!o)
        return find_system(name, out);
    struct doc d = object_doc(o, r->a);
    take(&d, out);
    return true;
}

bool priority_find(struct request *r, const struct doc *object, struct str name,
                   struct api_admit *out)
{
    *out = (struct api_admit){
        .a = r->a, .priority = 0, .preemption = "PreemptLowerPriority"};
    if (strcmp(r->res->main->resource, "pods") != 0)
        return true;
    const struct resource *classes =
        kinds_find(r->s, STR("scheduling.k8s.io"), STR("v1"), STR("priorityclasses"));
    struct str class = doc_get_text(doc_get(object, "spec"), "priorityClassName");
    if (class.n)
        return find_named(r, classes, class, out) ||
               fail_object(r, 403, "Forbidden", name,
                           "pods \"%.*s\" is forbidden: no PriorityClass with name %.*s "
                           "was found",
                           STR_ARG(name), STR_ARG(class));
    struct finding f = {.a = r->a};
    cache_each(r->s->cache, classes->prefix, STR_NONE, note_default, &f);
    if (f.found)
        take(&f.best, out);
    return true;
}
