/* SPDX-License-Identifier: Apache-2.0 */
#include "unit/unit.h"

#include "device/device.h"

struct fixture {
    struct arena arena;
    struct device_names names;
    struct device_env *env;
    struct cel_run run;
};

static void setup(struct fixture *f)
{
    const struct device_env_opts opts = {.kind = DEVICE_ENV_STORED};
    arena_init(&f->arena);
    device_names_init(&f->names);
    cel_run_init(&f->run);
    f->env = device_env_new(&opts, &f->names);
}

static void teardown(struct fixture *f)
{
    device_env_free(f->env);
    cel_run_fini(&f->run);
    device_names_fini(&f->names);
    arena_fini(&f->arena);
}

/* Device i: an index of its own, one of three models, now and then no zone, an even
 * memory twice. */
static struct device_facts device(struct fixture *f, unsigned i)
{
    static const char *const models[] = {"H100", "A100", "L4"};
    struct device_attr attrs[] = {
        {STR("index"), {.kind = DEVICE_ATTR_INT, .i = i}},
        {STR("model"), {.kind = DEVICE_ATTR_STRING, .s = str_from(models[i % 3])}},
        {STR("version"),
         {.kind = DEVICE_ATTR_VERSION, .s = i == 7 ? STR("v1") : STR("1.2.3")}},
        {STR("zone"), {.kind = DEVICE_ATTR_INT, .i = i % 2}},
    };
    struct device_capacity memory = {.name = STR("memory")};
    struct device_facts d;
    memory.value = quantity_from_int64(i / 2, QUANTITY_BINARY_SI);
    device_facts_make(&d, &f->names, i % 5 ? STR("gpu") : STR("nic"), attrs,
                      i % 4 ? 4 : 3, &memory, 1, i % 7 == 0, &f->arena);
    return d;
}

static void compare(struct fixture *f, const struct device_expr *x,
                    struct device_memo *memo, const struct device_facts *d,
                    const char *text)
{
    struct str why = STR_NONE, again = STR_NONE;
    enum device_verdict want = device_expr_match(x, d, &f->run, &why);
    uint64_t cost = f->run.cost;
    ROW(text, device_memo_match(memo, d, &f->run, &again) == want);
    ROW(text, f->run.cost == cost);
    ROW(text, str_eq(why, again));
    cel_run_reset(&f->run);
}

/* The same verdicts, costs and texts, while columns grow and shapes take turns. */
static void test_same(void **state)
{
    static const struct {
        const char *text;
        bool complete;
    } rows[] = {
        {"device.driver == 'gpu'", true},
        {"true", true},
        {"device.attributes['gpu'].index < 20", true},
        {"!(device.attributes['gpu'].index in [1, 2, 3, 50])", true},
        {"device.attributes['gpu'].zone == 1", true},
        {"has(device.attributes['gpu'].zone) && device.attributes['gpu'].zone == 1",
         true},
        {"device.attributes['gpu'].zone == 1 || device.attributes['gpu'].model == 'L4'",
         true},
        {"device.allowMultipleAllocations && "
         "device.capacity['gpu'].memory.isLessThan(quantity('9'))",
         true},
        {"device.driver == 'gpu' && device.attributes['gpu'].model.startsWith('A') && "
         "!(device.attributes['gpu'].index > 11 || device.attributes['gpu'].?zone == "
         "optional.of(0))",
         true},
        {"['L4', 'A100'].exists(m, m == device.attributes['gpu'].model)", true},
        {"cel.bind(m, device.attributes['gpu'].model, m == 'L4' || m == 'A100')", true},
        {"device.attributes['gpu'].index == device.attributes['gpu'].zone", false},
        {"device.driver == 'gpu' && 'zone' in device.attributes['gpu']", false},
        {"size(device.attributes['gpu']) == 3 && device.attributes['gpu'].index > 4",
         false},
        {"device.attributes['gpu'].model", true},
        {"device.attributes['gpu'].version.isGreaterThan(semver('1.0.0'))", true},
    };
    struct fixture f;
    setup(&f);
    for (size_t r = 0; r < UNIT_COUNT(rows); r++) {
        struct device_expr_error error;
        struct device_expr *x = device_expr_new(f.env, str_from(rows[r].text),
                                                DEVICE_SELECTOR, &f.arena, &error);
        if (!x)
            fail_msg("%s: %.*s", rows[r].text, STR_ARG(error.text));
        struct device_memo memo;
        device_memo_init(&memo, x, &f.arena);
        ROW(rows[r].text, memo.complete == rows[r].complete);
        for (unsigned i = 0; i < 100; i++) {
            struct device_facts d = device(&f, i), e = device(&f, i / 3);
            compare(&f, x, &memo, &d, rows[r].text);
            compare(&f, x, &memo, &e, rows[r].text);
        }
        device_memo_fini(&memo);
        device_expr_free(x);
    }
    teardown(&f);
}

/* What is remembered does not pass the limit of costs. */
static void test_limit(void **state)
{
    static const char text[] = "device.attributes['gpu'].index >= 0 && "
                               "device.attributes['gpu'].model != ''";
    struct fixture f;
    struct device_expr_error error;
    struct str why = STR_NONE;
    setup(&f);
    struct device_expr *x =
        device_expr_new(f.env, str_from(text), DEVICE_SELECTOR, &f.arena, &error);
    struct device_memo memo;
    device_memo_init(&memo, x, &f.arena);
    struct device_facts d = device(&f, 1);
    assert_int_equal(device_memo_match(&memo, &d, &f.run, &why), DEVICE_YES);
    uint64_t cost = f.run.cost;
    for (f.run.cost_limit = 1; f.run.cost_limit <= cost; f.run.cost_limit++)
        compare(&f, x, &memo, &d, text);
    device_memo_fini(&memo);
    device_expr_free(x);
    teardown(&f);
}

/* Equal values have equal codes, different ones different codes, whatever the order. */
static void test_codes(void **state)
{
    struct fixture f;
    struct device_facts all[100];
    setup(&f);
    for (unsigned i = 0; i < UNIT_COUNT(all); i++)
        all[i] = device(&f, i);
    for (unsigned i = 1; i < UNIT_COUNT(all); i++)
        for (unsigned j = 1; j < UNIT_COUNT(all); j++) {
            if (i % 5 == 0 || j % 5 == 0)
                continue;
            const struct device_value *a =
                device_value_at(all[i].shape->columns[0], all[i].codes[0]);
            assert_int_equal(all[i].codes[0] == all[j].codes[0], i == j);
            assert_int_equal(a->attr.i, i);
            assert_int_equal(all[i].codes[1] == all[j].codes[1], i % 3 == j % 3);
        }
    assert_ptr_equal(all[1].shape, all[2].shape);
    assert_ptr_not_equal(all[1].shape, all[4].shape);
    teardown(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same),
        cmocka_unit_test(test_limit),
        cmocka_unit_test(test_codes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
