/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kubernetes objects in protobuf, from the tables (spec 2.11, 5.15.4). An encoded object
 * is the magic "k8s\0" and a runtime.Unknown that names version and kind; inside are the
 * messages that the numbers of api/types describe.
 *
 * Decoding gives the document that Go would print: fields that are always there are
 * there.
 */
#ifndef DRAY_API_PROTO_H
#define DRAY_API_PROTO_H

#include "api/schema.h"
#include "base/err.h"
#include "doc/doc.h"

enum { API_PROTO_MAX_DEPTH = 100 };

/* Whether the bytes begin as an encoded object does. */
bool api_proto_is(struct str bytes);
/* Appends the object, which names its apiVersion and kind. false: no type of that name,
 * or a value that its type cannot hold (an undecodable object); out is as it was. */
bool api_proto_encode(const struct doc *object, struct arena *a, struct strbuf *out,
                      struct err *e);
/* The same of a list whose items are not there all at once: begun with the list without
 * them, ended after the last. When one of the calls fails, out is to be dropped. */
struct api_proto_list {
    struct strbuf *out;
    const struct api_type *item;
    uint32_t number; /* of the field items */
    size_t raw;
};
bool api_proto_list_begin(struct api_proto_list *l, const struct doc *list,
                          struct arena *a, struct strbuf *out, struct err *e);
bool api_proto_list_add(struct api_proto_list *l, const struct doc *item, struct arena *a,
                        struct err *e);
void api_proto_list_end(struct api_proto_list *l);
/* Strings live in a. Unknown fields are passed over, as protobuf has it. */
bool api_proto_decode(struct str bytes, struct arena *a, struct doc *out, struct err *e);

/* One message of a known type, without envelope. */
bool api_proto_encode_message(const struct api_type *t, const struct doc *d,
                              struct arena *a, struct strbuf *out, struct err *e);
bool api_proto_decode_message(const struct api_type *t, struct str bytes, struct arena *a,
                              struct doc *out, struct err *e);

/* A frame of a watch: length, then WatchEvent {type, object}. */
bool api_proto_encode_event(const char *type, const struct doc *object, struct arena *a,
                            struct strbuf *out, struct err *e);
/* *used: bytes of the frame, 0 when more are needed. */
bool api_proto_decode_event(struct str bytes, size_t *used, struct str *type,
                            struct arena *a, struct doc *object, struct err *e);

/* The type of an object by its own words: built-in kinds, their lists, and what metav1
 * brings (Status, DeleteOptions, ...). NULL: none. */
const struct api_type *api_type_of_object(struct str api_version, struct str kind);

#endif
