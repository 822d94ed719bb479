/* SPDX-License-Identifier: Apache-2.0 */
/* IP addresses, as Go reads and prints them. */
#include <arpa/inet.h>
#include <stdio.h>

#include "api/rules_ip.h"

static const unsigned char MAPPED[12] = {[10] = 0xff, [11] = 0xff};

/* Leading zeros of decimal parts go, as upstream's lenient parser drops them. */
static bool tidy(struct str s, char *out, size_t size)
{
    bool dotted = str_find_byte(s, ':', 0) == SIZE_MAX;
    size_t n = 0;
    if (s.n >= size)
        return false;
    for (size_t i = 0; i < s.n; i++) {
        bool start = n == 0 || out[n - 1] == '.';
        bool more = i + 1 < s.n && s.p[i + 1] >= '0' && s.p[i + 1] <= '9';
        if (!(dotted && start && s.p[i] == '0' && more))
            out[n++] = s.p[i];
    }
    out[n] = '\0';
    return true;
}

bool rules_ip_read(struct str s, struct rules_ip *out)
{
    char text[64];
    unsigned char addr[16];
    if (!tidy(s, text, sizeof text))
        return false;
    out->v6 = strchr(text, ':') != NULL;
    if (inet_pton(out->v6 ? AF_INET6 : AF_INET, text, addr) != 1)
        return false;
    out->mapped = out->v6 && memcmp(addr, MAPPED, sizeof MAPPED) == 0;
    if (out->mapped) {
        inet_ntop(AF_INET, addr + sizeof MAPPED, out->text, sizeof out->text);
        out->v6 = false;
    } else {
        inet_ntop(out->v6 ? AF_INET6 : AF_INET, addr, out->text, sizeof out->text);
    }
    return true;
}

static bool has_leading_zero(struct str s)
{
    bool start = true;
    for (size_t i = 0; i + 1 < s.n; i++) {
        bool digit = s.p[i + 1] >= '0' && s.p[i + 1] <= '9';
        if (start && s.p[i] == '0' && digit && str_find_byte(s, ':', 0) == SIZE_MAX)
            return true;
        start = s.p[i] == '.';
    }
    return false;
}

void rules_ip(struct api_at *at, const char *suffix, const struct doc *value)
{
    struct rules_ip ip;
    if (!rules_ip_read(api_text(value), &ip))
        api_report_at(at, suffix, value, API_ERROR_INVALID,
                      "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)");
    else if (has_leading_zero(api_text(value)))
        api_report_at(at, suffix, value, API_ERROR_INVALID, "must not have leading 0s");
    else if (ip.mapped)
        api_report_at(at, suffix, value, API_ERROR_INVALID,
                      "must not be an IPv4-mapped IPv6 address");
}

static const struct {
    bool v6;
    unsigned char bytes[2], mask[2];
    const char *text;
} UNREACHABLE[] = {
    {false, {127}, {255}, "may not be in the loopback range (127.0.0.0/8, ::1/128)"},
    {false,
     {169, 254},
     {255, 255},
     "may not be in the link-local range (169.254.0.0/16, fe80::/10)"},
    {true,
     {0xfe, 0x80},
     {0xff, 0xc0},
     "may not be in the link-local range (169.254.0.0/16, fe80::/10)"},
    {true,
     {0xff, 0x02},
     {0xff, 0x0f},
     "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)"},
};

static const char *why_unreachable(const struct rules_ip *ip)
{
    unsigned char addr[16] = {0};
    static const unsigned char multicast[3] = {224, 0, 0};
    inet_pton(ip->v6 ? AF_INET6 : AF_INET, ip->text, addr);
    if (ip->v6 && strcmp(ip->text, "::1") == 0)
        return UNREACHABLE[0].text;
    if (!ip->v6 && memcmp(addr, multicast, 3) == 0)
        return UNREACHABLE[3].text;
    for (size_t i = 0; i < sizeof UNREACHABLE / sizeof *UNREACHABLE; i++)
        if (UNREACHABLE[i].v6 == ip->v6 &&
            (addr[0] & UNREACHABLE[i].mask[0]) == UNREACHABLE[i].bytes[0] &&
            (addr[1] & UNREACHABLE[i].mask[1]) == UNREACHABLE[i].bytes[1])
            return UNREACHABLE[i].text;
    return NULL;
}

void rules_endpoint_ip(struct api_at *at, const char *suffix, const struct doc *value)
{
    struct str s = api_text(value);
    struct rules_ip ip;
    if (!rules_ip_read(s, &ip)) {
        api_report_at(at, suffix, value, API_ERROR_INVALID, "must be a valid IP address");
        return;
    }
    if (strcmp(ip.text, "::") == 0 || strcmp(ip.text, "0.0.0.0") == 0)
        api_report_at(at, suffix, value, API_ERROR_INVALID,
                      "may not be unspecified (%.*s)", STR_ARG(s));
    const char *text = why_unreachable(&ip);
    if (text)
        api_report_at(at, suffix, value, API_ERROR_INVALID, "%s", text);
}

static bool read_bits(struct str s, unsigned max, unsigned *out)
{
    unsigned n = 0;
    if (s.n == 0 || s.n > 3)
        return false;
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] < '0' || s.p[i] > '9')
            return false;
        n = n * 10 + (unsigned)(s.p[i] - '0');
    }
    *out = n;
    return n <= max;
}

static bool has_host_bits(const struct rules_ip *ip, unsigned bits)
{
    unsigned char addr[16] = {0};
    inet_pton(ip->v6 ? AF_INET6 : AF_INET, ip->text, addr);
    for (unsigned i = bits; i < (ip->v6 ? 128u : 32u); i++)
        if (addr[i / 8] & (0x80u >> i % 8))
            return true;
    return false;
}

static void clear_host(const struct rules_ip *ip, unsigned bits, char *out)
{
    unsigned char addr[16] = {0};
    inet_pton(ip->v6 ? AF_INET6 : AF_INET, ip->text, addr);
    for (unsigned i = bits; i < (ip->v6 ? 128u : 32u); i++)
        addr[i / 8] &= (unsigned char)~(0x80u >> i % 8);
    inet_ntop(ip->v6 ? AF_INET6 : AF_INET, addr, out, INET6_ADDRSTRLEN);
}

bool rules_range_read(struct str s, struct rules_range *out)
{
    size_t slash = str_find_byte(s, '/', 0);
    struct str host = str_sub(s, 0, slash), length = str_sub(s, host.n + 1, SIZE_MAX);
    char base[INET6_ADDRSTRLEN];
    unsigned bits;
    if (slash == SIZE_MAX || !rules_ip_read(host, &out->ip) ||
        !read_bits(length, out->ip.v6 || out->ip.mapped ? 128 : 32, &bits))
        return false;
    out->zeros = has_leading_zero(host) || (length.n > 1 && length.p[0] == '0');
    out->bits = bits - (out->ip.mapped && bits >= 96 ? 96 : 0);
    out->host_bits = has_host_bits(&out->ip, out->bits);
    clear_host(&out->ip, out->bits, base);
    snprintf(out->text, sizeof out->text, "%s/%u", base, out->bits);
    return true;
}

bool rules_range_contains(const struct rules_range *whole, const struct rules_range *part)
{
    char base[INET6_ADDRSTRLEN];
    if (whole->ip.v6 != part->ip.v6)
        return false;
    clear_host(&part->ip, whole->bits, base);
    size_t n = strlen(base);
    return strncmp(whole->text, base, n) == 0 && whole->text[n] == '/';
}

void rules_ip_name(struct api_at *at, const char *suffix, struct str name)
{
    struct doc *d = ARENA_NEW(at->w->a, struct doc);
    size_t before = at->w->errors->list.n;
    struct rules_ip ip;
    *d = doc_make_string(at->w->a, name);
    rules_ip(at, suffix, d);
    if (at->w->errors->list.n == before && rules_ip_read(name, &ip) &&
        !str_is(name, ip.text))
        api_report_at(at, suffix, d, API_ERROR_INVALID,
                      "must be in canonical form (\"%s\")", ip.text);
}

unsigned rules_cidr(struct api_at *at, const char *suffix, const struct doc *value)
{
    struct rules_range r;
    const char *text = NULL;
    if (!rules_range_read(api_text(value), &r)) {
        api_report_at(at, suffix, value, API_ERROR_INVALID,
                      "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)");
        return 0;
    }
    if (r.zeros)
        text = "must not have leading 0s in IP or prefix length";
    else if (r.ip.mapped)
        text = "must not have an IPv4-mapped IPv6 address";
    else if (r.host_bits)
        text = "must not have bits set beyond the prefix length";
    if (text)
        api_report_at(at, suffix, value, API_ERROR_INVALID, "%s", text);
    return r.ip.v6 ? 2 : 1;
}

/* "ADDRESS/BITS" in the one spelling. */
static bool check_interface(struct api_at *at, const char *arg)
{
    struct str s = api_text(at->value);
    size_t slash = str_find_byte(s, '/', 0);
    struct rules_ip ip;
    unsigned bits;
    if (slash == SIZE_MAX || !rules_ip_read(str_sub(s, 0, slash), &ip) ||
        !read_bits(str_sub(s, slash + 1, SIZE_MAX), ip.v6 || ip.mapped ? 128 : 32, &bits))
        return api_fail(at, API_ERROR_INVALID,
                        "must be a valid address in CIDR form, (e.g. 10.9.8.7/24 or "
                        "2001:db8::1/64)");
    bits -= ip.mapped && bits > 32 ? 96 : 0;
    struct str right = arena_printf(at->w->a, "%s/%u", ip.text, bits);
    if (!str_eq(s, right))
        api_report(at, API_ERROR_INVALID, "must be in canonical form (\"%.*s\")",
                   STR_ARG(right));
    return true;
}

API_RULE(interface_addresses)
{
    api_each(at, check_interface, arg);
    return true;
}
