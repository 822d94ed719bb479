/* SPDX-License-Identifier: Apache-2.0 */
/* The journal, cut at every byte, damaged at every byte, on a disk that fails at every
 * call, and in a process that dies at every call. */
#include "unit/unit.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "driver/journal.h"
#include "node/disk.h"
#include "unit/driver/faults.h"

static char dir[64];

static int setup(void **state)
{
    (void)state;
    snprintf(dir, sizeof dir, "/tmp/dray-journal-XXXXXX");
    return mkdtemp(dir) ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    disk_remove_tree(dir, NULL);
    return 0;
}

static const char *path_of(const char *name)
{
    static char path[128];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    return path;
}

/* ---- a journal and what it says ---- */

static uint32_t complaints;

static void found(void *ctx, struct str key, struct str value)
{
    (void)ctx;
    (void)key;
    (void)value;
}

static void complain(void *ctx, const char *text)
{
    (void)ctx;
    (void)text;
    complaints++;
}

static struct journal *open_now(void)
{
    const struct journal_user user = {NULL, found, complain};
    struct err e = ERR_INIT;
    complaints = 0;
    struct journal *j = journal_open(dir, "j", &user, &e);
    if (!j)
        fail_msg("%s", err_text(&e));
    return j;
}

static void put(struct journal *j, const char *key, const char *value)
{
    journal_put(j, str_from(key), str_from(value));
}

static void is(struct journal *j, const char *key, const char *value)
{
    struct str got = journal_get(j, str_from(key));
    if (value)
        assert_str(got, value);
    else
        assert_null(got.p);
}

static void write_raw(struct str text)
{
    assert_true(disk_write(path_of("j"), text, 0600, NULL));
}

/* Without the room behind it. */
static struct str read_raw(struct arena *a)
{
    struct str text;
    assert_true(disk_read(path_of("j"), 1 << 24, a, &text, NULL));
    while (text.n > 0 && text.p[text.n - 1] == '\0')
        text.n--;
    return text;
}

/* ---- tests ---- */

static void test_what_was_put_is_there(void **state)
{
    (void)state;
    struct journal *j = open_now();
    put(j, "a", "{\"x\": 1}");
    put(j, "b", "");
    put(j, "a", "{\"x\": 2}");
    journal_del(j, STR("c"));
    put(j, "d", "4");
    journal_del(j, STR("d"));
    assert_true(journal_dirty(j));
    assert_true(journal_sync(j, NULL));
    assert_false(journal_dirty(j));
    journal_close(j);
    j = open_now();
    is(j, "a", "{\"x\": 2}");
    is(j, "b", "");
    is(j, "c", NULL);
    is(j, "d", NULL);
    journal_close(j);
}

/* Bytes that version 1 wrote: they are read for ever. */
static const char V1[] = "ffaefe3a dray-claims 1\n"
                         "49f4bd33 put 0a-b {\"phase\":\"prepared\"}\n"
                         "82719b06 put 1c {}\n"
                         "282e2dd9 del 1c\n";

static void test_version_1_is_read(void **state)
{
    (void)state;
    write_raw(STR(V1));
    struct journal *j = open_now();
    assert_int_equal(complaints, 0);
    is(j, "0a-b", "{\"phase\":\"prepared\"}");
    is(j, "1c", NULL);
    journal_close(j);
}

static void test_newer_versions_are_left_alone(void **state)
{
    (void)state;
    static const char text[] = "66a7af80 dray-claims 2\nXXXXXXXX put a b\n";
    const struct journal_user user = {NULL, found, complain};
    struct arena a = {0};
    struct err e = ERR_INIT;
    write_raw(STR(text));
    assert_null(journal_open(dir, "j", &user, &e));
    assert_int_equal(e.code, ERR_UNSUPPORTED);
    assert_str(read_raw(&a), text);
    err_release(&e);
    arena_fini(&a);
}

static void test_other_words_are_kept(void **state)
{
    (void)state;
    static const char note[] = "cd2cb8e7 note x of a later version\n";
    struct arena a = {0};
    struct journal *j = open_now();
    journal_close(j);
    struct str head = read_raw(&a);
    write_raw(arena_printf(&a, "%.*s%sdamage\n", STR_ARG(head), note));
    j = open_now(); /* written anew, for the damage */
    assert_int_equal(complaints, 1);
    journal_close(j);
    assert_true(str_find(read_raw(&a), STR(note)) != SIZE_MAX);
    assert_true(str_find(read_raw(&a), STR("damage")) == SIZE_MAX);
    arena_fini(&a);
}

/* Wherever the machine stopped: what stands before is there, and nobody complains. */
static void test_cut_at_every_byte(void **state)
{
    (void)state;
    static const char tail[] = "\0\0\0\0\0\0\0";
    for (size_t n = 0; n < sizeof V1; n++) {
        for (size_t zeros = 0; zeros < sizeof tail; zeros += 6) {
            struct arena a = {0};
            char *text = arena_zalloc(&a, n + zeros);
            memcpy(text, V1, n);
            write_raw((struct str){text, n + zeros});
            struct journal *j = open_now();
            size_t lines = 0;
            for (size_t i = 0; i < n; i++)
                lines += V1[i] == '\n';
            assert_int_equal(complaints, 0);
            is(j, "0a-b", lines >= 2 ? "{\"phase\":\"prepared\"}" : NULL);
            is(j, "1c", lines == 3 ? "{}" : NULL);
            put(j, "new", "n");
            assert_true(journal_sync(j, NULL));
            journal_close(j);
            j = open_now();
            assert_int_equal(complaints, 0);
            is(j, "new", "n");
            journal_close(j);
            arena_fini(&a);
        }
    }
}

/* Of the last write the disk may have taken any part; there are zeros for the rest. */
static void test_torn_anywhere(void **state)
{
    (void)state;
    size_t last = sizeof V1 - 1 - sizeof "282e2dd9 del 1c";
    for (size_t from = last; from < sizeof V1 - 1; from++) {
        for (size_t to = from + 1; to < sizeof V1; to++) {
            char text[sizeof V1 + 8] = {0};
            memcpy(text, V1, sizeof V1);
            memset(text + from, 0, to - from);
            write_raw((struct str){text, sizeof text});
            struct journal *j = open_now();
            assert_int_equal(complaints, 0);
            is(j, "0a-b", "{\"phase\":\"prepared\"}");
            is(j, "1c", "{}");
            put(j, "new", "n");
            assert_true(journal_sync(j, NULL));
            journal_close(j);
            j = open_now();
            assert_int_equal(complaints, 0);
            is(j, "new", "n");
            journal_close(j);
        }
    }
}

/* A changed byte costs its line, or two if it was the end of one; they are kept aside,
 * said once, and the others stand. */
static void test_damaged_at_every_byte(void **state)
{
    (void)state;
    for (size_t n = 0; n + 1 < sizeof V1 - 1; n++) {
        char text[sizeof V1];
        memcpy(text, V1, sizeof V1);
        text[n] ^= 0x10; /* makes no line feed of these */
        write_raw((struct str){text, sizeof V1 - 1});
        unlink(path_of("j.damaged"));
        struct journal *j = open_now();
        assert_int_equal(complaints, 1);
        assert_true(journal_has_damage(j));
        bool first = n < sizeof "ffaefe3a dray-claims 1" - 1;
        if (first)
            is(j, "0a-b", "{\"phase\":\"prepared\"}");
        journal_close(j);
        j = open_now();
        assert_int_equal(complaints, 0);
        assert_true(journal_has_damage(j));
        journal_close(j);
    }
    unlink(path_of("j.damaged"));
}

static void test_two_processes(void **state)
{
    (void)state;
    struct journal *a = open_now(), *b = open_now();
    put(a, "x", "1");
    assert_true(journal_sync(a, NULL));
    assert_true(journal_follow(b, NULL));
    is(b, "x", "1");
    put(b, "x", "2");
    put(b, "y", "3");
    assert_true(journal_write(b, NULL));
    assert_true(journal_follow(a, NULL));
    is(a, "x", "2");
    char big[4096];
    memset(big, 'v', sizeof big);
    for (int i = 0; i < 300; i++) /* past what makes it new */
        journal_put(a, STR("big"), (struct str){big, sizeof big});
    assert_true(journal_sync(a, NULL));
    struct arena raw = {0};
    assert_true(read_raw(&raw).n < 20000);
    arena_fini(&raw);
    journal_del(a, STR("x"));
    assert_true(journal_sync(a, NULL));
    assert_true(journal_follow(b, NULL));
    is(b, "x", NULL);
    is(b, "y", "3");
    assert_int_equal(journal_get(b, STR("big")).n, sizeof big);
    journal_close(a);
    journal_close(b);
}

/* A file that cannot be opened for a while, and is there again. */
static void test_gone_for_a_while(void **state)
{
    (void)state;
    struct journal *a = open_now(), *b = open_now();
    char away[sizeof dir + 8];
    snprintf(away, sizeof away, "%s/away", dir);
    put(a, "x", "1");
    assert_true(journal_sync(a, NULL));
    assert_int_equal(rename(path_of("j"), away), 0);
    assert_int_equal(mkdir(path_of("j"), 0700), 0);
    assert_false(journal_follow(a, NULL));
    assert_false(journal_follow(a, NULL));
    is(a, "x", "1");
    assert_int_equal(rmdir(path_of("j")), 0);
    assert_int_equal(rename(away, path_of("j")), 0);
    assert_true(journal_follow(b, NULL));
    put(b, "x", "2");
    assert_true(journal_sync(b, NULL));
    assert_true(journal_follow(a, NULL));
    is(a, "x", "2");
    put(a, "y", "3");
    assert_true(journal_sync(a, NULL));
    journal_close(a);
    journal_close(b);
}

/* ---- faults ---- */

enum { STEPS = 6 };

/* The same changes, as often as it is asked; what is there after the first n of them. */
static void change(struct journal *j, uint32_t step)
{
    static const struct {
        const char *key, *value;
    } steps[STEPS] = {{"a", "1"},  {"b", "2"}, {"a", "3"},
                      {"b", NULL}, {"c", "4"}, {"a", NULL}};
    if (steps[step].value)
        put(j, steps[step].key, steps[step].value);
    else
        journal_del(j, str_from(steps[step].key));
}

static bool matches(struct journal *j, uint32_t n)
{
    static const char *const want[][3] = {
        {NULL, NULL, NULL}, {"1", NULL, NULL}, {"1", "2", NULL}, {"3", "2", NULL},
        {"3", NULL, NULL},  {"3", NULL, "4"},  {NULL, NULL, "4"}};
    static const char *const keys[] = {"a", "b", "c"};
    for (int i = 0; i < 3; i++) {
        struct str got = journal_get(j, str_from(keys[i]));
        if (want[n][i] ? !str_is(got, want[n][i]) : got.p != NULL)
            return false;
    }
    return true;
}

/* Whatever fails, memory is right, and the disk becomes so as soon as it can be. */
static void test_disk_fails_at_every_call(void **state)
{
    (void)state;
    for (int stuck = 0; stuck < 2; stuck++) {
        bool struck = true;
        uint32_t at = 0;
        while (struck) {
            at++;
            unlink(path_of("j"));
            struct journal *j = open_now();
            faults_arm(stuck ? FAULT_STUCK : FAULT_FAIL, at);
            for (uint32_t i = 0; i < STEPS; i++) {
                change(j, i);
                journal_sync(j, NULL);
                assert_true(matches(j, i + 1));
            }
            struck = faults_struck();
            faults_disarm();
            assert_true(journal_sync(j, NULL));
            journal_close(j);
            j = open_now();
            assert_int_equal(complaints, 0);
            assert_true(matches(j, STEPS));
            journal_close(j);
        }
        assert_true(at > (stuck ? STEPS : 2 * STEPS)); /* a write and a sync each */
    }
}

/* What a sync has confirmed is there after the process died, and nothing that was never
 * put. */
static void test_dies_at_every_call(void **state)
{
    (void)state;
    uint32_t *done = mmap(NULL, sizeof *done, PROT_READ | PROT_WRITE,
                          MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int status = FAULT_STATUS << 8;
    uint32_t at = 0;
    while (WEXITSTATUS(status) == FAULT_STATUS) {
        at++;
        unlink(path_of("j"));
        *done = 0;
        pid_t pid = fork();
        if (pid == 0) {
            faults_arm(FAULT_DIE, at);
            const struct journal_user user = {NULL, found, complain};
            struct journal *j = journal_open(dir, "j", &user, NULL);
            for (uint32_t i = 0; j && i < STEPS; i++) {
                change(j, i);
                if (i % 2 && journal_sync(j, NULL))
                    *done = i + 1;
            }
            _exit(0);
        }
        assert_int_equal(waitpid(pid, &status, 0), pid);
        struct journal *j = open_now();
        assert_int_equal(complaints, 0);
        bool ok = false;
        for (uint32_t n = *done; n <= STEPS; n++)
            ok |= matches(j, n);
        if (!ok)
            fail_msg("died at call %u: %u changes were confirmed", at, *done);
        journal_close(j);
    }
    assert_true(at > STEPS);
    munmap(done, sizeof *done);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_what_was_put_is_there, setup, teardown),
        cmocka_unit_test_setup_teardown(test_version_1_is_read, setup, teardown),
        cmocka_unit_test_setup_teardown(test_newer_versions_are_left_alone, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_other_words_are_kept, setup, teardown),
        cmocka_unit_test_setup_teardown(test_cut_at_every_byte, setup, teardown),
        cmocka_unit_test_setup_teardown(test_torn_anywhere, setup, teardown),
        cmocka_unit_test_setup_teardown(test_damaged_at_every_byte, setup, teardown),
        cmocka_unit_test_setup_teardown(test_two_processes, setup, teardown),
        cmocka_unit_test_setup_teardown(test_gone_for_a_while, setup, teardown),
        cmocka_unit_test_setup_teardown(test_disk_fails_at_every_call, setup, teardown),
        cmocka_unit_test_setup_teardown(test_dies_at_every_call, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
