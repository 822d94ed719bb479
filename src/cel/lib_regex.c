/* SPDX-License-Identifier: Apache-2.0 */
/* find and findAll. Constant patterns are compiled by the planner. */
#include "cel/lib.h"
#include "cel/regex.h"

struct cel_value cel_regex_find_value(struct cel_run *run, const struct cel_regex *re,
                                      struct cel_value text)
{
    struct str match;
    return cel_string(cel_regex_find(re, cel_str(text), 0, &match) ? match : STR(""));
}

struct cel_value cel_regex_find_all_value(struct cel_run *run, const struct cel_regex *re,
                                          struct cel_value text, int64_t limit)
{
    struct cel_list_builder matches = {0};
    struct cel_regex_iter it = {.re = re, .text = cel_str(text)};
    struct str match;
    for (; limit != 0 && cel_regex_next(&it, &match); limit -= limit > 0)
        cel_list_push(run, &matches, cel_string(match));
    return cel_list_done(&matches);
}

static struct cel_value illegal(struct cel_run *run, struct err *e)
{
    return cel_lib_failed(run, "Illegal regex: ", e);
}

static struct cel_value find(struct cel_run *run, const struct cel_value *a, unsigned n)
{
    struct err e = ERR_INIT;
    struct cel_regex *re = cel_regex_new(cel_str(a[1]), &e);
    if (!re)
        return illegal(run, &e);
    struct cel_value v = cel_regex_find_value(run, re, a[0]);
    cel_regex_free(re);
    return v;
}

static struct cel_value find_all(struct cel_run *run, const struct cel_value *a,
                                 unsigned n)
{
    struct err e = ERR_INIT;
    struct cel_regex *re = cel_regex_new(cel_str(a[1]), &e);
    if (!re)
        return illegal(run, &e);
    struct cel_value v =
        cel_regex_find_all_value(run, re, a[0], n == 3 ? a[2].i : INT64_C(-1));
    cel_regex_free(re);
    return v;
}

static const struct cel_overload rows[] = {
    CEL_MEMBER("string_find_string", "find", "(string, string) -> string", 0, find),
    CEL_MEMBER("string_find_all_string", "findAll", "(string, string) -> list(string)", 0,
               find_all),
    CEL_MEMBER("string_find_all_string_int", "findAll",
               "(string, string, int) -> list(string)", 0, find_all),
};

static const struct cel_cost_row costs[] = {
    {NULL, "find", cel_cost_match},
    {NULL, "findAll", cel_cost_match},
};

const struct cel_lib cel_lib_regex = {
    .name = "kubernetes.regex",
    .overloads = rows,
    .noverloads = CEL_COUNT(rows),
    .costs = costs,
    .ncosts = CEL_COUNT(costs),
};
