/* SPDX-License-Identifier: Apache-2.0 */
/* Priority: the number of a pod or pod group comes from its PriorityClass. */
#include "server/admission/admit.h"

#include "api/admit.h"

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

static bool find_default(struct admission *a, struct doc *out)
{
    struct finding f = {.a = a->r->a};
    admit_each(a, "scheduling.k8s.io", "priorityclasses", note_default, &f);
    if (f.found)
        *out = f.best;
    return f.found;
}

/* What an object that names the class, or none, gets; *name becomes the default's. */
static bool find_class(struct admission *a, struct str *name, struct api_admit *out)
{
    struct doc class;
    *out = (struct api_admit){.a = a->r->a, .preemption = "PreemptLowerPriority"};
    if (name->n &&
        !admit_find(a, "scheduling.k8s.io", "priorityclasses", STR(""), *name, &class))
        return admit_forbid(a, "no PriorityClass with name %.*s was found",
                            STR_ARG(*name));
    if (!name->n && !find_default(a, &class))
        return true;
    *name = meta_text(&class, "name");
    out->priority = (int32_t)value_of(&class);
    out->preemption = doc_get_text(&class, "preemptionPolicy").p;
    return true;
}

/* ---- creating ---- */

static bool check_number(struct admission *a, const struct doc *spec, int32_t want)
{
    int64_t have;
    bool pod = admit_of(a, "", "pods");
    if (!doc_get_int64(spec, "priority", &have) || have == want)
        return true;
    if (!pod)
        return admit_forbid(a,
                            "priority set in the pod group (%lld) must match the "
                            "priority computed (%d) based on the priority class set in "
                            "the spec",
                            (long long)have, want);
    return admit_forbid(a,
                        "the integer value of priority (%lld) must not be provided in "
                        "pod spec; priority admission controller computed %d from the "
                        "given PriorityClass name",
                        (long long)have, want);
}

static bool check_policy(struct admission *a, const struct doc *spec, const char *want)
{
    struct str have = doc_get_text(spec, "preemptionPolicy");
    return !want || !have.p || str_is(have, want) || !admit_of(a, "", "pods") ||
           admit_forbid(a,
                        "the string value of PreemptionPolicy (%.*s) must not be "
                        "provided in pod spec; priority admission controller computed %s "
                        "from the given PriorityClass name",
                        STR_ARG(have), want);
}

static bool prioritize(struct admission *a)
{
    struct doc *spec = admit_made(a, a->object, "spec", doc_make_map());
    struct str name = doc_get_text(spec, "priorityClassName");
    struct api_admit p;
    if (!find_class(a, &name, &p) || !check_number(a, spec, p.priority) ||
        !check_policy(a, spec, p.preemption))
        return false;
    if (name.n)
        admit_set_text(a, spec, "priorityClassName", name);
    api_admit(&p, "Priority", a->r->res->hub, a->object);
    return true;
}

/* ---- updating: who leaves out what was filled in means it ---- */

static void keep(struct admission *a)
{
    static const char *const KEPT[] = {"priority", "preemptionPolicy"};
    const struct doc *from = doc_get(a->old, "spec"), *to = doc_get(a->object, "spec");
    for (size_t i = 0; to && to->type == DOC_MAP && i < sizeof KEPT / sizeof *KEPT; i++)
        if (!doc_get(to, KEPT[i]) && doc_get(from, KEPT[i]))
            doc_set(a->r->a, (struct doc *)to, KEPT[i], *doc_get(from, KEPT[i]));
}

bool admit_priority(struct admission *a)
{
    bool pod = admit_on(a, "", "pods");
    bool group = admit_on(a, "scheduling.k8s.io", "podgroups") &&
                 api_gate(&a->r->s->gates, API_GATE_GenericWorkload);
    if (pod && a->verb == ADMIT_UPDATE)
        keep(a);
    return !(pod || group) || a->verb != ADMIT_CREATE || prioritize(a);
}

/* ---- one default ---- */

bool check_priority(struct admission *a)
{
    bool is_default = false;
    struct doc have;
    doc_get_bool(a->object, "globalDefault", &is_default);
    if (!admit_on(a, "scheduling.k8s.io", "priorityclasses") || !is_default ||
        !find_default(a, &have))
        return true;
    struct str name = meta_text(&have, "name");
    return (a->verb == ADMIT_UPDATE && str_eq(name, meta_text(a->object, "name"))) ||
           admit_forbid(a,
                        "PriorityClass %.*s is already marked as default. Only one "
                        "default can exist",
                        STR_ARG(name));
}
