/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside of cel: IP addresses and prefixes, with the grammar and the error texts of Go's
 * net/netip (end of spec 4.9).
 */
#ifndef DRAY_CEL_NETADDR_H
#define DRAY_CEL_NETADDR_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"
#include "cel/value.h"

enum { IP4_SIZE = 4, IP6_SIZE = 16 };

struct cel_ip {
    uint8_t bytes[IP6_SIZE]; /* the first four of an IPv4 address, the rest zero */
    uint8_t size;            /* IP4_SIZE or IP6_SIZE */
};

struct cel_cidr {
    struct cel_ip ip; /* host bits included */
    uint8_t bits;
};

/* *zoned: the text names a zone, which is not kept. */
bool netaddr_parse(struct str text, struct cel_ip *out, bool *zoned, struct err *e);
bool netaddr_parse_prefix(struct str text, struct cel_cidr *out, struct err *e);

bool netaddr_is_4in6(const struct cel_ip *ip); /* ::ffff:1.2.3.4 */
struct cel_ip netaddr_unmapped(const struct cel_ip *mapped);
bool netaddr_is_unspecified(const struct cel_ip *ip);
bool netaddr_is_loopback(const struct cel_ip *ip);
bool netaddr_is_multicast(const struct cel_ip *ip);
bool netaddr_is_link_local_multicast(const struct cel_ip *ip);
bool netaddr_is_link_local_unicast(const struct cel_ip *ip);
bool netaddr_is_global_unicast(const struct cel_ip *ip);

/* Host bits zero. */
struct cel_cidr netaddr_masked(const struct cel_cidr *c);
bool netaddr_contains(const struct cel_cidr *c, const struct cel_ip *ip);
bool netaddr_contains_prefix(const struct cel_cidr *outer, const struct cel_cidr *inner);

#endif
