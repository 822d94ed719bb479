/* SPDX-License-Identifier: Apache-2.0 */
/* Semantic versions. */
#include "cel/lib.h"
#include "num/semver.h"

static bool wants_normal(const struct cel_value *a, unsigned n)
{
    return n == 2 && a[1].b;
}

static struct cel_value semver(struct cel_run *run, const struct cel_value *a, unsigned n)
{
    struct semver v;
    struct err e = ERR_INIT;
    if (!semver_parse(cel_str(a[0]), wants_normal(a, n), &run->arena, &v, &e))
        return cel_lib_failed(run, "", &e);
    return (struct cel_value){.kind = CEL_SEMVER, .semver = CEL_LIB_NEW(run, v)};
}

static struct cel_value is_semver(struct cel_run *run, const struct cel_value *a,
                                  unsigned n)
{
    struct semver v;
    return cel_bool(
        semver_parse(cel_str(a[0]), wants_normal(a, n), &run->arena, &v, NULL));
}

static struct cel_value is_greater(struct cel_run *run, const struct cel_value *a,
                                   unsigned n)
{
    return cel_bool(semver_cmp(a[0].semver, a[1].semver) > 0);
}

static struct cel_value is_less(struct cel_run *run, const struct cel_value *a,
                                unsigned n)
{
    return cel_bool(semver_cmp(a[0].semver, a[1].semver) < 0);
}

static struct cel_value compare(struct cel_run *run, const struct cel_value *a,
                                unsigned n)
{
    return cel_int(semver_cmp(a[0].semver, a[1].semver));
}

/* Numbers beyond int64 wrap, as upstream's do. */
static struct cel_value major_of(struct cel_run *run, const struct cel_value *a,
                                 unsigned n)
{
    return cel_int((int64_t)a[0].semver->major);
}

static struct cel_value minor_of(struct cel_run *run, const struct cel_value *a,
                                 unsigned n)
{
    return cel_int((int64_t)a[0].semver->minor);
}

static struct cel_value patch_of(struct cel_run *run, const struct cel_value *a,
                                 unsigned n)
{
    return cel_int((int64_t)a[0].semver->patch);
}

#define S "kubernetes.Semver"

static const struct cel_overload rows[] = {
    CEL_GLOBAL("string_to_semver", "semver", "(string) -> " S, 33, semver),
    CEL_GLOBAL("string_bool_to_semver", "semver", "(string, bool) -> " S, 33, semver),
    CEL_GLOBAL("is_semver_string", "isSemver", "(string) -> bool", 33, is_semver),
    CEL_GLOBAL("is_semver_string_bool", "isSemver", "(string, bool) -> bool", 33,
               is_semver),
    CEL_MEMBER("semver_is_greater_than", "isGreaterThan", "(" S ", " S ") -> bool", 33,
               is_greater),
    CEL_MEMBER("semver_is_less_than", "isLessThan", "(" S ", " S ") -> bool", 33,
               is_less),
    CEL_MEMBER("semver_compare_to", "compareTo", "(" S ", " S ") -> int", 33, compare),
    CEL_MEMBER("semver_major", "major", "(" S ") -> int", 33, major_of),
    CEL_MEMBER("semver_minor", "minor", "(" S ") -> int", 33, minor_of),
    CEL_MEMBER("semver_patch", "patch", "(" S ") -> int", 33, patch_of),
};

static const struct cel_cost_row costs[] = {
    {NULL, "semver", cel_cost_scan},
    {NULL, "isSemver", cel_cost_scan},
};

const struct cel_lib cel_lib_semver = {
    .name = "kubernetes.semver",
    .overloads = rows,
    .noverloads = CEL_COUNT(rows),
    .costs = costs,
    .ncosts = CEL_COUNT(costs),
};
