/* SPDX-License-Identifier: Apache-2.0 */
#include "unit/unit.h"

#include "device/device.h"

struct device {
    const char *driver, *model;
    int64_t index;
    const char *memory;
    bool multiple, bad;
};

/* Which pairs of these an expression may take for one. */
static const struct device devices[] = {
    {"gpu", "H100", 1, "80Gi", false, false},
    {"gpu", "H100", 2, "80Gi", false, false},
    {"gpu", "A100", 1, "80Gi", false, false},
    {"gpu", "H100", 1, "40Gi", false, false},
    {"nic", "H100", 1, "80Gi", false, false},
    {"gpu", "H100", 1, "80Gi", true, false},
    {"gpu", "H100", 1, "80Gi", false, true},
    {"gpu", "H100", 1, "85899345920", false, false},
};

enum { DEVICES = UNIT_COUNT(devices) };

static void make(const struct device *d, struct device_names *names, struct arena *a,
                 struct device_facts *out)
{
    struct device_attr *attrs = ARENA_ARRAY(a, struct device_attr, 3);
    struct device_capacity *memory = ARENA_NEW(a, struct device_capacity);
    attrs[0] = (struct device_attr){
        .name = STR("gpu/model"),
        .value = {.kind = DEVICE_ATTR_STRING, .s = str_from(d->model)}};
    attrs[1] = (struct device_attr){.name = STR("gpu/index"),
                                    .value = {.kind = DEVICE_ATTR_INT, .i = d->index}};
    attrs[2] = (struct device_attr){.name = STR("bad")};
    memory->name = STR("gpu/memory");
    assert_true(quantity_parse(str_from(d->memory), a, &memory->value, NULL));
    device_facts_make(out, names, str_from(d->driver), attrs, d->bad ? 3 : 2, memory, 1,
                      d->multiple, a);
}

/* differs: the devices that differ from device 0 for the expression. */
static void test_groups(void **state)
{
    static const struct {
        const char *text, *differs;
    } rows[] = {
        {"true", "6"},
        {"device.driver == 'gpu'", "46"},
        {"device.attributes['gpu'].model == 'H100'", "26"},
        {"device.attributes['gpu'].index == 1", "16"},
        {"has(device.attributes['gpu'].index)", "16"},
        {"device.capacity['gpu'].memory.isInteger()", "367"},
        {"device.allowMultipleAllocations", "56"},
        {"'model' in device.attributes['gpu']", "126"},
        {"'model' in device.attributes['nic']", "6"},
        {"device.attributes.size() == 1", "126"},
        {"dyn(device).driver == 'gpu'", "1234567"},
    };
    struct device_names names;
    struct arena a;
    struct device_facts facts[DEVICES];
    arena_init(&a);
    device_names_init(&names);
    for (int i = 0; i < DEVICES; i++)
        make(&devices[i], &names, &a, &facts[i]);
    const struct device_env_opts opts = {.kind = DEVICE_ENV_STORED};
    struct device_env *env = device_env_new(&opts, &names);
    for (size_t r = 0; r < UNIT_COUNT(rows); r++) {
        struct device_expr_error error;
        struct device_expr *x =
            device_expr_new(env, str_from(rows[r].text), DEVICE_SELECTOR, &a, &error);
        if (!x)
            fail_msg("%s: %.*s", rows[r].text, STR_ARG(error.text));
        for (int i = 0; i < DEVICES; i++) {
            bool differs = strchr(rows[r].differs, '0' + i) != NULL;
            ROW(rows[r].text, device_expr_same(x, &facts[0], &facts[i]) == !differs);
            bool equal = device_expr_key(x, &facts[0]) == device_expr_key(x, &facts[i]);
            ROW(rows[r].text, differs || equal);
        }
        device_expr_free(x);
    }
    device_env_free(env);
    device_names_fini(&names);
    arena_fini(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_groups),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
