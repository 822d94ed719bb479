/* SPDX-License-Identifier: Apache-2.0 */
/* The answer of a search that found a solution (spec 3.12). */
#include "alloc/result.h"

/* ---- Picks ---- */

static void fill_consumed(struct solver *s, const struct pick *p, struct alloc_pick *out)
{
    uint32_t n = out->device->facts.shape->ncapacities;
    if (!n)
        return;
    const struct consumed *c = consumed_of(s, p->alt, p->device);
    struct view_amount *amounts = ARENA_ARRAY(s->out, struct view_amount, n);
    for (uint32_t i = 0; i < n; i++)
        amounts[i] = (struct view_amount){arena_str(s->out, c->amounts[i].name),
                                          quantity_dup(&c->amounts[i].value, s->out)};
    out->consumed = amounts;
    out->nconsumed = n;
}

static void fill_pick(struct solver *s, const struct pick *p, struct alloc_pick *out,
                      uint32_t *shares)
{
    const struct seat *seat = seat_at(s, p->device);
    const struct pool_device *d = &seat->pool->devices[local(seat, p->device)];
    const struct plan_alt *pa = &s->plan->alts[p->alt];
    const struct alloc_features *f = &s->plan->inv->features;
    *out = (struct alloc_pick){
        .request = plan_request_name(s->plan, p->alt, s->out),
        .device = d->v,
        .slice = seat->pool->parts[d->part].v,
        .admin = pa->admin,
        .tolerations = pa->v->tolerations,
        .ntolerations = pa->v->ntolerations,
        .with_binding = f->device_binding_and_status,
        .with_skip = f->optional_node_operations,
    };
    if (s->any_multi && bit_test(s->multi, p->device)) {
        out->share = ++*shares;
        fill_consumed(s, p, out);
    }
}

/* ---- Configs (rules 67, 68) ---- */

/* Whether names hold the request, by its name or by the alternative that was chosen. */
static bool names_request(const struct solver *s, const struct view_strs *names,
                          uint32_t request)
{
    const struct plan_request *r = &s->plan->requests[request];
    struct str chosen = STR_NONE;
    if (r->v->first_available)
        chosen = plan_request_name(s->plan, s->chosen.v[request], s->out);
    for (uint32_t i = 0; i < names->n; i++)
        if (str_eq(names->v[i], r->v->name) ||
            (r->v->first_available && str_eq(names->v[i], chosen)))
            return true;
    return false;
}

static bool names_all(const struct solver *s, const struct plan_claim *c,
                      const struct view_strs *names)
{
    for (uint32_t i = 0; i < c->nrequests; i++)
        if (!names_request(s, names, c->request + i))
            return false;
    return true;
}

static bool names_any(const struct solver *s, const struct plan_claim *c,
                      const struct view_strs *names)
{
    for (uint32_t i = 0; i < c->nrequests; i++)
        if (names_request(s, names, c->request + i))
            return true;
    return false;
}

static const struct view_class *chosen_class(const struct solver *s, uint32_t request)
{
    return s->plan->alts[s->chosen.v[request]].class;
}

/* The names of all requests that use the class of the first. */
static struct view_strs users_of_class(const struct solver *s, const struct plan_claim *c,
                                       uint32_t first)
{
    struct str *v = ARENA_ARRAY(s->out, struct str, c->nrequests);
    uint32_t n = 0;
    for (uint32_t i = first; i < c->request + c->nrequests; i++)
        if (chosen_class(s, i) == chosen_class(s, first))
            v[n++] = plan_request_name(s->plan, s->chosen.v[i], s->out);
    return (struct view_strs){v, n};
}

static bool class_seen(const struct solver *s, const struct plan_claim *c,
                       uint32_t request)
{
    for (uint32_t i = c->request; i < request; i++)
        if (chosen_class(s, i) == chosen_class(s, request))
            return true;
    return false;
}

static uint32_t count_configs(const struct solver *s, const struct plan_claim *c)
{
    uint32_t n = c->v->nconfigs;
    for (uint32_t i = 0; i < c->nrequests; i++)
        n += chosen_class(s, c->request + i)->nconfigs;
    return n;
}

static void add_config(const struct solver *s, const struct plan_claim *c,
                       struct view_alloc_config *to, const char *source,
                       struct view_strs requests, const struct doc *opaque)
{
    to->source = str_from(source);
    to->config.opaque = opaque;
    if (!names_all(s, c, &requests))
        to->config.requests = requests;
}

static void add_class_configs(const struct solver *s, const struct plan_claim *c,
                              uint32_t request, struct view_alloc_config *to, uint32_t *n)
{
    const struct view_class *class = chosen_class(s, request);
    if (class->nconfigs == 0 || class_seen(s, c, request))
        return;
    struct view_strs users = users_of_class(s, c, request);
    for (uint32_t i = 0; i < class->nconfigs; i++)
        add_config(s, c, &to[(*n)++], "FromClass", users, class->configs[i].opaque);
}

static void fill_configs(const struct solver *s, const struct plan_claim *c,
                         struct alloc_result *r)
{
    uint32_t room = count_configs(s, c);
    if (!room)
        return;
    struct view_alloc_config *v = ARENA_ARRAY(s->out, struct view_alloc_config, room);
    for (uint32_t i = 0; i < c->nrequests; i++)
        add_class_configs(s, c, c->request + i, v, &r->nconfigs);
    for (uint32_t i = 0; i < c->v->nconfigs; i++) {
        const struct view_config *config = &c->v->configs[i];
        if (config->requests.n == 0 || names_any(s, c, &config->requests))
            add_config(s, c, &v[r->nconfigs++], "FromClaim", config->requests,
                       config->opaque);
    }
    r->configs = v;
}

/* ---- Node selector (rule 69) ---- */

static const struct view_node_selector *only_node(struct solver *s)
{
    struct view_node_selector *sel = ARENA_NEW(s->out, struct view_node_selector);
    struct view_term *term = ARENA_NEW(s->out, struct view_term);
    struct view_requirement *q = ARENA_NEW(s->out, struct view_requirement);
    struct str *name = ARENA_NEW(s->out, struct str);
    *name = s->host->name;
    *q = (struct view_requirement){.key = STR("metadata.name"),
                                   .op = VIEW_IN,
                                   .op_text = STR("In"),
                                   .values = {name, 1}};
    *term = (struct view_term){.fields = q, .nfields = 1};
    *sel = (struct view_node_selector){term, 1};
    return sel;
}

static bool in_values(const struct view_strs *a, struct str s)
{
    for (uint32_t i = 0; i < a->n; i++)
        if (str_eq(a->v[i], s))
            return true;
    return false;
}

static bool values_within(const struct view_strs *a, const struct view_strs *b)
{
    for (uint32_t i = 0; i < a->n; i++)
        if (!in_values(b, a->v[i]))
            return false;
    return true;
}

static bool same_requirement(const struct view_requirement *a,
                             const struct view_requirement *b)
{
    return str_eq(a->key, b->key) && str_eq(a->op_text, b->op_text) &&
           values_within(&a->values, &b->values) && values_within(&b->values, &a->values);
}

struct merge {
    struct view_requirement *v;
    uint32_t n;
};

static void merge(struct merge *m, const struct view_requirement *v, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        bool have = false;
        for (uint32_t j = 0; j < m->n && !have; j++)
            have = same_requirement(&m->v[j], &v[i]);
        if (!have)
            m->v[m->n++] = v[i];
    }
}

/* Where the device of a pick is to be had. */
static const struct view_node_selector *pick_selector(const struct alloc_pick *p,
                                                      bool *this_node)
{
    bool own = p->slice->per_device;
    struct str name = own ? p->device->node_name : p->slice->node_name;
    *this_node = name.n || p->device->binds_to_node;
    return own ? p->device->node_selector : p->slice->node_selector;
}

static void count_requirements(const struct alloc_result *r, uint32_t *fields,
                               uint32_t *expressions)
{
    bool here;
    for (uint32_t i = 0; i < r->npicks; i++) {
        const struct view_node_selector *sel = pick_selector(&r->picks[i], &here);
        if (!sel || sel->nterms != 1)
            continue;
        *fields += sel->terms[0].nfields;
        *expressions += sel->terms[0].nexpressions;
    }
}

static bool too_many_terms(struct solver *s, const struct view_node_selector *sel)
{
    return solver_fail(
        s, ALLOC_NODE_ERROR,
        arena_printf(s->out, "unsupported ResourceSlice.NodeSelector with %u terms",
                     sel->nterms));
}

static bool merge_selectors(struct solver *s, struct alloc_result *r,
                            struct merge *fields, struct merge *expressions)
{
    for (uint32_t i = 0; i < r->npicks; i++) {
        bool here;
        const struct view_node_selector *sel = pick_selector(&r->picks[i], &here);
        if (here) {
            r->node_selector = only_node(s);
            return true;
        }
        if (!sel || sel->nterms == 0)
            continue;
        if (sel->nterms > 1)
            return too_many_terms(s, sel);
        merge(fields, sel->terms[0].fields, sel->terms[0].nfields);
        merge(expressions, sel->terms[0].expressions, sel->terms[0].nexpressions);
    }
    return true;
}

static bool fill_node_selector(struct solver *s, struct alloc_result *r)
{
    uint32_t nf = 0, ne = 0;
    count_requirements(r, &nf, &ne);
    struct merge fields = {.v = nf ? ARENA_ARRAY(s->out, struct view_requirement, nf)
                                   : NULL};
    struct merge exprs = {.v = ne ? ARENA_ARRAY(s->out, struct view_requirement, ne)
                                  : NULL};
    if (!merge_selectors(s, r, &fields, &exprs))
        return false;
    if (r->node_selector || fields.n + exprs.n == 0)
        return true;
    struct view_term *term = ARENA_NEW(s->out, struct view_term);
    struct view_node_selector *sel = ARENA_NEW(s->out, struct view_node_selector);
    *term = (struct view_term){exprs.v, fields.v, exprs.n, fields.n};
    *sel = (struct view_node_selector){term, 1};
    r->node_selector = sel;
    return true;
}

bool result_build(struct solver *s, struct alloc_outcome *out)
{
    const struct alloc_plan *p = s->plan;
    struct alloc_result *r = ARENA_ARRAY(s->out, struct alloc_result, p->nclaims);
    struct alloc_pick *picks = ARENA_ARRAY(s->out, struct alloc_pick, s->picks.n);
    uint32_t shares = 0;
    for (size_t i = 0; i < s->picks.n; i++)
        fill_pick(s, &s->picks.v[i], &picks[i], &shares);
    for (uint32_t i = 0; i < p->nclaims; i++) {
        r[i].picks = picks + s->claim_picks.v[i];
        r[i].npicks = s->claim_picks.v[i + 1] - s->claim_picks.v[i];
        fill_configs(s, &p->claims[i], &r[i]);
        if (!fill_node_selector(s, &r[i]))
            return false;
    }
    out->results = r;
    out->nresults = p->nclaims;
    return true;
}

/* ---- As a document ---- */

static struct doc strs_doc(const struct view_strs *v, struct arena *a)
{
    struct doc list = doc_make_list();
    for (uint32_t i = 0; i < v->n; i++)
        doc_append(a, &list, doc_make_string(a, v->v[i]));
    return list;
}

static void set_strs(struct arena *a, struct doc *map, const char *key,
                     const struct view_strs *v)
{
    if (v->n)
        doc_set(a, map, key, strs_doc(v, a));
}

static struct doc toleration_doc(const struct view_toleration *t, struct arena *a)
{
    struct doc d = doc_make_map();
    if (t->key.n)
        doc_set_text(a, &d, "key", t->key);
    if (t->op.n)
        doc_set_text(a, &d, "operator", t->op);
    if (t->value.n)
        doc_set_text(a, &d, "value", t->value);
    if (t->effect.n)
        doc_set_text(a, &d, "effect", t->effect);
    if (t->has_seconds)
        doc_set(a, &d, "tolerationSeconds", doc_make_int(a, t->seconds));
    return d;
}

static void set_tolerations(struct arena *a, struct doc *map, const struct alloc_pick *p)
{
    if (p->ntolerations == 0)
        return;
    struct doc list = doc_make_list();
    for (uint32_t i = 0; i < p->ntolerations; i++)
        doc_append(a, &list, toleration_doc(&p->tolerations[i], a));
    doc_set(a, map, "tolerations", list);
}

static void set_consumed(struct arena *a, struct doc *map, const struct alloc_pick *p)
{
    if (p->nconsumed == 0)
        return;
    struct doc d = doc_make_map();
    for (uint32_t i = 0; i < p->nconsumed; i++)
        doc_set_str(a, &d, p->consumed[i].name,
                    doc_make_string(a, quantity_print(&p->consumed[i].value, a)));
    doc_set(a, map, "consumedCapacity", d);
}

static struct doc pick_doc(const struct alloc_pick *p, alloc_share_id_fn *share_id,
                           void *ctx, struct arena *a)
{
    struct doc d = doc_make_map();
    doc_set_text(a, &d, "request", p->request);
    doc_set_text(a, &d, "driver", p->slice->driver);
    doc_set_text(a, &d, "pool", p->slice->pool);
    doc_set_text(a, &d, "device", p->device->name);
    if (p->admin)
        doc_set(a, &d, "adminAccess", doc_make_bool(true));
    set_tolerations(a, &d, p);
    if (p->with_binding) {
        set_strs(a, &d, "bindingConditions", &p->device->binding_conditions);
        set_strs(a, &d, "bindingFailureConditions",
                 &p->device->binding_failure_conditions);
    }
    if (p->share)
        doc_set_text(a, &d, "shareID", share_id(ctx, p->share, a));
    set_consumed(a, &d, p);
    if (p->with_skip)
        set_strs(a, &d, "skipNodeOperations", &p->slice->skip_node_operations);
    return d;
}

static struct doc config_doc(const struct view_alloc_config *c, struct arena *a)
{
    struct doc d = doc_make_map();
    doc_set_text(a, &d, "source", c->source);
    set_strs(a, &d, "requests", &c->config.requests);
    if (c->config.opaque)
        doc_set(a, &d, "opaque", doc_dup(a, c->config.opaque));
    return d;
}

static void set_requirements(struct arena *a, struct doc *map, const char *key,
                             const struct view_requirement *v, uint32_t n)
{
    struct doc list = doc_make_list();
    for (uint32_t i = 0; i < n; i++) {
        struct doc d = doc_make_map();
        doc_set_text(a, &d, "key", v[i].key);
        doc_set_text(a, &d, "operator", v[i].op_text);
        set_strs(a, &d, "values", &v[i].values);
        doc_append(a, &list, d);
    }
    if (n)
        doc_set(a, map, key, list);
}

static struct doc selector_doc(const struct view_node_selector *s, struct arena *a)
{
    struct doc d = doc_make_map(), terms = doc_make_list();
    for (uint32_t i = 0; i < s->nterms; i++) {
        struct doc t = doc_make_map();
        set_requirements(a, &t, "matchExpressions", s->terms[i].expressions,
                         s->terms[i].nexpressions);
        set_requirements(a, &t, "matchFields", s->terms[i].fields, s->terms[i].nfields);
        doc_append(a, &terms, t);
    }
    doc_set(a, &d, "nodeSelectorTerms", terms);
    return d;
}

struct doc alloc_result_doc(const struct alloc_result *r, alloc_share_id_fn *share_id,
                            void *ctx, struct arena *a)
{
    struct doc d = doc_make_map(), devices = doc_make_map();
    struct doc results = doc_make_list(), configs = doc_make_list();
    for (uint32_t i = 0; i < r->npicks; i++)
        doc_append(a, &results, pick_doc(&r->picks[i], share_id, ctx, a));
    for (uint32_t i = 0; i < r->nconfigs; i++)
        doc_append(a, &configs, config_doc(&r->configs[i], a));
    if (r->npicks)
        doc_set(a, &devices, "results", results);
    if (r->nconfigs)
        doc_set(a, &devices, "config", configs);
    doc_set(a, &d, "devices", devices);
    if (r->node_selector)
        doc_set(a, &d, "nodeSelector", selector_doc(r->node_selector, a));
    return d;
}
