/* SPDX-License-Identifier: Apache-2.0 */
/* Devices by a file: what is offered of it, and what is said about a wrong one. */
#include <poll.h>

#include "driver/discover.h"
#include "driver/file.h"
#include "tree.h"
#include "unit/unit.h"

static const char TREE[] = "/dev/fuse -> /dev/null\n"
                           "/dev/serial/by-id/usb-FTDI_10 -> /dev/zero\n"
                           "/dev/serial/by-id/usb-FTDI_9 -> /dev/null\n"
                           "/dev/plain = text\n";

static const char FILE_TEXT[] =
    "counters:\n"
    "  card: {memory: 8Gi}\n"
    "devices:\n"
    "- name: fuse\n"
    "  path: /dev/fuse\n"
    "  attributes: {type: fuse, i: 3, b: true, v: {version: 1.2.3}, l: [a, b], k: [1]}\n"
    "  shares: 4\n"
    "- name: serial-{}\n"
    "  path: /dev/serial/by-id/usb-*\n"
    "  env: {PORT: \"{path}\", PART: \"{}-{}\", ONE: 1}\n"
    "  mounts: [{hostPath: /run/x, options: [ro]}]\n"
    "- name: plain\n"
    "  path: /dev/plain\n"
    "  consumes: {card: {memory: 1Gi}}\n"
    "  shared: true\n"
    "  capacity: {bw: {value: 10G, policy: {default: 1G, min: 1G, step: 1G}}, m: 2}\n"
    "- name: gone\n"
    "  path: /dev/gone\n"
    "  missing: NoExecute\n"
    "- name: none\n"
    "  taints: [{key: a.b/c, value: d, effect: None}]\n";

static const char SHOWN[] = "counters card: memory=8Gi\n"
                            "fuse (file:/dev/fuse) shared\n"
                            "  type=\"fuse\"\n"
                            "  i=3\n"
                            "  b=true\n"
                            "  v=v1.2.3\n"
                            "  l=[\"a\" \"b\"]\n"
                            "  k=[1]\n"
                            "  shares: 4 (default 1, min 1, max , step 1, 0 values)\n"
                            "  node /dev/fuse from /dev/null\n"
                            "serial-ftdi-9 (file:/dev/serial/by-id/usb-FTDI_9)\n"
                            "  node /dev/serial/by-id/usb-FTDI_9 from /dev/null\n"
                            "  mount /run/x at /run/x\n"
                            "  env PORT=/dev/serial/by-id/usb-FTDI_9\n"
                            "  env PART=FTDI_9-FTDI_9\n"
                            "  env ONE=1\n"
                            "serial-ftdi-10 (file:/dev/serial/by-id/usb-FTDI_10)\n"
                            "  node /dev/serial/by-id/usb-FTDI_10 from /dev/zero\n"
                            "  mount /run/x at /run/x\n"
                            "  env PORT=/dev/serial/by-id/usb-FTDI_10\n"
                            "  env PART=FTDI_10-FTDI_10\n"
                            "  env ONE=1\n"
                            "plain (file:/dev/plain) shared\n"
                            "  bw: 10G (default 1G, min 1G, max , step 1G, 0 values)\n"
                            "  m: 2\n"
                            "  of card: memory=1Gi\n"
                            "gone (file:/dev/gone)\n"
                            "  taint x.example.com/missing=:NoExecute\n"
                            "  unhealthy: /dev/gone is not there\n"
                            "  node /dev/gone\n"
                            "none (file:none)\n"
                            "  taint a.b/c=d:None\n";

struct site {
    struct tree t;
    struct arena a;
    char file[96];
    struct driver_backend *b;
};

static struct driver_backend *make(struct site *s, struct err *e)
{
    struct driver_discover_opts o = {STR("x.example.com"), str_from(s->t.root), false};
    return driver_backend_file_new(s->file, &o, e);
}

static void open_site(struct site *s, const char *text)
{
    struct err e = ERR_INIT;
    *s = (struct site){.b = NULL};
    tree_open(&s->t);
    tree_fill(&s->t, TREE);
    tree_file(&s->t, "/devices.yaml", text);
    snprintf(s->file, sizeof s->file, "%s/devices.yaml", s->t.root);
    s->b = make(s, &e);
    if (!s->b)
        fail_msg("%s", err_text(&e));
}

static void close_site(struct site *s)
{
    driver_backend_free(s->b);
    tree_close(&s->t);
    arena_fini(&s->a);
}

static struct str look(struct site *s)
{
    struct driver_inventory v;
    struct err e = ERR_INIT;
    if (!s->b->ops->discover(s->b, &s->a, &v, &e))
        fail_msg("%s", err_text(&e));
    return tree_show(&v, &s->a);
}

static void test_offered(void **state)
{
    struct site s;
    (void)state;
    open_site(&s, FILE_TEXT);
    assert_string_equal(look(&s).p, SHOWN);
    assert_string_equal(look(&s).p, SHOWN); /* the same each time */
    close_site(&s);
}

static bool told(const struct driver_backend *b)
{
    struct pollfd p = {b->ops->watch((struct driver_backend *)b), POLLIN, 0};
    return poll(&p, 1, 10000) == 1;
}

static bool quiet(const struct driver_backend *b)
{
    struct pollfd p = {b->ops->watch((struct driver_backend *)b), POLLIN, 0};
    return poll(&p, 1, 0) == 0;
}

/* One that comes, one that goes, in a directory that is not there yet; through a
 * collection of back ends. */
static void test_hot_plug(void **state)
{
    struct site s;
    (void)state;
    open_site(&s, "devices: [{name: \"a-{}\", path: \"/dev/new/a*\"}]\n");
    s.b = driver_backend_all_new(&s.b, 1);
    assert_string_equal(look(&s).p, "");
    assert_true(quiet(s.b));
    tree_link(&s.t, "/dev/new/a1", "/dev/null");
    assert_true(told(s.b));
    assert_string_equal(look(&s).p, "a-1 (file:/dev/new/a1)\n"
                                    "  node /dev/new/a1 from /dev/null\n");
    assert_true(quiet(s.b));
    tree_remove(&s.t, "/dev/new/a1");
    assert_true(told(s.b));
    assert_string_equal(look(&s).p, "");
    tree_file(&s.t, "/devices.yaml", "devices: [{name: b}]\n");
    assert_true(told(s.b));
    assert_string_equal(look(&s).p, "b (file:b)\n");
    close_site(&s);
}

/* What is wrong is said, and what was known is known still. */
static void test_spoilt(void **state)
{
    struct site s;
    struct driver_inventory v;
    struct err e = ERR_INIT;
    (void)state;
    open_site(&s, "devices: [{name: a}]\n");
    tree_file(&s.t, "/devices.yaml", "devices: [{name: a}, {name: a}]\n");
    assert_false(s.b->ops->discover(s.b, &s.a, &v, &e));
    assert_non_null(strstr(err_text(&e), "devices[1].name: \"a\" is the name of a device "
                                         "of devices[0] too"));
    err_release(&e);
    static const char *const nothing[] = {"", "\n", "# devices\n"};
    for (size_t i = 0; i < UNIT_COUNT(nothing); i++) {
        tree_file(&s.t, "/devices.yaml", nothing[i]);
        ROW(nothing[i], !s.b->ops->discover(s.b, &s.a, &v, &e));
        ROW(nothing[i], strstr(err_text(&e), "the file is empty") != NULL);
        err_release(&e);
    }
    tree_file(&s.t, "/devices.yaml", "devices: []\n");
    assert_true(s.b->ops->discover(s.b, &s.a, &v, &e));
    tree_file(&s.t, "/devices.yaml",
              "devices: [{name: a, path: /dev/x}, {name: b, path: /dev/x}]\n");
    assert_false(s.b->ops->discover(s.b, &s.a, &v, &e));
    assert_non_null(strstr(err_text(&e), "devices[1].path: \"/dev/x\" is the path of a "
                                         "device of devices[0] too"));
    err_release(&e);
    tree_file(&s.t, "/devices.yaml", "devices: [{name: a}]\n");
    look(&s);
    close_site(&s);
}

static void test_two_of_a_name(void **state)
{
    struct site s;
    struct driver_inventory v;
    struct err e = ERR_INIT;
    (void)state;
    open_site(&s, "devices: [{name: a}]\n");
    struct driver_backend *two[] = {s.b, make(&s, &e)};
    s.b = driver_backend_all_new(two, 2);
    assert_false(s.b->ops->discover(s.b, &s.a, &v, &e));
    assert_string_equal(err_text(&e),
                        "both file and file have found a device of the name \"a\"");
    err_release(&e);
    close_site(&s);
}

/* Text of devices[0] behind its name, and what is said of it. */
static const struct {
    const char *text, *says;
} WRONG[] = {
    {"{name: a, pat: /x}", "F:1:26: devices[0].pat: there is no such field; there are "
                           "name, path, missing, attributes, capacity, shared, shares, "
                           "consumes, taints, nodes, mounts, env"},
    {"{path: /x}", "F: devices[0].name: a name is missing here"},
    {"{name: A}", "F:1:18: devices[0].name: \"A\" is no name: at most 63 lower-case "
                  "letters, digits and -, which is neither first nor last"},
    {"{name: a, path: x}", "F:1:27: devices[0].path: a path from / on is wanted here"},
    {"{name: a, path: '/x*'}",
     "F:1:18: devices[0].name: all that /x* matches would have this name: put {} into "
     "it, for what the wildcards match"},
    {"{name: 'a{}', path: /x}", "F:1:18: devices[0].name: {} stands for what the "
                                "wildcards of path match, and there are none"},
    {"{name: a, missing: Never}", "F:1:30: devices[0].missing: \"Never\" is none of "
                                  "None, NoSchedule, NoExecute"},
    {"{name: a, shares: 0}", "F:1:29: devices[0].shares: a whole number from 1 to "
                             "1048576 is wanted here"},
    {"{name: a, shares: 2, capacity: {shares: 2}}",
     "F:1:51: devices[0].capacity[shares]: shares has a capacity of this name already"},
    {"{name: a, capacity: {m: many}}", "F:1:35: devices[0].capacity[m]: a quantity is "
                                       "wanted here, such as 4, 16Gi or 100M"},
    {"{name: a, capacity: {m: {value: 1, policy: {default: 1}}}}",
     "F:1:35: devices[0].capacity[m]: a policy is for devices with shared: true"},
    {"{name: a, shared: true, capacity: {m: {value: 1, policy: {default: 1, max: 2}}}}",
     "F:1:68: devices[0].capacity[m].policy: min is missing beside max or step"},
    {"{name: a, attributes: {1x: a}}", "F:1:38: devices[0].attributes[1x]: \"1x\" is no "
                                       "name: at most 32 letters, digits and _, no digit "
                                       "first"},
    {"{name: a, attributes: {x: 1.5}}",
     "F:1:37: devices[0].attributes[x]: a whole number "
     "from -9223372036854775808 to 9223372036854775807 "
     "is wanted here"},
    {"{name: a, attributes: {x: {version: one}}}",
     "F:1:47: devices[0].attributes[x].version: \"one\" is no version such as 1.2.3"},
    {"{name: a, attributes: {x: [1, a]}}",
     "F:1:41: devices[0].attributes[x][1]: values of one type are wanted in a list"},
    {"{name: a, consumes: {s: {m: 1}}}", "F:1:31: devices[0].consumes: there is no "
                                         "counter \"m\" in counters[s]"},
    {"{name: a, nodes: [{hostPath: /x}]}",
     "F: devices[0].nodes[0].path: a path is missing here"},
    {"{name: a, nodes: [x]}",
     "F:1:29: devices[0].nodes[0]: a path from / on is wanted here"},
    {"{name: a, nodes: [{path: /x, permissions: rx}]}",
     "F:1:53: devices[0].nodes[0].permissions: letters of rwm are wanted here"},
    {"{name: a, env: [x]}", "F:1:26: devices[0].env: a map is wanted here, not list"},
    {"{name: a, env: {x: [1]}}",
     "F:1:30: devices[0].env[x]: a text is wanted here, not list"},
    {"{name: n}",
     "F:1:18: devices[0].name: a text is wanted here, not boolean: put it into quotes"},
    {"{name: a, taints: [{key: k}]}",
     "F: devices[0].taints[0].effect: None, NoSchedule or NoExecute is wanted here"},
    {"{name: a, name: b}", "F:1:21: devices[0].name: this is here twice"},
};

static void test_wrong(void **state)
{
    (void)state;
    for (size_t i = 0; i < UNIT_COUNT(WRONG); i++) {
        struct arena a = {0};
        struct err e = ERR_INIT;
        struct file_table t;
        struct str text = arena_printf(&a, "devices: [%s]\n", WRONG[i].text);
        ROW(WRONG[i].text, !file_read(text, "F", &a, &t, &e));
        if (strcmp(err_text(&e), WRONG[i].says) != 0)
            fail_msg("%s\n got  %s\n want %s", WRONG[i].text, err_text(&e),
                     WRONG[i].says);
        err_release(&e);
        arena_fini(&a);
    }
}

/* The files that the project ships. */
static const char *sources;

static void test_examples(void **state)
{
    static const char *const FILES[] = {"fuse", "kvm", "serial"};
    (void)state;
    for (size_t i = 0; i < UNIT_COUNT(FILES) && sources; i++) {
        struct arena a = {0};
        struct err e = ERR_INIT;
        struct driver_inventory v;
        struct driver_discover_opts o = {.driver = STR("x.example.com")};
        struct str path =
            arena_printf(&a, "%s/examples/devices/%s.yaml", sources, FILES[i]);
        struct driver_backend *b = driver_backend_file_new(path.p, &o, &e);
        if (!b || !b->ops->discover(b, &a, &v, &e))
            fail_msg("%s", err_text(&e));
        driver_backend_free(b);
        arena_fini(&a);
    }
}

int main(int argc, char **argv)
{
    sources = argc > 1 ? argv[1] : NULL;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_offered),       cmocka_unit_test(test_hot_plug),
        cmocka_unit_test(test_spoilt),        cmocka_unit_test(test_wrong),
        cmocka_unit_test(test_two_of_a_name), cmocka_unit_test(test_examples),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
