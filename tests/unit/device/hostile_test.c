/* SPDX-License-Identifier: Apache-2.0 */
/* Selectors made to exhaust whoever evaluates them: cheap by their costs, and yet without
 * bound but for the limits of a run. */
#include "unit/unit.h"

#include "device/device.h"

/* cel.bind(b0, SEED, cel.bind(b1, STEP of b0, ... cel.bind(bN, STEP, END))) */
static void doubling(struct strbuf *out, const char *seed, const char *step, int levels,
                     const char *end)
{
    strbuf_addf(out, "cel.bind(b0, %s, ", seed);
    for (int i = 1; i <= levels; i++) {
        strbuf_addf(out, "cel.bind(b%d, ", i);
        for (const char *p = step; *p; p++) {
            if (*p == '$')
                strbuf_addf(out, "b%d", i - 1);
            else
                strbuf_addc(out, *p);
        }
        strbuf_adds(out, ", ");
    }
    for (const char *p = end; *p; p++) {
        if (*p == '$')
            strbuf_addf(out, "b%d", levels);
        else
            strbuf_addc(out, *p);
    }
    for (int i = 0; i <= levels; i++)
        strbuf_addc(out, ')');
}

static const struct {
    const char *seed, *step, *end;
    int levels;
} rows[] = {
    {"[1, 2]", "$ + $", "$.size() > 0", 40},
    {"['ab']", "[$, $]", "$ == $", 60},
    {"['ab']", "[$, $]", "$ in [$]", 60},
    {"['ab']", "[$, $]", "$.flatten(100).size() == 1", 60},
    {"[]", "[$, $]", "$.flatten(100).size() == 1", 60},
    {"['ab']", "[$, $]", "dyn($).isSorted()", 60},
    {"['ab']", "[$, $]", "dyn($).includes(1)", 60},
    {"['ab']", "[$, $]", "dyn($).sum() == 1", 60},
    {"['ab']", "[$, $]", "[$, $].distinct().size() == 1", 60},
    {"['ab']", "[$, $]", "sets.contains([$], [$])", 60},
    {"['ab']", "[$, $]", "'%s'.format([$]) == ''", 60},
    {"['ab']", "[$, $]", "[?dyn($)] == []", 60},
    {"{'a': 1}", "{'a': $, 'b': $}", "$ == $", 60},
    {"{'a': 1}", "{'a': $, 'b': $}", "'%s'.format([$]) == ''", 60},
    {"{'a': 1}", "{'a': $, 'b': $}", "[?dyn($)] == []", 60},
    {"'ab'", "$ + $", "$.size() > 0", 40},
    {"'ab'", "'%s%s'.format([$, $])", "$.size() > 0", 40},
    {"'ab'", "$.replace('', $)", "$.size() > 0", 10},
    {"'ab'", "[$, $].join()", "$.size() > 0", 40},
    {"'ab'", "strings.quote($ + '\"')", "$.size() > 0", 40},
    {"lists.range(1000)", "$ + $", "$.map(x, $).size() > 0", 8},
    {"lists.range(1000)", "$ + $", "$.all(x, ($ + $).size() > 0)", 6},
    {"lists.range(1000)", "$ + $", "lists.range(1000).map(x, $ + $).flatten() == []", 8},
};

static void test_bounded(void **state)
{
    struct device_names names;
    struct device_facts device;
    struct arena a;
    arena_init(&a);
    device_names_init(&names);
    device_facts_make(&device, &names, STR("d"), NULL, 0, NULL, 0, false, &a);
    const struct device_env_opts opts = {.kind = DEVICE_ENV_STORED};
    struct device_env *env = device_env_new(&opts, &names);
    for (size_t i = 0; i < UNIT_COUNT(rows); i++) {
        struct strbuf text = STRBUF_INIT;
        struct device_expr_error error;
        doubling(&text, rows[i].seed, rows[i].step, rows[i].levels, rows[i].end);
        struct device_expr *x =
            device_expr_new(env, strbuf_str(&text), DEVICE_SELECTOR, &a, &error);
        if (!x)
            fail_msg("row %zu: %s ... %s: %.300s", i, rows[i].step, rows[i].end,
                     error.text.p);
        device_expr_estimate(x);
        struct cel_run run;
        struct str why = STR_NONE;
        cel_run_init(&run);
        device_expr_match(x, &device, &run, &why);
        if (arena_size(&run.arena) > (size_t)256 << 20)
            fail_msg("row %zu: %zu bytes", i, arena_size(&run.arena));
        cel_run_fini(&run);
        device_expr_free(x);
        strbuf_release(&text);
    }
    device_env_free(env);
    device_names_fini(&names);
    arena_fini(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
