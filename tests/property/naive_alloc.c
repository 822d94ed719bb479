/* SPDX-License-Identifier: Apache-2.0 */
#include "property/naive_alloc.h"

#include <stdio.h>
#include <stdlib.h>

enum { MAX_POOLS = 16, MAX_DEVICES = 256, MAX_RESULTS = 32 };

enum answer { NO, YES, OVERFLOWED, ENDED };

struct candidate {
    const struct view_slice *slice;
    const struct view_device *device;
    uint32_t pool;
};

struct npool {
    struct str driver, name;
    enum { USABLE, INCOMPLETE, INVALID } state;
    bool last;
    /* The slices that are taken into account. */
    const struct view_slice *slices[MAX_POOLS];
    uint32_t nslices;
};

struct search {
    const struct naive_input *in;
    struct naive_output *out;
    struct npool pools[MAX_POOLS];
    uint32_t npools;
    struct candidate c[MAX_DEVICES]; /* in order; unusable pools have none */
    uint32_t n;
};

static enum answer end(struct search *s, enum alloc_status status)
{
    s->out->status = status;
    return ENDED;
}

/* ---- Pools (3.2, 3.3) ---- */

static bool place_matches(struct str node_name, bool all,
                          const struct view_node_selector *sel,
                          const struct view_node *node)
{
    if (node_name.n)
        return str_eq(node_name, node->meta.name);
    if (all)
        return true;
    return sel && view_node_selector_match(sel, node, NULL) == VIEW_MATCH_YES;
}

static bool device_on_node(const struct view_slice *s, const struct view_device *d,
                           const struct view_node *node)
{
    return !s->per_device ||
           place_matches(d->node_name, d->all_nodes, d->node_selector, node);
}

static bool relevant(const struct view_slice *s, const struct view_node *node)
{
    if (s->node_name.n || s->all_nodes || s->node_selector)
        return place_matches(s->node_name, s->all_nodes, s->node_selector, node);
    for (uint32_t i = 0; s->per_device && i < s->ndevices; i++)
        if (device_on_node(s, &s->devices[i], node))
            return true;
    return false;
}

static bool uses_groups(const struct view_slice *s)
{
    for (uint32_t i = 0; i < s->ndevices; i++)
        for (uint32_t j = 0; j < s->devices[i].nconsumes; j++)
            if (s->devices[i].consumes[j].groups.n)
                return true;
    return false;
}

static bool ignored(const struct alloc_features *f, const struct view_slice *s)
{
    return (!f->compatibility_groups && uses_groups(s)) ||
           (!f->partitionable_devices && (s->has_per_device || s->ncounter_sets));
}

static bool of_pool(const struct view_slice *s, const struct npool *p)
{
    return str_eq(s->driver, p->driver) && str_eq(s->pool, p->name);
}

static bool holds_sets(const struct search *s, const struct view_slice *v)
{
    return s->in->features->partitionable_devices && v->ncounter_sets > 0;
}

static const struct view_counter_set *find_set(const struct npool *p, struct str name,
                                               uint32_t *found)
{
    const struct view_counter_set *set = NULL;
    *found = 0;
    for (uint32_t i = 0; i < p->nslices; i++)
        for (uint32_t j = 0; j < p->slices[i]->ncounter_sets; j++)
            if (str_eq(p->slices[i]->counter_sets[j].name, name)) {
                set = &p->slices[i]->counter_sets[j];
                ++*found;
            }
    return set;
}

static const struct quantity *find_amount(const struct view_amount *v, uint32_t n,
                                          struct str name)
{
    for (uint32_t i = 0; i < n; i++)
        if (str_eq(v[i].name, name))
            return &v[i].value;
    return NULL;
}

static bool consumption_valid(const struct npool *p, const struct view_device *d)
{
    for (uint32_t i = 0; i < d->nconsumes; i++) {
        uint32_t found;
        const struct view_counter_set *set =
            find_set(p, d->consumes[i].counter_set, &found);
        if (!set)
            return false;
        for (uint32_t j = 0; j < d->consumes[i].ncounters; j++)
            if (!find_amount(set->counters, set->ncounters,
                             d->consumes[i].counters[j].name))
                return false;
    }
    return true;
}

static bool counters_valid(const struct search *s, const struct npool *p)
{
    uint32_t found;
    for (uint32_t i = 0; i < p->nslices; i++) {
        const struct view_slice *v = p->slices[i];
        for (uint32_t j = 0; j < v->ncounter_sets; j++) {
            find_set(p, v->counter_sets[j].name, &found);
            if (found > 1)
                return false;
        }
        for (uint32_t j = 0; !holds_sets(s, v) && j < v->ndevices; j++)
            if (!consumption_valid(p, &v->devices[j]))
                return false;
    }
    return true;
}

/* How often the name is published by slices that the node sees. */
static uint32_t publications(const struct search *s, const struct npool *p,
                             struct str name)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < p->nslices; i++)
        for (uint32_t j = 0; j < p->slices[i]->ndevices; j++)
            n += !holds_sets(s, p->slices[i]) && relevant(p->slices[i], s->in->node) &&
                 str_eq(p->slices[i]->devices[j].name, name);
    return n;
}

static bool names_valid(const struct search *s, const struct npool *p)
{
    for (uint32_t i = 0; i < p->nslices; i++)
        for (uint32_t j = 0; j < p->slices[i]->ndevices; j++)
            if (publications(s, p, p->slices[i]->devices[j].name) > 1)
                return false;
    return true;
}

static int by_name(const void *a, const void *b)
{
    return str_cmp((*(const struct view_slice *const *)a)->meta.name,
                   (*(const struct view_slice *const *)b)->meta.name);
}

static int64_t newest(const struct search *s, const struct npool *p)
{
    int64_t g = INT64_MIN;
    for (uint32_t i = 0; i < s->in->nslices; i++)
        if (of_pool(s->in->slices[i], p) && s->in->slices[i]->generation > g)
            g = s->in->slices[i]->generation;
    return g;
}

/* Collects the slices of the newest generation; only the relevant ones if they are as
 * many as there should be. False: the node sees nothing of it. */
static bool judge_pool(struct search *s, struct npool *p)
{
    const struct alloc_features *f = s->in->features;
    uint32_t nrelevant = 0, nall = 0;
    int64_t g = newest(s, p), want = -1;
    bool contradicts = false;
    for (uint32_t i = 0; i < s->in->nslices; i++) {
        const struct view_slice *v = s->in->slices[i];
        if (!of_pool(v, p) || v->generation != g)
            continue;
        contradicts |= want >= 0 && want != v->slice_count;
        want = v->slice_count;
        nrelevant += !ignored(f, v) && relevant(v, s->in->node);
        nall += f->compatibility_groups || !uses_groups(v);
    }
    if (nrelevant == 0)
        return false;
    bool seen_all = nrelevant == want;
    p->state = contradicts ? INVALID : seen_all || nall == want ? USABLE : INCOMPLETE;
    for (uint32_t i = 0; i < s->in->nslices; i++) {
        const struct view_slice *v = s->in->slices[i];
        if (!of_pool(v, p) || v->generation != g)
            continue;
        if (seen_all ? !ignored(f, v) && relevant(v, s->in->node)
                     : f->compatibility_groups || !uses_groups(v))
            p->slices[p->nslices++] = v;
    }
    qsort(p->slices, p->nslices, sizeof *p->slices, by_name);
    if (p->state == USABLE &&
        (!names_valid(s, p) || (f->partitionable_devices && !counters_valid(s, p))))
        p->state = INVALID;
    return true;
}

static bool binding(const struct search *s, const struct npool *p)
{
    for (uint32_t i = 0; i < p->nslices; i++)
        for (uint32_t j = 0; j < p->slices[i]->ndevices; j++)
            if (!holds_sets(s, p->slices[i]) && relevant(p->slices[i], s->in->node) &&
                p->slices[i]->devices[j].has_binding_conditions)
                return true;
    return false;
}

static int by_order(const void *a, const void *b)
{
    const struct npool *x = a, *y = b;
    if (x->last != y->last)
        return x->last ? 1 : -1;
    int c = str_cmp(x->driver, y->driver);
    return c ? c : str_cmp(x->name, y->name);
}

static bool known_pool(const struct search *s, const struct view_slice *v)
{
    for (uint32_t i = 0; i < s->npools; i++)
        if (of_pool(v, &s->pools[i]))
            return true;
    return false;
}

static void gather(struct search *s)
{
    for (uint32_t i = 0; i < s->in->nslices; i++) {
        const struct view_slice *v = s->in->slices[i];
        if (known_pool(s, v))
            continue;
        struct npool *p = &s->pools[s->npools];
        *p = (struct npool){.driver = v->driver, .name = v->pool};
        if (judge_pool(s, p)) {
            p->last = p->state == USABLE && binding(s, p);
            s->npools++;
        }
    }
    qsort(s->pools, s->npools, sizeof *s->pools, by_order);
}

static void list_candidates(struct search *s)
{
    for (uint32_t p = 0; p < s->npools; p++)
        for (uint32_t i = 0; s->pools[p].state == USABLE && i < s->pools[p].nslices;
             i++) {
            const struct view_slice *v = s->pools[p].slices[i];
            if (ignored(s->in->features, v) || holds_sets(s, v) ||
                !relevant(v, s->in->node))
                continue;
            for (uint32_t j = 0; j < v->ndevices; j++)
                s->c[s->n++] = (struct candidate){v, &v->devices[j], p};
        }
}

/* ---- What is held and picked ---- */

static bool multi(const struct search *s, const struct view_device *d)
{
    return s->in->features->consumable_capacity && d->facts.shape->allow_multiple;
}

static bool same_device(const struct naive_held *h, const struct view_slice *s,
                        const struct view_device *d)
{
    return str_eq(h->driver, s->driver) && str_eq(h->pool, s->pool) &&
           str_eq(h->device, d->name);
}

/* Held, by someone who leaves nothing for a normal request. */
static bool held_alone(const struct search *s, const struct candidate *c)
{
    for (uint32_t i = 0; i < s->in->nheld; i++)
        if (same_device(&s->in->held[i], c->slice, c->device) &&
            (!s->in->held[i].share || !multi(s, c->device)))
            return true;
    return false;
}

static bool has_share(const struct search *s, const struct candidate *c)
{
    for (uint32_t i = 0; i < s->in->nheld; i++)
        if (same_device(&s->in->held[i], c->slice, c->device) && s->in->held[i].share)
            return true;
    for (uint32_t i = 0; i < s->out->npicks; i++)
        if (s->out->picks[i].device == c->device && !s->out->picks[i].alt->admin)
            return true;
    return false;
}

/* Rule 28: normal requests see normal picks of all claims, and all picks of their own. */
static bool in_use(const struct search *s, uint32_t claim,
                   const struct view_alternative *alt, const struct candidate *c)
{
    if (!alt->admin && held_alone(s, c))
        return true;
    for (uint32_t i = 0; i < s->out->npicks; i++) {
        const struct naive_pick *p = &s->out->picks[i];
        if (p->device != c->device || multi(s, c->device))
            continue;
        if (p->claim == claim || (!alt->admin && !p->alt->admin))
            return true;
    }
    return false;
}

/* ---- Selectors, capacity ---- */

static const struct view_class *class_of(const struct search *s, struct str name)
{
    for (uint32_t i = 0; i < s->in->nclasses; i++)
        if (str_eq(s->in->classes[i]->meta.name, name))
            return s->in->classes[i];
    return NULL;
}

static enum device_verdict selects(const struct search *s,
                                   const struct view_alternative *alt,
                                   const struct view_device *d)
{
    const struct view_class *class = class_of(s, alt->class_name);
    enum device_verdict v = DEVICE_YES;
    for (uint32_t i = 0; v == DEVICE_YES && i < class->nselectors; i++)
        v = s->in->match(class->selectors[i].expression, d);
    for (uint32_t i = 0; v == DEVICE_YES && i < alt->nselectors; i++)
        v = s->in->match(alt->selectors[i].expression, d);
    return v;
}

/* The test's capacities are whole numbers with ranges, lists and defaults of whole
 * numbers. */
static int64_t whole(const struct quantity *q)
{
    int64_t v;
    return quantity_scaled(q, 0, &v) ? v : INT64_MAX;
}

static int64_t drawn(const struct view_alternative *alt, const struct device_capacity *c)
{
    const struct quantity *want = find_amount(alt->capacity, alt->ncapacity, c->name);
    const struct device_capacity_policy *p = c->policy;
    if (!want)
        return whole(p && p->def ? p->def : &c->value);
    int64_t v = whole(want);
    if (p && p->has_range && p->min) {
        int64_t min = whole(p->min);
        if (v < min)
            return min;
        if (!p->step)
            return v;
        int64_t step = whole(p->step);
        return min + (v - min + step - 1) / step * step;
    }
    for (uint32_t i = 0; p && i < p->nvalid_values; i++)
        if (whole(&p->valid_values[i]) >= v)
            return whole(&p->valid_values[i]);
    return v;
}

static bool lawful(int64_t v, const struct device_capacity_policy *p)
{
    if (!p || (p->def && whole(p->def) == v))
        return true;
    if (p->has_range)
        return (!p->max || v <= whole(p->max)) &&
               (!p->step || (v - whole(p->min)) % whole(p->step) == 0);
    for (uint32_t i = 0; i < p->nvalid_values; i++)
        if (whole(&p->valid_values[i]) == v)
            return true;
    return p->nvalid_values == 0;
}

static int64_t consumed(const struct search *s, const struct candidate *c,
                        const struct device_capacity *cap)
{
    int64_t sum = 0;
    for (uint32_t i = 0; i < s->in->nheld; i++) {
        const struct naive_held *h = &s->in->held[i];
        const struct quantity *q = find_amount(h->consumed, h->nconsumed, cap->name);
        if (same_device(h, c->slice, c->device) && q)
            sum += whole(q);
    }
    for (uint32_t i = 0; i < s->out->npicks; i++)
        if (s->out->picks[i].device == c->device && !s->out->picks[i].alt->admin)
            sum += drawn(s->out->picks[i].alt, cap);
    return sum;
}

static bool has_capacities(const struct view_alternative *alt,
                           const struct view_device *d)
{
    for (uint32_t i = 0; i < alt->ncapacity; i++) {
        bool found = false;
        for (uint32_t j = 0; j < d->facts.shape->ncapacities; j++)
            found |= str_eq(device_capacity_name(&d->facts, j), alt->capacity[i].name);
        if (!found)
            return false;
    }
    return true;
}

static bool capacity_fits(const struct search *s, const struct view_alternative *alt,
                          const struct candidate *c, bool empty)
{
    if (!s->in->features->consumable_capacity)
        return true;
    if (!has_capacities(alt, c->device))
        return false;
    for (uint32_t i = 0; i < c->device->facts.shape->ncapacities; i++) {
        const struct device_capacity at = device_capacity(&c->device->facts, i),
                                     *cap = &at;
        int64_t v = drawn(alt, cap);
        bool shared = multi(s, c->device) && !empty && !alt->admin;
        if (!lawful(v, cap->policy) ||
            v + (shared ? consumed(s, c, cap) : 0) > whole(&cap->value))
            return false;
    }
    return true;
}

/* ---- Counters and groups (3.9) ---- */

static const struct view_consumption *of_set(const struct view_device *d, struct str set)
{
    for (uint32_t i = 0; i < d->nconsumes; i++)
        if (str_eq(d->consumes[i].counter_set, set))
            return &d->consumes[i];
    return NULL;
}

static int64_t uses(const struct view_device *d, struct str set, struct str counter)
{
    const struct view_consumption *u = of_set(d, set);
    const struct quantity *q = u ? find_amount(u->counters, u->ncounters, counter) : NULL;
    return q ? whole(q) : 0;
}

/* Devices of the pool that count: held, or picked by a normal request, each once. */
static uint32_t users(const struct search *s, const struct candidate *c,
                      const struct view_device **out)
{
    const struct npool *p = &s->pools[c->pool];
    uint32_t n = 0;
    for (uint32_t i = 0; i < p->nslices; i++)
        for (uint32_t j = 0; !holds_sets(s, p->slices[i]) && j < p->slices[i]->ndevices;
             j++) {
            const struct view_device *d = &p->slices[i]->devices[j];
            bool counts = false;
            for (uint32_t k = 0; k < s->in->nheld; k++)
                counts |= same_device(&s->in->held[k], p->slices[i], d);
            for (uint32_t k = 0; k < s->out->npicks; k++)
                counts |= s->out->picks[k].device == d && !s->out->picks[k].alt->admin;
            if (counts)
                out[n++] = d;
        }
    return n;
}

static bool counters_fit(const struct search *s, const struct candidate *c)
{
    const struct view_device *u[MAX_DEVICES];
    uint32_t n = users(s, c, u), found;
    for (uint32_t i = 0; i < c->device->nconsumes; i++) {
        const struct view_consumption *take = &c->device->consumes[i];
        const struct view_counter_set *set =
            find_set(&s->pools[c->pool], take->counter_set, &found);
        for (uint32_t j = 0; j < take->ncounters; j++) {
            struct str name = take->counters[j].name;
            int64_t left = whole(find_amount(set->counters, set->ncounters, name));
            for (uint32_t k = 0; k < n; k++)
                left -= uses(u[k], take->counter_set, name);
            if (left < whole(&take->counters[j].value))
                return false;
        }
    }
    return true;
}

static bool has_group(const struct view_strs *v, struct str name)
{
    for (uint32_t i = 0; i < v->n; i++)
        if (str_eq(v->v[i], name))
            return true;
    return false;
}

/* Some group of the candidate is in every user's list; or nobody has groups. */
static bool groups_meet(const struct view_consumption *take, const struct view_device **u,
                        uint32_t n)
{
    bool any_user = false, common = false, none_has = true;
    for (uint32_t k = 0; k < n; k++) {
        const struct view_consumption *other = of_set(u[k], take->counter_set);
        any_user |= other != NULL;
        none_has &= !other || other->groups.n == 0;
    }
    if (!any_user || take->groups.n == 0)
        return !any_user || none_has;
    for (uint32_t i = 0; i < take->groups.n; i++) {
        bool everywhere = true;
        for (uint32_t k = 0; k < n; k++) {
            const struct view_consumption *other = of_set(u[k], take->counter_set);
            everywhere &= !other || has_group(&other->groups, take->groups.v[i]);
        }
        common |= everywhere;
    }
    return common;
}

static bool groups_fit(const struct search *s, const struct candidate *c)
{
    const struct view_device *u[MAX_DEVICES];
    uint32_t n = users(s, c, u);
    for (uint32_t i = 0; i < c->device->nconsumes; i++)
        if (!groups_meet(&c->device->consumes[i], u, n))
            return false;
    return true;
}

static bool shared_parts_fit(const struct search *s, const struct view_alternative *alt,
                             const struct candidate *c)
{
    const struct alloc_features *f = s->in->features;
    if (c->device->nconsumes == 0)
        return true;
    if (!f->partitionable_devices)
        return false; /* for admin access too (rule 33) */
    if (alt->admin)
        return true;
    if (multi(s, c->device) && has_share(s, c))
        return true;
    return (!f->compatibility_groups || groups_fit(s, c)) && counters_fit(s, c);
}

/* ---- Taints, constraints ---- */

static bool tolerates(const struct view_alternative *alt, const struct view_taint *t)
{
    if (!str_is(t->effect, "NoSchedule") && !str_is(t->effect, "NoExecute"))
        return true;
    for (uint32_t i = 0; i < alt->ntolerations; i++)
        if (view_tolerates(&alt->tolerations[i], t))
            return true;
    return false;
}

static bool taints_tolerated(const struct search *s, const struct view_alternative *alt,
                             const struct view_device *d)
{
    for (uint32_t i = 0; s->in->features->device_taints && i < d->ntaints; i++)
        if (!tolerates(alt, &d->taints[i]))
            return false;
    return true;
}

static const struct view_request *request_of(const struct view_claim *c,
                                             const struct view_alternative *alt)
{
    for (uint32_t i = 0; i < c->nrequests; i++)
        for (uint32_t j = 0; j < c->requests[i].nalternatives; j++)
            if (&c->requests[i].alternatives[j] == alt)
                return &c->requests[i];
    return NULL;
}

static bool applies(const struct view_constraint *c, const struct view_claim *claim,
                    const struct view_alternative *alt)
{
    const struct view_request *r = request_of(claim, alt);
    char path[160];
    int n =
        snprintf(path, sizeof path, "%.*s/%.*s", STR_ARG(r->name), STR_ARG(alt->name));
    struct str full = {path, (size_t)n};
    return c->requests.n == 0 || has_group(&c->requests, r->name) ||
           (r->first_available && has_group(&c->requests, full));
}

static const struct device_attr_value *attribute(const struct view_device *d,
                                                 struct str name)
{
    const struct device_facts *f = &d->facts;
    size_t slash = str_find_byte(name, '/', 0);
    for (uint32_t i = 0; i < f->shape->nattrs; i++)
        if (str_eq(device_attr_name(f, i), name))
            return device_attr(f, i);
    if (slash == SIZE_MAX || !str_eq(str_sub(name, 0, slash), f->shape->driver))
        return NULL;
    for (uint32_t i = 0; i < f->shape->nattrs; i++)
        if (str_eq(device_attr_name(f, i), str_sub(name, slash + 1, name.n)))
            return device_attr(f, i);
    return NULL;
}

/* Values as text, typed: "i7", "sfoo". The test has ints, strings and lists of them. */
static uint32_t values(const struct search *s, const struct device_attr_value *v,
                       struct str *out, char buf[][48])
{
    bool list = v->kind >= DEVICE_ATTR_INTS;
    uint32_t n = list ? v->n : 1;
    if (v->kind == DEVICE_ATTR_NONE || (list && !s->in->features->list_type_attributes))
        return 0;
    for (uint32_t i = 0; i < n; i++) {
        bool text = v->kind == DEVICE_ATTR_STRING || v->kind == DEVICE_ATTR_STRINGS;
        struct str t = list && text ? v->strings[i] : text ? v->s : STR_NONE;
        int64_t number = list && !text ? v->ints[i] : text ? 0 : v->i;
        int len = text ? snprintf(buf[i], 48, "s%.*s", STR_ARG(t))
                       : snprintf(buf[i], 48, "i%lld", (long long)number);
        out[i] = (struct str){buf[i], (size_t)len};
    }
    return n;
}

struct valueset {
    struct str v[16];
    char buf[16][48];
    uint32_t n;
};

static bool in_set(const struct valueset *set, struct str v)
{
    for (uint32_t i = 0; i < set->n; i++)
        if (str_eq(set->v[i], v))
            return true;
    return false;
}

static uint32_t in_common(const struct valueset *a, const struct valueset *b)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < a->n; i++)
        n += in_set(b, a->v[i]);
    return n;
}

static void keep_common(struct valueset *a, const struct valueset *b)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < a->n; i++)
        if (in_set(b, a->v[i]))
            memmove(&a->v[n++], &a->v[i], sizeof *a->v);
    a->n = n;
}

static bool constraint_holds(const struct search *s, uint32_t claim,
                             const struct view_constraint *con,
                             const struct view_alternative *alt,
                             const struct view_device *d)
{
    const struct view_claim *c = s->in->claims[claim];
    struct str name = con->match.n ? con->match : con->distinct;
    bool lists = s->in->features->list_type_attributes, first = true;
    struct valueset have = {.n = 0}, mine, other;
    if (!applies(con, c, alt))
        return true;
    const struct device_attr_value *a = attribute(d, name);
    if (!a)
        return false;
    mine.n = values(s, a, mine.v, mine.buf);
    for (uint32_t i = 0; i < s->out->npicks; i++) {
        const struct naive_pick *p = &s->out->picks[i];
        if (p->claim != claim || !applies(con, c, p->alt))
            continue;
        other.n = values(s, attribute(p->device, name), other.v, other.buf);
        if (con->match.n == 0 && (mine.n == 0 || in_common(&mine, &other)))
            return false;
        if (first) {
            memcpy(have.buf, other.buf, sizeof have.buf);
            have.n = other.n;
            for (uint32_t k = 0; k < have.n; k++)
                have.v[k] = (struct str){have.buf[k], other.v[k].n};
        } else {
            keep_common(&have, &other);
        }
        first = false;
    }
    if (mine.n == 0)
        return first && !lists; /* of no comparable type */
    return con->match.n == 0 || first || in_common(&mine, &have) > 0;
}

static bool constraints_hold(const struct search *s, uint32_t claim,
                             const struct view_alternative *alt,
                             const struct view_device *d)
{
    const struct view_claim *c = s->in->claims[claim];
    for (uint32_t i = 0; i < c->nconstraints; i++)
        if (!constraint_holds(s, claim, &c->constraints[i], alt, d))
            return false;
    return true;
}

/* ---- Choosing ---- */

static bool operations_fit(const struct search *s, const struct candidate *c)
{
    if (c->slice->skip_node_operations.n == 0)
        return true;
    return s->in->features->optional_node_operations &&
           has_group(&s->in->node->declared_features, STR("DRAOptionalNodeOperations"));
}

static bool binding_off(const struct search *s, const struct candidate *c)
{
    return !s->in->features->device_binding_and_status &&
           c->device->binding_conditions.n > 0;
}

/* Rules 28 to 36; ENDED: an error. */
static enum answer eligible(struct search *s, uint32_t claim,
                            const struct view_alternative *alt, const struct candidate *c,
                            bool must)
{
    if (in_use(s, claim, alt, c) || (!must && binding_off(s, c)))
        return NO;
    if (!must) {
        switch (selects(s, alt, c->device)) {
        case DEVICE_ERROR:
            return end(s, ALLOC_ERROR);
        case DEVICE_NO:
            return NO;
        case DEVICE_YES:
            break;
        }
        if (!device_on_node(c->slice, c->device, s->in->node))
            return NO;
    }
    if ((!must && !capacity_fits(s, alt, c, false)) || !operations_fit(s, c) ||
        !shared_parts_fit(s, alt, c) || !taints_tolerated(s, alt, c->device))
        return NO;
    if (!constraints_hold(s, claim, alt, c->device))
        return must ? end(s, ALLOC_ERROR) : NO;
    return capacity_fits(s, alt, c, false) ? YES : NO;
}

/* Rule 26. */
static uint32_t all_devices(struct search *s, const struct view_alternative *alt,
                            uint32_t *out, enum answer *error)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->n; i++) {
        const struct candidate *c = &s->c[i];
        if (binding_off(s, c))
            continue;
        enum device_verdict v = selects(s, alt, c->device);
        if (v == DEVICE_ERROR && error)
            *error = end(s, ALLOC_ERROR);
        if (v == DEVICE_ERROR)
            return 0;
        if (v == DEVICE_YES && device_on_node(c->slice, c->device, s->in->node) &&
            capacity_fits(s, alt, c, true))
            out[n++] = i;
    }
    return n;
}

static bool is_all(const struct view_alternative *alt)
{
    return str_is(alt->mode, "All");
}

static enum answer enter(struct search *s, uint32_t claim, uint32_t request);

static enum answer slot(struct search *s, uint32_t claim, uint32_t request,
                        const struct view_alternative *alt, uint32_t k, uint32_t start);

static bool step(struct search *s)
{
    if (++s->out->steps <= s->in->max_steps)
        return true;
    end(s, ALLOC_BUDGET);
    return false;
}

static enum answer pick(struct search *s, uint32_t claim, uint32_t request,
                        const struct view_alternative *alt, uint32_t k, uint32_t device)
{
    const struct candidate *c = &s->c[device];
    s->out->picks[s->out->npicks++] =
        (struct naive_pick){claim, alt, c->slice, c->device};
    enum answer a =
        step(s) ? slot(s, claim, request, alt, k + 1, is_all(alt) ? 0 : device + 1)
                : ENDED;
    if (a != YES)
        s->out->npicks--;
    return a;
}

static uint32_t picked_by(const struct search *s, uint32_t claim)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->out->npicks; i++)
        n += s->out->picks[i].claim == claim;
    return n;
}

static enum answer slot(struct search *s, uint32_t claim, uint32_t request,
                        const struct view_alternative *alt, uint32_t k, uint32_t start)
{
    uint32_t all[MAX_DEVICES];
    uint64_t want = is_all(alt) ? all_devices(s, alt, all, NULL) : (uint64_t)alt->count;
    if (is_all(alt) && want == 0)
        return NO;
    if (k >= want)
        return enter(s, claim, request + 1);
    if (want - k > MAX_RESULTS - picked_by(s, claim))
        return OVERFLOWED;
    if (is_all(alt)) {
        enum answer a = eligible(s, claim, alt, &s->c[all[k]], true);
        return a == YES ? pick(s, claim, request, alt, k, all[k]) : a;
    }
    for (uint32_t i = start; i < s->n; i++) {
        enum answer a = eligible(s, claim, alt, &s->c[i], false);
        if (a == YES)
            a = pick(s, claim, request, alt, k, i);
        if (a != NO)
            return a;
    }
    return NO;
}

static enum answer alternatives(struct search *s, uint32_t claim, uint32_t request)
{
    const struct view_request *r = &s->in->claims[claim]->requests[request];
    bool all_overflowed = true;
    for (uint32_t i = 0; i < r->nalternatives; i++) {
        enum answer a =
            step(s) ? slot(s, claim, request, &r->alternatives[i], 0, 0) : ENDED;
        if (a == YES || a == ENDED)
            return a;
        all_overflowed &= a == OVERFLOWED;
    }
    return all_overflowed ? OVERFLOWED : NO;
}

static enum answer enter(struct search *s, uint32_t claim, uint32_t request)
{
    if (!step(s))
        return ENDED;
    if (claim == s->in->nclaims)
        return YES;
    const struct view_claim *c = s->in->claims[claim];
    if (request == c->nrequests) {
        enum answer a = enter(s, claim + 1, 0);
        return a == OVERFLOWED ? NO : a;
    }
    if (c->requests[request].first_available)
        return alternatives(s, claim, request);
    return slot(s, claim, request, &c->requests[request].alternatives[0], 0, 0);
}

/* ---- Before the search (3.5) ---- */

static bool pools_unfit(struct search *s)
{
    for (uint32_t i = 0; i < s->npools; i++)
        if (s->pools[i].state != USABLE)
            return end(s, ALLOC_NODE_ERROR) == ENDED;
    return false;
}

/* Every All request looks at every device; a pool that is not usable is met when the
 * devices of those before it have been looked at. */
static bool all_fails(struct search *s, const struct view_alternative *alt)
{
    uint32_t all[MAX_DEVICES], pool = 0;
    enum answer error = YES;
    while (pool < s->npools && s->pools[pool].state == USABLE)
        pool++;
    uint32_t n = s->n;
    while (s->n > 0 && s->c[s->n - 1].pool > pool)
        s->n--;
    all_devices(s, alt, all, &error);
    s->n = n;
    return error == ENDED || pools_unfit(s);
}

static bool request_fails(struct search *s, const struct view_request *r, uint64_t *sum,
                          uint64_t *exact)
{
    uint32_t all[MAX_DEVICES];
    uint64_t least = UINT64_MAX, least_exact = UINT64_MAX;
    for (uint32_t i = 0; i < r->nalternatives; i++) {
        const struct view_alternative *alt = &r->alternatives[i];
        if (!class_of(s, alt->class_name))
            return end(s, ALLOC_ERROR) == ENDED;
        if (is_all(alt) && all_fails(s, alt))
            return true;
        uint64_t n = is_all(alt) ? all_devices(s, alt, all, NULL) : (uint64_t)alt->count;
        uint64_t e = is_all(alt) ? 0 : n;
        least = n < least ? n : least;
        least_exact = e < least_exact ? e : least_exact;
    }
    *sum += least;
    *exact += least_exact;
    if (*sum <= MAX_RESULTS)
        return false;
    return end(s, *exact > MAX_RESULTS ? ALLOC_ERROR : ALLOC_NODE_ERROR) == ENDED;
}

static bool claims_fail(struct search *s)
{
    for (uint32_t i = 0; i < s->in->nclaims; i++) {
        uint64_t sum = 0, exact = 0;
        for (uint32_t j = 0; j < s->in->claims[i]->nrequests; j++)
            if (request_fails(s, &s->in->claims[i]->requests[j], &sum, &exact))
                return true;
    }
    return false;
}

static bool any_invalid(const struct search *s)
{
    for (uint32_t i = 0; i < s->npools; i++)
        if (s->pools[i].state == INVALID)
            return true;
    return false;
}

void naive_alloc(const struct naive_input *in, struct naive_output *out)
{
    static struct search s;
    s = (struct search){.in = in, .out = out};
    out->npicks = 0;
    out->steps = 0;
    gather(&s);
    list_candidates(&s);
    if (claims_fail(&s))
        return;
    enum answer a = enter(&s, 0, 0);
    if (a == YES)
        out->status = ALLOC_OK;
    else if (a != ENDED)
        out->status = any_invalid(&s) ? ALLOC_NODE_ERROR : ALLOC_NONE;
}
