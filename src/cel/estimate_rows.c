/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What calls cost at most (spec 4.7, column "estimate"). A change here changes which
 * expressions an API server accepts.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cel/estimate.h"

/* Per unit of string size and of the length of a regular expression. */
#define STRING_FACTOR 0.1
#define REGEX_FACTOR 0.25

enum {
    FORMAT_MAX = 64,        /* name of a format */
    FORMAT_REGEX_MAX = 128, /* what validate() assumes of a format's expression */
    LIST_CALL = 11,         /* a call that makes a list */
    AUTHORIZER_CHECK = 350000,
    SELECTOR_BASE = 10, /* the list of a selector's requirements */
    SELECTOR_REQUIREMENT = 50,
};

static struct cel_range string_cost(struct cel_range size)
{
    return cel_range_scale(size, STRING_FACTOR);
}

static void result_size(struct cel_estimate_call *c, struct cel_range size)
{
    c->size = size;
    c->sized = true;
}

/* ---- Operators ---- */

/* && and ||: the right side may never run. */
static bool logic(struct cel_estimate_call *c, struct cel_range *cost)
{
    const struct cel_range l = c->args[0].cost, r = c->args[1].cost;
    *cost = (struct cel_range){l.min, cel_sat_add(l.max, r.max)};
    return true;
}

static bool conditional(struct cel_estimate_call *c, struct cel_range *cost)
{
    const struct cel_operand *yes = &c->args[1], *no = &c->args[2];
    result_size(c, cel_range_union(yes->size, no->size));
    cel_estimate_join(c, yes, no);
    *cost = cel_range_add(c->args[0].cost, cel_range_union(yes->cost, no->cost));
    return true;
}

static bool add_text(struct cel_estimate_call *c, struct cel_range *cost)
{
    result_size(c, cel_range_add(c->args[0].size, c->args[1].size));
    cel_estimate_join(c, &c->args[0], &c->args[1]);
    *cost = string_cost(c->size);
    return true;
}

static bool add_list(struct cel_estimate_call *c, struct cel_range *cost)
{
    add_text(c, cost);
    *cost = cel_range_fixed(1);
    return true;
}

static bool index_list(struct cel_estimate_call *c, struct cel_range *cost)
{
    cel_estimate_entry(c, &c->args[0], "@items");
    *cost = cel_range_fixed(1);
    return true;
}

static bool index_map(struct cel_estimate_call *c, struct cel_range *cost)
{
    cel_estimate_entry(c, &c->args[0], "@values");
    *cost = cel_range_fixed(1);
    return true;
}

static bool in_list(struct cel_estimate_call *c, struct cel_range *cost)
{
    *cost = cel_range_scale(c->args[1].size, 1);
    return true;
}

/* At most the shorter side is looked at. */
static bool compare(struct cel_estimate_call *c, struct cel_range *cost)
{
    uint64_t l = c->args[0].size.max, r = c->args[1].size.max, max = l < r ? l : r;
    *cost = string_cost((struct cel_range){max > 0, max});
    return true;
}

/* Types of Kubernetes whose == has a price of its own; of_size: by the right side's. */
static const struct {
    const char *type;
    uint64_t max;
    bool of_size;
} equality[] = {
    {"kubernetes.Quantity", 1, false},
    {"kubernetes.Semver", 1, false},
    {"net.IP", 1, false},
    {"net.CIDR", 1, false},
    {"kubernetes.NamedFormat", FORMAT_MAX, false},
    {"kubernetes.URL", 1, true},
    {"kubernetes.authorization.Authorizer", 1, false},
    {"kubernetes.authorization.PathCheck", 1, false},
    {"kubernetes.authorization.GroupCheck", 1, false},
    {"kubernetes.authorization.ResourceCheck", 1, false},
    {"kubernetes.authorization.Decision", 1, false},
};

static bool equal(struct cel_estimate_call *c, struct cel_range *cost)
{
    const struct cel_type *t = c->args[0].type;
    if (!t->name || !cel_type_equal(t, c->args[1].type))
        return compare(c, cost);
    for (size_t i = 0; i < sizeof equality / sizeof *equality; i++) {
        if (strcmp(equality[i].type, t->name) != 0)
            continue;
        uint64_t max = equality[i].max;
        if (equality[i].of_size && c->args[1].sized)
            max = c->args[1].size.max;
        *cost = string_cost((struct cel_range){1, max});
        return true;
    }
    return compare(c, cost);
}

/* ---- Strings ---- */

static const struct cel_operand *subject(const struct cel_estimate_call *c)
{
    return c->target ? c->target : c->nargs ? &c->args[0] : NULL;
}

/* One walk over the receiver, or over the argument of a global function. */
static bool walk(struct cel_estimate_call *c, struct cel_range *cost)
{
    const struct cel_operand *s = subject(c);
    if (s)
        *cost = string_cost(s->size);
    return s;
}

static bool walk_arg(struct cel_estimate_call *c, struct cel_range *cost)
{
    if (c->nargs > 0)
        *cost = string_cost(c->args[0].size);
    return c->nargs > 0;
}

static bool walk_twice(struct cel_estimate_call *c, struct cel_range *cost)
{
    if (c->nargs > 0)
        *cost = cel_range_scale(c->args[0].size, 2 * STRING_FACTOR);
    return c->nargs > 0;
}

/* ... and the result is as long. */
static bool transform(struct cel_estimate_call *c, struct cel_range *cost)
{
    if (!walk(c, cost))
        return false;
    result_size(c, subject(c)->size);
    return true;
}

/* cidr.ip() is a field. */
static bool ip(struct cel_estimate_call *c, struct cel_range *cost)
{
    return !c->target && walk_arg(c, cost);
}

static bool string_to_bytes(struct cel_estimate_call *c, struct cel_range *cost)
{
    struct cel_range s = c->args[0].size;
    result_size(c, (struct cel_range){s.min, s.max * 4});
    return walk_arg(c, cost);
}

static bool bytes_to_string(struct cel_estimate_call *c, struct cel_range *cost)
{
    struct cel_range s = c->args[0].size;
    result_size(c, (struct cel_range){s.min / 4, s.max});
    return walk_arg(c, cost);
}

/* Upstream's arithmetic wraps here: an unknown size gives a maximum of 0. */
static bool quote(struct cel_estimate_call *c, struct cel_range *cost)
{
    struct cel_range s = c->args[0].size;
    result_size(c, (struct cel_range){s.min + 2, s.max * 2 + 2});
    return walk_arg(c, cost);
}

static bool contains(struct cel_estimate_call *c, struct cel_range *cost)
{
    if (!c->target || c->nargs != 1)
        return false;
    *cost = cel_range_mul(string_cost(c->target->size), string_cost(c->args[0].size));
    return true;
}

static struct cel_range regex_cost(struct cel_range text, struct cel_range regex)
{
    text = cel_range_add(text, cel_range_fixed(1));
    return cel_range_mul(string_cost(text), cel_range_scale(regex, REGEX_FACTOR));
}

static bool matches(struct cel_estimate_call *c, struct cel_range *cost)
{
    if (c->nargs + (c->target != NULL) != 2)
        return false;
    *cost = regex_cost(subject(c)->size, c->args[c->nargs - 1].size);
    return true;
}

static bool find(struct cel_estimate_call *c, struct cel_range *cost)
{
    if (!c->target || c->nargs == 0)
        return false;
    *cost = regex_cost(c->target->size, c->args[0].size);
    result_size(c, (struct cel_range){0, c->target->size.max});
    return true;
}

/* How often a part fits into a text. Beyond 64 bits upstream's conversion gives 2^63. */
static uint64_t times(uint64_t text, uint64_t part)
{
    double n = ceil((double)text / (double)part);
    return n >= 0x1p64 ? UINT64_C(1) << 63 : (uint64_t)n;
}

/* Longest and shortest result of replacing: how often, and what is left of the text. */
static uint64_t replaced_max(uint64_t text, uint64_t from_min, uint64_t to_max)
{
    if (from_min == 0) /* goes between all characters */
        return cel_sat_add(cel_sat_mul(cel_sat_add(text, 1), to_max), text);
    if (to_max <= from_min)
        return text;
    return cel_sat_mul(times(text, from_min), to_max);
}

static uint64_t replaced_min(uint64_t text, uint64_t from_max, uint64_t to_min)
{
    if (from_max == 0)
        return cel_sat_add(cel_sat_mul(cel_sat_add(text, 1), to_min), text);
    if (from_max <= to_min)
        return text;
    return cel_sat_mul(times(text, from_max), to_min);
}

static bool replace(struct cel_estimate_call *c, struct cel_range *cost)
{
    if (!c->target || c->nargs < 2)
        return false;
    const struct cel_range text = c->target->size, from = c->args[0].size,
                           to = c->args[1].size;
    result_size(c, (struct cel_range){replaced_min(text.min, from.max, to.min),
                                      replaced_max(text.max, from.min, to.max)});
    *cost = cel_range_scale(text, 2 * STRING_FACTOR);
    return true;
}

static bool literal_int(const struct cel_operand *o, int64_t *v)
{
    if (o->ast->kind != CEL_AST_CONST || o->ast->constant.kind != CEL_INT)
        return false;
    *v = o->ast->constant.i;
    return true;
}

static bool split(struct cel_estimate_call *c, struct cel_range *cost)
{
    if (!c->target)
        return false;
    int64_t limit;
    uint64_t max = c->target->size.max;
    if (c->nargs > 1 && literal_int(&c->args[1], &limit))
        max = (uint64_t)limit;
    result_size(c, (struct cel_range){0, max});
    *cost = cel_range_scale(c->target->size, 2 * STRING_FACTOR);
    return true;
}

static bool join(struct cel_estimate_call *c, struct cel_range *cost)
{
    if (!c->target)
        return false;
    struct cel_range list = c->target->size, size = {0, 0}, element;
    const struct cel_type *type;
    if (cel_estimate_element(c, c->target, &type, &element))
        size = cel_range_mul(list, element);
    if (c->nargs > 0) {
        struct cel_range gaps = {list.min - (list.min > 0), list.max - (list.max > 0)};
        size = cel_range_add(size, cel_range_mul(c->args[0].size, gaps));
    }
    result_size(c, size);
    *cost = string_cost(size);
    return true;
}

/* ---- Lists ---- */

/* sum, min, indexOf ...: one step an element, and a walk over each text. A receiver whose
 * type tells of no elements is a string, or, for includes, anything. */
static bool scan(struct cel_estimate_call *c, struct cel_range *cost)
{
    if (!c->target)
        return false;
    struct cel_range step = cel_range_fixed(1), size;
    const struct cel_type *type;
    bool list = cel_estimate_element(c, c->target, &type, &size);
    if (!list && !str_is(c->ast->call.function, "includes"))
        return walk(c, cost);
    if (list && (type->kind == CEL_T_STRING || type->kind == CEL_T_BYTES))
        step = cel_range_add(step, string_cost(size));
    *cost = cel_range_mul(c->target->size, step);
    return true;
}

/* A call that makes a list, with a price per unit of size. */
static bool makes_list(struct cel_estimate_call *c, struct cel_range size, double factor,
                       struct cel_range *cost)
{
    result_size(c, size);
    *cost = cel_range_add(cel_range_scale(size, factor), cel_range_fixed(LIST_CALL));
    return true;
}

static uint64_t literal_size(const struct cel_operand *o, uint64_t otherwise)
{
    int64_t v;
    if (!literal_int(o, &v))
        return otherwise;
    return v < 0 ? 0 : (uint64_t)v;
}

/* Upstream's difference wraps when the end comes before the start. */
static bool slice(struct cel_estimate_call *c, struct cel_range *cost)
{
    if (!c->target || c->nargs != 2)
        return false;
    uint64_t from = literal_size(&c->args[0], 0);
    uint64_t to = literal_size(&c->args[1], c->target->size.max);
    return makes_list(c, cel_range_fixed(to - from), 1, cost);
}

static bool range(struct cel_estimate_call *c, struct cel_range *cost)
{
    if (c->target || c->nargs != 1)
        return false;
    uint64_t n = literal_size(&c->args[0], UINT64_MAX);
    return makes_list(c, cel_range_fixed(n), 1, cost);
}

static bool reverse(struct cel_estimate_call *c, struct cel_range *cost)
{
    return c->target && c->nargs == 0 && makes_list(c, c->target->size, 1, cost);
}

static bool flatten(struct cel_estimate_call *c, struct cel_range *cost)
{
    if (!c->target || c->nargs > 1)
        return false;
    uint64_t depth = c->nargs ? literal_size(&c->args[0], UINT64_MAX) : 1;
    return makes_list(c, c->target->size, (double)depth, cost);
}

/* Every element against every other. */
static bool pairs(struct cel_estimate_call *c, const struct cel_operand *list,
                  double factor, struct cel_range *cost)
{
    return list && makes_list(c, cel_range_mul(list->size, list->size), factor, cost);
}

static bool pairwise(struct cel_estimate_call *c, struct cel_range *cost)
{
    return pairs(c, c->target, 2, cost);
}

static bool pairwise_text(struct cel_estimate_call *c, struct cel_range *cost)
{
    return pairs(c, c->target, 2 + STRING_FACTOR, cost);
}

static bool pairwise_keys(struct cel_estimate_call *c, struct cel_range *cost)
{
    return c->nargs == 1 && pairs(c, &c->args[0], 2, cost);
}

static bool pairwise_text_keys(struct cel_estimate_call *c, struct cel_range *cost)
{
    return c->nargs == 1 && pairs(c, &c->args[0], 2 + STRING_FACTOR, cost);
}

static bool sets(struct cel_estimate_call *c, double factor, struct cel_range *cost)
{
    if (c->nargs != 2)
        return false;
    struct cel_range product = cel_range_mul(c->args[0].size, c->args[1].size);
    *cost = cel_range_add(cel_range_scale(product, factor), cel_range_fixed(1));
    return true;
}

static bool sets_one_way(struct cel_estimate_call *c, struct cel_range *cost)
{
    return sets(c, 1, cost);
}

static bool sets_both_ways(struct cel_estimate_call *c, struct cel_range *cost)
{
    return sets(c, 2, cost);
}

/* ---- Networks, formats, authorization ---- */

static const struct cel_range address_size = {4, 16};

static bool contains_ip(struct cel_estimate_call *c, struct cel_range *cost)
{
    if (c->nargs == 0)
        return false;
    *cost = string_cost(cel_range_add(address_size, address_size));
    return true;
}

static bool contains_ip_text(struct cel_estimate_call *c, struct cel_range *cost)
{
    if (!contains_ip(c, cost))
        return false;
    *cost = cel_range_add(*cost, string_cost(c->args[0].size));
    return true;
}

static bool contains_cidr(struct cel_estimate_call *c, struct cel_range *cost)
{
    if (!contains_ip(c, cost))
        return false;
    *cost = cel_range_add(*cost, string_cost(address_size));
    *cost = cel_range_add(*cost, cel_range_fixed(1));
    return true;
}

static bool contains_cidr_text(struct cel_estimate_call *c, struct cel_range *cost)
{
    if (!contains_cidr(c, cost))
        return false;
    *cost = cel_range_add(*cost, string_cost(c->args[0].size));
    return true;
}

static bool validate(struct cel_estimate_call *c, struct cel_range *cost)
{
    if (!walk_arg(c, cost))
        return false;
    *cost = cel_range_scale(*cost, FORMAT_REGEX_MAX * REGEX_FACTOR);
    return true;
}

static bool authorizer_check(struct cel_estimate_call *c, struct cel_range *cost)
{
    *cost = cel_range_fixed(AUTHORIZER_CHECK);
    return true;
}

/* A selector text: parsed, and at worst a requirement for every two characters. */
static bool selector(struct cel_estimate_call *c, struct cel_range *cost)
{
    if (c->nargs != 1)
        return false;
    struct cel_range requirements = cel_range_scale(c->args[0].size, 0.5);
    *cost = cel_range_add(cel_range_fixed(SELECTOR_BASE), string_cost(c->args[0].size));
    *cost = cel_range_add(*cost, cel_range_scale(requirements, SELECTOR_REQUIREMENT));
    return true;
}

/* ---- The table, sorted by name ---- */

static const struct cel_estimate_row rows[] = {
    {"@sortByAssociatedKeys", pairwise_keys, false},
    {"add_bytes", add_text, false},
    {"add_list", add_list, false},
    {"add_string", add_text, false},
    {"bytes_to_string", bytes_to_string, false},
    {"check", authorizer_check, false},
    {"cidr", walk_arg, false},
    {"cidr_contains_cidr", contains_cidr, false},
    {"cidr_contains_cidr_string", contains_cidr_text, false},
    {"cidr_contains_ip_ip", contains_ip, false},
    {"cidr_contains_ip_string", contains_ip_text, false},
    {"conditional", conditional, true},
    {"contains_string", contains, false},
    {"ends_with_string", walk_arg, false},
    {"equals", equal, false},
    {"fieldSelector", selector, false},
    {"find", find, false},
    {"findAll", find, false},
    {"greater_bytes", compare, false},
    {"greater_equals_bytes", compare, false},
    {"greater_equals_string", compare, false},
    {"greater_string", compare, false},
    {"in_list", in_list, false},
    {"includes", scan, false},
    {"indexOf", scan, false},
    {"index_list", index_list, false},
    {"index_map", index_map, false},
    {"ip", ip, false},
    {"ip.isCanonical", walk_twice, false},
    {"isCIDR", walk_arg, false},
    {"isIP", walk_arg, false},
    {"isQuantity", walk_arg, false},
    {"isSemver", walk_arg, false},
    {"isSorted", scan, false},
    {"join", join, false},
    {"jsonpatch.escapeKey", transform, false},
    {"labelSelector", selector, false},
    {"lastIndexOf", scan, false},
    {"less_bytes", compare, false},
    {"less_equals_bytes", compare, false},
    {"less_equals_string", compare, false},
    {"less_string", compare, false},
    {"list_bytes_sort", pairwise_text, false},
    {"list_bytes_sortByAssociatedKeys", pairwise_text_keys, false},
    {"list_distinct", pairwise, false},
    {"list_flatten", flatten, false},
    {"list_flatten_int", flatten, false},
    {"list_reverse", reverse, false},
    {"list_sets_contains_list", sets_one_way, false},
    {"list_sets_equivalent_list", sets_both_ways, false},
    {"list_sets_intersects_list", sets_one_way, false},
    {"list_slice", slice, false},
    {"list_string_sort", pairwise_text, false},
    {"list_string_sortByAssociatedKeys", pairwise_text_keys, false},
    {"lists_range", range, false},
    {"logical_and", logic, true},
    {"logical_or", logic, true},
    {"lowerAscii", transform, false},
    {"matches", matches, false},
    {"matches_string", matches, false},
    {"max", scan, false},
    {"min", scan, false},
    {"not_equals", compare, false},
    {"quantity", walk_arg, false},
    {"replace", replace, false},
    {"semver", walk_arg, false},
    {"sort", pairwise, false},
    {"split", split, false},
    {"starts_with_string", walk_arg, false},
    {"string_format", walk, false},
    {"string_to_bytes", string_to_bytes, false},
    {"strings_quote", quote, false},
    {"substring", transform, false},
    {"sum", scan, false},
    {"trim", transform, false},
    {"upperAscii", transform, false},
    {"url", transform, false},
    {"validate", validate, false},
};

static int by_name(const void *name, const void *row)
{
    return strcmp(name, ((const struct cel_estimate_row *)row)->name);
}

static const struct cel_estimate_row *row_find(const char *name)
{
    return bsearch(name, rows, sizeof rows / sizeof *rows, sizeof *rows, by_name);
}

const struct cel_estimate_row *cel_estimate_find(const struct cel_overload *o)
{
    const struct cel_estimate_row *row = row_find(o->id);
    return row ? row : row_find(o->function);
}
