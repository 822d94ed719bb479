/* SPDX-License-Identifier: Apache-2.0 */
/* Ranges that Services draw from: of addresses, one or one of each family, the first of
 * which is the server's own; and of ports of nodes. */
#ifndef DRAY_SERVER_SERVICE_SERVICE_RANGE_H
#define DRAY_SERVER_SERVICE_SERVICE_RANGE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

struct service_range {
    char cidr[64], first[48]; /* "10.0.0.0/24", "10.0.0.1" */
    bool six;                 /* IPv6 */
};
struct service_ranges {
    struct service_range v[2];
    uint32_t n;
    const char *families; /* "IPv4", "IPv6,IPv4", ... */
};

/* "10.0.0.0/24" or "10.0.0.0/24,fd00::/112", each of 4 to 2^20 addresses. Errors: no such
 * ranges; two of one family. */
bool service_ranges_parse(const char *text, struct service_ranges *out, struct err *e);

/* Addresses of one range that can be given: not its first, of IPv4 not its last. The
 * lower ones come last: those are left to who asks for one by its number. */
struct address_range {
    unsigned __int128 first, low_end, last; /* low_end: the first of the upper part */
    unsigned __int128 base;
    unsigned prefix;
    bool six;
};
/* false: it is no range, or has no address to give. */
bool address_range_parse(struct str cidr, struct address_range *out);
enum { ADDRESS_TEXT = 48 };
/* false: it is none. */
bool address_parse(struct str text, unsigned __int128 *out, bool *six);
void address_print(unsigned __int128 address, bool six, char out[ADDRESS_TEXT]);

struct port_range {
    uint32_t first, n;
};
/* "30000-32767", "30000+2768" or one port. Errors: no such range. */
bool port_range_parse(const char *text, struct port_range *out, struct err *e);
/* How many of its lower ports are taken last. */
uint32_t port_range_low(const struct port_range *r);

#endif
