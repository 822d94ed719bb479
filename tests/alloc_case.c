/* SPDX-License-Identifier: Apache-2.0 */
#include "alloc_case.h"

#include "base/map.h"

static const struct doc *items(const struct doc *d, const char *key, uint32_t *n)
{
    const struct doc *list = doc_get(d, key);
    *n = list && list->type == DOC_LIST ? list->n : 0;
    return *n ? list->items : NULL;
}

static bool read_features(const struct doc *d, struct alloc_features *f, struct err *e)
{
    *f = (struct alloc_features){0};
    if (!d) {
        *f = alloc_features_all;
        return true;
    }
    for (uint32_t i = 0; i < d->n; i++) {
        struct str name = doc_key(&d->members[i]);
        if (!alloc_features_set(f, name, d->members[i].value.b))
            return err_set(e, ERR_INVALID, "no feature %.*s", STR_ARG(name));
    }
    return true;
}

/* Upstream's table has slices of one name in several pools; the inventory keeps one
 * object a name. The n-th of a name gets n bytes behind it that sort before all others.
 */
static void tell_apart(struct view_slice *s, struct strmap *seen, struct arena *a)
{
    bool made;
    struct strmap_entry *entry = strmap_put(seen, s->meta.name, &made);
    if (made)
        return;
    size_t more = (size_t)++entry->value.u;
    char *name = arena_alloc(a, s->meta.name.n + more);
    if (s->meta.name.n)
        memcpy(name, s->meta.name.p, s->meta.name.n);
    memset(name + s->meta.name.n, 1, more);
    s->meta.name = (struct str){name, s->meta.name.n + more};
}

static bool put_slices(struct alloc_case *c, const struct doc *d, struct arena *a,
                       struct err *e)
{
    uint32_t n;
    const struct doc *v = items(d, "slices", &n);
    struct strmap seen = STRMAP_INIT;
    bool ok = true;
    for (uint32_t i = 0; i < n && ok; i++) {
        struct view_slice *s = view_slice_new(&v[i], &c->names, a, e);
        ok = s != NULL;
        if (ok) {
            tell_apart(s, &seen, a);
            alloc_inventory_put_slice(c->inv, s);
        }
    }
    strmap_release(&seen);
    return ok;
}

static bool put_classes(struct alloc_case *c, const struct doc *d, struct arena *a,
                        struct err *e)
{
    uint32_t n;
    const struct doc *v = items(d, "classes", &n);
    for (uint32_t i = 0; i < n; i++) {
        struct view_class *class = view_class_new(&v[i], a, e);
        if (!class)
            return false;
        alloc_inventory_put_class(c->inv, class);
    }
    return true;
}

static bool read_claims(struct alloc_case *c, const struct doc *d, struct arena *a,
                        struct err *e)
{
    const struct doc *v = items(d, "claims", &c->nclaims);
    c->claims = ARENA_ARRAY(a, const struct view_claim *, c->nclaims);
    for (uint32_t i = 0; i < c->nclaims; i++)
        if (!(c->claims[i] = view_claim_new(&v[i], a, e)))
            return false;
    return true;
}

static bool read_nodes(struct alloc_case *c, const struct doc *d, struct arena *a,
                       struct err *e)
{
    const struct doc *v = items(d, "nodes", &c->nnodes), *one = doc_get(d, "node");
    if (one) {
        v = one;
        c->nnodes = 1;
    }
    c->nodes = ARENA_ARRAY(a, const struct view_node *, c->nnodes);
    for (uint32_t i = 0; i < c->nnodes; i++)
        if (!(c->nodes[i] = view_node_new(&v[i], a, e)))
            return false;
    return true;
}

/* A line of the allocated state. */
struct held {
    struct str driver, pool, device, share;
    const struct doc *consumed;
};

static struct held held_device(const struct doc *d)
{
    return (struct held){doc_get_text(d, "driver"), doc_get_text(d, "pool"),
                         doc_get_text(d, "device"), doc_get_text(d, "shareID"),
                         doc_get(d, "consumedCapacity")};
}

static bool mark_consumed(struct alloc_case *c, const struct held *h, struct arena *a,
                          struct err *e)
{
    const struct view_amount *amounts;
    uint32_t n;
    if (!view_amounts(h->consumed, NULL, a, &amounts, &n, e))
        return false;
    alloc_mark_consumed(c->inv, h->driver, h->pool, h->device, amounts, n);
    return true;
}

static bool mark_state(struct alloc_case *c, const struct doc *d, struct arena *a,
                       struct err *e)
{
    uint32_t n;
    const struct doc *v = items(d, "allocatedDevices", &n);
    for (uint32_t i = 0; i < n; i++) {
        struct held h = held_device(&v[i]);
        alloc_mark_device(c->inv, h.driver, h.pool, h.device);
    }
    v = items(d, "allocatedSharedDeviceIDs", &n);
    for (uint32_t i = 0; i < n; i++) {
        struct held h = held_device(&v[i]);
        alloc_mark_share(c->inv, h.driver, h.pool, h.device, h.share);
    }
    v = items(d, "aggregatedCapacity", &n);
    for (uint32_t i = 0; i < n; i++) {
        struct held h = held_device(&v[i]);
        if (!mark_consumed(c, &h, a, e))
            return false;
    }
    return true;
}

static bool charge_claims(struct alloc_case *c, const struct doc *d, struct arena *a,
                          struct err *e)
{
    uint32_t n;
    const struct doc *v = items(d, "allocatedClaims", &n);
    for (uint32_t i = 0; i < n; i++) {
        struct view_claim *claim = view_claim_new(&v[i], a, e);
        if (!claim)
            return false;
        alloc_charge(c->inv, claim);
    }
    return true;
}

bool alloc_case_read(struct alloc_case *c, const struct doc *d, struct arena *a,
                     struct err *e)
{
    struct alloc_features f;
    *c = (struct alloc_case){0};
    if (!read_features(doc_get(d, "features"), &f, e))
        return false;
    device_names_init(&c->names);
    c->inv = alloc_inventory_new(&f, &c->names);
    if (put_slices(c, d, a, e) && put_classes(c, d, a, e) && read_claims(c, d, a, e) &&
        read_nodes(c, d, a, e) && mark_state(c, d, a, e) && charge_claims(c, d, a, e))
        return true;
    alloc_case_fini(c);
    return false;
}

void alloc_case_fini(struct alloc_case *c)
{
    alloc_inventory_free(c->inv);
    device_names_fini(&c->names);
}

const char *alloc_case_outcome(enum alloc_status s)
{
    static const char *const names[] = {
        [ALLOC_OK] = "allocated",         [ALLOC_NONE] = "none",
        [ALLOC_NODE_ERROR] = "nodeError", [ALLOC_ERROR] = "error",
        [ALLOC_BUDGET] = "budget",
    };
    return names[s];
}

static struct str share_name(void *ctx, uint32_t share, struct arena *a)
{
    return arena_printf(a, "share-%u", share);
}

struct doc alloc_case_results(const struct alloc_outcome *out, struct arena *a)
{
    struct doc list = doc_make_list();
    for (uint32_t i = 0; i < out->nresults; i++)
        doc_append(a, &list, alloc_result_doc(&out->results[i], share_name, NULL, a));
    return list;
}
