/* SPDX-License-Identifier: Apache-2.0 */
/* Inventories cut into slices in both layouts: nothing is lost, nothing is there twice,
 * and no limit of the API is exceeded. */
#include "driver/slices.h"

#include "base/map.h"
#include "unit/unit.h"

struct shape {
    const char *name;
    uint32_t gpus, parts, counters; /* of each GPU: devices that take of its set */
    uint32_t others;                /* devices without counters, behind them */
    uint32_t apart, together;       /* slices that come of it */
};
static const struct shape SHAPES[] = {
    {"nothing", 0, 0, 0, 0, 1, 1},       {"others", 0, 0, 0, 300, 3, 3},
    {"one GPU", 1, 20, 15, 0, 2, 1},     {"eight GPUs", 8, 20, 15, 0, 1 + 3, 4},
    {"nine sets", 9, 2, 1, 0, 2 + 1, 1}, {"large sets", 3, 10, 32, 0, 1 + 1, 3},
    {"both", 2, 2, 15, 130, 1 + 2, 2},
};

static struct driver_inventory make(struct arena *a, const struct shape *s)
{
    uint32_t n = s->gpus * s->parts;
    struct driver_device *v = ARENA_ARRAY(a, struct driver_device, n + s->others);
    struct driver_counter_set *sets = ARENA_ARRAY(a, struct driver_counter_set, s->gpus);
    struct driver_counter *c = ARENA_ARRAY(a, struct driver_counter, s->counters);
    for (uint32_t i = 0; i < s->counters; i++)
        c[i] = (struct driver_counter){arena_printf(a, "c-%u", i), STR("1")};
    for (uint32_t g = 0; g < s->gpus; g++) {
        sets[g] =
            (struct driver_counter_set){arena_printf(a, "set-%u", g), c, s->counters};
        for (uint32_t p = 0; p < s->parts; p++)
            v[g * s->parts + p] =
                (struct driver_device){.name = arena_printf(a, "d-%u-%u", g, p),
                                       .consumes = &sets[g],
                                       .nconsumes = 1};
    }
    for (uint32_t i = 0; i < s->others; i++)
        v[n + i] = (struct driver_device){.name = arena_printf(a, "o-%u", i)};
    return (struct driver_inventory){v, sets, n + s->others, s->gpus};
}

static uint32_t length(const struct doc *slice, const char *key)
{
    const struct doc *list = doc_get(slice, key);
    return list ? list->n : 0;
}

static bool has_set(const struct doc *slice, struct str name)
{
    const struct doc *sets = doc_get(slice, "sharedCounters");
    for (uint32_t i = 0; sets && i < sets->n; i++)
        if (str_eq(doc_get_text(&sets->items[i], "name"), name))
            return true;
    return false;
}

struct seen {
    struct strmap devices, sets;
};

static void check_devices(const char *name, const struct doc *slice, bool together,
                          struct seen *seen)
{
    const struct doc *list = doc_get(slice, "devices");
    bool rich = false, made;
    for (uint32_t i = 0; list && i < list->n; i++) {
        const struct doc *of = doc_get(&list->items[i], "consumesCounters");
        strmap_put(&seen->devices, doc_get_text(&list->items[i], "name"), &made);
        ROW(name, made);
        rich |= of != NULL;
        ROW(name, !of || !together ||
                      has_set(slice, doc_get_text(&of->items[0], "counterSet")));
    }
    ROW(name, length(slice, "devices") <=
                  (rich ? SLICES_MAX_RICH_DEVICES : SLICES_MAX_DEVICES));
}

static void check_sets(const char *name, const struct doc *slice, bool together,
                       struct seen *seen)
{
    const struct doc *list = doc_get(slice, "sharedCounters");
    uint32_t counters = 0;
    bool made;
    for (uint32_t i = 0; list && i < list->n; i++) {
        strmap_put(&seen->sets, doc_get_text(&list->items[i], "name"), &made);
        ROW(name, made);
        counters += doc_get(&list->items[i], "counters")->n;
    }
    ROW(name, together ? counters <= SLICES_MAX_OLD_COUNTERS
                       : length(slice, "sharedCounters") <= SLICES_MAX_COUNTER_SETS);
    ROW(name, together || !list || !doc_get(slice, "devices"));
}

static void test_layouts(void **state)
{
    (void)state;
    for (size_t i = 0; i < 2 * UNIT_COUNT(SHAPES); i++) {
        const struct shape *s = &SHAPES[i / 2];
        bool together = i % 2;
        struct arena a = {0};
        struct slices out;
        struct seen seen = {STRMAP_INIT, STRMAP_INIT};
        struct driver_inventory v = make(&a, s);
        slices_make(&v, together ? SLICES_TOGETHER : SLICES_APART, &a, &out);
        for (uint32_t k = 0; k < out.n; k++) {
            check_devices(s->name, &out.v[k], together, &seen);
            check_sets(s->name, &out.v[k], together, &seen);
        }
        ROW(s->name, out.n == (together ? s->together : s->apart));
        ROW(s->name, seen.devices.live == v.ndevices && seen.sets.live == v.ncounters);
        strmap_release(&seen.devices);
        strmap_release(&seen.sets);
        arena_fini(&a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_layouts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
