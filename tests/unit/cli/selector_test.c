/* SPDX-License-Identifier: Apache-2.0 */
/* Which part of a selector no device satisfies, and what the devices have instead. */
#include "unit/unit.h"

#include "cli/selector.h"

static const char SLICE[] =
    "{metadata: {name: s}, spec: {driver: d.io, nodeName: n1, pool: {name: p, "
    "generation: "
    "1, resourceSliceCount: 1}, devices: ["
    "{name: d0, attributes: {model: {string: A}, index: {int: 0}}, "
    "capacity: {memory: {value: 24Gi}}}, "
    "{name: d1, attributes: {model: {string: A}, index: {int: 1}}, "
    "capacity: {memory: {value: 24Gi}}}, "
    "{name: d2, attributes: {model: {string: B}, old: {bool: true}}, "
    "capacity: {memory: {value: 80Gi}}}]}}";

#define MODEL "device.attributes[\"d.io\"].model"
#define MEMORY "device.capacity[\"d.io\"].memory"

static const struct {
    const char *expression, *other, *advice;
} ROWS[] = {
    {"device.driver == \"e.io\" && " MODEL " == \"A\"", NULL,
     "no device satisfies device.driver == \"e.io\"; device.driver is \"d.io\" on 3 "
     "devices"},
    {"device.driver == \"d.io\" && " MODEL " == \"C\"", NULL,
     "no device satisfies " MODEL " == \"C\"; model is \"A\" on 2 devices, \"B\" on 1"},
    {MEMORY ".isGreaterThan(quantity(\"100Gi\"))", NULL,
     "no device satisfies " MEMORY ".isGreaterThan(quantity(\"100Gi\")); the largest "
     "memory is 80Gi (d2 of pool p)"},
    /* each part has its devices, and all parts together have none */
    {MODEL " == \"A\" && " MEMORY ".isGreaterThan(quantity(\"40Gi\"))", NULL,
     "no device satisfies " MEMORY
     ".isGreaterThan(quantity(\"40Gi\")); memory is 24Gi on "
     "2 devices"},
    {MEMORY ".isGreaterThan(quantity(\"40Gi\"))", MODEL " == \"A\"",
     "no device satisfies " MEMORY
     ".isGreaterThan(quantity(\"40Gi\")); memory is 24Gi on "
     "2 devices"},
    {"device.attributes[\"d.io\"].old", MODEL " == \"A\"",
     "no device satisfies device.attributes[\"d.io\"].old; no device has old"},
    {"device.attributes[\"d.io\"].index == 7", NULL,
     "no device satisfies device.attributes[\"d.io\"].index == 7; index is 0 on 1 "
     "device, "
     "1 on 1, missing on 1"},
    {MODEL " == \"A\" || " MODEL " == \"C\"", NULL, ""},
    {MODEL " == \"C\" || " MODEL " == \"D\"", NULL,
     "no device satisfies " MODEL " == \"C\" || " MODEL " == \"D\"; model is \"A\" on 2 "
     "devices, \"B\" on 1"},
    {"device.driver == \"d.io\"", NULL, ""},
    {"this does not compile", NULL, ""},
    {"", NULL, ""},
};

static void test_advice(void **state)
{
    struct cluster c;
    struct doc_source src = {.name = "slice", .text = STR(SLICE)};
    struct doc_list list;
    struct err e = ERR_INIT;
    (void)state;
    cluster_init(&c);
    if (!doc_read_yaml(&src, &c.arena, &list, &e) ||
        !cluster_add(&c, STR("ResourceSlice"), &list.v[0], &e))
        fail_msg("%s", err_text(&e));
    for (size_t i = 0; i < UNIT_COUNT(ROWS); i++) {
        struct str other = str_from(ROWS[i].other);
        struct str advice = selector_advice(&c, str_from(ROWS[i].expression), &other,
                                            other.n > 0, &c.arena);
        if (!str_is(advice, ROWS[i].advice))
            fail_msg("row '%s': got \"%.*s\"", ROWS[i].expression, STR_ARG(advice));
    }
    cluster_fini(&c);
}

static void test_no_devices(void **state)
{
    struct cluster c;
    (void)state;
    cluster_init(&c);
    assert_str(selector_advice(&c, STR("false"), NULL, 0, &c.arena), "");
    cluster_fini(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_advice),
        cmocka_unit_test(test_no_devices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
