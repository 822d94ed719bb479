/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside of cel: the messages that every environment of upstream knows, and that are
 * values of the language: google.protobuf.Duration{seconds: 1} is duration("1s").
 */
#ifndef DRAY_CEL_MESSAGES_H
#define DRAY_CEL_MESSAGES_H

#include "cel/type.h"

struct cel_message {
    const struct cel_type *type;   /* of what is made */
    struct cel_object_type fields; /* name and fields of the message */
};

extern const struct cel_message cel_messages[]; /* ends with a name of NULL */

#endif
