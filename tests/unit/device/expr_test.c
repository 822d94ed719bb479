/* SPDX-License-Identifier: Apache-2.0 */
#include "unit/unit.h"

#include "device/device.h"

struct fixture {
    struct arena arena;
    struct device_names names;
    struct device_facts device;
    struct cel_run run;
};

static void setup(struct fixture *f)
{
    static struct device_attr attrs[3];
    static struct device_capacity memory;
    arena_init(&f->arena);
    device_names_init(&f->names);
    cel_run_init(&f->run);
    attrs[0] = (struct device_attr){
        .name = STR("model"), .value = {.kind = DEVICE_ATTR_STRING, .s = STR("H100")}};
    attrs[1] = (struct device_attr){.name = STR("other/index"),
                                    .value = {.kind = DEVICE_ATTR_INT, .i = 7}};
    attrs[2] = (struct device_attr){.name = STR("healthy"),
                                    .value = {.kind = DEVICE_ATTR_BOOL, .b = true}};
    memory.name = STR("memory");
    assert_true(quantity_parse(STR("80Gi"), &f->arena, &memory.value, NULL));
    device_facts_make(&f->device, &f->names, STR("gpu"), attrs, 3, &memory, 1, true,
                      &f->arena);
}

static void teardown(struct fixture *f)
{
    cel_run_fini(&f->run);
    device_names_fini(&f->names);
    arena_fini(&f->arena);
}

/* What of an expression compiles in which environment (spec 4.4). */
static void test_environments(void **state)
{
    static const char multiple[] = "device.allowMultipleAllocations";
    static const char includes[] = "[1].includes(1)";
    static const char loop[] = "device.attributes['d'].a.exists(x, x == 1)";
    static const char sort[] = "[2, 1].sort() == [1, 2]";
    static const char semver[] = "isSemver('1.0.0')";
    static const struct {
        const char *text;
        struct device_env_opts opts;
        bool compiles;
    } rows[] = {
        {multiple, {.kind = DEVICE_ENV_NEW}, false},
        {multiple, {.kind = DEVICE_ENV_NEW, .consumable_capacity = true}, true},
        {multiple, {.kind = DEVICE_ENV_STORED}, true},
        {multiple, {.kind = DEVICE_ENV_STORED, .version = 33}, false},
        {multiple,
         {.kind = DEVICE_ENV_NEW, .consumable_capacity = true, .version = 33},
         false},
        {includes, {.kind = DEVICE_ENV_NEW}, false},
        {includes, {.kind = DEVICE_ENV_NEW, .list_attributes = true}, true},
        {includes, {.kind = DEVICE_ENV_STORED}, true},
        {loop, {.kind = DEVICE_ENV_NEW}, false},
        {loop, {.kind = DEVICE_ENV_NEW, .list_attributes = true}, true},
        {loop, {.kind = DEVICE_ENV_STORED}, true},
        {loop, {.kind = DEVICE_ENV_STORED, .version = 35}, false},
        {sort, {.kind = DEVICE_ENV_NEW, .version = 34}, false},
        {sort, {.kind = DEVICE_ENV_STORED, .version = 34}, true},
        {sort, {.kind = DEVICE_ENV_NEW, .version = 35}, true},
        {semver, {.kind = DEVICE_ENV_NEW, .version = 33}, false},
        {semver, {.kind = DEVICE_ENV_NEW, .version = 34}, true},
    };
    struct fixture f;
    setup(&f);
    for (size_t i = 0; i < UNIT_COUNT(rows); i++) {
        struct device_env *env = device_env_new(&rows[i].opts, &f.names);
        struct device_expr_error error;
        struct device_expr *x = device_expr_new(env, str_from(rows[i].text),
                                                DEVICE_SELECTOR, &f.arena, &error);
        if ((x != NULL) != rows[i].compiles)
            fail_msg("row %zu: %s: %.*s", i, rows[i].text,
                     STR_ARG(x ? STR("compiles") : error.text));
        device_expr_free(x);
        device_env_free(env);
    }
    teardown(&f);
}

static void test_verdicts(void **state)
{
#define HINT                                                                             \
    ". consider using CEL optional chaining (.? followed by orValue()) or guarding the " \
    "check with has() for optional fields"
    static const struct {
        const char *text;
        enum device_verdict verdict;
        uint64_t cost;
        const char *why;
    } rows[] = {
        {"device.driver == 'gpu'", DEVICE_YES, 3, ""},
        {"device.driver == 'nic'", DEVICE_NO, 3, ""},
        {"device.attributes['gpu'].healthy", DEVICE_YES, 4, ""},
        {"device.attributes['gpu'].model == 'H100'", DEVICE_YES, 5, ""},
        {"device.attributes.other['index'] == 7", DEVICE_YES, 5, ""},
        {"device.attributes['gpu'].index == 7", DEVICE_ERROR, 5,
         "no such key: index" HINT},
        {"device.attributes['none'].index == 7", DEVICE_ERROR, 5,
         "no such key: index" HINT},
        {"has(device.attributes['gpu'].model)", DEVICE_YES, 3, ""},
        {"has(device.attributes['none'].model)", DEVICE_NO, 3, ""},
        {"has(device.attributes.none)", DEVICE_YES, 2, ""},
        {"'none' in device.attributes", DEVICE_NO, 3, ""},
        {"size(device.attributes) == 2", DEVICE_YES, 4, ""},
        {"device.attributes[?'none'].hasValue()", DEVICE_YES, 4, ""},
        {"device.attributes['none'].?x.hasValue()", DEVICE_NO, 4, ""},
        {"device.attributes[device.driver].model == 'H100'", DEVICE_YES, 6, ""},
        {"device.capacity['gpu'].memory.isGreaterThan(quantity('1Gi'))", DEVICE_YES, 6,
         ""},
        {"device.capacity['gpu'].cores.isInteger()", DEVICE_ERROR, 5,
         "no such key: cores" HINT},
        {"device.allowMultipleAllocations", DEVICE_YES, 2, ""},
        {"dyn(1)", DEVICE_ERROR, 0,
         "CEL result of type int could not be converted to bool: unsupported type "
         "conversion from 'int' to bool"},
        {"dyn(optional.of(true))", DEVICE_YES, 2, ""},
        {"dyn(optional.none())", DEVICE_ERROR, 2,
         "CEL result of type optional_type could not be converted to bool: "
         "optional.none() dereference"},
    };
    struct fixture f;
    setup(&f);
    const struct device_env_opts opts = {.kind = DEVICE_ENV_STORED};
    struct device_env *env = device_env_new(&opts, &f.names);
    for (size_t i = 0; i < UNIT_COUNT(rows); i++) {
        struct device_expr_error error;
        struct device_expr *x = device_expr_new(env, str_from(rows[i].text),
                                                DEVICE_SELECTOR, &f.arena, &error);
        if (!x)
            fail_msg("%s: %.*s", rows[i].text, STR_ARG(error.text));
        struct str why = STR_NONE;
        enum device_verdict verdict = device_expr_match(x, &f.device, &f.run, &why);
        ROW(rows[i].text, verdict == rows[i].verdict);
        assert_str(why, rows[i].why);
        if (f.run.cost != rows[i].cost)
            fail_msg("%s: costs %lu", rows[i].text, (unsigned long)f.run.cost);
        device_expr_free(x);
    }
    device_env_free(env);
    teardown(&f);
}

static void test_errors(void **state)
{
    static const struct {
        const char *text;
        enum device_expr_mode mode;
        enum device_fault fault;
        const char *error;
    } rows[] = {
        {"1", DEVICE_SELECTOR, DEVICE_FAULT_INVALID,
         "must evaluate to bool or the unknown type, not int"},
        {"1.5", DEVICE_DERIVED, DEVICE_FAULT_INVALID,
         "must evaluate to a primitive scalar (string, integer, boolean, semver) or a "
         "list of these scalars, not double"},
        {"x", DEVICE_SELECTOR, DEVICE_FAULT_INVALID,
         "compilation failed: ERROR: <input>:1:1: undeclared reference to 'x' (in "
         "container '')\n | x\n | ^"},
        {"int('4.5') == 1", DEVICE_SELECTOR, DEVICE_FAULT_INTERNAL, NULL},
    };
    struct fixture f;
    setup(&f);
    const struct device_env_opts opts = {.kind = DEVICE_ENV_STORED};
    struct device_env *env = device_env_new(&opts, &f.names);
    for (size_t i = 0; i < UNIT_COUNT(rows); i++) {
        struct device_expr_error error;
        assert_null(
            device_expr_new(env, str_from(rows[i].text), rows[i].mode, &f.arena, &error));
        assert_int_equal(error.fault, rows[i].fault);
        if (rows[i].error)
            assert_str(error.text, rows[i].error);
    }
    device_env_free(env);
    teardown(&f);
}

static void test_limit(void **state)
{
    static const char text[] =
        "[1,2,3,4,5,6,7,8,9].all(x, [1,2,3,4,5].all(y, x + y > 0))";
    struct fixture f;
    setup(&f);
    const struct device_env_opts opts = {.kind = DEVICE_ENV_STORED};
    struct device_env *env = device_env_new(&opts, &f.names);
    struct device_expr_error error;
    struct device_expr *x =
        device_expr_new(env, str_from(text), DEVICE_SELECTOR, &f.arena, &error);
    struct str why = STR_NONE;
    f.run.cost_limit = 50;
    assert_int_equal(device_expr_match(x, &f.device, &f.run, &why), DEVICE_ERROR);
    assert_str(why, "operation cancelled: actual cost limit exceeded");
    f.run.cost_limit = 0;
    assert_int_equal(device_expr_match(x, &f.device, &f.run, &why), DEVICE_YES);
    assert_int_equal(f.run.cost_limit, DEVICE_COST_LIMIT);
    device_expr_free(x);
    device_env_free(env);
    teardown(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_environments),
        cmocka_unit_test(test_verdicts),
        cmocka_unit_test(test_errors),
        cmocka_unit_test(test_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
