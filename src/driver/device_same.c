/* SPDX-License-Identifier: Apache-2.0 */
/* Whether two inventories look alike from outside. */
#include "driver/device.h"

static bool same_texts(const struct str *a, const struct str *b, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (!str_eq(a[i], b[i]))
            return false;
    return true;
}

static bool same_numbers(const int64_t *a, const int64_t *b, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (a[i] != b[i])
            return false;
    return true;
}

static bool same_value(const struct driver_value *a, const struct driver_value *b)
{
    if (a->kind != b->kind || a->n != b->n)
        return false;
    switch (a->kind) {
    case DRIVER_STRING:
    case DRIVER_VERSION:
        return str_eq(a->text, b->text);
    case DRIVER_INT:
    case DRIVER_BOOL:
        return a->number == b->number;
    case DRIVER_STRINGS:
    case DRIVER_VERSIONS:
        return same_texts(a->texts, b->texts, a->n);
    default:
        return same_numbers(a->numbers, b->numbers, a->n);
    }
}

static bool same_policy(const struct driver_policy *a, const struct driver_policy *b)
{
    if (!a || !b)
        return a == b;
    return a->nvalues == b->nvalues && same_texts(a->values, b->values, a->nvalues) &&
           str_eq(a->preset, b->preset) && str_eq(a->min, b->min) &&
           str_eq(a->max, b->max) && str_eq(a->step, b->step);
}

static bool same_set(const struct driver_counter_set *a,
                     const struct driver_counter_set *b)
{
    if (!str_eq(a->name, b->name) || a->n != b->n)
        return false;
    for (uint32_t i = 0; i < a->n; i++)
        if (!str_eq(a->counters[i].name, b->counters[i].name) ||
            !str_eq(a->counters[i].quantity, b->counters[i].quantity))
            return false;
    return true;
}

static bool same_sets(const struct driver_counter_set *a,
                      const struct driver_counter_set *b, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (!same_set(&a[i], &b[i]))
            return false;
    return true;
}

static bool same_attributes(const struct driver_device *a, const struct driver_device *b)
{
    if (a->nattributes != b->nattributes)
        return false;
    for (uint32_t i = 0; i < a->nattributes; i++)
        if (!str_eq(a->attributes[i].name, b->attributes[i].name) ||
            !same_value(&a->attributes[i].value, &b->attributes[i].value))
            return false;
    return true;
}

static bool same_capacities(const struct driver_device *a, const struct driver_device *b)
{
    if (a->ncapacities != b->ncapacities)
        return false;
    for (uint32_t i = 0; i < a->ncapacities; i++)
        if (!str_eq(a->capacities[i].name, b->capacities[i].name) ||
            !str_eq(a->capacities[i].quantity, b->capacities[i].quantity) ||
            !same_policy(a->capacities[i].policy, b->capacities[i].policy))
            return false;
    return true;
}

static bool same_taints(const struct driver_device *a, const struct driver_device *b)
{
    if (a->ntaints != b->ntaints)
        return false;
    for (uint32_t i = 0; i < a->ntaints; i++) {
        const struct driver_taint *x = &a->taints[i], *y = &b->taints[i];
        if (!str_eq(x->key, y->key) || !str_eq(x->value, y->value) ||
            !str_eq(x->effect, y->effect) || x->since_s != y->since_s)
            return false;
    }
    return true;
}

static bool same_device(const struct driver_device *a, const struct driver_device *b)
{
    return str_eq(a->name, b->name) && a->shared == b->shared && a->health == b->health &&
           str_eq(a->health_message, b->health_message) && same_attributes(a, b) &&
           same_capacities(a, b) && same_taints(a, b) && a->nconsumes == b->nconsumes &&
           same_sets(a->consumes, b->consumes, a->nconsumes);
}

bool driver_inventory_same(const struct driver_inventory *a,
                           const struct driver_inventory *b)
{
    if (a->ndevices != b->ndevices || a->ncounters != b->ncounters ||
        !same_sets(a->counters, b->counters, a->ncounters))
        return false;
    for (uint32_t i = 0; i < a->ndevices; i++)
        if (!same_device(&a->devices[i], &b->devices[i]))
            return false;
    return true;
}
