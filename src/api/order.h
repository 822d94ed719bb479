/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Members in the order in which Go prints them: kind and apiVersion first, fields by
 * their protobuf numbers (nearly the order of Go's structs), keys of maps by their bytes,
 * sets of fields by their elements.
 * What the tables do not know comes last, as it is.
 */
#ifndef DRAY_API_ORDER_H
#define DRAY_API_ORDER_H

#include "api/schema.h"
#include "base/arena.h"
#include "doc/doc.h"

/* d is mutable; a is for the work alone. */
void api_order(const struct api_type *t, struct doc *d, struct arena *a);
/* The type is what the object says; of a kind of nobody's its metadata alone. */
void api_order_object(struct doc *d, struct arena *a);

#endif
