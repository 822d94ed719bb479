/* SPDX-License-Identifier: Apache-2.0 */
#include "server/audit/audit_file.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "unit/unit.h"

/* 2026-01-31T12:00:00.000Z */
static int64_t clock_now = 1769860800000;

static int64_t fixed_clock(void)
{
    return clock_now;
}

static char folder[] = "/tmp/dray-audit-XXXXXX";
static char path[sizeof folder + 16];

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

/* "NAME:SIZE NAME:SIZE" of all that is in the folder. */
static const char *listing(void)
{
    static char text[1024];
    struct dirent **all;
    int n = scandir(folder, &all, NULL, by_name);
    text[0] = '\0';
    for (int i = 0; i < n; i++) {
        char one[512];
        struct stat st;
        snprintf(one, sizeof one, "%s/%s", folder, all[i]->d_name);
        if (all[i]->d_name[0] != '.' && stat(one, &st) == 0) {
            size_t at = strlen(text);
            snprintf(text + at, sizeof text - at, "%s%s:%d", at ? " " : "",
                     all[i]->d_name, (int)st.st_size);
        }
        free(all[i]);
    }
    free(all);
    return text;
}

static void clear(void)
{
    char command[sizeof folder + 32];
    snprintf(command, sizeof command, "rm -f %s/*", folder);
    assert_int_equal(system(command), 0);
}

static struct audit_file *open_log(uint64_t bytes, uint32_t kept, uint32_t days)
{
    struct audit_file_opts opts = {path, bytes, kept, days, fixed_clock, false};
    struct audit_file *f = audit_file_new(&opts, NULL);
    assert_non_null(f);
    return f;
}

static void write_lines(struct audit_file *f, int n)
{
    for (int i = 0; i < n; i++) {
        assert_true(audit_file_write(f, STR("123456789\n")));
        clock_now += 1000;
    }
}

static void test_size(void **state)
{
    (void)state;
    clear();
    struct audit_file *f = open_log(25, 0, 0);
    write_lines(f, 5);
    assert_string_equal(listing(), "a-2026-01-31T12-00-02.000.log:20 "
                                   "a-2026-01-31T12-00-04.000.log:20 a.log:10");
    audit_file_free(f);
    f = open_log(25, 0, 0); /* goes on where it was */
    write_lines(f, 1);
    assert_true(audit_file_write(f, STR("a line that is longer than any file\n")));
    assert_true(audit_file_write(f, STR("1\n")));
    assert_string_equal(listing(), "a-2026-01-31T12-00-02.000.log:20 "
                                   "a-2026-01-31T12-00-04.000.log:20 "
                                   "a-2026-01-31T12-00-06.000.log:20 "
                                   "a-2026-01-31T12-00-06.001.log:36 a.log:2");
    audit_file_free(f);
}

static void test_kept(void **state)
{
    (void)state;
    clear();
    struct audit_file *f = open_log(10, 2, 0);
    write_lines(f, 5);
    audit_file_free(f);
    assert_string_equal(listing(), "a-2026-01-31T12-00-09.000.log:10 "
                                   "a-2026-01-31T12-00-10.000.log:10 a.log:10");
}

static void test_age(void **state)
{
    (void)state;
    clear();
    struct audit_file *f = open_log(10, 0, 1);
    write_lines(f, 2);
    clock_now += (int64_t)25 * 3600 * 1000;
    write_lines(f, 1);
    audit_file_free(f);
    assert_string_equal(listing(), "a-2026-02-01T13-00-13.000.log:10 a.log:10");
    clock_now += (int64_t)25 * 3600 * 1000;
    audit_file_free(open_log(10, 0, 1)); /* at a start, too */
    assert_string_equal(listing(), "a.log:10");
}

/* What only looks like one of ours is nobody's to remove. */
static void test_others(void **state)
{
    static const char *const NAMES[] = {
        "a-2026-01-31T12-00-00.000.txt", "b-2026-01-31T12-00-00.000.log",
        "a-2026-01-31T12-00-00.0x0.log", "a-.log", "a-2026-01-31 12-00-00.000.log"};
    (void)state;
    clear();
    for (size_t i = 0; i < UNIT_COUNT(NAMES); i++) {
        char one[512];
        snprintf(one, sizeof one, "%s/%s", folder, NAMES[i]);
        close(open(one, O_CREAT | O_WRONLY, 0600));
    }
    struct audit_file *f = open_log(10, 1, 1);
    write_lines(f, 4);
    audit_file_free(f);
    for (size_t i = 0; i < UNIT_COUNT(NAMES); i++)
        ROW(NAMES[i], strstr(listing(), NAMES[i]) != NULL);
}

static void test_no_limits(void **state)
{
    (void)state;
    clear();
    struct audit_file *f = open_log(0, 1, 1);
    write_lines(f, 50);
    audit_file_free(f);
    assert_string_equal(listing(), "a.log:500");
}

static void wait_until_packed(void)
{
    for (int i = 0; i < 6000 && strstr(listing(), "000.log:"); i++)
        usleep(10000);
    assert_null(strstr(listing(), "000.log:"));
}

static void check_packed(const char *name, const char *want)
{
    char one[512], got[64] = "";
    snprintf(one, sizeof one, "%s/%s", folder, name);
    gzFile z = gzopen(one, "rb");
    assert_non_null(z);
    assert_int_equal(gzread(z, got, sizeof got - 1), (int)strlen(want));
    assert_string_equal(got, want);
    assert_false(gzdirect(z));
    gzclose(z);
}

static struct audit_file *open_packing(void)
{
    struct audit_file_opts opts = {path, 10, 2, 0, fixed_clock, true};
    struct audit_file *f = audit_file_new(&opts, NULL);
    assert_non_null(f);
    return f;
}

/* One that an earlier life left half packed is packed anew; a packed one is kept and
 * dropped as others are. */
static void test_compress(void **state)
{
    (void)state;
    clear();
    clock_now = 1769860800000;
    struct audit_file *f = open_log(10, 0, 0);
    write_lines(f, 2);
    audit_file_free(f);
    char half[512];
    snprintf(half, sizeof half, "%s/a-2026-01-31T12-00-01.000.log.gz", folder);
    close(open(half, O_CREAT | O_WRONLY, 0600));
    f = open_packing();
    wait_until_packed();
    check_packed("a-2026-01-31T12-00-01.000.log.gz", "123456789\n");
    for (int i = 0; i < 3; i++) {
        write_lines(f, 1);
        wait_until_packed();
        audit_file_free(f); /* or the thread might not be done with its last line */
        f = open_packing();
    }
    assert_null(strstr(listing(), "12-00-02"));
    check_packed("a-2026-01-31T12-00-03.000.log.gz", "123456789\n");
    check_packed("a-2026-01-31T12-00-04.000.log.gz", "123456789\n");
    audit_file_free(f);
}

static int set_up(void **state)
{
    (void)state;
    if (!mkdtemp(folder))
        return -1;
    snprintf(path, sizeof path, "%s/a.log", folder);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    clear();
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_size),      cmocka_unit_test(test_kept),
        cmocka_unit_test(test_age),       cmocka_unit_test(test_others),
        cmocka_unit_test(test_no_limits), cmocka_unit_test(test_compress)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
