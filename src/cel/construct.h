/* SPDX-License-Identifier: Apache-2.0 */
/* Inside of cel: values made as messages, google.protobuf.Duration{seconds: 1}. */
#ifndef DRAY_CEL_CONSTRUCT_H
#define DRAY_CEL_CONSTRUCT_H

#include "cel/messages.h"
#include "cel/record.h"
#include "cel/value.h"

/* Name of a message as the environment has it; NULL: none of these. */
const struct cel_message *cel_message_find(struct str name);
/* The value, or an error of upstream's text. Fields not given have their zero value; of
 * fields that exclude each other the last counts. */
struct cel_value cel_message_make(struct cel_run *run, const struct cel_message *m,
                                  const struct cel_field_value *fields, uint32_t n);

#endif
