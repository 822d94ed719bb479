/* SPDX-License-Identifier: Apache-2.0 */
/* Mode allocator of dray-eval: a case of golden/allocator, asked node by node. */
#include "alloc_case.h"
#include "peers/eval.h"

struct timing {
    const struct alloc_case *c;
    const struct view_node *node;
    struct arena arena;
};

static void time_solve(void *ctx)
{
    struct timing *t = ctx;
    struct alloc_outcome out;
    arena_reset(&t->arena);
    alloc_solve(t->c->inv, t->node, t->c->claims, t->c->nclaims, NULL, &t->arena, &out);
}

static struct doc solve(struct eval *ev, const struct alloc_case *c,
                        const struct view_node *node)
{
    struct doc answer = doc_make_map();
    struct alloc_outcome out;
    alloc_solve(c->inv, node, c->claims, c->nclaims, NULL, ev->arena, &out);
    eval_set_str(ev, &answer, "node", node->meta.name);
    eval_set_str(ev, &answer, "outcome", str_from(alloc_case_outcome(out.status)));
    eval_set(ev, &answer, "results",
             out.status == ALLOC_OK ? alloc_case_results(&out, ev->arena)
                                    : doc_make_null());
    if (out.error.n)
        eval_set_str(ev, &answer, "error", out.error);
    eval_set_bool(ev, &answer, "failedOnNode", out.status == ALLOC_NODE_ERROR);
    eval_set_int(ev, &answer, "steps", (int64_t)out.steps);
    if (ev->repeat) {
        struct timing t = {.c = c, .node = node};
        arena_init(&t.arena);
        int64_t ns = (int64_t)(eval_median(ev->repeat, time_solve, &t) + 0.5);
        eval_set_int(ev, &answer, "ns", ns);
        arena_fini(&t.arena);
    }
    return answer;
}

static void answer_allocator(struct eval *ev, const struct doc *q, struct doc *out)
{
    struct alloc_case c;
    struct err e = ERR_INIT;
    struct doc answers = doc_make_list();
    bool ok = alloc_case_read(&c, q, ev->arena, &e);
    eval_set_bool(ev, out, "supported", ok);
    if (!ok) {
        eval_set_str(ev, out, "error", str_from(err_text(&e)));
        err_release(&e);
        return;
    }
    for (uint32_t i = 0; i < c.nnodes; i++)
        doc_append(ev->arena, &answers, solve(ev, &c, c.nodes[i]));
    eval_set(ev, out, "upstream", answers);
    alloc_case_fini(&c);
}

const struct eval_mode eval_allocator = {.name = "allocator", .answer = answer_allocator};
