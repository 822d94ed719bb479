/* SPDX-License-Identifier: Apache-2.0 */
#include "cel/messages.h"

#include <stddef.h>

#define WRAPPER(scalar)                                                                  \
    (&(const struct cel_type){.kind = CEL_T_WRAPPER,                                     \
                              .nparams = 1,                                              \
                              .weight = 2,                                               \
                              .params =                                                  \
                                  (const struct cel_type *const[]){&cel_type_##scalar}})

static const struct cel_type struct_type = {
    .kind = CEL_T_MAP,
    .nparams = 2,
    .weight = 3,
    .params = (const struct cel_type *const[]){&cel_type_string, &cel_type_dyn},
};

static const struct cel_object_type empty = {.name = "google.protobuf.Empty"};
static const struct cel_type empty_type = {
    .kind = CEL_T_OBJECT, .weight = 1, .name = "google.protobuf.Empty", .object = &empty};

static const struct cel_field time_fields[] = {
    {"seconds", &cel_type_int},
    {"nanos", &cel_type_int},
};
static const struct cel_field any_fields[] = {
    {"type_url", &cel_type_string},
    {"value", &cel_type_bytes},
};
static const struct cel_field value_fields[] = {
    {"null_value", &cel_type_int},      {"number_value", &cel_type_double},
    {"string_value", &cel_type_string}, {"bool_value", &cel_type_bool},
    {"struct_value", &struct_type},     {"list_value", &cel_type_list_dyn},
};
static const struct cel_field struct_fields[] = {{"fields", &struct_type}};
static const struct cel_field list_fields[] = {{"values", &cel_type_list_dyn}};
static const struct cel_field bool_fields[] = {{"value", &cel_type_bool}};
static const struct cel_field bytes_fields[] = {{"value", &cel_type_bytes}};
static const struct cel_field double_fields[] = {{"value", &cel_type_double}};
static const struct cel_field int_fields[] = {{"value", &cel_type_int}};
static const struct cel_field string_fields[] = {{"value", &cel_type_string}};
static const struct cel_field uint_fields[] = {{"value", &cel_type_uint}};

#define MESSAGE(name, type, fields)                                                      \
    {                                                                                    \
        type,                                                                            \
        {                                                                                \
            "google.protobuf." name, fields, sizeof(fields) / sizeof *(fields)           \
        }                                                                                \
    }

const struct cel_message cel_messages[] = {
    MESSAGE("Any", &cel_type_any, any_fields),
    MESSAGE("BoolValue", WRAPPER(bool), bool_fields),
    MESSAGE("BytesValue", WRAPPER(bytes), bytes_fields),
    MESSAGE("DoubleValue", WRAPPER(double), double_fields),
    MESSAGE("Duration", &cel_type_duration, time_fields),
    MESSAGE("FloatValue", WRAPPER(double), double_fields),
    MESSAGE("Int32Value", WRAPPER(int), int_fields),
    MESSAGE("Int64Value", WRAPPER(int), int_fields),
    MESSAGE("ListValue", &cel_type_list_dyn, list_fields),
    MESSAGE("StringValue", WRAPPER(string), string_fields),
    MESSAGE("Struct", &struct_type, struct_fields),
    MESSAGE("Timestamp", &cel_type_timestamp, time_fields),
    MESSAGE("UInt32Value", WRAPPER(uint), uint_fields),
    MESSAGE("UInt64Value", WRAPPER(uint), uint_fields),
    MESSAGE("Value", &cel_type_dyn, value_fields),
    {&empty_type, {"google.protobuf.Empty", NULL, 0}},
    {NULL, {NULL, NULL, 0}},
};
