/* SPDX-License-Identifier: Apache-2.0 */
/* What golden/cdi does not hold: errors that name the place, and every field both ways.
 */
#include "unit/unit.h"

#include "driver/cdi.h"

static void test_every_field_survives(void **state)
{
    (void)state;
    static const char text[] =
        "{\n"
        "  \"cdiVersion\": \"1.1.0\",\n"
        "  \"kind\": \"example.com/gpu\",\n"
        "  \"annotations\": {\n    \"example.com/a\": \"b\"\n  },\n"
        "  \"devices\": [\n    {\n      \"name\": \"g\",\n"
        "      \"annotations\": {\n        \"c\": \"\"\n      },\n"
        "      \"containerEdits\": {\n"
        "        \"env\": [\n          \"A=b\"\n        ],\n"
        "        \"deviceNodes\": [\n          {\n            \"path\": \"/dev/x\",\n"
        "            \"hostPath\": \"/dev/y\",\n            \"type\": \"c\",\n"
        "            \"major\": 195,\n            \"minor\": 7,\n"
        "            \"fileMode\": 438,\n            \"permissions\": \"rw\",\n"
        "            \"uid\": 0,\n            \"gid\": 44\n          }\n        ],\n"
        "        \"netDevices\": [\n          {\n"
        "            \"hostInterfaceName\": \"eth1\",\n            \"name\": \"net0\"\n"
        "          }\n        ],\n"
        "        \"hooks\": [\n          {\n            \"hookName\": \"prestart\",\n"
        "            \"path\": \"/bin/h\",\n"
        "            \"args\": [\n              \"h\"\n            ],\n"
        "            \"env\": [\n              \"C=d\"\n            ],\n"
        "            \"timeout\": 0\n          }\n        ],\n"
        "        \"mounts\": [\n          {\n            \"hostPath\": \"/a\",\n"
        "            \"containerPath\": \"/b\",\n"
        "            \"options\": [\n              \"ro\"\n            ],\n"
        "            \"type\": \"bind\"\n          }\n        ],\n"
        "        \"intelRdt\": {\n          \"closID\": \"c\",\n"
        "          \"l3CacheSchema\": \"L3:0=f\",\n"
        "          \"memBwSchema\": \"MB:0=7\",\n"
        "          \"schemata\": [\n            \"L2:0=1\"\n          ],\n"
        "          \"enableMonitoring\": true\n        },\n"
        "        \"additionalGids\": [\n          0\n        ]\n"
        "      }\n    }\n  ],\n  \"containerEdits\": {}\n}";
    struct arena a = {0};
    struct cdi_spec s;
    struct err e = ERR_INIT;
    if (!cdi_spec_read(STR(text), &a, &s, &e))
        fail_msg("%s", err_text(&e));
    assert_str(cdi_spec_print(&s, &a), text);
    assert_true(cdi_spec_check(&s, &e));
    arena_fini(&a);
}

#define DEVICE(edits)                                                                    \
    "kind: v.com/c\ncdiVersion: 1.1.0\ndevices: [{name: d, containerEdits: {" edits "}}" \
    "]"

static void test_errors_name_the_place(void **state)
{
    (void)state;
    static const struct {
        const char *text, *want;
    } rows[] = {
        {"kind: [a]", "kind: is a list, must be a string"},
        {"kind: a/b\nkind: a/c", NULL}, /* the text is the reader's */
        {"[]", "is a list, must be a map"},
        {"", "the file is empty"},
        {"kind: v.com/c\ncdiVersion: 1.1.0\nhooks: []", "hooks: there is no such field"},
        {"kind: v.com/c\ncdiVersion: 1.1.0", "devices: there is none"},
        {DEVICE("env: [A=b, 7]"),
         "devices[0]: containerEdits: env[1]: \"7\" is no NAME=value"},
        {DEVICE("deviceNodes: [{path: /dev/x, uid: -1}]"),
         "devices: [0]: containerEdits: deviceNodes: [0]: uid: -1 is not between 0 and "
         "4294967295"},
        {DEVICE("deviceNodes: [{path: /dev/x, permissions: rx}]"),
         "devices[0]: containerEdits: deviceNodes[0]: permissions \"rx\" are neither of "
         "r, w and m nor \"none\""},
        {"kind: v.com/c\ncdiVersion: 0.3.0\ndevices: "
         "[{name: 0, containerEdits: {env: [A=b]}}]",
         "cdiVersion is 0.3.0, its fields need 0.5.0"},
    };
    for (size_t i = 0; i < UNIT_COUNT(rows); i++) {
        struct arena a = {0};
        struct cdi_spec s;
        struct err e = ERR_INIT;
        ROW(rows[i].text, !cdi_spec_read(str_from(rows[i].text), &a, &s, &e));
        if (rows[i].want)
            assert_string_equal(err_text(&e), rows[i].want);
        err_release(&e);
        arena_fini(&a);
    }
}

static void test_writers_are_held_to_more(void **state)
{
    (void)state;
    static const struct {
        const char *text, *want;
    } rows[] = {
        {DEVICE("deviceNodes: [{path: dev/x}]"),
         "devices[0]: containerEdits: deviceNodes[0]: path \"dev/x\" is not absolute"},
        {DEVICE("env: [A=b]") "\nannotations: {a b: c}",
         "annotations: \"a b\" is no qualified name"},
    };
    for (size_t i = 0; i < UNIT_COUNT(rows); i++) {
        struct arena a = {0};
        struct cdi_spec s;
        struct err e = ERR_INIT;
        ROW(rows[i].text, cdi_spec_read(str_from(rows[i].text), &a, &s, NULL));
        ROW(rows[i].text, !cdi_spec_check(&s, &e));
        assert_string_equal(err_text(&e), rows[i].want);
        err_release(&e);
        arena_fini(&a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_field_survives),
        cmocka_unit_test(test_errors_name_the_place),
        cmocka_unit_test(test_writers_are_held_to_more),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
