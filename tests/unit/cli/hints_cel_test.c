/* SPDX-License-Identifier: Apache-2.0 */
/* What to write instead of an expression. */
#include "unit/unit.h"

#include "cli/hints.h"

static const char SLICE[] =
    "{apiVersion: resource.k8s.io/v1, kind: ResourceSlice, metadata: {name: s}, spec: "
    "{driver: gpu.nvidia.com, nodeName: n1, pool: {name: n1, generation: 1, "
    "resourceSliceCount: 1}, devices: [{name: gpu-0, attributes: {model: {string: "
    "A100}}, "
    "capacity: {memory: {value: 80Gi}}}]}}";

static void set_up(struct cluster *c)
{
    struct doc_source src = {.name = "slice", .text = STR(SLICE)};
    struct doc_list list;
    struct err e = ERR_INIT;
    cluster_init(c);
    if (!doc_read_yaml(&src, &c->arena, &list, &e) ||
        !cluster_add(c, STR("ResourceSlice"), &list.v[0], &e))
        fail_msg("%s", err_text(&e));
}

#define MEMORY "device.capacity[\"gpu.nvidia.com\"].memory"
#define MODEL "device.attributes[\"gpu.nvidia.com\"].model"
#define COSTLY "too complex, exceeds cost limit"
#define FIRST "the first index of device.capacity is the domain, usually the driver"
#define QUANTITY "amounts are quantities, compared by compareTo"
#define OWN                                                                              \
    "a device's own values are reached through device.attributes and "                   \
    "device.capacity"

static const struct {
    const char *expression, *message, *hint;
} ROWS[] = {
    /* the first index is the domain (B3) */
    {"device.capacity[\"memory\"].isGreaterThan(quantity(\"40Gi\"))", "",
     FIRST ": write " MEMORY ".isGreaterThan(quantity(\"40Gi\"))"},
    {"device.capacity[\"memory\"].compareTo(quantity(\"80Gi\")) >= 0 && true", "",
     FIRST ": write " MEMORY ".compareTo(quantity(\"80Gi\")) >= 0 && true"},
    {"device.capacity.memory >= 16Gi", "",
     FIRST ": write " MEMORY ".compareTo(quantity(\"16Gi\")) >= 0"},
    {"device.attributes[\"model\"] == \"A100\"", "",
     "the first index of device.attributes is the domain, usually the driver: "
     "write " MODEL " == \"A100\""},
    /* amounts (B2) */
    {"memory >= 16Gi", "",
     QUANTITY ": write " MEMORY ".compareTo(quantity(\"16Gi\")) >= 0"},
    {"memory == \"16Gi\"", "", QUANTITY ": write " MEMORY " == quantity(\"16Gi\")"},
    {"!(" MEMORY " < 16Gi) && true", "",
     QUANTITY ": write !(" MEMORY ".compareTo(quantity(\"16Gi\")) < 0) && true"},
    {MEMORY " > quantity(\"1\")", "",
     QUANTITY ": write " MEMORY ".compareTo(quantity(\"1\")) > 0"},
    {MEMORY " > 40", "", QUANTITY ": write " MEMORY ".compareTo(quantity(\"40\")) > 0"},
    /* a device's own names */
    {"model == \"A100\"", "", OWN ": write " MODEL " == \"A100\""},
    {"memory.isGreaterThan(quantity(\"1Gi\"))", "",
     OWN ": write " MEMORY ".isGreaterThan(quantity(\"1Gi\"))"},
    /* other languages */
    {"device.driver == \"a\" and device.driver == \"b\"", "",
     "CEL writes && for and, || for or, ! for not: write device.driver == \"a\" && "
     "device.driver == \"b\""},
    {"not device.allowMultipleAllocations", "",
     "CEL writes && for and, || for or, ! for not: write ! "
     "device.allowMultipleAllocations"},
    {"device.driver = \"a\"", "",
     "CEL doubles these: ==, &&, ||: write device.driver == \"a\""},
    {"true & false", "", "CEL doubles these: ==, &&, ||: write true && false"},
    /* cost (B8, B9) */
    {MEMORY " != quantity(\"80Gi\")", COSTLY,
     "only == of amounts has a cost that is known beforehand: write !(" MEMORY
     " == quantity(\"80Gi\"))"},
    {"device.attributes[\"gpu.nvidia.com\"].?model.orValue(\"\").contains(\"A100\")",
     COSTLY,
     "what an optional holds has no size that is known beforehand: guard with has(): "
     "write has(" MODEL ") && " MODEL ".contains(\"A100\")"},
    {"true && device.attributes[\"gpu.nvidia.com\"].?model.value().lowerAscii() == \"x\"",
     COSTLY,
     "what an optional holds has no size that is known beforehand: guard with has(): "
     "write true && has(" MODEL ") && " MODEL ".lowerAscii() == \"x\""},
    /* names */
    {"device.name == \"x\"", "undefined field 'name'",
     "a selector cannot see a device's name; select by attributes"},
    {"device.capacities[\"x\"]", "undefined field 'capacities'",
     "did you mean \"capacity\"?"},
    {"quantty(\"1\")", "undeclared reference to 'quantty' (in container '')",
     "did you mean \"quantity\"?"},
    {"device.driver", "must evaluate to bool or the unknown type, not string",
     "a selector is a question: compare the value, as in ... == \"x\""},
    /* nothing to say */
    {"device.driver == \"x\"", "", ""},
    {"size(", "", ""},
    {"", "", ""},
};

static void test_cel(void **state)
{
    struct cluster c;
    (void)state;
    set_up(&c);
    for (size_t i = 0; i < UNIT_COUNT(ROWS); i++) {
        struct str hint = hint_for_cel(&c, str_from(ROWS[i].expression),
                                       str_from(ROWS[i].message), &c.arena);
        if (!str_is(hint, ROWS[i].hint))
            fail_msg("row '%s': got \"%.*s\"", ROWS[i].expression, STR_ARG(hint));
    }
    cluster_fini(&c);
}

/* Without devices nobody knows the driver. */
static void test_no_devices(void **state)
{
    struct cluster c;
    (void)state;
    cluster_init(&c);
    assert_str(hint_for_cel(&c, STR("memory >= 16Gi"), STR(""), &c.arena),
               QUANTITY ": write device.capacity[\"DRIVER\"].memory.compareTo("
                        "quantity(\"16Gi\")) >= 0");
    cluster_fini(&c);
}

static void test_accepted(void **state)
{
    static const struct {
        const char *expression;
        bool doubted;
    } rows[] = {
        {MODEL " >= \"16Gi\"", true},
        {"true && " MODEL " < \"16Gi\"", true},
        {MODEL " == \"16Gi\"", false},
        {MODEL " >= \"A100\"", false},
        {MODEL " >= 16", false},
        {MEMORY ".compareTo(quantity(\"16Gi\")) >= 0", false},
    };
    struct cluster c;
    (void)state;
    set_up(&c);
    for (size_t i = 0; i < UNIT_COUNT(rows); i++)
        ROW(rows[i].expression,
            (hint_for_accepted(&c, str_from(rows[i].expression), &c.arena).n > 0) ==
                rows[i].doubted);
    cluster_fini(&c);
}

static void test_runtime(void **state)
{
    struct arena a;
    const struct str all[] = {STR("device.driver == \"x\""), STR(MODEL " == \"A100\"")};
    (void)state;
    arena_init(&a);
    assert_str(hint_for_runtime(STR("CEL runtime error: no such key: model. consider"),
                                all, 2, &a),
               "not every device has model; guard it: has(" MODEL ") && " MODEL " ...");
    assert_str(hint_for_runtime(STR("no such key: other"), all, 2, &a),
               "not every device has other: guard it, or ask for device.driver first");
    const struct str version = STR("true && " MODEL " >= \"570.0.0\"");
    assert_str(hint_for_runtime(STR("no such overload: _>=_"), &version, 1, &a),
               "a version is no text: write " MODEL
               ".compareTo(semver(\"570.0.0\")) >= 0");
    assert_str(hint_for_runtime(STR("no such overload: _>=_"), all, 2, &a),
               "a value is compared with one of another type: look at what the device "
               "publishes (string, int, bool, version)");
    assert_str(hint_for_runtime(STR("division by zero"), all, 2, &a), "");
    arena_fini(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cel),
        cmocka_unit_test(test_no_devices),
        cmocka_unit_test(test_accepted),
        cmocka_unit_test(test_runtime),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
