/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Defaults that the API server fills in (spec 2.12), and fields of switched-off gates
 * that it drops (spec 2.10).
 */
#ifndef DRAY_API_DEFAULTS_H
#define DRAY_API_DEFAULTS_H

#include "api/gates.h"
#include "api/schema.h"
#include "doc/doc.h"

/* Fills defaults in the object's own version. now is an RFC 3339 text in whole seconds
 * for times that default to the present. The object must be mutable and decodable. */
void api_default(const struct api_kind *kind, struct doc *object, struct str now,
                 struct arena *a);
/* Drops fields of gates that are off, unless the stored object (NULL: none) uses any
 * field of that gate. For objects in the shape of v1. */
void api_drop_disabled(const struct api_kind *kind, struct doc *object,
                       const struct doc *old, const struct api_gates *gates);

#endif
