/* SPDX-License-Identifier: Apache-2.0 */
/* A case written as JSON with single quotes, and questions to it. */
#ifndef DRAY_TESTS_ALLOC_WORLD_H
#define DRAY_TESTS_ALLOC_WORLD_H

#include "unit/unit.h"

#include "alloc_case.h"

struct world {
    struct alloc_case c;
    struct arena a;
    struct alloc_outcome out;
};

#define NODE(n) "{'metadata':{'name':'" n "'}}"
#define SLICE(name, node, rest)                                                          \
    "{'metadata':{'name':'" name "'},'spec':{'driver':'a.example.com','nodeName':'" node \
    "','pool':{'name':'" node "','generation':1,'resourceSliceCount':1}," rest "}}"
#define ONE "'deviceClassName':'any','allocationMode':'ExactCount','count':1"
#define CLAIM(name, exactly)                                                             \
    "{'metadata':{'name':'" name "','namespace':'ns','uid':'" name                       \
    "'},'spec':{'devices':{'requests':[{'name':'r','exactly':{" exactly "}}]}}}"
#define CLASSES "'classes':[{'metadata':{'name':'any'},'spec':{}}]"

static inline struct doc world_read(struct world *w, const char *text)
{
    struct err e = ERR_INIT;
    struct str s = arena_str(&w->a, str_from(text));
    struct doc d;
    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] == '\'')
            ((char *)s.p)[i] = '"';
    struct doc_source src = {.name = "test", .text = s};
    if (!doc_read_json(&src, &w->a, &d, &e))
        fail_msg("%s", err_text(&e));
    return d;
}

static inline void world_init(struct world *w, const char *text)
{
    struct err e = ERR_INIT;
    arena_init(&w->a);
    struct doc *d = ARENA_NEW(&w->a, struct doc);
    *d = world_read(w, text);
    if (!alloc_case_read(&w->c, d, &w->a, &e))
        fail_msg("%s", err_text(&e));
}

static inline void world_fini(struct world *w)
{
    alloc_case_fini(&w->c);
    arena_fini(&w->a);
}

static inline struct view_claim *world_claim(struct world *w, const char *text)
{
    struct doc d = world_read(w, text);
    return view_claim_new(&d, &w->a, NULL);
}

static inline struct view_slice *world_slice(struct world *w, const char *text)
{
    struct doc d = world_read(w, text);
    return view_slice_new(&d, &w->c.names, &w->a, NULL);
}

/* Asks for one claim on one node; the device it gets, or the outcome's name. */
static inline struct str world_ask(struct world *w, uint32_t node,
                                   const struct view_claim *claim)
{
    struct alloc_options o = {.explain = true};
    alloc_solve(w->c.inv, w->c.nodes[node], &claim, 1, &o, &w->a, &w->out);
    if (w->out.status != ALLOC_OK)
        return str_from(alloc_case_outcome(w->out.status));
    return w->out.results[0].npicks ? w->out.results[0].picks[0].device->name : STR("-");
}

#endif
