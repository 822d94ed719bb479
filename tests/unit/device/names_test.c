/* SPDX-License-Identifier: Apache-2.0 */
#include "unit/unit.h"

#include "device/internal.h"

static void test_id(void **state)
{
    static const struct {
        const char *driver, *a, *b;
        bool same;
    } rows[] = {
        {"d", "model", "d/model", true},    {"d", "model", "e/model", false},
        {"d", "model", "Model", false},     {"d", "a/b", "a/b", true},
        {"d", "a/b/c", "a/b", false},       {"", "model", "/model", true},
        {"d", "d/d/model", "model", false},
    };
    struct device_names names;
    device_names_init(&names);
    for (size_t i = 0; i < UNIT_COUNT(rows); i++) {
        struct str driver = str_from(rows[i].driver);
        uint32_t a = device_name_id(&names, driver, str_from(rows[i].a));
        uint32_t b = device_name_id(&names, driver, str_from(rows[i].b));
        ROW(rows[i].b, (a == b) == rows[i].same);
    }
    device_names_fini(&names);
}

static void test_split(void **state)
{
    static const struct {
        const char *name, *domain, *id;
    } rows[] = {
        {"model", "driver", "model"},
        {"a/b", "a", "b"},
        {"a/b/c", "a", "b/c"},
        {"/b", "", "b"},
        {"a/", "a", ""},
        {"", "driver", ""},
    };
    for (size_t i = 0; i < UNIT_COUNT(rows); i++) {
        struct device_name n = device_name_split(STR("driver"), str_from(rows[i].name));
        assert_str(n.domain, rows[i].domain);
        assert_str(n.id, rows[i].id);
    }
}

static void test_long_name(void **state)
{
    char text[1000];
    memset(text, 'x', sizeof text);
    struct str name = {text, sizeof text};
    struct device_names names;
    device_names_init(&names);
    uint32_t id = device_name_id(&names, STR("d"), name);
    assert_int_equal(intern_str(&names.texts, id).n, 1002);
    device_names_fini(&names);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_id),
        cmocka_unit_test(test_split),
        cmocka_unit_test(test_long_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
