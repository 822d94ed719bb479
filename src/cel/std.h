/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside of cel: the functions of the core language. Operators take operands of any kind
 * and refuse those they have no meaning for, with upstream's texts; conversions and
 * accessors get what their rows say.
 */
#ifndef DRAY_CEL_STD_H
#define DRAY_CEL_STD_H

#include "cel/func.h"

/* std_ops.c */
cel_fn cel_std_add, cel_std_sub, cel_std_mul, cel_std_div, cel_std_mod, cel_std_neg,
    cel_std_not, cel_std_lt, cel_std_le, cel_std_gt, cel_std_ge, cel_std_in, cel_std_size,
    cel_std_contains, cel_std_starts_with, cel_std_ends_with, cel_std_matches;

/* std_convert.c */
cel_fn cel_std_identity, cel_std_type, cel_std_string_to_bool, cel_std_string_to_bytes,
    cel_std_int_to_double, cel_std_uint_to_double, cel_std_string_to_double,
    cel_std_double_to_int, cel_std_uint_to_int, cel_std_string_to_int,
    cel_std_duration_to_int, cel_std_timestamp_to_int, cel_std_double_to_uint,
    cel_std_int_to_uint, cel_std_string_to_uint, cel_std_bool_to_string,
    cel_std_bytes_to_string, cel_std_double_to_string, cel_std_int_to_string,
    cel_std_uint_to_string, cel_std_duration_to_string, cel_std_timestamp_to_string,
    cel_std_string_to_duration, cel_std_string_to_timestamp, cel_std_int_to_timestamp;

/* std_time.c: of a timestamp in UTC or, with a second argument, in a zone */
cel_fn cel_std_year, cel_std_month, cel_std_day_of_year, cel_std_day_of_month,
    cel_std_date, cel_std_day_of_week, cel_std_hours, cel_std_minutes, cel_std_seconds,
    cel_std_milliseconds, cel_std_duration_hours, cel_std_duration_minutes,
    cel_std_duration_seconds, cel_std_duration_milliseconds;

/* std_time.c: sums and differences of instants and durations, for the operators */
struct cel_value cel_time_add(struct cel_value t, int64_t ns);
struct cel_value cel_time_between(struct cel_value a, struct cel_value b);

/* two_var.c: "insert failed: key K already exists" */
struct cel_value cel_insert_failed(struct cel_run *run, struct cel_value key);

#endif
