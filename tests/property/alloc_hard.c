/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Families of inputs on which a search without foresight explodes (spec performance 2.3):
 * the answer, and a ceiling of steps, which is what upstream needs or a fixed number
 * where it does not end. Error traps: a device whose selector fails, at every position,
 * must be reached exactly when the naive search reaches it.
 */
#include "unit/unit.h"

#include <stdlib.h>

#include "alloc_case.h"
#include "base/rng.h"
#include "property/naive_alloc.h"

#define A "a.example.com"

/* A case in the making: its slices and claims as JSON. */
struct draft {
    struct strbuf devices, sets, claims;
    uint32_t ndevices, nclaims;
};

/* ---- Pieces ---- */

static void separate(struct strbuf *b)
{
    if (b->n)
        strbuf_addc(b, ',');
}

static void add_device(struct draft *d, const char *attributes, const char *consumes)
{
    separate(&d->devices);
    strbuf_addf(&d->devices,
                "{\"name\":\"d%03u\",\"attributes\":{%s},\"consumesCounters\":[%s]}",
                d->ndevices++, attributes, consumes);
}

static void add_plain(struct draft *d, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        add_device(d, "", "");
}

/* n devices for each of the values 0 .. values - 1 of v. */
static void add_valued(struct draft *d, uint32_t values, uint32_t n)
{
    char text[64];
    for (uint32_t i = 0; i < values * n; i++) {
        snprintf(text, sizeof text, "\"v\":{\"int\":%u}", i / n);
        add_device(d, text, "");
    }
}

static void add_set(struct draft *d, const char *counters)
{
    separate(&d->sets);
    strbuf_addf(&d->sets, "{\"name\":\"cs\",\"counters\":{%s}}", counters);
}

static void exactly(struct strbuf *b, uint32_t count, const char *selector)
{
    strbuf_addf(
        b, "\"deviceClassName\":\"any\",\"allocationMode\":\"ExactCount\",\"count\":%u",
        count);
    if (selector)
        strbuf_addf(b, ",\"selectors\":[{\"cel\":{\"expression\":\"%s\"}}]", selector);
}

static void add_request(struct strbuf *b, const char *name, uint32_t count,
                        const char *selector)
{
    separate(b);
    strbuf_addf(b, "{\"name\":\"%s\",\"exactly\":{", name);
    exactly(b, count, selector);
    strbuf_adds(b, "}}");
}

static void add_alternatives(struct strbuf *b, uint32_t number, uint32_t n)
{
    separate(b);
    strbuf_addf(b, "{\"name\":\"r%u\",\"firstAvailable\":[", number);
    for (uint32_t i = 0; i < n; i++) {
        strbuf_addf(b, "%s{\"name\":\"s%u\",", i ? "," : "", i);
        exactly(b, 1, NULL);
        strbuf_addc(b, '}');
    }
    strbuf_adds(b, "]}");
}

static void add_claim(struct draft *d, struct strbuf *requests, const char *constraint)
{
    separate(&d->claims);
    strbuf_addf(
        &d->claims,
        "{\"metadata\":{\"name\":\"c%u\"},\"spec\":{\"devices\":{\"requests\":[%s],"
        "\"constraints\":[%s]}}}",
        d->nclaims++, strbuf_cstr(requests), constraint);
    strbuf_release(requests);
}

static void add_simple_claim(struct draft *d, uint32_t count, const char *constraint)
{
    struct strbuf requests = STRBUF_INIT;
    add_request(&requests, "r", count, NULL);
    add_claim(d, &requests, constraint);
}

/* ---- Families ---- */

static void h1(struct draft *d, const uint32_t *p)
{
    add_plain(d, p[0]);
    add_simple_claim(d, p[0] + 1, "");
}

#define IS_X "device.attributes['" A "'].type == 'X'"

static void h2(struct draft *d, const uint32_t *p)
{
    struct strbuf requests = STRBUF_INIT;
    for (uint32_t i = 0; i < p[0]; i++)
        add_device(d, i ? "\"type\":{\"string\":\"Y\"}" : "\"type\":{\"string\":\"X\"}",
                   "");
    add_request(&requests, "a", p[1], NULL);
    add_request(&requests, "b", 1, IS_X);
    add_claim(d, &requests, "");
}

static void h3(struct draft *d, const uint32_t *p)
{
    add_plain(d, p[0] - 1);
    for (uint32_t i = 0; i < p[0]; i++)
        add_simple_claim(d, 1, "");
}

#define TAKES(n) "{\"counterSet\":\"cs\",\"counters\":{\"mem\":{\"value\":\"" #n "\"}}}"

static void h4(struct draft *d, const uint32_t *p)
{
    char set[64];
    for (uint32_t i = 0; i < p[0]; i++)
        add_device(d, "", i ? TAKES(10) : TAKES(20));
    snprintf(set, sizeof set, "\"mem\":{\"value\":\"%u\"}", 10 * (p[0] - 1));
    add_set(d, set);
    add_simple_claim(d, p[0] - 1, "");
}

static void h5(struct draft *d, const uint32_t *p)
{
    add_valued(d, p[0], p[1]);
    add_simple_claim(d, p[1] + 1, "{\"matchAttribute\":\"" A "/v\"}");
}

static void h6(struct draft *d, const uint32_t *p)
{
    add_valued(d, p[0], p[1]);
    add_simple_claim(d, p[0] + 1, "{\"distinctAttribute\":\"" A "/v\"}");
}

static void h7(struct draft *d, const uint32_t *p)
{
    struct strbuf requests = STRBUF_INIT;
    add_plain(d, 8);
    for (uint32_t i = 0; i < p[0]; i++)
        add_alternatives(&requests, i, p[1]);
    add_request(&requests, "z", 1, "false");
    add_claim(d, &requests, "");
}

static void add_rooted(struct draft *d, const char *kind, uint32_t root)
{
    char text[80];
    snprintf(text, sizeof text, "\"kind\":{\"string\":\"%s\"},\"root\":{\"int\":%u}",
             kind, root);
    add_device(d, text, "");
}

static void h8(struct draft *d, const uint32_t *p)
{
    for (uint32_t r = 0; r < p[1]; r++)
        add_rooted(d, "gpu", r);
    for (uint32_t r = p[1] - p[0] + 1; r < p[1]; r++)
        add_rooted(d, "nic", r);
    for (uint32_t i = 0; i < p[0]; i++) {
        struct strbuf requests = STRBUF_INIT;
        add_request(&requests, "gpu", 1, "device.attributes['" A "'].kind == 'gpu'");
        add_request(&requests, "nic", 1, "device.attributes['" A "'].kind == 'nic'");
        add_claim(d, &requests, "{\"matchAttribute\":\"" A "/root\"}");
    }
}

/* n devices, count k, counters, slack in percent, seed. */
static void h9(struct draft *d, const uint32_t *p)
{
    struct rng rng;
    struct strbuf b = STRBUF_INIT;
    rng_init(&rng, p[4]);
    for (uint32_t i = 0; i < p[0]; i++) {
        strbuf_clear(&b);
        strbuf_adds(&b, "{\"counterSet\":\"cs\",\"counters\":{");
        for (uint32_t j = 0; j < p[2]; j++)
            strbuf_addf(&b, "%s\"c%u\":{\"value\":\"%d\"}", j ? "," : "", j,
                        (int)rng_range(&rng, 20, 60));
        strbuf_adds(&b, "}}");
        add_device(d, "", strbuf_cstr(&b));
    }
    strbuf_clear(&b);
    for (uint32_t j = 0; j < p[2]; j++)
        strbuf_addf(&b, "%s\"c%u\":{\"value\":\"%u\"}", j ? "," : "", j,
                    40 * p[1] * (100 - p[3]) / 100);
    add_set(d, strbuf_cstr(&b));
    add_simple_claim(d, p[1], "");
    strbuf_release(&b);
}

static const struct family {
    const char *name;
    void (*draft)(struct draft *d, const uint32_t *p);
    uint32_t p[5];
    enum alloc_status status;
    uint64_t steps;     /* never more */
    const char *answer; /* of all claims */
} FAMILIES[] = {
    {"H1(8)", h1, {8}, ALLOC_NONE, 0, ""},
    {"H1(31)", h1, {31}, ALLOC_NONE, 0, ""},
    {"H2(8,4)", h2, {8, 4}, ALLOC_OK, 108, "d001 d002 d003 d004 d000"},
    {"H2(32,8)",
     h2,
     {32, 8},
     ALLOC_OK,
     100,
     "d001 d002 d003 d004 d005 d006 d007 d008 d000"},
    {"H3(9)", h3, {9}, ALLOC_NONE, 0, ""},
    {"H3(32)", h3, {32}, ALLOC_NONE, 0, ""},
    {"H4(8)", h4, {8}, ALLOC_OK, 130, "d001 d002 d003 d004 d005 d006 d007"},
    {"H4(32)", h4, {32}, ALLOC_OK, 200, NULL},
    {"H5(4,4)", h5, {4, 4}, ALLOC_NONE, 61, ""},
    {"H5(8,16)", h5, {8, 16}, ALLOC_NONE, 0, ""},
    {"H5(4,31)", h5, {4, 31}, ALLOC_NONE, 0, ""},
    {"H6(4,4)", h6, {4, 4}, ALLOC_NONE, 0, ""},
    {"H6(31,4)", h6, {31, 4}, ALLOC_NONE, 0, ""},
    {"H7(3,4)", h7, {3, 4}, ALLOC_NONE, 0, ""},
    {"H7(31,8)", h7, {31, 8}, ALLOC_NONE, 0, ""},
    {"H8(3,4)", h8, {3, 4}, ALLOC_NONE, 41, ""},
    {"H8(16,16)", h8, {16, 16}, ALLOC_NONE, 0, ""},
    {"H9(16,5,4,.12) 0", h9, {16, 5, 4, 12, 0}, ALLOC_OK, 335, NULL},
    {"H9(20,7,4,.12) 0", h9, {20, 7, 4, 12, 0}, ALLOC_OK, 939, NULL},
    {"H9(24,8,4,.12) 1", h9, {24, 8, 4, 12, 1}, ALLOC_OK, 12027, NULL},
    {"H9(32,10,4,.14) 0", h9, {32, 10, 4, 14, 0}, ALLOC_OK, 2000, NULL},
    {"H9(32,10,4,.14) 2", h9, {32, 10, 4, 14, 2}, ALLOC_NONE, 2000, ""},
    {"H9(32,12,8,.10) 1", h9, {32, 12, 8, 10, 1}, ALLOC_NONE, 2000, ""},
    {"H9(48,12,4,.18) 3", h9, {48, 12, 4, 18, 3}, ALLOC_OK, 2000, NULL},
};

/* ---- Running ---- */

static struct str finish(struct draft *d)
{
    struct strbuf b = STRBUF_INIT;
    uint32_t parts = d->sets.n ? 2 : 1;
    const char *head =
        "{\"metadata\":{\"name\":\"%s\"},\"spec\":{\"driver\":\"" A
        "\",\"nodeName\":\"n1\",\"pool\":{\"name\":\"n1\",\"generation\":1,"
        "\"resourceSliceCount\":%u},";
    strbuf_adds(&b, "{\"nodes\":[{\"metadata\":{\"name\":\"n1\"}}],\"classes\":[{"
                    "\"metadata\":{\"name\":\"any\"},\"spec\":{}}],\"slices\":[");
    strbuf_addf(&b, head, "s", parts);
    strbuf_addf(&b, "\"devices\":[%s]}}", strbuf_cstr(&d->devices));
    if (parts == 2) {
        strbuf_addc(&b, ',');
        strbuf_addf(&b, head, "t", parts);
        strbuf_addf(&b, "\"sharedCounters\":[%s]}}", strbuf_cstr(&d->sets));
    }
    strbuf_addf(&b, "],\"claims\":[%s]}", strbuf_cstr(&d->claims));
    strbuf_release(&d->devices);
    strbuf_release(&d->sets);
    strbuf_release(&d->claims);
    struct str s = {b.p, b.n};
    return s;
}

struct asked {
    struct alloc_case c;
    struct arena a;
    char *text;
};

static void ask_init(struct asked *q, struct draft *d)
{
    struct err e = ERR_INIT;
    struct str text = finish(d);
    struct doc_source src = {.name = "family", .text = text};
    struct doc *root;
    arena_init(&q->a);
    q->text = (char *)text.p;
    root = ARENA_NEW(&q->a, struct doc);
    if (!doc_read_json(&src, &q->a, root, &e) || !alloc_case_read(&q->c, root, &q->a, &e))
        fail_msg("%s", err_text(&e));
}

static void ask_fini(struct asked *q)
{
    alloc_case_fini(&q->c);
    arena_fini(&q->a);
    free(q->text);
}

static struct str devices_of(const struct alloc_outcome *o, struct arena *a)
{
    struct strbuf b = STRBUF_INIT;
    for (uint32_t i = 0; i < o->nresults; i++)
        for (uint32_t j = 0; j < o->results[i].npicks; j++)
            strbuf_addf(&b, "%s%.*s", b.n ? " " : "",
                        STR_ARG(o->results[i].picks[j].device->name));
    struct str s = arena_str(a, strbuf_str(&b));
    strbuf_release(&b);
    return s;
}

static void run(const struct family *f, bool prove_first)
{
    struct draft d = {.devices = STRBUF_INIT};
    struct asked q;
    struct alloc_outcome out;
    struct alloc_options options = {.prove_first = prove_first, .max_steps = 100000};
    f->draft(&d, f->p);
    ask_init(&q, &d);
    alloc_solve(q.c.inv, q.c.nodes[0], q.c.claims, q.c.nclaims, &options, &q.a, &out);
    if (out.status != f->status || out.steps > f->steps)
        fail_msg("%s: %s after %llu steps (at most %llu)", f->name,
                 alloc_case_outcome(out.status), (unsigned long long)out.steps,
                 (unsigned long long)f->steps);
    if (f->answer)
        assert_str(devices_of(&out, &q.a), f->answer);
    ask_fini(&q);
}

static void test_families(void **state)
{
    for (size_t i = 0; i < UNIT_COUNT(FAMILIES); i++) {
        run(&FAMILIES[i], false);
        run(&FAMILIES[i], true);
    }
}

/* ---- Traps: H2 with a device without the attribute ---- */

static enum device_verdict is_x(struct str expression, const struct view_device *d)
{
    for (uint32_t i = 0; i < d->facts.shape->nattrs; i++)
        if (str_is(device_attr_name(&d->facts, i), "type"))
            return str_is(device_attr(&d->facts, i)->s, "X") ? DEVICE_YES : DEVICE_NO;
    return DEVICE_ERROR;
}

enum { TRAP_DEVICES = 8 };

static void draft_trap(struct draft *d, uint32_t x, uint32_t trap, uint32_t k)
{
    struct strbuf requests = STRBUF_INIT;
    for (uint32_t i = 0; i < TRAP_DEVICES; i++)
        add_device(d,
                   i == trap ? ""
                   : i == x  ? "\"type\":{\"string\":\"X\"}"
                             : "\"type\":{\"string\":\"Y\"}",
                   "");
    add_request(&requests, "a", k, NULL);
    add_request(&requests, "b", 1, IS_X);
    add_claim(d, &requests, "");
}

static const struct view_slice *first_slice(const struct asked *q);

static bool same_picks(const struct naive_output *want, const struct alloc_outcome *got)
{
    for (uint32_t i = 0; i < want->npicks; i++)
        if (got->nresults != 1 || i >= got->results[0].npicks ||
            got->results[0].picks[i].device != want->picks[i].device)
            return false;
    return true;
}

static void check_trap(uint32_t x, uint32_t trap, uint32_t k, bool prove_first)
{
    static struct naive_output want;
    struct draft d = {.devices = STRBUF_INIT};
    struct asked q;
    struct alloc_outcome out;
    struct alloc_options options = {.prove_first = prove_first};
    static const struct view_class any = {.meta.name = {"any", 3}};
    const struct view_class *classes[] = {&any};
    draft_trap(&d, x, trap, k);
    ask_init(&q, &d);
    const struct view_slice *slices[] = {first_slice(&q)};
    struct naive_input in = {.features = &alloc_features_all,
                             .node = q.c.nodes[0],
                             .slices = slices,
                             .nslices = 1,
                             .classes = classes,
                             .nclasses = 1,
                             .claims = q.c.claims,
                             .nclaims = q.c.nclaims,
                             .match = is_x,
                             .max_steps = 1000000};
    naive_alloc(&in, &want);
    alloc_solve(q.c.inv, q.c.nodes[0], q.c.claims, q.c.nclaims, &options, &q.a, &out);
    if (out.status != want.status || out.steps > want.steps ||
        (out.status == ALLOC_OK && !same_picks(&want, &out)))
        fail_msg("X at %u, trap at %u, count %u: %d, naive %d", x, trap, k, out.status,
                 want.status);
    ask_fini(&q);
}

/* The slice as the inventory has it: by a question that takes its first device. */
static const struct view_slice *first_slice(const struct asked *q)
{
    static const struct view_alternative one = {
        .class_name = {"any", 3}, .mode = {"ExactCount", 10}, .count = 1};
    static const struct view_request r = {
        .name = {"r", 1}, .alternatives = &one, .nalternatives = 1};
    static const struct view_claim c = {.requests = &r, .nrequests = 1};
    const struct view_claim *claims[] = {&c};
    struct alloc_outcome out;
    struct arena a;
    arena_init(&a);
    alloc_solve(q->c.inv, q->c.nodes[0], claims, 1, NULL, &a, &out);
    const struct view_slice *s = out.results[0].picks[0].slice;
    arena_fini(&a);
    return s;
}

static void test_traps(void **state)
{
    for (uint32_t x = 0; x < TRAP_DEVICES; x += 3)
        for (uint32_t trap = 0; trap <= TRAP_DEVICES; trap++)
            for (uint32_t k = 1; k < TRAP_DEVICES; k += 2) {
                check_trap(x, trap, k, false);
                check_trap(x, trap, k, true);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_families),
        cmocka_unit_test(test_traps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
