/* SPDX-License-Identifier: Apache-2.0 */
/* golden/allocator: what upstream's experimental allocator answers, and the right answer
 * where it is known to be wrong (field "right"). */
#include "golden/golden.h"

#include "alloc_case.h"

/* ---- Comparing ---- */

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
    struct doc got = alloc_case_results(out, c->arena);
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
    if (!golden_check_str(c, "outcome", want,
                          str_from(alloc_case_outcome(out->status))) &&
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

static void ask(struct golden_case *c, const struct alloc_case *q, uint32_t node,
                struct alloc_outcome *out)
{
    alloc_solve(q->inv, q->nodes[node], q->claims, q->nclaims, NULL, c->arena, out);
}

static void run_table(struct golden_case *c, const struct alloc_case *q)
{
    const struct doc *flavours = doc_get(c->doc, "flavours");
    const struct doc *want = doc_get(flavours, "experimental");
    struct alloc_outcome out;
    ask(c, q, 0, &out);
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

static const struct doc *item(const struct doc *list, uint32_t i)
{
    return list && i < list->n ? &list->items[i] : NULL;
}

static void run_nodes(struct golden_case *c, const struct alloc_case *q)
{
    const struct doc *upstream = doc_get(c->doc, "upstream");
    const struct doc *right = doc_get(c->doc, "right");
    for (uint32_t i = 0; i < q->nnodes; i++) {
        struct alloc_outcome out;
        ask(c, q, i, &out);
        if (item(right, i))
            check_right(c, item(right, i), &out);
        else
            check_upstream(c, item(upstream, i), &out);
    }
}

static void run_case(struct golden *g, struct golden_case *c)
{
    struct alloc_case q;
    struct err e = ERR_INIT;
    if (!alloc_case_read(&q, c->doc, c->arena, &e)) {
        golden_fail(c, "cannot read the case: %s", err_text(&e));
        err_release(&e);
        return;
    }
    if (doc_get(c->doc, "upstream"))
        run_nodes(c, &q);
    else
        run_table(c, &q);
    alloc_case_fini(&q);
}

const struct golden_runner golden_allocator = {.folder = "allocator",
                                               .run_case = run_case};
