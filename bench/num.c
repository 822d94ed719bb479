/* SPDX-License-Identifier: Apache-2.0 */
/* Quantities and versions beside upstream's, one operation a row. */
#include "bench.h"
#include "num/quantity.h"
#include "num/semver.h"

struct input {
    const char *a, *b; /* b NULL: an operation on a alone */
};

struct state {
    struct arena work; /* reset by the operations themselves */
    struct str text;
    struct quantity a, b;
    struct semver v, w;
};

static void ask(struct bench *b, const struct input *in)
{
    b->question =
        in->b ? arena_printf(b->arena, "{\"a\":\"%s\",\"b\":\"%s\"}", in->a, in->b)
              : arena_printf(b->arena, "{\"s\":\"%s\"}", in->a);
}

static struct state *new_state(struct bench *b, const struct input *in)
{
    struct state *s = ARENA_NEW(b->arena, struct state);
    arena_init(&s->work);
    s->text = str_from(in->a);
    b->data = s;
    ask(b, in);
    return s;
}

static void setup_quantities(struct bench *b, const struct bench_row *row)
{
    const struct input *in = row->arg;
    struct state *s = new_state(b, in);
    if (!quantity_parse(s->text, b->arena, &s->a, NULL) ||
        (in->b && !quantity_parse(str_from(in->b), b->arena, &s->b, NULL)))
        b->skip = "the input is no quantity";
    s->a.text = NULL; /* print what is computed, not what was read */
}

static void setup_versions(struct bench *b, const struct bench_row *row)
{
    const struct input *in = row->arg;
    struct state *s = new_state(b, in);
    if (!semver_parse(s->text, false, b->arena, &s->v, NULL) ||
        (in->b && !semver_parse(str_from(in->b), false, b->arena, &s->w, NULL)))
        b->skip = "the input is no version";
}

static void teardown(struct bench *b)
{
    struct state *s = b->data;
    arena_fini(&s->work);
}

static void run_parse(struct bench *b, uint64_t n)
{
    struct state *s = b->data;
    struct quantity q;
    for (uint64_t i = 0; i < n; i++) {
        arena_reset(&s->work);
        b->sink += quantity_parse(s->text, &s->work, &q, NULL);
    }
}

static void run_print(struct bench *b, uint64_t n)
{
    struct state *s = b->data;
    for (uint64_t i = 0; i < n; i++) {
        arena_reset(&s->work);
        b->sink += quantity_print(&s->a, &s->work).n;
    }
}

static void run_cmp(struct bench *b, uint64_t n)
{
    struct state *s = b->data;
    for (uint64_t i = 0; i < n; i++)
        b->sink += (uint64_t)quantity_cmp(&s->a, &s->b);
}

static void run_add(struct bench *b, uint64_t n)
{
    struct state *s = b->data;
    for (uint64_t i = 0; i < n; i++) {
        arena_reset(&s->work);
        b->sink += (uint64_t)quantity_add(&s->a, &s->b, &s->work).i;
    }
}

static void run_version_parse(struct bench *b, uint64_t n)
{
    struct state *s = b->data;
    struct semver v;
    for (uint64_t i = 0; i < n; i++)
        b->sink += semver_parse(s->text, false, &s->work, &v, NULL);
}

static void run_version_cmp(struct bench *b, uint64_t n)
{
    struct state *s = b->data;
    for (uint64_t i = 0; i < n; i++)
        b->sink += (uint64_t)semver_cmp(&s->v, &s->w);
}

static const struct input small = {"80Gi", NULL}, big = {"1.5Gi", NULL},
                          milli = {"2250m", NULL}, smalls = {"80Gi", "40960Mi"},
                          scales = {"1500m", "2"}, bigs = {"1.5Gi", "80Gi"},
                          huge = {"1Ei", "500E"}, version = {"535.104.5", NULL},
                          tagged = {"560.0.0-rc.1+build.7", NULL},
                          versions = {"1.0.0-rc.11", "1.0.0-rc.2"};

#define QUANTITY(op, in)                                                                 \
    .setup = setup_quantities, .run = run_##op, .teardown = teardown, .arg = &(in),      \
    .peer = "quantity", .peer_field = "ns." #op
#define VERSION(op, in)                                                                  \
    .setup = setup_versions, .run = run_version_##op, .teardown = teardown,              \
    .arg = &(in), .peer = "semver", .peer_field = "ns." #op

const struct bench_row bench_num[] = {
    {.id = "num.parse.small", .what = "80Gi", .goal = 2, QUANTITY(parse, small)},
    {.id = "num.parse.milli", .what = "2250m", .goal = 1.3, QUANTITY(parse, milli)},
    {.id = "num.parse.big", .what = "1.5Gi", .goal = 4, QUANTITY(parse, big)},
    {.id = "num.print.small", .what = "80Gi", .goal = 3, QUANTITY(print, small)},
    {.id = "num.print.big", .what = "1.5Gi", .goal = 5, QUANTITY(print, big)},
    {.id = "num.cmp.small", .what = "80Gi, 40960Mi", .goal = 1, QUANTITY(cmp, smalls)},
    {.id = "num.cmp.scales", .what = "1500m, 2", .goal = 1, QUANTITY(cmp, scales)},
    {.id = "num.cmp.big", .what = "1.5Gi, 80Gi", .goal = 20, QUANTITY(cmp, bigs)},
    {.id = "num.cmp.huge", .what = "1Ei, 500E", .goal = 1, QUANTITY(cmp, huge)},
    {.id = "num.add.small", .what = "80Gi, 40960Mi", .goal = 1, QUANTITY(add, smalls)},
    {.id = "num.add.scales", .what = "1500m, 2", .goal = 1, QUANTITY(add, scales)},
    {.id = "num.add.big", .what = "1.5Gi, 80Gi", .goal = 1.5, QUANTITY(add, bigs)},
    {.id = "num.semver.parse", .what = "535.104.5", .goal = 3, VERSION(parse, version)},
    {.id = "num.semver.parse.long",
     .what = "560.0.0-rc.1+build.7",
     .goal = 5,
     VERSION(parse, tagged)},
    {.id = "num.semver.cmp",
     .what = "1.0.0-rc.11, 1.0.0-rc.2",
     .limit = 40,
     VERSION(cmp, versions)},
    {0}};
