/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an OpenAPI document (version 3) says of a kind, as a type of expressions. Only
 * what a schema names is there to an expression; what it leaves open (a quantity, say) is
 * no field at all.
 *
 * Source: k8s.io/apiserver pkg/cel/common, SchemaDeclType, and pkg/cel/openapi/resolver.
 */
#ifndef DRAY_API_OPENAPI_TYPE_H
#define DRAY_API_OPENAPI_TYPE_H

#include "cel/type.h"
#include "doc/doc.h"

enum { OPENAPI_TYPE_NODES = 200000 }; /* schemas that one kind may consist of */

/*
 * False: the document does not have the kind, or refers to what it does not have, or is
 * too large. *out NULL: its values may be anything. The type is in the arena, shares
 * texts with the document, and has a name made of the kind's.
 */
bool openapi_type(const struct doc *document, struct str group, struct str version,
                  struct str kind, struct arena *a, const struct cel_type **out);

#endif
