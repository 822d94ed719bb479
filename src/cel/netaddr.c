/* SPDX-License-Identifier: Apache-2.0 */
#include "cel/netaddr.h"

#include "base/quote.h"

/* ---- Errors ---- */

static bool fail_quoted(struct err *e, const char *call, struct str in, const char *msg,
                        struct str rest)
{
    struct strbuf b = STRBUF_INIT;
    strbuf_addf(&b, "%s(", call);
    strbuf_add_quoted(&b, in);
    strbuf_addf(&b, "): %s", msg);
    if (rest.n) {
        strbuf_adds(&b, " (at ");
        strbuf_add_quoted(&b, rest);
        strbuf_addc(&b, ')');
    }
    err_set(e, ERR_INVALID, "%s", strbuf_cstr(&b));
    strbuf_release(&b);
    return false;
}

/* rest: where in the text it went wrong; empty if the text as a whole is wrong. */
static bool bad_addr(struct err *e, struct str in, const char *msg, struct str rest)
{
    return fail_quoted(e, "ParseAddr", in, msg, rest);
}

static bool bad_prefix(struct err *e, struct str in, const char *msg)
{
    return fail_quoted(e, "netip.ParsePrefix", in, msg, STR_NONE);
}

/* ---- IPv4 ---- */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* s is the dotted part of in. */
static bool parse_dotted(struct str in, struct str s, uint8_t out[4], struct err *e)
{
    unsigned value = 0, digits = 0, field = 0;
    for (size_t i = 0; i < s.n; i++) {
        struct str rest = str_sub(s, i, s.n);
        if (is_digit(s.p[i])) {
            if (digits == 1 && value == 0)
                return bad_addr(e, in, "IPv4 field has octet with leading zero",
                                STR_NONE);
            value = value * 10 + (unsigned)(s.p[i] - '0');
            digits++;
            if (value > 255)
                return bad_addr(e, in, "IPv4 field has value >255", STR_NONE);
        } else if (s.p[i] != '.') {
            return bad_addr(e, in, "unexpected character", rest);
        } else if (digits == 0 || i + 1 == s.n) {
            return bad_addr(e, in, "IPv4 field must have at least one digit", rest);
        } else if (field == 3) {
            return bad_addr(e, in, "IPv4 address too long", STR_NONE);
        } else {
            out[field++] = (uint8_t)value;
            value = digits = 0;
        }
    }
    if (field < 3)
        return bad_addr(e, in, "IPv4 address too short", STR_NONE);
    out[3] = (uint8_t)value;
    return true;
}

/* ---- IPv6 ---- */

struct v6_parser {
    struct str in, s; /* the whole text; what is left of it without the zone */
    uint8_t bytes[IP6_SIZE];
    int n;        /* bytes so far */
    int ellipsis; /* byte that :: stands at, or -1 */
    bool at_end;
    struct err *e;
};

static bool bad_v6(struct v6_parser *p, const char *msg)
{
    return bad_addr(p->e, p->in, msg, p->s);
}

/* Digits at the front of what is left; false after an error. */
static bool read_group(struct v6_parser *p, size_t *digits, unsigned *value)
{
    size_t i = 0;
    int d;
    *value = 0;
    for (; i < p->s.n && (d = str_hex_digit(p->s.p[i])) >= 0; i++) {
        if (i > 3)
            return bad_v6(p, "each group must have 4 or less digits");
        *value = *value << 4 | (unsigned)d;
    }
    *digits = i;
    return i > 0 || bad_v6(p, "each colon-separated field must have at least one digit");
}

static bool read_dotted_tail(struct v6_parser *p)
{
    if (p->ellipsis < 0 && p->n != 12)
        return bad_v6(
            p, "embedded IPv4 address must replace the final 2 fields of the address");
    if (p->n + IP4_SIZE > IP6_SIZE)
        return bad_v6(p, "too many hex fields to fit an embedded IPv4 at the end of the "
                         "address");
    if (!parse_dotted(p->in, p->s, p->bytes + p->n, p->e))
        return false;
    p->n += IP4_SIZE;
    p->s.n = 0;
    p->at_end = true;
    return true;
}

static void skip(struct v6_parser *p, size_t n)
{
    p->s = str_sub(p->s, n, p->s.n);
    p->at_end = p->s.n == 0;
}

/* The colon behind a group, and the :: it may be. */
static bool read_colon(struct v6_parser *p)
{
    if (p->s.p[0] != ':')
        return bad_v6(p, "unexpected character, want colon");
    if (p->s.n == 1)
        return bad_v6(p, "colon must be followed by more characters");
    skip(p, 1);
    if (p->s.p[0] != ':')
        return true;
    if (p->ellipsis >= 0)
        return bad_v6(p, "multiple :: in address");
    p->ellipsis = p->n;
    skip(p, 1);
    return true;
}

static bool read_field(struct v6_parser *p)
{
    size_t digits = 0;
    unsigned value = 0;
    if (!read_group(p, &digits, &value))
        return false;
    if (digits < p->s.n && p->s.p[digits] == '.')
        return read_dotted_tail(p);
    p->bytes[p->n++] = (uint8_t)(value >> 8);
    p->bytes[p->n++] = (uint8_t)value;
    skip(p, digits);
    return p->at_end || read_colon(p);
}

static bool expand_ellipsis(struct v6_parser *p)
{
    int missing = IP6_SIZE - p->n;
    if (missing == 0)
        return p->ellipsis < 0 ||
               bad_addr(p->e, p->in, "the :: must expand to at least one field of zeros",
                        STR_NONE);
    if (p->ellipsis < 0)
        return bad_addr(p->e, p->in, "address string too short", STR_NONE);
    uint8_t *from = p->bytes + p->ellipsis;
    memmove(from + missing, from, (size_t)(p->n - p->ellipsis));
    memset(from, 0, (size_t)missing);
    return true;
}

static bool parse_v6(struct str in, struct cel_ip *out, bool *zoned, struct err *e)
{
    struct v6_parser p = {.in = in, .s = in, .ellipsis = -1, .e = e};
    size_t percent = str_find_byte(in, '%', 0);
    *zoned = percent != SIZE_MAX;
    if (*zoned)
        p.s.n = percent;
    if (percent + 1 == in.n)
        return bad_addr(e, in, "zone must be a non-empty string", STR_NONE);
    if (str_starts(p.s, STR("::"))) {
        p.ellipsis = 0;
        skip(&p, 2);
    }
    while (p.n < IP6_SIZE && !p.at_end)
        if (!read_field(&p))
            return false;
    if (p.s.n)
        return bad_v6(&p, "trailing garbage after address");
    if (!expand_ellipsis(&p))
        return false;
    memcpy(out->bytes, p.bytes, IP6_SIZE);
    out->size = IP6_SIZE;
    return true;
}

/* ---- Both ---- */

bool netaddr_parse(struct str text, struct cel_ip *out, bool *zoned, struct err *e)
{
    struct cel_ip ip = {.size = IP4_SIZE};
    *zoned = false;
    for (size_t i = 0; i < text.n; i++) {
        switch (text.p[i]) {
        case '.':
            if (!parse_dotted(text, text, ip.bytes, e))
                return false;
            *out = ip;
            return true;
        case ':':
            return parse_v6(text, out, zoned, e);
        case '%':
            return bad_addr(e, text, "missing IPv6 address", STR_NONE);
        }
    }
    return bad_addr(e, text, "unable to parse IP", STR_NONE);
}

/* Up to nine digits without leading zero or sign; -1: anything else. */
static int parse_bits(struct str s)
{
    int n = 0;
    if (s.n == 0 || (s.n > 1 && s.p[0] == '0'))
        return -1;
    for (size_t i = 0; i < s.n; i++) {
        if (!is_digit(s.p[i]))
            return -1;
        n = n > 999 ? n : n * 10 + (s.p[i] - '0');
    }
    /* Go's own numbers end at 2^63 - 1. */
    bool overflows =
        s.n > 19 || (s.n == 19 && str_cmp(s, STR("9223372036854775807")) > 0);
    return overflows ? -1 : n;
}

bool netaddr_parse_prefix(struct str text, struct cel_cidr *out, struct err *e)
{
    size_t slash = text.n;
    while (slash > 0 && text.p[slash - 1] != '/')
        slash--;
    if (slash == 0)
        return bad_prefix(e, text, "no '/'");
    struct cel_ip ip;
    bool zoned;
    struct err inner = ERR_INIT;
    if (!netaddr_parse(str_sub(text, 0, slash - 1), &ip, &zoned, &inner)) {
        bad_prefix(e, text, err_text(&inner));
        err_release(&inner);
        return false;
    }
    if (zoned)
        return bad_prefix(e, text, "IPv6 zones cannot be present in a prefix");
    struct str digits = str_sub(text, slash, text.n);
    int bits = parse_bits(digits);
    if (bits < 0) {
        struct strbuf msg = STRBUF_INIT;
        strbuf_adds(&msg, "bad bits after slash: ");
        strbuf_add_quoted(&msg, digits);
        bad_prefix(e, text, strbuf_cstr(&msg));
        strbuf_release(&msg);
        return false;
    }
    if (bits > ip.size * 8)
        return bad_prefix(e, text, "prefix length out of range");
    *out = (struct cel_cidr){ip, (uint8_t)bits};
    return true;
}

/* ---- Printing ---- */

static unsigned group(const struct cel_ip *ip, int i)
{
    return (unsigned)ip->bytes[2 * i] << 8 | ip->bytes[2 * i + 1];
}

/* The longest run of two or more zero groups; [*from, *to) is empty if there is none. */
static void longest_zeros(const struct cel_ip *ip, int *from, int *to)
{
    *from = *to = -1;
    for (int i = 0; i < 8; i++) {
        int j = i;
        while (j < 8 && group(ip, j) == 0)
            j++;
        if (j - i >= 2 && j - i > *to - *from) {
            *from = i;
            *to = j;
        }
    }
}

static void print_v6(const struct cel_ip *ip, struct strbuf *out)
{
    int from, to;
    longest_zeros(ip, &from, &to);
    for (int i = 0; i < 8; i++) {
        if (i == from) {
            strbuf_adds(out, "::");
            i = to;
            if (i == 8)
                break;
        } else if (i > 0) {
            strbuf_addc(out, ':');
        }
        strbuf_addf(out, "%x", group(ip, i));
    }
}

void cel_ip_print(const struct cel_ip *ip, struct strbuf *out)
{
    if (ip->size == IP6_SIZE)
        print_v6(ip, out);
    else
        strbuf_addf(out, "%u.%u.%u.%u", ip->bytes[0], ip->bytes[1], ip->bytes[2],
                    ip->bytes[3]);
}

void cel_cidr_print(const struct cel_cidr *c, struct strbuf *out)
{
    cel_ip_print(&c->ip, out);
    strbuf_addf(out, "/%u", c->bits);
}

/* ---- Classes of addresses ---- */

bool netaddr_is_4in6(const struct cel_ip *ip)
{
    static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};
    return ip->size == IP6_SIZE && memcmp(ip->bytes, mapped, sizeof mapped) == 0;
}

struct cel_ip netaddr_unmapped(const struct cel_ip *mapped)
{
    struct cel_ip ip = {.size = IP4_SIZE};
    memcpy(ip.bytes, mapped->bytes + IP6_SIZE - IP4_SIZE, IP4_SIZE);
    return ip;
}

bool netaddr_is_unspecified(const struct cel_ip *ip)
{
    static const uint8_t zero[IP6_SIZE];
    return memcmp(ip->bytes, zero, ip->size) == 0;
}

bool netaddr_is_loopback(const struct cel_ip *ip)
{
    static const uint8_t one[IP6_SIZE] = {[15] = 1};
    return ip->size == IP4_SIZE ? ip->bytes[0] == 127
                                : memcmp(ip->bytes, one, sizeof one) == 0;
}

bool netaddr_is_multicast(const struct cel_ip *ip)
{
    return ip->size == IP4_SIZE ? (ip->bytes[0] & 0xf0) == 0xe0 : ip->bytes[0] == 0xff;
}

bool netaddr_is_link_local_multicast(const struct cel_ip *ip)
{
    const uint8_t *b = ip->bytes;
    return ip->size == IP4_SIZE ? b[0] == 224 && b[1] == 0 && b[2] == 0
                                : b[0] == 0xff && (b[1] & 0x0f) == 0x02;
}

bool netaddr_is_link_local_unicast(const struct cel_ip *ip)
{
    const uint8_t *b = ip->bytes;
    return ip->size == IP4_SIZE ? b[0] == 169 && b[1] == 254
                                : b[0] == 0xfe && (b[1] & 0xc0) == 0x80;
}

static bool is_broadcast(const struct cel_ip *ip)
{
    return ip->size == IP4_SIZE && memcmp(ip->bytes, "\xff\xff\xff\xff", IP4_SIZE) == 0;
}

bool netaddr_is_global_unicast(const struct cel_ip *ip)
{
    return !netaddr_is_unspecified(ip) && !is_broadcast(ip) && !netaddr_is_loopback(ip) &&
           !netaddr_is_multicast(ip) && !netaddr_is_link_local_unicast(ip);
}

/* ---- Prefixes ---- */

static struct cel_ip mask(struct cel_ip ip, unsigned bits)
{
    for (unsigned i = 0; i < ip.size; i++) {
        unsigned keep = bits > 8 * i ? bits - 8 * i : 0;
        if (keep < 8)
            ip.bytes[i] &= (uint8_t)(0xff00 >> keep);
    }
    return ip;
}

struct cel_cidr netaddr_masked(const struct cel_cidr *c)
{
    return (struct cel_cidr){mask(c->ip, c->bits), c->bits};
}

bool netaddr_contains(const struct cel_cidr *c, const struct cel_ip *ip)
{
    struct cel_ip a = mask(c->ip, c->bits), b = mask(*ip, c->bits);
    return cel_ip_equal(&a, &b);
}

bool netaddr_contains_prefix(const struct cel_cidr *outer, const struct cel_cidr *inner)
{
    return outer->bits <= inner->bits && netaddr_contains(outer, &inner->ip);
}

/* ---- As values of the language ---- */

bool cel_ip_equal(const struct cel_ip *a, const struct cel_ip *b)
{
    return a->size == b->size && memcmp(a->bytes, b->bytes, a->size) == 0;
}

bool cel_cidr_equal(const struct cel_cidr *a, const struct cel_cidr *b)
{
    return a->bits == b->bits && cel_ip_equal(&a->ip, &b->ip);
}

uint64_t cel_ip_size(const struct cel_ip *ip)
{
    return ip->size;
}

uint64_t cel_cidr_size(const struct cel_cidr *c)
{
    return ((uint64_t)c->bits + 7) / 8;
}

const struct cel_ip *cel_ip_dup(const struct cel_ip *ip, struct arena *a)
{
    return memcpy(arena_alloc(a, sizeof *ip), ip, sizeof *ip);
}

const struct cel_cidr *cel_cidr_dup(const struct cel_cidr *c, struct arena *a)
{
    return memcpy(arena_alloc(a, sizeof *c), c, sizeof *c);
}
