/* SPDX-License-Identifier: Apache-2.0 */
/* What the back ends that read sysfs find, in trees as the kernel's and the vendors'
 * public documentation describe them. */
#include <stdlib.h>

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

/* ---- trees of real machines, where the shared cases are ---- */

static const char *sources;

static const struct {
    const char *archive, *folder;
    make_fn *make;
    const char *has[6]; /* NULL ends them */
} ARCHIVES[] = {
#include "backends_archives.inc"
};

static const char *shared(void)
{
    const char *s = getenv("DRAY_SHARED");
    return s ? s : "../shared";
}

/* false: the archive is not there. */
static bool unpack(const char *archive, const char *into)
{
    char command[512];
    snprintf(command, sizeof command,
             "cd '%s' && test -e '%s/corpus/sysfs/%s' && "
             "tar xjf '%s/corpus/sysfs/%s' -C '%s' 2>/dev/null",
             sources ? sources : ".", shared(), archive, shared(), archive, into);
    return system(command) == 0;
}

static void test_archives(void **state)
{
    unsigned found = 0;
    (void)state;
    for (size_t i = 0; i < UNIT_COUNT(ARCHIVES); i++) {
        struct tree t;
        struct arena a = {0};
        struct err e = ERR_INIT;
        struct driver_inventory v;
        tree_open(&t);
        if (unpack(ARCHIVES[i].archive, t.root)) {
            struct str root = arena_printf(&a, "%s/%s", t.root, ARCHIVES[i].folder);
            struct driver_discover_opts o = {STR("x.example.com"), root, false};
            struct driver_backend *b = ARCHIVES[i].make(&o);
            assert_true(b->ops->discover(b, &a, &v, &e));
            struct str got = tree_show(&v, &a);
            for (size_t k = 0; k < 6 && ARCHIVES[i].has[k]; k++)
                if (!strstr(got.p, ARCHIVES[i].has[k]))
                    fail_msg("%s: no\n%s in\n%s", ARCHIVES[i].archive, ARCHIVES[i].has[k],
                             got.p);
            driver_backend_free(b);
            found++;
        }
        tree_close(&t);
        arena_fini(&a);
    }
    if (!found)
        skip();
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_archives),
    };
    sources = argc > 1 ? argv[1] : NULL;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
