/* SPDX-License-Identifier: Apache-2.0 */
#include "api/wire.h"

/* ---- reading ---- */

static bool get_varint(struct str *m, uint64_t *out)
{
    uint64_t v = 0;
    for (unsigned shift = 0; shift < 64 && m->n; shift += 7) {
        uint8_t byte = (uint8_t)m->p[0];
        m->p++;
        m->n--;
        v |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80)) {
            *out = v;
            return true;
        }
    }
    return false;
}

static bool get_fixed(struct str *m, unsigned size, uint64_t *out)
{
    uint64_t v = 0;
    if (m->n < size)
        return false;
    for (unsigned i = 0; i < size; i++)
        v |= (uint64_t)(uint8_t)m->p[i] << (8 * i);
    m->p += size;
    m->n -= size;
    *out = v;
    return true;
}

static bool get_bytes(struct str *m, struct str *out)
{
    uint64_t n;
    if (!get_varint(m, &n) || n > m->n)
        return false;
    *out = (struct str){m->p, (size_t)n};
    m->p += n;
    m->n -= (size_t)n;
    return true;
}

static bool get_value(struct str *m, struct wire_field *f)
{
    switch (f->type) {
    case WIRE_VARINT:
        return get_varint(m, &f->value);
    case WIRE_64:
        return get_fixed(m, 8, &f->value);
    case WIRE_32:
        return get_fixed(m, 4, &f->value);
    case WIRE_BYTES:
        return get_bytes(m, &f->bytes);
    default: /* groups are not used */
        return false;
    }
}

bool wire_next(struct str *message, struct wire_field *out, bool *bad)
{
    uint64_t tag;
    *bad = false;
    if (message->n == 0)
        return false;
    if (get_varint(message, &tag) && tag >> 3 > 0 && tag >> 3 <= UINT32_MAX) {
        *out = (struct wire_field){.number = (uint32_t)(tag >> 3),
                                   .type = (enum wire_type)(tag & 7)};
        if (get_value(message, out))
            return true;
    }
    *bad = true;
    return false;
}

/* ---- writing ---- */

static void wire_put_varint(struct strbuf *b, uint64_t v)
{
    while (v >= 0x80) {
        strbuf_addc(b, (char)(v | 0x80));
        v >>= 7;
    }
    strbuf_addc(b, (char)v);
}

static void put_tag(struct strbuf *b, uint32_t number, enum wire_type type)
{
    wire_put_varint(b, (uint64_t)number << 3 | (uint64_t)type);
}

void wire_put_int(struct strbuf *b, uint32_t number, uint64_t v)
{
    put_tag(b, number, WIRE_VARINT);
    wire_put_varint(b, v);
}

void wire_put_64(struct strbuf *b, uint32_t number, uint64_t v)
{
    put_tag(b, number, WIRE_64);
    for (int i = 0; i < 8; i++)
        strbuf_addc(b, (char)(v >> (8 * i)));
}

void wire_put_bytes(struct strbuf *b, uint32_t number, struct str s)
{
    put_tag(b, number, WIRE_BYTES);
    wire_put_varint(b, s.n);
    strbuf_addstr(b, s);
}

size_t wire_begin(struct strbuf *b, uint32_t number)
{
    put_tag(b, number, WIRE_BYTES);
    return b->n;
}

void wire_end(struct strbuf *b, size_t mark)
{
    struct strbuf length = STRBUF_INIT;
    size_t n = b->n - mark;
    wire_put_varint(&length, n);
    strbuf_reserve(b, length.n);
    memmove(b->p + mark + length.n, b->p + mark, n);
    memcpy(b->p + mark, length.p, length.n);
    b->n += length.n;
    b->p[b->n] = '\0';
    strbuf_release(&length);
}
