/* SPDX-License-Identifier: Apache-2.0 */
#include "api/cel_authz.h"

#include <math.h>

#include "base/names.h"
#include "cel/lib.h"

/* ---- Types ---- */

enum part { AUTHORIZER, PATH_CHECK, GROUP_CHECK, RESOURCE_CHECK, DECISION };

#define NAMED(last)                                                                      \
    {                                                                                    \
        .kind = CEL_T_OPAQUE, .name = "kubernetes.authorization." last                   \
    }

const struct cel_type api_cel_type_authorizer = NAMED("Authorizer"),
                      api_cel_type_resource_check = NAMED("ResourceCheck");
static const struct cel_type path_check = NAMED("PathCheck"),
                             group_check = NAMED("GroupCheck"),
                             decision = NAMED("Decision");

static const struct cel_type *const TYPES[] = {
    [AUTHORIZER] = &api_cel_type_authorizer,
    [PATH_CHECK] = &path_check,
    [GROUP_CHECK] = &group_check,
    [RESOURCE_CHECK] = &api_cel_type_resource_check,
    [DECISION] = &decision,
};

struct authz {
    struct cel_object object; /* first */
    enum part part;
    const struct api_authorizer *authorizer;
    struct api_authz_check check;
    bool allowed;
    struct str reason;
};

static struct cel_value get(const struct cel_object *o, struct str field,
                            struct cel_run *run, bool *present)
{
    *present = false;
    return cel_no_key(run, cel_string(field));
}

static const struct cel_object_ops OPS = {.get = get};

static struct authz *make(struct cel_run *run, enum part part, const struct authz *from)
{
    struct authz *z = ARENA_NEW(&run->arena, struct authz);
    if (from)
        *z = *from;
    z->part = part;
    z->object = (struct cel_object){.type = TYPES[part], .ops = &OPS};
    return z;
}

static struct cel_value value_of(const struct authz *z)
{
    return (struct cel_value){.kind = CEL_OBJECT, .object = &z->object};
}

/* NULL: the receiver is something else. */
static const struct authz *receiver(const struct cel_value *args, enum part part)
{
    const struct authz *z = args[0].kind == CEL_OBJECT && args[0].object->ops == &OPS
                                ? (const struct authz *)args[0].object
                                : NULL;
    return z && z->part == part ? z : NULL;
}

/* ---- Functions ---- */

static bool is_blank(struct str s)
{
    return str_trim(s).n == 0;
}

static struct cel_value path(struct cel_run *run, const struct cel_value *args,
                             unsigned n)
{
    const struct authz *z = receiver(args, AUTHORIZER);
    if (!z || args[1].kind != CEL_STRING)
        return cel_no_overload(run);
    if (is_blank(cel_str(args[1])))
        return CEL_ERROR_CONST("path must not be empty");
    struct authz *made = make(run, PATH_CHECK, z);
    made->check.path = cel_str(args[1]);
    return value_of(made);
}

static struct cel_value group(struct cel_run *run, const struct cel_value *args,
                              unsigned n)
{
    const struct authz *z = receiver(args, AUTHORIZER);
    if (!z || args[1].kind != CEL_STRING)
        return cel_no_overload(run);
    struct authz *made = make(run, GROUP_CHECK, z);
    made->check.group = cel_str(args[1]);
    return value_of(made);
}

static bool is_name(enum name_kind kind, struct str s, struct arena *a)
{
    struct str problems[NAME_MAX_PROBLEMS];
    return name_check(kind, s, a, problems) == 0;
}

static struct cel_value service_account(struct cel_run *run, const struct cel_value *args,
                                        unsigned n)
{
    const struct authz *z = receiver(args, AUTHORIZER);
    if (!z || args[1].kind != CEL_STRING || args[2].kind != CEL_STRING)
        return cel_no_overload(run);
    if (!is_name(NAME_DNS1123_SUBDOMAIN, cel_str(args[2]), &run->arena))
        return CEL_ERROR_CONST("Invalid service account name");
    if (!is_name(NAME_DNS1123_LABEL, cel_str(args[1]), &run->arena))
        return CEL_ERROR_CONST("Invalid service account namespace");
    struct authz *made = make(run, AUTHORIZER, z);
    made->check.account_namespace = cel_str(args[1]);
    made->check.account = cel_str(args[2]);
    return value_of(made);
}

static struct cel_value resource(struct cel_run *run, const struct cel_value *args,
                                 unsigned n)
{
    const struct authz *z = receiver(args, GROUP_CHECK);
    if (!z || args[1].kind != CEL_STRING)
        return cel_no_overload(run);
    if (is_blank(cel_str(args[1])))
        return CEL_ERROR_CONST("resource must not be empty");
    struct authz *made = make(run, RESOURCE_CHECK, z);
    made->check.resource = cel_str(args[1]);
    return value_of(made);
}

/* A copy in which one text is another. */
static struct cel_value with_text(struct cel_run *run, const struct cel_value *args,
                                  size_t offset)
{
    const struct authz *z = receiver(args, RESOURCE_CHECK);
    if (!z || args[1].kind != CEL_STRING)
        return cel_no_overload(run);
    struct authz *made = make(run, RESOURCE_CHECK, z);
    *(struct str *)((char *)&made->check + offset) = cel_str(args[1]);
    return value_of(made);
}

#define WITH(fn, member)                                                                 \
    static struct cel_value fn(struct cel_run *run, const struct cel_value *args,        \
                               unsigned n)                                               \
    {                                                                                    \
        return with_text(run, args, offsetof(struct api_authz_check, member));           \
    }
WITH(subresource, subresource)
WITH(namespace, namespace)
WITH(name, name)
WITH(field_selector, fields)
WITH(label_selector, labels)

static struct cel_value check(struct cel_run *run, const struct cel_value *args,
                              unsigned n)
{
    const struct authz *z = receiver(args, RESOURCE_CHECK);
    z = z ? z : receiver(args, PATH_CHECK);
    if (!z || args[1].kind != CEL_STRING)
        return cel_no_overload(run);
    struct authz *made = make(run, DECISION, z);
    made->check.verb = cel_str(args[1]);
    made->allowed = z->authorizer->check(z->authorizer->ctx, &made->check, &run->arena,
                                         &made->reason);
    return value_of(made);
}

static struct cel_value allowed(struct cel_run *run, const struct cel_value *args,
                                unsigned n)
{
    const struct authz *z = receiver(args, DECISION);
    return z ? cel_bool(z->allowed) : cel_no_overload(run);
}

static struct cel_value reason(struct cel_run *run, const struct cel_value *args,
                               unsigned n)
{
    const struct authz *z = receiver(args, DECISION);
    return z ? cel_string(z->reason) : cel_no_overload(run);
}

/* Nobody who is asked here fails to answer. */
static struct cel_value errored(struct cel_run *run, const struct cel_value *args,
                                unsigned n)
{
    return receiver(args, DECISION) ? cel_bool(false) : cel_no_overload(run);
}

static struct cel_value error(struct cel_run *run, const struct cel_value *args,
                              unsigned n)
{
    return receiver(args, DECISION) ? cel_string(STR("")) : cel_no_overload(run);
}

/* ---- Rows ---- */

#define Z "kubernetes.authorization."
#define ROW(id_, name_, type_, since_, fn_)                                              \
    {                                                                                    \
        .id = (id_), .function = (name_), .type = (type_), .member = true,               \
        .since = (since_), .fn = (fn_), .unguarded = true                                \
    }

static const struct cel_overload overloads[] = {
    ROW("authorizer_path", "path", "(" Z "Authorizer, string) -> " Z "PathCheck", 27,
        path),
    ROW("authorizer_group", "group", "(" Z "Authorizer, string) -> " Z "GroupCheck", 27,
        group),
    ROW("authorizer_serviceaccount", "serviceAccount",
        "(" Z "Authorizer, string, string) -> " Z "Authorizer", 27, service_account),
    ROW("groupcheck_resource", "resource",
        "(" Z "GroupCheck, string) -> " Z "ResourceCheck", 27, resource),
    ROW("resourcecheck_subresource", "subresource",
        "(" Z "ResourceCheck, string) -> " Z "ResourceCheck", 27, subresource),
    ROW("resourcecheck_namespace", "namespace",
        "(" Z "ResourceCheck, string) -> " Z "ResourceCheck", 27, namespace),
    ROW("resourcecheck_name", "name",
        "(" Z "ResourceCheck, string) -> " Z "ResourceCheck", 27, name),
    ROW("authorizer_fieldselector", "fieldSelector",
        "(" Z "ResourceCheck, string) -> " Z "ResourceCheck", 31, field_selector),
    ROW("authorizer_labelselector", "labelSelector",
        "(" Z "ResourceCheck, string) -> " Z "ResourceCheck", 31, label_selector),
    ROW("pathcheck_check", "check", "(" Z "PathCheck, string) -> " Z "Decision", 27,
        check),
    ROW("resourcecheck_check", "check", "(" Z "ResourceCheck, string) -> " Z "Decision",
        27, check),
    ROW("decision_errored", "errored", "(" Z "Decision) -> bool", 27, errored),
    ROW("decision_error", "error", "(" Z "Decision) -> string", 27, error),
    ROW("decision_allowed", "allowed", "(" Z "Decision) -> bool", 27, allowed),
    ROW("decision_reason", "reason", "(" Z "Decision) -> string", 27, reason),
};

/* Two checks an expression, and not three. */
static uint64_t cost_check(const struct cel_value *args, unsigned n,
                           struct cel_value result)
{
    return 350000;
}

/* A list, the text, and a requirement (a struct and a list) for every two bytes. */
static uint64_t cost_selector(const struct cel_value *args, unsigned n,
                              struct cel_value result)
{
    double size = n > 1 ? (double)cel_cost_size(args[1]) : 0;
    return 10 + (uint64_t)ceil(size * 0.1) + (uint64_t)ceil(size * 0.5) * 50;
}

static const struct cel_cost_row costs[] = {
    {NULL, "check", cost_check},
    {NULL, "fieldSelector", cost_selector},
    {NULL, "labelSelector", cost_selector},
};

const struct cel_lib api_cel_lib_authz = {
    .name = "authz",
    .overloads = overloads,
    .noverloads = CEL_COUNT(overloads),
    .costs = costs,
    .ncosts = CEL_COUNT(costs),
};

/* ---- Variables ---- */

struct cel_value api_authz_value(const struct api_authorizer *a, struct cel_run *run)
{
    struct authz *z = make(run, AUTHORIZER, NULL);
    z->authorizer = a;
    return value_of(z);
}

struct cel_value api_authz_request_value(const struct api_authorizer *a,
                                         struct cel_run *run)
{
    struct authz *z = make(run, RESOURCE_CHECK, NULL);
    z->authorizer = a;
    z->check = a->request;
    return value_of(z);
}
