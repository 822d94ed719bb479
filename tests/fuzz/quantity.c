/* SPDX-License-Identifier: Apache-2.0 */
/* Quantities, two in one input (split at a newline): what is printed reads back as the
 * same value, and sums and comparisons agree with each other. */
#include "num/quantity.h"
#include "fuzz/fuzz.h"

/* What may print as a text that does not read: exponents above 1000 are refused, and
 * 1000e1000 prints as 1e1003. */
static void check_huge(const struct quantity *q, struct arena *a)
{
    struct quantity limit, minus = quantity_neg(q, a);
    FUZZ_CHECK(quantity_parse(STR("1e1000"), a, &limit, NULL));
    FUZZ_CHECK(quantity_cmp(q, &limit) > 0 || quantity_cmp(&minus, &limit) > 0);
}

static void check_one(const struct quantity *q, struct arena *a)
{
    struct str text = quantity_print(q, a);
    struct quantity back;
    if (!quantity_parse(text, a, &back, NULL)) {
        check_huge(q, a);
        return;
    }
    FUZZ_CHECK(quantity_cmp(q, &back) == 0);
    FUZZ_CHECK(quantity_hash(q) == quantity_hash(&back));
    FUZZ_CHECK(str_eq(quantity_print(&back, a), text));
    int64_t value, exact;
    if (quantity_scaled_exact(q, 0, &exact)) {
        FUZZ_CHECK(quantity_scaled(q, 0, &value) && value == exact);
        struct quantity again = quantity_from_int64(exact, QUANTITY_DECIMAL_SI);
        FUZZ_CHECK(quantity_cmp(q, &again) == 0);
    }
    struct quantity minus = quantity_neg(q, a);
    FUZZ_CHECK(quantity_sign(&minus) == -quantity_sign(q));
    quantity_as_double(q);
    quantity_approx_double(q);
    quantity_exact(q, a);
}

static void check_two(const struct quantity *x, const struct quantity *y, struct arena *a)
{
    struct quantity sum = quantity_add(x, y, a), diff = quantity_sub(x, y, a);
    struct quantity back = quantity_sub(&sum, y, a);
    FUZZ_CHECK(quantity_cmp(&back, x) == 0);
    FUZZ_CHECK(quantity_cmp(x, y) == -quantity_cmp(y, x));
    FUZZ_CHECK(quantity_cmp(x, y) == quantity_sign(&diff));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str text = {(const char *)data, size};
    size_t cut = str_find_byte(text, '\n', 0);
    struct arena a;
    struct quantity x, y;
    arena_init(&a);
    bool have_x = quantity_parse(str_sub(text, 0, cut), &a, &x, NULL);
    if (have_x)
        check_one(&x, &a);
    if (cut != SIZE_MAX && quantity_parse(str_sub(text, cut + 1, size), &a, &y, NULL)) {
        check_one(&y, &a);
        if (have_x)
            check_two(&x, &y, &a);
    }
    arena_fini(&a);
    return 0;
}
