/* SPDX-License-Identifier: Apache-2.0 */
/* Base 64, as Go's encoding/base64 has it. */
#include "cel/lib.h"

static const char alphabet[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static struct cel_value encode(struct cel_run *run, const struct cel_value *a, unsigned n)
{
    size_t len = a[0].len;
    const unsigned char *in = (const unsigned char *)a[0].s;
    struct strbuf out = STRBUF_INIT;
    strbuf_reserve(&out, (len + 2) / 3 * 4);
    for (size_t i = 0; i < len; i += 3) {
        uint32_t bits = 0;
        size_t have = 0;
        for (; have < 3 && i + have < len; have++)
            bits |= (uint32_t)in[i + have] << (16 - 8 * have);
        for (size_t j = 0; j < 4; j++)
            strbuf_addc(&out, j <= have ? alphabet[bits >> (18 - 6 * j) & 63] : '=');
    }
    return cel_lib_text(run, &out);
}

static int digit_of(char c)
{
    const char *hit = c ? strchr(alphabet, c) : NULL;
    return hit ? (int)(hit - alphabet) : -1;
}

static bool is_break(char c)
{
    return c == '\r' || c == '\n';
}

/* Whether what is left are the padding characters that so many digits call for. */
static bool is_padding(struct str rest, size_t digits)
{
    size_t want = (4 - digits % 4) % 4, have = 0;
    for (size_t i = 0; i < rest.n; i++) {
        if (rest.p[i] == '=')
            have++;
        else if (!is_break(rest.p[i]))
            return false;
    }
    return have == want && want < 3;
}

/* With padding or without, line breaks anywhere. */
static struct cel_value decode(struct cel_run *run, const struct cel_value *a, unsigned n)
{
    struct str s = cel_str(a[0]);
    char *out = arena_alloc(&run->arena, s.n);
    size_t made = 0, digits = 0, i = 0;
    uint32_t bits = 0;
    for (; i < s.n; i++) {
        int d = digit_of(s.p[i]);
        if (d < 0 && !is_break(s.p[i]))
            break;
        if (d < 0)
            continue;
        bits = bits << 6 | (uint32_t)d;
        if (digits++ % 4 != 0)
            out[made++] = (char)(bits >> (6 - 2 * ((digits - 1) % 4)));
    }
    bool whole = i == s.n && digits % 4 != 1;
    if (!whole && !is_padding(str_sub(s, i, s.n), digits))
        return cel_errorf(run, "illegal base64 data at input byte %zu", i - (i == s.n));
    return cel_bytes((struct str){out, made});
}

static const struct cel_overload rows[] = {
    CEL_GLOBAL("base64_decode_string", "base64.decode", "(string) -> bytes", 0, decode),
    CEL_GLOBAL("base64_encode_bytes", "base64.encode", "(bytes) -> string", 0, encode),
};

const struct cel_lib cel_lib_encoders = {
    .name = "encoders",
    .overloads = rows,
    .noverloads = CEL_COUNT(rows),
};
