/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A case of golden/allocator as text. Whatever it holds, the allocator ends, gives the
 * same answer with all proofs and when asked again, and its answer can be charged and
 * released.
 */
#include "../alloc_case.h"
#include "fuzz/fuzz.h"

enum { MAX_STEPS = 20000 };

static bool same_picks(const struct alloc_result *a, const struct alloc_result *b)
{
    if (a->npicks != b->npicks)
        return false;
    for (uint32_t i = 0; i < a->npicks; i++)
        if (a->picks[i].device != b->picks[i].device ||
            !str_eq(a->picks[i].request, b->picks[i].request))
            return false;
    return true;
}

static bool same_answer(const struct alloc_outcome *a, const struct alloc_outcome *b)
{
    if (a->status == ALLOC_BUDGET || b->status == ALLOC_BUDGET)
        return true; /* one may get further than the other */
    if (a->status != b->status || a->nresults != b->nresults)
        return false;
    for (uint32_t i = 0; i < a->nresults; i++)
        if (!same_picks(&a->results[i], &b->results[i]))
            return false;
    return true;
}

static void ask(struct alloc_case *c, uint32_t node, bool prove_first, struct arena *a,
                struct alloc_outcome *out)
{
    struct alloc_options o = {
        .max_steps = MAX_STEPS, .explain = true, .prove_first = prove_first};
    alloc_solve(c->inv, c->nodes[node], c->claims, c->nclaims, &o, a, out);
    FUZZ_CHECK(out->status == ALLOC_OK || out->summary.n > 0);
}

static void check_node(struct alloc_case *c, uint32_t node, struct arena *a)
{
    struct alloc_outcome easy, hard, again;
    ask(c, node, false, a, &easy);
    ask(c, node, true, a, &hard);
    FUZZ_CHECK(same_answer(&easy, &hard));
    if (easy.status != ALLOC_OK)
        return;
    alloc_case_results(&easy, a);
    for (uint32_t i = 0; i < c->nclaims; i++)
        alloc_commit(c->inv, c->claims[i], &easy.results[i]);
    ask(c, node, false, a, &again);
    for (uint32_t i = 0; i < c->nclaims; i++)
        alloc_release(c->inv, c->claims[i]->meta.uid);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena a;
    struct err e = ERR_INIT;
    struct doc d;
    struct alloc_case c;
    struct doc_source src = {.name = "-", .text = {(const char *)data, size}};
    arena_init(&a);
    if (doc_read_json(&src, &a, &d, &e) && alloc_case_read(&c, &d, &a, &e)) {
        for (uint32_t i = 0; i < c.nnodes && i < 4; i++)
            check_node(&c, i, &a);
        alloc_case_fini(&c);
    }
    err_release(&e);
    arena_fini(&a);
    return 0;
}
