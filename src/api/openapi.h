/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Schemas in OpenAPI's forms, made from the tables (schema.h): what upstream publishes
 * under the same names, but for descriptions.
 *
 * A definition is a number: first the types in the order of api_types, then what the
 * tables know as forms of a value (times, quantities, ...). All functions may be called
 * from any thread; documents live in the arena.
 */
#ifndef DRAY_API_OPENAPI_H
#define DRAY_API_OPENAPI_H

#include "api/schema.h"
#include "doc/doc.h"

enum openapi_form { OPENAPI_V2, OPENAPI_V3 };

uint32_t openapi_ndefinitions(void);
uint32_t openapi_of_type(const struct api_type *t);
/* By the last part of its name, of those that are no types: "Patch". */
uint32_t openapi_of_form(const char *name);
/* "io.k8s.api.core.v1.Pod" */
struct str openapi_name(uint32_t definition, struct arena *a);
struct doc openapi_definition(uint32_t definition, enum openapi_form form,
                              struct arena *a);
/* Adds it and all that it refers to to a set of openapi_ndefinitions bits. */
void openapi_reach(uint64_t *set, uint32_t definition);

/* {"$ref": "#/.../NAME"} */
struct doc openapi_ref(struct str name, enum openapi_form form, struct arena *a);
/* [{group, kind, version}] of a definition, with room for more. */
struct doc openapi_gvk(struct str group, struct str version, struct str kind,
                       struct arena *a);

/* ---- kinds that the tables do not have (openapi_custom.c) ---- */

/* "com.example.acme.v1.Widget" */
struct str openapi_custom_name(struct str group, struct str version, struct str kind,
                               struct arena *a);
/* The definition of an object: its structural schema (NULL: none) with what every object
 * has. In the form of version 2 what that cannot say is left out, so that its clients
 * refuse nothing that is right. */
struct doc openapi_custom(const struct doc *schema, enum openapi_form form,
                          struct arena *a);
/* Of a list of such objects. */
struct doc openapi_custom_list(struct str item_name, enum openapi_form form,
                               struct arena *a);

/* ---- protobuf (openapi_proto.c) ---- */

/* What a part of a document is; the whole is written part by part. */
enum openapi_part {
    OPENAPI_PART_HEAD,       /* {"swagger"|"openapi", "info", "security", ...} */
    OPENAPI_PART_PATH,       /* an item of "paths" */
    OPENAPI_PART_DEFINITION, /* an item of "definitions" or "components.schemas" */
    OPENAPI_PART_PARAMETER,  /* of form 2: an item of "parameters" */
};
/* Appends the fields of a head to out; of another part, one entry of the map that it is
 * an item of (the caller joins them). What the messages have no field for is left out. */
void openapi_proto(enum openapi_form form, enum openapi_part part, struct str name,
                   const struct doc *d, struct strbuf *out);
/* Appends the message of a document: its head's fields, and each map of parts. */
void openapi_proto_join(enum openapi_form form, struct str head, struct str paths,
                        struct str definitions, struct str parameters,
                        struct strbuf *out);

#endif
