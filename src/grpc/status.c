/* SPDX-License-Identifier: Apache-2.0 */
#include "grpc/status.h"

static const char *const NAMES[GRPC_NSTATUSES] = {
    [GRPC_OK] = "OK",
    [GRPC_CANCELLED] = "CANCELLED",
    [GRPC_UNKNOWN] = "UNKNOWN",
    [GRPC_INVALID_ARGUMENT] = "INVALID_ARGUMENT",
    [GRPC_DEADLINE_EXCEEDED] = "DEADLINE_EXCEEDED",
    [GRPC_NOT_FOUND] = "NOT_FOUND",
    [GRPC_ALREADY_EXISTS] = "ALREADY_EXISTS",
    [GRPC_PERMISSION_DENIED] = "PERMISSION_DENIED",
    [GRPC_RESOURCE_EXHAUSTED] = "RESOURCE_EXHAUSTED",
    [GRPC_FAILED_PRECONDITION] = "FAILED_PRECONDITION",
    [GRPC_ABORTED] = "ABORTED",
    [GRPC_OUT_OF_RANGE] = "OUT_OF_RANGE",
    [GRPC_UNIMPLEMENTED] = "UNIMPLEMENTED",
    [GRPC_INTERNAL] = "INTERNAL",
    [GRPC_UNAVAILABLE] = "UNAVAILABLE",
    [GRPC_DATA_LOSS] = "DATA_LOSS",
    [GRPC_UNAUTHENTICATED] = "UNAUTHENTICATED",
};

const char *grpc_status_name(enum grpc_status s)
{
    return s < GRPC_NSTATUSES ? NAMES[s] : NAMES[GRPC_UNKNOWN];
}

enum grpc_status status_parse(struct str text)
{
    unsigned n = 0;
    if (text.n == 0 || text.n > 2)
        return GRPC_UNKNOWN;
    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] < '0' || text.p[i] > '9')
            return GRPC_UNKNOWN;
        n = n * 10 + (unsigned)(text.p[i] - '0');
    }
    return n < GRPC_NSTATUSES ? (enum grpc_status)n : GRPC_UNKNOWN;
}

enum grpc_status status_of_http(unsigned status)
{
    switch (status) {
    case 400:
        return GRPC_INTERNAL;
    case 401:
        return GRPC_UNAUTHENTICATED;
    case 403:
        return GRPC_PERMISSION_DENIED;
    case 404:
        return GRPC_UNIMPLEMENTED;
    case 429:
    case 502:
    case 503:
    case 504:
        return GRPC_UNAVAILABLE;
    default:
        return GRPC_UNKNOWN;
    }
}

/* By HTTP/2's error codes (RFC 9113, 7). */
static enum grpc_status status_of_reset(uint32_t code)
{
    enum { REFUSED_STREAM = 7, CANCEL = 8, ENHANCE_YOUR_CALM = 11, SECURITY = 12 };
    switch (code) {
    case REFUSED_STREAM:
        return GRPC_UNAVAILABLE;
    case CANCEL:
        return GRPC_CANCELLED;
    case ENHANCE_YOUR_CALM:
        return GRPC_RESOURCE_EXHAUSTED;
    case SECURITY:
        return GRPC_PERMISSION_DENIED;
    default:
        return GRPC_INTERNAL;
    }
}

enum grpc_status status_of_end(const struct net_call_end *end)
{
    if (end->err->code == ERR_TIMEOUT)
        return GRPC_DEADLINE_EXCEEDED;
    if (end->err->code == ERR_CANCELLED)
        return GRPC_CANCELLED;
    if (end->err->code == ERR_LIMIT)
        return GRPC_INTERNAL;
    return end->reset ? status_of_reset(end->reset) : GRPC_UNAVAILABLE;
}

/* What is no encoding stands for itself. */
struct str status_message(struct str encoded, struct arena *a)
{
    char *out = arena_alloc(a, encoded.n + 1);
    size_t n = 0;
    for (size_t i = 0; i < encoded.n; i++) {
        int high = -1, low = -1;
        if (encoded.p[i] == '%' && encoded.n - i > 2) {
            high = str_hex_digit(encoded.p[i + 1]);
            low = str_hex_digit(encoded.p[i + 2]);
        }
        bool code = high >= 0 && low >= 0;
        out[n++] = code ? (char)(high << 4 | low) : encoded.p[i];
        i += code ? 2 : 0;
    }
    return (struct str){out, n};
}

void status_message_print(struct str message, struct strbuf *out)
{
    static const char HEX[] = "0123456789ABCDEF";
    for (size_t i = 0; i < message.n; i++) {
        unsigned char c = (unsigned char)message.p[i];
        if (c >= ' ' && c <= '~' && c != '%') {
            strbuf_addc(out, (char)c);
            continue;
        }
        strbuf_addc(out, '%');
        strbuf_addc(out, HEX[c >> 4]);
        strbuf_addc(out, HEX[c & 15]);
    }
}
