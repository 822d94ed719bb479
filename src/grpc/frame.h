/* SPDX-License-Identifier: Apache-2.0 */
/* A message on the wire: a byte (0: not compressed), four of length, the message. */
#ifndef DRAY_GRPC_FRAME_H
#define DRAY_GRPC_FRAME_H

#include <protobuf-c/protobuf-c.h>

#include "base/str.h"

enum { FRAME_PREFIX = 5, FRAME_MAX_MESSAGE = 4 << 20 };

static inline uint32_t frame_length(struct str prefix)
{
    const unsigned char *u = (const unsigned char *)prefix.p;
    return (uint32_t)u[1] << 24 | (uint32_t)u[2] << 16 | (uint32_t)u[3] << 8 | u[4];
}

/* In memory of its own; free(it.p). */
struct str frame_make(const ProtobufCMessage *m);

#endif
