/* SPDX-License-Identifier: Apache-2.0 */
/* golden/allocator: what upstream's experimental allocator answers, and the right answer
 * where it is known to be wrong (field "right"). */
#include "golden/golden.h"

#include "alloc/alloc.h"

struct world {
    struct golden_case *c;
    struct device_names names;
    struct alloc_inventory *inv;
    const struct view_claim **claims;
    uint32_t nclaims;
    uint32_t names_made;
};

/* ---- Reading ---- */

static const struct doc *items(const struct doc *d, const char *key, uint32_t *n)
{
    const struct doc *list = doc_get(d, key);
    *n = list && list->type == DOC_LIST ? list->n : 0;
    return list ? list->items : NULL;
}

static struct alloc_features read_features(struct golden_case *c, bool absent)
{
    const struct doc *d = doc_get(c->doc, "features");
    struct alloc_features f = {0};
    if (!d && absent)
        return alloc_features_all;
    for (uint32_t i = 0; d && i < d->n; i++)
        if (!alloc_features_set(&f, doc_key(&d->members[i]), d->members[i].value.b))
            golden_fail(c, "unknown feature");
    return f;
}

static bool made(struct golden_case *c, const void *view, struct err *e)
{
    if (!view)
        golden_fail(c, "cannot read an object: %s", err_text(e));
    err_release(e);
    return view != NULL;
}

/* Upstream's table has slices of one name in several pools; the inventory keeps one
 * object a name, so later ones get a name that sorts right behind. */
static void rename_slice(struct world *w, struct view_slice *s)
{
    char *name = arena_alloc(w->c->arena, s->meta.name.n + 8);
    memcpy(name, s->meta.name.p, s->meta.name.n);
    memset(name + s->meta.name.n, 1, 8);
    uint32_t extra = w->names_made++ % 7 + 1;
    s->meta.name = (struct str){name, s->meta.name.n + extra};
}

static bool is_repeated(const struct doc *slices, uint32_t i)
{
    struct str name = doc_get_text(doc_get(&slices[i], "metadata"), "name");
    for (uint32_t j = 0; j < i; j++)
        if (str_eq(name, doc_get_text(doc_get(&slices[j], "metadata"), "name")))
            return true;
    return false;
}

static bool put_slices(struct world *w)
{
    uint32_t n;
    const struct doc *v = items(w->c->doc, "slices", &n);
    struct err e = ERR_INIT;
    for (uint32_t i = 0; i < n; i++) {
        struct view_slice *s = view_slice_new(&v[i], &w->names, w->c->arena, &e);
        if (!made(w->c, s, &e))
            return false;
        if (is_repeated(v, i))
            rename_slice(w, s);
        alloc_inventory_put_slice(w->inv, s);
    }
    return true;
}

static bool put_classes(struct world *w)
{
    uint32_t n;
    const struct doc *v = items(w->c->doc, "classes", &n);
    struct err e = ERR_INIT;
    for (uint32_t i = 0; i < n; i++) {
        struct view_class *c = view_class_new(&v[i], w->c->arena, &e);
        if (!made(w->c, c, &e))
            return false;
        alloc_inventory_put_class(w->inv, c);
    }
    return true;
}

static bool read_claims(struct world *w)
{
    const struct doc *v = items(w->c->doc, "claims", &w->nclaims);
    struct err e = ERR_INIT;
    w->claims = ARENA_ARRAY(w->c->arena, const struct view_claim *, w->nclaims);
    for (uint32_t i = 0; i < w->nclaims; i++) {
        w->claims[i] = view_claim_new(&v[i], w->c->arena, &e);
        if (!made(w->c, w->claims[i], &e))
            return false;
    }
    return true;
}

static bool charge_claims(struct world *w)
{
    uint32_t n;
    const struct doc *v = items(w->c->doc, "allocatedClaims", &n);
    struct err e = ERR_INIT;
    for (uint32_t i = 0; i < n; i++) {
        struct view_claim *c = view_claim_new(&v[i], w->c->arena, &e);
        if (!made(w->c, c, &e))
            return false;
        alloc_charge(w->inv, c);
    }
    return true;
}

static bool mark_consumed(struct world *w, const struct doc *d)
{
    const struct view_amount *amounts;
    uint32_t n;
    struct err e = ERR_INIT;
    bool ok =
        view_amounts(doc_get(d, "consumedCapacity"), NULL, w->c->arena, &amounts, &n, &e);
    if (ok)
        alloc_mark_consumed(w->inv, doc_get_text(d, "driver"), doc_get_text(d, "pool"),
                            doc_get_text(d, "device"), amounts, n);
    return made(w->c, ok ? w : NULL, &e);
}

static bool mark_state(struct world *w)
{
    uint32_t n;
    const struct doc *v = items(w->c->doc, "allocatedDevices", &n);
    for (uint32_t i = 0; i < n; i++)
        alloc_mark_device(w->inv, doc_get_text(&v[i], "driver"),
                          doc_get_text(&v[i], "pool"), doc_get_text(&v[i], "device"));
    v = items(w->c->doc, "allocatedSharedDeviceIDs", &n);
    for (uint32_t i = 0; i < n; i++)
        alloc_mark_share(w->inv, doc_get_text(&v[i], "driver"),
                         doc_get_text(&v[i], "pool"), doc_get_text(&v[i], "device"),
                         doc_get_text(&v[i], "shareID"));
    v = items(w->c->doc, "aggregatedCapacity", &n);
    for (uint32_t i = 0; i < n; i++)
        if (!mark_consumed(w, &v[i]))
            return false;
    return true;
}

/* ---- Comparing ---- */

static const char *const STATUS[] = {
    [ALLOC_OK] = "allocated", [ALLOC_NONE] = "none",     [ALLOC_NODE_ERROR] = "nodeError",
    [ALLOC_ERROR] = "error",  [ALLOC_BUDGET] = "budget",
};

static struct str share_name(void *ctx, uint32_t share, struct arena *a)
{
    return arena_printf(a, "share-%u", share);
}

/* Quantities compare by value, whatever their suffix. */
static void plain_amounts(struct doc *consumed, struct arena *a)
{
    for (uint32_t i = 0; consumed->type == DOC_MAP && i < consumed->n; i++) {
        struct doc *v = &consumed->members[i].value;
        struct quantity q;
        if (quantity_parse(doc_str(v), a, &q, NULL))
            *v = doc_make_string(a, quantity_exact(&q, a));
    }
}

static void plain_results(struct doc *allocation, struct arena *a)
{
    struct doc *devices = (struct doc *)doc_get(allocation, "devices");
    struct doc *results = (struct doc *)doc_get(devices, "results");
    for (uint32_t i = 0; results && i < results->n; i++) {
        struct doc *c = (struct doc *)doc_get(&results->items[i], "consumedCapacity");
        if (c)
            plain_amounts(c, a);
    }
}

static struct doc plain(const struct doc *results, struct arena *a)
{
    struct doc d = results ? doc_dup(a, results) : doc_make_list();
    for (uint32_t i = 0; d.type == DOC_LIST && i < d.n; i++)
        plain_results(&d.items[i], a);
    return d;
}

static struct doc results_doc(const struct alloc_outcome *out, struct arena *a)
{
    struct doc list = doc_make_list();
    for (uint32_t i = 0; i < out->nresults; i++)
        doc_append(a, &list, alloc_result_doc(&out->results[i], share_name, NULL, a));
    return list;
}

static struct doc devices_doc(const struct alloc_outcome *out, struct arena *a)
{
    struct doc list = doc_make_list();
    for (uint32_t i = 0; i < out->nresults; i++) {
        struct doc claim = doc_make_list();
        for (uint32_t j = 0; j < out->results[i].npicks; j++)
            doc_append(a, &claim,
                       doc_make_string(a, out->results[i].picks[j].device->name));
        doc_append(a, &list, claim);
    }
    return list;
}

static void check_results(struct golden_case *c, const struct doc *want,
                          const struct alloc_outcome *out)
{
    struct doc got = results_doc(out, c->arena);
    struct doc a = plain(want, c->arena), b = plain(&got, c->arena);
    golden_check_doc(c, "results", &a, &b);
}

static void check_steps(struct golden_case *c, const struct doc *upstream,
                        const struct alloc_outcome *out)
{
    int64_t steps;
    if (doc_get_int64(upstream, "steps", &steps) && out->steps > (uint64_t)steps)
        golden_fail(c, "%llu steps where upstream needs %lld",
                    (unsigned long long)out->steps, (long long)steps);
}

static void check_outcome(struct golden_case *c, struct str want,
                          const struct alloc_outcome *out)
{
    if (!golden_check_str(c, "outcome", want, str_from(STATUS[out->status])) &&
        out->error.n)
        golden_fail(c, "error: %.*s", STR_ARG(out->error));
}

/* ---- Upstream's table ---- */

static struct str table_outcome(const struct doc *flavour)
{
    const struct doc *error = doc_get(flavour, "error"), *r = doc_get(flavour, "results");
    bool node = false;
    doc_get_bool(flavour, "failedOnNode", &node);
    if (error && error->type != DOC_NULL)
        return node ? STR("nodeError") : STR("error");
    return r && r->type == DOC_LIST ? STR("allocated") : STR("none");
}

static void ask(struct world *w, const struct doc *node, struct alloc_outcome *out)
{
    struct err e = ERR_INIT;
    struct view_node *v = view_node_new(node, w->c->arena, &e);
    *out = (struct alloc_outcome){0};
    if (made(w->c, v, &e))
        alloc_solve(w->inv, v, w->claims, w->nclaims, NULL, w->c->arena, out);
}

static void run_table(struct world *w)
{
    struct golden_case *c = w->c;
    const struct doc *flavours = doc_get(c->doc, "flavours");
    const struct doc *want = doc_get(flavours, "experimental");
    struct alloc_outcome out;
    ask(w, doc_get(c->doc, "node"), &out);
    check_outcome(c, table_outcome(want), &out);
    if (str_is(table_outcome(want), "allocated") && out.status == ALLOC_OK)
        check_results(c, doc_get(want, "results"), &out);
    check_steps(c, want, &out);
}

/* ---- Our own cases ---- */

static void check_right(struct golden_case *c, const struct doc *right,
                        const struct alloc_outcome *out)
{
    const struct doc *devices = doc_get(right, "devices");
    check_outcome(c, doc_get_text(right, "outcome"), out);
    if (!devices || out->status != ALLOC_OK)
        return;
    struct doc got = devices_doc(out, c->arena);
    golden_check_doc(c, "devices", devices, &got);
}

static void check_upstream(struct golden_case *c, const struct doc *want,
                           const struct alloc_outcome *out)
{
    check_outcome(c, doc_get_text(want, "outcome"), out);
    if (doc_is_string(doc_get(want, "outcome"), "allocated") && out->status == ALLOC_OK)
        check_results(c, doc_get(want, "results"), out);
    check_steps(c, want, out);
}

static void run_nodes(struct world *w)
{
    uint32_t n, nup, nright;
    const struct doc *nodes = items(w->c->doc, "nodes", &n);
    const struct doc *upstream = items(w->c->doc, "upstream", &nup);
    const struct doc *right = items(w->c->doc, "right", &nright);
    for (uint32_t i = 0; i < n && i < nup; i++) {
        struct alloc_outcome out;
        ask(w, &nodes[i], &out);
        if (i < nright)
            check_right(w->c, &right[i], &out);
        else
            check_upstream(w->c, &upstream[i], &out);
    }
}

static void run_case(struct golden *g, struct golden_case *c)
{
    bool own = doc_get(c->doc, "nodes") != NULL;
    struct world w = {.c = c};
    struct alloc_features f = read_features(c, own);
    device_names_init(&w.names);
    w.inv = alloc_inventory_new(&f, &w.names);
    if (put_slices(&w) && put_classes(&w) && read_claims(&w) && charge_claims(&w) &&
        mark_state(&w)) {
        if (own)
            run_nodes(&w);
        else
            run_table(&w);
    }
    alloc_inventory_free(w.inv);
    device_names_fini(&w.names);
}

const struct golden_runner golden_allocator = {.folder = "allocator",
                                               .run_case = run_case};
