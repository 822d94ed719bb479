/* SPDX-License-Identifier: Apache-2.0 */
#include "grpc/frame.h"

#include "base/mem.h"

struct str frame_make(const ProtobufCMessage *m)
{
    size_t n = protobuf_c_message_get_packed_size(m);
    char *bytes = mem_alloc(FRAME_PREFIX + n);
    for (int i = 0; i < FRAME_PREFIX; i++)
        bytes[i] = (char)(i == 0 ? 0 : n >> (8 * (FRAME_PREFIX - 1 - i)) & 0xff);
    protobuf_c_message_pack(m, (uint8_t *)bytes + FRAME_PREFIX);
    return (struct str){bytes, FRAME_PREFIX + n};
}
