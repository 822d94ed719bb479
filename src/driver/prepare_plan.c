/* SPDX-License-Identifier: Apache-2.0 */
/* From an allocated claim to the uses of devices that this driver has to prepare. */
#include "driver/prepare_inner.h"

#include "api/claim_refs.h"
#include "base/names.h"

#define POD_CLAIM "resource.kubernetes.io/pod-claim-name"

enum { UID_MAX = 100 };

static bool is_alnum(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool prepare_uid_valid(struct str uid)
{
    if (uid.n == 0 || uid.n > UID_MAX || !is_alnum(uid.p[0]) ||
        !is_alnum(uid.p[uid.n - 1]))
        return false;
    for (size_t i = 0; i < uid.n; i++) {
        if (!is_alnum(uid.p[i]) && uid.p[i] != '-' && uid.p[i] != '.')
            return false;
    }
    return true;
}

/* ---- configuration (spec 5.9 rule 2) ---- */

/* No requests: all of them; else the result's own, or the one that it is a part of. */
static bool applies(const struct doc *config, struct str request)
{
    const struct doc *list = doc_get(config, "requests");
    if (!list || list->type != DOC_LIST || list->n == 0)
        return true;
    for (uint32_t i = 0; i < list->n; i++) {
        struct str s =
            list->items[i].type == DOC_STRING ? doc_str(&list->items[i]) : STR_NONE;
        if (str_eq(s, request) || str_eq(s, claim_ref_request_base(request)))
            return true;
    }
    return false;
}

static bool is_of_class(const struct doc *config)
{
    return doc_is_string(doc_get(config, "source"), "FromClass");
}

/* The parameters for this driver, of the class or of the claim. */
static void add_configs(const struct doc *all, struct str driver, bool of_class,
                        struct prepare_use *u)
{
    for (uint32_t i = 0; i < all->n; i++) {
        const struct doc *config = &all->items[i], *opaque = doc_get(config, "opaque");
        const struct doc *parameters = doc_get(opaque, "parameters");
        if (parameters && is_of_class(config) == of_class &&
            str_eq(doc_get_text(opaque, "driver"), driver) && applies(config, u->request))
            u->configs[u->nconfigs++] = parameters;
    }
}

static void plan_configs(const struct doc *allocation, struct str driver, struct arena *a,
                         struct prepare_use *u)
{
    const struct doc *all = doc_path(allocation, "devices.config");
    if (!all || all->type != DOC_LIST || all->n == 0)
        return;
    u->configs = ARENA_ARRAY(a, const struct doc *, all->n);
    add_configs(all, driver, true, u);
    add_configs(all, driver, false, u);
}

/* ---- results ---- */

static void plan_consumed(const struct doc *map, struct arena *a, struct prepare_use *u)
{
    if (!map || map->type != DOC_MAP)
        return;
    u->consumed = ARENA_ARRAY(a, struct driver_counter, map->n);
    for (uint32_t i = 0; i < map->n; i++) {
        const struct doc *v = &map->members[i].value;
        if (v->type == DOC_STRING || v->type == DOC_NUMBER)
            u->consumed[u->nconsumed++] =
                (struct driver_counter){doc_key(&map->members[i]), doc_str(v)};
    }
}

static bool plan_use(const struct driver_prepare_opts *o, const struct doc *allocation,
                     const struct doc *result, struct arena *a, struct prepare_use *u,
                     struct err *e)
{
    u->request = doc_get_text(result, "request");
    u->pool = doc_get_text(result, "pool");
    u->device = doc_get_text(result, "device");
    u->share_id = doc_get_text(result, "shareID");
    doc_get_bool(result, "adminAccess", &u->admin);
    plan_configs(allocation, o->driver, a, u);
    plan_consumed(doc_get(result, "consumedCapacity"), a, u);
    struct str pool = o->pool.n > 0 ? o->pool : o->node;
    if (!name_valid(NAME_DNS1123_LABEL, u->device))
        return err_set(e, ERR_INVALID, "\"%.*s\" is no device's name",
                       STR_ARG(u->device));
    return str_eq(u->pool, pool) ||
           err_set(e, ERR_INVALID,
                   "device %.*s is of pool \"%.*s\", this driver has pool \"%.*s\"",
                   STR_ARG(u->device), STR_ARG(u->pool), STR_ARG(pool));
}

static bool plan_uses(const struct driver_prepare_opts *o, const struct doc *allocation,
                      struct arena *a, struct prepare_entry *x, struct err *e)
{
    const struct doc *results = doc_path(allocation, "devices.results");
    uint32_t n = results && results->type == DOC_LIST ? results->n : 0;
    x->uses = ARENA_ARRAY(a, struct prepare_use, n);
    for (uint32_t i = 0; i < n; i++) {
        const struct doc *result = &results->items[i];
        if (!str_eq(doc_get_text(result, "driver"), o->driver))
            continue;
        if (!plan_use(o, allocation, result, a, &x->uses[x->n++], e))
            return false;
    }
    return true;
}

static void plan_names(const struct doc *claim, struct prepare_entry *x)
{
    const struct doc *meta = doc_get(claim, "metadata");
    const struct doc *pod_claim = doc_get(doc_get(meta, "annotations"), POD_CLAIM);
    x->uid = doc_get_text(meta, "uid");
    x->namespace = doc_get_text(meta, "namespace");
    x->name = doc_get_text(meta, "name");
    x->has_pod_claim = pod_claim && pod_claim->type == DOC_STRING;
    x->pod_claim = x->has_pod_claim ? doc_str(pod_claim) : STR_NONE;
}

bool prepare_plan(const struct driver_prepare_opts *o, const struct doc *claim,
                  struct arena *a, struct prepare_entry *out, struct err *e)
{
    struct prepare_entry x = {.hold = DRIVER_PREPARING};
    plan_names(claim, &x);
    const struct doc *allocation = doc_path(claim, "status.allocation");
    if (!prepare_uid_valid(x.uid))
        return err_set(e, ERR_INVALID, "claim %.*s/%.*s has no UID that can name a file",
                       STR_ARG(x.namespace), STR_ARG(x.name));
    if (!allocation || allocation->type != DOC_MAP)
        return err_set(e, ERR_INVALID, "claim %.*s/%.*s not allocated",
                       STR_ARG(x.namespace), STR_ARG(x.name));
    if (!plan_uses(o, allocation, a, &x, e))
        return false;
    *out = x;
    return true;
}

/* ---- the same question again ---- */

static bool same_configs(const struct prepare_use *u, const struct prepare_use *v)
{
    if (u->nconfigs != v->nconfigs)
        return false;
    for (uint32_t i = 0; i < u->nconfigs; i++) {
        if (!doc_equal(u->configs[i], v->configs[i]))
            return false;
    }
    return true;
}

static bool consumes(const struct prepare_use *u, const struct driver_counter *c)
{
    for (uint32_t i = 0; i < u->nconsumed; i++) {
        if (str_eq(u->consumed[i].name, c->name))
            return str_eq(u->consumed[i].quantity, c->quantity);
    }
    return false;
}

/* They were members of maps: each name once, in any order. */
static bool same_consumed(const struct prepare_use *u, const struct prepare_use *v)
{
    bool same = u->nconsumed == v->nconsumed;
    for (uint32_t i = 0; same && i < u->nconsumed; i++)
        same = consumes(v, &u->consumed[i]);
    return same;
}

static bool same_use(const struct prepare_use *u, const struct prepare_use *v)
{
    return str_eq(u->request, v->request) && str_eq(u->pool, v->pool) &&
           str_eq(u->device, v->device) && str_eq(u->share_id, v->share_id) &&
           u->admin == v->admin && same_configs(u, v) && same_consumed(u, v);
}

bool prepare_same(const struct prepare_entry *x, const struct prepare_entry *y)
{
    bool same = x->n == y->n;
    for (uint32_t i = 0; same && i < x->n; i++)
        same = same_use(&x->uses[i], &y->uses[i]);
    return same;
}
