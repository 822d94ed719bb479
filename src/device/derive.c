/* SPDX-License-Identifier: Apache-2.0 */
/* Derived attributes: a result of CEL as the value of an attribute (spec 4.3). */
#include "device/internal.h"

/* Names of Go's types, which upstream's texts quote. */
static const char *const go_types[CEL_KINDS] = {
    [CEL_NULL] = "structpb.NullValue",
    [CEL_BOOL] = "bool",
    [CEL_INT] = "int64",
    [CEL_UINT] = "uint64",
    [CEL_DOUBLE] = "float64",
    [CEL_STRING] = "string",
    [CEL_BYTES] = "[]uint8",
    [CEL_DURATION] = "time.Duration",
    [CEL_TIMESTAMP] = "time.Time",
    [CEL_LIST] = "[]ref.Val",
    [CEL_MAP] = "map[ref.Val]ref.Val",
    [CEL_TYPE] = "string",
    [CEL_OPTIONAL] = "<nil>",
    [CEL_OBJECT] = "map[string]interface {}",
    [CEL_QUANTITY] = "*resource.Quantity",
    [CEL_SEMVER] = "semver.Version",
    [CEL_IP] = "netip.Addr",
    [CEL_CIDR] = "netip.Prefix",
    [CEL_URL] = "*url.URL",
    [CEL_FORMAT] = "cel.Format",
};

/* An optional stands for its value, a type for its name. */
static struct cel_value native(struct cel_value v)
{
    while (v.kind == CEL_OPTIONAL && v.optional)
        v = *v.optional;
    if (v.kind == CEL_TYPE)
        v = cel_string(str_from(cel_type_name(v.type)));
    return v;
}

static struct str version_text(struct cel_value v, struct cel_run *run)
{
    return semver_print(v.semver, &run->arena);
}

static bool scalar(struct cel_value v, struct cel_run *run, struct device_attr_value *out)
{
    switch (v.kind) {
    case CEL_BOOL:
        *out = (struct device_attr_value){.kind = DEVICE_ATTR_BOOL, .b = v.b};
        return true;
    case CEL_INT:
        *out = (struct device_attr_value){.kind = DEVICE_ATTR_INT, .i = v.i};
        return true;
    case CEL_STRING:
        *out = (struct device_attr_value){.kind = DEVICE_ATTR_STRING, .s = cel_str(v)};
        return true;
    case CEL_SEMVER:
        *out = (struct device_attr_value){
            .kind = DEVICE_ATTR_VERSION, .s = version_text(v, run), .versions = v.semver};
        return true;
    default:
        return false;
    }
}

/* Lists, by the kind of their first element. */
static const struct list_kind {
    uint8_t kind, attr;
    const char *name; /* as the error text has it */
} list_kinds[] = {
    {CEL_BOOL, DEVICE_ATTR_BOOLS, "bool"},
    {CEL_INT, DEVICE_ATTR_INTS, "int"},
    {CEL_STRING, DEVICE_ATTR_STRINGS, "string"},
    {CEL_SEMVER, DEVICE_ATTR_VERSIONS, "semver"},
};

static const struct list_kind *list_kind_of(struct cel_value first)
{
    for (size_t i = 0; i < sizeof list_kinds / sizeof *list_kinds; i++)
        if (list_kinds[i].kind == first.kind)
            return &list_kinds[i];
    return NULL;
}

static bool same_kinds(struct cel_value list, const struct list_kind *k,
                       struct cel_run *run, struct str *why)
{
    for (uint32_t i = 0; i < list.len; i++) {
        struct cel_value item = native(list.items[i]);
        if (item.kind == k->kind)
            continue;
        *why = arena_printf(&run->arena,
                            "expected list element at index %u to be %s, got %s", i,
                            k->name, go_types[item.kind]);
        return false;
    }
    return true;
}

static const int64_t *list_ints(struct cel_value list, struct arena *a)
{
    int64_t *v = ARENA_ARRAY(a, int64_t, list.len);
    for (uint32_t i = 0; i < list.len; i++)
        v[i] = native(list.items[i]).i;
    return v;
}

static const bool *list_bools(struct cel_value list, struct arena *a)
{
    bool *v = ARENA_ARRAY(a, bool, list.len);
    for (uint32_t i = 0; i < list.len; i++)
        v[i] = native(list.items[i]).b;
    return v;
}

static const struct str *list_texts(struct cel_value list, struct cel_run *run)
{
    struct str *v = ARENA_ARRAY(&run->arena, struct str, list.len);
    for (uint32_t i = 0; i < list.len; i++) {
        struct cel_value item = native(list.items[i]);
        v[i] = item.kind == CEL_SEMVER ? version_text(item, run) : cel_str(item);
    }
    return v;
}

static const struct semver *list_versions(struct cel_value list, struct arena *a)
{
    struct semver *v = ARENA_ARRAY(a, struct semver, list.len);
    for (uint32_t i = 0; i < list.len; i++)
        v[i] = *native(list.items[i]).semver;
    return v;
}

static void fill_list(struct cel_value list, uint8_t attr, struct cel_run *run,
                      struct device_attr_value *out)
{
    *out = (struct device_attr_value){.kind = attr, .n = list.len};
    if (attr == DEVICE_ATTR_INTS)
        out->ints = list_ints(list, &run->arena);
    else if (attr == DEVICE_ATTR_BOOLS)
        out->bools = list_bools(list, &run->arena);
    else
        out->strings = list_texts(list, run);
    if (attr == DEVICE_ATTR_VERSIONS)
        out->versions = list_versions(list, &run->arena);
}

/* An empty list is an empty list of strings. */
static bool list_attr(struct cel_value list, struct cel_run *run,
                      struct device_attr_value *out, struct str *why)
{
    struct cel_value first = list.len ? native(list.items[0]) : cel_string(STR_NONE);
    const struct list_kind *k = list_kind_of(first);
    if (!k) {
        *why = arena_printf(&run->arena, "unsupported list element type: %s",
                            go_types[first.kind]);
        return false;
    }
    if (!same_kinds(list, k, run, why))
        return false;
    fill_list(list, k->attr, run, out);
    return true;
}

bool device_expr_derive(const struct device_expr *x, const struct device_facts *d,
                        struct cel_run *run, struct device_attr_value *out,
                        struct str *why)
{
    struct cel_value v = device_expr_value(x, d, run);
    if (v.kind == CEL_ERROR) {
        *why = v.error->text;
        return false;
    }
    if (scalar(native(v), run, out))
        return true;
    if (v.kind == CEL_LIST)
        return list_attr(v, run, out, why);
    *why = arena_printf(&run->arena, "unsupported CEL return type: %s",
                        go_types[native(v).kind]);
    return false;
}
