/* SPDX-License-Identifier: Apache-2.0 */
/* Kubernetes quantities. */
#include "cel/lib.h"
#include "num/quantity.h"

static struct cel_value value_of(struct cel_run *run, struct quantity q)
{
    return (struct cel_value){.kind = CEL_QUANTITY, .quantity = CEL_LIB_NEW(run, q)};
}

static struct cel_value quantity(struct cel_run *run, const struct cel_value *a,
                                 unsigned n)
{
    struct quantity q;
    struct err e = ERR_INIT;
    if (!quantity_parse(cel_str(a[0]), &run->arena, &q, &e))
        return cel_lib_failed(run, "", &e);
    return value_of(run, q);
}

static struct cel_value is_quantity(struct cel_run *run, const struct cel_value *a,
                                    unsigned n)
{
    struct quantity q;
    return cel_bool(quantity_parse(cel_str(a[0]), &run->arena, &q, NULL));
}

static struct cel_value sign(struct cel_run *run, const struct cel_value *a, unsigned n)
{
    return cel_int(quantity_sign(a[0].quantity));
}

static struct cel_value is_greater(struct cel_run *run, const struct cel_value *a,
                                   unsigned n)
{
    return cel_bool(quantity_cmp(a[0].quantity, a[1].quantity) > 0);
}

static struct cel_value is_less(struct cel_run *run, const struct cel_value *a,
                                unsigned n)
{
    return cel_bool(quantity_cmp(a[0].quantity, a[1].quantity) < 0);
}

static struct cel_value compare(struct cel_run *run, const struct cel_value *a,
                                unsigned n)
{
    return cel_int(quantity_cmp(a[0].quantity, a[1].quantity));
}

static struct cel_value as_float(struct cel_run *run, const struct cel_value *a,
                                 unsigned n)
{
    return cel_double(quantity_approx_double(a[0].quantity));
}

static struct cel_value as_integer(struct cel_run *run, const struct cel_value *a,
                                   unsigned n)
{
    int64_t i;
    return quantity_as_int64(a[0].quantity, &i)
               ? cel_int(i)
               : CEL_ERROR_CONST("cannot convert value to integer");
}

static struct cel_value is_integer(struct cel_run *run, const struct cel_value *a,
                                   unsigned n)
{
    int64_t i;
    return cel_bool(quantity_as_int64(a[0].quantity, &i));
}

/* The second operand of add and sub: a quantity, or an int as one. */
static struct quantity operand(struct cel_value v)
{
    return v.kind == CEL_QUANTITY ? *v.quantity
                                  : quantity_from_int64(v.i, QUANTITY_DECIMAL_EXPONENT);
}

static struct cel_value add(struct cel_run *run, const struct cel_value *a, unsigned n)
{
    struct quantity by = operand(a[1]);
    return value_of(run, quantity_add(a[0].quantity, &by, &run->arena));
}

static struct cel_value sub(struct cel_run *run, const struct cel_value *a, unsigned n)
{
    struct quantity by = operand(a[1]);
    return value_of(run, quantity_sub(a[0].quantity, &by, &run->arena));
}

#define Q "kubernetes.Quantity"

static const struct cel_overload rows[] = {
    CEL_GLOBAL("string_to_quantity", "quantity", "(string) -> " Q, 28, quantity),
    CEL_GLOBAL("is_quantity_string", "isQuantity", "(string) -> bool", 28, is_quantity),
    CEL_GLOBAL("quantity_sign", "sign", "(" Q ") -> int", 28, sign),
    CEL_MEMBER("quantity_is_greater_than", "isGreaterThan", "(" Q ", " Q ") -> bool", 28,
               is_greater),
    CEL_MEMBER("quantity_is_less_than", "isLessThan", "(" Q ", " Q ") -> bool", 28,
               is_less),
    CEL_MEMBER("quantity_compare_to", "compareTo", "(" Q ", " Q ") -> int", 28, compare),
    CEL_MEMBER("quantity_get_float", "asApproximateFloat", "(" Q ") -> double", 28,
               as_float),
    CEL_MEMBER("quantity_get_int", "asInteger", "(" Q ") -> int", 28, as_integer),
    CEL_MEMBER("quantity_is_integer", "isInteger", "(" Q ") -> bool", 28, is_integer),
    CEL_MEMBER("quantity_add", "add", "(" Q ", " Q ") -> " Q, 28, add),
    CEL_MEMBER("quantity_add_int", "add", "(" Q ", int) -> " Q, 28, add),
    CEL_MEMBER("quantity_sub", "sub", "(" Q ", " Q ") -> " Q, 28, sub),
    CEL_MEMBER("quantity_sub_int", "sub", "(" Q ", int) -> " Q, 28, sub),
};

static const struct cel_cost_row costs[] = {
    {NULL, "quantity", cel_cost_scan},
    {NULL, "isQuantity", cel_cost_scan},
};

const struct cel_lib cel_lib_quantity = {
    .name = "kubernetes.quantity",
    .overloads = rows,
    .noverloads = CEL_COUNT(rows),
    .costs = costs,
    .ncosts = CEL_COUNT(costs),
};
