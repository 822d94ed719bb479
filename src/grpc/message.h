/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages from others, read as proto3 readers do: what protobuf-c takes for an error and
 * proto3 does not (groups, a known field of another wire type) is left out first, and
 * what it lets pass and proto3 does not (text that is no UTF-8) is refused. A text with
 * U+0000 is refused too: protobuf-c would end it there, and no name has one.
 */
#ifndef DRAY_GRPC_MESSAGE_H
#define DRAY_GRPC_MESSAGE_H

#include <protobuf-c/protobuf-c.h>

#include "base/err.h"
#include "base/str.h"

/* To be freed with protobuf_c_message_free_unpacked(m, NULL). NULL: e says what is wrong
 * with the bytes. */
ProtobufCMessage *grpc_message_read(const ProtobufCMessageDescriptor *d, struct str bytes,
                                    struct err *e);

#endif
