/* SPDX-License-Identifier: Apache-2.0 */
#include "grpc/message.h"

#include "base/utf8.h"

enum { MAX_DEPTH = 32, MAX_VARINT = 10 };
enum wire { WIRE_VARINT, WIRE_64, WIRE_BYTES, WIRE_START, WIRE_END, WIRE_32, WIRE_NONE };

/* What is read of, from the front. */
struct reader {
    struct str rest;
    const char *wrong; /* NULL: nothing so far */
};

static uint64_t read_varint(struct reader *r)
{
    uint64_t v = 0;
    for (unsigned i = 0; i < MAX_VARINT && i < r->rest.n; i++) {
        unsigned char byte = (unsigned char)r->rest.p[i];
        v |= (uint64_t)(byte & 0x7f) << (7 * i);
        if (byte & 0x80)
            continue;
        if (i == MAX_VARINT - 1 && byte > 1)
            break;
        r->rest = str_sub(r->rest, i + 1, SIZE_MAX);
        return v;
    }
    r->wrong = r->rest.n < MAX_VARINT ? "a number is cut off" : "a number is too long";
    return 0;
}

static struct str read_bytes(struct reader *r, uint64_t n)
{
    if (r->wrong || n > r->rest.n) {
        r->wrong = r->wrong ? r->wrong : "a field is cut off";
        return STR_NONE;
    }
    struct str bytes = str_sub(r->rest, 0, (size_t)n);
    r->rest = str_sub(r->rest, (size_t)n, SIZE_MAX);
    return bytes;
}

static void skip_group(struct reader *r, uint64_t number, unsigned depth);

/* The value of a field whose tag was read. */
static struct str read_value(struct reader *r, uint64_t tag, unsigned depth)
{
    const char *start = r->rest.p;
    switch ((enum wire)(tag & 7)) {
    case WIRE_VARINT:
        read_varint(r);
        return (struct str){start, (size_t)(r->rest.p - start)};
    case WIRE_64:
        return read_bytes(r, 8);
    case WIRE_32:
        return read_bytes(r, 4);
    case WIRE_BYTES:
        return read_bytes(r, read_varint(r));
    case WIRE_START:
        skip_group(r, tag >> 3, depth + 1);
        return STR_NONE;
    case WIRE_END:
        r->wrong = "a group ends that has not begun";
        return STR_NONE;
    default:
        r->wrong = "a field has no known wire type";
        return STR_NONE;
    }
}

static uint64_t read_tag(struct reader *r)
{
    uint64_t tag = read_varint(r);
    if (!r->wrong && (tag >> 3 == 0 || tag >> 3 > 0x1fffffff))
        r->wrong = "a field has a number that is not allowed";
    return tag;
}

/* NOLINTNEXTLINE(misc-no-recursion): to MAX_DEPTH */
static void skip_group(struct reader *r, uint64_t number, unsigned depth)
{
    if (depth > MAX_DEPTH)
        r->wrong = "groups are nested too deep";
    while (!r->wrong) {
        if (r->rest.n == 0) {
            r->wrong = "a group does not end";
            return;
        }
        uint64_t tag = read_tag(r);
        if (r->wrong || ((tag & 7) == WIRE_END && tag >> 3 == number))
            return;
        read_value(r, tag, depth);
    }
}

static bool has_wire(const ProtobufCFieldDescriptor *f, enum wire w)
{
    switch (f->type) {
    case PROTOBUF_C_TYPE_STRING:
    case PROTOBUF_C_TYPE_BYTES:
    case PROTOBUF_C_TYPE_MESSAGE:
        return w == WIRE_BYTES;
    case PROTOBUF_C_TYPE_FIXED32:
    case PROTOBUF_C_TYPE_SFIXED32:
    case PROTOBUF_C_TYPE_FLOAT:
        return w == WIRE_32;
    case PROTOBUF_C_TYPE_FIXED64:
    case PROTOBUF_C_TYPE_SFIXED64:
    case PROTOBUF_C_TYPE_DOUBLE:
        return w == WIRE_64;
    default: /* numbers in a list may come packed */
        return w == WIRE_VARINT ||
               (w == WIRE_BYTES && f->label == PROTOBUF_C_LABEL_REPEATED);
    }
}

static void add_varint(struct strbuf *out, uint64_t v)
{
    for (; v >= 0x80; v >>= 7)
        strbuf_addc(out, (char)(v | 0x80));
    strbuf_addc(out, (char)v);
}

static const char *clean(const ProtobufCMessageDescriptor *d, struct str bytes,
                         struct strbuf *out, unsigned depth);

static const char *wrong_text(struct str text)
{
    if (!utf8_valid(text))
        return "a text is not UTF-8";
    return memchr(text.p ? text.p : "", 0, text.n) ? "a text has a NUL in it" : NULL;
}

/* NOLINTNEXTLINE(misc-no-recursion): to MAX_DEPTH */
static const char *clean_field(const ProtobufCFieldDescriptor *f, uint64_t tag,
                               struct str value, struct strbuf *out, unsigned depth)
{
    struct strbuf inner = {0};
    const char *wrong = NULL;
    if (f->type == PROTOBUF_C_TYPE_STRING)
        wrong = wrong_text(value);
    if (f->type == PROTOBUF_C_TYPE_MESSAGE) {
        wrong = clean(f->descriptor, value, &inner, depth + 1);
        value = strbuf_str(&inner);
    }
    add_varint(out, tag);
    if ((tag & 7) == WIRE_BYTES)
        add_varint(out, value.n);
    strbuf_addstr(out, value);
    strbuf_release(&inner);
    return wrong;
}

/* Appends the fields that are known. NULL, or what is wrong.
 * NOLINTNEXTLINE(misc-no-recursion): to MAX_DEPTH */
static const char *clean(const ProtobufCMessageDescriptor *d, struct str bytes,
                         struct strbuf *out, unsigned depth)
{
    struct reader r = {.rest = bytes};
    if (depth > MAX_DEPTH)
        return "messages are nested too deep";
    while (!r.wrong && r.rest.n > 0) {
        uint64_t tag = read_tag(&r);
        struct str value = r.wrong ? STR_NONE : read_value(&r, tag, depth);
        const ProtobufCFieldDescriptor *f =
            protobuf_c_message_descriptor_get_field(d, (unsigned)(tag >> 3));
        if (!r.wrong && f && has_wire(f, (enum wire)(tag & 7)))
            r.wrong = clean_field(f, tag, value, out, depth);
    }
    return r.wrong;
}

ProtobufCMessage *grpc_message_read(const ProtobufCMessageDescriptor *d, struct str bytes,
                                    struct err *e)
{
    struct strbuf out = {0};
    ProtobufCMessage *m = NULL;
    const char *wrong = clean(d, bytes, &out, 0);
    if (!wrong)
        m = protobuf_c_message_unpack(d, NULL, out.n,
                                      (const uint8_t *)(out.p ? out.p : ""));
    strbuf_release(&out);
    if (!m)
        err_set(e, ERR_INVALID, "no %s: %s", d->short_name,
                wrong ? wrong : "it cannot be decoded");
    return m;
}
