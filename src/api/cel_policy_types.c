/* SPDX-License-Identifier: Apache-2.0 */
/* Types of the variables that expressions of admission have. */
#include "api/cel_policy_inner.h"

#define FIELDS(v) .fields = (v), .nfields = CEL_COUNT(v)
#define OBJECT(id, type_name, list)                                                      \
    static const struct cel_object_type id##_object = {.name = (type_name),              \
                                                       FIELDS(list)};                    \
    static const struct cel_type id = {                                                  \
        .kind = CEL_T_OBJECT, .name = (type_name), .object = &id##_object}

static const struct cel_type *const string_param[] = {&cel_type_string};
static const struct cel_type strings = {
    .kind = CEL_T_LIST, .nparams = 1, .weight = 2, .params = string_param};
static const struct cel_type *const text_pair[] = {&cel_type_string, &cel_type_string};
static const struct cel_type texts = {
    .kind = CEL_T_MAP, .nparams = 2, .weight = 3, .params = text_pair};
static const struct cel_type *const texts_pair[] = {&cel_type_string, &strings};
static const struct cel_type text_lists = {
    .kind = CEL_T_MAP, .nparams = 2, .weight = 4, .params = texts_pair};

static const struct cel_field kind_fields[] = {{"group", &cel_type_string},
                                               {"version", &cel_type_string},
                                               {"kind", &cel_type_string}};
OBJECT(kind_type, "kubernetes.GroupVersionKind", kind_fields);
static const struct cel_field resource_fields[] = {{"group", &cel_type_string},
                                                   {"version", &cel_type_string},
                                                   {"resource", &cel_type_string}};
OBJECT(resource_type, "kubernetes.GroupVersionResource", resource_fields);
static const struct cel_field user_fields[] = {{"username", &cel_type_string},
                                               {"uid", &cel_type_string},
                                               {"groups", &strings},
                                               {"extra", &text_lists}};
OBJECT(user_type, "kubernetes.UserInfo", user_fields);
static const struct cel_field request_fields[] = {
    {"kind", &kind_type},
    {"resource", &resource_type},
    {"subResource", &cel_type_string},
    {"requestKind", &kind_type},
    {"requestResource", &resource_type},
    {"requestSubResource", &cel_type_string},
    {"name", &cel_type_string},
    {"namespace", &cel_type_string},
    {"operation", &cel_type_string},
    {"userInfo", &user_type},
    {"dryRun", &cel_type_bool},
    {"options", &cel_type_dyn},
};
OBJECT(request_type, "kubernetes.AdmissionRequest", request_fields);

static const struct cel_field spec_fields[] = {{"finalizers", &strings}};
OBJECT(spec_type, "kubernetes.NamespaceSpec", spec_fields);
static const struct cel_field condition_fields[] = {
    {"status", &cel_type_string},
    {"type", &cel_type_string},
    {"lastTransitionTime", &cel_type_timestamp},
    {"message", &cel_type_string},
    {"reason", &cel_type_string},
};
OBJECT(condition_type, "kubernetes.NamespaceCondition", condition_fields);
static const struct cel_type *const condition_param[] = {&condition_type};
static const struct cel_type conditions = {
    .kind = CEL_T_LIST, .nparams = 1, .weight = 2, .params = condition_param};
static const struct cel_field status_fields[] = {{"conditions", &conditions},
                                                 {"phase", &cel_type_string}};
OBJECT(status_type, "kubernetes.NamespaceStatus", status_fields);
static const struct cel_field meta_fields[] = {
    {"name", &cel_type_string},
    {"generateName", &cel_type_string},
    {"namespace", &cel_type_string},
    {"labels", &texts},
    {"annotations", &texts},
    {"UID", &cel_type_string},
    {"creationTimestamp", &cel_type_timestamp},
    {"deletionGracePeriodSeconds", &cel_type_int},
    {"deletionTimestamp", &cel_type_timestamp},
    {"generation", &cel_type_int},
    {"resourceVersion", &cel_type_string},
    {"finalizers", &strings},
};
OBJECT(meta_type, "kubernetes.NamespaceMetadata", meta_fields);
static const struct cel_field namespace_fields[] = {
    {"metadata", &meta_type}, {"spec", &spec_type}, {"status", &status_type}};
OBJECT(namespace_type, "kubernetes.Namespace", namespace_fields);

const struct cel_type *const policy_request_type = &request_type,
                             *const policy_namespace_type = &namespace_type;

const struct cel_type *policy_known_type(const struct cel_type *t, struct arena *a)
{
    switch (t->kind) {
    case CEL_T_LIST:
        return cel_type_list(a, policy_known_type(t->params[0], a));
    case CEL_T_MAP:
        return cel_type_map(a, policy_known_type(t->params[0], a),
                            policy_known_type(t->params[1], a));
    case CEL_T_ANY:
    case CEL_T_NULL:
    case CEL_T_BOOL:
    case CEL_T_INT:
    case CEL_T_UINT:
    case CEL_T_DOUBLE:
    case CEL_T_STRING:
    case CEL_T_BYTES:
    case CEL_T_DURATION:
    case CEL_T_TIMESTAMP:
        return t;
    default:
        return &cel_type_dyn;
    }
}
