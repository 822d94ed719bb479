/* SPDX-License-Identifier: Apache-2.0 */
/* What the back ends that read sysfs find, in trees as the kernel's and the vendors'
 * public documentation describe them. */
#include "driver/discover.h"
#include "tree.h"
#include "unit/unit.h"

typedef struct driver_backend *make_fn(const struct driver_discover_opts *o);

static const struct {
    const char *name;
    make_fn *make;
    const char *tree, *shown;
} ROWS[] = {
#include "backends_gpu.inc"
#include "backends_net.inc"
};

static void test_rows(void **state)
{
    (void)state;
    for (size_t i = 0; i < UNIT_COUNT(ROWS); i++) {
        struct tree t;
        struct arena a = {0};
        struct err e = ERR_INIT;
        struct driver_inventory v;
        tree_open(&t);
        tree_fill(&t, ROWS[i].tree);
        struct driver_discover_opts o = {STR("x.example.com"), str_from(t.root), false};
        struct driver_backend *b = ROWS[i].make(&o);
        for (int round = 0; round < 2; round++) {
            if (!b->ops->discover(b, &a, &v, &e))
                fail_msg("row '%s': %s", ROWS[i].name, err_text(&e));
            struct str got = tree_show(&v, &a);
            if (!str_is(got, ROWS[i].shown))
                fail_msg("row '%s':\n got\n%s\n want\n%s", ROWS[i].name, got.p,
                         ROWS[i].shown);
        }
        driver_backend_free(b);
        tree_close(&t);
        arena_fini(&a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_rows)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
