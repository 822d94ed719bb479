/* SPDX-License-Identifier: Apache-2.0 */
/* Files that are whole or not there. */
#include "unit/unit.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "node/disk.h"

static char dir[64];
static struct arena a;

static int setup(void **state)
{
    (void)state;
    snprintf(dir, sizeof dir, "/tmp/dray-disk-XXXXXX");
    return mkdtemp(dir) ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    disk_remove_tree(dir, NULL);
    arena_fini(&a);
    return 0;
}

static const char *in(const char *name)
{
    return arena_printf(&a, "%s/%s", dir, name).p;
}

static uint32_t mode_of(const char *path)
{
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    return st.st_mode & 07777;
}

static void test_write_and_read(void **state)
{
    (void)state;
    struct str text;
    struct err e = ERR_INIT;
    umask(077);
    assert_true(disk_write(in("f"), STR("one"), 0644, NULL));
    assert_int_equal(mode_of(in("f")), 0644);
    assert_true(disk_place(in("f"), STR("two"), 0600, NULL));
    assert_true(disk_read(in("f"), 3, &a, &text, NULL));
    assert_str(text, "two");
    assert_false(disk_read(in("f"), 2, &a, &text, &e));
    assert_int_equal(e.code, ERR_LIMIT);
    assert_false(disk_read(in("g"), 2, &a, &text, &e));
    assert_int_equal(e.code, ERR_NOT_FOUND);
    assert_int_equal(access(in("f.tmp"), F_OK), -1);
    err_release(&e);
}

/* What is asked for twice is written once. */
static void test_only_changes_are_written(void **state)
{
    (void)state;
    bool changed = false;
    struct stat before, after;
    assert_true(disk_update(in("f"), STR("x"), 0644, &changed, NULL));
    assert_true(changed);
    changed = false;
    assert_int_equal(stat(in("f"), &before), 0);
    assert_true(disk_update(in("f"), STR("x"), 0644, &changed, NULL));
    assert_true(disk_place(in("f"), STR("x"), 0644, NULL));
    assert_false(changed);
    assert_int_equal(stat(in("f"), &after), 0);
    assert_int_equal(before.st_ino, after.st_ino);
    static const struct {
        const char *text;
        bool same;
    } rows[] = {{"x", true}, {"", false}, {"xx", false}, {"y", false}};
    for (size_t i = 0; i < UNIT_COUNT(rows); i++)
        ROW(rows[i].text, disk_holds(in("f"), str_from(rows[i].text)) == rows[i].same);
    assert_false(disk_holds(in("g"), STR("")));
    char big[10000];
    memset(big, 'b', sizeof big);
    assert_true(disk_place(in("f"), (struct str){big, sizeof big}, 0644, NULL));
    assert_true(disk_holds(in("f"), (struct str){big, sizeof big}));
    assert_false(disk_holds(in("f"), (struct str){big, sizeof big - 1}));
    assert_false(disk_holds(in("f"), (struct str){big, 4096}));
}

/* A link in the place of the file in the making is nobody's way to another file. */
static void test_links_are_not_followed(void **state)
{
    (void)state;
    struct str text;
    assert_true(disk_write(in("precious"), STR("p"), 0600, NULL));
    assert_int_equal(symlink(in("precious"), in("f.tmp")), 0);
    assert_false(disk_write(in("f"), STR("x"), 0600, NULL));
    assert_true(disk_make_dirs(in("tree/a/b"), NULL));
    assert_int_equal(symlink(dir, in("tree/a/link")), 0);
    assert_true(disk_remove_tree(in("tree"), NULL));
    assert_int_equal(access(in("tree"), F_OK), -1);
    assert_int_equal(symlink(dir, in("tree")), 0);
    assert_true(disk_remove_tree(in("tree"), NULL));
    assert_int_equal(access(in("tree"), F_OK), -1);
    assert_true(disk_read(in("precious"), 9, &a, &text, NULL));
    assert_str(text, "p");
}

static void test_directories(void **state)
{
    (void)state;
    umask(077);
    assert_true(disk_make_dirs(in("a/b/c"), NULL));
    assert_true(disk_make_dirs(in("a/b/c/"), NULL));
    assert_int_equal(mode_of(in("a/b")), 0755);
    assert_true(disk_write(in("a/f"), STR(""), 0644, NULL));
    assert_false(disk_make_dirs(in("a/f/g"), NULL));
    assert_true(disk_remove(in("a/none"), NULL));
    assert_true(disk_remove_tree(in("none"), NULL));
    assert_true(disk_remove_tree(in("a/f"), NULL));
    assert_int_equal(access(in("a/f"), F_OK), -1);
    assert_false(disk_remove(in("a"), NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_write_and_read, setup, teardown),
        cmocka_unit_test_setup_teardown(test_only_changes_are_written, setup, teardown),
        cmocka_unit_test_setup_teardown(test_links_are_not_followed, setup, teardown),
        cmocka_unit_test_setup_teardown(test_directories, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
