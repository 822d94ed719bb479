/* SPDX-License-Identifier: Apache-2.0 */
/* What one node sees of a pool, and whether it may use it (spec 3.2, 3.3). */
#include "alloc/inner.h"

#include <stdlib.h>

/* As upstream parses selectors: one bad term spoils all. */
static enum view_match selector_matches(const struct view_node_selector *s,
                                        const struct view_node *node, struct err *e)
{
    bool bad = false, match = false;
    for (uint32_t i = 0; i < s->nterms && !bad; i++)
        match |= view_term_match(&s->terms[i], node, &bad, e);
    return bad ? VIEW_MATCH_BAD : match ? VIEW_MATCH_YES : VIEW_MATCH_NO;
}

static enum view_match place_matches(struct str node_name, bool all_nodes,
                                     const struct view_node_selector *selector,
                                     const struct view_node *node, struct err *e)
{
    if (node_name.n)
        return str_eq(node_name, node->meta.name) ? VIEW_MATCH_YES : VIEW_MATCH_NO;
    if (all_nodes)
        return VIEW_MATCH_YES;
    return selector ? selector_matches(selector, node, e) : VIEW_MATCH_NO;
}

static enum view_match device_matches(const struct view_device *d,
                                      const struct view_node *node, struct err *e)
{
    return place_matches(d->node_name, d->all_nodes, d->node_selector, node, e);
}

/* Rule 6. */
static enum view_match slice_relevant(const struct view_slice *s,
                                      const struct view_node *node, struct err *e)
{
    if (s->node_name.n || s->all_nodes || s->node_selector)
        return place_matches(s->node_name, s->all_nodes, s->node_selector, node, e);
    if (!s->per_device)
        return VIEW_MATCH_NO;
    for (uint32_t i = 0; i < s->ndevices; i++) {
        enum view_match m = device_matches(&s->devices[i], node, e);
        if (m != VIEW_MATCH_NO)
            return m;
    }
    return VIEW_MATCH_NO;
}

/* ---- The bits of a view ---- */

struct draft {
    uint64_t *parts, *rel, *alive, *bad;
    uint32_t nrelevant;
    bool has_bad;
};

static void draft_device(struct draft *t, const struct pool *p, uint32_t i,
                         const struct view_node *node)
{
    bit_set(t->rel, i);
    if (!p->parts[p->devices[i].part].v->per_device) {
        bit_set(t->alive, i);
        return;
    }
    switch (device_matches(p->devices[i].v, node, NULL)) {
    case VIEW_MATCH_YES:
        bit_set(t->alive, i);
        break;
    case VIEW_MATCH_BAD:
        bit_set(t->bad, i);
        t->has_bad = true;
        break;
    case VIEW_MATCH_NO:
        break;
    }
}

static bool draft_part(struct draft *t, const struct pool *p, uint32_t i,
                       const struct view_node *node, struct err *e)
{
    const struct part *part = &p->parts[i];
    enum view_match m = part->ignored ? VIEW_MATCH_NO : slice_relevant(part->v, node, e);
    if (m != VIEW_MATCH_YES)
        return m == VIEW_MATCH_NO;
    bit_set(t->parts, i);
    t->nrelevant++;
    for (uint32_t j = 0; j < part->n; j++)
        draft_device(t, p, part->first + j, node);
    return true;
}

static void draft_init(struct draft *t, const struct pool *p, struct arena *a)
{
    *t = (struct draft){.parts = ARENA_ARRAY(a, uint64_t, BITSET_WORDS(p->nparts) + 1)};
    t->rel = ARENA_ARRAY(a, uint64_t, p->words + 1);
    t->alive = ARENA_ARRAY(a, uint64_t, p->words + 1);
    t->bad = ARENA_ARRAY(a, uint64_t, p->words + 1);
}

static bool same_words(const uint64_t *a, const uint64_t *b, size_t words)
{
    return memcmp(a, b, words * sizeof *a) == 0;
}

static struct pool_view *find_view(const struct pool *p, const struct draft *t)
{
    for (struct pool_view *v = p->views; v; v = v->next)
        if (same_words(v->parts, t->parts, BITSET_WORDS(p->nparts)) &&
            same_words(v->alive, t->alive, p->words) &&
            same_words(v->bad, t->bad, p->words))
            return v;
    return NULL;
}

/* ---- Whether it may be used ---- */

uint32_t pool_counted(const struct pool *p)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < p->nparts; i++)
        n += !p->parts[i].uncounted;
    return n;
}

/* Rule 13. */
static bool has_duplicates(const struct pool *p, const uint64_t *rel, struct str *name)
{
    for (uint32_t i = 0; i < p->n; i++) {
        if (!bit_test(rel, i))
            continue;
        for (uint32_t j = p->same_name[i]; j != NONE; j = p->same_name[j])
            if (bit_test(rel, j)) {
                *name = p->devices[i].v->name;
                return true;
            }
    }
    return false;
}

static bool has_binding_conditions(const struct pool *p, const uint64_t *rel)
{
    for (uint32_t i = 0; i < p->n; i++)
        if (p->devices[i].v->has_binding_conditions && bit_test(rel, i))
            return true;
    return false;
}

static uint64_t *all_parts(struct pool *p)
{
    uint64_t *parts = ARENA_ARRAY(&p->mem, uint64_t, BITSET_WORDS(p->nparts) + 1);
    for (uint32_t i = 0; i < p->nparts; i++)
        if (!p->parts[i].uncounted)
            bit_set(parts, i);
    return parts;
}

static void set_invalid(struct pool_view *v, struct str why)
{
    v->state = POOL_INVALID;
    v->invalid = why;
}

/* Rules 9 to 14. Contradicting counts make the pool invalid whatever was seen first
 * (U3). */
static void judge(struct alloc_inventory *inv, struct pool_view *v, uint32_t nrelevant)
{
    struct pool *p = v->pool;
    int64_t want = p->parts[0].v->slice_count;
    bool seen = nrelevant == want;
    struct str name;
    if (p->contradicts) {
        set_invalid(v, STR("its slices disagree on resourceSliceCount"));
    } else if (!seen && pool_counted(p) != want) {
        v->state = POOL_INCOMPLETE;
    } else if (has_duplicates(p, v->rel, &name)) {
        set_invalid(v,
                    arena_printf(&p->mem, "duplicate device name %.*s", STR_ARG(name)));
    } else {
        v->counters = pool_counters(inv, p, seen ? v->parts : all_parts(p));
        if (v->counters && v->counters->invalid.n)
            set_invalid(v, v->counters->invalid);
    }
    v->last = v->state == POOL_USABLE && has_binding_conditions(p, v->rel);
}

static uint64_t *keep_words(struct pool *p, const uint64_t *from, size_t words)
{
    uint64_t *w = ARENA_ARRAY(&p->mem, uint64_t, words + 1);
    memcpy(w, from, words * sizeof *w);
    return w;
}

static struct pool_view *add_view(struct alloc_inventory *inv, struct pool *p,
                                  const struct draft *t)
{
    struct pool_view *v = ARENA_NEW(&p->mem, struct pool_view);
    *v = (struct pool_view){.pool = p, .has_bad = t->has_bad};
    v->parts = keep_words(p, t->parts, BITSET_WORDS(p->nparts));
    v->rel = keep_words(p, t->rel, p->words);
    v->alive = keep_words(p, t->alive, p->words);
    v->bad = keep_words(p, t->bad, p->words);
    judge(inv, v, t->nrelevant);
    v->next = p->views;
    p->views = v;
    return v;
}

/* Most pools are of other nodes. */
static bool sees_none(const struct pool *p, const struct view_node *node)
{
    for (uint32_t i = 0; i < p->nparts; i++)
        if (!p->parts[i].ignored &&
            slice_relevant(p->parts[i].v, node, NULL) != VIEW_MATCH_NO)
            return false;
    return true;
}

struct pool_view *pool_view_for(struct alloc_inventory *inv, struct pool *p,
                                const struct view_node *node, struct err *e)
{
    if (sees_none(p, node))
        return NULL;
    struct arena a;
    arena_init(&a);
    struct draft t;
    draft_init(&t, p, &a);
    bool good = true;
    for (uint32_t i = 0; i < p->nparts && good; i++)
        good = draft_part(&t, p, i, node, e);
    struct pool_view *v = NULL;
    if (good && t.nrelevant) {
        v = find_view(p, &t);
        if (!v)
            v = add_view(inv, p, &t);
    }
    arena_fini(&a);
    return v;
}

bool pool_obsolete_on(const struct pool *p, const struct view_node *node)
{
    for (size_t i = 0; i < p->slices.n; i++) {
        const struct view_slice *s = p->slices.v[i].v;
        if (s->generation < p->generation &&
            slice_relevant(s, node, NULL) == VIEW_MATCH_YES)
            return true;
    }
    return false;
}
