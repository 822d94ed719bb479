/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/advice.h"

#include "cli/hints.h"
#include "cli/selector.h"

struct advising {
    struct cluster *c;
    const struct placement *p;
    const struct placed_pod *pod;
    size_t count;
    const struct why *why; /* NULL: the pod failed with an error */
    struct arena *a;
};

/* ---- names ---- */

struct str advice_request_name(const struct work_claim *claim, uint32_t request,
                               uint32_t alternative, struct arena *a)
{
    const struct view_request *r = &claim->view->requests[request];
    struct str name = r->name;
    if (claim->extended)
        return arena_printf(a, "request %.*s for extended resources of class %.*s",
                            STR_ARG(name), STR_ARG(r->alternatives->class_name));
    if (r->first_available)
        name = arena_printf(a, "%.*s/%.*s", STR_ARG(r->name),
                            STR_ARG(r->alternatives[alternative].name));
    if (claim->template)
        return arena_printf(a, "request %.*s (template %.*s)", STR_ARG(name),
                            STR_ARG(claim->template->name));
    return arena_printf(a, "request %.*s of claim %.*s", STR_ARG(name),
                        STR_ARG(claim->view->meta.name));
}

/* ---- errors ---- */

static struct str class_wanted(const struct advising *x)
{
    for (uint32_t i = 0; i < x->pod->nclaims; i++) {
        const struct view_claim *v = x->pod->claims[i]->view;
        for (uint32_t r = 0; !v->allocation && r < v->nrequests; r++)
            for (uint32_t k = 0; k < v->requests[r].nalternatives; k++) {
                struct str class = v->requests[r].alternatives[k].class_name;
                if (!cluster_class(x->c, class))
                    return class;
            }
    }
    return STR_NONE;
}

static struct str near_class(const struct advising *x, struct str class)
{
    struct hint_nearest near = hint_nearest_to(class);
    for (size_t i = 0; i < x->c->classes.n; i++)
        hint_nearest_try(&near, x->c->classes.v[i]->meta.name);
    return near.name;
}

static struct str advise_class(const struct advising *x)
{
    struct str class = class_wanted(x), near;
    if (class.n == 0)
        return STR("");
    near = near_class(x, class);
    if (near.n)
        return arena_printf(x->a,
                            "DeviceClass \"%.*s\" is not there; did you mean \"%.*s\"?",
                            STR_ARG(class), STR_ARG(near));
    if (x->c->classes.n == 0)
        return arena_printf(
            x->a, "add DeviceClass \"%.*s\" to the input, there is no class at all",
            STR_ARG(class));
    struct strbuf b = STRBUF_INIT;
    strbuf_addf(&b,
                "add DeviceClass \"%.*s\", or use one that is there:", STR_ARG(class));
    for (size_t i = 0; i < x->c->classes.n && i < 5; i++)
        strbuf_addf(&b, "%s %.*s", i ? "," : "", STR_ARG(x->c->classes.v[i]->meta.name));
    struct str text = arena_str(x->a, strbuf_str(&b));
    strbuf_release(&b);
    return text;
}

static struct str near_object(const struct advising *x, bool template, struct str name)
{
    struct hint_nearest near = hint_nearest_to(name);
    for (size_t i = 0; template && i < x->c->templates.n; i++)
        if (str_eq(x->c->templates.v[i].namespace, x->pod->pod.namespace))
            hint_nearest_try(&near, x->c->templates.v[i].name);
    for (size_t i = 0; !template && i < x->c->claims.n; i++)
        if (str_eq(x->c->claims.v[i].view->meta.namespace, x->pod->pod.namespace))
            hint_nearest_try(&near, x->c->claims.v[i].view->meta.name);
    return near.name;
}

static struct str other_namespace(const struct advising *x, bool template,
                                  struct str name)
{
    for (size_t i = 0; template && i < x->c->templates.n; i++)
        if (str_eq(x->c->templates.v[i].name, name))
            return x->c->templates.v[i].namespace;
    for (size_t i = 0; !template && i < x->c->claims.n; i++)
        if (str_eq(x->c->claims.v[i].view->meta.name, name))
            return x->c->claims.v[i].view->meta.namespace;
    return STR_NONE;
}

static struct str missing_object(const struct advising *x, const struct view_pod_claim *e)
{
    bool template = e->template.n > 0;
    struct str name = template ? e->template : e->claim;
    struct str near = near_object(x, template, name),
               elsewhere = other_namespace(x, template, name);
    const char *kind = template ? "ResourceClaimTemplate" : "ResourceClaim";
    if (elsewhere.n)
        return arena_printf(
            x->a,
            "%s \"%.*s\" is in namespace %.*s, the pod in %.*s; both must be "
            "in one",
            kind, STR_ARG(name), STR_ARG(elsewhere), STR_ARG(x->pod->pod.namespace));
    if (near.n)
        return arena_printf(x->a, "did you mean %s \"%.*s\"?", kind, STR_ARG(near));
    return arena_printf(x->a, "add %s \"%.*s\" in namespace %.*s to the input", kind,
                        STR_ARG(name), STR_ARG(x->pod->pod.namespace));
}

static struct str advise_missing(const struct advising *x)
{
    const struct view_pod *v = x->pod->pod.view;
    for (uint32_t i = 0; i < v->nclaims; i++) {
        const struct view_pod_claim *e = &v->claims[i];
        bool there =
            e->template.n
                ? cluster_template(x->c, x->pod->pod.namespace, e->template) != NULL
                : cluster_claim(x->c, x->pod->pod.namespace, e->claim) != NULL;
        if (!there && x->pod->nclaims == 0)
            return missing_object(x, e);
    }
    return STR("");
}

struct expressions {
    VEC(struct str) list;
};

static void add_selectors(struct expressions *x, const struct view_selector *v,
                          uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        vec_push(&x->list, v[i].expression);
}

static void add_claim(const struct advising *x, struct expressions *out,
                      const struct view_claim *claim)
{
    for (uint32_t r = 0; r < claim->nrequests; r++)
        for (uint32_t k = 0; k < claim->requests[r].nalternatives; k++) {
            const struct view_alternative *v = &claim->requests[r].alternatives[k];
            const struct view_class *class = cluster_class(x->c, v->class_name);
            if (class)
                add_selectors(out, class->selectors, class->nselectors);
            add_selectors(out, v->selectors, v->nselectors);
        }
}

static struct str advise_runtime(const struct advising *x)
{
    struct expressions all = {0};
    for (uint32_t i = 0; i < x->pod->nclaims; i++)
        add_claim(x, &all, x->pod->claims[i]->view);
    struct str text =
        hint_for_runtime(x->pod->error, all.list.v, (uint32_t)all.list.n, x->a);
    vec_release(&all.list);
    return text;
}

static const struct {
    const char *error, *advice;
} ERRORS[] = {
    {"exceeds the claim limit",
     "ask for fewer devices, or spread them over several claims of the pod"},
    {"is currently being updated",
     "give all slices of the pool: their number is not that of "
     "spec.pool.resourceSliceCount"},
    {"is currently invalid", "correct the slices of the pool"},
};

static struct str known_error(struct str error)
{
    for (size_t i = 0; i < sizeof ERRORS / sizeof *ERRORS; i++)
        if (str_find(error, str_from(ERRORS[i].error)) != SIZE_MAX)
            return str_from(ERRORS[i].advice);
    return STR("");
}

static struct str advise_error(const struct advising *x)
{
    return known_error(x->pod->error);
}

static struct str advise_node_error(const struct advising *x)
{
    return x->why->errors.n ? known_error(x->why->errors.v[0].text) : STR("");
}

/* ---- filters ---- */

static struct str for_taint(const struct advising *x, const struct why_filter *f)
{
    const struct view_taint *t = f->reason.taint;
    if (t->value.n == 0)
        return arena_printf(x->a,
                            "give the pod the toleration {key: %.*s, operator: Exists, "
                            "effect: %.*s}",
                            STR_ARG(t->key), STR_ARG(t->effect));
    return arena_printf(x->a,
                        "give the pod the toleration {key: %.*s, operator: Equal, value: "
                        "%.*s, effect: %.*s}",
                        STR_ARG(t->key), STR_ARG(t->value), STR_ARG(t->effect));
}

static bool is_offered(const struct cluster *c, struct str resource)
{
    for (size_t i = 0; i < c->nodes.n; i++)
        for (uint32_t k = 0; k < c->nodes.v[i]->nallocatable; k++)
            if (str_eq(c->nodes.v[i]->allocatable[k].name, resource))
                return true;
    return false;
}

/* A resource with a domain that no node has at all is most often that of a device plugin
 * which devices of a class are meant to stand in for. */
static struct str for_resource(const struct advising *x, const struct view_amount *want)
{
    if (str_find_byte(want->name, '/', 0) != SIZE_MAX && !is_offered(x->c, want->name))
        return arena_printf(x->a,
                            "no node offers %.*s and no DeviceClass stands for it: set "
                            "spec.extendedResourceName: %.*s in the class of the devices "
                            "that serve it",
                            STR_ARG(want->name), STR_ARG(want->name));
    return arena_printf(x->a, "request less %.*s than %.*s, or add a node with more",
                        STR_ARG(want->name), STR_ARG(quantity_print(&want->value, x->a)));
}

static struct str for_filter(const struct advising *x, const struct why_filter *f)
{
    const struct sched_reason *r = &f->reason;
    switch (r->refusal) {
    case SCHED_TAINT:
        return for_taint(x, f);
    case SCHED_CORDONED:
        return arena_printf(x->a, "kubectl uncordon %.*s",
                            STR_ARG(f->example->meta.name));
    case SCHED_NODE_SELECTOR:
        return arena_printf(x->a,
                            "kubectl label node %.*s %.*s=%.*s, or change the pod's "
                            "nodeSelector",
                            STR_ARG(f->example->meta.name), STR_ARG(r->label->key),
                            STR_ARG(r->label->value));
    case SCHED_AFFINITY:
        return STR(
            "label a node as the pod's node affinity wants it, or relax the affinity");
    case SCHED_NODE_NAME:
        return arena_printf(x->a, "add node %.*s, or clear the pod's nodeName",
                            STR_ARG(x->pod->pod.view->node_name));
    case SCHED_RESOURCES:
        return for_resource(x, r->want);
    default:
        return STR("add a node");
    }
}

/* A node that is refused for nothing but the filter; else the filter of most nodes. */
static struct str advise_filters(const struct advising *x)
{
    const struct why_filter *best = NULL;
    for (size_t i = 0; i < x->why->filters.n; i++) {
        const struct why_filter *f = &x->why->filters.v[i];
        if (f->would_do && (!best || f->would_do > best->would_do))
            best = f;
    }
    for (size_t i = 0; x->why->asked == 0 && !best && i < x->why->filters.n; i++)
        if (!best || x->why->filters.v[i].nodes > best->nodes)
            best = &x->why->filters.v[i];
    return best ? for_filter(x, best) : STR("");
}

static struct str advise_nodes(const struct advising *x)
{
    return x->why->nodes ? STR("")
                         : STR("add the nodes to the input: kubectl get nodes -o yaml");
}

static struct str advise_tied(const struct advising *x)
{
    if (!x->why->tied || x->why->asked)
        return STR("");
    return arena_printf(
        x->a,
        "delete the pods that use claim %.*s, so that it can be allocated "
        "anew, or make room on the node that it is allocated on",
        STR_ARG(x->why->tied->view->meta.name));
}

/* ---- selectors ---- */

static struct str for_alternative(const struct advising *x,
                                  const struct view_alternative *v)
{
    const struct view_class *class = cluster_class(x->c, v->class_name);
    uint32_t nclass = class ? class->nselectors : 0, n = nclass + v->nselectors;
    struct str *all = ARENA_ARRAY(x->a, struct str, n);
    for (uint32_t i = 0; i < n; i++) {
        bool of_class = class && i < nclass;
        all[i] = of_class ? class->selectors[i].expression
                          : v->selectors[i - nclass].expression;
        struct str text = selector_advice(x->c, all[i], all, i, x->a);
        if (text.n)
            return arena_printf(x->a, "%s %.*s: %.*s",
                                of_class ? "DeviceClass" : "the selector of class",
                                STR_ARG(v->class_name), STR_ARG(text));
    }
    return STR("");
}

static bool has_match(const struct why *w, const struct work_claim *claim,
                      uint32_t request)
{
    for (size_t i = 0; i < w->needs.n; i++)
        if (w->needs.v[i].claim == claim && w->needs.v[i].need.request == request &&
            w->needs.v[i].matching)
            return true;
    return false;
}

static struct str advise_claim_selectors(const struct advising *x,
                                         const struct work_claim *claim)
{
    for (uint32_t r = 0; r < claim->view->nrequests; r++) {
        const struct view_request *request = &claim->view->requests[r];
        if (has_match(x->why, claim, r) || request->nalternatives == 0)
            continue;
        struct str text =
            for_alternative(x, &request->alternatives[request->nalternatives - 1]);
        if (text.n)
            return text;
    }
    return STR("");
}

static struct str advise_selectors(const struct advising *x)
{
    if (x->c->ndevices == 0 && x->pod->nclaims)
        return STR("no device is among the input: kubectl get resourceslices -o yaml");
    for (uint32_t i = 0; i < x->pod->nclaims; i++) {
        struct str text = x->pod->claims[i]->view->allocation
                              ? STR("")
                              : advise_claim_selectors(x, x->pod->claims[i]);
        if (text.n)
            return text;
    }
    return STR("");
}

/* ---- devices ---- */

/* The row of this rule with most devices, of the request if one is given. */
static const struct why_devices *reason_of(const struct why *w, enum alloc_rule rule,
                                           const struct why_need *n)
{
    const struct why_devices *best = NULL;
    for (size_t i = 0; i < w->devices.n; i++) {
        const struct why_devices *d = &w->devices.v[i];
        if (d->reason.rule != rule ||
            (n && (d->claim != n->claim || d->reason.request != n->need.request ||
                   d->reason.alternative != n->need.alternative)))
            continue;
        if (!best || d->reason.devices > best->reason.devices)
            best = d;
    }
    return best;
}

static const struct view_alternative *alternative_of(const struct why_devices *d)
{
    return &d->claim->view->requests[d->reason.request]
                .alternatives[d->reason.alternative];
}

static const struct view_taint *refusing_taint(const struct why_devices *d)
{
    const struct view_alternative *v = alternative_of(d);
    for (uint32_t i = 0; d->reason.example && i < d->reason.example->ntaints; i++)
        if (sched_taint_refuses(&d->reason.example->taints[i], v->tolerations,
                                v->ntolerations))
            return &d->reason.example->taints[i];
    return NULL;
}

static struct str advise_device_taint(const struct advising *x)
{
    const struct why_devices *d = reason_of(x->why, ALLOC_RULE_TAINT, why_unmet(x->why));
    const struct view_taint *t = d ? refusing_taint(d) : NULL;
    if (!d)
        return STR("");
    struct str name =
        advice_request_name(d->claim, d->reason.request, d->reason.alternative, x->a);
    if (!t)
        return arena_printf(x->a, "let %.*s tolerate the taint: %.*s", STR_ARG(name),
                            STR_ARG(d->reason.detail));
    return arena_printf(x->a,
                        "let %.*s tolerate the devices' taint: tolerations: [{key: %.*s, "
                        "operator: Exists, effect: %.*s}]",
                        STR_ARG(name), STR_ARG(t->key), STR_ARG(t->effect));
}

/* Pods of the workload that are without a place. */
static int64_t lacking(const struct advising *x, const struct cluster_workload *w)
{
    int64_t n = 0;
    for (size_t i = 0; i < x->p->pods.n; i++)
        n += x->p->pods.v[i].pod.workload == w && x->p->pods.v[i].status != PLACED;
    return n;
}

static struct str scaling(const struct advising *x)
{
    const struct waiting_pod *pod = &x->pod->pod;
    const struct cluster_workload *w = pod->workload;
    if (w && w->kind != CLUSTER_DAEMON_SET) {
        int64_t rest = w->replicas - lacking(x, w);
        if (rest <= 0)
            return STR("");
        return arena_printf(x->a, "scale %.*s \"%.*s\" to %lld %s%s, or ",
                            STR_ARG(w->kind_name), STR_ARG(w->meta.name), (long long)rest,
                            w->kind == CLUSTER_JOB ? "pod" : "replica",
                            rest == 1 ? "" : "s");
    }
    if (!w && pod->view->owner_kind.n)
        return arena_printf(x->a, "scale %.*s \"%.*s\" down by %zu, or ",
                            STR_ARG(pod->view->owner_kind),
                            STR_ARG(pod->view->owner_name), x->count);
    return STR("");
}

static struct str more_nodes(const struct advising *x, const struct why_need *n)
{
    const struct alloc_need *need = &n->need;
    uint64_t wanted = need->wanted < 1 ? 1 : (uint64_t)need->wanted;
    uint64_t on_one = need->matching / wanted;
    uint64_t nodes = on_one ? (x->count + on_one - 1) / on_one : x->count;
    if (nodes == 1)
        return arena_printf(x->a, "add a node like %.*s", STR_ARG(n->best->meta.name));
    return arena_printf(x->a, "add %llu nodes like %.*s", (unsigned long long)nodes,
                        STR_ARG(n->best->meta.name));
}

static struct str too_few(const struct advising *x, const struct why_need *n)
{
    struct str name =
        advice_request_name(n->claim, n->need.request, n->need.alternative, x->a);
    return arena_printf(x->a,
                        "no node has as many: %.*s wants %lld, the most is %u on %.*s; "
                        "ask for fewer, or add a node with %lld",
                        STR_ARG(name), (long long)n->need.wanted, n->need.matching,
                        STR_ARG(n->best->meta.name), (long long)n->need.wanted);
}

static struct str advise_in_use(const struct advising *x)
{
    const struct why_need *n = why_unmet(x->why);
    if (!n || n->need.matching == 0)
        return STR("");
    if (n->need.wanted > (int64_t)n->need.matching)
        return too_few(x, n);
    const struct why_devices *d = reason_of(x->why, ALLOC_RULE_IN_USE, n);
    struct str scale = scaling(x), nodes = more_nodes(x, n);
    if (scale.n == 0 && d && d->reason.example)
        scale = arena_printf(
            x->a, "free %.*s of %.*s%s%.*s%s, or ", STR_ARG(d->reason.example->name),
            STR_ARG(d->example->meta.name), d->reason.detail.n ? " (" : "",
            STR_ARG(d->reason.detail), d->reason.detail.n ? ")" : "");
    return arena_printf(x->a, "%.*s%.*s", STR_ARG(scale), STR_ARG(nodes));
}

static struct str for_constraint(const struct advising *x, const struct why_devices *d)
{
    const struct view_constraint *k = &d->claim->view->constraints[d->reason.constraint];
    struct str name = k->match.n ? k->match : k->distinct;
    if (d->reason.devices)
        return arena_printf(x->a,
                            "%.*s: remove spec.devices.constraints[%u], or publish it",
                            STR_ARG(d->reason.detail), d->reason.constraint);
    return arena_printf(x->a,
                        "no node has free devices that together satisfy %s %.*s; relax "
                        "spec.devices.constraints[%u]",
                        k->match.n ? "matchAttribute" : "distinctAttribute",
                        STR_ARG(name), d->reason.constraint);
}

/* What is in use comes first: without it the constraint might hold. */
static struct str advise_constraint(const struct advising *x)
{
    const struct why_devices *d = reason_of(x->why, ALLOC_RULE_CONSTRAINT, NULL);
    if (!d || reason_of(x->why, ALLOC_RULE_IN_USE, NULL) ||
        d->reason.constraint >= d->claim->view->nconstraints)
        return STR("");
    return for_constraint(x, d);
}

/* The largest capacity of this name that any device has; NULL: none has it. */
static const struct quantity *largest(const struct cluster *c, struct str name)
{
    const struct quantity *most = NULL;
    for (size_t i = 0; i < c->slices.n; i++)
        for (uint32_t k = 0; k < c->slices.v[i]->ndevices; k++) {
            const struct device_facts *f = &c->slices.v[i]->devices[k].facts;
            for (uint32_t m = 0; m < f->shape->ncapacities; m++)
                if (str_eq(device_capacity_name(f, m), name) &&
                    (!most || quantity_cmp(device_amount(f, m), most) > 0))
                    most = device_amount(f, m);
        }
    return most;
}

/* More of a capacity than any device has, in use or not. */
static struct str advise_capacity(const struct advising *x)
{
    const struct why_devices *d = reason_of(x->why, ALLOC_RULE_CAPACITY, NULL);
    for (uint32_t i = 0; d && i < alternative_of(d)->ncapacity; i++) {
        const struct view_amount *want = &alternative_of(d)->capacity[i];
        const struct quantity *most = largest(x->c, want->name);
        if (!most)
            return arena_printf(x->a,
                                "no device has the capacity \"%.*s\" that is requested",
                                STR_ARG(want->name));
        if (quantity_cmp(&want->value, most) > 0)
            return arena_printf(x->a,
                                "request less %.*s than %.*s: the most that a device has "
                                "is %.*s",
                                STR_ARG(want->name),
                                STR_ARG(quantity_print(&want->value, x->a)),
                                STR_ARG(quantity_print(most, x->a)));
    }
    return STR("");
}

static void add_constraints(const struct view_claim *claim, struct strbuf *b)
{
    for (uint32_t i = 0; i < claim->nconstraints; i++) {
        const struct view_constraint *k = &claim->constraints[i];
        strbuf_addf(b, "%s%s %.*s", b->n ? ", " : "",
                    k->match.n ? "matchAttribute" : "distinctAttribute",
                    STR_ARG(k->match.n ? k->match : k->distinct));
    }
}

/* Each request finds enough for itself, and all of them together do not. */
static struct str advise_together(const struct advising *x)
{
    struct strbuf b = STRBUF_INIT;
    if (x->why->asked == 0 || x->why->needs.n == 0 || why_unmet(x->why))
        return STR("");
    for (uint32_t i = 0; i < x->pod->nclaims; i++)
        if (!x->pod->claims[i]->view->allocation)
            add_constraints(x->pod->claims[i]->view, &b);
    struct str text =
        b.n ? arena_printf(x->a,
                           "no node has free devices that satisfy all of it: relax %s",
                           strbuf_cstr(&b))
            : STR("each request alone would be served, not all of them: the pod's "
                  "requests "
                  "compete for the same devices; ask for fewer, or add a node with more");
    strbuf_release(&b);
    return text;
}

static const struct {
    enum alloc_rule rule;
    const char *advice;
} RULES[] = {
    {ALLOC_RULE_CAPACITY, "request less of the device's capacity"},
    {ALLOC_RULE_COUNTERS, "ask for a smaller partition, or free one that shares its "
                          "counters"},
    {ALLOC_RULE_GROUPS, "ask for a partition of a compatible group"},
    {ALLOC_RULE_BINDING_OFF, "--gate DRADeviceBindingConditions=true"},
    {ALLOC_RULE_NODE_OPERATIONS, "--gate DRAOptionalNodeOperations=true, on nodes that "
                                 "declare it"},
    {ALLOC_RULE_COUNTERS_OFF, "--gate DRAPartitionableDevices=true"},
    {ALLOC_RULE_POOL_INCOMPLETE,
     "give all slices of the pool: their number is not that of "
     "spec.pool.resourceSliceCount"},
    {ALLOC_RULE_POOL_INVALID, "correct the slices of the pool"},
    {ALLOC_RULE_POOL_OBSOLETE, "give the slices of the pool's newest generation"},
    {ALLOC_RULE_UNKNOWN_CONSUMPTION, "find out what the claim on an unpublished device "
                                     "uses"},
};

static struct str advise_rule(const struct advising *x)
{
    for (size_t i = 0; i < sizeof RULES / sizeof *RULES; i++) {
        const struct why_devices *d = reason_of(x->why, RULES[i].rule, NULL);
        if (d)
            return arena_printf(x->a, "%s%s%.*s%s", RULES[i].advice,
                                d->reason.detail.n ? " (" : "", STR_ARG(d->reason.detail),
                                d->reason.detail.n ? ")" : "");
    }
    return STR("");
}

static struct str advise_budget(const struct advising *x)
{
    return x->why->gave_up ? STR("search longer: --max-steps") : STR("");
}

static struct str advise_anything(const struct advising *x)
{
    struct str scale = scaling(x);
    return arena_printf(x->a, "%.*sadd a node", STR_ARG(scale));
}

/* ---- the first that knows something ---- */

typedef struct str advise_fn(const struct advising *x);

static advise_fn *const FOR_ERRORS[] = {advise_class, advise_missing, advise_runtime,
                                        advise_error, NULL};
static advise_fn *const FOR_REASONS[] = {
    advise_nodes,        advise_filters,
    advise_tied,         advise_node_error,
    advise_budget,       advise_selectors,
    advise_device_taint, advise_capacity,
    advise_constraint,   advise_in_use,
    advise_rule,         advise_together,
    advise_anything,     NULL,
};

struct str advice_for(struct cluster *c, const struct placement *p,
                      const struct placed_pod *pod, size_t count, struct arena *a)
{
    struct advising x = {c, p, pod, count, pod->why, a};
    advise_fn *const *f = pod->status == UNPLACED ? FOR_REASONS : FOR_ERRORS;
    struct str text = STR("");
    for (; *f && text.n == 0; f++)
        text = (*f)(&x);
    return text;
}
