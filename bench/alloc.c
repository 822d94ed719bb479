/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The allocator on the families of families.py, beside upstream's (incubating, the one
 * that runs by default). Warm: the inventory stands and was asked before, as in a
 * scheduler that follows changes; upstream makes a new allocator for each pod, which is
 * counted. Cold: the inventory is new, no selector was evaluated; building it is not
 * counted. Hard rows are held against what upstream needs for H1(16): most of them it
 * never answers.
 */
#include <stdio.h>
#include <stdlib.h>

#include "alloc_case.h"
#include "base/clock.h"
#include "bench.h"

struct scene {
    const struct doc *doc;  /* the case */
    struct alloc_case warm; /* of warm rows */
};

/* ---- reading a case ---- */

/* The line that families.py writes for one word. */
static bool generate(const char *word, struct strbuf *line)
{
    struct strbuf command = STRBUF_INIT;
    strbuf_addf(&command, "python3 bench/families.py %s", word);
    FILE *f = popen(strbuf_cstr(&command), "r");
    strbuf_release(&command);
    if (!f)
        return false;
    for (;;) {
        strbuf_reserve(line, 65536);
        size_t n = fread(line->p + line->n, 1, 65536, f);
        line->n += n;
        line->p[line->n] = '\0';
        if (n == 0)
            break;
    }
    while (line->n && line->p[line->n - 1] == '\n')
        line->p[--line->n] = '\0';
    return pclose(f) == 0 && line->n > 0;
}

/* ---- asking ---- */

static uint64_t ask(struct alloc_case *c, struct arena *a)
{
    const struct alloc_options options = {0};
    uint64_t sum = 0;
    for (uint32_t i = 0; i < c->nnodes; i++) {
        struct alloc_outcome out;
        alloc_solve(c->inv, c->nodes[i], c->claims, c->nclaims, &options, a, &out);
        sum += out.steps + (uint64_t)out.status;
    }
    return sum;
}

static void setup(struct bench *b, const struct bench_row *row)
{
    struct strbuf line = STRBUF_INIT;
    struct scene *s = ARENA_NEW(b->arena, struct scene);
    struct doc d;
    b->data = s;
    if (!generate(row->arg, &line)) {
        b->skip = "python3 is needed to make the input";
        strbuf_release(&line);
        return;
    }
    struct doc_source src = {.name = row->id,
                             .text = arena_str(b->arena, strbuf_str(&line))};
    strbuf_release(&line);
    b->question = src.text;
    if (!doc_read_json(&src, b->arena, &d, NULL)) {
        b->skip = "the input cannot be read";
        return;
    }
    struct doc *kept = ARENA_NEW(b->arena, struct doc);
    *kept = d;
    s->doc = kept;
    if (!alloc_case_read(&s->warm, kept, b->arena, NULL)) {
        b->skip = "the input is no case";
        return;
    }
    struct arena a;
    arena_init(&a);
    b->sink += ask(&s->warm, &a);
    arena_fini(&a);
}

/* The peer answers H1(16) instead of the row's own question. */
static void setup_hard(struct bench *b, const struct bench_row *row)
{
    struct strbuf line = STRBUF_INIT;
    setup(b, row);
    if (!b->skip && generate("H1,16", &line))
        b->question = arena_str(b->arena, strbuf_str(&line));
    strbuf_release(&line);
}

static void run_warm(struct bench *b, uint64_t n)
{
    struct scene *s = b->data;
    struct arena a;
    arena_init(&a);
    for (uint64_t i = 0; i < n; i++) {
        b->sink += ask(&s->warm, &a);
        arena_reset(&a);
    }
    arena_fini(&a);
}

static double measure_cold(struct bench *b)
{
    enum { ROUNDS = 5 };
    struct scene *s = b->data;
    struct arena a;
    uint64_t best = UINT64_MAX;
    arena_init(&a);
    for (int i = 0; i < ROUNDS; i++) {
        struct alloc_case c;
        if (!alloc_case_read(&c, s->doc, &a, NULL))
            abort();
        uint64_t start = clock_mono_ns();
        b->sink += ask(&c, &a);
        uint64_t took = clock_mono_ns() - start;
        best = took < best ? took : best;
        alloc_case_fini(&c);
        arena_reset(&a);
    }
    arena_fini(&a);
    return (double)best;
}

static void teardown(struct bench *b)
{
    struct scene *s = b->data;
    if (s && s->warm.inv)
        alloc_case_fini(&s->warm);
}

/* ---- the peer's figure: a new allocator, then a call for each node ---- */

static bool read_peer(const struct doc *answer, double *figure, bool *at_least)
{
    const struct doc *nodes = doc_get(answer, "upstream");
    uint32_t n = nodes && nodes->type == DOC_LIST ? nodes->n : 0;
    double total = 0, ns;
    const struct doc *made = doc_get(answer, "newNs");
    if (made && doc_double(made, &ns))
        total += ns;
    for (uint32_t i = 0; i < n; i++) {
        const struct doc *d = doc_get(&nodes->items[i], "ns");
        *at_least =
            *at_least || doc_is_string(doc_get(&nodes->items[i], "outcome"), "timeout");
        if (!d || !doc_double(d, &ns))
            return false;
        total += ns;
    }
    *figure = total;
    return n > 0;
}

/* A best of five, not a median: another process on the machine can only slow it down. */
#define WARM(word, text)                                                                 \
    {                                                                                    \
        .id = "alloc." word, .what = text, .goal = 50, .setup = setup, .run = run_warm,  \
        .teardown = teardown, .peer = "allocator", .peer_read = read_peer, .arg = word   \
    }
#define COLD(word, text)                                                                 \
    {                                                                                    \
        .id = "alloc." word, .what = text, .cold = true, .goal = 50, .setup = setup,     \
        .measure = measure_cold, .teardown = teardown, .peer = "allocator",              \
        .peer_read = read_peer, .arg = word                                              \
    }
#define HARD(word, text)                                                                 \
    {                                                                                    \
        .id = "hard." word, .what = text, .cold = true, .goal = 50, .setup = setup_hard, \
        .measure = measure_cold, .teardown = teardown, .peer = "allocator",              \
        .peer_read = read_peer, .arg = word                                              \
    }

const struct bench_row bench_alloc[] = {
    WARM("E1,0", "1 of 10 devices"),
    WARM("E1,9", "1 of 10 devices, 9 in use"),
    WARM("E2", "1 of 10 by version and quantity"),
    WARM("E3", "only the tenth of ten matches"),
    COLD("E4,8,8", "8 devices, 8 selectors, the last false"),
    COLD("E4,8,32", "8 devices, 32 selectors, the last false"),
    COLD("E4,128,1", "128 devices, 1 selector, false"),
    COLD("E4,128,8", "128 devices, 8 selectors, the last false"),
    COLD("E4,128,32", "128 devices, 32 selectors, the last false"),
    WARM("L1,500", "one node of 500"),
    WARM("L1,5000", "one node of 5,000"),
    WARM("L2,1280", "1,280 devices, the last is free"),
    WARM("L2,12800", "12,800 devices, the last is free"),
    COLD("L3,1280", "1,280 devices, none matches"),
    COLD("L3,12800", "12,800 devices, none matches"),
    WARM("U1", "32 requests matched on one attribute"),
    WARM("M1", "one 1g of 8 partitioned GPUs"),
    WARM("M2", "four 2g and two 3g"),
    HARD("H1,16", "17 wanted of 16"),
    HARD("H1,31", "32 wanted of 31"),
    HARD("H2,16,8", "8 any, then one that comes first"),
    HARD("H2,32,16", "16 any, then one that comes first"),
    HARD("H3,9", "9 claims, 8 devices"),
    HARD("H3,16", "16 claims, 15 devices"),
    HARD("H3,32", "32 claims, 31 devices"),
    HARD("H4,16", "15 of 16 under one counter"),
    HARD("H4,32", "31 of 32 under one counter"),
    HARD("H5,8,8", "9 alike of 8 groups of 8"),
    HARD("H5,8,16", "17 alike of 8 groups of 16"),
    HARD("H6,8,4", "9 distinct of 8 values"),
    HARD("H6,16,2", "17 distinct of 16 values"),
    HARD("H6,31,4", "32 distinct of 31 values"),
    HARD("H7,3,4", "3 requests of 4 alternatives, then none"),
    HARD("H7,6,8", "6 requests of 8 alternatives, then none"),
    HARD("H8,6,8", "6 claims of GPU and NIC on 8 roots"),
    HARD("H8,12,16", "12 claims of GPU and NIC on 16 roots"),
    {0},
};
