/* SPDX-License-Identifier: Apache-2.0 */
#include "server/service/service_range.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_BITS = 20, MIN_BITS = 2 }; /* of a range */

static void clear_host(unsigned char *address, unsigned bytes, unsigned prefix)
{
    for (unsigned bit = prefix; bit < bytes * 8; bit++)
        address[bit / 8] &= (unsigned char)~(0x80U >> bit % 8);
}

static bool read_prefix(const char *text, unsigned bits, unsigned *out)
{
    char *end;
    unsigned long n = strtoul(text, &end, 10);
    if (*end || end == text || *text < '0' || *text > '9' || n > bits)
        return false;
    *out = (unsigned)n;
    return true;
}

static bool parse_one(const char *text, struct service_range *out, struct err *e)
{
    unsigned char address[16];
    char head[48] = "", shown[48];
    const char *slash = strchr(text, '/');
    bool six = strchr(text, ':') != NULL;
    unsigned bytes = six ? 16 : 4, prefix = 0;
    if (slash && (size_t)(slash - text) < sizeof head)
        memcpy(head, text, (size_t)(slash - text));
    if (!slash || !read_prefix(slash + 1, bytes * 8, &prefix) ||
        inet_pton(six ? AF_INET6 : AF_INET, head, address) != 1)
        return err_set(e, ERR_INVALID, "write a range as in 10.0.0.0/24");
    if (bytes * 8 - prefix > MAX_BITS || bytes * 8 - prefix < MIN_BITS)
        return err_set(e, ERR_INVALID, "the range must have 4 to 2^%d addresses",
                       MAX_BITS);
    *out = (struct service_range){.six = six};
    clear_host(address, bytes, prefix);
    inet_ntop(six ? AF_INET6 : AF_INET, address, shown, sizeof shown);
    snprintf(out->cidr, sizeof out->cidr, "%s/%u", shown, prefix);
    address[bytes - 1] |= 1;
    inet_ntop(six ? AF_INET6 : AF_INET, address, out->first, sizeof out->first);
    return true;
}

bool service_ranges_parse(const char *text, struct service_ranges *out, struct err *e)
{
    static const char *const FAMILIES[2][2] = {{"IPv4", "IPv6"},
                                               {"IPv4,IPv6", "IPv6,IPv4"}};
    const char *comma = strchr(text, ',');
    char head[64] = "";
    size_t n = comma ? (size_t)(comma - text) : strlen(text);
    struct service_ranges r = {.n = comma ? 2 : 1};
    if (n >= sizeof head)
        return err_set(e, ERR_INVALID, "write a range as in 10.0.0.0/24");
    snprintf(head, sizeof head, "%.*s", (int)n, text);
    if (!parse_one(head, &r.v[0], e) || (comma && !parse_one(comma + 1, &r.v[1], e)))
        return false;
    if (comma && r.v[0].six == r.v[1].six)
        return err_set(e, ERR_INVALID, "two ranges must be of IPv4 and IPv6");
    r.families = FAMILIES[r.n - 1][r.v[0].six];
    *out = r;
    return true;
}

/* ---- addresses as numbers ---- */

bool address_parse(struct str text, unsigned __int128 *out, bool *six)
{
    char s[ADDRESS_TEXT];
    unsigned char bytes[16];
    if (text.n >= sizeof s || text.n == 0)
        return false;
    memcpy(s, text.p, text.n);
    s[text.n] = '\0';
    *six = strchr(s, ':') != NULL;
    if (inet_pton(*six ? AF_INET6 : AF_INET, s, bytes) != 1)
        return false;
    *out = 0;
    for (unsigned i = 0; i < (*six ? 16u : 4u); i++)
        *out = *out << 8 | bytes[i];
    return true;
}

void address_print(unsigned __int128 address, bool six, char out[ADDRESS_TEXT])
{
    unsigned char bytes[16];
    unsigned n = six ? 16 : 4;
    for (unsigned i = n; i-- > 0; address >>= 8)
        bytes[i] = (unsigned char)address;
    inet_ntop(six ? AF_INET6 : AF_INET, bytes, out, ADDRESS_TEXT);
}

/* A sixteenth of the addresses, but 16 to 256 of them; of small ranges none. */
static unsigned low_part(unsigned __int128 size)
{
    unsigned __int128 n = size / 16;
    if (size <= 16)
        return 0;
    return n < 16 ? 16 : n > 256 ? 256 : (unsigned)n;
}

bool address_range_parse(struct str cidr, struct address_range *out)
{
    size_t slash = str_find_byte(cidr, '/', 0);
    unsigned __int128 address, size;
    char length[8] = "";
    unsigned prefix;
    bool six;
    struct str bits = str_sub(cidr, slash == SIZE_MAX ? cidr.n : slash + 1, SIZE_MAX);
    if (bits.n >= sizeof length ||
        !address_parse(str_sub(cidr, 0, slash), &address, &six))
        return false;
    memcpy(length, bits.p, bits.n);
    if (!read_prefix(length, six ? 128 : 32, &prefix) || (six && prefix < 64))
        return false;
    unsigned host = (six ? 128 : 32) - prefix;
    size = (unsigned __int128)1 << host;
    address &= ~(size - 1);
    *out = (struct address_range){.base = address, .prefix = prefix, .six = six};
    out->first = address + 1;
    out->last = address + size - 1 - !six;
    out->low_end = out->first + low_part(size);
    return out->first <= out->last && host > 0;
}

/* ---- ports ---- */

bool port_range_parse(const char *text, struct port_range *out, struct err *e)
{
    enum { LAST = 65535 };
    char *end, *stop;
    unsigned long first = strtoul(text, &end, 10), other = first;
    char sign = *end;
    bool ok = *text >= '0' && *text <= '9' && (!sign || sign == '-' || sign == '+');
    if (ok && sign) {
        other = strtoul(end + 1, &stop, 10);
        ok = end[1] >= '0' && end[1] <= '9' && !*stop && other <= LAST;
        other = sign == '+' ? first + other : other;
    }
    if (!ok || first == 0 || other > LAST || other < first)
        return err_set(e, ERR_INVALID, "write a range of ports as in 30000-32767");
    *out = (struct port_range){(uint32_t)first, (uint32_t)(other - first + 1)};
    return true;
}

uint32_t port_range_low(const struct port_range *r)
{
    uint32_t n = r->n / 32;
    if (r->n <= 16)
        return 0;
    return n < 16 ? 16 : n > 128 ? 128 : n;
}
