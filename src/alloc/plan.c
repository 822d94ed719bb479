/* SPDX-License-Identifier: Apache-2.0 */
#include "alloc/plan.h"

#include <stdlib.h>

#define CLAIM_ERROR(p, claim, fmt, ...)                                                  \
    arena_printf(&(p)->mem, "claim %.*s, " fmt, STR_ARG(claim_path((claim), &(p)->mem)), \
                 __VA_ARGS__)

/* ---- Constraints ---- */

static bool lists(const struct view_strs *names, struct str name)
{
    for (uint32_t i = 0; i < names->n; i++)
        if (str_eq(names->v[i], name))
            return true;
    return false;
}

static bool lists_path(const struct view_strs *names, struct str parent, struct str sub)
{
    for (uint32_t i = 0; i < names->n; i++) {
        struct str s = names->v[i];
        if (s.n == parent.n + 1 + sub.n && s.p[parent.n] == '/' &&
            str_eq(str_sub(s, 0, parent.n), parent) &&
            str_eq(str_sub(s, parent.n + 1, s.n), sub))
            return true;
    }
    return false;
}

/* Rule 38. */
static bool applies(const struct view_strs *names, const struct view_request *r,
                    const struct view_alternative *alt)
{
    return names->n == 0 || lists(names, r->name) ||
           (r->first_available && lists_path(names, r->name, alt->name));
}

static uint32_t derived_of(struct alloc_inventory *inv,
                           const struct view_alternative *alt, struct str name)
{
    for (uint32_t i = alt->nderived; i-- > 0;) /* the last of a name counts */
        if (str_eq(alt->derived[i].name, name))
            return derived_id(inv, alt->derived[i].expression);
    return NONE;
}

static void add_uses(struct alloc_plan *p, struct plan_alt *alt,
                     const struct plan_claim *claim, const struct view_request *r)
{
    struct plan_use *uses = ARENA_ARRAY(&p->mem, struct plan_use, claim->nconstraints);
    for (uint32_t i = 0; i < claim->nconstraints; i++) {
        struct str name = p->constraints[claim->constraint + i].name;
        if (!applies(&claim->v->constraints[i].requests, r, alt->v))
            continue;
        uses[alt->nuses++] =
            (struct plan_use){claim->constraint + i, attribute_id(p->inv, name),
                              derived_of(p->inv, alt->v, name)};
    }
    alt->uses = uses;
    if (alt->nuses > p->uses)
        p->uses = alt->nuses;
}

static void add_constraints(struct alloc_plan *p, struct plan_claim *c)
{
    c->constraint = p->nconstraints;
    c->nconstraints = c->v->nconstraints;
    for (uint32_t i = 0; i < c->nconstraints; i++) {
        const struct view_constraint *v = &c->v->constraints[i];
        p->constraints[p->nconstraints++] =
            (struct plan_constraint){.name = v->match.n ? v->match : v->distinct,
                                     .claim = (uint32_t)(c - p->claims),
                                     .index = i,
                                     .match = v->match.n > 0};
        if (v->match.n == 0 && v->distinct.n == 0 && c->error.n == 0)
            c->error = CLAIM_ERROR(
                p, c->v,
                "constraint #%u: empty constraint (unsupported constraint type?)", i);
    }
}

/* ---- Alternatives: rule 22, in its order ---- */

static struct str check_selectors(struct alloc_plan *p, const struct view_claim *c,
                                  struct str name, const struct view_alternative *v)
{
    for (uint32_t i = 0; i < v->nselectors; i++)
        if (!v->selectors[i].has_cel)
            return CLAIM_ERROR(p, c,
                               "request %.*s, selector #%u: CEL expression empty "
                               "(unsupported selector type?)",
                               STR_ARG(name), i);
    return STR_NONE;
}

static struct str check_mode(struct alloc_plan *p, const struct view_claim *c,
                             struct str name, struct plan_alt *alt)
{
    const struct view_alternative *v = alt->v;
    if (str_is(v->mode, "All"))
        alt->all = true;
    else if (!str_is(v->mode, "ExactCount"))
        return CLAIM_ERROR(p, c, "request %.*s: unsupported count mode %.*s",
                           STR_ARG(name), STR_ARG(v->mode));
    return STR_NONE;
}

static struct str check_alt(struct alloc_plan *p, const struct view_claim *c,
                            struct str name, struct plan_alt *alt)
{
    const struct view_alternative *v = alt->v;
    const struct alloc_features *f = &p->inv->features;
    if (v->nderived && !f->derived_attributes)
        return CLAIM_ERROR(p, c,
                           "request %.*s: cannot handle request with derived "
                           "attributes, the feature is disabled",
                           STR_ARG(name));
    struct str bad = check_selectors(p, c, name, v);
    if (bad.n)
        return bad;
    if (v->has_admin && !f->admin_access)
        return CLAIM_ERROR(
            p, c, "request %.*s: admin access is requested, but the feature is disabled",
            STR_ARG(name));
    if (v->class_name.n == 0)
        return CLAIM_ERROR(
            p, c, "request %.*s: missing device class name (unsupported request type?)",
            STR_ARG(name));
    alt->class = class_find(p->inv, v->class_name);
    if (!alt->class)
        return CLAIM_ERROR(p, c,
                           "request %.*s: could not retrieve device class %.*s: "
                           "deviceclass.resource.k8s.io \"%.*s\" not found",
                           STR_ARG(name), STR_ARG(v->class_name), STR_ARG(v->class_name));
    return check_mode(p, c, name, alt);
}

static struct str check_class_selectors(struct alloc_plan *p, const struct plan_alt *alt)
{
    for (uint32_t i = 0; i < alt->class->nselectors; i++)
        if (!alt->class->selectors[i].has_cel)
            return arena_printf(&p->mem, "class %.*s: selector #%u: CEL expression empty",
                                STR_ARG(alt->class->meta.name), i);
    return STR_NONE;
}

static void add_alt(struct alloc_plan *p, struct plan_claim *c, struct plan_request *r,
                    const struct view_alternative *v)
{
    struct plan_alt *alt = &p->alts[p->nalts++];
    struct str name = r->v->first_available ? v->name : r->v->name;
    *alt = (struct plan_alt){.v = v, .request = (uint32_t)(r - p->requests)};
    alt->error = check_alt(p, c->v, name, alt);
    if (alt->error.n == 0)
        alt->error = check_class_selectors(p, alt);
    if (alt->error.n)
        return;
    alt->count = v->count < 0            ? 0
                 : v->count > UINT32_MAX ? UINT32_MAX
                                         : (uint32_t)v->count;
    alt->admin = v->admin && !r->v->first_available;
    alt->profile = profile_get(p->inv, alt->class, v);
    p->any_admin |= alt->admin;
    add_uses(p, alt, c, r->v);
}

/* ---- Requests and claims that are alike ---- */

static bool same_constraint(const struct alloc_plan *p, uint32_t a, uint32_t b)
{
    const struct plan_constraint *x = &p->constraints[a], *y = &p->constraints[b];
    return x->index == y->index && x->match == y->match && str_eq(x->name, y->name);
}

static bool same_alt(const struct alloc_plan *p, const struct plan_alt *a,
                     const struct plan_alt *b)
{
    if (a->profile != b->profile || a->count != b->count || a->all != b->all ||
        a->admin != b->admin || a->nuses != b->nuses || a->error.n || b->error.n)
        return false;
    for (uint32_t i = 0; i < a->nuses; i++)
        if (a->uses[i].attribute != b->uses[i].attribute ||
            a->uses[i].derived != b->uses[i].derived ||
            !same_constraint(p, a->uses[i].constraint, b->uses[i].constraint))
            return false;
    return true;
}

static bool same_request(const struct alloc_plan *p, const struct plan_request *a,
                         const struct plan_request *b)
{
    if (a->nalts != b->nalts || a->v->first_available != b->v->first_available)
        return false;
    for (uint32_t i = 0; i < a->nalts; i++)
        if (!same_alt(p, &p->alts[a->alt + i], &p->alts[b->alt + i]))
            return false;
    return true;
}

static bool same_claim(const struct alloc_plan *p, const struct plan_claim *a,
                       const struct plan_claim *b)
{
    if (a->nrequests != b->nrequests || a->nconstraints != b->nconstraints)
        return false;
    for (uint32_t i = 0; i < a->nrequests; i++)
        if (!same_request(p, &p->requests[a->request + i], &p->requests[b->request + i]))
            return false;
    return true;
}

/* One way only, and devices that are looked for one by one. */
static bool is_plain(const struct alloc_plan *p, const struct plan_request *r)
{
    return r->nalts == 1 && !r->v->first_available && !p->alts[r->alt].all &&
           p->alts[r->alt].count > 0 && p->alts[r->alt].error.n == 0;
}

static void find_like_request(struct alloc_plan *p, struct plan_request *r)
{
    const struct plan_claim *c = &p->claims[r->claim];
    for (uint32_t i = (uint32_t)(r - p->requests); i-- > c->request;)
        if (same_request(p, r, &p->requests[i])) {
            r->like = i;
            return;
        }
}

static void find_like_claim(struct alloc_plan *p, struct plan_request *first)
{
    for (uint32_t i = first->claim; i-- > 0;)
        if (same_claim(p, &p->claims[first->claim], &p->claims[i])) {
            first->like = p->claims[i].request;
            first->like_claim = true;
            return;
        }
}

static void find_likes(struct alloc_plan *p)
{
    for (uint32_t i = 0; i < p->nrequests; i++) {
        struct plan_request *r = &p->requests[i];
        r->like = NONE;
        if (!is_plain(p, r))
            continue;
        if (i == p->claims[r->claim].request)
            find_like_claim(p, r);
        else
            find_like_request(p, r);
    }
}

/* ---- Requests and claims ---- */

static struct str check_request(struct alloc_plan *p, const struct view_claim *c,
                                const struct view_request *r)
{
    const struct alloc_features *f = &p->inv->features;
    if (r->first_available && !f->prioritized_list)
        return CLAIM_ERROR(p, c,
                           "request %.*s: has subrequests, but the DRAPrioritizedList "
                           "feature is disabled",
                           STR_ARG(r->name));
    for (uint32_t i = 0; i < r->nalternatives && !f->consumable_capacity; i++)
        if (r->alternatives[i].has_capacity)
            return CLAIM_ERROR(
                p, c,
                "%s %.*s: has capacity requests, but the "
                "DRAConsumableCapacity feature is disabled",
                r->first_available ? "subrequest" : "request",
                STR_ARG(r->first_available ? r->alternatives[i].name : r->name));
    if (r->nalternatives == 0)
        return CLAIM_ERROR(
            p, c, "request %.*s: missing device class name (unsupported request type?)",
            STR_ARG(r->name));
    return STR_NONE;
}

static void add_request(struct alloc_plan *p, struct plan_claim *c,
                        const struct view_request *v)
{
    struct plan_request *r = &p->requests[p->nrequests++];
    *r = (struct plan_request){
        .v = v, .claim = (uint32_t)(c - p->claims), .alt = p->nalts};
    r->error = check_request(p, c->v, v);
    for (uint32_t i = 0; i < v->nalternatives; i++)
        add_alt(p, c, r, &v->alternatives[i]);
    r->nalts = v->nalternatives;
}

static void add_claim(struct alloc_plan *p, const struct view_claim *v)
{
    struct plan_claim *c = &p->claims[p->nclaims++];
    *c = (struct plan_claim){.v = v, .request = p->nrequests, .nrequests = v->nrequests};
    add_constraints(p, c);
    for (uint32_t i = 0; i < v->nrequests; i++)
        add_request(p, c, &v->requests[i]);
}

static void reserve(struct alloc_plan *p, uint32_t nclaims)
{
    uint32_t requests = 0, alts = 0, constraints = 0;
    for (uint32_t i = 0; i < nclaims; i++) {
        const struct view_claim *c = p->views[i];
        requests += c->nrequests;
        constraints += c->nconstraints;
        for (uint32_t j = 0; j < c->nrequests; j++)
            alts += c->requests[j].nalternatives;
    }
    p->claims = ARENA_ARRAY(&p->mem, struct plan_claim, nclaims);
    p->requests = ARENA_ARRAY(&p->mem, struct plan_request, requests);
    p->alts = ARENA_ARRAY(&p->mem, struct plan_alt, alts);
    p->constraints = ARENA_ARRAY(&p->mem, struct plan_constraint, constraints);
}

static void fill(struct alloc_plan *p, uint32_t nclaims)
{
    reserve(p, nclaims);
    for (uint32_t i = 0; i < nclaims; i++)
        add_claim(p, p->views[i]);
    find_likes(p);
    p->classes_version = p->inv->classes_version;
    p->profiles_epoch = p->inv->profiles_epoch;
}

void plan_refresh(struct alloc_plan *p)
{
    uint32_t nclaims = p->nclaims;
    profiles_trim(p->inv);
    arena_reset(&p->mem);
    *p = (struct alloc_plan){.inv = p->inv, .mem = p->mem, .views = p->views};
    fill(p, nclaims);
}

struct alloc_plan *alloc_plan_new(struct alloc_inventory *inv,
                                  const struct view_claim *const *claims,
                                  uint32_t nclaims)
{
    struct alloc_plan *p = mem_zalloc(sizeof *p);
    const struct view_claim **views = mem_array(nclaims, sizeof *views);
    memcpy(views, claims, nclaims * sizeof *views);
    p->inv = inv;
    arena_init(&p->mem);
    p->views = views;
    p->nclaims = nclaims;
    plan_refresh(p);
    return p;
}

void alloc_plan_free(struct alloc_plan *p)
{
    if (!p)
        return;
    free((void *)p->views);
    arena_fini(&p->mem);
    free(p);
}

struct str plan_request_name(const struct alloc_plan *p, uint32_t alt, struct arena *a)
{
    const struct view_request *r = p->requests[p->alts[alt].request].v;
    if (!r->first_available)
        return r->name;
    return arena_printf(a, "%.*s/%.*s", STR_ARG(r->name), STR_ARG(p->alts[alt].v->name));
}
