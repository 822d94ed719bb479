/* SPDX-License-Identifier: Apache-2.0 */
#include "unit/unit.h"

#include "alloc/capacity.h"

/* Texts of quantities; NULL: not set. */
struct row {
    const char *want, *value, *def, *min, *step, *max;
    const char *values[3];
    enum capacity_fit fit;
    const char *amount; /* if it fits */
};

static const struct row ROWS[] = {
    /* no policy */
    {.want = NULL, .value = "10", .fit = CAPACITY_FITS, .amount = "10"},
    {.want = "3", .value = "10", .fit = CAPACITY_FITS, .amount = "3"},
    {.want = "11", .value = "10", .fit = CAPACITY_NO},
    {.want = "-1", .value = "10", .fit = CAPACITY_ERROR},
    {.want = NULL, .value = "-1", .fit = CAPACITY_ERROR},
    /* defaults pass unchecked */
    {.want = NULL, .value = "10", .def = "2", .fit = CAPACITY_FITS, .amount = "2"},
    {.value = "10",
     .def = "3",
     .values = {"4", "8"},
     .fit = CAPACITY_FITS,
     .amount = "3"},
    /* lists */
    {.want = "5",
     .value = "10",
     .values = {"4", "8"},
     .fit = CAPACITY_FITS,
     .amount = "8"},
    {.want = "9", .value = "10", .values = {"4", "8"}, .fit = CAPACITY_NO},
    /* ranges */
    {.want = "1", .value = "10", .min = "2", .fit = CAPACITY_FITS, .amount = "2"},
    {.want = "5",
     .value = "10",
     .min = "2",
     .step = "2",
     .fit = CAPACITY_FITS,
     .amount = "6"},
    {.want = "7", .value = "10", .min = "2", .step = "2", .max = "6", .fit = CAPACITY_NO},
    {.want = "1300m",
     .value = "4",
     .min = "500m",
     .step = "500m",
     .max = "4",
     .fit = CAPACITY_FITS,
     .amount = "1500m"},
    {.want = "1900m",
     .value = "4",
     .min = "500m",
     .step = "500m",
     .fit = CAPACITY_FITS,
     .amount = "2"},
    {.want = "1500001u",
     .value = "4",
     .min = "500m",
     .step = "500m",
     .fit = CAPACITY_ERROR},
    /* whole ranges are computed in whole numbers (U9) */
    {.want = "1500001u",
     .value = "4",
     .min = "1",
     .step = "1",
     .fit = CAPACITY_FITS,
     .amount = "2"},
    {.want = "10P",
     .value = "20P",
     .min = "1P",
     .step = "1P",
     .fit = CAPACITY_FITS,
     .amount = "10P"},
    {.want = "10E", .value = "20E", .min = "1", .step = "1", .fit = CAPACITY_ERROR},
    /* a step that cannot be computed with (U8) */
    {.want = "2",
     .value = "16Ei",
     .min = "1",
     .step = "18446744073709551616",
     .fit = CAPACITY_NO},
    {.want = "2", .value = "4", .min = "1", .step = "0", .fit = CAPACITY_NO},
};

struct built {
    struct arena a;
    struct quantity q[8];
    uint32_t n;
    struct device_capacity_policy policy;
    struct device_capacity capacity;
    struct device_names names;
    struct device_facts facts;
    struct view_amount want;
};

static const struct quantity *read(struct built *b, const char *text)
{
    if (!text)
        return NULL;
    assert_true(quantity_parse(str_from(text), &b->a, &b->q[b->n], NULL));
    return &b->q[b->n++];
}

static void build(struct built *b, const struct row *r)
{
    *b = (struct built){0};
    arena_init(&b->a);
    b->capacity.name = STR("x");
    b->capacity.value = *read(b, r->value);
    b->policy.def = read(b, r->def);
    b->policy.min = read(b, r->min);
    b->policy.step = read(b, r->step);
    b->policy.max = read(b, r->max);
    b->policy.has_range = r->min != NULL;
    b->policy.valid_values = &b->q[b->n];
    for (int i = 0; i < 3 && r->values[i]; i++, b->policy.nvalid_values++)
        read(b, r->values[i]);
    if (r->def || r->min || r->values[0])
        b->capacity.policy = &b->policy;
    device_names_init(&b->names);
    device_facts_make(&b->facts, &b->names, STR("d"), NULL, 0, &b->capacity, 1, false,
                      &b->a);
    b->want.name = STR("x");
    if (r->want)
        b->want.value = *read(b, r->want);
}

static void drop(struct built *b)
{
    device_names_fini(&b->names);
    arena_fini(&b->a);
}

static void test_rows(void **state)
{
    for (size_t i = 0; i < UNIT_COUNT(ROWS); i++) {
        struct built b;
        struct view_amount got;
        struct str why = STR_NONE;
        uint32_t n = ROWS[i].want != NULL;
        build(&b, &ROWS[i]);
        enum capacity_fit fit = capacity_check(&alloc_features_all, &b.want, n, &b.facts);
        if (fit != ROWS[i].fit)
            fail_msg("row %zu: %d", i, fit);
        assert_int_equal(
            capacity_explain(&alloc_features_all, &b.want, n, &b.facts, &why, &b.a), fit);
        assert_int_equal(why.n > 0, fit != CAPACITY_FITS);
        if (fit == CAPACITY_FITS) {
            capacity_amounts(&alloc_features_all, &b.want, n, &b.facts, &got);
            assert_str(quantity_print(&got.value, &b.a), ROWS[i].amount);
        }
        drop(&b);
    }
}

static void test_missing(void **state)
{
    struct built b;
    build(&b, &ROWS[1]);
    b.want.name = STR("a.example.com/x"); /* compared as written (rule 56) */
    assert_int_equal(capacity_check(&alloc_features_all, &b.want, 1, &b.facts),
                     CAPACITY_NO);
    drop(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_missing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
