/* SPDX-License-Identifier: Apache-2.0 */
/* The wire format of protobuf: tags, varints, lengths. */
#ifndef DRAY_API_WIRE_H
#define DRAY_API_WIRE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

enum wire_type { WIRE_VARINT = 0, WIRE_64 = 1, WIRE_BYTES = 2, WIRE_32 = 5 };

struct wire_field {
    uint32_t number;
    enum wire_type type;
    uint64_t value;   /* VARINT, 64, 32 */
    struct str bytes; /* BYTES */
};

/* The next field of a message; false at its end, and with *bad set where the bytes are
 * none. */
bool wire_next(struct str *message, struct wire_field *out, bool *bad);

void wire_put_int(struct strbuf *b, uint32_t number, uint64_t v);
void wire_put_64(struct strbuf *b, uint32_t number, uint64_t v);
void wire_put_bytes(struct strbuf *b, uint32_t number, struct str s);
/* A nested message is written in place: its length is filled in at the end. */
size_t wire_begin(struct strbuf *b, uint32_t number);
void wire_end(struct strbuf *b, size_t mark);

#endif
