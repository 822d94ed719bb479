/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/options.h"

#include "unit/unit.h"

struct target {
    const char *text, *list;
    bool flag;
    uint32_t count;
    uint64_t time;
    int calls;
};

static bool call(void *into, const char *value, struct err *e)
{
    struct target *t = into;
    t->calls++;
    return strcmp(value, "no") != 0 || err_set(e, ERR_INVALID, "that is no value");
}

#define AT(member) offsetof(struct target, member)
static const struct option_row ROWS[] = {
    {NULL, NULL, 0, 0, "First"},
    {"text", "TEXT", OPTION_TEXT, AT(text), "a text"},
    {"list", "A,...", OPTION_LIST, AT(list), "texts"},
    {NULL, NULL, 0, 0, "Second"},
    {"flag", NULL, OPTION_FLAG, AT(flag), "a switch"},
    {"count", "N", OPTION_COUNT, AT(count), "a number"},
    {"time", "T", OPTION_DURATION, AT(time), "a time"},
    {"call", "X", OPTION_CALL, 0, "a call", call},
};
static const struct option_table TABLE = {ROWS, UNIT_COUNT(ROWS)};

enum { MAX_WORDS = 16 };

/* words end with NULL. */
static bool read(const char *const *words, struct target *t, bool *help, struct arena *a,
                 struct err *e)
{
    char *argv[MAX_WORDS + 1] = {NULL};
    int argc = 0;
    for (; words[argc]; argc++)
        argv[argc] = arena_strdup(a, words[argc]);
    *t = (struct target){0};
    return options_read(&TABLE, argc, argv, a, t, help, e);
}

static void test_values(void **state)
{
    static const char *const argv[] = {
        "x",      "--text",  "a", "--text=b", "--list", "1",          "--list=2,3",
        "--flag", "--count", "7", "--time",   "1m30s",  "--call=yes", NULL};
    static const char *const off[] = {"x", "--flag", "--flag=false", "--help", NULL};
    struct arena a = {0};
    struct target t;
    bool help = false;
    (void)state;
    assert_true(read(argv, &t, &help, &a, NULL));
    assert_string_equal(t.text, "b");
    assert_string_equal(t.list, "1,2,3");
    assert_true(t.flag);
    assert_int_equal(t.count, 7);
    assert_int_equal(t.time, 90000);
    assert_int_equal(t.calls, 1);
    assert_false(help);
    assert_true(read(off, &t, &help, &a, NULL));
    assert_false(t.flag);
    assert_true(help);
    arena_fini(&a);
}

static void test_wrong(void **state)
{
    static const struct {
        const char *one, *two;
        const char *error;
    } rows[] = {
        {"--none", NULL, "there is no option --none; --help lists them"},
        {"--text", NULL, "--text: a value is missing"},
        {"--count", "x", "--count x: write a number"},
        {"--count", "-1", "--count -1: write a number"},
        {"--flag=maybe", NULL, "--flag maybe: write true or false"},
        {"--time", "5", "--time 5: write a duration, such as 30s or 1m30s"},
        {"--call", "no", "--call no: that is no value"},
        {"word", NULL, "\"word\" is no option"},
    };
    struct arena a = {0};
    (void)state;
    for (size_t i = 0; i < UNIT_COUNT(rows); i++) {
        const char *argv[] = {"x", rows[i].one, rows[i].two, NULL};
        struct err e = ERR_INIT;
        struct target t;
        bool help = false;
        ROW(rows[i].error, !read(argv, &t, &help, &a, &e));
        assert_string_equal(err_text(&e), rows[i].error);
        err_release(&e);
    }
    arena_fini(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_wrong),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
