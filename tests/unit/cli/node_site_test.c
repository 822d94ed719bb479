/* SPDX-License-Identifier: Apache-2.0 */
/* Which driver of which node. */
#include "cli/node_site.h"

#include <stdio.h>
#include <stdlib.h>

#include "unit/unit.h"

/* In the place of the C library's. */
int __wrap_gethostname(char *name, size_t n);
int __wrap_gethostname(char *name, size_t n)
{
    snprintf(name, n, "Node-A.Example");
    return 0;
}

static void test_what_was_not_said(void **state)
{
    struct arena a = {0};
    unsetenv("NODE_NAME");
    struct node_site s = node_site_of(NULL, "", NULL, NULL, &a);
    assert_str(s.driver, "device.dray.dev");
    assert_str(s.node, "node-a.example");
    assert_str(s.kubelet_dir, "/var/lib/kubelet");
    assert_str(s.cdi_dir, "/var/run/cdi");
    arena_fini(&a);
}

static void test_what_was_said(void **state)
{
    struct arena a = {0};
    setenv("NODE_NAME", "n", 1);
    assert_str(node_site_of(NULL, NULL, NULL, NULL, &a).node, "n");
    struct node_site s = node_site_of("d.example.com", "m", "/k", "/c", &a);
    assert_str(s.driver, "d.example.com");
    assert_str(s.node, "m");
    assert_str(s.kubelet_dir, "/k");
    assert_str(s.cdi_dir, "/c");
    unsetenv("NODE_NAME");
    arena_fini(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_was_not_said),
        cmocka_unit_test(test_what_was_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
